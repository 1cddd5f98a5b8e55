"""A run over all layers: gated, measured, journalled, shared out over ranks, resumable."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from numerics.runs.journal import Journal, Record
from numerics.runs.ranks import current, from_every_rank, from_first_rank
from numerics.trained import gate, measurements
from numerics.trained.formats.checkpoint import Checkpoint, Refused
from numerics.trained.measurements import Settings, Streams
from numerics.trained.measures import identity
from numerics.trained.models.architectures import Model
from numerics.trained.tokens import Tokens


@dataclass(frozen=True)
class Run:
    """What is measured: a model, its texts, how many layers, and with which settings."""

    checkpoint: Checkpoint
    model: Model
    texts: list[Tokens]
    depth: int
    settings: Settings


def attempt(work: Callable[[], object], mine: bool = True) -> str | None:
    """What there is to refuse about some work of this rank, for all ranks to agree on."""
    try:
        if mine:
            work()
    except (Refused, OSError, ValueError, ArithmeticError) as refusal:
        return str(refusal) or type(refusal).__name__
    return None


def agree(refusal: str | None) -> None:
    """Go on only if no rank has anything to refuse.

    Raises: Refused on every rank, with the first refusal.
    """
    for rank, found in enumerate(from_every_rank(refusal)):
        if found:
            raise Refused(f"rank {rank}: {found}" if current().count > 1 else found)


def parities(run: Run, advance: gate.Advance) -> dict[int, identity.Parity]:
    """The parity of every layer, on every rank.

    Raises: Refused, on every rank, where a layer does not agree with transformers.
    """
    found: dict[int, identity.Parity] = {}

    def work() -> None:
        found.update(gate.gate_layers(run.model, run.texts[0], advance, run.depth))

    agree(attempt(work))
    return {k: v for part in from_every_rank(found) for k, v in part.items()}


def records(
    run: Run, agreed: dict[int, identity.Parity], file: Path, header: Record, advance: gate.Advance
) -> list[Record]:
    """The records of all layers in order, those of an earlier run read back; the first rank writes.

    Raises: Refused, on every rank, for what cannot be measured or written.
    """
    opened: list[Journal] = []
    kept: dict[int, Record] = {}

    def resume() -> None:
        opened.append(Journal(file, header))
        kept.update(by_layer(opened[0]))

    ranks = current()
    agree(attempt(resume, ranks.first))
    journal = opened[0] if opened else None
    done = dict(from_first_rank(lambda: kept))
    streams: list[Streams] = []

    def measure(start: int, found: dict[int, Record]) -> None:
        if not streams:
            streams.append(Streams(run.checkpoint, run.model, run.texts, run.settings.seed))
        for index in range(start, min(start + ranks.count, run.depth)):
            view = streams[0].advance(index)
            if ranks.owns(index) and index not in done:
                found[index] = _record(run, view, agreed[index])

    for start in range(0, run.depth if len(done) < run.depth else 0, ranks.count):
        found: dict[int, Record] = {}
        agree(attempt(lambda start=start, found=found: measure(start, found)))
        fresh = {k: v for part in from_every_rank(found) for k, v in part.items()}
        done |= fresh
        agree(attempt(lambda fresh=fresh: _append(journal, fresh, advance)))
    return [json.loads(json.dumps(done[index])) for index in range(run.depth)]


def by_layer(journal: Journal) -> dict[int, Record]:
    """The records of an earlier run. Raises: Refused for a line that is no layer's."""
    for number, record in enumerate(journal.records, 2):
        if type(record.get("layer")) is not int:
            raise Refused(f"{journal.path}: line {number} is no layer's record; remove the file")
    return {record["layer"]: record for record in journal.records}


def _append(journal: Journal | None, fresh: dict[int, Record], advance: gate.Advance) -> None:
    for index in sorted(fresh) if journal else ():
        assert journal is not None
        journal.append(fresh[index])
        advance(f"layer {index}: measured")


def _record(run: Run, view: measurements.View, parity: identity.Parity) -> Record:
    x, seed = view.passages[0].x, run.settings.seed
    own = gate.identity_record(view.index, view.layer, x, run.model, parity, seed)
    rest = measurements.record(view, run.texts, run.model.causal, run.settings)
    return {**rest, "identity": own}
