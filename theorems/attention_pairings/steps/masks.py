"""AP3, masks: -M on the scores of some keys or of all, in the limit of large M, and masks after
softmax."""

from __future__ import annotations

from sympy import Integer, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.readouts import Readout, d, e, i, n
from theorems.checker.exact import Draw, SmallIntegers
from theorems.statement import Bound, Definition, Iff, Local, Step, array, symbols_of

m, m_1, m_2 = symbols_of("m m_1 m_2")
j, k, l = symbols_of("j k l")
eps, positive_eps = Symbol("epsilon", real=True), signed(array("epsilon"), ">0")
seen, later = Readout("_1", m_1, j), Readout("_2", m_2, l)

B, S, s = array("B", n), array("S", n), array("s", n)
soft_early, soft_late, soft = array("p", n, m_1), array("p'", n, m_2), array("T", n, d)
hidden_mass = Definition(B[i], Sum(later.kappa[i, l] * later.mu[i, l], (l, 1, m_2)))
soft_mass = Definition(S[i], seen.N[i] + eps * B[i])
soft_reciprocal = Definition(s[i], Integer(1), over=S[i])
soft_weight = Definition(soft_late[i, l], eps * later.kappa[i, l] * later.mu[i, l] * s[i])
masked = (
    Definition(soft[i, e], Sum(soft_early[i, j] * seen.v[j, e], (j, 1, m_1))
               + Sum(soft_late[i, l] * later.v[l, e], (l, 1, m_2))),
    Definition(soft_early[i, j], seen.kappa[i, j] * seen.mu[i, j] * s[i]), soft_weight,
)
signs = (seen.positive, positive_eps, *later.nonnegative)
softly = (*masked, soft_reciprocal, seen.readout, seen.weight, soft_mass, seen.reciprocal,
          hidden_mass, *signs)
moved = Step(
    id="moved", lhs=S[i] * (soft[i, e] - seen.R[i, e]),
    rhs=eps * Sum(later.kappa[i, l] * later.mu[i, l] * (later.v[l, e] - seen.R[i, e]),
                  (l, 1, m_2)), by=softly,
    because="The visible pairs cancel; the hidden ones are scaled by $\\epsilon$.",
)
Delta, up, down = array("Delta", n), array("u", n, m_2, d), array("u'", n, m_2, d)
gaps = (Definition(up[i, l, e], Delta[i] - later.v[l, e] + seen.R[i, e]),
        Definition(down[i, l, e], Delta[i] + later.v[l, e] - seen.R[i, e]))


def _within(draw: Draw) -> None:
    if type(draw.source) is not SmallIntegers or ("Delta", (1,)) in draw.entries:
        return
    for (row,) in draw.cells(Delta):
        gap = (abs(draw.get(str(later.v), (key, a)) - draw.get(str(seen.R), (row, a)))
               for key, a in draw.cells(later.v))
        draw.put(Delta, (row,), max(gap) + draw.source.fresh(">=0"))


hidden_within = tuple(
    Local(f"hidden values within Delta {side}", text, (), _within, ((gap, ">=0"),))
    for side, text, gap in (
        ("above", r"$v_{le} - R_{1,ie} \le \Delta_i$ for the hidden tokens", up),
        ("below", r"$R_{1,ie} - v_{le} \le \Delta_i$ for the hidden tokens", down)))
moved_up, moved_down = (
    Bound(
        id=name, small=sign * S[i] * (soft[i, e] - seen.R[i, e]), large=eps * B[i] * Delta[i],
        certificate=eps * Sum(later.kappa[i, l] * later.mu[i, l] * slack[i, l, e], (l, 1, m_2)),
        by=(gap, *softly, side), because="Term by term.",
    )
    for name, sign, slack, gap, side in (
        ("moved_up", 1, up, gaps[0], hidden_within[0]),
        ("moved_down", -1, down, gaps[1], hidden_within[1]))
)
visible_part = Step(
    id="visible_part", lhs=seen.N[i], rhs=S[i] - eps * B[i], by=(soft_mass,),
    because="The normaliser less the hidden part.",
)
hidden_weight = Bound(
    id="hidden_weight", small=seen.N[i] * soft_late[i, l],
    large=eps * later.kappa[i, l] * later.mu[i, l], certificate=eps * B[i] * soft_late[i, l],
    by=(soft_weight, soft_reciprocal, visible_part, soft_mass, hidden_mass, *signs),
    because="The normaliser is at least the visible mass.",
)

A, a, all_late = array("A", n), array("a", n), array("q", n, m_2)
everything = Definition(A[i], eps * later.N[i])
all_weight = (Definition(all_late[i, l], eps * later.kappa[i, l] * later.mu[i, l] * a[i]),
              Definition(a[i], Integer(1), over=A[i]))
scaled = Step(id="scaled", lhs=eps * later.N[i], rhs=A[i], by=(everything,),
              because="Every key is scaled by $\\epsilon$.")
all_mass = Step(
    id="all_mass", lhs=eps * later.N[i] * a[i], rhs=Integer(1),
    by=(scaled, *all_weight, everything, positive_eps, later.positive),
    because="The row is divided by the scaled mass.",
)
same_scale = Iff(
    id="same_scale", left=(eps * later.N[i] * a[i], Integer(1)), right=(eps * a[i], later.r[i]),
    factor=later.N[i], by=(later.reciprocal, later.positive),
    because="So $\\epsilon$ cancels against the normaliser.",
)
all_masked = Step(
    id="all_masked", lhs=all_late[i, l], rhs=later.w[i, l],
    by=(all_weight[0], all_mass, same_scale, later.weight),
    because="The weights are those without a mask, for every $\\epsilon$.",
)

world = Readout("", m, j)
V = array("V", n, m)
kept = Readout("'", m, j, kappa=world.kappa, v=world.v)
kept_mass = Definition(kept.mu[i, j], V[i, j] * world.mu[i, j])
mass_left = Step(
    id="mass_left", lhs=Sum(world.kappa[i, k] * V[i, k] * world.mu[i, k], (k, 1, m)),
    rhs=kept.N[i], by=(kept.normaliser, kept_mass), because="The mass of the visible tokens.",
)
renormalised = Step(
    id="renormalised", lhs=kept.w[i, j] * Sum(V[i, k] * world.w[i, k], (k, 1, m)),
    rhs=V[i, j] * world.w[i, j],
    by=(kept.weight, world.weight, mass_left, kept_mass, kept.reciprocal, world.reciprocal,
        world.normaliser, kept.normaliser, world.positive, kept.positive),
    because="Masking before softmax is masking after it, divided by what is left of the row.",
)
left_over = Step(
    id="left_over", lhs=Sum(V[i, j] * world.w[i, j], (j, 1, m)),
    rhs=1 - Sum((1 - V[i, j]) * world.w[i, j], (j, 1, m)),
    by=(world.weight, world.total, *world.weights), because="The rest of the row is hidden.",
)
