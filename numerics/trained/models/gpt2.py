"""The GPT-2 family: Conv1D layout (in, out), queries, keys and values fused in one tensor.

Pre-norm: h = x + attention(LN x), then h + MLP(LN h).
Source: Radford et al. 2019; names as in transformers' GPT2Model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.nn import functional

from numerics.trained.formats.checkpoint import Checkpoint, Refused, optional_module
from numerics.trained.models.attention import AttentionWeights
from numerics.trained.models.layers import LayerAtWork, ValueFold, by_head, without_prefix
from numerics.trained.models.reference import DecoderReference, transformers_config

TANH_GELU = partial(functional.gelu, approximate="tanh")
ACTIVATIONS = {"gelu_new": TANH_GELU, "gelu": functional.gelu, "relu": functional.relu}
# Masks that old releases stored among the weights.
BUFFERS = ("attn.bias", "attn.masked_bias")


class Gpt2:
    """A GPT-2 decoder on disk: validates its configuration and every tensor's shape when made.

    Raises: Refused for a variant with other mathematics, a width no multiple of the heads, a
    missing, mis-shaped or unread tensor.
    """

    causal = True

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint, self.at_work = checkpoint, LayerAtWork(self._read)
        self.d = checkpoint.integer("n_embd")
        self.heads = checkpoint.integer("n_head")
        self.depth = checkpoint.integer("n_layer")
        self.positions = checkpoint.integer("n_positions")
        self.vocabulary = checkpoint.integer("vocab_size")
        self.eps = checkpoint.positive("layer_norm_epsilon")
        self.config: Any = transformers_config(
            "GPT2Config", "transformers", checkpoint.config, checkpoint.config_source
        )
        self.config._attn_implementation = "sdpa"
        self.inner = int(self.config.n_inner or 4 * self.d)
        self.activation = str(self.config.activation_function)
        self._refuse_variants()
        self.prefix = without_prefix(checkpoint, "wte.weight", ("transformer.", ""))
        for name, rows in (("wte", self.vocabulary), ("wpe", self.positions)):
            checkpoint.require(f"{self.prefix}{name}.weight", (rows, self.d))
        for index in range(self.depth):
            checkpoint.require_layer(f"{self.prefix}h.{index}.", self.layer_shapes(), BUFFERS)
        checkpoint.refuse_other_layers(f"{self.prefix}h.", self.depth)

    def embed(self, ids: Sequence[int], type_ids: Sequence[int]) -> torch.Tensor:
        """Tokens entering layer 0, (n, d), for n token ids; there are no segments.

        Raises: Refused when an id lies outside its table or n exceeds the positions.
        """
        tokens, places = (
            self.checkpoint.rows(f"{self.prefix}{name}.weight", (rows, self.d), indices)
            for name, rows, indices in (
                ("wte", self.vocabulary, ids),
                ("wpe", self.positions, range(len(ids))),
            )
        )
        return tokens + places

    def layer(self, index: int) -> Gpt2Layer:
        """Layer `index` (0-based), its tensors read from disk now.

        Raises: Refused when a tensor is not floating point or not finite.
        """
        self.at_work(index)
        return Gpt2Layer(self, index)

    def _read(self, index: int) -> dict[str, torch.Tensor]:
        start, shapes = f"{self.prefix}h.{index}.", self.layer_shapes()
        return {n: self.checkpoint.tensor(start + n, shape) for n, shape in shapes.items()}

    def scale(self, index: int) -> float:
        """What multiplies the logits of layer `index`; two flags of the configuration decide."""
        root = (self.d // self.heads) ** -0.5 if self.config.scale_attn_weights else 1.0
        return root / (index + 1) if self.config.scale_attn_by_inverse_layer_idx else root

    def layer_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every tensor of one layer, by its name within the layer."""
        d, inner = self.d, self.inner
        linear = {"attn.c_attn": (d, 3 * d), "attn.c_proj": (d, d)}
        linear |= {"mlp.c_fc": (d, inner), "mlp.c_proj": (inner, d)}
        shapes: dict[str, tuple[int, ...]] = {f"{n}.weight": s for n, s in linear.items()}
        shapes |= {f"{n}.bias": s[1:] for n, s in linear.items()}
        return shapes | {f"ln_{i}.{part}": (d,) for i in (1, 2) for part in ("weight", "bias")}

    def _refuse_variants(self) -> None:
        source = self.checkpoint.config_source
        if self.activation not in ACTIVATIONS:
            raise Refused(
                f"{source}: activation_function {self.activation!r} is not known to the GPT-2 "
                f"adapter ({', '.join(ACTIVATIONS)})"
            )
        if self.config.add_cross_attention:
            raise Refused(f"{source}: add_cross_attention is set; the GPT-2 adapter reads none")
        if self.d % self.heads:
            raise Refused(f"{source}: n_embd {self.d} is no multiple of n_head {self.heads}")


@dataclass(frozen=True)
class Gpt2Layer:
    """One layer; its tensors (float64) have the names that transformers gives them."""

    model: Gpt2
    index: int

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """The layer's tensors by name, read again if another layer was at work since."""
        return self.model.at_work(self.index)

    def attention(self) -> AttentionWeights:
        """The attention module in row form by head: Conv1D stores the row form already."""
        d, heads = self.model.d, self.model.heads
        blocks = [
            (by_head(weight, heads, heads), bias.reshape(heads, d // heads))
            for weight, bias in zip(
                self.tensors["attn.c_attn.weight"].split(d, dim=1),
                self.tensors["attn.c_attn.bias"].split(d),
                strict=True,
            )
        ]
        (w_q, b_q), (w_k, b_k), (w_v, b_v) = blocks
        return AttentionWeights(
            *(w_q, b_q, w_k, b_k, w_v, b_v),
            w_o=self.tensors["attn.c_proj.weight"].reshape(heads, d // heads, d),
            b_o=self.tensors["attn.c_proj.bias"],
            scale=self.model.scale(self.index),
            causal=True,
        )

    def attention_input(self, x: torch.Tensor) -> torch.Tensor:
        """The normed tokens, (n, d)."""
        return self._norm("ln_1", x)

    def value_fold(self) -> ValueFold:
        """The gain of the norm before the attention module; LayerNorm centres."""
        return ValueFold(self.tensors["ln_1.weight"], centred=True)

    def after_attention(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The layer's output (n, d) from its input x (n, d) and attention output y (n, d)."""
        h = x + y
        inner = ACTIVATIONS[self.model.activation](self._linear("mlp.c_fc", self._norm("ln_2", h)))
        return h + self._linear("mlp.c_proj", inner)

    def reference(self) -> DecoderReference:
        """The same tensors, by name, in one block of the transformers library."""
        modeling = optional_module("transformers.models.gpt2.modeling_gpt2")
        with torch.device("meta"):  # no random initialisation, no second copy of the tensors
            module = modeling.GPT2Block(self.model.config, self.index)
        module.load_state_dict(self.tensors, strict=True, assign=True)
        return DecoderReference(module.eval(), "attn", "sdpa", window=None, rotary=None)

    def _linear(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return x @ self.tensors[f"{name}.weight"] + self.tensors[f"{name}.bias"]

    def _norm(self, name: str, x: torch.Tensor) -> torch.Tensor:
        gain, bias = self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]
        return functional.layer_norm(x, (self.model.d,), gain, bias, self.model.eps)
