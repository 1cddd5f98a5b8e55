"""The benchmark of geodesic attention runs at small sizes, and what it says is right."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest
import torch

from numerics.fiber_bundle import attention

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.attention")


@pytest.mark.slow
def test_both_are_timed_and_memory_is_fitted(
    measured: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    measured.main(
        ["--n", "96", "--heads", "2", "--width", "8", "--repeats", "1",
         "--lengths", "1024", "2048", "4096"]
    )  # fmt: skip
    printed = capsys.readouterr().out
    assert "n = 96, 2 heads of width 8, rank 4" in printed
    ratio = re.search(r"([0-9.]+) x, ([0-9.]+) of the operation ratio 3.5", printed)
    assert ratio
    # Printed to two digits after the point.
    assert abs(float(ratio[1]) / 3.5 - float(ratio[2])) <= 0.005 * (1 + 1 / 3.5) + 1e-9
    exponent = re.search(r"exponent of n +([0-9.]+) \[([0-9.]+), ([0-9.]+)\]", printed)
    assert exponent
    assert 0 < float(exponent[2]) <= float(exponent[1]) <= float(exponent[3]) < 1.1
    assert "aten::bmm" in printed.partition("profile")[2]


def test_an_attention_that_is_wrong_is_no_measurement(
    measured: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = measured.Case(40, 1, 8, 2)
    measured.check(case)
    right = measured.geodesic_attention
    monkeypatch.setattr(measured, "geodesic_attention", lambda p, m, v: right(p, m, v) * 1.001)
    with pytest.raises(ArithmeticError, match="attention must be exact within"):
        measured.check(case)


def test_live_tensors_are_counted_until_they_go(measured: ModuleType) -> None:
    with measured.Live() as live:
        first = torch.zeros(1000)
        second = first + 1
        view = second[:10]
        assert live.now == 8000
        del first
        assert live.now == 4000
        del second
        assert live.now == 4000, "a view keeps its storage"
        del view
    assert (live.now, live.peak) == (0, 8000)


def test_memory_that_grows_with_the_square_would_be_seen(
    measured: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dense(points: torch.Tensor, metric: object, values: torch.Tensor) -> torch.Tensor:
        return torch.softmax(points @ points.mT, -1) @ values

    monkeypatch.setattr(measured, "geodesic_attention", dense)
    exponent = re.search(r"exponent of n +([0-9.]+)", measured.memory((256, 512, 1024)))
    assert exponent
    assert float(exponent[1]) > 1.8


@pytest.mark.slow
@pytest.mark.parametrize("recomputed", [True, False])
def test_memory_under_gradients_is_linear_where_blocks_are_evaluated_again(
    measured: ModuleType, monkeypatch: pytest.MonkeyPatch, recomputed: bool
) -> None:
    monkeypatch.setattr(attention, "BLOCK", 2**13 if recomputed else 2**30)
    peaks, lengths = [], (256, 512, 1024)
    for n in lengths:
        points, metric, values = measured.Case(n, 1, 8, 2).draw()
        with measured.Live() as live:
            leaf = points.requires_grad_()
            measured.geodesic_attention(leaf, metric, values).sum().backward()
        assert leaf.grad is not None
        peaks.append(float(live.peak))
    exponent = measured.fitted(lengths, peaks).slope
    assert exponent < 1.2 if recomputed else exponent > 1.6
