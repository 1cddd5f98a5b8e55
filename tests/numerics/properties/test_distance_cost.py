"""RA7 numerically: falsehoods planted in the distances, corner cases, absolute error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from numerics.metrics import LowRankMetric
from numerics.properties import distance_cost
from numerics.rounding.roundoff import gamma
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)
LOOSE = 100


def key_in_its_own_metric(sound: Any, metric: Any, x: Any, y: Any, origin: Any) -> Any:
    """y_j^T D_j y_j for y_j^T D_i y_j, where there are as many keys as queries."""
    distances = sound(metric, x, y, origin)
    if len(x) != len(y):
        return distances
    norms = (metric.D[:, None] * (y * y)[None]).sum(-1)
    return distances - norms + np.diagonal(norms)


FALSEHOODS = {
    "key in its own metric": Plant("products", "pair_distances2", key_in_its_own_metric),
    "products forgotten": Plant(
        "products", "pair_distances2", lambda sound, metric, x, y, origin: sound(
            LowRankMetric(metric.D, metric.U[:, :, :1]), x, y, origin)),
    "unsquared": Plant(
        "products", "pair_distances2", lambda sound, *given: np.sqrt(np.abs(sound(*given)))),
    "origin of the keys alone": Plant(
        "products", "pair_distances2", lambda sound, metric, x, y, origin: sound(
            metric, x, y if origin is None else y - origin, None)),
    "differences": Plant(
        "low_rank_form products", "distance2",
        lambda sound, metric, a, b: sound(metric, a, b) * a.dtype.type(1.0001), LowRankMetric),
}  # fmt: skip


def sample(clause: str, n: int, m: int, d: int, r: int, dtype: Any) -> distance_cost.Sample:
    rng = np.random.default_rng(n + m + d)
    D, U = np.exp(rng.normal(size=(n, d))), rng.normal(size=(n, d, r))
    x, y = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    D, U, x, y = (part.astype(dtype) for part in (D, U, x, y))
    return distance_cost.Sample(clause, D, U, x, y, None)


SHAPES = [(1, 1, 1, 1), (3, 7, 1, 2), (1, 5, 6, 3), (2, 2, 3, 5), (3, 5, 63, 4)]
GIVEN = {clause: sample(clause, 3, 4, 5, 2, np.float64) for clause in distance_cost.CLAUSES}
EQUAL = {clause: replace(one, y=np.repeat(one.x[:1], 4, axis=0)) for clause, one in GIVEN.items()}
CORNERS = {
    f"{clause} of shape {shape} in {np.dtype(dtype)}": sample(clause, *shape, dtype)
    for clause in distance_cost.CLAUSES
    for shape in SHAPES
    for dtype in (np.float32, np.float64)
}
CORNERS |= {f"{clause} of equal tokens": one for clause, one in EQUAL.items()}
CORNERS |= {
    f"{clause} of zero tokens": replace(one, x=0 * one.x, y=0 * one.y)
    for clause, one in GIVEN.items()
}


@pytest.mark.parametrize("clause", EQUAL)
def test_equal_tokens_have_distance_zero(clause: str) -> None:
    assert distance_cost.exact_distances(EQUAL[clause])[0].tolist() == [0] * 4


SOUND = distance_cost.pair_distances2


SOUND = distance_cost.pair_distances2


def test_counterexamples_of_the_near_misses() -> None:
    """x = 0, y = 1, G = 1 and 2; D = 1, U = 2, difference 1: 5, not 3."""
    one = distance_cost.Sample(
        "products", np.array([[1.0], [2.0]]), np.zeros((2, 1, 1)), np.array([[0.0], [1.0]]),
        np.array([[0.0], [1.0]]), None,
    )  # fmt: skip
    assert distance_cost.exact_distances(one).tolist() == [[0, 1], [2, 0]]
    two = distance_cost.Sample(
        "low_rank_form", np.ones((1, 1)), 2 * np.ones((1, 1, 1)), np.ones((1, 1)),
        np.zeros((1, 1)), None,
    )  # fmt: skip
    assert distance_cost.exact_distances(two).tolist() == [[5]]


def test_the_absolute_error_of_the_products_is_that_of_the_spread_not_of_the_offset() -> None:
    """Tokens 1e6 from 0 and within 1 of each other: error gamma g osc^2 with the origin moved."""
    rng, n, d, r = np.random.default_rng(2), 30, 16, 3
    x = 1e6 + rng.normal(size=(n, d))
    D, U = np.exp(rng.normal(size=(n, d))), rng.normal(size=(n, d, r))
    metric = LowRankMetric(D, U)
    exact = distance_cost.exact_distances(distance_cost.Sample("products", D, U, x, x, None))
    largest = max(float(np.linalg.norm(np.diag(D[i]) + U[i] @ U[i].T, 2)) for i in range(n))
    spread = max(float(np.linalg.norm(a - b)) for a in x for b in x)
    allowed = gamma(4 * (d + r), 2.0**-53) * d * largest * spread**2
    moved = np.abs(SOUND(metric, x) - exact).max()
    unmoved = np.abs(SOUND(metric, x, origin=np.zeros(d)) - exact).max()
    assert moved <= allowed
    assert unmoved > 1000 * allowed
