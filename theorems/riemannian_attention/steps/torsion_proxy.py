"""Steps of RA10 on the gap a + T_ji b - b - T_ki a of a smooth connection, and on normal charts."""

from __future__ import annotations

from itertools import product

from flint import fmpq
from sympy import Expr, IndexedBase, Integer

from theorems.assumptions.frames import assumed, fixed
from theorems.checker.exact import Draw, SmallIntegers
from theorems.riemannian_attention.steps.connection_jets import (
    D_Gamma, HALF, SIXTH, THIRD, Gamma, Vector, a, applied, b, d, delta, derivative, e, eps, f,
    first, g, h, l, of, side, total,
)
from theorems.riemannian_attention.steps.curvature_proxy import (
    A, A_a, B, B_b, MATRICES, R_ab, curvature,
)
from theorems.statement import Definition, Local, Step, array

T_ji, T_ki, Z_ji, Z_ki = (array(name, d, d) for name in ("T_{ji}", "T_{ki}", "Z_{ji}", "Z_{ki}"))
gap, torsion, third = array("p", d), array(r"\tau", d), array("t", d)
skew = array("q", d, d, d, d)
bent_a, bent_b, bent_side = array("f_a", d), array("f_b", d), array("f_{a-b}", d)


def from_origin(along: IndexedBase, slope: IndexedBase, remainder: IndexedBase) -> Expr:
    """The transport from x to x + eps v, of Gamma(v, .) and d_v Gamma(v, .)."""
    square = total(along[e, g] * along[g, f], g)
    return (delta(e, f) - eps * along[e, f] + HALF * eps**2 * (square - slope[e, f])
            + eps**3 * remainder[e, f])


def gamma(along: Vector, vector: Vector) -> Expr:
    """Gamma(along, vector), entry e."""
    return applied(lambda row, column: first(along, row, column), vector)


def d_gamma(direction: Vector, along: Vector, vector: Vector) -> Expr:
    """(d_direction Gamma)(along, vector), entry e."""
    return applied(lambda row, column: derivative(direction, along, row, column), vector)


def bracket(along: IndexedBase, slope: IndexedBase, vector: IndexedBase) -> Expr:
    """d_v Gamma(v, w) - Gamma(v, Gamma(v, w)), entry e, of Gamma(v, .), d_v Gamma(v, .) and w."""
    square = total(along[e, g] * along[g, f], g)
    return total((slope[e, f] - square) * vector[f], f)


to_j = Definition(T_ji[e, f], from_origin(A, A_a, Z_ji))
to_k = Definition(T_ki[e, f], from_origin(B, B_b, Z_ki))
pentagon = Definition(
    gap[e], eps * (a[e] - b[e] + total(T_ji[e, f] * b[f] - T_ki[e, f] * a[f], f))
)
torsion_of = Definition(torsion[e], gamma(of(a), of(b)) - gamma(of(b), of(a)))
third_of = Definition(third[e], HALF * (bracket(B, B_b, a) - bracket(A, A_a, b)))
REMAINDER = eps**4 * total(Z_ji[e, f] * b[f] - Z_ki[e, f] * a[f], f)
gap_expansion = Step(
    id="gap_expansion", lhs=gap[e],
    rhs=-(eps**2) * torsion[e] + eps**3 * third[e] + REMAINDER,
    by=(pentagon, to_j, to_k, torsion_of, third_of, *MATRICES),
    because=r"$T_{ji} = I - \varepsilon \Gamma(a) + \frac12 \varepsilon^2 (\Gamma(a)^2 - "
    r"\partial_a \Gamma(a)) + \varepsilon^3 Z_{ji}$.",
)


def _parallel(draw: Draw) -> bool:
    """Whether a search makes tau = 0 by parallel a and b, whatever Gamma is."""
    searching = type(draw.source) is SmallIntegers
    return searching and assumed(draw, TORSION_FREE) and draw.source.rng.randrange(2) == 0


