"""Connection Laplacians and the defects of what is none: zero iff the property holds (CW5, CW9)."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from numerics.laplacians import (
    adjoint,
    connection_laplacian,
    dirichlet_energy,
    inverse_symmetry_defect,
    metric_defect,
    operator_defect,
    stationary_distribution,
)
from numerics.properties import strategies
from numerics.properties.vocabulary import reversible, stochastic
from numerics.rounding.roundoff import gamma
from numerics.walks import Walk, softmax_walk

KINDS = [np.asarray, torch.from_numpy]
U = 2.0**-53
ROTATION = np.array([[0.0, -1.0], [1.0, 0.0]])
REFLECTION = np.array([[0.0, 1.0], [1.0, 0.0]])
CYCLE = np.roll(np.eye(3), 1, axis=1)
HALF = np.full((2, 2), 0.5)


def slack(n: int, d: int, condition: float = 1.0) -> float:
    """Rounding of a defect: the law's (n + 2)^3 u; six products and solves of order d at most.

    A solve costs 2 d gamma_{3d} cond, in norm (Higham 2002, theorem 9.4 for triangular factors).
    """
    return float(((n + 2) ** 3 + 200 * d * d * d) * condition * U)


def gauged(rng: np.random.Generator, n: int, d: int, condition: float) -> tuple[Any, Any]:
    """(T, G): T_ij = E_i^-1 Q_i Q_j^T E_j, isometric for G_i = E_i^T E_i and T_ji = T_ij^-1."""
    G = np.stack([strategies.spd(rng, d, condition) for _ in range(n)])
    E = np.linalg.cholesky(G).transpose(0, 2, 1)
    Q = np.stack([strategies.rotation(rng, d) for _ in range(n)])
    g = np.linalg.solve(E, Q)
    T = g[:, None] @ (Q.transpose(0, 2, 1) @ E)[None]
    return T, G


def hilbert_schmidt(P: Any, T: Any, G: Any) -> float:
    """The operator defect from the dense matrix of W in an orthonormal basis."""
    n, d = len(P), T.shape[-1]
    pi = stationary_distribution(P)
    mass = np.zeros((n * d, n * d))
    for i in range(n):
        mass[i * d : (i + 1) * d, i * d : (i + 1) * d] = pi[i] * G[i]
    L = np.linalg.cholesky(mass).T
    W = L @ Walk(P, T).block_matrix() @ np.linalg.inv(L)
    return float(np.linalg.norm(W - W.T) / (2 * np.linalg.norm(W)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_defects_vanish_on_a_connection_laplacian(seed: int, kind: Any) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    T, G = gauged(rng, n, d, 100.0)
    P = reversible(rng, n)
    walk = kind(P), kind(T), kind(G)
    assert metric_defect(*walk) <= slack(n, d, 100.0)
    assert inverse_symmetry_defect(*walk) <= slack(n, d, 100.0)
    assert operator_defect(*walk) <= slack(n, d, 100.0)
    if n >= 3:
        assert operator_defect(stochastic(rng, n), T, G) > 1e-3


@pytest.mark.parametrize("seed", range(6))
def test_each_defect_sees_its_own_property(seed: int) -> None:
    rng = np.random.default_rng(seed)
    T, G = gauged(rng, 4, 3, 10.0)
    P, doubled, turned = reversible(rng, 4), T.copy(), T.copy()
    doubled[0, 1] *= 2
    doubled[1, 0] /= 2
    assert metric_defect(P, doubled, G) > 1e-3
    assert inverse_symmetry_defect(P, doubled, G) <= slack(4, 3, 10.0)
    turned[0, 1] = np.linalg.solve(np.linalg.cholesky(G[0]).T, strategies.rotation(rng, 3)
                                   @ np.linalg.cholesky(G[1]).T)  # fmt: skip
    assert metric_defect(P, turned, G) <= slack(4, 3, 10.0)
    assert inverse_symmetry_defect(P, turned, G) > 1e-3
    assert operator_defect(P, turned, G) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_constant_arrays_are_the_repeated_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P, T, G = stochastic(rng, 4), rng.normal(size=(3, 3)), strategies.spd(rng, 3, 10.0)
    full, metrics = np.broadcast_to(T, (4, 4, 3, 3)).copy(), np.stack([G] * 4)
    for defect in (metric_defect, inverse_symmetry_defect, operator_defect):
        values = [defect(P, t, g) for t in (T, full) for g in (G, metrics)]
        assert np.ptp(values) <= slack(4, 3, 10.0)
        assert values[0] > 1e-2
        identity = defect(P, T, np.eye(3))
        assert abs(identity - defect(P, full)) <= slack(4, 3)


@pytest.mark.parametrize("seed", range(8))
def test_operator_defect_is_that_of_the_dense_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P, T = stochastic(rng, 5), rng.normal(size=(5, 5, 2, 2))
    G = np.stack([strategies.spd(rng, 2, 10.0) for _ in range(5)])
    assert abs(operator_defect(P, T, G) - hilbert_schmidt(P, T, G)) <= slack(5, 2, 1000.0)


@pytest.mark.parametrize("seed", range(5))
def test_defects_are_those_of_symmetric_square_roots(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P, T = stochastic(rng, 3), rng.normal(size=(3, 3, 2, 2))
    P[0] = [0.0, 0.25, 0.75]
    G = np.stack([strategies.spd(rng, 2, 10.0) for _ in range(3)])
    values, vectors = np.linalg.eigh(G)
    root = (vectors * np.sqrt(values)[:, None]) @ vectors.transpose(0, 2, 1)
    metric = inverse = 0.0
    for i, j in np.ndindex(3, 3):
        B = root[i] @ T[i, j] @ np.linalg.inv(root[j])
        M = root[i] @ T[i, j] @ T[j, i] @ np.linalg.inv(root[i])
        gaps = [
            np.linalg.norm(X - np.eye(2)) / (np.linalg.norm(X) + np.sqrt(2)) for X in (B.T @ B, M)
        ]
        metric, inverse = metric + P[i, j] * gaps[0] / 3, inverse + P[i, j] * gaps[1] / 3
    T[0, 0] = 1e300
    assert abs(metric_defect(P, T, G) - metric) <= slack(3, 2, 100.0)
    assert abs(inverse_symmetry_defect(P, T, G) - inverse) <= slack(3, 2, 100.0)


@st.composite
def walks(draw: strategies.Draw) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng, dtype = draw(strategies.generators()), draw(strategies.dtypes())
    n, d = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    logits = strategies.logits(draw, rng, (n, n), dtype)
    logits[np.arange(n), np.arange(n)] = 0
    P = softmax_walk(logits, strategies.masks(draw, rng, n, n, ("none", "causal", "window")))
    T = rng.normal(size=(n, n, d, d)) * 10.0 ** rng.integers(-6, 7, size=(n, n, 1, 1))
    if draw(st.booleans()):
        T = strategies.matrices(draw, rng, d, d, dtype)
    condition = strategies.conditions(draw, dtype)
    G = np.stack([strategies.spd(rng, d, condition) for _ in range(n)])
    return P, T.astype(dtype), G.astype(dtype)


@pytest.mark.slow
@given(walks())
def test_defects_lie_between_0_and_1(walk: tuple[Any, Any, Any]) -> None:
    P, T, G = walk
    for metrics in (G, G[0], None):
        for defect in (metric_defect, inverse_symmetry_defect, operator_defect):
            given = [a for a in (P, T, metrics) if a is not None]
            values = [defect(*map(kind, given)) for kind in KINDS]
            assert np.isfinite(values).all()
            assert 0 <= min(values) <= max(values) <= 1


def test_transient_states_count_in_metric_and_inverse_symmetry() -> None:
    """With weights pi = (1, 0) both defects would be 0."""
    P, T = np.array([[1, 0], [0.5, 0.5]]), np.array([[[[1.0]], [[0.0]]], [[[5.0]], [[7.0]]]])
    assert abs(metric_defect(P, T) - (0.5 * 24 / 26 + 0.5 * 48 / 50) / 2) <= slack(2, 1)
    assert abs(inverse_symmetry_defect(P, T) - (0.5 + 0.5 * 48 / 50) / 2) <= slack(2, 1)
    assert operator_defect(P, T) == 1


def test_a_sign_that_does_not_return() -> None:
    """T_12 = 1, T_21 = -1: T_12 T_21 = -1 is orthogonal, and is not I."""
    T = np.ones((2, 2, 1, 1))
    T[1, 0] = -1
    assert metric_defect(HALF, T) == 0
    assert inverse_symmetry_defect(HALF, T) == 0.5
    assert operator_defect(HALF, T) == np.sqrt(2) / 2


def test_an_edge_without_its_reverse_counts_one() -> None:
    assert inverse_symmetry_defect(CYCLE, np.eye(2)) == 1
    assert inverse_symmetry_defect(np.eye(3), np.eye(2)) == 0


def star() -> np.ndarray:
    """7 hubs of 4 leaves each: hub -> its leaves 1/4, leaf -> every hub 1/7."""
    P = np.zeros((35, 35))
    for hub in range(7):
        P[hub, 7 + 4 * hub : 11 + 4 * hub] = 1 / 4
    P[7:, :7] = 1 / 7
    return P


def test_the_plain_norm_would_exceed_one_on_hubs_with_leaves() -> None:
    P = star()
    pi = stationary_distribution(P)
    for state, exact in ((0, Fraction(1, 14)), (34, Fraction(1, 56))):
        assert abs(Fraction(float(pi[state])) - exact) <= 37**3 * Fraction(U) * exact
    backward = pi[None, :] * P.T / pi[:, None]
    plain = np.sum((P - backward) ** 2) / (4 * np.sum(P**2))
    assert abs(plain - 51 / 46) <= slack(35, 1)
    assert abs(operator_defect(P, np.eye(1)) - hilbert_schmidt(P, np.eye(1), np.ones((35, 1, 1)))
               ) <= slack(35, 1)  # fmt: skip
    assert 0.5 < operator_defect(P, np.eye(1)) < 1


def test_operator_defect_at_its_ends() -> None:
    P = softmax_walk(np.zeros((3, 3)), np.tri(3) > 0)
    assert operator_defect(P, np.eye(2)) == 1
    assert operator_defect(P, np.zeros((2, 2))) == 0
    assert abs(operator_defect(CYCLE, np.eye(1)) - np.sqrt(2) / 2) <= slack(3, 1)
    assert abs(operator_defect(HALF, ROTATION) - 1) <= slack(2, 2)
    assert operator_defect(HALF, REFLECTION) == 0
    assert operator_defect(np.eye(2), 3 * np.eye(2)) == 0


def test_rotation_is_not_a_connection_laplacian() -> None:
    """Isometric, yet T_ij T_ji = T^2 = -I."""
    assert metric_defect(HALF, ROTATION) == 0
    assert inverse_symmetry_defect(HALF, ROTATION) == 1
    assert inverse_symmetry_defect(HALF, REFLECTION) == 0


def test_an_involution_has_the_metric_that_makes_it_an_isometry() -> None:
    T = np.array([[1.0, 1.0], [0.0, -1.0]])
    assert inverse_symmetry_defect(HALF, T) == 0
    assert metric_defect(HALF, T) > 0.1
    G = np.eye(2) + T.T @ T
    assert max(metric_defect(HALF, T, G), operator_defect(HALF, T, G)) <= slack(2, 2, 10.0)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_large_and_small_transports_keep_their_defects(scale: float) -> None:
    T = scale * strategies.rotation(np.random.default_rng(0), 3)
    P = stochastic(np.random.default_rng(1), 3)
    assert abs(metric_defect(P, T) - 1) <= slack(3, 3)
    assert abs(operator_defect(P, T) - operator_defect(P, T / scale)) <= slack(3, 3)


def test_metrics_of_condition_1e12_are_resolved() -> None:
    G, T = np.diag([1.0, 2.0**-40]), np.array([[0.0, 2.0**-20], [2.0**20, 0.0]])
    P = stochastic(np.random.default_rng(2), 2)
    assert metric_defect(P, T, G) == 0
    assert inverse_symmetry_defect(P, T, G) == 0
    assert metric_defect(P, T) > 0.9
    T[0, 1] *= 1 + 2.0**-30
    assert 2.0**-33 < metric_defect(P, T, G) < 2.0**-29
    assert 2.0**-33 < inverse_symmetry_defect(P, T, G) < 2.0**-29


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_connection_laplacian_is_self_adjoint_with_the_energy_of_its_walk(
    seed: int, kind: Any
) -> None:
    rng = np.random.default_rng(seed)
    w = rng.random((4, 4))
    w = w + w.T
    O, G = gauged(rng, 4, 2, 10.0)
    L = np.asarray(connection_laplacian(kind(w), kind(O)))
    P = w / w.sum(axis=1, keepdims=True)
    assert np.abs(L - Walk(P, O).generator()).max() <= gamma(20, U) * np.abs(O).max()
    pi, u = w.sum(axis=1) / w.sum(), rng.normal(size=(4, 2))
    energy = dirichlet_energy(*(kind(a) for a in (P, O, G, pi, u)))
    paired = np.einsum("i,ia,iab,ib->", pi, u, G, (L @ u.ravel()).reshape(4, 2))
    assert abs(float(energy) - paired) <= slack(4, 2, 100.0) * float(np.sum(u * u))
    spectrum = np.linalg.eigvals(L)
    assert spectrum.real.min() >= -slack(4, 2, 100.0)
    assert spectrum.real.max() <= 2 + slack(4, 2, 100.0)


def test_energy_without_the_metric_identity() -> None:
    """3-cycle, T = 1, u = (1, 0, 0): (1/2)(1/3)(1 + 1)."""
    u, pi = np.array([[1.0], [0.0], [0.0]]), np.full(3, 0.5)
    assert dirichlet_energy(CYCLE, np.eye(1), None, pi, u) == 0.5
    assert dirichlet_energy(CYCLE, np.eye(1), 4 * np.eye(1), pi, u) == 2
    assert dirichlet_energy(CYCLE, 3 * np.eye(1), None, pi, u) == 0.25 * (1 + 9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_adjoint_moves_to_the_other_side(seed: int, kind: Any) -> None:
    rng = np.random.default_rng(seed)
    P, T = stochastic(rng, 4), rng.normal(size=(4, 4, 3, 3))
    G, pi = np.stack([strategies.spd(rng, 3, 10.0) for _ in range(4)]), stationary_distribution(P)
    starred = np.asarray(adjoint(kind(P), kind(T), kind(G)))
    u, v, W = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), Walk(P, T).block_matrix()

    def paired(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.einsum("i,ia,iab,ib->", pi, a.reshape(4, 3), G, b.reshape(4, 3)))

    there, back = paired(W @ u.ravel(), v), paired(u, starred @ v.ravel())
    assert abs(there - back) <= slack(4, 3, 100.0) * float(np.abs(T).max())
    assert abs(there - paired(u, W.T @ v.ravel())) > 1e-6
    again = np.asarray(adjoint(kind(P), kind(T), kind(G), kind(pi)))
    assert np.abs(again - starred).max() <= slack(4, 3, 100.0) * float(np.abs(T).max())
