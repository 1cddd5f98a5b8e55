"""What a theorem rests on through the theorems that it uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from paper_checks.report import TheoremRecord
from theorems import catalogue


def with_uses(ids: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The ids and everything that they use, in catalogue order, with an error list for each id
    that does not load."""
    todo, found, errors = list(ids), set(), {}
    while todo:
        theorem_id = todo.pop()
        if theorem_id in found:
            continue
        found.add(theorem_id)
        try:
            todo += catalogue.load(theorem_id).uses
        except Exception as error:
            errors[theorem_id] = [f"{theorem_id}: does not load: {error}"]
    order = {theorem_id: i for i, theorem_id in enumerate(catalogue.CATALOGUE)}
    return sorted(found, key=lambda i: (order.get(i, len(order)), i)), errors


def settle_uses(records: Sequence[TheoremRecord]) -> list[TheoremRecord]:
    """The records with what their used theorems cite; a theorem fails where the chain of those
    that it uses holds a failure or comes back to itself."""
    by_id = {record.id: record for record in records}
    sound = {record.id: record.ok for record in records}

    def faults(theorem_id: str, path: tuple[str, ...]) -> list[str]:
        if theorem_id in path:
            return [f"uses itself: {' -> '.join((*path, theorem_id))}"]
        if theorem_id not in by_id:
            return [f"uses {theorem_id}, which was not verified"]
        if path and not sound[theorem_id]:
            return [f"uses {theorem_id}, which failed"]
        return [f for used in by_id[theorem_id].uses for f in faults(used, (*path, theorem_id))]

    settled = []
    for record in records:
        found = dict.fromkeys(faults(record.id, ()))
        failures = (*record.failures, *(f"{record.id}: {fault}" for fault in found))
        settled.append(replace(record, failures=failures, ok=record.ok and not found,
                               inherited=_inherited(record, by_id)))  # fmt: skip
    return settled


def _inherited(
    record: TheoremRecord, by_id: Mapping[str, TheoremRecord]
) -> dict[str, tuple[str, ...]]:
    """What is cited by the theorems that a theorem uses, directly or not, and by which."""
    todo, seen, axioms = list(record.uses), {record.id}, dict[str, list[str]]()
    while todo:
        if (used := by_id.get(theorem_id := todo.pop(0))) is None or theorem_id in seen:
            continue
        seen.add(theorem_id)
        todo += used.uses
        for axiom in {c.id: c for c in used.cited}:
            axioms.setdefault(axiom, []).append(theorem_id)
    return {axiom: tuple(by) for axiom, by in axioms.items()}
