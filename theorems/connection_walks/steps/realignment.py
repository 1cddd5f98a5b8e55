"""Hypotheses on realigned operators: row (i, j) of R(W) is the vector of the block W_ij."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, latex

from theorems.assumptions.constructions import invertible
from theorems.assumptions.entries import sums_to_one
from theorems.checker.exact import Draw, Rejected, SmallIntegers, times
from theorems.statement import Assumption, Local, array, symbols_of

i, j, a, b, h, k = symbols_of("i j a b h k")


def independent_matrices(matrices: IndexedBase, inverse: IndexedBase) -> Local:
    """The matrices X^h are independent: sum_ab X^h_ab Y_ab,k = delta_hk."""
    _, rows, columns = matrices.shape

    def impose(draw: Draw) -> None:
        count, *shape = draw.shape(matrices)
        places = list(product(*(range(1, size + 1) for size in shape)))
        if count > len(places):
            raise Rejected(f"{count} matrices with {len(places)} entries are never independent")
        square, inverted = invertible(draw, count)
        spare = type(draw.source) is SmallIntegers
        rest = [[draw.source.fresh(None) for _ in places[count:]] for _ in square]
        dual = [[draw.source.fresh(None) if spare else 0 for _ in square] for _ in places[count:]]
        paired = [[int(r == c) - sum(x * y[c] for x, y in zip(rest[r], dual, strict=True))
                   for c in range(count)] for r in range(count)]
        columns = times(inverted, paired) + dual
        for head, (position, place) in product(range(count), enumerate(places)):
            draw.put(matrices, (head + 1, *place), (square[head] + rest[head])[position])
            draw.put(inverse, (*place, head + 1), columns[position][head])

    rule = (Sum(matrices[h, a, b] * inverse[a, b, k], (a, 1, rows), (b, 1, columns)),
            KroneckerDelta(h, k))
    text = f"the matrices ${latex(matrices.label)}^h$ are independent"
    return Local(f"{matrices} independent", text, (rule,), impose)


def constant_block_rows(W: IndexedBase, total: IndexedBase) -> Local:
    """Every block row of W has the sum total, whatever i."""
    n, m, d_o, d = W.shape

    def impose(draw: Draw) -> None:
        keys = draw.size(m)
        for row, r, c in product(*(range(1, draw.size(size) + 1) for size in (n, d_o, d))):
            others = [draw.get(str(W), (row, key, r, c)) for key in range(1, keys)]
            draw.put(W, (row, keys, r, c), draw.get(str(total), (r, c)) - sum(others))

    rule = (Sum(W[i, j, a, b], (j, 1, m)), total[a, b])
    text = f"$\\sum_j {W}_{{ij}} = {latex(total.label)}$ for every $i$"
    return Local(f"block rows of {W} sum to {total}", text, (rule,), impose)


def constant_rows(M: IndexedBase, total: IndexedBase) -> Local:
    """Row sums of M^h are total_h, whatever i."""
    m = M.shape[-1]

    def impose(draw: Draw) -> None:
        keys = draw.size(m)
        for head, row in draw.cells(M, 2):
            others = [draw.get(str(M), (head, row, key)) for key in range(1, keys)]
            draw.put(M, (head, row, keys), draw.get(str(total), (head,)) - sum(others))

    rule = (Sum(M[h, i, j], (j, 1, m)), total[h])
    text = f"every row of ${M}^h$ sums to ${latex(total.label)}_h$"
    return Local(f"rows of {M} sum to {total}", text, (rule,), impose)


def unit_rows(J: IndexedBase) -> Assumption:
    """Rows of J sum to 1; searches take positive ones."""

    def impose(draw: Draw) -> None:
        keys = draw.shape(J)[-1]
        for (row,) in draw.cells(J, 1):
            values = [draw.source.fresh(">0") for _ in range(keys)]
            if type(draw.source) is SmallIntegers:
                scale = draw.source.inverse(sum(values))
                values = [value * scale for value in values]
            else:
                values[-1] = 1 - sum(values[:-1])
            for key, value in enumerate(values, start=1):
                draw.put(J, (row, key), value)

    return replace(sums_to_one(J), text=f"rows of ${J}$ sum to 1", impose=impose)


def combination(J: IndexedBase, weights: IndexedBase, M: IndexedBase) -> Local:
    """J = sum_h weights_h M^h."""
    r = M.shape[0]

    def impose(draw: Draw) -> None:
        last = draw.size(r)
        scale = draw.source.inverse(draw.get(str(weights), (last,)))
        for cell in draw.cells(J):
            rest = sum(draw.get(str(weights), (head,)) * draw.get(str(M), (head, *cell))
                       for head in range(1, last))
            draw.put(M, (last, *cell), (draw.get(str(J), cell) - rest) * scale)

    rule = (Sum(weights[h] * M[h, i, j], (h, 1, r)), J[i, j])
    text = f"${J} = \\sum_h {latex(weights.label)}_h {M}^h$"
    return Local(f"{J} = sum of {weights} {M}", text, (rule,), impose)


def small_step(slack: IndexedBase, J: IndexedBase, M: IndexedBase, names: tuple[str, ...]
               ) -> Local:
    """slack = least - step * bound > 0; searches take least = min J and bound = max(-M),
    mostly, and a step of either sign."""
    least, bound, step = (array(name) for name in names)

    def impose(draw: Draw) -> None:
        if type(draw.source) is not SmallIntegers:
            return
        for cell in draw.cells(J):
            if (str(J.label), cell) not in draw.entries:
                draw.put(J, cell, draw.source.fresh(">0"))
        low = min(draw.get(str(J), cell) for cell in draw.cells(J))
        size = max(0, *(-draw.get(str(M), cell) for cell in draw.cells(M)))
        if low <= 0:
            raise Rejected(f"{J} is not positive")
        sign, twice, none = (draw.source.rng.choice(c) for c in ((1, 1, -1), (1, 1, 2), (1, 1, 0)))
        draw.put(least, (), low * twice)
        draw.put(bound, (), size * none)
        draw.put(step, (), sign * low * twice * draw.source.inverse(size * none + 1))

    text = "${0}$, ${1}$, ${2}$ with ${2} {1} < {0}$".format(*(latex(x.label) for x in
                                                          (least, bound, step)))
    return Local(f"{slack} > 0", text, (), impose, ((slack, ">0"),))


def inverts(inverse: Expr, value: Expr, text: str) -> Local:
    """inverse * value = 1, so value != 0."""
    names = str(inverse), str(value)

    def impose(draw: Draw) -> None:
        draw.put(array(names[0]), (), draw.source.inverse(draw.get(names[1], ())))

    return Local(f"{inverse} inverts {value}", text, ((inverse * value, Integer(1)),), impose)


def annihilates(Y: IndexedBase, W: IndexedBase, excluded: Assumption) -> Local:
    """sum_ij Y_ij W_ij = 0; beside the excluded hypothesis, which leaves no other, Y = 0."""
    d_o, d = W.shape[2:]

    def impose(draw: Draw) -> None:
        *cells, last = draw.cells(Y)
        if excluded.id in {item.id for item in draw.assumptions}:
            for cell in (*cells, last):
                draw.put(Y, cell, fmpq(0))
            return
        scale = draw.source.inverse(draw.get(str(Y), last))
        for place in product(*(range(1, draw.size(size) + 1) for size in (d_o, d))):
            rest = sum(draw.get(str(Y), cell) * draw.get(str(W), (*cell, *place))
                       for cell in cells)
            draw.put(W, (*last, *place), -rest * scale)

    rule = (Sum(Y[i, j] * W[i, j, a, b], (i, 1, W.shape[0]), (j, 1, W.shape[1])), Integer(0))
    text = f"$\\sum_{{ij}} {latex(Y.label)}_{{ij}} {W}_{{ij}} = 0$"
    return Local(f"{Y} annihilates {W}", text, (rule,), impose)


def supported(V: IndexedBase, E: IndexedBase) -> Local:
    """E_ij V_ij = V_ij: where E_ij is 0 or 1, blocks off the mask E vanish."""

    def impose(draw: Draw) -> None:
        for cell in draw.cells(E):
            seen = draw.source.rng.randrange(2)
            draw.put(E, cell, fmpq(seen))
            for place in product(*(range(1, size + 1) for size in draw.shape(V)[2:])):
                if not seen:
                    draw.put(V, (*cell, *place), fmpq(0))

    rule = (E[i, j] * V[i, j, a, b], V[i, j, a, b])
    text = f"${E}_{{ij}} {V}_{{ij}} = {V}_{{ij}}$"
    return Local(f"{V} supported on {E}", text, (rule,), impose)
