"""Lower-triangular matrices as recurrences y_t = c_t^T h_t, h_t = A_t h_{t-1} + b_t x_t.

A block of L is what the rows from a time on take from the columns up to it: it factors through the
state. Conversely factors of the blocks give A_t, b_t and c_t.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from sympy import IndexedBase, KroneckerDelta, Sum

from theorems.attention_pairings.steps.linear_recurrence import at_level_l
from theorems.assumptions.levels import STAGES, level, size
from theorems.checker.exact import Draw, Rejected
from theorems.rules import Induction
from theorems.statement import Definition, Equation, Local, RankBound, Step, array, symbols_of

n, m, p = symbols_of("n m p")
i, j, k, a, b, c = symbols_of("i j k a b c")

# From the time of the block on: level 1 is that time, columns j are the inputs up to it.
T, H = ({label: level(name, label, m, *shape) for label in STAGES}
        for name, shape in (("T", (m,)), ("H", (p,))))
A, states = level("A", "l+1", m, m), array("C", m, p)


def response_claim(label: str) -> Equation:
    """Later states depend on earlier inputs through the state at the time of the block."""
    return (level("H", label, m, p)[a, j],
            Sum(level("T", label, m, m)[a, b] * states[b, j], (b, 1, m)))


response_l = at_level_l("the response through the state", response_claim)
first_response = Step(
    id="first_response", lhs=response_claim("1")[0], rhs=response_claim("1")[1],
    by=(Definition(H["1"][a, j], states[a, j]), Definition(T["1"][a, b], KroneckerDelta(a, b))),
    because="$C$ is the state at that time for a unit input at $j$.",
)
next_response = Step(
    id="next_response", lhs=response_claim("l+1")[0], rhs=response_claim("l+1")[1],
    by=(Definition(H["l+1"][a, j], Sum(A[a, c] * H["l"][c, j], (c, 1, m))),
        Definition(T["l+1"][a, b], Sum(A[a, c] * T["l"][c, b], (c, 1, m))), response_l),
    because="Later inputs are $0$ for the columns of the block.",
)
response = Induction(
    id="response", claim=response_claim, hypothesis=response_l,
    by=(first_response, next_response), because="So it is at every later time.",
)
block, outputs, later = array("B", n, p), array("c", n, m), array("H", n, m, p)
carried = array("T", n, m, m)
block_is = Definition(block[i, j], Sum(outputs[i, a] * later[i, a, j], (a, 1, m)))
by_response = Definition(later[i, a, j], Sum(carried[i, a, b] * states[b, j], (b, 1, m)))
through_state = RankBound(
    id="through_state", small=(block[i, j], (i, n), (j, p)), large=(states[b, j], (b, m), (j, p)),
    before=(Sum(outputs[i, a] * carried[i, a, b], (a, 1, m)), (i, n), (b, m)),
    by=(block_is, by_response),
    because="Row $i$ of the block is $c_i^\\top T_i$ times the $m$ rows of $C$.",
)

# Conversely: the block of level l is cut out by the masks R of rows and Q of columns.
L, x = array("L", n, n), array("x", n)
M = {label: size("m", label) for label in STAGES}
rows, columns, enters, read = (
    {label: level(name, label, n) for label in ("l", "l+1")} for name in ("R", "Q", "e", "f")
)
O = {label: level("O", label, n, M[label]) for label in ("l", "l+1")}
G = level("U", "l+1", M["l+1"], n)
F = {label: level("F", label, M[label], n) for label in STAGES}
h = {label: level("h", label, M[label]) for label in STAGES}
A_next, b_next, c_now = (level(name, label, *shape) for name, label, *shape in (
    ("A", "l+1", M["l+1"], M["l"]), ("b", "l+1", M["l+1"]), ("c", "l", M["l"])))


def factors(label: str) -> tuple[Any, Any]:
    """The product of the factors of a block, and the block between its masks."""
    product = Sum(O[label][i, a] * F[label][a, j], (a, 1, M[label]))
    return product, rows[label][i] * L[i, j] * columns[label][j]


def _blocks(draw: Draw, own: bool | None = None) -> None:
    """A lower-triangular L with a block of rank r at a time, factors of it and of the one before.

    The block of level l+1 is O F with O = (I; anything) below row t; row t is free, or again in
    the row space. The input that enters is t + 1 where blocks hold their `own` columns, and t
    where they hold the columns before their time.
    """
    rng, fresh, sizes = draw.source.rng, draw.source.fresh, draw.sizes
    r = sizes.setdefault(str(M["l+1"]), rng.choice((1, 1, 2)))
    more = sizes.setdefault(str(M["l"]), r + rng.choice((0, 1))) - r
    last = sizes.setdefault(str(n), r + rng.choice((1, 1, 2)))
    if more not in (0, 1) or last <= r:
        raise Rejected(f"no block of rank {r} in {last} rows after one of rank {r + more}")
    t = rng.randrange(last - r) + 1
    width = t + (rng.choice((0, 1)) if own is None else own)
    right = [[fresh(None) for _ in range(width)] for _ in range(r)]
    left = [[int(k == q) if k < r else fresh(None) for q in range(r)] for k in range(last - t)]
    share = [*(0 if more else fresh(None) for _ in range(r)), *[1] * more]
    earlier = [*right, *([fresh(None) for _ in range(width)] for _ in range(more))]
    for row, column in draw.cells(L):
        line, above = (left[row - t - 1], right) if row > t else (share, earlier)
        inside = row >= t and column <= width - (row == t)
        terms = (s * one[column - 1] for s, one in zip(line, above, strict=True))
        entry = sum(terms) if inside else 0
        if row != t or column < width:  # the rest of row t is what it does not see
            draw.put(L, (row, column), entry if inside or column > row else fresh(None))
    for place in range(1, last + 1):
        masks = (rows, place >= t, place > t), (columns, place < width, place <= width)
        for mask, now, following in masks:
            draw.put(mask["l"], (place,), int(now))
            draw.put(mask["l+1"], (place,), int(following))
        mine = share if place == t else [*left[place - t - 1], 0] if place > t else [0] * (r + 1)
        for q in range(r + more):
            draw.put(O["l"], (place, q + 1), mine[q])
            draw.put(F["l"], (q + 1, place), earlier[q][place - 1] if place < width else 0)


def _first(draw: Draw, mask: IndexedBase) -> int:
    for (place,) in draw.cells(mask):
        if draw.get(str(mask), (place,)) == 1:
            return place
    raise Rejected(f"{mask} is empty")


def _next_factors(draw: Draw) -> None:
    """O' as in O, whose rows below t begin with an identity; F' from the rows of L beside it."""
    t = _first(draw, rows["l"])
    for row, q in draw.cells(O["l+1"]):
        draw.put(O["l+1"], (row, q), draw.get(str(O["l"]), (row, q)) if row > t else 0)
    for q, column in draw.cells(F["l+1"]):
        seen = draw.get(str(columns["l+1"]), (column,))
        draw.put(F["l+1"], (q, column), draw.get(str(L), (t + q, column)) if seen == 1 else 0)


def _invert(draw: Draw) -> None:
    t = _first(draw, rows["l"])
    for q, row in draw.cells(G):
        draw.put(G, (q, row), int(row == t + q))


def _new_column(draw: Draw) -> None:
    for (place,) in draw.cells(x):
        now, before = (draw.get(str(columns[label]), (place,)) for label in ("l+1", "l"))
        draw.put(enters["l+1"], (place,), now - before)


def _first_row(draw: Draw) -> None:
    t = _first(draw, rows["l"])
    for (place,) in draw.cells(x):
        draw.put(read["l"], (place,), int(place == t))


def _unseen(draw: Draw) -> None:
    """Row t of L is 0 right of its block, or of the diagonal entry beside it."""
    t = _first(draw, rows["l"])
    for (column,) in draw.cells(x):
        if draw.get(str(columns["l"]), (column,)) == 0:
            draw.put(L, (t, column), draw.source.fresh(None) if column == t else 0)


def _assumed(impose: Callable, name: str, text: str, *rules: Equation) -> Local:
    return Local(name, text, rules, impose)


factored = Local(
    "the block factors", "$O F$ is the block of level $l$", (factors("l"),), _blocks)
factored_own, factored_before = (
    replace(factored, impose=partial(_blocks, own=own)) for own in (True, False))
next_factored = _assumed(_next_factors,
    "the next block factors", "$O F$ is the block of level $l + 1$", factors("l+1")[::-1])
left_inverse = _assumed(_invert,
    "O has a left inverse", "$U O = I$ at level $l + 1$: the columns of $O$ are independent",
    (Sum(G[a, i] * O["l+1"][i, b], (i, 1, n)), KroneckerDelta(a, b)))
nested = _assumed(_new_column,
    "blocks are nested", "rows leave, and one column enters",
    (rows["l+1"][i] * rows["l"][i], rows["l+1"][i]),
    (columns["l"][j], columns["l+1"][j] * (1 - enters["l+1"][j])),
    (enters["l+1"][i] * enters["l+1"][j], KroneckerDelta(i, j) * enters["l+1"][j]))


def state_claim(label: str) -> Equation:
    """The state is the right factor of the block, applied to the inputs."""
    own = size("m", label)
    return level("h", label, own)[a], Sum(level("F", label, own, n)[a, j] * x[j], (j, 1, n))


state_l = at_level_l("the state by the factor", state_claim)
recurrence = (
    Definition(A_next[a, b], Sum(G[a, i] * rows["l+1"][i] * O["l"][i, b], (i, 1, n))),
    Definition(b_next[a], Sum(F["l+1"][a, j] * enters["l+1"][j], (j, 1, n))),
    Definition(h["l+1"][a], Sum(A_next[a, b] * h["l"][b], (b, 1, M["l"]))
               + b_next[a] * Sum(enters["l+1"][j] * x[j], (j, 1, n))),
)
first_state = Step(
    id="first_state", lhs=state_claim("1")[0], rhs=state_claim("1")[1],
    by=(Definition(h["1"][a], Sum(F["1"][a, j] * x[j], (j, 1, n))),),
    because="The first state is $b_1 x_1$, or empty where states are read before the update.",
)
next_state = Step(
    id="next_state", lhs=state_claim("l+1")[0], rhs=state_claim("l+1")[1],
    by=(*recurrence, factored, state_l, nested, next_factored, left_inverse),
    because="Without its first row the block lies in the next one, so $O'$ solves for $A$: $A F = "
    "U R' O F = U R' L Q = U O' F' = F'$ on the columns so far, and $b$ is the new column of $F'$.",
)
every_state = Induction(
    id="every_state", claim=state_claim, hypothesis=state_l, by=(first_state, next_state),
    because="So it is at every time.",
)
reads = _assumed(_first_row,"f reads its row", "$f$ selects a row of the block",
                   (read["l"][i] * rows["l"][i], read["l"][i]))
output_row = Definition(c_now[a], Sum(read["l"][i] * O["l"][i, a], (i, 1, n)))
causal = _assumed(_unseen,
    "columns up to its time", "the block holds all that row $t$ sees",
    (read["l"][i] * L[i, j] * columns["l"][j], read["l"][i] * L[i, j]))
strictly_causal = _assumed(_unseen,
    "columns before its time", "the block holds all that row $t$ sees but $L_{tt}$",
    (read["l"][i] * L[i, j] * columns["l"][j], read["l"][i] * L[i, j] * (1 - read["l"][j])))
output = Sum(c_now[a] * h["l"][a], (a, 1, M["l"]))
row_of_L = Sum(read["l"][i] * L[i, j] * x[j], (i, 1, n), (j, 1, n))
outputs_after = Step(
    id="outputs_after", lhs=output, rhs=row_of_L,
    by=(output_row, factored_own, state_l, reads, causal),
    because="$c_t^\top F = $ row $t$ of $L$.",
)
outputs_before = Step(
    id="outputs_before", by=(output_row, factored_before, state_l, reads, strictly_causal),
    lhs=output + Sum(read["l"][i] * L[i, j] * read["l"][j] * x[j], (i, 1, n), (j, 1, n)),
    rhs=row_of_L, because="$D_t = L_{tt}$ completes row $t$.",
)
NECESSARY = (first_response, next_response, response, through_state)
SUFFICIENT = (first_state, next_state, every_state, outputs_after)
STEPS = (*NECESSARY, *SUFFICIENT, outputs_before)
