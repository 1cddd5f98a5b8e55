"""The unit sphere S^(d-1) in R^d, with the distance of arcs."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np

from numerics.arrays import Array, refuse
from numerics.inputs import integer
from numerics.spaces.groups import check_orthogonal, random_orthogonal
from numerics.spaces.lengths import dot, norm, per_length, roundoff
from numerics.spaces.space import Space, detached


class Sphere(Space):
    """Unit vectors of R^d, d >= 2; isometries are orthogonal matrices (d, d).

    Distances come from the chords |x - y| and |x + y|, accurate near 0 and near pi; log refuses
    y = -x up to 8 d roundoffs. radius is pi in both dtypes. At y = -x, where d^2 has no gradient,
    torch returns 0. Raises TypeError, ValueError for d < 2. Source: AP8.
    """

    injectivity = math.pi
    convex_radius = math.pi / 2

    def __init__(self, d: int) -> None:
        self.point_shape = (integer("d", d, 2),)
        self.name = f"the sphere in R^{d}"

    def radius(self, dtype: Any) -> float:
        """pi, the diameter. Raises TypeError for other dtypes."""
        roundoff(dtype)
        return math.pi

    def _check(self, xp: ModuleType, x: Array, name: str) -> None:
        with np.errstate(over="ignore"):
            square = dot(xp, x, x)
        refuse(
            name, square, ~(abs(square - 1) <= self.slack(x.dtype)), f"on {self.name}: |x|^2 = 1"
        )

    def _check_tangent(self, xp: ModuleType, x: Array, v: Array, name: str) -> None:
        along = dot(xp, x, v)
        bound = self.slack(v.dtype) * (1 + norm(xp, dot(xp, v, v)))
        refuse(name, along, ~(abs(along) <= bound), f"tangent to {self.name} at x: <x, v> = 0")

    def _check_isometry(self, g: Any, x: Array) -> None:
        check_orthogonal("g", g, x, self.size)

    def _inner(self, xp: ModuleType, x: Array, u: Array, v: Array) -> Array:
        return dot(xp, u, v)

    def _distance2(self, xp: ModuleType, x: Array, y: Array) -> Array:
        chord = dot(xp, x - y, x - y)
        across = norm(xp, dot(xp, x + y, x + y))
        return chord * per_length(xp, chord, lambda t: 2 * xp.atan2(t, across)) ** 2

    def _exp(self, xp: ModuleType, x: Array, v: Array) -> Array:
        square = dot(xp, v, v)[..., None]
        y = xp.cos(norm(xp, square)) * x + per_length(xp, square, xp.sin) * v
        return y / norm(xp, dot(xp, y, y))[..., None]

    def _log(self, xp: ModuleType, x: Array, y: Array) -> Array:
        near, far = y - x, x + y
        chord, across = dot(xp, near, near)[..., None], dot(xp, far, far)[..., None]
        # y - cos(theta) x, from the smaller of the two differences, whose rounding is smaller.
        shorter = xp.where(chord <= across, near, far)
        direction = shorter - x * dot(xp, x, shorter)[..., None]
        sine = norm(xp, dot(xp, direction, direction))[..., None]
        zero = sine == 0
        angle = 2 * xp.atan2(norm(xp, chord), norm(xp, across))
        return direction * xp.where(zero, xp.ones_like(sine), angle / xp.where(zero, 1.0, sine))

    def _cut(self, xp: ModuleType, x: Array, y: Array) -> Array:
        across = norm(xp, dot(xp, x + y, x + y))
        return across <= 8 * self.size * roundoff(x.dtype)

    def _similarity(self, xp: ModuleType, x: Array, y: Array) -> Array:
        return dot(xp, x, y)

    def _ambient(self, xp: ModuleType, v: Array, w: Array) -> Array:
        mean = w @ v
        size = norm(xp, dot(xp, mean, mean))
        within = 8 * (self.size + v.shape[0]) * roundoff(v.dtype)
        must = "of a mean other than 0, up to rounding"
        refuse("v", detached(size), ~(detached(size) > within), must)
        return mean / size[..., None]

    def _act(self, xp: ModuleType, g: Any, x: Array) -> Array:
        return x @ g.T

    def _push(self, xp: ModuleType, g: Any, x: Array, v: Array) -> Array:
        return v @ g.T

    def _random_points(self, generator: np.random.Generator, count: int) -> np.ndarray:
        x = generator.normal(size=(count, self.size))
        return x / np.sqrt((x * x).sum(-1, keepdims=True))

    def _random_isometry(self, generator: np.random.Generator) -> np.ndarray:
        return random_orthogonal(generator, self.size)
