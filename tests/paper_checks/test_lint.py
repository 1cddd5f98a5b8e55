"""The lints find every fault that they are there for, and the claims as they stand have none."""

import dataclasses

import pytest
from sympy import Symbol

from paper_checks.claims import Claim, Evidence
from paper_checks.lint import claim_errors, formula_errors, read_papers
from paper_checks.papers import attention_geometry
from theorems import catalogue
from theorems.statement import Clause, Mutant, Rule, Step, Theorem

ID = "attention-geometry/test"
CLAIM = Claim(ID, "A claim.", "A reading.")
a, b = Symbol("a"), Symbol("b")
STEP = Step(id="s", lhs=a, rhs=b, because="Because.")
CW1 = Theorem(
    "CW1", "Title", (Clause("gates", "Text.", (STEP,)),), (Mutant("twin", STEP, "t"),), ()
)


def load(theorem_id: str) -> Theorem:
    if theorem_id == "CW2":
        raise ImportError("no module named half")
    return CW1


def errors(evidence: Evidence | None, claim: Claim = CLAIM) -> list[str]:
    table = {} if evidence is None else {claim.id: evidence}
    return claim_errors([claim], table, built=["CW1", "CW2"], planned=["CW3"], load=load)


def test_claims_as_they_stand_have_no_fault() -> None:
    claims, evidence, unread = read_papers()
    assert not unread
    assert {claim.paper for claim in claims} == {
        "attention-geometry", "riemannian-attention", "attention-pairings",
    }  # fmt: skip
    assert claim_errors(claims, evidence) == []


@pytest.mark.parametrize(
    "references", [("CW1",), ("CW1.gates",), ("CW1:twin",), ("CW3",), ("EM.isometry",)]
)
def test_sound_evidence_passes(references: tuple[str, ...]) -> None:
    assert errors(Evidence(references)) == []


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (None, "no evidence ids"),
        (Evidence(()), "no evidence ids"),
        (Evidence((), refuted_by=("CW1",)), "no evidence ids"),
        (Evidence(("CW9",)), "CW9 is neither in the catalogue nor planned"),
        (Evidence(("CW1",), refuted_by=("XX1",)), "XX1 is neither in the catalogue nor planned"),
        (Evidence(("CW1.gate",)), "CW1 has no clause 'gate'; it has gates"),
        (Evidence(("CW1:gates",)), "CW1 has no mutant 'gates'; it has twin"),
        (Evidence(("CW3.gates",)), "CW3.gates: parts of a planned theorem have no names yet"),
        (Evidence(("CW2",)), "CW2 does not import: no module named half"),
        (Evidence(("EM.iso",)), "EM.iso: no such measurement"),
        (Evidence(("gates",)), "'gates' is no evidence id"),
        (Evidence(("CW1",), added=("h",)), "come together"),
        (Evidence(("CW1",), without=("CW1:twin",)), "come together"),
        (Evidence(("CW1",), added=("$x^2^3$",), without=("CW1",)), "rejected"),
    ],
)
def test_each_fault_of_evidence_is_named(evidence: Evidence | None, message: str) -> None:
    (error,) = errors(evidence)
    assert error.startswith(f"{ID}: ")
    assert message in error


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (Claim("other-paper/test", "A.", "B."), "no claim id of a known paper"),
        (Claim("attention-geometry", "A.", "B."), "no claim id of a known paper"),
        (dataclasses.replace(CLAIM, kind="open"), "says what would settle it"),
        (dataclasses.replace(CLAIM, reading=r"\unknown"), "outside a formula"),
        (dataclasses.replace(CLAIM, statement=r"$\unknown$"), "Unknown command"),
    ],
)
def test_each_fault_of_a_claim_is_named(claim: Claim, message: str) -> None:
    (error,) = errors(Evidence(("CW1",)), claim)
    assert error.startswith(f"{claim.id}: ")
    assert message in error


def test_a_claim_id_that_occurs_twice_is_named() -> None:
    found = claim_errors([CLAIM, CLAIM], {ID: Evidence(("CW1",))}, ["CW1"], [], load)
    assert found == [f"{ID}: claim id occurs twice"]


def test_evidence_for_an_unknown_claim_is_named() -> None:
    table = {ID: Evidence(("CW1",)), "attention-geometry/gone": Evidence(("CW1",))}
    assert claim_errors([CLAIM], table, ["CW1"], [], load) == [
        "attention-geometry/gone: evidence for an unknown claim"
    ]


def test_planned_only_shrinks() -> None:
    assert claim_errors([CLAIM], {ID: Evidence(("CW1",))}, ["CW1"], ["CW1"], load) == [
        "CW1: in the catalogue and in PLANNED"
    ]


def test_a_paper_that_does_not_import_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(attention_geometry, "EVIDENCE")
    _, _, unread = read_papers()
    (error,) = unread
    assert error.startswith(
        "attention-geometry: paper_checks.papers.attention_geometry does not import"
    )


@pytest.mark.slow
def test_every_formula_of_every_theorem_can_be_shown() -> None:
    assert formula_errors(catalogue.CATALOGUE) == []


class NewRule(Rule):
    """A kind of rule that nobody has given a form."""


@pytest.mark.parametrize(
    ("theorem", "message"),
    [
        (dataclasses.replace(CW1, title="a_long_name"), "outside a formula"),
        (dataclasses.replace(CW1, clauses=(Clause("c", r"$\foo$", ()),)), "Unknown command"),
        (
            dataclasses.replace(CW1, clauses=(Clause("c", "", (NewRule(id="r", because=""),)),)),
            "no formula is known for a rule of kind NewRule",
        ),
    ],
)
def test_what_cannot_be_shown_is_named(theorem: Theorem, message: str) -> None:
    (error,) = formula_errors(["CW1"], load=lambda _: theorem)
    assert error.startswith("CW1: ")
    assert message in error
