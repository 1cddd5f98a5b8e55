"""Control models keep the shapes, and the norms where they say so; a token keeps one embedding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from numerics.trained.formats.checkpoint import Checkpoint, open_checkpoint
from numerics.trained.forward import Stream, layers
from numerics.trained.measures.control_models import KINDS, redrawn
from numerics.trained.models.architectures import open_model
from numerics.trained.tokens import read_text, tokenise

NORM = "encoder.layer.0.attention.output.LayerNorm"
MATRIX = "encoder.layer.1.attention.self.query.weight"
TABLE = "embeddings.word_embeddings.weight"


@pytest.fixture
def checkpoint(make_bert: Callable[..., Path]) -> Checkpoint:
    opened = open_checkpoint(make_bert(hidden_size=60, intermediate_size=90))
    return replace(opened, config={**opened.config, "initializer_range": 0.05})


def test_initialised_models_have_the_deviation_of_their_configuration(
    checkpoint: Checkpoint,
) -> None:
    store = redrawn(checkpoint, "initialised", 0).store
    matrix = store.read(MATRIX)
    # 3600 normal entries: their deviation is known to 1.2%; five of those.
    assert abs(matrix.std().item() / 0.05 - 1) < 0.06
    assert bool((store.read(f"{NORM}.bias") == 0).all())
    assert bool((store.read(f"{NORM}.weight") == 1).all())
    gemma = replace(checkpoint, config={**checkpoint.config, "model_type": "gemma2"})
    assert bool((redrawn(gemma, "initialised", 0).store.read(f"{NORM}.weight") == 0).all())


def test_matched_models_have_the_norms_of_the_trained_one(checkpoint: Checkpoint) -> None:
    store, trained = redrawn(checkpoint, "matched", 0).store, checkpoint.store
    for name in (MATRIX, f"{NORM}.weight"):
        drawn, own = store.read(name), trained.read(name).double()
        assert drawn.norm().item() == pytest.approx(own.norm().item(), rel=1e-12, abs=0)
        assert not torch.equal(drawn, own), f"{name} was not redrawn"
    gain = store.read(f"{NORM}.weight"), trained.read(f"{NORM}.weight").double()
    assert torch.equal(gain[0].sort().values, gain[1].sort().values)
    rows, own = store.rows(TABLE, [3, 5]), trained.rows(TABLE, [3, 5]).double()
    torch.testing.assert_close(rows.norm(dim=1), own.norm(dim=1), rtol=1e-12, atol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_draws_depend_on_seed_tensor_and_row(checkpoint: Checkpoint, kind: str) -> None:
    store, other = (redrawn(checkpoint, kind, seed).store for seed in (0, 1))
    assert torch.equal(store.read(MATRIX), redrawn(checkpoint, kind, 0).store.read(MATRIX))
    assert not torch.equal(store.read(MATRIX), other.read(MATRIX))
    assert not torch.equal(store.read(MATRIX), store.read(MATRIX.replace("query", "key")))
    rows = store.rows(TABLE, [4, 9, 4])
    assert torch.equal(rows[0], rows[2]), "a repeated token has two embeddings"
    assert not torch.equal(rows[0], rows[1])


@pytest.mark.parametrize("kind", KINDS)
def test_control_models_run_through_all_layers(
    checkpoint: Checkpoint, text: Path, kind: str
) -> None:
    model = open_model(redrawn(checkpoint, kind, 2))
    stream = Stream(model, [tokenise(checkpoint, read_text(text), 12)])
    for index in range(model.depth):
        _, _, (found,) = stream.advance(index)
        assert bool(torch.isfinite(found.after).all())
        assert torch.equal(stream.walks[0], found.pattern.mean(dim=0))


def test_a_stream_of_texts_is_each_text_by_itself(checkpoint: Checkpoint, text: Path) -> None:
    model = open_model(checkpoint)
    texts = [tokenise(checkpoint, words, 12) for words in (read_text(text), "a new frame")]
    stream = Stream(model, texts)
    for index, alone in enumerate(zip(*(layers(model, t) for t in texts), strict=True)):
        for state, (_, _, x) in zip(stream.states, alone, strict=True):
            assert torch.equal(state, x), f"layer {index}"
        stream.advance(index)


def test_other_kinds_are_refused(checkpoint: Checkpoint) -> None:
    with pytest.raises(ValueError, match="kind must be one of"):
        redrawn(checkpoint, "other", 0)
