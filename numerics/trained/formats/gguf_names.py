"""Names and hyperparameters of GGUF files in the terms of the transformers library.

A hyperparameter that is not listed is refused, never skipped: it may change the mathematics.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from numerics.trained.formats.gguf_header import Header
from numerics.trained.refusals import Refused, shown

ROTARY = {
    "context_length": "max_position_embeddings",
    "embedding_length": "hidden_size",
    "block_count": "num_hidden_layers",
    "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.layer_norm_rms_epsilon": "rms_norm_eps",
    "attention.key_length": "head_dim",
    "rope.freq_base": "rope_theta",
}
HYPERPARAMETERS: dict[str, Mapping[str, str]] = {
    "llama": ROTARY,
    "qwen2": ROTARY,
    "qwen3": ROTARY,
    "gemma": ROTARY,
    "gemma2": ROTARY
    | {
        "attention.sliding_window": "sliding_window",
        "attn_logit_softcapping": "attn_logit_softcapping",
        "final_logit_softcapping": "final_logit_softcapping",
    },
    "gpt2": {
        "context_length": "n_positions",
        "embedding_length": "n_embd",
        "block_count": "n_layer",
        "feed_forward_length": "n_inner",
        "attention.head_count": "n_head",
        "attention.layer_norm_epsilon": "layer_norm_epsilon",
    },
}
# Read for a check against the others, or of no consequence for the layers.
CHECKED = ("attention.value_length", "rope.dimension_count", "rope.scaling.type", "vocab_size")

LAYER = re.compile(r"blk\.(\d+)\.(.+)\.(weight|bias)")
ROTARY_PARTS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "ffn_norm": "post_attention_layernorm",
}
PARTS: dict[str, Mapping[str, str]] = {
    "llama": ROTARY_PARTS,
    "qwen2": ROTARY_PARTS,
    "qwen3": ROTARY_PARTS | {"attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm"},
    "gemma": ROTARY_PARTS,
    "gemma2": ROTARY_PARTS
    | {
        "post_attention_norm": "post_attention_layernorm",
        "ffn_norm": "pre_feedforward_layernorm",
        "post_ffw_norm": "post_feedforward_layernorm",
    },
    "gpt2": {
        "attn_norm": "ln_1",
        "attn_qkv": "attn.c_attn",
        "attn_output": "attn.c_proj",
        "ffn_norm": "ln_2",
        "ffn_up": "mlp.c_fc",
        "ffn_down": "mlp.c_proj",
    },
}
ROTARY_OUTER = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
GPT2_OUTER = {
    "token_embd.weight": "transformer.wte.weight",
    "position_embd.weight": "transformer.wpe.weight",
    "output_norm.weight": "transformer.ln_f.weight",
    "output_norm.bias": "transformer.ln_f.bias",
    "output.weight": "lm_head.weight",
}


def transformers_name(stored: str, kind: str) -> str | None:
    """The transformers library's name of a tensor of a `kind` model, or None if unknown."""
    outer, layers = (
        (GPT2_OUTER, "transformer.h") if kind == "gpt2" else (ROTARY_OUTER, "model.layers")
    )
    if stored in outer:
        return outer[stored]
    found = LAYER.fullmatch(stored)
    part = PARTS[kind].get(found[2]) if found else None
    return f"{layers}.{found[1]}.{part}.{found[3]}" if found and part else None


def configuration(header: Header) -> dict[str, object]:
    """The entries of config.json that a GGUF file's metadata states.

    Raises: Refused for an architecture or a hyperparameter that is not known.
    """
    kind = header.metadata.get("general.architecture")
    if not isinstance(kind, str) or kind not in HYPERPARAMETERS:
        raise Refused(
            f"{header.file}: architecture {shown(kind)} is not known in GGUF "
            f"(known: {', '.join(HYPERPARAMETERS)})"
        )
    if header.metadata.get("split.count", 1) != 1:
        raise Refused(f"{header.file}: one of several parts; merge them with llama-gguf-split")
    named = HYPERPARAMETERS[kind]
    config: dict[str, object] = {"model_type": kind}
    stated = {k: v for k, v in header.metadata.items() if k.startswith(f"{kind}.")}
    stated = {key.removeprefix(f"{kind}."): value for key, value in stated.items()}
    for key, value in stated.items():
        if key in named:
            config[named[key]] = value
        elif key not in CHECKED:
            raise Refused(f"{header.file}: the hyperparameter {kind}.{key} is not known")
    _refuse_scaling(header, kind, stated)
    tokens = header.tensors.get("token_embd.weight")
    if tokens is None:
        raise Refused(f"{header.file}: tensor token_embd.weight is missing")
    config["vocab_size"] = tokens.shape[0]
    if kind == "gpt2":
        return config
    return _rotary_configuration(header, kind, config, stated)


def _rotary_configuration(
    header: Header, kind: str, config: dict[str, object], stated: Mapping[str, object]
) -> dict[str, object]:
    """Fill in what GGUF leaves out because llama.cpp knows it, and refuse a partial turn."""
    heads, d = config.get("num_attention_heads"), config.get("hidden_size")
    if not (isinstance(heads, int) and isinstance(d, int) and heads > 0 and d > 0):
        raise Refused(f"{header.file}: {kind} has {shown(heads)} heads and width {shown(d)}")
    config.setdefault("num_key_value_heads", heads)
    head_dim = config.setdefault("head_dim", stated.get("rope.dimension_count", d // heads))
    for key in ("rope.dimension_count", "attention.value_length"):
        if stated.get(key, head_dim) != head_dim:
            raise Refused(
                f"{header.file}: {kind}.{key} is {shown(stated[key])}, a head has {head_dim} "
                "channels: other widths are not known"
            )
    config["rope_parameters"] = {
        "rope_type": "default",
        "rope_theta": config.pop("rope_theta", 10000.0),
    }
    if kind in ("llama", "qwen3"):
        config["attention_bias"] = "blk.0.attn_q.bias" in header.tensors
    if kind == "gemma2":
        # llama.cpp reads the 27B model's other scale off its size; there it is d / H.
        config["query_pre_attn_scalar"] = (
            d // heads if config["num_hidden_layers"] == 46 else head_dim
        )
    return config


def _refuse_scaling(header: Header, kind: str, stated: Mapping[str, object]) -> None:
    scaling = stated.get("rope.scaling.type", "none")
    if scaling != "none":
        raise Refused(f"{header.file}: {kind}.rope.scaling.type {shown(scaling)} is not known")
    for name in header.tensors:
        if name.startswith("rope_"):
            raise Refused(
                f"{header.file}: tensor {name} rescales RoPE; read the model's safetensors instead"
            )
