"""All that is measured of one layer, as rows of the long table, and the streams that lead there.

A number stands beside its controls; a value that is undefined is None beside the reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from numerics.trained.decisions import LEAST_DRAWS
from numerics.trained.formats.checkpoint import Checkpoint
from numerics.trained.forward import Passage, Stream, sinks
from numerics.trained.measures import collapse, controls, depth, pattern_reversibility
from numerics.trained.measures.control_models import KINDS, redrawn
from numerics.trained.measures.transports import distinct_tokens, factors, singular_values, spread
from numerics.trained.models.architectures import Layer, Model, open_model
from numerics.trained.models.attention import AttentionWeights
from numerics.trained.records import LayerIdentity, LayerRecord, Module, Row
from numerics.trained.tokens import Tokens
from numerics.walks.transports import gates

EDGES = 24  # sampled over all texts for the edge-mixed transports
CONTROL_MODELS = 3  # of each kind
QUANTILES = (0.5, 0.05, 0.95)
NOT_FINITE = "not finite"  # a zero transport has no spread, a singular one no condition
UNIFORM = "a walk is uniform"
FEW_LAWS = "half of the draws have no law"
NO_LOGITS = "no logits: exact zeros"
NO_MODEL = "no untrained walk has a law and structure"
OVERFLOWN = "beyond float64's range"


@dataclass(frozen=True)
class Settings:
    """What a run is: layers None means all; seeded draws."""

    layers: int | None = None
    texts: int | None = None
    draws: int = LEAST_DRAWS
    seed: int = 0
    workers: int = 1


@dataclass(frozen=True)
class View:
    """One layer with everything that has arrived there; walks by text, of controls by model."""

    index: int
    layer: Layer
    weights: AttentionWeights
    passages: list[Passage]
    walks_before: list[torch.Tensor]
    control_walks: dict[str, list[list[torch.Tensor]]]
    control_walks_before: dict[str, list[list[torch.Tensor]]]
    control_passages: dict[str, list[list[Passage]]]
    stacks: list[dict[str, dict[str, float] | None]]


class Streams:
    """The model, its control models and its pure stacks, moved through the layers together."""

    def __init__(
        self, checkpoint: Checkpoint, model: Model, texts: Sequence[Tokens], seed: int
    ) -> None:
        self.real = Stream(model, texts)
        self.controls = {
            kind: [
                Stream(open_model(redrawn(checkpoint, kind, seed + k)), texts)
                for k in range(CONTROL_MODELS)
            ]
            for kind in KINDS
        }
        self.stacks = [collapse.Stacks(model.causal) for _ in texts]
        for stack, x in zip(self.stacks, self.real.states, strict=True):
            stack.start(x)

    @torch.no_grad()
    def advance(self, index: int) -> View:
        """Everything through layer `index`."""
        before, control_before = self.real.walks, self._control_walks()
        layer, weights, passages = self.real.advance(index)
        norms = collapse.transport_norms(weights)
        stacks = [
            stack.advance(layer, weights, p.pattern, norms)
            for stack, p in zip(self.stacks, passages, strict=True)
        ]
        control_passages = {
            kind: [stream.advance(index)[2] for stream in streams]
            for kind, streams in self.controls.items()
        }
        return View(
            *(index, layer, weights, passages, before),
            control_walks=self._control_walks(),
            control_walks_before=control_before,
            control_passages=control_passages,
            stacks=stacks,
        )

    def _control_walks(self) -> dict[str, list[list[torch.Tensor]]]:
        return {kind: [s.walks for s in streams] for kind, streams in self.controls.items()}


@torch.no_grad()
def record(
    view: View, texts: Sequence[Tokens], causal: bool, settings: Settings, own: LayerIdentity
) -> LayerRecord:
    """The record of one layer, whose identity is `own`.

    Raises: ValueError where a measure meets what it cannot measure.
    """
    drains = [sinks(t, causal) for t in texts]
    module, transports = transport_rows(view, texts, settings)
    rows = [*transports, *_collapse(view, drains)]
    if not causal:
        rows += _reversibility(view, drains, settings)
    if view.walks_before:
        rows += _depth(view, drains, causal)
    return LayerRecord(layer=view.index, identity=own, module=module, rows=tuple(rows))


def transport_rows(
    view: View, texts: Sequence[Tokens], settings: Settings
) -> tuple[Module, list[Row]]:
    """Spreads of all transports of a layer beside every control, and the module's shape."""
    found = factors(view.weights)
    scene = _scene(view, texts, settings)
    own = controls.measured(found, scene)
    seed = (settings.seed, view.index)
    against = controls.all_controls(found, scene, settings.draws, seed, settings.workers)
    fold = view.layer.value_fold()
    rows: list[Row] = []
    for name, values in own.items():
        mean = values.nanmean(dim=0) if name == "spectrum" else values
        rows += _spread_rows("trained", name, mean[None])
    if fold is not None:
        gained = factors(view.weights, fold)
        spreads = spread(singular_values(gained.v[list(gained.owner)], gained.o))
        for name, values in vars(spreads).items():
            rows += _spread_rows("folded", name, values[None])
    points = torch.tensor(QUANTILES, dtype=found.o.dtype)
    for kind, drawn in against.items():
        for name, values in drawn.items():
            # The spectrum is drawn as one curve: its points are over draws and heads.
            draws = values.flatten(0, 1) if name == "spectrum" else values
            rows += _spread_rows(kind, name, torch.quantile(draws, points, dim=0))
    module = Module(
        heads=len(found.o),
        value_heads=len(found.v),
        inner=found.o.shape[-2],
        d=found.d,
        joined_values=min(found.d, found.v.shape[0] * found.v.shape[2]),
        pairs=sum(len(z) * (len(z) - 1) // 2 for z in scene.tokens),
    )
    return module, rows


def _spread_rows(kind: str, measure: str, points: torch.Tensor) -> Iterator[Row]:
    """Rows of values, or of medians with two quantiles: points (1 or 3, count), or (1 or 3,)."""
    single, by_member = points.ndim == 1, measure in ("spectrum", "mixed")
    for i, point in enumerate(points.reshape(len(points), -1).T.tolist()):
        yield _row(
            *("transports", measure, kind),
            point if all(map(math.isfinite, point)) else None,
            NOT_FINITE,
            head=None if single or by_member else i,
            member=i if by_member and not single else None,
        )


def _row(
    section: str,
    measure: str,
    kind: str,
    point: Sequence[float] | float | None,
    reason: str | None = None,
    view: str | None = None,
    text: int | None = None,
    head: int | None = None,
    member: int | None = None,
) -> Row:
    """One row of a value, of (median, 5%, 95%), or of the reason why there is none."""
    values = () if point is None else (point,) if isinstance(point, float | int) else point
    value, low, high = (*values, None, None, None)[:3]
    return Row(
        section=section,
        measure=measure,
        kind=kind,
        view=view,
        text=text,
        head=head,
        member=member,
        value=value,
        low=low,
        high=high,
        reason=reason if point is None else None,
    )


def _scene(view: View, texts: Sequence[Tokens], settings: Settings) -> controls.Scene:
    """Distinct tokens of every text, and gates of seeded edges, texts in proportion."""
    rng = np.random.default_rng([settings.seed, view.index, 10**7])
    chosen = []
    for k in range(EDGES):
        pattern = view.passages[k % len(texts)].pattern
        mean = pattern.mean(dim=0)
        i, j = np.nonzero((mean > 0).numpy())
        edge = rng.integers(len(i))
        chosen.append(gates(pattern[:, i[edge], j[edge]][:, None, None])[:, 0, 0])
    tokens = tuple(p.z[distinct_tokens(t.ids)] for p, t in zip(view.passages, texts, strict=True))
    return controls.Scene(tokens, torch.stack(chosen))


def _reversibility(
    view: View, drains: Sequence[Sequence[int]], settings: Settings
) -> Iterator[Row]:
    for t, (p, drain) in enumerate(zip(view.passages, drains, strict=True)):
        heads = len(p.pattern)
        seed = [settings.seed, view.index, 10**8 + t]
        for h, P in enumerate([*p.pattern, p.walk]):
            each = pattern_reversibility.measure(P, drain, settings.draws, [*seed, h])
            for name, cell in each.items():
                yield from walk_rows(name, cell, t, h if h < heads else None)
        matched = [model[t].pattern for model in view.control_passages["matched"]]
        for name, points in pattern_reversibility.of_models(matched, drain).items():
            for measure in pattern_reversibility.DEFINED[name]:
                point = points.get(measure)
                yield _row("reversibility", measure, "matched", point, NO_MODEL, name, t)


def walk_rows(
    view: str, cell: pattern_reversibility.Cell | str, text: int, head: int | None
) -> Iterator[Row]:
    """Defects of one walk in one view beside its shuffled rows, and what was dropped.

    A cell that is no cell is the reason why nothing is defined; no head: the head mean.
    """

    def row(
        measure: str, kind: str, point: Sequence[float] | float | None, why: str | None = None
    ) -> Row:
        return _row("reversibility", measure, kind, point, why, view, text, head)

    for measure in pattern_reversibility.DEFINED[view]:
        found = cell if isinstance(cell, str) else cell.defects.get(measure, NO_LOGITS)
        if isinstance(found, str | None):
            yield row(measure, "trained", None, found or FEW_LAWS)
            continue
        value, *control = found
        yield row(measure, "trained", value)
        yield row(measure, "shuffled_rows", control)
    if not isinstance(cell, str):
        yield row("n", "trained", cell.n)
        yield row("empty_rows", "trained", cell.empty_rows)
        yield row("draws_lost", "trained", cell.draws_lost)


def _depth(view: View, drains: Sequence[Sequence[int]], causal: bool) -> Iterator[Row]:
    def rows(
        kind: str, found: Sequence[Mapping[str, Mapping[str, float | None]]], member: int | None
    ) -> Iterator[Row]:
        for t, views in enumerate(found):
            for name, values in views.items():
                for measure, value in values.items():
                    place = (name, t, None, member)
                    yield _row("depth", measure, kind, value, UNIFORM, *place)

    def compared(
        before: Sequence[torch.Tensor], after: Sequence[torch.Tensor]
    ) -> list[dict[str, dict[str, float | None]]]:
        return [
            depth.views(P, Q, drain, causal)
            for P, Q, drain in zip(before, after, drains, strict=True)
        ]

    walks = [p.walk for p in view.passages]
    others = depth.other_texts(view.walks_before, walks, drains, causal)
    yield from rows("trained", compared(view.walks_before, walks), None)
    yield from rows("other_text", others, None)
    for kind, models in view.control_walks.items():
        before = view.control_walks_before[kind]
        for k, (then, now) in enumerate(zip(before, models, strict=True)):
            yield from rows(kind, compared(then, now), k)


def _collapse(view: View, drains: Sequence[Sequence[int]]) -> Iterator[Row]:
    def distances(
        kind: str, states: Sequence[torch.Tensor], member: int | None = None
    ) -> Iterator[Row]:
        for t, (x, drain) in enumerate(zip(states, drains, strict=True)):
            for name, left_out in (("whole", ()), ("no_sinks", drain)):
                for measure, value in collapse.spread_of(x, left_out).items():
                    place = (name, t, None, member)
                    yield _row("collapse", measure, kind, value, None, *place)

    if view.index == 0:
        yield from distances("entering", [p.x for p in view.passages])
    yield from distances("trained", [p.after for p in view.passages])
    for kind, models in view.control_passages.items():
        for k, model in enumerate(models):
            yield from distances(kind, [p.after for p in model], k)
    for t, stacks in enumerate(view.stacks):
        for kind, values in stacks.items():
            measures = collapse.MEASURES if kind == "normed" else collapse.BOUNDED_MEASURES
            for measure in measures:
                value = None if values is None else values[measure]
                yield _row("collapse", measure, kind, value, OVERFLOWN, text=t)
