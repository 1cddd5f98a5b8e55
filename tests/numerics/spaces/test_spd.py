"""Symmetric positive definite matrices: exact values, gradients, refusals, supported radius."""

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import torch

from numerics.spaces.inversion import AfterInversion
from numerics.spaces.readouts import (
    ambient_readout,
    frechet_readout,
    product_weights,
    tangent_readout,
)
from numerics.spaces.spd import AffineInvariantSPD, LogEuclideanSPD, PositiveDefinite
from numerics.spaces.spectral import symmetric

SPACES: list[PositiveDefinite] = [AffineInvariantSPD(3), LogEuclideanSPD(3)]
every = pytest.mark.parametrize("space", SPACES, ids=[s.kind for s in SPACES])
ONE = np.eye(2)[None]
B = np.diag([1.0, 16.0])[None]
SHEAR = np.array([[1.0, 1.0], [0.0, 1.0]])
HALVES = np.array([[0.5, 0.5]])


def known(space: PositiveDefinite, *stacks: Any) -> float:
    """The coarsest resolution of the points."""
    return max(float(space.resolution(space._shaped(x=x), x).max()) for x in stacks)


def close(found: Any, exact: Any, bound: float) -> None:
    """Finite first, then entry by entry within the bound."""
    found, exact = np.asarray(found), np.asarray(exact)
    assert np.isfinite(found).all()
    assert float(abs(found - exact).max()) <= bound


def digits(x: np.ndarray, of: Callable[[Any], Any]) -> Any:
    """A function of a symmetric matrix of floats at 60 digits, by its eigenvectors."""
    values, basis = mpmath.eigsy(mpmath.matrix(x.tolist()))
    return basis * mpmath.diag([of(value) for value in values]) * basis.T


def exact_distance(kind: str, x: np.ndarray, y: np.ndarray) -> float:
    with mpmath.workdps(60):
        if kind == "log-Euclidean":
            gap = digits(y, mpmath.log) - digits(x, mpmath.log)
            return float(mpmath.sqrt(sum(entry**2 for entry in gap)))
        root = digits(x, lambda value: 1 / mpmath.sqrt(value))
        values, _ = mpmath.eigsy(root * mpmath.matrix(y.tolist()) * root)
        return float(mpmath.sqrt(sum(mpmath.log(value) ** 2 for value in values)))


@every
def test_distance_agrees_with_sixty_digits(space: PositiveDefinite) -> None:
    generator = np.random.default_rng(3)
    x, y = space.random_points(generator, 6), space.random_points(generator, 6)
    exact = [exact_distance(space.kind, a, b) for a, b in zip(x, y, strict=True)]
    close(space.distance(x, y), exact, known(space, x, y))
    other = LogEuclideanSPD(3) if space.kind == "affine-invariant" else AffineInvariantSPD(3)
    assert float(abs(other.distance(x, y) - exact).min()) > 100 * known(space, x, y)


def test_distance_is_that_of_the_logarithms_of_the_relative_eigenvalues() -> None:
    space, g = AffineInvariantSPD(3), np.array([[1.0, 2, 0], [0, 1, -1], [1, 0, 1]])
    x, y = (g @ g.T)[None], (g @ np.diag([0.5, 1.0, 8.0]) @ g.T)[None]
    exact = math.log(2) * math.sqrt(1 + 9)
    close(space.distance(x, y), exact, known(space, x, y))


@pytest.mark.parametrize("space", [AffineInvariantSPD(1), LogEuclideanSPD(1)])
def test_positive_numbers_have_the_distance_of_their_logarithms(space: PositiveDefinite) -> None:
    x, y = np.array([[[0.5]]]), np.array([[[8.0]]])
    close(space.distance(x, y), math.log(16), known(space, x, y))
    close(space.exp(x, space.log(x, y)), y, 8 * known(space, x, y))
    close(frechet_readout(space, np.concatenate([x, y]), HALVES), 2.0, 16 * known(space, x, y))


@every
def test_inversion_is_an_isometry(space: PositiveDefinite) -> None:
    generator = np.random.default_rng(4)
    x, y = space.random_points(generator, 5), space.random_points(generator, 5)
    g = AfterInversion(space.random_isometry(generator))
    X, Y, u = space.act(g, x), space.act(g, y), space.log(x, y)
    bound = 8 * known(space, x, y, X, Y)
    close(space.distance(X, Y), space.distance(x, y), bound)
    close(space.distance(space.exp(X, space.push(g, x, u)), Y), 0.0, bound)
    U = space.push(g, x, u)
    close(space.inner(X, U, U), space.inner(x, u, u), bound * float(1 + space.inner(x, u, u).max()))
    # A differential without the minus sign keeps lengths, and reaches another point.
    assert float(space.distance(space.exp(X, -U), Y).min()) > 1e6 * bound


