"""What a run shows: tables and a bar on a terminal, plain lines for other programs elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

Row = Sequence[str]


def print_line(console: Console, line: str) -> None:
    """Prints a text as it is, neither broken nor coloured, on a terminal and elsewhere."""
    print(line, file=console.file, flush=True)


def print_table(
    console: Console,
    columns: Row,
    rows: Iterable[Row],
    title: str | None = None,
    styles: Iterable[str | None] = (),
) -> None:
    """Prints a table on a terminal; elsewhere its columns' names and rows as tab-separated lines.

    On a terminal it has a title, a rich style for each row where any is given, and no text is cut
    off. Raises ValueError for rows or styles of another number than there are columns or rows.
    """
    rows = list(rows)
    given = list(styles) or [None] * len(rows)
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"rows must have {len(columns)} cells, got {len(row)}: {row[0]}")
    if len(given) != len(rows):
        raise ValueError(f"styles must be one for each of {len(rows)} rows, got {len(given)}")
    if not console.is_terminal:
        for row in (columns, *rows):
            print_line(console, "\t".join(row))
        return
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for name in columns:
        table.add_column(Text(name), overflow="fold")
    for row, style in zip(rows, given, strict=True):
        table.add_row(*map(Text, row), style=style)
    console.print(table)


class Steps:
    """The steps of a run as they are done: on a terminal a bar, elsewhere a line each."""

    def __init__(self, console: Console, bar: Progress, total: int, shown: bool) -> None:
        self._console, self._bar = console, bar
        self._lines = shown and not console.is_terminal
        self._task = bar.add_task("", total=total)

    def begins(self, what: str) -> None:
        """Names beside the bar what is under way."""
        self._bar.update(self._task, description=what)

    def done(self, line: str | None = None, count: int = 1) -> None:
        """So many steps more are done; a line about them stands beside the bar, or is printed."""
        self._bar.advance(self._task, count)
        if line is not None:
            self.begins(line)
            if self._lines:
                print_line(self._console, line)


@contextmanager
def progress(console: Console, total: int, shown: bool = True) -> Iterator[Steps]:
    """A body of so many steps, of which nothing is shown where another process shows them."""
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    hidden = not (shown and console.is_terminal)
    with Progress(*columns, console=console, disable=hidden, transient=True) as bar:
        yield Steps(console, bar, total, shown)
