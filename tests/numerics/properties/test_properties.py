"""Each property holds, is tight, reaches its corners, and sees the falsehoods planted in it.

test_<slug>.py beside this file holds what is particular to one property. Of it the tests here read

    FALSEHOODS  name -> Plant
    CORNERS     name -> a sample, or a predicate that some sample drawn must satisfy
    reached     asserts what the samples of a sound run reach together, in place of CORNERS
    SEEDS       seeds of the sound runs, (0,) unless given
    EXAMPLES    examples of a run with a falsehood, 200 unless given
    ALONE       whether a run with a falsehood draws samples of its clause alone
    LOOSE       the factor by which a bound is too loose, 50 unless given
    widened     a sample as the test of loose bounds compares it
    variants    the samples compared at a corner
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import find
from hypothesis import strategies as st

from numerics.properties import PropertyResult, Residual, run_property
from numerics.properties.hypotheses import Held
from tests.numerics.properties.plant import SEARCH, Plant
from theorems.catalogue import CATALOGUE, property_module

PROPERTIES: dict[str, Any] = {key: import_module(property_module(key)) for key in CATALOGUE}


def own_tests(name: str) -> Any:
    """The module with a property's own tests; an empty one where there is none, which fails below
    in one line and not while all tests are collected."""
    return import_module(name) if find_spec(name) else ModuleType(name)


TABLES: dict[str, Any] = {
    key: own_tests(f"tests.numerics.properties.test_{module.__name__.rpartition('.')[2]}")
    for key, module in PROPERTIES.items()
}


def table(identifier: str, name: str, default: Any) -> Any:
    """What the property's own tests give under a name."""
    return getattr(TABLES[identifier], name, default)


def clauses_of(identifier: str) -> tuple[str, ...]:
    """The clauses that the samples of a property name, sorted."""
    module = PROPERTIES[identifier]
    return tuple(sorted(getattr(module, "CLAUSES", None) or (module.CLAUSE,)))


def of(identifier: str, *values: Any, name: str = "") -> Any:
    """Arguments of a test that one test process runs with all others of its property."""
    label = f"{identifier}-{name}" if name else identifier
    group = pytest.mark.xdist_group(f"property-{identifier}")
    return pytest.param(identifier, *values, id=label, marks=group)


@dataclass(frozen=True)
class Sound:
    """A run without falsehoods: what was drawn and compared."""

    result: PropertyResult
    samples: list[Any]
    residuals: list[Residual]


@cache
def sound(identifier: str, seed: int) -> Sound:
    """The run of a property as it stands, made once."""
    module, samples, residuals = PROPERTIES[identifier], [], []

    def watched(sample: Any) -> Residual:
        samples.append(sample)
        residuals.append(module.residual(sample))
        return residuals[-1]

    watching: Any = SimpleNamespace(**vars(module) | {"residual": watched})
    return Sound(run_property(identifier, watching, seed), samples, residuals)


@pytest.mark.slow
def test_the_sound_run_checks_what_the_theorem_assumes(monkeypatch: pytest.MonkeyPatch) -> None:
    def another(sample: Any) -> list[Held]:
        return [Held("D>0", {"D": -sample.D})]

    monkeypatch.setattr(PROPERTIES["RA6"], "hypotheses", another)
    (failure,) = sound.__wrapped__("RA6", 0).result.failures
    assert ": sample violates D>0: " in failure


RUNS = [of(key, seed, name=str(seed)) for key in CATALOGUE for seed in table(key, "SEEDS", (0,))]
EACH = pytest.mark.parametrize("identifier", [of(key) for key in CATALOGUE])


@pytest.mark.slow
@pytest.mark.parametrize(("identifier", "seed"), RUNS)
def test_the_property_holds_and_is_tight(identifier: str, seed: int) -> None:
    result = sound(identifier, seed).result
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert not result.exhausted
    assert result.clauses == clauses_of(identifier)


