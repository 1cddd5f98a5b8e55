"""RA8, distances known in closed form: a line with any metric, spaces of constant curvature.

On a line the distance is the integral of the square root f of the metric. In the stereographic
chart of curvature kappa the metric is 4/(1 + kappa |x|^2)^2, and a function of the square of half a
chord s = |y - x|^2/((1 + kappa |x|^2)(1 + kappa |y|^2)) gives the distance, for all d.
"""

from __future__ import annotations

from sympy import Expr, Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.riemannian_attention.steps.path_energy import (
    D, HALF, K, SIXTH, TWELFTH, a, b, c, christoffel, d, eps, h,
)
from theorems.statement import Definition, Step, array


def numbers(*names: str) -> list[Symbol]:
    """Real numbers by their names."""
    return [Symbol(name, real=True) for name in names]


# A line: the metric g = f^2, its derivatives g', g'' by those of f.
f0, f1, f2, rest, g, g1, g2, gamma, far, halfway = numbers(
    "f", "f'", "f''", "rho_f", "g", "g'", "g''", r"\Gamma", "C_1", "C_h"
)
positive_f = signed(array("f"), ">0")
roots = (Definition(g, f0**2), Definition(g1, 2 * f0 * f1), Definition(g2, 2 * (f1**2 + f0 * f2)))
inverse_f = Symbol("r_f", real=True)
reciprocal_f = Definition(inverse_f, Integer(1), over=f0)
ARC = (eps * f0 + HALF * eps**2 * f1 + SIXTH * eps**3 * f2 + eps**4 * rest) ** 2
LINE = eps**2 * g + HALF * eps**3 * g1 + eps**4 * (SIXTH * g2 - TWELFTH * f1**2)
ARC_REST = SIXTH * f1 * f2 + 2 * f0 * rest + eps * (
    Rational(1, 36) * f2**2 + f1 * rest + eps * (Rational(1, 3) * f2 * rest + eps * rest**2))
line = Step(
    id="line", lhs=ARC, rhs=LINE + eps**5 * ARC_REST, by=roots,
    because=r"The square of $\int f$, with $f$ expanded to second order.",
)
line_christoffel = Step(
    id="line_christoffel", lhs=f1**2, rhs=Rational(1, 4) * g1**2 * inverse_f**2,
    by=(*roots[:2], reciprocal_f, positive_f),
    because=r"$\Gamma = g' / (2 g) = f' / f$, so $g \Gamma^2 = (f')^2 = (g')^2 / (4 g)$.",
)
TAIL = Rational(1, 48) * g1**2 * inverse_f**2
line_symmetrised = Step(
    id="line_symmetrised",
    lhs=ARC - HALF * eps**2 * (2 * g + eps * g1 + HALF * eps**2 * g2 + eps**3 * far),
    rhs=-eps**4 * (TWELFTH * g2 + TAIL) + eps**5 * (ARC_REST - HALF * far),
    by=(*roots, reciprocal_f, positive_f), because=r"The ends have $g$ and $g + \varepsilon g' + "
    r"\frac12 \varepsilon^2 g'' + \varepsilon^3 C_1$.",
)
line_midpoint = Step(
    id="line_midpoint", lhs=ARC - eps**2 * (
        g + HALF * eps * g1 + Rational(1, 8) * eps**2 * g2 + eps**3 * halfway),
    rhs=eps**4 * (Rational(1, 24) * g2 - TAIL) + eps**5 * (ARC_REST - halfway),
    by=(*roots, reciprocal_f, positive_f), because="The same with half the step.",
)
BEND_ON_LINE = TWELFTH * g * gamma**2
example = (Definition(g, Integer(2)), Definition(g1, Integer(1)), Definition(g2, Integer(3)),
           Definition(gamma, Rational(1, 4)))
example_christoffel = Step(
    id="example_christoffel", lhs=2 * g * gamma, rhs=g1, by=example,
    because=r"$\Gamma = g' / (2 g) = \frac14$.",
)
example_query = Step(
    id="example_query", lhs=HALF * g1, rhs=HALF, by=example, because="$g' = e^x + 2 x$ is 1 at 0.",
)
example_symmetrised = Step(
    id="example_symmetrised", lhs=-TWELFTH * g2 - BEND_ON_LINE, rhs=-Rational(25, 96), by=example,
    because=r"$-\frac{3}{12} - \frac{1}{96}$.",
)
example_midpoint = Step(
    id="example_midpoint", lhs=Rational(1, 24) * g2 - BEND_ON_LINE, rhs=Rational(11, 96),
    by=example, because=r"$\frac{3}{24} - \frac{1}{96}$.",
)
example_simpson = Step(
    id="example_simpson", lhs=-BEND_ON_LINE, rhs=-Rational(1, 96), by=example,
    because=r"$\frac{1}{12} g \Gamma^2 = \frac{1}{12} \cdot 2 \cdot \frac{1}{16}$.",
)

# Conformal metrics lambda delta, with gradient l at x.
slope, at = array("l", d), array("x", d)
lam, inverse_lam = numbers(r"\lambda", r"r_\lambda")
conformal_derivative = Definition(D[a, b, c], slope[a] * KroneckerDelta(b, c))


def total(entry: Expr) -> Expr:
    """The sum over the features a."""
    return Sum(entry, (a, 1, d))


