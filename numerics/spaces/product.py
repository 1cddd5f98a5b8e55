"""Products of spaces: points side by side, squared distances added."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from types import ModuleType
from typing import Any

import array_api_compat
import numpy as np

from numerics.arrays import Array
from numerics.spaces.space import Space


class Product(Space):
    """The product of two or more spaces; a point (s,) is its factors' entries one after another.

    An isometry is a tuple of the factors' isometries. Each factor is held to its own radius, and
    radius is the least of them, as are injectivity and convex_radius. Raises TypeError, ValueError
    for fewer than two factors. Source: AP8.
    """

    def __init__(self, *factors: Space) -> None:
        for factor in factors:
            if not isinstance(factor, Space):
                raise TypeError(f"factors must be Spaces, got {type(factor).__name__}")
        if len(factors) < 2:
            raise ValueError(f"factors must be two or more, got {len(factors)}")
        self.factors = factors
        self.ends = np.cumsum([0, *(factor.size for factor in factors)])
        self.point_shape = (int(self.ends[-1]),)
        self.name = " x ".join(factor.name for factor in factors)
        self.injectivity = min(factor.injectivity for factor in factors)
        self.convex_radius = min(factor.convex_radius for factor in factors)
        self.lowest_curvature = min(factor.lowest_curvature for factor in factors)

    def split(self, x: Array) -> list[Array]:
        """The factors' points (..., *factor.point_shape) of x (..., s).

        Raises TypeError, ValueError by name for other shapes and entries that are not finite.
        """
        self._shaped(x=x)
        return self._parts(x)

    def join(self, *points: Array) -> Array:
        """Points (..., s) from one stack of points of each factor, of equal batch axes.

        Raises like the methods of Space, ValueError for another number of points.
        """
        if len(points) != len(self.factors):
            raise ValueError(f"points must be {len(self.factors)} stacks, got {len(points)}")
        batches = set()
        for i, (factor, x) in enumerate(zip(self.factors, points, strict=True)):
            factor.check(x, f"points[{i}]")
            batches.add(tuple(x.shape[: x.ndim - len(factor.point_shape)]))
        if len(batches) > 1:
            raise ValueError(f"points must have equal batch axes, got {sorted(batches)}")
        return self._joined(array_api_compat.array_namespace(*points), points)

    def radius(self, dtype: Any) -> float:
        """The least radius of the factors. Raises TypeError for other dtypes."""
        return min(factor.radius(dtype) for factor in self.factors)

    def _parts(self, x: Array) -> list[Array]:
        return [
            x[..., int(a) : int(b)].reshape(*x.shape[:-1], *factor.point_shape)
            for factor, a, b in zip(self.factors, self.ends[:-1], self.ends[1:], strict=True)
        ]

    def _joined(self, xp: ModuleType, parts: Any) -> Array:
        flat = [
            part.reshape(*part.shape[: part.ndim - len(factor.point_shape)], factor.size)
            for factor, part in zip(self.factors, parts, strict=True)
        ]
        return xp.concat(flat, axis=-1)

    def _each(self, method: Callable[[Space], Callable[..., Any]], *arrays: Array) -> list[Any]:
        """A method of each factor on its parts of the arrays; the first argument is not split."""
        xp, *stacks = arrays
        parts = zip(*(self._parts(stack) for stack in stacks), strict=True)
        return [method(factor)(xp, *part) for factor, part in zip(self.factors, parts, strict=True)]

    def _check(self, xp: ModuleType, x: Array, name: str) -> None:
        for i, (factor, part) in enumerate(zip(self.factors, self._parts(x), strict=True)):
            factor._check(xp, part, f"{name}[{i}]")

    def _check_tangent(self, xp: ModuleType, x: Array, v: Array, name: str) -> None:
        pairs = zip(self.factors, self._parts(x), self._parts(v), strict=True)
        for i, (factor, point, vector) in enumerate(pairs):
            factor._check_tangent(xp, point, vector, f"{name}[{i}]")

    def _check_isometry(self, g: Any, x: Array) -> None:
        if not isinstance(g, tuple) or len(g) != len(self.factors):
            raise TypeError(
                f"g must be a tuple of {len(self.factors)} isometries, got {type(g).__name__}"
            )
        for factor, part, point in zip(self.factors, g, self._parts(x), strict=True):
            factor._check_isometry(part, point)

    def _inner(self, xp: ModuleType, x: Array, u: Array, v: Array) -> Array:
        return sum(self._each(lambda factor: factor._inner, xp, x, u, v))

    def _distance2(self, xp: ModuleType, x: Array, y: Array) -> Array:
        return sum(self._each(lambda factor: factor._distance2, xp, x, y))

    def _exp(self, xp: ModuleType, x: Array, v: Array) -> Array:
        return self._joined(xp, self._each(lambda factor: factor._exp, xp, x, v))

    def _log(self, xp: ModuleType, x: Array, y: Array) -> Array:
        return self._joined(xp, self._each(lambda factor: factor._log, xp, x, y))

    def _cut(self, xp: ModuleType, x: Array, y: Array) -> Array | None:
        cuts = [cut for cut in self._each(lambda f: f._cut, xp, x, y) if cut is not None]
        return reduce(lambda a, b: a | b, cuts) if cuts else None

    def _outside(self, xp: ModuleType, x: Array, y: Array) -> Array:
        return reduce(lambda a, b: a | b, self._each(lambda f: f._outside, xp, x, y))

    def _similarity(self, xp: ModuleType, x: Array, y: Array) -> Array:
        return sum(self._each(lambda factor: factor._similarity, xp, x, y))

    def _ambient(self, xp: ModuleType, v: Array, w: Array) -> Array:
        pairs = zip(self.factors, self._parts(v), strict=True)
        return self._joined(xp, [factor._ambient(xp, part, w) for factor, part in pairs])

    def _act(self, xp: ModuleType, g: Any, x: Array) -> Array:
        triples = zip(self.factors, g, self._parts(x), strict=True)
        return self._joined(xp, [factor._act(xp, h, part) for factor, h, part in triples])

    def _push(self, xp: ModuleType, g: Any, x: Array, v: Array) -> Array:
        parts = zip(self.factors, g, self._parts(x), self._parts(v), strict=True)
        return self._joined(xp, [factor._push(xp, h, y, u) for factor, h, y, u in parts])

    def _stretch(self, xp: ModuleType, x: Array) -> Array | None:
        found = [s for s in self._each(lambda f: f._stretch, xp, x) if s is not None]
        return reduce(xp.maximum, found, xp.ones_like(found[0])) if found else None

    def _refuse_far(self, xp: ModuleType, x: Array, name: str) -> None:
        for i, (factor, part) in enumerate(zip(self.factors, self._parts(x), strict=True)):
            factor._refuse_far(xp, part, f"{name}[{i}]")

    def _refuse_reach(self, xp: ModuleType, x: Array, v: Array, name: str = "v") -> None:
        pairs = zip(self.factors, self._parts(x), self._parts(v), strict=True)
        for i, (factor, point, vector) in enumerate(pairs):
            factor._refuse_reach(xp, point, vector, f"{name}[{i}]")

    def _random_points(self, generator: np.random.Generator, count: int) -> np.ndarray:
        points = [factor.random_points(generator, count) for factor in self.factors]
        return self._joined(array_api_compat.array_namespace(*points), points)

    def _random_isometry(self, generator: np.random.Generator) -> tuple[Any, ...]:
        return tuple(factor.random_isometry(generator) for factor in self.factors)
