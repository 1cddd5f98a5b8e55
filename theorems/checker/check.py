"""A theorem checked in full: derivations, instances, mutants, self-refutation, necessity, level."""

from collections import Counter
from itertools import product
from random import Random
from time import perf_counter
from zlib import crc32

from theorems.checker.derive import Failed, derive
from theorems.checker.exact import Rejected
from theorems.checker.instances import Search, broken, instances, search, violation
from theorems.checker.records import CitedRecord, ClauseRecord, MutantRecord, Refutation
from theorems.checker.records import Verification
from theorems.statement import Assumption, Cited, Clause, Mutant, Rule, Step, Theorem, Witness
from theorems.checker.sums import Refused, Undecided
from theorems.checker.wellformed import given_fault
from theorems.checker.world import TRUE, World

TRIES, MUTANT_TRIES = 60, 10_000
UNSEARCHED = (Witness, Cited)


def level(clause: Clause, instances_run: int) -> str:
    """G if all that the steps rest on is free of dimensions, S with exact instances, N without."""
    rests = [part for step in clause.steps for part in (*TRUE.closure(step), step)]
    if rests and not any(isinstance(part, Step) and part.shapes_only for part in rests):
        return "G"
    return "S" if instances_run else "N"


def obstacle(step: Rule, world: World = TRUE) -> Exception | None:
    """Why a step does not follow, or None."""
    try:
        return derive(step, world)
    except (Failed, Refused, Undecided, Rejected) as error:
        return error
    except RecursionError:
        return Refused(f"{step.id}: its definitions rest on themselves")


def refute(mutant: Mutant, theorem: Theorem, seed: int, truth: World = TRUE) -> Refutation:
    """Try to derive the mutant's claim, and search for a counterexample to it."""
    rng = Random(crc32(f"{theorem.id} {mutant.id}".encode()) ^ seed)
    world = World(mutant.drop, mutant.add, mutant.redefine, {})
    true = next((s for c in theorem.clauses for s in c.steps if s.id == mutant.claim.id), None)
    errors = [] if true else [f"no step is called {mutant.claim.id}"]
    reason = obstacle(mutant.claim, world)
    idle = isinstance(reason, Refused) or isinstance(mutant.claim, UNSEARCHED)
    found = Search(0) if idle else search(mutant.claim, world, rng, MUTANT_TRIES)
    if not isinstance(reason, Failed):
        errors.append(f"its derivation does not fail: {reason or 'it passes'}")
    if found.draw is None:
        errors.append(f"no counterexample in {found.valid} exact instances")
    elif true and not isinstance(true, UNSEARCHED) and obstacle(true, truth) is None:
        same = found.draw.redefined(TRUE.given(true))
        message = violation(true, same)
        outside = any(broken(a, same) for a in TRUE.given(true) if isinstance(a, Assumption))
        if message and not outside:
            errors.append(f"the true step fails on its counterexample: {message}")
    record = MutantRecord(
        id=mutant.id, step=mutant.claim.id, text=mutant.text, counterexample=str(found),
        refuted=found.draw is not None, derivation_fails=isinstance(reason, Failed))
    return Refutation(record, tuple(errors))


def necessity(theorem: Theorem, rng: Random, truth: World = TRUE) -> dict[str, dict[str, str]]:
    """Every assumption dropped against every clause: is there then a counterexample?"""
    matrix: dict[str, dict[str, str]] = {}
    for clause in theorem.clauses:
        steps = [s for s in clause.steps if not isinstance(s, UNSEARCHED)]
        sound = [s for s in steps if obstacle(s, truth) is None]
        found = [a for s in steps for a in TRUE.given(s) if isinstance(a, Assumption)]
        for assumption in {a.id: a for a in found}.values():
            users = [s for s in sound if assumption in TRUE.given(s)]
            world, rounds = World(drop=(assumption,)), product((TRIES, 600, MUTANT_TRIES), users)
            tries = (search(step, world, rng, most).draw for most, step in rounds)
            row = matrix.setdefault(assumption.id, {c.name: "not used" for c in theorem.clauses})
            row[clause.name] = "needed" if any(tries) else "no counterexample found"
    return matrix


