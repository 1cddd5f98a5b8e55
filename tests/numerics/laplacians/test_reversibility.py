"""Reversibility by flow, by edges and by logits: zero iff it holds, never vacuously (CW8, CW9)."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from numerics.laplacians import logit_gradient_defect, reversibility_defect, stochasticity_defect
from numerics.properties import strategies
from numerics.properties.vocabulary import reversible, stochastic
from numerics.walks import softmax_walk
from numerics.walks.chains import stationary_distribution

KINDS = [np.asarray, torch.from_numpy]
U = 2.0**-53
CYCLE = np.roll(np.eye(3), 1, axis=1)


def slack(n: int) -> float:
    """The stationary law's (n + 2)^3 u, twice, and the sum over the edges."""
    return (2 * (n + 2) ** 3 + n * n) * U


def kolmogorov(P: np.ndarray) -> float:
    """Largest relative gap between a triangle's two directions: 0 iff reversible, full support."""
    around = np.einsum("ij,jk,ki->ijk", P, P, P)
    return float(np.max(np.abs(around - around.transpose(2, 1, 0)) / around))


@pytest.mark.parametrize("kind", KINDS)
def test_a_normalised_symmetric_kernel_is_reversible_though_not_symmetric(kind: Any) -> None:
    K = np.array([[2.0, 1, 1], [1, 3, 1], [1, 1, 4]])
    P = K / K.sum(axis=1, keepdims=True)
    assert np.abs(P - P.T).max() > 0.04
    found = reversibility_defect(kind(P))
    assert found.defect <= slack(3)
    assert found.edge_asymmetry is not None
    assert found.edge_asymmetry <= slack(3)
    assert (found.reducible, found.transient, found.reason) == (False, (), "flow")


@pytest.mark.parametrize("kind", KINDS)
def test_the_directed_cycle_has_the_largest_defect(kind: Any) -> None:
    found = reversibility_defect(kind(CYCLE))
    assert found.defect >= 1 - slack(3)
    assert found.edge_asymmetry == 1
    spectrum = sorted(np.linalg.eigvals(CYCLE), key=lambda z: (z.real, z.imag))
    exact = [complex(-0.5, -np.sqrt(3) / 2), complex(-0.5, np.sqrt(3) / 2), 1]
    assert np.abs(np.array(spectrum) - exact).max() <= 64 * U


def test_reversible_with_a_law_that_is_not_uniform() -> None:
    P = np.array([[0.0, 1.0], [0.5, 0.5]])
    assert reversibility_defect(P).defect <= slack(2)
    assert np.abs(stationary_distribution(P) - [1 / 3, 2 / 3]).max() <= slack(2)


@pytest.mark.slow
@pytest.mark.parametrize("n", range(1, 8))
@pytest.mark.parametrize("seed", range(4))
def test_flow_defect_vanishes_iff_triangles_agree(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    for P, holds in ((reversible(rng, n), True), (stochastic(rng, n), n <= 2)):
        found = reversibility_defect(P)
        assert found.edge_asymmetry is not None
        assert (found.defect <= slack(n)) == holds
        assert (found.edge_asymmetry <= 4 * slack(n)) == holds
        assert (kolmogorov(P) <= 16 * U) == holds


def test_one_edge_without_its_reverse_is_as_asymmetric_as_can_be() -> None:
    """0 -> 1 goes one way, 1 - 2 and 2 - 0 both."""
    found = reversibility_defect(np.array([[0, 0.5, 0.5], [0, 0, 1], [0.5, 0.5, 0]]))
    assert found.edge_asymmetry == 1
    assert found.defect < 0.5


def test_triangles_do_not_suffice_without_full_support() -> None:
    P = (2 * np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1)) / 3
    found = reversibility_defect(P)
    assert abs(found.defect - 1 / 3) <= slack(4)
    assert abs((found.edge_asymmetry or 0) - 1 / 3) <= slack(4)


@pytest.mark.parametrize("kind", KINDS)
def test_causal_walk_scores_one_because_of_transient_states(kind: Any) -> None:
    """With pi = delta_1 the flow formula gives 0 on every causal walk."""
    P = np.array([[1.0, 0.0], [0.5, 0.5]])
    flow = stationary_distribution(P)[:, None] * P
    assert np.abs(flow - flow.T).sum() == 0
    found = reversibility_defect(kind(P))
    assert (found.defect, found.reason) == (1.0, "transient states")
    assert (found.reducible, found.transient, found.edge_asymmetry) == (True, (1,), None)


