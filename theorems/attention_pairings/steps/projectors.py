"""AP8 on Grassmannians: projectors P = Y Y^T, the pairing tr P Q, and top eigenprojectors.

The eigenvectors of a symmetric M are the columns u of U, with the eigenvalues alpha + s, and v of
V, with alpha - gamma - r, where r, s >= 0: between them lies the eigengap gamma.
"""

from __future__ import annotations

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.attention_pairings.steps.rotations import orthogonal_matrix, orthogonal_rows
from theorems.checker.exact import Draw, Rejected
from theorems.rules import Vanishing
from theorems.statement import Bound, Definition, Local, Step, array, symbols_of

m, d, k, n = symbols_of("m d k n")
j, a, b, c, e, f, g, h = symbols_of("j a b c e f g h")
O, P, Q, P2, Q2 = (array(name, d, d) for name in ("O", "P", "Q", "P'", "Q'"))
Y, Z, Y2, Z2 = (array(name, d, k) for name in ("Y", "Z", "Y'", "Z'"))
HALF = Rational(1, 2)


def total(entry: Expr, *indices: Symbol) -> Expr:
    """The sum over rows."""
    return Sum(entry, *((index, 1, d) for index in indices))


def span(frame: IndexedBase, row: Symbol, column: Symbol) -> Expr:
    """Entry of frame frame^T."""
    return Sum(frame[row, f] * frame[column, f], (f, 1, frame.shape[1]))


def _basis(draw: Draw, columns: int) -> list[list]:
    size = draw.sizes.setdefault(str(d), min(3, columns + draw.source.rng.choice((0, 1))))
    if size < columns:
        raise Rejected(f"no {columns} orthonormal vectors of length {size}")
    return orthogonal_rows(draw, size)


def orthonormal_columns(frame: IndexedBase) -> Local:
    """The columns are orthonormal."""

    def impose(draw: Draw) -> None:
        rows = _basis(draw, draw.size(k))
        for row, column in draw.cells(frame):
            draw.put(frame, (row, column), rows[row - 1][column - 1])

    rule = (total(frame[a, f] * frame[a, g], a), KroneckerDelta(f, g))
    return Local(f"{frame} is orthonormal", f"${frame}^\\top {frame} = I$", (rule,), impose)


def turned(matrix: IndexedBase, row: Symbol, column: Symbol) -> Expr:
    """Entry of O matrix O^T."""
    return total(O[row, c] * matrix[c, e] * O[column, e], c, e)


turn = orthogonal_matrix(O)
images = Definition(P2[a, b], turned(P, a, b)), Definition(Q2[a, b], turned(Q, a, b))
frames = Definition(P[a, b], span(Y, a, b)), Definition(Q[a, b], span(Z, a, b))
orthonormal_frames = orthonormal_columns(Y), orthonormal_columns(Z)
projector_pairing = Step(
    id="projector_pairing", lhs=total(P2[a, b] * Q2[b, a], a, b), by=(*images, turn),
    rhs=total(P[a, b] * Q[b, a], a, b),
    because=r"$\mathrm{tr}(O P O^\top O Q O^\top) = \mathrm{tr}(P Q)$.",
)
moved_frames = (Definition(Y2[a, f], total(O[a, c] * Y[c, f], c)),
                Definition(Z2[a, f], total(O[a, c] * Z[c, f], c)))
frame_stays = Step(
    id="frame_stays", lhs=total(Y2[a, f] * Y2[a, g], a), rhs=KroneckerDelta(f, g),
    by=(moved_frames[0], turn, orthonormal_frames[0]), because=r"$Y^\top O^\top O Y = I$.",
)
moved_projector = Step(
    id="moved_projector", lhs=span(Y2, a, b), rhs=turned(P, a, b), by=(moved_frames[0], frames[0]),
    because=r"$O Y (O Y)^\top = O P O^\top$.",
)
angles = Step(
    id="angles", lhs=total(Y2[a, f] * Z2[a, g], a), rhs=total(Y[a, f] * Z[a, g], a),
    by=(*moved_frames, turn), because=r"$(O Y)^\top O Z = Y^\top Z$.",
)
chordal = Step(
    id="chordal", lhs=total((P[a, b] - Q[a, b]) ** 2, a, b),
    rhs=2 * k - 2 * total(P[a, b] * Q[b, a], a, b), by=(*frames, *orthonormal_frames),
    because=r"$\mathrm{tr}\, P^2 = \mathrm{tr}\, P = k$.",
)

