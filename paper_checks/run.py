"""One verification run: theorems in worker processes, then claims, then the report."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import Any

import msgspec

from numerics.runs.provenance import checkout, suite_version, versions
from paper_checks import gpu
from paper_checks.claims import NOT_VERIFIED, claim_record, failed_with_all_evidence
from paper_checks.digests import digest
from paper_checks.formal.kernel import LEFT_OUT, Checked, check_formal, settle_formal
from paper_checks.lint import claim_errors, formula_errors, read_papers
from paper_checks.rates import measured_rates
from paper_checks.report import NOT_RUN, Report, StressRecord, Suite, TheoremRecord, lowest_level
from paper_checks.tables import computed_tables
from paper_checks.trusted import trusted_lines
from paper_checks.uses import settle_uses, with_uses
from paper_checks.workers import Crash, run_all
from theorems import catalogue
from theorems.checker.lint import lint_package
from theorems.checker.records import Verification

SLOW, TOO_SLOW = 5.0, 15.0  # seconds a theorem
SMALL_CELL: dict[str, Any] = {"n": 256, "dtype": "float32", "device": "cpu"}
HEADS = 4
PACKAGES = ("sympy", "python-flint", "numpy", "scipy", "torch", "hypothesis", "array-api-compat",
            "math-core", "jinja2", "rich", "matplotlib")  # fmt: skip

Progress = Callable[[TheoremRecord, int, int], None]


def check_theorem(theorem_id: str, seed: int = 0, stress: bool = True) -> TheoremRecord:
    """Everything that is checked about one theorem: exact, numeric, and small stress cells.

    Raises: ValueError when a half of the theorem is missing.
    """
    # Here and not above: what the parent never imports, every worker need not either.
    from numerics.properties import run_property
    from theorems.checker.check import verify as verify_exactly

    started = perf_counter()
    theorem = catalogue.load(theorem_id)
    property_module: Any = import_module(catalogue.property_module(theorem_id))
    exact = verify_exactly(theorem, seed)
    measured = run_property(theorem_id, property_module, suite_seed=seed)
    rates, rate_failures = measured_rates(property_module)
    tables, table_failures = computed_tables(property_module, [c.name for c in theorem.clauses])
    cells = _stress_cells(theorem_id, seed) if stress else []
    failures = [*(f for clause in exact.clauses for f in clause.failures), *exact.errors]
    failures += [_named(theorem_id, "property", f) for f in measured.failures]
    failures += [_named(theorem_id, "rate", f) for f in rate_failures]
    failures += [_named(theorem_id, "table", f) for f in table_failures]
    failures += _without_evidence(exact, measured.clauses)
    failures += [_named(theorem_id, "stress", f"{c.status}: {c.reason}")
                 for c in cells if c.status not in ("ok", "not run")]  # fmt: skip
    failures += [_named(theorem_id, "stress", f"{c.cell}: bound too loose to show anything")
                 for c in cells if c.status == "ok" and not c.tight]  # fmt: skip
    seconds = perf_counter() - started
    return TheoremRecord(
        id=exact.id,
        digest=digest(theorem),
        title=exact.title,
        level=lowest_level(clause.level for clause in exact.clauses),
        steps=exact.steps,
        steps_checked=exact.steps_checked,
        steps_cited=exact.steps_cited,
        cited=exact.cited,
        inherited={},
        clauses=exact.clauses,
        instances=exact.instances,
        rational_instances=exact.rational_instances,
        property_examples=measured.examples,
        nonzero_residuals=measured.nonzero,
        max_residual_over_bound=_finite(measured.max_ratio),
        tightness=_finite(measured.tightness),
        planted_rejected=measured.planted_rejected,
        rates=tuple(rates),
        tables=tuple(tables),
        mutants=len(exact.refutations),
        mutants_refuted=exact.mutants_refuted,
        mutant_details=tuple(refutation.record for refutation in exact.refutations),
        necessity=exact.necessity,
        self_refutation_tries=exact.self_refutation_tries,
        stress=tuple(cells),
        kernel="absent",
        formal=(),
        uses=theorem.uses,
        failures=tuple(failures),
        warnings=_slowness(theorem_id, seconds),
        ok=bool(exact.ok and measured.ok and not failures),
        seconds=seconds,
    )


def _without_evidence(exact: Verification, measured: Sequence[str]) -> list[str]:
    """Clauses nothing supports, clauses that do not exist, and axioms that may not be cited."""
    identifier, allowed = exact.id, catalogue.CITABLE.get(exact.id, ())
    names = [clause.name for clause in exact.clauses]
    bare = [c.name for c in exact.clauses if c.level == "N" and c.name not in measured]
    return [
        *(f"{identifier}.{name}: no step, instance or property supports it" for name in bare),
        *(f"{identifier}.{name}: measured, but no such clause" for name in measured
          if name not in names),
        *(f"{identifier}: cites {axiom.id}, which is not in its list of axioms"
          for axiom in exact.cited if axiom.id not in allowed),
    ]  # fmt: skip


def _stress_cells(theorem_id: str, seed: int) -> list[StressRecord]:
    from numerics import stress

    case = stress.cases().get(theorem_id)
    if case is None:
        return []
    heads = None if case.single_head else HEADS
    cells = [
        stress.run_cell(theorem_id, None, d=d, heads=heads, seed=seed, **SMALL_CELL)
        for d in case.small
    ]
    return [msgspec.convert(cell, StressRecord) for cell in cells]


def _named(theorem_id: str, part: str, failure: str) -> str:
    """Every failure opens with the theorem and the part that it belongs to."""
    rest = failure.removeprefix(theorem_id).lstrip(" :.")
    return f"{theorem_id}.{part}: {rest}"


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _slowness(theorem_id: str, seconds: float) -> tuple[str, ...]:
    if seconds <= SLOW:
        return ()
    limit = TOO_SLOW if seconds > TOO_SLOW else SLOW
    return (f"{theorem_id}: took {seconds:.1f} s, over {limit:g} s",)


def failed_record(theorem_id: str, failures: Sequence[str]) -> TheoremRecord:
    """The record of a theorem about which nothing could be found out."""
    return replace(NOT_RUN, id=theorem_id, failures=tuple(failures))


def verify(
    ids: Sequence[str],
    jobs: int = 2,
    seed: int = 0,
    stress: bool = True,
    progress: Progress | None = None,
    paper: str | None = None,
    check: Callable[..., TheoremRecord] = check_theorem,
    formal: bool = False,
) -> Report:
    """Verify theorems and what they use, read the claims, and return the report.

    With `formal` the prover, if there is one, checks the formal proofs at the same time.

    Raises: KeyboardInterrupt, after the workers have ended.
    """
    started, clock = datetime.now(UTC), perf_counter()
    selected, unloadable = with_uses(ids)
    found = {i: failed_record(i, errors) for i, errors in unloadable.items()}
    runnable = [i for i in selected if i not in unloadable]
    with ThreadPoolExecutor(1) as beside:
        asked = beside.submit(check_formal, runnable, 1) if formal else None
        for theorem_id, result in run_all(runnable, partial(check, seed=seed, stress=stress), jobs):
            if isinstance(result, Crash):
                result = failed_record(theorem_id, [f"{theorem_id}: {result.reason}"])
            found[theorem_id] = result
            if progress:
                progress(result, len(found), len(selected))
    kernel = asked.result() if asked else Checked(LEFT_OUT)
    records = settle_uses([settle_formal(found[i], kernel) for i in selected])
    report = _with_claims(records, runnable, paper, kernel.errors)
    suite = replace(
        report.suite, kernel=kernel.state, seed=seed, jobs=jobs,
        started=started.isoformat("T", "seconds"), seconds=perf_counter() - clock,
    )  # fmt: skip
    return replace(report, suite=suite)


def _with_claims(
    records: list[TheoremRecord], runnable: Sequence[str], paper: str | None,
    faults: Sequence[str],
) -> Report:  # fmt: skip
    claims, evidence, errors = read_papers()
    errors += faults
    errors += claim_errors(claims, evidence)
    errors += formula_errors(runnable)
    errors += lint_package()
    results = {record.id: record for record in records}
    from paper_checks import measurements  # brings numpy, which the workers would inherit

    models, untrue = measurements.committed()
    errors += untrue
    read = [claim_record(c, evidence[c.id], results, measurements.held(models),
                         measurements.note(models, evidence[c.id].measurements))
            for c in claims if c.id in evidence and paper in (None, c.paper)]  # fmt: skip
    failed_claims = [c for c in read if failed_with_all_evidence(c, results)]
    return Report(
        suite=describe_suite(list(results), pending=sum(c.outcome == NOT_VERIFIED for c in read)),
        theorems=tuple(records),
        claims=tuple(read),
        errors=tuple(errors),
        ok=not errors and not failed_claims and all(r.ok for r in records),
    )


def describe_suite(selected: Sequence[str], pending: int) -> Suite:
    """What ran and on what; seed, jobs and times are filled in by the run."""
    commit, modified = checkout(untracked=True) or (None, None)
    packages = versions(*PACKAGES)
    return Suite(
        version=suite_version(), commit=commit, modified=modified, python=packages.pop("python"),
        packages=packages, seed=0, jobs=0, started="", seconds=0.0, selected=tuple(selected),
        not_selected=tuple(i for i in catalogue.CATALOGUE if i not in selected),
        not_built=tuple(sorted(catalogue.PLANNED, key=_natural)), pending=pending,
        kernel=LEFT_OUT, trusted_lines=trusted_lines(), gpu=gpu.stated(),
    )  # fmt: skip


def _natural(theorem_id: str) -> tuple[str, int]:
    letters = theorem_id.rstrip("0123456789")
    return letters, int(theorem_id[len(letters) :] or 0)