def test_log_euclidean_mean_does_not_commute_with_a_shear_and_affine_invariant_does() -> None:
    values = np.concatenate([ONE, B])
    images = SHEAR @ values @ SHEAR.T
    traces = {}
    for space in (LogEuclideanSPD(2), AffineInvariantSPD(2)):
        mean = frechet_readout(space, values, HALVES)
        close(mean, np.diag([1.0, 4.0]), 64 * known(space, values))
        close(np.trace((SHEAR @ mean @ SHEAR.T)[0]), 9.0, 256 * known(space, values, images))
        traces[space.kind] = float(np.trace(frechet_readout(space, images, HALVES)[0]))
    with mpmath.workdps(60):
        logs = (digits(images[0], mpmath.log) + digits(images[1], mpmath.log)) / 2
        exact = float(sum(mpmath.exp(value) for value in mpmath.eigsy(logs)[0]))
    assert f"{exact:.3f}" == "9.394"
    rho = 64 * known(LogEuclideanSPD(2), images)
    close(traces["log-Euclidean"], exact, rho)
    close(traces["affine-invariant"], 9.0, rho)


def test_shear_is_refused_as_an_isometry_of_the_log_euclidean_metric() -> None:
    space = LogEuclideanSPD(2)
    for g in (SHEAR, AfterInversion(SHEAR), np.zeros((2, 2))):
        with pytest.raises(
            ValueError, match=r"^g must be sqrt.*no other congruence is an isometry"
        ):
            space.act(g, ONE)
    close(space.act(3 * np.eye(2), ONE), 9 * ONE, 0.0)


@pytest.mark.parametrize("space", [AffineInvariantSPD(2), LogEuclideanSPD(2)])
def test_positive_definite_matrices_have_no_similarity(space: PositiveDefinite) -> None:
    with pytest.raises(TypeError, match=r"has no similarity: tr\(AB\) changes under"):
        space.similarity(ONE, B)
    with pytest.raises(TypeError, match=r"has no similarity: tr\(AB\) changes under"):
        product_weights(space, ONE, B, 1.0)


def test_trace_of_the_product_takes_three_to_twelve() -> None:
    a, b = np.eye(2), np.diag([1.0, 2.0])
    assert np.trace(a @ b) == 3
    assert np.trace((SHEAR @ a @ SHEAR.T) @ (SHEAR @ b @ SHEAR.T)) == 12


def test_arithmetic_mean_commutes_with_congruence_and_not_with_inversion() -> None:
    for space in (AffineInvariantSPD(2), LogEuclideanSPD(2)):
        values = np.concatenate([ONE, 3 * ONE])
        mean = ambient_readout(space, values, HALVES)
        assert (mean == 2 * ONE).all()
        sheared = ambient_readout(space, SHEAR @ values @ SHEAR.T, HALVES)
        assert (sheared == SHEAR @ mean @ SHEAR.T).all()
        inverse = ambient_readout(space, np.linalg.inv(values), HALVES)
        close(inverse, 2 * ONE / 3, known(space, values))
        assert (np.linalg.inv(mean) == ONE / 2).all()


