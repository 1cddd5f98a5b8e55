"""What the checker found out about a theorem, as frozen records."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClauseRecord:
    """One clause: the level that this run computed, or why it failed."""

    name: str
    level: str
    failures: tuple[str, ...]


@dataclass(frozen=True)
class CitedRecord:
    """A result of the literature that a derivation rests on without checking it."""

    id: str
    statement: str
    source: str


@dataclass(frozen=True)
class MutantRecord:
    """A false twin and the counterexample that this run found."""

    id: str
    step: str
    text: str
    counterexample: str
    refuted: bool
    derivation_fails: bool


@dataclass(frozen=True)
class Refutation:
    """What came of a mutant, and why it is not refuted as a false twin must be."""

    record: MutantRecord
    errors: tuple[str, ...]


@dataclass(frozen=True)
class Verification:
    """Everything exact about one theorem; `errors` are those of no single clause."""

    id: str
    title: str
    steps: int
    steps_checked: int
    cited: tuple[CitedRecord, ...]
    clauses: tuple[ClauseRecord, ...]
    instances: int
    rational_instances: int
    refutations: tuple[Refutation, ...]
    necessity: dict[str, dict[str, str]]  # assumption -> clause -> needed, not used or not refuted
    self_refutation_tries: int
    errors: tuple[str, ...]
    seconds: float

    @property
    def steps_cited(self) -> int:
        return len(self.cited)

    @property
    def mutants_refuted(self) -> int:
        return sum(not refutation.errors for refutation in self.refutations)

    @property
    def ok(self) -> bool:
        return not self.errors and not any(clause.failures for clause in self.clauses)
