"""False statements that a careless reading of sums, signs or definitions would derive.

Each must be refused or fail, by the derivation itself: the searches are a second line.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from sympy import Integer, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.checker.check import verify
from theorems.checker.derive import Failed, derive
from theorems.checker.exact import Rejected
from theorems.checker.instances import search
from theorems.checker.sums import Refused
from theorems.checker.world import World
from theorems.statement import (
    Bound,
    Clause,
    Definition,
    RankBound,
    Rule,
    Step,
    Theorem,
    Witness,
    array,
    symbols_of,
)

n, m, d = symbols_of("n m d")
i, j, k, l, b = symbols_of("i j k l b")
x, y, z, u, w, q = (array(name, n) for name in "xyzuwq")
X, Y, Z = (array(name, n, n) for name in "XYZ")
S, S2, F, W = array("S", n, m), array("S'", n, m), array("F", d, n, m), array("W", d, m)
c, other_i = Symbol("c", real=True), Symbol("i")
(positive,) = symbols_of("p")
outer = Definition(X[i, j], y[i] * y[j])
diagonal = Bound(id="diagonal", small=Integer(0), large=X[i, i], certificate=y[i] ** 2,
                 by=(outer,), because="A square.")  # fmt: skip
one, minus_one = Definition(c, Integer(1)), Definition(c, Integer(-1))
scaled = Step(id="scaled", lhs=c * x[i], rhs=x[i], by=(one,), because="")
value = Step(id="value", lhs=c, rhs=Integer(-1), by=(minus_one,), because="")
pair = array("pair", Integer(2))
copied = Definition(S2[k, l], S[k, l])


def below(small: Any, large: Any, certificate: Any, *by: Any, strict: bool = False) -> Bound:
    return Bound(id="claim", small=small, large=large, certificate=certificate, by=by,
                 strict=strict, because="")  # fmt: skip


def equal(lhs: Any, rhs: Any, *by: Any) -> Step:
    return Step(id="claim", lhs=lhs, rhs=rhs, by=by, because="")


def ranks(large: Any, *by: Any, small: Any = (S2[k, l], (k, n), (l, m)), **factors: Any) -> Rule:
    return RankBound(id="claim", small=small, large=large, by=by, because="", **factors)


def shows(by: tuple[Any, ...] = (), **claims: Any) -> Witness:
    return Witness(id="claim", because="", by=by, **claims)


LOOPHOLES: dict[str, Rule] = {
    "a nonnegative diagonal makes no nonnegative matrix": below(
        Integer(0), y[i] * y[j], X[i, j], outer, diagonal),
    "defining the diagonal defines no matrix": below(
        Integer(0), Z[i, j], X[i, j], Definition(Z[i, j], X[i, j]), Definition(X[i, i], y[i]),
        signed(y, ">0"), strict=True),
    "a symbol declared positive may not be defined negative": below(
        Integer(0), Integer(-1), positive, Definition(positive, Integer(-1))),
    "a name has one definition, lemmas included": below(
        Integer(0), Integer(-1), c, scaled, value),
    "a definition is of an entry, not of a product": equal(
        x[i] ** 2 * y[i], -y[i], Definition(x[i] ** 2, Integer(-1))),
    "a definition does not define itself": equal(
        x[i] ** 2, y[i], Definition(x[i], y[i], over=x[i]), signed(x, ">0")),
    "a sum does not run to an index": equal(
        Sum(Integer(1), (j, 1, i), (i, 1, n)), n * i),
    "a bound and a free index do not share a name": equal(
        Sum(x[other_i], (i, 1, n)), n * x[other_i]),
    "x_n is an entry, not every entry": equal(
        Sum(x[i], (i, 1, n)) + y[j], y[j], Definition(x[n], Integer(0))),
    "an empty sum is not positive": below(
        Integer(0), z[i], Sum(Integer(1), (j, 1, Integer(0))), Definition(z[i], Integer(0)),
        strict=True),
    "a sum to -1 is not positive": below(
        Integer(0), z[i], Sum(Integer(1), (j, 1, Integer(-1))),
        Definition(z[i], Sum(Integer(1), (j, 1, Integer(-1)))), strict=True),
    "an index is no number in a definition": equal(
        y[i], y[j], Definition(y[i], i * Integer(1))),
    "the factor of a rank bound may not know the column": ranks(
        (S[k, l], (k, n), (l, m)), Definition(W[b, l], Sum(F[b, k, l] * S[k, l], (k, 1, n))),
        small=(W[b, l], (b, d), (l, m)), before=(F[b, k, l], (b, d), (k, n))),
    "the matrix of a rank bound has its full size": ranks(
        (S[k, l], (k, Integer(1)), (l, m)), copied),
    "rows and columns of a rank bound differ": ranks((S[k, l], (k, n), (k, n)), copied),
    "a number called n is not the dimension n": equal(
        Sum(y[j], (j, 1, n), (k, 1, n)), Symbol("n", real=True) * Sum(y[j], (j, 1, n))),
    "a witness among the reasons brings no definition of a diagonal": below(
        Integer(0), Z[i, j], Z[i, j] * Integer(1) + 0 * x[i],
        shows((Definition(Z[i, i], Integer(1)),), values={x: [1]}, holds=((x[i], Integer(1)),)),
        strict=True),
    "the axes of a factor are those it is summed over": ranks(
        (S[k, l], (k, n), (l, m)), Definition(S2[i, l], Sum(X[i, k] * S[k, l], (k, 1, n))),
        small=(S2[i, l], (i, n), (l, m)), before=(X[i, k], (i, n), (j, n))),
    "a witness has the declared shape": shows(
        values={pair: [1, 1, 5]}, fails=((pair[i], Integer(1)),)),
    "a witness has as many entries in every row": shows(
        values={X: [[1, 2], [3]]}, fails=((X[i, j], Integer(0)),)),
    "the arrays of a witness agree in size": shows(
        values={x: [1, 1, 5], y: [1, 1]}, holds=((x[i], y[i]),)),
    "a witness leaves no size open": shows(
        values={x: [1]}, holds=((x[i], Integer(1)),), fails=((m * x[i], 2 * x[i]),)),
    "a witness keeps the signs of what it defines": shows(
        (Definition(y[i], -x[i]), signed(y, ">=0")), values={x: [1]},
        holds=((x[i], Integer(1)),)),
}  # fmt: skip


@pytest.mark.parametrize("loophole", LOOPHOLES)
def test_a_loophole_is_closed(loophole: str) -> None:
    with pytest.raises((Failed, Refused, Rejected), match=r"\w"):
        derive(LOOPHOLES[loophole])


@pytest.mark.slow
@pytest.mark.parametrize("loophole", LOOPHOLES)
def test_a_loophole_is_reported_and_does_not_stop_the_run(loophole: str) -> None:
    step = LOOPHOLES[loophole]
    report = verify(Theorem("EX1", "False", (Clause("false", "", (step,)),), (), ()))
    failures = report.clauses[0].failures
    assert failures, f"{loophole}: verified {step}"
    assert all(failure.startswith("EX1.false: ") for failure in failures), failures


def test_the_sign_of_a_defined_array_that_the_claim_does_not_mention_counts() -> None:
    """y = -x^2 > 0 is contradictory, although no instance of the claim ever looks at y."""
    step = equal(2 * Sum(x[i], (i, 1, n)), Sum(z[i], (i, 1, n)), Definition(z[i], 2 * x[i]),
                 Definition(y[i], -(x[i] ** 2)), signed(y, ">0"))  # fmt: skip
    found = search(step, World(), Random(0), 60)
    assert found.valid == 0, f"{found.valid} instances within contradictory assumptions"


def test_a_counterexample_satisfies_the_definitions_or_says_that_nothing_can() -> None:
    """w q = u defines q. Where w = 0 != u there is no q: that, and no value of q, is the fault."""
    support = signed(w, ">0")
    quotient = Definition(q[i], u[i], over=w[i], support=support)
    claim = equal(w[i] * q[i], u[i], quotient)
    found = search(claim, World(drop=(support,)), Random(0), 300)
    assert found.draw is None or "q" in found.message, f"q refutes its definition: {found}"


def test_a_mutant_of_a_step_checked_at_shapes_only_can_be_refuted() -> None:
    true = replace(equal(2 * x[i], z[i], Definition(z[i], 2 * x[i])), shapes_only=True)
    assert search(replace(true, rhs=x[i]), World(), Random(0), 60).draw is not None
    with pytest.raises(Failed, match="claim"):
        derive(replace(true, rhs=x[i], shapes_only=False))
