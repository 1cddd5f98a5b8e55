"""RA5's property holds, is tight and can fail; signs of distance matrices certified by balls."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from sympy import Rational, Symbol, diff, exp, gamma, integrate, oo, pi, simplify, sqrt

from numerics.properties import Residual, run_property
from numerics.properties import distance_matrices as ra5
from numerics.scores import geodesic_scores

PROPERTY: Any = ra5


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_forms_of_distances_are_minus_sums_of_squares(suite_seed: int) -> None:
    result = run_property("RA5", PROPERTY, suite_seed)
    assert result.ok, result.failures
    assert (result.examples, result.clauses) == (200, ("cuts", "squared"))
    assert result.planted_rejected


def gaps_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra5.by_gaps
    monkeypatch.setattr(ra5, "by_gaps", lambda line, c: sound(line, c) / 2)


def partial_sums_from_the_other_token(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra5.by_gaps
    monkeypatch.setattr(ra5, "by_gaps", lambda line, c: sound(line, np.roll(c, 1, axis=0)))


def squared_for_unsquared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra5, "quadratic_form", lambda D, c: c.T @ ((D * D) @ c))


def sum_of_squares_without_products(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(x: np.ndarray, c: np.ndarray) -> np.ndarray:
        own = c.dtype.type(-2) * ((c * c).T @ (x * x)).sum(axis=1, keepdims=True)
        return own + np.zeros_like(own.T)

    monkeypatch.setattr(ra5, "by_moment", wrong)


def taxicab_squared(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(x: np.ndarray) -> np.ndarray:
        return np.abs(x[:, None, :] - x[None, :, :]).sum(axis=2) ** 2

    monkeypatch.setattr(ra5, "squared_distances", wrong)


def sum_not_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra5, "balanced", lambda rng, n: rng.integers(1, 9, size=(n, 3)))


def scores_for_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra5, "distances", lambda x: geodesic_scores(x, np.ones_like(x)))


def metric_of_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(x: np.ndarray, D: np.ndarray, **kind: Any) -> np.ndarray:
        own = np.arange(1, len(x) + 1, dtype=x.dtype)[:, None]
        return geodesic_scores(x, own * D, **kind)

    monkeypatch.setattr(ra5, "geodesic_scores", wrong)


FALSEHOODS = {
    "cuts": (gaps_counted_once, partial_sums_from_the_other_token, squared_for_unsquared,
             scores_for_distances),
    "squared": (sum_of_squares_without_products, taxicab_squared),
    "": (sum_not_zero, metric_of_the_query),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clause", "plant"), [(clause, plant) for clause in FALSEHOODS for plant in FALSEHOODS[clause]]
)
def test_a_planted_falsehood_is_rejected(
    monkeypatch: pytest.MonkeyPatch, clause: str, plant: Any
) -> None:
    plant(monkeypatch)
    result = run_property("RA5", PROPERTY)
    assert not result.ok
    assert result.failures[0].startswith(f"RA5 {clause}")
    assert ": residual" in result.failures[0]


@pytest.mark.slow
def test_samples_reach_the_corner_cases() -> None:
    seen: list[ra5.Sample] = []

    def watched(sample: ra5.Sample) -> Residual:
        seen.append(sample)
        return ra5.residual(sample)

    module: Any = SimpleNamespace(samples=ra5.samples, residual=watched)
    assert run_property("RA5", module).ok
    assert {len(sample.c) for sample in seen} >= {1, 2, 5}
    assert {sample.x.shape[1] for sample in seen} == {1, 2, 3}
    assert not any(sample.c.sum(axis=0).any() for sample in seen)
    assert any((np.diff(s.line) == 0).any() for s in seen if s.clause == "cuts")
    assert any(np.ptp(s.line) > 100 for s in seen if s.clause == "cuts")


def certified_form(points: np.ndarray, c: np.ndarray) -> arb:
    """A ball around sum c_i c_j |x_i - x_j| of integer points."""
    with ctx.workprec(200):
        squares = ((points[:, None] - points[None]) ** 2).sum(axis=2).tolist()
        weights = np.outer(c, c).tolist()
        return sum(
            (arb(w) * arb(s).sqrt() for ws, ss in zip(weights, squares, strict=True)
             for w, s in zip(ws, ss, strict=True)), arb(0),
        )  # fmt: skip


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_distances_of_distinct_points_are_strictly_negative_on_sums_zero(d: int) -> None:
    rng = np.random.default_rng(d)
    for _ in range(20):
        points = np.unique(rng.integers(-5, 6, size=(6, d)), axis=0)
        c = ra5.balanced(rng, len(points))[:, 0]
        if c.any():
            assert certified_form(points, c) < 0
    twice = np.array([[0] * d, [0] * d, [1] * d])
    assert certified_form(twice, np.array([1, -1, 0])) == 0


def test_other_distances_vanish_on_some_sum_zero() -> None:
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    c = np.array([1, -1, -1, 1])
    taxicab = np.abs(corners[:, None] - corners).sum(axis=2)
    squared = ((corners[:, None] - corners) ** 2).sum(axis=2)
    assert c @ taxicab @ c == 0
    assert c @ squared @ c == 0
    assert certified_form(corners, c) < 0


@pytest.mark.slow
def test_root_is_an_integral_of_gaussians_with_a_positive_weight() -> None:
    """2 sqrt(pi t) = int_0^oo (1 - e^{-s t}) s^{-3/2} ds: both sides vanish at 0, and the
    derivatives in t agree."""
    s, t = Symbol("s", positive=True), Symbol("t", positive=True)
    integrand = (1 - exp(-s * t)) * s ** Rational(-3, 2)
    assert integrand.subs(t, 0) == 0
    inner = integrate(diff(integrand, t), (s, 0, oo))
    assert simplify(inner - diff(2 * sqrt(pi * t), t)) == 0
    assert simplify(inner - gamma(Rational(1, 2)) / sqrt(t)) == 0
