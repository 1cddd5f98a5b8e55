"""Hypotheses on columns that are independent beside the vector of ones."""

from __future__ import annotations

from itertools import product

from sympy import IndexedBase, Integer, KroneckerDelta, Sum, latex

from theorems.assumptions.constructions import invertible
from theorems.checker.exact import Draw, Rejected, Rows
from theorems.statement import Local, symbols_of

j, k, p, q = symbols_of("j k p q")


def beside_ones(Psi: IndexedBase, R: IndexedBase) -> Local:
    """The columns of Psi (m, v) and 1 are independent: R Psi = I and R 1 = 0."""
    m, v = Psi.shape

    def impose(draw: Draw) -> None:
        columns = draw.size(v)
        if str(m) not in draw.sizes:
            draw.sizes[str(m)] = columns + draw.source.rng.choice((1, 1, 2))
        _put(draw, Psi, R, draw.size(m), columns)

    rules = _left_inverse(Psi, R)
    text = f"the columns of ${latex(Psi.label)}$ and $\\mathbf{{1}}$ are independent"
    return Local(f"{R} inverts {Psi} beside 1", text, rules, impose)


def coordinates_of_ones(
    e: IndexedBase, Y: IndexedBase, Z: IndexedBase
) -> tuple[Local, Local]:
    """1 and the columns of Y (m, v) are a basis of R^m, with dual basis e^T, Z; orthogonality
    and completeness apart, since each alone rewrites."""
    m, v = Y.shape

    def impose(draw: Draw) -> None:
        size = 1 + draw.size(v)
        if draw.sizes.setdefault(str(m), size) != size:
            raise Rejected("1 and the columns of a matrix are no basis")
        shift = _put(draw, Y, Z, size, size - 1)
        for place in range(1, size + 1):
            inside = sum(shift[c] * draw.get(str(Z), (c + 1, place)) for c in range(size - 1))
            draw.put(e, (place,), int(place == 1) - inside)

    text = f"$\\mathbf{{1}}$ and the columns of ${latex(Y.label)}$ are a basis, dual to ${e}, {Z}$"
    dual = (*_left_inverse(Y, Z), (Sum(e[j], (j, 1, m)), Integer(1)))
    resolved = (Sum(Y[j, p] * Z[p, k], (p, 1, v)), KroneckerDelta(j, k) - e[k])
    return (
        Local(f"{e}, {Z} are dual to 1, {Y}", text, dual, impose),
        Local(f"1, {Y} are complete with {e}, {Z}", text, (resolved,), impose),
    )


def _left_inverse(Psi: IndexedBase, R: IndexedBase) -> tuple:
    m, _ = Psi.shape
    return ((Sum(R[p, j] * Psi[j, q], (j, 1, m)), KroneckerDelta(p, q)),
            (Sum(R[p, j], (j, 1, m)), Integer(0)))


def _put(draw: Draw, Psi: IndexedBase, R: IndexedBase, m: int, v: int) -> list:
    """Rows c, c + a_1, ..., c + a_{m-1} with the first v columns a of an invertible matrix."""
    if v >= m:
        raise Rejected(f"{v} columns of length {m} and 1 are never independent")
    matrix, inverse = invertible(draw, m - 1)
    shift = [draw.source.fresh(None) for _ in range(v)]
    rows: Rows = [shift, *([s + a for s, a in zip(shift, row, strict=False)] for row in matrix)]
    for (row, entries), column in product(enumerate(rows, start=1), range(v)):
        draw.put(Psi, (row, column + 1), entries[column])
    for row in range(v):
        dual = inverse[row][: m - 1]
        for column, entry in enumerate([-sum(dual), *dual], start=1):
            draw.put(R, (row + 1, column), entry)
    return shift
