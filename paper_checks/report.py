"""The report: one JSON document that terminal table, page and appendix render."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from numerics.runs.files import unwritable
from theorems.checker.records import CitedRecord, ClauseRecord, MutantRecord


@dataclass(frozen=True)
class Suite:
    """What ran, where, and how much of it is still to come."""

    version: str
    commit: str | None
    modified: bool | None
    python: str
    packages: dict[str, str]
    seed: int
    jobs: int
    started: str
    seconds: float
    selected: tuple[str, ...]
    not_selected: tuple[str, ...]
    not_built: tuple[str, ...]
    pending: int
    kernel: str  # checked, not installed, failed, left out, or absent: this copy has no proofs
    trusted_lines: int  # of code that must be right for a derivation to be
    gpu: str  # the GPU of the committed results and how its cells came out, or NOT RUN


@dataclass(frozen=True)
class FormalRecord:
    """A formal statement, the clause that it hangs on, and whether the kernel closed its proof.

    `left_out` is what the clause says beyond it and its neighbours of the same clause.
    """

    clause: str
    name: str
    statement: str
    left_out: str
    checked: bool


@dataclass(frozen=True)
class RateRecord:
    """A measured limit: value and error at the finest eps, the order of the error, its interval.

    No slope where the limit is attained to rounding.
    """

    name: str
    target: float
    finest: float
    error: float
    slope: float | None
    low: float | None
    high: float | None
    expected: float
    ok: bool


@dataclass(frozen=True)
class TableRecord:
    """A computed table: texts, which columns hold compared values, how many, and what differs."""

    title: str
    clauses: tuple[str, ...]
    head: tuple[str, ...]
    numbers: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str
    checked: int
    failures: tuple[str, ...]
    ok: bool


@dataclass(frozen=True)
class StressRecord:
    """One cell of a stress run, as `numerics.stress` leaves it; what was not measured is absent."""

    id: str
    cell: str
    n: int
    d: int
    heads: int
    dtype: str
    device: str
    seed: int
    version: str
    ranks: int
    status: str
    reason: str | None
    residual: float | UnsetType | None = UNSET
    bound: float | UnsetType | None = UNSET
    ratio: float | UnsetType | None = UNSET
    k: int | UnsetType = UNSET
    tight: bool | UnsetType = UNSET
    entry: tuple[int, ...] | UnsetType = UNSET
    comparisons: tuple[dict[str, Any], ...] | UnsetType = UNSET
    certificate: dict[str, Any] | UnsetType = UNSET
    seconds: dict[str, float] | UnsetType = UNSET
    matrix_rate: dict[str, float] | UnsetType | None = UNSET
    peak_memory_bytes: int | UnsetType | None = UNSET


@dataclass(frozen=True)
class TheoremRecord:
    """Everything that one run found out about one theorem; level is null if nothing ran."""

    id: str
    digest: str  # of the theorem that ran; empty if nothing ran
    title: str
    level: str | None
    steps: int
    steps_checked: int
    steps_cited: int
    cited: tuple[CitedRecord, ...]
    inherited: dict[str, tuple[str, ...]]  # axiom -> theorems it uses that cite it
    clauses: tuple[ClauseRecord, ...]
    instances: int
    rational_instances: int
    property_examples: int | None
    nonzero_residuals: int | None
    max_residual_over_bound: float | None
    tightness: float | None
    planted_rejected: bool | None
    rates: tuple[RateRecord, ...]
    tables: tuple[TableRecord, ...]
    mutants: int
    mutants_refuted: int
    mutant_details: tuple[MutantRecord, ...]
    necessity: dict[str, dict[str, str]]
    self_refutation_tries: int
    stress: tuple[StressRecord, ...]
    kernel: str  # checked, absent, not installed, failed or left out
    formal: tuple[FormalRecord, ...]
    uses: tuple[str, ...]
    failures: tuple[str, ...]
    warnings: tuple[str, ...]
    ok: bool
    seconds: float


@dataclass(frozen=True)
class ClaimRecord:
    """A claim of a paper, our reading of it, and the verdict that the evidence gives."""

    id: str
    digest: str  # of the claim and its evidence
    paper: str
    kind: str
    statement: str
    reading: str
    verdict: str
    outcome: str
    evidence: tuple[str, ...]
    added: tuple[str, ...]
    counterexamples: tuple[str, ...]
    refuted_by: tuple[str, ...]
    pending: tuple[str, ...]
    settled_by: str
    note: str


@dataclass(frozen=True)
class Report:
    """The whole document; `errors` are faults of the suite itself, found by its lints."""

    suite: Suite
    theorems: tuple[TheoremRecord, ...]
    claims: tuple[ClaimRecord, ...]
    errors: tuple[str, ...]
    ok: bool


NOT_RUN = TheoremRecord(
    id="", digest="", title="", level=None, steps=0, steps_checked=0, steps_cited=0, cited=(),
    inherited={}, clauses=(), instances=0, rational_instances=0, property_examples=None,
    nonzero_residuals=None, max_residual_over_bound=None, tightness=None, planted_rejected=None,
    rates=(), tables=(), mutants=0, mutants_refuted=0, mutant_details=(), necessity={},
    self_refutation_tries=0, stress=(), kernel="absent", formal=(), uses=(), failures=(),
    warnings=(), ok=False, seconds=0.0,
)  # fmt: skip


def lowest_level(levels: Iterable[str]) -> str | None:
    """The level of a theorem: the lowest of its clauses, in the order N, S, G, K."""
    return min(levels, key="NSGK".index, default=None)


class Unusable(ValueError):
    """An input or a destination cannot be used; the message is one line for the user."""


def _number(value: Any) -> float:
    """NumPy's float64 is a float, and stands in the report as one."""
    if isinstance(value, float):
        return float(value)
    raise NotImplementedError(f"the report holds numbers and texts, got {type(value).__name__}")


def to_json(report: Report) -> str:
    """The report as text that every JSON reader accepts (no NaN, no infinity)."""
    document = msgspec.to_builtins(report, enc_hook=_number)
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_report(path: Path) -> Report:
    """A report that `verify --json` wrote.

    Raises: Unusable when the file cannot be read or is no such report.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Report)
    except OSError as error:
        raise Unusable(f"--json {path}: {error.strerror or error}") from error
    except msgspec.ValidationError as error:
        raise Unusable(f"--json {path}: not a report of this version ({error})") from error
    except ValueError as error:
        raise Unusable(f"--json {path}: not JSON ({error})") from error


def check_destination(option: str, path: Path, folder: bool = False) -> None:
    """Refuse, before any work, a place that could not be written after it.

    Raises: Unusable naming the option.
    """
    if path.is_dir() and not folder:
        raise Unusable(f"{option} {path}: is a directory")
    if reason := unwritable(path if folder else path.absolute().parent):
        raise Unusable(f"{option} {path}: {reason}")
