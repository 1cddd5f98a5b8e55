"""Hypotheses on walks and their measures: balance, stationary laws, closed sets, isotropy."""

from __future__ import annotations

from itertools import product

from sympy import IndexedBase, Integer, KroneckerDelta, Sum, latex

from theorems.assumptions.constructions import invertible
from theorems.assumptions.entries import toss
from theorems.assumptions.vocabulary import hypothesis
from theorems.checker.exact import Draw, Generators, Rejected, Rows, Value, times
from theorems.statement import Assumption, array, symbols_of

i, j, k, l, a, b, q = symbols_of("i j k l a b q")
n, m, d = symbols_of("n m d")
CHAIN = array("P", n, n), array("pi", n)


@hypothesis(*CHAIN, array("f", n, n))
def detailed_balance(P: IndexedBase, pi: IndexedBase, flow: IndexedBase) -> Assumption:
    """pi_i P_ij = pi_j P_ji: a symmetric flow, written as flow_ij + flow_ji."""

    def impose(draw: Draw) -> None:
        for row, column in draw.cells(P):
            shares = draw.get(str(flow), (row, column)) + draw.get(str(flow), (column, row))
            draw.put(P, (row, column), shares * draw.source.inverse(draw.get(str(pi), (row,))))

    text = "${0}_i {1}_{{ij}} = {0}_j {1}_{{ji}}$".format(latex(pi.label), latex(P.label))
    rule = (pi[i] * P[i, j], flow[i, j] + flow[j, i])
    return Assumption(f"{P} is in detailed balance with {pi}", text, (rule,), impose)


@hypothesis(*CHAIN)
def stationary_chain(P: IndexedBase, pi: IndexedBase, unit: bool = False) -> Assumption:
    """Row-stochastic P and pi P = pi, built from a circulation; sum pi = 1 where unit."""
    n = pi.shape[0]

    def impose(draw: Draw) -> None:
        flows = _circulation(draw, draw.size(n), draw.signs.get(str(P)))
        if unit:
            scale = draw.source.inverse(sum(map(sum, flows)))
            flows = [[scale * flow for flow in row] for row in flows]
        _law_and_rows(draw, P, pi, flows)

    rules = _stationary(P, pi) + ([(Sum(pi[i], (i, 1, n)), Integer(1))] if unit else [])
    law = " of sum 1" if unit else ""
    text = f"${latex(pi.label)}$ is stationary{law} for the row-stochastic ${latex(P.label)}$"
    return Assumption(f"{pi} is stationary{law} for {P}", text, tuple(rules), impose)


@hypothesis(*CHAIN, array("h", n))
def two_laws(P: IndexedBase, pi: IndexedBase, h: IndexedBase) -> Assumption:
    """pi and h_i pi_i are stationary for the row-stochastic P."""
    first = stationary_chain(P, pi)

    def impose(draw: Draw) -> None:
        size = _two_classes(draw, P, pi)
        factors = [draw.source.fresh(None) for _ in range(2)]
        for (state,) in draw.cells(h):
            draw.put(h, (state,), factors[state > size])

    rule = (Sum(pi[i] * h[i] * P[i, j], (i, 1, pi.shape[0])), pi[j] * h[j])
    text = f"{first.text}, and so is ${h}_i {latex(pi.label)}_i$"
    return Assumption(f"{pi}, {h} {pi} are stationary for {P}", text, (rule, *first.rules), impose)


@hypothesis(*CHAIN, array("lambda", m, n))
def laws_of_classes(P: IndexedBase, pi: IndexedBase, laws: IndexedBase) -> Assumption:
    """Every row of laws is stationary for P; instances weight the two parts of pi."""

    def impose(draw: Draw) -> None:
        size = _two_classes(draw, P, pi)
        for (law,) in draw.cells(laws, 1):
            factors = [draw.source.fresh(">=0") for _ in range(2)]
            for (state,) in draw.cells(pi):
                mass = factors[state > size] * draw.get(str(pi), (state,))
                draw.put(laws, (law, state), mass)

    rule = (Sum(laws[k, i] * P[i, j], (i, 1, pi.shape[0])), laws[k, j])
    text = f"every ${latex(laws.label)}$ is stationary for ${P}$"
    return Assumption(f"{laws} are stationary for {P}", text, (rule,), impose)


