"""The streamed float64 forward is the whole model of the transformers library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from numerics.trained.formats.checkpoint import open_checkpoint
from numerics.trained.forward import layers
from numerics.trained.measures import identity
from numerics.trained.models.architectures import open_model
from numerics.trained.models.attention import attention_output
from numerics.trained.tokens import Tokens, read_text, tokenise


def streamed(directory: Path, text: Path | None) -> tuple[torch.Tensor, Tokens]:
    """The encoder's output by our own forward, and the tokens it read."""
    checkpoint = open_checkpoint(directory)
    model = open_model(checkpoint)
    tokens = tokenise(checkpoint, read_text(text), model.positions)
    x = torch.empty(0)
    for _, layer, entering in layers(model, tokens):
        x = layer.after_attention(entering, attention_output(entering, layer.attention()))
    return x, tokens


def by_transformers(directory: Path, tokens: Tokens) -> torch.Tensor:
    """The same output from the whole model in transformers, float64."""
    from transformers import BertModel

    model: Any = BertModel.from_pretrained(
        directory, dtype=torch.float64, attn_implementation="sdpa", add_pooling_layer=False
    )
    with torch.no_grad():
        return model.eval()(input_ids=torch.tensor([tokens.ids])).last_hidden_state[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"num_attention_heads": 1},
        {"num_attention_heads": 15},
        {"hidden_act": "gelu_new"},
        {"hidden_act": "relu"},
        {"layer_norm_eps": 0.1},
        {"dtype": torch.bfloat16},
        {"rename": lambda name: f"bert.{name}"},
        {
            "rename": lambda name: name.replace("Norm.weight", "Norm.gamma").replace(
                "Norm.bias", "Norm.beta"
            )
        },
    ],
)
def test_streamed_forward_is_the_whole_model(
    changes: dict[str, Any], make_bert: Callable[..., Path], text: Path
) -> None:
    directory = make_bert(**changes)
    found, tokens = streamed(directory, text)
    expected = by_transformers(directory, tokens)
    error = identity.relative_error(found, expected)
    assert error < identity.PARITY_THRESHOLD, f"{changes}: off by {error}"


@pytest.mark.slow
@pytest.mark.models
def test_minilm_streams_as_the_whole_model(minilm: Path) -> None:
    found, tokens = streamed(minilm, None)
    error = identity.relative_error(found, by_transformers(minilm, tokens))
    assert error < identity.PARITY_THRESHOLD, f"off by {error} over {len(tokens.ids)} tokens"
