"""Statements on exact instances: where they fail, and searches for such instances."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from itertools import product
from math import prod
from operator import le, lt, ne
from random import Random

from flint import fmpq
from theorems.checker.determinants import Blocks, Determinant
from theorems.checker.exact import Draw, Environment, Generators, LargeRationals, Nothing
from theorems.checker.exact import Rejected, SmallIntegers, Value, determinant, evaluate, rank
from theorems.checker.exact import times
from theorems.statement import Assumption, Bound, Definition, Equation, Iff, RankBound
from theorems.rules import Induction, Logarithm, Vanishing
from theorems.statement import Rule, Witness
from theorems.checker.sums import free_indices
from theorems.checker.wellformed import axes, cells, witness_sizes
from theorems.checker.world import TRUE, World, identity

SIGNS: dict[str, Callable] = {">0": partial(lt, 0), ">=0": partial(le, 0), "!=0": partial(ne, 0)}
QUOTIENTS = 9  # of a symbolic instance; with more it is checked on 63-bit rationals


def failures(sides: Equation, draw: Draw, holds: Callable[[Value, Value], bool]) -> Iterator[str]:
    """Where a relation between two sides fails on an exact instance, and by which values."""
    ranges = free_indices(*sides)
    for choice in product(*(range(1, draw.size(size) + 1) for size in ranges.values())):
        environment: Environment = dict(zip(ranges, choice, strict=True))
        left, right = (evaluate(side, draw, environment) for side in sides)
        if not holds(left, right):
            yield f"at {environment}: {left} against {right}"


def difference(equation: Equation, draw: Draw) -> str | None:
    """Where an equation fails on an exact instance, or None."""
    return next(failures(equation, draw, lambda a, b: draw.source.is_zero(a - b)), None)


def unequal(rule: Determinant, draw: Draw) -> str | None:
    """Where the product of the factors is not the matrix on an exact instance, or None."""
    found = reduce(times, (assembled(factor, draw) for factor in rule.factors))
    pairs = zip(assembled(rule.matrix, draw), found, strict=True)
    gaps = (a - b for rows in pairs for a, b in zip(*rows, strict=True))
    return None if all(map(draw.source.is_zero, gaps)) else "in the product of the factors"


def assembled(matrix: Blocks, draw: Draw) -> list[list[Value]]:
    """The rows of a block matrix on an exact instance; an axis of a block may have more indices."""
    rows, columns = (
        [(place, dict(zip([index for index, _ in axes(block)], choice, strict=True)))
         for place, block in enumerate(axis)
         for choice in product(*(range(1, draw.size(size) + 1) for _, size in axes(block)))]
        for axis in (matrix.rows, matrix.columns)
    )
    return [[evaluate(matrix.entries[p][q], draw, r | c) for q, c in columns] for p, r in rows]


def broken(assumption: Assumption, draw: Draw) -> str | None:
    """How an exact instance breaks an assumption, or None."""
    wrong = [fault for rule in assumption.rules if (fault := difference(rule, draw))]
    wrong += [
        f"{array}{list(cell)} = {value}"
        for array, sign in assumption.signs
        for cell in draw.cells(array)
        if not SIGNS[sign](value := draw.get(array.name, cell))
    ]
    return f"{assumption.id} fails: {wrong[0]}" if wrong else None


def violation(rule: Rule, draw: Draw) -> str | None:
    """How an exact instance violates a rule's statement, or None."""
    match rule:
        case Iff() | Vanishing() | Logarithm():
            one, other = (difference(side, draw) or "holds" for side in (rule.left, rule.right))
            agree = (one == "holds") == (other == "holds")
            agree |= other == "holds" and getattr(rule, "one_way", False)
            return None if agree else f"left {one}; right {other}"
        case Induction(by=(base, step)):
            return violation(base, draw) or violation(step, draw)
        case Determinant():
            known = [determinant(assembled(m, draw)) for m in (rule.matrix, *rule.parts)]
            claimed = prod(known[1:]) * evaluate(rule.value, draw, {})
            return None if known[0] == claimed else f"determinant {known[0]}, not {claimed}"
        case RankBound():
            blocks = (Blocks((m[1],), (m[2],), ((m[0],),)) for m in (rule.small, rule.large))
            small, large = (rank(assembled(matrix, draw)) for matrix in blocks)
            return None if small <= large else f"rank {small} > rank {large}"
        case Bound(small=small, large=large, strict=strict):
            below = failures((small, large), draw, lambda a, b: a < b or (a == b and not strict))
            return next(below, None)
    return difference(identity(rule), draw)


