"""One layer in memory at a time, and rows instead of tables."""

from __future__ import annotations

import importlib
import re
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from numerics.trained.formats.checkpoint import Checkpoint, open_checkpoint
from numerics.trained.forward import layers
from numerics.trained.measures import identity
from numerics.trained.models.architectures import Layer, Model, open_model
from numerics.trained.models.layers import LayerAtWork
from numerics.trained.tokens import tokenise

ROOT = Path(__file__).resolve().parents[3]
TEXT = "every walk returns home every frame unheard walk"


class Ledger:
    """Bytes of the tensors it was shown that something still refers to, and their most."""

    def __init__(self) -> None:
        self.alive = self.peak = 0

    def enter(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor, counted until nothing refers to it."""
        size = tensor.numel() * tensor.element_size()
        self.alive += size
        self.peak = max(self.peak, self.alive)
        weakref.finalize(tensor, self._leave, size)
        return tensor

    def _leave(self, size: int) -> None:
        self.alive -= size


def test_asking_for_another_layer_lets_go_of_the_one_before() -> None:
    ledger, found = Ledger(), []

    def read(index: int) -> dict[str, torch.Tensor]:
        found.append((index, ledger.alive))
        return {"w": ledger.enter(torch.zeros(1000, dtype=torch.float64))}

    at_work = LayerAtWork(read)
    for index in (0, 0, 1, 0):
        assert at_work(index)["w"].shape == (1000,)
    assert found == [(0, 0), (1, 0), (0, 0)]
    assert (ledger.alive, ledger.peak) == (8000, 8000)


def test_a_layer_whose_reading_fails_is_not_taken_for_the_one_before() -> None:
    def read(index: int) -> dict[str, torch.Tensor]:
        if index == 1:
            raise OSError("gone")
        return {"index": torch.tensor(index)}

    at_work = LayerAtWork(read)
    assert at_work(0)["index"] == 0
    for _ in range(2):
        with pytest.raises(OSError, match="gone"):
            at_work(1)
    assert at_work(0)["index"] == 0


def peak_while(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> int:
    """The most bytes of tensors read from disk that were alive at once during `work`."""
    right, ledger = Checkpoint.tensor, Ledger()
    monkeypatch.setattr(Checkpoint, "tensor", lambda *given: ledger.enter(right(*given)))
    work()
    monkeypatch.undo()
    return ledger.peak


@pytest.mark.slow
@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_a_streamed_model_holds_one_layer_even_where_all_are_kept_hold_of(
    family: str, make_decoder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    depth = "n_layer" if family == "gpt2" else "num_hidden_layers"
    checkpoint = open_checkpoint(make_decoder(family, **{depth: 5}))
    model = open_model(checkpoint)
    tokens = tokenise(checkpoint, TEXT, model.positions)

    def gated() -> list[Layer]:
        kept = []
        for _, layer, x in layers(model, tokens):
            assert identity.parity(x, layer).ok
            kept.append(layer)
        return kept

    layer = sum(8 * tensor.numel() for tensor in tensors_of(model, 4).values())
    found = peak_while(monkeypatch, gated)
    assert found == layer, f"{found} bytes alive, a layer has {layer}"
    whole = peak_while(monkeypatch, lambda: [dict(tensors_of(model, i)) for i in range(5)])
    assert whole == 5 * layer, f"five layers held and {whole} bytes alive are seen"


def tensors_of(model: Model, index: int) -> dict[str, torch.Tensor]:
    """The tensors of a layer."""
    return model.layer(index).tensors  # type: ignore[attr-defined]


@pytest.fixture
def streaming(monkeypatch: pytest.MonkeyPatch):
    """The benchmark, which is no part of the installed packages."""
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.streaming")


@pytest.mark.slow
def test_the_benchmark_measures_a_small_checkpoint(
    streaming, capsys: pytest.CaptureFixture[str]
) -> None:
    streaming.main(["--shrink", "32", "--layers", "3", "--n", "5"])
    machine, sizes, before, *after, projection = capsys.readouterr().out.splitlines()
    assert "transformers" in machine
    assert re.match(r"3 layers of 0\.00\d+ GB in float64, 0\.00\d+ GB on disk$", sizes)
    assert re.match(r"before the first layer 0\.\d+ GB$", before)
    assert len(after) == 3
    assert re.match(r"projection for 32 layers: [0-9.]+ GB", projection)


def test_the_projection_adds_what_each_layer_added(streaming) -> None:
    layer = streaming.layer_bytes(streaming.SHAPE)
    assert layer == 8 * (2 * 4096**2 + 2 * 1024 * 4096 + 3 * 4096 * 14336 + 2 * 4096)
    flat = streaming.report(streaming.SHAPE, [10**9, 4 * 10**9, 4 * 10**9], 2 * 10**9)
    assert "projection for 32 layers: 4 GB (0.00 layers more with each)" in flat
    leaking = streaming.report(streaming.SHAPE, [0, layer, 2 * layer], 2 * 10**9)
    assert f"projection for 32 layers: {32 * layer / 1e9:.3g} GB (1.00 layers more" in leaking
