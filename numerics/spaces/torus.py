"""The flat torus: d angles, each on a circle of circumference 2 pi."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np

from numerics.arrays import Array, refuse
from numerics.inputs import integer
from numerics.spaces.euclidean import check_motion
from numerics.spaces.lengths import dot, norm, roundoff
from numerics.spaces.space import Space, detached

_TURN = 2 * math.pi


class Torus(Space):
    """Angles x (d,) in [-pi, pi], d >= 1, both ends the same point.

    An isometry is the array (d + 1, d) of the transpose of a signed permutation matrix above a
    shift. log refuses a difference of half a turn in any angle up to 16 roundoffs; there, where
    d^2 has no gradient, torch returns that of one of its sides. radius is pi sqrt(d), the
    diameter. A Frechet mean is unique where in each angle all values are within pi/2 of it.
    Raises TypeError, ValueError for d < 1. Source: AP8.
    """

    injectivity = math.pi
    convex_radius = math.pi / 2

    def __init__(self, d: int) -> None:
        self.point_shape = (integer("d", d, 1),)
        self.name = f"the torus of {d} angles"

    def radius(self, dtype: Any) -> float:
        """pi sqrt(d), the diameter. Raises TypeError for other dtypes."""
        roundoff(dtype)
        return math.pi * self.size**0.5

    def _check(self, xp: ModuleType, x: Array, name: str) -> None:
        bad = ~(abs(x) <= math.pi * (1 + self.slack(x.dtype)))
        refuse(name, x, bad, f"in [-pi, pi] in {self.name}")

    def _check_isometry(self, g: Any, x: Array) -> None:
        check_motion(g, x, self.size)
        turn = detached(g)[:-1]
        refuse("g", turn, (turn != 0) & (abs(turn) != 1), "a permutation of angles with signs")

    def _inner(self, xp: ModuleType, x: Array, u: Array, v: Array) -> Array:
        return dot(xp, u, v)

    def _distance2(self, xp: ModuleType, x: Array, y: Array) -> Array:
        arcs = self._log(xp, x, y)
        return dot(xp, arcs, arcs)

    def _exp(self, xp: ModuleType, x: Array, v: Array) -> Array:
        return _wrapped(xp, x + v)

    def _log(self, xp: ModuleType, x: Array, y: Array) -> Array:
        return _wrapped(xp, y - x)

    def _cut(self, xp: ModuleType, x: Array, y: Array) -> Array:
        arcs = abs(self._log(xp, x, y))
        return xp.any(arcs >= math.pi - 16 * roundoff(x.dtype), axis=-1)

    def _outside(self, xp: ModuleType, x: Array, y: Array) -> Array:
        limit = self.convex_radius - self.resolution(xp, y)[..., None]
        return xp.any(~(abs(self._log(xp, x, y)) < limit), axis=-1)

    def _similarity(self, xp: ModuleType, x: Array, y: Array) -> Array:
        return xp.sum(xp.cos(x - y), axis=-1)

    def _ambient(self, xp: ModuleType, v: Array, w: Array) -> Array:
        height, width = w @ xp.sin(v), w @ xp.cos(v)
        size = detached(norm(xp, height**2 + width**2))
        within = 8 * (2 + v.shape[0]) * roundoff(v.dtype)
        refuse("v", size, ~(size > within), "of circular means other than 0, up to rounding")
        return xp.atan2(height, width)

    def _act(self, xp: ModuleType, g: Any, x: Array) -> Array:
        return _wrapped(xp, x @ g[:-1] + g[-1])

    def _push(self, xp: ModuleType, g: Any, x: Array, v: Array) -> Array:
        return v @ g[:-1]

    def _random_points(self, generator: np.random.Generator, count: int) -> np.ndarray:
        return generator.uniform(-math.pi, math.pi, size=(count, self.size))

    def _random_isometry(self, generator: np.random.Generator) -> np.ndarray:
        turn = np.eye(self.size)[generator.permutation(self.size)]
        signs = generator.choice([-1.0, 1.0], size=self.size)
        shift = generator.uniform(-math.pi, math.pi, size=(1, self.size))
        return np.concatenate([turn * signs, shift])


def _wrapped(xp: ModuleType, x: Array) -> Array:
    """x less whole turns, in [-pi, pi]; the turns are constants to torch."""
    return x - _TURN * xp.round(detached(x) / _TURN)
