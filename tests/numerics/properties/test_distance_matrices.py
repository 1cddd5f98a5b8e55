"""RA5's property holds, is tight and can fail; signs of distance matrices certified by balls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from sympy import Rational, Symbol, diff, exp, gamma, integrate, oo, pi, simplify, sqrt

from numerics.properties import distance_matrices as ra5
from numerics.scores import geodesic_scores
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)


def sum_of_squares_without_products(_: Any, x: np.ndarray, c: np.ndarray) -> np.ndarray:
    own = c.dtype.type(-2) * ((c * c).T @ (x * x)).sum(axis=1, keepdims=True)
    return own + np.zeros_like(own.T)


def metric_of_the_query(sound: Any, x: np.ndarray, D: np.ndarray, **kind: Any) -> np.ndarray:
    own = np.arange(1, len(x) + 1, dtype=x.dtype)[:, None]
    return sound(x, own * D, **kind)


FALSEHOODS = {
    "gaps counted once": Plant("cuts", "by_gaps", lambda sound, line, c: sound(line, c) / 2),
    "partial sums from the other token": Plant(
        "cuts", "by_gaps", lambda sound, line, c: sound(line, np.roll(c, 1, axis=0))),
    "squared for unsquared": Plant("cuts", "quadratic_form", lambda _, D, c: c.T @ ((D * D) @ c)),
    "scores for distances": Plant(
        "cuts", "distances", lambda _, x: geodesic_scores(x, np.ones_like(x))),
    "sum of squares without products": Plant(
        "squared", "by_moment", sum_of_squares_without_products),
    "taxicab squared": Plant("squared", "squared_distances", lambda _, x: (
        np.abs(x[:, None, :] - x[None, :, :]).sum(axis=2) ** 2)),
    "sum not zero": Plant("cuts", "balanced", lambda _, rng, n: rng.integers(1, 9, size=(n, 3))),
    "metric of the query": Plant("cuts", "geodesic_scores", metric_of_the_query),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
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
