"""Records and reports as a run would write them, made in no time from the theorems' objects."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from numerics.scores import tables as score_tables
from paper_checks.claims import NOT_VERIFIED, claim_record
from paper_checks.digests import digest
from paper_checks.exposition import given
from paper_checks.lint import read_papers
from paper_checks.report import NOT_RUN, RateRecord, Report, TheoremRecord
from paper_checks.run import describe_suite
from paper_checks.tables import table_record
from theorems import catalogue
from theorems.checker.records import ClauseRecord, MutantRecord
from theorems.statement import Assumption, Theorem

RecordOf = Callable[..., TheoremRecord]


@pytest.fixture(scope="session")
def record_of() -> RecordOf:
    """record_of(id, level="G", ok=True): a record with the theorem's own clauses and mutants."""

    def make(theorem_id: str, level: str = "G", ok: bool = True) -> TheoremRecord:
        theorem = catalogue.load(theorem_id)
        steps = sum(len(clause.steps) for clause in theorem.clauses)
        names = [clause.name for clause in theorem.clauses]
        assumed = given((step for clause in theorem.clauses for step in clause.steps), Assumption)
        return replace(
            NOT_RUN, id=theorem_id, digest=digest(theorem), title=theorem.title, level=level,
            ok=ok, clauses=tuple(ClauseRecord(name, level, ()) for name in names),
            steps=steps, steps_checked=steps, instances=7, rational_instances=3,
            property_examples=200, nonzero_residuals=123, max_residual_over_bound=0.25,
            tightness=1.5, planted_rejected=True, mutants=len(theorem.mutants),
            mutants_refuted=len(theorem.mutants),
            mutant_details=tuple(
                MutantRecord(m.id, m.claim.id, m.text, refuted=True, derivation_fails=True,
                             counterexample="n=1; P[1, 1]=-1/2; at i=1: 2 != 3")
                for m in theorem.mutants
            ),
            necessity={a.id: dict.fromkeys(names, "needed") for a in assumed},
            failures=() if ok else (f"{theorem_id}.{names[0]}: planted",),
            uses=theorem.uses, seconds=0.5,
        )  # fmt: skip

    return make


@pytest.fixture(scope="session")
def report(record_of: RecordOf) -> Report:
    """A report on every theorem that is built, all of them verified."""
    records = {theorem_id: record_of(theorem_id) for theorem_id in catalogue.CATALOGUE}
    name = "circle, density 1 + cos/2, holonomy angle 2 pi/5: largest error at a token"
    missed = RateRecord(
        name=name, target=4 * 0.7**2, finest=2.0123456, error=0.0523456, slope=0.5, low=-0.125,
        high=1.5, expected=1.0, ok=False,
    )  # fmt: skip
    attained = replace(missed, slope=None, low=None, high=None, ok=True)
    first = next(iter(records))
    records[first] = replace(records[first], rates=(missed, attained))
    for theorem_id, tables in (
        ("RA3", score_tables.rank_tables((1, 2, 3, 4))), ("RA7", score_tables.overhead_tables()),
    ):  # fmt: skip
        shown = tuple(table_record(table) for table in tables)
        records[theorem_id] = replace(records[theorem_id], tables=shown)
    claims, evidence, errors = read_papers()
    read = tuple(claim_record(claim, evidence[claim.id], records) for claim in claims)
    return Report(
        suite=describe_suite(list(records), sum(c.outcome == NOT_VERIFIED for c in read)),
        theorems=tuple(records.values()),
        claims=read,
        errors=tuple(errors),
        ok=not errors,
    )


@pytest.fixture(scope="session")
def changed() -> Callable[..., Theorem]:
    """changed(theorem, kind, **changes): the theorem with its first object of a kind changed."""

    def within(value: Any, kind: type, changes: dict[str, Any]) -> Any:
        if isinstance(value, kind):
            return replace(value, **changes)
        if isinstance(value, tuple):
            for place, part in enumerate(value):
                if (found := within(part, kind, changes)) is not part:
                    return (*value[:place], found, *value[place + 1 :])
            return value
        for name in ("clauses", "steps", "by", "mutants"):
            part = getattr(value, name, ())
            if (found := within(part, kind, changes)) is not part:
                return replace(value, **{name: found})
        return value

    def make(theorem: Theorem, kind: type, **changes: Any) -> Theorem:
        found = within(theorem, kind, changes)
        assert found is not theorem, f"{theorem.id} has no {kind.__name__}"
        return found

    return make


@pytest.fixture
def typeset(tmp_path: Path, require_tool: Callable[..., str]) -> Callable[[str], tuple[str, float]]:
    """typeset(source): the log of pdflatex and by how many points the widest line sticks out."""
    pdflatex = require_tool(
        "pdflatex", why="the appendix is typeset with it", how="the package texlive-latex-base"
    )

    def run(source: str) -> tuple[str, float]:
        (tmp_path / "appendix.tex").write_text(source, encoding="utf-8")
        for _ in range(2):  # the second run knows the references
            done = subprocess.run(
                [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "appendix.tex"],
                cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout[-3000:]
        assert (tmp_path / "appendix.pdf").stat().st_size > 0
        log = (tmp_path / "appendix.log").read_text(encoding="latin-1")
        return log, max(map(float, re.findall(r"Overfull \\hbox \((.*?)pt", log)), default=0.0)

    return run
