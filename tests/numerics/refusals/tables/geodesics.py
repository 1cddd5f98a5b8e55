"""Refused inputs of geodesics: charts, fields, the boundary-value problem, chords and jets."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from numerics.metrics.geodesic_rates import Jet, four_chords, leading_errors, low_rank_field
from numerics.metrics.geodesics import ConstantCurvature, SpdMatrices, christoffel, geodesic
from tests.numerics.refusals.faults import Call, Floats, Integer, Real, Refused

NAN, INF, F32 = float("nan"), math.inf, np.float32
X, Y = np.array([0.25, -0.125]), np.array([-0.5, 0.5])
SPHERE, BALL, SPD = ConstantCurvature(1.0), ConstantCurvature(-1.0), SpdMatrices(2)
ONE = np.array([1.0, 0.0, 1.0])
G, DG = (np.eye(2)[None], np.zeros((1, 2, 2, 2)))
SKEW = np.array([[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])[None]


def field(returned: Any) -> Callable[[np.ndarray], Any]:
    """A field that returns this everywhere."""
    return lambda x: returned


def solve(returned: Any) -> Any:
    return geodesic(field(returned), X, Y)


BAD: Refused = {
    "metrics.geodesics.ConstantCurvature": [Call(ConstantCurvature, kappa=Real(1.0))],
    "metrics.geodesics.ConstantCurvature.field": [
        Call(SPHERE.field, x=Floats(X[None], "m d", float64=True)),
        (lambda: BALL.field(np.array([[0.0, 0.5], [0.0, 1.0]])), ValueError,
         r"^x must be in the chart.*got 0.0 at \(1,\)"),
        (lambda: BALL.field(np.array([[2.0]])), ValueError, "^x must be in the chart.*got -3.0"),
    ],
    "metrics.geodesics.ConstantCurvature.distance": [
        Call(lambda x: BALL.distance(x, Y), x=Floats(X, "d", float64=True)),
        Call(lambda y: BALL.distance(X, y), y=Floats(Y, "d=2", float64=True)),
        (lambda: BALL.distance(2 * Y, X), ValueError, "^x must be in the chart"),
        (lambda: BALL.distance(X, 2 * Y), ValueError, "^y must be in the chart.*got -1.0"),
    ],
    "metrics.geodesics.SpdMatrices": [Call(SpdMatrices, size=Integer(2, 1))],
    "metrics.geodesics.SpdMatrices.matrices": [
        Call(SPD.matrices, x=Floats(ONE[None], "m d=3", float64=True)),
    ],
    "metrics.geodesics.SpdMatrices.field": [
        Call(SPD.field, x=Floats(ONE[None], "m d=3", float64=True)),
        (lambda: SPD.field(np.array([[1.0, 2.0, 1.0]])), ValueError, "^x must be positive def.*-1"),
    ],
    "metrics.geodesics.SpdMatrices.distance": [
        Call(lambda x: SPD.distance(x, ONE), x=Floats(ONE, "d=3", float64=True)),
        Call(lambda y: SPD.distance(ONE, y), y=Floats(ONE, "d=3", float64=True)),
        (lambda: SPD.distance(ONE, 0 * ONE), ValueError, "^y must be positive definite.*got 0.0"),
    ],
    "metrics.geodesics.christoffel": [
        Call(christoffel, G=Floats(G, "m d d"), dG=Floats(DG, "m d d d")),
        (lambda: christoffel(G.astype(F32), DG), TypeError, "^dG must have the dtype of G"),
        (lambda: christoffel(G.astype(F32), DG.astype(F32)), TypeError, "^G must be a float64"),
        (lambda: christoffel(G + SKEW[:, 0], DG), ValueError, "^G must be symmetric.*got 1.0"),
        (lambda: christoffel(G, DG + SKEW), ValueError, "^dG must be symmetric.*got 1.0"),
        (lambda: christoffel(-G, DG), ValueError, "^G must be positive definite.*got -1.0"),
    ],
    "metrics.geodesics.geodesic": [
        Call(lambda x: geodesic(SPHERE.field, x, Y), x=Floats(X, "d", float64=True)),
        Call(lambda y: geodesic(SPHERE.field, X, y), y=Floats(Y, "d=2", float64=True)),
        Call(geodesic, field=SPHERE.field, x=X, y=Y,
             tol=Real(1e-8, out=((1.0, "lie between 1e-12"), (-1.0, "lie between 1e-12")))),
        (lambda: geodesic(None, X, Y), TypeError, "^field must be callable, got NoneType"),  # type: ignore
        (lambda: geodesic(BALL.field, X, 2 * Y), ValueError, "^x must be in the chart"),
        (lambda: solve(G), TypeError, r"^field must return a pair \(G, dG\), got ndarray"),
        (lambda: solve((G, DG)), ValueError, r"^field's G must have shape \(m, d, d\) with m = 9"),
        (lambda: geodesic(lambda x: (SPHERE.field(x)[0], DG), X, Y), ValueError,
         r"^field's dG must have shape \(m, d, d, d\) with"),
        (lambda: geodesic(lambda x: tuple(NAN * a for a in SPHERE.field(x)), X, Y), ValueError,  # type: ignore
         "^field's G must be finite, got nan"),
        (lambda: geodesic(lambda x: tuple(-a for a in SPHERE.field(x)), X, Y), ValueError,  # type: ignore
         "^G must be positive definite"),
        (lambda: geodesic(lambda x: (NAN * x, x), X, X), ValueError, "^field's G must have shape"),
    ],
    "metrics.geodesic_rates.Jet": [
        (lambda: Jet(1, 2, 3), TypeError, "^slope must be a float, a Fraction or an arb, got int"),
        (lambda: Jet(1.0, Fraction(2), 3.0), TypeError, "^bend must be of the kind.*got Fraction"),
        (lambda: Jet(1.0, 2.0, "3"), TypeError, "^tail must be a float.*got str"),
        (lambda: Jet(1.0, NAN, 3.0), ValueError, "^bend must be finite, got nan"),
        (lambda: Jet(arb("nan"), arb(1), arb(1)), ValueError, "^slope must be finite, got nan"),
    ],
    "metrics.geodesic_rates.leading_errors": [
        (lambda: leading_errors((1.0, 2.0, 3.0)), TypeError, "^jet must be a Jet, got tuple"),  # type: ignore
    ],
    "metrics.geodesic_rates.four_chords": [
        (lambda: four_chords(1, 2, 3), TypeError, "^query must be a float.*got int"),
        (lambda: four_chords(1.0, Fraction(1), 1.0), TypeError, "^midpoint must be of the kind of"),
        (lambda: four_chords(1.0, 1.0, INF), ValueError, "^key must be finite, got inf"),
    ],
    "metrics.geodesic_rates.low_rank_field": [
        Call(low_rank_field, x=Floats(X[None], "m d", float64=True)),
    ],
}  # fmt: skip
PLAIN = {
    "metrics.geodesics.Geodesic",
    "metrics.geodesic_rates.rates",
    "metrics.geodesic_rates.solved_rates",
}
