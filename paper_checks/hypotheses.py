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


def _entry(entry: Hypothesis, instances: Iterable[Places]) -> Iterator[str]:
    places: Places = {}
    for some in instances:
        for theorem, clauses in some.items():
            known = places.setdefault(theorem, [])
            known += [clause for clause in clauses if clause not in known]
    example = entry.example()
    yield from ("", f"### `{entry.name}`", "", _shown(entry.sentence), "")
    yield f"- {_shown(example.text)}"
    yield from _says(example)
    yield f"- module: `{entry.module.replace('.', '/')}.py`"
    order = sorted(places.items(), key=lambda item: [*CATALOGUE].index(item[0]))
    yield f"- used by {_of(dict(order)) or 'no theorem'}"


def page() -> str:
    """The index page in Markdown."""
    used = uses(map(load, CATALOGUE))
    locals_ = [(item, places) for item, places in used if not item.hypothesis]
    lines = [INTRODUCTION, "", f"## The vocabulary: {len(VOCABULARY)} hypotheses"]
    for name in sorted(VOCABULARY):
        lines += _entry(VOCABULARY[name], [p for item, p in used if item.hypothesis == name])
    lines += ["", f"## Of one theorem alone: {len(locals_)} hypotheses"]
    for theorem in CATALOGUE:
        own = [(item, places) for item, places in locals_ if theorem in places]
        lines += ["", f"### {theorem}", ""] if own else []
        for item, places in own:
            lines.append(f"- **{_shown(item.id)}**, {', '.join(places[theorem])}: "
                         f"{_shown(item.text)}")  # fmt: skip
            lines += _says(item)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
