"""CW8's property holds, is tight and can fail; isotropic tokens are reversible, others are not."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq

from numerics.laplacians import reversibility_defect
from numerics.properties import reversibility as cw8
from numerics.walks import softmax_walk
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)


def tokens_instead_of_differences(_: Any, x: np.ndarray, K: np.ndarray) -> np.ndarray:
    return np.zeros((len(x), 1, 1), x.dtype) + (x @ K @ x.T)[None]


def row_totals_as_law(_: Any, S: np.ndarray) -> list[arb]:
    totals = np.exp(S.astype(np.float64)).sum(axis=1)
    return [arb(share) for share in (totals / totals.sum()).tolist()]


FALSEHOODS = {
    "no half in the skew form": Plant("tokens", "skew", lambda _, form: form - form.T),
    "symmetric part": Plant("tokens", "skew", lambda _, form: (
        (form + form.T) / form.dtype.type(2))),
    "tokens instead of differences": Plant(
        "tokens", "on_differences", tokens_instead_of_differences),
    "form transposed": Plant("tokens", "token_logits", lambda sound, sample: (
        sound(replace(sample, form=sample.form.T.copy())))),
    "row totals as law": Plant("law", "exact_law", row_totals_as_law),
    "law of the transposed logits": Plant("law", "exact_law", lambda sound, S: sound(S.T.copy())),
    "uniform law": Plant("law", "stationary_distribution", lambda _, P: (
        np.full(len(P), 1 / len(P), P.dtype))),
    "softmax over columns": Plant(
        "law", "softmax_walk", lambda sound, S: sound(S.T.copy()).T.copy(),
        says="law: ValueError: P must be row-stochastic"),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    for clause in cw8.CLAUSES:
        of_clause = [sample for sample in seen if sample.clause == clause]
        assert {len(sample.x) for sample in of_clause} >= {1, 2, 3, 6}
        assert {sample.x.dtype.name for sample in of_clause} == {"float64", "float32"}
    on_tokens = [sample for sample in seen if sample.clause == "tokens"]
    assert any(sample.x.shape[1] == 1 for sample in on_tokens)
    assert any(len(np.unique(s.x, axis=0)) < len(s.x) and s.x.any() for s in on_tokens)
    assert any((~s.x.any(axis=1)).any() and s.x.any() for s in on_tokens)
    assert any(0 < np.abs(s.x).max() < np.finfo(s.x.dtype).tiny for s in on_tokens)
    assert any(np.abs(s.rows).max() > 50 for s in on_tokens)
    laws = [sample.logits for sample in seen if sample.clause == "law"]
    assert any(not S.any() for S in laws)
    assert any(np.ptp(S) > 10 for S in laws)


def integers(rng: np.random.Generator, *sizes: int) -> np.ndarray:
    return rng.integers(-3, 4, size=sizes).astype(np.float64)


def isotropic_plane(rng: np.random.Generator, form: np.ndarray) -> np.ndarray:
    """Two independent integer vectors (2, d) with K = 0 on their span."""
    d = len(form)
    while True:
        first, second = integers(rng, 2, d)
        dual, q = first @ (form - form.T), rng.integers(d)
        # Entry q brings second into the hyperplane dual = 0, over the integers.
        second[q] = 0
        second, second[q] = dual[q] * second, -(second @ dual)
        if np.linalg.matrix_rank(plane := np.stack([first, second])) == 2:
            return plane


def rounding_of_the_flow_defect(S: np.ndarray, P: np.ndarray) -> float:
    """Bound on the flow defect computed from softmax(S), if the exact walk is reversible."""
    n = len(S)
    entries = cw8.largest_logarithm(P, S)
    relative = math.expm1((2 * n - 1) * entries) + ((n + 2) ** 3 + n * n + 4) * 2.0**-53
    return 2 * relative  # of both flows of an edge; all flows sum to 1


@pytest.mark.parametrize("d", [4, 6])
@pytest.mark.parametrize("seed", range(4))
def test_tokens_on_a_totally_isotropic_plane_are_reversible(d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    form = integers(rng, d, d)
    plane = isotropic_plane(rng, form)
    x = integers(rng, d) + integers(rng, 8, 2) @ plane
    S = x @ form @ x.T  # integers: exact
    S = S / 2.0 ** math.ceil(math.log2(np.abs(S).max() / 8))
    assert not cw8.cycle_sums(S).any()
    assert (form != form.T).any()
    P = softmax_walk(S)
    bound = rounding_of_the_flow_defect(S, P)
    assert reversibility_defect(P).defect <= bound

    off_plane = x + integers(rng, 8, d)
    generic = off_plane @ form @ off_plane.T
    generic = generic / 2.0 ** math.ceil(math.log2(np.abs(generic).max() / 8))
    assert np.abs(cw8.cycle_sums(generic)).max() > 0
    Q = softmax_walk(generic)
    assert reversibility_defect(Q).defect > 1e6 * rounding_of_the_flow_defect(generic, Q)


def test_totals_of_equal_rows_are_not_the_law() -> None:
    S = np.log(np.tile(np.array([1.0, 2.0, 4.0]), (3, 1)))
    S = np.round(S * 16) / 16
    law = np.array([float(p.mid()) for p in cw8.exact_law(S)])
    weights = np.exp(S[0])
    # Rows are equal, so the walk is in equilibrium after one step; two roundings and an exp.
    np.testing.assert_allclose(law, weights / weights.sum(), rtol=8 * 2.0**-53, atol=0)
    assert law.max() > 1.5 * law.min()


@pytest.mark.parametrize("reach", [1, 16, 64])
def test_logits_with_a_potential_have_no_cycle_sums(reach: int) -> None:
    S = cw8.with_potential(np.random.default_rng(reach), 5, reach)
    assert (S != S.T).any()
    for dtype in (np.float64, np.float32):
        assert (S.astype(dtype) == S).all()
    exact = [[fmpq(*v.as_integer_ratio()) for v in row] for row in S.tolist()]
    for i, j, k in product(range(5), repeat=3):
        there = exact[i][j] + exact[j][k] + exact[k][i]
        assert there == exact[i][k] + exact[k][j] + exact[j][i]
