"""The shared vocabulary of hypotheses: what each says, how it rewrites, how to construct it."""

from collections.abc import Sequence
from itertools import product

from flint import fmpq
from sympy import Expr, Indexed, IndexedBase, Integer, KroneckerDelta, Sum, latex, symbols

from theorems.assumptions.constructions import invertible
from theorems.assumptions.vocabulary import hypothesis
from theorems.checker.exact import Draw, Generators, Rejected, SmallIntegers, Value, evaluate
from theorems.statement import Assumption, array, symbols_of

n, m, d, i = symbols_of("n m d i")


@hypothesis(array("P", n, m), ">0")
def signed(array: IndexedBase, sign: str) -> Assumption:
    """Every entry of the array is ">0", ">=0" or "!=0"."""
    relation = {">0": ">", ">=0": r"\ge", "!=0": r"\ne"}[sign]
    text = f"${latex(array.label)} {relation} 0$"
    return Assumption(f"{array}{sign}", text, signs=((array, sign),))


@hypothesis(array("E", n, m), array("S", n, m))
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


@hypothesis(array("c", n)[i], array("v", n)[i], "v")
def absolute_value(size: Indexed, value: Expr, shown: str) -> Assumption:
    """The entry is the absolute value: it is >= 0 and has the same square; `shown` is the whole
    array in LaTeX."""

    def impose(draw: Draw) -> None:
        for cell in draw.cells(size.base):
            found = evaluate(value, draw, dict(zip(size.indices, cell, strict=True)))
            known = found if isinstance(draw.source, Generators) else abs(found)
            draw.put(size.base, cell, known)

    text = f"${latex(size.base.label)} = \\lvert {shown} \\rvert$ entry by entry"
    rule = (size**2, value**2)
    return Assumption(f"{size.base} = |{value}|", text, (rule,), impose, ((size.base, ">=0"),))


@hypothesis(array("P", n, m))
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


@hypothesis(array("s", n))
def indicator(array: IndexedBase) -> Assumption:
    """Every entry is 0 or 1."""
    index = symbols(f"k1:{len(array.shape) + 1}", integer=True, positive=True)

    def impose(draw: Draw) -> None:
        for cell in draw.cells(array):
            draw.put(array, cell, toss(draw, (1, 0)))

    text = f"${array} \\in \\{{0, 1\\}}$"
    return Assumption(f"{array} is 0 or 1", text, ((array[index] ** 2, array[index]),), impose)


def toss(draw: Draw, choices: Sequence) -> Value:
    """A random choice in searches, the first one elsewhere: there every draw takes one path."""
    random = type(draw.source) is SmallIntegers
    return draw.source.rng.choice(choices) if random else choices[0]


@hypothesis(array("F", n, d), array("H", d, n))
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
