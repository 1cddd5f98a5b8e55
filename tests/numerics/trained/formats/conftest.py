"""Random decoders written as GGUF, as llama.cpp's converter would."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def interleave(rows: np.ndarray, heads: int) -> np.ndarray:
    """Each head's half-split rows in the order of GGUF: row s d_k/2 + r goes to 2r + s."""
    half = len(rows) // heads // 2
    order = [h * 2 * half + s * half + r for h in range(heads) for r in range(half) for s in (0, 1)]
    return rows[order]


def stored_as_gguf(kind: str, name: str, values: np.ndarray, config: dict[str, Any]) -> np.ndarray:
    """What llama.cpp's converter makes of a tensor's values."""
    if kind == "llama" and (".q_proj." in name or ".k_proj." in name):
        heads = config["num_attention_heads" if ".q_proj." in name else "num_key_value_heads"]
        return interleave(values, heads)
    if kind.startswith("gemma") and name.endswith("norm.weight"):
        return values + np.float32(1)
    transposed = (".c_attn.weight", ".c_proj.weight", ".c_fc.weight")
    return values.T.copy() if kind == "gpt2" and name.endswith(transposed) else values


def byte_alphabet() -> list[str]:
    """The 256 characters that stand for bytes in byte-level vocabularies, by byte."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = iter(range(256, 256 + 256 - len(shown)))
    return [chr(b if b in shown else next(hidden)) for b in range(256)]


VOCABULARY = [*byte_alphabet(), "th", "the", "Ġthe", "wa", "Ġwa", "<|end|>", "<tool>", "lk", "12"]
MERGES = ["t h", "th e", "Ġ the", "w a", "Ġ wa", "l k", "1 2"]
GGUF_KEYS: dict[str, dict[str, str]] = {
    "gpt2": {
        "n_positions": "context_length",
        "n_embd": "embedding_length",
        "n_layer": "block_count",
        "n_inner": "feed_forward_length",
        "n_head": "attention.head_count",
        "layer_norm_epsilon": "attention.layer_norm_epsilon",
    }
}
ROTARY_KEYS = {
    "max_position_embeddings": "context_length",
    "hidden_size": "embedding_length",
    "num_hidden_layers": "block_count",
    "intermediate_size": "feed_forward_length",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "head_dim": "attention.key_length",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
    "sliding_window": "attention.sliding_window",
    "attn_logit_softcapping": "attn_logit_softcapping",
}


def write_gguf(file: Path, directory: Path, quantised: str = "F32", **extra: Any) -> Path:
    """A safetensors decoder as a GGUF file, matrices of layers in the type `quantised`.

    `extra` entries of the metadata come last; vocabularies are VOCABULARY. Names of tensors are
    those of the gguf package's own table.
    """
    import gguf
    from safetensors.torch import load_file

    config = json.loads((directory / "config.json").read_text())
    kind = config["model_type"]
    depth = config.get("num_hidden_layers") or config["n_layer"]
    architecture = {v: k for k, v in gguf.MODEL_ARCH_NAMES.items()}[kind]
    names = gguf.get_tensor_name_map(architecture, depth)
    writer = gguf.GGUFWriter(file, kind)
    for key, stored in GGUF_KEYS.get(kind, ROTARY_KEYS).items():
        value = config.get(key)
        if value is not None and not (kind == "qwen2" and key == "sliding_window"):
            form = "FLOAT32" if isinstance(value, float) else "UINT32"
            writer.add_key_value(f"{kind}.{stored}", value, gguf.GGUFValueType[form])
    theta = (config.get("rope_parameters") or {}).get("rope_theta")
    if theta is not None:
        writer.add_rope_freq_base(theta)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(extra.pop("pre", "smollm"))
    writer.add_token_list(VOCABULARY)
    writer.add_token_types([3 if t == "<|end|>" else 4 if t == "<tool>" else 1 for t in VOCABULARY])
    writer.add_token_merges(MERGES)
    for key, value in extra.items():
        writer.add_key_value(key, value, gguf.GGUFValueType.get_type(value))
    type_of = gguf.GGMLQuantizationType
    for name, tensor in load_file(directory / "model.safetensors").items():
        values = stored_as_gguf(kind, name, tensor.float().numpy(), config)
        matrix = values.ndim == 2 and ".weight" in name and quantised != "F32"
        wanted = type_of[quantised] if matrix else type_of.F32
        outer = "transformer." if kind == "gpt2" else "model."
        new = names.get_name(outer + name, try_suffixes=(".weight", ".bias"))
        assert new is not None, f"the package gguf has no name for {name}"
        writer.add_tensor(new, gguf.quantize(values, wanted), raw_dtype=wanted)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


@pytest.fixture
def make_gguf(make_decoder: Callable[..., Path], tmp_path: Path) -> Callable[..., Path]:
    """Write a random decoder as GGUF: make_gguf(kind, quantised=..., metadata={...}, **config)."""
    if importlib.util.find_spec("gguf") is None:
        reason = "gguf absent; un-skip with pip install 'attention-geometry[models]'"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)

    def make(
        kind: str, quantised: str = "F32", metadata: dict[str, Any] | None = None, **changes: Any
    ) -> Path:
        directory = make_decoder(kind, vocab_size=len(VOCABULARY), **changes)
        return write_gguf(tmp_path / f"{kind}.gguf", directory, quantised, **(metadata or {}))

    return make
