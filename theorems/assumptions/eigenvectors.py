"""Hypotheses on connection walks: self-adjointness, and eigenvectors p + iq."""

from __future__ import annotations

from itertools import product

from sympy import IndexedBase, Integer, Sum, Symbol, latex

from theorems.assumptions.frames import (
    assumed, choose_frames, fixed, identity, put_blocks, put_flow, put_number, symmetric_flow,
    transposed, turn,
)
from theorems.assumptions.metrics import applied, isometric_id
from theorems.assumptions.constructions import unit_vector
from theorems.assumptions.vocabulary import hypothesis
from theorems.checker.exact import Draw, Rows, SmallIntegers, Value, evaluate
from theorems.statement import Assumption, Definition, array, symbols_of

i, j, a, b, c = symbols_of("i j a b c")
n, d = symbols_of("n d")
WALK = array("P", n, n), array("T", n, n, d, d), array("F", n, d, d)
PARTS = array("p", n, d), array("q", n, d)


def skew_form(
    pi: IndexedBase, P: IndexedBase, T: IndexedBase, G: IndexedBase, Z: IndexedBase
) -> Definition:
    """Z_ij = pi_i P_ij G_i T_ij - pi_j P_ji T_ji^T G_j, the blocks of <v, Wu> - <Wv, u>."""
    d = G.shape[-1]
    forth = pi[i] * P[i, j] * Sum(G[i, a, c] * T[i, j, c, b], (c, 1, d))
    back = pi[j] * P[j, i] * Sum(T[j, i, c, a] * G[j, c, b], (c, 1, d))
    return Definition(Z[i, j, a, b], forth - back)


@hypothesis(array("pi", n), *WALK, array("Z", n, n, d, d))
def self_adjoint(
    pi: IndexedBase, P: IndexedBase, T: IndexedBase, F: IndexedBase, Z: IndexedBase
) -> Assumption:
    """<v, Wu> = <Wv, u>, read with `skew_form`."""

    def impose(draw: Draw) -> None:
        n, d = draw.shape(F)[:2]
        sign = draw.signs.get(P.name)
        if fixed(draw, T):  # an eigenvector's walk, self-adjoint for the uniform law
            if not fixed(draw, pi):
                law = draw.source.fresh(draw.signs.get(pi.name))
                for k in range(1, n + 1):
                    draw.put(pi, (k,), law)
            return
        turns: dict[tuple[int, int], Rows] = {}
        flow = symmetric_flow(draw, n, sign)
        rigid = assumed(draw, isometric_id(P, T))
        small, free = type(draw.source) is SmallIntegers, pi.name not in draw.signs
        signs = [draw.source.rng.choice((1, -1)) if small and free else 1 for _ in range(n)]
        for r, s in product(range(n), repeat=2):
            if r > s or (rigid and draw.source.is_zero(flow[r][s])):
                continue
            block = turn(draw, d, r == s) if rigid else _block(draw, d, r == s)
            turns[r + 1, s + 1] = block
            if r < s:
                ratio = signs[r] * signs[s] * _ratio(draw, flow, r, s, rigid, sign)
                back = transposed(block)
                turns[s + 1, r + 1] = [[ratio * value for value in row] for row in back]
        rows = assumed(draw, f"{P.name} sums to 1")
        law = [sum(row) if rows else draw.source.fresh(">0") for row in flow]
        for sign_of_row, row in zip(signs, flow, strict=True):
            row[:] = [sign_of_row * value for value in row]
        put_flow(draw, P, pi, flow, [x * y for x, y in zip(signs, law, strict=True)])
        put_blocks(draw, T, choose_frames(draw, F), turns)

    rule = (Z[i, j, a, b], Integer(0))
    return Assumption(adjoint_id(T), "$W$ is self-adjoint", (rule,), impose)


def adjoint_id(T: IndexedBase) -> str:
    """The id of `self_adjoint`."""
    return f"W of {T.name} is self-adjoint"


def _block(draw: Draw, d: int, symmetric: bool) -> Rows:
    rows = [[draw.source.fresh(None) for _ in range(d)] for _ in range(d)]
    return [[rows[min(r, s)][max(r, s)] for s in range(d)] for r in range(d)] if symmetric else rows


def _ratio(draw: Draw, flow: Rows, r: int, s: int, rigid: bool, sign: str | None) -> Value:
    """What flow_rs / flow_sr is to be: 1, but for small instances of less than is assumed."""
    if type(draw.source) is not SmallIntegers:
        return 1
    if rigid:
        ratio = draw.source.rng.choice((1, -1)) if sign is None else 1
        flow[s][r] = ratio * flow[r][s]
        return ratio
    flow[s][r] = draw.source.fresh("!=0" if sign is None else ">0")
    return flow[r][s] * draw.source.inverse(flow[s][r])


