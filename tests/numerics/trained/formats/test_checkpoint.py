"""Reading checkpoints: values exact, and every unusable one refused by name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from numerics.trained.formats.checkpoint import Refused, open_checkpoint
from numerics.trained.models.architectures import open_model

QUERY = "encoder.layer.1.attention.self.query.weight"


class Poison:
    """Unpickling this touches a file: proof that a pickle was opened."""

    def __init__(self, witness: Path) -> None:
        self.witness = witness

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path.touch, (self.witness,))  # type: ignore[return-value]


def stored(directory: Path) -> dict[str, torch.Tensor]:
    """The tensors of model.safetensors."""
    from safetensors.torch import load_file

    return load_file(directory / "model.safetensors")


def shard(directory: Path) -> None:
    """Split model.safetensors in two, with an index beside them."""
    from safetensors.torch import save_file

    tensors = stored(directory)
    weight_map = {name: f"part-{i % 2}.safetensors" for i, name in enumerate(tensors)}
    for part in set(weight_map.values()):
        save_file({k: v for k, v in tensors.items() if weight_map[k] == part}, directory / part)
    index = {"metadata": {}, "weight_map": weight_map}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index))
    (directory / "model.safetensors").unlink()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_tensors_are_the_stored_values_in_float64(
    dtype: torch.dtype, make_bert: Callable[..., Path]
) -> None:
    directory = make_bert(dtype=dtype)
    found = open_checkpoint(directory).tensor(QUERY, (15, 15))
    expected = stored(directory)[QUERY]
    assert expected.dtype == dtype
    assert found.dtype == torch.float64
    assert torch.equal(found, expected.double()), f"{found} is not {expected}"


def test_rows_are_those_of_the_whole_tensor(tiny: Path) -> None:
    name, ids = "embeddings.word_embeddings.weight", [30, 0, 7, 7]
    found = open_checkpoint(tiny).rows(name, (31, 15), ids)
    assert torch.equal(found, stored(tiny)[name][ids].double())
    for outside in (31, -1):
        with pytest.raises(Refused, match=f"index {outside} lies outside"):
            open_checkpoint(tiny).rows(name, (31, 15), [0, outside])


def test_shards_hold_the_same_tensors(tiny: Path, tmp_path: Path) -> None:
    split = shutil.copytree(tiny, tmp_path / "split")
    shard(split)
    whole, parts = open_checkpoint(tiny), open_checkpoint(split)
    assert parts.shapes == whole.shapes
    assert [file.name for file in parts.files] == ["part-0.safetensors", "part-1.safetensors"]
    assert torch.equal(parts.tensor(QUERY, (15, 15)), whole.tensor(QUERY, (15, 15)))


@pytest.mark.parametrize("reach", ["../x.safetensors", "/x.safetensors", "", 3, []])
def test_an_index_must_not_reach_outside_its_directory(reach: object, tiny: Path) -> None:
    shard(tiny)
    index = tiny / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {QUERY: reach}}))
    with pytest.raises(Refused, match="weight_map must map tensors to file names"):
        open_checkpoint(tiny)


def test_a_missing_shard_is_named(tiny: Path) -> None:
    shard(tiny)
    (tiny / "part-1.safetensors").unlink()
    with pytest.raises(Refused, match=r"part-1\.safetensors: shard named by"):
        open_checkpoint(tiny)


def test_a_tensor_in_two_shards_is_refused(tiny: Path) -> None:
    shard(tiny)
    shutil.copy(tiny / "part-0.safetensors", tiny / "part-1.safetensors")
    with pytest.raises(Refused, match=r"is also in part-0\.safetensors"):
        open_checkpoint(tiny)


@pytest.mark.parametrize("file", ["pytorch_model.bin", "model.pt", "weights.pth", "x.ckpt"])
def test_a_pickle_is_never_opened(file: str, tiny: Path, tmp_path: Path) -> None:
    witness = tmp_path / "opened"
    (tiny / "model.safetensors").rename(tiny / "elsewhere")
    torch.save(Poison(witness), tiny / file)
    for path in (tiny, tiny / file):
        with pytest.raises(Refused, match=r"never opened .* convert it to safetensors"):
            open_checkpoint(path)
    shutil.copy(tiny / file, tiny / "model.safetensors")
    with pytest.raises(Refused, match="not a whole safetensors file"):
        open_checkpoint(tiny)
    assert not witness.exists(), "the pickle was opened"
    torch.load(tiny / file, weights_only=False)
    assert witness.exists(), "the poison is harmless: this test shows nothing"


def test_a_pickle_beside_safetensors_is_left_alone(tiny: Path) -> None:
    (tiny / "pytorch_model.bin").write_bytes(b"never read")
    assert [file.name for file in open_checkpoint(tiny).files] == ["model.safetensors"]


@pytest.mark.parametrize("kept", [0, 4, 8, 100, 0.5, -1])
def test_a_truncated_file_is_refused(kept: float, tiny: Path) -> None:
    file = tiny / "model.safetensors"
    whole = file.read_bytes()
    size = int(kept * len(whole)) if isinstance(kept, float) else kept
    file.write_bytes(whole[:size])
    with pytest.raises(Refused, match="not a whole safetensors file"):
        open_checkpoint(tiny)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"{", "unreadable"),
        (b"\xff\xfe", "unreadable"),
        (b"[" * 100_000, "unreadable"),
        (b"[1]", "must hold a JSON object"),
        (b"{}", "architecture None is not known"),
        (b'{"model_type": "bert", "quantization_config": {}}', "quantization_config is set"),
    ],
)
def test_an_unreadable_config_is_refused(content: bytes, match: str, tiny: Path) -> None:
    (tiny / "config.json").write_bytes(content)
    with pytest.raises(Refused, match=match):
        open_model(open_checkpoint(tiny))


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    ["t5", "gpt_neo", "gpt_neox", "gemma3", "mixtral", "phi3", "BERT", "", None, 3, ["bert"]],
)
def test_unknown_architectures_are_refused_by_name(kind: object, tiny: Path) -> None:
    change_config(tiny, model_type=kind)
    with pytest.raises(
        Refused, match=r"architecture .* is not known \(known: bert, gpt2"
    ) as refusal:
        open_model(open_checkpoint(tiny))
    assert repr(kind) in str(refusal.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"position_embedding_type": "relative_key"}, "position_embedding_type 'relative_key'"),
        ({"is_decoder": True}, "is_decoder is set"),
        ({"add_cross_attention": True}, "add_cross_attention is set"),
        ({"hidden_act": "silu"}, "hidden_act 'silu' is not known"),
        ({"num_attention_heads": 4}, "hidden_size 15 is no multiple of num_attention_heads 4"),
        ({"num_attention_heads": 0}, "num_attention_heads must be a positive integer, found 0"),
        ({"num_attention_heads": True}, "num_attention_heads must be a positive integer"),
        ({"hidden_size": "15"}, "hidden_size must be a positive integer, found '15'"),
        ({"intermediate_size": None}, "intermediate_size must be .*, found nothing"),
        ({"layer_norm_eps": float("nan")}, "layer_norm_eps must be a positive number"),
        ({"layer_norm_eps": "small"}, "layer_norm_eps must be a positive number"),
        ({"num_hidden_layers": 1}, "num_hidden_layers 1, the weights hold layer 1"),
        ({"num_hidden_layers": 3}, r"tensor encoder\.layer\.2\..* is missing"),
        ({"vocab_size": 30}, r"shape \[31, 15\], expected \[30, 15\]"),
    ],
)
def test_other_mathematics_and_misfits_are_refused(
    changes: dict[str, object], match: str, tiny: Path
) -> None:
    change_config(tiny, **changes)
    with pytest.raises(Refused, match=match):
        open_model(open_checkpoint(tiny))


@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (lambda t: t * float("nan"), "holds NaN or infinity"),
        (lambda t: t.to(torch.int8), "not floats"),
        (lambda t: t.to(torch.float8_e4m3fn), "holds torch.float8_e4m3fn, not floats of 16"),
    ],
)
def test_values_that_are_no_numbers_are_refused(
    spoil: Callable[[torch.Tensor], torch.Tensor], match: str, tiny: Path
) -> None:
    from safetensors.torch import save_file

    tensors = stored(tiny)
    save_file(tensors | {QUERY: spoil(tensors[QUERY])}, tiny / "model.safetensors")
    with pytest.raises(Refused, match=match):
        open_model(open_checkpoint(tiny)).layer(1)


def test_a_tensor_of_a_layer_that_nobody_reads_is_refused(tiny: Path) -> None:
    from safetensors.torch import save_file

    extra = {"encoder.layer.1.attention.self.scale": torch.ones(3)}
    save_file(stored(tiny) | extra, tiny / "model.safetensors")
    with pytest.raises(Refused, match=r"tensor encoder\.layer\.1\.attention\.self\.scale is not"):
        open_model(open_checkpoint(tiny))


def change_config(directory: Path, **changes: object) -> None:
    """Rewrite entries of config.json."""
    file = directory / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
