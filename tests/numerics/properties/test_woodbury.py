"""RA6 numerically: falsehoods planted in the solver, corner cases, and how tight its bound is."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.metrics import LowRankMetric
from numerics.metrics import low_rank as metrics
from numerics.properties import Residual, run_property, woodbury


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_metrics_of_low_rank_are_inverted_in_r_dimensions(suite_seed: int) -> None:
    result = run_property("RA6", woodbury, suite_seed)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert not result.exhausted
    assert result.clauses == ("determinant", "inverse")


def diagonal_missing(D: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.ones_like(D), U


def one_column_dropped(D: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return D, U[:, :1]


def columns_halved(D: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return D, U / 2


def diagonal_scaled(D: np.ndarray, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return (D * (1 + 1e-5)).astype(D.dtype), U


@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [diagonal_missing, one_column_dropped, columns_halved, diagonal_scaled]
)
def test_falsehood_is_caught(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = woodbury.LowRankMetric
    monkeypatch.setattr(woodbury, "LowRankMetric", lambda D, U: sound(*change(D, U)))
    result = run_property("RA6", woodbury)
    (failure,) = result.failures
    assert failure.startswith(("RA6 inverse: residual", "RA6 determinant: residual"))
    assert "counterexample: Sample(" in failure


def wrong_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = LowRankMetric.solve_pair

    def solve_pair(self: LowRankMetric, v: Any) -> metrics.Pair:
        pair = sound(self, v)
        D = self.D.astype(np.float64)
        return replace(pair, x=2 * v.astype(np.float64) / D - pair.x)

    monkeypatch.setattr(LowRankMetric, "solve_pair", solve_pair)


def one_root_of_the_determinant(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = LowRankMetric.logdet

    def logdet(self: LowRankMetric) -> Any:
        return (sound(self) + np.log(self.D).sum(dtype=self.D.dtype)) / 2

    monkeypatch.setattr(LowRankMetric, "logdet", logdet)


PLANTED = {wrong_sign: "RA6 inverse: residual", one_root_of_the_determinant: "RA6 determinant: res"}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_wrong_formula_is_caught(plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    (failure,) = run_property("RA6", woodbury).failures
    assert failure.startswith(PLANTED[plant])


@pytest.mark.slow
def test_bound_a_hundred_times_too_loose_is_caught() -> None:
    def loose(sample: woodbury.Sample) -> Residual:
        residual = woodbury.residual(sample)
        return replace(residual, bound=100 * residual.bound)

    module: Any = SimpleNamespace(samples=woodbury.samples, residual=loose)
    failures = run_property("RA6", module).failures
    assert any("bound too loose" in failure for failure in failures)


@pytest.mark.slow
def test_the_bound_is_tight_in_float64_alone() -> None:
    """In float32 the rounding to storage makes it so: float64 shows the residuals' part."""
    rng, reached = np.random.default_rng(5), dict.fromkeys(woodbury.CLAUSES, 0.0)
    for _ in range(60):
        D, U, v = np.exp(rng.normal(size=5)), rng.normal(size=(5, 2)), rng.normal(size=(3, 5))
        for clause in woodbury.CLAUSES:
            found = woodbury.residual(woodbury.Sample(clause, D, U, v))
            assert found.ratio() <= 1
            reached[clause] = max(reached[clause], found.k * found.ratio())
    assert min(reached.values()) >= 0.1, reached


ONES = np.ones((2, 3))
CORNERS = {
    "d = r = 1": (np.array([2.0]), np.array([[1.0]]), np.array([[3.0]])),
    "U = 0": (np.array([1.0, 1e-12, 1.0]), np.zeros((3, 2)), ONES),
    "v = 0": (np.array([1.0, 2.0, 3.0]), np.ones((3, 2)), 0 * ONES),
    "r > d": (np.array([1.0, 2.0, 3.0]), np.arange(15.0).reshape(3, 5), ONES),
    "equal columns": (np.full(3, 1e-12), np.ones((3, 3)), ONES),
    "capacitance of condition 1e12": (np.full(3, 1e-12), np.eye(3)[:, :1] + 0.0, ONES),
    "subnormal entries": (np.ones(3), np.full((3, 1), 5e-324), ONES),
}


@pytest.mark.slow
@pytest.mark.parametrize("corner", CORNERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("clause", woodbury.CLAUSES)
def test_corner_cases_are_compared(clause: str, dtype: Any, corner: str) -> None:
    D, U, v = (part.astype(dtype) for part in CORNERS[corner])
    assert woodbury.residual(woodbury.Sample(clause, D, U, v)).ratio() <= 1


def test_rational_metric_of_rank_one() -> None:
    """D = 2, U = 1: 1/3 and log 3; D = 1, U = (1,1): det 3."""
    sample = woodbury.Sample("inverse", np.array([2.0]), np.ones((1, 1)), np.ones((1, 1)))
    assert woodbury.exact_solution(sample)[0, 0] == 1 / 3
    assert woodbury.exact_logdet(sample) == np.log(3.0)
    sample = woodbury.Sample("inverse", np.ones(2), np.ones((2, 1)), np.ones((1, 2)))
    assert woodbury.exact_logdet(sample) == np.log(3.0)
