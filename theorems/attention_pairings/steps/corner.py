"""The least rank of a block with one free entry, and small matrices that tell the versions apart.

K = f s g^T + f a^T + c g^T + B: the row of f and the column of g meet in the free corner s.
"""

from __future__ import annotations

from dataclasses import replace
from operator import mul

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, Symbol

from theorems.checker.exact import Draw, Rejected
from theorems.assumptions.widths import complete, side_by_side, total_width
from theorems.statement import Definition, Local, RankBound, Step, Witness, array, symbols_of

n, m, r, w = symbols_of("n m r w")
i, j, k, l, p, q = symbols_of("i j k l p q")
B, f, g, a, c = array("B", n, m), array("f", n), array("g", m), array("a", m), array("c", n)
K, u, z, y = array("K", n, m), array("u", n), array("z", n), array("y", m)
s = Symbol("s", real=True)
whole = Definition(K[i, j], f[i] * s * g[j] + f[i] * a[j] + c[i] * g[j] + B[i, j])
row_inside = Definition(a[j], Sum(u[i] * B[i, j], (i, 1, n)))
column_inside = Definition(c[i], Sum(B[i, j] * y[j], (j, 1, m)))
without_row, without_column = B[i, j] + c[i] * g[j], B[i, j] + f[i] * a[j]
corner_by_row = RankBound(
    id="corner_by_row", small=(K[i, j], (i, n), (j, m)), large=(
        B[k, j] + c[k] * g[j], (k, n), (j, m)),
    before=(KroneckerDelta(i, k) + f[i] * u[k], (i, n), (k, n)),
    by=(whole, row_inside, Definition(s, Sum(u[i] * c[i], (i, 1, n)))),
    because="If $a^\\top = u^\\top B$, then $s = u^\\top c$ makes the row depend on the others.",
)
corner_by_column = RankBound(
    id="corner_by_column", small=(K[i, j], (i, n), (j, m)), large=(
        B[i, l] + f[i] * a[l], (i, n), (l, m)),
    after=(KroneckerDelta(l, j) + y[l] * g[j], (l, m), (j, m)),
    by=(whole, column_inside, Definition(s, Sum(a[j] * y[j], (j, 1, m)))),
    because="If $c = B y$, then $s = a^\\top y$ makes the column depend on the others.",
)

F, H = array("F", r, n), array("H", m, r)
J, o, o2 = array("J", w, r), array("o", w), array("o'", w)
phi, chi, sigma = array("phi", r), array("chi", r), Symbol("sigma", real=True)
ROW, COLUMN, RANK = (i, 1, n), (j, 1, m), (k, 1, r)


def _sizes(draw: Draw) -> tuple[int, int, int]:
    rank = draw.sizes.setdefault(str(r), draw.source.rng.choice((1, 1, 1, 1, 2)))
    height, width = (draw.sizes.setdefault(str(size), rank + 2) for size in (n, m))
    if min(height, width) < rank + 2:
        raise Rejected(f"no row and column beside a block of rank {rank} in {height} x {width}")
    return rank, height, width


def _last(draw: Draw) -> None:
    """f and g select the last row and column."""
    _, height, width = _sizes(draw)
    for row in range(1, height + 1):
        draw.put(f, (row,), int(row == height))
    for column in range(1, width + 1):
        draw.put(g, (column,), int(column == width))


def _identity_inside(draw: Draw) -> None:
    """B = (I; anything) (I, anything), beside the last row and column; F and H select I."""
    rank, height, width = _sizes(draw)
    left, right = (
        [[int(k == q) if k < rank else draw.source.fresh(None) for q in range(rank)]
         for k in range(size - 1)] for size in (height, width)
    )
    for row in range(1, height):
        for column in range(1, width):
            entry = sum(map(mul, left[row - 1], right[column - 1]))
            draw.put(B, (row, column), entry)
    for factor, size in ((F, height), (H, width)):
        for cell in draw.cells(factor):
            if cell[factor is F] < size:
                draw.put(factor, cell, int(cell[0] == cell[1]))


