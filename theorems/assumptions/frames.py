"""Exact frames, orthogonal turns and flows: what instances of connection walks are made of."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from sympy import IndexedBase, Symbol

from theorems.assumptions.constructions import reflection
from theorems.checker.exact import Draw, Generators, Rejected, Rows, SmallIntegers, Value, times

Frames = list[tuple[Rows, Rows]]  # F_i and its inverse


def turn(draw: Draw, d: int, symmetric: bool = False) -> Rows:
    """An orthogonal d x d matrix, symmetric where asked: signs, or a reflection, or a rotation."""
    small = type(draw.source) is SmallIntegers
    if d == 1 or (small and draw.source.rng.randrange(2)):
        places = list(range(d))
        if small and not symmetric:
            draw.source.rng.shuffle(places)
        signs = [draw.source.rng.choice((1, -1)) if small else -1 for _ in range(d)]
        return [[signs[r] * int(places[r] == s) for s in range(d)] for r in range(d)]
    size = 2 if isinstance(draw.source, Generators) else d  # of dense symbols, a plane's alone
    first, *rest = ([*row, *(d - size) * [0]] for row in reflection(draw, size))
    rest += identity(d)[size:]
    flip = not symmetric and not (small and draw.source.rng.randrange(2))
    return [[-value for value in first] if flip else first, *rest]


def transposed(rows: Rows) -> Rows:
    """The transpose."""
    return [list(column) for column in zip(*rows, strict=True)]


def identity(d: int) -> Rows:
    """The identity matrix."""
    return [[int(r == s) for s in range(d)] for r in range(d)]


def determinant(rows: Rows) -> Value:
    """The determinant by expansion along the first row."""
    if not rows:
        return 1
    return sum(
        (-1) ** k * value * determinant([row[:k] + row[k + 1 :] for row in rows[1:]])
        for k, value in enumerate(rows[0])
    )


def inverse_of(draw: Draw, rows: Rows) -> Rows:
    """The inverse, by cofactors; by substitution where frames are lower triangular."""
    d = len(rows)
    if type(draw.source) is not SmallIntegers:
        solved: Rows = []
        for r, row in enumerate(rows):
            scale = 1 if row[r] == 1 else draw.source.inverse(row[r])
            known = [sum(row[k] * solved[k][s] for k in range(r)) for s in range(d)]
            solved.append([scale * (int(r == s) - known[s]) for s in range(d)])
        return solved
    scale = draw.source.inverse(determinant(rows))
    without = [[[[rows[r][s] for s in range(d) if s != q] for r in range(d) if r != p]
                for p in range(d)] for q in range(d)]
    return [[(-1) ** (p + q) * scale * determinant(without[q][p]) for p in range(d)]
            for q in range(d)]


def frame(draw: Draw, d: int) -> Rows:
    """A frame; where symbolic or large, a bidiagonal one with 1 on the diagonal but at one place,
    whose inverse needs one quotient."""
    if type(draw.source) is SmallIntegers:
        return [[draw.source.fresh("!=0" if r == s else None) for s in range(d)] for r in range(d)]
    return [[draw.source.fresh("!=0") if r - s == 1 or r == s == 0 else int(r == s)
             for s in range(d)] for r in range(d)]


def choose_frames(draw: Draw, F: IndexedBase) -> Frames:
    """The frames F_i of the instance, chosen here if they are not yet, and their inverses."""
    n, d = draw.shape(F)[:2]
    if not fixed(draw, F):
        for k in range(1, n + 1):
            put_rows(draw, F, (k,), frame(draw, d))
    places = range(1, d + 1)
    found = [[[draw.get(F.name, (k, r, s)) for s in places] for r in places]
             for k in range(1, n + 1)]
    return [(rows, inverse_of(draw, rows)) for rows in found]


def put_blocks(
    draw: Draw, T: IndexedBase, lengths: Frames, turns: Mapping[tuple[int, int], Rows]
) -> None:
    """T_ij = F_i^{-1} turn_ij F_j where there is a turn; the others stay free."""
    for (r, s), rows in turns.items():
        put_rows(draw, T, (r, s), times(times(lengths[r - 1][1], rows), lengths[s - 1][0]))


def put_rows(draw: Draw, array: IndexedBase, cell: tuple[int, ...], rows: Rows) -> None:
    """Choose the matrix array[cell]."""
    for (r, row), s in product(enumerate(rows, start=1), range(len(rows))):
        draw.put(array, (*cell, r, s + 1), row[s])


def fixed(draw: Draw, array: IndexedBase) -> bool:
    """Whether some entry of the array has been chosen."""
    return any((array.name, cell) in draw.entries for cell in draw.cells(array))


def assumed(draw: Draw, identifier: str) -> bool:
    """Whether the instance is to satisfy the assumption of that id."""
    return any(item.id == identifier for item in draw.assumptions)


def edge(draw: Draw, P: IndexedBase, r: int, s: int) -> bool:
    """Whether P_rs is not 0."""
    return not draw.source.is_zero(draw.get(P.name, (r, s)))


def put_number(draw: Draw, number: Symbol, value: Value) -> None:
    """Choose an unknown number."""
    if (number.name, ()) in draw.entries:
        raise Rejected(f"{number} is chosen already")
    draw.entries[number.name, ()] = value


def symmetric_flow(draw: Draw, n: int, sign: str | None) -> Rows:
    """A symmetric n x n matrix."""
    half = {(r, s): draw.source.fresh(sign) for r in range(n) for s in range(r, n)}
    return [[half[min(r, s), max(r, s)] for s in range(n)] for r in range(n)]


def put_flow(draw: Draw, P: IndexedBase, pi: IndexedBase, flow: Rows, law: list[Value]) -> None:
    """Choose pi and P_ij = flow_ij / pi_i."""
    for r, (row, total) in enumerate(zip(flow, law, strict=True), start=1):
        draw.put(pi, (r,), total)
        scale = draw.source.inverse(total)
        for s, value in enumerate(row, start=1):
            draw.put(P, (r, s), value * scale)


def tree_law(draw: Draw, P: IndexedBase) -> list[Value]:
    """The principal minors of I - P: a stationary law of a row-stochastic P."""
    n = draw.shape(P)[0]
    places = range(1, n + 1)
    rest = [[int(r == s) - draw.get(P.name, (r, s)) for s in places] for r in places]
    return [determinant([row[:k] + row[k + 1 :] for row in rest[:k] + rest[k + 1 :]])
            for k in range(n)]
