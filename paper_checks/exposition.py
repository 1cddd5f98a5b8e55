"""A theorem's objects and its record of a run, joined in the order in which one reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from paper_checks import expressions, formulas
from paper_checks.report import FormalRecord, Report, TheoremRecord, Unusable
from theorems import catalogue
from theorems.checker.records import ClauseRecord, MutantRecord
from theorems.checker.world import TRUE
from theorems.statement import Assumption, Cited, Clause, Definition, Mutant, Rule, Theorem


@dataclass(frozen=True)
class Link:
    """A link of a derivation: its formulas, why it holds, and as prose what it uses."""

    id: str
    kind: str
    formulas: tuple[str, ...]
    because: str
    uses: tuple[str, ...]
    statement: str = ""
    source: str = ""


@dataclass(frozen=True)
class ReadClause:
    """A clause with what it assumes, what the run found, and its formal statements."""

    name: str
    statement: str
    assumptions: tuple[str, ...]
    definitions: tuple[str, ...]
    links: tuple[Link, ...]
    record: ClauseRecord
    formal: tuple[FormalRecord, ...]


@dataclass(frozen=True)
class Need:
    """An assumption, the clauses that are false without it, and those that were not refuted."""

    text: str
    needed: tuple[str, ...]
    not_refuted: tuple[str, ...]


@dataclass(frozen=True)
class ReadMutant:
    """A false twin, its false formulas, and the counterexample that the run found."""

    id: str
    text: str
    without: tuple[str, ...]
    instead: tuple[str, ...]
    formulas: tuple[str, ...]
    record: MutantRecord


@dataclass(frozen=True)
class Exposition:
    """Everything that a theorem's section shows."""

    id: str
    title: str
    clauses: tuple[ReadClause, ...]
    assumptions: tuple[tuple[str, str], ...]
    mutants: tuple[ReadMutant, ...]
    necessity: tuple[Need, ...]
    sources: tuple[str, ...]
    record: TheoremRecord

    @property
    def display_formulas(self) -> list[str]:
        found = [f for clause in self.clauses for f in clause.definitions]
        found += [f for clause in self.clauses for link in clause.links for f in link.formulas]
        return found + [f for mutant in self.mutants for f in mutant.formulas]

    @property
    def texts(self) -> list[str]:
        """All prose, in which formulas may stand between dollar signs."""
        links = [link for c in self.clauses for link in c.links]
        found = [
            self.title,
            *(c.statement for c in self.clauses),
            *(text for c in self.clauses for text in c.assumptions),
            *(need.text for need in self.necessity),
        ]
        found += [text for link in links for text in (link.because, link.statement, *link.uses)]
        return found + [t for m in self.mutants for t in (m.text, *m.without, *m.instead)]


def given(steps: Iterable[Rule], kind: type) -> list[Any]:
    """The assumptions or definitions that steps rest on, each once, in order of first use."""
    found: list[Any] = []
    for step in steps:
        found += [i for i in TRUE.closure(step) if isinstance(i, kind) and i not in found]
    return found


def used(item: Any) -> str:
    """An object that a step uses, as prose: an array, what is assumed, or the name of a step."""
    if isinstance(item, Assumption):
        return item.text
    if isinstance(item, Definition):
        return f"${expressions.latex(getattr(item.entry, 'base', item.entry))}$"
    name = item.id.replace("_", r"\_")
    return rf"\texttt{{{name}}}"


def link(rule: Rule) -> Link:
    """One step as it is shown."""
    statement, source = (rule.statement, rule.source) if isinstance(rule, Cited) else ("", "")
    return Link(
        rule.id,
        formulas.kind(rule),
        tuple(formulas.rule_formulas(rule)),
        rule.because,
        tuple(dict.fromkeys(used(item) for item in rule.by)),
        statement,
        source,
    )


def _clause(clause: Clause, record: TheoremRecord) -> ReadClause:
    found = [c for c in record.clauses if c.name == clause.name]
    missing = ClauseRecord(clause.name, level="", failures=("not run",))
    return ReadClause(
        clause.name,
        clause.statement,
        tuple(dict.fromkeys(a.text for a in given(clause.steps, Assumption))),
        tuple(formulas.definition(d) for d in given(clause.steps, Definition)),
        tuple(link(step) for step in clause.steps),
        found[0] if found else missing,
        tuple(f for f in record.formal if f.clause == clause.name),
    )


def _mutant(mutant: Mutant, record: TheoremRecord) -> ReadMutant:
    found = [m for m in record.mutant_details if m.id == mutant.id]
    missing = MutantRecord(
        mutant.id, mutant.claim.id, mutant.text,
        counterexample="", refuted=False, derivation_fails=False,
    )  # fmt: skip
    shown = [formulas.definition(d) for d in mutant.redefine]
    shown += formulas.rule_formulas(mutant.claim)[:1]
    return ReadMutant(
        mutant.id,
        mutant.text,
        tuple(a.text for a in mutant.drop),
        tuple(a.text for a in mutant.add),
        tuple(shown),
        found[0] if found else missing,
    )


def _need(text: str, row: Mapping[str, str]) -> Need:
    names = [tuple(clause for clause, state in row.items() if state == wanted)
             for wanted in ("needed", "no counterexample found")]  # fmt: skip
    return Need(text, *names)


def exposition(theorem: Theorem, record: TheoremRecord) -> Exposition:
    """Join a theorem and its record.

    Raises: TypeError for a kind of step that has no form yet, Unusable for a record that speaks of
    assumptions that the theorem does not have.
    """
    steps = [step for clause in theorem.clauses for step in clause.steps]
    texts = {a.id: a.text for a in given(steps, Assumption)}
    if unknown := record.necessity.keys() - texts.keys():
        raise Unusable(
            f"the report does not fit this version: assumptions of {theorem.id}: "
            f"{', '.join(sorted(unknown))}"
        )
    return Exposition(
        theorem.id,
        theorem.title,
        tuple(_clause(clause, record) for clause in theorem.clauses),
        tuple(texts.items()),
        tuple(_mutant(mutant, record) for mutant in theorem.mutants),
        tuple(_need(texts[i], row) for i, row in record.necessity.items()),
        theorem.sources,
        record,
    )


def expositions(report: Report) -> list[Exposition]:
    """The report's theorems that ran, with their objects.

    Raises: Unusable when the report speaks of theorems or clauses that this version does not have.
    """
    found = []
    for record in report.theorems:
        if not record.clauses:
            continue  # it crashed or did not load; its failures are listed
        try:
            theorem = catalogue.load(record.id)
        except ValueError as error:
            raise Unusable(f"the report does not fit this version: {error}") from error
        names = [c.name for c in record.clauses]
        if names != [c.name for c in theorem.clauses]:
            raise Unusable(f"the report does not fit this version: clauses of {record.id}")
        found.append(exposition(theorem, record))
    return found
