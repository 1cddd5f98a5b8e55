"""The trusted checker: derivations, exact instances, searches for counterexamples, levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from random import Random
from time import perf_counter
from typing import Any
from zlib import crc32

from flint import fmpq
from sympy import Add, Expr, Indexed, Integer, KroneckerDelta, Mul, Pow, Rational, Sum, Symbol

from theorems.exact import Draw, Generators, LargeRationals, Nothing, Rejected, SmallIntegers
from theorems.exact import environments, evaluate, rank
from theorems.statement import Assumption, Bound, Cited, Clause, Definition, Equation, Iff, Matrix
from theorems.statement import Mutant, RankBound, Rule, Step, Theorem, Witness
from theorems.sums import NormalForm, Refused, Undecided, free_indices, normal_form, subtract

TRIES, MUTANT_TRIES, SIZES = 60, 2_000, (1, 2, 3)
LARGEST, RECIPROCALS = 36, 9  # caps: entries per try of a search, quotients per symbolic instance


class Failed(ValueError):
    """A step is not established: its two sides differ, or what it uses does not hold."""


@dataclass(frozen=True)
class World:
    """The theorem as written (the default), or as a mutant changes what its steps use."""

    drop: tuple[Assumption, ...] = ()
    add: tuple[Assumption, ...] = ()
    redefine: tuple[Definition, ...] = ()
    identify: tuple[tuple[Symbol, Symbol], ...] = ()

    def names(self) -> dict[str, str]:
        return {str(a): str(b) for a, b in self.identify}

    def uses(self, rule: Rule) -> list[Any]:
        changed = {definition.id: definition for definition in self.redefine}
        kept = [item for item in rule.by if item not in self.drop]
        return [changed.get(i.id, i) if isinstance(i, Definition) else i for i in (*kept, *self.add)]

    def closure(self, rule: Rule) -> list[Any]:
        """Everything the rule rests on, supports of definitions included, each object once."""
        found: list[Any] = []
        for item in self.uses(rule):
            support = getattr(item, "support", None)
            for part in [item] if support is None or support in self.drop else [support, item]:
                inner = self.closure(part) if isinstance(part, Rule) else []
                found += [used for used in (*inner, part) if used not in found]
        return found

    def given(self, rule: Rule) -> list[Assumption | Definition]:
        return [item for item in self.closure(rule) if isinstance(item, Assumption | Definition)]

    def signs(self, rule: Rule) -> dict[str, int]:
        """Arrays known to be nonnegative (1) or positive (2)."""
        known: dict[str, int] = {}
        for item in len(closure := self.closure(rule)) * closure:
            pairs = item.signs if isinstance(item, Assumption) else ()
            if isinstance(item, Bound) and item.small == 0 and isinstance(item.large, Indexed):
                pairs = ((str(item.large.base.label), ">0" if item.strict else ">=0"),)
            for name, sign in pairs:
                known[name] = max(known.get(name, 0), {">0": 2, ">=0": 1}.get(sign, 0))
            if isinstance(item, Definition) and sign_of(item.over, known) == 2:
                known[item.id] = max(known.get(item.id, 0), sign_of(item.value, known))
        return known


TRUE = World()


def sign_of(expr: Expr, known: Mapping[str, int]) -> int:
    """2 if the expression is visibly positive, 1 if visibly nonnegative, 0 otherwise."""
    if isinstance(expr, Rational):
        return 2 if expr > 0 else int(expr == 0)
    if isinstance(expr, Symbol):
        return 2 if expr.is_positive else known.get(expr.name, 0)
    if isinstance(expr, Indexed):
        return known.get(str(expr.base.label), 0)
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


def identity(rule: Rule) -> Equation:
    """The polynomial identity that a rule rests on, beside its side conditions."""
    match rule:
        case Step():
            return rule.lhs, rule.rhs
        case Bound():
            return rule.large, rule.small + rule.certificate
        case Iff(left=left, right=right, factor=factor):
            return left[0] + factor * right[1], left[1] + factor * right[0]
        case RankBound(small=small, large=(entry, row, column)):
            for factor, (index, size) in ((rule.before, row), (rule.after, column)):
                entry = entry if factor is None else Sum(entry * factor[0], (index, 1, size))
            return small[0], entry
    raise Refused(f"{type(rule).__name__} is no identity")


def equations(rule: Rule, world: World) -> list[Equation]:
    """The rewriting rules a step may use, each checked: lemmas derived, quotients supported."""
    found: list[Equation] = []
    for item in world.uses(rule):
        if isinstance(item, Rule):
            derive(item, world)
        match item:
            case Assumption():
                found += item.rules
            case Definition(over=Integer(p=1)):
                found.append((item.entry, item.value))
            case Definition():
                _supported(item, rule, world)
                found.append((item.over * item.entry, item.value))
            case Step():
                found.append((item.lhs, item.rhs))
            case Iff() if any(isinstance(s, Step) and identity(s) == item.left for s in rule.by):
                found.append(item.right)
            case Iff():
                raise Failed(f"{item.id} is used, but no step of {rule.id} establishes its left")
    return found


def _supported(definition: Definition, rule: Rule, world: World) -> None:
    known, bound = world.signs(rule), definition.support
    if sign_of(definition.over, known) == 2:
        return
    claim = (definition.value, definition.over)
    if not (isinstance(bound, Bound) and (bound.small, bound.large) == claim):
        raise Failed(f"{definition.id} divides by {definition.over}, which may vanish")
    derive(bound, world)
    if sign_of(bound.small, world.signs(bound)) == 0:
        raise Failed(f"{definition.id}: {bound.small} is not visibly nonnegative")


def derive(rule: Rule, world: World = TRUE) -> None:
    """Check one link of a derivation at symbolic sizes; Failed, Refused or Undecided otherwise."""
    if isinstance(rule, Cited) or (isinstance(rule, Step) and rule.shapes_only):
        return
    if isinstance(rule, Witness):
        return _derive_witness(rule, world)
    lhs, rhs = identity(rule)
    if lhs == rhs or isinstance(rule, Iff) and rule.left == rule.right:
        raise Refused(f"{rule.id}: both sides are the same expression")
    rules, names = equations(rule, world), world.names()
    free_indices(lhs, rhs, identify=names)

    def form(expr: Expr) -> NormalForm:
        return normal_form(expr, rules, names)

    if difference := subtract(form(lhs), form(rhs)):
        raise Failed(f"{rule.id}: the sides differ by {_show(difference)}")
    known = world.signs(rule)
    if isinstance(rule, Bound) and sign_of(rule.certificate, known) < 1 + rule.strict:
        raise Failed(f"{rule.id}: {rule.certificate} has no visible sign")
    if isinstance(rule, Iff) and sign_of(rule.factor, known) < 2:
        raise Failed(f"{rule.id}: the factor {rule.factor} is not visibly positive")
    if isinstance(rule, Iff) and not subtract(form(rule.left[0]), form(rule.left[1])):
        raise Refused(f"{rule.id}: the left side always holds, so the equivalence says nothing")


def _show(form: NormalForm) -> str:
    terms = []
    for (atoms, bound), coefficient in list(form.items())[:3]:
        factors = [name + str([i if kind == 0 else f"#{i}" for kind, i in ind]) for name, ind in atoms]
        terms.append(f"{coefficient} {' '.join(factors)} summed over {list(bound)}")
    return " + ".join(terms) + (" + ..." if len(form) > 3 else "")


def _derive_witness(rule: Witness, world: World) -> None:
    given = world.given(rule)
    draw = Draw(Nothing(Random(0)), {}, [g for g in given if isinstance(g, Definition)])
    for array, entries in rule.values.items():
        for cell, entry in _cells(entries):
            draw.put(array, cell, fmpq(entry))
            draw.sizes |= {str(size): k for size, k in zip(array.shape, cell, strict=True)}
    wrong = [next(differences(e, draw, {}), None) for e in rule.holds]
    wrong += [broken(item, draw, {}) for item in given if isinstance(item, Assumption)]
    wrong += [f"{a} = {b} holds" for a, b in rule.fails if not any(differences((a, b), draw, {}))]
    if any(wrong) or not (rule.holds or rule.fails):
        raise Failed(f"{rule.id}: the witness does not show it: {[w for w in wrong if w]}")


def _cells(entries: Any, cell: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    if not isinstance(entries, list):
        yield cell, entries
        return
    for position, inner in enumerate(entries, start=1):
        yield from _cells(inner, (*cell, position))


def _formulas(rule: Rule, given: Iterable[Assumption | Definition]) -> list[Expr]:
    if isinstance(rule, Witness):
        found = [side for equation in (*rule.holds, *rule.fails) for side in equation]
    else:
        found = list(identity(rule))
    for item in given:
        if isinstance(item, Definition):
            found += [item.entry, item.value, item.over]
        else:
            found += [side for equation in item.rules for side in equation]
    return found


def dimensions(rule: Rule, world: World) -> list[str]:
    """The names of the symbolic sizes that a rule and what it rests on mention."""
    formulas = _formulas(rule, world.given(rule))
    sizes = {size for e in formulas for a in e.atoms(Indexed) for size in a.base.shape}
    sizes |= {limit[2] for e in formulas for s in e.atoms(Sum) for limit in s.limits}
    return sorted(str(size) for size in sizes if isinstance(size, Symbol))


def differences(equation: Equation, draw: Draw, names: Mapping[str, str]) -> Iterator[str]:
    """Where, and by how much, an equation fails on an exact instance."""
    for environment in environments(_ranges(equation, tuple(names.items())), draw):
        left, right = (evaluate(side, draw, environment) for side in equation)
        if not draw.source.is_zero(left - right):
            where = ", ".join(f"{i}={v}" for i, v in environment.items())
            yield f"at {where}: {left} != {right}"


@lru_cache(maxsize=None)
def _ranges(equation: Equation, names: tuple[tuple[str, str], ...]) -> dict[Symbol, str]:
    return free_indices(*equation, identify=dict(names))


def broken(assumption: Assumption, draw: Draw, names: Mapping[str, str]) -> str | None:
    """How an exact instance breaks an assumption, or None."""
    for equation in assumption.rules:
        for difference in differences(equation, draw, names):
            return f"{assumption.id} fails {difference}"
    for array, wanted in assumption.signs:
        for (name, index), value in draw.entries.items():
            if name == array and (value == 0 and wanted != ">=0" or value < 0 and wanted != "!=0"):
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
        if small > large or rule.strict and small == large:
            return f"at {environment}: {small} against {large}"
    return None


def _matrix(matrix: Matrix, draw: Draw) -> list[list[Any]]:
    entry, (i, n), (j, m) = matrix
    rows, columns = (range(1, evaluate(size, draw, {}) + 1) for size in (n, m))
    return [[evaluate(entry, draw, {i: r, j: c}) for c in columns] for r in rows]


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
    """All sizes in {1, 2, 3} of up to three dimensions; 27 that cover all pairs of values of more."""
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


def level(clause: Clause, instances_run: int) -> str:
    """G if every step is free of dimensions, S with exact instances, N with neither."""
    if clause.steps and not any(isinstance(s, Step) and s.shapes_only for s in clause.steps):
        return "G"
    return "S" if instances_run else "N"


def refute(mutant: Mutant, theorem: Theorem, rng: Random) -> dict[str, Any]:
    """Try to derive the mutant's claim, and search for a counterexample to it."""
    world = World(mutant.drop, mutant.add, mutant.redefine, mutant.identify)
    true = next((s for c in theorem.clauses for s in c.steps if s.id == mutant.claim.id), None)
    report: dict[str, Any] = {"id": mutant.id, "step": mutant.claim.id, "text": mutant.text}
    errors = [] if true else [f"no step is called {mutant.claim.id}"]
    try:
        derive(mutant.claim, world)
        fails = False
    except (Failed, Refused):
        fails = True
    found = search(mutant.claim, world, rng, MUTANT_TRIES)
    if not fails:
        errors.append("its derivation passes" + (" beside a counterexample" if found.draw else ""))
    if found.draw is None:
        errors.append(f"no counterexample in {found.valid} exact instances")
    elif true and not isinstance(true, Witness):
        same = found.draw.redefined(TRUE.given(true))
        message = violation(true, same, world.names())
        outside = any(broken(a, same, {}) for a in TRUE.given(true) if isinstance(a, Assumption))
        if message and not outside:
            errors.append(f"the true step fails on its counterexample: {message}")
    return report | {
        "counterexample": str(found) if found.draw else "",
        "refuted": found.draw is not None, "derivation_fails": fails, "errors": errors,
    }  # fmt: skip


