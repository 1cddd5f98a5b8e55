"""Level K: formal proofs checked by a prover's kernel, and by what the compiler alone lets pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path

from paper_checks.formal.clauses import PART, WHOLE
from paper_checks.formal.prover import MARK, Compiler, Prover, find_prover
from paper_checks.formal.source import Stated, read_statements, refused, variables
from paper_checks.report import FormalRecord, TheoremRecord, lowest_level
from theorems import catalogue
from theorems.checker.records import ClauseRecord

ROOT = Path(__file__).resolve().parents[2]
FORMAL, BUILD = ROOT / "formal", ROOT / "build" / "formal"
CLOSED = "Closed under the global context"
CHECKED, ABSENT, NOT_INSTALLED, FAILED, LEFT_OUT = (
    "checked", "absent", "not installed", "failed", "left out")  # fmt: skip


@dataclass(frozen=True)
class Development:
    """The sources of formal/, what they state, and why they may not be compiled."""

    proofs: Mapping[str, str]
    stated: Sequence[Stated]
    faults: Sequence[str]


@dataclass(frozen=True)
class Checked:
    """What the prover said: its state, the theorems of statements.v it closed, and what failed."""

    state: str
    stated: Sequence[Stated] = ()
    closed: frozenset[str] = frozenset()
    faults: Mapping[str, str] = field(default_factory=dict)  # theorem of the catalogue -> why
    errors: Sequence[str] = ()  # of the whole


def read_development(folder: Path = FORMAL) -> Development:
    """Read formal/, refuse what may not stand there, and tie it to the catalogue."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.v"))}
    stated, faults = read_statements(texts.pop("statements", ""))
    faults = [f"formal/statements.v: {fault}" for fault in faults]
    faults += [f"formal/{name}.v: {fault}" for name, t in texts.items() for fault in refused(t)]
    faults += tie_faults(stated, WHOLE, PART)
    return Development(texts, stated, faults)


def tie_faults(
    stated: Iterable[Stated], whole: Mapping[str, Sequence[str]], part: Mapping[str, str]
) -> list[str]:
    """How statements, their table and the catalogue disagree, one line each."""
    faults: list[str] = []
    listed = {f"{theorem}.{clause}" for theorem, clauses in whole.items() for clause in clauses}
    faults += [f"{name}: both whole and in part" for name in sorted(listed & part.keys())]
    named: dict[str, Stated] = {}
    for one in stated:
        named[f"{one.theorem_id}.{one.clause}"] = one
        slug = catalogue.CATALOGUE.get(one.theorem_id, "").rpartition(".")[2]
        if not slug or f"{one.source}_".partition(f"{slug}_")[0]:
            faults.append(f"{one.name}: proved in {one.source}.v, not in {slug or 'no'}.v")
    faults += [f"{name}: stated, but not in clauses.py"
               for name in named if name not in listed | part.keys()]  # fmt: skip
    faults += [f"{name}: in clauses.py, but not stated"
               for name in sorted(listed | part.keys()) if name not in named]  # fmt: skip
    for name in named:
        theorem_id, _, clause = name.partition(".")
        if theorem_id in catalogue.CATALOGUE:
            known = [c.name for c in catalogue.load(theorem_id).clauses]
            if clause not in known:
                faults.append(f"{name}: no such clause; {theorem_id} has {', '.join(known)}")
    return faults


def check_formal(
    ids: Sequence[str],
    jobs: int = 2,
    folder: Path = FORMAL,
    build: Path = BUILD,
    prover: Prover | None = None,
) -> Checked:
    """Check the formal proofs of theorems: sources first, then the kernel's answers."""
    if not (folder / "statements.v").is_file():
        return Checked(ABSENT)
    development = read_development(folder)
    if development.faults:
        return Checked(FAILED, development.stated, errors=development.faults)
    prover = prover or find_prover()
    if prover is None:
        return Checked(NOT_INSTALLED, development.stated)
    return _ask(development, ids, jobs, Compiler, prover, build)


def _ask(development: Development, ids: Sequence[str], jobs: int, compiler: type[Compiler],
         prover: Prover, build: Path) -> Checked:  # fmt: skip
    by_theorem = {i: [s for s in development.stated if s.theorem_id == i] for i in ids}
    units = {f"statements_{i}": unit(stated) for i, stated in by_theorem.items() if stated}
    answers = compiler(prover, {**development.proofs, **units}, build).compile(units, jobs)
    closed: set[str] = set()
    faults: dict[str, str] = {}
    for name in units:
        theorem_id = name.removeprefix("statements_")
        answer = answers[name]
        if answer.folder is None:
            deeper = [f"{n}.v: {a.error}" for n, a in answers.items()
                      if a.error and not n.startswith("statements_")
                      and not a.error.startswith("requires ")]  # fmt: skip
            faults[theorem_id] = "; ".join(deeper) if answer.error.startswith("requires ") else \
                answer.error  # fmt: skip
            continue
        told = said(answer.printed)
        for one in by_theorem[theorem_id]:
            wrong = [f"{label}: {told.get(label, 'no answer')}" for label in
                     (one.name, f"{one.name}_witness") if told.get(label) != CLOSED]  # fmt: skip
            if wrong:
                faults[theorem_id] = "; ".join(wrong)
            else:
                closed.add(one.name)
    return Checked(FAILED if faults else CHECKED, development.stated, frozenset(closed), faults)


