"""`verify` on false inputs: each fault is reported in a line that names theorem and place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from sympy import Expr, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import signed, sums_to_one
from theorems.checker.check import verify
from theorems.checker.records import CitedRecord, Verification
from theorems.connection_walks import constant_transport as cw1
from theorems.connection_walks import gated_mixture as cw2
from theorems.statement import (
    Assumption,
    Bound,
    Cited,
    Clause,
    Definition,
    Iff,
    Mutant,
    Rule,
    Step,
    Theorem,
    Witness,
    array,
    symbols_of,
)

ROOT = Path(__file__).resolve().parents[3]

n, m = symbols_of("n m")
i, j = symbols_of("i j")
s = Symbol("s", real=True)
P, x, u, v = array("P", n, m), array("x", m), array("u", n), array("v", n)
w, q, y, z = array("w", n), array("q", n), array("y", n), array("z", n)
stochastic, positive = sums_to_one(P), signed(w, ">0")


def mean(of: Expr) -> Expr:
    """Entry i of P applied to a vector given by its entry j."""
    return Sum(P[i, j] * of, (j, 1, m))


shift = Step(
    id="shift", lhs=mean(x[j] + s), rhs=mean(x[j]) + s, by=(stochastic,), because="Rows sum to 1."
)
any_rows = Mutant("any_rows", shift, "rows of any sum", drop=(stochastic,))
SHIFT = Theorem("EX1", "Means move with a shift", (Clause("moves", "", (shift,)),), (any_rows,), ())


def with_step(step: Rule, *mutants: Mutant) -> Theorem:
    """EX1 with another step in its clause."""
    return replace(SHIFT, clauses=(Clause("moves", "", (step,)),), mutants=mutants or (any_rows,))


def clause_of(theorem: Theorem, name: str, *steps: Rule) -> Theorem:
    """The theorem's one clause of that name, with other steps, and the mutants of these."""
    ids = [step.id for step in steps]
    mutants = tuple(mutant for mutant in theorem.mutants if mutant.claim.id in ids)
    return replace(theorem, clauses=(Clause(name, "", steps),), mutants=mutants)


def lines(report: Verification) -> str:
    """Everything that a report says is wrong, one line a fault."""
    return "\n".join([*report.errors, *(f for c in report.clauses for f in c.failures)])


def gates_with_nonzero_weights() -> Theorem:
    """CW2 as first written: w != 0 instead of w > 0."""
    nonzero = signed(cw2.w, "!=0")
    share = replace(cw2.share, by=(cw2.head_mean, cw2.nonnegative_A, nonzero))
    reciprocal = replace(cw2.reciprocal, support=nonzero)
    gate = replace(cw2.gate, support=share)
    walk = replace(cw2.one_walk, by=(cw2.mixture, gate, reciprocal))
    return clause_of(cw2.THEOREM, "gates", walk, share)


unnormalised = Definition(cw2.g[cw2.h, cw2.i, cw2.j], cw2.w[cw2.h] * cw2.A[cw2.h, cw2.i, cw2.j])
gates = cw2.gu[cw2.h, cw2.i, cw2.j] * cw2.T[cw2.h, cw2.a, cw2.b]
PAPER_FAULTS: dict[str, tuple[Theorem, str]] = {
    "a factor H is dropped": (clause_of(cw2.THEOREM, "convex_mixture", replace(
        cw2.convex, rhs=cw2.walk(cw2.Pu, Sum(gates, (cw2.h, 1, cw2.H))))),
        r"CW2\.convex_mixture: derivation of convex: .*the sides differ"),
    "a transport is transposed": (clause_of(cw2.THEOREM, "gates", replace(
        cw2.one_walk, rhs=cw2.walk(cw2.P, cw2.M[cw2.i, cw2.j, cw2.b, cw2.a]))),
        r"CW2\.gates: derivation of one_walk: .*range"),
    "gates are not normalised": (clause_of(cw2.THEOREM, "gates", replace(
        cw2.one_walk, by=(cw2.mixture, unnormalised, cw2.reciprocal))),
        r"CW2\.gates: one_walk: refuted by"),
    "another map of shared heads": (clause_of(cw2.THEOREM, "grouped_query", replace(
        cw2.grouped_query, by=(cw2.shared_transport(cw2.kv2),))),
        r"CW2\.grouped_query: grouped_query: refuted by"),
    "nonzero weights: the derivation fails": (gates_with_nonzero_weights(),
        r"CW2\.gates: derivation of one_walk: share: .*no visible sign"),
    "nonzero weights: self-refutation finds it": (gates_with_nonzero_weights(),
        r"CW2\.gates: (share|one_walk): refuted by .*w\[\d\] = -"),
    "a rank bound is reversed": (clause_of(cw1.THEOREM, "value_width", replace(
        cw1.head_width, small=cw1.head_width.large, large=cw1.head_width.small, before=None)),
        r"CW1\.value_width: derivation of head_width: .* do not fit"),
}  # fmt: skip