def necessity(theorem: Theorem, rng: Random) -> dict[str, dict[str, str]]:
    """Every assumption dropped against every clause: needed, not used, or no counterexample found."""
    matrix: dict[str, dict[str, str]] = {}
    for clause in theorem.clauses:
        steps = [s for s in clause.steps if not isinstance(s, Witness | Cited)]
        for assumption in {a.id: a for s in steps for a in TRUE.given(s) if isinstance(a, Assumption)}.values():
            users = [s for s in steps if assumption in TRUE.given(s)]
            tries = (search(s, World(drop=(assumption,)), rng, MUTANT_TRIES).draw for s in users)
            needed = any(draw is not None for draw in tries)
            row = matrix.setdefault(assumption.id, {c.name: "not used" for c in theorem.clauses})
            row[clause.name] = "needed" if needed else "no counterexample found"
    return matrix


def examine(clause: Clause, rng: Random) -> tuple[list[str], Counter[str]]:
    """Failures of a clause; counts of symbolic and rational instances and of searched ones."""
    failures, counts = [], Counter[str]()
    for step in clause.steps:
        try:
            derive(step)
        except (Failed, Refused, Undecided) as error:
            failures.append(f"derivation: {error}")
        if isinstance(step, Witness | Cited):
            continue
        try:
            symbolic, rational, difference = instances(step)
            found = search(step, TRUE, rng, TRIES)
        except (Rejected, Refused) as error:
            failures.append(f"{step.id}: no exact instance can be built: {error}")
            continue
        counts.update(instances=symbolic, rational_instances=rational, tries=found.valid)
        if difference:
            failures.append(f"{step.id}: exact instance differs {difference}")
        if found.draw:
            failures.append(f"{step.id}: refuted by {found}")
        if not found.valid:
            failures.append(f"{step.id}: its assumptions are contradictory, no instance has them")
    return failures, counts


