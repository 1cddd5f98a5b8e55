"""The normal form of finite sums: expressions with one normal form are equal at every size.

A term is a rational coefficient, a bag of atoms (array entries and numbers) and a set of bound
indices. Free indices are strings and bound ones are integers, so no name can be captured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count, groupby, permutations, product
from math import factorial, prod
from typing import NamedTuple

from sympy import Add, Expr, Indexed, Integer, KroneckerDelta, Mul, Pow, Rational, Sum, Symbol

from theorems.statement import Equation

Index = str | int
Atom = tuple[str, tuple[Index, ...]]
NormalForm = dict[tuple, Rational]
DELTA = "KroneckerDelta()"
REWRITES, RELABELLINGS = 2_000, 5_040


class Refused(ValueError):
    """The expression is outside the language of finite sums, or is used inconsistently."""


class Undecided(RuntimeError):
    """A cap was reached before the normal form was."""


class Term(NamedTuple):
    coefficient: Rational
    atoms: tuple[Atom, ...]
    bound: frozenset[int]


Rewrite = tuple[Term, list[Term]]  # a product, and the sum that replaces it


def is_size(size: Expr) -> bool:
    """Whether an expression is a positive whole number, or a symbol for one."""
    return isinstance(size, Integer | Symbol) and bool(size.is_integer and size.is_positive)


class Reader:
    """Reads expressions into terms; each index has one range and each name one meaning."""

    def __init__(self, rule: Reader | None = None) -> None:
        self.free: dict[str, Symbol] = {}
        self.ranges: dict[Index, str] = rule.ranges if rule else {}
        self._fresh = rule._fresh if rule else count()
        self._suffix = f" of rule {next(self._fresh)}" if rule else ""
        self._symbols: dict[str, Symbol] = rule._symbols if rule else {}
        self._shapes: dict[str, tuple[str, ...]] = rule._shapes if rule else {DELTA: ()}
        self._numbers: set[str] = rule._numbers if rule else set()

    def read(self, expr: Expr, scope: Mapping[Symbol, int] | None = None) -> list[Term]:
        scope = scope or {}
        if isinstance(expr, Rational):
            return [Term(expr, (), frozenset())]
        if isinstance(expr, Symbol):
            if expr in scope:
                raise Refused(f"index {expr} is used as a number")
            return [Term(Integer(1), ((self._dimension(expr), ()),), frozenset())]
        if isinstance(expr, Add):
            return [term for part in expr.args for term in self.read(part, scope)]
        if isinstance(expr, Mul):
            return _times([self.read(part, scope) for part in expr.args])
        if isinstance(expr, Pow):
            if not (isinstance(expr.exp, Integer) and expr.exp > 0):
                raise Refused(f"{expr} is no polynomial; name the quotient by a Definition")
            return _times([self.read(expr.base, scope) for _ in range(int(expr.exp))])
        if isinstance(expr, Sum):
            return self._sum(expr, scope)
        if isinstance(expr, Indexed):
            return [Term(Integer(1), (self._entry(expr, scope),), frozenset())]
        if isinstance(expr, KroneckerDelta):
            pair = tuple(self._index(arg, scope) for arg in expr.args)
            return [Term(Integer(1), ((DELTA, pair),), frozenset())]
        raise Refused(f"{type(expr).__name__} {expr} is no finite sum of products of entries")

    def _sum(self, expr: Sum, scope: Mapping[Symbol, int]) -> list[Term]:
        inner, bound = dict(scope), set()
        for variable, low, high in reversed(expr.limits):
            whole = is_size(high)
            if low != 1 or not whole or high in inner:
                raise Refused(f"sum over {variable} from {low} to {high}: whole ranges 1..n only")
            self._name(variable)
            inner[variable] = fresh = next(self._fresh)
            self.ranges[fresh] = self._dimension(high)
            bound.add(fresh)
        terms = self.read(expr.function, inner)
        return [Term(t.coefficient, t.atoms, t.bound | bound) for t in terms]

    def _entry(self, expr: Indexed, scope: Mapping[Symbol, int]) -> Atom:
        name, shape = expr.base.name, expr.base.shape
        if shape is None or len(shape) != len(expr.indices):
            raise Refused(f"{expr} does not fit the declared shape {shape}")
        if not all(is_size(size) for size in shape):
            raise Refused(f"{name} has shape {shape}: positive whole sizes only")
        sizes = tuple(self._dimension(size) for size in shape)
        if self._shapes.setdefault(name, sizes) != sizes or name in self._symbols:
            raise Refused(f"two objects are called {name}")
        indices = tuple(self._index(arg, scope) for arg in expr.indices)
        for position, (index, size) in enumerate(zip(indices, sizes, strict=True), start=1):
            if (known := self.ranges.setdefault(index, size)) != size:
                raise Refused(f"{expr}: index {position} has range {known}, expected {size}")
        return name, indices

    def _index(self, symbol: Expr, scope: Mapping[Symbol, int]) -> Index:
        if not isinstance(symbol, Symbol):
            raise Refused(f"index {symbol} is not a plain symbol")
        if symbol in scope:
            return scope[symbol]
        self._name(symbol)
        if symbol.name in self._numbers:
            raise Refused(f"index {symbol} is used as a number")
        self.free[symbol.name + self._suffix] = symbol
        return symbol.name + self._suffix

    def _name(self, symbol: Symbol) -> None:
        if self._symbols.setdefault(symbol.name, symbol) != symbol or symbol.name in self._shapes:
            raise Refused(f"two objects are called {symbol.name}")

    def _dimension(self, size: Expr) -> str:
        name = size.name if isinstance(size, Symbol) else str(size)
        if any(symbol.name == name for symbol in self.free.values()):
            raise Refused(f"index {size} is used as a number")
        if isinstance(size, Symbol):
            self._name(size)
        self._numbers.add(name)
        return name

    def instantiate(self, terms: Iterable[Term], images: Mapping[Index, Index]) -> Iterator[Term]:
        """The terms with free indices replaced by their images and bound ones made fresh."""
        for term in terms:
            fresh = {old: next(self._fresh) for old in term.bound}
            self.ranges |= {new: self.ranges[old] for old, new in fresh.items()}
            image = {**images, **fresh}
            atoms = tuple((name, tuple(image[i] for i in ind)) for name, ind in term.atoms)
            yield Term(term.coefficient, atoms, frozenset(fresh.values()))


def _times(parts: Sequence[list[Term]]) -> list[Term]:
    return [
        Term(
            prod((term.coefficient for term in choice), start=Integer(1)),
            tuple(atom for term in choice for atom in term.atoms),
            frozenset(index for term in choice for index in term.bound),
        )
        for choice in product(*parts)
    ]


def contract(term: Term, reader: Reader) -> Term:
    """The term without deltas on bound indices, and with unused bound indices counted."""
    atoms, bound, coefficient, kept = list(term.atoms), set(term.bound), term.coefficient, []
    while deltas := [atom for atom in atoms if atom[0] == DELTA]:
        atoms.remove(deltas[0])
        a, b = sorted(deltas[0][1], key=lambda index: (index in bound, str(index)))
        known = reader.ranges.get(a) or reader.ranges.get(b)
        if known is None or {reader.ranges.setdefault(i, known) for i in (a, b)} != {known}:
            raise Refused(f"Kronecker delta of {a} and {b}: their ranges must be known and equal")
        if a != b:
            atoms, kept = _substitute(atoms, b, a), _substitute(kept, b, a)
            kept += [] if b in bound else [(DELTA, (a, b))]
            bound.discard(b)
    used = {index for _, indices in [*atoms, *kept] for index in indices}
    for index in bound - used:
        if (size := reader.ranges[index]).isdigit():
            coefficient *= Integer(int(size))
        else:
            atoms.append((size, ()))
    return Term(coefficient, tuple(atoms + kept), frozenset(bound & used))


def _substitute(atoms: Iterable[Atom], old: Index, new: Index) -> list[Atom]:
    return [(name, tuple(new if i == old else i for i in indices)) for name, indices in atoms]


def compile_rule(equation: Equation, reader: Reader) -> Rewrite:
    pattern = [contract(term, reader) for term in reader.read(equation[0])]
    if len(pattern) != 1 or pattern[0].coefficient != 1 or not pattern[0].atoms:
        raise Refused(f"{equation[0]} is not one product, so it cannot be rewritten")
    known = {index for _, indices in pattern[0].atoms for index in indices}
    result = reader.read(equation[1])
    stray = {i for t in result for _, ind in t.atoms for i in ind if i not in known | t.bound}
    if stray or any(name == DELTA for name, _ in pattern[0].atoms):
        raise Refused(f"{equation[0]} does not determine {equation[1]} as a rule")
    return pattern[0], result


def _matches(
    pattern: Sequence[Atom], atoms: tuple[Atom, ...], images: dict[Index, Index]
) -> Iterator[tuple[dict[Index, Index], tuple[Atom, ...]]]:
    if not pattern:
        yield images, atoms
        return
    (name, indices), rest = pattern[0], pattern[1:]
    for position, (other, targets) in enumerate(atoms):
        extended = dict(images)
        if other == name and all(
            extended.setdefault(i, t) == t for i, t in zip(indices, targets, strict=True)
        ):
            yield from _matches(rest, atoms[:position] + atoms[position + 1 :], extended)


def apply(rule: Rewrite, term: Term, reader: Reader) -> list[Term] | None:
    """The term with one occurrence of the rule's product replaced, or None without one.

    The rule's free indices match any index, its bound ones a bound index that occurs nowhere else.
    """
    pattern, result = rule
    for images, rest in _matches(pattern.atoms, term.atoms, {}):
        summed = {images[i] for i in pattern.bound}
        outside = {index for _, indices in rest for index in indices}
        outside |= {target for i, target in images.items() if i not in pattern.bound}
        if len(summed) == len(pattern.bound) and summed <= term.bound and not summed & outside:
            kept, factor = term.bound - summed, term.coefficient
            return [
                Term(factor * t.coefficient, rest + t.atoms, kept | t.bound)
                for t in reader.instantiate(result, images)
            ]
    return None


def canonical(term: Term, reader: Reader) -> tuple:
    """The least naming of the bound indices; only those with the same places are interchanged."""

    def places(b: int) -> tuple:
        uses = [(name, [i == b for i in ind]) for name, ind in term.atoms if b in ind]
        return reader.ranges[b], sorted(uses)

    groups = [list(group) for _, group in groupby(sorted(term.bound, key=places), key=places)]
    if prod(factorial(len(group)) for group in groups) > RELABELLINGS:
        raise Undecided(f"{len(term.bound)} interchangeable bound indices")
    keys = []
    for choice in product(*(permutations(group) for group in groups)):
        rank = {b: r for r, b in enumerate(b for group in choice for b in group)}
        keys.append(sorted(
            (name, tuple((1, rank[i]) if i in rank else (0, i) for i in indices))
            for name, indices in term.atoms
        ))
    return tuple(min(keys)), tuple(reader.ranges[b] for group in groups for b in group)


def normal_form(
    expr: Expr, rules: Sequence[Equation] = (), ranges: Mapping[Symbol, str] | None = None
) -> NormalForm:
    """Canonical monomials and their coefficients after rewriting, earlier rules first; `ranges` of
    free indices where the expression alone does not show them."""
    reader = Reader()
    reader.ranges |= {symbol.name: size for symbol, size in (ranges or {}).items()}
    waiting = reader.read(expr)
    compiled = [compile_rule(rule, Reader(rule=reader)) for rule in rules]
    form: NormalForm = {}
    for _ in range(REWRITES):
        if not waiting:
            return {key: value for key, value in form.items() if value != 0}
        term = contract(waiting.pop(), reader)
        tries = (apply(rule, term, reader) for rule in compiled)
        replaced = next((result for result in tries if result is not None), None)
        if replaced is None:
            key = canonical(term, reader)
            form[key] = form.get(key, Integer(0)) + term.coefficient
        else:
            waiting.extend(replaced)
    raise Undecided(f"no normal form after {REWRITES} rewrites of {expr}")


def subtract(left: NormalForm, right: NormalForm) -> NormalForm:
    return {k: c for k in left | right if (c := left.get(k, Integer(0)) - right.get(k, Integer(0)))}


@cache
def free_indices(*sides: Expr) -> dict[Symbol, str]:
    """The free index symbols of the expressions with the names of their ranges."""
    reader = Reader()
    for term in [term for side in sides for term in reader.read(side)]:
        contract(term, reader)
    return {symbol: reader.ranges[name] for name, symbol in reader.free.items()}