def _beyond(draw: Draw, vector: IndexedBase, dual: IndexedBase, rows: bool) -> None:
    """The vector is 1 on the dual one, which B annihilates; by the identity inside B. Its last row
    or column, of f or g, is 0."""
    rank, height, width = _sizes(draw)
    for place in range(1, width + 1 if rows else height):
        draw.put(B, (height, place) if rows else (place, width), 0)
    for place in range(1, rank + 1):
        draw.put(H if rows else F, (width, place) if rows else (place, height), 0)
    cells = [(k, rank + 1) if rows else (rank + 1, k) for k in range(1, rank + 1)]
    entries = [draw.get(str(B), cell) for cell in cells]
    total = 1
    for place, (index,) in enumerate(draw.cells(dual)):
        draw.put(dual, (index,), -entries[place] if place < rank else int(place == rank))
        if index < draw.shape(dual)[0]:
            value = total if place == rank else draw.source.fresh(None)
            draw.put(vector, (index,), value)
            total += value * entries[place] if place < rank else 0


def _zero(*pairs: tuple[Expr, tuple]) -> tuple[tuple[Expr, Expr], ...]:
    return tuple((Sum(term, over), Integer(0)) for term, over in pairs)


one = Integer(1)
selectors = Local(
    "the free row and column", "$f$ and $g$ are unit vectors",
    ((Sum(f[i] ** 2, ROW), one), (Sum(g[j] ** 2, COLUMN), one)), _last,
)
rank_of_B = Local(
    "F B H = I", "$F B H = I_r$, where $F$ and $H$ leave out the free row and column",
    ((Sum(F[k, i] * B[i, j] * H[j, l], ROW, COLUMN), KroneckerDelta(k, l)),
     *_zero((F[k, i] * f[i], ROW), (H[j, k] * g[j], COLUMN))), _identity_inside,
)
row_outside = Local(
    "a is outside", "$B y = 0$ and $a^\\top y = 1$: $a$ is outside the row space of $B$",
    (*_zero((B[i, j] * y[j], COLUMN), (y[j] * g[j], COLUMN)), (Sum(a[j] * y[j], COLUMN), one)),
    lambda draw: _beyond(draw, a, y, rows=True),
)
column_outside = Local(
    "c is outside", "$z^\\top B = 0$ and $z^\\top c = 1$: $c$ is outside the column space of $B$",
    (*_zero((z[i] * B[i, j], ROW), (z[i] * f[i], ROW)), (Sum(z[i] * c[i], ROW), one)),
    lambda draw: _beyond(draw, c, z, rows=False),
)
parts = J, o, o2
orthonormal, all_of_it = side_by_side(*parts), replace(complete(*parts), impose=None)
rows = F[k, i] - phi[k] * z[i]
left = (Sum(J[p, k] * rows, RANK) + o[p] * z[i]
        + o2[p] * (f[i] - sigma * z[i] - Sum(chi[k] * rows, RANK)))
right = Sum(H[j, k] * J[q, k], RANK) + g[j] * o[q] + y[j] * o2[q]
corner_outside = RankBound(
    id="corner_outside", small=(KroneckerDelta(p, q), (p, w), (q, w)),
    large=(K[i, j], (i, n), (j, m)), before=(left, (p, w), (i, n)), after=(right, (j, m), (q, w)),
    by=(selectors, rank_of_B, row_outside, column_outside, orthonormal, whole,
        Definition(phi[k], Sum(F[k, i] * K[i, j] * g[j], ROW, COLUMN)),
        Definition(chi[k], Sum(f[i] * K[i, j] * H[j, k], ROW, COLUMN)),
        Definition(sigma, Sum(f[i] * K[i, j] * g[j], ROW, COLUMN)), all_of_it),
    because="If neither depends on $B$, the identity of size $r + 2$ is cut out of $K$, whatever "
    "$s$ is: rank $K \\ge r + 2$, the most that two more rows or columns allow.",
)
widths = total_width("corner", *parts)

