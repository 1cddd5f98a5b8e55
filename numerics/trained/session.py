"""A run over all layers: gated, measured, journalled, shared out over ranks, resumable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from numerics.runs.journal import Journal
from numerics.runs.ranks import current, from_every_rank, from_first_rank
from numerics.trained import gate, measurements
from numerics.trained.formats.checkpoint import Checkpoint, Refused
from numerics.trained.measurements import Settings, Streams
from numerics.trained.measures import identity
from numerics.trained.models.architectures import Model
from numerics.trained.records import Header, LayerRecord, plain, read
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
    run: Run, agreed: dict[int, identity.Parity], file: Path, header: Header, advance: gate.Advance
) -> list[LayerRecord]:
    """The records of all layers in order, those of an earlier run read back; the first rank writes.

    Raises: Refused, on every rank, for what cannot be measured or written.
    """
    opened: list[Journal] = []
    kept: dict[int, LayerRecord] = {}

    def resume() -> None:
        opened.append(Journal(file, plain(header)))
        kept.update(by_layer(opened[0]))

    ranks = current()
    agree(attempt(resume, ranks.first))
    journal = opened[0] if opened else None
    done = dict(from_first_rank(lambda: kept))
    streams: list[Streams] = []

    def measure(start: int, found: dict[int, LayerRecord]) -> None:
        if not streams:
            streams.append(Streams(run.checkpoint, run.model, run.texts, run.settings.seed))
        for index in range(start, min(start + ranks.count, run.depth)):
            view = streams[0].advance(index)
            if ranks.owns(index) and index not in done:
                found[index] = _record(run, view, agreed[index])

    for start in range(0, run.depth if len(done) < run.depth else 0, ranks.count):
        found: dict[int, LayerRecord] = {}
        agree(attempt(lambda start=start, found=found: measure(start, found)))
        fresh = {k: v for part in from_every_rank(found) for k, v in part.items()}
        done |= fresh
        agree(attempt(lambda fresh=fresh: _append(journal, fresh, advance)))
    return [done[index] for index in range(run.depth)]


def by_layer(journal: Journal) -> dict[int, LayerRecord]:
    """The records of an earlier run. Raises: Refused for a line that is no layer's."""
    found = {}
    for number, line in enumerate(journal.records, 2):
        try:
            record = read(LayerRecord, line)
        except ValueError as error:
            raise Refused(
                f"{journal.path}: line {number} is no layer's record ({error}); remove the file"
            ) from error
        found[record.layer] = record
    return found


def _append(journal: Journal | None, fresh: dict[int, LayerRecord], advance: gate.Advance) -> None:
    for index in sorted(fresh) if journal else ():
        assert journal is not None
        journal.append(plain(fresh[index]))
        advance(f"layer {index}: measured")


def _record(run: Run, view: measurements.View, parity: identity.Parity) -> LayerRecord:
    x, seed = view.passages[0].x, run.settings.seed
    own = gate.identity_record(view.index, view.layer, x, run.model, parity, seed)
    return measurements.record(view, run.texts, run.model.causal, run.settings, own)
