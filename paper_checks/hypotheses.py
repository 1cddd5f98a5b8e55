"""The index of all hypotheses, written from the objects: `python -m paper_checks.hypotheses`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from paper_checks.expressions import equation, latex
from theorems.assumptions.vocabulary import VOCABULARY, Hypothesis
from theorems.catalogue import CATALOGUE, load
from theorems.checker.world import TRUE
from theorems.statement import Assumption, Local, Rule, Theorem

PAGE = Path(__file__).parents[1] / "theorems" / "assumptions" / "README.md"
MUTANTS = "mutants"  # stands where a clause stands for what only near-misses assume
SIGNS = {">0": "> 0", ">=0": r"\ge 0", "!=0": r"\ne 0"}
INTRODUCTION = """\
# Hypotheses

This page is written by `python -m paper_checks.hypotheses` from the objects, and a test compares
the two. A hypothesis of the vocabulary is one factory of `theorems/assumptions/`; a theorem uses it
on its own arrays, at times in words and with an exact construction of its own. The others are of
one theorem alone. Rules are used from left to right; clauses follow the theorems that use them."""

Places = dict[str, list[str]]  # theorem -> its clauses


def reached(theorem: Theorem) -> Iterator[tuple[str, Assumption]]:
    """Every assumption of a theorem, with the clause that rests on it, or `MUTANTS`."""
    rules: list[tuple[str, Rule]] = [
        (clause.name, step) for clause in theorem.clauses for step in clause.steps
    ]
    rules += [(MUTANTS, mutant.claim) for mutant in theorem.mutants]
    found = [(place, item) for place, rule in rules for item in TRUE.closure(rule)]
    found += [(MUTANTS, item) for m in theorem.mutants for item in (*m.drop, *m.add)]
    for place, item in found:
        if isinstance(item, Assumption):
            yield place, item


def uses(theorems: Iterable[Theorem]) -> list[tuple[Assumption, Places]]:
    """Every assumption of the theorems, each object once, with the clauses that rest on it."""
    found: dict[int, tuple[Assumption, Places]] = {}
    for theorem in theorems:
        for place, item in reached(theorem):
            clauses = found.setdefault(id(item), (item, {}))[1].setdefault(theorem.id, [])
            if place not in clauses and (place != MUTANTS or not clauses):
                clauses.append(place)
    return list(found.values())


def faults(theorems: Iterable[Theorem]) -> list[str]:
    """What keeps the assumptions from being one vocabulary: each is an instance of an entry, or a
    `Local` of one theorem, and no two theorems say the same in locals of their own."""
    found, said = [], {}
    for item, places in uses(theorems):
        where = ", ".join(places)
        if item.hypothesis and item.hypothesis not in VOCABULARY:
            found.append(f"{where}: {item.id!r} is of {item.hypothesis}, which is no hypothesis")
        elif not item.hypothesis and not isinstance(item, Local):
            found.append(f"{where}: {item.id!r} is neither of the vocabulary nor a Local")
        elif not item.hypothesis:
            # A sign alone says nothing of what its slack is: there the words are the hypothesis.
            content = (item.rules, item.signs, "" if item.rules else item.text)
            others = said.setdefault(content, dict(places))
            if len(all_users := {**others, **places}) > 1:
                found.append(f"{', '.join(all_users)}: {item.id!r} is no Local of one")
    return found


def _shown(text: str) -> str:
    """A text of the suite in Markdown, which leaves formulas between dollar signs alone."""
    parts = re.split(r"\$([^$]*)\$", text)
    plain = [re.sub(r"([*<])", r"\\\1", part) for part in parts[::2]]
    formulas = [f"$`{part}`$" for part in parts[1::2]] + [""]
    return "".join(a + b for a, b in zip(plain, formulas, strict=True))


def _says(item: Assumption) -> Iterator[str]:
    for rule in item.rules:
        yield f"  - $`{equation(rule)}`$"
    for array, sign in item.signs:
        yield f"  - $`{latex(array)} {SIGNS[sign]}`$"


def _of(places: Places) -> str:
    return "; ".join(f"{theorem}: {', '.join(clauses)}" for theorem, clauses in places.items())


def _together(uses_of_one: Iterable[Places]) -> Places:
    """The clauses of several objects, theorem by theorem in the order of the catalogue."""
    found: Places = {}
    for places in uses_of_one:
        for theorem, clauses in places.items():
            known = found.setdefault(theorem, [])
            known += [clause for clause in clauses if clause not in known]
    for clauses in found.values():
        if len(clauses) > 1 and MUTANTS in clauses:
            clauses.remove(MUTANTS)
    return {theorem: found[theorem] for theorem in CATALOGUE if theorem in found}


def _entry(entry: Hypothesis, places: Places) -> Iterator[str]:
    example = entry.example()
    yield from ("", f"### `{entry.name}`", "", _shown(entry.sentence), "")
    yield f"- {_shown(example.text)}"
    yield from _says(example)
    yield f"- module: `{entry.module.replace('.', '/')}.py`"
    yield f"- used by {_of(places) or 'no theorem'}"


def page() -> str:
    """The index page in Markdown."""
    used = uses(map(load, CATALOGUE))
    own: dict[tuple, tuple[Assumption, list[Places]]] = {}  # what is said once, by several objects
    for item, places in used:
        if not item.hypothesis:
            content = (*places, item.id, item.text, item.rules, item.signs)
            own.setdefault(content, (item, []))[1].append(places)
    locals_ = [(item, _together(places)) for item, places in own.values()]
    lines = [INTRODUCTION, "", f"## The vocabulary: {len(VOCABULARY)} hypotheses"]
    for name in sorted(VOCABULARY):
        lines += _entry(VOCABULARY[name], _together(p for i, p in used if i.hypothesis == name))
    lines += ["", f"## Of one theorem alone: {len(locals_)} hypotheses"]
    for theorem in CATALOGUE:
        here = [(item, places) for item, places in locals_ if theorem in places]
        lines += ["", f"### {theorem}", ""] if here else []
        for item, places in here:
            clauses = ", ".join(places[theorem])
            lines.append(f"- `{item.id}`, {clauses}: {_shown(item.text)}")
            lines += _says(item)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
