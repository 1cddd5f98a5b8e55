"""Tables that a property module computes, as records of the report."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from paper_checks import latex
from paper_checks.report import TableRecord

if TYPE_CHECKING:  # the parent of the workers imports no arrays
    from numerics.evidence.tables import Table


def computed_tables(
    property_module: Any, clauses: Collection[str]
) -> tuple[list[TableRecord], list[str]]:
    """What the module's `tables()` computed, if it has one, and a line for each fault.

    A value that is not the stated one is a fault, and so are a clause that is none of `clauses`, a
    text outside the shared subset of LaTeX, no tables at all, and whatever `tables()` raises.
    """
    compute = getattr(property_module, "tables", None)
    if compute is None:
        return [], []
    records: list[TableRecord] = []
    try:
        found = list(compute())
        failures = [] if found else ["tables() computed nothing"]
        for table in found:
            records.append(table_record(table))
            failures += table.failures
            failures += [f"{table.title}: stated by {name}, but no such clause"
                         for name in table.clauses if name not in clauses]  # fmt: skip
    except Exception as error:
        failures = [f"tables() raised {type(error).__name__}: {error}"]
    return records, failures


def table_record(table: Table) -> TableRecord:
    """A table as it stands in the report.

    Raises: latex.Rejected for a text that the renderings could not show.
    """
    record = TableRecord(
        title=table.title, clauses=tuple(table.clauses), head=tuple(table.head),
        numbers=tuple(table.numbers), rows=tuple(map(tuple, table.cells)), note=table.note,
        checked=table.checked, failures=tuple(table.failures), ok=table.ok,
    )  # fmt: skip
    for text in texts(record):
        latex.html(text)
    return record


def texts(record: TableRecord) -> Iterator[str]:
    """Every text of a table that is typeset."""
    yield from (record.title, record.note, *record.head)
    for row in record.rows:
        yield from row
