"""Decoders that the adapters do not know, or whose files do not fit, are refused by name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from numerics.trained.formats.checkpoint import Refused, open_checkpoint
from numerics.trained.models.architectures import open_model


def changed(directory: Path, target: Path, **changes: object) -> Path:
    """A copy with other entries in config.json."""
    copy = shutil.copytree(directory, target)
    file = copy / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    return copy


CONFIGURATIONS: list[tuple[str, dict[str, object], str]] = [
    ("llama", {"num_key_value_heads": 3}, "4 is no multiple of num_key_value_heads 3"),
    ("llama", {"num_attention_heads": 0}, "num_attention_heads must be a positive integer"),
    ("llama", {"hidden_size": "20"}, "hidden_size must be a positive integer, found '20'"),
    ("llama", {"hidden_act": "tanh"}, "activation 'tanh' is not known to the llama adapter"),
    ("llama", {"rms_norm_eps": "small"}, "transformers does not accept it"),
    (
        "llama",
        {"rope_parameters": {"rope_type": "spiral", "rope_theta": 1e4}},
        "RoPE .*spiral.* is not known",
    ),
    ("llama", {"num_hidden_layers": 1}, "num_hidden_layers 1, the weights hold layer 1"),
    ("llama", {"num_hidden_layers": 3}, r"tensor layers\.2\..* is missing"),
    ("llama", {"head_dim": 8}, r"q_proj\.weight has shape \[24, 20\], expected \[32, 20\]"),
    ("llama", {"attention_bias": True}, r"q_proj\.bias is missing"),
    ("llama", {"vocab_size": 30}, r"shape \[31, 20\], expected \[30, 20\]"),
    ("llama", {"model_type": "gemma2"}, "pre_feedforward_layernorm.weight is missing"),
    ("qwen3", {"model_type": "llama"}, r"k_norm\.weight is not read for this architecture"),
    ("qwen2", {"model_type": "llama"}, r"k_proj\.bias is not read for this architecture"),
    ("gemma2", {"model_type": "gemma"}, "layernorm.weight is not read for this architecture"),
    ("gemma", {"use_bidirectional_attention": True}, "use_bidirectional_attention is set"),
    ("mistral", {"sliding_window": 0}, "sliding_window must be a positive integer, found"),
    ("mistral", {"sliding_window": -3}, "sliding_window must be a positive integer, found"),
    ("gemma2", {"sliding_window": None}, "sliding_window must be a positive integer, found None"),
    ("gemma2", {"layer_types": ["full_attention", "chunked"]}, "layer_types|does not accept"),
    ("gemma2", {"query_pre_attn_scalar": 0}, "query_pre_attn_scalar must be positive, found 0"),
    ("gemma2", {"attn_logit_softcapping": -1.0}, "attn_logit_softcapping must be positive"),
    ("llama", {"rms_norm_eps": 0.0}, "rms_norm_eps must be positive"),
    ("llama", {"num_key_value_heads": 0}, "4 is no multiple of num_key_value_heads 0"),
    ("gpt2", {"n_head": 4}, "n_embd 15 is no multiple of n_head 4"),
    ("gpt2", {"add_cross_attention": True}, "add_cross_attention is set"),
    ("gpt2", {"activation_function": "silu"}, "activation_function 'silu' is not known"),
    ("gpt2", {"n_positions": 12}, r"wpe\.weight has shape \[16, 15\], expected \[12, 15\]"),
    ("gpt2", {"layer_norm_epsilon": 0}, "layer_norm_epsilon must be a positive number"),
    ("gpt2", {"n_inner": 21}, r"c_fc\.weight has shape \[15, 22\], expected \[15, 21\]"),
    ("gpt2", {"model_type": "gpt_neo"}, "architecture 'gpt_neo' is not known"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("family", "changes", "match"), CONFIGURATIONS)
def test_other_mathematics_and_misfits_are_refused(
    family: str,
    changes: dict[str, object],
    match: str,
    decoder: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    open_model(open_checkpoint(decoder(family)))
    copy = changed(decoder(family), tmp_path / "copy", **changes)
    with pytest.raises(Refused, match=match) as refusal:
        open_model(open_checkpoint(copy))
    assert str(copy) in str(refusal.value), f"no file is named: {refusal.value}"


def retouched(directory: Path, target: Path, changes: dict[str, torch.Tensor]) -> Path:
    """A copy with tensors added or replaced."""
    from safetensors.torch import load_file, save_file

    copy = shutil.copytree(directory, target)
    file = copy / "model.safetensors"
    save_file(load_file(file) | changes, file)
    return copy


@pytest.mark.parametrize(
    ("family", "name", "size"),
    [
        ("llama", "layers.0.self_attn.o_proj.bias", 20),
        ("mistral", "layers.1.self_attn.q_proj.bias", 24),
        ("gpt2", "h.1.attn.rotary", 3),
    ],
)
def test_a_tensor_that_nobody_reads_is_refused(
    family: str, name: str, size: int, decoder: Callable[[str], Path], tmp_path: Path
) -> None:
    copy = retouched(decoder(family), tmp_path / "copy", {name: torch.ones(size)})
    with pytest.raises(Refused, match=f"tensor {name} is not read"):
        open_model(open_checkpoint(copy))


def test_buffers_of_old_releases_are_left_alone(
    decoder: Callable[[str], Path], tmp_path: Path
) -> None:
    buffers = {
        "llama": {"layers.0.self_attn.rotary_emb.inv_freq": torch.ones(3)},
        "gpt2": {"h.0.attn.bias": torch.ones(1, 1, 16, 16), "h.0.attn.masked_bias": torch.ones(())},
    }
    for family, extra in buffers.items():
        copy = retouched(decoder(family), tmp_path / family, extra)
        layer = open_model(open_checkpoint(copy)).layer(0)
        assert torch.isfinite(layer.attention().w_v).all()


def test_values_that_are_no_numbers_are_refused(
    decoder: Callable[[str], Path], tmp_path: Path
) -> None:
    name = "layers.1.mlp.up_proj.weight"
    nan = torch.full((22, 20), float("nan"))
    copy = retouched(decoder("llama"), tmp_path / "copy", {name: nan})
    model = open_model(open_checkpoint(copy))
    model.layer(0)
    with pytest.raises(Refused, match=f"tensor {name} holds NaN or infinity"):
        model.layer(1)


def test_a_token_outside_the_vocabulary_is_refused(decoder: Callable[[str], Path]) -> None:
    for family, table in (("llama", "embed_tokens"), ("gpt2", "wte")):
        model = open_model(open_checkpoint(decoder(family)))
        with pytest.raises(Refused, match=f"index 31 lies outside {table}.weight"):
            model.embed([0, 31], [0, 0])
