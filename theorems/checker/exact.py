"""Exact instances: the sides of a statement evaluated on rationals or on free symbols.

A `Draw` is one choice of sizes and of array entries. Its source says what an unconstrained entry
is: a generator of a polynomial ring, a 63-bit rational, or a small integer. Quotients 1/q are
fresh generators with q * (1/q) = 1, cleared once at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from math import prod
from random import Random
from typing import Any

from flint import Ordering, fmpq, fmpq_mat, fmpq_mpoly, fmpq_mpoly_ctx
from sympy import Add, Expr, Indexed, IndexedBase, KroneckerDelta, Mul, Pow, Rational, Sum, Symbol

from theorems.statement import Assumption, Definition

Value = Any
Rows = list[list[Value]]
Environment = dict[Symbol, int]
LARGEST = 36  # product of the sizes of a small instance
CHOICES = {None: (-2, -1, -1, 0, 0, 1, 1, 2, 3), "!=0": (-2, -1, -1, 1, 1, 2, 3),
           ">=0": (0, 0, 1, 1, 2, 3), ">0": (1, 1, 2, 3)}


class Rejected(ValueError):
    """The draw has no instance, for example because a reciprocal of zero is asked for."""


class SmallIntegers:
    """Small integers, zeros and signs often: where counterexamples live."""

    def __init__(self, rng: Random) -> None:
        self.rng, self.used, self.quotients = rng, 0, 0

    def size(self, others: int) -> int:
        return size if others * (size := self.rng.choice((1, 1, 2, 2, 3))) <= LARGEST else 1

    def fresh(self, sign: str | None) -> Value:
        return fmpq(self.rng.choice(CHOICES[sign]))

    def inverse(self, value: Value) -> Value:
        self.quotients += 1
        if value == 0:
            raise Rejected("reciprocal of zero")
        return 1 / fmpq(value)

    def is_zero(self, value: Value) -> bool:
        return value == 0


class LargeRationals(SmallIntegers):
    """Random 63-bit rationals: what holds here is almost surely an identity (Schwartz-Zippel)."""

    def size(self, others: int) -> int:
        return 1

    def fresh(self, sign: str | None) -> Value:
        self.used += 1
        value = fmpq(self.rng.getrandbits(63) + 1, self.rng.getrandbits(63) + 1)
        return value if sign or self.rng.random() < 0.5 else -value


class Nothing(SmallIntegers):
    """No entries but those given: for witnesses, which leave nothing open."""

    def fresh(self, sign: str | None) -> Value:
        raise Rejected("the witness leaves an entry undetermined")


class Generators(SmallIntegers):
    """Free symbols, of which `count` can be had, reciprocals included."""

    def __init__(self, count: int) -> None:
        super().__init__(Random(0))
        self.context = fmpq_mpoly_ctx.get([f"t{k}" for k in range(count)], Ordering.lex)
        self.named: dict[str, tuple[int, fmpq_mpoly]] = {}

    def fresh(self, sign: str | None) -> Value:
        self.used += 1
        return self.context.gen(self.used - 1)

    def inverse(self, value: Value) -> Value:
        if self.is_zero(value) or not isinstance(value, fmpq_mpoly):
            return super().inverse(0 if isinstance(value, fmpq_mpoly) else value)
        if str(value) not in self.named:
            self.fresh(None)
            self.named[str(value)] = self.used - 1, value
        return self.context.gen(self.named[str(value)][0])

    def is_zero(self, value: Value) -> bool:
        """Whether the value vanishes once every 1/q is cleared, the latest first."""
        for position, q in reversed(self.named.values()):
            if not isinstance(value, fmpq_mpoly) or value == 0:
                break
            if not value.degrees()[position]:
                continue
            parts: dict[int, dict[tuple[int, ...], fmpq]] = {}
            for exponents, coefficient in value.to_dict().items():
                bare = (*exponents[:position], 0, *exponents[position + 1 :])
                parts.setdefault(exponents[position], {})[bare] = coefficient
            top = max(parts)
            cleared = (self.context.from_dict(c) * q ** (top - power) for power, c in parts.items())
            value = sum(cleared, start=self.context.from_dict({}))
        return value == 0


class Draw:
    """One exact instance: sizes and entries, made on demand unless given.

    Assumptions fill the arrays they constrain, in order; what they leave open comes from the
    source with its sign; defined entries are computed, and are arbitrary where over = value = 0.
    """

    def __init__(
        self, source: SmallIntegers, given: Sequence[Assumption | Definition],
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        self.source, self.sizes = source, dict(sizes or {})
        self.entries: dict[tuple[str, tuple[int, ...]], Value] = {}
        self.notes: list[str] = []
        self.definitions = {item.id: item for item in given if isinstance(item, Definition)}
        self.assumptions = [item for item in given if isinstance(item, Assumption)]
        strength = list(CHOICES)
        pairs = [(a.name, sign) for item in self.assumptions for a, sign in item.signs]
        self.signs = dict(sorted(pairs, key=lambda pair: strength.index(pair[1])))
        for assumption in self.assumptions:
            if assumption.impose:
                assumption.impose(self)

    def size(self, dimension: Expr | str) -> int:
        name = getattr(dimension, "name", None) or str(dimension)
        if (size := self.sizes.get(name)) is None:
            if name.isdigit():
                return int(name)
            self.sizes[name] = size = self.source.size(prod(self.sizes.values()))
        return size

    def shape(self, array: IndexedBase) -> tuple[int, ...]:
        """The sizes of the array's axes in this instance."""
        return tuple(self.size(size) for size in array.shape)

    def cells(self, array: IndexedBase, axes: int | None = None) -> Iterator[tuple[int, ...]]:
        """All 1-based index tuples of the array, or of its first `axes` axes."""
        return product(*(range(1, size + 1) for size in self.shape(array)[:axes]))

    def get(self, name: str, index: tuple[int, ...]) -> Value:
        """An entry: given, chosen by an assumption, defined, or fresh."""
        if (value := self.entries.get((name, index))) is None:
            definition, sign = self.definitions.get(name), self.signs.get(name)
            value = self._defined(definition, index) if definition else self.source.fresh(sign)
            self.entries[name, index] = value
        return value

    def put(self, array: IndexedBase, index: tuple[int, ...], value: Value) -> None:
        """Choose an entry; Rejected if it is defined or was used before."""
        if array.name in self.definitions or (array.name, index) in self.entries:
            raise Rejected(f"{array} is defined, used or filled: only one construction can fill it")
        self.entries[array.name, index] = value

    def _defined(self, definition: Definition, index: tuple[int, ...]) -> Value:
        environment = dict(zip(getattr(definition.entry, "indices", ()), index, strict=True))
        value = evaluate(definition.value, self, environment)
        if definition.over == 1:
            return value
        over = evaluate(definition.over, self, environment)
        if self.source.is_zero(over):
            if not self.source.is_zero(value):
                self.notes.append(f"no {definition.id}{list(index)} has 0 times it = {value}")
            return self.source.fresh(None)
        return value * self.source.inverse(over)

    def redefined(self, given: Sequence[Assumption | Definition]) -> Draw:
        """The same free entries under other definitions."""
        other = Draw(self.source, [item for item in given if isinstance(item, Definition)])
        other.sizes, other.signs = self.sizes, self.signs
        defined = self.definitions.keys() | other.definitions.keys()
        other.entries = {key: v for key, v in self.entries.items() if key[0] not in defined}
        return other