def verify(theorem: Theorem, seed: int = 0) -> dict[str, Any]:
    """Everything exact about a theorem, as a JSON-ready record; deterministic for a given seed."""
    start, rng = perf_counter(), Random(crc32(theorem.id.encode()) ^ seed)
    steps = [step for clause in theorem.clauses for step in clause.steps]
    cited = [step for step in steps if isinstance(step, Cited)]
    errors = [f"{theorem.id}: no mutants"] if not theorem.mutants else []
    names = [s.id for s in steps] + [f"mutant {m.id}" for m in theorem.mutants]
    errors += [f"{theorem.id}: {name} occurs twice" for name in {n for n in names if names.count(n) > 1}]
    clauses, total = [], Counter[str]()
    for clause in theorem.clauses:
        failures, counts = examine(clause, rng)
        failures = [f"{theorem.id}.{clause.name}: {failure}" for failure in failures]
        clauses.append({"name": clause.name, "level": level(clause, counts["instances"]), "failures": failures})
        total.update(counts)
    mutants = [refute(mutant, theorem, rng) for mutant in theorem.mutants]
    errors += [f"{theorem.id}.{m['step']}: mutant {m['id']}: {e}" for m in mutants for e in m["errors"]]
    matrix = necessity(theorem, rng)
    errors += [f"{theorem.id}: no clause needs {a}" for a, row in matrix.items() if "needed" not in row.values()]
    return {
        "id": theorem.id, "title": theorem.title, "steps": len(steps),
        "steps_checked": len(steps) - len(cited), "steps_cited": len(cited),
        "cited": [{"id": c.id, "statement": c.statement, "source": c.source} for c in cited],
        "clauses": clauses, "instances": total["instances"],
        "rational_instances": total["rational_instances"], "mutants": len(mutants),
        "mutants_refuted": sum(not m["errors"] for m in mutants), "mutant_details": mutants,
        "necessity": matrix, "self_refutation": {"tries": total["tries"]}, "errors": errors,
        "ok": not errors and not any(c["failures"] for c in clauses),
        "seconds": perf_counter() - start,
    }  # fmt: skip
