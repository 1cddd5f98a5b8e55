"""The laws of every space; a new space is one more row of SPACES.

Bounds are multiples of `space.resolution`: the distance within which a point is known. A law moves
points a few times, so it holds within a few of them; GROWTH says by how much negative curvature
spreads them further along a geodesic.
"""

import math
from typing import Any

import array_api_compat
import numpy as np
import pytest
import torch

from numerics.evidence.rates import Rate
from numerics.spaces import (
    AffineInvariantSPD,
    AfterInversion,
    Euclidean,
    Grassmann,
    LogEuclideanSPD,
    Lorentz,
    Product,
    Rotations,
    Space,
    Sphere,
    Torus,
    ambient_readout,
    frechet_readout,
    heat_weights,
    product_weights,
    tangent_readout,
)

SPACES: dict[str, Space] = {
    "circle": Sphere(2),
    "sphere": Sphere(3),
    "sphere-5": Sphere(6),
    "hyperbolic-1": Lorentz(1),
    "hyperbolic": Lorentz(2),
    "hyperbolic-5": Lorentz(5),
    "torus-1": Torus(1),
    "torus": Torus(3),
    "flat": Euclidean(3),
    "spd-1": AffineInvariantSPD(1),
    "spd": AffineInvariantSPD(3),
    "log-euclidean": LogEuclideanSPD(3),
    "projective": Grassmann(3, 1),
    "grassmann": Grassmann(5, 2),
    "rotations": Rotations(),
    "product": Product(Sphere(3), Lorentz(2), Torus(1)),
    "product-of-matrices": Product(AffineInvariantSPD(2), Rotations()),
}
KINDS = ("numpy-float64", "numpy-float32", "torch-float64", "torch-float32")
WITHOUT_PRODUCT = ("flat", "spd-1", "spd", "log-euclidean", "product-of-matrices")
pytestmark = pytest.mark.slow
every = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES.keys())
kinds = pytest.mark.parametrize("kind", KINDS)


def cast(kind: str, value: Any) -> Any:
    """A point or an isometry in the kind and dtype of the test."""
    if isinstance(value, tuple):
        return tuple(cast(kind, part) for part in value)
    if isinstance(value, AfterInversion):
        return AfterInversion(cast(kind, value.g))
    library, dtype = kind.split("-")
    array = value.astype(dtype)
    return torch.from_numpy(array.copy()) if library == "torch" else array


def drawn(space: Space, kind: str, *counts: int, spread: float = math.inf) -> list[Any]:
    """Stacks of points of the kind, at distances of at most spread from one of them."""
    generator = np.random.default_rng(sum(counts))
    base = space.random_points(generator, 1)
    stacks = []
    for count in counts:
        x = space.random_points(generator, count)
        around = np.broadcast_to(base, x.shape)
        v = space.log(around, x)
        size = np.sqrt(space.inner(around, v, v)).reshape(-1, *[1] * len(space.point_shape))
        x = space.exp(around, v * np.minimum(1, spread / size))
        stacks.append(cast(kind, x))
    return stacks


def isometry(space: Space, kind: str) -> Any:
    return cast(kind, space.random_isometry(np.random.default_rng(11)))


def known(space: Space, *stacks: Any) -> float:
    """The coarsest resolution of the points."""
    return max(
        float(space.resolution(array_api_compat.array_namespace(x), x).max()) for x in stacks
    )


def growth(space: Space, *distances: Any) -> float:
    """cosh(sqrt(-K) d): the most that a geodesic spreads its neighbours."""
    farthest = max(float(abs(d).max()) for d in distances)
    return math.cosh(math.sqrt(-space.lowest_curvature) * farthest)


def within(found: Any, exact: Any, bound: float, law: str) -> None:
    """Finite first, then |found - exact| <= bound."""
    found, exact = (np.asarray(a.tolist() if hasattr(a, "tolist") else a) for a in (found, exact))
    assert np.isfinite(found).all(), law
    assert np.isfinite(exact).all(), law
    worst = float(abs(found - exact).max())
    assert worst <= bound, f"{law}: off by {worst:.3g}, bound {bound:.3g}"


def weights(kind: str, n: int, m: int) -> Any:
    w = np.random.default_rng(n + m).dirichlet(np.ones(m), size=n)
    w = cast(kind, w)
    return w / w.sum(1)[:, None]


def safe_spread(space: Space) -> float:
    """Half the radius in which a mean is unique; 1 where it always is."""
    return min(1.0, space.convex_radius / 2)


