"""Rules of inference beside sums: vanishing of nonnegatives, logarithms, induction on a level.

Each holds what it claims and says by `fault` what keeps it from following; `theorems.derive` calls
it with the signs that are known and the objects that are used in the world at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Add, Expr, Indexed, IndexedBase, Integer, Mul, Pow, Sum, Symbol, srepr
from sympy.tensor.indexed import IndexException

from theorems.statement import Assumption, Definition, Equation, Rule, Step

LABELS, MARK = ("1", "l", "l+1"), "@"  # levels of an induction, and one that stands for all
Signs = Callable[[Expr], int]  # 2 visibly positive, 1 visibly nonnegative, 0 neither


@dataclass(frozen=True, kw_only=True)
class Vanishing(Rule):
    """Nonnegatives that sum to zero vanish: total = sum over `over` of weight * part**power, plus
    `rest`, so total = 0 gives weight * part = 0, and part = 0 where `strict` (weight > 0)."""

    total: Expr
    part: Indexed | Symbol
    weight: Expr = Integer(1)
    over: tuple[tuple[Symbol, Expr], ...] = ()
    power: int = 2
    rest: Expr = Integer(0)
    strict: bool = False

    @property
    def left(self) -> Equation:
        return self.total, Integer(0)

    @property
    def right(self) -> Equation:
        return self.part if self.strict else self.weight * self.part, Integer(0)

    @property
    def one_way(self) -> bool:
        """Whether the converse is not claimed."""
        return self.rest != 0

    @property
    def identity(self) -> Equation:
        term = self.weight * self.part**self.power
        limits = [(index, 1, size) for index, size in self.over]
        return self.total, (Sum(term, *limits) if limits else term) + self.rest

    def fault(self, sign: Signs) -> str | None:
        """Why the parts need not vanish."""
        if self.power not in (1, 2):
            return f"power {self.power} is neither 1 nor 2"
        if not isinstance(self.part, Indexed | Symbol):
            return f"{self.part} is no entry: name it by a Definition"
        least = 1 + self.strict
        signs = [(self.weight, least), (self.rest, 1)] + [(self.part, 1)] * (self.power == 1)
        return next((f"{e} has no visible sign" for e, s in signs if sign(e) < s), None)


@dataclass(frozen=True, kw_only=True)
class Logarithm(Rule):
    """Two products of entries of exp(S) agree iff the sums of the entries of S do; `logs` holds the
    pairs (E, S) with E = exp(S), each by an assumption `exponential(E, S)`."""

    left: Equation
    logs: tuple[tuple[IndexedBase, IndexedBase], ...]
    one_way = False

    @property
    def right(self) -> Equation:
        first, second = (self._log(side) for side in self.left)
        return first, second

    def _log(self, side: Expr) -> Expr:
        known = {str(E): S for E, S in self.logs}
        total = Integer(0)
        for factor in Mul.make_args(side):
            base, exponent = factor.as_base_exp() if isinstance(factor, Pow) else (factor, 1)
            if factor == 1:
                continue
            if not (isinstance(base, Indexed) and str(base.base) in known and exponent > 0):
                raise ValueError(f"{side} is no product of entries of {', '.join(known)}")
            total = Add(total, exponent * known[str(base.base)][base.indices])
        return total

    def fault(self, used: Sequence[Any]) -> str | None:
        """Why the logarithms need not agree."""
        ids = {item.id for item in used if isinstance(item, Assumption)}
        missing = [f"{E} = exp({S})" for E, S in self.logs if f"{E} = exp({S})" not in ids]
        try:
            same = self.left[0] == self.left[1] or self.right[0] == self.right[1]
        except (ValueError, IndexException) as error:
            return str(error)
        return f"{missing[0]} is not assumed" if missing else "it says nothing" if same else None


@dataclass(frozen=True, kw_only=True)
class Induction(Rule):
    """Every level l = 1, 2, ...: `by` holds the base, which is claim("1"), and the step, which is
    claim("l+1") by the `hypothesis` claim("l"). The label stands in the names of the arrays of a
    level, and nowhere else; what the step defines at level l+1 it does not define at level l."""

    claim: Callable[[str], Equation]
    hypothesis: Assumption

    def fault(self, used: Sequence[Any], rests: Callable[[Rule], list[Any]]) -> str | None:
        """Why the claim need not hold at every level; `rests` says what a rule rests on."""
        if len(used) != 2 or not all(isinstance(part, Step) for part in used):
            return "an induction has a base and a step"
        base, step = used
        try:
            first, now, following, general = map(self.claim, (*LABELS, MARK))
        except KeyError as error:
            return f"the claim is not stated at every level, such as {error}"
        pattern = srepr(general).split(MARK)
        stated = zip(LABELS, (first, now, following), strict=True)
        if len(pattern) < 2 or any(srepr(claim) != s.join(pattern) for s, claim in stated):
            return "the claim is not the same at every level"
        if base.shapes_only or step.shapes_only:
            return "its base or its step is not derived"
        if (base.lhs, base.rhs) != first:
            return f"{base.id} is not the claim at level 1"
        if self.hypothesis.rules != (now,) or self.hypothesis.signs:
            return f"{self.hypothesis.id} is not the claim at level l"
        if (step.lhs, step.rhs) != following:
            return f"{step.id} is not the claim at level l+1"
        if self.hypothesis not in step.by or self.hypothesis in rests(base):
            return f"{self.hypothesis.id} serves the step, and nothing else"
        below, above = (
            {item.id for item in rests(part) if isinstance(item, Definition)} for part in used
        )
        lower = {name.replace("l+1", "l") for name in above if "l+1" in name}
        for name in above & (lower | {name.replace("1", "l") for name in below}):
            return f"{name} is defined at level l and from the level before"
        return None
