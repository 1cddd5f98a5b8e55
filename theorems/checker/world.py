"""What a rule rests on, in the theorem as written or as a mutant changes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sympy import Add, Expr, Indexed, KroneckerDelta, Mul, Pow, Rational, Sum, Symbol

from theorems.rules import Vanishing
from theorems.statement import Assumption, Bound, Definition, Equation, Iff, RankBound, Rule, Step
from theorems.checker.sums import Refused
from theorems.checker.wellformed import axes, is_general


@dataclass(frozen=True)
class World:
    """The theorem as written (the default), or as a mutant changes what its steps use; with a
    `memory` each rule is derived once."""

    drop: tuple[Assumption, ...] = ()
    add: tuple[Assumption, ...] = ()
    redefine: tuple[Definition, ...] = ()
    memory: dict[int, Rule] | None = None

    def drops(self, item: Any) -> bool:
        """Whether the item is an assumption that this world leaves out."""
        return isinstance(item, Assumption) and item.id in {dropped.id for dropped in self.drop}

    def uses(self, rule: Rule) -> list[Any]:
        """What the rule cites directly, first rewriting rule first."""
        changed = {definition.id: definition for definition in self.redefine}
        items = [item for item in (*rule.by, *self.add) if not self.drops(item)]
        return [changed.get(i.id, i) if isinstance(i, Definition) else i for i in items]

    def closure(self, rule: Rule) -> list[Any]:
        """Everything the rule rests on, supports of definitions included, each object once."""
        found: list[Any] = []
        for item in self.uses(rule):
            support = getattr(item, "support", None)
            for part in [item] if support is None or self.drops(support) else [support, item]:
                inner = self.closure(part) if isinstance(part, Rule) else []
                found += [used for used in (*inner, part) if used not in found]
        return found

    def given(self, rule: Rule) -> list[Assumption | Definition]:
        """The assumptions and definitions that the rule rests on."""
        return [item for item in self.closure(rule) if isinstance(item, Assumption | Definition)]

    def signs(self, rule: Rule) -> dict[str, int]:
        """Arrays known to be nonnegative (1) or positive (2)."""
        known: dict[str, int] = {}
        closure = self.closure(rule)
        gaps = [item.large - item.small for item in closure if isinstance(item, Bound)]
        for item in len(closure) * closure:
            pairs = item.signs if isinstance(item, Assumption) else ()
            if isinstance(item, Bound) and item.small == 0 and is_general(item.large):
                pairs = ((getattr(item.large, "base", item.large), ">0" if item.strict else ">=0"),)
            for name, sign in ((array.name, sign) for array, sign in pairs):
                known[name] = max(known.get(name, 0), {">0": 2, ">=0": 1}.get(sign, 0))
            if isinstance(item, Definition) and sign_of(item.over, known) == 2:
                sign = max(sign_of(item.value, known), item.value in gaps)
                known[item.id] = max(known.get(item.id, 0), sign)
        return known


TRUE = World()


def sign_of(expr: Expr, known: Mapping[str, int]) -> int:
    """2 if the expression is visibly positive, 1 if visibly nonnegative, 0 otherwise."""
    if isinstance(expr, Rational):
        return 2 if expr > 0 else int(expr == 0)
    if isinstance(expr, Symbol):
        return 2 if expr.is_positive else known.get(expr.name, 0)
    if isinstance(expr, Indexed):
        return known.get(expr.base.name, 0)
    if isinstance(expr, Sum):
        return sign_of(expr.function, known)
    if isinstance(expr, Pow) and expr.exp.is_even:
        return max(1, sign_of(expr.base, known))
    if isinstance(expr, Add):
        if len(expr.args) == 2 and expr.args[0] == 1 and isinstance(-expr.args[1], KroneckerDelta):
            return 1
        parts = [sign_of(part, known) for part in expr.args]
        return 0 if 0 in parts else max(parts)
    if isinstance(expr, Mul):
        return min(sign_of(part, known) for part in expr.args)
    return int(isinstance(expr, KroneckerDelta))


def sides(rule: Rule) -> list[Expr]:
    """Every expression that the rule states, each of which must be readable by itself."""
    match rule:
        case Step():
            return [rule.lhs, rule.rhs]
        case Bound():
            return [rule.small, rule.large, rule.certificate]
        case Vanishing():
            return [rule.total, rule.weight, rule.part, rule.rest, *rule.right]
        case Iff():
            return [*rule.left, *rule.right, rule.factor]
        case RankBound():
            factors = (rule.small, rule.large, rule.before, rule.after)
            return [matrix[0] for matrix in factors if matrix]
    return []


def identity(rule: Rule) -> Equation:
    """The polynomial identity that a rule rests on, beside its side conditions."""
    match rule:
        case Step():
            return rule.lhs, rule.rhs
        case Bound(power=power):
            return rule.large**power, rule.small**power + rule.certificate
        case Vanishing():
            return rule.identity
        case Iff(left=left, right=right, factor=factor):
            return left[0] + factor * right[1], left[1] + factor * right[0]
        case RankBound(small=small, large=(entry, row, column)):
            for factor, axis in ((rule.before, row), (rule.after, column)):
                limits = [(index, 1, size) for index, size in axes(axis)]
                entry = entry if factor is None else Sum(entry * factor[0], *limits)
            return small[0], entry
    raise Refused(f"{type(rule).__name__} is no identity")
