"""The three papers whose claims are read, and how to cite them and this suite."""

from __future__ import annotations

from dataclasses import dataclass

from numerics.runs.provenance import SUITE

LISTED = "identifier as listed in an index"


@dataclass(frozen=True)
class Paper:
    """A paper under its permanent key, with the family of theorems written for it."""

    key: str
    title: str
    family: str
    identifier: str = ""


PAPERS = {
    paper.key: paper
    for paper in (
        Paper(
            "attention-geometry",
            "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
            "CW",
            "2607.10677",
        ),
        Paper(
            "riemannian-attention",
            "Riemannian Attention Mechanisms for Transformers: A Theoretical Framework and "
            "Architecture Design",
            "RA",
            "2608.01283",
        ),
        Paper("attention-pairings", "Knowledge worlds and attention pairings", "AP"),
    )
}


def family_of(theorem_id: str) -> str:
    """The letters of a theorem id: CW of CW12."""
    return theorem_id.rstrip("0123456789")


def paper_of(theorem_id: str) -> Paper:
    """The paper that a theorem's family was written for.

    Raises: ValueError for a family that belongs to no paper.
    """
    for paper in PAPERS.values():
        if paper.family == family_of(theorem_id):
            return paper
    raise ValueError(f"{theorem_id}: no paper has the family {family_of(theorem_id)!r}")


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def paper_bibtex(paper: Paper) -> str:
    """The paper's BibTeX entry; its identifier comes from an index and says so."""
    fields = {"key": paper.key, "title": f"{{{paper.title}}}"}
    if paper.identifier:
        fields |= {"eprint": paper.identifier, "archiveprefix": "arXiv", "note": LISTED}
    else:
        fields["note"] = "no public identifier known"
    return _entry("misc", paper.key, fields)


def theorem_bibtex(theorem_id: str, title: str, version: str) -> str:
    """The suite's BibTeX entry that names one theorem and the suite's version."""
    return _entry(
        "software",
        f"{SUITE}-suite-{theorem_id.lower()}",
        {
            "key": f"{SUITE} suite",
            "title": f"{{{SUITE}: machine-checked theorems about the geometry of self-attention}}",
            "version": version,
            "note": f"Theorem {theorem_id} ({title})",
        },
    )
