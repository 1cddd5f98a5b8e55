"""Orders and coefficients at which chords leave the squared geodesic distance.

Spheres, hyperbolic planes and positive definite matrices have distances in closed form, taken as
balls of Arb, so that the rounding of every value is known; a metric diag + low rank without closed
form takes them from the boundary-value problem. Source: RA8, chords.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import arb, ctx

from numerics.arrays import finite, shape
from numerics.evidence.rates import Rate
from numerics.inputs import doubles
from numerics.laplacians.continuum import halvings
from numerics.metrics.geodesics import christoffel, geodesic

CHORDS = ("query-side", "symmetrised", "midpoint", "Simpson")
_BITS = 192


def _numbers(**values: Any) -> None:
    """TypeError unless all are floats, Fractions or balls; ValueError unless finite."""
    (first, sample), *_ = values.items()
    for name, value in values.items():
        if not isinstance(value, float | Fraction | arb):
            kind = type(value).__name__
            raise TypeError(f"{name} must be a float, a Fraction or an arb, got {kind}")
        if type(value) is not type(sample):
            kinds = f"{type(sample).__name__}, got {type(value).__name__}"
            raise TypeError(f"{name} must be of the kind of {first}, {kinds}")
        if not (value.is_finite() if isinstance(value, arb) else math.isfinite(value)):
            raise ValueError(f"{name} must be finite, got {value}")


@dataclass(frozen=True)
class Jet:
    """A metric along h: first and second derivative of G(h, h) and |Gamma(h, h)|^2, all at x.

    Floats, Fractions or balls (arb), all of one kind. Raises TypeError, ValueError by name.
    """

    slope: Any
    bend: Any
    tail: Any

    def __post_init__(self) -> None:
        _numbers(slope=self.slope, bend=self.bend, tail=self.tail)


def leading_errors(jet: Jet) -> dict[str, tuple[int, Any]]:
    """Order and coefficient of squared distance minus chord, for each of the four chords.

    Raises TypeError for what is no Jet. Source: RA8, chords.
    """
    if not isinstance(jet, Jet):
        raise TypeError(f"jet must be a Jet, got {type(jet).__name__}")
    return {
        "query-side": (3, jet.slope / 2),
        "symmetrised": (4, -(jet.bend + jet.tail) / 12),
        "midpoint": (4, jet.bend / 24 - jet.tail / 12),
        "Simpson": (4, -jet.tail / 12),
    }


def four_chords(query: Any, midpoint: Any, key: Any) -> dict[str, Any]:
    """The four chords from |h|^2 in the metrics of the query, the midpoint and the key.

    Floats, Fractions or balls. Raises TypeError, ValueError by name. Source: RA8, chords.
    """
    _numbers(query=query, midpoint=midpoint, key=key)
    average = (query + key) / 2
    return {
        "query-side": query,
        "symmetrised": average,
        "midpoint": midpoint,
        "Simpson": (average + 2 * midpoint) / 3,
    }


@contextmanager
def _precision() -> Iterator[None]:
    with ctx.workprec(_BITS):
        yield


def _dot(x: list[arb], y: list[arb]) -> arb:
    return sum((a * b for a, b in zip(x, y, strict=True)), start=arb(0))


def _curved(kappa: int, x: list[arb], h: list[arb]) -> tuple[Jet, Callable[[arb], Any]]:
    """The jet of the chart of curvature kappa; squared distance and chords as a function of eps."""

    def denominator(eps: arb) -> arb:
        point = [a + eps * b for a, b in zip(x, h, strict=True)]
        return 1 + kappa * _dot(point, point)

    p, axis, square = denominator(arb(0)), _dot(x, h), _dot(h, h)
    jet = Jet(
        -16 * kappa * axis / p**3 * square,
        (-16 * kappa * square / p**3 + 96 * axis**2 / p**4) * square,
        16 * _dot(x, x) * square**2 / p**4,
    )

    def at(eps: arb) -> Any:
        chord = (eps**2 * square / (p * denominator(eps))).sqrt()
        distance = 2 * (chord.asin() if kappa > 0 else chord.asinh())
        metrics = (denominator(eps * share) for share in (arb(0), arb(1) / 2, arb(1)))
        return distance**2, four_chords(*(4 * eps**2 * square / q**2 for q in metrics))

    return jet, at


Rows = tuple[tuple[arb, arb], tuple[arb, arb]]


def _times(A: Rows, B: Rows) -> Rows:
    (a, b), (c, d) = A
    (e, f), (g, h) = B
    return (a * e + b * g, a * f + b * h), (c * e + d * g, c * f + d * h)


def _trace_of_square(A: Rows) -> arb:
    (a, b), (c, d) = A
    return a**2 + 2 * b * c + d**2


def _spd(P: Rows, H: Rows) -> tuple[Jet, Callable[[arb], Any]]:
    """Two by two matrices: the same, at P along H; the distance from the eigenvalues of P^-1 Q."""
    (a, b), (c, d) = P
    determinant = a * d - b * c
    inverse = ((d / determinant, -b / determinant), (-c / determinant, a / determinant))
    M = _times(inverse, H)
    square = _times(M, M)
    fourth = _trace_of_square(square)
    third = _times(square, M)
    jet = Jet(-2 * (third[0][0] + third[1][1]), 6 * fourth, fourth)

    def at(eps: arb) -> Any:
        trace, det = M[0][0] + M[1][1], M[0][0] * M[1][1] - M[0][1] * M[1][0]
        root = (trace**2 - 4 * det).sqrt()
        logs = [(1 + eps * (trace + sign * root) / 2).log() for sign in (1, -1)]

        def length(share: arb) -> arb:
            near = ((1 + share * M[0][0], share * M[0][1]), (share * M[1][0], 1 + share * M[1][1]))
            (p, q), (r, s) = near
            size = p * s - q * r
            return eps**2 * _trace_of_square(
                _times(((s / size, -q / size), (-r / size, p / size)), M)
            )

        return sum((log**2 for log in logs), start=arb(0)), four_chords(
            length(arb(0)), length(eps / 2), length(eps)
        )

    return jet, at


def _closed_rates(name: str, jet: Jet, at: Callable[[arb], Any], first: float) -> list[Rate]:
    """The order of each error, then its coefficient."""
    epsilons, found = halvings(first, 8), []
    measured = [at(arb(eps)) for eps in epsilons]
    for chord, (order, target) in leading_errors(jet).items():
        errors = [distance - chords[chord] for distance, chords in measured]
        shares = [error / arb(eps) ** order for error, eps in zip(errors, epsilons, strict=True)]
        found.append(_rate(f"{name}: {chord} error", arb(0), epsilons, errors, float(order)))
        found.append(_rate(f"{name}: {chord} coefficient", target, epsilons, shares, 1.0))
    return found


def _rate(
    name: str, target: arb, epsilons: tuple[float, ...], values: list[arb], order: float
) -> Rate:
    rounding = max(float(value.rad()) + 2.0**-52 * abs(float(value.mid())) for value in values)
    centre = float(target.mid())
    return Rate(
        name,
        centre,
        epsilons,
        tuple(float(value.mid()) for value in values),
        expected=order,
        rounding=rounding + 2.0**-52 * abs(centre),
    )


def low_rank_field(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """G = diag(1 + x_a^2) + u u^T with u the reversed x, and its derivative, at x (m, d).

    Raises TypeError, ValueError by name. Source: RA8.
    """
    doubles(x=x)
    shape({}, "x", x, "m", "d")
    finite(x=x)
    eye, u = np.eye(x.shape[1]), x[:, ::-1]
    turned = eye[::-1]
    G = (1 + x * x)[:, :, None] * eye + u[:, :, None] * u[:, None, :]
    rank_one = turned[None, :, :, None] * u[:, None, None, :]
    cube = eye[:, :, None] * eye[:, None, :]
    dG = 2 * x[:, :, None, None] * cube + rank_one + np.swapaxes(rank_one, 2, 3)
    return G, dG


def _low_rank_jet(x: np.ndarray, h: np.ndarray) -> Jet:
    """The jet of low_rank_field: G(h, h) = sum (1 + x_a^2) h_a^2 + (u . h)^2 along x + s h."""
    G, dG = low_rank_field(x[None])
    bent = np.einsum("abc,b,c->a", christoffel(G, dG)[0], h, h)
    slope = np.einsum("abc,a,b,c->", dG[0], h, h, h)
    bend = 2 * np.sum(h**4) + 2 * (h[::-1] @ h) ** 2
    return Jet(float(slope), float(bend), float(bent @ G[0] @ bent))


_SOLVED = np.array([0.5, 0.25]), np.array([0.75, 0.5])
"""x and h for low_rank_field."""


Solved: TypeAlias = tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]


def _solved_errors() -> Solved:
    """eps, a bound on the error of each distance, and for each chord what it leaves."""
    x, h = _SOLVED
    epsilons = np.array(halvings(0.25, 6))
    solved = [geodesic(low_rank_field, x, x + eps * h) for eps in epsilons]
    distances = np.array([path.distance2 for path in solved])
    rounding = np.array([path.error for path in solved]) + 2.0**-46 * distances
    places = [x + eps * np.array([[0.0], [0.5], [1.0]]) * h for eps in epsilons]
    metrics = np.array([low_rank_field(points)[0] for points in places])
    lengths = epsilons[:, None] ** 2 * np.einsum("ekbc,b,c->ek", metrics, h, h)
    chords = [four_chords(*map(float, ends)) for ends in lengths]
    left = {name: distances - np.array([of[name] for of in chords]) for name in CHORDS}
    return epsilons, rounding, left


def _solved_rates(solved: Solved, coefficients: bool) -> list[Rate]:
    """The order of each error, or its coefficient."""
    epsilons, rounding, left = solved
    found = []
    for chord, (order, value) in leading_errors(_low_rank_jet(*_SOLVED)).items():
        scale = epsilons**order if coefficients else np.ones_like(epsilons)
        measured = tuple((left[chord] / scale).tolist())
        what, target, slope = ("coefficient", value, 1.0) if coefficients else ("error", 0.0, order)
        name = f"diag + low rank, boundary-value problem: {chord} {what}"
        noise = float(np.max(rounding / scale))
        found.append(Rate(name, target, tuple(epsilons.tolist()), measured, float(slope), noise))
    return found


def solved_rates() -> list[Rate]:
    """Orders of the errors for low_rank_field, distances from the boundary-value problem."""
    return _solved_rates(_solved_errors(), coefficients=False)


def rates() -> list[Rate]:
    """All measured orders and coefficients. Source: RA8."""
    with _precision():
        x, h = [arb(1) / 4, -arb(1) / 8], [arb(3) / 4, arb(1) / 2]
        P = ((arb(2), arb(1) / 4), (arb(1) / 4, arb(1)))
        H = ((arb(1) / 2, arb(1) / 4), (arb(1) / 4, -arb(1) / 4))
        spaces = (
            ("sphere", *_curved(1, x, h)),
            ("hyperbolic plane", *_curved(-1, x, h)),
            ("positive definite matrices", *_spd(P, H)),
        )
        closed = [_closed_rates(name, jet, at, 0.125) for name, jet, at in spaces]
    solved = _solved_errors()
    both = [_solved_rates(solved, coefficients) for coefficients in (False, True)]
    return [rate for found in closed + both for rate in found]
