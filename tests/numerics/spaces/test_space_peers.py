"""Agreement with geoopt (sphere, hyperbolic space, ball, SPD) and pymanopt (Grassmann, SO(n)).

A peer's arccos or arcosh loses a roundoff divided by its derivative's inverse, sin or sinh, so the
bounds have that factor; points are compared by our distance, within a few resolutions.
"""

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from numerics.spaces import (
    AffineInvariantSPD,
    Grassmann,
    Lorentz,
    Rotations,
    Space,
    Sphere,
    to_ball,
)
from numerics.spaces.lengths import roundoff

# geoopt compiles functions by torch.jit.script, which torch 2.13 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")

U = roundoff("float64")
HOW = "pip install attention-geometry[peers]"


def peer(name: str, require_tool: Callable[..., str]) -> Any:
    """The installed peer; the test is skipped where it is absent."""
    require_tool(name, "it is another implementation of the same spaces", HOW)
    return importlib.import_module(name)


@pytest.fixture
def geoopt(require_tool: Callable[..., str]) -> ModuleType:
    return peer("geoopt", require_tool)


@pytest.fixture
def pymanopt(require_tool: Callable[..., str]) -> Any:
    peer("pymanopt", require_tool)
    return importlib.import_module("pymanopt.manifolds")


def drawn(space: Space, count: int = 12) -> tuple[Any, Any]:
    x, y = (space.random_points(np.random.default_rng(s), count) for s in (3, 4))
    return torch.from_numpy(x), torch.from_numpy(y)


def known(space: Space, *stacks: Any) -> float:
    return max(float(space.resolution(torch, x).max()) for x in stacks)


def agree(ours: Any, theirs: Any, bound: Any, what: str) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert np.isfinite(ours).all()
    assert np.isfinite(theirs).all()
    off = abs(ours - theirs)
    assert (off <= np.asarray(bound)).all(), f"{what}: off by {off.max():.3g}"


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 3, 8])
def test_sphere_agrees_with_geoopt(geoopt: Any, d: int) -> None:
    S, (x, y) = Sphere(d), drawn(Sphere(d))
    theirs = geoopt.Sphere()
    angle = S.distance(x, y)
    agree(angle, theirs.dist(x, y), 8 * d * U / torch.sin(angle), "d")
    bound = 8 * d * U / torch.sin(angle)
    agree(S.log(x, y), theirs.logmap(x, y), 4 * bound[:, None], "log")
    v = S.log(x, y) / 2
    agree(S.exp(x, v), theirs.expmap(x, v), 16 * d * U, "exp")


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 5])
def test_hyperbolic_space_agrees_with_geoopt(geoopt: Any, d: int) -> None:
    H, (x, y) = Lorentz(d), drawn(Lorentz(d))
    theirs = geoopt.Lorentz(k=1.0)
    distance = H.distance(x, y)
    size = (x[:, 0] * y[:, 0])[:, None]
    # Its product is a difference of numbers of this size, and its arcosh divides by sinh.
    bound = 8 * (d + 1) * U * size[:, 0] / torch.sinh(distance)
    agree(distance, theirs.dist(x, y), bound, "d")
    v = H.log(x, y)
    agree(v, theirs.logmap(x, y), 8 * bound[:, None] * size, "log")
    agree(H.inner(x, v, v), theirs.inner(x, v, v), 8 * (d + 1) * U * size[:, 0] ** 2, "inner")
    rho = known(H, x, y)
    half = H.exp(x, v / 2)
    assert float(H.distance(half, lifted(theirs.expmap(x, v / 2))).max()) <= 4 * rho * float(
        torch.cosh(distance).max()
    )


