"""RA15's property holds, is tight and can fail; masks and unsquared scores beside it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from numerics.laplacians.reversibility import logit_gradient_defect, reversibility_defect
from numerics.properties import geodesic_reversibility as ra15
from numerics.properties.reversibility import cycle_sums
from numerics.scores import geodesic_scores
from numerics.walks import softmax_walk
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)
FALSEHOODS = {
    "the other way around": Plant(
        "conformal", "by_factors", lambda sound, x, factors: -sound(x, factors)),
    "one factor": Plant("conformal", "by_factors", lambda sound, x, factors: (
        sound(x, np.full_like(factors, factors[0])))),
    "factors shifted": Plant(
        "conformal", "by_factors", lambda sound, x, f: sound(x, np.roll(f, 1))),
    "always reversible": Plant("conformal", "cycle_sums", lambda sound, S: 0 * sound(S)),
    "query-side law": Plant("law", "geodesic_scores", lambda sound, x, D, U=None, kind="query": (
        sound(x, D, U))),
    "uniform law": Plant("law", "row_totals", lambda _, S: np.full(len(S), 1 / len(S))),
    "inverse totals": Plant("law", "row_totals", lambda sound, S: (
        (1 / sound(S)) / (1 / sound(S)).sum())),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    for clause in ra15.CLAUSES:
        of_clause = [sample for sample in seen if sample.clause == clause]
        assert {len(sample.x) for sample in of_clause} >= {1, 2, 3, 6}
        assert {sample.x.dtype.name for sample in of_clause} == {"float64", "float32"}
    assert any(not s.tokens.x.any() or len(s.x) == 1 for s in seen if s.clause == "law")
    assert any(len(np.unique(s.x, axis=0)) < len(s.x) for s in seen if s.clause == "conformal")


LINE = np.array([[0.0], [1.0], [3.0]])


@pytest.mark.parametrize(
    ("factors", "defect"),
    [((1, 2, 3), Fraction(13, 2)), ((1, Fraction(1, 3), Fraction(7, 5)), Fraction(0))],
)
def test_three_tokens_of_a_line_are_reversible_iff_their_factors_balance(
    factors: tuple, defect: Fraction
) -> None:
    d = [[Fraction(int(p - q) ** 2) for q in LINE[:, 0]] for p in LINE[:, 0]]
    S = [[-factors[i] * d[i][j] / 2 for j in range(3)] for i in range(3)]
    assert abs(S[0][1] + S[1][2] + S[2][0] - S[0][2] - S[2][1] - S[1][0]) == defect
    D = np.array([[float(factor)] for factor in factors])
    scores = geodesic_scores(LINE, D)
    walk = reversibility_defect(softmax_walk(scores)).defect
    assert (walk > 1e-3) == (defect > 0)
    assert (logit_gradient_defect(scores) > 1e-3) == (defect > 0)


@pytest.mark.parametrize("kind", ["query", "symmetrised"])
@pytest.mark.parametrize("squared", [True, False])
def test_symmetric_masks_keep_row_totals_as_law_of_symmetrised_scores(
    kind: str, squared: bool
) -> None:
    rng = np.random.default_rng(4)
    x, D = rng.normal(size=(7, 2)), rng.uniform(0.2, 4, size=(7, 2))
    U = rng.normal(size=(7, 2, 1))
    S = geodesic_scores(x, D, U, kind, squared=squared)
    allowed = rng.random((7, 7)) < 0.6
    allowed |= allowed.T
    allowed[6], allowed[:, 6] = False, False
    P = softmax_walk(S, allowed)
    totals = np.where(allowed, np.exp(S), 0).sum(axis=1)
    flow = totals[:, None] * P
    assert not P[6].any()
    # An exponential, a sum of seven, a quotient and a product: relative to the largest flow.
    gap, bound = np.abs(flow - flow.T).max(), 64 * 2.0**-53 * flow.max()
    assert (gap <= bound) == (kind == "symmetrised")
    lower = np.tril(allowed)
    one_way = softmax_walk(S, lower)
    lost = np.where(lower, np.exp(S), 0).sum(axis=1)[:, None] * one_way
    assert np.abs(lost - lost.T).max() > 1e6 * bound


def test_law_samples_are_symmetric_bit_by_bit() -> None:
    rng = np.random.default_rng(1)
    D, U = (part.astype(np.float32) for part in ra15.ra1.integer_metrics(rng, 6, 3, 2))
    sample = ra15.ra1.Sample(rng.normal(size=(6, 3)).astype(np.float32), D, U)
    S = geodesic_scores(sample.x, sample.D, sample.U, "symmetrised")
    assert (S == S.T).all()
    assert (cycle_sums(S) == 0).all()
    other = replace(sample, D=sample.D + 1)
    assert (geodesic_scores(other.x, other.D, other.U) != S).any()
