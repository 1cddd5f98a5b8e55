"""Models whose geometry is known by construction go through the whole command."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from numerics.trained import analyze, plots

SIZES: dict[str, Any] = {
    "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 4,
    "max_position_embeddings": 40,
}  # fmt: skip
# Distinct tokens: a repeated one has the logits of its twin but for the position.
TEXTS = ("every walk on the graph returns home", "with a new frame the walk returns",
         "home on every graph with the frame")  # fmt: skip


def reshaped(directory: Path, change: Callable[[str, torch.Tensor], torch.Tensor | None]) -> Path:
    """The checkpoint with tensors changed in place: change(name, tensor), None to keep."""
    from safetensors.torch import load_file, save_file

    file = directory / "model.safetensors"
    tensors = load_file(file)
    changed = {name: change(name, tensor) for name, tensor in tensors.items()}
    save_file({n: tensors[n] if t is None else t.contiguous() for n, t in changed.items()}, file)
    return directory


def orthogonal_values(name: str, tensor: torch.Tensor) -> torch.Tensor | None:
    """W_V and W_O orthogonal, so that every block of rows or columns is an isometry."""
    if name.endswith(("attention.self.value.weight", "attention.output.dense.weight")):
        return 2 * torch.linalg.qr(tensor.double())[0].float()
    return None


def symmetric_logits(directory: Path) -> Path:
    """W_K = W_Q and b_K = b_Q: symmetric logits, reversible walks."""
    from safetensors.torch import load_file

    tensors = load_file(directory / "model.safetensors")
    return reshaped(
        directory,
        lambda name, tensor: (
            tensors[name.replace(".key.", ".query.")].clone() if ".self.key." in name else None
        ),
    )


@pytest.fixture
def outcomes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, dict[str, Any]]]:
    """outcomes(checkpoint): the statements of a run on three texts, by id."""
    monkeypatch.setattr(plots, "figures", lambda name, rows, numbers: {})
    files = []
    for number, text in enumerate(TEXTS):
        files.append(tmp_path / f"{number}.txt")
        files[-1].write_text(text)

    def measure(directory: Path) -> dict[str, dict[str, Any]]:
        parser = argparse.ArgumentParser()
        analyze.add_arguments(parser)
        words = [directory, "--out", directory / "out", "--text", *files]
        assert analyze.run(parser.parse_args([str(word) for word in words])) == 0
        summary = json.loads((directory / "out" / "summary.json").read_text())
        return {s["id"]: s for s in summary["statements"]}

    return measure


@pytest.mark.slow
def test_isometric_and_reversible_heads_are_recognised(
    make_bert: Callable[..., Path], outcomes: Callable[..., dict[str, dict[str, Any]]]
) -> None:
    directory = symmetric_logits(
        reshaped(make_bert(**SIZES | {"num_hidden_layers": 3}), orthogonal_values)
    )
    found = outcomes(directory)
    assert found["EM.reversibility"]["outcome"] == "SUPPORTED", found["EM.reversibility"]["text"]
    text = found["EM.isometry"]["text"]
    assert found["EM.isometry"]["outcome"] == "SUPPORTED", text
    assert "gaussian 0.000 [0.000, 0.000]" in text, text
    assert "0/0 against haar, permuted" in text, text
    assert "100% below the 5% point" in text, text


@pytest.mark.slow
def test_a_head_that_carries_nothing_is_left_out_and_said_to_be(
    make_bert: Callable[..., Path],
    outcomes: Callable[..., dict[str, dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(analyze, "LEAST_DRAWS", 20)  # no verdict here rests on its quantiles

    def silenced(name: str, tensor: torch.Tensor) -> torch.Tensor | None:
        if not name.endswith("layer.1.attention.self.value.weight"):
            return None
        return torch.cat([torch.zeros_like(tensor[:8]), tensor[8:]])

    directory = reshaped(make_bert(**SIZES), silenced)
    assert "; 1 of no spread left out" in outcomes(directory)["EM.isometry"]["text"]
    undefined = [
        line.split(",")
        for line in (directory / "out" / "measurements.csv").read_text().splitlines()
        if line.endswith("not finite")
    ]
    heads = {(row[0], row[6]) for row in undefined if row[2] != "spectrum"}
    assert heads == {("1", "0")}, "layer 1, head 0"
    assert {row[2] for row in undefined if row[3] == "trained"} == {
        "cv", "condition", "participation", "functional"
    }  # fmt: skip


@pytest.mark.slow
def test_random_heads_are_not(
    make_bert: Callable[..., Path], outcomes: Callable[..., dict[str, dict[str, Any]]]
) -> None:
    found = outcomes(make_bert(**SIZES))
    assert found["EM.identity"]["outcome"] == "SUPPORTED"
    for id in ("EM.isometry", "EM.functional", "EM.reversibility", "EM.depth_stability"):
        assert found[id]["outcome"] == "NOT SUPPORTED", found[id]["text"]
    assert found["EM.isometry_folded"]["outcome"] == "ILL-DEFINED HERE"
    assert found["EM.scale"]["outcome"] == "NOT TESTABLE HERE"


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "value_heads"), [("gpt2", 3), ("llama", 2), ("gemma2", 2)])
def test_decoders_have_no_reversibility_and_a_norm_to_fold(
    kind: str,
    value_heads: int,
    make_decoder: Callable[..., Path],
    outcomes: Callable[..., dict[str, dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(analyze, "LEAST_DRAWS", 20)  # no verdict here rests on its quantiles
    directory = make_decoder(kind)
    found = outcomes(directory)
    assert found["EM.identity"]["outcome"] == "SUPPORTED", found["EM.identity"]["text"]
    assert found["EM.reversibility"]["outcome"] == "ILL-DEFINED HERE"
    assert "undefined (reducible; CW9 convention 1)" in found["EM.reversibility"]["text"]
    numbers = json.loads((directory / "out" / "summary.json").read_text())["numbers"]
    assert numbers["transports"]["value_heads"] == value_heads
    assert numbers["transports"]["joined_values"] == value_heads * numbers["transports"]["inner"]
    spreads = numbers["transports"]["spreads"]
    assert spreads["cv_folded"]["value"] != spreads["cv"]["value"]
    assert numbers["collapse"]["bounded"] == "from_first"
    assert numbers["reversibility"] == "undefined (reducible; CW9 convention 1)"