def test_near_a_causal_walk_the_edges_tell_what_the_flow_hides() -> None:
    weights = np.array([[1, 1e-4, 3e-4], [1, 1, 1e-4], [1, 1, 1]])
    found = reversibility_defect(weights / weights.sum(axis=1, keepdims=True))
    assert found.defect < 1e-3
    assert (found.edge_asymmetry or 0) > 0.99


def test_several_closed_classes_are_averaged_and_flagged() -> None:
    P = np.zeros((5, 5))
    P[:3, :3], P[3:, 3:] = CYCLE, 0.5
    found = reversibility_defect(P)
    assert abs(found.defect - 0.5) <= slack(5)
    assert (found.reducible, found.reason, found.edge_asymmetry) == (True, "flow", 1)
    assert reversibility_defect(np.eye(3)).defect == 0


def test_flows_that_underflow_are_still_compared() -> None:
    """pi_1 P_12 is about 1e-400: the edge 1 - 2 goes round one way twice as often."""
    t = 1e-200
    P = np.array([[1.0, t, t], [1.0, 0.0, t], [1.0, 2 * t, 0.0]])
    found = reversibility_defect(P)
    assert found.defect <= slack(3)
    assert abs((found.edge_asymmetry or 0) - 1 / 3) <= slack(3)


@pytest.mark.slow
@given(st.data())
def test_defects_lie_between_0_and_1(data: st.DataObject) -> None:
    rng, dtype = data.draw(strategies.generators()), data.draw(strategies.dtypes())
    n = data.draw(st.integers(1, 6))
    logits = strategies.logits(data.draw, rng, (n, n), dtype)
    logits[np.arange(n), np.arange(n)] = 0
    P = softmax_walk(logits, strategies.masks(data.draw, rng, n, n, ("none", "causal")))
    for kind in KINDS:
        found = reversibility_defect(kind(P))
        curl = logit_gradient_defect(kind(np.where(np.isfinite(logits), logits, 0)))
        values = [found.defect, found.edge_asymmetry or 0.0, stochasticity_defect(kind(P)), curl]
        assert np.isfinite(values).all()
        assert 0 <= min(values) <= max(values) <= 1
        assert (found.reason == "transient states") == (found.edge_asymmetry is None)


@pytest.mark.parametrize("kind", KINDS)
def test_stochasticity_sees_each_row(kind: Any) -> None:
    P = np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.25]])
    assert stochasticity_defect(kind(P)) == 0.25 / 1.75
    assert stochasticity_defect(kind(P[:1])) == 0
    assert stochasticity_defect(kind(0 * P)) == 1
    assert stochasticity_defect(kind(4 * P)) == 0.6
    top = np.finfo(np.float64).max
    assert stochasticity_defect(kind(np.full((1, 3), top))) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_logits_with_a_gradient_are_those_of_reversible_walks(kind: Any) -> None:
    rng = np.random.default_rng(0)
    for n in (3, 4, 7):
        symmetric = rng.normal(size=(n, n))
        symmetric = symmetric + symmetric.T
        S = symmetric + rng.normal(size=(n, 1)) + rng.normal(size=(1, n))
        assert logit_gradient_defect(kind(S)) <= 8 * n * U * np.abs(S).max()
        assert reversibility_defect(softmax_walk(kind(S))).defect <= 4 * slack(n)
        S[0, 1] += 1
        assert logit_gradient_defect(kind(S)) > 0.01
        assert reversibility_defect(softmax_walk(kind(S))).defect > 1e-4


def test_rows_and_columns_of_logits_do_not_count() -> None:
    rng = np.random.default_rng(1)
    S = rng.normal(size=(6, 6))
    value = logit_gradient_defect(S)
    shifted = S + 8 * rng.normal(size=(6, 1)) + 8 * rng.normal(size=(1, 6))
    assert 0.3 < value < 1
    assert abs(logit_gradient_defect(shifted) - value) <= 64 * 6 * U * 32
    assert abs(logit_gradient_defect(S * 2.0**1000) - value) <= 6 * U
    assert abs(logit_gradient_defect(S * 2.0**-1000) - value) <= 6 * U


