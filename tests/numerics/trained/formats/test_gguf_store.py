"""GGUF files hold the model that was converted, in the transformers library's layout."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from numerics.trained.formats import gguf_store
from numerics.trained.formats.checkpoint import Refused, open_checkpoint
from numerics.trained.measures import identity
from numerics.trained.models.architectures import Model, open_model
from numerics.trained.models.attention import attention_output

KINDS = ("llama", "qwen2", "qwen3", "gemma", "gemma2", "gpt2")
IDS = [3, 7, 7, 41, 100, 255, 12, 9]
# Rows of 64, 96 and 128 are whole blocks of 32.
WIDE = {"hidden_size": 64, "head_dim": 32, "intermediate_size": 96}


def leaving(model: Model, ids: Sequence[int] = IDS) -> torch.Tensor:
    """What leaves the last layer."""
    x = model.embed(ids, [0] * len(ids))
    for index in range(model.depth):
        layer = model.layer(index)
        y = attention_output(layer.attention_input(x), layer.attention())
        x = layer.after_attention(x, y)
    return x


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_converted_model_is_the_model(kind: str, make_gguf: Callable[..., Path]) -> None:
    changes: dict[str, Any] = {}
    if kind != "gpt2":
        changes["rope_parameters"] = {"rope_type": "default", "rope_theta": 77.0}
    if kind == "gemma2":
        changes["query_pre_attn_scalar"] = 6  # d_k: the format has no place for it
    file = make_gguf(kind, **changes)
    found = leaving(open_model(open_checkpoint(file)))
    expected = leaving(open_model(open_checkpoint(file.with_suffix(""))))
    error = identity.relative_error(found, expected)
    # eps <= 1e-5 went through float32, beside squares of order one: u eps = 6e-13 a norm.
    # Gemma's gains did so with 1 added: u = 2^-24 on each of 8 norms.
    bound = 100 * 2**-24 if kind.startswith("gemma") else 4 * 2**-24 * 1e-5
    assert error < bound, f"{kind}: off by {error}"


def test_query_and_key_rows_of_llama_are_put_back_and_would_be_missed(
    make_gguf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = make_gguf("llama")
    right = leaving(open_model(open_checkpoint(file)))
    monkeypatch.setattr(gguf_store, "half_split", lambda values, heads: values.copy())
    # The gate cannot see this: it would compare two readings of the same wrong rows.
    wrong = leaving(open_model(open_checkpoint(file)))
    assert identity.relative_error(wrong, right) > 0.01, "the order of rows does not matter"


def test_half_split_by_hand() -> None:
    rows = np.array([[0], [10], [1], [11], [2], [12], [20], [30], [21], [31], [22], [32]])
    found = gguf_store.half_split(rows, 2)[:, 0].tolist()
    assert found == [0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["llama", "gemma2", "gpt2"])
def test_tensors_are_those_that_transformers_reads(
    kind: str, make_gguf: Callable[..., Path]
) -> None:
    import transformers
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    file = make_gguf(kind)
    names = {"llama": "Llama", "gemma2": "Gemma2", "gpt2": "GPT2"}
    config = transformers.AutoConfig.from_pretrained(file.with_suffix(""))
    with torch.device("meta"):
        empty = getattr(transformers, f"{names[kind]}Model")(config)
    theirs: Any = load_gguf_checkpoint(str(file), return_tensors=True, model_to_load=empty)
    ours = open_checkpoint(file)
    found = {name.removeprefix("model.").removeprefix("transformer."): name for name in ours.shapes}
    assert set(found) == set(theirs["tensors"]), f"{kind}: {set(found) ^ set(theirs['tensors'])}"
    for short, name in found.items():
        expected = theirs["tensors"][short].double()
        value = ours.tensor(name, expected.shape)
        error = (value - expected).abs().max().item()
        assert error <= 2**-23, f"{kind}, {short}: off by {error}"


@pytest.mark.slow
@pytest.mark.parametrize("quantised", ["Q8_0", "Q4_0", "Q4_1", "Q5_1", "F16", "BF16"])
def test_quantised_weights_are_dequantised_labelled_and_measured(
    quantised: str, make_gguf: Callable[..., Path]
) -> None:
    import gguf

    file = make_gguf("llama", quantised, **WIDE)
    checkpoint = open_checkpoint(file)
    assert checkpoint.stored_types == {"F32": 5, quantised: 15}
    assert checkpoint.quantised == quantised.startswith("Q")
    model = open_model(checkpoint)
    stored = {t.name: t for t in gguf.GGUFReader(file).tensors}["token_embd.weight"]
    table = gguf.dequantize(stored.data, stored.tensor_type)
    assert torch.equal(model.embed(IDS, [0] * 8), torch.from_numpy(table[IDS]).double())
    exact = open_model(open_checkpoint(file.with_suffix("")))
    loss = identity.relative_error(leaving(model), leaving(exact))
    assert 1e-6 < loss < 0.7, f"{quantised} weights leave {loss}"
    x = model.embed(IDS, [0] * len(IDS))
    for index in range(model.depth):
        layer = model.layer(index)
        assert identity.parity(x, layer).ok, f"{identity.parity(x, layer)}"
        walk = identity.measure(x, layer, torch.arange(len(x)))
        assert walk.ok, f"{quantised}: {walk}"


def test_only_the_rows_asked_for_are_dequantised(
    make_gguf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import gguf

    model = open_model(open_checkpoint(make_gguf("llama", "Q8_0", **WIDE)))
    sizes, right = [], gguf.dequantize

    def counted(data: np.ndarray, kind: Any) -> np.ndarray:
        sizes.append(data.shape[0])
        return right(data, kind)

    monkeypatch.setattr(gguf, "dequantize", counted)
    model.embed([5, 2, 5], [0, 0, 0])
    assert sizes == [3]


def test_a_directory_with_one_gguf_file_means_that_file(
    make_gguf: Callable[..., Path], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    file = shutil.copy(make_gguf("qwen3"), home / "only.gguf")
    checkpoint = open_checkpoint(home)
    assert (checkpoint.name, checkpoint.files) == ("only", (home / "only.gguf",))
    shutil.copy(file, home / "other.gguf")
    with pytest.raises(Refused, match=r"holds 2 \.gguf files; name one, such as only\.gguf"):
        open_checkpoint(home)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("llama", {"llama.expert_count": 8}, r"the hyperparameter llama\.expert_count is not known"),
    ("llama", {"llama.rope.scaling.type": "yarn"}, r"rope\.scaling\.type 'yarn' is not known"),
    ("llama", {"llama.rope.dimension_count": 4}, "is 4, a head has 6 channels"),
    ("qwen2", {"qwen2.attention.value_length": 3}, "is 3, a head has 6 channels"),
    ("llama", {"split.count": 3}, "one of several parts; merge them"),
    ("gemma2", {"gemma2.attention.other": 1.0}, r"gemma2\.attention\.other is not known"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "metadata", "match"), REFUSED)
def test_other_hyperparameters_are_refused_by_name(
    kind: str, metadata: dict[str, Any], match: str, make_gguf: Callable[..., Path]
) -> None:
    with pytest.raises(Refused, match=match):
        open_checkpoint(make_gguf(kind, metadata=metadata))


def test_gemma_2_of_27_billion_scales_by_d_over_h() -> None:
    from numerics.trained.formats.gguf_header import Extent, Header
    from numerics.trained.formats.gguf_names import configuration

    sizes = {"embedding_length": 4608, "attention.head_count": 32, "attention.key_length": 128}
    for depth, scalar in ((46, 144), (42, 128)):
        metadata: dict[str, object] = {f"gemma2.{k}": v for k, v in sizes.items()}
        metadata |= {"general.architecture": "gemma2", "gemma2.block_count": depth}
        embedding = Extent((9, 4608), 0, "F32", 0, 9 * 4608 * 4)
        header = Header(Path("x.gguf"), metadata, {"token_embd.weight": embedding})
        assert configuration(header)["query_pre_attn_scalar"] == scalar


@pytest.mark.slow
@pytest.mark.models
def test_smollm2_is_labelled_and_its_streamed_forward_is_the_whole_model(smollm2: Path) -> None:
    import transformers

    checkpoint = open_checkpoint(smollm2)
    assert checkpoint.stored_types == {"F32": 61, "Q4_1": 210, "Q8_0": 1}
    assert checkpoint.quantised
    model = open_model(checkpoint)
    assert (model.d, model.heads, model.depth, model.causal) == (576, 9, 30, True)
    config = transformers.LlamaConfig.from_dict(dict(checkpoint.config))
    config._attn_implementation = "sdpa"
    with torch.device("meta"):
        whole: Any = transformers.LlamaModel(config)
    shapes = {name: tuple(value.shape) for name, value in whole.state_dict().items()}
    state = {name: checkpoint.tensor(f"model.{name}", shape) for name, shape in shapes.items()}
    whole.load_state_dict(state, assign=True)
    whole.rotary_emb = type(whole.rotary_emb)(config)
    kept: list[torch.Tensor] = []
    whole.layers[-1].register_forward_hook(lambda module, given, out: kept.append(out))
    assert checkpoint.tokenizer is not None
    tokenizer = checkpoint.tokenizer()
    ids = tokenizer.encode("The capital of France is").ids
    with torch.no_grad():
        whole.eval()(input_ids=torch.tensor([ids]))
        found = leaving(model, ids)
        error = identity.relative_error(found, kept[0][0])
        # Both sides share the reader: what it reads must also make sense. The readout is the
        # embedding.
        scores = state["embed_tokens.weight"] @ whole.norm(found[-1])
    # 30 layers of float32 norms, each off by 4 u at u = 2^-24, before any growth: 7e-6.
    assert 2**-28 < error < 30 * 4 * 2**-24, f"off by {error}"
    assert tokenizer.decode([int(scores.argmax())]) == " Paris"