LENGTH, STEEP = total(h[a] ** 2), total(slope[a] ** 2)
conformal = Step(
    id="conformal", lhs=Sum(K[b] ** 2, (b, 1, d)), rhs=Rational(1, 4) * LENGTH**2 * STEEP,
    by=(christoffel, conformal_derivative),
    because=r"$\Gamma(h, h)$ is $((l \cdot h) h - \frac12 |h|^2 l) / \lambda$.",
)
curvature, p, P, r, R, grow, a0, a1, a2, a3 = numbers(
    "kappa", "p", "p'", "r", "r'", "w_p", "a_0", "a_1", "a_2", "a_3"
)
s = Symbol("s", real=True)
positive_p = (signed(array("p"), ">0"), signed(array("p'"), ">0"))
AXIS = total(at[a] * h[a])
here = Definition(p, 1 + curvature * total(at[a] ** 2))
there = Definition(P, p + eps * curvature * grow)
growth = Definition(grow, 2 * AXIS + eps * LENGTH)
reciprocals = (Definition(R, Integer(1), over=P), Definition(r, Integer(1), over=p), *positive_p)
gap = Step(
    id="gap", lhs=1 + curvature * total((at[a] + eps * h[a]) ** 2), rhs=P,
    by=(there, here, growth),
    because=r"$|x + \varepsilon h|^2 = |x|^2 + \varepsilon (2 x \cdot h + \varepsilon |h|^2)$.",
)
rise = Step(
    id="rise", lhs=eps * curvature * grow, rhs=P - p, by=(there,), because="The same.",
)
turn = Step(
    id="turn", lhs=eps * curvature * grow * R, rhs=1 - p * R, by=(rise, *reciprocals),
    because="$(P - p) / P$.",
)
coefficients = (
    Definition(a0, r), Definition(a1, -2 * curvature * r**2 * AXIS),
    Definition(a2, -curvature * r**2 * LENGTH + 4 * curvature**2 * r**3 * AXIS**2),
    Definition(a3, curvature**2 * r**3 * LENGTH * (4 * AXIS + eps * LENGTH)
               - curvature**3 * r**3 * grow**3 * R),
)
TO_SECOND = a0 + eps * a1 + eps**2 * a2
series = Step(
    id="series", lhs=R, rhs=TO_SECOND + eps**3 * a3,
    by=(turn, *reciprocals, *coefficients, growth),
    because="Three terms of a geometric series, and what is left of it.",
)

# The metric 4 r^2 delta and its derivatives, the square s of half a chord, and its distance.
SLOPE = -16 * curvature * r**3 * AXIS
BEND = -16 * curvature * r**3 * LENGTH + 96 * curvature**2 * r**4 * AXIS**2
AFTER = 8 * a0 * a3 + 8 * a1 * a2 + 4 * eps * (a2**2 + 2 * a1 * a3 + 2 * eps * a2 * a3
                                               + eps**2 * a3**2)
metric_series = Step(
    id="metric_series", lhs=4 * R**2, by=(series, *coefficients[:3]),
    rhs=4 * r**2 + eps * SLOPE + HALF * eps**2 * BEND + eps**3 * AFTER,
    because="The square of the series: the derivatives of the metric along $h$.",
)
point = Step(
    id="point", lhs=curvature * total(at[a] ** 2), rhs=p - 1, by=(here,), because="As $p$ is.",
)
conformal_slope = Definition(slope[a], -16 * curvature * at[a] * r**3)
chord = Definition(s, eps**2 * LENGTH * r * R)
delta, rest_s = numbers(r"\delta", "rho_s")
FROM_ARC = Rational(1, 4) * delta**2 - Rational(1, 48) * curvature * delta**4 + delta**6 * rest_s
arc = Step(
    id="arc", lhs=4 * FROM_ARC + Rational(4, 3) * curvature * FROM_ARC**2,
    rhs=delta**2 + delta**6 * (4 * rest_s + Rational(4, 3) * curvature * (
        -Rational(1, 96) * curvature + HALF * delta**2 * rest_s) + Rational(4, 3) * curvature
        * delta**2 * (Rational(1, 48) * curvature - delta**2 * rest_s) ** 2),
    because=r"The terms in $\delta^4$ are $-\frac{1}{12} \kappa$ and $\frac43 \kappa \cdot "
    r"\frac1{16}$.",
)
LATER = a1 + eps * a2 + eps**2 * a3
curved = Step(
    id="curved", lhs=4 * s + Rational(4, 3) * curvature * s**2,
    rhs=4 * eps**2 * r**2 * LENGTH + HALF * eps**3 * SLOPE * LENGTH
    + eps**4 * (SIXTH * BEND * LENGTH - TWELFTH * Rational(1, 4) * p**2 * Sum(K[b] ** 2, (b, 1, d)))
    + eps**5 * (4 * LENGTH * r * a3 + Rational(4, 3) * curvature * LENGTH**2 * r**2 * (
        2 * r * LATER + eps * LATER**2)),
    by=(conformal, chord, series, *coefficients[:3], conformal_slope, point, *reciprocals),
    because=r"Orders two, three and four agree; $|\Gamma(h, h)|^2 = |K|^2 / \lambda$ with "
    r"$1 / \lambda = p^2 / 4$.",
)
