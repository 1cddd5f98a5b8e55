"""The BERT family: names of tensors, embedding, and the layer around the attention module.

BERT is post-norm: h = LN(x + attention(x)), then LN(h + MLP(h)).
Source: Devlin et al. 2019; names as in transformers' BertModel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch.nn import functional

from numerics.trained.formats.checkpoint import Checkpoint, Refused, optional_module
from numerics.trained.models.attention import AttentionWeights
from numerics.trained.models.layers import LayerAtWork, by_head, without_prefix

ACTIVATIONS = {
    "gelu": functional.gelu,
    "gelu_new": partial(functional.gelu, approximate="tanh"),
    "relu": functional.relu,
}
PREFIXES = ("", "bert.")
ATTENTION, DENSE, NORM = "attention.self", "attention.output.dense", "attention.output.LayerNorm"


class Bert:
    """A BERT encoder on disk: validates config.json and every tensor's shape when made.

    Raises: Refused for a variant with other mathematics (relative positions, decoder, an
    unknown activation), a width no multiple of the heads, a missing or mis-shaped tensor.
    """

    causal = False

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint, self.at_work = checkpoint, LayerAtWork(self._read)
        self.d = checkpoint.integer("hidden_size")
        self.heads = checkpoint.integer("num_attention_heads")
        self.depth = checkpoint.integer("num_hidden_layers")
        self.inner = checkpoint.integer("intermediate_size")
        self.positions = checkpoint.integer("max_position_embeddings")
        self.vocabulary = checkpoint.integer("vocab_size")
        self.types = checkpoint.integer("type_vocab_size")
        self.eps = checkpoint.positive("layer_norm_eps")
        self.activation = str(checkpoint.config.get("hidden_act"))
        self._refuse_variants()
        self.prefix = without_prefix(checkpoint, "embeddings.word_embeddings.weight", PREFIXES)
        for name, shape in self._embedding_shapes().items():
            checkpoint.require(self._stored(f"embeddings.{name}"), shape)
        for index in range(self.depth):
            start = f"encoder.layer.{index}."
            stored = {self._stored(start + n): s for n, s in self._layer_shapes().items()}
            start = self.prefix + start
            checkpoint.require_layer(start, {n.removeprefix(start): s for n, s in stored.items()})
        checkpoint.refuse_other_layers(f"{self.prefix}encoder.layer.", self.depth)

    def embed(self, ids: Sequence[int], type_ids: Sequence[int]) -> torch.Tensor:
        """Tokens entering layer 0, (n, d), for n token ids and their segment ids.

        Raises: Refused when an id lies outside its table or n exceeds the positions.
        """
        shapes = self._embedding_shapes()
        x = torch.zeros((len(ids), self.d), dtype=torch.float64)
        for name, indices in (
            ("word_embeddings.weight", ids),
            ("token_type_embeddings.weight", type_ids),
            ("position_embeddings.weight", range(len(ids))),
        ):
            stored = self._stored(f"embeddings.{name}")
            x = x + self.checkpoint.rows(stored, shapes[name], indices)
        gain, bias = (
            self.checkpoint.tensor(self._stored(f"embeddings.LayerNorm.{part}"), (self.d,))
            for part in ("weight", "bias")
        )
        return functional.layer_norm(x, (self.d,), gain, bias, self.eps)

    def layer(self, index: int) -> BertLayer:
        """Layer `index` (0-based), its tensors read from disk now.

        Raises: Refused when a tensor is not floating point or not finite.
        """
        self.at_work(index)
        return BertLayer(self, index)

    def _read(self, index: int) -> dict[str, torch.Tensor]:
        return {
            name: self.checkpoint.tensor(self._stored(f"encoder.layer.{index}.{name}"), shape)
            for name, shape in self._layer_shapes().items()
        }

    def _refuse_variants(self) -> None:
        file, config = self.checkpoint.config_source, self.checkpoint.config
        position = config.get("position_embedding_type", "absolute")
        if position != "absolute":
            raise Refused(
                f"{file}: position_embedding_type {position!r} is not known to the "
                "BERT adapter (absolute only)"
            )
        for key in ("is_decoder", "add_cross_attention"):
            if config.get(key):
                raise Refused(f"{file}: {key} is set; the BERT adapter reads encoders only")
        if self.activation not in ACTIVATIONS:
            raise Refused(
                f"{file}: hidden_act {self.activation!r} is not known to the BERT "
                f"adapter ({', '.join(ACTIVATIONS)})"
            )
        if self.d % self.heads:
            raise Refused(
                f"{file}: hidden_size {self.d} is no multiple of num_attention_heads {self.heads}"
            )

    def _stored(self, name: str) -> str:
        """The name in the file; files of the first releases call a norm's gain gamma."""
        stored = self.prefix + name
        old = stored.replace("LayerNorm.weight", "LayerNorm.gamma")
        old = old.replace("LayerNorm.bias", "LayerNorm.beta")
        return old if old in self.checkpoint.shapes else stored

    def _embedding_shapes(self) -> dict[str, tuple[int, ...]]:
        return {
            "word_embeddings.weight": (self.vocabulary, self.d),
            "position_embeddings.weight": (self.positions, self.d),
            "token_type_embeddings.weight": (self.types, self.d),
            "LayerNorm.weight": (self.d,),
            "LayerNorm.bias": (self.d,),
        }

    def _layer_shapes(self) -> dict[str, tuple[int, ...]]:
        square = [f"{ATTENTION}.{part}" for part in ("query", "key", "value")] + [DENSE]
        linear = dict.fromkeys(square, (self.d, self.d))
        linear |= {"intermediate.dense": (self.inner, self.d), "output.dense": (self.d, self.inner)}
        shapes: dict[str, tuple[int, ...]] = {f"{n}.weight": s for n, s in linear.items()}
        shapes |= {f"{n}.bias": s[:1] for n, s in linear.items()}
        for norm in (NORM, "output.LayerNorm"):
            shapes |= {f"{norm}.weight": (self.d,), f"{norm}.bias": (self.d,)}
        return shapes