L3, M3, c3, p3, D3 = (array(name, *shape) for name, *shape in (
    ("L", 3, 3), ("M", 3, 3), ("c", 3), ("p", 3), ("D", 3)))
R2, C2, W2 = array("R", 2, 3), array("C", 2, 3), array("W", 2, 2)
h, t, e, v = symbols_of("h t e v")
lower_left = Sum(R2[h, i] * L3[i, j] * C2[e, j], (i, 1, 3), (j, 1, 3))
separates = Witness(
    id="separates", values={
        L3: [[1, 0, 0], [1, 1, 0], [1, 0, 1]], M3: [[0, 0, 0], [1, 0, 0], [1, 1, 0]],
        c3: [0, 1, 1], p3: [1, 0, 0], D3: [1, 1, 1], R2: [[0, 1, 0], [0, 0, 1]],
        C2: [[1, 0, 0], [0, 1, 0]], W2: [[0, 1], [1, -1]]},
    holds=((L3[i, j], M3[i, j] * c3[i] * p3[j] + D3[i] * KroneckerDelta(i, j)),
           (Sum(lower_left * W2[e, v], (e, 1, 2)), KroneckerDelta(h, v))),
    because="One state $h = x_1$, read before the update, gives $L$; rows 2 and 3, columns 1 and 2 "
    "have an inverse, so states read after it need two numbers.",
)
strict_blocks = Witness(
    id="strict_blocks", values={
        L3: [[1, 0, 0], [1, 1, 0], [0, 1, 1]], M3: [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        c3: [0, 1, 1], p3: [1, 1, 0], D3: [1, 1, 1]},
    holds=((L3[i, j], M3[i, j] * c3[i] * p3[j] + D3[i] * KroneckerDelta(i, j)),),
    because="Read before the update one state gives this $L$ too, with $A_2 = 0$.",
)
b1, b2, A2, A3, c2, c1, e3 = (Symbol(name, real=True) for name in (
    "b_1", "b_2", "A_2", "A_3", "c_2", "c_1", "c_3"))
entries = {name: Symbol(name, real=True) for name in ("L_{11}", "L_{21}", "L_{22}", "L_{31}",
                                                      "L_{32}")}
one_state = (Definition(entries["L_{21}"], c2 * A2 * b1), Definition(entries["L_{32}"],
             e3 * A3 * b2), Definition(entries["L_{31}"], e3 * A3 * A2 * b1))
strict_blocks_mislead = Step(
    id="strict_blocks_mislead", lhs=entries["L_{21}"] * entries["L_{32}"],
    rhs=c2 * b2 * entries["L_{31}"], by=one_state,
    because="With one state and feed-through only the diagonal is free: $L_{31} = 0$ forces "
    "$L_{21} L_{32} = 0$.",
)
frozen = tuple(
    Definition(entries[f"L_{{{row}{column}}}"], left * right) for row, column, left, right in (
        (1, 1, c1, b1), (2, 1, c2, b1), (2, 2, c2, b2)))
identity_state = Step(
    id="identity_state", lhs=entries["L_{11}"] * entries["L_{22}"],
    rhs=c1 * b2 * entries["L_{21}"], by=frozen,
    because="With one state and $A_t = 1$: $L_{21} = 0$ forces $L_{11} L_{22} = 0$.",
)
L_2, c_2, b_2, A_2 = array("L", 2, 2), array("c", 2), array("b", 2), array("A", 2, 2)
diagonal = Witness(
    id="diagonal", values={L_2: [[1, 0], [0, 1]], c_2: [1, 1], b_2: [1, 1],
                           A_2: [[1, 0], [0, 1]]},
    holds=((L_2[i, j], c_2[i] * A_2[i, j] * b_2[j]), (L_2[i, j], KroneckerDelta(i, j))),
    because="One state gives $I_2$ with $A_2 = 0$: the products of the $A_t$ are $\\delta_{ij}$.",
)
STEPS = (corner_by_row, corner_by_column, corner_outside, *widths, separates,
         strict_blocks, strict_blocks_mislead, identity_state, diagonal)
