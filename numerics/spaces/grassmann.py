"""Subspaces of R^n as orthogonal projectors, with the distance of principal angles."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import array_api_compat
import numpy as np

from numerics.arrays import Array, namespace, refuse
from numerics.inputs import integer
from numerics.rows import transposed, xp_of
from numerics.spaces.groups import check_orthogonal, random_orthogonal
from numerics.spaces.lengths import dot, norm, roundoff
from numerics.spaces.space import Space, detached
from numerics.spaces.spectral import sinc, singular, spectral


class Grassmann(Space):
    """k-dimensional subspaces of R^n, 0 < k < n, as projectors P (n, n), P = P^T = P^2, tr P = k.

    Bases X and X O of a subspace, -X among them, are one point: `span` gives it. Tangent vectors
    are symmetric V with P V + V P = V, <u, v> = tr(uv) / 2, so d^2 is the sum of the squared
    principal angles; similarity is tr PQ. Isometries are orthogonal g (n, n), P -> g P g^T. log
    refuses subspaces with a principal angle pi/2, up to 8 n^2 roundoffs; there, where d^2 has no
    gradient, torch returns a finite one. The ambient readout is the top-k eigenprojector of the
    mean, refused without an eigengap. radius is pi/2 sqrt(min(k, n - k)), the diameter.
    Raises TypeError, ValueError unless 0 < k < n. Source: AP8.
    """

    injectivity = math.pi / 2
    convex_radius = math.pi / 4

    def __init__(self, n: int, k: int) -> None:
        self.n = integer("n", n, 2)
        self.k = integer("k", k, 1, self.n - 1)
        self.point_shape = (self.n, self.n)
        self.name = f"the Grassmannian of {k}-dimensional subspaces of R^{n}"

    def radius(self, dtype: Any) -> float:
        """pi/2 sqrt(min(k, n - k)), the diameter. Raises TypeError for other dtypes."""
        roundoff(dtype)
        return math.pi / 2 * math.sqrt(min(self.k, self.n - self.k))

    def span(self, X: Array) -> Array:
        """The projector (..., n, n) on the columns of X (..., n, k), the same for X and X O.

        ValueError, TypeError by name; ValueError where the columns are dependent within rounding.
        """
        xp = namespace(X=X)
        if X.ndim < 2 or tuple(X.shape[-2:]) != (self.n, self.k):
            raise ValueError(f"X must have trailing shape {(self.n, self.k)}, got {tuple(X.shape)}")
        limit = 8 * self.n * roundoff(X.dtype)
        refuse("X", X, ~xp.isfinite(X), "finite")
        values = xp.linalg.svdvals(detached(X))
        refuse("X", values, values <= limit * values[..., :1], "of independent columns")
        basis, _ = xp.linalg.qr(X)
        return basis @ transposed(basis)

    def principal_angles(self, x: Array, y: Array) -> Array:
        """Principal angles (..., k) of x and y, the largest first, accurate near 0 and near pi/2.

        Raises like distance2. Source: Bjorck and Golub 1973.
        """
        xp = self._points(x=x, y=y)
        angles = xp.flip(_double_angles(xp, x, y), axis=-1)[..., ::2]
        nonzero = angles[..., : min(self.k, self.n - self.k)]
        rest = xp.zeros_like(nonzero[..., :1])
        return xp.concat([nonzero] + [rest] * (self.k - nonzero.shape[-1]), axis=-1)

    def _check(self, xp: ModuleType, x: Array, name: str) -> None:
        slack = self.slack(x.dtype)
        refuse(name, x, ~(abs(x - transposed(x)) <= slack), "symmetric")
        with np.errstate(over="ignore", invalid="ignore"):
            defect = abs(x @ x - x)
        refuse(name, defect, ~(defect <= slack), f"a projector, |x x - x| = 0 in {self.name}")
        rank = xp.sum(xp.linalg.diagonal(x), axis=-1)
        refuse(name, rank, ~(abs(rank - self.k) < 0.5), f"of trace {self.k} in {self.name}")

    def _check_tangent(self, xp: ModuleType, x: Array, v: Array, name: str) -> None:
        bound = self.slack(v.dtype) * (1 + norm(xp, dot(xp, v, v, 2)))[..., None, None]
        refuse(name, v, ~(abs(v - transposed(v)) <= bound), "symmetric")
        defect = abs(x @ v + v @ x - v)
        refuse(name, defect, ~(defect <= bound), "tangent at x: x v + v x - v = 0")

    def _check_isometry(self, g: Any, x: Array) -> None:
        check_orthogonal("g", g, x, self.n)

    def _inner(self, xp: ModuleType, x: Array, u: Array, v: Array) -> Array:
        return dot(xp, u, v, 2) / 2

    def _distance2(self, xp: ModuleType, x: Array, y: Array) -> Array:
        angles = _double_angles(xp, x, y)
        return dot(xp, angles, angles) / 2

    def _exp(self, xp: ModuleType, x: Array, v: Array) -> Array:
        """P + sin(V)^2 (1 - 2P) + sin(V) cos(V): (1 - 2P) anticommutes with V."""
        eye, x, v = _eye(xp, x), _even(x), _even(v)
        square = spectral(v, lambda t: xp.sin(t) ** 2, lambda a, b: xp.sin(a + b) * sinc(a - b))
        double = spectral(v, lambda t: xp.sin(2 * t) / 2, lambda a, b: xp.cos(a + b) * sinc(a - b))
        y = _even(x + square @ (eye - 2 * x) + double)
        # A step of McWeeny's: rounding does not add up along many steps.
        return _even(y @ y @ (3 * eye - 2 * y))

    def _log(self, xp: ModuleType, x: Array, y: Array) -> Array:
        """Z = Y f(Y^T X) X^T with f(cos t) = t / sin t takes Q - P to half of the logarithm."""
        x, y = _even(x), _even(y)
        X, Y = self._basis(xp, x), self._basis(xp, y)
        inner = singular(transposed(Y) @ X, _angle_by_sine, _angle_by_sine_difference)
        half = (y - x) @ Y @ inner @ transposed(X)
        # Its part from the range of P to its complement: the rest is rounding.
        half = (half - x @ half) @ x
        return half + transposed(half)

    def _cut(self, xp: ModuleType, x: Array, y: Array) -> Array:
        cosines = abs(xp.linalg.eigvalsh(_even(_eye(xp, x) - x - y)))
        return xp.min(cosines, axis=-1) <= 8 * self.size * roundoff(x.dtype)

    def _similarity(self, xp: ModuleType, x: Array, y: Array) -> Array:
        """tr PQ."""
        return dot(xp, x, y, 2)

    def _ambient(self, xp: ModuleType, v: Array, w: Array) -> Array:
        """The top-k eigenprojector of the mean."""
        mean = _even(xp.reshape(w @ xp.reshape(v, (v.shape[0], -1)), (-1, self.n, self.n)))
        values = xp.linalg.eigvalsh(detached(mean))
        gap = values[..., self.n - self.k] - values[..., self.n - self.k - 1]
        within = 8 * (self.size + v.shape[0]) * roundoff(v.dtype)
        must = f"of a mean with an eigengap: its eigenvalue {self.k} less the next"
        refuse("v", gap, ~(gap > within), f"{must} positive, up to rounding")
        top = xp.arange(self.n, device=array_api_compat.device(v)) >= self.n - self.k

        def step(t: Array) -> Array:
            return xp.where(top, xp.ones_like(t), xp.zeros_like(t))

        def difference(a: Array, b: Array) -> Array:
            across = top[:, None] != top
            return xp.where(across, 1 / xp.where(across, abs(a - b), 1.0), 0.0)

        return _even(spectral(mean, step, difference))

    def _act(self, xp: ModuleType, g: Any, x: Array) -> Array:
        return _even(g @ x @ g.T)

    def _push(self, xp: ModuleType, g: Any, x: Array, v: Array) -> Array:
        return _even(g @ v @ g.T)

    def _random_points(self, generator: np.random.Generator, count: int) -> np.ndarray:
        return self.span(generator.normal(size=(count, self.n, self.k)))

    def _random_isometry(self, generator: np.random.Generator) -> np.ndarray:
        return random_orthogonal(generator, self.n)

    def _basis(self, xp: ModuleType, x: Array) -> Array:
        """A basis X of the range, with the derivative dX = dP X, in which log is differentiable.

        log does not depend on the basis, so a constant one, projected, has the right gradient.
        """
        _, vectors = xp.linalg.eigh(detached(x))
        return x @ vectors[..., self.n - self.k :]


def _even(x: Array) -> Array:
    return (x + transposed(x)) / 2


def _eye(xp: ModuleType, x: Array) -> Array:
    return xp.eye(x.shape[-1], dtype=x.dtype, device=array_api_compat.device(x))


def _double_angles(xp: ModuleType, x: Array, y: Array) -> Array:
    """n ascending angles, each principal angle twice, the others 0.

    P - Q has the eigenvalues +-sin, 1 - P - Q has +-cos, and their squares add up to 1.
    """
    sines = xp.sort(abs(xp.linalg.eigvalsh(_even(x - y))), axis=-1)
    cosines = xp.sort(abs(xp.linalg.eigvalsh(_even(_eye(xp, x) - x - y))), axis=-1)
    return xp.atan2(sines, xp.flip(cosines, axis=-1))


def _angle_by_sine(c: Array) -> Array:
    """t / sin t at cos t = c."""
    xp = xp_of(c)
    c = xp.clip(c, -1.0, 1.0)
    sine = xp.sqrt((1 - c) * (1 + c))
    plain = sine == 0
    return xp.where(plain, 1.0, xp.atan2(sine, c) / xp.where(plain, 1.0, sine))


def _angle_by_sine_difference(a: Array, b: Array) -> Array:
    """Divided differences in c = cos t of t / sin t = sum_n a_n (1 - c)^n, for c in [0, 1].

    a_n = a_(n-1) n / (2n + 1), a_0 = 1; all terms have one sign, so none cancel.
    """
    xp = xp_of(a)
    a, b = xp.clip(1 - a, 0.0, 1.0), xp.clip(1 - b, 0.0, 1.0)
    total, coefficient, power = 0 * (a + b), 1.0, xp.ones_like(b)
    homogeneous = xp.ones_like(total)
    for n in range(1, 64):
        coefficient *= n / (2 * n + 1)
        total = total - coefficient * homogeneous
        power = power * b
        homogeneous = a * homogeneous + power
    return total
