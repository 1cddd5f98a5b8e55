"""The table of architectures that can be measured; anything else is refused by name.

An unknown model is never guessed at: T5 and GPT-Neo, for instance, use logits without
1/sqrt(d_k), and would be measured with a scale that they do not have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from numerics.trained.formats.checkpoint import Checkpoint, Refused
from numerics.trained.models.attention import AttentionWeights
from numerics.trained.models.bert import Bert
from numerics.trained.models.decoder import CLASSES, Decoder
from numerics.trained.models.gpt2 import Gpt2
from numerics.trained.models.layers import ValueFold


class Reference(Protocol):
    """One layer of the transformers library, filled with the checkpoint's tensors."""

    @property
    def implementation(self) -> str:
        """The library's attention implementation: sdpa, or eager for logits with a soft-cap."""
        ...

    def attention_output(self, z: torch.Tensor) -> torch.Tensor:
        """The attention module's output (n, d) for its input z, after W_O, before norm and sum."""
        ...

    def layer_output(self, x: torch.Tensor) -> torch.Tensor:
        """The whole layer's output (n, d) for its input x."""
        ...


class Layer(Protocol):
    """One layer read from disk."""

    def attention(self) -> AttentionWeights:
        """The attention module's tensors in row form, by query head."""
        ...

    def attention_input(self, x: torch.Tensor) -> torch.Tensor:
        """What enters the attention module, (n, d), from the layer's input x: its norm, or x."""
        ...

    def after_attention(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The layer's output (n, d) from its input x and the attention module's output y."""
        ...

    def value_fold(self) -> ValueFold | None:
        """The preceding norm's part that folds into W_V, or None where no norm precedes."""
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
    causal: bool

    def embed(self, ids: Sequence[int], type_ids: Sequence[int]) -> torch.Tensor:
        """Tokens entering layer 0, (n, d)."""
        ...

    def layer(self, index: int) -> Layer:
        """Layer `index`, read from disk when asked for."""
        ...


ARCHITECTURES: dict[str, Callable[[Checkpoint], Model]] = {
    "bert": Bert,
    "gpt2": Gpt2,
    **dict.fromkeys(CLASSES, Decoder),
}


def open_model(checkpoint: Checkpoint) -> Model:
    """The adapter for the checkpoint's `model_type`, with all its shapes checked.

    Raises: Refused for an architecture that is not in the table, for weights quantised within
    safetensors, and as the adapter does.
    """
    kind = checkpoint.config.get("model_type")
    adapter = ARCHITECTURES.get(kind) if isinstance(kind, str) else None
    if adapter is None:
        raise Refused(
            f"{checkpoint.config_source}: architecture {kind!r} is not known "
            f"(known: {', '.join(ARCHITECTURES)})"
        )
    if checkpoint.config.get("quantization_config") is not None:
        raise Refused(
            f"{checkpoint.config_source}: quantization_config is set; read the weights before "
            "they were quantised, or a GGUF file"
        )
    return adapter(checkpoint)
