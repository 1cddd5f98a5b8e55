"""AP8 on rotations: the pairing tr Q^T K, moved by Q -> A Q B, and the polar factor of a mean."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import right_inverse
from theorems.assumptions.constructions import invertible, reflection
from theorems.assumptions.matrices import orthogonal
from theorems.checker.determinants import Blocks, Determinant
from theorems.checker.exact import Draw, Generators, Rows, times
from theorems.rules import Vanishing
from theorems.statement import Assumption, Definition, Local, Step, array, symbols_of

m, d = symbols_of("m d")
j, a, b, c, e, f, p, h = symbols_of("j a b c e f p h")
A, B, Q, K, Q2, K2 = (array("A", d, d), array("B", d, d), array("Q", d, d), array("K", d, d),
                      array("Q'", d, d), array("K'", d, d))


def total(entry: Expr, *indices: Symbol) -> Expr:
    """The sum over rows or columns."""
    return Sum(entry, *((index, 1, d) for index in indices))


def put(draw: Draw, target: IndexedBase, rows: Rows) -> None:
    """Choose all entries of a matrix."""
    for row, column in draw.cells(target):
        draw.put(target, (row, column), rows[row - 1][column - 1])


def orthogonal_rows(draw: Draw, size: int) -> Rows:
    """A reflection; of symbolic instances one in the plane of the first two axes."""
    if size <= 2 or not isinstance(draw.source, Generators):
        return reflection(draw, size)
    rows = reflection(draw, 2)
    return [[rows[r][c] if max(r, c) < 2 else int(r == c) for c in range(size)]
            for r in range(size)]


def orthogonal_matrix(turn: IndexedBase) -> Assumption:
    """turn^T turn = I = turn turn^T; of symbolic instances it turns the plane of two axes."""

    def impose(draw: Draw) -> None:
        if (str(turn), (1, 1)) not in draw.entries:
            put(draw, turn, orthogonal_rows(draw, draw.size(turn.shape[0])))

    return replace(orthogonal(turn, both=True), impose=impose)


def turned(matrix: IndexedBase, row: Symbol, column: Symbol) -> Expr:
    """Entry of A matrix B."""
    return total(A[row, c] * matrix[c, e] * B[e, column], c, e)


turns = orthogonal_matrix(A), orthogonal_matrix(B)
moved_Q = Definition(Q2[a, b], turned(Q, a, b))
moved_K = Definition(K2[a, b], turned(K, a, b))
rotation_pairing = Step(
    id="rotation_pairing", lhs=total(Q2[a, b] * K2[a, b], a, b),
    rhs=total(Q[a, b] * K[a, b], a, b), by=(moved_Q, moved_K, *turns),
    because=r"$\mathrm{tr}(B^\top Q^\top A^\top A K B) = \mathrm{tr}(Q^\top K)$.",
)
rotation_stays = Step(
    id="rotation_stays", lhs=total(Q2[a, b] * Q2[a, c], a), rhs=KroneckerDelta(b, c),
    by=(moved_Q, orthogonal_matrix(Q), *turns), because="A product of orthogonal matrices.",
)
relative = Step(
    id="relative", lhs=total(Q2[a, b] * K2[a, f], a),
    rhs=total(B[e, b] * Q[p, e] * K[p, h] * B[h, f], e, p, h), by=(moved_Q, moved_K, *turns),
    because=r"$(A Q B)^\top A K B = B^\top Q^\top K B$, the same relative rotation in another "
    r"basis.",
)


def block(matrix: IndexedBase, row: Symbol, column: Symbol) -> Blocks:
    """A matrix as one block."""
    return Blocks(((row, d),), ((column, d),), ((matrix[row, column],),))


orientation = Determinant(
    id="orientation", value=d**0, matrix=block(Q2, a, b), by=(moved_Q,),
    factors=(block(A, a, c), block(Q, c, e), block(B, e, b)),
    parts=(block(A, a, c), block(Q, c, e), block(B, e, b)),
    because=r"$\det(A Q B) = \det A \det Q \det B$.",
)

# The polar factor: M = R H with R orthogonal and H = F^T F for an invertible F.
w, V, V2 = array("w", m), array("V", m, d, d), array("V'", m, d, d)
M, R, H, F, G, R2, H2 = (array(name, d, d) for name in ("M", "R", "H", "F", "F_i", "R'", "H'"))
moved_values = Definition(V2[j, a, b], total(A[a, c] * V[j, c, e] * B[e, b], c, e))
mean_is = Definition(M[a, b], Sum(w[j] * V[j, a, b], (j, 1, m)))
moved_sum = Step(
    id="moved_sum", lhs=Sum(w[j] * V2[j, a, b], (j, 1, m)), rhs=turned(M, a, b),
    by=(moved_values, mean_is), because="The mean is linear.",
)
polar = Definition(M[a, b], total(R[a, c] * H[c, b], c))
H_is = Definition(H[a, b], total(F[c, a] * F[c, b], c))
moved_R = Definition(R2[a, b], turned(R, a, b))
F2 = total(F[p, e] * B[e, a], e), total(F[p, h] * B[h, b], h)
H2_is = Definition(H2[a, b], total(F2[0] * F2[1], p))
moved_polar = Step(
    id="moved_polar", lhs=total(R2[a, c] * H2[c, b], c), rhs=turned(M, a, b),
    by=(moved_R, H2_is, polar, H_is, turns[1]),
    because=r"$A R B \cdot (F B)^\top F B = A R H B$, as $B B^\top = I$.",
)
invertible_root = Step(
    id="invertible_root", lhs=total(total(F[a, e] * B[e, b], e) * B[f, b] * G[f, c], b, f),
    rhs=KroneckerDelta(a, c), by=(turns[1], right_inverse(F, G)),
    because=r"$F B B^\top F^{-1} = I$.",
)

# It is unique.
S, E, L, X, D, z = (array("S", d, d), array("E", d, d), array("L", d, d), array("X", d, d),
                    array("D", d, d), array("z", d, d))


def _other_form(draw: Draw) -> None:
    """S = R and E = W F with an orthogonal W."""
    size = draw.size(d)
    if (str(F), (1, 1)) not in draw.entries:
        root, inverted = invertible(draw, size)
        put(draw, F, root)
        put(draw, G, inverted)
    root = [[draw.get(str(F), (r, c)) for c in range(1, size + 1)] for r in range(1, size + 1)]
    put(draw, E, times(orthogonal_rows(draw, size), root))
    for cell in draw.cells(S):
        draw.put(S, cell, draw.get(str(R), cell))


def gram(root: IndexedBase, row: Symbol, column: Symbol, middle: Symbol) -> Expr:
    """Entry of root^T root."""
    return root[middle, row] * root[middle, column]


product_is = Definition(M[a, b], total(R[a, c] * gram(F, c, b, p), c, p))
same_product = Local(
    "two polar forms", r"$R F^\top F = S E^\top E$",
    ((total(S[a, c] * gram(E, c, b, p), c, p), M[a, b]),), _other_form)
square_is = Definition(X[a, b], total(
    total(S[h, c] * gram(E, c, a, p), c, p) * total(S[h, c] * gram(E, c, b, p), c, p), h))
root_first = Step(
    id="root_first", lhs=total(gram(F, a, c, p) * gram(F, c, b, h), c, p, h), rhs=X[a, b],
    by=(orthogonal_matrix(R), square_is, same_product, product_is),
    because=r"$H^2 = M^\top M$.",
)
root_second = Step(
    id="root_second", lhs=total(gram(E, a, c, p) * gram(E, c, b, h), c, p, h), rhs=X[a, b],
    by=(orthogonal_matrix(S), square_is), because=r"$L^2 = (S L)^\top S L$.",
)
H_of_F, L_of_E = (Definition(H[a, b], total(gram(F, a, b, p), p)),
                  Definition(L[a, b], total(gram(E, a, b, p), p)))
D_is = Definition(D[a, b], H[a, b] - L[a, b])
both = [total(total(root[a, c] * D[c, b], c) ** 2, a, b) for root in (F, E)]
no_area = Step(
    id="no_area", lhs=both[0] + both[1], rhs=Integer(0),
    by=(D_is, H_of_F, L_of_E, root_first, root_second),
    because=r"$\mathrm{tr}\, D (H + L) D = \mathrm{tr}(H - L)(H^2 - L^2)$ with $D = H - L$.",
)
seen = Definition(z[a, b], total(F[a, c] * D[c, b], c))
same_root = Vanishing(
    id="same_root", total=both[0] + both[1], part=z[a, b], over=((a, d), (b, d)), rest=both[1],
    strict=True, by=(seen,), because="A sum of squares.",
)
unseen = Step(
    id="unseen", lhs=D[a, b], rhs=total(G[a, c] * z[c, b], c), by=(seen, right_inverse(F, G)),
    because="$F$ is invertible.",
)
unique = Step(
    id="unique", lhs=D[a, b], rhs=Integer(0), by=(unseen, no_area, same_root),
    because="So $H = L$.",
)
turn_of_root = Step(
    id="turn_of_root", lhs=R[a, b], by=(product_is, right_inverse(F, G)),
    rhs=total(M[a, c] * G[c, p] * G[b, p], c, p), because=r"$R = M H^{-1}$, $H^{-1} = F^{-1} "
    r"F^{-\top}$.",
)
