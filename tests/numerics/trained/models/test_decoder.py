"""Decoders against the transformers library: gate, identity and whole model, family by family."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from numerics.trained.formats.checkpoint import open_checkpoint
from numerics.trained.forward import layers
from numerics.trained.measures import identity
from numerics.trained.models.architectures import Layer, open_model
from numerics.trained.models.reference import InFloat64
from numerics.trained.tokens import Tokens, tokenise

FAMILIES = ("gpt2", "llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2")
TEXT = "every walk returns home every frame unheard walk"
# Where transformers casts to float32 (norms, a softmax), each cast is off by u = 2^-24 at most
# and what follows it by a few u; two layers have at most 14 casts, and nothing here amplifies
# an error tenfold. So 14 * 10 * u, and a model that agreed far below u would not have cast.
FLOAT32 = 14 * 10 * 2**-24


def entering(directory: Path) -> tuple[list[tuple[Layer, torch.Tensor]], Tokens]:
    """Every layer with its input, and the tokens."""
    checkpoint = open_checkpoint(directory)
    model = open_model(checkpoint)
    tokens = tokenise(checkpoint, TEXT, model.positions)
    return [(layer, x) for _, layer, x in layers(model, tokens)], tokens


def streamed(directory: Path) -> tuple[torch.Tensor, Tokens]:
    """What leaves the last layer by our own forward, and the tokens."""
    found, tokens = entering(directory)
    layer, x = found[-1]
    z = layer.attention_input(x)
    return layer.after_attention(x, identity.attention_output(z, layer.attention())), tokens


def by_transformers(directory: Path, tokens: Tokens, lifted: bool) -> torch.Tensor:
    """The same from the whole model, its casts to float32 lifted or not."""
    from transformers import AutoModel

    eager = "gemma2" in directory.name
    model: Any = AutoModel.from_pretrained(
        directory, dtype=torch.float64, attn_implementation="eager" if eager else "sdpa"
    )
    last, kept = getattr(model, "h", None) or model.layers, []
    last[-1].register_forward_hook(lambda module, given, out: kept.append(out))
    with torch.no_grad():
        if lifted:
            with InFloat64():
                model.eval()(input_ids=torch.tensor([tokens.ids]))
        else:
            model.eval()(input_ids=torch.tensor([tokens.ids]))
    return kept[0][0]


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_layer_passes_the_gate_and_is_its_connection_walk(
    family: str, decoder: Callable[[str], Path]
) -> None:
    found, _ = entering(decoder(family))
    assert len(found) == 2
    for index, (layer, x) in enumerate(found):
        parity = identity.parity(x, layer)
        assert parity.ok, f"{family}, layer {index}: {parity}"
        walk = identity.measure(x, layer, torch.arange(len(x)))
        assert walk.ok, f"{family}, layer {index}: {walk}"
        assert walk.surrogate > 0.1, f"the graph alone should miss much: {walk}"


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_streamed_forward_is_the_whole_model(family: str, decoder: Callable[[str], Path]) -> None:
    found, tokens = streamed(decoder(family))
    lifted = identity.relative_error(found, by_transformers(decoder(family), tokens, True))
    assert lifted < identity.PARITY_THRESHOLD, f"{family}: off by {lifted}"
    as_is = identity.relative_error(found, by_transformers(decoder(family), tokens, False))
    assert as_is < FLOAT32, f"{family} as it is: off by {as_is}"
    casts = as_is > 2**-28
    assert casts == (family != "gpt2"), f"{family} as it is: off by {as_is}, casts: {casts}"


def test_a_missing_embedding_scale_is_seen_by_the_whole_model(
    decoder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from numerics.trained.models.decoder import Decoder

    right, scale = Decoder.embed, 20**0.5
    monkeypatch.setattr(Decoder, "embed", lambda *given: right(*given) / scale)
    for family in ("gemma", "gemma2"):
        found, tokens = streamed(decoder(family))
        error = identity.relative_error(found, by_transformers(decoder(family), tokens, True))
        assert error > 0.1, f"{family}: unscaled tokens leave only {error}"


VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "one key/value head": ("llama", {"num_key_value_heads": 1}),
    "no grouping": ("llama", {"num_key_value_heads": 4}),
    "biases everywhere": ("llama", {"attention_bias": True, "mlp_bias": True}),
    "a large eps": ("llama", {"rms_norm_eps": 0.5}),
    "bfloat16": ("llama", {"dtype": torch.bfloat16}),
    "linear RoPE": ("llama", {"rope_parameters": {"rope_type": "linear", "factor": 3.0}}),
    "yarn": (
        "llama",
        {
            "rope_parameters": {
                "rope_type": "yarn",
                "rope_theta": 50.0,
                "factor": 4.0,
                "original_max_position_embeddings": 4,
            }
        },
    ),
    "dynamic": ("llama", {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}}),
    "llama3": (
        "llama",
        {
            "rope_parameters": {
                "rope_type": "llama3",
                "rope_theta": 50.0,
                "factor": 4.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8,
            }
        },
    ),
    "no window": ("mistral", {"sliding_window": None}),
    "window of one": ("mistral", {"sliding_window": 1}),
    "windows from layer 1": (
        "qwen2",
        {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1},
    ),
    "biases beside head norms": ("qwen3", {"attention_bias": True}),
    "exact GELU's name": ("gemma", {"hidden_act": "gelu"}),
    "no soft-cap": ("gemma2", {"attn_logit_softcapping": None}),
    "scale by layer": ("gpt2", {"scale_attn_by_inverse_layer_idx": True}),
    "scale 1": ("gpt2", {"scale_attn_weights": False}),
    "reordered": ("gpt2", {"reorder_and_upcast_attn": True}),
    "default inner width": ("gpt2", {"n_inner": None}),
    "relu": ("gpt2", {"activation_function": "relu"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_of_a_family_are_measured_as_they_are(
    variant: str, make_decoder: Callable[..., Path]
) -> None:
    family, changes = VARIANTS[variant]
    directory = make_decoder(family, **changes)
    found, tokens = streamed(directory)
    error = identity.relative_error(found, by_transformers(directory, tokens, True))
    assert error < identity.PARITY_THRESHOLD, f"{variant}: off by {error}"
    for layer, x in entering(directory)[0]:
        assert identity.parity(x, layer).ok, f"{variant}: {identity.parity(x, layer)}"


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_shards_give_the_same_model(
    family: str, make_decoder: Callable[..., Path], decoder: Callable[[str], Path]
) -> None:
    directory = make_decoder(family, max_shard_size="8KB")
    checkpoint = open_checkpoint(directory)
    assert len(checkpoint.files) > 2, f"not sharded: {checkpoint.files}"
    parts, whole = streamed(directory)[0], streamed(decoder(family))[0]
    assert torch.equal(parts, whole), f"{parts} is not {whole}"


def test_names_with_the_prefix_of_a_language_model_are_found(
    decoder: Callable[[str], Path], tmp_path: Path
) -> None:
    import shutil

    from safetensors.torch import load_file, save_file

    for family, prefix in (("qwen3", "model."), ("gpt2", "transformer.")):
        copy = shutil.copytree(decoder(family), tmp_path / family)
        tensors = load_file(copy / "model.safetensors")
        renamed = {prefix + name: tensor for name, tensor in tensors.items()}
        renamed["lm_head.weight"] = torch.zeros(1)
        save_file(renamed, copy / "model.safetensors", metadata={"format": "pt"})
        found, expected = streamed(copy)[0], streamed(decoder(family))[0]
        assert torch.equal(found, expected), f"{family}: {found} is not {expected}"


@pytest.mark.slow
def test_soft_capped_logits_have_an_eager_reference_and_others_sdpa(
    decoder: Callable[[str], Path],
) -> None:
    for family in FAMILIES:
        (layer, _), *_ = entering(decoder(family))[0]
        used = layer.reference().implementation
        assert used == ("eager" if family == "gemma2" else "sdpa"), f"{family}: {used}"


def test_without_lifting_its_casts_a_norm_or_a_softmax_would_fail_the_gate(
    decoder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InFloat64, "__torch_function__", plain)
    for family in ("qwen3", "gemma2"):
        for layer, x in entering(decoder(family))[0]:
            found = identity.parity(x, layer)
            assert not found.ok, f"{family} with casts to float32 passed: {found}"
            assert found.attention < FLOAT32, f"{family}: {found}"


def plain(self: InFloat64, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """What runs where no cast is lifted."""
    return func(*args, **(kwargs or {}))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_value_fold_is_the_gain_of_the_norm_before(
    family: str, decoder: Callable[[str], Path]
) -> None:
    for layer, x in entering(decoder(family))[0]:
        fold = layer.value_fold()
        assert fold is not None
        assert fold.centred == (family == "gpt2")
        moved = x - x.mean(dim=-1, keepdim=True) if fold.centred else x
        size = moved.square().mean(dim=-1, keepdim=True).sqrt()
        z = layer.attention_input(x) - layer.attention_input(torch.zeros_like(x))
        # z divides by sqrt(size^2 + eps), eps = 1e-5 or less, 1 + 1e-4 times size at most for
        # size^2 >= 0.05: a token's row is off by eps / (2 size^2). The bias went with the zeros.
        bound = min(1e-4, 1e-5 / (2 * float(size.square().min())) + 2.0**-40)
        error = identity.relative_error(fold.gain * moved / size, z)
        assert error <= bound, f"{family}: gain {fold.gain} leaves {error}, not {bound}"
        without = identity.relative_error(moved / size, z)
        assert without > 100 * bound, f"{family}: no gain at all leaves {without}"
