"""RA7 numerically: falsehoods planted in the distances, corner cases, absolute error."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.metrics import LowRankMetric
from numerics.properties import Residual, distance_cost, run_property
from numerics.rounding.roundoff import gamma


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_distances_are_products_and_quadratic_forms(suite_seed: int) -> None:
    result = run_property("RA7", distance_cost, suite_seed)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert not result.exhausted
    assert result.clauses == ("low_rank_form", "products")


def key_in_its_own_metric(metric: Any, x: Any, y: Any, origin: Any) -> Any:
    """y_j^T D_j y_j for y_j^T D_i y_j, where there are as many keys as queries."""
    found = SOUND(metric, x, y, origin)
    if len(x) != len(y):
        return found
    norms = (metric.D[:, None] * (y * y)[None]).sum(-1)
    return found - norms + np.diagonal(norms)


def products_forgotten(metric: Any, x: Any, y: Any, origin: Any) -> Any:
    return SOUND(LowRankMetric(metric.D, metric.U[:, :, :1]), x, y, origin)


def unsquared(metric: Any, x: Any, y: Any, origin: Any) -> Any:
    return np.sqrt(np.abs(SOUND(metric, x, y, origin)))


def origin_of_the_keys_alone(metric: Any, x: Any, y: Any, origin: Any) -> Any:
    return SOUND(metric, x, y if origin is None else y - origin, None)


SOUND = distance_cost.pair_distances2
FALSEHOODS = (
    key_in_its_own_metric, products_forgotten, unsquared, origin_of_the_keys_alone
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("wrong", FALSEHOODS, ids=lambda wrong: wrong.__name__)
def test_falsehood_in_the_products_is_caught(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance_cost, "pair_distances2", wrong)
    (failure,) = run_property("RA7", distance_cost).failures
    assert failure.startswith("RA7 products: residual / bound = ")
    assert "counterexample: Sample(" in failure


def test_falsehood_in_the_differences_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = LowRankMetric.distance2
    monkeypatch.setattr(
        LowRankMetric, "distance2", lambda self, a, b: sound(self, a, b) * a.dtype.type(1.0001)
    )
    (failure,) = run_property("RA7", distance_cost).failures
    assert failure.startswith(("RA7 low_rank_form: residual", "RA7 products: residual"))


@pytest.mark.slow
def test_bound_a_hundred_times_too_loose_is_caught() -> None:
    def loose(sample: distance_cost.Sample) -> Residual:
        residual = distance_cost.residual(sample)
        return replace(residual, bound=100 * residual.bound)

    module: Any = SimpleNamespace(samples=distance_cost.samples, residual=loose)
    failures = run_property("RA7", module).failures
    for clause in distance_cost.CLAUSES:
        assert any(f"{clause}: bound too loose" in failure for failure in failures)


def sample(clause: str, n: int, m: int, d: int, r: int, dtype: Any) -> distance_cost.Sample:
    rng = np.random.default_rng(n + m + d)
    D, U = np.exp(rng.normal(size=(n, d))), rng.normal(size=(n, d, r))
    x, y = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    D, U, x, y = (part.astype(dtype) for part in (D, U, x, y))
    return distance_cost.Sample(clause, D, U, x, y, None)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("clause", distance_cost.CLAUSES)
@pytest.mark.parametrize(
    ("n", "m", "d", "r"), [(1, 1, 1, 1), (3, 7, 1, 2), (1, 5, 6, 3), (2, 2, 3, 5), (3, 5, 63, 4)]
)
def test_shapes_of_every_kind_are_compared(
    clause: str, dtype: Any, n: int, m: int, d: int, r: int
) -> None:
    assert distance_cost.residual(sample(clause, n, m, d, r, dtype)).ratio() <= 1


@pytest.mark.parametrize("clause", distance_cost.CLAUSES)
def test_equal_and_zero_tokens_are_compared(clause: str) -> None:
    given = sample(clause, 3, 4, 5, 2, np.float64)
    equal = replace(given, y=np.repeat(given.x[:1], 4, axis=0))
    assert distance_cost.residual(equal).ratio() <= 1
    assert distance_cost.exact_distances(equal)[0].tolist() == [0] * 4
    assert distance_cost.residual(replace(given, x=0 * given.x, y=0 * given.y)).ratio() <= 1


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
