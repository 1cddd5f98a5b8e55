"""Exact instances: true statements survive every search, false ones are refuted."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from random import Random

import pytest
from flint import fmpq
from sympy import Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import right_inverse, signed, sums_to_one
from theorems.checker.exact import Draw, LargeRationals, SmallIntegers
from theorems.checker.instances import broken, instances, search, shapes, violation, witness_faults
from theorems.checker.world import TRUE, World
from theorems.statement import (
    Assumption,
    Bound,
    Definition,
    Iff,
    Matrix,
    RankBound,
    Rule,
    Step,
    Witness,
    array,
    symbols_of,
)

n, m = symbols_of("n m")
i, j, k = symbols_of("i j k")
P, x, u, v = array("P", n, m), array("x", m), array("u", n), array("v", n)
w, q, X, R = array("w", n), array("q", n), array("X", n, n), array("R", n, n)
Z, Y = array("Z", n, m), array("Y", m, n)
s = Symbol("s", real=True)
stochastic, positive = sums_to_one(P), signed(w, ">0")


def step(lhs: object, rhs: object, *by: object) -> Step:
    return Step(id="step", lhs=lhs, rhs=rhs, by=by, because="")  # pyright: ignore


shift = step(Sum(P[i, j] * (x[j] + s), (j, 1, m)), Sum(P[i, j] * x[j], (j, 1, m)) + s, stochastic)
square = Bound(id="square", small=Integer(0), large=u[i] ** 2, certificate=u[i] ** 2, because="")
cancel = Iff(id="cancel", left=(w[i] * u[i], w[i] * v[i]), right=(u[i], v[i]), factor=w[i],
             by=(positive,), because="")  # fmt: skip
matrix: Matrix = (Z[i, j], (i, n), (j, m))
gram: Matrix = (Sum(Y[j, k] * Z[k, i], (k, 1, n)), (j, m), (i, m))
gram_rank = RankBound(id="rank", small=gram, large=matrix, because="")
TRUTHS: dict[str, Rule] = {
    "shift": shift, "square": square, "cancel": cancel, "rank of a product": gram_rank,
    "inverse": step(Sum(R[i, k] * X[k, j], (k, 1, n)), KroneckerDelta(i, j), right_inverse(X, R)),
    "quotient": step(w[i] * q[i], u[i], Definition(q[i], u[i], over=w[i]), positive),
}  # fmt: skip
FALSEHOODS: dict[str, Rule] = {
    "shift of any rows": replace(shift, by=()),
    "a square is positive": replace(square, strict=True),
    "a number is nonnegative": replace(square, large=u[i]),
    "only negative numbers make it false": replace(square, large=u[i] ** 3),
    "cancelling any factor": replace(cancel, by=()),
    "cancelling a nonnegative factor": replace(cancel, by=(signed(w, ">=0"),)),
    "rank of a factor": replace(gram_rank, small=matrix, large=gram),
    "only where n != m": step(n * u[i], m * u[i]),
    "only off the diagonal": step(X[i, j], X[j, i]),
    "a lemma is no assumption": step(w[i] * u[i], w[i], step(u[i], Integer(1))),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize("seed", range(3))
def test_a_true_statement_is_not_refuted(name: str, seed: int) -> None:
    found = search(TRUTHS[name], TRUE, Random(seed), 200)
    assert found.draw is None, f"{name} is refuted by {found}"
    assert found.valid >= 50, f"{name}: only {found.valid} of 200 tries are instances"


@pytest.mark.slow
@pytest.mark.parametrize("name", FALSEHOODS)
@pytest.mark.parametrize("seed", range(3))
def test_a_false_statement_is_refuted_and_the_counterexample_holds_up(name: str, seed: int) -> None:
    rule = FALSEHOODS[name]
    found = search(rule, TRUE, Random(seed), 200)
    assert found.draw is not None, f"{name} survives {found.valid} instances"
    assert violation(rule, found.draw), f"{name}: {found}"
    assert not any(broken(assumption, found.draw) for assumption in found.draw.assumptions)


def test_a_dropped_assumption_is_not_imposed() -> None:
    found = search(shift, World(drop=(stochastic,)), Random(0), 200)
    assert found.draw is not None
    assert broken(stochastic, found.draw), f"{found} still has row sums 1"


@pytest.mark.parametrize("names", [[], ["n"], ["n", "m"], ["n", "m", "d"], list("abcdefgh")])
def test_shapes_cover_all_pairs_of_sizes(names: list[str]) -> None:
    tried = shapes(names)
    assert all(set(shape) == set(names) and set(shape.values()) <= {1, 2, 3} for shape in tried)
    for pair in combinations(names, 2):
        seen = {tuple(shape[name] for name in pair) for shape in tried}
        assert seen == set(product((1, 2, 3), repeat=2)), f"{pair}: {seen}"
    assert len(tried) == 3 ** min(len(names), 3)


@pytest.mark.parametrize("name", ["shift", "square", "cancel", "inverse", "quotient"])
def test_a_true_identity_holds_at_every_shape_with_free_symbols(name: str) -> None:
    symbolic, rational, difference = instances(TRUTHS[name])
    assert difference is None, difference
    assert symbolic >= 3
    assert symbolic + rational == len(shapes(["n", "m"] if name == "shift" else ["n"]))


@pytest.mark.parametrize("name", ["shift of any rows", "only where n != m"])
def test_a_false_identity_differs_at_some_shape(name: str) -> None:
    *_, difference = instances(FALSEHOODS[name])
    assert difference is not None
    assert difference.startswith("at sizes {")


IMPOSED: tuple[Assumption, ...] = (stochastic, right_inverse(X, R), right_inverse(P, Y))


@pytest.mark.parametrize("assumption", IMPOSED, ids=lambda assumption: assumption.id)
@pytest.mark.parametrize("source", [SmallIntegers, LargeRationals])
def test_what_is_imposed_is_had(assumption: Assumption, source: type) -> None:
    draw = Draw(source(Random(0)), [assumption], {"n": 2, "m": 3})
    assert broken(assumption, draw) is None
    (name, cell), value = next(iter(draw.entries.items()))
    draw.entries[name, cell] = value + 1
    assert broken(assumption, draw), f"{assumption.id} is still said to hold after {name} changed"


@pytest.mark.parametrize(("sign", "value", "wrong"), [
    (">0", 0, True), (">0", -1, True), (">0", 1, False), (">=0", 0, False), (">=0", -1, True),
    ("!=0", 0, True), ("!=0", -1, False),
])  # fmt: skip
def test_a_sign_is_checked_on_the_values(sign: str, value: int, wrong: bool) -> None:
    draw = Draw(SmallIntegers(Random(0)), [], {"n": 1})
    draw.put(w, (1,), fmpq(value))
    assert bool(broken(signed(w, sign), draw)) == wrong


def test_a_witness_is_judged_by_all_that_it_claims() -> None:
    true = Witness(id="w", values={u: [1, 2], v: [1, 3]}, because="", by=(signed(u, ">0"),),
                   holds=((Sum(u[i], (i, 1, n)), Integer(3)),), fails=((u[i], v[i]),))  # fmt: skip
    assert witness_faults(true, TRUE) == []
    wrong = (
        replace(true, holds=((u[i], v[i]),)),
        replace(true, fails=((Sum(u[i], (i, 1, n)), Integer(3)),)),
        replace(true, by=(signed(u, ">0"), signed(v, "!=0")), values={u: [1, 2], v: [0, 3]}),
        replace(true, by=(replace(stochastic, rules=((u[i], v[i]),)),)),
        replace(true, holds=(), fails=()),
    )
    assert all(len(witness_faults(witness, TRUE)) == 1 for witness in wrong)
