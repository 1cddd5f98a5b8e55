"""Statements on exact instances: where they fail, and searches for such instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod
from random import Random
from typing import Any

from flint import fmpq
from sympy import Symbol

from theorems.exact import (
    Draw,
    Generators,
    LargeRationals,
    Nothing,
    Rejected,
    SmallIntegers,
    environments,
    evaluate,
    rank,
)
from theorems.statement import (
    Assumption,
    Bound,
    Definition,
    Equation,
    Iff,
    Matrix,
    RankBound,
    Rule,
    Step,
    Witness,
)
from theorems.sums import free_indices
from theorems.world import TRUE, World, dimensions, identity

SIZES = (1, 2, 3)
LARGEST, RECIPROCALS = 36, 9  # entries per try of a search, quotients per symbolic instance


def differences(equation: Equation, draw: Draw, names: Mapping[str, str]) -> Iterator[str]:
    """Where, and by how much, an equation fails on an exact instance."""
    for environment in environments(_ranges(equation, tuple(names.items())), draw):
        left, right = (evaluate(side, draw, environment) for side in equation)
        if not draw.source.is_zero(left - right):
            where = ", ".join(f"{i}={v}" for i, v in environment.items())
            yield f"at {where}: {left} != {right}"


@cache
def _ranges(equation: Equation, names: tuple[tuple[str, str], ...]) -> dict[Symbol, str]:
    return free_indices(*equation, identify=dict(names))


def broken(assumption: Assumption, draw: Draw, names: Mapping[str, str]) -> str | None:
    """How an exact instance breaks an assumption, or None."""
    for equation in assumption.rules:
        for difference in differences(equation, draw, names):
            return f"{assumption.id} fails {difference}"
    for array, wanted in assumption.signs:
        for (name, index), value in draw.entries.items():
            wrong = (value == 0 and wanted != ">=0") or (value < 0 and wanted != "!=0")
            if name == array and wrong:
                return f"{assumption.id} fails: {name}{list(index)} = {value}"
    return None


def violation(rule: Rule, draw: Draw, names: Mapping[str, str]) -> str | None:
    """How an exact instance violates a rule's statement, or None."""
    if isinstance(rule, Step):
        return next(differences(identity(rule), draw, names), None)
    if isinstance(rule, Iff):
        left, right = (next(differences(e, draw, names), None) for e in (rule.left, rule.right))
        return None if (left is None) == (right is None) else f"left: {left}; right: {right}"
    if isinstance(rule, RankBound):
        small, large = (rank(_matrix(matrix, draw)) for matrix in (rule.small, rule.large))
        return None if small <= large else f"rank {small} > rank {large}"
    assert isinstance(rule, Bound)
    for environment in environments(_ranges((rule.small, rule.large), tuple(names.items())), draw):
        small, large = (evaluate(side, draw, environment) for side in (rule.small, rule.large))
        if small > large or (rule.strict and small == large):
            return f"at {environment}: {small} against {large}"
    return None


def _matrix(matrix: Matrix, draw: Draw) -> list[list[Any]]:
    entry, (i, n), (j, m) = matrix
    rows, columns = (range(1, evaluate(size, draw, {}) + 1) for size in (n, m))
    return [[evaluate(entry, draw, {i: r, j: c}) for c in columns] for r in rows]


def witness_faults(rule: Witness, world: World) -> list[str]:
    """What a witness fails to show: an equation, an assumption, or a claimed difference."""
    given = world.given(rule)
    draw = Draw(Nothing(Random(0)), {}, [g for g in given if isinstance(g, Definition)])
    for array, entries in rule.values.items():
        for cell, entry in _cells(entries):
            draw.put(array, cell, fmpq(entry))
            draw.sizes |= {str(size): k for size, k in zip(array.shape, cell, strict=True)}
    faults = [next(differences(e, draw, {}), None) for e in rule.holds]
    faults += [broken(item, draw, {}) for item in given if isinstance(item, Assumption)]
    faults += [f"{a} = {b}" for a, b in rule.fails if not any(differences((a, b), draw, {}))]
    faults += [] if rule.holds or rule.fails else ["it claims nothing"]
    return [fault for fault in faults if fault]


def _cells(entries: Any, cell: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    if not isinstance(entries, list):
        yield cell, entries
        return
    for position, inner in enumerate(entries, start=1):
        yield from _cells(inner, (*cell, position))


@dataclass
class Search:
    """What a search over small integers found: a counterexample, or how many instances agreed."""

    valid: int = 0
    draw: Draw | None = None
    message: str = ""

    def __str__(self) -> str:
        assert self.draw is not None
        sizes = ", ".join(f"{name}={size}" for name, size in self.draw.sizes.items())
        free = {k: v for k, v in self.draw.entries.items() if k[0] not in self.draw.definitions}
        entries = ", ".join(f"{name}{list(i) or ''}={v}" for (name, i), v in sorted(free.items()))
        return f"{sizes}; {entries}; {self.message}"


def search(rule: Rule, world: World, rng: Random, tries: int) -> Search:
    """Look for an exact instance within the assumptions on which the rule's statement is false."""
    found, given, names = Search(), world.given(rule), world.names()
    names_of = dimensions(rule, world)
    for _ in range(tries):
        sizes = {name: rng.choice((1, 1, 2, 2, 3)) for name in names_of}
        while prod(sizes.values()) > LARGEST:
            sizes[rng.choice(names_of)] = 1
        sizes |= {a: sizes.setdefault(b, 2) for a, b in names.items()}
        try:
            draw = Draw(SmallIntegers(rng), sizes, given)
            message = violation(rule, draw, names)
            outside = any(broken(a, draw, names) for a in draw.assumptions)
        except Rejected:
            continue
        found.valid += not outside
        if message and not outside:
            return Search(found.valid, draw, message)
    return found


def shapes(names: list[str]) -> list[dict[str, int]]:
    """All sizes in {1, 2, 3} of up to three dimensions; of more, 27 that cover all pairs."""
    if len(names) <= 3:
        return [dict(zip(names, sizes, strict=True)) for sizes in product(SIZES, repeat=len(names))]
    directions = [c for c in product((1, 0, 2), range(3), range(3)) if c[0] == 1 or c[:2] == (0, 1)]
    columns = list(zip(names, directions[: len(names)], strict=True))
    return [
        {name: 1 + sum(x * y for x, y in zip(point, c, strict=True)) % 3 for name, c in columns}
        for point in product(range(3), repeat=3)
    ]


def instances(rule: Rule) -> tuple[int, int, str | None]:
    """Check a rule's identity at explicit sizes: how many with free symbols, how many (with more
    quotients) on 63-bit rationals, and what differs."""
    symbolic, rational, given = 0, 0, TRUE.given(rule)
    for sizes in shapes(dimensions(rule, TRUE)):
        source = LargeRationals(Random(0))
        try:
            difference = next(differences(identity(rule), Draw(source, sizes, given), {}), None)
        except Rejected:
            continue
        rational += 1
        if difference is None and source.reciprocals <= RECIPROCALS:
            draw = Draw(Generators(max(1, source.used)), sizes, given)
            difference = next(differences(identity(rule), draw, {}), None)
            symbolic, rational = symbolic + 1, rational - 1
        if difference:
            return symbolic, rational, f"at sizes {sizes} {difference}"
    return symbolic, rational, None if symbolic else "no exact instance can be built"
