"""The report: one JSON document that terminal table, page and appendix render."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

from numerics.runs.files import unwritable


class Suite(TypedDict):
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
    selected: list[str]
    not_selected: list[str]
    not_built: list[str]
    pending: int
    kernel: str  # checked, not installed, failed, left out, or absent: this copy has no proofs
    gpu: str  # the GPU of the committed results and how its cells came out, or NOT RUN


class FormalRecord(TypedDict):
    """A formal statement, the clause that it hangs on, and whether the kernel closed its proof.

    `left_out` is what the clause says beyond it and its neighbours of the same clause.
    """

    clause: str
    name: str
    statement: str
    left_out: str
    checked: bool


class ClauseRecord(TypedDict):
    """One clause: the level that this run computed, or why it failed."""

    name: str
    level: str
    failures: list[str]


class CitedRecord(TypedDict):
    """A result of the literature that a derivation rests on without checking it."""

    id: str
    statement: str
    source: str


class MutantRecord(TypedDict):
    """A false twin and the counterexample that this run found."""

    id: str
    step: str
    text: str
    counterexample: str
    refuted: bool
    derivation_fails: bool


class RateRecord(TypedDict):
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


class TableRecord(TypedDict):
    """A computed table: texts, which columns hold compared values, how many, and what differs."""

    title: str
    clauses: list[str]
    head: list[str]
    numbers: list[bool]
    rows: list[list[str]]
    note: str
    checked: int
    failures: list[str]
    ok: bool


class TheoremRecord(TypedDict):
    """Everything that one run found out about one theorem; level is null if nothing ran."""

    id: str
    title: str
    level: str | None
    steps: int
    steps_checked: int
    steps_cited: int
    cited: list[CitedRecord]
    inherited: dict[str, list[str]]  # axiom -> theorems it uses that cite it
    clauses: list[ClauseRecord]
    instances: int
    rational_instances: int
    property_examples: int | None
    nonzero_residuals: int | None
    max_residual_over_bound: float | None
    tightness: float | None
    planted_rejected: bool | None
    rates: list[RateRecord]
    tables: list[TableRecord]
    mutants: int
    mutants_refuted: int
    mutant_details: list[MutantRecord]
    necessity: dict[str, dict[str, str]]
    self_refutation_tries: int
    stress: list[dict[str, Any]]
    kernel: str  # checked, absent, not installed, failed or left out
    formal: list[FormalRecord]
    uses: list[str]
    failures: list[str]
    warnings: list[str]
    ok: bool
    seconds: float


class ClaimRecord(TypedDict):
    """A claim of a paper, our reading of it, and the verdict that the evidence gives."""

    id: str
    paper: str
    kind: str
    statement: str
    reading: str
    verdict: str
    outcome: str
    evidence: list[str]
    added: list[str]
    counterexamples: list[str]
    refuted_by: list[str]
    pending: list[str]
    settled_by: str
    note: str


class Report(TypedDict):
    """The whole document; `errors` are faults of the suite itself, found by its lints."""

    suite: Suite
    theorems: list[TheoremRecord]
    claims: list[ClaimRecord]
    errors: list[str]
    ok: bool


def lowest_level(levels: Iterable[str]) -> str | None:
    """The level of a theorem: the lowest of its clauses, in the order N, S, G, K."""
    return min(levels, key="NSGK".index, default=None)


class Unusable(ValueError):
    """An input or a destination cannot be used; the message is one line for the user."""


def shape_errors(value: Any, hint: Any, where: str = "report") -> list[str]:
    """How a JSON value departs from a type made of TypedDict, list, dict, unions and scalars."""
    if hint is Any:
        return []
    if is_typeddict(hint):
        return _record_errors(value, hint, where)
    if get_origin(hint) is UnionType:
        found = [shape_errors(value, choice, where) for choice in get_args(hint)]
        return [] if any(not errors for errors in found) else found[0]
    if get_origin(hint) is list:
        if not isinstance(value, list):
            return [f"{where}: expected a list, found {type(value).__name__}"]
        (item,) = get_args(hint)
        return [e for i, v in enumerate(value) for e in shape_errors(v, item, f"{where}[{i}]")]
    if get_origin(hint) is dict:
        if not isinstance(value, dict):
            return [f"{where}: expected an object, found {type(value).__name__}"]
        item = get_args(hint)[1]
        return [e for k, v in value.items() for e in shape_errors(v, item, f"{where}.{k}")]
    wanted = (int, float) if hint is float else hint
    if isinstance(value, wanted) and (hint is bool or not isinstance(value, bool)):
        return []
    name = "null" if hint is NoneType else hint.__name__
    return [f"{where}: expected {name}, found {type(value).__name__}"]


def _record_errors(value: Any, hint: Any, where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where}: expected an object, found {type(value).__name__}"]
    hints = get_type_hints(hint)
    errors = [f"{where}.{key}: missing" for key in sorted(hint.__required_keys__ - value.keys())]
    return errors + [
        e for k, h in hints.items() if k in value for e in shape_errors(value[k], h, f"{where}.{k}")
    ]


def to_json(report: Report) -> str:
    """The report as text that every JSON reader accepts (no NaN, no infinity)."""
    return json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_report(path: Path) -> Report:
    """A report that `verify --json` wrote.

    Raises: Unusable when the file cannot be read or is no such report.
    """
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Unusable(f"--json {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise Unusable(f"--json {path}: not JSON ({error})") from error
    if errors := shape_errors(report, Report):
        more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
        raise Unusable(f"--json {path}: not a report of this version ({errors[0]}{more})")
    return report


def check_destination(option: str, path: Path, folder: bool = False) -> None:
    """Refuse, before any work, a place that could not be written after it.

    Raises: Unusable naming the option.
    """
    if path.is_dir() and not folder:
        raise Unusable(f"{option} {path}: is a directory")
    if reason := unwritable(path if folder else path.absolute().parent):
        raise Unusable(f"{option} {path}: {reason}")
