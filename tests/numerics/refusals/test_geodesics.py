"""Refused inputs of geodesics: charts, fields, the boundary-value problem, chords and jets."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb

from numerics.metrics import geodesic_rates
from numerics.metrics.geodesic_rates import Jet, four_chords, leading_errors, low_rank_field
from numerics.metrics.geodesics import ConstantCurvature, SpdMatrices, christoffel, geodesic

NAN, INF, F32 = float("nan"), math.inf, np.float32
X, Y = np.array([0.25, -0.125]), np.array([-0.5, 0.5])
SPHERE, BALL, SPD = ConstantCurvature(1.0), ConstantCurvature(-1.0), SpdMatrices(2)
ONE = np.array([1.0, 0.0, 1.0])
G, DG = (np.eye(2)[None], np.zeros((1, 2, 2, 2)))
SKEW = np.array([[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])[None]

Row = tuple[Callable[[], Any], type[Exception], str]


def points(call: Callable[[Any], Any], axes: str, good: np.ndarray) -> list[Row]:
    """Rows that every function of points has."""
    return [
        (lambda: call(good.tolist()), TypeError, "^x must be a NumPy array.*got list"),
        (lambda: call(good.astype(F32)), TypeError, "^x must be a float64.*float32"),
        (lambda: call(torch.tensor(good)), TypeError, "^x must be a float64.*got Tensor"),
        (lambda: call(good.astype(int)), TypeError, "^x must be real floating.*int64"),
        (lambda: call(good[None]), ValueError, rf"^x must have shape \({axes}\).*got \(1, "),
        (lambda: call(good * NAN), ValueError, "^x must be finite, got nan"),
        (lambda: call(np.full_like(good, -INF)), ValueError, "^x must be finite, got -inf"),
    ]


def field(returned: Any) -> Callable[[np.ndarray], Any]:
    """A field that returns this everywhere."""
    return lambda x: returned


def solve(returned: Any) -> Any:
    return geodesic(field(returned), X, Y)


BAD: dict[str, list[Row]] = {
    "metrics.geodesics.ConstantCurvature": [
        (lambda: ConstantCurvature("1"), TypeError, "^kappa must be a real number, got str"),  # type: ignore
        (lambda: ConstantCurvature(1j), TypeError, "^kappa must be a real number, got complex"),  # type: ignore
        (lambda: ConstantCurvature(True), TypeError, "^kappa must be a real number, got bool"),
        (lambda: ConstantCurvature(NAN), ValueError, "^kappa must be finite, got nan"),
        (lambda: ConstantCurvature(-INF), ValueError, "^kappa must be finite, got -inf"),
    ],
    "metrics.geodesics.ConstantCurvature.field": [
        *points(SPHERE.field, "m, d", X[None]),
        (lambda: BALL.field(np.array([[0.0, 0.5], [0.0, 1.0]])), ValueError,
         r"^x must be in the chart.*got 0.0 at \(1,\)"),
        (lambda: BALL.field(np.array([[2.0]])), ValueError, "^x must be in the chart.*got -3.0"),
    ],
    "metrics.geodesics.ConstantCurvature.distance": [
        *points(lambda x: BALL.distance(x, Y), "d", X),
        (lambda: BALL.distance(X, Y[:1]), ValueError, r"^y must have shape \(d\) with d = 2"),
        (lambda: BALL.distance(X, Y.astype(F32)), TypeError, "^y must be a float64.*float32"),
        (lambda: BALL.distance(X, Y * NAN), ValueError, "^y must be finite, got nan"),
        (lambda: BALL.distance(2 * Y, X), ValueError, "^x must be in the chart"),
        (lambda: BALL.distance(X, 2 * Y), ValueError, "^y must be in the chart.*got -1.0"),
    ],
    "metrics.geodesics.SpdMatrices": [
        (lambda: SpdMatrices(0), ValueError, "^size must be at least 1, got 0"),
        (lambda: SpdMatrices(2.0), TypeError, "^size must be an integer, got float"),  # type: ignore
        (lambda: SpdMatrices(True), TypeError, "^size must be an integer, got bool"),
    ],
    "metrics.geodesics.SpdMatrices.matrices": [
        *points(SPD.matrices, "m, d", ONE[None]),
        (lambda: SPD.matrices(X[None]), ValueError, r"^x must have shape \(m, d\) with d = 3"),
    ],
    "metrics.geodesics.SpdMatrices.field": [
        *points(SPD.field, "m, d", ONE[None]),
        (lambda: SPD.field(np.array([[1.0, 2.0, 1.0]])), ValueError, "^x must be positive def.*-1"),
    ],
    "metrics.geodesics.SpdMatrices.distance": [
        (lambda: SPD.distance(ONE, X), ValueError, r"^x must have shape \(m, d\) with d = 3"),
        (lambda: SPD.distance(ONE, 0 * ONE), ValueError, "^x must be positive definite.*got 0.0"),
        (lambda: SPD.distance(ONE * NAN, ONE), ValueError, "^x must be finite, got nan"),
        (lambda: SPD.distance(ONE, ONE.astype(F32)), TypeError, "^x must be a float64.*float32"),
    ],
    "metrics.geodesics.christoffel": [
        (lambda: christoffel(G.astype(F32), DG), TypeError, "^dG must have the dtype of G"),
        (lambda: christoffel(G.tolist(), DG), TypeError, "^G must be a NumPy array.*got list"),  # type: ignore
        (lambda: christoffel(G.astype(F32), DG.astype(F32)), TypeError, "^G must be a float64"),
        (lambda: christoffel(G[0], DG), ValueError, r"^G must have shape \(m, d, d\).*\(2, 2\)"),
        (lambda: christoffel(G, DG[:, :1]), ValueError, r"^dG must have shape \(m, d, d, d\) with"),
        (lambda: christoffel(G * NAN, DG), ValueError, "^G must be finite, got nan"),
        (lambda: christoffel(G, DG * NAN), ValueError, "^dG must be finite, got nan"),
        (lambda: christoffel(G + SKEW[:, 0], DG), ValueError, "^G must be symmetric.*got 1.0"),
        (lambda: christoffel(G, DG + SKEW), ValueError, "^dG must be symmetric.*got 1.0"),
        (lambda: christoffel(-G, DG), ValueError, "^G must be positive definite.*got -1.0"),
    ],
    "metrics.geodesics.geodesic": [
        *points(lambda x: geodesic(SPHERE.field, x, Y), "d", X),
        (lambda: geodesic(SPHERE.field, X, Y[:1]), ValueError, r"^y must have.* with d = 2"),
        (lambda: geodesic(SPHERE.field, X, Y * NAN), ValueError, "^y must be finite, got nan"),
        (lambda: geodesic(None, X, Y), TypeError, "^field must be callable, got NoneType"),  # type: ignore
        (lambda: geodesic(SPHERE.field, X, Y, NAN), ValueError, "^tol must be finite, got nan"),
        (lambda: geodesic(SPHERE.field, X, Y, 1.0), ValueError, "^tol must lie between 1e-12"),
        (lambda: geodesic(SPHERE.field, X, Y, -1.0), ValueError, "^tol must lie between 1e-12"),
        (lambda: geodesic(SPHERE.field, X, Y, "1"), TypeError, "^tol must be a real number"),  # type: ignore
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
    "metrics.geodesic_rates.low_rank_field": points(low_rank_field, "m, d", X[None]),
}  # fmt: skip
PLAIN = {
    "metrics.geodesics.Geodesic",
    "metrics.geodesic_rates.rates",
    "metrics.geodesic_rates.solved_rates",
}
ROWS = [(name, row) for name, rows in BAD.items() for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "row"), ROWS, ids=[f"{name}-{k}" for k, (name, _) in enumerate(ROWS)]
)
def test_bad_input_is_refused_by_name(name: str, row: Row) -> None:
    call, error, message = row
    with pytest.raises(error, match=message):
        call()


@pytest.mark.slow
def test_rates_take_no_argument_and_cover_every_chord() -> None:
    names = [rate.name for rate in geodesic_rates.solved_rates()]
    assert [name.split(": ")[1] for name in names] == [f"{c} error" for c in geodesic_rates.CHORDS]
