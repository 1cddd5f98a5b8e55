"""Planted faults of loading and of the written-out module: gate or identity must catch each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from numerics.trained.formats.checkpoint import open_checkpoint
from numerics.trained.measures import identity
from numerics.trained.models import attention, decoder, gpt2, layers
from numerics.trained.models.architectures import Layer, open_model
from numerics.trained.models.attention import AttentionWeights
from numerics.trained.tokens import tokenise

TEXT = "every walk returns home every frame unheard walk"
# The mildest planted fault leaves more than this; rounding leaves 1e-15.
SEEN = 1e-3


def entering(directory: Path) -> list[tuple[Layer, torch.Tensor]]:
    """Every layer with an input: a text's tokens, which no fault in a forward has touched."""
    checkpoint = open_checkpoint(directory)
    model = open_model(checkpoint)
    x = model.embed(*((t := tokenise(checkpoint, TEXT, model.positions)).ids, t.type_ids))
    return [(model.layer(index), x) for index in range(model.depth)]


def gate_errors(directory: Path) -> list[tuple[float, float]]:
    """Errors of module and layer at the gate, layer by layer, and none may have passed."""
    found = [identity.parity(x, layer) for layer, x in entering(directory)]
    assert not all(parity.ok for parity in found), f"passed the gate: {found}"
    return [(parity.attention, parity.layer) for parity in found]


Weights = Callable[[AttentionWeights], AttentionWeights]


def swapped(w: AttentionWeights) -> AttentionWeights:
    assert w.norms is not None
    norms = replace(w.norms, query_gain=w.norms.key_gain, key_gain=w.norms.query_gain)
    return replace(w, norms=norms)


def shifted(by: int) -> Weights:
    return lambda w: replace(w, window=None if w.window is None else w.window + by)


