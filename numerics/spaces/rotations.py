"""Rotations of R^3 with the distance of angles."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import array_api_compat
import numpy as np

from numerics.arrays import Array, refuse
from numerics.rows import transposed, xp_of
from numerics.spaces.groups import check_orthogonal, matrix
from numerics.spaces.inversion import AfterInversion
from numerics.spaces.lengths import dot, norm, per_length, roundoff
from numerics.spaces.space import Space, detached
from numerics.spaces.spectral import singular


class Rotations(Space):
    """SO(3), matrices (3, 3), with <u, v>_x = tr(u^T v) / 2: d(x, y) is the angle of x^T y.

    Tangent vectors at x are x W, W skew. An isometry is an array (2, 3, 3) of rotations g and h,
    x -> g x h^T, or AfterInversion of one. Angles come from quaternions, accurate near 0 and near
    pi; log refuses the angle pi up to 72 roundoffs. At the angle pi, where d^2 has no gradient,
    torch returns a finite one. The ambient readout is the nearest rotation of the mean. radius is
    pi. Source: AP8.
    """

    name = "SO(3)"
    point_shape = (3, 3)
    injectivity = math.pi
    convex_radius = math.pi / 2

    def radius(self, dtype: Any) -> float:
        """pi, the diameter. Raises TypeError for other dtypes."""
        roundoff(dtype)
        return math.pi

    def _check(self, xp: ModuleType, x: Array, name: str) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            defect = abs(transposed(x) @ x - _eye(xp, x))
        refuse(name, defect, ~(defect <= self.slack(x.dtype)), "a rotation: |x^T x - 1| = 0")
        sign = xp.linalg.det(x)[..., None]
        refuse(name, sign, ~(sign > 0), "a rotation: det x = 1")

    def _check_tangent(self, xp: ModuleType, x: Array, v: Array, name: str) -> None:
        even = transposed(x) @ v
        even = abs(even + transposed(even)) / 2
        bound = self.slack(v.dtype) * (1 + norm(xp, dot(xp, v, v, 2)))[..., None, None]
        refuse(name, even, ~(even <= bound), "tangent to SO(3) at x: x^T v skew; its even part")

    def _check_isometry(self, g: Any, x: Array) -> None:
        bare = g.g if isinstance(g, AfterInversion) else g
        matrix("g", bare, x, 2, 3, 3)
        for k in range(2):
            check_orthogonal("g", bare[k], x, 3)
        self._check(xp_of(bare), detached(bare), "g")

    def _inner(self, xp: ModuleType, x: Array, u: Array, v: Array) -> Array:
        return dot(xp, u, v, 2) / 2

    def _distance2(self, xp: ModuleType, x: Array, y: Array) -> Array:
        cosine, axis = _half_turn(xp, x, y)
        square = dot(xp, axis, axis)
        return 4 * square * per_length(xp, square, lambda t: xp.atan2(t, abs(cosine))) ** 2

    def _exp(self, xp: ModuleType, x: Array, v: Array) -> Array:
        turn = transposed(x) @ v
        turn = (turn - transposed(turn)) / 2
        square = dot(xp, turn, turn, 2)[..., None, None] / 2
        # Rodrigues: 1 + sin(t)/t W + (1 - cos t)/t^2 W^2, with 1 - cos t = 2 sin^2(t/2).
        second = per_length(xp, square / 4, xp.sin) ** 2 / 2
        y = x + x @ (per_length(xp, square, xp.sin) * turn + second * (turn @ turn))
        # A step of Newton's for the polar factor: rounding does not add up along many steps.
        return y @ (3 * _eye(xp, y) - transposed(y) @ y) / 2

    def _log(self, xp: ModuleType, x: Array, y: Array) -> Array:
        cosine, axis = _half_turn(xp, x, y)
        sign = xp.where(cosine < 0, -xp.ones_like(cosine), xp.ones_like(cosine))
        ratio = per_length(xp, dot(xp, axis, axis), lambda t: xp.atan2(t, abs(cosine)))
        return x @ _cross(xp, (2 * sign * ratio)[..., None] * axis)

    def _cut(self, xp: ModuleType, x: Array, y: Array) -> Array:
        cosine, _ = _half_turn(xp, x, y)
        return abs(cosine) <= 36 * roundoff(x.dtype)

    def _similarity(self, xp: ModuleType, x: Array, y: Array) -> Array:
        """tr x^T y."""
        return dot(xp, x, y, 2)

    def _ambient(self, xp: ModuleType, v: Array, w: Array) -> Array:
        """The rotation nearest to the mean, whose singular values s1 >= s2 >= |s3| it needs.

        With s3 of the sign of the determinant it is unique if and only if s2 + s3 > 0.
        """
        mean = xp.reshape(w @ xp.reshape(v, (-1, 9)), (-1, 3, 3))
        found = detached(mean)
        values = xp.linalg.svdvals(found)
        gap = values[..., 1] + xp.sign(xp.linalg.det(found)) * values[..., 2]
        within = 8 * (9 + v.shape[0]) * roundoff(v.dtype)
        must = "of a mean with one nearest rotation: the sum of its last two singular values"
        refuse("v", gap, ~(gap > within), f"{must} positive, up to rounding")
        return singular(mean, xp.ones_like, lambda a, b: xp.zeros_like(a + b), oriented=True)

    def _act(self, xp: ModuleType, g: Any, x: Array) -> Array:
        if isinstance(g, AfterInversion):
            g, x = g.g, transposed(x)
        return g[0] @ x @ g[1].T

    def _push(self, xp: ModuleType, g: Any, x: Array, v: Array) -> Array:
        return self._act(xp, g, v)

    def _random_points(self, generator: np.random.Generator, count: int) -> np.ndarray:
        q = generator.normal(size=(count, 4))
        q = q / np.sqrt((q * q).sum(axis=-1, keepdims=True))
        turn = _cross(xp_of(q), q[:, 1:])
        return np.eye(3) + 2 * (q[:, :1, None] * turn + turn @ turn)

    def _random_isometry(self, generator: np.random.Generator) -> np.ndarray:
        return self._random_points(generator, 2)


def _eye(xp: ModuleType, x: Array) -> Array:
    return xp.eye(3, dtype=x.dtype, device=array_api_compat.device(x))


def _cross(xp: ModuleType, axis: Array) -> Array:
    """The skew matrices W with W u = axis x u."""
    a, b, c = (axis[..., k] for k in range(3))
    zero = xp.zeros_like(a)
    rows = [[zero, -c, b], [c, zero, -a], [-b, a, zero]]
    return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)


def _half_turn(xp: ModuleType, x: Array, y: Array) -> tuple[Array, Array]:
    """The unit quaternion (cos(t/2), sin(t/2) axis) of x^T y, of either sign.

    4 q q^T is linear in x^T y. Its row of the largest diagonal entry, which is at least 1, gives q
    without cancellation; the skew part of x^T y is that of x^T (y - x), exactly 0 at y = x.
    """
    turn, small = transposed(x) @ y, transposed(x) @ (y - x)
    trace = (turn[..., 0, 0] + turn[..., 1, 1] + turn[..., 2, 2])[..., None, None]
    skew = small - transposed(small)
    axis = xp.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)[..., None]
    block = turn + transposed(turn) + (1 - trace) * _eye(xp, x)
    upper = xp.concat([1 + trace, transposed(axis)], axis=-1)
    square = xp.concat([upper, xp.concat([axis, block], axis=-1)], axis=-2)
    diagonal = xp.linalg.diagonal(square)
    place = xp.argmax(detached(diagonal), axis=-1)[..., None]
    chosen = xp.arange(4, device=array_api_compat.device(x)) == place
    row = xp.sum(xp.where(chosen[..., None], square, xp.zeros_like(square)), axis=-2)
    largest = xp.sum(xp.where(chosen, diagonal, xp.zeros_like(diagonal)), axis=-1)
    q = row / (2 * xp.sqrt(largest))[..., None]
    return q[..., 0], q[..., 1:]
