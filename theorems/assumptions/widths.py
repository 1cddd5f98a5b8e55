"""Inner widths add: factors of several products stand side by side, as coordinates of one axis."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from math import prod

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Mul, Sum, latex

from theorems.assumptions.constructions import invertible
from theorems.assumptions.vocabulary import hypothesis
from theorems.checker.exact import Draw, Rejected
from theorems.statement import Assumption, Matrix, RankBound, Step, array, symbols_of

i, j, p, q, n, m, d, w = symbols_of("i j p q n m d w")
FIRST, SECOND = symbols_of("k1 k2 k3"), symbols_of("l1 l2 l3")


@hypothesis(array("J", w, m), array("K", w, n))
def side_by_side(*parts: IndexedBase) -> Assumption:
    """The columns of arrays of shape (w, ...) are orthonormal, all together."""
    rules = tuple(
        (Sum(one[p, *_of(one, FIRST)] * other[p, *_of(other, SECOND)], (p, 1, one.shape[0])),
         _deltas(one) if one is other else Integer(0))
        for one, other in combinations_with_replacement(parts, 2)
    )
    text = f"the columns of {_listed(parts)} are orthonormal, all together"
    names = ", ".join(map(str, parts))
    return Assumption(f"{names} side by side", text, rules, lambda draw: _unit_columns(draw, parts))


@hypothesis(array("J", w, m), array("K", w, n))
def complete(*parts: IndexedBase) -> Assumption:
    """The columns of arrays of shape (w, ...) span R^w: the sum of all J J^T is the identity."""
    *others, last = parts
    rule = (_projection(last), KroneckerDelta(p, q) - sum(map(_projection, others)))
    text = f"the columns of {_listed(parts)} resolve the identity of size ${latex(last.shape[0])}$"
    names = ", ".join(map(str, parts))
    return Assumption(f"{names} complete", text, (rule,), lambda draw: _unit_columns(draw, parts))


def _listed(parts: Sequence[IndexedBase]) -> str:
    return ", ".join(f"${latex(part.label)}$" for part in parts)


def _unit_columns(draw: Draw, parts: Sequence[IndexedBase]) -> None:
    """The columns of the identity, shared out in order; w is the total width."""
    widths = [prod(draw.size(size) for size in part.shape[1:]) for part in parts]
    total, w = sum(widths), str(parts[0].shape[0])
    if not w.isdigit():
        draw.sizes.setdefault(w, total)
    if draw.size(w) != total:
        raise Rejected(f"{w} is not the total width {total}")
    position = 0
    for part in parts:
        for place in product(*(range(1, draw.size(size) + 1) for size in part.shape[1:])):
            position += 1
            for row in range(1, total + 1):
                draw.put(part, (row, *place), int(row == position))


def _of(part: IndexedBase, names: Sequence[Expr]) -> tuple[Expr, ...]:
    return tuple(names[: len(part.shape) - 1])


def _deltas(part: IndexedBase) -> Expr:
    pairs = zip(_of(part, FIRST), _of(part, SECOND), strict=True)
    return Mul(*(KroneckerDelta(one, other) for one, other in pairs))


def _projection(part: IndexedBase) -> Expr:
    """Entry (p, q) of J J^T."""
    limits = [(k, 1, size) for k, size in zip(FIRST, part.shape[1:], strict=False)]
    term = part[p, *_of(part, FIRST)] * part[q, *_of(part, FIRST)]
    return Sum(term, *limits) if limits else term


def total_width(name: str, *parts: IndexedBase) -> tuple[Step, Step]:
    """The trace of I_w by completeness and by orthonormality: w is the sum of the widths."""
    traces, widths = Integer(0), Integer(0)
    w = parts[0].shape[0]
    for part in parts:
        limits = [(k, 1, size) for k, size in zip(FIRST, part.shape[1:], strict=False)]
        traces += Sum(part[p, *_of(part, FIRST)] ** 2, (p, 1, w), *limits)
        widths += Mul(*part.shape[1:])
    whole = Step(
        id=f"{name}_whole", lhs=traces, rhs=w, by=(complete(*parts),),
        because="The trace of the identity on the coordinates that stand side by side.",
    )
    parted = Step(
        id=f"{name}_widths", lhs=traces, rhs=widths, by=(side_by_side(*parts),),
        because="Each part has orthonormal columns, so the widths add.",
    )
    return whole, parted


@hypothesis(array("F", n, w), array("H", n, w), array("A", w, n), array("B", w, n))
def all_independent(
    F: IndexedBase, H: IndexedBase, A: IndexedBase, B: IndexedBase
) -> Assumption:
    """The columns of F and H (n, w) are independent, all together: A F = B H = I, A H = B F = 0."""
    n, w = F.shape

    def impose(draw: Draw) -> None:
        count = draw.size(w)
        size = draw.sizes.setdefault(str(n), 2 * count + draw.source.rng.choice((0, 0, 1)))
        if size < 2 * count:
            raise Rejected(f"{2 * count} columns of length {size} are never independent")
        columns, inverse = invertible(draw, size)
        for row, column in draw.cells(F):
            for start, part, left in ((0, F, A), (count, H, B)):
                draw.put(part, (row, column), columns[row - 1][start + column - 1])
                draw.put(left, (column, row), inverse[start + column - 1][row - 1])

    rules = tuple(
        (Sum(left[p, i] * part[i, q], (i, 1, n)), KroneckerDelta(p, q) if own else Integer(0))
        for left, part, own in ((A, F, True), (B, H, True), (A, H, False), (B, F, False))
    )
    text = f"the columns of ${latex(F.label)}$ and ${latex(H.label)}$ are independent, all together"
    return Assumption(f"{A}, {B} invert {F}, {H}", text, rules, impose)


def claimed_width(
    name: str, small: Matrix, left: IndexedBase, right: IndexedBase, by: Sequence
) -> RankBound:
    """The claim that small, of entries (i, j), has rank at most the common width of left and right.

    The identity stands between the factors and has that rank, so only a higher rank refutes it.
    """
    (n, width), (m, _) = left.shape, right.shape
    return RankBound(
        id=name, small=small, before=(left[i, p], (i, n), (p, width)), by=tuple(by),
        large=(KroneckerDelta(p, q), (p, width), (q, width)),
        after=(right[j, q], (q, width), (j, m)), because="claimed",
    )


@hypothesis(array("C", m, d, d), array("D", m, d, d))
def independent_symmetric(C: IndexedBase, dual: IndexedBase) -> Assumption:
    """Matrices C_q whose symmetric parts are independent: C and C^T have one dual family."""
    h, k, a, b = symbols_of("h k a b")
    _, d, _ = C.shape

    def impose(draw: Draw) -> None:
        count, size, _ = draw.shape(C)
        pairs = [(r, s) for r in range(1, size + 1) for s in range(r, size + 1)]
        if count > len(pairs):
            raise Rejected(f"{count} symmetric matrices of size {size} are never independent")
        square, inverted = invertible(draw, len(pairs))
        for position, (r, s) in enumerate(pairs):
            share = 1 if r == s else fmpq(1, 2)
            for head in range(count):
                for place in {(r, s), (s, r)}:
                    draw.put(C, (head + 1, *place), square[head][position])
                    draw.put(dual, (head + 1, *place), share * inverted[position][head])

    both = (C[h, a, b], C[h, b, a])
    rules = tuple(
        (Sum(dual[k, a, b] * entry, (a, 1, d), (b, 1, d)), KroneckerDelta(h, k)) for entry in both
    )
    text = f"the symmetric parts of the matrices ${latex(C.label)}_q$ are independent"
    return Assumption(f"symmetric parts of {C} independent", text, rules, impose)
