"""Hypotheses on metrics, stationary laws, reversibility and eigenvectors of connection walks.

Metrics are G_i = F_i^T F_i with invertible frames F_i, as every positive definite G_i is.
A hypothesis chooses only what none before it has chosen, with regard to what else is assumed: in a
step's `by`, eigenvectors and harmonic tokens come first, then self-adjointness and reversibility.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, latex

from theorems.assumptions.entries import right_inverse, sums_to_one
from theorems.assumptions.frames import (
    assumed, choose_frames, edge, fixed, frame, identity, inverse_of, put_blocks, put_flow,
    put_rows, symmetric_flow, transposed, tree_law, turn,
)
from theorems.assumptions.vocabulary import hypothesis
from theorems.checker.exact import Draw, Value
from theorems.statement import Assumption, Definition, array, symbols_of

i, j, a, b, c, e, f = symbols_of("i j a b c e f")
n, d = symbols_of("n d")
WALK = array("P", n, n), array("T", n, n, d, d)


def row_stochastic(P: IndexedBase) -> Assumption:
    """Rows of P sum to 1, unless an earlier hypothesis has chosen P."""
    rows = sums_to_one(P)

    def impose(draw: Draw) -> None:
        if not fixed(draw, P) and rows.impose:
            rows.impose(draw)

    return replace(rows, impose=impose)


@hypothesis(array("pi", n), array("P", n, n))
def stationary(pi: IndexedBase, P: IndexedBase) -> Assumption:
    """pi P = pi: the law of spanning trees where P is row-stochastic."""
    rows = row_stochastic(P)

    def impose(draw: Draw) -> None:
        n, sign = draw.shape(P)[0], draw.signs.get(pi.name)
        if fixed(draw, pi):
            return
        if assumed(draw, rows.id) and rows.impose:
            rows.impose(draw)
            scale, law = draw.source.fresh(sign), tree_law(draw, P)
            law = law if any(not draw.source.is_zero(value) for value in law) else n * [1]
            for k, value in enumerate(law, start=1):
                draw.put(pi, (k,), scale * value)
        else:
            _columns(draw, P, [draw.get(pi.name, (k,)) for k in range(1, n + 1)])

    rule = (Sum(pi[i] * P[i, j], (i, 1, P.shape[0])), pi[j])
    text = f"${latex(pi.label)} {latex(P.label)} = {latex(pi.label)}$"
    return Assumption(f"{pi} is stationary for {P}", text, (rule,), impose)


def flow_gap(pi: IndexedBase, P: IndexedBase, gap: IndexedBase) -> Definition:
    """gap_ij = pi_i P_ij - pi_j P_ji, what detailed balance says is 0."""
    return Definition(gap[i, j], pi[i] * P[i, j] - pi[j] * P[j, i])


@hypothesis(array("pi", n), array("P", n, n), array("g", n, n))
def balanced(pi: IndexedBase, P: IndexedBase, gap: IndexedBase) -> Assumption:
    """pi_i P_ij = pi_j P_ji, read with `flow_gap(pi, P, gap)`."""
    rows = row_stochastic(P)

    def impose(draw: Draw) -> None:
        if fixed(draw, P) or fixed(draw, pi):
            return
        n = draw.shape(P)[0]
        flow = symmetric_flow(draw, n, draw.signs.get(P.name))
        if assumed(draw, rows.id):
            law = [sum(row) for row in flow]
        else:
            law = [draw.source.fresh(draw.signs.get(pi.name) or "!=0") for _ in range(n)]
        put_flow(draw, P, pi, flow, law)

    name, weights = latex(pi.label), latex(P.label)
    text = f"${name}_i {weights}_{{ij}} = {name}_j {weights}_{{ji}}$"
    return Assumption(f"{P} is reversible for {pi}", text, ((gap[i, j], Integer(0)),), impose)


def metric(G: IndexedBase, F: IndexedBase) -> Definition:
    """G_i = F_i^T F_i."""
    return Definition(G[i, a, b], Sum(F[i, e, a] * F[i, e, b], (e, 1, F.shape[-1])))


def frames(F: IndexedBase, F_inv: IndexedBase) -> Assumption:
    """Every F_i is invertible: G_i > 0."""

    def impose(draw: Draw) -> None:
        for k, (_, rows) in enumerate(choose_frames(draw, F), start=1):
            put_rows(draw, F_inv, (k,), rows)

    return replace(right_inverse(F, F_inv), impose=impose)


@hypothesis(*WALK, array("F", n, d, d))
def isometric(P: IndexedBase, T: IndexedBase, F: IndexedBase) -> Assumption:
    """T_ij^T G_i T_ij = G_j on edges, for the metrics G_i = F_i^T F_i."""

    def impose(draw: Draw) -> None:
        if fixed(draw, T):
            return
        both, turns = assumed(draw, paired_id(P, T)), {}
        for r, s in draw.cells(T, 2):
            if (r, s) in turns or not (edge(draw, P, r, s) or (both and edge(draw, P, s, r))):
                continue
            turns[r, s] = turn(draw, draw.shape(T)[-1], both and r == s)
            if both:
                turns[s, r] = transposed(turns[r, s])
        put_blocks(draw, T, choose_frames(draw, F), turns)

    d = F.shape[-1]
    first, second = (Sum(F[i, e, a] * T[i, j, a, column], (a, 1, d)) for column in (b, f))
    there, here = Sum(first * second, (e, 1, d)), Sum(F[j, e, b] * F[j, e, f], (e, 1, d))
    rule = (P[i, j] * there, P[i, j] * here)
    name, weights = latex(T.label), latex(P.label)
    text = f"${name}_{{ij}}^\\top G_i {name}_{{ij}} = G_j$ where ${weights}_{{ij}} \\ne 0$"
    return Assumption(isometric_id(P, T), text, (rule,), impose)


def isometric_id(P: IndexedBase, T: IndexedBase) -> str:
    """The id of `isometric`."""
    return f"{T.name} is isometric on edges of {P.name}"


def paired_id(P: IndexedBase, T: IndexedBase) -> str:
    """The id of `inverse_pairs`."""
    return f"{T.name} has inverse pairs on edges of {P.name}"


@hypothesis(*WALK)
def inverse_pairs(P: IndexedBase, T: IndexedBase) -> Assumption:
    """T_ij T_ji = I on edges."""

    def impose(draw: Draw) -> None:
        if fixed(draw, T) or assumed(draw, isometric_id(P, T)):
            return
        n, d = draw.shape(T)[1:3]
        eye, turns = n * [(identity(d), identity(d))], {}
        for r, s in draw.cells(T, 2):
            if r == s:
                turns[r, s] = turn(draw, d, True)
            elif r < s:
                turns[r, s] = frame(draw, d)
                turns[s, r] = inverse_of(draw, turns[r, s])
        put_blocks(draw, T, eye, turns)

    returned = Sum(T[i, j, a, b] * T[j, i, b, c], (b, 1, T.shape[-1]))
    rule = (P[i, j] * returned, P[i, j] * KroneckerDelta(a, c))
    name = latex(T.label)
    text = f"${name}_{{ji}} = {name}_{{ij}}^{{-1}}$ where ${latex(P.label)}_{{ij}} \\ne 0$"
    return Assumption(paired_id(P, T), text, (rule,), impose)


def applied(P: IndexedBase, T: IndexedBase, u: IndexedBase, row: Expr = i, entry: Expr = a) -> Expr:
    """Entry (i, a) of W u = sum_j P_ij T_ij u_j."""
    n, d = u.shape
    return Sum(P[row, j] * T[row, j, entry, e] * u[j, e], (j, 1, n), (e, 1, d))


def _transported(
    P: IndexedBase, T: IndexedBase, u: IndexedBase, F: IndexedBase, harmonic: bool
) -> Callable[[Draw], None]:
    """Tokens u_i = F_i^{-1} y with T_ij u_j = u_i on edges; T free off them."""
    rows = row_stochastic(P)

    def impose(draw: Draw) -> None:
        n, d = draw.shape(u)
        if (harmonic or assumed(draw, rows.id)) and rows.impose:
            rows.impose(draw)
        lengths, turns = choose_frames(draw, F), {}
        for r, s in draw.cells(T, 2):
            if edge(draw, P, r, s):
                inner = turn(draw, d - 1) if d > 1 else []
                turns[r, s] = [[int(k == 0) for k in range(d)], *([0, *row] for row in inner)]
        size = draw.source.fresh(None)
        for r, entry in product(range(n), range(d)):
            draw.put(u, (r + 1, entry + 1), size * lengths[r][1][entry][0])
        put_blocks(draw, T, lengths, turns)

    return impose


@hypothesis(*WALK, array("u", n, d), array("F", n, d, d))
def harmonic(P: IndexedBase, T: IndexedBase, u: IndexedBase, F: IndexedBase) -> Assumption:
    """W u = u."""
    rule = (applied(P, T, u), u[i, a])
    return Assumption(f"{u} is harmonic", f"$W {latex(u.label)} = {latex(u.label)}$", (rule,),
                      _transported(P, T, u, F, True))


@hypothesis(*WALK, array("u", n, d), array("F", n, d, d))
def parallel(P: IndexedBase, T: IndexedBase, u: IndexedBase, F: IndexedBase) -> Assumption:
    """T_ij u_j = u_i on edges."""
    rule = (P[i, j] * Sum(T[i, j, a, b] * u[j, b], (b, 1, u.shape[1])), P[i, j] * u[i, a])
    name = latex(u.label)
    text = f"${latex(T.label)}_{{ij}} {name}_j = {name}_i$ where ${latex(P.label)}_{{ij}} \\ne 0$"
    return Assumption(f"{u} is parallel", text, (rule,), _transported(P, T, u, F, False))


def _columns(draw: Draw, P: IndexedBase, law: list[Value]) -> None:
    """P with pi P = pi whose rows need not sum to 1."""
    if fixed(draw, P):
        return
    for s, target in enumerate(law, start=1):
        column = [draw.source.fresh(draw.signs.get(P.name)) for _ in law]
        total = sum(x * y for x, y in zip(law, column, strict=True))
        scale = target * draw.source.inverse(total)
        for r, value in enumerate(column, start=1):
            draw.put(P, (r, s), scale * value)
