"""RA18's property holds, is tight and can fail; the counterexample certified by balls."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)


def several_metrics(sound: Any, x: Any, D: Any, U: Any, *kind: Any, **named: Any) -> np.ndarray:
    growing = np.arange(1, len(x) + 1, dtype=x.dtype)
    return sound(x, D[:1] * growing[:, None], U[:1] * growing[:, None, None], "symmetrised")


FALSEHOODS = {
    "base token without diagonal": Plant(
        "homogeneous", "base_kernel", lambda _, S: S - S[:, :1]),
    "tokens for steps": Plant("homogeneous", "gram_matrix", lambda _, x, D, U: (
        (D[None] * x) @ x.T + (x @ U) @ (x @ U).T)),
    "several metrics": Plant("homogeneous", "geodesic_scores", several_metrics),
    "terms of pairs": Plant("conditional", "with_terms", lambda _, S, rows, columns: (
        S + rows[:, None] * columns[None, :])),
    "sum not zero": Plant(
        "conditional", "balanced", lambda _, rng, n: rng.integers(1, 9, size=(n, 3))),
    "first differences": Plant("conditional", "by_differences", lambda _, S, c: (
        np.cumsum(c, axis=0)[:-1].T @ ((S[:-1] - S[1:]) @ np.cumsum(c, axis=0)))),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    assert {len(sample.x) for sample in seen} >= {1, 2, 4}
    assert {sample.x.shape[1] for sample in seen} >= {1, 2, 4}
    assert {sample.x.dtype.name for sample in seen} == {"float64", "float32"}
    assert any(len(np.unique(s.x, axis=0)) < len(s.x) for s in seen)
    assert not any(sample.c.sum(axis=0).any() for sample in seen)


def exponential(S: list[list[Fraction]], tau: Fraction) -> arb_mat:
    scaled = [[entry / tau for entry in row] for row in S]
    return arb_mat([[arb(fmpq(s.numerator, s.denominator)).exp() for s in row] for row in scaled])


def is_positive_definite(matrix: arb_mat) -> bool:
    """Every leading minor is certainly positive."""
    rows = matrix.tolist()
    minors = [arb_mat([row[:k] for row in rows[:k]]).det() for k in range(1, len(rows) + 1)]
    return all(minor > 0 for minor in minors)


def line_scores(points: list[int], factors: list[Fraction]) -> list[list[Fraction]]:
    """Symmetrised scores of conformal metrics on a line."""
    pairs = list(zip(points, factors, strict=True))
    return [[-(f + g) / 4 * (x - y) ** 2 for y, g in pairs] for x, f in pairs]


TAUS = [Fraction(1, 4), Fraction(1), Fraction(4), Fraction(64)]


def test_one_metric_is_a_kernel_for_every_tau_and_several_are_not() -> None:
    points, c = [0, 1, 2], arb_mat([[1], [-2], [1]])
    one = line_scores(points, [Fraction(1)] * 3)
    several = line_scores(points, [Fraction(1), Fraction(1, 2), Fraction(1)])
    form = sum(int(a) * int(b) * several[i][j] for i, a in enumerate((1, -2, 1))
               for j, b in enumerate((1, -2, 1)))  # fmt: skip
    assert form == -1
    with ctx.workprec(200):
        assert all(is_positive_definite(exponential(one, tau)) for tau in TAUS)
        assert is_positive_definite(exponential(several, TAUS[0]))
        for tau in TAUS[2:]:
            assert (c.transpose() * exponential(several, tau) * c)[0, 0] < 0


def test_symmetric_scores_need_not_be_a_kernel() -> None:
    S = np.array([[0, 1], [1, 0]])
    c = np.array([1, -1])
    assert c @ S @ c == -2
