"""Hypotheses on metrics of low rank: the inverse of a computed matrix, a vector in its kernel."""

from __future__ import annotations

from flint import fmpq
from sympy import IndexedBase, Integer, KroneckerDelta, Sum

from theorems.checker.exact import Draw, SmallIntegers, Value
from theorems.statement import Assumption, symbols_of

Rows = list[list[Value]]
i, j, k = symbols_of("i j k")


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

    pairs = ((matrix, inverse), (inverse, matrix))
    rules = tuple((Sum(A[i, k] * B[k, j], (k, 1, size)), KroneckerDelta(i, j)) for A, B in pairs)
    text = f"${inverse}$ is the inverse of ${matrix}$"
    return Assumption(f"{inverse} inverts {matrix}", text, rules, impose)


def annihilated(matrix: IndexedBase, vector: IndexedBase) -> Assumption:
    """matrix vector = 0: with the vector 0, or any that a search meets."""

    def impose(draw: Draw) -> None:
        if type(draw.source) is SmallIntegers and draw.source.rng.randrange(2):
            return
        for cell in draw.cells(vector):
            draw.put(vector, cell, fmpq(0))

    rule = (Sum(matrix[i, j] * vector[j], (j, 1, vector.shape[0])), Integer(0))
    return Assumption(f"{matrix} {vector} = 0", f"${matrix} {vector} = 0$", (rule,), impose)
