"""What `analyze` shows while it runs: lines, or bars and tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from numerics.runs import ranks
from numerics.trained import gate
from numerics.trained.tokens import Tokens

COLUMNS = (
    "layer",
    "parity: module",
    "parity: layer",
    "identity: edges",
    "identity: matrices",
    "rows formed",
    "scalar surrogate",
    "row sums - 1",
)


def announce(header: dict[str, Any], texts: Sequence[Tokens]) -> None:
    """Print what is about to be measured, and what of the texts is left out."""
    model = header["model"]
    print(
        f"{model['name']}: {model['architecture']}, {model['layers']} layers, n = "
        f"{', '.join(str(len(t.ids)) for t in texts)}, d = {model['d']}, H = {model['heads']}"
    )
    for name, digest in header["sha256"].items():
        print(f"{name}: sha256 {digest}")
    for t in texts:
        n, total = len(t.ids), t.tokens_in_text
        if n < total:
            print(f"note: the text has {total} tokens, the model takes {n}: the rest is left out")


@contextmanager
def progress(steps: int) -> Iterator[gate.Advance]:
    """How to report a step; only the first rank shows it."""
    if not ranks.current().first:
        yield gate.silent
        return
    if not Console().is_terminal:
        yield lambda line: print(line, flush=True)
        return
    with Progress(transient=True) as bar:
        task = bar.add_task("layers", total=steps)
        yield lambda line: bar.update(task, advance=1, description=line)


def _row(record: dict[str, Any]) -> tuple[str, ...]:
    found = record["identity"]
    keys = ("parity_attention", "parity_layer", "edges", "matrices")
    tail = (
        str(found["rows_formed"]),
        f"{found['surrogate']:.4f}",
        f"{found['row_sum_deviation']:.1e}",
    )
    return (str(record["layer"]), *(f"{found[key]:.1e}" for key in keys), *tail)


def print_table(records: Sequence[dict[str, Any]]) -> None:
    """Print parity and identity of every layer."""
    rows = [_row(r) for r in records]
    console = Console()
    if not console.is_terminal:
        for row in (COLUMNS, *rows):
            print("  ".join(cell.rjust(len(head)) for cell, head in zip(row, COLUMNS, strict=True)))
        return
    table = Table(*COLUMNS, title="attention module against its connection walk")
    for column in table.columns:
        column.justify = "right"
    for row in rows:
        table.add_row(*row)
    console.print(table)
