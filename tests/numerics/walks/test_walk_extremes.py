"""Walk operators at both ends of float64: what it holds is right, what it does not is refused."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from numerics.laplacians import adjoint, dirichlet_energy, operator_defect, stationary_distribution
from numerics.laplacians.holonomy import (
    flatness_defects,
    holonomies,
    is_flat,
    mutually_inverse,
    tree_gauge,
)
from numerics.properties import strategies
from numerics.walks.elimination import Wide

KINDS = [np.asarray, torch.from_numpy]
U = 2.0**-53
CYCLE = np.roll(np.eye(3), 1, axis=1)
ONE = np.ones((2, 2, 1, 1))


def rare(e: float) -> np.ndarray:
    return np.array([[1 - e, e], [e, 1 - e]])


def pair(there: float, back: float, loops: float = 1.0) -> np.ndarray:
    """Transports of two tokens in dimension 1."""
    return np.array([[[[loops]], [[there]]], [[[back]], [[loops]]]])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("e", [1e-300, 1e-200, 1e-100, 2.0**-1074])
def test_rare_edges_count_with_their_transports(e: float, kind: Any) -> None:
    """pi is uniform: W = [[1 - e, e a], [e b, 1 - e]] is compared with its transpose."""
    P, a = rare(e), min(1 / e, 1e300)
    assert operator_defect(kind(P), kind(pair(a, a))) == 0
    for b in (-a, 0.0, a / 2):
        s, x, y = 1 - e, e * a, e * b
        exact = np.sqrt(2) * abs(x - y) / (2 * np.sqrt(2 * s * s + x * x + y * y))
        assert abs(operator_defect(kind(P), kind(pair(a, b))) - exact) <= 64 * U


@pytest.mark.slow
@pytest.mark.parametrize("size", [2.0**-1074, 1e-310, 1e-200, 1e200, 1e308])
@pytest.mark.parametrize("kind", KINDS)
def test_the_operator_defect_does_not_change_with_the_size(size: float, kind: Any) -> None:
    for there, back in ((1.0, -1.0), (1.0, 0.0), (1.0, 1.0)):
        T = pair(there, back)
        expected = operator_defect(rare(0.25), T)
        assert abs(operator_defect(kind(rare(0.25)), kind(T * size)) - expected) <= 16 * U
    metric = np.eye(1) * min(max(size, 1e-300), 1e300)
    for scale in (size, 1.0):
        found = operator_defect(kind(CYCLE), kind(np.eye(1) * scale), kind(metric))
        assert abs(found - np.sqrt(2) / 2) <= 128 * U


def test_a_law_beyond_float64_weighs_the_edges_still() -> None:
    """pi = (e^3, 1, e, e^2) up to 1 + O(e), e = 1e-200: W_11 = 1, and W_01 = e^(3/2) T_01 = 3.

    P*_10 = pi_0 P_01 / pi_1 = 1e-600 is no number of float64.
    """
    e = 1e-200
    P = np.array([[0.0, 1, 0, 0], [0, 1, e, 0], [0, 1, 0, e], [e, 1, 0, 0]])
    T = np.zeros((4, 4, 1, 1))
    T[0, 1] = 3e300
    T[1, 1] = 1.0
    assert stationary_distribution(P)[0] == 0
    assert abs(operator_defect(P, T) - np.sqrt(18 / 40)) <= 1000 * U
    T[0, 1] = 1.0
    assert operator_defect(P, T) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_adjoint_weighs_by_quotients_alone(kind: Any) -> None:
    T = pair(1e-20, 1e-20, 3.0)
    for size in (2.0**-1074, 1e-300, 1.0, 1e308):
        law = np.full(2, size)
        found = np.asarray(adjoint(kind(rare(0.5)), kind(T), None, kind(law)))
        assert (found == np.array([[1.5, 5e-21], [5e-21, 1.5]])).all()
    # P_10 pi_1 underflows, P_10 pi_1 / pi_0 = 1e-200 does not.
    found = np.asarray(adjoint(kind(rare(1e-200)), kind(ONE), None, kind(np.full(2, 1e-200))))
    assert (found == rare(1e-200)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_of_the_adjoint_that_overflows_is_refused(kind: Any) -> None:
    law = kind(np.array([1e-300, 1e300]))
    with pytest.raises(ValueError, match=r"pi must be of sizes.*float64 holds"):
        adjoint(kind(rare(0.5)), kind(ONE), None, law)


@pytest.mark.parametrize("kind", KINDS)
def test_energy_reads_no_pair_off_the_edges(kind: Any) -> None:
    u, half = np.array([[1e200], [-1e200]]), np.full(2, 0.5)
    assert dirichlet_energy(kind(np.eye(2)), kind(np.eye(1)), None, kind(half), kind(u)) == 0
    top = np.array([[1.7e308], [-1.7e308]])
    assert dirichlet_energy(kind(np.eye(2)), kind(np.eye(1)), None, kind(half), kind(top)) == 0
    # pi_0 = 0: the edge 0 -> 1 weighs nothing.
    P, law = np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([0.0, 1.0])
    assert dirichlet_energy(kind(P), kind(np.eye(1)), None, kind(law), kind(top)) == 0
    with pytest.raises(ValueError, match=r"T, G, pi and u must be of sizes.*overflow"):
        dirichlet_energy(kind(rare(0.5)), kind(np.eye(1)), None, kind(half), kind(u))
    with pytest.raises(ValueError, match=r"T, G, pi and u must be of sizes.*overflow"):
        dirichlet_energy(kind(rare(0.5)), kind(np.eye(1)), None, kind(half), kind(top))


@pytest.mark.parametrize("kind", KINDS)
def test_energy_of_squares_that_overflow_under_small_weights(kind: Any) -> None:
    """(1/2) (1/2 + 1/2) e |u_0 - u_1|^2, exact up to the rounding of six factors."""
    for e, size in ((1e-300, 1e200), (1e-200, 1e150), (2.0**-1074, 1e300), (0.5, 1e-140)):
        u = np.array([[size], [-size]])
        for mass in (0.5, 2.0**-1000, 2.0**300):
            exact = Fraction(e) * Fraction(mass) * (2 * Fraction(size)) ** 2
            if not 2.0**-1000 < exact < 2**1000:
                continue
            law = kind(np.full(2, mass))
            found = dirichlet_energy(kind(rare(e)), kind(np.eye(1)), None, law, kind(u))
            assert np.isfinite(float(found))
            assert abs(Fraction(float(found)) - exact) <= 16 * Fraction(U) * exact


def test_energy_keeps_its_gradient() -> None:
    """dE/du of (1/2) sum_ij pi_i P_ij (u_i - u_j)^2 is 2 pi_0 P_01 (u_0 - u_1) for two tokens."""
    u = torch.tensor([[3.0], [1.0]], dtype=torch.float64, requires_grad=True)
    P, law = torch.from_numpy(rare(0.25)), torch.full((2,), 0.5, dtype=torch.float64)
    energy = dirichlet_energy(P, torch.eye(1, dtype=torch.float64), None, law, u)
    energy.backward()
    assert u.grad is not None
    assert u.grad.tolist() == [[0.5], [-0.5]]


def test_wide_roots_and_quotients_by_the_largest() -> None:
    rng = np.random.default_rng(0)
    scales = 10.0 ** rng.integers(-300, 300, size=40)
    numbers = Wide.of(rng.uniform(1, 2, size=40) * scales)
    power = numbers * numbers * numbers
    again = power.sqrt() * power.sqrt()
    assert np.abs((again / power).value() - 1).max() <= 8 * U
    zero = Wide.of(np.array([0.0, 1e-300, 4.0]))
    assert (zero * zero).sqrt().value()[0] == 0
    assert ((zero * zero).sqrt().value()[2], zero.sqrt().value()[2]) == (4, 2)
    assert (power[:3] / power[:3]).relative().tolist() == [1, 1, 1]
    assert (zero * zero).relative().tolist() == [0, 0, 1]
    assert Wide.of(np.array([[0.0, 1e-300], [4.0, 1.0]])).turned().value().tolist() == [
        [0, 4], [1e-300, 1]
    ]  # fmt: skip


def test_transports_off_the_edges_must_be_finite() -> None:
    T = np.broadcast_to(strategies.rotation(np.random.default_rng(0), 2), (2, 2, 2, 2)).copy()
    T[0, 1, 0, 0] = np.nan
    with pytest.raises(ValueError, match=r"T must be finite, got nan at \(0, 1, 0, 0\)"):
        operator_defect(np.eye(2), T)


def stretched(*sizes: float) -> np.ndarray:
    """T_01 = diag(sizes), T_10 its inverse, T_ii = I."""
    T, d = np.zeros((2, 2, len(sizes), len(sizes))), np.array(sizes)
    T[0, 0] = T[1, 1] = np.eye(len(sizes))
    T[0, 1], T[1, 0] = np.diag(d), np.diag(1 / d)
    return T


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [(1e200,), (1e-200,), (2.0**1000,), (1e200, 1.0)])
def test_flat_connections_of_any_size_are_flat(sizes: tuple[float, ...], kind: Any) -> None:
    P, T = np.full((2, 2), 0.5), stretched(*sizes)
    mutually_inverse(kind(P), kind(T))
    assert is_flat(kind(P), kind(T))
    assert flatness_defects(kind(P), kind(T)) == {(0, 0): 0.0, (1, 1): 0.0}


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1.0, 1e200, 1e300])
def test_an_inverse_of_any_size_is_checked(size: float) -> None:
    T = stretched(size)
    T[1, 0] *= 1 + 2.0**-20
    with pytest.raises(ValueError, match=r"T_ij T_ji = I on edges, got a deviation 9.54e-07 at"):
        mutually_inverse(np.full((2, 2), 0.5), T)
    turned = np.zeros((2, 2, 2, 2))
    turned[0, 1] = size * np.array([[0.6, -0.8], [0.8, 0.6]])
    turned[1, 0] = turned[0, 1].T / size / size
    mutually_inverse(1 - np.eye(2), turned)
    turned[1, 0] *= -1
    with pytest.raises(ValueError, match=r"T_ij T_ji = I on edges, got a deviation 2 at"):
        mutually_inverse(1 - np.eye(2), turned)


@pytest.mark.parametrize("size", [1e-200, 1e-100, 1.0, 1e100, 1e200])
def test_a_twist_of_any_size_is_seen(size: float) -> None:
    P, T = np.full((2, 2), 0.5), stretched(size)
    T[1, 1] = -1
    assert not is_flat(P, T)
    assert flatness_defects(P, T)[1, 1] == 2


@pytest.mark.parametrize("sizes", [(1e200, 1e200), (1e-200, 1e-200)])
def test_what_is_not_inverse_is_refused_at_any_size(sizes: tuple[float, float]) -> None:
    T = stretched(1.0)
    T[0, 1], T[1, 0] = sizes
    with pytest.raises(ValueError, match=r"got a deviation (inf|1) at \(0, 1\)"):
        mutually_inverse(1 - np.eye(2), T)
    T[0, 1] = 0
    with pytest.raises(ValueError, match=r"got a deviation 1 at \(0, 1\)"):
        mutually_inverse(1 - np.eye(2), T)


def path(size: float, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """0 - 1 - 2 with a loop at 2, T_10 = T_21 = size: the gauge of 2 is size^2."""
    P = np.array([[0, 1, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]], dtype)
    T = np.ones((3, 3, 1, 1), dtype)
    T[1, 0] = T[2, 1] = size
    T[0, 1] = T[1, 2] = 1 / np.asarray(size, dtype)
    return P, T


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 1e30), (np.float64, 1e-200)])
def test_products_that_overflow_are_refused(size: float, dtype: Any, kind: Any) -> None:
    P, T = (kind(a) for a in path(size, dtype))
    for call in (tree_gauge, holonomies, flatness_defects, is_flat):
        with pytest.raises(ValueError, match=r"T must be of sizes.*float(32|64) holds.*overflow"):
            call(P, T)
    assert is_flat(*(kind(a) for a in path(2.0**10, dtype)))


def test_a_norm_of_squares_that_overflow() -> None:
    """h = [[0, s], [1/s, 0]], an involution: |h - I| = s up to s^-2."""
    s = 2.0**600
    T = np.array([[[[0.0, s], [1 / s, 0.0]]]])
    assert abs(flatness_defects(np.ones((1, 1)), T)[0, 0] / s - 1) <= 8 * U


def test_a_bound_that_overflows_decides_nothing() -> None:
    """Entries of diag(1e200, 1) are known to 4 u 1e400 when it may be a computed inverse."""
    T = stretched(1e200, 1.0)
    T[1, 1] = -np.eye(2)
    with pytest.raises(ValueError, match=r"T must be of sizes .* got an overflow"):
        is_flat(np.full((2, 2), 0.5), T)
