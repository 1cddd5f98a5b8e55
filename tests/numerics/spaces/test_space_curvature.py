"""Curvature, read off distances: how fast geodesics from one point spread.

d^2(exp_x(eps u), exp_x(eps v)) = eps^2 |u - v|^2 - K eps^4 |u ^ v|^2 / 3 + O(eps^6) where the
sectional curvature K is constant and the space symmetric. Christoffel symbols of the same three
geometries, in coordinates: test_connections.py.
"""

from typing import Any

import numpy as np
import pytest

from numerics.evidence.rates import Rate
from numerics.spaces import Euclidean, Lorentz, Space, Sphere, Torus

CURVED = {
    "sphere": (Sphere(3), 1.0),
    "sphere-5": (Sphere(6), 1.0),
    "hyperbolic": (Lorentz(2), -1.0),
    "hyperbolic-4": (Lorentz(4), -1.0),
    "torus": (Torus(2), 0.0),
    "flat": (Euclidean(3), 0.0),
}
EPSILONS = tuple(0.5 / 2**i for i in range(6))


def spread(space: Space) -> tuple[list[float], float]:
    """Measured curvatures at each eps, and a bound on the rounding error of the last."""
    x = space.random_points(np.random.default_rng(4), 1)
    u, v = (space.log(x, space.random_points(np.random.default_rng(s), 1)) for s in (5, 6))
    u, v = (w / space.inner(x, w, w)[:, None] ** 0.5 for w in (u, v))
    product = float(space.inner(x, u, v)[0])
    area = 1 - product**2

    def measured(eps: float) -> Any:
        d = space.distance2(space.exp(x, eps * u), space.exp(x, eps * v))[0]
        return 3 * (2 - 2 * product - d / eps**2) / (eps**2 * area)

    error = 8 * float(space.resolution(np, x)[0]) / EPSILONS[-1]
    return [float(measured(eps)) for eps in EPSILONS], 3 * error / (EPSILONS[-1] ** 2 * area)


def rate(space: Space, curvature: float) -> Rate:
    values, rounding = spread(space)
    return Rate("K", curvature, EPSILONS, tuple(values), 2.0, min(rounding, 2e-5))


@pytest.mark.parametrize("name", CURVED)
def test_curvature_is_plus_one_zero_or_minus_one(name: str) -> None:
    measured = rate(*CURVED[name])
    assert measured.ok, measured.explain()
    if name in ("torus", "flat"):
        assert measured.attained, measured.explain()


@pytest.mark.slow
@pytest.mark.parametrize("name", CURVED)
@pytest.mark.parametrize("wrong", [-2.0, -0.5, 0.5, 2.0])
def test_another_curvature_would_be_seen(name: str, wrong: float) -> None:
    measured = rate(CURVED[name][0], CURVED[name][1] + wrong)
    assert not measured.ok, measured.explain()
