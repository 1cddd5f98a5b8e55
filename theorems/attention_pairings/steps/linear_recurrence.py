"""Linear attention over time: states M (m features, w value coordinates), decays, delta rule.

Level l is l - 1 tokens after a split; M_0 is the state handed over at the split.
"""

from __future__ import annotations

from collections.abc import Callable

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.levels import STAGES, level
from theorems.checker.exact import Draw, Rejected, evaluate
from theorems.rules import Induction
from theorems.statement import Definition, Equation, Iff, Local, Step, array, symbols_of

n, m, w = symbols_of("n m w")
i, j, a, b, c = symbols_of("i j a b c")
TOKENS, FEATURES = (j, 1, n), (b, 1, m)

values, features, start = array("v", n, w), array("phi", n, m), array("M_0", m, w)
M = {label: level("M", label, m, w) for label in STAGES}
C = {label: level("C", label, m, n) for label in STAGES}
Gamma = {label: level("Gamma", label, m, m) for label in STAGES}
step_of, key, enters = level("A", "l+1", m, m), level("k", "l+1", m), level("e", "l+1", n)
value = Sum(enters[j] * values[j, c], TOKENS)


def at_level_l(name: str, claim: Callable[[str], Equation]) -> Local:
    """The claim at level l; instances compute its left side, the entries of an array."""
    entry, other = claim("l")

    def impose(draw: Draw) -> None:
        for cell in draw.cells(entry.base):
            place = dict(zip(entry.indices, cell, strict=True))
            draw.put(entry.base, cell, evaluate(other, draw, place))

    return Local(f"{name} at level l", f"{name} at level $l$", (claim("l"),), impose)


def choose_one(draw: Draw, selection: IndexedBase) -> None:
    """A selection of one token."""
    last = draw.size(n)
    chosen = draw.source.rng.randrange(last) + 1
    for place in range(1, last + 1):
        draw.put(selection, (place,), int(place == chosen))


one_enters = Local(
    f"{enters} selects", "$e_i e_j = \\delta_{ij} e_j$: one token enters at a time",
    ((enters[i] * enters[j], KroneckerDelta(i, j) * enters[j]),),
    lambda draw: choose_one(draw, enters),
)


def handover_claim(label: str) -> Equation:
    """The state is that handed over, carried on, and a sum over the tokens since."""
    own = level("M", label, m, w)[a, c]
    return own, (Sum(level("Gamma", label, m, m)[a, b] * start[b, c], FEATURES)
                 + Sum(level("C", label, m, n)[a, j] * values[j, c], TOKENS))


handover_l = at_level_l("the sum over tokens since the split", handover_claim)
at_split = (Definition(M["1"][a, c], start[a, c]),
            Definition(Gamma["1"][a, b], KroneckerDelta(a, b)),
            Definition(C["1"][a, j], Integer(0)))
next_state = Definition(M["l+1"][a, c], Sum(step_of[a, b] * M["l"][b, c], FEATURES)
                        + key[a] * value)
next_carry = Definition(Gamma["l+1"][a, c], Sum(step_of[a, b] * Gamma["l"][b, c], FEATURES))
next_weights = Definition(C["l+1"][a, j], Sum(step_of[a, b] * C["l"][b, j], FEATURES)
                          + key[a] * enters[j])
first_handover = Step(
    id="first_handover", lhs=handover_claim("1")[0], rhs=handover_claim("1")[1], by=at_split,
    because="At the split nothing has been read.",
)
next_handover = Step(
    id="next_handover", lhs=handover_claim("l+1")[0], rhs=handover_claim("l+1")[1],
    by=(next_state, next_carry, next_weights, handover_l),
    because="A further token acts on both parts by $A$ and adds $k$ times its value.",
)
handover = Induction(
    id="handover", claim=handover_claim, hypothesis=handover_l, by=(first_handover, next_handover),
    because="So it is for every number of tokens, wherever the split is.",
)
query = array("q", m)
chunk_output = Step(
    id="chunk_output", lhs=Sum(query[a] * M["l"][a, c], (a, 1, m)),
    rhs=Sum(query[a] * Sum(Gamma["l"][a, b] * start[b, c], FEATURES), (a, 1, m))
    + Sum(Sum(query[a] * C["l"][a, j], (a, 1, m)) * values[j, c], TOKENS), by=(handover_l,),
    because="The state handed over, and the masked scores of the chunk times its values.",
)

decay = level("g", "l+1", m)
decayed, carried = ({label: level(name, label, *shape) for label in STAGES}
                    for name, shape in (("omega", (n, m)), ("gamma", (m,))))


def decay_claim(label: str) -> Equation:
    """Each token's feature is multiplied by the product of the decays since."""
    total = level("omega", label, n, m)[j, a] * features[j, a] * values[j, c]
    return level("M", label, m, w)[a, c], level("gamma", label, m)[a] * start[a, c] + Sum(
        total, TOKENS)


decay_l = at_level_l("the sum over tokens with decays", decay_claim)
no_decays = (at_split[0], Definition(carried["1"][a], Integer(1)),
             Definition(decayed["1"][j, a], Integer(0)))
