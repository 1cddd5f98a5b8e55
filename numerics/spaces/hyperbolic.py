"""Hyperbolic space of curvature -1 in the Lorentz model, and its Poincare ball."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import array_api_compat
import numpy as np

from numerics.arrays import Array, finite, namespace, refuse
from numerics.inputs import integer
from numerics.spaces.groups import matrix, random_orthogonal
from numerics.spaces.lengths import dot, norm, per_length, roundoff
from numerics.spaces.space import Space, detached


class Lorentz(Space):
    """Points x (d + 1,) with x_0 > 0 and -x_0^2 + x_1^2 + ... + x_d^2 = -1; base point (1, 0..0).

    Isometries are Lorentz matrices (d + 1, d + 1) that keep x_0 > 0. Coordinates grow like e^r at
    distance r, and rounding one moves the point by up to u cosh(r): radius is asinh(u^(-1/2)),
    19.06 in float64 and 9.01 in float32, where that is u^(1/2). Raises TypeError, ValueError for
    d < 1. Source: AP8.
    """

    lowest_curvature = -1.0

    def __init__(self, d: int) -> None:
        self.point_shape = (integer("d", d, 1) + 1,)
        self.name = f"hyperbolic space of dimension {d}"

    def radius(self, dtype: Any) -> float:
        """asinh(u^(-1/2)) for the unit roundoff u. Raises TypeError for other dtypes."""
        return math.asinh(roundoff(dtype) ** -0.5)

    def _depth(self, xp: ModuleType, x: Array) -> Array:
        return xp.asinh(norm(xp, dot(xp, x[..., 1:], x[..., 1:])))

    def _stretch(self, xp: ModuleType, x: Array) -> Array:
        return abs(x[..., 0])

    def _check(self, xp: ModuleType, x: Array, name: str) -> None:
        self._refuse_far(xp, x, name)
        height = xp.sqrt(1 + dot(xp, x[..., 1:], x[..., 1:]))
        bad = ~(abs(x[..., 0] - height) <= self.slack(x.dtype) * height)
        refuse(name, x[..., 0], bad, f"on {self.name}: x_0 = (1 + x_1^2 + ...)^(1/2)")

    def _check_tangent(self, xp: ModuleType, x: Array, v: Array, name: str) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            product = dot(xp, x[..., 1:], v[..., 1:]) - x[..., 0] * v[..., 0]
            bound = self.slack(v.dtype) * (xp.sum(abs(x * v), axis=-1) + x[..., 0] ** 2)
        bad = ~(abs(product) <= bound)
        refuse(name, product, bad, f"tangent to {self.name} at x: -x_0 v_0 + x_1 v_1 + ... = 0")

    def _check_isometry(self, g: Any, x: Array) -> None:
        matrix("g", g, x, self.size, self.size)
        g = detached(g)
        xp = array_api_compat.array_namespace(g)
        sign = _signs(xp, g)
        with np.errstate(over="ignore", invalid="ignore"):
            defect = abs((g * sign) @ g.T - _diagonal(xp, sign))
            bound = self.slack(g.dtype) * (abs(g) @ abs(g).T)
        refuse("g", defect, ~(defect <= bound), "a Lorentz matrix: |g J g^T - J| at most rounding")
        refuse("g", g[0, 0], ~(g[0, 0] > 0), "a Lorentz matrix that keeps x_0 > 0: g_00 > 0")

    def _inner(self, xp: ModuleType, x: Array, u: Array, v: Array) -> Array:
        return dot(xp, _at_base(xp, x, u), _at_base(xp, x, v))

    def _distance2(self, xp: ModuleType, x: Array, y: Array) -> Array:
        square = _chord2(xp, x, y)
        return square * per_length(xp, square, lambda t: 2 * xp.asinh(t / 2)) ** 2

    def _exp(self, xp: ModuleType, x: Array, v: Array) -> Array:
        # Through the base point: v there has a length that fits its entries, which far out the
        # Lorentz product of v has not.
        w, space = _at_base(xp, x, v), x[..., 1:]
        square = dot(xp, w, w)[..., None]
        w = per_length(xp, square, xp.sinh) * w
        along = dot(xp, space, w)[..., None] / (1 + x[..., :1])
        return _on_sheet(xp, w + space * (xp.cosh(norm(xp, square)) + along))

    def _log(self, xp: ModuleType, x: Array, y: Array) -> Array:
        square = _chord2(xp, x, y)[..., None]
        # r / sinh(r) for the chord t = 2 sinh(r/2): sinh(r) = t (1 + t^2/4)^(1/2).
        ratio = per_length(xp, square, lambda t: 2 * xp.asinh(t / 2)) / xp.sqrt(1 + square / 4)
        direction = (y - x)[..., 1:] - x[..., 1:] * (square / 2)
        return _tangent(xp, x, ratio * direction)

    def _similarity(self, xp: ModuleType, x: Array, y: Array) -> Array:
        return -1 - _chord2(xp, x, y) / 2

    def _ambient(self, xp: ModuleType, v: Array, w: Array) -> Array:
        # -<z, z> of the mean z is 1 + half the mean of chords^2: no difference of squares.
        square = 1 + dot(xp, w @ _chord2(xp, v[:, None], v[None]), w) / 2
        return _on_sheet(xp, (w @ v[:, 1:]) / xp.sqrt(square)[:, None])

    def _act(self, xp: ModuleType, g: Any, x: Array) -> Array:
        return _on_sheet(xp, (x @ g.T)[..., 1:])

    def _push(self, xp: ModuleType, g: Any, x: Array, v: Array) -> Array:
        return _tangent(xp, self._act(xp, g, x), (v @ g.T)[..., 1:])

    def _random_points(self, generator: np.random.Generator, count: int) -> np.ndarray:
        return _on_sheet(np, generator.normal(size=(count, self.size - 1)))

    def _random_isometry(self, generator: np.random.Generator) -> np.ndarray:
        rotation = np.eye(self.size)
        rotation[1:, 1:] = random_orthogonal(generator, self.size - 1)
        return boost(_on_sheet(np, generator.normal(size=self.size - 1) / 2)) @ rotation


def boost(x: np.ndarray) -> np.ndarray:
    """The Lorentz boost (d + 1, d + 1) that takes the base point to x (d + 1,), without rotation.

    Raises like the methods of Space, ValueError for a stack of points. Source: AP8.
    """
    if getattr(x, "ndim", 1) != 1:
        raise ValueError(f"x must be one point, of shape (d + 1,), got {tuple(x.shape)}")
    xp = namespace(x=x)
    Lorentz(max(x.shape[0] - 1, 1)).check(x)
    space = x[1:]
    rest = xp.eye(x.shape[0] - 1, dtype=x.dtype) + space[:, None] * space[None] / (1 + x[0])
    return xp.concat([x[None], xp.concat([space[:, None], rest], axis=1)], axis=0)


def to_ball(x: Array) -> Array:
    """Points (..., d) of the Poincare ball from points x (..., d + 1) of the Lorentz model.

    Raises like the methods of Space. Source: AP8.
    """
    _any_dimension(x, "x", 2).check(x)
    return x[..., 1:] / (1 + x[..., :1])


def from_ball(b: Array) -> Array:
    """Points (..., d + 1) of the Lorentz model from points b (..., d) of the Poincare ball.

    Raises TypeError, ValueError by name, ValueError for |b| beyond tanh(radius/2), which is
    1 - 1.1e-8 in float64 and 1 - 2.4e-4 in float32. Source: AP8.
    """
    space = _any_dimension(b, "b", 1)
    finite(b=b)
    xp = array_api_compat.array_namespace(b)
    with np.errstate(over="ignore"):
        square = dot(xp, b, b)
    limit = math.tanh(space.radius(b.dtype) / 2)
    message = f"within the ball of radius {limit:.17g}; its |b|^2"
    refuse("b", square, ~(square <= limit**2), message)
    return _on_sheet(xp, 2 * b / (1 - square)[..., None])


def _any_dimension(x: Array, name: str, least: int) -> Lorentz:
    namespace(**{name: x})
    if x.ndim < 1 or x.shape[-1] < least:
        raise ValueError(f"{name} must have a trailing axis of {least} or more, got {x.shape}")
    return Lorentz(x.shape[-1] + 1 - least)


def _diagonal(xp: ModuleType, entries: Array) -> Array:
    places = xp.arange(entries.shape[0], device=array_api_compat.device(entries))
    return xp.where(places[:, None] == places[None], entries[None], 0.0)


def _signs(xp: ModuleType, like: Array) -> Array:
    """Diagonal of J: (-1, 1, ..., 1)."""
    return xp.concat([-xp.ones_like(like[:1, 0]), xp.ones_like(like[1:, 0])])


def _on_sheet(xp: ModuleType, space: Array) -> Array:
    """The points with these space coordinates."""
    height = xp.sqrt(1 + dot(xp, space, space))
    return xp.concat([height[..., None], space], axis=-1)


def _tangent(xp: ModuleType, x: Array, space: Array) -> Array:
    """The tangent vectors at x with these space coordinates."""
    height = dot(xp, x[..., 1:], space) / x[..., 0]
    return xp.concat([height[..., None], space], axis=-1)


def _at_base(xp: ModuleType, x: Array, v: Array) -> Array:
    """Space coordinates of v, tangent at x, after the boost that takes x to the base point.

    Their plain product is the Lorentz product, which itself would be a difference of squares.
    """
    height, space = x[..., :1], x[..., 1:]
    return v[..., 1:] - space * (dot(xp, space, v[..., 1:])[..., None] / (height * (1 + height)))


def _chord2(xp: ModuleType, x: Array, y: Array) -> Array:
    """<x - y, x - y> = 4 sinh^2(d/2), as (1 + x_0)(1 + y_0) times the squared chord in the ball.

    (1 + y_0) x - (1 + x_0) y, from the difference x - y and the lower of the points, whose
    multiples cancel least: d loses no more than u cosh(r) of itself, r the lower distance from
    the base point.
    """
    s, p = x[..., 1:] - y[..., 1:], x[..., 1:] + y[..., 1:]
    rise = dot(xp, s, p)[..., None] / (x[..., :1] + y[..., :1])  # x_0 - y_0
    lower = xp.where(x[..., :1] <= y[..., :1], x, y)
    chord = s * (1 + lower[..., :1]) - lower[..., 1:] * rise
    return dot(xp, chord, chord) / ((1 + x[..., 0]) * (1 + y[..., 0]))
