"""Whether a report speaks of the theorems and claims that this version states."""

from __future__ import annotations

from paper_checks.claims import claim_digest
from paper_checks.digests import SHOWN, digest
from paper_checks.lint import read_papers
from paper_checks.report import Report, Unusable
from theorems import catalogue


def refuse_other_statements(report: Report) -> None:
    """Refuse a report whose verdicts would stand beside sentences that no run judged.

    Raises: Unusable naming the theorem or the claim.
    """
    for record in report.theorems:
        if not record.clauses:
            continue  # it crashed or did not load; its failures are listed
        try:
            stated = digest(catalogue.load(record.id))
        except ValueError as error:
            raise Unusable(f"the report does not fit this version: {error}") from error
        _refuse_another(record.id, record.digest, stated)
    claims, evidence, _ = read_papers()
    digests = {c.id: claim_digest(c, evidence[c.id]) for c in claims if c.id in evidence}
    for claim in report.claims:
        if claim.id not in digests:
            raise Unusable(f"the report does not fit this version: no claim {claim.id}")
        _refuse_another(claim.id, claim.digest, digests[claim.id])


def _refuse_another(name: str, reported: str, stated: str) -> None:
    if reported != stated:
        raise Unusable(
            f"{name}: the report is of another statement (digest {reported[:SHOWN]} against "
            f"{stated[:SHOWN]}): verify again"
        )
