"""Hypotheses on sections, gauges and holonomies of a connection, and on walks of its graph."""

from __future__ import annotations

from collections.abc import Callable

from sympy import Expr, Indexed, IndexedBase, Integer, KroneckerDelta, Sum, latex

from theorems.assumptions.constructions import invertible, reflection
from theorems.assumptions.vocabulary import hypothesis
from theorems.checker.exact import Draw, Rows, evaluate, times
from theorems.statement import Assumption, Local, array, symbols_of

i, j, k, a, b, c = symbols_of("i j k a b c")
n, d = symbols_of("n d")
Gauge = tuple[IndexedBase, IndexedBase]
E, T = array("E", n, n), array("T", n, n, d, d)
GAUGE = array("g", n, d, d), array("g^{-1}", n, d, d)


def put(draw: Draw, target: IndexedBase, cell: tuple[int, ...], rows: Rows) -> None:
    """Choose the last two axes of an array at a cell."""
    for r, row in enumerate(rows, start=1):
        for column, value in enumerate(row, start=1):
            draw.put(target, (*cell, r, column), value)


def matrix(draw: Draw, source: IndexedBase, cell: tuple[int, ...]) -> Rows:
    """The last two axes of an array at a cell."""
    rows, columns = draw.shape(source)[-2:]
    name = source.name
    return [[draw.get(name, (*cell, r, s)) for s in range(1, columns + 1)]
            for r in range(1, rows + 1)]


def chosen(draw: Draw, target: IndexedBase, *cell: int) -> bool:
    """Whether an earlier assumption has chosen this entry."""
    return (target.name, cell) in draw.entries


def frames_of(draw: Draw, u: IndexedBase) -> Gauge:
    """Frames in which an instance's sections u are constant: u itself where it has an inverse."""
    inverse = array(f"{u}^{{-1}}", *u.shape)
    if chosen(draw, inverse, 1, 1, 1):
        return u, inverse
    return array(f"frame of {u}", *u.shape), array(f"coframe of {u}", *u.shape)


def _choose_sections(draw: Draw, u: IndexedBase) -> Gauge:
    """Frames of an instance and, unless they were chosen before, sections constant in them."""
    g, inverse = frames_of(draw, u)
    if not chosen(draw, u, 1, 1, 1):
        n, size = draw.shape(g)[:2]
        constant = [[draw.source.fresh(None) for _ in range(size)] for _ in range(size)]
        for r in range(1, n + 1):
            frame, coframe = invertible(draw, size)
            put(draw, g, (r,), frame)
            put(draw, inverse, (r,), coframe)
            put(draw, u, (r,), times(frame, constant))
    return g, inverse


def _shown(edge: Expr) -> str:
    return latex(edge).replace("i,j", "ij")


@hypothesis(E[i, j], T, array("u", n, d, d))
def parallel_sections(
    edge: Expr, T: IndexedBase, u: IndexedBase, gauge: Gauge | None = None
) -> Assumption:
    """T_ij u_j = u_i, for the columns of u_i, on the edges (i, j) where the weight is not 0."""
    section = Sum(T[i, j, a, b] * u[j, b, c], (b, 1, T.shape[-1]))
    text = f"${T}_{{ij}} {latex(u.label)}_j = {latex(u.label)}_i$ where ${_shown(edge)} \\ne 0$"
    return Assumption(
        f"{u} is parallel for {T} along {edge}", text, ((edge * section, edge * u[i, a, c]),),
        lambda draw: _transports(draw, edge, T, gauge or _choose_sections(draw, u)),
    )


def _transports(
    draw: Draw, edge: Expr, T: IndexedBase, gauge: Gauge, holonomy: Callable[[], Rows] | None = None
) -> None:
    """T_ij = g_i h g_j^{-1} on edges, with a holonomy h for each, or I; the rest stays open."""
    for r, s in draw.cells(T, 2):
        if evaluate(edge, draw, {i: r, j: s}) != 0:
            frame = matrix(draw, gauge[0], (r,))
            frame = times(frame, holonomy()) if holonomy else frame
            put(draw, T, (r, s), times(frame, matrix(draw, gauge[1], (s,))))


