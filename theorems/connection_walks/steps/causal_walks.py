"""Steps of CW8 on closed sets, causal walks and detailed balance at measures that vanish."""

from __future__ import annotations

from flint import fmpq
from sympy import Integer, KroneckerDelta, Sum

from theorems.assumptions.entries import indicator, signed, sums_to_one
from theorems.assumptions import stationarity as on
from theorems.rules import Vanishing
from theorems.statement import Bound, Definition, Iff, Step, Witness, array, symbols_of

n, i, j, k = symbols_of("n i j k")
P, pi = array("P", n, n), array("pi", n)
s, z, e_k = array("s", n), array("z", n), array("e", n)
walks, member = on.closed_set(P, pi, s), indicator(s)
nonnegative_P, nonnegative_pi = signed(P, ">=0"), signed(pi, ">=0")
inside = Bound(id="inside", small=Integer(0), large=s[i], certificate=s[i] ** 2, by=(member,),
               because="An indicator is its own square.")
outside = Bound(id="outside", small=s[i], large=Integer(1), certificate=(1 - s[i]) ** 2,
                by=(member,), because="So is its complement.")
complement = Definition(z[i], 1 - s[i])
entering = Sum(pi[i] * (1 - s[i]) * P[i, j] * s[j], (i, 1, n), (j, 1, n))
no_entry = Step(
    id="no_entry", lhs=entering, rhs=Integer(0), by=(walks,),
    because="In stationarity the flow into a closed set is the flow out of it, which is 0.",
)
no_edge = Vanishing(
    id="no_edge", total=entering, part=P[i, j], weight=pi[i] * z[i] * s[j], power=1,
    over=((i, n), (j, n)), by=(complement, inside, outside, nonnegative_P, nonnegative_pi),
    because="All its terms are nonnegative, so each vanishes: where pi_i > 0 no edge enters.",
)
before, after, leaves = array("b", n, n), array("a", n, n), array("q", n)
causal = on.causal_order(P, pi, before)
earlier = Bound(id="earlier", small=Integer(0), large=before[k, i], certificate=before[k, i] ** 2,
                by=(causal,), because="The states before k have an indicator,")
not_earlier = Bound(
    id="not_earlier", small=before[k, i], large=Integer(1), certificate=(1 - before[k, i]) ** 2,
    by=(causal,), because="and so has the rest.",
)
complements = Definition(after[k, i], 1 - before[k, i])
leaving = Definition(leaves[k], 1 - P[k, k])
may_leave = Bound(
    id="may_leave", small=Integer(0), large=leaves[k], by=(leaving, causal, earlier),
    certificate=Sum(before[k, j] * P[k, j], (j, 1, n)),
    because="In a causal walk 1 - P_kk is the weight of the edges from k to earlier states.",
)
crossing = pi[i] * (1 - before[k, i]) * P[i, j] * before[k, j]
descent = Sum(crossing, (i, 1, n), (j, 1, n))
no_descent = Step(
    id="no_descent", lhs=descent, rhs=Integer(0), by=(causal,),
    because="The states before k form a closed set, so no stationary flow enters it.",
)
from_k = Vanishing(
    id="from_k", total=descent, part=pi[k], weight=leaves[k], power=1,
    rest=Sum((1 - KroneckerDelta(k, i)) * pi[i] * after[k, i] * P[i, j] * before[k, j],
             (i, 1, n), (j, 1, n)),
    by=(leaving, complements, causal, may_leave, earlier, not_earlier),
    because="That flow is pi_k (1 - P_kk) from k, and what comes from later states.",
)
at_rest = Step(
    id="at_rest", lhs=leaves[k] * pi[k], rhs=Integer(0), by=(from_k, no_descent),
    because="So pi_k (1 - P_kk) = 0: only absorbing states have mass.",
)
stays = Vanishing(
    id="stays", total=1 - P[k, k], part=P[k, j], weight=1 - KroneckerDelta(k, j), power=1,
    over=((j, n),), by=(sums_to_one(P), nonnegative_P),
    because="P_kk = 1 iff row k is the unit vector e_k.",
)
own_law = Iff(
    id="own_law", left=(Sum(KroneckerDelta(i, k) * P[i, j], (i, 1, n)), KroneckerDelta(k, j)),
    right=(P[k, j], KroneckerDelta(k, j)), because="delta_k P is row k of P.",
)
vacuous = Step(
    id="vacuous", lhs=e_k[i] * P[i, j], rhs=e_k[j] * P[j, i], by=(on.absorbing(P, e_k),),
    because="The unit mass at an absorbing state is in detailed balance with every walk.",
)
mass_at_one = Witness(
    id="mass_at_one", values={P: [[1, 0], [fmpq(1, 2), fmpq(1, 2)]], pi: [1, 0]},
    holds=((pi[i] * P[i, j], pi[j] * P[j, i]), (Sum(P[i, j], (j, 1, n)), Integer(1)),
           (Sum(pi[i] * P[i, j], (i, 1, n)), pi[j])),
    fails=((P[i, j], KroneckerDelta(i, j)),),
    because="A causal walk with an edge 2 -> 1: delta_1 balances, no pi > 0 does.",
)
