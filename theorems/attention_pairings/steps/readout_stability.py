"""AP10, readouts of two worlds lie no farther apart than C times the cost of any coupling.

Along a unit vector n: Z <n, R - R'> = sum gamma_jl (kappa_j <n, v_j - v'_l> + (kappa_j - kappa'_l)
y_l) with y_l = <n, v'_l - R'>, and |y_l| <= D.
"""

from __future__ import annotations

from flint import fmpq
from sympy import Expr, Integer, Rational, Sum

from theorems.attention_pairings.steps.couplings import (
    FEATURES, FIRST, OTHERS, R, R2, SECOND, Z, at_least, at_least2, at_most, coupling, d, e, g,
    gamma, headroom, high, inverse, inverse2, j, kappa, kappa2, kernel, l, least_root, low, m,
    m2, mass, masses, mu, n, named, normaliser, normaliser2, over, p2, positive_low,
    positive_mu, positive_nu, probability, put, r, readout, readout2, real, spare, squared,
    under, unit_direction, v, v2, weight, weight2,
)
from theorems.checker.exact import Draw
from theorems.statement import Bound, Definition, Step, array, symbols_of

f = symbols_of("f")[0]
half = Rational(1, 2)
ell, D, C, rho, zeta, ra = (real(name) for name in (r"\ell", "D", "c", "rho", "zeta", "r_a"))
s, w = array("s", m, m2), array("w", m, m2)
y = array("y", m2)


def along(vector: Expr) -> Expr:
    """The inner product of n with a vector, given by its entry e."""
    return Sum(n[e] * vector, FEATURES)


def lagrange(one: Expr, other: Expr) -> Expr:
    """|x|^2 |y|^2 - <x, y>^2 as a sum of squares, for x_e y_f - x_f y_e."""
    return half * Sum((one - other) ** 2, FEATURES, (f, 1, d))


def mirrored(sign: int) -> str:
    """The suffix of a step for <n, x>, and for <-n, x>."""
    return "" if sign > 0 else "_below"


step, difference = v[j, e] - v2[l, e], kappa[j] - kappa2[l]
apart, apart2 = array("sigma", m, m2), array("sigma'", m2, m2)
distance = Definition(apart[j, l], w[j, l] ** 2 - Sum(step**2, FEATURES))
diameter = Definition(apart2[l, g], D**2 - Sum((v2[l, e] - v2[g, e]) ** 2, FEATURES))


def _distances(draw: Draw) -> None:
    """Mostly those of copies of the same values."""
    if draw.size(m) == draw.size(m2) and draw.source.rng.randrange(4):
        for cell in draw.cells(v2):
            draw.put(v2, cell, draw.get(v.name, cell))
    for row, other in draw.cells(w):
        draw.put(w, (row, other), least_root(squared(draw, v, row, v2, other)) + spare(draw))


def _diameter(draw: Draw) -> None:
    rows = [row for row, in draw.cells(v2, 1)]
    most = max(squared(draw, v2, row, v2, other) for row in rows for other in rows)
    put(draw, D, least_root(most) + spare(draw))


def _steps(draw: Draw) -> None:
    """Distances of keys at which the pairing has the slope ell, which is often steep."""
    put(draw, ell, fmpq(draw.source.rng.choice((0, 1, 16, 16))))
    for row, other in draw.cells(s):
        rise = abs(draw.get(kappa.name, (row,)) - draw.get(kappa2.name, (other,)))
        if (slope := draw.get(ell.name, ())) != 0:
            draw.put(s, (row, other), rise * draw.source.inverse(slope) + spare(draw))


def _largest(draw: Draw) -> None:
    slope = draw.get(ell.name, ()) * draw.get(D.name, ())
    put(draw, C, max(draw.get(high.name, ()), slope) + spare(draw))


distances = named("w bounds the distances of values", r"$w_{jl} \ge |v_j - v'_l|$", (w, ">=0"),
                  (apart, ">=0"), choose=_distances)
within = named("values within D", r"$|v'_l - v'_g| \le D$", (array(D.name), ">=0"),
               (apart2, ">=0"), choose=_diameter)
lipschitz_gaps = {sign: array(f"lambda{mirrored(sign)}", m, m2) for sign in (1, -1)}
lipschitz_slack = {sign: Definition(gap[j, l], ell * s[j, l] - sign * difference)
                   for sign, gap in lipschitz_gaps.items()}
lipschitz = named(
    "kappa is Lipschitz", r"$|\kappa_j - \kappa'_l| \le \ell s_{jl}$",
    *((gap, ">=0") for gap in lipschitz_gaps.values()), choose=_steps)
metric = named("s is nonnegative", "$s_{jl} \\ge 0$", (s, ">=0"))