@pytest.mark.slow
@pytest.mark.parametrize(("identifier", "seed"), RUNS)
def test_a_loose_bound_is_caught(identifier: str, seed: int) -> None:
    run, factor = sound(identifier, seed), table(identifier, "LOOSE", 50)
    residuals = run.residuals
    if widened := table(identifier, "widened", None):
        residuals = [PROPERTIES[identifier].residual(widened(s)) for s in run.samples]
    loose = [replace(residual, bound=factor * residual.bound) for residual in residuals]
    module: Any = SimpleNamespace(
        samples=lambda: st.integers(0, len(loose) - 1), residual=loose.__getitem__
    )
    failures = run_property(identifier, module, seed).failures
    for clause in clauses_of(identifier):
        assert any(f" {clause}: bound too loose" in failure for failure in failures), failures


CORNERS = [
    of(key, corner, name=name)
    for key in CATALOGUE
    for name, corner in table(key, "CORNERS", {}).items()
]
DRAWN = [case for case in CORNERS if callable(case.values[1])]
GIVEN = [case for case in CORNERS if not callable(case.values[1])]


def compare(identifier: str, sample: Any) -> None:
    for variant in table(identifier, "variants", lambda sample: [sample])(sample):
        residual = PROPERTIES[identifier].residual(variant)
        assert residual.ratio() <= 1, residual.explain()


@pytest.mark.slow
@pytest.mark.parametrize(("identifier", "corner"), DRAWN)
def test_a_corner_is_drawn_and_holds(identifier: str, corner: Callable[[Any], bool]) -> None:
    drawn = sound(identifier, table(identifier, "SEEDS", (0,))[0]).samples
    met = next((sample for sample in drawn if corner(sample)), None)
    compare(identifier, met or find(PROPERTIES[identifier].samples(), corner, settings=SEARCH))


@pytest.mark.parametrize(("identifier", "sample"), GIVEN)
def test_a_corner_holds(identifier: str, sample: Any) -> None:
    compare(identifier, sample)


@pytest.mark.slow
@pytest.mark.parametrize("identifier", [of(k) for k in CATALOGUE if hasattr(TABLES[k], "reached")])
def test_the_samples_together_reach_the_corners(identifier: str) -> None:
    run = sound(identifier, table(identifier, "SEEDS", (0,))[0])
    TABLES[identifier].reached(run.samples)


def falsehoods() -> list[Any]:
    """Each falsehood with the clauses that may be blamed, one at a time for samples of one."""
    cases = []
    for key in CATALOGUE:
        for name, plant in table(key, "FALSEHOODS", {}).items():
            named = plant.clauses.split()
            if table(key, "ALONE", False):
                cases += [of(key, plant, [one], name=f"{one}-{name}") for one in named]
            else:
                cases.append(of(key, plant, named, name=f"{'-'.join(named)}-{name}"))
    return cases


@pytest.mark.slow
@pytest.mark.parametrize(("identifier", "plant", "clauses"), falsehoods())
def test_a_falsehood_is_rejected(
    identifier: str, plant: Plant, clauses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = PROPERTIES[identifier]
    plant.put(monkeypatch, module)
    if table(identifier, "ALONE", False):
        monkeypatch.setattr(module, "CLAUSES", tuple(clauses))
    examples = plant.examples or table(identifier, "EXAMPLES", 200)
    (failure,) = run_property(identifier, module, max_examples=examples).failures
    assert re.match(f"{identifier} ({'|'.join(clauses)}): ", failure), failure
    assert re.search(plant.says, failure), failure
    assert "counterexample: " in failure


@EACH
def test_every_clause_has_a_falsehood_and_every_property_corners(identifier: str) -> None:
    name = TABLES[identifier].__name__
    assert find_spec(name), f"{identifier}: {name.replace('.', '/')}.py is missing"
    plants = table(identifier, "FALSEHOODS", {}).values()
    blamed = {clause for plant in plants for clause in plant.clauses.split()}
    assert blamed == set(clauses_of(identifier))
    assert not [plant for plant in plants if re.search(plant.says, "")], "these say anything"
    assert table(identifier, "CORNERS", {}) or table(identifier, "reached", None)
