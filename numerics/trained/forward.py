"""Texts streamed through a model, one layer in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from numerics.trained.models.architectures import Layer, Model
from numerics.trained.models.attention import AttentionWeights, attention_output, attention_pattern
from numerics.trained.tokens import Tokens


@dataclass(frozen=True)
class Passage:
    """One text at one layer: x enters the layer, z its attention module; both (n, d).

    pattern (H, n, n) is A^h there, and after (n, d) is what leaves the layer.
    """

    x: torch.Tensor
    z: torch.Tensor
    pattern: torch.Tensor
    after: torch.Tensor

    @property
    def walk(self) -> torch.Tensor:
        """The head mean P (n, n)."""
        return self.pattern.mean(dim=0)


@torch.no_grad()
def passage(layer: Layer, weights: AttentionWeights, x: torch.Tensor) -> Passage:
    """Tokens x (n, d) through one layer; `weights` are those of layer.attention()."""
    z = layer.attention_input(x)
    after = layer.after_attention(x, attention_output(z, weights))
    return Passage(x, z, attention_pattern(z, weights), after)


def layers(model: Model, tokens: Tokens) -> Iterator[tuple[int, Layer, torch.Tensor]]:
    """Index, layer and the layer's input x (n, d) for one text."""
    x = model.embed(tokens.ids, tokens.type_ids)
    for index in range(model.depth):
        layer = model.layer(index)
        yield index, layer, x
        x = layer.after_attention(x, attention_output(layer.attention_input(x), layer.attention()))


def sinks(tokens: Tokens, causal: bool) -> tuple[int, ...]:
    """Positions that attention drains to: token 0 ([CLS]), and in encoders the closing [SEP]s."""
    closing = [] if causal else [i for i, t in enumerate(tokens.ids) if t == tokens.ids[-1]]
    return tuple(sorted({0, *closing}))


class Stream:
    """Several texts on their way through one model."""

    def __init__(self, model: Model, texts: Sequence[Tokens]) -> None:
        self.model = model
        self.states = [model.embed(t.ids, t.type_ids) for t in texts]
        self.walks: list[torch.Tensor] = []

    def advance(self, index: int) -> tuple[Layer, AttentionWeights, list[Passage]]:
        """All texts through layer `index`; `walks` then holds their head means there."""
        layer = self.model.layer(index)
        weights = layer.attention()
        found = [passage(layer, weights, x) for x in self.states]
        self.states = [p.after for p in found]
        self.walks = [p.walk for p in found]
        return layer, weights, found
