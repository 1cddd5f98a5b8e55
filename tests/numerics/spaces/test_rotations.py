"""Rotations of R^3: exact angles, both ends of Rodrigues' formula, the polar factor."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from numerics.spaces.inversion import AfterInversion
from numerics.spaces.readouts import ambient_readout, frechet_readout, tangent_readout
from numerics.spaces.rotations import Rotations

SO3 = Rotations()
ONE = np.eye(3)[None]
U = 2.0**-53
AXES = [np.array(a) / math.hypot(*a) for a in ([1, 0, 0], [0, 1, 0], [0, 0, 1], [1, -2, 2])]
every_axis = pytest.mark.parametrize("axis", AXES, ids=["x", "y", "z", "oblique"])


def skew(axis: Any) -> np.ndarray:
    a, b, c = axis
    return np.array([[[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]]])


def turn(cosine: float, sine: float) -> np.ndarray:
    """The rotation about the third axis."""
    return np.array([[[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]]])


def close(found: Any, exact: Any, bound: float) -> None:
    """Finite first, then entry by entry within the bound."""
    found, exact = np.asarray(found), np.asarray(exact)
    assert np.isfinite(found).all()
    assert float(abs(found - exact).max()) <= bound


RHO = float(SO3.resolution(np, ONE).max())  # type: ignore[arg-type]


def test_a_rational_rotation_has_its_angle() -> None:
    y, angle = turn(0.6, 0.8), math.atan2(4, 3)
    close(SO3.distance(ONE, y), angle, RHO)
    close(SO3.log(ONE, y), angle * skew([0, 0, 1]), RHO)
    close(SO3.exp(ONE, angle * skew([0, 0, 1])), y, RHO)
    close(SO3.similarity(ONE, y), 1 + 2 * 0.6, RHO)


@every_axis
@pytest.mark.parametrize("left", [1e-12, 1e-9, 1e-4])
def test_near_half_a_turn_log_is_finite_and_exp_brings_it_back(axis: Any, left: float) -> None:
    v = (math.pi - left) * skew(axis)
    y = SO3.exp(ONE, v)
    close(SO3.distance(ONE, y), math.pi - left, 2 * RHO)
    close(SO3.log(ONE, y), v, 4 * RHO)
    close(SO3.log(ONE, SO3.exp(ONE, -v)), -v, 4 * RHO)


@every_axis
def test_half_a_turn_is_refused_and_its_distance_is_pi(axis: Any) -> None:
    y = (2 * np.outer(axis, axis) - np.eye(3))[None]
    close(SO3.distance(ONE, y), math.pi, RHO)
    with pytest.raises(ValueError, match=r"^y must not lie in the cut locus of x in SO\(3\)"):
        SO3.log(ONE, y)
    with pytest.raises(ValueError, match=r"^v must not lie in the cut locus of q in SO\(3\)"):
        tangent_readout(SO3, ONE, y, np.ones((1, 1)))
    x = torch.from_numpy(y.copy()).requires_grad_(True)
    (gradient,) = torch.autograd.grad(SO3.distance2(x, torch.eye(3).double()[None]).sum(), x)
    assert bool(torch.isfinite(gradient).all())


@pytest.mark.parametrize("sine", [1e-16, -1e-15])
def test_half_a_turn_within_rounding_is_refused(sine: float) -> None:
    with pytest.raises(ValueError, match=r"^y must not lie in the cut locus of x in SO\(3\)"):
        SO3.log(ONE, turn(-1.0, sine))


@every_axis
@pytest.mark.parametrize("angle", [1e-12, 1e-9, 1e-8])
def test_small_angles_keep_the_digits_of_the_stored_difference(axis: Any, angle: float) -> None:
    # Stored entries are off by 2^-54 near 1 and by 2^-54 angle beside it.
    y = np.eye(3)[None] + angle * skew(axis)
    close(SO3.distance(ONE, y) / angle, 1.0, RHO + angle**2)
    close(SO3.log(ONE, y) / angle, skew(axis), RHO + angle**2)


@pytest.mark.parametrize("angle", [1e-12, 1e-9])
def test_small_angles_between_rotations_of_any_frame_keep_their_digits(angle: float) -> None:
    x = SO3.random_points(np.random.default_rng(5), 1)
    y = x + angle * (x @ skew(AXES[3]))
    a, b = ([[Fraction(t) for t in row] for row in m[0]] for m in (x, y))
    small = [
        [sum(a[k][i] * (b[k][j] - a[k][j]) for k in range(3)) for j in range(3)] for i in range(3)
    ]
    # To first order the angle is the length of the skew part, of the numbers as stored.
    exact = math.hypot(*(float(small[i][j] - small[j][i]) / 2 for i, j in ((2, 1), (0, 2), (1, 0))))
    close(SO3.distance(x, y) / exact, 1.0, RHO)
    assert abs(exact / angle - 1) > 1e3 * RHO


def test_a_cosine_would_lose_small_angles() -> None:
    y = np.eye(3)[None] + 1e-9 * skew(AXES[3])
    cosine = (np.trace(y[0]) - 1) / 2
    assert math.acos(cosine) == 0
    assert float(SO3.distance(ONE, y)[0]) > 0


def test_sign_of_a_skew_part_does_not_tell_half_turns_from_none() -> None:
    y = turn(-1.0, 0.0)
    assert (y == y.swapaxes(-1, -2)).all()
    assert float(SO3.distance(ONE, y)[0]) > 3


def test_isometries_act_from_both_sides_and_inversion_transposes_first() -> None:
    g, h = turn(0.6, 0.8)[0], np.eye(3)[[1, 2, 0]]
    x = SO3.random_points(np.random.default_rng(2), 1)
    both = np.stack([g, h])
    close(SO3.act(both, x), g @ x @ h.T, 8 * U)
    close(SO3.act(AfterInversion(both), x), g @ np.linalg.inv(x) @ h.T, RHO)
    v = SO3.log(x, ONE)
    close(SO3.push(both, x, v), SO3.log(SO3.act(both, x), (g @ h.T)[None]), 4 * RHO)


def test_transposition_is_an_isometry() -> None:
    generator = np.random.default_rng(2)
    x, y = SO3.random_points(generator, 6), SO3.random_points(generator, 6)
    g = AfterInversion(SO3.random_isometry(generator))
    X, Y, v = SO3.act(g, x), SO3.act(g, y), SO3.log(x, y)
    bound = 8 * RHO
    close(SO3.distance(X, Y), SO3.distance(x, y), bound)
    close(SO3.similarity(X, Y), SO3.similarity(x, y), bound)
    close(SO3.exp(X, SO3.push(g, x, v)), Y, bound)
    w = np.full((1, 6), 1 / 6)
    close(ambient_readout(SO3, X, w), SO3.act(g, ambient_readout(SO3, x, w)), 32 * RHO)


def test_similarity_is_one_plus_twice_the_cosine_of_the_distance() -> None:
    generator = np.random.default_rng(8)
    x, y = SO3.random_points(generator, 50), SO3.random_points(generator, 50)
    close(SO3.similarity(x, y), 1 + 2 * np.cos(SO3.distance(x, y)), 4 * RHO)


def test_polar_factor_of_the_mean_of_two_turns_is_the_middle() -> None:
    values = np.concatenate([ONE, turn(0.0, 1.0)])
    half = np.array([[0.5, 0.5]])
    close(ambient_readout(SO3, values, half), turn(math.sqrt(0.5), math.sqrt(0.5)), 8 * RHO)
    close(frechet_readout(SO3, values, half), turn(math.sqrt(0.5), math.sqrt(0.5)), 16 * RHO)


HALF_TURNS = np.stack([np.diag(d) for d in ([1.0, -1, -1], [-1.0, 1, -1], [-1.0, -1, 1])])


def test_mean_of_negative_determinant_has_a_nearest_rotation() -> None:
    w = np.array([[0.4375, 0.3125, 0.25]])
    mean = np.diag([-0.125, -0.375, -0.5])
    assert (np.einsum("m,mij->ij", w[0], HALF_TURNS) == mean).all()
    # The polar factor is -1; of the four diagonal rotations this has the largest tr(R^T mean).
    close(ambient_readout(SO3, HALF_TURNS, w), HALF_TURNS[:1], 8 * RHO)
    best = float(np.trace(HALF_TURNS[0].T @ mean))
    for other in SO3.random_points(np.random.default_rng(3), 500):
        assert float(np.trace(other.T @ mean)) <= best


@pytest.mark.parametrize("w", [[1 / 3, 1 / 3, 1 / 3], [0.375, 0.375, 0.25], [0.5, 0.5, 0.0]])
def test_mean_with_several_nearest_rotations_is_refused(w: list[float]) -> None:
    with pytest.raises(ValueError, match=r"^v must be of a mean with one nearest rotation"):
        ambient_readout(SO3, HALF_TURNS, np.array([w]))


def test_frechet_mean_of_turns_all_around_is_refused() -> None:
    values = np.concatenate([ONE, turn(-0.6, 0.8), turn(-0.6, -0.8)])
    with pytest.raises(ValueError, match=r"^v must lie in .*ball .*SO\(3\)"):
        frechet_readout(SO3, values, np.full((1, 3), 1 / 3))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("k", range(4))
def test_gradients_are_zero_at_identical_points_and_finite_elsewhere(
    dtype: torch.dtype, k: int
) -> None:
    # Products of largest quaternion component k.
    left = torch.from_numpy(SO3.random_points(np.random.default_rng(1), 1)).to(dtype)
    v = torch.from_numpy(3.0 * skew(np.eye(3)[k - 1] if k else np.zeros(3))).to(dtype)
    x = left.clone().requires_grad_(True)
    y = SO3.exp(left, left @ v).detach().requires_grad_(True)
    for of in (SO3.distance2, SO3.distance):
        for gradient in torch.autograd.grad(of(x, left.clone()).sum(), (x,)):
            assert bool((gradient == 0).all())
    outputs = torch.autograd.grad(SO3.log(x, y).square().sum() + SO3.distance(x, y).sum(), (x, y))
    assert all(bool(torch.isfinite(gradient).all()) for gradient in outputs)


def test_gradient_of_the_polar_factor_is_finite_where_singular_values_meet() -> None:
    values = torch.eye(3, dtype=torch.float64)[None].repeat(2, 1, 1).requires_grad_(True)
    w = torch.tensor([[0.25, 0.75]], dtype=torch.float64)
    E = torch.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 4.0], [5.0, 6.0, 0.0]], dtype=torch.float64)
    (gradient,) = torch.autograd.grad((ambient_readout(SO3, values, w)[0] * E).sum(), values)
    # At the identity the differential is the skew part.
    exact = w.reshape(2, 1, 1) * (E - E.mT) / 2
    close(gradient, exact, 16 * RHO)


@pytest.mark.slow
def test_many_steps_do_not_leave_the_group() -> None:
    x, v = ONE, 0.1 * skew(AXES[3])
    for _ in range(1000):
        x = SO3.exp(x, x @ v)
    # Orthogonal up to the rounding of one step: 3 terms, and as many in the product itself.
    close(x.swapaxes(-1, -2) @ x, ONE, 16 * U)
    close(SO3.distance(x, SO3.exp(ONE, (100 - 32 * math.pi) * skew(AXES[3]))), 0.0, 1000 * RHO)