own_feature = Sum(enters[i] * features[i, a], (i, 1, n))
decaying_state = Definition(M["l+1"][a, c], decay[a] * M["l"][a, c] + own_feature * value)
decay_product = Definition(decayed["l+1"][j, a], decay[a] * decayed["l"][j, a] + enters[j])
carried_product = Definition(carried["l+1"][a], decay[a] * carried["l"][a])
first_decay = Step(
    id="first_decay", lhs=decay_claim("1")[0], rhs=decay_claim("1")[1], by=no_decays,
    because="At the split nothing has been read.",
)
next_decay = Step(
    id="next_decay", lhs=decay_claim("l+1")[0], rhs=decay_claim("l+1")[1],
    by=(decaying_state, decay_product, carried_product, decay_l, one_enters),
    because="All weights so far are multiplied by $g$; the token that enters has weight $1$.",
)
every_decay = Induction(
    id="every_decay", claim=decay_claim, hypothesis=decay_l, by=(first_decay, next_decay),
    because="So $\\omega_{ja}$ is the product of the decays after token $j$, $0$ before it enters.",
)
parallel = Step(
    id="parallel", lhs=Sum(query[a] * M["l"][a, c], (a, 1, m)),
    rhs=Sum(query[a] * carried["l"][a] * start[a, c], (a, 1, m)) + Sum(
        Sum(query[a] * decayed["l"][j, a] * features[j, a], (a, 1, m)) * values[j, c], TOKENS),
    by=(decay_l,), because="Scores with decays, times the values.",
)
rate = Symbol("r", real=True)
scalar_decay = Step(
    id="scalar_decay", lhs=Sum(query[a] * decayed["l+1"][j, a] * features[j, a], (a, 1, m)),
    rhs=rate * Sum(query[a] * decayed["l"][j, a] * features[j, a], (a, 1, m))
    + enters[j] * Sum(query[a] * features[j, a], (a, 1, m)),
    by=(decay_product, Definition(decay[a], rate)),
    because="One decay for all features multiplies the scores $\\langle q, \\phi(k_j) \\rangle$.",
)
reset = Step(
    id="reset", lhs=M["l+1"][a, c], rhs=Sum(enters[j] * features[j, a] * values[j, c], TOKENS),
    by=(decaying_state, Definition(decay[a], Integer(0)), one_enters),
    because="A decay $0$ is a mask: nothing of the state before is left, whatever it is.",
)

before, after, delta_key, beta = array("M", m, w), array("M'", m, w), array("k", m), Symbol("beta")
new_value, other = array("u", w), array("k'", m)
square = Sum(delta_key[a] ** 2, (a, 1, m))


def read(state: IndexedBase, at: IndexedBase) -> Expr:
    """Coordinate c of M^T k."""
    return Sum(state[a, c] * at[a], (a, 1, m))


error, direction = array("epsilon", w), array("t", w)
wrong = Definition(error[c], new_value[c] - read(before, delta_key))
delta = Definition(after[a, c], before[a, c] + beta * delta_key[a] * error[c])
linear_delta = Step(
    id="linear_delta", lhs=after[a, c],
    rhs=Sum((KroneckerDelta(a, b) - beta * delta_key[a] * delta_key[b]) * before[b, c], FEATURES)
    + beta * delta_key[a] * new_value[c], by=(delta, wrong),
    because=r"So $A_t = I - \beta_t k_t k_t^\top$, and $\beta_t k_t$ is the key.",
)
left_over = Step(
    id="left_over", lhs=new_value[c] - read(after, delta_key), rhs=(1 - beta * square) * error[c],
    by=(delta, wrong), because="The rule writes along $k$ what was wrong there.",
)
others_keep = Step(
    id="others_keep", lhs=read(after, other), by=(delta,),
    rhs=read(before, other) + beta * Sum(delta_key[b] * other[b], FEATURES) * error[c],
    because="Keys orthogonal to $k$ read what they read before.",
)


def _towards_error(draw: Draw) -> None:
    cells = list(draw.cells(error))
    found = [cell for cell in cells if not draw.source.is_zero(draw.get(str(error), cell))]
    if not found:
        raise Rejected("nothing is wrong")
    for cell in cells:
        scale = draw.source.inverse(draw.get(str(error), cell)) if cell == found[0] else 0
        draw.put(direction, cell, scale)


something_wrong = Local(
    "t . epsilon = 1", r"$t \cdot \varepsilon = 1$ for some $t$, that is $M_{t-1}^\top k \ne v$",
    ((Sum(direction[c] * new_value[c], (c, 1, w)),
      1 + Sum(direction[c] * read(before, delta_key), (c, 1, w))),), _towards_error,
)
overwrites = Iff(
    id="overwrites", left=(Sum(direction[c] * (read(after, delta_key) - new_value[c]), (c, 1, w)),
                           Integer(0)),
    right=(beta * square, Integer(1)),
    by=(delta, wrong, something_wrong),
    because=r"$t \cdot (M_t^\top k - v) = \beta |k|^2 - 1$.",
)


def _exact_length(draw: Draw) -> None:
    total = sum(draw.get(str(delta_key), cell) ** 2 for cell in draw.cells(delta_key))
    draw.put(array("beta"), (), draw.source.inverse(total))


exact_length = Local(
    "beta |k|^2 = 1", r"$\beta |k|^2 = 1$", ((beta * square, Integer(1)),), _exact_length)
overwritten = Step(
    id="overwritten", lhs=read(after, delta_key), rhs=new_value[c],
    by=(delta, wrong, exact_length), because="Nothing is left over.",
)
TIME = (first_handover, next_handover, handover, chunk_output)
DECAYS = (first_decay, next_decay, every_decay, parallel, scalar_decay, reset)
DELTA_RULE = (linear_delta, left_over, others_keep, overwritten, overwrites)
STEPS = (*TIME, *DECAYS, *DELTA_RULE)
