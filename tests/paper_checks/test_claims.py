"""A verdict is a function of the run: the whole truth table, and the claims as they stand."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from paper_checks.claims import (
    ADDED,
    AS_READ,
    FAILED,
    MEASURED,
    NOT_VERIFIED,
    OPEN,
    PROVED,
    REFUTED,
    Claim,
    Evidence,
    Verdict,
    claim_record,
    failed_with_all_evidence,
    owner,
    status,
    verdict,
)
from paper_checks.lint import read_papers
from paper_checks.report import NOT_RUN, TheoremRecord
from theorems.checker.records import ClauseRecord, MutantRecord

THEOREM = Claim("attention-geometry/test", "A claim.", "A reading.")
MUTANT = MutantRecord("twin", "s", text="", counterexample="n=1", refuted=True,
                      derivation_fails=True)  # fmt: skip


def record(
    theorem_id: str, *levels: str, ok: bool = True, mutant: MutantRecord = MUTANT
) -> TheoremRecord:
    clauses = tuple(ClauseRecord(f"c{k}", level, ()) for k, level in enumerate(levels))
    return replace(NOT_RUN, id=theorem_id, ok=ok, clauses=clauses, mutant_details=(mutant,))


RUN = {
    "CW1": record("CW1", "G", "K"),
    "CW2": record("CW2", "G", "S"),
    "CW3": record("CW3", "G", ok=False),
}


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("CW1", "holds"),
        ("CW1.c1", "holds"),
        ("CW1:twin", "holds"),
        ("CW2", "weak"),
        ("CW2.c0", "holds"),
        ("CW2.c1", "weak"),
        ("CW1.no_such", "failed"),
        ("CW1:no_such", "failed"),
        ("CW3", "failed"),
        ("CW3.c0", "failed"),
        ("CW4", "pending"),
    ],
)
def test_status_of_an_evidence_id(reference: str, expected: str) -> None:
    assert status(reference, RUN) == expected


@pytest.mark.parametrize("lost", ["refuted", "derivation_fails"])
def test_a_twin_that_stands_or_derives_is_no_evidence(lost: str) -> None:
    run = {"CW1": record("CW1", "G", mutant=replace(MUTANT, **{lost: False}))}
    assert status("CW1:twin", run) == "failed"


def test_a_theorem_without_clauses_is_no_evidence() -> None:
    assert status("CW1", {"CW1": record("CW1")}) == "failed"


@pytest.mark.parametrize(
    ("kind", "evidence", "expected"),
    [
        ("theorem", Evidence(("CW1",)), PROVED),
        ("theorem", Evidence(("CW1.c0", "CW2.c0")), PROVED),
        ("theorem", Evidence(("CW1",), added=("h",), without=("CW1:twin",)), ADDED),
        ("theorem", Evidence(("CW1",), refuted_by=("CW2.c0",)), REFUTED),
        ("theorem", Evidence(("CW4",), refuted_by=("CW1",)), REFUTED),
        ("theorem", Evidence(("CW1",), refuted_by=("CW4",)), NOT_VERIFIED),
        ("theorem", Evidence(("CW1",), refuted_by=("CW2",)), NOT_VERIFIED),
        ("theorem", Evidence(("CW1", "CW4")), NOT_VERIFIED),
        ("theorem", Evidence(("CW2",)), NOT_VERIFIED),
        ("theorem", Evidence(("CW1",), added=("h",), without=("CW4",)), NOT_VERIFIED),
        ("theorem", Evidence(("CW1", "CW3")), FAILED),
        ("theorem", Evidence(("CW4", "CW3")), FAILED),
        ("theorem", Evidence(("CW1",), refuted_by=("CW3",)), FAILED),
        ("empirical", Evidence(("EM.isometry",)), MEASURED),
        ("empirical", Evidence(("CW2",)), MEASURED),
        ("empirical", Evidence(("EM.scale",)), NOT_VERIFIED),
        ("empirical", Evidence(("EM.identity",)), FAILED),
        ("open", Evidence(("CW1",)), OPEN),
        ("open", Evidence(("CW4",)), NOT_VERIFIED),
        ("open", Evidence(("CW3",)), FAILED),
    ],
)
def test_truth_table(kind: str, evidence: Evidence, expected: str) -> None:
    claim = replace(THEOREM, kind=kind)
    measured = {"EM.isometry": True, "EM.identity": False}
    assert verdict(claim, evidence, RUN, measured).outcome == expected


def test_texts_say_what_was_read_and_what_is_missing() -> None:
    assert Verdict(PROVED).text == f"PROVED, {AS_READ}"
    missing = verdict(THEOREM, Evidence(("CW5", "CW2.c1"), added=("h",), without=("CW5",)), RUN)
    assert missing.text == "NOT VERIFIED (pending: CW5; below level G: CW2.c1)"
    assert verdict(THEOREM, Evidence(("CW3",)), RUN).text == "FAILED: CW3"


def test_a_claim_fails_the_run_only_if_all_its_evidence_was_selected() -> None:
    failed = claim_record(THEOREM, Evidence(("CW3", "CW4")), RUN)
    assert failed.outcome == FAILED
    assert not failed_with_all_evidence(failed, RUN)
    assert failed_with_all_evidence(failed, [*RUN, "CW4"])
    assert not failed_with_all_evidence(claim_record(THEOREM, Evidence(("CW1",)), RUN), RUN)


@pytest.mark.parametrize("text", ["", "cw2", "CW2.", "CW2.a-b", "CW2/gates"])
def test_what_is_no_evidence_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no evidence id"):
        owner(text)


def test_constant_transports_keep_edge_dependence_from_being_proved_as_it_stands(
    record_of: Callable[..., TheoremRecord],
) -> None:
    claims, evidence, _ = read_papers()
    (claim,) = [c for c in claims if c.id == "attention-geometry/edge-dependence"]
    judged = claim_record(claim, evidence[claim.id], {"CW2": record_of("CW2")})
    assert judged.outcome == ADDED
    assert judged.counterexamples == ("CW2.three_heads",)


def test_with_nothing_run_nothing_is_claimed() -> None:
    claims, evidence, _ = read_papers()
    outcomes = {verdict(claim, evidence[claim.id], {}).outcome for claim in claims}
    assert outcomes == {NOT_VERIFIED}


def test_every_claim_can_fail(record_of: Callable[..., TheoremRecord]) -> None:
    claims, evidence, _ = read_papers()
    for claim in claims:
        references = evidence[claim.id].references
        run = {owner(r): record(owner(r), "G", ok=False) for r in references}
        measured = {r: False for r in references if r.startswith("EM.")}
        assert verdict(claim, evidence[claim.id], run, measured).outcome == FAILED, claim.id
