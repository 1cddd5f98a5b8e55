"""Steps of CW9 on the metric, inverse and operator defects: each in [0, 1], zero iff."""

from __future__ import annotations

from itertools import pairwise, product

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.entries import right_inverse, signed, sums_to_one
from theorems.connection_walks.steps import time_reversal as on
from theorems.assumptions.entries import indicator
from theorems.assumptions.constructions import unit_vector
from theorems.checker.exact import Draw, Generators, SmallIntegers, Value
from theorems.rules import Vanishing
from theorems.statement import Bound, Definition, Iff, Local, Step, array, symbols_of

n, d = symbols_of("n d")
i, j, k, a, b, c, e, p, q = symbols_of("i j k a b c e p q")
half = Rational(1, 2)


def norms_of_triangle(X: IndexedBase, J: IndexedBase, *sizes: IndexedBase) -> Local:
    """sizes: x_ij = |X_ij|, h_ij = |J_ij|, z_ij = |X_ij - J_ij|, Frobenius norms up to sign."""
    x, h, z = sizes

    def impose(draw: Draw) -> None:
        places = list(product(*(range(1, size + 1) for size in draw.shape(X)[2:])))
        for cell in draw.cells(X, 2):
            lengths, (along, across) = _triangle(draw, flat=len(places) == 1)
            for norm, value in zip((x, h, z), lengths, strict=True):
                draw.put(norm, cell, _root(draw, norm, value))
            for place, v, w in zip(places, *_orthonormal(draw, len(places)), strict=True):
                draw.put(J, (*cell, *place), lengths[1] * v)
                draw.put(X, (*cell, *place), along * v + across * w)

    def square(block: Expr) -> Expr:
        return Sum(block**2, (a, 1, X.shape[2]), (b, 1, X.shape[3]))

    rules = (
        (x[i, j] ** 2, square(X[i, j, a, b])), (h[i, j] ** 2, square(J[i, j, a, b])),
        (z[i, j] ** 2, square(X[i, j, a, b] - J[i, j, a, b])),
    )
    text = f"${x}_{{ij}}, {h}_{{ij}}, {z}_{{ij}}$ are the Frobenius norms of ${X}_{{ij}}$, "
    text += f"${J}_{{ij}}$ and ${X}_{{ij}} - {J}_{{ij}}$"
    return Local(f"norms of {X}, {J} and their difference", text, rules, impose)


def _root(draw: Draw, norm: IndexedBase, value: Value) -> Value:
    """The absolute value; in searches either root, where no sign is assumed."""
    if type(draw.source) is SmallIntegers and str(norm) not in draw.signs:
        return draw.source.rng.choice((value, -value))
    return value if isinstance(draw.source, Generators) or value >= 0 else -value


def _triangle(draw: Draw, flat: bool) -> tuple[list[Value], tuple[Value, Value]]:
    """A triangle from (0, 0) to (h, 0) and X, by the tangents s, t of half of its angles: the
    lengths of X, h and X - (h, 0), and X; in searches mostly flat."""
    k, s, t = (draw.source.fresh(sign) for sign in ("!=0", None, None))
    if flat or (type(draw.source) is SmallIntegers and draw.source.rng.randrange(3)):
        return [k * s, k, k * (s - 1)], (k * s, 0)
    sides = [k * t * (1 + s * s), k * (t - s) * (1 + s * t), k * s * (1 + t * t)]
    return sides, (k * t * (1 - s * s), 2 * k * s * t)


def _orthonormal(draw: Draw, size: int) -> list[list[Value]]:
    """Two orthogonal unit vectors, the first ones reflected; where symbolic, themselves."""
    mirror: list[Value] = [0] * size
    if type(draw.source) is SmallIntegers:
        mirror = unit_vector(draw, size)
    return [[int(place == first) - 2 * value * mirror[min(first, size - 1)]
             for place, value in enumerate(mirror)] for first in range(2)]


