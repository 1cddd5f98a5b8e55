"""The index of hypotheses is current, and every assumption of a theorem is one of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sympy import Integer

from paper_checks.hypotheses import MUTANTS, PAGE, faults, page, uses
from theorems.assumptions.entries import signed
from theorems.assumptions.vocabulary import VOCABULARY
from theorems.catalogue import CATALOGUE, load
from theorems.statement import Assumption, Clause, Local, Mutant, Step, Theorem, array, symbols_of

(n,) = symbols_of("n")
P = array("P", n)
BARE = Assumption("P is bare", "$P$ is bare", signs=((P, ">0"),))
LOCAL = Local("P is local", "$P$ is local", rules=((P[n], Integer(1)),))
SLACK = Local("P>=0", "$a \\le b$", signs=((P, ">=0"),))


def theorem(name: str, *given: Assumption) -> Theorem:
    """A theorem of one step with these hypotheses."""
    step = Step(id="step", lhs=P[n], rhs=P[n], by=given, because="")
    return Theorem(name, "", (Clause("clause", "", (step,)),), (), ())


@pytest.fixture(scope="module")
def written() -> str:
    return page()


@pytest.mark.slow
def test_the_committed_page_is_the_one_that_is_written(written: str) -> None:
    assert PAGE.read_text(encoding="utf-8") == written, "run `python -m paper_checks.hypotheses`"


@pytest.mark.slow
def test_the_page_lists_every_hypothesis_with_its_users(written: str) -> None:
    listed = uses(map(load, CATALOGUE))
    sections = {part.split("`")[0]: part for part in written.split("\n### `")[1:]}
    assert sections.keys() == VOCABULARY.keys()
    assert "used by no theorem" not in written
    for item, places in listed:
        assert all(clauses for clauses in places.values()), item.id
        for place in places:
            if item.hypothesis:
                users = sections[item.hypothesis].split("used by ")[1]
                assert f"{place}: " in users, f"{item.hypothesis} is not listed for {place}"
            else:
                own = written.split(f"\n### {place}\n")[1].split("\n### ")[0]
                assert f"- `{item.id}`, " in own, f"{place} does not list {item.id}"


@pytest.mark.slow
def test_every_assumption_is_of_the_vocabulary_or_of_one_theorem_alone() -> None:
    theorems = [load(identifier) for identifier in CATALOGUE]
    assert len(uses(theorems)) > 500
    assert faults(theorems) == []


def test_what_is_of_the_vocabulary_or_of_one_theorem_passes() -> None:
    first = theorem("A", LOCAL, SLACK, signed(P, ">0"))
    second = theorem("B", signed(P, ">0"), replace(SLACK, text="$c \\le d$"))
    assert faults([first, second]) == []


@pytest.mark.parametrize(
    ("theorems", "fault"),
    [
        ([theorem("A", BARE)], "A: 'P is bare' is neither of the vocabulary nor a Local"),
        ([theorem("A", LOCAL), theorem("B", LOCAL)], "A, B: 'P is local' is no Local of one"),
        (
            [theorem("A", LOCAL), theorem("B", replace(LOCAL, text="in other words"))],
            "A, B: 'P is local' is no Local of one",
        ),
        ([theorem("A", SLACK), theorem("B", replace(SLACK))], "A, B: 'P>=0' is no Local of one"),
        (
            [theorem("A", replace(BARE, hypothesis="unheard_of"))],
            "A: 'P is bare' is of unheard_of, which is no hypothesis",
        ),
    ],
    ids=["bare", "one local of two", "two that say the same", "two of one slack", "unknown entry"],
)
def test_a_planted_hypothesis_is_found(theorems: list[Theorem], fault: str) -> None:
    assert faults(theorems) == [fault]


def test_what_a_mutant_assumes_is_looked_at_too() -> None:
    plain = theorem("A", LOCAL)
    mutant = Mutant("wrong", plain.clauses[0].steps[0], "", add=(BARE,))
    planted = replace(plain, mutants=(mutant,))
    assert faults([planted]) == ["A: 'P is bare' is neither of the vocabulary nor a Local"]
    assert (BARE, {"A": [MUTANTS]}) in uses([planted])
