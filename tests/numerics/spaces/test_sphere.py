"""The sphere: distances near 0 and near pi, the cut locus, and where means are unique."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
import torch

from numerics.spaces import Sphere, ambient_readout, frechet_readout, tangent_readout
from numerics.spaces.lengths import roundoff

S2 = Sphere(3)
DTYPES = ("float64", "float32")


def at_angle(angle: float, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Two points at about that angle, in no special direction."""
    turn = Sphere(3).random_isometry(np.random.default_rng(3))
    points = np.array([[1.0, 0.0, 0.0], [math.cos(angle), math.sin(angle), 0.0]]) @ turn.T
    return points[:1].astype(dtype), points[1:].astype(dtype)


def exact_angle(x: np.ndarray, y: np.ndarray) -> mpmath.mpf:
    """Angle of the stored points, to 50 digits."""
    with mpmath.workdps(50):
        a, b = (mpmath.matrix([mpmath.mpf(float(t)) for t in p[0]]) for p in (x, y))
        a, b = a / mpmath.norm(a), b / mpmath.norm(b)
        return 2 * mpmath.atan2(mpmath.norm(a - b), mpmath.norm(a + b))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("angle", [1e-3, 0.1, 1.0, 2.0, 3.0, math.pi - 1e-3])
def test_distance_is_the_angle_of_the_stored_points(angle: float, dtype: str) -> None:
    x, y = at_angle(angle, dtype)
    # A chord of points whose norms are off by u has the relative error 3u, its angle the sum of
    # those of both chords; u / angle is the part of the norms in a short chord, orthogonal to it.
    u = roundoff(dtype)
    bound = 8 * u * (angle + u / angle)
    assert abs(float(S2.distance(x, y)[0]) - exact_angle(x, y)) <= bound


@pytest.mark.parametrize("angle", [1e-9, 1e-12])
def test_tiny_distances_keep_their_digits(angle: float) -> None:
    x = np.array([[1.0, 0.0, 0.0]])
    y = np.array([[math.cos(angle), math.sin(angle), 0.0]])
    u = roundoff("float64")
    assert abs(float(S2.distance(x, y)[0]) - exact_angle(x, y)) <= 4 * u * angle
    assert math.acos(min(1.0, float(x[0] @ y[0]))) == 0.0  # what a formula by arccos makes of it


@pytest.mark.parametrize("dtype", DTYPES)
def test_antipodal_points_have_distance_pi_and_no_logarithm(dtype: str) -> None:
    x = S2.random_points(np.random.default_rng(0), 4).astype(dtype)
    assert abs(S2.distance(x, -x) - math.pi).max() <= 4 * roundoff(dtype)
    with pytest.raises(ValueError, match=r"^y must not lie in the cut locus of x .*at \(0,\)"):
        S2.log(x, -x)
    with pytest.raises(ValueError, match=r"^v must not lie in the cut locus of q"):
        tangent_readout(S2, x, -x, np.full((4, 4), 0.25, dtype))


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_almost_antipodal_points_have_a_finite_logarithm_of_length_almost_pi(kind: str) -> None:
    x, y = at_angle(math.pi - 1e-9, "float64")
    if kind == "torch":
        x, y = torch.from_numpy(x), torch.from_numpy(y)
    v = S2.log(x, y)
    u = roundoff("float64")
    assert abs(float(S2.inner(x, v, v)[0]) ** 0.5 - (math.pi - 1e-9)) <= 16 * u
    assert float(S2.distance(S2.exp(x, v), y)[0]) <= 16 * u


