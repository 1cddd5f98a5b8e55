"""Exact instances: the sides of a statement evaluated on rationals or on free symbols.

A `Draw` is one choice of sizes and of array entries. Its source says what an unconstrained entry
is: a generator of a polynomial ring, a 63-bit rational, or a small integer. Quotients 1/q are
fresh generators with q * (1/q) = 1, cleared once at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import Any

from flint import Ordering, fmpq, fmpq_mat, fmpq_mpoly, fmpq_mpoly_ctx
from sympy import Add, Expr, Indexed, IndexedBase, KroneckerDelta, Mul, Pow, Rational, Sum, Symbol

from theorems.statement import Assumption, Definition

Value = Any
Environment = dict[Symbol, int]


class Rejected(ValueError):
    """The draw has no instance, for example because a reciprocal of zero is asked for."""


class SmallIntegers:
    """Small integers, zeros and signs often: where counterexamples live."""

    symbolic = False

    def __init__(self, rng: Random) -> None:
        self.rng, self.used, self.reciprocals = rng, 0, 0

    def fresh(self, sign: str | None) -> Value:
        choices = {">0": (1, 1, 2, 3), ">=0": (0, 0, 1, 1, 2, 3), "!=0": (-2, -1, -1, 1, 1, 2, 3)}
        return fmpq(self.rng.choice(choices.get(sign or "", (-2, -1, -1, 0, 0, 1, 1, 2, 3))))

    def inverse(self, value: Value) -> Value:
        self.used, self.reciprocals = self.used + 1, self.reciprocals + 1
        if value == 0:
            raise Rejected("reciprocal of zero")
        return 1 / fmpq(value)

    def is_zero(self, value: Value) -> bool:
        return value == 0


class LargeRationals(SmallIntegers):
    """Random 63-bit rationals: what holds here is almost surely an identity (Schwartz-Zippel)."""

    def fresh(self, sign: str | None) -> Value:
        self.used += 1
        value = fmpq(self.rng.getrandbits(63) + 1, self.rng.getrandbits(63) + 1)
        return value if sign or self.rng.random() < 0.5 else -value


class Nothing(SmallIntegers):
    """No entries but those given: for witnesses, which leave nothing open."""

    def fresh(self, sign: str | None) -> Value:
        raise Rejected("the witness leaves an entry undetermined")


class Generators:
    """Free symbols, of which `size` can be had, reciprocals included."""

    symbolic = True

    def __init__(self, size: int) -> None:
        self.context = fmpq_mpoly_ctx.get([f"t{k}" for k in range(size)], Ordering.lex)
        self.generators = self.context.gens()
        self.used = 0
        self.reciprocals: list[tuple[int, fmpq_mpoly]] = []
        self._cache: dict[str, Value] = {}

    def fresh(self, sign: str | None) -> Value:
        self.used += 1
        return self.generators[self.used - 1]

    def inverse(self, value: Value) -> Value:
        if self.is_zero(value):
            raise Rejected("reciprocal of zero")
        if not isinstance(value, fmpq_mpoly):
            return 1 / fmpq(value)
        if (key := str(value)) not in self._cache:
            self._cache[key] = self.fresh(None)
            self.reciprocals.append((self.used - 1, value))
        return self._cache[key]

    def is_zero(self, value: Value) -> bool:
        """Whether the value vanishes once every 1/q is cleared, the latest first."""
        for position, q in reversed(self.reciprocals):
            if not isinstance(value, fmpq_mpoly) or value == 0:
                break
            parts: dict[int, dict[tuple[int, ...], fmpq]] = {}
            for exponents, coefficient in value.to_dict().items():
                bare = (*exponents[:position], 0, *exponents[position + 1 :])
                parts.setdefault(exponents[position], {})[bare] = coefficient
            top = max(parts)
            cleared = (self.context.from_dict(c) * q ** (top - power) for power, c in parts.items())
            value = sum(cleared, start=self.context.from_dict({}))
        return value == 0


Source = SmallIntegers | Generators


class Draw:
    """One exact instance: sizes of the dimensions, and entries made on demand.

    Assumptions fill the arrays they constrain, in order; what they leave open comes from the
    source with its sign; defined entries are computed, and are arbitrary where over = value = 0.
    """

    def __init__(
        self, source: Source, sizes: Mapping[str, int], given: Sequence[Assumption | Definition]
    ) -> None:
        self.source, self.sizes = source, dict(sizes)
        self.entries: dict[tuple[str, tuple[int, ...]], Value] = {}
        self.definitions = {item.id: item for item in given if isinstance(item, Definition)}
        self.assumptions = [item for item in given if isinstance(item, Assumption)]
        self.signs: dict[str, str] = {}
        for assumption in self.assumptions:
            for name, sign in assumption.signs:
                self.signs[name] = ">0" if self.signs.get(name) == ">0" else sign
        for assumption in self.assumptions:
            if assumption.impose:
                assumption.impose(self)

    def shape(self, array: IndexedBase) -> tuple[int, ...]:
        return tuple(self.sizes[str(s)] if isinstance(s, Symbol) else int(s) for s in array.shape)

    def cells(self, array: IndexedBase, axes: int | None = None) -> Iterator[tuple[int, ...]]:
        """All 1-based index tuples of the array, or of its first `axes` axes."""
        return product(*(range(1, size + 1) for size in self.shape(array)[:axes]))

    def fresh(self, array: IndexedBase) -> Value:
        return self.source.fresh(self.signs.get(str(array.label)))

    def get(self, name: str, index: tuple[int, ...]) -> Value:
        if (key := (name, index)) not in self.entries:
            if (definition := self.definitions.get(name)) is not None:
                self.entries[key] = self._defined(definition, index)
            else:
                self.entries[key] = self.source.fresh(self.signs.get(name))
        return self.entries[key]

    def put(self, array: IndexedBase, index: tuple[int, ...], value: Value) -> None:
        if str(array.label) in self.definitions:
            raise Rejected(f"{array} is defined, so no assumption can choose it")
        self.entries[str(array.label), index] = value

    def _defined(self, definition: Definition, index: tuple[int, ...]) -> Value:
        symbols = getattr(definition.entry, "indices", ())
        environment = dict(zip(symbols, index, strict=True))
        value = evaluate(definition.value, self, environment)
        if definition.over == 1:
            return value
        over = evaluate(definition.over, self, environment)
        if self.source.is_zero(over):
            return self.source.fresh(None)
        return value * self.source.inverse(over)

    def redefined(self, given: Sequence[Assumption | Definition]) -> Draw:
        """The same free entries under other definitions."""
        other = Draw(self.source, self.sizes, [d for d in given if isinstance(d, Definition)])
        other.signs = self.signs
        other.entries = {
            key: value for key, value in self.entries.items()
            if key[0] not in self.definitions and key[0] not in other.definitions
        }  # fmt: skip
        return other


def evaluate(expr: Expr, draw: Draw, environment: Environment) -> Value:
    """The value of an expression at given index values."""
    return _compiled(expr)(draw, environment)


@cache
def _compiled(expr: Expr) -> Callable[[Draw, Environment], Value]:
    if isinstance(expr, Rational):
        constant = int(expr.p) if expr.q == 1 else fmpq(int(expr.p), int(expr.q))
        return lambda draw, environment: constant
    if isinstance(expr, Symbol):
        name = expr.name
        return lambda draw, environment: draw.sizes.get(name) or draw.get(name, ())
    if isinstance(expr, Indexed):
        name, indices = str(expr.base.label), expr.indices
        return lambda draw, env: draw.get(name, tuple([env[i] for i in indices]))
    if isinstance(expr, KroneckerDelta):
        a, b = expr.args
        return lambda draw, environment: int(environment[a] == environment[b])
    if isinstance(expr, Pow):
        base, exponent = _compiled(expr.base), int(expr.exp)
        return lambda draw, environment: base(draw, environment) ** exponent
    if isinstance(expr, Sum):
        return _compiled_sum(expr)
    parts = [_compiled(part) for part in expr.args]
    if isinstance(expr, Add):
        return lambda draw, environment: sum(part(draw, environment) for part in parts)
    if isinstance(expr, Mul):
        return lambda draw, environment: _product(parts, draw, environment)
    raise TypeError(f"cannot evaluate {type(expr).__name__} {expr}")


def _product(parts: list[Callable], draw: Draw, environment: Environment) -> Value:
    value = 1
    for part in parts:
        value = value * part(draw, environment)
        if isinstance(value, int | fmpq) and value == 0:
            return 0
    return value


def _compiled_sum(expr: Sum) -> Callable[[Draw, Environment], Value]:
    body = _compiled(expr.function)
    variables = [limit[0] for limit in expr.limits]
    sizes = [_compiled(limit[2]) for limit in expr.limits]

    def value(draw: Draw, environment: Environment) -> Value:
        inner, total = dict(environment), 0
        for choice in product(*(range(1, size(draw, environment) + 1) for size in sizes)):
            inner.update(zip(variables, choice, strict=True))
            total = total + body(draw, inner)
        return total

    return value


def environments(ranges: Mapping[Symbol, str], draw: Draw) -> Iterator[Environment]:
    """All values of the free indices whose ranges are given by name (or literal size)."""
    sizes = [draw.sizes[r] if r in draw.sizes else int(r) for r in ranges.values()]
    for choice in product(*(range(1, size + 1) for size in sizes)):
        yield dict(zip(ranges, choice, strict=True))


def rank(rows: Iterable[Iterable[Any]]) -> int:
    """The rank over Q of a matrix of integers or rationals (python-flint, exact)."""
    return fmpq_mat([[fmpq(entry) for entry in row] for row in rows]).rank()


def determinant(rows: Iterable[Iterable[Any]]) -> fmpq:
    """The determinant over Q of a square matrix of integers or rationals (python-flint, exact)."""
    return fmpq_mat([[fmpq(entry) for entry in row] for row in rows]).det()