# The readout: the projector on the leading eigenvectors of M = sum_j w_j P_j.
w, values, values2, M = (array("w", m), array("P_j", m, d, d), array("P_j'", m, d, d),
                         array("M", d, d))
mean_is = Definition(M[a, b], Sum(w[j] * values[j, a, b], (j, 1, m)))
moved_values = Definition(
    values2[j, a, b], total(O[a, c] * values[j, c, e] * O[b, e], c, e))
moved_moment = Step(
    id="moved_moment", lhs=Sum(w[j] * values2[j, a, b], (j, 1, m)), rhs=turned(M, a, b),
    by=(moved_values, mean_is), because="The mean is linear.",
)
U, V, s, r = array("U", d, k), array("V", d, n), array("s", k), array("r", n)
alpha, gap = Symbol("alpha", real=True), Symbol("gamma", real=True)


def _eigenvectors(draw: Draw) -> None:
    leading, others = draw.size(k), draw.size(n)
    if draw.sizes.setdefault(str(d), leading + others) != leading + others:
        raise Rejected(f"{leading} + {others} eigenvectors")
    rows = orthogonal_rows(draw, leading + others)
    for target, start in ((U, 0), (V, leading)):
        for row, column in draw.cells(target):
            draw.put(target, (row, column), rows[row - 1][start + column - 1])


def crossed(one: IndexedBase, other: IndexedBase) -> Expr:
    """Entry (f, g) of one^T other."""
    return total(one[a, f] * other[a, g], a)


orthonormal_basis = Local(
    "U and V are an orthonormal basis", r"$U^\top U = I$, $V^\top V = I$, $U^\top V = 0$, "
    r"$U U^\top + V V^\top = I$", (
        (crossed(U, U), KroneckerDelta(f, g)), (crossed(V, V), KroneckerDelta(f, g)),
        (crossed(U, V), Integer(0)),
        (Sum(V[a, h] * V[b, h], (h, 1, n)),
         KroneckerDelta(a, b) - Sum(U[a, h] * U[b, h], (h, 1, k)))), _eigenvectors)
spectrum = Definition(M[a, b], Sum(U[a, g] * (alpha + s[g]) * U[b, g], (g, 1, k)) + Sum(
    V[a, h] * (alpha - gap - r[h]) * V[b, h], (h, 1, n)))
beyond = signed(s, ">=0"), signed(r, ">=0")
positive_gap = signed(array("gamma"), ">0")
top, other, D = array("Pi", d, d), array("Pi'", d, d), array("D", d, d)
projectors = Definition(top[a, b], span(U, a, b)), Definition(other[a, b], span(Y, a, b))
value, value2 = (total(M[a, b] * one[b, a], a, b) for one in (top, other))
inside = Sum(U[b, g] * Y[b, f], (b, 1, d))
lost = Sum(s[g] * (U[a, g] - Sum(Y[a, f] * inside, (f, 1, k))) ** 2, (g, 1, k), (a, 1, d))
gained = Sum(r[h] * Sum(V[a, h] * Y[a, f], (a, 1, d)) ** 2, (h, 1, n), (f, 1, k))
distance = total((top[a, b] - other[a, b]) ** 2, a, b)
given = (spectrum, *projectors, orthonormal_basis, orthonormal_frames[0])
leading = Bound(
    id="leading", small=value2 + HALF * gap * distance, large=value, certificate=lost + gained,
    by=(*given, *beyond),
    because=r"The share of $Y Y^\top$ outside of $U$ is inside of $V$, where $M$ is less by "
    r"$\gamma$ at least.",
)
only_top = Vanishing(
    id="only_top", total=value - value2, part=D[a, b], weight=HALF * gap,
    over=((a, d), (b, d)), rest=lost + gained, strict=True,
    by=(Definition(D[a, b], top[a, b] - other[a, b]), *given, *beyond, positive_gap),
    because=r"At the same value $|\Pi - \Pi'|^2 = 0$.",
)
place, seat = symbols_of("p q")
exchanged = top[a, b] - U[a, place] * U[b, place] + V[a, seat] * V[b, seat]
swap_value = Step(
    id="swap_value", lhs=total(M[b, a] * exchanged, a, b),
    by=(spectrum, projectors[0], orthonormal_basis),
    rhs=total(M[b, a] * top[a, b], a, b) - (alpha + s[place]) + (alpha - gap - r[seat]),
    because="The eigenvalue of $u_p$ goes, that of $v_q$ comes.",
)
