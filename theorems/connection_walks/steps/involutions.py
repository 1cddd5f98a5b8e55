"""Hypotheses on one transport T for every edge: involutions, isometries, what commutes with G."""

from __future__ import annotations

from dataclasses import replace

from sympy import IndexedBase, Integer, KroneckerDelta, Sum

from theorems.assumptions.entries import right_inverse
from theorems.assumptions.frames import (
    assumed, edge, fixed, frame, identity, inverse_of, put_rows, symmetric_flow, transposed, turn,
)
from theorems.assumptions.matrices import orthogonal
from theorems.checker.exact import Draw, Rows, SmallIntegers, times
from theorems.statement import Assumption, Local, symbols_of

i, j, a, b, c, e = symbols_of("i j a b c e")
INVOLUTION, ORTHOGONAL, SYMMETRIC = "T^2 = I", "T^T T = I", "T = T^T"


def _choose(draw: Draw, T: IndexedBase) -> None:
    """T with what is assumed of the three."""
    if fixed(draw, T):
        return
    d = draw.shape(T)[0]
    squares, rigid, even = (assumed(draw, name) for name in (INVOLUTION, ORTHOGONAL, SYMMETRIC))
    if rigid or (squares and even):
        rows = turn(draw, d, squares or even)
    elif squares:
        rows = involution(draw, d)
    else:
        rows = symmetric_flow(draw, d, None)
    put_rows(draw, T, (), rows)


def involution(draw: Draw, d: int) -> Rows:
    """A diagonal of signs in a frame."""
    rows = frame(draw, d)
    return times(times(inverse_of(draw, rows), _signs(draw, d)), rows)


def _signs(draw: Draw, d: int) -> Rows:
    small = type(draw.source) is SmallIntegers
    signs = [draw.source.rng.choice((1, -1)) if small else (-1) ** r for r in range(d)]
    return [[signs[r] * one for one in row] for r, row in enumerate(identity(d))]


def squares_to_identity(T: IndexedBase) -> Local:
    """T T = I."""
    rule = (Sum(T[a, c] * T[c, b], (c, 1, T.shape[0])), KroneckerDelta(a, b))
    return Local(INVOLUTION, "$T^2 = I$", (rule,), lambda draw: _choose(draw, T))


def orthogonal_transport(T: IndexedBase) -> Assumption:
    """T^T T = I."""
    return replace(orthogonal(T), id=ORTHOGONAL, impose=lambda draw: _choose(draw, T))


def symmetric_transport(T: IndexedBase, skew: IndexedBase) -> Local:
    """T = T^T, read with skew = T - T^T."""
    return Local(SYMMETRIC, r"$T = T^\top$", ((skew[a, b], Integer(0)),),
                 lambda draw: _choose(draw, T))


def common_isometry(P: IndexedBase, T: IndexedBase, F: IndexedBase) -> Local:
    """T^T G_i T = G_j on edges, G_i = F_i^T F_i: one metric for all nodes, or F_{i+1} = F_i T and
    edges from a node to the next, to every second one if T^2 = I."""

    def impose(draw: Draw) -> None:
        n, d = draw.shape(F)[:2]
        small, even = type(draw.source) is SmallIntegers, assumed(draw, INVOLUTION)
        first = frame(draw, d)
        if one := small and draw.source.rng.randrange(2):
            square = turn(draw, d, even)
            rows = times(times(inverse_of(draw, first), square), first)
        else:
            rows = involution(draw, d) if even else frame(draw, d)
            for r, s in draw.cells(P):
                if (s - r) % 2 == 0 if even else s - r != 1:
                    draw.put(P, (r, s), 0)
        put_rows(draw, T, (), rows)
        for k in range(1, n + 1):
            put_rows(draw, F, (k,), first)
            first = first if one else times(first, rows)

    d = T.shape[0]
    sides = [Sum(F[i, e, c] * T[c, column], (c, 1, d)) for column in (a, b)]
    here = Sum(F[j, e, a] * F[j, e, b], (e, 1, d))
    rule = (P[i, j] * Sum(sides[0] * sides[1], (e, 1, d)), P[i, j] * here)
    text = r"$T^\top G_i T = G_j$ where $P_{ij} \ne 0$, $G_i = F_i^\top F_i$"
    return Local(f"T is isometric on edges of {P}", text, (rule,), impose)


def equal_on_edges(P: IndexedBase, X: IndexedBase, Y: IndexedBase) -> Local:
    """P_ij X = P_ij Y for all i and j."""

    def impose(draw: Draw) -> None:
        if any(edge(draw, P, *cell) for cell in draw.cells(P)):
            for cell in draw.cells(X):
                draw.put(Y, cell, draw.get(X.name, cell))

    rule = (P[i, j] * X[a, b], P[i, j] * Y[a, b])
    text = f"${P}_{{ij}} {X} = {P}_{{ij}} {Y}$ for all $i$ and $j$"
    return Local(f"{X} = {Y} on edges of {P}", text, (rule,), impose)


def commutes(T: IndexedBase, F: IndexedBase, skew: IndexedBase) -> Local:
    """G T = T^T G with G = F^T F, read with skew = G T - T^T G."""

    def impose(draw: Draw) -> None:
        put_self_adjoint(draw, T, F)

    return Local("T^T G = G T", r"$T^\top G = G T$", ((skew[a, b], Integer(0)),), impose)


def put_self_adjoint(draw: Draw, T: IndexedBase, F: IndexedBase) -> None:
    """T = F^{-1} S F with a symmetric S, in the frame F, which is chosen here if it is not yet."""
    d = draw.shape(F)[0]
    if not fixed(draw, F):
        put_rows(draw, F, (), frame(draw, d))
    places = range(1, d + 1)
    rows = [[draw.get(F.name, (r, s)) for s in places] for r in places]
    inner = symmetric_flow(draw, d, None)
    put_rows(draw, T, (), times(times(inverse_of(draw, rows), inner), rows))


def one_frame(F: IndexedBase, F_inv: IndexedBase) -> Assumption:
    """F is invertible."""

    def impose(draw: Draw) -> None:
        d = draw.shape(F)[0]
        if not fixed(draw, F):
            put_rows(draw, F, (), frame(draw, d))
        places = range(1, d + 1)
        rows = [[draw.get(F.name, (r, s)) for s in places] for r in places]
        put_rows(draw, F_inv, (), inverse_of(draw, rows))

    return replace(right_inverse(F, F_inv), text=f"${F}$ is invertible", impose=impose)


def not_zero(T: IndexedBase, dual: IndexedBase) -> Local:
    """T is not 0: some linear functional is 1 on it."""

    def impose(draw: Draw) -> None:
        entries = {cell: draw.get(T.name, cell) for cell in draw.cells(T)}
        scale = draw.source.inverse(sum(value * value for value in entries.values()))
        for cell, value in entries.items():
            draw.put(dual, cell, value * scale)

    rule = (Sum(dual[a, b] * T[a, b], (a, 1, T.shape[0]), (b, 1, T.shape[1])), Integer(1))
    return Local("T is not 0", r"$T \ne 0$", (rule,), impose)


def orthogonal_frames(R: IndexedBase) -> Assumption:
    """R_i^T R_i = R_i R_i^T = I."""

    def impose(draw: Draw) -> None:
        n, d = draw.shape(R)[:2]
        for k in range(1, n + 1):
            put_rows(draw, R, (k,), transposed(turn(draw, d)))

    both = orthogonal(R, both=True)
    return replace(both, text=f"${R}_i^\\top {R}_i = I$", impose=impose)