def test_an_antisymmetric_curl_scores_one() -> None:
    S = CYCLE - CYCLE.T
    assert logit_gradient_defect(S) == 1
    assert logit_gradient_defect(S + np.arange(3.0)) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1.0, 1e8, 1e14, 2.0**49])
def test_large_row_and_column_terms_leave_a_curl_alike(size: float, kind: Any) -> None:
    """Up to 1e14 the stored S + r + c holds the curl; at 2^49 two roundings of S could make it."""
    curl = CYCLE - CYCLE.T
    terms = size * np.arange(1.0, 4.0)
    for S in (terms[:, None] + curl, terms[None] + curl, terms[:, None] + terms[::-1] + curl):
        assert logit_gradient_defect(kind(S)) == (1 if size < 2.0**49 else 0)
        assert logit_gradient_defect(kind(S)) == logit_gradient_defect(kind(S.T))
    for S in (terms[:, None] + 0 * curl, terms[None] + 0 * curl, terms[:, None] + terms[None]):
        assert logit_gradient_defect(kind(S)) == 0


@pytest.mark.parametrize("seed", range(6))
def test_the_defect_of_logits_is_that_of_their_transpose(seed: int) -> None:
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(5, 5))
    for r, c in ((0, 1e10), (1e10, 0), (1e6, 1e9)):
        shifted = S + r * rng.normal(size=(5, 1)) + c * rng.normal(size=(1, 5))
        value = logit_gradient_defect(shifted)
        # The rounding of S + r + c moves the curl and the whole by 8 u max |S| each, over |J S J|.
        J = np.eye(5) - 0.2
        allowed = 2 * 8 * 5 * U * np.abs(shifted).max() / np.linalg.norm(J @ S @ J)
        assert abs(value - logit_gradient_defect(S)) <= allowed < 0.01
        assert abs(value - logit_gradient_defect(shifted.T)) <= 64 * U


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_what_the_rounding_of_the_logits_hides_scores_zero(dtype: Any) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        S = (rng.normal(size=(6, 1)) + rng.normal(size=(1, 6))).astype(dtype)
        assert logit_gradient_defect(S) == 0
        S[0, 1] += dtype(0.5)
        assert logit_gradient_defect(S) > 0.1


def test_logits_without_structure_score_zero_as_their_walk_is_reversible() -> None:
    """J S J = 0: rows (1, 2, 3) in e^S, the walk 1 pi^T; n <= 2: always reversible."""
    for S in (np.zeros((3, 3)), np.log(np.array([[1.0, 2.0, 3.0]] * 3)), np.full((4, 4), 0.1),
              np.log([[1.0, 2.0, 3.0]] * 3) + np.array([[0.1], [0.7], [0.4]])):  # fmt: skip
        assert logit_gradient_defect(S) == 0
        assert reversibility_defect(softmax_walk(S)).defect <= 8 * slack(4)
    assert logit_gradient_defect(np.array([[0.3, 7.0], [-2.0, 1.0]])) == 0
    assert logit_gradient_defect(np.array([[5.0]])) == 0


def test_bilinear_logits_are_reversible_iff_tokens_are_isotropic() -> None:
    """K = (M - M^T)/2 must vanish on differences of tokens: a line, a Lagrangian plane."""
    rng = np.random.default_rng(2)
    J = np.array([[0.0, 0, 1, 0], [0, 0, 0, 1], [-1, 0, 0, 0], [0, -1, 0, 0]])
    line = np.outer(np.arange(5.0), [1.0, 2.0, -1.0, 3.0]) + np.array([1.0, 0.0, 2.0, 1.0])
    plane = np.column_stack([rng.integers(-3, 4, size=(5, 2)), np.zeros((5, 2))]).astype(float)
    generic = rng.integers(-3, 4, size=(5, 4)).astype(float)
    for X, isotropic in ((line, True), (plane, True), (generic, False)):
        S = X @ (J + np.eye(4)) @ X.T
        differences = X[1:] - X[0]
        curl = max(abs(a @ J @ b) for a, b in combinations(differences, 2))
        assert (curl == 0) == isotropic
        assert (logit_gradient_defect(S) <= 8 * 5 * U * (1 + np.abs(S).max())) == isotropic