projected = Bound(
    id="projected", small=along(step), large=w[j, l], power=2,
    by=(distance, distances, unit_direction),
    certificate=apart[j, l] + lagrange(n[e] * (v[j, f] - v2[l, f]), n[f] * step),
    because="Cauchy-Schwarz, by Lagrange's identity, as |n| = 1.")
chords = {
    sign: Bound(
        id=f"chord{mirrored(sign)}", small=sign * along(v2[l, e] - v2[g, e]), large=D, power=2,
        certificate=apart2[l, g]
        + lagrange(n[e] * (v2[l, f] - v2[g, f]), n[f] * (v2[l, e] - v2[g, e])),
        by=(diameter, within, unit_direction), because="Cauchy-Schwarz again.")
    for sign in (1, -1)
}
chord_gaps = {sign: array(f"delta{mirrored(sign)}", m2, m2) for sign in (1, -1)}
weights_total = Step(
    id="weights_total", lhs=Sum(p2[g], OTHERS), rhs=Integer(1),
    by=(weight2, normaliser2, inverse2, at_least2, positive_nu, positive_low),
    because=r"The readout is a mean: $Z' / Z' = 1$.")
seen = Definition(y[l], along(v2[l, e] - R2[e]))
inside = {
    sign: Bound(
        id=f"inside{mirrored(sign)}", small=sign * y[l], large=D,
        certificate=Sum(p2[g] * chord_gaps[sign][l, g], OTHERS),
        by=(Definition(chord_gaps[sign][l, g], D - chords[sign].small), chords[sign], seen,
            readout2, weights_total),
        because="R' is a mean of the values v', which are all within D of v'_l.")
    for sign in (1, -1)
}
separation = Definition(rho, along(R[e] - R2[e]))
pair = kappa[j] * along(step) + difference * y[l]
moved = Step(
    id="moved", lhs=rho, rhs=r * Sum(gamma[j, l] * pair, FIRST, SECOND),
    by=(separation, seen, readout, readout2, weight, weight2, coupling, normaliser, normaliser2,
        inverse, inverse2, positive_low, at_least, at_least2, positive_mu, positive_nu),
    because=r"$Z (R - R') = \int \kappa (v - R') \, d\mu$ and $0 = \int \kappa (v' - R') \, d\nu$: "
    "subtract them under the coupling.")

inner = {sign: array(f"eta{mirrored(sign)}", m2) for sign in (1, -1)}
inner_gaps = [Definition(inner[sign][l], D - sign * y[l]) for sign in (1, -1)]
value_gap = array("xi", m, m2)
value_slack = Definition(value_gap[j, l], w[j, l] - along(step))
above, steep = real("tau"), real("tau'")
largest = (Definition(above, C - high), Definition(steep, C - ell * D))
at_least_both = named("c is at least b and l D", r"$c \ge b$ and $c \ge \ell D$",
                      (array(above.name), ">=0"), (array(steep.name), ">=0"),
                      choose=_largest)
cost = Sum(gamma[j, l] * (s[j, l] + w[j, l]), FIRST, SECOND)
total = Bound(
    id="total", small=low, large=Z, certificate=Sum(mu[j] * over[j], FIRST),
    by=(mass, at_least, positive_mu), because=r"$\kappa \ge a$ on a probability measure.")
excess = Definition(zeta, Z - low)
one_over_a = Definition(ra, Integer(1), over=low)
lost = Sum(gamma[j, l] * (
    kappa[j] * value_gap[j, l] + (under[j] + above) * w[j, l] + steep * s[j, l]
    + half * lipschitz_gaps[1][j, l] * inner[-1][l]
    + half * lipschitz_gaps[-1][j, l] * inner[1][l]), FIRST, SECOND)
positive_kernel = Bound(
    id="positive_kernel", small=Integer(0), large=kappa[j], certificate=low + over[j], strict=True,
    by=(kernel, positive_low, at_least), because=r"$\kappa \ge a > 0$.")
constant_sign = Bound(
    id="constant_sign", small=Integer(0), large=C,
    certificate=above + Sum(mu[j] * (under[j] + kappa[j]), FIRST),
    by=(headroom, *largest, positive_kernel, at_most, at_least_both, positive_mu, probability),
    because=r"$c \ge b \ge \kappa > 0$.")
stability = Bound(
    id="stability", small=rho, large=C * ra * cost, certificate=r * lost + r * ra * zeta * C * cost,
    by=(projected, lipschitz, metric, moved, value_slack, *inner_gaps, headroom, *largest,
        *lipschitz_slack.values(), excess, inverse, one_over_a, total, *inside.values(),
        positive_kernel, constant_sign, at_most, at_least_both, masses, within, distances,
        positive_low),
    because=r"$|y_l| \le D$, so a pair costs at most $b w_{jl} + \ell D s_{jl}$, and $Z \ge a$.")