def impose_zero(draw: Any) -> None:
    for cell in draw.cells(x):
        draw.put(x, cell, fmpq(0))


zero = Assumption("x is 0", "", ((x[j], Integer(0)),), impose_zero)
hidden = replace(stochastic, id="hidden", rules=())
scaled = (Definition(y[i], w[i] * u[i]), Definition(z[i], w[i] * v[i]))
scale = Iff(id="scale", left=(y[i], z[i]), right=(u[i], v[i]), factor=w[i], by=scaled, because="")
larger = Definition(z[i], u[i] + v[i])
quotient = Definition(q[i], u[i], over=w[i])
room = Definition(y[i], w[i] - u[i])
false_bound = Bound(id="support", small=u[i], large=w[i], certificate=y[i], by=(room,), because="")
divided = Step(id="shift", lhs=q[i] * w[i] * 2, rhs=2 * u[i], because="", by=(quotient,))
LOCAL_FAULTS: dict[str, tuple[Theorem, str]] = {
    "a false step": (with_step(replace(shift, rhs=mean(x[j]) - s)),
                     r"EX1\.moves: derivation of shift: .*differ"),
    "a false step is refuted": (with_step(replace(shift, rhs=mean(x[j]) - s)),
                                r"EX1\.moves: shift: refuted by"),
    "a step with identical sides": (with_step(replace(shift, rhs=shift.lhs)),
                                    r"EX1\.moves: derivation of shift: .*same expression"),
    "contradictory assumptions": (with_step(replace(shift, by=(stochastic, zero, signed(x, ">0")))),
                                  r"EX1\.moves: shift: .*contradictory"),
    "a quotient without support": (with_step(divided), r"EX1\.moves: derivation.*divides by w"),
    "a support that is false": (with_step(replace(divided, by=(
        replace(quotient, support=false_bound),))), r"EX1\.moves: derivation.*no visible sign"),
    "a delta across ranges": (with_step(replace(shift, lhs=mean(KroneckerDelta(i, j)))),
                              r"EX1\.moves: derivation.*Kronecker delta"),
    "an index with two ranges": (with_step(replace(shift, lhs=mean(x[i]))),
                                 r"EX1\.moves: derivation.*range"),
    "two arrays of one name": (with_step(replace(shift, rhs=mean(array("x", n, m)[i, j]))),
                               r"EX1\.moves: derivation.*two objects are called x"),
    "a captured bound index": (with_step(replace(shift, lhs=mean(x[j]) * x[j], rhs=mean(x[j]**2))),
                               r"EX1\.moves: shift: refuted by"),
    "an Iff whose left always holds": (with_step(Iff(
        id="shift", left=(mean(Integer(1)), Integer(1)), right=(y[i], 2 * mean(u[i]) / 2),
        by=(stochastic, Definition(y[i], u[i])), because="")), r"EX1\.moves: .*says nothing"),
    "an Iff with a factor of any sign": (with_step(replace(scale, id="shift")),
                                         r"EX1\.moves: .*not visibly positive"),
    "an Iff whose left is not shown": (with_step(Step(
        id="shift", lhs=2 * u[i], rhs=2 * v[i], because="",
        by=(replace(scale, by=(*scaled, positive)),))),
        r"EX1\.moves: derivation.*scale is used, but no step of shift establishes its left"),
    "a Bound without a sign": (with_step(Bound(
        id="shift", small=u[i], large=z[i], certificate=v[i], by=(larger,), because="")),
        r"EX1\.moves: derivation.*no visible sign"),
    "a witness that does not show its claim": (with_step(Witness(
        id="shift", values={u: [1], v: [1]}, fails=((u[i], v[i]),), because="")),
        r"EX1\.moves: derivation.*does not show"),
    "a witness that breaks its equation": (with_step(Witness(
        id="shift", values={u: [1], v: [2]}, holds=((u[i], v[i]),), because="")),
        r"EX1\.moves: derivation.*does not show"),
    "a witness that breaks an assumption": (with_step(Witness(
        id="shift", values={w: [-1]}, fails=((w[i], Integer(1)),), by=(positive,), because="")),
        r"EX1\.moves: derivation.*does not show"),
    "a witness that claims nothing": (with_step(Witness(id="shift", values={w: [1]}, because="")),
                                      r"EX1\.moves: derivation.*claims nothing"),
    "an assumption that no clause needs": (with_step(replace(
        shift, by=(stochastic, signed(x, ">=0")))), r"EX1: no clause needs x>=0"),
    "an id that occurs twice": (replace(SHIFT, clauses=2 * SHIFT.clauses),
                                r"EX1: shift occurs twice"),
    "a mutant id that occurs twice": (replace(SHIFT, mutants=2 * SHIFT.mutants),
                                      r"EX1: mutant any_rows occurs twice"),
    "a mutant that is derived": (with_step(shift, Mutant("again", shift, "")),
                                 r"EX1\.shift: mutant again: its derivation does not fail"),
    "a mutant without counterexample": (with_step(shift, Mutant(
        "hidden", replace(shift, by=(hidden,)), "")),
        r"EX1\.shift: mutant hidden: no counterexample"),
    "a mutant of no step": (with_step(shift, any_rows, Mutant(
        "lost", replace(shift, id="gone", rhs=s), "")),
        r"EX1\.gone: mutant lost: no step is called"),
    "two clauses of one name": (replace(SHIFT, clauses=(
        *SHIFT.clauses, Clause("moves", "", (replace(shift, id="again"),)))),
        r"EX1: .*moves occurs twice"),
    "an idle assumption under the id of another": (with_step(replace(shift, by=(
        replace(signed(x, ">=0"), id=stochastic.id), stochastic))), r"EX1: .*P sums to 1"),
    "a mutant that is no false statement": (with_step(shift, Mutant(
        "shown", Witness(id="shift", values={u: [1]}, fails=((u[i], v[i]),), because=""), "")),
        r"EX1\.shift: mutant shown: "),
    "a mutant that defines q by q": (with_step(divided, Mutant(
        "loop", replace(divided, rhs=u[i]), "",
        redefine=(replace(quotient, support=replace(false_bound, by=(quotient,))),))),
        r"EX1\.shift: mutant loop: "),
    "no mutants": (replace(SHIFT, mutants=()), r"EX1: no mutants"),
}  # fmt: skip
FAULTS = PAPER_FAULTS | LOCAL_FAULTS


