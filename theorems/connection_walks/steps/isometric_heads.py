"""Hypotheses on heads O_h = H T^h that are isometric for one metric G = F^T F (Cholesky).

A hypothesis that rewrites is constructed: O_h = F^{-1} R_h F with R_h orthogonal.
"""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import IndexedBase, Integer, Sum, Symbol

from theorems.assumptions.entries import right_inverse, signed, sums_to_one
from theorems.assumptions.constructions import invertible, reflection, unit_vector
from theorems.checker.exact import Draw, Generators, Rows, SmallIntegers, Value, times
from theorems.statement import Assumption, Definition, Equation, Local, array, symbols_of

n, d, H = symbols_of("n d H")
i, j, h, k, a, b, c, e, f = symbols_of("i j h k a b c e f")
F, F_inv, G = array("F", d, d), array("F^{-1}", d, d), array("G", d, d)
F_own = array("F'", H, d, d)
g, O, O_0, T = array("g", H), array("O", H, d, d), array("O_0", d, d), array("T", d, d)
p, q, edge, v = array("p", n), array("q", n), array("T", n, d, d), array("v", d)
O_1, O_2, inv_1, inv_2 = (array(name, d, d) for name in ("O_1", "O_2", "O_1^{-1}", "O_2^{-1}"))
difference = array("Delta", H, H, d, d)
Q, Q_inv, cosine = array("Q", d, d), array("Q^{-1}", d, d), Symbol("c_theta", real=True)


def has(draw: Draw, *assumptions: Assumption) -> bool:
    """Whether the instance is to have all of these hypotheses."""
    return {item.id for item in assumptions} <= {item.id for item in draw.assumptions}


def known(draw: Draw, base: IndexedBase) -> bool:
    """Whether the array is defined or was chosen before."""
    first = (base.name, tuple(1 for _ in base.shape))
    return base.name in draw.definitions or first in draw.entries


def put(draw: Draw, base: IndexedBase, cell: tuple[int, ...], rows: Rows) -> None:
    """Choose the matrix of a cell, which must be open as a whole."""
    draw.put(base, (*cell, 1, 1), rows[0][0])
    name = base.name
    draw.entries |= {(name, (*cell, r, column)): value for r, row in enumerate(rows, start=1)
                     for column, value in enumerate(row, start=1)}


def searching(draw: Draw, odds: int) -> bool:
    """True once in `odds` times while small integers are searched: for degenerate cases."""
    return type(draw.source) is SmallIntegers and not draw.source.rng.randrange(odds)


def diagonal(entries: list[Value]) -> Rows:
    """The diagonal matrix."""
    return [[x if r == s else 0 for s in range(len(entries))] for r, x in enumerate(entries)]


def scaled(factor: Value, rows: Rows) -> Rows:
    """A multiple of a matrix."""
    return [[factor * value for value in row] for row in rows]


def invertible_frame(draw: Draw) -> tuple[Rows, Rows]:
    """F and F^{-1}: of products of dense symbols, only the diagonal ones are cheap."""
    size = draw.size(d)
    if not isinstance(draw.source, Generators):
        return invertible(draw, size)
    scales = [draw.source.fresh(">0") for _ in range(size)]
    return diagonal(scales), diagonal([draw.source.inverse(scale) for scale in scales])


def frame(draw: Draw) -> tuple[Rows, Rows]:
    """F and F^{-1}, chosen once; both are sometimes 0 where F need not be invertible."""
    size = draw.size(d)
    if not known(draw, F):
        singular = not has(draw, inverse) and searching(draw, 3)
        zero = diagonal(size * [0])
        first, second = (zero, zero) if singular else invertible_frame(draw)
        put(draw, F, (), first)
        put(draw, F_inv, (), second)
    both = [[[draw.get(base.name, (r + 1, s + 1)) for s in range(size)] for r in range(size)]
            for base in (F, F_inv)]
    return both[0], both[1]


def in_frame(draw: Draw, rows: Rows) -> Rows:
    """F^{-1} R F, an isometry for G if R is orthogonal; any matrix where F = 0."""
    first, second = frame(draw)
    if all(value == 0 for row in second for value in row):
        return [[draw.source.fresh(None) for _ in row] for row in rows]
    return times(times(second, rows), first)


