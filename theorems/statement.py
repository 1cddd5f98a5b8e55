"""What a theorem is made of, as frozen records; the side of an equation is a SymPy expression
of sums, products and deltas over declared arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sympy import Expr, IndexedBase, Integer, Symbol

Equation = tuple[Expr, Expr]
Matrix = tuple[Expr, tuple, tuple]  # entry, rows (i, n) or ((i, n), (a, d)), columns


def array(name: str, *shape: Expr) -> IndexedBase:
    """An array of unknown entries with its shape, such as P of shape (n, m)."""
    return IndexedBase(name, shape=shape)


def symbols_of(names: str) -> tuple[Any, ...]:
    """Positive integer symbols: dimensions (n, m, d) and 1-based indices (i, j, a)."""
    return tuple(Symbol(name, integer=True, positive=True) for name in names.split())


@dataclass(frozen=True)
class Assumption:
    """A hypothesis: equations used left to right, signs (array, ">0", ">=0" or "!=0"),
    and `impose(draw)`, which fills the arrays of an exact instance so that they have it;
    `hypothesis` names the entry of the vocabulary that it is an instance of."""

    id: str
    text: str
    rules: tuple[Equation, ...] = ()
    impose: Callable[[Any], None] | None = None
    signs: tuple[tuple[IndexedBase, str], ...] = ()
    hypothesis: str = dataclasses.field(default="", compare=False)


class Local(Assumption):
    """A hypothesis of one theorem alone; all others are instances of the vocabulary."""


@dataclass(frozen=True)
class Definition:
    """over * entry = value; where `over` may vanish, `support` shows 0 <= value <= over."""

    entry: Expr
    value: Expr
    over: Expr = Integer(1)
    support: Bound | Assumption | None = None

    @cached_property
    def id(self) -> str:
        return str(getattr(self.entry, "base", self.entry))


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One link of a derivation; `by` holds the very objects it uses, first rewrite first."""

    id: str
    because: str
    by: tuple[Any, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Step(Rule):
    """Sum identity lhs = rhs for all free indices; `shapes_only` where no derivation is claimed."""

    lhs: Expr
    rhs: Expr
    shapes_only: bool = False


@dataclass(frozen=True, kw_only=True)
class Bound(Rule):
    """small <= large (< if strict): large**power = small**power + certificate; power 1, or 2 and
    large >= 0; certificate is a sum of nonnegatives."""

    small: Expr
    large: Expr
    certificate: Expr
    strict: bool = False
    power: int = 1


@dataclass(frozen=True, kw_only=True)
class Iff(Rule):
    """left for all indices iff right for all: left - left' = factor * (right - right')."""

    left: Equation
    right: Equation
    factor: Expr = Integer(1)  # positive


@dataclass(frozen=True, kw_only=True)
class RankBound(Rule):
    """Rank of a product: rank(small) <= rank(large), because small = before large after."""

    small: Matrix
    large: Matrix
    before: Matrix | None = None
    after: Matrix | None = None


@dataclass(frozen=True, kw_only=True)
class Witness(Rule):
    """Exact witness: arrays that satisfy `by`, every equation of `holds` and none of `fails`."""

    values: Mapping[IndexedBase, Any]
    holds: tuple[Equation, ...] = ()
    fails: tuple[Equation, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Cited(Rule):
    """A result of the literature, with its exact statement and source: counted, never checked."""

    statement: str
    source: str


@dataclass(frozen=True)
class Clause:
    """One line of what a theorem says, in LaTeX text, and the steps that establish it."""

    name: str
    statement: str
    steps: tuple[Rule, ...]


@dataclass(frozen=True)
class Mutant:
    """A near-miss false claim in place of the step of the same id: other sides, assumptions
    dropped or added, definitions redefined."""

    id: str
    claim: Rule
    text: str
    drop: tuple[Assumption, ...] = ()
    add: tuple[Assumption, ...] = ()
    redefine: tuple[Definition, ...] = ()


@dataclass(frozen=True)
class Theorem:
    """A bundle of clauses under one permanent id, the mutants its checks refute, its sources."""

    id: str
    title: str
    clauses: tuple[Clause, ...]
    mutants: tuple[Mutant, ...]
    sources: tuple[str, ...]
    uses: tuple[str, ...] = ()