def test_gradient_at_antipodal_points_is_zero_and_beside_them_minus_log() -> None:
    x = torch.tensor([[0.6, 0.8, 0.0]], dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(S2.distance2(x, -x.detach()).sum(), x)
    assert bool((gradient == 0).all())
    y = torch.tensor([[-0.6, -0.8, 0.0]], dtype=torch.float64)
    near = S2.exp(y, torch.tensor([[0.0, 0.0, 1e-9]], dtype=torch.float64))
    (gradient,) = torch.autograd.grad(S2.distance2(x, near).sum(), x)
    along = gradient - x * (gradient * x).sum()
    # The direction of a difference of size 1e-9 is known to u / 1e-9.
    off = (along + 2 * S2.log(x, near)).detach().abs().max()
    assert float(off) <= 8 * math.pi * roundoff(x.dtype) / 1e-9


@pytest.mark.parametrize("point", [(2.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 1e-6, 0.0)])
def test_points_off_the_sphere_are_refused(point: tuple[float, ...]) -> None:
    off = np.array([point])
    if point[0] == 1.0:
        off = off * (1 + 1e-9)
    with pytest.raises(ValueError, match=r"^y must be on the sphere in R\^3: \|x\|\^2 = 1, got"):
        S2.distance2(np.array([[1.0, 0.0, 0.0]]), off)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_length_is_refused_from_32_roundoffs_an_entry_on(dtype: str) -> None:
    x, slack = np.array([[1.0, 0.0, 0.0]], dtype), 32 * 3 * roundoff(dtype)
    S2.check(x * (1 + slack / 4))
    with pytest.raises(ValueError, match=r"^x must be on the sphere in R\^3"):
        S2.check(x * (1 + slack))


def circle(*angles: float) -> np.ndarray:
    return np.array([[math.cos(a), math.sin(a), 0.0] for a in angles])


MEANLESS: dict[str, tuple[np.ndarray, list[float]]] = {
    "antipodal": (circle(0, math.pi), [0.5, 0.5]),
    "three on a great circle": (circle(0, 2 * math.pi / 3, -2 * math.pi / 3), [1 / 3] * 3),
    "wider than a hemisphere": (circle(0, 1.7, -1.7), [0.4, 0.3, 0.3]),
}


@pytest.mark.parametrize("name", MEANLESS)
def test_values_that_no_convex_ball_holds_have_no_frechet_mean(name: str) -> None:
    v, w = MEANLESS[name]
    with pytest.raises(ValueError, match=r"^v must lie in a ball of .* a Frechet mean is unique"):
        frechet_readout(S2, v, np.array([w]))


def test_a_value_of_weight_zero_bounds_nothing() -> None:
    v = circle(0.0, math.pi, 0.5)
    w = np.array([[0.5, 0.0, 0.5]])
    middle = circle(0.25)
    bound = 4 * 2 * float(S2.resolution(np, middle)[0])
    assert float(S2.distance(frechet_readout(S2, v, w), middle)[0]) <= bound
    assert float(S2.distance(tangent_readout(S2, v[:1], v, w), middle)[0]) <= bound


def test_mean_of_two_points_is_their_middle_up_to_almost_a_half_turn() -> None:
    for angle in (0.1, 1.5, 3.0, 3.1):
        v, w = circle(0.0, angle), np.array([[0.5, 0.5]])
        bound = 8 * float(S2.resolution(np, v)[0]) / math.sin(angle)
        for readout in (frechet_readout, ambient_readout):
            assert float(S2.distance(readout(S2, v, w), circle(angle / 2))[0]) <= bound


@pytest.mark.parametrize("dtype", DTYPES)
def test_ambient_mean_zero_is_refused(dtype: str) -> None:
    v: Any = S2.random_points(np.random.default_rng(1), 3).astype(dtype)
    v = np.concatenate([v, -v])
    with pytest.raises(ValueError, match=r"^v must be of a mean other than 0.* at \(0,\)"):
        ambient_readout(S2, v, np.full((2, 6), 1 / 6, dtype))


def test_the_radius_is_pi_and_longer_vectors_are_refused() -> None:
    x, v = circle(0.0), np.array([[0.0, 1.0, 0.0]])
    assert S2.radius("float64") == S2.radius(torch.float32) == math.pi
    bound = 4 * roundoff("float64")
    assert abs(S2.exp(x, 3.0 * v) - circle(3.0)).max() <= bound
    with pytest.raises(ValueError, match=r"^v must be of length.* at most 3.14159 .*got 3.2"):
        S2.exp(x, 3.2 * v)