def shift(size: int) -> Rows:
    """The cyclic shift of the basis with one sign: orthogonal, of order 2 d."""
    return [[(1 - 2 * (r == 0)) * (s == (r - 1) % size) for s in range(size)] for r in range(size)]


def rotation(draw: Draw) -> Rows:
    """An orthogonal matrix: a sign times the shift or not, times a reflection or not."""
    size, rng = draw.size(d), draw.source.rng
    rows = reflection(draw, size) if rng.randrange(3) else diagonal(size * [1])
    return scaled(rng.choice((1, -1)), times(shift(size), rows) if rng.randrange(2) else rows)


def isometry(X: IndexedBase, *lead: Symbol, of: IndexedBase = F) -> Equation:
    """X^T G X = G for G = F^T F, as a rule; with a frame F for each head or not."""
    own = lead if of is not F else ()
    first = Sum(of[(*own, e, a)] * X[(*lead, a, b)], (a, 1, d))
    second = Sum(of[(*own, e, c)] * X[(*lead, c, f)], (c, 1, d))
    return Sum(first * second, (e, 1, d)), Sum(of[(*own, e, b)] * of[(*own, e, f)], (e, 1, d))


def _inverse(draw: Draw) -> None:
    frame(draw)


def _heads(draw: Draw) -> None:
    """Isometric heads; equal where active, if the edge is to be isometric too."""
    if known(draw, O):
        return
    equal, one = has(draw, isometric_edge), in_frame(draw, rotation(draw))
    for (head,) in draw.cells(g):
        same = equal and not draw.source.is_zero(draw.get(g.name, (head,)))
        put(draw, O, (head,), one if same else in_frame(draw, rotation(draw)))


def _own_frames(draw: Draw) -> None:
    for (head,) in draw.cells(g):
        first, second = invertible(draw, draw.size(d))
        put(draw, F_own, (head,), first)
        put(draw, O, (head,), times(times(second, rotation(draw)), first))


def _edge(draw: Draw) -> None:
    if not known(draw, T):
        put(draw, T, (), in_frame(draw, rotation(draw)))


def _one_head(draw: Draw) -> None:
    """O_h = O_0 where g_h is not 0, and any isometry elsewhere; O_0 is one if assumed."""
    one = in_frame(draw, rotation(draw))
    if not has(draw, isometric_one):
        one = [[draw.source.fresh(None) for _ in row] for row in one]
    put(draw, O_0, (), one)
    for (head,) in draw.cells(g):
        idle = draw.source.is_zero(draw.get(g.name, (head,)))
        put(draw, O, (head,), in_frame(draw, rotation(draw)) if idle else one)


def _isometric_one(draw: Draw) -> None:
    if not known(draw, O_0):
        put(draw, O_0, (), in_frame(draw, rotation(draw)))


def mirror(w: list[Value]) -> Rows:
    """I - 2 w w^T, orthogonal for |w| = 1 and for w = 0."""
    size = range(len(w))
    return [[int(r == s) - 2 * w[r] * w[s] for s in size] for r in size]


def _pair(draw: Draw) -> None:
    """Heads O_1, O_2 and their inverses; and a vector at an angle or in the kernel, if assumed.

    R_h = s_h S M_h with S orthogonal and M_h = I - 2 w_h w_h^T gives R_1^{-1} R_2 + R_2^{-1} R_1 =
    2 c on the span of w_1 and w_2, c = s_1 s_2 (2 (w_1 . w_2)^2 - 1). R_2 = -R_1 M_2 is -R_1 on
    what is orthogonal to w_2.
    """
    if known(draw, O_1):
        return
    size, rng = draw.size(d), draw.source.rng
    base = shift(size) if rng.randrange(2) else diagonal(size * [1])
    normals, signs = [unit_vector(draw, size) for _ in range(2)], rng.choices((1, -1), k=2)
    if not has(draw, angle_of_heads) and not rng.randrange(3):
        normals[0] = size * [0]
    turns = [scaled(s, times(base, mirror(w))) for s, w in zip(signs, normals, strict=True)]
    if has(draw, kernel) or has(draw, opposite_on_v):
        turns[1] = scaled(-1, times(turns[0], mirror(normals[1]) if size > 1 else [[1]]))
        w, x = normals[1], draw.source.fresh(None)
        _vector(draw, [x * w[1], -x * w[0], *(size - 2) * [0]] if size > 1 else [x])
        for cell in draw.cells(p) if has(draw, kernel) else ():
            draw.put(p, cell, fmpq(1, 2))
    if has(draw, angle_of_heads):
        dot = sum(x * y for x, y in zip(*normals, strict=True))
        draw.entries[cosine.name, ()] = signs[0] * signs[1] * (2 * dot**2 - 1)
        x, y = draw.source.fresh(None), draw.source.fresh(None)
        _vector(draw, [x * one + y * other for one, other in zip(*normals, strict=True)])
    for X, X_inv, rows in zip((O_1, O_2), (inv_1, inv_2), turns, strict=True):
        put(draw, X, (), in_frame(draw, rows))
        put(draw, X_inv, (), in_frame(draw, [list(column) for column in zip(*rows, strict=True)]))


