"""AP4, the converse: N statistics that give all readouts are at least (w + 1) rank kappa.

Two worlds that read differently: one more token of mass 1, at one value or at another.

With E = I - g t, t g t = t, no statistic sees a column of E: so no readout moves along it, and the
functionals kappa(q, .) and kappa(q, .) v vanish on it.
"""

from __future__ import annotations

from sympy import Integer, KroneckerDelta, Rational, Sum

from theorems.attention_pairings.steps.worlds import (
    KEY, NE, OTHER_KEY, VALUE, ZE, D, E, J, N, X, a, affine, b, c, differ, e, f, first, g, h,
    homogeneous, i, j, k, kappa, l, lifted, m, more, moved_mass, moved_total, n, o, p, points, r, s,
    same, second, sizes, t, towards, unseen, v, w, worlds, y,
)
from theorems.assumptions.entries import signed
from theorems.checker.exact import Draw, Rejected
from theorems.assumptions.widths import total_width
from theorems.statement import Bound, Definition, Local, RankBound, Step, array

simplex = Step(
    id="simplex", rhs=KroneckerDelta(l, f), by=(affine, points[0], homogeneous),
    lhs=Sum(lifted[l, e] * y[e, f], (e, 1, D)),
    because="Affine functions take any values at affinely independent points.",
)
same_statistics = Step(
    id="same_statistics", by=(unseen, *points),
    lhs=Sum(t[p, j, l] * (first.measure[i, j, l] + E[j, l, k, f]), KEY, VALUE),
    rhs=Sum(t[p, j, l] * first.measure[i, j, l], KEY, VALUE),
    because="$t E = t - t g t = 0$.",
)
still_a_world = Bound(
    id="still_a_world", small=Integer(0), large=first.measure[i, j, l] + E[j, l, k, f],
    certificate=first.extra[i, j, l] + Rational(3, 4) + (E[j, l, k, f] + Rational(1, 2)) ** 2
    + Sum((1 - KroneckerDelta(h, k)) * E[j, l, h, b] ** 2, (h, 1, m), (b, 1, D))
    + Sum((1 - KroneckerDelta(b, f)) * E[j, l, k, b] ** 2, (b, 1, D)),
    strict=True, by=(first.definitions[0], *points, more), because="$1 + E + E^2 > 0$.",
)
gap = array("T", n, m, D)
along = Definition(gap[i, k, f], ZE[i, k, f] * (towards(first) - towards(second)))
by_difference = Step(
    id="by_difference", lhs=ZE[i, k, f], rhs=gap[i, k, f], by=(along, differ),
    because="$u \\cdot (R - R') = 1$.",
)
no_gap = Step(
    id="no_gap", lhs=gap[i, k, f], rhs=Integer(0), by=(along, *points, same, *worlds),
    because="$R Z_E = M_E = R' Z_E$: neither readout moves.",
)
no_mass = Step(
    id="no_mass", lhs=ZE[i, k, f], rhs=Integer(0), by=(no_gap, by_difference),
    because="So no unseen column has mass for the query.",
)
readout_of_E = Step(
    id="readout_of_E", lhs=NE[i, c, k, f], rhs=first.readout[i, c] * ZE[i, k, f],
    by=(*points, same, *worlds),
    because="The readout does not move.",
)
no_total = Step(
    id="no_total", lhs=NE[i, c, k, f], rhs=Integer(0), by=(no_mass, readout_of_E),
    because="Nor has it a sum of values.",
)
unseen_part = Definition(X[i, e, k, f], Sum(
    kappa[i, j] * lifted[l, e] * E[j, l, k, f], KEY, VALUE))
parts_of_X = Step(
    id="parts_of_X", lhs=X[i, e, k, f],
    rhs=Sum(J[e, c] * NE[i, c, k, f], (c, 1, w)) + o[e] * ZE[i, k, f],
    by=(unseen_part, *points, moved_mass, moved_total), because="$\\nu_l = (v_l, 1)$.",
)
unseen_is_zero = Step(
    id="unseen_is_zero", lhs=X[i, e, k, f], rhs=Integer(0), by=(parts_of_X, no_total, no_mass),
    because="So every functional $\\kappa(q_i, \\cdot)\\, \\nu$ vanishes on $E$.",
)
through_t = Step(
    id="through_t",
    lhs=Sum(kappa[i, j] * lifted[l, e] * g[j, l, p] * t[p, k, f], KEY, VALUE, (p, 1, N)),
    rhs=kappa[i, k] * lifted[f, e] - X[i, e, k, f], by=(unseen_part, unseen, *points),
    because="$E = I - g t$.",
)
A, B = array("A", r, n), array("B", m, r)


def _parts(draw: Draw) -> None:
    _, features = sizes(draw)
    if draw.sizes.setdefault(str(r), features) > features:
        raise Rejected("the pairing has no such rank")
    for left, *cell in ((part, *cell) for part in (A, B) for cell in draw.cells(part)):
        draw.put(left, (cell[0], cell[1]), int(cell[0] == cell[1]))


rank_of_kappa = Local(
    "A kappa B = I", "$A \\kappa B = I_r$: the pairing has rank $r$ or more on these points",
    ((Sum(A[a, i] * kappa[i, k] * B[k, b], (i, 1, n), OTHER_KEY), KroneckerDelta(a, b)),), _parts,
)
before = Sum(A[a, i] * y[e, h] * kappa[i, j] * lifted[l, e] * g[j, l, p],
             (i, 1, n), (e, 1, D), KEY, VALUE)
enough = RankBound(
    id="enough", small=(KroneckerDelta(a, b) * KroneckerDelta(s, h), ((a, r), (h, D)),
                        ((b, r), (s, D))),
    large=(t[p, k, f], (p, N), ((k, m), (f, D))), before=(before, ((a, r), (h, D)), (p, N)),
    after=(B[k, b] * KroneckerDelta(f, s), ((k, m), (f, D)), ((b, r), (s, D))),
    by=(through_t, unseen_is_zero, rank_of_kappa, affine),
    because="$A$, $B$ and $y$ cut the identity of size $r (w + 1)$ out of $\\kappa \\nu = "
    "\\kappa \\nu g t$: it has at most the rank of the $N$ rows of $t$.",
)
widths = total_width("values", J, o)

more_mass, told = array("Z_+", n, m), array("R_+", n, m, D, w)
added = first.measure[i, j, l] + KroneckerDelta(j, k) * KroneckerDelta(l, f)
heavier = Definition(more_mass[i, k], first.mass[i] + kappa[i, k])
one_token_more = Step(
    id="one_token_more", lhs=Sum(kappa[i, j] * added, KEY, VALUE), rhs=more_mass[i, k],
    by=(heavier, first.definitions[1]), because="A token of mass 1 adds its pairing, whatever its "
    "value.",
)
told_apart = Step(
    id="told_apart", lhs=more_mass[i, k] * (told[i, k, f, c] - told[i, k, h, c]),
    rhs=kappa[i, k] * (v[f, c] - v[h, c]),
    by=(Definition(told[i, k, f, c], Sum(kappa[i, j] * added * v[l, c], KEY, VALUE),
                   over=more_mass[i, k]), signed(more_mass, ">0")),
    because="Both worlds have one normaliser, and all else cancels.",
)
STEPS = (one_token_more, told_apart, simplex, same_statistics, still_a_world, by_difference,
         no_gap, no_mass, readout_of_E, no_total, parts_of_X, unseen_is_zero, through_t, enough,
         *widths)
