"""Derivations: what each rule accepts, its false twin, and signs read off against values."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from sympy import Add, Expr, Integer, KroneckerDelta, Mul, Pow, Rational, Sum, Symbol, sqrt

from theorems.assumptions.entries import right_inverse, signed, sums_to_one
from theorems.checker import world as signs
from theorems.checker.derive import Failed, derive
from theorems.checker.exact import Draw, SmallIntegers, evaluate
from theorems.checker.sums import Refused, Undecided, normal_form, subtract
from theorems.checker.world import World, sign_of
from theorems.statement import (
    Bound,
    Cited,
    Definition,
    Iff,
    RankBound,
    Rule,
    Step,
    array,
    symbols_of,
)

n, m, d = symbols_of("n m d")
i, j, k, l, a, b = symbols_of("i j k l a b")
P, A, x, u = array("P", n, m), array("A", n, m), array("x", m), array("u", n)
v, w, q, y = (array(name, n) for name in "vwqy")
X, R, Y = array("X", n, n), array("R", n, n), array("Y", n, n)
F, G, W = array("F", n, d), array("G", d, m), array("W", n, m)
c = Symbol("c", real=True)
stochastic, positive, nonnegative = sums_to_one(P), signed(w, ">0"), signed(u, ">=0")
product = Definition(W[i, j], Sum(F[i, a] * G[a, j], (a, 1, d)))
scaled = (Definition(q[i], w[i] * u[i]), Definition(y[i], w[i] * v[i]))
scale = Iff(id="scale", left=(q[i], y[i]), right=(u[i], v[i]), factor=w[i], because="",
            by=(*scaled, positive))  # fmt: skip
grown = Definition(q[i], v[i] + u[i])


def step(lhs: Any, rhs: Any, *by: Any, name: str = "step") -> Step:
    return Step(id=name, lhs=lhs, rhs=rhs, by=by, because="")


equal_left = step(q[i], y[i], Definition(q[i], v[i]), Definition(y[i], v[i]), name="equal_left")
TRUE: dict[str, Rule] = {
    "step": step(Sum(P[i, j] * (x[j] + c), (j, 1, m)), Sum(P[i, j] * x[j], (j, 1, m)) + c,
                 stochastic),
    "inverse": step(Sum(X[i, k] * R[k, l] * u[l], (k, 1, n), (l, 1, n)), u[i], right_inverse(X, R)),
    "quotient": step(3 * w[i] * q[i], 3 * u[i], Definition(q[i], u[i], over=w[i]), positive),
    "bound": Bound(id="bound", small=v[i], large=q[i], certificate=u[i], by=(grown, nonnegative),
                   because=""),
    "strict": Bound(id="strict", small=Integer(0), large=q[i], certificate=w[i] * (1 + v[i] ** 2),
                    by=(Definition(q[i], w[i] + w[i] * v[i] ** 2), positive), strict=True,
                    because=""),
    "iff": scale,
    "rank": RankBound(id="rank", small=(W[i, j], (i, n), (j, m)), large=(F[i, a], (i, n), (a, d)),
                      after=(G[a, j], (a, d), (j, m)), by=(product,), because=""),
    "lemma": step(2 * u[i] + c, 2 * v[i] + c, step(u[i], v[i], Definition(u[i], v[i]))),
}  # fmt: skip
FALSE: dict[str, tuple[Rule, str]] = {
    "step": (replace(TRUE["step"], rhs=Sum(P[i, j] * x[j], (j, 1, m))), "differ"),
    "step, its assumption left out": (replace(TRUE["step"], by=()), "differ"),
    "inverse, transposed": (step(Sum(X[k, i] * R[k, l] * u[l], (k, 1, n), (l, 1, n)), u[i],
                                 right_inverse(X, R)), "differ"),
    "quotient of any sign": (replace(TRUE["quotient"], by=TRUE["quotient"].by[:1]), "may vanish"),
    "bound, its sign left out": (replace(TRUE["bound"], by=(grown,)), "no visible sign"),
    "bound, strict": (replace(TRUE["bound"], strict=True), "no visible sign"),
    "bound, reversed": (replace(TRUE["bound"], small=q[i], large=v[i]), "differ"),
    "iff, its sign left out": (replace(scale, by=scaled), "not visibly positive"),
    "iff, nonnegative factor": (replace(scale, by=(*scaled, signed(w, ">=0"))),
                                "not visibly positive"),
    "iff, another factor": (replace(scale, factor=2 * w[i]), "differ"),
    "iff used without its left": (step(2 * u[i], 2 * v[i], scale), "scale is used, but no step"),
    "a false lemma": (step(2 * u[i] + c, 2 * v[i] + c, step(u[i], v[i], name="lemma")), "lemma"),
    "a lemma under other assumptions": (step(2 * u[i], 2 * v[i], step(
        u[i], v[i], stochastic, name="lemma")), "lemma"),
}  # fmt: skip
REFUSED: dict[str, tuple[Rule, str]] = {
    "rank, a factor left out": (replace(TRUE["rank"], after=None), "do not fit"),
    "identical sides": (step(u[i] + v[i], v[i] + u[i]), "same expression"),
    "a float": (step(0.5 * u[i], v[i]), "no finite sum"),
    "a radical": (step(sqrt(c) * u[i], v[i]), "no polynomial"),
    "a division by a symbol": (step(u[i] / c, v[i]), "no polynomial"),
    "an index as a number": (step(i * u[i], v[i]), "used as a number"),
    "part of a range": (step(Sum(u[i], (i, 2, n)), c), "whole ranges"),
    "a sum to n - 1": (step(Sum(u[i], (i, 1, n - 1)), c), "whole ranges"),
    "a shifted index": (step(u[i + 1], v[i]), "not a plain symbol"),
    "a rule that is a sum": (step(u[i], v[i], step(u[i] + v[i], 2 * v[i], Definition(u[i], v[i]))),
                             "not one product"),
    "a rule with a stray index": (step(u[i], v[i], step(
        c, u[i], Definition(c, u[i]))), "does not determine"),
}  # fmt: skip


@pytest.mark.parametrize("rule", TRUE)
def test_a_true_rule_is_derived(rule: str) -> None:
    derive(TRUE[rule])


@pytest.mark.parametrize("twin", FALSE)
def test_its_false_twin_fails(twin: str) -> None:
    rule, reason = FALSE[twin]
    with pytest.raises(Failed, match=reason):
        derive(rule)


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_sum_identity_is_refused(case: str) -> None:
    rule, reason = REFUSED[case]
    with pytest.raises(Refused, match=reason):
        derive(rule)


def test_an_iff_gives_its_right_side_once_its_left_is_established() -> None:
    derive(step(2 * u[i], 2 * v[i], replace(scale, left=(q[i], y[i])), replace(
        equal_left, by=(*scaled, Definition(u[i], v[i])))))  # fmt: skip


def test_a_cited_result_gives_no_equation() -> None:
    cited = Cited(id="cited", because="", statement="u = v", source="nowhere")
    with pytest.raises(Failed, match="differ"):
        derive(step(u[i], v[i], cited))


def test_dropping_an_assumption_reaches_the_lemmas() -> None:
    lemma = step(Sum(P[i, j], (j, 1, m)) * c, c, stochastic, name="lemma")
    derive(use := step(Sum(P[i, j], (j, 1, m)) * c * u[i], c * u[i], lemma))
    with pytest.raises(Failed, match="lemma"):
        derive(use, World(drop=(stochastic,)))


def test_redefining_an_array_reaches_the_lemmas() -> None:
    lemma = step(c * q[i], c * u[i], Definition(q[i], u[i]), name="lemma")
    derive(use := step(c * q[i] * v[i], c * u[i] * v[i], lemma))
    with pytest.raises(Failed, match="lemma"):
        derive(use, World(redefine=(Definition(q[i], v[i]),)))


def test_the_diagonal_of_a_rectangle_is_refused() -> None:
    with pytest.raises(Refused, match="range"):
        derive(step(Sum(A[i, i], (i, 1, n)), Sum(A[j, j], (j, 1, m))))


def test_too_many_interchangeable_indices_are_undecided() -> None:
    nodes = symbols_of(" ".join(f"k{number}" for number in range(9)))
    with pytest.raises(Undecided, match="interchangeable"):
        normal_form(Sum(Mul(*(X[r, s] for r, s in zip(nodes, (*nodes[1:], nodes[0]), strict=True))),
                        *((node, 1, n) for node in nodes)))  # fmt: skip


def test_a_definition_that_feeds_itself_is_refused_and_rules_that_do_are_undecided() -> None:
    with pytest.raises(Refused, match="rest on their own definition"):
        derive(step(u[i], v[i], Definition(u[i], u[i] + v[i])))
    with pytest.raises(Undecided, match="no normal form"):
        normal_form(u[i], [(u[i], u[i] + v[i])])


def test_negative_coefficients_survive_a_difference() -> None:
    less, more = normal_form(u[i]), normal_form(3 * u[i] + v[i])
    assert sorted(subtract(less, more).values()) == [-2, -1]
    assert not subtract(more, more)


def certificate(depth: int, rng: Random) -> Expr:
    """A random expression in arrays of known and of unknown sign."""
    if depth == 0:
        return rng.choice((u[i], v[i], w[i], n, Integer(-1), Rational(1, 2), Integer(0),
                           KroneckerDelta(i, k), 1 - KroneckerDelta(i, k)))  # fmt: skip
    parts = [certificate(depth - 1, rng) for _ in range(2)]
    return rng.choice((Add(*parts), Mul(*parts), parts[0] ** 2, Sum(parts[0], (k, 1, n)), parts[0]))


def sign_fuzz(cases: int) -> dict[int, int]:
    """How often each sign was read; AssertionError where a value has another."""
    rng, read = Random(0), {0: 0, 1: 0, 2: 0}
    known = {"w": 2, "u": 1}
    for _ in range(cases):
        expr = certificate(rng.choice((1, 2, 3)), rng)
        read[sign := signs.sign_of(expr, known)] += 1
        for _ in range(8 if sign else 0):
            draw = Draw(SmallIntegers(rng), [positive, nonnegative], {"n": rng.choice((1, 2, 3))})
            env = {index: rng.randint(1, draw.sizes["n"]) for index in (i, k)}
            value = evaluate(expr, draw, env)
            assert value > 0 or (value == 0 and sign == 1), f"{expr} reads {sign}, is {value}"
    return read


@pytest.mark.slow
def test_a_visible_sign_is_the_sign_of_the_values() -> None:
    assert min(sign_fuzz(1500).values()) >= 100


def _any_part(expr: Expr, known: Any) -> int:
    parts = [signs.sign_of(part, known) for part in expr.args]
    return max(parts) if isinstance(expr, Add | Mul) else sign_of(expr, known)


def _delta_is_positive(expr: Expr, known: Any) -> int:
    return 2 if isinstance(expr, KroneckerDelta) else sign_of(expr, known)


def _square_is_positive(expr: Expr, known: Any) -> int:
    return 2 if isinstance(expr, Pow) else sign_of(expr, known)


@pytest.mark.parametrize("bug", [_any_part, _delta_is_positive, _square_is_positive])
def test_a_bug_planted_in_the_reading_of_signs_is_noticed(
    bug: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signs, "sign_of", bug)
    with pytest.raises(AssertionError, match=r"reads \d, is"):
        sign_fuzz(1500)
