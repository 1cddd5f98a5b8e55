"""Steps of CW8 on closed sets, causal walks and detailed balance at measures that vanish."""

from __future__ import annotations

from flint import fmpq
from sympy import Integer, KroneckerDelta, Sum

from theorems.assumptions import signed, sums_to_one
from theorems.connection_walks import stationarity as on
from theorems.rules import Vanishing
from theorems.statement import Bound, Definition, Iff, Step, Witness, array, symbols_of

n, i, j, k = symbols_of("n i j k")
P, pi = array("P", n, n), array("pi", n)
s, z, e_k, later = array("s", n), array("z", n), array("e", n), array("a", n)
walks, member = on.closed_set(P, pi, s), on.indicator(s)
nonnegative_P, nonnegative_pi = signed(P, ">=0"), signed(pi, ">=0")
inside = Bound(id="inside", small=Integer(0), large=s[i], certificate=s[i] ** 2, by=(member,),
               because="An indicator is its own square.")  # fmt: skip
outside = Bound(id="outside", small=s[i], large=Integer(1), certificate=(1 - s[i]) ** 2,
                by=(member,), because="So is its complement.")  # fmt: skip
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
ends = on.last_state(P, pi, e_k, later)
last = Step(
    id="last", lhs=Sum(e_k[i] * pi[i], (i, 1, n)),
    rhs=Sum(e_k[i] * pi[i] * P[i, j] * e_k[j], (i, 1, n), (j, 1, n)), by=(ends,),
    because="What flows into state k comes from k or a later state, so pi_k = pi_k P_kk where pi "
    "vanishes after k: downwards from n, pi_k = 0 as long as P_kk < 1.",
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
)  # fmt: skip