def repeated(dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.diag(torch.tensor([1.0, 1.0, 2.0, 3.0], dtype=dtype))[None]


def test_eigenvectors_would_make_the_gradient_at_repeated_eigenvalues_nan() -> None:
    x = repeated().requires_grad_(True)
    values, basis = torch.linalg.eigh(x)
    log = (basis * values.log()[..., None, :]) @ basis.mT
    # The weights are those of no symmetric function: they see the eigenvectors.
    (gradient,) = torch.autograd.grad((log * torch.arange(16.0).reshape(4, 4)).sum(), x)
    assert not bool(torch.isfinite(gradient).all())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("space", [AffineInvariantSPD(4), LogEuclideanSPD(4)])
def test_gradients_at_repeated_eigenvalues_are_finite_and_zero_at_identical_points(
    space: PositiveDefinite, dtype: torch.dtype
) -> None:
    x, y = repeated(dtype).requires_grad_(True), repeated(dtype).requires_grad_(True)
    for of in (space.distance2, space.distance):
        for gradient in torch.autograd.grad(of(x, y).sum(), (x, y)):
            assert bool((gradient == 0).all())
    values, w = torch.cat([y, 2 * y]), torch.full((1, 2), 0.5, dtype=dtype)
    readout = tangent_readout(space, x, values, w).square().sum()
    at_query, at_value = torch.autograd.grad(readout, (x, y))
    assert bool(torch.isfinite(at_query).all())
    assert bool(torch.isfinite(at_value).all())
    # d |c|^2 = 2 <c, dc> with c = sqrt(2) y is 4 <y, dy>, whatever the metric.
    close(at_value, 4 * values[:1].detach(), 256 * known(space, y.detach()))


@pytest.mark.parametrize("space", [AffineInvariantSPD(4), LogEuclideanSPD(4)])
@pytest.mark.parametrize("size", [1.01, 3.0], ids=["near", "far"])
def test_gradient_of_squared_distance_is_minus_twice_the_logarithm(
    space: PositiveDefinite, size: float
) -> None:
    x = (size * torch.eye(4, dtype=torch.float64))[None].requires_grad_(True)
    y = repeated() * torch.tensor([1.0, 1.0, 0.9, 0.8]).sqrt().outer(torch.ones(4)).double()
    y = (y + y.mT) / 2
    (gradient,) = torch.autograd.grad(space.distance2(x, y).sum(), x)
    # At multiples of the identity both metrics are <u, v> / size^2, and d log = 1 / size.
    exact = -2 * torch.diag_embed((y.diagonal(dim1=-2, dim2=-1) / size).log()) / size
    close(gradient, exact, 64 * known(space, x.detach(), y))


@every
@pytest.mark.parametrize("length", [1e-9, 1e-4])
def test_near_points_keep_the_digits_of_their_difference(
    space: PositiveDefinite, length: float
) -> None:
    x = np.eye(3)[None] * 2.0
    y = x.copy()
    y[0, 0, 1] = y[0, 1, 0] = length
    # log(I + E/2) for E with eigenvalues +-length: exact to second order in it, E is stored.
    exact = math.atanh(length / 2) * math.sqrt(2)
    relative = known(space, x) if space.kind == "affine-invariant" else known(space, x) / length
    close(space.distance(x, y) / exact, 1.0, relative + length**2)


@every
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_half_of_the_digits_remain_at_the_radius_and_it_is_refused_beyond(
    space: PositiveDefinite, dtype: str
) -> None:
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    r, one = space.radius(np.dtype(dtype)), np.eye(3, dtype=dtype)[None]
    v = (turn @ np.diag([1.0, 0, -1]) @ turn.T / math.sqrt(2))[None].astype(dtype)
    v = (v + v.swapaxes(-1, -2)) / 2
    far, back = space.exp(one, 0.99 * r * v), space.exp(one, -0.99 * r * v)
    half = math.sqrt(float(np.finfo(dtype).eps))
    close(space.distance(one, far), 0.99 * r, half * r)
    close(space.distance(far, back), 1.98 * r, 2 * half * r)
    with pytest.raises(ValueError, match=r"^v must be of length.* at most \d"):
        space.exp(one, 1.01 * r * v)
    with pytest.raises(ValueError, match=r"^x must be within radius\(float"):
        space.check(one * np.asarray(math.exp(1.01 * r / math.sqrt(3)), dtype))


@every
def test_half_of_the_digits_remain_between_far_points_of_any_frames(
    space: PositiveDefinite,
) -> None:
    generator, r = np.random.default_rng(9), 0.99 * space.radius(np.dtype("float64"))
    one, half = np.eye(3)[None], math.sqrt(np.finfo(float).eps)
    # The directions in which condition numbers grow fastest.
    widest = np.diag([r, 0, -r]) / math.sqrt(2)
    for _ in range(6):
        turns = (np.linalg.qr(generator.normal(size=(3, 3)))[0] for _ in range(2))
        x, y = (space.exp(one, symmetric("v", (t @ widest @ t.T)[None])) for t in turns)
        exact = exact_distance(space.kind, x[0], y[0])
        rho, u = known(space, x, y), space.log(x, y)
        assert rho <= 100 * half
        close(space.distance(x, y), exact, rho)
        close(space.inner(x, u, u) ** 0.5, exact, rho)


def test_unit_determinant_of_size_two_is_the_hyperbolic_plane_of_curvature_minus_one_half() -> None:
    space, t = AffineInvariantSPD(2), 1.5
    x = space.exp(ONE, t * np.array([[[1.0, 0.0], [0.0, -1.0]]]) / math.sqrt(2))
    y = space.exp(ONE, t * np.array([[[0.0, 1.0], [1.0, 0.0]]]) / math.sqrt(2))
    k = math.sqrt(-space.lowest_curvature)
    # The right-angled triangle: cosh(k d) = cosh(k t)^2.
    close(space.distance(x, y), math.acosh(math.cosh(k * t) ** 2) / k, 2 * known(space, x, y))
    assert k == math.sqrt(0.5)
    assert AffineInvariantSPD(1).lowest_curvature == LogEuclideanSPD(2).lowest_curvature == 0


@every
def test_one_ulp_of_asymmetry_is_accepted_and_order_one_refused(space: PositiveDefinite) -> None:
    x = space.random_points(np.random.default_rng(6), 1)
    x[0, 0, 1] = np.nextafter(x[0, 1, 0], 9)
    assert (x != x.swapaxes(-1, -2)).any()
    space.check(x)
    x[0, 0, 1] += 0.5
    with pytest.raises(ValueError, match=r"^x must be symmetric, as .* has it, got"):
        space.check(x)


@every
@pytest.mark.parametrize("bad", [np.diag([1.0, 1, 0]), np.diag([1.0, 1, -1e-3]), -np.eye(3)])
def test_matrices_that_are_not_positive_definite_are_refused_by_name(
    space: PositiveDefinite, bad: np.ndarray
) -> None:
    with pytest.raises(ValueError, match=r"^y must be positive definite"):
        space.distance2(np.eye(3)[None], bad[None])