def witness_faults(rule: Witness, world: World) -> list[str]:
    """What a witness fails to show: an equation, an assumption, or a claimed difference."""
    sizes, fault = witness_sizes(rule.values)
    if fault:
        return [fault]
    given = world.given(rule)
    definitions = [item for item in given if isinstance(item, Definition)]
    draw = Draw(Nothing(Random(0)), definitions, sizes)
    for array, entries in rule.values.items():
        for cell, entry in cells(entries):
            draw.put(array, cell, fmpq(entry))
    faults = [difference(equation, draw) for equation in rule.holds]
    faults += [broken(item, draw) for item in given if isinstance(item, Assumption)]
    faults += [f"{a} = {b}" for a, b in rule.fails if not difference((a, b), draw)]
    faults += [f"{a} = {b} says nothing" for a, b in (*rule.holds, *rule.fails) if a == b]
    faults += [] if rule.holds or rule.fails else ["it claims nothing"]
    return [fault for fault in faults if fault]


@dataclass(frozen=True)
class Search:
    """What a search found: valid instances, dimensions that were 1 in all of them, a violation."""

    valid: int
    stuck: frozenset[str] = frozenset()
    draw: Draw | None = None
    message: str = ""

    def __str__(self) -> str:
        entries = sorted(self.draw.entries.items()) if self.draw else []
        hidden = self.draw.definitions if self.draw else {}
        shown = [f"{a}{list(i) or ''} = {v}" for (a, i), v in entries if a not in hidden]
        return "; ".join([self.message, *shown])


def search(rule: Rule, world: World, rng: Random, tries: int) -> Search:
    """Look for an exact instance within the assumptions on which the rule's statement is false."""
    valid, stuck, given = 0, frozenset[str](), world.given(rule)
    for _ in range(tries):
        try:
            draw = Draw(SmallIntegers(rng), given)
            message = violation(rule, draw)
            if any(broken(assumption, draw) for assumption in draw.assumptions):
                continue
        except Rejected:
            continue
        ones = {name for name, size in draw.sizes.items() if size == 1}
        valid, stuck = valid + 1, frozenset(ones & stuck if valid else ones)
        if message:
            return Search(valid, stuck, draw, "; ".join([message, *draw.notes]))
    return Search(valid, stuck)


def shapes(names: list[str]) -> list[dict[str, int]]:
    """All sizes in {1, 2, 3} of up to three dimensions; of more, 27 that cover all pairs."""
    points = product(range(3), repeat=min(3, len(names)))
    weights = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), (0, 1, 2)]
    weights += [(1, b, c) for b in range(3) for c in range(3) if b or c]
    columns = list(zip(names, weights[: len(names)], strict=True))
    return [
        {name: 1 + sum(x * y for x, y in zip(point, w, strict=False)) % 3 for name, w in columns}
        for point in points
    ]


def instances(rule: Rule) -> tuple[int, int, str | None]:
    """Check a rule's identity at explicit sizes: how many with free symbols, how many (with more
    quotients) on 63-bit rationals, and what differs."""
    if isinstance(rule, Logarithm | Induction):
        return 0, 0, None
    symbolic, rational, given = 0, 0, TRUE.given(rule)
    fails = partial(unequal, rule) if isinstance(rule, Determinant) else partial(
        difference, identity(rule))
    fails(probe := Draw(LargeRationals(Random(0)), given))
    for sizes in shapes(sorted(probe.sizes)):
        try:
            fault = fails(draw := Draw(LargeRationals(Random(0)), given, sizes))
        except Rejected:
            continue
        if fault is None and draw.source.quotients <= QUOTIENTS:
            free = Generators(draw.source.used + draw.source.quotients + 1)
            fault, symbolic = fails(Draw(free, given, sizes)), symbolic + 1
        else:
            rational += 1
        if fault:
            return symbolic, rational, f"at sizes {sizes} {fault}"
    return symbolic, rational, None if symbolic else "no exact instance can be built"
