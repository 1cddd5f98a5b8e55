"""The table of architectures that can be measured; anything else is refused by name.

An unknown model is never guessed at: T5 and GPT-Neo, for instance, use logits without
1/sqrt(d_k), and would be measured with a scale that they do not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from numerics.trained.attention import AttentionWeights
from numerics.trained.bert import Bert
from numerics.trained.checkpoint import Checkpoint, Refused


class Reference(Protocol):
    """One layer of the transformers library, filled with the checkpoint's tensors."""

    def attention_output(self, x: torch.Tensor) -> torch.Tensor:
        """The attention module's output (n, d), after W_O, before the residual."""
        ...

    def layer_output(self, x: torch.Tensor) -> torch.Tensor:
        """The whole layer's output (n, d)."""
        ...


class Layer(Protocol):
    """One layer read from disk."""

    def attention(self) -> AttentionWeights:
        """The attention module's tensors in row form, by head."""
        ...

    def after_attention(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The layer's output (n, d) from its input x and its attention output y."""
        ...

    def reference(self) -> Reference:
        """The same tensors in one layer of the transformers library."""
        ...


class Model(Protocol):
    """A checkpoint whose configuration and tensor shapes have been checked."""

    d: int
    heads: int
    depth: int
    positions: int

    def embed(self, ids: Sequence[int], type_ids: Sequence[int]) -> torch.Tensor:
        """Tokens entering layer 0, (n, d)."""
        ...

    def layer(self, index: int) -> Layer:
        """Layer `index`, read from disk when asked for."""
        ...


ARCHITECTURES: dict[str, type[Bert]] = {"bert": Bert}


def open_model(checkpoint: Checkpoint) -> Model:
    """The adapter for the checkpoint's `model_type`, with all its shapes checked.

    Raises: Refused for an architecture that is not in the table, and as the adapter does.
    """
    kind = checkpoint.config.get("model_type")
    adapter = ARCHITECTURES.get(kind) if isinstance(kind, str) else None
    if adapter is None:
        raise Refused(
            f"{checkpoint.directory / 'config.json'}: architecture {kind!r} is not known "
            f"(known: {', '.join(ARCHITECTURES)})"
        )
    return adapter(checkpoint)
