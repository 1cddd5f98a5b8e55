"""RA6 numerically: falsehoods planted in the solver, corner cases, and how tight its bound is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from numerics.metrics import LowRankMetric
from numerics.metrics import low_rank as metrics
from numerics.properties import woodbury
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)
LOOSE = 100


def another_metric(change: Callable[[np.ndarray, np.ndarray], tuple[Any, Any]]) -> Plant:
    """The metric of changed factors D and U."""
    return Plant("inverse determinant", "LowRankMetric", lambda sound, D, U: sound(*change(D, U)))


def wrong_sign(sound: Any, metric: LowRankMetric, v: Any) -> metrics.Pair:
    pair = sound(metric, v)
    return replace(pair, x=2 * v.astype(np.float64) / metric.D.astype(np.float64) - pair.x)


FALSEHOODS = {
    "diagonal missing": another_metric(lambda D, U: (np.ones_like(D), U)),
    "one column dropped": another_metric(lambda D, U: (D, U[:, :1])),
    "columns halved": another_metric(lambda D, U: (D, U / 2)),
    "diagonal scaled": another_metric(lambda D, U: ((D * (1 + 1e-5)).astype(D.dtype), U)),
    "wrong sign": Plant("inverse", "solve_pair", wrong_sign, LowRankMetric, says="residual"),
    "one root of the determinant": Plant("determinant", "logdet", lambda sound, metric: (
        (sound(metric) + np.log(metric.D).sum(dtype=metric.D.dtype)) / 2), LowRankMetric),
}  # fmt: skip
ONES = np.ones((2, 3))
FACTORS = {
    "d = r = 1": (np.array([2.0]), np.array([[1.0]]), np.array([[3.0]])),
    "U = 0": (np.array([1.0, 1e-12, 1.0]), np.zeros((3, 2)), ONES),
    "v = 0": (np.array([1.0, 2.0, 3.0]), np.ones((3, 2)), 0 * ONES),
    "r > d": (np.array([1.0, 2.0, 3.0]), np.arange(15.0).reshape(3, 5), ONES),
    "equal columns": (np.full(3, 1e-12), np.ones((3, 3)), ONES),
    "capacitance of condition 1e12": (np.full(3, 1e-12), np.eye(3)[:, :1] + 0.0, ONES),
    "subnormal entries": (np.ones(3), np.full((3, 1), 5e-324), ONES),
}
CORNERS = {
    f"{clause}, {name}, in {np.dtype(dtype)}": woodbury.Sample(
        clause, *(part.astype(dtype) for part in parts))
    for clause in woodbury.CLAUSES for name, parts in FACTORS.items()
    for dtype in (np.float32, np.float64)
}  # fmt: skip


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


def test_rational_metric_of_rank_one() -> None:
    """D = 2, U = 1: 1/3 and log 3; D = 1, U = (1,1): det 3."""
    sample = woodbury.Sample("inverse", np.array([2.0]), np.ones((1, 1)), np.ones((1, 1)))
    assert woodbury.exact_solution(sample)[0, 0] == 1 / 3
    assert woodbury.exact_logdet(sample) == np.log(3.0)
    sample = woodbury.Sample("inverse", np.ones(2), np.ones((2, 1)), np.ones((1, 2)))
    assert woodbury.exact_logdet(sample) == np.log(3.0)