@hypothesis(array("pi", n), *PARTS, array("F", n, d, d))
def normalised(
    pi: IndexedBase, p: IndexedBase, q: IndexedBase, F: IndexedBase
) -> Assumption:
    """|p|^2 + |q|^2 = 1 in the inner product."""
    n, d = p.shape
    squares = [Sum(Sum(F[i, c, a] * u[i, a], (a, 1, d)) ** 2, (c, 1, d)) for u in (p, q)]
    whole = [Sum(pi[i] * square, (i, 1, n)) for square in squares]

    # Instances choose pi, here or with `complex_eigenvector`.
    def impose(draw: Draw) -> None:
        if fixed(draw, pi):
            return
        norms = [evaluate(squares[0] + squares[1], draw, {i: k}) for (k,) in draw.cells(pi)]
        *law, last = (draw.source.fresh(draw.signs.get(pi.name)) for _ in norms)
        rest = 1 - sum(x * y for x, y in zip(law, norms, strict=False))
        last = rest * draw.source.inverse(norms[-1])
        for k, value in enumerate([*law, last], start=1):
            draw.put(pi, (k,), value)

    text = f"$\\lVert {latex(p.label)} \\rVert^2 + \\lVert {latex(q.label)} \\rVert^2 = 1$"
    return Assumption(_normalised(p, q), text, ((whole[0], 1 - whole[1]),), impose)


def _normalised(p: IndexedBase, q: IndexedBase) -> str:
    return f"{p.name} + i {q.name} is normalised"


@hypothesis(array("pi", n), *WALK, *PARTS, Symbol("alpha", real=True), Symbol("beta", real=True))
def complex_eigenvector(
    pi: IndexedBase, P: IndexedBase, T: IndexedBase, F: IndexedBase,
    p: IndexedBase, q: IndexedBase, alpha: Symbol, beta: Symbol,
) -> Assumption:
    """W (p + iq) = (alpha + i beta)(p + iq): a circulant walk of rotations in one plane."""

    def impose(draw: Draw) -> None:
        n, d = draw.shape(p)
        symmetric = assumed(draw, adjoint_id(T))
        shares = _shares(draw, P, n, symmetric)
        spins = _spins(draw, n, d, symmetric, assumed(draw, isometric_id(P, T)))
        for r, s in draw.cells(P):
            draw.put(P, (r, s), shares[(s - r) % n])
        lengths = choose_frames(draw, F)
        turns = {(r, s): _plane(spins[(s - r) % n], d) for r, s in draw.cells(P)}
        put_blocks(draw, T, lengths, turns)
        first, second = draw.source.fresh(None), draw.source.fresh(None)
        values = [sum(x * spin[k] for x, spin in zip(shares, spins, strict=True)) for k in (0, 1)]
        if type(draw.source) is SmallIntegers and draw.source.rng.randrange(5) == 0:
            first, second, values = 0, 0, [draw.source.fresh(None) for _ in values]
        plain = d == 1
        tokens = {p: [first, second], q: [second, 0 if plain else -first]}
        for u, y in tokens.items():
            for k, entry in product(range(n), range(d)):
                rows = lengths[k][1][entry]
                draw.put(u, (k + 1, entry + 1), sum(rows[m] * y[m] for m in range(min(d, 2))))
        for number, value in zip((alpha, beta), values, strict=True):
            put_number(draw, number, value)
        if assumed(draw, _normalised(p, q)):
            square = (1 if plain else 2) * (first * first + second * second)
            for k in range(1, n + 1):
                draw.put(pi, (k,), draw.source.inverse(n * square))

    rules = (
        (applied(P, T, p), alpha * p[i, a] - beta * q[i, a]),
        (applied(P, T, q), beta * p[i, a] + alpha * q[i, a]),
    )
    vector = f"{latex(p.label)} + i {latex(q.label)}"
    text = f"$W ({vector}) = ({latex(alpha)} + i {latex(beta)}) ({vector})$"
    return Assumption(f"{p} + i {q} is an eigenvector", text, rules, impose)


def _shares(draw: Draw, P: IndexedBase, n: int, symmetric: bool) -> list[Value]:
    """The first row of a circulant P."""
    shares = [draw.source.fresh(draw.signs.get(P.name)) for _ in range(n)]
    if symmetric and n == 3:
        shares[2] = shares[1]
    if assumed(draw, f"{P.name} sums to 1"):
        scale = draw.source.inverse(sum(shares))
        shares = [scale * share for share in shares]
    return shares


def _spins(draw: Draw, n: int, d: int, symmetric: bool, rigid: bool) -> list[tuple[Value, Value]]:
    """Cosine and sine of n rotations, scaled unless rigid; spin_(n - k) is spin_k turned back."""
    small, spins = type(draw.source) is SmallIntegers, []
    for k in range(n):
        real = d == 1 or (symmetric and 2 * k in (0, n))
        if rigid:
            sign = draw.source.rng.choice((1, -1)) if small else -1
            spin = (sign, 0) if real else tuple(unit_vector(draw, 2))
        else:
            spin = (draw.source.fresh(None), 0 if real else draw.source.fresh(None))
        spins.append(spin)
    if symmetric and n == 3:
        spins[2] = (spins[1][0], -spins[1][1])
    return spins


def _plane(spin: tuple[Value, Value], d: int) -> Rows:
    cosine, sine = spin
    rows = identity(d)
    rows[0][0] = cosine
    if d > 1:
        rows[0][1], rows[1][0], rows[1][1] = -sine, sine, cosine
    return rows