def _jets(draw: Draw) -> None:
    """Gamma and its derivative at x, with regard to what is assumed of them."""
    if type(draw.source) is SmallIntegers:
        draw.sizes.setdefault(d.name, draw.source.rng.choice((1, 2, 2)))
    places = range(1, draw.size(d) + 1)
    if assumed(draw, NORMAL) and not fixed(draw, Gamma):
        for cell in draw.cells(Gamma):
            draw.put(Gamma, cell, fmpq(0))
    elif _parallel(draw):
        scale = draw.source.fresh(None)
        for cell in draw.cells(a):
            draw.put(b, cell, scale * draw.get(a.name, cell))
    elif assumed(draw, TORSION_FREE) and not fixed(draw, Gamma):
        for row, one, other in product(places, repeat=3):
            if one <= other:
                value = draw.source.fresh(None)
                for pair in {(one, other), (other, one)}:
                    draw.put(Gamma, (row, *pair), value)
    if fixed(draw, D_Gamma) or not (assumed(draw, SYMMETRIC) or assumed(draw, STRAIGHT)):
        return
    free = {cell: draw.source.fresh(None) for cell in draw.cells(D_Gamma)}
    even = {(m, r, s, t): free[m, r, s, t] + free[m, r, t, s] for m, r, s, t in free}
    for m, r, s, t in free:
        value = even[m, r, s, t]
        if assumed(draw, STRAIGHT):
            value = 2 * value - even[s, r, m, t] - even[t, r, m, s]
        if not assumed(draw, SYMMETRIC):
            value = value + free[m, r, s, t] - free[m, r, t, s]
        draw.put(D_Gamma, (m, r, s, t), value)


TORSION_FREE, NORMAL = "the torsion vanishes at x", "Gamma vanishes at x"
SYMMETRIC, STRAIGHT = "dGamma is symmetric", "lines are geodesics"
torsion_free = Local(
    TORSION_FREE, r"$\tau = \Gamma(a, b) - \Gamma(b, a) = 0$", ((torsion[e], Integer(0)),), _jets
)
vanishing = Local(NORMAL, r"$\Gamma = 0$ at $x$", ((Gamma[e, f, g], Integer(0)),), _jets)
skew_of = Definition(skew[e, f, g, h], D_Gamma[e, f, g, h] - D_Gamma[e, f, h, g])
symmetric = Local(
    SYMMETRIC, r"$\partial \Gamma$ is symmetric in the lower indices",
    ((skew[e, f, g, h], Integer(0)),), _jets,
)
bends = tuple(
    Definition(array_[e], d_gamma(v, v, v))
    for array_, v in ((bent_a, of(a)), (bent_b, of(b)), (bent_side, side))
)
straight = Local(
    STRAIGHT, r"$\partial_h \Gamma(h, h) = 0$ for $h = a, b, a - b$",
    tuple((bent[e], Integer(0)) for bent in (bent_a, bent_b, bent_side)), _jets,
)

torsion_free_gap = Step(
    id="torsion_free_gap", lhs=gap[e], rhs=eps**3 * third[e] + REMAINDER,
    by=(gap_expansion, torsion_free), because="The second order is the torsion.",
)
normal_third = Step(
    id="normal_third", lhs=third[e],
    rhs=-SIXTH * total(R_ab[e, f] * (a[f] + b[f]), f)
    + SIXTH * (bent_side[e] + bent_b[e] - bent_a[e]) + THIRD * total(
        skew[l, e, g, h] * (b[l] * b[g] * a[h] - a[l] * a[g] * b[h]), l, g, h),
    by=(third_of, curvature, *MATRICES, *bends, skew_of, vanishing),
    because=r"Of $\partial \Gamma$ each side is a cubic form in $a$, $b$.",
)
normal_gap = Step(
    id="normal_gap", lhs=gap[e],
    rhs=-SIXTH * eps**3 * total(R_ab[e, f] * (a[f] + b[f]), f) + REMAINDER,
    by=(gap_expansion, normal_third, symmetric, straight, torsion_of, vanishing),
    because=r"Lines through $x$ are geodesics: $\partial_h \Gamma(h, h) = 0$; no torsion: "
    r"$\partial \Gamma$ is symmetric.",
)
