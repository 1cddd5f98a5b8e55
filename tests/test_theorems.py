"""The catalogue, theorem by theorem: derivations, levels, mutants, necessity, numeric property.

Each theorem is verified once; its clauses and mutants are tests of their own, with ids such as
`CW2-gates-mutant-missing_H`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from time import process_time
from typing import Any

import pytest

from numerics.properties import run_property
from paper_checks.rates import measured_rates
from paper_checks.tables import computed_tables
from theorems import catalogue
from theorems.checker.check import refute, verify
from theorems.checker.records import Verification
from theorems.statement import Clause, Mutant, Theorem

TOO_SLOW = 15.0  # seconds a theorem
LOWER: dict[str, str] = {}  # clauses whose level is below G, such as "RA6.stability": "S"
THEOREMS = {identifier: catalogue.load(identifier) for identifier in catalogue.CATALOGUE}


@cache
def timed_report_of(identifier: str) -> tuple[Verification, float]:
    """The report on a theorem, made once, and the processor time that it took."""
    start = process_time()
    return verify(THEOREMS[identifier]), process_time() - start


def report_of(identifier: str) -> Verification:
    """The report on a theorem."""
    return timed_report_of(identifier)[0]


def clause_of(theorem: Theorem, mutant: Mutant) -> str:
    """The name of the clause whose step a mutant attacks."""
    named = (c.name for c in theorem.clauses if mutant.claim.id in [s.id for s in c.steps])
    return next(named, "no_clause")


def of(identifier: str, *values: Any, name: str) -> Any:
    """Arguments of a test that one test process runs with all others of its theorem."""
    group = pytest.mark.xdist_group(identifier)
    return pytest.param(identifier, *values, id=name, marks=group)


CLAUSES = [of(identifier, clause, name=f"{identifier}-{clause.name}-derivation")
           for identifier, theorem in THEOREMS.items() for clause in theorem.clauses]  # fmt: skip
MUTANTS = [
    of(key, mutant, name=f"{key}-{clause_of(theorem, mutant)}-mutant-{mutant.id}")
    for key, theorem in THEOREMS.items() for mutant in theorem.mutants
]  # fmt: skip
each_theorem = pytest.mark.parametrize("identifier", [of(name, name=name) for name in THEOREMS])


@pytest.mark.parametrize(("identifier", "clause"), CLAUSES)
def test_clause(identifier: str, clause: Clause) -> None:
    """Its steps follow, agree with exact instances and survive self-refutation, at its level."""
    (found,) = (c for c in report_of(identifier).clauses if c.name == clause.name)
    assert not found.failures, "\n".join(found.failures)
    name = f"{identifier}.{clause.name}"
    assert found.level == LOWER.get(name, "G"), f"{name} has level {found.level}"


@pytest.mark.parametrize(("identifier", "mutant"), MUTANTS)
def test_mutant(identifier: str, mutant: Mutant) -> None:
    """It is not derived, and an exact counterexample refutes it."""
    (refutation,) = (r for r in report_of(identifier).refutations if r.record.id == mutant.id)
    found, errors = refutation.record, refutation.errors
    assert not errors, "\n".join([mutant.text, *errors, found.counterexample])
    assert found.derivation_fails, f"{mutant.text}: derived"
    assert found.refuted, f"{mutant.text}: no counterexample"
    shown = found.counterexample  # both values, of an entry, a rank or a determinant
    assert re.search(r" against |rank \d+ > rank \d+|determinant \S+, not ", shown), shown


@each_theorem
def test_theorem(identifier: str) -> None:
    """Nothing about it as a whole is wrong, and the counts of its report add up."""
    report, theorem = report_of(identifier), THEOREMS[identifier]
    assert not report.errors, "\n".join(report.errors)
    assert report.ok
    assert report.steps_checked + report.steps_cited == report.steps
    assert report.mutants_refuted == len(report.refutations) == len(theorem.mutants) > 0
    assert report.instances > 0
    assert report.self_refutation_tries > 0
    assert set(theorem.uses) <= set(catalogue.CATALOGUE)
    assert theorem.sources


@each_theorem
def test_every_assumption_is_needed_by_some_clause(identifier: str) -> None:
    names = [clause.name for clause in THEOREMS[identifier].clauses]
    for assumption, row in report_of(identifier).necessity.items():
        assert list(row) == names
        assert "needed" in row.values(), f"no clause of {identifier} needs {assumption}: {row}"


@each_theorem
def test_theorem_is_verified_in_time(identifier: str) -> None:
    # Processor time: what else the machine does is not the theorem's.
    _, seconds = timed_report_of(identifier)
    assert seconds < TOO_SLOW, f"{identifier} took {seconds:.1f} s"


@pytest.mark.slow
@pytest.mark.parametrize(("identifier", "mutant"), MUTANTS)
def test_mutant_is_refuted_whatever_the_seed(identifier: str, mutant: Mutant) -> None:
    missed = {seed: errors for seed in range(1, 5)
              if (errors := refute(mutant, THEOREMS[identifier], seed).errors)}  # fmt: skip
    assert not missed, missed


@pytest.mark.slow
@pytest.mark.parametrize(
    "identifier", [pytest.param(name, id=f"{name}-property") for name in THEOREMS]
)
def test_property(identifier: str) -> None:
    """On random arrays the rounding error stays within its bound, which is tight."""
    module: Any = import_module(catalogue.property_module(identifier))
    result = run_property(identifier, module)
    assert result.ok, "\n".join(result.failures)
    clauses = {clause.name for clause in THEOREMS[identifier].clauses}
    assert set(result.clauses) <= clauses, f"{identifier} has no clause {result.clauses}"
    rates, failures = measured_rates(module)
    assert not failures, "\n".join(failures)
    assert bool(rates) == hasattr(module, "rates")
    tables, failures = computed_tables(module, clauses)
    assert not failures, "\n".join(failures)
    assert bool(tables) == hasattr(module, "tables")


def test_planned_and_built_theorems_are_apart() -> None:
    assert not catalogue.PLANNED & catalogue.CATALOGUE.keys()
