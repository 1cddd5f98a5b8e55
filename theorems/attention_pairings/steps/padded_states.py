"""States of one size: zeros below shorter ones change no output. Factors of least width have
independent columns.

J_t with J_t^T J_t = I puts the m_t numbers of h_t among w numbers.
"""

from __future__ import annotations

from sympy import IndexedBase, Integer, KroneckerDelta, Sum, Symbol, latex

from theorems.attention_pairings.steps.linear_recurrence import at_level_l
from theorems.attention_pairings.steps.state_space import M, a, b, h, i, j, n
from theorems.assumptions.levels import STAGES, level, size
from theorems.checker.exact import Draw, Rejected
from theorems.rules import Induction
from theorems.statement import Definition, Equation, Local, Step, array, symbols_of

w, P, Q = symbols_of("w P Q")
J, wide = (
    {label: level(name, label, w, *shape(label)) for label in STAGES}
    for name, shape in (("J", lambda label: (M[label],)), ("h'", lambda label: ()))
)
A, b_next = level("A", "l+1", M["l+1"], M["l"]), level("b", "l+1", M["l+1"])
A_wide, b_wide = level("A'", "l+1", w, w), level("b'", "l+1", w)
c_now, c_wide = level("c", "l", M["l"]), level("c'", "l", w)
entering = Symbol("xi", real=True)


def embeds(part: IndexedBase) -> Local:
    """J^T J = I: the columns are orthonormal."""

    def impose(draw: Draw) -> None:
        columns = draw.size(part.shape[1])
        rows = draw.sizes.setdefault(w.name, columns + draw.source.rng.choice((0, 1)))
        if rows < columns:
            raise Rejected(f"{columns} numbers are no {rows}")
        places = draw.source.rng.sample(range(1, rows + 1), columns)
        for row, column in draw.cells(part):
            draw.put(part, (row, column), int(places[column - 1] == row))

    rule = (Sum(part[P, a] * part[P, b], (P, 1, w)), KroneckerDelta(a, b))
    shown = latex(part.label)
    return Local(f"{part} embeds", f"${shown}^\\top {shown} = I$", (rule,), impose)


def padded_claim(label: str) -> Equation:
    """The wide state is the state, among zeros."""
    own = size("m", label)
    entry = level("J", label, w, own)[P, a] * level("h", label, own)[a]
    return level("h'", label, w)[P], Sum(entry, (a, 1, own))


padded_l, embeds_l = at_level_l("the wide state", padded_claim), embeds(J["l"])
first_padded = Step(
    id="first_padded", lhs=padded_claim("1")[0], rhs=padded_claim("1")[1],
    by=(Definition(wide["1"][P], Sum(J["1"][P, a] * h["1"][a], (a, 1, M["1"]))),),
    because="The first state, among zeros.",
)
next_padded = Step(
    id="next_padded", lhs=padded_claim("l+1")[0], rhs=padded_claim("l+1")[1],
    by=(
        Definition(wide["l+1"][P], Sum(A_wide[P, Q] * wide["l"][Q], (Q, 1, w))
                   + b_wide[P] * entering),
        Definition(A_wide[P, Q], Sum(J["l+1"][P, a] * A[a, b] * J["l"][Q, b],
                                     (a, 1, M["l+1"]), (b, 1, M["l"]))),
        Definition(b_wide[P], Sum(J["l+1"][P, a] * b_next[a], (a, 1, M["l+1"]))),
        Definition(h["l+1"][a], Sum(A[a, b] * h["l"][b], (b, 1, M["l"])) + b_next[a] * entering),
        embeds_l, padded_l,
    ),
    because="$A' = J_{t+1} A J_t^\\top$ and $b' = J_{t+1} b$: $A' J_t h_t = J_{t+1} A h_t$.",
)
padded = Induction(
    id="padded", claim=padded_claim, hypothesis=padded_l, by=(first_padded, next_padded),
    because="So it is at every time.",
)
padded_output = Step(
    id="padded_output", lhs=Sum(c_wide[P] * wide["l"][P], (P, 1, w)),
    rhs=Sum(c_now[a] * h["l"][a], (a, 1, M["l"])),
    by=(Definition(c_wide[P], Sum(J["l"][P, a] * c_now[a], (a, 1, M["l"]))), embeds_l, padded_l),
    because="$c' = J_t c$ reads what $c$ reads.",
)

r, p = symbols_of("r p")
O, F, z, unit = array("O", n, r), array("F", r, p), array("z", r), array("e", r)
narrow = array("F'", r, p)


def _selected(draw: Draw) -> None:
    """e selects a column, in which z is 1."""
    place = draw.source.rng.randrange(draw.size(r)) + 1
    for (column,) in draw.cells(z):
        draw.put(unit, (column,), int(column == place))
        draw.put(z, (column,), 1 if column == place else draw.source.fresh(None))


def _dependent(draw: Draw) -> None:
    """A column in which z is not 0 makes up for the others."""
    entries = [draw.get(z.name, cell) for cell in draw.cells(z)]
    place = next((k for k, one in enumerate(entries) if not draw.source.is_zero(one)), None)
    if place is None:
        return
    scale = draw.source.inverse(entries[place])
    for (row,) in draw.cells(O, 1):
        rest = 0
        for column, one in enumerate(entries):
            if column != place:
                entry = draw.source.fresh(None)
                draw.put(O, (row, column + 1), entry)
                rest += entry * one
        draw.put(O, (row, place + 1), -scale * rest)


dependent = Local("O z = 0", "$O z = 0$: the columns of $O$ are dependent",
                  ((Sum(O[i, a] * z[a], (a, 1, r)), Integer(0)),), _dependent)
takes_part = Local("e . z = 1", "$e \\cdot z = 1$: the column of $e$ takes part in it",
                   ((Sum(unit[a] * z[a], (a, 1, r)), Integer(1)),), _selected)
without = Definition(narrow[a, j], F[a, j] - z[a] * Sum(unit[b] * F[b, j], (b, 1, r)))
same_product = Step(
    id="same_product", lhs=Sum(O[i, a] * narrow[a, j], (a, 1, r)),
    rhs=Sum(O[i, a] * F[a, j], (a, 1, r)), by=(without, dependent),
    because="$F' = F - z e^\\top F$, and $O z = 0$.",
)
row_dropped = Step(
    id="row_dropped", lhs=Sum(unit[a] * narrow[a, j], (a, 1, r)), rhs=Integer(0),
    by=(without, takes_part), because="$e^\\top F - (e \\cdot z) e^\\top F = 0$.",
)
STEPS = (first_padded, next_padded, padded, padded_output, same_product, row_dropped)
