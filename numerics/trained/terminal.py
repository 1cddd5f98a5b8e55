"""What `analyze` shows while it runs: lines, or bars and tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from numerics.runs import ranks, terminal
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
    with terminal.progress(Console(), steps, ranks.current().first) as shown:
        yield shown.done


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
    title = "attention module against its connection walk"
    terminal.print_table(Console(), COLUMNS, rows, title)