X, J, x, h, z = (
    array("X", n, n, d, d), array("J", n, n, d, d), array("x", n, n), array("h", n, n),
    array("z", n, n),
)
t, angle, y, gap = array("t", n, n), array("w", n, n), array("y", n, n), array("g", n, n)
D, E, R, P = array("D", n, n), array("E", n, n), array("R", n, n, d, d), array("P", n, n)
r = Symbol("r")
sizes = norms_of_triangle(X, J, x, h, z)
nonnegative_x, positive_h, nonnegative_z = signed(x, ">=0"), signed(h, ">0"), signed(z, ">=0")
inner = Definition(t[i, j], Sum(X[i, j, a, b] * J[i, j, a, b], (a, 1, d), (b, 1, d)))
minor = X[i, j, a, b] * J[i, j, c, e] - X[i, j, c, e] * J[i, j, a, b]
cauchy = Bound(
    id="cauchy", small=-t[i, j], large=x[i, j] * h[i, j], power=2,
    certificate=half * Sum(minor**2, (a, 1, d), (b, 1, d), (c, 1, d), (e, 1, d)),
    by=(inner, sizes, nonnegative_x, positive_h), because="Cauchy-Schwarz, by Lagrange's identity.",
)
triangle = Bound(
    id="triangle", small=z[i, j], large=x[i, j] + h[i, j], certificate=2 * angle[i, j], power=2,
    by=(Definition(angle[i, j], x[i, j] * h[i, j] + t[i, j]), inner, sizes, nonnegative_x,
        positive_h, cauchy),
    because="$\\lVert X - J \\rVert^2 = \\lVert X \\rVert^2 + \\lVert J \\rVert^2 - 2 "
    "\\langle X, J \\rangle$.",
)
unit_norm = Step(
    id="unit_norm", lhs=Sum(KroneckerDelta(a, b) ** 2, (a, 1, d), (b, 1, d)), rhs=d,
    because="J = I has norm sqrt(d).",
)
scale = Definition(y[i, j], x[i, j] + h[i, j])
rest = Definition(gap[i, j], x[i, j] + h[i, j] - z[i, j])
ratio = Definition(D[i, j], z[i, j], over=y[i, j])
remainder = Definition(E[i, j], gap[i, j], over=y[i, j])
positive_y = (nonnegative_x, positive_h)
what_is_left = Step(
    id="what_is_left", lhs=z[i, j], rhs=y[i, j] - gap[i, j], by=(scale, rest),
    because="g is what the triangle inequality leaves.",
)
to_one = Iff(
    id="to_one", left=(z[i, j], y[i, j] - gap[i, j]), right=(D[i, j], 1 - E[i, j]),
    factor=y[i, j], by=(ratio, remainder, scale, *positive_y),
    because="So each ratio D is 1 minus a nonnegative one.",
)
at_most_one = (what_is_left, to_one, ratio, remainder, rest, scale, *positive_y, triangle)
nonnegative_ratio = (ratio, scale, *positive_y, nonnegative_z)
mean, rows, nonnegative_P = Definition(r, Integer(1), over=n), sums_to_one(P), signed(P, ">=0")


def average(term: Expr) -> Expr:
    """(1/n) sum_ij P_ij term_ij."""
    return r * Sum(P[i, j] * term, (i, 1, n), (j, 1, n))


edges = ((i, n), (j, n))
metric_bounded = Bound(
    id="metric_bounded", small=average(D[i, j]), large=Integer(1), certificate=average(E[i, j]),
    by=(*at_most_one, mean, rows, nonnegative_P),
    because="An average of ratios that are at most 1 is at most 1.",
)
metric_zero = Vanishing(
    id="metric_zero", total=average(D[i, j]), part=D[i, j], weight=r * P[i, j], power=1,
    over=edges,
    by=(*nonnegative_ratio, mean, nonnegative_P), because="It vanishes iff D = 0 on all edges.",
)
ratio_zero = Vanishing(
    id="ratio_zero", total=y[i, j] ** 2 * D[i, j] ** 2, part=R[i, j, a, b], strict=True,
    over=((a, d), (b, d)),
    by=(Definition(R[i, j, a, b], X[i, j, a, b] - J[i, j, a, b]), ratio, scale, sizes, *positive_y),
    because="D = 0 iff X = J: the norm of X - J is a sum of squares.",
)

