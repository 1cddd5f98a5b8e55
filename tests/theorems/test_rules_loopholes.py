"""False statements that a careless reading of the rules beside sums would derive at level G.

Each is refused, fails, or is reported by `verify` as resting on contradictory assumptions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flint import fmpq
from sympy import Expr, IndexedBase, Integer, Pow, Sum, Symbol

from theorems.assumptions.entries import exponential, signed
from theorems.checker.check import verify
from theorems.checker.derive import Failed, derive
from theorems.checker.exact import Draw, evaluate
from theorems.checker.sums import Refused
from theorems.rules import Induction, Logarithm, Vanishing
from theorems.statement import (
    Assumption,
    Bound,
    Clause,
    Definition,
    Equation,
    Mutant,
    RankBound,
    Rule,
    Step,
    Theorem,
    Witness,
    array,
    symbols_of,
)

n, m, d, r = symbols_of("n m d r")
i, j, k, p, q = symbols_of("i j k p q")
x, y, z, e = (array(name, n) for name in "xyze")
c, D = Symbol("c", real=True), Symbol("D", real=True)
whole = Symbol("c", integer=True)
F, G, S, E, U = (array(name, *shape) for name, *shape in (
    ("F", n, r), ("G", r, m), ("S", n, m), ("E", n, m), ("U", n, m)))  # fmt: skip
B, L, A, S_2 = array("B", n, m, r), array("L", r, n), array("A", n, d), array("S_2", n, m, d)


def below(small: Expr, large: Expr, certificate: Expr, *by: Any, strict: bool = False) -> Bound:
    return Bound(id="claim", small=small, large=large, certificate=certificate, by=by,
                 strict=strict, because="")  # fmt: skip


lie = replace(below(c, Integer(3), D, Definition(D, 3 - c)), id="lie")
liar = Witness(id="liar", because="", values={x: [1]}, holds=((x[i], Integer(1)),), by=(lie,))
column = array("U", n, Integer(1))
squares = replace(below(Integer(0), column[i, j], y[i] ** 2, Definition(column[i, j], y[i] ** 2)),
                  id="squares")  # fmt: skip

LOOPHOLES: dict[str, Rule] = {
    "c <= 3, because a witness cites c <= 3": below(
        c, Integer(3), D, Definition(D, 3 - c), liar),
    "0 < c for c = -1, because a sum to c is not empty": below(
        Integer(0), whole, Sum(1, (j, 1, whole)), Definition(whole, Integer(-1)), strict=True),
    "0 < -1, because a sum to a real number is not empty": below(
        Integer(0), c, Sum(1, (j, 1, c)), Definition(c, Integer(-1)), strict=True),
    "rank F G <= rank (c - 7) G at c = 7": RankBound(
        id="claim", because="", small=(S[i, j], (i, n), (j, m)),
        before=(F[i, k] * Pow(c - 7, -1), (i, n), (k, r)),
        large=((c - 7) * G[k, j], (k, r), (j, m)),
        by=(Definition(S[i, j], Sum(F[i, k] * G[k, j], (k, 1, r))),)),
    "the rows of a rank bound, summed over by its second factor": RankBound(
        id="claim", because="", small=(S_2[i, p, j], ((i, n), (p, m)), (j, d)),
        before=(B[i, p, k], ((i, n), (p, m)), (k, r)), large=(L[k, i], (k, r), (i, n)),
        after=(A[i, j], (i, n), (j, d)), by=(Definition(S_2[i, p, j], Sum(
            B[q, p, k] * L[k, q] * A[q, j], (q, 1, n), (k, 1, r))),)),
    "sum x_i^2 = 0 iff x_i^2 / c = 0, which says nothing at c = 0": Vanishing(
        id="claim", because="", total=Sum(x[i] ** 2, (i, 1, n)), part=c,
        weight=Pow(c, -2) * x[i] ** 2, over=((i, n),)),
    "a positive number makes an array of its name positive": below(
        Integer(0), e[i], 2 * array("c", n)[i], Definition(e[i], 2 * array("c", n)[i]),
        signed(array("c"), ">0"), strict=True),
    "a nonnegative column makes a matrix of its name nonnegative": below(
        Integer(0), E[i, j], 2 * U[i, j], Definition(E[i, j], 2 * U[i, j]), squares),
    "the logarithms have the shape of the exponentials": Logarithm(
        id="claim", because="", left=(U[i, j], U[i, k]), logs=((U, y),),
        by=(exponential(U, y),)),
}  # fmt: skip


def level(name: str, label: str) -> IndexedBase:
    return array(f"{name}_{{{label}}}", n)


def induction(claim: Any, base: tuple[Any, ...], step: tuple[Any, ...]) -> Induction:
    left, right = claim("l")

    def impose(draw: Draw) -> None:
        for cell in draw.cells(left.base):
            value = evaluate(right, draw, dict(zip(left.indices, cell, strict=True)))
            draw.put(left.base, cell, value)

    hypothesis = Assumption("at l", "", (claim("l"),), impose)
    first, following = (
        Step(id=name, lhs=claim(label)[0], rhs=claim(label)[1], by=by, because="")
        for name, label, by in (("base", "1", base), ("step", "l+1", (*step, hypothesis)))
    )
    return Induction(id="claim", claim=claim, hypothesis=hypothesis, by=(first, following),
                     because="")  # fmt: skip


def fixed(value: int) -> Assumption:
    """c is this number."""
    name = array("c")
    return Assumption(f"c is {value}", "", ((c, Integer(value)),),
                      lambda draw: draw.put(name, (), fmpq(value)))  # fmt: skip


def equal(value: Expr) -> Any:
    return lambda label: (level("y", label)[i], value)


def changing(label: str) -> Equation:
    """y is x at level 1 and 0 at every other: no claim about all levels."""
    return level("y", label)[i], x[i] if label == "1" else Integer(0)


now, following = level("y", "l"), level("y", "l+1")
kept = Definition(following[i], now[i] + D)
INDUCTIONS: dict[str, Induction] = {
    "y_L = 0 for every L, where y_1 = x": induction(
        changing, (Definition(level("y", "1")[i], x[i]),),
        (Definition(following[i], 2 * now[i]),)),
    "c = 1 in the base and c = 0 in the step": induction(
        equal(Integer(1)), (Definition(level("y", "1")[i], c), fixed(1)),
        (kept, Definition(D, c), fixed(0))),
    "assumptions of the step that contradict each other": induction(
        equal(Integer(1)), (Definition(level("y", "1")[i], Integer(1)),),
        (kept, Definition(D, c), fixed(0), replace(fixed(1), impose=None))),
    "w_l = 0 at every level, although w_{l+1} = w_l + 1": induction(
        equal(x[i]),
        (Definition(level("y", "1")[i], x[i] + level("w", "1")[i]),
         Definition(level("w", "1")[i], Integer(0))),
        (Definition(following[i], now[i] + level("w", "l")[i]),
         Definition(level("w", "l")[i], Integer(0)),
         Definition(level("w", "l+1")[i], level("w", "l")[i] + 1))),
}  # fmt: skip

doubled = Definition(array("Y", n)[i], 2 * x[i])
good = Step(id="good", lhs=2 * x[i], rhs=array("Y", n)[i], by=(doubled,), because="")
halved = Mutant("halved", replace(good, lhs=x[i]), "Y = x")


def verified(*steps: Rule) -> bool:
    """Whether the steps pass beside a true clause whose one mutant is refuted."""
    clauses = (Clause("good", "", (good,)), Clause("false", "", steps))
    return verify(Theorem("EX1", "False", clauses, (halved,), ())).ok


@pytest.mark.parametrize("loophole", LOOPHOLES)
def test_a_false_statement_does_not_follow(loophole: str) -> None:
    with pytest.raises((Failed, Refused), match=r"\w"):
        derive(LOOPHOLES[loophole])


@pytest.mark.parametrize("loophole", [name for name in LOOPHOLES if "logarithms" not in name])
def test_a_false_statement_is_not_verified(loophole: str) -> None:
    assert not verified(LOOPHOLES[loophole])


@pytest.mark.slow
@pytest.mark.parametrize("loophole", INDUCTIONS)
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "with base and step"])
def test_a_false_induction_is_not_verified(loophole: str, alone: bool) -> None:
    claim = INDUCTIONS[loophole]
    assert not verified(claim, *(() if alone else claim.by))


def test_without_a_loophole_the_same_clauses_are_verified() -> None:
    claim = induction(equal(Integer(1)), (Definition(level("y", "1")[i], Integer(1)),),
                      (kept, Definition(D, Integer(0))))  # fmt: skip
    assert verified(claim, *claim.by)


def test_a_nonnegative_number_is_a_lemma() -> None:
    square = replace(below(Integer(0), c, D**2, Definition(c, D**2)), id="square")
    derive(below(Integer(0), e[i], c * x[i] ** 2, Definition(e[i], c * x[i] ** 2), square))
