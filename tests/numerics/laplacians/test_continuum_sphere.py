"""Attention on the sphere's tangent bundle against quadrature and the theorem of Gauss-Bonnet."""

import math

import numpy as np
import pytest
from scipy.special import eval_jacobi, roots_legendre

from numerics.evidence.rates import Rate
from numerics.laplacians import continuum
from numerics.laplacians.continuum import (
    halvings,
    sphere_eigenvalue,
    sphere_spectrum,
    sphere_tokens,
    sphere_transports,
)
from numerics.rounding.roundoff import gamma
from numerics.walks import Walk, softmax_walk

U = 2.0**-53


@pytest.mark.parametrize("spin", [0, 1, 2])
@pytest.mark.parametrize("eps", halvings(0.08, 6))
def test_degrees_of_the_sphere_agree_with_quadrature(spin: int, eps: float) -> None:
    m, reach = 64, min(2.0, 60 * eps)  # beyond 60 eps the weight is below rounding
    nodes, measure = roots_legendre(m)
    height = 1 - reach * (1 + nodes) / 2
    mass = measure * np.exp((height - 1) / eps)
    for l in range(max(spin, 1), 5):
        wigner = ((1 + height) / 2) ** spin * eval_jacobi(l - spin, 0, 2 * spin, height)
        value, bound = sphere_eigenvalue(l, eps, spin)
        quadrature = 2 * np.sum(mass * (1 - wigner)) / np.sum(mass) / eps
        # Nodes are off by a few units, and move the exponent by up to 60 as much.
        assert abs(value - quadrature) <= bound + 2 / eps * (gamma(4 * m, U) + 16 * 60 * U)


def test_the_first_degrees_of_vector_fields_are_polynomials_in_eps() -> None:
    for eps in halvings(0.04, 4):  # up to 1/eps e^{-2/eps}, less than rounding
        for l, polynomial in ((1, 1.0), (2, 5 - 4 * eps), (3, 11 - 25 * eps + 22.5 * eps**2)):
            value, bound = sphere_eigenvalue(l, eps)
            assert abs(value - polynomial) <= bound + 32 * U * polynomial, (l, eps)


@pytest.mark.parametrize("spin", [0, 2])
def test_functions_and_twice_the_rotation_have_other_limits(spin: int) -> None:
    epsilons = halvings(0.08, 7)
    for l in (2, 3):
        values = tuple(sphere_eigenvalue(l, eps, spin)[0] for eps in epsilons)
        assert not Rate("vector fields", l * (l + 1) - 1, epsilons, values).ok
        assert Rate("spin", l * (l + 1) - spin**2, epsilons, values).ok


def cluster_rate(first: int, last: int, target: float) -> Rate:
    """The eigenvalue of a cluster at 900 tokens that is farthest from the target."""
    epsilons = halvings(0.16, 4)
    clusters = [sphere_spectrum(900, eps)[first:last] for eps in epsilons]
    farthest = tuple(float(max(part, key=lambda value: abs(value - target))) for part in clusters)
    return Rate("cluster", target, epsilons, farthest)


def test_eigenvalues_of_the_walk_come_in_clusters_of_6_10_and_14() -> None:
    eps = 0.08
    spectrum = sphere_spectrum(500, eps, 31)
    sizes = np.diff(np.flatnonzero(np.diff(spectrum, prepend=-1.0) > 0.5))
    assert list(sizes) == [6, 10, 14]
    for l, first, last in ((1, 0, 6), (2, 6, 16), (3, 16, 30)):
        cluster = spectrum[first:last]
        # Finitely many tokens break the symmetry and split the cluster.
        assert np.max(np.abs(cluster - sphere_eigenvalue(l, eps)[0])) < 0.05


def test_the_spectrum_is_that_of_the_walk_itself() -> None:
    n, eps = 30, 0.1
    points, frames = sphere_tokens(n)
    walk = Walk(softmax_walk((points @ points.T - 1) / eps), sphere_transports(points, frames))
    root = np.sqrt(np.diag(walk.weights))
    assert np.max(root) > 1.005 * np.min(root)  # row sums differ, so the block is not symmetric
    expected = np.sort(2 * np.real(np.linalg.eigvals(walk.generator())) / eps)[:20]
    condition = np.max(root) / np.min(root)
    bound = 2 / eps * 64 * 2 * n * U * condition / (1 + np.min(points @ points.T))
    assert np.max(np.abs(sphere_spectrum(n, eps, 20) - expected)) <= bound


@pytest.mark.slow
def test_a_wrong_multiplicity_has_another_limit() -> None:
    assert cluster_rate(6, 16, 5.0).ok
    assert not cluster_rate(5, 16, 5.0).ok
    assert not cluster_rate(6, 17, 5.0).ok


def projected(points: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """A vector's tangent part: off from parallel transport in the second order."""
    return np.einsum("iap,jaq->ijpq", frames, frames)


@pytest.mark.slow
def test_projecting_vectors_instead_of_transporting_them_adds_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(continuum, "sphere_transports", projected)
    spectrum = sphere_spectrum(500, 0.04)
    assert np.max(np.abs(spectrum[:6] - 2)) < 0.2
    assert not cluster_rate(6, 16, 5.0).ok


def opposite(points: np.ndarray, frames: np.ndarray) -> np.ndarray:
    return np.swapaxes(sphere_transports(points, frames), 2, 3)


def untransported(points: np.ndarray, frames: np.ndarray) -> np.ndarray:
    return np.tile(np.eye(2), (len(points), len(points), 1, 1))


@pytest.mark.slow
def test_components_carried_over_without_transport_have_the_limits_of_functions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(continuum, "sphere_transports", untransported)
    assert not cluster_rate(6, 16, 5.0).ok
    assert cluster_rate(8, 18, 6.0).ok
    # Turning all rotations round only reflects the frames: no eigenvalue sees it.
    monkeypatch.setattr(continuum, "sphere_transports", opposite)
    assert cluster_rate(6, 16, 5.0).ok


def test_transports_are_isometries_whose_holonomy_is_the_area() -> None:
    points, frames = sphere_tokens(40)
    transports = sphere_transports(points, frames)
    # Division by 1 + <x, y> magnifies rounding near antipodes.
    bound = 64 * U / (1 + np.min(points @ points.T)) ** 2
    back = np.swapaxes(np.swapaxes(transports, 0, 1), 2, 3)
    assert np.max(np.abs(transports - back)) <= bound
    assert np.max(np.abs(transports @ np.swapaxes(transports, 2, 3) - np.eye(2))) <= bound
    for i, j, k in ((0, 5, 13), (3, 20, 22), (8, 9, 30)):
        a, b, c = points[[i, j, k]]
        volume, scale = np.linalg.det([a, b, c]), 1 + a @ b + b @ c + c @ a
        area = 2 * math.atan2(volume, scale)
        around = transports[i, j] @ transports[j, k] @ transports[k, i]
        turn = [[math.cos(area), math.sin(area)], [-math.sin(area), math.cos(area)]]
        assert np.max(np.abs(around - turn)) <= 8 * bound, f"area {area}, holonomy {around}"
