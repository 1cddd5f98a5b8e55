"""Claims of the papers, the evidence that bears on them, and the verdict that a run gives.

Evidence ids: "CW2" a theorem, "CW2.gates" one of its clauses, "CW2:missing_H" a false twin whose
counterexample the run must have found, "EM.isometry" a measurement of trained models.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from paper_checks.digests import digest
from paper_checks.report import ClaimRecord, TheoremRecord

LEVELS = ("N", "S", "G", "K")
ESTABLISHED = frozenset({"G", "K"})
AS_READ = "as read from the abstract"
REFERENCE = re.compile(r"(?P<owner>[A-Z]+[0-9]*)(?:(?P<mark>[.:])(?P<part>\w+))?")

PROVED = "PROVED"
ADDED = "PROVED WITH ADDED HYPOTHESES"
REFUTED = "REFUTED AS STATED"
MEASURED = "MEASURED"
OPEN = "OPEN / NOT TESTED"
NOT_VERIFIED = "NOT VERIFIED"
FAILED = "FAILED"

# What `attention-geometry analyze` measures of trained models.
MEASUREMENTS = {
    "EM.identity": "attention block output against the explicit connection walk",
    "EM.isometry": "spread of the singular values of transports, against random controls",
    "EM.isometry_folded": "the same with the gain of the norm before attention folded in",
    "EM.functional": "how evenly transports scale real token differences",
    "EM.summed": "spread of the singular values of the sum of a layer's transports",
    "EM.mixed": "spread of the singular values of transports mixed by the gates of an edge",
    "EM.reversibility": "defects of attention, against shuffled rows and untrained models",
    "EM.depth_stability": "distance between walks of consecutive layers, against controls",
    "EM.collapse_bound": "stacks of attention alone under RA11's bound",
    "EM.collapse": "tokens after attention alone and after the whole model",
    "EM.scale": "slope of (trained - control) over the sizes of one family",
}

Status = Literal["holds", "weak", "failed", "pending"]


@dataclass(frozen=True)
class Claim:
    """What a paper claims, restated, and the precise statement that we take it to mean."""

    id: str
    statement: str
    reading: str
    kind: Literal["theorem", "empirical", "open"] = "theorem"
    settled_by: str = ""
    note: str = ""

    @property
    def paper(self) -> str:
        """The permanent key of the paper that makes the claim."""
        return self.id.partition("/")[0]


@dataclass(frozen=True)
class Evidence:
    """What bears on a claim: ids that establish the reading; hypotheses that the reading adds and
    ids that show the claim false without them; ids that refute the claim as stated."""

    holds: tuple[str, ...]
    added: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    refuted_by: tuple[str, ...] = ()

    @property
    def references(self) -> tuple[str, ...]:
        """Every evidence id that the claim rests on, whichever way it bears."""
        return (*self.holds, *self.without, *self.refuted_by)

    @property
    def measurements(self) -> tuple[str, ...]:
        """Those of them that are measurements of trained models."""
        return tuple(r for r in self.references if r.startswith("EM."))


@dataclass(frozen=True)
class Verdict:
    """An outcome and the evidence ids that keep it from being settled."""

    outcome: str
    pending: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The outcome as it is printed, with the ids that failed or that are still to come."""
        if self.outcome == FAILED:
            return f"{FAILED}: {', '.join(self.failed)}"
        if self.outcome == NOT_VERIFIED:
            reasons = [f"pending: {', '.join(self.pending)}"] if self.pending else []
            reasons += [f"below level G: {', '.join(self.weak)}"] if self.weak else []
            return f"{NOT_VERIFIED} ({'; '.join(reasons)})"
        return f"{self.outcome}, {AS_READ}"


def owner(reference: str) -> str:
    """The theorem or measurement that an evidence id belongs to.

    Raises: ValueError when it is no evidence id.
    """
    match = REFERENCE.fullmatch(reference)
    if not match:
        raise ValueError(f"{reference!r} is no evidence id (such as CW2, CW2.gates, CW2:no_H)")
    return reference if match["owner"] == "EM" else match["owner"]


def status(reference: str, results: Mapping[str, TheoremRecord]) -> Status:
    """What a run says about one evidence id: level G or K holds, a lower level is weak."""
    record = results.get(owner(reference))
    if record is None:
        return "pending"
    if not record.ok:
        return "failed"
    match = REFERENCE.fullmatch(reference)
    if match and match["mark"] == ":":
        found = [m for m in record.mutant_details if m.id == match["part"]]
        return "holds" if any(m.refuted and m.derivation_fails for m in found) else "failed"
    if match and match["mark"] == ".":
        levels = [c.level for c in record.clauses if c.name == match["part"]]
    else:
        levels = [c.level for c in record.clauses]
    if not levels:
        return "failed"
    return "holds" if ESTABLISHED.issuperset(levels) else "weak"


def verdict(
    claim: Claim,
    evidence: Evidence,
    results: Mapping[str, TheoremRecord],
    measured: Mapping[str, bool] | None = None,
) -> Verdict:
    """The verdict on a claim: a function of the run and of nothing else.

    `measured` maps measurement ids to whether their decision rule ran and held its ground.
    """
    states: dict[str, Status] = {}
    for reference in evidence.references:
        if reference.startswith("EM."):
            held = (measured or {}).get(reference)
            states[reference] = "pending" if held is None else "holds" if held else "failed"
        else:
            states[reference] = status(reference, results)
    failed = tuple(r for r, s in states.items() if s == "failed")
    if failed:
        return Verdict(FAILED, failed=failed)
    # A refutation stands by itself, even while the strongest true statement is still to come.
    decisive = dict.fromkeys(evidence.refuted_by or evidence.references)
    pending = tuple(r for r in decisive if states[r] == "pending")
    weak = tuple(r for r in decisive if states[r] == "weak")
    if pending or (weak and claim.kind == "theorem"):
        return Verdict(NOT_VERIFIED, pending, weak)
    if evidence.refuted_by:
        return Verdict(REFUTED)
    if claim.kind != "theorem":
        return Verdict(MEASURED if claim.kind == "empirical" else OPEN)
    return Verdict(ADDED if evidence.added else PROVED)


def claim_digest(claim: Claim, evidence: Evidence) -> str:
    """The digest of what a claim says, of how it is read and of what it rests on."""
    return digest((claim, evidence))


def claim_record(
    claim: Claim,
    evidence: Evidence,
    results: Mapping[str, TheoremRecord],
    measured: Mapping[str, bool] | None = None,
    finding: str = "",
) -> ClaimRecord:
    """The claim, its evidence and its verdict as the report holds them.

    `measured` as for `verdict`; `finding`, what the measurements show, follows the claim's note.
    """
    found = verdict(claim, evidence, results, measured)
    return ClaimRecord(
        id=claim.id,
        digest=claim_digest(claim, evidence),
        paper=claim.paper,
        kind=claim.kind,
        statement=claim.statement,
        reading=claim.reading,
        verdict=found.text,
        outcome=found.outcome,
        evidence=evidence.holds,
        added=evidence.added,
        counterexamples=evidence.without,
        refuted_by=evidence.refuted_by,
        pending=found.pending,
        settled_by=claim.settled_by,
        note=f"{claim.note} {finding}".strip(),
    )


def failed_with_all_evidence(record: ClaimRecord, selected: Iterable[str]) -> bool:
    """Whether a claim failed though everything it rests on was selected."""
    owners = {owner(r) for r in (*record.evidence, *record.counterexamples,
                                 *record.refuted_by)}  # fmt: skip
    return record.outcome == FAILED and owners <= set(selected)
