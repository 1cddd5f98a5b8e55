"""The report as text: a coloured table on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import UNSET
from rich.console import Console

from numerics.runs.terminal import print_line, print_table, progress
from paper_checks.claims import FAILED, NOT_VERIFIED
from paper_checks.latex import readable
from paper_checks.report import RateRecord, Report, StressRecord, Suite, TableRecord, TheoremRecord
from paper_checks.trusted import WHAT


def level_text(record: TheoremRecord) -> str:
    """The level as it is printed: "G", or "G | Perron-Frobenius" where it rests on citations, its
    own or, as in "G | generic-nonvanishing (RA1)", those of theorems that it uses."""
    own = dict.fromkeys(c.id for c in record.cited)
    used = [f"{axiom} ({', '.join(by)})" for axiom, by in record.inherited.items()
            if axiom not in own]  # fmt: skip
    return " | ".join(p for p in (record.level or "none", ", ".join([*own, *used])) if p)


def number(value: float | None) -> str:
    """A number in three significant digits, or that there is none."""
    return "none" if value is None else f"{value:.3g}"


def property_text(record: TheoremRecord) -> str:
    """How many numeric comparisons were made and how close the largest came to its bound."""
    if record.property_examples is None:
        return "none"
    return (
        f"{record.property_examples} ({record.nonzero_residuals} nonzero), "
        f"{number(record.max_residual_over_bound)} of bound"
    )


def exact_text(record: TheoremRecord) -> str:
    """How many exact instances were computed, and over what."""
    return f"{record.instances} with free symbols, {record.rational_instances} on 63-bit rationals"


def stress_text(cell: StressRecord) -> str:
    """How one cell of a stress run came out; one whose device is absent did not run."""
    if cell.status == "not run":
        return f"NOT RUN: {cell.reason}"
    ratio = None if cell.ratio is UNSET else cell.ratio
    return f"{cell.status}, residual / bound {number(ratio)}"


def order_text(rate: RateRecord) -> str:
    """The order at which a measured value approaches its limit, with its interval."""
    if rate.slope is None:
        return "attained to rounding" if rate.ok else "none"
    return f"{rate.slope:.3f} in [{rate.low:.3f}, {rate.high:.3f}], expected {rate.expected:g}"


def rate_text(rate: RateRecord) -> str:
    """One measured limit as a line."""
    return (
        f"{rate.name}: {rate.finest:.6g}, limit {rate.target:.6g}, "
        f"error {number(rate.error)}, order {order_text(rate)}, "
        f"{'ok' if rate.ok else 'FAILED'}"
    )


def compared_text(table: TableRecord) -> str:
    """How many values of a table were compared with the stated ones, and how many differ."""
    missed = len(table.failures)
    if not missed:
        return f"{table.checked} values as stated"
    return f"{missed} of {table.checked} values not as stated"


def table_text(table: TableRecord) -> str:
    """One computed table as a line."""
    return f"{readable(table.title)}: {compared_text(table)}, {'ok' if table.ok else 'FAILED'}"


def _row(record: TheoremRecord) -> tuple[str, ...]:
    return (
        record.id,
        record.title,
        level_text(record),
        f"{record.steps_checked} + {record.steps_cited} cited",
        str(record.instances),
        f"{record.mutants_refuted} of {record.mutants}",
        property_text(record),
        "ok" if record.ok else "FAILED",
        f"{record.seconds:.1f} s",
    )


COLUMNS = ("id", "title", "level", "steps", "exact instances", "mutants refuted",
           "float comparisons", "result", "time")  # fmt: skip


def summary(report: Report) -> str:
    """One line: how much was verified, failed, and is still to come."""
    suite, theorems, claims = report.suite, report.theorems, report.claims
    passed = sum(t.ok for t in theorems)
    return (
        f"{passed} of {len(theorems)} theorems verified, {len(suite.not_built)} not built; "
        f"{len(claims)} claims, {suite.pending} of them not verified; "
        f"stress runs on a GPU: {suite.gpu}; "
        f"{len(failure_lines(report))} failures; {suite.seconds:.1f} s"
    )


def trusted_text(suite: Suite) -> str:
    """How much code must be right for a derivation to be."""
    return f"trusted: {suite.trusted_lines} lines ({WHAT})"


def failure_lines(report: Report) -> list[str]:
    """Every failure of the run, each naming its theorem, clause or claim."""
    lines = [f for t in report.theorems for f in t.failures]
    lines += [f"{c.id}: {c.verdict}" for c in report.claims if c.outcome == FAILED]
    return [*lines, *report.errors]


def print_report(report: Report, console: Console) -> None:
    """Print the whole run: theorems, claims, failures, summary."""
    theorems, claims = report.theorems, report.claims
    failed = [None if record.ok else "bold red" for record in theorems]
    print_table(console, COLUMNS, map(_row, theorems), "Theorems", failed)
    if console.is_terminal:
        rows = [(claim.id, claim.verdict) for claim in claims]
        styles = {FAILED: "bold red", NOT_VERIFIED: "dim"}
        shown = [styles.get(claim.outcome) for claim in claims]
        print_table(console, ("claim", "verdict"), rows, "Claims of the papers", shown)
    else:
        for claim in claims:
            print_line(console, f"{claim.id}: {claim.verdict}")
    for record in theorems:
        for rate in record.rates:
            print_line(console, f"{record.id} rate: {rate_text(rate)}")
        for table in record.tables:
            print_line(console, f"{record.id} table: {table_text(table)}")
    for warning in (w for t in theorems for w in t.warnings):
        print_line(console, f"warning: {warning}")
    for failure in failure_lines(report):
        print_line(console, f"FAILED: {failure}")
    print_line(console, trusted_text(report.suite))
    print_line(console, summary(report))


@contextmanager
def watch(console: Console, total: int) -> Iterator[Callable[[TheoremRecord, int, int], None]]:
    """Progress of a run, to be called with each record: a bar on a terminal, lines elsewhere."""
    with progress(console, total) as steps:
        yield lambda record, done, of: steps.done(
            f"[{done}/{of}] {record.id} {'ok' if record.ok else 'FAILED'} {record.seconds:.1f} s"
        )