def settle_formal(record: TheoremRecord, checked: Checked) -> TheoremRecord:
    """A theorem's record with what the prover said, and whole clauses raised to level K."""
    theorem_id = record.id
    stated = [one for one in checked.stated if one.theorem_id == theorem_id]
    if not stated:
        return record
    formal = tuple(
        FormalRecord(
            clause=one.clause, name=one.name, statement=one.text,
            left_out=PART.get(f"{theorem_id}.{one.clause}", ""), checked=one.name in checked.closed,
        )
        for one in stated
    )  # fmt: skip
    fault = checked.faults.get(theorem_id)
    state = CHECKED if checked.state == FAILED and not (fault or checked.errors) else checked.state
    clauses = tuple(
        replace(clause, level="K") if _proved(clause, theorem_id, formal) else clause
        for clause in record.clauses
    )
    return replace(
        record, formal=formal, kernel=state, clauses=clauses, ok=record.ok and not fault,
        failures=(*record.failures, *([f"{theorem_id}.kernel: {fault}"] if fault else [])),
        level=lowest_level(c.level for c in clauses) if clauses else record.level,
    )  # fmt: skip


def _proved(clause: ClauseRecord, theorem_id: str, formal: Sequence[FormalRecord]) -> bool:
    """Whether the kernel closed all that a clause says, and nothing else of it fails."""
    proofs = [f for f in formal if f.clause == clause.name]
    proved = bool(proofs) and all(f.checked for f in proofs)
    return clause.name in WHOLE.get(theorem_id, ()) and proved and not clause.failures


def lines(checked: Checked, ids: Iterable[str]) -> list[str]:
    """What came out, a line a theorem, then what failed, then the sum."""
    found = [
        _line(i, [s for s in checked.stated if s.theorem_id == i], checked.closed) for i in ids
    ]
    failed = [f"FAILED: {i}: {fault}" for i, fault in checked.faults.items()]
    failed += [f"FAILED: {error}" for error in checked.errors]
    closed = [s for s in checked.stated if s.name in checked.closed]
    theorems = len({s.theorem_id for s in closed})
    total = f"{len(closed)} formal theorems of {theorems} theorems are closed, each with a witness"
    return [line for line in found if line] + failed + [total]


def _line(theorem_id: str, stated: Sequence[Stated], closed: frozenset[str]) -> str:
    open_clauses = {s.clause for s in stated if s.name not in closed}
    names = dict.fromkeys(s.clause for s in stated if s.clause not in open_clauses)
    if not names:
        return ""
    total = len(catalogue.load(theorem_id).clauses)
    whole = [name for name in names if name in WHOLE.get(theorem_id, ())]
    parts = [f"{name} (without {PART[f'{theorem_id}.{name}']})"
             for name in names if name not in whole]  # fmt: skip
    told = f"{theorem_id}: {len(whole)} of {total} clauses proved: {', '.join(whole) or 'none'}"
    return told + (f"; in part: {', '.join(parts)}" if parts else "")


def said(printed: str) -> dict[str, str]:
    """What the prover printed after each mark, on one line."""
    pieces = re.split(rf"(?m)^{MARK}(\w+)\n", printed)
    return {name: " ".join(text.split()) for name, text in
            zip(pieces[1::2], pieces[2::2], strict=True)}  # fmt: skip


def unit(stated: Sequence[Stated]) -> str:
    """The source that restates theorems in a clean environment and asks the kernel about them."""
    sources = " ".join(sorted({one.source for one in stated}))
    head = (
        "From mathcomp Require Import all_ssreflect all_algebra.\n"
        f"From AttentionGeometry Require {sources}.\n"
    )
    questions = (resources.files("paper_checks") / "data" / "questions.v").read_text("utf-8")
    parts = [head, "Local Open Scope ring_scope.\n"]
    names = sorted({name for one in stated for name in variables(one.text)})
    parts += [f'Goal True. idtac "{MARK}{name} is a word of MathComp". Abort.\n'
              f"Fail Check {name}.\n" for name in names]  # fmt: skip
    parts += [f"Theorem {one.name} : {one.text}.\nProof. exact @{one.source}.{one.proof}. Qed.\n"
              for one in stated]  # fmt: skip
    parts.append(questions)
    for one in stated:
        parts.append(
            f"Goal ltac:(let t := type of {one.name} in let c := contradiction_of t in "
            f"exact (c -> False)).\nProof. refuted_by @{one.witness}. Qed.\n"
        )
        asked = {one.name: one.name, f"{one.name}_witness": one.witness}
        parts += [f'Goal True. idtac "{MARK}{label}". Abort.\nPrint Assumptions {name}.\n'
                  for label, name in asked.items()]  # fmt: skip
    return "\n".join(parts)
