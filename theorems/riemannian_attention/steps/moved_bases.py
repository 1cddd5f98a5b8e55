"""Steps of RA14 on a change of basis x -> Q x with metrics that go to Q G_i Q^T.

Any orthogonal Q keeps scores and moves transports to Q T_ij Q^T. Metrics diag(D) + U U^T keep their
form under signed permutations Q = diag(s) B, and under all orthogonal Q if D is one number.
"""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.frames import identity, put_rows, turn
from theorems.assumptions.matrices import orthogonal, permutation
from theorems.checker.exact import Draw, SmallIntegers
from theorems.riemannian_attention.steps.flat_transports import (
    E, G, R, T, a, b, c, coframe, d, e, f, framed, i, j, metrics, n, total, turned, x,
)
from theorems.statement import Definition, Local, Step, array, symbols_of

(r,) = symbols_of("r")
g, h = symbols_of("g h")
half, t = Rational(1, 2), Symbol("t", real=True)
delta = KroneckerDelta

Q, B, s = array("Q", d, d), array("B", d, d), array("s", d)
Q_inverse = array("Q^{-1}", d, d)


def _permute(draw: Draw) -> None:
    places = list(range(draw.size(d)))
    draw.source.rng.shuffle(places)
    put_rows(draw, B, (), [[fmpq(int(column == place)) for column in range(len(places))]
                           for place in places])


def _sign(draw: Draw) -> None:
    for cell in draw.cells(s):
        draw.put(s, cell, fmpq(draw.source.rng.choice((-1, 1))))


def _turn(draw: Draw) -> None:
    """Any turn; where symbolic or large, a Pythagorean one, which costs no quotient."""
    size = draw.size(d)
    if type(draw.source) is SmallIntegers:
        rows = turn(draw, size)
    elif size == 1:
        rows = [[fmpq(-1)]]
    else:
        rows = identity(size)
        for line, entries in enumerate(((fmpq(3, 5), fmpq(4, 5)), (fmpq(-4, 5), fmpq(3, 5)))):
            rows[line][:2] = entries
    put_rows(draw, Q, (), rows)


permuting = replace(
    permutation(B), id="B is a permutation matrix", impose=_permute,
    text="$B$ is a permutation matrix: one 1 in every row and column, and 0 beside it",
)
signs = Local("s is a vector of signs", "$s_a^2 = 1$", ((s[a] ** 2, Integer(1)),), _sign)
signed_permutation = Definition(Q[a, b], s[a] * B[a, b])
SIGNED = (signed_permutation, permuting, signs)
turning = replace(
    orthogonal(Q, both=True), text=r"$Q^\top Q = Q Q^\top = I$", impose=_turn)


def conjugated(target: IndexedBase, source: IndexedBase, *lead: Symbol) -> Definition:
    """target = Q source Q^T in the last two axes."""
    value = total(Q[a, c] * source[*lead, c, e] * Q[b, e], c, e)
    return Definition(target[*lead, a, b], value)


columns_of_Q = Step(
    id="columns_of_Q", lhs=total(Q[c, a] * Q[c, b], c), rhs=delta(a, b), by=SIGNED,
    because=r"$Q^\top Q = B^\top B = I$.",
)
rows_of_Q = Step(
    id="rows_of_Q", lhs=total(Q[a, c] * Q[b, c], c), rhs=delta(a, b), by=SIGNED,
    because=r"$Q Q^\top = I$ alike.",
)

D, U, D2, U2 = array("D", n, d), array("U", n, d, r), array("D'", n, d), array("U'", n, d, r)
G2 = array("G'", n, d, d)


def low_rank(D: Expr, U: IndexedBase) -> Expr:
    """Entry (a, b) of diag(D_i) + U_i U_i^T, D_i given by its entry a."""
    return D * delta(a, b) + Sum(U[i, a, g] * U[i, b, g], (g, 1, r))


of_low_rank = Definition(G[i, a, b], low_rank(D[i, a], U))
moved_metric = conjugated(G2, G, i)
moved_diagonal = Definition(D2[i, a], total(Q[a, b] ** 2 * D[i, b], b))
moved_columns = Definition(U2[i, a, g], total(Q[a, b] * U[i, b, g], b))
keeps_form = Step(
    id="keeps_form", lhs=G2[i, a, b], rhs=low_rank(D2[i, a], U2),
    by=(moved_metric, of_low_rank, moved_diagonal, moved_columns, *SIGNED),
    because="A row of Q has one entry, so $Q \\, \\mathrm{diag}(D) \\, Q^\\top$ is diagonal.",
)
permuted = Step(
    id="permuted", lhs=Q[a, b] ** 2 * D2[i, a], rhs=Q[a, b] ** 2 * D[i, b],
    by=(moved_diagonal, *SIGNED), because="$D'_a$ is the entry $D_b$ with $Q_{ab} = \\pm 1$.",
)

# The frame of one metric; its token is not written.
V, V2, q, q2 = array("V", d, r), array("V'", d, r), array("q", d), array("q'", d)
K, F, F2, DD, DD2 = (array("K", r, r), array("F", d, d), array("F'", d, d), array("D_0", d),
                     array("D'_0", d))
p, o = symbols_of("p o")


def turn_of(V: IndexedBase) -> Expr:
    """Entry (a, b) of I + V K V^T."""
    return delta(a, b) + Sum(V[a, p] * K[p, o] * V[b, o], (p, 1, r), (o, 1, r))


