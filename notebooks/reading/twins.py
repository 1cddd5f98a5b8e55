"""Exact instances of theorems: of their steps at given arrays, and of their false twins."""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
from flint import fmpq
from sympy import Expr, IndexedBase, Symbol

from paper_checks import formulas
from paper_checks.exposition import ReadMutant, exposition, given
from paper_checks.report import TheoremRecord
from reading.statements import prose, show
from theorems.checker.exact import Draw, SmallIntegers
from theorems.checker.instances import Search, broken, search, violation
from theorems.checker.world import TRUE, World
from theorems.statement import Assumption, Definition, Mutant, Rule, Theorem, Witness

SEEDS, TRIES = 20, 400  # of the search for a small counterexample


def step_of(theorem: Theorem, identifier: str) -> Any:
    """A step by its id; KeyError if there is none."""
    return {step.id: step for c in theorem.clauses for step in c.steps}[identifier]


def arrays_in(item: Any) -> set[IndexedBase]:
    """The arrays that a step, a definition or an assumption speaks of."""
    if isinstance(item, Expr):
        return item.atoms(IndexedBase)
    if isinstance(item, Rule | Definition | Assumption):
        return arrays_in(tuple(vars(item).values()))
    return set().union(*map(arrays_in, item)) if isinstance(item, tuple | list) else set()


def instance(rule: Rule, arrays: Mapping[Any, Any]) -> Draw:
    """An exact instance of a rule at arrays, given by name or by the array object.

    What they leave free is drawn at random.
    """
    given_items = TRUE.given(rule)
    bases = {str(base): base for base in arrays_in((rule, *given_items))}
    draw = Draw(SmallIntegers(Random(0)), [i for i in given_items if isinstance(i, Definition)])
    for name, entries in arrays.items():
        array = bases.get(name) if isinstance(name, str) else name
        for index, value in np.ndenumerate(np.array(entries, dtype=object)):
            if array is not None:
                draw.put(array, tuple(k + 1 for k in index), fmpq(value))
                draw.sizes |= {str(s): k + 1 for s, k in zip(array.shape, index, strict=True)}
    return draw


def exact_check(name: str, rule: Rule, arrays: Mapping[Any, Any], width: int = 32) -> None:
    """Evaluate a step and its hypotheses at the arrays; every index, no rounding."""
    draw = instance(rule, arrays)
    faults = [broken(a, draw) for a in TRUE.given(rule) if isinstance(a, Assumption)]
    print(f"{name:{width}} {'holds' if violation(rule, draw) is None else 'FAILS'}, hypotheses",
          "hold" if not any(faults) else "FAIL")  # fmt: skip


def real(values: Any) -> np.ndarray:
    """Exact numbers as floats, for drawing."""
    return np.vectorize(float)(np.array(values, dtype=object))


def rational(array: np.ndarray) -> np.ndarray:
    """The floats as the rational numbers that they are."""
    return np.vectorize(lambda v: fmpq(*float(v).as_integer_ratio()), otypes=[object])(array)


def values(**arrays: Any) -> list[str]:
    """Named exact arrays as formulas."""
    lists = {Symbol(name): np.array(v, dtype=object).tolist() for name, v in arrays.items()}
    return formulas.rule_formulas(Witness(id="values", because="", values=lists))


def arrays_of(draw: Draw) -> dict[Symbol, Any]:
    """The free arrays of an instance as nested lists."""
    found: dict[str, dict] = {}
    for (name, index), value in sorted(draw.entries.items()):
        if name not in draw.definitions:
            found.setdefault(name, {})[index] = value
    lists: dict[Symbol, Any] = {}
    for name, entries in found.items():
        if () in entries:  # a number, no array
            lists[Symbol(name)] = entries[()]
            continue
        full = np.full(np.max(list(entries), axis=0), Symbol(r"{\cdot}"), dtype=object)
        for index, value in entries.items():
            full[tuple(k - 1 for k in index)] = value
        lists[Symbol(name)] = full.tolist()
    return lists


def smallest(mutant: Mutant, seeds: int = SEEDS) -> Search:
    """The smallest counterexample of some searches: few entries, few zeros, small numbers.

    Of an iff, an instance on which the left side holds and the right one fails goes first.
    """
    world = World(mutant.drop, mutant.add, mutant.redefine)
    best = None
    for seed in range(seeds):
        found = search(mutant.claim, world, Random(seed), TRIES)
        if found.draw is None:
            continue
        free = [fmpq(v) for (name, _), v in found.draw.entries.items()
                if name not in found.draw.definitions]  # fmt: skip
        size = sum(abs(v.p) + v.q for v in free)
        cost = ("left at" in found.message, len(free), sum(v == 0 for v in free), size, seed)
        best = min(best or (cost, found), (cost, found), key=lambda pair: pair[0])
    return best[1] if best else Search(0)


def where(message: str) -> str:
    """The place and the values of a failure, in words."""
    message = re.sub(r"\{(.*?)\}", lambda match: match[1].replace(": ", " = "), message)
    for side in ("left", "right"):
        message = message.replace(f"{side} holds", f"the {side} side holds")
        message = message.replace(f"{side} at", f"the {side} side fails at")
    return message.removeprefix("at : ").replace(">", "&gt;")


def false_twins(theorem: Theorem, record: TheoremRecord, seeds: int = SEEDS) -> None:
    """Each mutant: its claim, what it changes, and an exact counterexample."""
    shown = exposition(theorem, record)
    own = given([s for c in theorem.clauses for s in c.steps], Definition)
    show(f"#### False twins of {theorem.id}")
    for mutant, read in zip(theorem.mutants, shown.mutants, strict=True):
        changes = [f"without: {prose(t)}" for t in read.without]
        changes += [f"instead: {prose(t)}" for t in read.instead]
        others = [d for d in given([mutant.claim], Definition) if d not in own]
        display_formulas = [*map(formulas.definition, others), *read.formulas]
        fails = read.record.refuted and read.record.derivation_fails
        show(
            f"**{theorem.id}:{mutant.id}** " + "; ".join([prose(mutant.text), *changes]),
            *(f"$${f}$$" for f in display_formulas),
            ("**False**: " if fails else "**NOT REFUTED**: ")
            + f"{counterexample(mutant, read, seeds)}.",
        )  # fmt: skip
    refuted = f"{record.mutants_refuted} of {record.mutants}"
    print(f"{theorem.id}: {refuted} refuted; none of them has a derivation that passes")


def counterexample(mutant: Mutant, read: ReadMutant, seeds: int) -> str:
    """The smallest that is found here, or else the one of the run."""
    found = smallest(mutant, seeds)
    if found.draw is None:
        return where(read.record.counterexample)
    entries = formulas.rule_formulas(Witness(id="found", because="", values=arrays_of(found.draw)))
    return f"{where(found.message)}, with " + ", ".join(f"${e}$" for e in entries)
