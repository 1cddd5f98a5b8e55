"""The trusted checker of derivations: what a rule claims, what it may use, whether it follows."""

from sympy import Expr, Integer

from theorems.checker.determinants import Determinant
from theorems.checker.instances import witness_faults
from theorems.rules import Induction, Logarithm, Vanishing
from theorems.statement import Assumption, Bound, Cited, Definition, Equation, Iff, RankBound, Rule
from theorems.statement import Step, Witness
from theorems.checker.sums import NormalForm, Reader, Refused, free_indices, normal_form, subtract
from theorems.checker.wellformed import (
    block_fault, given_fault, is_own_part, name_fault, rank_fault,
)
from theorems.checker.world import TRUE, World, identity, sides, sign_of


class Failed(ValueError):
    """A step is not established: its two sides differ, or what it uses does not hold."""


def equations(rule: Rule, world: World) -> list[Equation]:
    """The rewriting rules a step may use, each checked: lemmas derived, quotients supported.

    A step that establishes the left side of an equivalence serves for its right side alone.
    """
    found: list[Equation] = []
    items = world.uses(rule)
    lefts = [item.left for item in items if isinstance(item, Iff | Vanishing)]
    proven = [identity(item) for item in items if isinstance(item, Step)]
    for item in items:
        for part in (item, getattr(item, "support", None)):
            if isinstance(part, Rule):
                derive(part, world)
        match item:
            case Assumption():
                found += item.rules
            case Definition(over=Integer(p=1)):
                found.append((item.entry, item.value))
            case Definition():
                _supported(item, rule, world)
                found.append((item.over * item.entry, item.value))
            case Step():
                found += [(item.lhs, item.rhs)] * ((item.lhs, item.rhs) not in lefts)
            case Iff() | Vanishing() if item.left in proven:
                found.append(item.right)
            case Iff() | Vanishing():
                raise Failed(f"{item.id} is used, but no step of {rule.id} establishes its left")
    return found


def _supported(definition: Definition, rule: Rule, world: World) -> None:
    known, bound = world.signs(rule), definition.support
    if sign_of(definition.over, known) == 2:
        return
    claim = (definition.value, definition.over)
    if not (isinstance(bound, Bound) and (bound.small, bound.large) == claim):
        raise Failed(f"{definition.id} divides by {definition.over}, which may vanish")
    if sign_of(bound.small, world.signs(bound)) == 0:
        raise Failed(f"{definition.id}: {bound.small} is not visibly nonnegative")


def derive(rule: Rule, world: World = TRUE) -> None:
    """Check one link of a derivation at symbolic sizes; Failed, Refused or Undecided otherwise."""
    if world.memory is None:
        return _derive(rule, world)
    if id(rule) not in world.memory:
        _derive(rule, world)
        world.memory[id(rule)] = rule  # kept, so that no other rule gets its id
    return None


def _derive(rule: Rule, world: World) -> None:
    if fault := given_fault(world.given(rule)) or name_fault([*world.closure(rule), rule]):
        raise Refused(f"{rule.id}: {fault}")
    if isinstance(rule, Witness | Cited):
        for part in world.uses(rule):  # their signs are known to whatever cites the rule
            if isinstance(part, Rule):
                derive(part, world)
    if isinstance(rule, Cited):
        return
    if isinstance(rule, Witness):
        if faults := witness_faults(rule, world):
            raise Failed(f"{rule.id}: the witness does not show it: {'; '.join(faults)}")
        return
    if isinstance(rule, Induction | Logarithm):
        equations(rule, world)
        if fault := (rule.fault(world.uses(rule), world.closure)
                     if isinstance(rule, Induction) else rule.fault(world.uses(rule))):
            raise Failed(f"{rule.id}: {fault}")
        if isinstance(rule, Logarithm):
            free_indices(*rule.left, *rule.right)
        return
    if isinstance(rule, Determinant):
        return _determinant(rule, equations(rule, world))
    lhs, rhs = identity(rule)
    for part in sides(rule):
        Reader().read(part)  # a quotient may cancel in the identity
    same = lhs == rhs and not isinstance(rule, Vanishing)
    if same or (isinstance(rule, Iff) and rule.left == rule.right):
        raise Refused(f"{rule.id}: both sides are the same expression")
    rules, ranges = equations(rule, world), free_indices(lhs, rhs)
    if isinstance(rule, RankBound) and (fault := rank_fault(rule, ranges)):
        raise Refused(f"{rule.id}: {fault}")
    if isinstance(rule, Step) and rule.shapes_only:
        return

    def form(expr: Expr) -> NormalForm:
        return normal_form(expr, rules, ranges)

    if difference := subtract(form(lhs), form(rhs)):
        raise Failed(f"{rule.id}: the sides differ by {_show(difference)}")
    known = world.signs(rule)
    if isinstance(rule, Bound):
        signs = [(rule.certificate, 1 + rule.strict), (rule.large, 1)][: rule.power]
        if rule.power not in (1, 2) or any(sign_of(e, known) < least for e, least in signs):
            raise Failed(f"{rule.id}: {' or '.join(str(e) for e, _ in signs)} has no visible sign")
    if isinstance(rule, Vanishing) and (fault := rule.fault(lambda e: sign_of(e, known))):
        raise Failed(f"{rule.id}: {fault}")
    if isinstance(rule, Iff) and sign_of(rule.factor, known) < 2:
        raise Failed(f"{rule.id}: the factor {rule.factor} is not visibly positive")
    if isinstance(rule, Iff) and not subtract(form(rule.left[0]), form(rule.left[1])):
        raise Refused(f"{rule.id}: the left side always holds, so the equivalence says nothing")


def _determinant(rule: Determinant, rules: list[Equation]) -> None:
    if fault := block_fault(rule.matrix, rule.factors, rule.value):
        raise Refused(f"{rule.id}: {fault}")
    for lhs, rhs, ranges in rule.identities():
        if gap := subtract(normal_form(lhs, rules, ranges), normal_form(rhs, rules, ranges)):
            raise Failed(f"{rule.id}: the sides differ by {_show(gap)}")
    if fault := rule.fault():
        raise Failed(f"{rule.id}: {fault}")
    if is_own_part(rule.matrix, rule.parts):
        raise Refused(f"{rule.id}: the matrix is one of its parts, so it says nothing")


def _show(form: NormalForm) -> str:
    return " + ".join(f"{coefficient} {atoms}" for (atoms, _), coefficient in form.items())[:400]
