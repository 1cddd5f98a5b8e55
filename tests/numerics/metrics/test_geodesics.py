"""Geodesics of a metric field against closed forms, and the orders at which chords leave them."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy

from numerics.metrics import geodesic_rates, geodesics
from numerics.metrics.geodesic_rates import Jet, four_chords, leading_errors, low_rank_field
from numerics.metrics.geodesics import ConstantCurvature, SpdMatrices, christoffel, geodesic

U = 2.0**-53
SPHERE, PLANE, BALL = (ConstantCurvature(kappa) for kappa in (1.0, 0.0, -1.0))
X, Y = np.array([0.25, -0.125]), np.array([-0.5, 0.5])
P, Q = np.array([2.0, 0.25, 1.0]), np.array([1.0, -0.5, 3.0])
SOLVED = {
    "sphere": (SPHERE, X, Y),
    "plane": (PLANE, X, Y),
    "hyperbolic plane": (BALL, X, Y),
    "sphere in three dimensions": (SPHERE, np.array([0.5, 0.0, -0.25]), np.array([0.0, 0.5, 0.5])),
    "a line": (BALL, np.array([-0.5]), np.array([0.75])),
    "positive definite matrices": (SpdMatrices(2), P, Q),
    "positive numbers": (SpdMatrices(1), np.array([1.0]), np.array([3.0])),
}


@pytest.mark.slow
@pytest.mark.parametrize("space", SOLVED)
def test_a_solved_geodesic_has_the_length_of_the_closed_form(space: str) -> None:
    chart, x, y = SOLVED[space]
    found, exact = geodesic(chart.field, x, y), chart.distance(x, y) ** 2
    rounding = 2**10 * U * exact  # thousands of nodes are summed, each of about ten operations
    assert math.isfinite(found.distance2)
    assert -rounding <= found.distance2 - exact <= 2 * found.error + rounding
    assert found.error < 1e-10
    assert (found.points[0] == x).all()
    # The path is x + t h + |h|^2 w with w(1) = 0 to the solver's own tolerance.
    assert np.max(np.abs(found.points[-1] - y)) <= geodesics.TOLERANCE


def test_the_segment_is_longer_than_the_geodesic_by_the_stated_fourth_order() -> None:
    """Energy of the segment minus squared distance tends to |Gamma(h, h)|^2 / 12."""
    h, eps = np.array([0.75, 0.5]), 2.0**-6
    nodes, weights = np.polynomial.legendre.leggauss(12)
    G, dG = BALL.field(X[None])
    bent = np.einsum("abc,b,c->a", christoffel(G, dG)[0], h, h)
    tail = float(bent @ G[0] @ bent) / 12
    metrics, _ = BALL.field(X + eps * (nodes[:, None] + 1) / 2 * h)
    segment = eps**2 * float(weights / 2 @ np.einsum("kbc,b,c->k", metrics, h, h))
    excess = (segment - BALL.distance(X, X + eps * h) ** 2) / eps**4
    assert math.isfinite(excess)
    assert abs(excess - tail) < 4 * eps * tail  # the next order


def derivative(chart: Any, x: np.ndarray) -> np.ndarray:
    """d_a G_bc by central differences."""
    step = 2.0**-18
    ahead, behind = (chart.field(x + sign * step * np.eye(len(x)))[0] for sign in (1, -1))
    return (ahead - behind) / (2 * step)


@pytest.mark.parametrize("space", SOLVED)
def test_a_field_gives_the_derivative_of_its_metric(space: str) -> None:
    chart, x, _ = SOLVED[space]
    found = chart.field(x[None])[1][0]
    size = 1 + np.max(np.abs(found))
    assert np.isfinite(found).all()
    # The differences are off by third derivatives, a few hundred times 2^-36, and by 2^-35 rounded.
    assert np.max(np.abs(found - derivative(chart, x))) <= 2.0**-26 * size


def test_christoffel_symbols_of_polar_coordinates() -> None:
    """G = diag(1, r^2): Gamma^r_aa = -r, Gamma^a_ra = 1/r."""
    r = 4.0
    G = np.diag([1.0, r * r])[None]
    dG = np.zeros((1, 2, 2, 2))
    dG[0, 0, 1, 1] = 2 * r
    expected = np.zeros((2, 2, 2))
    expected[0, 1, 1], expected[1, 0, 1], expected[1, 1, 0] = -r, 1 / r, 1 / r
    assert (christoffel(G, dG)[0] == expected).all()


def test_a_straight_line_in_polar_coordinates() -> None:
    def field(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        G, dG = np.zeros((len(x), 2, 2)), np.zeros((len(x), 2, 2, 2))
        G[:, 0, 0], G[:, 1, 1], dG[:, 0, 1, 1] = 1.0, x[:, 0] ** 2, 2 * x[:, 0]
        return G, dG

    found = geodesic(field, np.array([1.0, 0.0]), np.array([2.0, 1.0]))
    exact = 1 + 4 - 4 * math.cos(1.0)
    assert abs(found.distance2 - exact) <= 2 * found.error + 2**10 * U * exact


def test_a_geodesic_from_a_point_to_itself_has_length_zero() -> None:
    found = geodesic(SPHERE.field, X, X)
    assert found.distance2 == found.error == found.speed_spread == 0.0


def test_near_pairs_keep_their_digits() -> None:
    """Of t -> (1 + t)^2 the logarithm is 2 log1p(t): exact to rounding at t = 2^-40."""
    numbers, t = SpdMatrices(1), 2.0**-40
    found = numbers.distance(np.array([1.0]), np.array([1.0 + t]))
    assert abs(found - math.log1p(t)) <= 4 * U * t
    assert PLANE.distance(X, X + np.array([0.0, t])) == 2 * t


@pytest.mark.parametrize(
    ("kappa", "exact"),
    [
        (1.0, 2 * math.atan(0.5)),
        (4.0, math.pi / 4),
        (-1.0, 2 * math.atanh(0.5)),
        (-0.25, 4 * math.atanh(0.25)),
        (0.0, 1.0),
    ],
)
def test_distances_along_a_ray_from_the_origin(kappa: float, exact: float) -> None:
    """2 arctan(sqrt(kappa) |x|) / sqrt(kappa), and the other function for kappa < 0."""
    found = ConstantCurvature(kappa).distance(np.zeros(2), np.array([0.0, 0.5]))
    assert abs(found - exact) <= 8 * U * exact


def test_distances_of_matrices_are_affine_invariant() -> None:
    """A P A^T and A Q A^T are as far apart as P and Q; diag(e^2, 1), I are 2 apart."""
    chart = SpdMatrices(2)
    A = np.array([[1.0, 0.5], [0.0, 2.0]])
    moved = []
    for x in (P, Q):
        matrix = A @ chart.matrices(x[None])[0] @ A.T
        moved.append(matrix[np.triu_indices(2)])
    assert abs(chart.distance(*moved) - chart.distance(P, Q)) <= 2**8 * U * chart.distance(P, Q)
    far = chart.distance(np.array([math.e**2, 0.0, 1.0]), np.array([1.0, 0.0, 1.0]))
    assert abs(far - 2) <= 2**4 * U


# Faults: no convergence, wrong derivatives, a chart that is left.


def test_no_convergence_is_an_error() -> None:
    def hard(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        wave, rate = np.sin(400 * x), 400.0
        return (1.5 + wave)[:, :, None], (rate * np.cos(400 * x))[:, :, None, None]

    with pytest.raises(RuntimeError, match=r"^no geodesic from"):
        geodesic(hard, np.array([0.0]), np.array([3.0]), tol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.0, -1.0, 0.5])
def test_a_field_with_the_derivative_of_another_metric_is_refused(factor: float) -> None:
    def wrong(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        G, dG = BALL.field(x)
        return G, factor * dG

    with pytest.raises(RuntimeError, match=r"^the speed must be constant along a geodesic"):
        geodesic(wrong, X, Y)


def test_a_loose_tolerance_shows_in_the_error() -> None:
    loose, tight = (geodesic(BALL.field, X, Y, tol) for tol in (1e-2, 1e-8))
    assert loose.error > 100 * tight.error
    assert len(loose.times) < len(tight.times)


# Expansions: exact in one and two dimensions, and measured.


@pytest.mark.slow
def test_the_fourth_order_of_a_line_by_series() -> None:
    """(integral of sqrt g)^2 for g = e^x + x^2 + 1 at 0, and for a general g = f^2."""
    t, s = sympy.symbols("t s", positive=True)
    g = sympy.exp(s) + s**2 + 1
    root = sympy.series(sympy.sqrt(g), s, 0, 4).removeO()
    square = sympy.expand(sympy.integrate(root, (s, 0, t)) ** 2)
    chords = four_series(g, s, t)
    expected = {"query-side": (3, "1/2"), "symmetrised": (4, "-25/96"), "midpoint": (4, "11/96"),
                "Simpson": (4, "-1/96")}  # fmt: skip
    for name, (order, value) in expected.items():
        error = sympy.expand(square - chords[name])
        assert [error.coeff(t, k) for k in range(order)] == [0] * order
        assert error.coeff(t, order) == sympy.Rational(value)
    exact = {name: value for name, (_, value) in leading_errors(
        Jet(Fraction(1), Fraction(3), Fraction(1, 8))).items()}  # fmt: skip
    assert {name: str(value) for name, value in exact.items()} == {
        name: value for name, (_, value) in expected.items()
    }


def four_series(g: Any, s: Any, t: Any) -> dict[str, Any]:
    """The four chords of a metric g(s) on [0, t] to fourth order."""
    near = sympy.series(g, s, 0, 4).removeO()
    query, middle, key = (t**2 * near.subs(s, share * t) for share in (0, sympy.Rational(1, 2), 1))
    average = (query + key) / 2
    return {"query-side": query, "symmetrised": average, "midpoint": middle,
            "Simpson": (average + 2 * middle) / 3}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kappa", [1, -1])
def test_the_fourth_order_of_a_surface_by_series(kappa: int) -> None:
    """The closed form on the sphere and the hyperbolic plane, in general position."""
    e = sympy.symbols("e", positive=True)
    a, b, u, v = sympy.Rational(1, 4), sympy.Rational(-1, 8), sympy.Rational(3, 4), 1
    here, there = (1 + kappa * ((a + k * u) ** 2 + (b + k * v) ** 2) for k in (0, e))
    square = e**2 * (u**2 + v**2) / (here * there)
    # (2 arcsin(sqrt s))^2 = 4 s + 4 s^2/3 + O(s^3), and with the other sign for arsinh.
    distance = sympy.series(4 * square + sympy.Rational(4 * kappa, 3) * square**2, e, 0, 5)
    g = 4 * (u**2 + v**2) / there**2
    chords = four_series(g, e, (t := sympy.symbols("t", positive=True)))
    axis, size = a * u + b * v, u**2 + v**2
    jet = [sympy.diff(g, e, k).subs(e, 0) for k in (1, 2)]
    tail = 16 * (a**2 + b**2) * size**2 / here**4
    assert jet[0] == -16 * kappa * axis * size / here**3
    stated = leading_errors(Jet(*(Fraction(str(q)) for q in (*jet, tail))))
    for name, (order, value) in stated.items():
        error = sympy.expand(distance.removeO() - chords[name].subs(t, e))
        assert error.coeff(e, order) == sympy.Rational(str(value)), name


@pytest.mark.slow
def test_orders_and_coefficients_are_measured() -> None:
    found = geodesic_rates.rates()
    assert [rate.explain() for rate in found if not rate.ok or rate.attained] == []
    expected = [rate.expected for rate in found if rate.name.endswith("error")]
    assert expected == 4 * [3.0, 4.0, 4.0, 4.0]
    assert len(found) == 32


PLANTED: dict[str, Callable[[Jet], Jet]] = {
    "whole slope": lambda jet: replace(jet, slope=2 * jet.slope),
    "no tail": lambda jet: replace(jet, tail=0 * jet.tail),
    "half the tail": lambda jet: replace(jet, tail=jet.tail / 2),
    "3 % of the tail": lambda jet: replace(jet, tail=jet.tail + 3 * jet.tail / 100),
    "3 % of the slope": lambda jet: replace(jet, slope=jet.slope + 3 * jet.slope / 100),
    "3 % of the bend": lambda jet: replace(jet, bend=jet.bend + 3 * jet.bend / 100),
    "bend of the other sign": lambda jet: replace(jet, bend=-jet.bend),
}


@pytest.mark.slow
@pytest.mark.parametrize("falsehood", PLANTED)
def test_a_false_coefficient_is_not_measured(
    falsehood: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = geodesic_rates.leading_errors
    monkeypatch.setattr(geodesic_rates, "leading_errors", lambda jet: true(PLANTED[falsehood](jet)))
    spaces: dict[str, bool] = {}
    for rate in geodesic_rates.rates():
        space = rate.name.split(":")[0]
        spaces[space] = spaces.get(space, True) and rate.ok
    assert spaces == dict.fromkeys(spaces, False)
    assert len(spaces) == 4


def test_the_balls_and_the_floats_measure_the_same_distance() -> None:
    with geodesic_rates._precision():
        from flint import arb

        x, h = [arb(1) / 4, -arb(1) / 8], [arb(3) / 4, arb(1) / 2]
        for kappa, chart in ((1, SPHERE), (-1, BALL)):
            exact = float(geodesic_rates._curved(kappa, x, h)[1](arb(1) / 4)[0].mid())
            found = chart.distance(X, X + np.array([0.75, 0.5]) / 4) ** 2
            assert abs(found - exact) <= 2**6 * U * exact


def test_the_low_rank_field_is_diagonal_plus_rank_one() -> None:
    x = np.array([[0.5, -2.0, 3.0]])
    u = x[0, ::-1]
    G, dG = low_rank_field(x)
    assert (G[0] == np.diag(1 + x[0] ** 2) + np.outer(u, u)).all()
    step = 2.0**-10
    ahead, behind = (low_rank_field(x + sign * step * np.eye(3))[0] for sign in (1, -1))
    assert (dG[0] == (ahead - behind) / (2 * step)).all()  # quadratic in dyadic numbers: exact


def test_the_four_chords_of_a_linear_metric_on_a_line() -> None:
    """g = 1, 2, 3 at the ends and the middle of [0, 1]."""
    parts = four_chords(Fraction(1), Fraction(2), Fraction(3))
    assert parts == {"query-side": 1, "symmetrised": 2, "midpoint": 2, "Simpson": 2}


@pytest.mark.slow
def test_rates_take_no_argument_and_cover_every_chord() -> None:
    names = [rate.name for rate in geodesic_rates.solved_rates()]
    assert [name.split(": ")[1] for name in names] == [f"{c} error" for c in geodesic_rates.CHORDS]
