"""Steps of RA10 from the derivatives of a metric to its connection and curvature, for all d.

G = F^T F at x, with first derivatives dG and second ones ddG. Christoffel symbols of the first kind
are k = G Gamma; G dGamma is what differentiating them says.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, Integer, Symbol

from theorems.assumptions.entries import right_inverse
from theorems.assumptions.frames import frame, identity, inverse_of, put_rows
from theorems.checker.exact import Draw, SmallIntegers
from theorems.riemannian_attention.steps.connection_jets import (
    D_Gamma, HALF, Gamma, a, b, d, e, f, g, h, k, l, total,
)
from theorems.riemannian_attention.steps.curvature_proxy import A, B, MATRICES, R_ab, curvature
from theorems.riemannian_attention.steps.teleparallel import F, inverse_F
from theorems.riemannian_attention.steps.torsion_proxy import torsion, torsion_of
from theorems.statement import Definition, Step, array, symbols_of

m, o = symbols_of("m o")
dG, half_dG = array(r"\partial G", d, d, d), array("J", d, d, d)
ddG, half_ddG = array(r"\partial^2 G", d, d, d, d), array("J_2", d, d, d, d)
kind, d_kind = array("k_1", d, d, d), array(r"\partial k", d, d, d, d)
C, half_C = array("C", d, d, d), array("C_s", d, d, d)
R_low = array("R_{ab}^{low}", d, d)
G, inverse_G = array("G", d, d), array("G^{-1}", d, d)
change, moved_a, moved_b = array("q", d, d, d, d), array("F_a", d, d), array("F_b", d, d)

metric = Definition(G[e, f], total(F[g, e] * F[g, f], g))
inverse_metric = Definition(inverse_G[e, f], total(inverse_F[e, g] * inverse_F[f, g], g))


def _shear(draw: Draw) -> None:
    """Any frame, of a search small ones; of symbols a shear, as all derivatives are symbols too."""
    if type(draw.source) is SmallIntegers:
        draw.sizes.setdefault(d.name, draw.source.rng.choice((1, 2, 2)))
    size = draw.size(d)
    rows = frame(draw, size)
    if size > 1 and type(draw.source) is not SmallIntegers:
        rows = identity(size)
        rows[-1][0] = draw.source.fresh(None)
    put_rows(draw, F, (), rows)
    put_rows(draw, inverse_F, (), inverse_of(draw, rows))


framed_x = replace(right_inverse(F, inverse_F), impose=_shear)
inverted = (metric, inverse_metric, framed_x)


def lowered(row: Symbol, entry: Expr) -> Expr:
    """G on the vector of which the entry o is given."""
    return total(G[row, o] * entry, o)


def raised(entry: Expr) -> Expr:
    """G^{-1} on the covector of which the entry m is given, at e."""
    return total(inverse_G[e, m] * entry, m)


symmetric = Definition(dG[k, e, f], half_dG[k, e, f] + half_dG[k, f, e])
first_kind = Definition(kind[m, k, f], HALF * (dG[k, m, f] + dG[f, k, m] - dG[m, k, f]))
christoffel = Definition(Gamma[e, k, f], raised(kind[m, k, f]))
symbols_lowered = Step(
    id="symbols_lowered", lhs=lowered(m, Gamma[o, k, f]), rhs=kind[m, k, f],
    by=(christoffel, *inverted), because=r"$G\, G^{-1} = I$.",
)
no_torsion = Step(
    id="no_torsion_of_metrics", lhs=torsion[e], rhs=Integer(0),
    by=(torsion_of, christoffel, first_kind, symmetric),
    because="$k$ is symmetric in its last two indices.",
)
kinds = Step(
    id="kinds", lhs=dG[k, e, f], rhs=kind[e, k, f] + kind[f, k, e], by=(first_kind, symmetric),
    because="Four of six derivatives cancel.",
)
parallel_metric = Step(
    id="parallel_metric", lhs=dG[k, e, f],
    rhs=lowered(e, Gamma[o, k, f]) + lowered(f, Gamma[o, k, e]),
    by=(kinds, symbols_lowered, metric),
    because=r"$\partial_h G = G\, \Gamma(h) + (G\, \Gamma(h))^\top$.",
)
untwisted = Definition(C[e, k, f], half_C[e, k, f] + half_C[e, f, k])
compatible = Definition(dG[k, e, f], lowered(e, C[o, k, f]) + lowered(f, C[o, k, e]))
koszul = Step(
    id="koszul", lhs=kind[m, k, f], rhs=lowered(m, C[o, k, f]),
    by=(first_kind, compatible, untwisted, metric), because="Four of six products cancel.",
)
only_one = Step(
    id="only_one", lhs=Gamma[e, k, f], rhs=C[e, k, f], by=(christoffel, koszul, *inverted),
    because=r"$G^{-1} G\, C = C$.",
)

commuting = Definition(ddG[l, k, e, f], half_ddG[l, k, e, f] + half_ddG[k, l, e, f])
kind_slope = Definition(
    d_kind[l, m, k, f], HALF * (ddG[l, k, m, f] + ddG[l, f, k, m] - ddG[l, m, k, f])
)
CHANGE = d_kind[l, m, k, f] - total(dG[l, m, h] * Gamma[h, k, f], h)
"""What differentiating k = G Gamma leaves for G dGamma."""
changed = Definition(change[l, m, k, f], CHANGE)
slope = Definition(D_Gamma[l, e, k, f], raised(change[l, m, k, f]))
slope_lowered = Step(
    id="slope_lowered", lhs=lowered(m, D_Gamma[l, o, k, f]), rhs=CHANGE,
    by=(slope, changed, *inverted),
    because=r"$G\, \partial \Gamma + \partial G\, \Gamma = \partial k$.",
)
SECOND = HALF * total(
    (ddG[k, f, l, m] - ddG[k, m, l, f]) * (a[k] * b[l] - b[k] * a[l]), k, l
)
framed_symbols = tuple(
    Definition(moved[g, m], total(F[g, o] * symbols[o, m], o))
    for moved, symbols in ((moved_a, A), (moved_b, B))
)
BENT = total(moved_b[g, m] * moved_a[g, f] - moved_a[g, m] * moved_b[g, f], g)
covariant = Definition(R_low[m, f], SECOND + BENT)
riemann = Step(
    id="riemann", lhs=lowered(m, R_ab[o, f]), rhs=R_low[m, f],
    by=(covariant, curvature, *framed_symbols, *MATRICES, slope_lowered, parallel_metric,
        kind_slope, commuting, metric),
    because=r"$\partial_a G = G\, \Gamma(a) + (G\, \Gamma(a))^\top$ leaves one product a side.",
)
skew = Step(
    id="skew", lhs=R_low[m, f], rhs=-R_low[f, m], by=(covariant,),
    because="Both parts change sign with their two indices.",
)

s = Symbol("s", real=True)
parallel_sides = Definition(b[e], s * a[e])
line_curvature = Step(
    id="line_curvature", lhs=R_ab[e, f], rhs=Integer(0), by=(curvature, *MATRICES, parallel_sides),
    because="$R(a, s a) = s R(a, a) = 0$.",
)
line_torsion = Step(
    id="line_torsion", lhs=torsion[e], rhs=Integer(0), by=(torsion_of, parallel_sides),
    because=r"$\Gamma(a, s a) = \Gamma(s a, a)$.",
)
