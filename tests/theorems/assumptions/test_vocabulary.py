"""The vocabulary: one object of one name for each hypothesis, and locals beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sympy import IndexedBase

import theorems
from theorems.assumptions.entries import right_inverse, signed
from theorems.assumptions.vocabulary import VOCABULARY, Hypothesis, hypothesis
from theorems.catalogue import CATALOGUE, load
from theorems.statement import Assumption, Local, array, symbols_of

PACKAGE = Path(theorems.__file__).parent
n, m = symbols_of("n m")
P = array("P", n, m)


@pytest.fixture(scope="module", autouse=True)
def whole_vocabulary() -> None:
    """Every module with an entry is one that some theorem imports."""
    for identifier in CATALOGUE:
        load(identifier)


def called(node: ast.AST) -> str:
    return getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""


def named(source: str) -> Iterator[str]:
    """The names that a module gives to entries, to factories of locals and to locals."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            entry = any(called(decorator) == "hypothesis" for decorator in node.decorator_list)
            if entry or (node.returns and "Local" in ast.unparse(node.returns)):
                yield node.name
        elif isinstance(node, ast.Assign) and any(
            called(part) == "Local" for part in ast.walk(node.value)
        ):
            names = [part for target in node.targets for part in ast.walk(target)]
            yield from (part.id for part in names if isinstance(part, ast.Name))


def twice(sources: dict[str, str]) -> list[str]:
    """Which name two hypotheses have, and where."""
    places: dict[str, list[str]] = {}
    for path, source in sources.items():
        for name in named(source):
            places.setdefault(name, []).append(path)
    return [f"{name}: {', '.join(where)}" for name, where in places.items() if len(where) > 1]


def sources() -> dict[str, str]:
    return {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def test_no_two_hypotheses_have_one_name() -> None:
    found = sources()
    assert {name for source in found.values() for name in named(source)} > VOCABULARY.keys()
    assert twice(found) == []


@pytest.mark.parametrize(
    "source",
    [
        '@hypothesis(P)\ndef signed(P): return Assumption("", "")',
        'def signed(P) -> Local: return Local("", "")',
        'signed, other = Local("", ""), 1',
        'other, signed = (Local("", "") for _ in range(2))',
    ],
)
def test_a_second_hypothesis_of_one_name_is_found(source: str) -> None:
    assert twice(sources() | {"planted.py": source}) == [
        "signed: assumptions/entries.py, planted.py"
    ]


def test_no_module_makes_an_assumption_outside_an_entry() -> None:
    """What no entry makes is a Local; a bare `Assumption(...)` stands in factories alone."""
    bare = []
    for path, source in sources().items():
        for node in ast.parse(source).body:
            entry = isinstance(node, ast.FunctionDef) and any(
                called(decorator) == "hypothesis" for decorator in node.decorator_list
            )
            calls = [part for part in ast.walk(node) if called(part) == "Assumption"]
            bare += [f"{path}: {ast.unparse(part)}" for part in calls if not entry]
    assert bare == []


@pytest.mark.parametrize("name", ["right_inverse", "orthogonal", "sums_to_one", "complete"])
def test_an_entry_has_a_name_a_sentence_and_an_example(name: str) -> None:
    entry = VOCABULARY[name]
    example = entry.example()
    assert (entry.name, example.hypothesis) == (name, name)
    assert entry.module.startswith("theorems.assumptions.")
    assert entry.sentence.endswith(".")
    assert "\n" not in entry.sentence


def test_every_entry_can_be_shown() -> None:
    for entry in VOCABULARY.values():
        example = entry.example()
        assert example.rules or example.signs, f"{entry.name} says nothing"
        assert entry.sentence, f"{entry.name} has no sentence"


def test_an_instance_knows_its_entry_which_enters_neither_equality_nor_hash() -> None:
    instance = signed(P, ">0")
    bare = Assumption(instance.id, instance.text, signs=instance.signs)
    assert (instance.hypothesis, bare.hypothesis) == ("signed", "")
    assert instance == bare
    assert hash(instance) == hash(bare)
    with_its_own_words = replace(right_inverse(P, array("R", m, n)), text="words of a theorem")
    assert with_its_own_words.hypothesis == "right_inverse"


def test_a_local_is_an_assumption_of_no_entry() -> None:
    local = replace(Local("P is given", "P is given"), text="other words")
    assert isinstance(local, Local)
    assert isinstance(local, Assumption)
    assert local.hypothesis == ""


def test_a_second_entry_of_one_name_is_refused() -> None:
    before = dict(VOCABULARY)

    def signed(array: IndexedBase) -> Assumption:
        """Another hypothesis of a name that is taken."""
        return Assumption(f"{array} is other", "")

    with pytest.raises(ValueError, match=r"^hypothesis signed of .*: a new name is expected, "):
        hypothesis(P)(signed)
    assert VOCABULARY == before


def test_an_entry_without_a_sentence_is_refused() -> None:
    def unsaid(array: IndexedBase) -> Assumption:
        return Assumption(f"{array} is other", "")

    with pytest.raises(ValueError, match=r"^hypothesis unsaid: a docstring is expected"):
        hypothesis(P)(unsaid)
    assert "unsaid" not in VOCABULARY


def test_an_entry_shows_its_module_and_name() -> None:
    assert isinstance(VOCABULARY["signed"], Hypothesis)
    assert repr(VOCABULARY["signed"]) == "Hypothesis(theorems.assumptions.entries.signed)"