def evaluate(expr: Expr, draw: Draw, environment: Environment) -> Value:
    """The value of an expression at given index values."""
    function, free = _compiled(expr)
    return function(draw.get, draw.size, *[environment[index] for index in free])


@cache
def _compiled(expr: Expr) -> tuple[Callable[..., Value], list[Symbol]]:
    """The expression as a Python function of its free indices, and these.

    The function's text has no names but those below: constants and labels stand in a table.
    """
    names: dict[Any, str] = {}
    text = _text(expr, lambda kind, value: names.setdefault((kind, value), f"{kind}{len(names)}"))
    table = {name: value for (kind, value), name in names.items() if kind == "c"}
    found = [symbol for kind, symbol in names if kind == "i" and symbol in expr.free_symbols]
    arguments = ", ".join(["get", "size", *(names["i", symbol] for symbol in found)])
    return eval(f"lambda {arguments}: {text}", {"fmpq": fmpq, "whole": _whole} | table), found


def _text(expr: Expr, name: Callable[[str, Any], str]) -> str:
    match expr:
        case Rational(p=p, q=q):
            return name("c", int(p)) if q == 1 else name("c", fmpq(int(p), int(q)))
        case Symbol(is_integer=True):
            return f"size({name('c', expr.name)})"
        case Symbol():
            return f"get({name('c', expr.name)}, ())"
        case Indexed(base=base, indices=indices):
            cell = "".join(f"{name('i', index)}, " for index in indices)
            return f"get({name('c', base.name)}, ({cell}))"
        case KroneckerDelta(args=(a, b)):
            return f"int({name('i', a)} == {name('i', b)})"
        case Pow(base=base, exp=exponent) if not (exponent.is_Integer and exponent > 0):
            return f"fmpq({_text(base, name)}) ** whole({_text(exponent, name)})"
        case Pow(base=base, exp=exponent):
            return f"({_text(base, name)}) ** {int(exponent)}"
        case Sum(function=function, limits=limits):
            loops = [f"for {name('i', index)} in range(1, size({name('c', str(top))}) + 1)"
                     for index, _, top in limits[::-1]]
            return f"sum({_text(function, name)} {' '.join(loops)})"
        case Add() | Mul():
            sign = " + " if isinstance(expr, Add) else " * "
            return f"({sign.join(_text(part, name) for part in expr.args)})"
    raise TypeError(f"cannot evaluate {type(expr).__name__} {expr}")


def _whole(exponent: Value) -> int:
    if (exact := fmpq(exponent)).q != 1:
        raise Rejected(f"the exponent {exponent} is not whole")
    return int(exact.p)


def rank(rows: Iterable[Iterable[Any]]) -> int:
    """The rank over Q of a matrix of integers or rationals (python-flint, exact)."""
    return fmpq_mat([[fmpq(entry) for entry in row] for row in rows]).rank()


def determinant(rows: Iterable[Iterable[Any]]) -> fmpq:
    """The determinant over Q of a square matrix of integers or rationals (python-flint, exact)."""
    return fmpq_mat([[fmpq(entry) for entry in row] for row in rows]).det()


def times(left: Rows, right: Rows) -> Rows:
    """The matrix product."""
    columns = list(zip(*right, strict=True))
    return [[sum(x * y for x, y in zip(row, c, strict=True)) for c in columns] for row in left]