def test_the_example_without_a_fault_holds() -> None:
    report = verify(SHIFT)
    assert report.ok, lines(report)
    assert [clause.level for clause in report.clauses] == ["G"]
    assert report.necessity == {stochastic.id: {"moves": "needed"}}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_reported_with_theorem_and_clause(fault: str) -> None:
    theorem, line = FAULTS[fault]
    report = verify(theorem)
    assert not report.ok, f"{fault} went unnoticed: {report}"
    with pytest.raises(ValueError, match=line):
        raise ValueError(lines(report))


def test_a_cited_result_is_counted_and_never_as_checked() -> None:
    cited = Cited(id="perron", because="", statement="A positive matrix has one", source="1907")
    report = verify(replace(SHIFT, clauses=(Clause("moves", "", (shift, cited)),)))
    assert (report.steps, report.steps_checked, report.steps_cited) == (2, 1, 1)
    assert report.cited == (CitedRecord("perron", cited.statement, source="1907"),)


def test_a_step_checked_at_explicit_shapes_only_gives_level_s() -> None:
    report = verify(with_step(replace(shift, shapes_only=True)))
    assert [clause.level for clause in report.clauses] == ["S"]


def test_what_rests_on_a_step_checked_at_shapes_only_has_level_s() -> None:
    """A lemma without a derivation lends its level to everything that uses it."""
    lemma = replace(shift, lhs=mean(s), rhs=s, shapes_only=True)
    double = Step(id="double", lhs=2 * lemma.lhs, rhs=2 * lemma.rhs, because="", by=(lemma,))
    clauses = (Clause("moves", "", (lemma,)), Clause("twice", "", (double,)))
    report = verify(replace(SHIFT, clauses=clauses))
    assert [clause.level for clause in report.clauses] == ["S", "S"]


def test_a_clause_without_steps_has_level_n() -> None:
    report = verify(replace(SHIFT, clauses=(*SHIFT.clauses, Clause("said", "", ()))))
    assert [clause.level for clause in report.clauses] == ["G", "N"]


@pytest.mark.slow
def test_verify_is_deterministic_for_a_seed() -> None:
    program = (
        "import json, dataclasses, theorems.checker.check as c;"
        "import theorems.connection_walks.constant_transport as t;"
        "print(json.dumps({**dataclasses.asdict(c.verify(t.THEOREM, seed=5)), 'seconds': 0}))"
    )
    reports = [
        subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True,
                       env={**os.environ, "PYTHONHASHSEED": hash_seed}, timeout=100).stdout
        for hash_seed in ("1", "2")
    ]  # fmt: skip
    assert json.loads(reports[0]) == json.loads(reports[1])
