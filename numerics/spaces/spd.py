"""Symmetric positive definite matrices: the affine-invariant and the log-Euclidean metric.

Gradients pass through functions of matrices (`spectral`), never through eigenvectors, so repeated
eigenvalues do no harm.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import array_api_compat
import numpy as np

from numerics.arrays import Array, refuse
from numerics.inputs import integer
from numerics.rows import transposed, xp_of
from numerics.spaces.groups import matrix, random_orthogonal
from numerics.spaces.inversion import AfterInversion
from numerics.spaces.lengths import dot, norm, roundoff
from numerics.spaces.space import Space, detached
from numerics.spaces.spectral import exp_difference, log_difference, spectral


class PositiveDefinite(Space):
    """Symmetric positive definite n x n matrices, n >= 1; the two metrics are subclasses.

    An isometry is an array g (n, n), x -> g x g^T, or AfterInversion of one. The base point is the
    identity. Raises TypeError, ValueError for n < 1. Source: AP8.
    """

    kind: str

    def __init__(self, n: int) -> None:
        self.n = integer("n", n, 1)
        self.point_shape = (self.n, self.n)
        self.name = f"the {self.kind} space of SPD matrices of size {n}"

    def _check(self, xp: ModuleType, x: Array, name: str) -> None:
        self._check_symmetric(xp, x, name)
        values = xp.linalg.eigvalsh(_even(x))
        refuse(name, values, ~(values > 0), "positive definite: all eigenvalues positive")

    def _check_symmetric(self, xp: ModuleType, x: Array, name: str) -> None:
        size = xp.max(abs(x), axis=(-2, -1), keepdims=True)
        bad = abs(x / 2 - transposed(x) / 2) > self.slack(x.dtype) * size
        refuse(name, x, bad, f"symmetric, as {self.name} has it")

    def _check_tangent(self, xp: ModuleType, x: Array, v: Array, name: str) -> None:
        self._check_symmetric(xp, v, name)

    def _depth(self, xp: ModuleType, x: Array) -> Array:
        logs = xp.log(xp.linalg.eigvalsh(_even(x)))
        return norm(xp, dot(xp, logs, logs))

    def _stretch(self, xp: ModuleType, x: Array) -> Array:
        """The condition number: x^-1/2 E x^-1/2 is at most so much larger than E / |x|."""
        values = xp.linalg.eigvalsh(_even(x))
        return values[..., -1] / values[..., 0]

    def _ambient(self, xp: ModuleType, v: Array, w: Array) -> Array:
        """The arithmetic mean: it commutes with congruences, not with inversion."""
        flat = w @ xp.reshape(v, (v.shape[0], -1))
        return _even(xp.reshape(flat, (w.shape[0], *self.point_shape)))

    def _act(self, xp: ModuleType, g: Any, x: Array) -> Array:
        if isinstance(g, AfterInversion):
            return self._act(xp, g.g, _even(xp.linalg.inv(_even(x))))
        return _even(g @ x @ g.T)

    def _random_points(self, generator: np.random.Generator, count: int) -> np.ndarray:
        logs = _drawn(generator, self.n, generator.uniform(0.2, 1.3, size=(count, 1, 1)))
        return _even(spectral(logs, np.exp, exp_difference))


class AffineInvariantSPD(PositiveDefinite):
    """SPD matrices with <u, v>_x = tr(x^-1 u x^-1 v); isometries are all of GL(n) and inversion.

    d(x, y) = |log(x^-1/2 y x^-1/2)|. Eigenvalues of x^-1 y are squared singular values of
    L_x^-1 L_y; near y = x they come from L_x^-1 (y - x) L_x^-T, so d is exactly 0 at y = x. The
    radius log(1/u)/(3 sqrt 2), 8.66 in float64 and 3.92 in float32, holds condition numbers up
    to u^-1/3, at which half of the digits remain. The ambient readout is the arithmetic mean,
    equivariant under congruence and not under inversion. Source: AP8.
    """

    kind = "affine-invariant"
    without_similarity = (
        "tr(AB) changes under congruence: A = I, B = diag(1, 2), g = [[1, 1], [0, 1]] takes it "
        "from 3 to 12"
    )

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.lowest_curvature = -0.5 if self.n > 1 else 0.0

    def radius(self, dtype: Any) -> float:
        """log(1/u) / (3 sqrt 2), u the roundoff. Raises TypeError for other dtypes."""
        return -math.log(roundoff(dtype)) / (3 * math.sqrt(2))

    def _check_isometry(self, g: Any, x: Array) -> None:
        matrix("g", bare := _without_inversion(g), x, self.n, self.n)
        bare = detached(bare)
        values = xp_of(bare).linalg.svdvals(bare)
        singular = values[..., -1:] <= 8 * self.n * roundoff(x.dtype) * values[..., :1]
        refuse("g", values[..., -1:], singular, "invertible: its smallest singular value")

    def _inner(self, xp: ModuleType, x: Array, u: Array, v: Array) -> Array:
        root = xp.linalg.cholesky(_even(x))
        return dot(xp, _reduced(xp, root, u), _reduced(xp, root, v), 2)

    def _distance2(self, xp: ModuleType, x: Array, y: Array) -> Array:
        _, gap, factor, near = self._relative(xp, x, y)
        close = xp.log1p(xp.linalg.eigvalsh(gap))
        far = 2 * xp.log(xp.linalg.svdvals(factor))
        return xp.where(near[..., 0, 0], dot(xp, close, close), dot(xp, far, far))

    def _exp(self, xp: ModuleType, x: Array, v: Array) -> Array:
        root = xp.linalg.cholesky(_even(x))
        grown = spectral(_reduced(xp, root, v), lambda t: xp.exp(t / 2), _half_exp_difference)
        image = root @ grown
        return _even(image @ transposed(image))

    def _log(self, xp: ModuleType, x: Array, y: Array) -> Array:
        root, gap, factor, near = self._relative(xp, x, y)
        close = spectral(gap, xp.log1p, lambda a, b: log_difference(1 + a, 1 + b))
        far = spectral(_even(factor @ transposed(factor)), xp.log, log_difference, factor)
        return _even(root @ xp.where(near, close, far) @ transposed(root))

    def _relative(self, xp: ModuleType, x: Array, y: Array) -> tuple[Array, Array, Array, Array]:
        """L_x, the gap L_x^-1 (y - x) L_x^-T, the factor L_x^-1 L_y and where the gap is small.

        A gap that is not small is replaced by 0, a factor that is not used by itself.
        """
        x, y = _even(x), _even(y)
        root = xp.linalg.cholesky(x)
        gap = _reduced(xp, root, y - x)
        near = (dot(xp, gap, gap, 2) <= 0.25)[..., None, None]
        gap = xp.where(near, gap, xp.zeros_like(gap))
        return root, gap, xp.linalg.solve(root, xp.linalg.cholesky(y)), near

    def _push(self, xp: ModuleType, g: Any, x: Array, v: Array) -> Array:
        if isinstance(g, AfterInversion):
            inverse = _even(xp.linalg.inv(_even(x)))
            return self._push(xp, g.g, inverse, -inverse @ v @ inverse)
        return _even(g @ v @ g.T)

    def _random_isometry(self, generator: np.random.Generator) -> np.ndarray:
        """A congruence: the ambient readout is not equivariant under AfterInversion."""
        stretch = spectral(_drawn(generator, self.n, 0.5), np.exp, exp_difference)
        return stretch @ random_orthogonal(generator, self.n)


class LogEuclideanSPD(PositiveDefinite):
    """SPD matrices with d(x, y) = |log x - log y|: flat, in the chart log.

    A tangent vector is given in the chart: v stands for the curve exp(log x + t v). Isometries are
    orthogonal congruences, scalings (together g = sqrt(c) O) and inversion; GL(n) is not among
    them: for A = I, B = diag(1, 16), g = [[1, 1], [0, 1]] the mean of the images has trace
    9.394..., the image of the mean 9. The radius log(1/u)/(2 sqrt 2), 12.98 in float64 and 5.88 in
    float32, holds condition numbers up to u^-1/2, at which half of the digits remain.
    Source: AP8.
    """

    kind = "log-Euclidean"
    without_similarity = (
        "tr(AB) changes under scaling and inversion: A = B = 2 I_n takes it from 4 n to n / 4"
    )

    def radius(self, dtype: Any) -> float:
        """log(1/u) / (2 sqrt 2), u the roundoff. Raises TypeError for other dtypes."""
        return -math.log(roundoff(dtype)) / (2 * math.sqrt(2))

    def _check_isometry(self, g: Any, x: Array) -> None:
        matrix("g", bare := _without_inversion(g), x, self.n, self.n)
        bare = detached(bare)
        with np.errstate(over="ignore", invalid="ignore"):
            square = bare @ bare.T
            scale = xp_of(bare).linalg.trace(square) / self.n
            eye = xp_of(bare).eye(self.n, dtype=bare.dtype, device=array_api_compat.device(bare))
            bad = ~(abs(square - scale * eye) <= 32 * self.size * roundoff(x.dtype) * scale)
        must = "sqrt(c) times an orthogonal matrix (no other congruence is an isometry here): g g^T"
        refuse("g", square, bad | ~(scale > 0), must)

    def _inner(self, xp: ModuleType, x: Array, u: Array, v: Array) -> Array:
        return dot(xp, u, v, 2)

    def _distance2(self, xp: ModuleType, x: Array, y: Array) -> Array:
        gap = self._log(xp, x, y)
        return dot(xp, gap, gap, 2)

    def _exp(self, xp: ModuleType, x: Array, v: Array) -> Array:
        return _even(spectral(_logarithm(xp, x) + _even(v), xp.exp, exp_difference))

    def _log(self, xp: ModuleType, x: Array, y: Array) -> Array:
        return _logarithm(xp, y) - _logarithm(xp, x)

    def _push(self, xp: ModuleType, g: Any, x: Array, v: Array) -> Array:
        if isinstance(g, AfterInversion):
            return self._push(xp, g.g, x, -v)
        turn = g / _scale(g)
        return _even(turn @ v @ turn.T)

    def _random_isometry(self, generator: np.random.Generator) -> np.ndarray:
        return np.exp(generator.uniform(-0.5, 0.5)) * random_orthogonal(generator, self.n)


def _even(x: Array) -> Array:
    return x / 2 + transposed(x) / 2


def _reduced(xp: ModuleType, root: Array, v: Array) -> Array:
    """L^-1 v L^-T for symmetric v."""
    half = xp.linalg.solve(root, v)
    return _even(xp.linalg.solve(root, transposed(half)))


def _half_exp_difference(a: Array, b: Array) -> Array:
    return exp_difference(a / 2, b / 2) / 2


def _logarithm(xp: ModuleType, x: Array) -> Array:
    return _even(spectral(_even(x), xp.log, log_difference))


def _without_inversion(g: Any) -> Any:
    return g.g if isinstance(g, AfterInversion) else g


def _scale(g: Array) -> Array:
    """sqrt(c) of g = sqrt(c) O."""
    xp = xp_of(g)
    return xp.sqrt(xp.mean(xp.sum(g * g, axis=-1)))


def _drawn(generator: np.random.Generator, n: int, length: Any) -> np.ndarray:
    """Symmetric matrices of the given lengths."""
    size = np.shape(length)[:1]
    v = _even(generator.normal(size=(*size, n, n)))
    return v * (length / np.sqrt((v * v).sum(axis=(-2, -1), keepdims=True)))
