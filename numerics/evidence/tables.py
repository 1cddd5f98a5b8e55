"""Tables that a run computes, each value beside the one that the theorem states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Cell: TypeAlias = str | tuple[int, int] | tuple[str, str]
"""A text, or a pair (computed, stated), whose sides must be equal."""


@dataclass(frozen=True)
class Table:
    """Rows of texts and of pairs (computed, stated), under the heads of their columns.

    clauses are those of the theorem that state the values. All texts are prose with formulas in
    dollar signs. Raises TypeError for what is neither text nor pair, ValueError for no clause, rows
    of another length than the head, and a table without a pair, which could not fail.
    """

    title: str
    clauses: tuple[str, ...]
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("title", "note"):
            _text(name, getattr(self, name))
        for name in ("clauses", "head", "rows"):
            found = getattr(self, name)
            if not isinstance(found, tuple):
                raise TypeError(f"{name} must be a tuple, got {type(found).__name__}")
            if not found:
                raise ValueError(f"{name} must not be empty, got ()")
        for name in ("clauses", "head"):
            for text in getattr(self, name):
                _text(name, text)
        for row in self.rows:
            self._check_row(row)
        if not self.checked:
            raise ValueError(f"rows must hold a pair (computed, stated), got {self.rows[0]}, ...")

    def _check_row(self, row: tuple[Cell, ...]) -> None:
        if not isinstance(row, tuple):
            raise TypeError(f"rows must be tuples, got {type(row).__name__}")
        if len(row) != len(self.head):
            raise ValueError(f"rows must have {len(self.head)} cells, got {row}")
        for cell in row:
            if not isinstance(cell, tuple):
                _text("rows", cell)
            elif [*map(type, cell)] not in ([int, int], [str, str]):
                raise TypeError(f"rows must pair two ints or two texts, got {cell}")

    @property
    def checked(self) -> int:
        """How many values are compared."""
        return sum(isinstance(cell, tuple) for row in self.rows for cell in row)

    @property
    def numbers(self) -> tuple[bool, ...]:
        """Which columns hold pairs."""
        return tuple(any(isinstance(c, tuple) for c in column)
                     for column in zip(*self.rows, strict=True))  # fmt: skip

    @property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """The rows as texts: a value that differs from the stated one shows both."""
        return tuple(tuple(map(_shown, row)) for row in self.rows)

    @property
    def failures(self) -> tuple[str, ...]:
        """A line for each value that differs from the stated one: its row, its column, and both."""
        return tuple(
            f"{self.title}: {', '.join(c for c in row if isinstance(c, str) and c)}; {head}: "
            f"computed {cell[0]}, stated {cell[1]}"
            for row in self.rows
            for head, cell in zip(self.head, row, strict=True)
            if isinstance(cell, tuple) and cell[0] != cell[1]
        )

    @property
    def ok(self) -> bool:
        """Whether every value is the stated one."""
        return not self.failures


def _text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, got {type(value).__name__}")


def _shown(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    computed, stated = cell
    return f"{computed}" if computed == stated else f"{computed} (stated: {stated})"
