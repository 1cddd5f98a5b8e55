"""Metrics G = diag(D) + U U^T of low rank r, applied and inverted in O(d r), never formed.

The textbook form D^-1 - D^-1 U (I + U^T D^-1 U)^-1 U^T D^-1 subtracts nearly equal vectors where U
is large beside D, and can then return a negative v^T G^-1 v. Here x = G^-1 v and w = U^T x solve
the pair D x + U w = v, U^T x - w = 0, by a QR factorisation of [D^-1/2 U; I] in float64 and one
step of refinement. Whatever the pair's residuals p = v - D x - U w and q = U^T x - w, its error
(e, f) satisfies |e|_D^2 + |f|^2 <= |p|_{D^-1}^2 + |q|^2 (RA6, residuals): a bound at every solve.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import array_api_compat

from numerics.arrays import Array, dtype_name, finite, namespace, positive, shape
from numerics.rounding.roundoff import gamma, units
from numerics.rows import (
    WIDE,
    as_rows,
    block_length,
    blocked_product,
    restored,
    transposed,
    wide,
    working,
    xp_of,
)


class NoDigits(ArithmeticError):
    """Rounding may have destroyed every digit of the result, so none is returned."""


@dataclass(frozen=True)
class Frame:
    """E = (I + V K V^T) D^1/2 with E^T E = G: root (..., d), basis (..., d, r), stretch (..., r).

    V K V^T = basis diag(h^2 / (1 + h)) basis^T, h = stretch. Source: RA10.
    """

    root: Array
    basis: Array
    stretch: Array

    def apply(self, x: Array) -> Array:
        """E x for x (..., d), or (n, d) and (n, m, d) of a batch; raises like LowRankMetric."""
        rows = as_rows("x", x, self.root)
        h = self.stretch[..., None, :]
        scaled = self.root[..., None, :] * rows
        moved = (scaled @ self.basis) * (h * h / (1 + h))
        return restored(x, scaled + moved @ transposed(self.basis))

    def solve(self, y: Array) -> Array:
        """E^-1 y for y (..., d), or (n, d) and (n, m, d) of a batch; raises like LowRankMetric."""
        rows = as_rows("y", y, self.root)
        h = self.stretch[..., None, :]
        moved = (rows @ self.basis) * (h / (1 + h))
        return restored(y, (rows - moved @ transposed(self.basis)) / self.root[..., None, :])


@dataclass(frozen=True)
class Pair:
    """x = G^-1 v (..., d) and w = U^T x (..., r) in float64, and error (...) with
    |x - exact|_D^2 + |w - exact|^2 <= error^2, where |x|_D^2 = sum_a D_a x_a^2."""

    x: Array
    w: Array
    error: Array


@dataclass(frozen=True)
class LowRankMetric:
    """Metric diag(D) + U U^T, D (d,) > 0, U (d, r); a batch of n by D (n, d), U (n, d, r).

    Vectors are (..., d); those of a batch (n, d) or (n, m, d), of which metric i takes the i-th.
    Raises ValueError, TypeError by name. Source: RA6, RA7.
    """

    D: Array
    U: Array

    def __post_init__(self) -> None:
        namespace(D=self.D, U=self.U)
        batch = ("n",) if self.D.ndim == 2 else ()
        sizes: dict[str, int] = {}
        shape(sizes, "D", self.D, *batch, "d")
        shape(sizes, "U", self.U, *batch, "d", "r")
        positive(D=self.D)
        finite(U=self.U)

    def apply(self, v: Array) -> Array:
        """G v in O(d r); raises ValueError, TypeError by name, OverflowError."""
        rows = working(as_rows("v", v, self.D))
        D, U = working(self.D), working(self.U)
        return restored(v, D[..., None, :] * rows + (rows @ U) @ transposed(U))

    def distance2(self, a: Array, b: Array) -> Array:
        """(a - b)^T G (a - b) (...) from explicit differences: exactly 0 for a = b.

        a, b of one shape. Raises ValueError, TypeError by name, OverflowError. Source: RA7.
        """
        namespace(a=a, b=b)
        if tuple(a.shape) != tuple(b.shape):
            raise ValueError(f"b must have the shape of a, {tuple(a.shape)}, got {tuple(b.shape)}")
        xp = xp_of(a)
        rows = working(as_rows("a", a, self.D)) - working(as_rows("b", b, self.D))
        along = rows @ working(self.U)
        square = xp.sum(working(self.D)[..., None, :] * (rows * rows), axis=-1)
        return restored(a, square + xp.sum(along * along, axis=-1), a.shape[:-1])

    def solve(self, v: Array) -> Array:
        """G^-1 v in O(d r) after O(d r^2) once; error as in solve_with_bound.

        Raises NoDigits where rounding may have destroyed every digit, OverflowError where the
        result has no place in the dtype, ValueError, TypeError by name.
        """
        return self.solve_with_bound(v)[0]

    def solve_with_bound(self, v: Array) -> tuple[Array, Array]:
        """x = G^-1 v and a float64 bound on |x - exact|, entry by entry; raises like solve.

        Source: RA6, residuals.
        """
        pair = self.solve_pair(v)
        D = wide(self.D)[..., None, :]
        xp, model = xp_of(v), units(v.dtype, array_api_compat.device(v))
        bound = pair.error[..., None] / xp.sqrt(D) * (1 + 8 * units(D.dtype).acc)
        if dtype_name(v.dtype) != WIDE:
            bound = bound + model.store * xp.abs(pair.x) + 2 * model.eta
        return restored(v, pair.x), xp.reshape(bound, tuple(v.shape))

    def dual_norm2(self, v: Array) -> Array:
        """v^T G^-1 v (...) as |x|_D^2 + |w|^2, x = G^-1 v, w = U^T x: never negative; raises like
        solve. Source: RA6."""
        pair = self.solve_pair(v)
        xp = xp_of(v)
        square = xp.sum(wide(self.D)[..., None, :] * pair.x * pair.x, axis=-1)
        return restored(v, square + xp.sum(pair.w * pair.w, axis=-1), v.shape[:-1])

    def solve_pair(self, v: Array) -> Pair:
        """The pair (x, w) as rows (m, d), (m, r) or (n, m, ...), with its error; raises like solve.

        Source: RA6, residuals.
        """
        rows = wide(as_rows("v", v, self.D))
        xp = xp_of(rows)
        D, U = wide(self.D)[..., None, :], wide(self.U)
        root, upper, lower, _ = self._factor
        root = root[..., None, :]

        def solved(y: Array, b: Array) -> tuple[Array, Array]:
            c = y @ upper + b @ lower
            return (y - c @ transposed(upper)) / root, c @ transposed(lower)

        x, w = solved(rows / root, xp.zeros_like(rows @ U))
        more = solved((rows - D * x - w @ transposed(U)) / root, blocked_product(x, U) - w)
        x, w = x + more[0], w + more[1]
        error, size = self._error(rows, x, w)
        if not bool(xp.all((error < size) | xp.all(rows == 0, axis=-1))):
            raise NoDigits(
                "v must be solvable to a digit: rounding may have destroyed the result "
                f"(G too ill-conditioned for {dtype_name(v.dtype)}, or numbers out of its range)"
            )
        return Pair(x, w, error)

    def pair_error(self, v: Array, x: Array, w: Array) -> Array:
        """Bound (...) on the error of approximate x = G^-1 v, w = U^T x, in the norm of a Pair.

        v, x (..., d), w (..., r). Raises ValueError, TypeError by name. Source: RA6, residuals.
        """
        rows, found = as_rows("v", v, self.D), as_rows("x", x, self.D)
        xp = namespace(v=v, w=w)
        r = self.U.shape[-1]
        if tuple(x.shape) != tuple(v.shape) or tuple(w.shape) != (*v.shape[:-1], r):
            raise ValueError(
                f"x and w must have shapes {tuple(v.shape)} and {(*v.shape[:-1], r)}, "
                f"got {tuple(x.shape)} and {tuple(w.shape)}"
            )
        finite(w=w)
        parts = xp.reshape(w, (*rows.shape[:-1], r))
        error, _ = self._error(wide(rows), wide(found), wide(parts))
        return xp.reshape(error, tuple(v.shape[:-1]))

    def _error(self, v: Array, x: Array, w: Array) -> tuple[Array, Array]:
        """Bound on the error of (x, w) from its residuals and their own rounding; its size."""
        xp, D, U = xp_of(v), wide(self.D)[..., None, :], wide(self.U)
        model, size = units(v.dtype, array_api_compat.device(v)), xp.abs(U)
        d, r = U.shape[-2:]
        terms = xp.abs(v) + D * xp.abs(x) + xp.abs(w) @ transposed(size)
        first = xp.abs(v - D * x - w @ transposed(U))
        first = first + gamma(r + 3, model.acc) * terms + 2 * (r + 2) * model.eta
        terms, k = xp.abs(x) @ size + xp.abs(w), block_length(d) + -(-d // block_length(d)) + 1
        second = xp.abs(blocked_product(x, U) - w)
        second = second + gamma(k, model.acc) * terms + 2 * (d + 1) * model.eta
        square = xp.sum(first * (first / D), axis=-1) + xp.sum(second * second, axis=-1)
        length = xp.sum(D * x * x, axis=-1) + xp.sum(w * w, axis=-1)
        return xp.sqrt(square) * (1 + gamma(2 * d + 2 * r + 16, model.acc)), xp.sqrt(length)

    def logdet(self) -> Array:
        """log det G = sum_a log D_a + log det(I + U^T D^-1 U), shape () or (n,). Source: RA6."""
        xp, (_, _, _, triangle) = xp_of(self.D), self._factor
        diagonal = xp.abs(xp.linalg.diagonal(triangle))
        value = xp.sum(xp.log(wide(self.D)), axis=-1) + 2 * xp.sum(xp.log(diagonal), axis=-1)
        return restored(self.D, value, self.D.shape[:-1])

    def frame(self) -> Frame:
        """E with E^T E = G in O(d r^2 + r^3), as factors with O(d r) entries.

        K = (I + (I + V^T V)^1/2)^-1, V = D^-1/2 U. torch has no gradient of it where singular
        values repeat. Source: RA10.
        """
        xp, (root, upper, _, triangle) = xp_of(self.D), self._factor
        left, stretch, _ = xp.linalg.svd(triangle, full_matrices=False)
        parts = (root, upper @ left, stretch)
        return Frame(*(xp.astype(part, self.D.dtype) for part in parts))

    @cached_property
    def _factor(self) -> tuple[Array, Array, Array, Array]:
        """D^1/2, Q_1, Q_2 and R of the QR factorisation of [D^-1/2 U; I], in float64."""
        xp, U = xp_of(self.D), wide(self.U)
        root = xp.sqrt(wide(self.D))
        d, r = U.shape[-2:]
        scaled = U / root[..., None]
        if not bool(xp.all(xp.isfinite(scaled))):
            raise NoDigits(f"U must be finite beside D^1/2 in {WIDE}: a quotient overflows")
        eye = xp.eye(r, dtype=U.dtype, device=array_api_compat.device(U))
        below = xp.zeros_like(scaled[..., :1, :]) + eye
        q, triangle = xp.linalg.qr(xp.concat([scaled, below], axis=-2))
        return root, q[..., :d, :], q[..., d:, :], triangle


def pair_distances2(
    metric: LowRankMetric, x: Array, y: Array | None = None, origin: Array | None = None
) -> Array:
    """|x_i - y_j|^2 in metric i (n, m), by r + 2 products of the size of Q K^T; y is x by default.

    metric a batch of n; x (n, d), y (m, d), origin (d,) the token subtracted first, the mean of y
    by default. The products cancel: the absolute error is a rounding of squares of distances to the
    origin, so near pairs need `distance2`. Raises ValueError, TypeError by name, OverflowError.
    Source: RA7.
    """
    y = x if y is None else y
    namespace(D=metric.D, x=x, y=y, origin=origin)
    sizes: dict[str, int] = {}
    shape(sizes, "metric.D", metric.D, "n", "d")
    shape(sizes, "x", x, "n", "d")
    shape(sizes, "y", y, "m", "d")
    finite(x=x, y=y, origin=origin)
    xp, D, U = xp_of(x), working(metric.D), working(metric.U)
    keys = working(y)
    if origin is None:
        centre = xp.mean(keys, axis=0)
    else:
        shape(sizes, "origin", origin, "d")
        centre = working(origin)
    queries, keys = working(x) - centre, keys - centre
    weighted, turned = D * queries, transposed(keys)
    own = xp.sum(weighted * queries, axis=-1)
    total = own[:, None] - 2 * (weighted @ turned) + D @ transposed(keys * keys)
    for c in range(U.shape[-1]):
        column = U[..., c]
        along = xp.sum(column * queries, axis=-1)[:, None] - column @ turned
        total = total + along * along
    return restored(x, total, (sizes["n"], sizes["m"]))