two_way, one_way, D2 = array("s", n, n), array("o", n, n), array("D'", n, n)
member = indicator(two_way)
two_way_sign = Bound(
    id="two_way_sign", small=Integer(0), large=two_way[i, j], certificate=two_way[i, j] ** 2,
    by=(member,), because="An indicator is its own square.",
)
one_way_sign = Bound(
    id="one_way_sign", small=two_way[i, j], large=Integer(1), certificate=(1 - two_way[i, j]) ** 2,
    by=(member,), because="So is its complement.",
)
complement = Definition(one_way[i, j], 1 - two_way[i, j])
weight = array("v", n, n)
two_way_edge = Iff(
    id="two_way_edge", left=(P[j, i], Integer(0)), right=(two_way[i, j], Integer(0)),
    factor=weight[i, j],
    by=(Definition(P[j, i], two_way[i, j] * weight[i, j]), signed(weight, ">0")),
    because="s_ij = 0 iff P_ji = 0.",
)
counted = Definition(D2[i, j], two_way[i, j] * D[i, j] + one_way[i, j])
edge_signs = (complement, two_way_sign, one_way_sign)
inverse_bounded = Bound(
    id="inverse_bounded", small=average(D2[i, j]), large=Integer(1),
    certificate=average(two_way[i, j] * E[i, j]),
    by=(counted, *edge_signs, *at_most_one, mean, rows, nonnegative_P),
    because="D' = 1 - s E.",
)
inverse_zero = Vanishing(
    id="inverse_zero", total=average(D2[i, j]), part=D2[i, j], weight=r * P[i, j], power=1,
    over=edges,
    by=(counted, *edge_signs, *nonnegative_ratio, mean, nonnegative_P),
    because="It vanishes iff D' = 0 on all edges.",
)
no_one_way = Vanishing(
    id="no_one_way", total=D2[i, j], part=one_way[i, j], rest=two_way[i, j] * D[i, j], power=1,
    strict=True, by=(counted, *edge_signs, *nonnegative_ratio),
    because="D' = s D + (1 - s) with both parts nonnegative: no edge is one-way,",
)
no_two_way_gap = Vanishing(
    id="no_two_way_gap", total=D2[i, j], part=D[i, j], weight=two_way[i, j], power=1,
    rest=one_way[i, j], by=(counted, *edge_signs, *nonnegative_ratio),
    because="and D = 0 on the two-way ones.",
)


def product_of(*factors: tuple[IndexedBase, bool]) -> Expr:
    """Entry (a, b) of a product of d x d matrices, those marked transposed."""
    inner = symbols_of("p q k l")[: len(factors) - 1]
    term = Integer(1)
    for (matrix, turned), (row, column) in zip(factors, pairwise([a, *inner, b]), strict=True):
        term = term * (matrix[column, row] if turned else matrix[row, column])
    return Sum(term, *((index, 1, d) for index in inner))


F, Fi, H, Hi, T, T2, B, M, V, U, X_e, J_e = (array(name, d, d) for name in (
    "H", "H^{-1}", "L", "L^{-1}", "T", "T'", "B", "M", "V", "U", "X_e", "J_e"))
frame_i, frame_j = right_inverse(F, Fi), right_inverse(H, Hi)
unit = Definition(J_e[a, b], KroneckerDelta(a, b))
apart = Definition(U[a, b], X_e[a, b] - J_e[a, b])
gram = Definition(X_e[a, b], Sum(B[k, a] * B[k, b], (k, 1, d)))
conjugated = Definition(B[a, b], product_of((F, False), (T, False), (Hi, False)))
stretch = Definition(V[a, b], product_of((T, True), (F, True), (F, False), (T, False))
                     - product_of((H, True), (H, False)))