def lifted(x: Any) -> Any:
    """The point over x's space coordinates, since a peer's may be off the sheet."""
    space = x[:, 1:]
    return torch.cat([torch.sqrt(1 + (space * space).sum(1, keepdim=True)), space], dim=1)


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 5])
def test_the_ball_of_geoopt_is_that_of_to_ball(geoopt: Any, d: int) -> None:
    H, (x, y) = Lorentz(d), drawn(Lorentz(d))
    theirs = geoopt.PoincareBall(c=1.0)
    bound = 64 * (d + 1) * U * float((x[:, 0] * y[:, 0]).max())
    agree(H.distance(x, y), theirs.dist(to_ball(x), to_ball(y)), bound, "d in the ball")
    middle = theirs.geodesic(torch.tensor(0.5, dtype=torch.float64), to_ball(x), to_ball(y))
    agree(to_ball(H.exp(x, H.log(x, y) / 2)), middle, bound, "middle in the ball")


@pytest.mark.parametrize("n", [1, 2, 4])
def test_spd_matrices_agree_with_geoopt(geoopt: Any, n: int) -> None:
    P, (x, y) = AffineInvariantSPD(n), drawn(AffineInvariantSPD(n))
    theirs = geoopt.SymmetricPositiveDefinite()
    # geoopt takes roots of matrices: condition numbers enter twice.
    bound = 4 * known(P, x) * float(P.resolution(torch, y).max()) / (8 * n * n * U)
    agree(P.distance(x, y), theirs.dist(x, y), bound, "d")
    v = P.log(x, y)
    largest = float(abs(x).max() + abs(y).max() + abs(v).max())
    agree(v, theirs.logmap(x, y), 4 * bound * largest, "log")
    agree(P.exp(x, v / 2), theirs.expmap(x, v / 2), 4 * bound * largest, "exp")


@pytest.mark.parametrize(("n", "k"), [(3, 1), (4, 2), (6, 2)])
def test_grassmannians_agree_with_pymanopt(pymanopt: Any, n: int, k: int) -> None:
    G = Grassmann(n, k)
    rng = np.random.default_rng(5)
    theirs = pymanopt.Grassmann(n, k)
    for _ in range(6):
        A, B = (np.linalg.qr(rng.normal(size=(n, k)))[0] for _ in range(2))
        P, Q = (A @ A.T)[None], (B @ B.T)[None]
        # Its angles are arccosines of singular values: divide by the least sine.
        cosines = np.linalg.svd(A.T @ B, compute_uv=False)
        bound = 8 * n * n * U / np.sqrt(1 - cosines.max() ** 2)
        agree(G.distance(P, Q)[0], theirs.dist(A, B), bound, "d")
        agree(G.similarity(P, Q)[0], (cosines**2).sum(), 8 * n * n * U, "tr PQ")
        tangent = theirs.log(A, B) / 2
        middle = theirs.exp(A, tangent)
        bound = 16 * n * n * U / (cosines.min() * np.sqrt(1 - cosines.max() ** 2))
        agree(G.exp(P, G.log(P, Q) / 2)[0], middle @ middle.T, bound, "middle")


def test_rotations_agree_with_pymanopt(pymanopt: Any) -> None:
    R, theirs = Rotations(), pymanopt.SpecialOrthogonalGroup(3)
    X, Y = (R.random_points(np.random.default_rng(s), 12) for s in (6, 7))
    angles = R.distance(X, Y)
    for x, y, angle in zip(X, Y, angles, strict=True):
        # Its log is one of matrices: near a half turn two eigenvalues meet at -1. Its metric is
        # tr(u^T v), twice ours.
        bound = 128 * U / np.sin(angle)
        agree(angle * 2**0.5, theirs.dist(x, y), bound, "d")
        skew = theirs.log(x, y)
        agree(R.log(x[None], y[None])[0], x @ skew, bound, "log")
        agree(R.exp(x[None], (x @ skew / 2)[None])[0], theirs.exp(x, skew / 2), bound, "exp")


@pytest.mark.parametrize("factor", [1 + 1e-12, np.nan])
def test_a_peer_that_disagrees_would_be_seen(factor: float) -> None:
    x, y = drawn(Sphere(3))
    angle = Sphere(3).distance(x, y)
    with pytest.raises(AssertionError, match=r"d: off by|isfinite"):
        agree(angle, factor * angle, 8 * 3 * U / torch.sin(angle), "d")
