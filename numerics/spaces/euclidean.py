"""Flat space R^d: the reference, where heat weights are tied dot-product attention."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from numerics.arrays import Array
from numerics.inputs import integer
from numerics.spaces.groups import check_orthogonal, matrix, random_orthogonal
from numerics.spaces.lengths import dot, norm, roundoff
from numerics.spaces.space import Space


class Euclidean(Space):
    """R^d, d >= 1; an isometry x -> R x + t is the array (d + 1, d) of R^T above t.

    radius is 1e150 in float64 and 1e18 in float32, so that squares do not overflow. Raises
    TypeError, ValueError for d < 1. Source: AP8.
    """

    without_similarity = "the product <q, k> changes under translations"

    def __init__(self, d: int) -> None:
        self.point_shape = (integer("d", d, 1),)
        self.name = f"R^{d}"

    def radius(self, dtype: Any) -> float:
        """1e150 in float64, 1e18 in float32. Raises TypeError for other dtypes."""
        return 1e150 if roundoff(dtype) < 2.0**-50 else 1e18

    def _depth(self, xp: ModuleType, x: Array) -> Array:
        return norm(xp, dot(xp, x, x))

    def _stretch(self, xp: ModuleType, x: Array) -> Array:
        return norm(xp, dot(xp, x, x))

    def _check(self, xp: ModuleType, x: Array, name: str) -> None:
        """Every finite x is a point."""

    def _check_isometry(self, g: Any, x: Array) -> None:
        check_motion(g, x, self.size)

    def _inner(self, xp: ModuleType, x: Array, u: Array, v: Array) -> Array:
        return dot(xp, u, v)

    def _distance2(self, xp: ModuleType, x: Array, y: Array) -> Array:
        return dot(xp, x - y, x - y)

    def _exp(self, xp: ModuleType, x: Array, v: Array) -> Array:
        return x + v

    def _log(self, xp: ModuleType, x: Array, y: Array) -> Array:
        return y - x

    def _ambient(self, xp: ModuleType, v: Array, w: Array) -> Array:
        return w @ v

    def _act(self, xp: ModuleType, g: Any, x: Array) -> Array:
        return x @ g[:-1] + g[-1]

    def _push(self, xp: ModuleType, g: Any, x: Array, v: Array) -> Array:
        return v @ g[:-1]

    def _random_points(self, generator: np.random.Generator, count: int) -> np.ndarray:
        return generator.normal(size=(count, self.size))

    def _random_isometry(self, generator: np.random.Generator) -> np.ndarray:
        shift = generator.normal(size=(1, self.size))
        return np.concatenate([random_orthogonal(generator, self.size), shift])


def check_motion(g: Any, x: Array, size: int) -> None:
    """TypeError or ValueError unless g (size + 1, size) is an orthogonal matrix above a shift."""
    matrix("g", g, x, size + 1, size)
    check_orthogonal("g", g[:-1], x, size)
