"""What must hold of the claims and of every formula before a verdict is worth anything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module

from paper_checks import latex
from paper_checks.claims import MEASUREMENTS, REFERENCE, Claim, Evidence, owner
from paper_checks.exposition import exposition
from paper_checks.papers.list import PAPERS
from paper_checks.report import NOT_RUN
from theorems import catalogue
from theorems.statement import Theorem

Load = Callable[[str], Theorem]


def read_papers() -> tuple[list[Claim], dict[str, Evidence], list[str]]:
    """All claims and their evidence, and an error for each paper's module that does not import."""
    claims: list[Claim] = []
    evidence: dict[str, Evidence] = {}
    errors: list[str] = []
    for key in PAPERS:
        name = f"paper_checks.papers.{key.replace('-', '_')}"
        try:
            module = import_module(name)
            claims += module.CLAIMS
            evidence |= module.EVIDENCE
        except (ImportError, AttributeError) as error:
            errors.append(f"{key}: {name} does not import: {error}")
    return claims, evidence, errors


def claim_errors(
    claims: Sequence[Claim],
    evidence: Mapping[str, Evidence],
    built: Collection[str] | None = None,
    planned: Collection[str] | None = None,
    load: Load = catalogue.load,
) -> list[str]:
    """One line for each fault of the claims, each naming the claim or the id."""
    built = catalogue.CATALOGUE if built is None else built
    planned = catalogue.PLANNED if planned is None else planned
    ids = [claim.id for claim in claims]
    errors = [f"{i}: claim id occurs twice" for i in dict.fromkeys(ids) if ids.count(i) > 1]
    errors += [f"{i}: evidence for an unknown claim" for i in evidence if i not in ids]
    errors += [f"{i}: in the catalogue and in PLANNED" for i in built if i in planned]
    loaded = _Loaded(load)
    for claim in claims:
        errors += _faults_of(claim, evidence.get(claim.id))
        for reference in evidence[claim.id].references if claim.id in evidence else ():
            if fault := _reference_fault(reference, built, planned, loaded):
                errors.append(f"{claim.id}: {fault}")
    return errors


def _faults_of(claim: Claim, evidence: Evidence | None) -> Iterator[str]:
    if claim.paper not in PAPERS or not claim.id.partition("/")[2]:
        yield f"{claim.id}: no claim id of a known paper (paper-key/name)"
    if evidence is None or not evidence.holds:
        yield f"{claim.id}: no evidence ids"
    elif bool(evidence.added) != bool(evidence.without):
        yield f"{claim.id}: added hypotheses and counterexamples without them come together"
    if claim.kind == "open" and not claim.settled_by:
        yield f"{claim.id}: an open claim says what would settle it"
    for text in (claim.statement, claim.reading, claim.settled_by, claim.note,
                 *(evidence.added if evidence else ())):  # fmt: skip
        try:
            latex.html(text)
        except latex.Rejected as error:
            yield f"{claim.id}: {error}"


class _Loaded:
    """Theorems by id, each loaded once, with the reason where one does not load."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._found: dict[str, Theorem | str] = {}

    def __call__(self, theorem_id: str) -> Theorem | str:
        if theorem_id not in self._found:
            try:
                self._found[theorem_id] = self._load(theorem_id)
            except Exception as error:
                self._found[theorem_id] = f"{theorem_id} does not import: {error}"
        return self._found[theorem_id]


def _reference_fault(
    reference: str, built: Collection[str], planned: Collection[str], loaded: _Loaded
) -> str | None:
    try:
        theorem_id = owner(reference)
    except ValueError as error:
        return str(error)
    if theorem_id.startswith("EM."):
        return None if theorem_id in MEASUREMENTS else f"{theorem_id}: no such measurement"
    part = REFERENCE.fullmatch(reference)
    named = part is not None and part["part"] is not None
    if theorem_id not in built:
        if theorem_id not in planned:
            return f"{theorem_id} is neither in the catalogue nor planned"
        return f"{reference}: parts of a planned theorem have no names yet" if named else None
    theorem = loaded(theorem_id)
    if isinstance(theorem, str):
        return theorem
    if part is None or not named:
        return None
    what, parts = ("clause", [c.name for c in theorem.clauses]) if part["mark"] == "." else (
        "mutant", [m.id for m in theorem.mutants])  # fmt: skip
    if part["part"] in parts:
        return None
    return f"{theorem_id} has no {what} {part['part']!r}; it has {', '.join(parts)}"


def formula_errors(ids: Iterable[str], load: Load = catalogue.load) -> list[str]:
    """One line for each formula or text of a theorem that some rendering could not show."""
    errors = []
    for theorem_id in ids:
        try:
            shown = exposition(load(theorem_id), NOT_RUN)
        except Exception as error:
            errors.append(f"{theorem_id}: cannot be shown: {error}")
            continue
        for render, parts in ((latex.mathml, shown.display_formulas), (latex.html, shown.texts)):
            for part in parts:
                try:
                    render(part)
                except latex.Rejected as error:
                    errors.append(f"{theorem_id}: {error}")
    return errors