def _vector(draw: Draw, seen: list[Value]) -> None:
    """Choose v with F v as given."""
    for r, (value,) in enumerate(times(frame(draw)[1], [[x] for x in seen]), start=1):
        draw.put(v, (r,), value)


def adjoint(X: IndexedBase, X_inv: IndexedBase) -> Local:
    """X^* = X^{-1} for the metric G."""
    rule = (Sum(X[a, b] * G[a, c], (a, 1, d)), Sum(G[b, e] * X_inv[e, c], (e, 1, d)))
    text = f"${X}$ is invertible and ${X}^\\top G = G {X_inv}$, that is ${X}^* = {X_inv}$"
    rules = (rule, *right_inverse(X, X_inv).rules)
    return Local(f"{X} has the adjoint {X_inv}", text, rules, _pair)


def _gates(draw: Draw) -> None:
    if not known(draw, p):
        for cell in draw.cells(p):
            one, other = (draw.source.fresh(draw.signs[p.name]) for _ in range(2))
            draw.put(p, cell, one * draw.source.inverse(one + other))


def gates_between(sign: str) -> Local:
    """g and 1 - g are ">0" or ">=0"."""
    text = r"$0 {0} g {0} 1$".format({">0": "<", ">=0": r"\le"}[sign])
    return Local(f"p and q {sign}", text, (), _gates, ((p, sign), (q, sign)))


pair_gap = Definition(difference[h, k, a, b], O[h, a, b] - O[k, a, b])
inverse = replace(right_inverse(F, F_inv), text=r"$F$ is invertible", impose=_inverse)
total, nonnegative = sums_to_one(g), signed(g, ">=0")
heads_isometric = Local("O is isometric for F^T F", r"$O_h^\top G O_h = G$ for every head $h$",
                        (isometry(O, h),), _heads)
own_isometry = Local("O_h is isometric for F_h^T F_h", r"$O_h^\top G_h O_h = G_h$, "
                     r"$G_h = F_h^\top F_h$", (isometry(O, h, of=F_own),), _own_frames)
isometric_edge = Local("T is isometric for F^T F", r"$T^\top G T = G$", (isometry(T),), _edge)
one_head_where_used = Local("g O = g O_0", r"$O_h = O_0$ where $g_h > 0$",
                            ((g[h] * O[h, a, b], g[h] * O_0[a, b]),), _one_head)
isometric_one = Local("O_0 is isometric for F^T F", r"$O_0^\top G O_0 = G$",
                      (isometry(O_0),), _isometric_one)
adjoints = (adjoint(O_1, inv_1), adjoint(O_2, inv_2))
isometric_pair = Local("O_1 and O_2 are isometric for F^T F", r"$O_1^\top G O_1 = G$ and "
                       r"$O_2^\top G O_2 = G$", (isometry(O_1), isometry(O_2)), _pair)
angle_of_heads = Local(
    "v has angle theta", r"$(Q + Q^{-1}) v = 2 c_\theta v$, $c_\theta = \cos \theta$",
    ((Sum(Q[a, b] * v[b], (b, 1, d)), 2 * cosine * v[a] - Sum(Q_inv[a, b] * v[b], (b, 1, d))),),
    _pair)
kernel = Local("T v = 0", r"$T_{ij} v = 0$",
               ((Sum(edge[i, a, b] * v[b], (b, 1, d)), Integer(0)),), _pair)
opposite_on_v = Local("O_2 v = -O_1 v", r"$O_2 v = -O_1 v$", (
    (Sum(O_2[a, b] * v[b], (b, 1, d)), -Sum(O_1[a, b] * v[b], (b, 1, d))),), _pair)