@hypothesis(*CHAIN, array("s", n))
def closed_set(P: IndexedBase, pi: IndexedBase, s: IndexedBase) -> Assumption:
    """Row-stochastic P with pi P = pi, and no edge out of the set with indicator s."""

    def impose(draw: Draw) -> None:
        (n,) = draw.shape(s)
        size = toss(draw, range(1, n + 1))
        for row in range(1, n + 1):
            draw.put(s, (row,), int(row <= size))
        if toss(draw, (False, True)):
            return _apart(draw, P, pi, size)
        _law_and_rows(draw, P, pi, _circulation(draw, size, ">=0"))
        for row in range(size + 1, n + 1):
            _row(draw, P, row, [draw.source.fresh(">=0") for _ in range(n)])
            draw.put(pi, (row,), 0)
        for row, column in product(range(1, size + 1), range(size + 1, n + 1)):
            draw.put(P, (row, column), 0)

    closed = [(s[i] ** 2, s[i]), (s[i] * P[i, j] * s[j], s[i] * P[i, j])]
    text = (f"${latex(pi.label)}$ is stationary for the row-stochastic ${P}$, and no edge leaves "
            f"the set with indicator ${s}$")
    rules = tuple(closed + _stationary(P, pi))
    return Assumption(f"{s} is closed under {P}", text, rules, impose)


@hypothesis(*CHAIN, array("b", n, n))
def causal_order(P: IndexedBase, pi: IndexedBase, before: IndexedBase) -> Assumption:
    """Causal row-stochastic P >= 0, pi P = pi >= 0; before_ki is 1 for i < k and 0 elsewhere."""

    def impose(draw: Draw) -> None:
        (n,) = draw.shape(pi)
        for row in range(1, n + 1):
            stays = row == 1 or toss(draw, (row == 2, True, False))
            weights: list[Value] = [0] * (row - 1) + [1]
            if not stays:
                weights = [draw.source.fresh(">=0") for _ in range(row)]
            _row(draw, P, row, weights)
            for column in range(1, n + 1):
                draw.put(before, (row, column), int(column < row))
                if column > row:
                    draw.put(P, (row, column), 0)
            draw.put(pi, (row,), draw.source.fresh(">=0") if stays else 0)

    rules = [
        (before[k, i] ** 2, before[k, i]), (before[k, k], Integer(0)),
        (before[k, i] * P[i, j] * before[k, j], before[k, i] * P[i, j]),
        (before[k, j] * P[k, j], P[k, j] - KroneckerDelta(k, j) * P[k, j]),
    ]
    text = (f"${latex(pi.label)} \\ge 0$ is stationary for the causal row-stochastic ${P} \\ge "
            f"0$, and ${before}_{{ki}}$ is 1 for $i < k$ and 0 elsewhere")
    rules, signs = tuple(rules + _stationary(P, pi)), ((P, ">=0"), (pi, ">=0"))
    return Assumption(f"{P} is causal with the law {pi}", text, rules, impose, signs)


@hypothesis(array("P", n, n), array("e", n))
def absorbing(P: IndexedBase, e: IndexedBase) -> Assumption:
    """Row k of P is e_k, where e is the indicator of the state k."""

    def impose(draw: Draw) -> None:
        (n,) = draw.shape(e)
        state = toss(draw, range(1, n + 1))
        for column in range(1, n + 1):
            draw.put(e, (column,), int(column == state))
            draw.put(P, (state, column), int(column == state))

    text = f"the state with indicator ${e}$ is absorbing"
    return Assumption(f"{e} is absorbing", text, ((e[i] * P[i, j], e[i] * e[j]),), impose)


