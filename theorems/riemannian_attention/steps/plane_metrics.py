"""Steps of RA10 on metrics of the plane: polar coordinates, spheres, hyperbolic planes.

Geodesic polar coordinates have du^2 + phi(u)^2 dw^2: G = I + (phi^2 - 1) w w^T with unit vectors u
and w at right angles, which span d = 2; more features are flat factors. In the stereographic chart
of curvature kappa the metric is 4 I / (1 + kappa |x|^2)^2, for all d.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sympy import Expr, Integer, KroneckerDelta, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.matrices import orthonormal_pair
from theorems.checker.exact import Draw, SmallIntegers
from theorems.riemannian_attention.steps.connection_jets import (
    D_Gamma, HALF, Gamma, a, b, d, e, f, g, h, k, l, of, total, v,
)
from theorems.riemannian_attention.steps.curvature_proxy import MATRICES, R_ab, curvature
from theorems.riemannian_attention.steps.levi_civita import (
    christoffel, changed, dG, ddG, first_kind, inverse_metric, kind_slope, slope,
)
from theorems.riemannian_attention.steps.teleparallel import F, connection, dF, inverse_F
from theorems.riemannian_attention.steps.torsion_proxy import torsion, torsion_of
from theorems.statement import Definition, Iff, Step, array

delta = KroneckerDelta
u, w = array("u_r", d), array(r"u_\theta", d)
a_r, a_t, b_r, b_t = (
    Symbol(name, real=True) for name in ("a_r", r"a_\theta", "b_r", r"b_\theta")
)
phi, phi1, phi2, rho = (
    Symbol(name, real=True) for name in ("phi", "phi'", "phi''", "r_phi")
)


pair = replace(
    orthonormal_pair(u, w), id="u_r and u_theta are orthonormal",
    text=r"$|u_r| = |u_\theta| = 1$, $u_r \cdot u_\theta = 0$",
)
positive = signed(array("phi"), ">0")
reciprocal = Definition(rho, Integer(1), over=phi)
POLAR = (
    Definition(F[e, f], delta(e, f) + (phi - 1) * w[e] * w[f]),
    Definition(inverse_F[e, f], delta(e, f) + (rho - 1) * w[e] * w[f]),
    reciprocal, positive, pair, inverse_metric,
)
SLOPES = (
    Definition(dG[k, e, f], 2 * phi * phi1 * u[k] * w[e] * w[f]),
    Definition(ddG[l, k, e, f], 2 * (phi1**2 + phi * phi2) * u[l] * u[k] * w[e] * w[f]),
)
polar_metric = Step(
    id="polar_metric", lhs=total(F[g, e] * F[g, f], g), by=POLAR,
    rhs=delta(e, f) + (phi**2 - 1) * w[e] * w[f], because=r"$u_\theta$ is a unit vector.",
)
polar_frame = Step(
    id="polar_frame", lhs=total(inverse_F[e, g] * F[g, f], g), rhs=delta(e, f), by=POLAR,
    because=r"$r_\phi \phi = 1$.",
)
MIXED = u[k] * w[f] + w[k] * u[f]
polar_symbols = Step(
    id="polar_symbols", lhs=Gamma[e, k, f],
    rhs=rho * phi1 * w[e] * MIXED - phi * phi1 * u[e] * w[k] * w[f],
    by=(christoffel, first_kind, SLOPES[0], *POLAR),
    because=r"$k(a, b) = \phi \phi' ((a_r b_\theta + a_\theta b_r) u_\theta - a_\theta b_\theta "
    r"u_r)$, and $G^{-1}$ divides the part along $u_\theta$ by $\phi^2$.",
)
polar_slopes = Step(
    id="polar_slopes", lhs=D_Gamma[l, e, k, f],
    rhs=u[l] * ((rho * phi2 - rho**2 * phi1**2) * w[e] * MIXED
                - (phi1**2 + phi * phi2) * u[e] * w[k] * w[f]),
    by=(slope, changed, kind_slope, polar_symbols, *SLOPES, *POLAR),
    because=r"The derivatives of $\phi' / \phi$ and of $\phi \phi'$.",
)
parts = tuple(
    Definition(number, total(unit[k] * vector[k], k))
    for number, unit, vector in ((a_r, u, a), (a_t, w, a), (b_r, u, b), (b_t, w, b))
)
AREA = a_r * b_t - a_t * b_r
revolution = Step(
    id="revolution", lhs=R_ab[e, f],
    rhs=AREA * phi2 * (rho * w[e] * u[f] - phi * u[e] * w[f]),
    by=(curvature, *MATRICES, *parts, polar_symbols, polar_slopes, reciprocal, positive, pair),
    because=r"Of the products $\Gamma \Gamma$ those with $\phi'^2$ cancel.",
)
along = (Definition(a[e], u[e]), Definition(b[e], w[e]))
found = Definition(revolution.lhs, revolution.rhs)
"""R(a, b) as the last step has it."""
flat_iff = Iff(
    id="flat_iff", left=(-total(u[e] * R_ab[e, f] * w[f], e, f), Integer(0)),
    right=(phi2, Integer(0)), factor=phi, by=(found, *along, *parts, pair, positive),
    because=r"$u_r^\top R(u_r, u_\theta) u_\theta = -\phi \phi''$.",
)
kappa = Symbol("kappa", real=True)
one_curvature = Step(
    id="one_curvature", lhs=R_ab[e, f],
    rhs=kappa * AREA * (phi**2 * u[e] * w[f] - w[e] * u[f]),
    by=(found, *parts, Definition(phi2, -kappa * phi), reciprocal, positive),
    because=r"$\phi'' / \phi = -\kappa$.",
)

# The plane, phi = r: J is the Jacobian matrix of r n(theta), n' = t and t' = -n.
n, t = array("n", d), array("t", d)
J, dJ, y, speed = array("J", d, d), array(r"\partial J", d, d, d), array("y", d), array("y'", d)
unit_slope = Definition(phi1, Integer(1))
cartesian = (
    Definition(J[e, f], n[e] * u[f] + phi * t[e] * w[f]),
    Definition(dJ[k, e, f], t[e] * MIXED - phi * n[e] * w[k] * w[f]),
    unit_slope,
)
straight_plane = Step(
    id="straight_plane", by=(polar_symbols, *cartesian, reciprocal, positive, pair),
    lhs=total(dJ[k, e, f] * v[k] * y[f], f, k) + total(J[e, f] * speed[f], f),
    rhs=total(J[e, g] * (speed[g] + total(Gamma[g, k, f] * v[k] * y[f], f, k)), g),
    because=r"$J\, \Gamma(v) = \partial_v J$.",
)
polar_torsion = Step(
    id="polar_torsion", lhs=torsion[e], rhs=rho * phi1 * AREA * w[e],
    by=(torsion_of, connection, Definition(dF[k, e, f], phi1 * u[k] * w[e] * w[f]), *parts, *POLAR),
    because=r"$F^{-1} \partial_v F = \frac{\phi'}{\phi} (u_r \cdot v)\, u_\theta u_\theta^\top$.",
)

x = array("x", d)
p, r = Symbol("p", real=True), Symbol("r_p", real=True)
here = Definition(p, 1 + kappa * total(x[h] ** 2, h))


def _few_features(draw: Draw) -> None:
    """A search looks at one or two features; with more, p > 0 is rare where kappa < 0."""
    if type(draw.source) is SmallIntegers:
        draw.sizes.setdefault(d.name, draw.source.rng.choice((1, 2, 2)))


inside = replace(signed(array("p"), ">0"), impose=_few_features)
CHART = (Definition(r, Integer(1), over=p), inside)
CONFORMAL = (
    Definition(F[e, f], 2 * r * delta(e, f)), Definition(inverse_F[e, f], HALF * p * delta(e, f)),
    inverse_metric, *CHART,
)
SLOPE = -16 * kappa * r**3 * x[k]
BEND = 96 * kappa**2 * r**4 * x[l] * x[k] - 16 * kappa * r**3 * delta(l, k)
RISE, RISE_L, CURVE = 2 * kappa * x[k], 2 * kappa * x[l], 2 * kappa * delta(l, k)
"""Derivatives of p = 1 + kappa |x|^2."""
chart_slope = Definition(dG[k, e, f], SLOPE * delta(e, f))
chart_bend = Definition(ddG[l, k, e, f], BEND * delta(e, f))
factor_slope = Step(
    id="factor_slope", lhs=SLOPE * p**2 + 8 * r**2 * p * RISE, rhs=Integer(0), by=CHART,
    because=r"The derivative of $\lambda p^2 = 4$ vanishes.",
)
factor_bend = Step(
    id="factor_bend", rhs=Integer(0), by=CHART,
    lhs=BEND * p**2 + 2 * p * (SLOPE * RISE_L - 16 * kappa * r**3 * x[l] * RISE)
    + 8 * r**2 * (RISE * RISE_L + p * CURVE), because="And the second one.",
)


def spun(vector: Callable[[Symbol], Expr]) -> Expr:
    """v_k delta_ef + v_f delta_ek - v_e delta_kf."""
    return vector(k) * delta(e, f) + vector(f) * delta(e, k) - vector(e) * delta(k, f)


def axis(index: Symbol) -> Expr:
    """The unit vector of the feature l."""
    return delta(l, index)


chart_symbols = Step(
    id="chart_symbols", lhs=Gamma[e, k, f], rhs=-2 * kappa * r * spun(of(x)),
    by=(christoffel, first_kind, chart_slope, *CONFORMAL, here),
    because=r"$\Gamma(a, b) = \frac{1}{2 \lambda} ((l \cdot a) b + (l \cdot b) a - (a \cdot b) "
    r"l)$ for $\lambda I$ with gradient $l$.",
)
chart_slopes = Step(
    id="chart_slopes", lhs=D_Gamma[l, e, k, f],
    rhs=4 * kappa**2 * r**2 * x[l] * spun(of(x)) - 2 * kappa * r * spun(axis),
    by=(slope, changed, kind_slope, chart_symbols, chart_slope, chart_bend, *CONFORMAL, here),
    because=r"$\partial_l (1/p) = -2 \kappa x_l / p^2$.",
)
point = Step(
    id="point_of_chart", lhs=kappa * total(x[h] ** 2, h), rhs=p - 1, by=(here,),
    because="As $p$ is.",
)
chart_curvature = Step(
    id="chart_curvature", lhs=R_ab[e, f], rhs=4 * kappa * r**2 * (a[e] * b[f] - b[e] * a[f]),
    by=(curvature, *MATRICES, chart_symbols, chart_slopes, point, *CHART),
    because=r"The terms in $x$ cancel as $\kappa |x|^2 = p - 1$.",
)