FAULTY_WEIGHTS: dict[str, tuple[str, Weights]] = {
    "dropped query bias": ("qwen2", lambda w: replace(w, b_q=0 * w.b_q)),
    "dropped key bias": ("qwen2", lambda w: replace(w, b_k=0 * w.b_k)),
    "dropped value bias": ("qwen2", lambda w: replace(w, b_v=0 * w.b_v)),
    "dropped output bias": ("gpt2", lambda w: replace(w, b_o=0 * w.b_o)),
    "scale applied twice": ("llama", lambda w: replace(w, scale=w.scale**2)),
    "scale missing": ("llama", lambda w: replace(w, scale=1.0)),
    "scale multiplied": ("llama", lambda w: replace(w, scale=1 / w.scale)),
    "scale by d instead of d_k": ("llama", lambda w: replace(w, scale=w.w_q.shape[1] ** -0.5)),
    "scale by d / H": ("llama", lambda w: replace(w, scale=(w.w_q.shape[1] / w.heads) ** -0.5)),
    "Gemma 2's scalar ignored": ("gemma2", lambda w: replace(w, scale=w.w_q.shape[2] ** -0.5)),
    "missing soft-cap": ("gemma2", lambda w: replace(w, softcap=None)),
    "soft-cap of the other logits": ("gemma2", lambda w: replace(w, softcap=30.0)),
    "window one too short": ("mistral", shifted(-1)),
    "window one too long": ("mistral", shifted(1)),
    "window missing": ("mistral", lambda w: replace(w, window=None)),
    "windows in the wrong layers": (
        "gemma2",
        lambda w: replace(w, window=3 if w.window is None else None),
    ),
    "mask missing": ("llama", lambda w: replace(w, causal=False)),
    "no RoPE": ("llama", lambda w: replace(w, rotary=None)),
    "head norms missing": ("qwen3", lambda w: replace(w, norms=None)),
    "head norms exchanged": ("qwen3", swapped),
    "W_K and W_V exchanged": ("llama", lambda w: replace(w, w_k=w.w_v, w_v=w.w_k)),
    "Conv1D of W_O transposed": (
        "gpt2",
        lambda w: replace(w, w_o=w.w_o.reshape(w.b_o.shape[0], -1).mT.reshape(w.w_o.shape)),
    ),
    "Conv1D of W_V transposed": (
        "gpt2",
        lambda w: replace(
            w,
            w_v=layers.by_head(
                w.w_v.transpose(0, 1).reshape(w.w_v.shape[1], -1).mT, w.heads, w.heads
            ),
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTY_WEIGHTS)
def test_gate_rejects_faulty_weights(
    fault: str, decoder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    family, wrong = FAULTY_WEIGHTS[fault]
    kind = type(entering(decoder(family))[0][0])
    right = kind.attention
    monkeypatch.setattr(kind, "attention", lambda self: wrong(right(self)))
    errors = gate_errors(decoder(family))
    assert max(a for a, _ in errors) > SEEN, f"{fault} left only {errors}"


def interleaved(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """RoPE in the other layout: planes (2r, 2r + 1)."""
    half = x.shape[-1] // 2
    c, s, even, odd = cos[:, :half], sin[:, :half], x[..., 0::2], x[..., 1::2]
    return torch.stack((even * c - odd * s, odd * c + even * s), dim=-1).flatten(-2)


def scaled_after(z: torch.Tensor, w: AttentionWeights) -> torch.Tensor:
    """The scale on the weights of attention instead of the logits."""
    return w.scale * RIGHT_PATTERN(z, replace(w, scale=1.0))


RIGHT_PATTERN, RIGHT_LOGITS = attention.attention_pattern, attention.attention_logits


def normed_after(z: torch.Tensor, w: AttentionWeights) -> torch.Tensor:
    """Head norms after the turn instead of before it."""
    assert w.norms is not None
    assert w.rotary is not None
    tables = w.rotary(len(z))
    query, key = (attention.turn(z @ m, *tables) for m in (w.w_q, w.w_k))
    query = attention.rms_norm(query, w.norms.query_gain, w.norms.eps)
    key = attention.rms_norm(key, w.norms.key_gain, w.norms.eps)
    return query @ key.mT * w.scale


Patch = tuple[str, Any, str, Any]
FAULTY_CODE: dict[str, Patch] = {
    "grouped heads taken in turn": (
        "llama",
        layers,
        "_read",
        lambda stored, heads: [h % stored for h in range(heads)],
    ),
    "grouped heads all the first": ("qwen3", layers, "_read", lambda s, heads: [0] * heads),
    "interleaved RoPE": ("llama", attention, "turn", interleaved),
    "RoPE against time": (
        "llama",
        attention,
        "turn",
        lambda x, cos, sin, right=attention.turn: right(x, cos, -sin).flip(-1),
    ),
    "scale after the softmax": ("llama", attention, "attention_pattern", scaled_after),
    "head norms after the turn": ("qwen3", attention, "attention_logits", normed_after),
    "scale of layer 0 everywhere": (
        "gpt2 by layer",
        gpt2.Gpt2,
        "scale",
        lambda self, index: (self.d // self.heads) ** -0.5,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTY_CODE)
def test_gate_rejects_faulty_code(
    fault: str,
    decoder: Callable[[str], Path],
    make_decoder: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    family, home, name, wrong = FAULTY_CODE[fault]
    if family == "gpt2 by layer":
        directory = make_decoder("gpt2", scale_attn_by_inverse_layer_idx=True)
    else:
        directory = decoder(family)
    monkeypatch.setattr(home, name, wrong)
    errors = gate_errors(directory)
    assert max(a for a, _ in errors) > SEEN, f"{fault} left only {errors}"


def bare(self: Any, name: str, x: torch.Tensor) -> torch.Tensor:
    """An RMS norm without its gain."""
    return attention.rms_norm(x, torch.ones(x.shape[-1]).double(), self.model.eps)


def centred_bare(self: Any, name: str, x: torch.Tensor) -> torch.Tensor:
    """A LayerNorm without its gain and bias."""
    return torch.nn.functional.layer_norm(x, x.shape[-1:], eps=self.model.eps)


def without_second_norm(self: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Gemma 2's layer with W_O's output added as it is."""
    h = x + y
    inner = self._mlp(self._norm("pre_feedforward_layernorm", h))
    return h + self._norm("post_feedforward_layernorm", inner)


FAULTY_LAYERS: dict[str, Patch] = {
    "missing norm gain": ("llama", decoder.DecoderLayer, "_norm", bare),
    "gain w instead of 1 + w": (
        "gemma",
        decoder.DecoderLayer,
        "_gain",
        lambda self, name: self.tensors[f"{name}.weight"],
    ),
    "missing gain of LayerNorm": ("gpt2", gpt2.Gpt2Layer, "_norm", centred_bare),
    "norm not centred": (
        "gpt2",
        gpt2.Gpt2Layer,
        "_norm",
        lambda self, name, x: (
            attention.rms_norm(x, self.tensors[f"{name}.weight"], self.model.eps)
            + self.tensors[f"{name}.bias"]
        ),
    ),
    "norm after W_O missing": (
        "gemma2",
        decoder.DecoderLayer,
        "after_attention",
        without_second_norm,
    ),
    "gate and up exchanged": (
        "llama",
        decoder.DecoderLayer,
        "_mlp",
        lambda self, x: self._linear(
            "mlp.down_proj",
            torch.nn.functional.silu(self._linear("mlp.up_proj", x))
            * self._linear("mlp.gate_proj", x),
        ),
    ),
    "residual missing": (
        "llama",
        decoder.DecoderLayer,
        "after_attention",
        lambda self, x, y: y + self._mlp(self._norm("post_attention_layernorm", y)),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTY_LAYERS)
def test_gate_rejects_a_faulty_layer_around_a_sound_module(
    fault: str, decoder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    family, home, name, wrong = FAULTY_LAYERS[fault]
    monkeypatch.setattr(home, name, wrong)
    errors = gate_errors(decoder(family))
    assert min(layer for _, layer in errors) > SEEN, f"{fault} left only {errors}"
    assert max(a for a, _ in errors) < identity.PARITY_THRESHOLD, f"module blamed: {errors}"


def test_identity_rejects_transports_of_the_wrong_grouped_head(
    decoder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = identity.head_transports

    def in_turn(w_v: torch.Tensor, w_o: torch.Tensor) -> torch.Tensor:
        stored = w_v[::2]  # two query heads read each
        return right(stored[[h % len(stored) for h in range(len(w_v))]], w_o)

    monkeypatch.setattr(identity, "head_transports", in_turn)
    for layer, x in entering(decoder("llama")):
        found = identity.measure(x, layer, torch.arange(len(x)))
        assert min(found.edges, found.matrices) > SEEN, f"passed: {found}"


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [1, 200, 10**6])
def test_identity_is_the_same_whatever_is_held_of_the_transports(
    blocks: int, decoder: Callable[[str], Path]
) -> None:
    for layer, x in entering(decoder("llama")):
        found = identity.measure(x, layer, torch.tensor([0, 3]), transport_bytes=blocks)
        whole = identity.measure(x, layer, torch.tensor([0, 3]))
        assert found.ok, f"{blocks} bytes: {found}"
        assert abs(found.surrogate - whole.surrogate) < 1e-13, f"{found} is not {whole}"
