"""Hypotheses on the transports and blocks P_ij T_ij of connection walks."""

from __future__ import annotations

from itertools import product
from math import isqrt

from flint import fmpq
from sympy import IndexedBase, Sum, latex

from theorems.assumptions.constructions import invertible, reflection, unit_vector
from theorems.assumptions.vocabulary import hypothesis
from theorems.checker.exact import Draw, Generators, Rejected, Rows, SmallIntegers, Value, times
from theorems.statement import Assumption, array, symbols_of

i, j, a, b, c, e = symbols_of("i j a b c e")
n, m, d = symbols_of("n m d")


@hypothesis(array("P", n, m), array("T", n, m, d, d), array("P'", n, m), array("T'", n, m, d, d))
def same_blocks(P: IndexedBase, T: IndexedBase, P2: IndexedBase, T2: IndexedBase) -> Assumption:
    """P2_ij T2_ij = P_ij T_ij on every edge."""

    def impose(draw: Draw) -> None:
        for cell in draw.cells(P2):
            weight, other = (draw.get(str(array), cell) for array in (P, P2))
            for place in product(*(range(1, size + 1) for size in draw.shape(T)[2:])):
                block = weight * draw.get(str(T), (*cell, *place))
                if draw.source.is_zero(other) and not draw.source.is_zero(block):
                    raise Rejected(f"{P2} vanishes on a block that is not zero")
                if not draw.source.is_zero(other):
                    draw.put(T2, (*cell, *place), block * draw.source.inverse(other))

    rule = (P2[i, j] * T2[i, j, a, b], P[i, j] * T[i, j, a, b])
    names = (latex(array.label) for array in (P2, T2, P, T))
    text = "${}_{{ij}} {}_{{ij}} = {}_{{ij}} {}_{{ij}}$".format(*names)
    return Assumption(f"{P2} {T2} = {P} {T}", text, (rule,), impose)


@hypothesis(array("c", n, m), array("B", n, m, d, d))
def frobenius_norm(norm: IndexedBase, block: IndexedBase) -> Assumption:
    """The Frobenius norm of block_ij is norm_ij, or norm_i along the whole row i."""
    rows, columns = block.shape[2:]
    axes = len(norm.shape)

    def impose(draw: Draw) -> None:
        places = list(product(*(range(1, size + 1) for size in draw.shape(block)[2:])))
        for cell in draw.cells(block, 2):
            vector = unit_vector(draw, len(places))
            for place, coordinate in zip(places, vector, strict=True):
                draw.put(block, (*cell, *place), draw.get(str(norm), cell[:axes]) * coordinate)

    square = Sum(block[i, j, a, b] ** 2, (a, 1, rows), (b, 1, columns))
    subscript = "ij"[:axes]
    text = f"${latex(norm.label)}_{{{subscript}}} = \\lVert {block}_{{ij}} \\rVert_F$"
    rule = (square, norm[(i, j)[:axes]] ** 2)
    return Assumption(f"{norm} is the norm of {block}", text, (rule,), impose)


@hypothesis(array("c", n, m), array("B", n, m, d, d), array("P", n, m), array("t", n))
def square_of_norm(
    norm: IndexedBase, block: IndexedBase, P: IndexedBase, row_norm: IndexedBase
) -> Assumption:
    """norm_ij^2 = |block_ij|_F^2 of either sign; the root P_ij row_norm_i where symbolic."""

    def impose(draw: Draw) -> None:
        for cell in draw.cells(norm):
            places = product(*(range(1, size + 1) for size in draw.shape(block)[2:]))
            square: Value = sum(draw.get(str(block), (*cell, *place)) ** 2 for place in places)
            if isinstance(draw.source, Generators):
                root = draw.get(str(P), cell) * draw.get(str(row_norm), cell[:1])
            else:
                root = fmpq(isqrt(int(square.p)), isqrt(int(square.q)))
                if root**2 != square:
                    raise Rejected(f"{square} has no rational root")
            # Searches meet both roots; the signs of the assumptions choose between them.
            flip = type(draw.source) is SmallIntegers and draw.source.rng.randrange(4) == 0
            draw.put(norm, cell, -root if flip else root)

    square = Sum(block[i, j, a, b] ** 2, (a, 1, block.shape[2]), (b, 1, block.shape[3]))
    text = f"$({latex(norm.label)}_{{ij}})^2 = \\lVert {latex(block.label)}_{{ij}} \\rVert_F^2$"
    rule = (norm[i, j] ** 2, square)
    return Assumption(f"{norm}^2 is the square norm of {block}", text, (rule,), impose)


@hypothesis(array("T", n, n, d, d), array("G", n, d, d))
def isometry(T: IndexedBase, G: IndexedBase) -> Assumption:
    """T_ij^T G_i T_ij = G_j, with metrics G_i."""
    d = G.shape[-1]

    def impose(draw: Draw) -> None:
        n, size = draw.shape(G)[:2]
        frames = [invertible(draw, size) for _ in range(n)]
        for k, (frame, _) in enumerate(frames, start=1):
            _put(draw, G, (k,), times([list(row) for row in zip(*frame, strict=True)], frame))
        for r, s in draw.cells(T, 2):
            rotation = reflection(draw, size)
            _put(draw, T, (r, s), times(times(frames[r - 1][1], rotation), frames[s - 1][0]))

    pullback = Sum(T[i, j, a, b] * G[i, a, c] * T[i, j, c, e], (a, 1, d), (c, 1, d))
    text = f"${T}_{{ij}}^\\top {G}_i {T}_{{ij}} = {G}_j$"
    return Assumption(f"{T} is isometric for {G}", text, ((pullback, G[j, b, e]),), impose)


def _put(draw: Draw, array: IndexedBase, cell: tuple[int, ...], rows: Rows) -> None:
    for (r, row) in enumerate(rows, start=1):
        for column, value in enumerate(row, start=1):
            draw.put(array, (*cell, r, column), value)
