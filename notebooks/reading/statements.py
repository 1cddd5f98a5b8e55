"""Theorem objects and the record of a run as Markdown: what a notebook shows of a theorem."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from IPython.display import Markdown, display

from paper_checks import expressions, formulas, latex
from paper_checks.claims import claim_record, owner
from paper_checks.exposition import exposition, given
from paper_checks.papers import attention_geometry
from paper_checks.report import TheoremRecord
from paper_checks.terminal import compared_text
from theorems import catalogue
from theorems.checker.derive import derive
from theorems.statement import Assumption, Cited, Definition, Rule, Theorem

PLAIN = {r"\textgreater{}": "&gt;", r"\textless{}": "&lt;", r"\textbar{}": "&#124;"}


def prose(text: str) -> str:
    """A text of a theorem as Markdown with formulas."""
    found = latex.tex(text)
    for macro, character in PLAIN.items():
        found = found.replace(macro, character)
    return found


def show(*paragraphs: str) -> None:
    """Display Markdown."""
    display(Markdown("\n\n".join(paragraphs)))


def table(head: str, rows: Iterable[str]) -> None:
    """Display a table; cells are parted by bars."""
    show(
        "\n".join(
            [f"| {head} |", "|" + (head.count("|") + 1) * "---|", *(f"| {r} |" for r in rows)]
        )
    )


def number(value: float, digits: int = 2) -> str:
    """A number rounded to some digits, zero without a sign."""
    return f"{round(float(value), digits) + 0.0:.{digits}f}"


def clauses(theorem: Theorem) -> None:
    """Title and clauses."""
    lines = [f"- **{theorem.id}.{c.name}** {prose(c.statement)}" for c in theorem.clauses]
    show(f"### {theorem.id}. {theorem.title}", "\n".join(lines))


def outcome(step: Rule) -> str:
    """What a run of the checker says of a step; it raises where the step does not follow."""
    derive(step)
    return "cited" if isinstance(step, Cited) else "checked"


def used(item: Any) -> str:
    """An object that a step uses, by name."""
    if isinstance(item, Assumption):
        return prose(item.text)
    if isinstance(item, Definition):
        return f"${expressions.latex(getattr(item.entry, 'base', item.entry))}$"
    return f"*{item.id}*"


def step_lines(step: Rule) -> list[str]:
    """A step, checked on the spot: its name, formulas, reason, and what it uses."""
    uses = f" Uses {', '.join(map(used, step.by))}." if step.by else ""
    head = f"*{step.id}* ({formulas.kind(step)}) **{outcome(step)}**"
    shown = [f"$${f}$$" for f in formulas.rule_formulas(step)]
    if isinstance(step, Cited):
        shown = [prose(step.statement), f"*Source.* {prose(step.source)}"]
    return [head, *shown, prose(step.because) + uses]


def derivation(theorem: Theorem) -> None:
    """All clauses with their definitions, hypotheses and steps, each step checked."""
    seen: set[str] = set()
    show(f"### Derivation of {theorem.id}")
    for clause in theorem.clauses:
        parts = [f"#### {theorem.id}.{clause.name}", prose(clause.statement)]
        shown = dict.fromkeys(map(formulas.definition, given(clause.steps, Definition)))
        new = [formula for formula in shown if formula not in seen]
        seen.update(new)
        parts += ["Definitions, where they first occur:"] * bool(new) + [f"$${f}$$" for f in new]
        if hypotheses := dict.fromkeys(a.text for a in given(clause.steps, Assumption)):
            parts.append("Hypotheses: " + "; ".join(map(prose, hypotheses)) + ".")
        show(*parts, *(line for step in clause.steps for line in step_lines(step)))
    steps = [step for clause in theorem.clauses for step in clause.steps]
    cited = sum(isinstance(step, Cited) for step in steps)
    print(f"{theorem.id}: {len(steps)} steps, {len(steps) - cited} checked, {cited} cited")


def needs(theorem: Theorem, record: TheoremRecord) -> None:
    """Which clauses are false without which hypothesis, as the run found."""
    head = f"hypothesis of {theorem.id} | needed for | used, no counterexample found without"
    rows = []
    for need in exposition(theorem, record).necessity:
        cells = (", ".join(f"{theorem.id}.{name}" for name in names) or "-"
                 for names in (need.needed, need.not_refuted))  # fmt: skip
        # A bar within a formula would end the cell.
        rows.append(" | ".join([prose(need.text).replace("|", r"\vert "), *cells]))
    table(head, rows)


def properties(records: Mapping[str, TheoremRecord]) -> None:
    """Whether the floating-point property of each theorem held, and could have failed."""
    table(
        "theorem | random layers within the bounds | planted errors noticed",
        (f"{identifier} | {'yes' if (r.max_residual_over_bound or 2) <= 1 else 'NO'} | "
         f"{'yes' if r.planted_rejected else 'NO'}" for identifier, r in records.items()),
    )  # fmt: skip


def results(records: Mapping[str, TheoremRecord]) -> None:
    """What the run found of each theorem."""
    table(
        "theorem | level | steps checked | cited | false twins refuted | all checks",
        (f"{identifier} | {record.level} | {record.steps_checked} of {record.steps} | "
         f"{record.steps_cited} | {record.mutants_refuted} of {record.mutants} | "
         f"{'passed' if record.ok else 'FAILED'}" for identifier, record in records.items()),
    )  # fmt: skip


def computed(record: TheoremRecord) -> None:
    """The tables that the run computed, with the count of values that are as stated."""
    for found in record.tables:
        state = f"**{compared_text(found)}**"
        show(f"**{prose(found.title)}.** {state}. {prose(found.note)}")
        table(" | ".join(map(prose, found.head)),
              (" | ".join(map(prose, row)) for row in found.rows))  # fmt: skip


def owners(names: Sequence[str], paper: Any = attention_geometry) -> list[str]:
    """The theorems that the claims of these names rest on."""
    evidence = [e for key, e in paper.EVIDENCE.items() if key.partition("/")[2] in names]
    found = {owner(reference) for item in evidence for reference in item.references}
    return [identifier for identifier in catalogue.CATALOGUE if identifier in found]


def claims(
    records: Mapping[str, TheoremRecord], names: Sequence[str] = (), paper: Any = attention_geometry
) -> None:
    """The claims of these names, or all that rest on these theorems alone, with their verdicts."""
    found = {claim.id.partition("/")[2]: claim for claim in paper.CLAIMS}
    for claim in [found[name] for name in names] or found.values():
        evidence = paper.EVIDENCE[claim.id]
        if not names and not {owner(r) for r in evidence.references} <= set(records):
            continue
        judged = claim_record(claim, evidence, records)
        lines = [f"### {claim.id}", f"*Claim.* {prose(claim.statement)}"]
        lines += [f"*Read as.* {prose(claim.reading)}", f"*Verdict.* **{judged.verdict}**"]
        lines.append(f"*Evidence.* {', '.join(judged.evidence)}")
        if judged.refuted_by:
            lines.append(f"*Against the claim as stated.* {', '.join(judged.refuted_by)}")
        lines += [f"*Added hypothesis.* {prose(text)}" for text in judged.added]
        if judged.counterexamples:
            lines.append(f"*False without it.* {', '.join(judged.counterexamples)}")
        lines += [f"*Note.* {prose(claim.note)}"] * bool(claim.note)
        show(*lines)
