"""Decoders with RMSNorm and RoPE: Llama, Mistral, Qwen2, Qwen3, Gemma, Gemma 2.

Pre-norm: h = x + attention(norm x), then h + MLP(norm h), the MLP gated; Gemma 2 norms both
branches again before it adds them. Names as in the transformers library's models.
Source: Touvron et al. 2023; Jiang et al. 2023; Gemma Team 2024.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.nn import functional

from numerics.trained.formats.checkpoint import Checkpoint, Refused, optional_module
from numerics.trained.models.attention import AttentionWeights, HeadNorms, rms_norm
from numerics.trained.models.layers import (
    LayerAtWork,
    ValueFold,
    by_head,
    head_bias,
    without_prefix,
)
from numerics.trained.models.reference import (
    DecoderReference,
    implementation,
    rotary_tables,
    transformers_config,
)

ACTIVATIONS = {
    "silu": functional.silu,
    "gelu": functional.gelu,
    "gelu_pytorch_tanh": partial(functional.gelu, approximate="tanh"),
    "relu": functional.relu,
}
CLASSES = {
    "llama": "Llama",
    "mistral": "Mistral",
    "qwen2": "Qwen2",
    "qwen3": "Qwen3",
    "gemma": "Gemma",
    "gemma2": "Gemma2",
}
# Families whose configuration says layer by layer which attend within a window.
ALTERNATING = ("qwen2", "qwen3", "gemma2")
PROJECTIONS = ("q_proj", "k_proj", "v_proj")
# Registered buffers of old releases, which hold no weights.
BUFFERS = ("self_attn.rotary_emb.inv_freq",)


class Decoder:
    """A decoder on disk: validates its configuration and every tensor's shape when made.

    Raises: Refused for a variant with other mathematics, heads that do not divide, a missing,
    mis-shaped or unread tensor.
    """

    causal = True

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint, self.kind = checkpoint, str(checkpoint.config["model_type"])
        self.at_work = LayerAtWork(self._read)
        self.d = checkpoint.integer("hidden_size")
        self.heads = checkpoint.integer("num_attention_heads")
        self.depth = checkpoint.integer("num_hidden_layers")
        self.inner = checkpoint.integer("intermediate_size")
        self.positions = checkpoint.integer("max_position_embeddings")
        self.vocabulary = checkpoint.integer("vocab_size")
        self.config: Any = transformers_config(
            f"{CLASSES[self.kind]}Config",
            "transformers",
            checkpoint.config,
            checkpoint.config_source,
        )
        self.kv_heads = int(self.config.num_key_value_heads)
        self.head_dim = int(getattr(self.config, "head_dim", None) or self.d // self.heads)
        self.eps = float(self.config.rms_norm_eps)
        self.activation = str(
            self.config.hidden_activation if self.kind == "gemma2" else self.config.hidden_act
        )
        self.softcap: float | None = getattr(self.config, "attn_logit_softcapping", None)
        self.unit_offset = self.kind in ("gemma", "gemma2")
        self.config._attn_implementation = implementation(self.softcap)
        self._refuse_variants()
        self.prefix = without_prefix(checkpoint, "embed_tokens.weight", ("model.", ""))
        self.rotary = rotary_tables(
            getattr(self.modeling, f"{CLASSES[self.kind]}RotaryEmbedding"),
            self.config,
            self.head_dim,
            checkpoint.config_source,
        )
        checkpoint.require(f"{self.prefix}embed_tokens.weight", (self.vocabulary, self.d))
        shapes = self.layer_shapes()
        for index in range(self.depth):
            checkpoint.require_layer(f"{self.prefix}layers.{index}.", shapes, BUFFERS)
        checkpoint.refuse_other_layers(f"{self.prefix}layers.", self.depth)

    @property
    def modeling(self) -> Any:
        """The transformers module with this family's classes."""
        return optional_module(f"transformers.models.{self.kind}.modeling_{self.kind}")

    @property
    def scale(self) -> float:
        """What multiplies the logits: 1 / sqrt(d_k), or Gemma 2's own scalar for d_k."""
        if self.kind == "gemma2":
            return float(self.config.query_pre_attn_scalar) ** -0.5
        return self.head_dim**-0.5

    def window(self, index: int) -> int | None:
        """The sliding window of layer `index`, which counts the token itself, or None."""
        if self.kind == "mistral":
            return self.config.sliding_window
        if self.kind not in ALTERNATING or self.config.layer_types[index] == "full_attention":
            return None
        return self.config.sliding_window

    def embed(self, ids: Sequence[int], type_ids: Sequence[int]) -> torch.Tensor:
        """Tokens entering layer 0, (n, d), for n token ids; there are no segments.

        Raises: Refused when an id lies outside the table.
        """
        name, shape = f"{self.prefix}embed_tokens.weight", (self.vocabulary, self.d)
        rows = self.checkpoint.rows(name, shape, ids)
        return rows * self.d**0.5 if self.unit_offset else rows

    def layer(self, index: int) -> DecoderLayer:
        """Layer `index` (0-based), its tensors read from disk now.

        Raises: Refused when a tensor is not floating point or not finite.
        """
        self.at_work(index)
        return DecoderLayer(self, index)

    def _read(self, index: int) -> dict[str, torch.Tensor]:
        start, shapes = f"{self.prefix}layers.{index}.", self.layer_shapes()
        return {n: self.checkpoint.tensor(start + n, shape) for n, shape in shapes.items()}

    def layer_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every tensor of one layer, by its name within the layer."""
        d, kv, q = self.d, self.kv_heads * self.head_dim, self.heads * self.head_dim
        linear = {"q_proj": (q, d), "k_proj": (kv, d), "v_proj": (kv, d), "o_proj": (d, q)}
        linear = {f"self_attn.{name}": shape for name, shape in linear.items()}
        linear |= {f"mlp.{n}_proj": (self.inner, d) for n in ("gate", "up")}
        linear |= {"mlp.down_proj": (d, self.inner)}
        shapes: dict[str, tuple[int, ...]] = {f"{n}.weight": s for n, s in linear.items()}
        shapes |= {f"{n}.bias": s[:1] for n, s in linear.items() if self._has_bias(n)}
        norms = ["input_layernorm", "post_attention_layernorm"]
        if self.kind == "gemma2":
            norms += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
        shapes |= {f"{norm}.weight": (d,) for norm in norms}
        if self.kind == "qwen3":
            shapes |= {f"self_attn.{n}_norm.weight": (self.head_dim,) for n in ("q", "k")}
        return shapes

    def _has_bias(self, linear: str) -> bool:
        if linear.startswith("mlp."):
            return bool(getattr(self.config, "mlp_bias", False))
        if self.kind == "qwen2":
            return not linear.endswith("o_proj")
        return bool(getattr(self.config, "attention_bias", False))

    def _refuse_variants(self) -> None:
        source = self.checkpoint.config_source
        if self.activation not in ACTIVATIONS:
            raise Refused(
                f"{source}: activation {self.activation!r} is not known to the {self.kind} "
                f"adapter ({', '.join(ACTIVATIONS)})"
            )
        if getattr(self.config, "use_bidirectional_attention", None):
            raise Refused(f"{source}: use_bidirectional_attention is set; decoders only")
        if self.kv_heads < 1 or self.heads % self.kv_heads:
            raise Refused(
                f"{source}: num_attention_heads {self.heads} is no multiple of "
                f"num_key_value_heads {self.kv_heads}"
            )
        self._refuse_windows()
        for key in ("rms_norm_eps", "attn_logit_softcapping", "query_pre_attn_scalar"):
            value = getattr(self.config, key, None)
            if value is not None and not value > 0:
                raise Refused(f"{source}: {key} must be positive, found {value}")

    def _refuse_windows(self) -> None:
        source, config = self.checkpoint.config_source, self.config
        kinds = config.layer_types if self.kind in ALTERNATING else []
        unknown = set(kinds) - {"full_attention", "sliding_attention"}
        if unknown or len(kinds) not in (0, self.depth):
            raise Refused(
                f"{source}: layer_types must name full_attention or sliding_attention for each "
                f"of {self.depth} layers"
            )
        windowed = "sliding_attention" in kinds or self.kind == "mistral"
        window = config.sliding_window if windowed else None
        absent = window is None and "sliding_attention" in kinds
        if absent or (window is not None and window < 1):
            raise Refused(f"{source}: sliding_window must be a positive integer, found {window}")


@dataclass(frozen=True)
class DecoderLayer:
    """One layer; its tensors (float64) have the names that transformers gives them."""

    model: Decoder
    index: int

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """The layer's tensors by name, read again if another layer was at work since."""
        return self.model.at_work(self.index)

    def attention(self) -> AttentionWeights:
        """The attention module in row form by query head; keys and values expanded to H heads."""
        model = self.model
        names = dict(zip(PROJECTIONS, (model.heads, model.kv_heads, model.kv_heads), strict=True))
        (w_q, b_q), (w_k, b_k), (w_v, b_v) = (
            (
                by_head(self.tensors[f"self_attn.{name}.weight"].mT, stored, model.heads),
                head_bias(self._bias(name), stored, model.heads, model.head_dim),
            )
            for name, stored in names.items()
        )
        w_o = self.tensors["self_attn.o_proj.weight"].mT
        o_bias = self._bias("o_proj")
        norms = None
        if model.kind == "qwen3":
            gains = (self.tensors[f"self_attn.{n}_norm.weight"] for n in ("q", "k"))
            norms = HeadNorms(*gains, eps=model.eps)
        return AttentionWeights(
            *(w_q, b_q, w_k, b_k, w_v, b_v),
            w_o=w_o.reshape(model.heads, model.head_dim, model.d).contiguous(),
            b_o=torch.zeros(model.d, dtype=torch.float64) if o_bias is None else o_bias,
            scale=model.scale,
            causal=True,
            window=model.window(self.index),
            softcap=model.softcap,
            rotary=model.rotary,
            norms=norms,
        )

    def attention_input(self, x: torch.Tensor) -> torch.Tensor:
        """The normed tokens, (n, d)."""
        return self._norm("input_layernorm", x)

    def value_fold(self) -> ValueFold:
        """The gain of the norm before the attention module; RMSNorm does not centre."""
        return ValueFold(self._gain("input_layernorm"), centred=False)

    def after_attention(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The layer's output (n, d) from its input x (n, d) and attention output y (n, d)."""
        if self.model.kind != "gemma2":
            h = x + y
            return h + self._mlp(self._norm("post_attention_layernorm", h))
        h = x + self._norm("post_attention_layernorm", y)
        inner = self._mlp(self._norm("pre_feedforward_layernorm", h))
        return h + self._norm("post_feedforward_layernorm", inner)

    def reference(self) -> DecoderReference:
        """The same tensors, by name, in one layer of the transformers library."""
        model = self.model
        layer_class = getattr(model.modeling, f"{CLASSES[model.kind]}DecoderLayer")
        with torch.device("meta"):  # no random initialisation, no second copy of the tensors
            module = layer_class(model.config, self.index)
        module.load_state_dict(self.tensors, strict=True, assign=True)
        return DecoderReference(
            *(module.eval(), "self_attn", implementation(model.softcap)),
            window=model.window(self.index),
            rotary=model.rotary,
        )

    def _mlp(self, x: torch.Tensor) -> torch.Tensor:
        gate = ACTIVATIONS[self.model.activation](self._linear("mlp.gate_proj", x))
        return self._linear("mlp.down_proj", gate * self._linear("mlp.up_proj", x))

    def _linear(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(
            x, self.tensors[f"{name}.weight"], self.tensors.get(f"{name}.bias")
        )

    def _bias(self, projection: str) -> torch.Tensor | None:
        return self.tensors.get(f"self_attn.{projection}.bias")

    def _gain(self, name: str) -> torch.Tensor:
        gain = self.tensors[f"{name}.weight"]
        return 1 + gain if self.model.unit_offset else gain

    def _norm(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return rms_norm(x, self._gain(name), self.model.eps)