@hypothesis(E, T, GAUGE)
def gauged(E: IndexedBase, T: IndexedBase, gauge: Gauge) -> Assumption:
    """T_ij = g_i g_j^{-1} on the edges E_ij != 0."""
    g, inverse = gauge
    pure = Sum(g[i, a, c] * inverse[j, c, b], (c, 1, g.shape[-1]))
    text = f"${T}_{{ij}} = g_i g_j^{{-1}}$ where ${E}_{{ij}} \\ne 0$"
    return Assumption(
        f"{T} is gauged along {E}", text, ((E[i, j] * T[i, j, a, b], E[i, j] * pure),),
        lambda draw: _transports(draw, E[i, j], T, gauge),
    )


@hypothesis(E, array("h", n, n, d, d), T, GAUGE)
def flat(E: IndexedBase, h: IndexedBase, T: IndexedBase, gauge: Gauge) -> Assumption:
    """The holonomies h_ij = g_i^{-1} T_ij g_j of all edges are I."""
    rule = (E[i, j] * h[i, j, a, b], E[i, j] * KroneckerDelta(a, b))
    return Assumption(
        f"{h} = I along {E}", f"$h_{{ij}} = I$ where ${E}_{{ij}} \\ne 0$", (rule,),
        lambda draw: _transports(draw, E[i, j], T, gauge),
    )


@hypothesis(E, array("h", n, n, d, d), array("w", d, d))
def fixed(E: IndexedBase, h: IndexedBase, w: IndexedBase, T: IndexedBase | None = None,
          gauge: Gauge | None = None) -> Assumption:
    """h_ij w = w on the edges, for the columns of w; instances have T_ij = g_i h_ij g_j^{-1}."""
    size = w.shape[0]

    def impose(draw: Draw) -> None:
        d = draw.size(size)
        free = not chosen(draw, w, 1, 1)
        x = [draw.source.fresh(None) for _ in range(d)]
        y = [draw.source.fresh(None) for _ in range(d)]
        across = [x[1], -x[0], *[0] * (d - 2)] if d > 1 else [0]
        if free:
            put(draw, w, (), [[first * second for second in y] for first in x])

        def holonomy() -> Rows:
            z = [draw.source.fresh(None) if free else 0 for _ in range(d)]
            return [[int(r == s) + z[r] * across[s] for s in range(d)] for r in range(d)]

        if T is not None and gauge is not None:
            _transports(draw, E[i, j], T, gauge, holonomy)
            return
        for cell in draw.cells(h, 2):
            if draw.get(E.name, cell) != 0:
                put(draw, h, cell, holonomy())

    rule = (E[i, j] * Sum(h[i, j, a, b] * w[b, c], (b, 1, size)), E[i, j] * w[a, c])
    text = f"$h_{{ij}} w = w$ where ${E}_{{ij}} \\ne 0$"
    return Assumption(f"{h} fixes {w} along {E}", text, (rule,), impose)


@hypothesis(E[i, j], T)
def mutual(edge: Expr, T: IndexedBase) -> Assumption:
    """T_ij T_ji = I on the edges (i, j) where the weight is not 0; a self-loop is an involution."""
    back = Sum(T[i, j, a, b] * T[j, i, b, c], (b, 1, T.shape[-1]))

    def impose(draw: Draw) -> None:
        size = draw.shape(T)[-1]
        for r, s in draw.cells(T, 2):
            if chosen(draw, T, r, s, 1, 1):
                continue
            if r == s:
                put(draw, T, (r, s), reflection(draw, size))
            else:
                for cell, rows in zip(((r, s), (s, r)), invertible(draw, size), strict=True):
                    put(draw, T, cell, rows)

    where = "" if edge == 1 else f" where ${_shown(edge)} \\ne 0$"
    text = f"${T}_{{ij}} {T}_{{ji}} = I${where}"
    rule = (edge * back, edge * KroneckerDelta(a, c))
    return Assumption(f"{T}_ij inverts {T}_ji along {edge}", text, (rule,), impose)


