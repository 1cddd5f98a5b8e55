"""The share of a device's matrix-product rate in a record, and how that rate is measured."""

from typing import Any

import pytest
import torch

from numerics import stress
from numerics.runs import ranks
from numerics.stress import measurement
from numerics.stress.measurement import matrix_rate, square_product
from numerics.stress.theorems import gated_mixture

CPU = torch.device("cpu")


def recorded(monkeypatch: pytest.MonkeyPatch, rate: float, count: int = 1) -> dict[str, Any]:
    """The record of a cell whose sides did 300 and 600 operations, of every of several ranks."""
    monkeypatch.setattr(gated_mixture, "operations", lambda layer, cell: (300, 600))
    monkeypatch.setattr("numerics.stress.evaluation.matrix_rate", lambda dtype, device: rate)
    monkeypatch.setattr(ranks, "from_every_rank", lambda part: count * [part])
    return stress.run_cell("CW2", "gates", 9, 6, 3, "float32", "cpu", 0, rate=True)


@pytest.mark.parametrize("count", [1, 3])
def test_a_share_is_operations_over_time_and_rate(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    record = recorded(monkeypatch, 1000.0, count)
    seconds = record["seconds"]
    assert record["matrix_rate"] == {
        "flops_per_second": count * 1000.0,
        "left": count * 300 / seconds["left"] / (count * 1000.0),
        "right": count * 600 / seconds["right"] / (count * 1000.0),
    }


def test_the_rate_is_measured_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[torch.dtype] = []
    monkeypatch.setattr("numerics.stress.evaluation.matrix_rate",
                        lambda dtype, device: measured.append(dtype) or 1.0)  # fmt: skip
    for arguments, rate in ((("CW2", "gates", 9, 6, 3, "float64"), False),
                            (("RA2", None, 9, 3, 1, "float32"), True)):  # fmt: skip
        assert stress.run_cell(*arguments, "cpu", 0, rate=rate)["matrix_rate"] is None
    assert measured == []
    assert stress.run_cell("CW2", "gates", 9, 6, 3, "bfloat16", "cpu", 0, rate=True)["matrix_rate"]
    assert measured == [torch.float32]


def test_the_dtype_of_the_rate_is_that_of_the_products() -> None:
    cuda, mps, half = torch.device("cuda"), torch.device("mps"), torch.float16
    found = {
        theorem: [stress.cases()[theorem].product_dtype(half, place) for place in (CPU, cuda, mps)]
        for theorem in ("CW2", "RA7", "RA6")
    }
    single, double = torch.float32, torch.float64
    assert found == {
        "CW2": [single, half, half],
        "RA7": [single, single, single],
        "RA6": [double, double, single],
    }
    assert stress.cases()["RA7"].product_dtype(double, CPU) == double


def test_a_refused_cell_has_no_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gated_mixture, "longest_sum", lambda layer, cell: 2**24)
    record = stress.run_cell("CW2", "gates", 8, 6, 3, "float32", "cpu", 0, rate=True)
    assert (record["status"], record["matrix_rate"]) == ("failed", None)


def test_a_device_whose_products_are_wrong_fails_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(dtype: torch.dtype, device: torch.device) -> float:
        raise ArithmeticError("the first entry of the product must be 1.0, got 2.0")

    monkeypatch.setattr("numerics.stress.evaluation.matrix_rate", wrong)
    record = stress.run_cell("CW2", "gates", 9, 6, 3, "float32", "cpu", 0, rate=True)
    assert (record["status"], record["reason"]) == (
        "failed", "the first entry of the product must be 1.0, got 2.0",
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_a_square_product_counts_two_operations_a_multiplication(dtype: torch.dtype) -> None:
    product, count = square_product(20, dtype, CPU)
    assert count == 2 * 20**3
    assert product().dtype == dtype
    assert torch.equal(product(), square_product(20, dtype, CPU)[0]())


def test_a_product_that_is_wrong_has_no_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "__matmul__", lambda a, b: torch.matmul(a, b) + 1)
    with pytest.raises(ArithmeticError, match="the first entry of the product must be"):
        square_product(8, torch.float32, CPU)


@pytest.mark.parametrize(("speed", "last"), [(1e9, 256), (1e11, 1024), (1e15, 8192)])
def test_products_grow_until_they_are_long_enough(
    monkeypatch: pytest.MonkeyPatch, speed: float, last: int
) -> None:
    sizes: list[int] = []

    def sized(size: int, dtype: torch.dtype, device: torch.device) -> tuple[int, int]:
        sizes.append(size)
        return size, 2 * size**3

    monkeypatch.setattr(measurement, "square_product", sized)
    monkeypatch.setattr(measurement, "_seconds", lambda size, device: 2 * size**3 / speed)
    assert matrix_rate.__wrapped__(torch.float32, CPU) == pytest.approx(speed, rel=2**-50, abs=0)
    assert sizes == [2**k for k in range(8, 14) if 2**k <= last]


def test_the_least_time_of_a_product_and_the_best_size_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    laps = iter([0.003, 0.001, 0.002, 0.5, 0.4, 0.6])
    monkeypatch.setattr(measurement, "square_product", lambda size, *_: (None, 2 * size**3))
    monkeypatch.setattr(measurement, "_seconds", lambda *_: next(laps))
    assert matrix_rate.__wrapped__(torch.float32, CPU) == 2 * 256**3 / 0.001


def test_a_rate_is_measured_once_a_process() -> None:
    assert matrix_rate(torch.float32, CPU) == matrix_rate(torch.float32, CPU) > 0