def examine(
    clause: Clause, rng: Random, truth: World = TRUE
) -> tuple[list[str], Counter[str]]:
    """Failures of a clause; counts of symbolic and rational instances and of searched ones."""
    failures, counts = [], Counter[str]()
    for step in clause.steps:
        if (reason := obstacle(step, truth)) is not None:
            failures.append(f"derivation of {step.id}: {reason}")
        if isinstance(step, UNSEARCHED) or isinstance(reason, Refused):
            continue
        symbolic, rational, difference = instances(step)
        found = search(step, TRUE, rng, TRIES)
        counts.update(instances=symbolic, rational_instances=rational, tries=found.valid)
        if difference:
            failures.append(f"{step.id}: exact instance differs {difference}")
        if found.draw:
            failures.append(f"{step.id}: refuted by {found}")
        elif not found.valid or found.stuck:
            sizes = ", ".join(f"{name} > 1" for name in sorted(found.stuck)) or "any sizes"
            failures.append(f"{step.id}: contradictory assumptions, no instance with {sizes}")
    return failures, counts


def verify(theorem: Theorem, seed: int = 0) -> Verification:
    """Everything exact about a theorem; deterministic for a given seed."""
    start, rng = perf_counter(), Random(crc32(theorem.id.encode()) ^ seed)
    truth = World(memory={})
    steps = [step for clause in theorem.clauses for step in clause.steps]
    rests = [part for step in steps for part in (*TRUE.closure(step), step)]
    rules = list({part.id: part for part in rests if isinstance(part, Rule)}.values())
    cited = [rule for rule in rules if isinstance(rule, Cited)]
    errors = [] if theorem.mutants else [f"{theorem.id}: no mutants"]
    loose = [r.id for r in rules if getattr(r, "shapes_only", r in cited) and r not in steps]
    errors += [f"{theorem.id}: {name} is used, but stands in no clause" for name in loose]
    names = Counter([s.id for s in steps] + [f"mutant {m.id}" for m in theorem.mutants])
    names.update(f"clause {clause.name}" for clause in theorem.clauses)
    if fault := given_fault(part for part in rests if isinstance(part, Assumption)):
        errors.append(f"{theorem.id}: {fault}")
    errors += [f"{theorem.id}: {name} occurs twice" for name, times in names.items() if times > 1]
    clauses, total = list[ClauseRecord](), Counter[str]()
    for clause in theorem.clauses:
        failures, counts = examine(clause, rng, truth)
        lines = tuple(f"{theorem.id}.{clause.name}: {failure}" for failure in failures)
        clauses.append(ClauseRecord(clause.name, level(clause, counts["instances"]), lines))
        total.update(counts)
    refutations = tuple(refute(mutant, theorem, seed, truth) for mutant in theorem.mutants)
    for mutant in refutations:
        name = f"{theorem.id}.{mutant.record.step}: mutant {mutant.record.id}"
        errors += [f"{name}: {error}" for error in mutant.errors]
    matrix = necessity(theorem, rng, truth)
    for assumption, row in matrix.items():
        if "needed" not in row.values():
            errors.append(f"{theorem.id}: no clause needs {assumption}")
    return Verification(
        id=theorem.id, title=theorem.title, steps=len(rules),
        steps_checked=sum(obstacle(rule, truth) is None for rule in rules) - len(cited),
        cited=tuple(CitedRecord(c.id, c.statement, c.source) for c in cited),
        clauses=tuple(clauses), instances=total["instances"],
        rational_instances=total["rational_instances"], refutations=refutations,
        necessity=matrix, self_refutation_tries=total["tries"], errors=tuple(errors),
        seconds=perf_counter() - start)