@hypothesis(array("N", d, m), array("C", d, n), array("L", m, d), array("L'", n, d))
def spanning(N: IndexedBase, C: IndexedBase, L: IndexedBase, L2: IndexedBase) -> Assumption:
    """N L + C L' = I: the columns of N and C span the space."""
    v, w = N.shape[1], C.shape[1]

    def impose(draw: Draw) -> None:
        (size, first), (_, second) = draw.shape(N), draw.shape(C)
        if first + second < size:
            raise Rejected(f"{first} and {second} columns do not span R^{size}")
        basis, dual = invertible(draw, size)
        for row in range(size):
            for place in range(first + second):
                left, right = (N, L) if place < first else (C, L2)
                column = place + 1 if place < first else place - first + 1
                draw.put(left, (row + 1, column), basis[row][place] if place < size else 0)
                draw.put(right, (column, row + 1), dual[place][row] if place < size else 0)

    rule = (
        Sum(N[a, k] * L[k, b], (k, 1, v)),
        KroneckerDelta(a, b) - Sum(C[a, q] * L2[q, b], (q, 1, w)),
    )
    text = f"${N} {L} + {C} {latex(L2.label)} = I$"
    return Assumption(f"{N} {L} + {C} {L2} = I", text, (rule,), impose)


@hypothesis(array("N", d, m), array("K", d, d))
def isotropic_subspace(N: IndexedBase, K: IndexedBase) -> Assumption:
    """N^T K N = 0: K vanishes on the span of the columns of N, which are independent."""
    d, _ = N.shape

    def impose(draw: Draw) -> None:
        size, width = draw.shape(N)
        basis, dual = invertible(draw, size)
        inner = [[0 if row < width > column else draw.source.fresh(None) for column in range(size)]
                 for row in range(size)]
        form = times([list(row) for row in zip(*dual, strict=True)], times(inner, dual))
        for row, column in product(range(size), repeat=2):
            draw.put(K, (row + 1, column + 1), form[row][column])
            if column < width:
                draw.put(N, (row + 1, column + 1), basis[row][column])

    rule = (Sum(N[a, k] * K[a, b] * N[b, l], (a, 1, d), (b, 1, d)), Integer(0))
    text = f"${N}^\\top {K} {N} = 0$"
    return Assumption(f"{K} vanishes on {N}", text, (rule,), impose)


def _stationary(P: IndexedBase, pi: IndexedBase) -> list:
    n = pi.shape[0]
    return [(Sum(pi[i] * P[i, j], (i, 1, n)), pi[j]), (Sum(P[i, j], (j, 1, n)), Integer(1))]


def _circulation(draw: Draw, size: int, sign: str | None) -> Rows:
    """A flow with equal row and column sums: a symmetric one and one along a cycle."""
    around = draw.source.fresh(">=0")
    flows: Rows = [[0] * size for _ in range(size)]
    for row in range(size):
        for column in range(row, size):
            flows[row][column] = flows[column][row] = draw.source.fresh(sign)
    for row in range(size):
        flows[row][(row + 1) % size] += around
    return flows


def _two_classes(draw: Draw, P: IndexedBase, pi: IndexedBase) -> int:
    """P with the law pi and the closed sets {1, ..., size} and the rest, which P > 0 leaves empty;
    returns size."""
    (n,) = draw.shape(pi)
    size = n if draw.signs.get(str(P)) == ">0" else toss(draw, range(1, n + 1))
    _apart(draw, P, pi, size)
    return size


def _apart(draw: Draw, P: IndexedBase, pi: IndexedBase, size: int) -> None:
    """P with the law pi and no edge between {1, ..., size} and the rest."""
    (n,) = draw.shape(pi)
    sign = draw.signs.get(str(P))
    first, second = (_circulation(draw, states, sign) for states in (size, n - size))
    flows = [row + [0] * (n - size) for row in first]
    _law_and_rows(draw, P, pi, flows + [[0] * size + row for row in second])


def _law_and_rows(draw: Draw, P: IndexedBase, pi: IndexedBase, flows: Rows) -> None:
    for row, shares in enumerate(flows, start=1):
        total = sum(shares)
        scale = draw.source.inverse(total)
        draw.put(pi, (row,), total)
        for column, share in enumerate(shares, start=1):
            draw.put(P, (row, column), share * scale)


def _row(draw: Draw, P: IndexedBase, row: int, weights: list[Value]) -> None:
    """Row `row` of P proportional to the weights; symbolic weights are free, with sum 1."""
    if isinstance(draw.source, Generators):
        weights = [*weights[:-1], 1 - sum(weights[:-1])]
    else:
        scale = draw.source.inverse(sum(weights))
        weights = [weight * scale for weight in weights]
    for column, weight in enumerate(weights, start=1):
        draw.put(P, (row, column), weight)