metric_edge = (stretch, apart, unit, gram, conjugated, frame_j)
isometric = Step(
    id="isometric", lhs=product_of((H, True), (U, False), (H, False)), rhs=V[a, b],
    by=metric_edge,
    because="At an edge e = (i, j) with X = B^T B, J = I, H = F_i, L = F_j and T = T_ij: "
    "F_j^T (X - J) F_j = T_ij^T G_i T_ij - G_j,",
)
not_isometric = Step(
    id="not_isometric", lhs=X_e[a, b] - J_e[a, b], by=metric_edge,
    rhs=product_of((Hi, True), (V, False), (Hi, False)),
    because="and back: X = J iff T_ij preserves the metrics.",
)
round_trip = Definition(X_e[a, b], product_of((F, False), (T, False), (T2, False), (Fi, False)))
loop = Definition(M[a, b], product_of((T, False), (T2, False)) - KroneckerDelta(a, b))
loop_edge = (loop, apart, unit, round_trip, frame_i)
inverses = Step(
    id="inverses", lhs=product_of((Fi, False), (U, False), (F, False)), rhs=M[a, b], by=loop_edge,
    because="At an edge with X = F_i T_ij T_ji F_i^{-1}, J = I, H = F_i and T' = T_ji: "
    "F_i^{-1} (X - J) F_i = T_ij T_ji - I,",
)
not_inverses = Step(
    id="not_inverses", lhs=X_e[a, b] - J_e[a, b], by=loop_edge,
    rhs=product_of((F, False), (M, False), (Fi, False)),
    because="and back: X = J iff T_ij T_ji = I.",
)


def framed(left: IndexedBase, block: Expr, right: IndexedBase, column: Expr) -> Expr:
    """Entry (a, b) of left_i block right_column, with the block's entry (p, q)."""
    return Sum(left[i, a, p] * block * right[column, q, b], (p, 1, d), (q, 1, d))


S, Z = array("A", n, n, d, d), array("Z", n, n, d, d)
block = on.P[i, j] * on.T[i, j, p, q]
scaled = Definition(S[i, j, a, b], on.t[i] * on.s[j] * framed(on.F, block, on.Fi, j))
difference = Definition(Z[i, j, a, b], S[i, j, a, b] - S[j, i, b, a])
roots = (on.root_law, on.root_reciprocal, on.root, on.positive_t)
adjoint_pair = (on.star, on.moved, *roots, on.metric, on.inverse_metric, on.frames)
image = Step(
    id="image", rhs=S[j, i, b, a], by=(scaled, *adjoint_pair),
    lhs=on.t[i] * on.s[j] * framed(on.F, on.Wr[i, j, p, q], on.Fi, j),
    because="With t_i^2 = pi_i the scaled blocks of W* are the transposes of those of W.",
)
whole = tuple((index, 1, size) for index, size in ((i, n), (j, n), (a, d), (b, d)))
operator_bounded = Bound(
    id="operator_bounded", small=Sum(Z[i, j, a, b] ** 2, *whole),
    large=4 * Sum(S[i, j, a, b] ** 2, *whole), by=(difference,),
    certificate=Sum((S[i, j, a, b] + S[j, i, b, a]) ** 2, *whole),
    because="$\\lVert A - A^\\top \\rVert^2 + \\lVert A + A^\\top \\rVert^2 = 4 "
    "\\lVert A \\rVert^2$.",
)
operator_zero = Vanishing(
    id="operator_zero", total=Sum((S[i, j, a, b] - S[j, i, b, a]) ** 2, *whole), strict=True,
    part=Z[i, j, a, b], over=((i, n), (j, n), (a, d), (b, d)), by=(difference,),
    because="A sum of squares.",
)
back = Step(
    id="back", lhs=on.P[i, j] * on.T[i, j, a, b] - on.Wr[i, j, a, b],
    rhs=on.s[i] * on.t[j] * framed(on.Fi, Z[i, j, p, q], on.F, j),
    by=(difference, scaled, *adjoint_pair),
    because="Undoing the scaling: A = A^T gives W = W*, and conversely by the image of W*.",
)
