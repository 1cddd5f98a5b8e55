"""What `analyze` shows while it runs: lines, or bars and tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console

from numerics.runs import ranks, terminal
from numerics.trained import gate
from numerics.trained.records import Header, LayerIdentity
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


def announce(header: Header, texts: Sequence[Tokens]) -> None:
    """Print what is about to be measured, and what of the texts is left out."""
    model = header.model
    print(
        f"{model.name}: {model.architecture}, {model.layers} layers, n = "
        f"{', '.join(str(len(t.ids)) for t in texts)}, d = {model.d}, H = {model.heads}"
    )
    for name, digest in header.sha256.items():
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


def _row(found: LayerIdentity) -> tuple[str, ...]:
    errors = (found.parity_attention, found.parity_layer, found.edges, found.matrices)
    tail = (str(found.rows_formed), f"{found.surrogate:.4f}", f"{found.row_sum_deviation:.1e}")
    return (str(found.layer), *(f"{error:.1e}" for error in errors), *tail)


def print_table(layers: Sequence[LayerIdentity]) -> None:
    """Print parity and identity of every layer."""
    rows = [_row(found) for found in layers]
    title = "attention module against its connection walk"
    terminal.print_table(Console(), COLUMNS, rows, title)