@every
@kinds
def test_exp_and_log_are_inverse(space: Space, kind: str) -> None:
    x, y = drawn(space, kind, 8, 8)
    d, bound = space.distance(x, y), 2 * known(space, x, y)
    image = space.exp(x, space.log(x, y))
    assert type(image) is type(x)
    assert image.dtype == x.dtype
    within(space.distance(image, y), 0 * d, growth(space, d) * bound, "exp_x log_x y = y")


@every
@kinds
def test_length_of_log_is_the_distance(space: Space, kind: str) -> None:
    x, y = drawn(space, kind, 8, 8)
    v, d = space.log(x, y), space.distance(x, y)
    bound = 2 * known(space, x, y) * growth(space, d)
    within(space.inner(x, v, v) ** 0.5, d, bound, "|log_x y| = d(x, y)")
    within(space.distance(x, space.exp(x, v / 2)), d / 2, bound, "d(x, exp_x v) = |v|")


@every
@kinds
def test_distance_is_a_metric(space: Space, kind: str) -> None:
    x, y, z = drawn(space, kind, 8, 8, 8)
    xy, yz, xz = space.distance(x, y), space.distance(y, z), space.distance(x, z)
    bound = known(space, x, y, z)
    within(space.distance(y, x), xy, bound, "d(y, x) = d(x, y)")
    assert bool((xy > 0).all())
    assert bool((space.distance2(x, x) == 0).all())
    assert bool((xz <= xy + yz + 3 * bound).all()), "d(x, z) <= d(x, y) + d(y, z)"


@every
@kinds
def test_isometries_keep_distances_geodesics_and_products(space: Space, kind: str) -> None:
    x, y, z = drawn(space, kind, 8, 8, 8)
    g = isometry(space, kind)
    X, Y = space.act(g, x), space.act(g, y)
    d = space.distance(x, y)
    bound = 2 * known(space, x, y, X, Y) * growth(space, d)
    within(space.distance(X, Y), d, bound, "d(gx, gy) = d(x, y)")
    u, v = space.log(x, y) / 2, space.log(x, z) / 2
    U, V = space.push(g, x, u), space.push(g, x, v)
    lengths = float((1 + space.inner(x, u, u) + space.inner(x, v, v)).max())
    within(space.inner(X, U, V), space.inner(x, u, v), bound * lengths, "<gu, gv> = <u, v>")
    moved = space.distance(space.act(g, space.exp(x, u)), space.exp(X, U))
    within(moved, 0 * moved, 2 * bound, "g exp_x u = exp_gx gu")


@every
@kinds
def test_heat_weights_are_invariant(space: Space, kind: str) -> None:
    q, k = drawn(space, kind, 5, 7)
    g, tau = isometry(space, kind), 0.5
    Q, K = space.act(g, q), space.act(g, k)
    w = heat_weights(space, q, k, tau)
    far = 2 * float(space.distance(q, k[:5]).max()) + 2
    rho = known(space, q, k, Q, K)
    # Scores move by at most 2 d rho / (2 tau), and weights by the relative expm1 of twice that.
    bound = math.expm1(2 * far * rho / tau) + rho
    within(heat_weights(space, Q, K, tau), w, bound, "softmax(-d^2(gq, gk) / 2 tau) is invariant")
    within(w.sum(1), np.ones(5), 16 * known(space, q), "weights sum to 1")


@pytest.mark.parametrize("space", [s for n, s in SPACES.items() if n not in WITHOUT_PRODUCT])
@kinds
def test_product_weights_are_invariant(space: Space, kind: str) -> None:
    q, k = drawn(space, kind, 5, 7)
    g, tau = isometry(space, kind), 0.5
    Q, K = space.act(g, q), space.act(g, k)
    size = float(abs(space.similarity(q, k[:5])).max()) + 1
    rho = known(space, q, k, Q, K)
    bound = math.expm1(4 * size * rho / tau) + rho
    found = product_weights(space, Q, K, tau)
    within(found, product_weights(space, q, k, tau), bound, "softmax(<gq, gk> / tau) is invariant")


@every
@kinds
def test_readouts_are_equivariant(space: Space, kind: str) -> None:
    spread = safe_spread(space)
    q, v = drawn(space, kind, 5, 7, spread=spread)
    g, w = isometry(space, kind), weights(kind, 5, 7)
    Q, V = space.act(g, q), space.act(g, v)
    rho = known(space, q, v, Q, V) * growth(space, np.array(2 * spread))
    pairs = {
        "tangent": (tangent_readout(space, q, v, w), tangent_readout(space, Q, V, w)),
        "Frechet": (frechet_readout(space, v, w), frechet_readout(space, V, w)),
        "ambient": (ambient_readout(space, v, w), ambient_readout(space, V, w)),
    }
    for name, (here, there) in pairs.items():
        space.check(here, name)
        apart = space.distance(space.act(g, here), there)
        # Frechet means stop within 8 resolutions, each; the Hessian is at least s cot s >= 2/3.
        within(apart, 0 * apart, 32 * rho, f"the {name} readout commutes with isometries")


