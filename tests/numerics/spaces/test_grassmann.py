"""Subspaces as projectors: principal angles at both ends, the cut locus, eigengaps, gradients."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles

from numerics.spaces.grassmann import Grassmann
from numerics.spaces.readouts import ambient_readout, frechet_readout, tangent_readout

LINES = Grassmann(2, 1)
PLANES = Grassmann(5, 2)
SPACES = [LINES, PLANES, Grassmann(5, 3), Grassmann(3, 2), Grassmann(4, 2)]
every = pytest.mark.parametrize("space", SPACES, ids=[f"{s.n}-{s.k}" for s in SPACES])


def rho(space: Grassmann) -> float:
    """The resolution, which is the same everywhere."""
    return float(space.resolution(np, space.random_points(np.random.default_rng(0), 1))[0])  # type: ignore[arg-type]


def close(found: Any, exact: Any, bound: float) -> None:
    """Finite first, then entry by entry within the bound."""
    found, exact = np.asarray(found), np.asarray(exact)
    assert np.isfinite(found).all()
    assert float(abs(found - exact).max()) <= bound


def line(cosine: float, sine: float) -> np.ndarray:
    """The projector on the line through (cosine, sine)."""
    return np.array([[[cosine * cosine, cosine * sine], [cosine * sine, sine * sine]]])


def planes(*angles: float) -> tuple[np.ndarray, np.ndarray]:
    """Two subspaces of R^(2k) with these principal angles."""
    k = len(angles)
    X = np.concatenate([np.eye(k), np.zeros((k, k))])
    Y = np.concatenate([np.diag(np.cos(angles)), np.diag(np.sin(angles))])
    return (X @ X.T)[None], (Y @ Y.T)[None]


def test_rational_lines_have_their_angle() -> None:
    x, y, angle = line(1.0, 0.0), line(0.6, 0.8), math.atan2(4, 3)
    close(LINES.distance(x, y), angle, rho(LINES))
    close(LINES.log(x, y), angle * np.array([[[0.0, 1.0], [1.0, 0.0]]]), rho(LINES))
    close(LINES.exp(x, LINES.log(x, y)), y, rho(LINES))
    close(LINES.similarity(x, y), 0.36, rho(LINES))


@every
def test_a_basis_and_its_negative_are_one_point(space: Grassmann) -> None:
    X = np.random.default_rng(1).normal(size=(3, space.n, space.k))
    P = space.span(X)
    assert (space.span(-X) == P).all()
    swapped = space.span(X[..., ::-1].copy())
    close(swapped, P, rho(space))
    close(space.distance(P, swapped), 0.0, rho(space))
    close(space.log(P, swapped), 0.0, rho(space))


@every
def test_principal_angles_agree_with_bjorck_and_golub(space: Grassmann) -> None:
    generator, r = np.random.default_rng(4), min(space.k, space.n - space.k)
    # Orthonormal bases: the span of another one is known only up to its condition number.
    X, Y = np.linalg.qr(generator.normal(size=(2, 6, space.n, space.k)))[0]
    angles = space.principal_angles(space.span(X), space.span(Y))
    exact = np.array([subspace_angles(a, b) for a, b in zip(X, Y, strict=True)])
    close(angles[:, :r], exact[:, :r], 2 * rho(space))
    # Subspaces this large meet; the peer has the other angles up to the root of a roundoff.
    assert (angles[:, r:] == 0).all()
    d = space.distance(space.span(X), space.span(Y))
    close(d, np.sqrt((angles**2).sum(-1)), rho(space))
    cosines = np.cos(angles) ** 2
    close(space.similarity(space.span(X), space.span(Y)), cosines.sum(-1), rho(space))


@every
def test_complements_have_the_same_distance(space: Grassmann) -> None:
    x, y = space.random_points(np.random.default_rng(5), 12).reshape(2, 6, space.n, space.n)
    other, one = Grassmann(space.n, space.n - space.k), np.eye(space.n)
    close(other.distance(one - x, one - y), space.distance(x, y), 2 * rho(space))


@pytest.mark.parametrize("small", [1e-12, 1e-9, 1e-6])
def test_small_and_almost_right_angles_stand_side_by_side(small: float) -> None:
    space, (x, y) = Grassmann(4, 2), planes(small, math.pi / 2 - small)
    angles = space.principal_angles(x, y)
    close(angles, [[math.pi / 2 - small, small]], rho(space))
    v = space.log(x, y)
    close(space.inner(x, v, v), (math.pi / 2 - small) ** 2 + small**2, 4 * rho(space))
    close(space.exp(x, v), y, 4 * rho(space))


@pytest.mark.parametrize("small", [1e-12, 1e-9, 1e-6])
def test_small_angles_keep_the_digits_of_the_stored_difference(small: float) -> None:
    # 1 - cos is below the roundoff of 1: the stored projectors differ by sin alone, exactly.
    x, y = line(1.0, 0.0), line(math.cos(small), math.sin(small))
    close(LINES.distance(x, y) / small, 1.0, rho(LINES) + small**2)
    # A cosine alone has no digits left.
    assert abs(math.acos(min(1.0, math.sqrt(np.trace(x[0] @ y[0])))) / small - 1) > 1e-6


@pytest.mark.parametrize("small", [1e-12, 1e-9])
def test_logarithms_of_near_subspaces_of_any_frame_keep_their_digits(small: float) -> None:
    x, z = PLANES.random_points(np.random.default_rng(9), 2)[:, None]
    y = PLANES.exp(x, small * PLANES.log(x, z))
    # To second order the logarithm is the tangent part of the difference, of what is stored.
    gap = y - x
    tangent = x @ gap + gap @ x - 2 * x @ gap @ x
    close(PLANES.log(x, y) / small, tangent / small, rho(PLANES) + small)


def test_orthogonal_lines_have_no_logarithm_and_nearly_orthogonal_lines_have_one() -> None:
    x, y = line(1.0, 0.0), line(0.0, 1.0)
    close(LINES.distance(x, y), math.pi / 2, rho(LINES))
    with pytest.raises(ValueError, match=r"^y must not lie in the cut locus of x"):
        LINES.log(x, y)
    with pytest.raises(ValueError, match=r"^v must not lie in the cut locus of q"):
        tangent_readout(LINES, x, y, np.ones((1, 1)))
    for side in (1e-9, -1e-9):
        near = line(side, 1.0)
        v = LINES.log(x, near)
        # The shortest way turns to the side on which the line leans.
        exact = math.copysign(math.pi / 2 - abs(side), side)
        close(v, exact * np.array([[[0.0, 1.0], [1.0, 0.0]]]), 2 * rho(LINES))
        close(LINES.exp(x, v), near, 2 * rho(LINES))


def test_planes_that_meet_at_a_right_angle_are_refused_by_place() -> None:
    space = Grassmann(4, 2)
    (x, y), (_, z) = planes(0.3, 0.4), planes(0.3, math.pi / 2)
    pair = np.concatenate([y, z])
    with pytest.raises(ValueError, match=r"^y must not lie.* at \(1,\)"):
        space.log(np.concatenate([x, x]), pair)


def test_eigenprojector_of_the_mean_is_the_middle_and_orthogonal_lines_have_none() -> None:
    half, x = np.array([[0.5, 0.5]]), line(1.0, 0.0)
    values = np.concatenate([x, line(0.6, 0.8)])
    middle = line(2 / math.sqrt(5), 1 / math.sqrt(5))
    close(ambient_readout(LINES, values, half), middle, 8 * rho(LINES))
    close(frechet_readout(LINES, values, half), middle, 16 * rho(LINES))
    values = np.concatenate([x, line(0.0, 1.0)])
    with pytest.raises(ValueError, match=r"^v must be of a mean with an eigengap"):
        ambient_readout(LINES, values, half)
    # Unequal weights have a gap, and the heavier line wins; the Frechet mean is still refused.
    assert (ambient_readout(LINES, values, np.array([[0.25, 0.75]])) == values[1:]).all()
    with pytest.raises(ValueError, match=r"^v must (not )?lie in"):
        frechet_readout(LINES, values, np.array([[0.25, 0.75]]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("angles", [(0.5, 0.5), (math.pi / 4,) * 2, (0.0, 0.5), (0.1, 1.5)])
def test_gradient_at_repeated_principal_angles_is_minus_twice_the_logarithm(
    angles: tuple[float, float], dtype: torch.dtype
) -> None:
    space, generator = Grassmann(4, 2), np.random.default_rng(6)
    g = space.random_isometry(generator)
    x, y = (torch.from_numpy(g @ p @ g.T).to(dtype) for p in planes(*angles))
    x = x.requires_grad_(True)
    for same in (space.distance2, space.distance):
        (gradient,) = torch.autograd.grad(same(x, x.detach().clone()).sum(), x)
        assert bool((gradient == 0).all())
    (gradient,) = torch.autograd.grad(space.distance2(x, y).sum(), x)
    point, v = x.detach(), space.log(x.detach(), y)
    even = (gradient + gradient.mT) / 2
    tangent = point @ even + even @ point - 2 * point @ even @ point
    # <grad, u> = tr(u even) = <2 even, u>, since <u, v> = tr(uv) / 2.
    unit = float(torch.finfo(dtype).eps)
    close(2 * tangent, -2 * v, 16 * rho(space) * unit / np.finfo(float).eps)


def test_gradients_of_log_exp_and_readouts_are_finite_where_angles_repeat() -> None:
    space, (x, y) = Grassmann(4, 2), planes(0.4, 0.4)
    p, q = (torch.from_numpy(a).requires_grad_(True) for a in (x, y))
    w, values = torch.tensor([[0.25, 0.75]], dtype=torch.float64), torch.cat([p, q])
    E = torch.arange(16.0, dtype=torch.float64).reshape(4, 4)
    for readout in (ambient_readout(space, values, w), tangent_readout(space, p, values, w)):
        for gradient in torch.autograd.grad((readout * E).sum(), (p, q)):
            assert bool(torch.isfinite(gradient).all())
            assert bool((gradient != 0).any())


@pytest.mark.slow
def test_gradient_of_log_agrees_with_differences() -> None:
    space, generator = PLANES, np.random.default_rng(7)
    x, y, z = (torch.from_numpy(space.random_points(generator, 1)) for _ in range(3))
    u = space.log(x, z)
    t = torch.zeros(1, 1, 1, dtype=torch.float64, requires_grad=True)

    def curve(s: torch.Tensor) -> torch.Tensor:
        return space.log(space.exp(x, s * u), space.exp(x, (s + 0.5) * u)) + space.log(
            x, space.exp(y, s * space.log(y, x))
        )

    assert torch.autograd.gradcheck(curve, (t,))


def test_gradient_of_the_eigenprojector_agrees_with_differences() -> None:
    space, generator = PLANES, np.random.default_rng(10)
    v, z = (torch.from_numpy(space.random_points(generator, 3)) for _ in range(2))
    u, w = space.log(v, z), torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64)
    t = torch.zeros(3, 1, 1, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: ambient_readout(space, space.exp(v, s * u), w), (t,))


def test_exp_brings_points_within_the_slack_back_to_the_space() -> None:
    x, z = PLANES.random_points(np.random.default_rng(0), 2)[:, None]
    off = x * (1 + PLANES.slack(np.dtype("float64")) / 2)
    assert float(abs(off @ off - off).max()) > 20 * PLANES.n * 2.0**-53
    for v in (np.zeros_like(x), PLANES.log(x, z)):
        y = PLANES.exp(off, v)
        close(y @ y - y, 0.0, 4 * PLANES.n * 2.0**-53)


@pytest.mark.slow
@every
def test_geodesics_close(space: Grassmann) -> None:
    x = space.random_points(np.random.default_rng(8), 1)
    X = np.linalg.eigh(x[0])[1]
    # One angle grows from 0 to pi: the geodesic returns.
    v = np.outer(X[:, 0], X[:, -1])[None]
    v = (v + v.swapaxes(-1, -2)) * math.pi / 100
    at, step = x, v
    for _ in range(100):
        at, step = space.exp(at, step), _carried(space, at, step)
    space.check(at)
    close(at, x, 400 * rho(space))


def _carried(space: Grassmann, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The velocity of a geodesic a step later: -log back to its start, longer than it by none."""
    y = space.exp(x, v)
    return -space.log(y, x)
