"""The shared vocabulary of hypotheses: what each says, how it rewrites, how to construct it."""

from itertools import product

from flint import fmpq
from sympy import IndexedBase, Integer, KroneckerDelta, Sum, latex, symbols

from theorems.assumptions.constructions import invertible
from theorems.checker.exact import Draw, Generators, Rejected, SmallIntegers
from theorems.statement import Assumption


def signed(array: IndexedBase, sign: str) -> Assumption:
    """Every entry of the array is ">0", ">=0" or "!=0"."""
    relation = {">0": ">", ">=0": r"\ge", "!=0": r"\ne"}[sign]
    text = f"${latex(array.label)} {relation} 0$"
    return Assumption(f"{array}{sign}", text, signs=((array, sign),))


def exponential(array: IndexedBase, logs: IndexedBase) -> Assumption:
    """array = exp(logs) entry by entry; exact instances take whole powers of 2 for those of e."""

    def impose(draw: Draw) -> None:
        for cell in draw.cells(array):
            if type(draw.source) is not SmallIntegers:
                raise Rejected(f"{array} has no exact exponential")
            if (power := fmpq(draw.get(str(logs.label), cell))).q != 1:
                raise Rejected(f"{logs} is no whole power")
            draw.put(array, cell, fmpq(2) ** int(power.p))

    text = f"${latex(array.label)} = \\exp {latex(logs.label)}$ entrywise"
    return Assumption(f"{array} = exp({logs})", text, (), impose, ((array, ">0"),))


def sums_to_one(array: IndexedBase) -> Assumption:
    """The last axis sums to 1: row-stochastic if also nonnegative, or weights of total 1."""
    index = symbols(f"k1:{len(array.shape) + 1}", integer=True, positive=True)

    def impose(draw: Draw) -> None:
        sign = draw.signs.get(str(array))
        for cell in draw.cells(array, len(array.shape) - 1):
            row = [draw.source.fresh(sign) for _ in range(draw.shape(array)[-1])]
            if sign in (">0", ">=0") and not isinstance(draw.source, Generators):
                row = [value * draw.source.inverse(sum(row)) for value in row]
            else:
                row[-1] = 1 - sum(row[:-1])
            for position, value in enumerate(row, start=1):
                draw.put(array, (*cell, position), value)

    rule = (Sum(array[index], (index[-1], 1, array.shape[-1])), Integer(1))
    text = f"${latex(array.label)}$ sums to 1 over its last axis"
    return Assumption(f"{array} sums to 1", text, (rule,), impose)


def right_inverse(array: IndexedBase, inverse: IndexedBase) -> Assumption:
    """array @ inverse = I over the last two axes, and inverse @ array = I where they are square."""
    *lead, i, j, k = symbols(f"k1:{len(array.shape) + 2}", integer=True, positive=True)
    rows, columns = array.shape[-2:]
    pairs = [(array, inverse), (inverse, array)][: 1 + (rows == columns)]
    products = [Sum(A[*lead, i, j] * B[*lead, j, k], (j, 1, columns)) for A, B in pairs]
    rules = tuple((product, KroneckerDelta(i, k)) for product in products)

    def impose(draw: Draw) -> None:
        *_, n, d = draw.shape(array)
        if n > d:
            raise Rejected(f"{n} rows of length {d} are never independent")
        for cell in draw.cells(array, len(lead)):
            matrix, inverted = invertible(draw, d)
            for row, column in product(range(n), range(d)):
                draw.put(array, (*cell, row + 1, column + 1), matrix[row][column])
                draw.put(inverse, (*cell, column + 1, row + 1), inverted[column][row])

    text = f"the rows of ${array}$ are independent, with right inverse ${inverse}$"
    return Assumption(f"{inverse} inverts {array}", text, rules, impose)