@hypothesis((array("T_o", n, d, d), array("T^o", n, d, d)), T, array("R", n, n, d, d))
def triangles_from(root: Gauge, T: IndexedBase, R: IndexedBase) -> Assumption:
    """The holonomies R_ij of all triangles through a root are I; T_io leads to it, T_oj away."""

    def impose(draw: Draw) -> None:
        n, size = draw.shape(T)[1:3]
        for r in range(1, n + 1):
            for target, rows in zip(root, invertible(draw, size), strict=True):
                put(draw, target, (r,), rows)
        _transports(draw, Integer(1), T, root)

    text = f"the triangles through a root are flat, ${R}_{{ij}} = T_{{io}} T_{{oj}} T_{{ji}} = I$"
    rule = (R[i, j, a, b], KroneckerDelta(a, b))
    return Assumption("triangles through the root are flat", text, (rule,), impose)


@hypothesis(array("s", n))
def node(s: IndexedBase) -> Assumption:
    """s is the indicator of one node."""
    total = Sum(s[i], (i, 1, s.shape[0]))
    rules = ((s[i] * s[j], KroneckerDelta(i, j) * s[i]), (total, Integer(1)))
    return Assumption(f"{s} is a node", f"${latex(s.label)}$ indicates one node", rules,
                      lambda draw: _choose_node(draw, s))


def _choose_node(draw: Draw, s: IndexedBase) -> None:
    (n,) = draw.shape(s)
    here = draw.source.rng.randrange(n) + 1
    for r in range(1, n + 1):
        draw.put(s, (r,), int(r == here))


@hypothesis(
    (array("X", d, d)[a, b], KroneckerDelta(a, b)), array("X", d, d), array("s", n), array("t", n),
    array("u", n, d, d),
)
def carries(claim: tuple[Expr, Expr], X: IndexedBase, s: IndexedBase, t: IndexedBase, u: IndexedBase
            ) -> Assumption:
    """The claim that the product X of the transports from s to t carries the sections at t to s."""

    def impose(draw: Draw) -> None:
        for mark in (s, t):
            if mark.name not in draw.definitions and not chosen(draw, mark, 1):
                _choose_node(draw, mark)
        g, inverse = _choose_sections(draw, u)
        if any(draw.get(u.name, cell) != 0 for cell in draw.cells(u)):
            put(draw, X, (), times(_at(draw, g, s), _at(draw, inverse, t)))

    text = f"${latex(X.label)}$ carries the sections at its end to its start"
    return Assumption(f"{X} carries sections", text, (claim,), impose)


def _at(draw: Draw, frames: IndexedBase, mark: IndexedBase) -> Rows:
    """The frame at the node that the mark indicates."""
    n, size = draw.shape(frames)[:2]
    total = [[0] * size for _ in range(size)]
    for r in range(1, n + 1):
        weight, frame = draw.get(mark.name, (r,)), matrix(draw, frames, (r,))
        total = [[x + weight * y for x, y in zip(*rows, strict=True)]
                 for rows in zip(total, frame, strict=True)]
    return total


def equals(entry: Indexed, value: Expr, text: str) -> Local:
    """The array has the entries that one theorem gives it."""
    target = entry.base

    def impose(draw: Draw) -> None:
        for cell in draw.cells(target):
            environment = dict(zip(entry.indices, cell, strict=True))
            draw.put(target, cell, evaluate(value, draw, environment))

    return Local(f"{target} is known", text, ((entry, value),), impose)


@hypothesis(array("A", d, d), array("C", d, d), array("B", d, d))
def identity_product(A: IndexedBase, C: IndexedBase, B: IndexedBase) -> Assumption:
    """A = I, where A is defined as C B."""

    def impose(draw: Draw) -> None:
        size = draw.shape(A)[0]
        if chosen(draw, B, 1, 1):
            put(draw, C, (), [[int(r == s) for s in range(size)] for r in range(size)])
        else:
            for target, rows in zip((C, B), invertible(draw, size), strict=True):
                put(draw, target, (), rows)

    return Assumption(f"{A} = I", f"${latex(A.label)} = I$", ((A[a, b], KroneckerDelta(a, b)),),
                      impose)
