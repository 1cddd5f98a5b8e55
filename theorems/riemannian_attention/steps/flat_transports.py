"""Steps of RA14 on transports T_ij = E_i^{-1} R_ij E_j that are all the identity.

They are if all frames are one and R_ij = I, and if R_ij = E_i E_j^{-1}; the latter is orthogonal
for the pairs whose metrics agree, and for no other.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import right_inverse
from theorems.assumptions.frames import frame, inverse_of, put_rows
from theorems.checker.exact import Draw
from theorems.statement import Assumption, Definition, Step, array, symbols_of

n, d = symbols_of("n d")
i, j, k, a, b, c, e, f = symbols_of("i j k a b c e f")
delta = KroneckerDelta

x, gap, other_gap = array("x", n, d), array("p", n, n, n, d), array("p'", n, n, n, d)
E, coframe, G = array("E", n, d, d), array("E^{-1}", n, d, d), array("G", n, d, d)
R, T = array("R", n, n, d, d), array("T", n, n, d, d)
B, other_T = array("B", n, n, d, d), array("T'", n, n, d, d)
one, one_inverse = array("E_0", d, d), array("E_0^{-1}", d, d)


def total(term: Expr, *indices: Symbol) -> Expr:
    """The sum over features."""
    return Sum(term, *((index, 1, d) for index in indices))


def framed_by(E: IndexedBase, inverse: IndexedBase) -> Assumption:
    """Frames with their inverses; of symbols they are bidiagonal."""

    def impose(draw: Draw) -> None:
        for cell in draw.cells(E, len(E.shape) - 2):
            rows = frame(draw, draw.size(d))
            put_rows(draw, E, cell, rows)
            put_rows(draw, inverse, cell, inverse_of(draw, rows))

    return replace(right_inverse(E, inverse), impose=impose)


def transport(T: IndexedBase, turns: IndexedBase) -> Definition:
    """T_ij = E_i^{-1} R_ij E_j."""
    value = total(coframe[i, a, c] * turns[i, j, c, e] * E[j, e, b], c, e)
    return Definition(T[i, j, a, b], value)


def around(T: IndexedBase) -> Expr:
    """Entry (a, b) of T_ij T_jk T_ki."""
    return total(T[i, j, a, c] * T[j, k, c, e] * T[k, i, e, b], c, e)


def pentagon(gap: IndexedBase, T: IndexedBase) -> Definition:
    """a + T_ji b - b - T_ki a with a = x_j - x_i and b = x_k - x_i."""
    first, second = (x[to, e] - x[i, e] for to in (j, k))
    return Definition(gap[i, j, k, e], first - second + total(
        T[j, i, e, f] * (x[k, f] - x[i, f]) - T[k, i, e, f] * (x[j, f] - x[i, f]), f))


turned, other_turned = transport(T, R), transport(other_T, B)
one_frame = (
    Definition(E[i, a, b], one[a, b]), Definition(coframe[i, a, b], one_inverse[a, b]),
    framed_by(one, one_inverse),
)
unturned = Definition(R[i, j, a, b], delta(a, b))
trivial = Step(
    id="trivial", lhs=T[i, j, a, b], rhs=delta(a, b), by=(turned, unturned, *one_frame),
    because="$E^{-1} I E = I$.",
)
framed = framed_by(E, coframe)
coboundary = Definition(B[i, j, a, b], total(E[i, a, c] * coframe[j, c, b], c))
trivial_by_turns = Step(
    id="trivial_by_turns", lhs=other_T[i, j, a, b], rhs=delta(a, b),
    by=(other_turned, coboundary, framed), because="$E_i^{-1} E_i E_j^{-1} E_j = I$.",
)
closed, closed_by_turns = (
    Step(id=name, lhs=around(moved), rhs=delta(a, b), by=(lemma,), because="$I I I = I$.")
    for name, moved, lemma in (("closed", T, trivial),
                               ("closed_by_turns", other_T, trivial_by_turns))
)
gap_defined = pentagon(gap, T)
no_gap, no_gap_by_turns = (
    Step(id=name, lhs=corner[i, j, k, e], rhs=Integer(0), by=(pentagon(corner, moved), lemma),
         because="$a + b - b - a = 0$.")
    for name, corner, moved, lemma in (("no_gap", gap, T, trivial),
                                       ("no_gap_by_turns", other_gap, other_T, trivial_by_turns))
)

metrics = Definition(G[i, a, b], total(E[i, c, a] * E[i, c, b], c))
turn_defect = Step(
    id="turn_defect", lhs=total(B[i, j, c, a] * B[i, j, c, b], c) - delta(a, b),
    rhs=total(coframe[j, e, a] * (G[i, e, f] - G[j, e, f]) * coframe[j, f, b], e, f),
    by=(coboundary, metrics, framed),
    because=r"$R_{ij}^\top R_{ij} = E_j^{-\top} G_i E_j^{-1}$ and $I = E_j^{-\top} G_j E_j^{-1}$.",
)
metric_gap = Step(
    id="metric_gap", lhs=G[i, a, b] - G[j, a, b],
    rhs=total(E[j, c, a] * (total(B[i, j, e, c] * B[i, j, e, f], e) - delta(c, f)) * E[j, f, b],
              c, f),
    by=(coboundary, metrics, framed), because="The same read backwards.",
)