frame = Definition(F[a, b], turn_of(V) * q[b])
frame2 = Definition(F2[a, b], turn_of(V2) * q2[b])
moved_V = Definition(V2[a, p], total(Q[a, b] * V[b, p], b))
moved_q = Definition(q2[a], total(Q[a, b] ** 2 * q[b], b))
root = Definition(DD[a], q[a] ** 2)
moved_D = Definition(DD2[a], total(Q[a, b] ** 2 * DD[b], b))
same_root = Step(
    id="same_root", lhs=q2[a] ** 2, rhs=DD2[a], by=(moved_q, moved_D, root, *SIGNED),
    because="Roots are permuted with what they are roots of.",
)
moved_frame = Step(
    id="moved_frame", lhs=F2[a, b], rhs=total(Q[a, c] * F[c, e] * Q[b, e], c, e),
    by=(frame2, frame, moved_V, moved_q, *SIGNED),
    because=r"$(I + Q V K V^\top Q^\top)\, Q D^{1/2} Q^\top$.",
)
GRAM = (total(V2[a, p] * V2[a, o], a), total(V[a, p] * V[a, o], a))
same_gram = Step(
    id="same_gram", lhs=GRAM[0], rhs=GRAM[1], by=(moved_V, turning),
    because=r"$V^\top Q^\top Q V = V^\top V$, so its function K stays.",
)

E2, coframe2 = array("E'", n, d, d), array("E'^{-1}", n, d, d)
R2, T2 = array("R'", n, n, d, d), array("T'", n, n, d, d)
x2, S, S2 = array("x'", n, d), array("S", n, n), array("S'", n, n)


def squared(x: IndexedBase, G: IndexedBase) -> Expr:
    """-(t/2) (x_i - x_j)^T G_i (x_i - x_j)."""
    return -half * t * total((x[i, a] - x[j, a]) * G[i, a, b] * (x[i, b] - x[j, b]), a, b)


scores, scores2 = Definition(S[i, j], squared(x, G)), Definition(S2[i, j], squared(x2, G2))
moved_tokens = Definition(x2[i, a], total(Q[a, b] * x[i, b], b))
same_scores = Step(
    id="same_scores", lhs=S2[i, j], rhs=S[i, j],
    by=(scores2, scores, moved_tokens, moved_metric, turning),
    because=r"$(Q v)^\top Q G_i Q^\top Q v = v^\top G_i v$.",
)
moved_E, moved_coframe = conjugated(E2, E, i), conjugated(coframe2, coframe, i)
moved_R = conjugated(R2, R, i, j)
frame_of_moved = Step(
    id="frame_of_moved", lhs=total(E2[i, c, a] * E2[i, c, b], c), rhs=G2[i, a, b],
    by=(moved_E, moved_metric, metrics, turning),
    because=r"$Q E_i^\top Q^\top Q E_i Q^\top = Q G_i Q^\top$.",
)
inverse_of_moved = Step(
    id="inverse_of_moved", lhs=total(coframe2[i, a, c] * E2[i, c, b], c), rhs=delta(a, b),
    by=(moved_E, moved_coframe, framed, turning),
    because=r"$Q E_i^{-1} Q^\top Q E_i Q^\top = I$.",
)
turned2 = Definition(
    T2[i, j, a, b], total(coframe2[i, a, c] * R2[i, j, c, e] * E2[j, e, b], c, e)
)
moved_transport = Step(
    id="moved_transport", lhs=T2[i, j, a, b], rhs=total(Q[a, c] * T[i, j, c, e] * Q[b, e], c, e),
    by=(turned2, turned, moved_E, moved_coframe, moved_R, turning),
    because=r"$Q E_i^{-1} Q^\top Q R_{ij} Q^\top Q E_j Q^\top$.",
)
P, v, v2, y, y2 = (array("P", n, n), array("v", n, d), array("v'", n, d), array("y", n, d),
                   array("y'", n, d))


def carried(P: IndexedBase, T: IndexedBase, v: IndexedBase) -> Expr:
    """Entry a of sum_j P_ij T_ij v_j."""
    return Sum(P[i, j] * T[i, j, a, b] * v[j, b], (j, 1, n), (b, 1, d))


OUTPUTS = (Definition(y2[i, a], carried(P, T2, v2)), Definition(y[i, a], carried(P, T, v)))
moved_values = Definition(v2[j, a], total(Q[a, b] * v[j, b], b))
moved_output = Step(
    id="moved_output", lhs=y2[i, a], rhs=total(Q[a, f] * y[i, f], f),
    by=(*OUTPUTS, moved_values, moved_transport, turning),
    because=r"$\sum_j P_{ij} Q T_{ij} Q^\top Q v_j$, with the weights of the same scores.",
)

level, length = Symbol("delta", real=True), Symbol("kappa", real=True)
of_one_level = Definition(G[i, a, b], low_rank(level, U))
rotated_form = Step(
    id="rotated_form", lhs=G2[i, a, b], rhs=low_rank(level, U2),
    by=(moved_metric, of_one_level, moved_columns, turning),
    because=r"$Q \delta I Q^\top = \delta I$.",
)
rotated_frame = Step(
    id="rotated_frame", lhs=turn_of(V2) * length,
    rhs=total(Q[a, c] * F[c, e] * Q[b, e], c, e),
    by=(frame, moved_V, Definition(q[a], length), turning),
    because=r"$D^{1/2} = \kappa I$ commutes with Q.",
)
