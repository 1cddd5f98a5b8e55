"""Geodesics of a metric given as a function, and spaces whose distances are known in closed form.

A field maps points (m, d) to metrics G (m, d, d) and derivatives (m, d, d, d), [k, a, b, c] being
d_a G_bc at point k. Distances are those inside the chart. Everything is float64. Source: RA8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.integrate import solve_bvp

from numerics.arrays import finite, refuse, shape
from numerics.inputs import doubles, integer, number

Field: TypeAlias = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

TOLERANCE = 1e-8
"""Relative residual of the boundary-value problem on each interval."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


def _points(name: str, x: np.ndarray, *axes: str, sizes: dict[str, int] | None = None) -> None:
    doubles(**{name: x})
    shape({} if sizes is None else sizes, name, x, *axes)
    finite(**{name: x})


@dataclass(frozen=True)
class ConstantCurvature:
    """Stereographic chart of curvature kappa: the metric 4 I/(1 + kappa |x|^2)^2 on R^d.

    kappa = 1 is the unit sphere but for one point, 0 the plane, -1 the Poincare ball.
    Raises TypeError, ValueError by name. Source: RA8, constant_curvature.
    """

    kappa: float

    def __post_init__(self) -> None:
        number("kappa", self.kappa)

    def _denominator(self, name: str, x: np.ndarray) -> np.ndarray:
        p = 1 + self.kappa * np.sum(x * x, axis=-1)
        refuse(name, p, ~(p > 0), "in the chart, where 1 + kappa |x|^2 > 0")
        return p

    def field(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The metric and its derivative at x (m, d); ValueError outside the chart."""
        _points("x", x, "m", "d")
        p, eye = self._denominator("x", x), np.eye(x.shape[1])
        slope = -16 * self.kappa * x / p[:, None] ** 3
        return (4 / p**2)[:, None, None] * eye, slope[:, :, None, None] * eye

    def distance(self, x: np.ndarray, y: np.ndarray) -> float:
        """Distance of x and y (d,); on the sphere that of the shorter arc.

        Raises TypeError, ValueError by name.
        """
        sizes: dict[str, int] = {}
        _points("x", x, "d", sizes=sizes)
        _points("y", y, "d", sizes=sizes)
        p = self._denominator("x", x[None]) * self._denominator("y", y[None])
        chord = math.sqrt(float(np.sum((x - y) ** 2) / p[0]))
        root = math.sqrt(abs(self.kappa))
        if self.kappa > 0:
            return 2 * math.asin(min(1.0, root * chord)) / root
        return 2 * math.asinh(root * chord) / root if root else 2 * chord


@dataclass(frozen=True)
class SpdMatrices:
    """Positive definite matrices (size, size) with tr(P^-1 V P^-1 V), affine-invariant.

    A chart point holds the size (size + 1)/2 entries on and above the diagonal, row by row.
    Raises TypeError, ValueError by name. Source: RA8.
    """

    size: int

    def __post_init__(self) -> None:
        integer("size", self.size, 1)

    @property
    def width(self) -> int:
        """d, the dimension of the chart."""
        return self.size * (self.size + 1) // 2

    @property
    def basis(self) -> np.ndarray:
        """Symmetric matrices (d, size, size) that the entries of a chart point multiply."""
        rows, columns = np.triu_indices(self.size)
        found = np.zeros((self.width, self.size, self.size))
        place = np.arange(self.width)
        found[place, rows, columns] = found[place, columns, rows] = 1.0
        return found

    def matrices(self, x: np.ndarray) -> np.ndarray:
        """The matrices (m, size, size) at x (m, d); ValueError unless positive definite."""
        _points("x", x, "m", "d", sizes={"d": self.width})
        return self._matrices("x", x)

    def _matrices(self, name: str, x: np.ndarray) -> np.ndarray:
        P = np.einsum("ka,aij->kij", x, self.basis)
        least = np.linalg.eigvalsh(P)[:, 0]
        refuse(name, least, ~(least > 0), "positive definite, with a positive least eigenvalue")
        return P

    def field(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The metric and its derivative at x (m, d); raises like matrices."""
        moved = np.linalg.solve(self.matrices(x)[:, None], self.basis[None])  # P^-1 E_a
        metric = np.einsum("kaij,kbji->kab", moved, moved)
        triple = np.einsum("kaij,kbjl,kcli->kabc", moved, moved, moved)
        return metric, -2 * triple  # tr(A B C) = tr(A C B) for P^-1 times symmetric matrices

    def distance(self, x: np.ndarray, y: np.ndarray) -> float:
        """|log P^-1/2 Q P^-1/2|_F of the matrices P, Q at x, y (d,); raises like matrices."""
        for name, point in (("x", x), ("y", y)):
            _points(name, point, "d", sizes={"d": self.width})
        P, Q = self._matrices("x", x[None])[0], self._matrices("y", y[None])[0]
        root = np.linalg.cholesky(P)
        whitened = np.linalg.solve(root, np.linalg.solve(root, Q).T)
        # log1p of what is left without the identity keeps the digits of near pairs.
        gap = np.linalg.solve(root, np.linalg.solve(root, Q - P).T)
        near = np.max(np.abs(gap)) < 0.5
        values = np.log1p(np.linalg.eigvalsh(gap)) if near else np.log(np.linalg.eigvalsh(whitened))
        return float(np.linalg.norm(values))


def christoffel(G: np.ndarray, dG: np.ndarray) -> np.ndarray:
    """Christoffel symbols (m, d, d, d), [k, a, b, c] being Gamma^a_bc, of G (m, d, d) and its dG.

    Raises TypeError, ValueError by name, also where G is not symmetric or not positive definite.
    """
    doubles(G=G, dG=dG)
    sizes: dict[str, int] = {}
    shape(sizes, "G", G, "m", "d", "d")
    shape(sizes, "dG", dG, "m", "d", "d", "d")
    finite(G=G, dG=dG)
    for name, array in (("G", G), ("dG", dG)):
        gap = np.abs(array - np.swapaxes(array, -1, -2))
        slack = 2.0**-40 * np.max(np.abs(array), axis=(-1, -2), keepdims=True)
        refuse(name, gap, gap > slack, "symmetric in its last two axes, with a gap near 0")
    least = np.linalg.eigvalsh(G)[:, 0]
    refuse("G", least, ~(least > 0), "positive definite, with a positive least eigenvalue")
    first = np.einsum("kbac->kabc", dG) + np.einsum("kcba->kabc", dG) - dG
    return np.linalg.solve(G[:, None, None], np.moveaxis(first, 1, 3)[..., None] / 2)[
        ..., 0
    ].transpose(0, 3, 1, 2)


@dataclass(frozen=True)
class Geodesic:
    """A solved boundary-value problem: times (k,) of its mesh and points (k, d) of the path.

    distance2 is the energy of the interpolated path, so at least the squared distance, but for the
    quadrature; error bounds by how much, up to factors 1 + O(length^2): the residual of gamma'' =
    -Gamma(gamma', gamma') in the mean, squared, over pi^2. speed_spread is the relative range of
    |gamma'|^2, which is constant on a geodesic.
    """

    times: np.ndarray
    points: np.ndarray
    distance2: float
    error: float
    speed_spread: float


def geodesic(field: Field, x: np.ndarray, y: np.ndarray, tol: float = TOLERANCE) -> Geodesic:
    """The geodesic from x to y (d,) in the chart of the field, by scipy's solve_bvp.

    The unknown is w of the path x + t h + |h|^2 w(t), h = y - x. Raises TypeError, ValueError by
    name, whatever the field raises outside its chart, and RuntimeError where the solver does not
    converge or the speed is not constant (then dG is not the derivative of G).
    Source: RA8, distance.
    """
    sizes: dict[str, int] = {}
    _points("x", x, "d", sizes=sizes)
    _points("y", y, "d", sizes=sizes)
    if not 1e-12 <= number("tol", tol) <= 1e-2:
        raise ValueError(f"tol must lie between 1e-12 and 0.01, got {tol}")
    if not callable(field):
        raise TypeError(f"field must be callable, got {type(field).__name__}")
    h, d = y - x, len(x)
    size = float(np.linalg.norm(h))
    if size == 0:
        _jets(field, x[None])
        return Geodesic(np.array([0.0, 1.0]), np.stack([x, y]), 0.0, 0.0, 0.0)
    unit = h / size

    def path(t: np.ndarray, w: np.ndarray) -> np.ndarray:
        return x + t[:, None] * h + size**2 * w.T

    def bend(points: np.ndarray, slope: np.ndarray) -> np.ndarray:
        velocity = unit + size * slope.T
        return -np.einsum("kabc,kb,kc->ak", christoffel(*_jets(field, points)), velocity, velocity)

    def system(t: np.ndarray, state: np.ndarray) -> np.ndarray:
        return np.concatenate([state[d:], bend(path(t, state[:d]), state[d:])])

    start = np.linspace(0.0, 1.0, 9)
    found = solve_bvp(
        system,
        lambda first, last: np.concatenate([first[:d], last[:d]]),
        start,
        np.zeros((2 * d, len(start))),
        tol=tol,
    )
    if found.status != 0:
        raise RuntimeError(f"no geodesic from {x} to {y} was found: {found.message}")
    t, weights = _gauss(found.x)
    slope, second = (found.sol.derivative(order)(t)[:d] for order in (1, 2))
    points = path(t, found.sol(t)[:d])
    metric, _ = _jets(field, points)
    velocity = size * (unit + size * slope.T)
    speed = np.einsum("kbc,kb,kc->k", metric, velocity, velocity)
    left = size**2 * (second - bend(points, slope)).T
    residual = np.einsum("kbc,kb,kc->k", metric, left, left)
    energy = float(weights @ speed)
    spread = float(np.ptp(speed)) / energy
    if spread > math.sqrt(tol):
        raise RuntimeError(
            f"the speed must be constant along a geodesic, |gamma'|^2 varies by {spread:.2g}: "
            f"the field must give the derivative of its own metric"
        )
    error = float(weights @ residual) / math.pi**2
    return Geodesic(found.x, path(found.x, found.y[:d]), energy, error, spread)


def _gauss(mesh: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times and weights of Gauss quadrature on every interval of the mesh."""
    half, middle = np.diff(mesh) / 2, (mesh[1:] + mesh[:-1]) / 2
    times = middle[:, None] + half[:, None] * _NODES
    return times.ravel(), (half[:, None] * _WEIGHTS).ravel()


def _jets(field: Field, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The metric and its derivative, checked to be arrays of the right shape and finite."""
    found = field(points)
    if not (isinstance(found, tuple) and len(found) == 2):
        raise TypeError(f"field must return a pair (G, dG), got {type(found).__name__}")
    m, d = points.shape
    sizes = {"m": m, "d": d}
    _points("field's G", found[0], "m", "d", "d", sizes=sizes)
    _points("field's dG", found[1], "m", "d", "d", "d", sizes=sizes)
    return found
