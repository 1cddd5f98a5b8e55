"""Hypotheses of RA10 on the turns R_ij between the frames of tokens, constructed together.

Whichever hypothesis of an instance comes first chooses all turns, with regard to the others.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from sympy import Expr, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import indicator, right_inverse
from theorems.assumptions.frames import (
    assumed, choose_frames, fixed, frame, identity, inverse_of, put_blocks, put_rows, transposed,
    turn,
)
from theorems.assumptions.matrices import orthogonal
from theorems.assumptions.metrics import metric
from theorems.checker.exact import Draw, Rows, SmallIntegers, times
from theorems.statement import Definition, Local, array, symbols_of

n, d = symbols_of("n d")
i, j, k, a, b, c, e, f = symbols_of("i j k a b c e f")

E, coframe, G = array("E", n, d, d), array("E^{-1}", n, d, d), array("G", n, d, d)
R, T, gap = array("R", n, n, d, d), array("T", n, n, d, d), array("r", n, n, d, d)
W, Q = array("w", n, n, n), array("Q", n, n)
g, inverse_g = array("g", n, d, d), array("g^{-1}", n, d, d)

metrics = metric(G, E)
turned = Definition(
    T[i, j, a, b], Sum(coframe[i, a, c] * R[i, j, c, e] * E[j, e, b], (c, 1, d), (e, 1, d))
)
reversed_turn = Definition(gap[i, j, a, b], R[j, i, a, b] - R[i, j, b, a])
triangles = Definition(
    W[i, j, k],
    (1 - KroneckerDelta(i, j)) * (1 - KroneckerDelta(j, k)) * (1 - KroneckerDelta(i, k)),
)

ORTHOGONAL, UNIT, OPPOSITE = "R is orthogonal", "R is I on the diagonal", "R is transposed back"
FLAT, GAUGED, PAIRED = "R is flat on triangles", "R is a coboundary", "T is inverted back"
SIZES = ((1, 1), (1, 2), (1, 3), (2, 1), (2, 1), (2, 2), (3, 1))
"""Nodes and features of a searched instance: every index of a triangle runs over the nodes."""


def _sizes(draw: Draw) -> None:
    if type(draw.source) is SmallIntegers:
        nodes, width = draw.source.rng.choice(SIZES)
        draw.sizes.setdefault(n.name, nodes)
        draw.sizes.setdefault(d.name, width)


def _frames(draw: Draw) -> None:
    """Frames with their inverses; of symbols one is bidiagonal, and the others are shears."""
    _sizes(draw)
    width, searching = draw.size(d), type(draw.source) is SmallIntegers
    for node in range(1, draw.size(n) + 1):
        if searching or node == 1:
            rows = frame(draw, width)
        else:
            rows = identity(width)
            rows[-1][0] += draw.source.fresh(None) if width > 1 else 0
        put_rows(draw, E, (node,), rows)
        put_rows(draw, coframe, (node,), inverse_of(draw, rows))


def _choose(draw: Draw) -> None:
    """All turns of an instance, unless they are chosen."""
    _sizes(draw)
    if fixed(draw, R):
        return
    if assumed(draw, GAUGED):
        pairs = _pairs(draw)
        turns = _coboundary(pairs)
        common, undone = _common(draw)
        for node, (own, inverse) in pairs.items():
            put_rows(draw, g, (node,), times(own, common))
            put_rows(draw, inverse_g, (node,), times(undone, inverse))
    elif assumed(draw, FLAT) and not (W.name in draw.definitions and _loose(draw)):
        turns = _coboundary(_pairs(draw))
    else:
        turns = _unrelated(draw)
    if assumed(draw, FLAT) and W.name in draw.definitions and not assumed(draw, UNIT):
        turns |= {(node, node): _element(draw, assumed(draw, OPPOSITE), True)
                  for node in range(1, draw.size(n) + 1)}
    for cell, rows in turns.items():
        put_rows(draw, R, cell, rows)


def _element(draw: Draw, symmetric: bool = False, plain: bool = False) -> Rows:
    """An orthogonal matrix, or any invertible one where turns need not be orthogonal; of symbols
    one in an instance is dense, and the others are signed permutations."""
    width = draw.size(d)
    if not assumed(draw, ORTHOGONAL):
        return frame(draw, width)
    if type(draw.source) is SmallIntegers or not plain:
        return turn(draw, width, symmetric)
    shift = 0 if symmetric else 1
    return [[(-1) ** (row == 0) * int(column == (row + shift) % width) for column in range(width)]
            for row in range(width)]


def _inverse(draw: Draw, rows: Rows) -> Rows:
    return transposed(rows) if assumed(draw, ORTHOGONAL) else inverse_of(draw, rows)


def _pairs(draw: Draw) -> dict[int, tuple[Rows, Rows]]:
    """A gauge with its inverse, or with itself where no inverse is assumed."""
    own = {node: _element(draw, plain=node > 1) for node in range(1, draw.size(n) + 1)}
    if assumed(draw, GAUGED) and not assumed(draw, gauge.id):
        return {node: (rows, rows) for node, rows in own.items()}
    return {node: (rows, _inverse(draw, rows)) for node, rows in own.items()}


def _common(draw: Draw) -> tuple[Rows, Rows]:
    """What a gauge of orthogonal turns leaves open, with its inverse; of symbols none."""
    width = draw.size(d)
    searching = type(draw.source) is SmallIntegers
    rows = frame(draw, width) if searching and assumed(draw, ORTHOGONAL) else identity(width)
    return rows, inverse_of(draw, rows)


def _loose(draw: Draw) -> bool:
    """Whether no triangle asks for anything, or turns need not be transposed back."""
    none = not any(draw.get(W.name, cell) for cell in draw.cells(W))
    return none or (not assumed(draw, OPPOSITE) and draw.size(n) == 3)


def _coboundary(pairs: dict[int, tuple[Rows, Rows]]) -> dict[tuple[int, int], Rows]:
    return {(r, s): times(pairs[r][0], pairs[s][1]) for r, s in product(pairs, repeat=2)}


def _unrelated(draw: Draw) -> dict[tuple[int, int], Rows]:
    """Turns without a gauge; where triangles of three nodes are flat, two turns close them."""
    transposed_back = assumed(draw, OPPOSITE) or assumed(draw, PAIRED)
    found: dict[tuple[int, int], Rows] = {}
    for r, s in draw.cells(R, 2):
        if r == s and assumed(draw, UNIT):
            found[r, s] = identity(draw.size(d))
        elif transposed_back and r > s:
            found[r, s] = transposed(found[s, r])
        else:
            found[r, s] = _element(draw, transposed_back and r == s, r != s - 1)
    if assumed(draw, FLAT) and draw.size(n) == 3 and not transposed_back:
        for one, two, three in ((1, 2, 3), (1, 3, 2)):
            around = times(found[one, two], found[two, three])
            found[three, one] = _inverse(draw, around)
    return found


def _isometries(draw: Draw) -> None:
    _sizes(draw)
    if not fixed(draw, E):
        _frames(draw)
    turns = {(r, s): turn(draw, draw.size(d)) for r, s in draw.cells(T, 2)}
    put_blocks(draw, T, choose_frames(draw, E), turns)


def _four_cycle(draw: Draw) -> None:
    """Each of four nodes with its two neighbours."""
    draw.sizes.setdefault(n.name, 4)
    for r, s in draw.cells(Q):
        draw.put(Q, (r, s), (r - s) % 2)


def total(term: Expr, *indices: Symbol) -> Expr:
    """The sum over features."""
    return Sum(term, *((index, 1, d) for index in indices))


framed = replace(right_inverse(E, coframe), impose=_frames)
turns_orthogonal = replace(orthogonal(R), impose=_choose)
unit_turn = Local(
    UNIT, "$R_{ii} = I$", ((R[i, i, a, b], KroneckerDelta(a, b)),), _choose
)
transposed_back = Local(
    OPPOSITE, r"$R_{ji} = R_{ij}^\top$", ((gap[i, j, a, b], Integer(0)),), _choose
)
flat_triangles = Local(
    FLAT, r"$R_{ij} R_{jk} R_{ki} = I$ where $w_{ijk} \ne 0$",
    ((W[i, j, k] * total(R[i, j, a, c] * R[j, k, c, e] * R[k, i, e, b], c, e),
      W[i, j, k] * KroneckerDelta(a, b)),), _choose,
)
gauge = replace(right_inverse(g, inverse_g), impose=_choose)
turns_from_gauge = Local(
    GAUGED, r"$R_{ij} = g_i g_j^{-1}$",
    ((R[i, j, a, b], total(g[i, a, c] * inverse_g[j, c, b], c)),), _choose,
)
paired = Local(
    PAIRED, "$T_{ij} T_{ji} = I$",
    ((total(T[i, j, a, c] * T[j, i, c, b], c), KroneckerDelta(a, b)),), _choose,
)
isometric_everywhere = Local(
    "T is isometric", r"$T_{ij}^\top G_i T_{ij} = G_j$",
    ((total(total(E[i, e, a] * T[i, j, a, b], a) * total(E[i, e, c] * T[i, j, c, f], c), e),
      total(E[j, e, b] * E[j, e, f], e)),), _isometries,
)
graph = replace(
    indicator(Q), id="Q is a graph", text=r"$Q_{ij} \in \{0, 1\}$", impose=_four_cycle
)
