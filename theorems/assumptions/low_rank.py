"""Hypotheses on low rank: the inverse of a computed matrix, a vector in its kernel, factors."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import IndexedBase, Integer, Sum, latex

from theorems.assumptions.entries import right_inverse
from theorems.assumptions.vocabulary import hypothesis
from theorems.checker.exact import Draw, Rejected, SmallIntegers, Value
from theorems.statement import Assumption, array, symbols_of

Rows = list[list[Value]]
i, j, a, n, d = symbols_of("i j a n d")


def minor(rows: Rows, row: int, column: int) -> Value:
    """The determinant of the rest without a row and a column."""
    return determinant([[value for at, value in enumerate(line) if at != column]
                        for place, line in enumerate(rows) if place != row])


def determinant(rows: Rows) -> Value:
    """The determinant by expansion along the first row: entries may be free symbols."""
    if not rows:
        return 1
    return sum((-1) ** at * value * minor(rows, 0, at) for at, value in enumerate(rows[0]))


def inverse_of(matrix: IndexedBase, inverse: IndexedBase) -> Assumption:
    """The inverse, from both sides, of a matrix that is defined: by Cramer's rule."""
    size = matrix.shape[0]

    def impose(draw: Draw) -> None:
        rows = [[draw.get(str(matrix), (row + 1, column + 1)) for column in range(draw.size(size))]
                for row in range(draw.size(size))]
        scale = draw.source.inverse(determinant(rows))
        for row, column in draw.cells(inverse):
            cofactor = (-1) ** (row + column) * minor(rows, column - 1, row - 1)
            draw.put(inverse, (row, column), cofactor * scale)

    text = f"${inverse}$ is the inverse of ${matrix}$"
    return replace(right_inverse(matrix, inverse), text=text, impose=impose)


@hypothesis(array("G", d, d), array("z", d))
def annihilated(matrix: IndexedBase, vector: IndexedBase) -> Assumption:
    """matrix vector = 0: with the vector 0, or any that a search meets."""

    def impose(draw: Draw) -> None:
        if type(draw.source) is SmallIntegers and draw.source.rng.randrange(2):
            return
        for cell in draw.cells(vector):
            draw.put(vector, cell, fmpq(0))

    rule = (Sum(matrix[i, j] * vector[j], (j, 1, vector.shape[0])), Integer(0))
    return Assumption(f"{matrix} {vector} = 0", f"${matrix} {vector} = 0$", (rule,), impose)


@hypothesis(array("rho", n), array("sigma", n))
def nonzero_scales(rho: IndexedBase, sigma: IndexedBase) -> Assumption:
    """rho_i sigma_i = 1: row scales, such as normalisers, are not 0."""

    def impose(draw: Draw) -> None:
        for (place,) in draw.cells(sigma):
            draw.put(sigma, (place,), draw.source.inverse(draw.get(str(rho), (place,))))

    name, inverse = latex(rho.label), latex(sigma.label)
    text = f"${name}_i {inverse}_i = 1$: row scales, such as normalisers, are not $0$"
    return Assumption(f"{rho} is not 0", text, ((rho[i] * sigma[i], Integer(1)),), impose)


@hypothesis(array("V", n, n), array("rho", n), array("O", n, d), array("C", d, n))
def factors_through(
    matrix: IndexedBase, rho: IndexedBase, O: IndexedBase, C: IndexedBase
) -> Assumption:
    """The rows of the matrix, each times its rho, factor through m numbers: rho_i V_ij = (O C)_ij.

    A matrix that is chosen before and has rho != 0 takes a width of at least its size.
    """
    name, (size, m) = str(matrix.label), O.shape

    def wide(draw: Draw) -> None:
        """Factors of a matrix with an inverse: itself, and an identity."""
        rank = draw.size(size)
        width = draw.sizes.setdefault(str(m), rank + draw.source.rng.choice((0, 0, 1)))
        if width < rank:
            raise Rejected(f"a matrix of rank {rank} has no factors of width {width}")
        for row, column in draw.cells(O):
            entry = draw.source.fresh(None)
            if column <= rank:
                entry = draw.get(str(rho), (row,)) * draw.get(name, (row, column))
            draw.put(O, (row, column), entry)
        for row, column in draw.cells(C):
            draw.put(C, (row, column), int(row == column))

    def impose(draw: Draw) -> None:
        scales = [draw.get(str(rho), cell) for cell in draw.cells(rho)]
        known = (name, (1, 1)) in draw.entries
        if known and not all(map(draw.source.is_zero, scales)):
            return wide(draw)
        for factor in (O, C):
            for cell in draw.cells(factor):
                draw.put(factor, cell, 0 if known and factor is O else draw.source.fresh(None))
        if not known:
            inner = range(1, draw.size(m) + 1)
            for row, column in draw.cells(matrix):
                pairs = ((draw.get(str(O), (row, q)), draw.get(str(C), (q, column))) for q in inner)
                entry = sum(one * other for one, other in pairs)
                draw.put(matrix, (row, column), draw.source.inverse(scales[row - 1]) * entry)
        return None

    rule = (Sum(O[i, a] * C[a, j], (a, 1, m)), rho[i] * matrix[i, j])
    block = f"${latex(rho.label)}_i {name}_{{ij}}$"
    text = f"the block {block} of the weights is a product of width ${m}$"
    return Assumption(f"{rho} {name} = {O} {C}", text, (rule,), impose)
