"""All that is measured of one layer, as one JSON record, and the streams that lead there.

A value that is undefined is null or the reason; a number stands beside its controls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from numerics.trained.decisions import LEAST_DRAWS
from numerics.trained.formats.checkpoint import Checkpoint
from numerics.trained.forward import Passage, Stream, sinks
from numerics.trained.measures import collapse, controls, depth, pattern_reversibility
from numerics.trained.measures.control_models import KINDS, redrawn
from numerics.trained.measures.transports import (
    Factors,
    distinct_tokens,
    factors,
    singular_values,
    spread,
)
from numerics.trained.models.architectures import Layer, Model, open_model
from numerics.trained.models.attention import AttentionWeights
from numerics.trained.tokens import Tokens
from numerics.walks.transports import gates

EDGES = 24  # sampled over all texts for the edge-mixed transports
CONTROL_MODELS = 3  # of each kind
QUANTILES = (0.5, 0.05, 0.95)


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
def record(view: View, texts: Sequence[Tokens], causal: bool, settings: Settings) -> dict[str, Any]:
    """The record of one layer, without its identity; strict JSON.

    Raises: ValueError where a measure meets what it cannot measure.
    """
    drains = [sinks(t, causal) for t in texts]
    return {
        "layer": view.index,
        "transports": transports_record(view, texts, settings),
        "reversibility": _reversibility(view, drains, causal, settings),
        "depth": _depth(view, drains, causal) if view.walks_before else None,
        "collapse": _collapse(view, drains),
    }


def transports_record(view: View, texts: Sequence[Tokens], settings: Settings) -> dict[str, Any]:
    """Spreads of all transports of a layer beside every control."""
    found = factors(view.weights)
    scene = _scene(view, texts, settings)
    own = controls.measured(found, scene)
    seed = (settings.seed, view.index)
    against = controls.all_controls(found, scene, settings.draws, seed, settings.workers)
    fold = view.layer.value_fold()
    return {
        "heads": len(found.o),
        "value_heads": len(found.v),
        "inner": found.o.shape[-2],
        "d": found.d,
        "joined_values": min(found.d, found.v.shape[0] * found.v.shape[2]),
        "pairs": sum(len(z) * (len(z) - 1) // 2 for z in scene.tokens),
        "own": {
            name: _plain(v.nanmean(dim=0) if name == "spectrum" else v) for name, v in own.items()
        },
        "folded": None if fold is None else _folded(factors(view.weights, fold)),
        "controls": {
            kind: {
                # The spectrum is drawn as one curve: its points are over draws and heads.
                name: _quantiles(v.flatten(0, 1) if name == "spectrum" else v)
                for name, v in drawn.items()
            }
            for kind, drawn in against.items()
        },
    }


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


def _folded(found: Factors) -> dict[str, Any]:
    own = spread(singular_values(found.v[list(found.owner)], found.o))
    return {name: _plain(value) for name, value in vars(own).items()}


def _reversibility(
    view: View, drains: Sequence[Sequence[int]], causal: bool, settings: Settings
) -> Any:
    if causal:
        return pattern_reversibility.CAUSAL
    found = []
    for t, (p, drain) in enumerate(zip(view.passages, drains, strict=True)):
        walks = [*p.pattern, p.walk]
        seed = [settings.seed, view.index, 10**8 + t]
        each = [
            pattern_reversibility.measure(P, drain, settings.draws, [*seed, h])
            for h, P in enumerate(walks)
        ]
        matched = [model[t].pattern for model in view.control_passages["matched"]]
        models = pattern_reversibility.of_models(matched, drain)
        found.append({"heads": each[:-1], "head_mean": each[-1], "matched": models})
    return found


def _depth(view: View, drains: Sequence[Sequence[int]], causal: bool) -> dict[str, Any]:
    walks = [p.walk for p in view.passages]
    found: dict[str, Any] = {
        "real": [
            depth.views(P, Q, drain, causal)
            for P, Q, drain in zip(view.walks_before, walks, drains, strict=True)
        ],
        "other_text": depth.other_texts(view.walks_before, walks, drains, causal),
    }
    for kind, models in view.control_walks.items():
        before = view.control_walks_before[kind]
        found[kind] = [
            [
                depth.views(P, Q, drain, causal)
                for P, Q, drain in zip(then, now, drains, strict=True)
            ]
            for then, now in zip(before, models, strict=True)
        ]
    return found


def _collapse(view: View, drains: Sequence[Sequence[int]]) -> dict[str, Any]:
    def spreads(states: Sequence[torch.Tensor]) -> list[dict[str, Any]]:
        return [
            {"whole": collapse.spread_of(x), "no_sinks": collapse.spread_of(x, drain)}
            for x, drain in zip(states, drains, strict=True)
        ]

    return {
        "entering": spreads([p.x for p in view.passages]),
        "real": spreads([p.after for p in view.passages]),
        "stacks": view.stacks,
        **{
            kind: [spreads([p.after for p in model]) for model in models]
            for kind, models in view.control_passages.items()
        },
    }


def _plain(values: torch.Tensor) -> Any:
    """Numbers, null where not finite (a zero transport, an infinite condition)."""

    def one(value: Any) -> Any:
        if isinstance(value, list):
            return [one(v) for v in value]
        return value if math.isfinite(value) else None

    return one(values.tolist())


def _quantiles(draws: torch.Tensor) -> Any:
    """Median, 5% and 95% points over the draws (axis 0): (3,) or (3, H)."""
    points = torch.tensor(QUANTILES, dtype=draws.dtype)
    return _plain(torch.quantile(draws, points, dim=0))
