"""A digest changes with all that is stated, and with nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sympy import Sum, Symbol, symbols

from paper_checks.digests import digest
from theorems import catalogue
from theorems.rules import Induction
from theorems.statement import (
    Assumption,
    Clause,
    Definition,
    Mutant,
    Step,
    Theorem,
    array,
    symbols_of,
)

ROOT = Path(__file__).resolve().parents[2]
CW1 = catalogue.load("CW1")
(n,), (i, j) = symbols_of("n"), symbols_of("i j")
x, y = array("x", n), array("y", n)
CHANGES: dict[str, tuple[type, dict[str, Any]]] = {
    "a title": (Theorem, {"title": "Another"}),
    "a source": (Theorem, {"sources": ("another",)}),
    "a theorem that it uses": (Theorem, {"uses": ("CW2",)}),
    "one mutant fewer": (Theorem, {"mutants": CW1.mutants[1:]}),
    "a clause's sentence": (Clause, {"statement": "Another."}),
    "a clause's name": (Clause, {"name": "another"}),
    "a clause's steps": (Clause, {"steps": ()}),
    "a step's reason": (Step, {"because": "It is so."}),
    "a step's left side": (Step, {"lhs": x[i]}),
    "a step's right side": (Step, {"rhs": x[i]}),
    "what a step rests on": (Step, {"by": ()}),
    "a step of shapes only": (Step, {"shapes_only": True}),
    "a hypothesis's id": (Assumption, {"id": "another"}),
    "a hypothesis's text": (Assumption, {"text": "another"}),
    "a hypothesis's equations": (Assumption, {"rules": ((x[i], y[i]),)}),
    "a hypothesis's signs": (Assumption, {"signs": ((x, ">0"),)}),
    "a definition's value": (Definition, {"value": y[i]}),
    "a mutant's text": (Mutant, {"text": "another"}),
    "a mutant's claim": (Mutant, {"claim": Step(id="another", lhs=x[i], rhs=y[i], because="")}),
    "what a mutant drops": (Mutant, {"drop": (Assumption("another", ""),)}),
}


def test_each_change_of_what_is_stated_has_its_own_digest(changed: Callable[..., Theorem]) -> None:
    found = {name: digest(changed(CW1, kind, **changes))
             for name, (kind, changes) in CHANGES.items()}  # fmt: skip
    assert len({digest(CW1), *found.values()}) == 1 + len(CHANGES), found


def test_how_instances_are_filled_is_not_stated(changed: Callable[..., Theorem]) -> None:
    other = changed(CW1, Assumption, impose=print)
    assert other != CW1
    assert digest(other) == digest(CW1)


def test_the_claim_of_an_induction_is_stated(changed: Callable[..., Theorem]) -> None:
    theorem = catalogue.load("CW11")
    other = changed(theorem, Induction, claim=lambda label: (array(f"x_{label}", n)[i], y[i]))
    assert digest(other) != digest(theorem)


def test_equal_statements_have_one_digest() -> None:
    again = replace(CW1, clauses=tuple(replace(clause) for clause in CW1.clauses))
    assert again is not CW1
    assert digest(again) == digest(CW1)


def test_the_order_in_which_assumptions_of_a_symbol_are_given_is_not_stated() -> None:
    one = Symbol("k", integer=True, positive=True)
    other = Symbol("k", positive=True, integer=True)
    assert digest(Sum(x[one] + y[one], (one, 1, n))) == digest(Sum(y[other] + x[other],
                                                                   (other, 1, n)))  # fmt: skip
    assert digest(Symbol("k", integer=True)) != digest(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (x[i] + y[j], x[i] + y[i]),
        (x[i] - y[i], y[i] - x[i]),
        (Sum(x[i], (i, 1, n)), Sum(x[i], (i, 2, n))),
        (x[i], array("x", n + 1)[i]),
        (array("x", n)[i], array("z", n)[i]),
        (Definition(x[i], y[i]), Definition(y[i], x[i])),
        (1, True),
        ("1", 1),
        (("a", "b"), ("a, b",)),
        (symbols("a b"), symbols("a, c")),
    ],
)
def test_what_differs_has_another_digest(one: Any, other: Any) -> None:
    assert digest(one) != digest(other)


def test_what_states_nothing_has_no_digest() -> None:
    for value in (object(), lambda: 0, {1, 2}, 0.5):
        with pytest.raises(TypeError, match=f"expected what is stated, got {type(value).__name__}"):
            digest(value)


@pytest.mark.slow
def test_digests_are_those_of_another_process_with_another_order_of_imports() -> None:
    program = (
        "import sys\nfrom paper_checks.digests import digest\nfrom theorems import catalogue\n"
        "ids = sorted(catalogue.CATALOGUE, reverse=sys.argv[1] == 'back')\n"
        "found = {i: digest(catalogue.load(i)) for i in ids}\n"
        "print(*(f'{i} {found[i]}' for i in sorted(found)), sep='\\n')"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", program, order], cwd=ROOT, check=True, capture_output=True,
            text=True, env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            timeout=300,
        ).stdout
        for order, seed in (("on", "1"), ("back", "2"))
    ]  # fmt: skip
    assert printed[0] == printed[1]
    assert len({line.split()[1] for line in printed[0].splitlines()}) == len(catalogue.CATALOGUE)