@dataclass(frozen=True)
class BertLayer:
    """One layer; its tensors (float64) have the names that transformers gives them."""

    model: Bert
    index: int

    @property
    def tensors(self) -> dict[str, torch.Tensor]:
        """The layer's tensors by name, read again if another layer was at work since."""
        return self.model.at_work(self.index)

    def attention(self) -> AttentionWeights:
        """The attention module in row form by head; d_k = d_v = d / H, scale 1 / sqrt(d_k)."""
        d, heads = self.model.d, self.model.heads
        width = d // heads

        def weight(part: str) -> torch.Tensor:
            # torch stores (out, in): W^T is the row form, and heads are blocks of its columns.
            return by_head(self.tensors[f"{ATTENTION}.{part}.weight"].mT, heads, heads)

        def bias(part: str) -> torch.Tensor:
            return self.tensors[f"{ATTENTION}.{part}.bias"].reshape(heads, width)

        return AttentionWeights(
            *(weight("query"), bias("query"), weight("key"), bias("key")),
            *(weight("value"), bias("value")),
            w_o=self.tensors[f"{DENSE}.weight"].mT.reshape(heads, width, d).contiguous(),
            b_o=self.tensors[f"{DENSE}.bias"],
            scale=width**-0.5,
        )

    def attention_input(self, x: torch.Tensor) -> torch.Tensor:
        """x itself, (n, d): the norms come after."""
        return x

    def value_fold(self) -> None:
        """None: no norm precedes the attention module within its layer."""
        return None

    def after_attention(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The layer's output (n, d) from its input x (n, d) and attention output y (n, d)."""
        h = self._norm(NORM, x + y)
        inner = ACTIVATIONS[self.model.activation](self._linear("intermediate.dense", h))
        return self._norm("output.LayerNorm", h + self._linear("output.dense", inner))

    def reference(self) -> BertReference:
        """The same tensors, by name, in one layer of the transformers library."""
        modeling = optional_module("transformers.models.bert.modeling_bert")
        config = modeling.BertConfig(
            hidden_size=self.model.d,
            num_attention_heads=self.model.heads,
            intermediate_size=self.model.inner,
            hidden_act=self.model.activation,
            layer_norm_eps=self.model.eps,
            attn_implementation="sdpa",
        )
        with torch.device("meta"):  # no random initialisation, no second copy of the tensors
            module = modeling.BertLayer(config)
        module.load_state_dict(self.tensors, strict=True, assign=True)
        return BertReference(module.eval())

    def _linear(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return x @ self.tensors[f"{name}.weight"].mT + self.tensors[f"{name}.bias"]

    def _norm(self, name: str, x: torch.Tensor) -> torch.Tensor:
        gain, bias = self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]
        return functional.layer_norm(x, (self.model.d,), gain, bias, self.model.eps)


@dataclass(frozen=True)
class BertReference:
    """A transformers BertLayer in eval mode, asked for its attention module and its output."""

    module: torch.nn.Module
    implementation: str = "sdpa"

    def attention_output(self, z: torch.Tensor) -> torch.Tensor:
        """Self-attention and W_O with biases, (n, d), before residual and LayerNorm."""
        attention = self.module.get_submodule("attention")
        mixed = attention.get_submodule("self")(z[None])[0]
        return attention.get_submodule("output.dense")(mixed)[0]

    def layer_output(self, x: torch.Tensor) -> torch.Tensor:
        """The whole layer's output, (n, d)."""
        return self.module(x[None])[0]