@every
@kinds
def test_frechet_mean_minimises_and_does_not_depend_on_the_order(space: Space, kind: str) -> None:
    (v,) = drawn(space, kind, 6, spread=safe_spread(space))
    w, rho = weights(kind, 1, 6), known(space, v)
    c = frechet_readout(space, v, w)
    xp = array_api_compat.array_namespace(v)
    back = frechet_readout(space, xp.flip(v, axis=(0,)), xp.flip(w, axis=(1,)))
    within(space.distance(c, back), 0.0, 32 * rho, "the mean does not depend on the order")

    def cost(at: Any) -> float:
        at = xp.broadcast_to(at, v.shape)
        return float((w[0] * space.distance2(at, v)).sum())

    for j in range(6):
        other = space.exp(c, space.log(c, v[j : j + 1]) / 8)
        assert cost(other) >= cost(c) - 32 * rho**2 - 4 * rho * cost(c), "the mean minimises"


@every
def test_flat_limit_is_attention_by_squared_distance(space: Space) -> None:
    x, a, b = drawn(space, "numpy-float64", 1, 4, 5, spread=1.0)
    at = [np.broadcast_to(x, points.shape) for points in (a, b)]
    u, v = space.log(at[0], a), space.log(at[1], b)
    pairs = (4, 5, *space.point_shape)
    around, rows, columns = (np.broadcast_to(p, pairs) for p in (x, u[:, None], v))
    # <u, v> - |v|^2/2: |u|^2 is common to a row.
    flat = np.exp(space.inner(around, rows, columns) - space.inner(around, columns, columns) / 2)
    limit = flat / flat.sum(1)[:, None]
    epsilons = tuple(2.0**-i for i in range(3, 9))
    errors = []
    for eps in epsilons:
        w = heat_weights(space, space.exp(at[0], eps * u), space.exp(at[1], eps * v), eps**2)
        errors.append(float(abs(w - limit).max()))
    # Known to rho, distances of size eps give scores with an error of 4 rho / eps.
    rounding = math.expm1(8 * known(space, x) / epsilons[-1])
    rate = Rate("weights", 0.0, epsilons, tuple(errors), 2.0, rounding)
    assert rate.ok, rate.explain()


@every
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gradient_at_identical_points_is_zero(space: Space, dtype: str) -> None:
    (x,) = drawn(space, f"torch-{dtype}", 5)
    at = x.clone().requires_grad_(True)
    (gradient,) = torch.autograd.grad(space.distance2(at, x).sum(), at)
    assert bool((gradient == 0).all()), "the gradient at y = x is 0"


@every
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gradient_of_half_the_squared_distance_is_minus_log(space: Space, dtype: str) -> None:
    x, y, z = drawn(space, f"torch-{dtype}", 5, 5, 5)
    u, v = space.log(x, z), space.log(x, y)
    t = torch.zeros(5, *[1] * len(space.point_shape), dtype=x.dtype, requires_grad=True)
    half = space.distance2(space.exp(x, t * u), y).sum() / 2
    (slope,) = torch.autograd.grad(half, t)
    lengths = 1 + float((space.inner(x, u, u) + space.inner(x, v, v)).max())
    d = space.distance(x, y)
    bound = 8 * known(space, x, y, z) * lengths * growth(space, d)
    within(slope.reshape(-1), -space.inner(x, u, v), bound, "d/dt d^2/2 (exp_x tu, y) = -<u, log>")


@pytest.mark.parametrize("space", [s for s in SPACES.values() if math.isfinite(s.convex_radius)])
def test_means_are_unique_in_half_the_injectivity_radius(space: Space) -> None:
    """At most: else two values would have two means (Afsari 2011)."""
    assert 0 < space.convex_radius <= space.injectivity / 2 < math.inf, "the radius of uniqueness"


@pytest.mark.parametrize("space", [s for s in SPACES.values() if math.isinf(s.convex_radius)])
@kinds
def test_where_means_are_always_unique_squared_distance_is_convex(space: Space, kind: str) -> None:
    x, y, z = drawn(space, kind, 8, 8, 8)
    middle = space.exp(x, space.log(x, y) / 2)
    lower = (space.distance2(x, z) + space.distance2(y, z)) / 2 - space.distance2(x, y) / 4
    d = space.distance(middle, z)
    bound = 8 * known(space, x, y, z) * growth(space, d) * float(1 + d.max())
    assert bool((d**2 <= lower + bound).all()), "d^2(middle, z) <= means - d^2(x, y)/4"
