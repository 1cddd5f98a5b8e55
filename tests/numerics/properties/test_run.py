"""The runner accepts sound properties and rejects every way in which one can say nothing."""

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
import torch
from hypothesis import configuration
from hypothesis import strategies as st

from numerics.evidence.comparison import Comparison
from numerics.properties import Residual, run_property
from numerics.rounding.roundoff import exact


@dataclass(frozen=True)
class Property:
    """A property made on the spot."""

    samples: Callable[[], Any]
    residual: Callable[[Any], Residual]


def dot(seed: int) -> Residual:
    """A float dot product against its exact value, rounded once."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(1, 6)), rng.normal(size=(6, 1))
    true = sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[0], b[:, 0], strict=True))
    bound = (exact(a) @ exact(b)).error + 2.0**-53 * abs(float(true))
    return Residual("dot", a @ b, np.array([[float(true)]]), bound, 6)


def seeds() -> Any:
    return st.integers(0, 2**32 - 1)


@pytest.mark.slow
def test_tightness_is_measured_at_the_largest_lengths() -> None:
    """A bound that is tight for short sums only says nothing about long ones."""

    def tight_when_short(seed: int) -> Residual:
        long = bool(seed % 2)
        residual = replace(dot(seed), k=6 if long else 1)
        return replace(residual, bound=1000 * residual.bound) if long else residual

    result = run_property("X1", Property(seeds, tight_when_short))
    assert "dot: bound too loose" in result.failures[0]


@pytest.mark.slow
def test_samples_do_not_depend_on_what_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn() -> list[int]:
        found: list[int] = []

        def watched(seed: int) -> Residual:
            found.append(seed)
            return dot(seed)

        run_property("X1", Property(seeds, watched))
        return found

    before = drawn()
    (tmp_path / "loaded_later.py").write_text(f"NUMBERS = {[1009 * k for k in range(9, 99)]}")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("loaded_later")
    again = drawn()
    del sys.modules["loaded_later"]
    assert again == before


def test_property_that_never_compares_is_caught() -> None:
    def never(seed: int) -> Residual:
        hypothesis.assume(False)
        return dot(seed)

    result = run_property("X1", Property(seeds, never))
    assert not result.ok
    assert result.examples == 0
    assert "X1 X1: no comparison" in result.failures[0]


@pytest.mark.slow
def test_property_that_compares_a_thing_with_itself_is_caught() -> None:
    result = run_property("X1", Property(seeds, lambda s: replace(dot(s), rhs=dot(s).lhs)))
    assert not result.ok
    assert "dot: NOT VERIFIED, only 0 of 200 residuals are nonzero, 50 needed" in result.failures[0]


UNUSABLE = {
    "both sides nan": (dict.fromkeys(("lhs", "rhs"), np.array([[np.nan]])), "lhs must be finite"),
    "rhs infinite": ({"rhs": np.array([[np.inf]])}, r"rhs must be finite, got inf at (0, 0)"),
    "bound infinite": ({"bound": np.array([[np.inf]])}, "bound must be finite"),
    "bound nan": ({"bound": np.array([[np.nan]])}, "bound must be finite"),
    "bound negative": ({"bound": np.array([[-1.0]])}, "bound must be positive where"),
    "bound zero": ({"lhs": np.ones((1, 1)), "bound": np.zeros((1, 1))}, "bound must be positive"),
    "broadcast": ({"rhs": np.zeros((3, 1))}, "must have one shape"),
    "empty": (dict.fromkeys(("lhs", "rhs", "bound"), np.zeros((0, 1))), "nothing compared"),
    "no length": ({"k": 0}, "k must be at least 1, got 0"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_unusable_comparison_is_caught(case: str) -> None:
    changes, message = UNUSABLE[case]
    result = run_property("X1", Property(seeds, lambda s: replace(dot(s), **changes)))
    assert not result.ok
    assert result.failures[0].startswith("X1 dot: ")
    assert message in result.failures[0]


@pytest.mark.slow
def test_comparison_that_lets_a_planted_error_pass_is_caught() -> None:
    class Lenient(Residual):
        def compared(self) -> Comparison:
            return replace(super().compared(), rejected=0)

    def lenient(seed: int) -> Residual:
        sound = dot(seed)
        return Lenient(sound.clause, sound.lhs, sound.rhs, sound.bound, sound.k)

    result = run_property("X1", Property(seeds, lenient))
    assert not result.planted_rejected
    assert "dot: a planted error of 8 bounds was not rejected" in result.failures[0]


@pytest.mark.slow
def test_a_bound_that_float64_does_not_resolve_in_one_entry_is_caught() -> None:
    def coarse(seed: int) -> Residual:
        """Beside 2^60 an error of 8 is nothing, at whichever entry the bound is the tightest."""
        sound = dot(seed)
        lhs, rhs = np.append(sound.lhs, 2.0**60), np.append(sound.rhs, 2.0**60)
        return replace(sound, lhs=lhs, rhs=rhs, bound=np.append(sound.bound, 1.0))

    result = run_property("X1", Property(seeds, coarse))
    assert not result.planted_rejected
    assert (
        "dot: a planted error of 8 bounds was not rejected at 1 of 2 entries"
        in (result.failures[0])
    )


def test_property_that_crashes_is_caught() -> None:
    result = run_property("X1", Property(seeds, lambda _: [][0]))
    assert "X1 X1: IndexError: list index out of range" in result.failures[0]


@pytest.mark.slow
def test_each_clause_is_judged_by_itself() -> None:
    def two(seed: int) -> Residual:
        return dot(seed) if seed % 2 else replace(dot(seed), clause="vacuous", rhs=dot(seed).lhs)

    result = run_property("X1", Property(seeds, two))
    assert result.clauses == ("dot", "vacuous")
    assert all(failure.startswith("X1 vacuous: ") for failure in result.failures)
    assert not result.ok


def test_counterexample_is_shrunk() -> None:
    def from_ten_on(seed: int) -> Residual:
        return replace(dot(seed), rhs=dot(seed).rhs + 1) if seed >= 10 else dot(seed)

    (failure,) = run_property("X1", Property(seeds, from_ten_on)).failures
    assert failure.endswith("counterexample: 10")


@pytest.mark.slow
def test_exhausted_strategy_says_so() -> None:
    result = run_property("X1", Property(lambda: st.integers(0, 99), dot))
    assert result.ok, result.failures
    assert result.exhausted
    assert result.examples == 100


def test_a_handful_of_examples_is_no_evidence() -> None:
    (failure,) = run_property("X1", Property(lambda: st.integers(0, 19), dot)).failures
    assert "exhausted after 20 comparisons, 50 needed" in failure


@pytest.mark.slow
def test_run_is_reproducible_and_seeded() -> None:
    def trace(suite_seed: int, theorem: str = "X1") -> list[int]:
        seen: list[int] = []
        run_property(theorem, Property(seeds, lambda s: seen.append(s) or dot(s)), suite_seed, 20)
        return seen

    assert trace(0) == trace(0)
    assert trace(0) != trace(1)
    assert trace(0) != trace(0, "X2")


def test_nothing_is_written_where_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = configuration.storage_directory().path
    configuration.set_hypothesis_home_dir(tmp_path / "home")
    try:
        run_property("X1", Property(seeds, lambda s: replace(dot(s), k=0)))
        assert configuration.storage_directory().path == tmp_path / "home"
    finally:
        configuration.set_hypothesis_home_dir(before)
    assert not list(tmp_path.iterdir())


def test_tensors_and_half_precision_are_compared_in_float64() -> None:
    half = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)
    bound = torch.tensor([1.0, 1.0], dtype=torch.float64)
    assert Residual("c", half, half + 1, bound, 1).ratio() == 1.0
    assert "c: residual / bound = 1 at (0,)" in Residual("c", half, half + 1, bound, 1).explain()


def test_sample_that_names_its_clause_is_blamed_by_it() -> None:
    @dataclass(frozen=True)
    class Sample:
        clause: str

    def crash(_: Sample) -> Residual:
        raise ArithmeticError("no root")

    (failure,) = run_property(
        "X1", Property(lambda: st.builds(Sample, st.just("b")), crash)
    ).failures
    assert failure.startswith("X1 b: ArithmeticError: no root")
