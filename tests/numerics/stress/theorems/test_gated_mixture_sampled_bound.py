"""CW2 beyond the queries whose bounds are all formed: what is compared is said, and it is sound."""

from typing import Any

import pytest
import torch

from numerics import blockwise, stress
from numerics.stress.cell import Cell
from numerics.stress.theorems import gated_mixture


def cell(name: str) -> dict[str, Any]:
    return stress.run_cell("CW2", name, 70, 12, 3, "float32", "cpu", 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", gated_mixture.CELLS)
def test_some_blocks_of_rows_are_compared_and_named(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = cell(name)
    assert [item["name"] for item in whole["comparisons"]] == ["operator", "row sums", "gate sums"]
    monkeypatch.setattr(blockwise, "CPU_BLOCK", 4 * 7 * 70)
    blocks = cell(name)
    assert blocks["comparisons"][0]["name"] == "operator"
    monkeypatch.setattr(gated_mixture, "BOUND_ROWS", 35)
    some = cell(name)
    names = [item["name"] for item in some["comparisons"]]
    assert names == [f"{n} in one block of 2" for n in ("operator", "row sums", "gate sums")]
    assert some["status"] == whole["status"] == "ok"
    assert some["ratio"] <= blocks["ratio"]


def test_a_fault_between_the_compared_rows_must_still_be_finite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blockwise, "CPU_BLOCK", 4 * 7 * 70)
    monkeypatch.setattr(gated_mixture, "BOUND_ROWS", 35)
    honest = gated_mixture.right_side

    def spoilt(row: int, value: float) -> Any:
        def right_side(layer: Any, cell: Cell) -> gated_mixture.Walk:
            walk = honest(layer, cell)
            walk.result[row, 3] += value
            return walk

        return right_side

    found = []
    for row, value in ((14, 1.0), (10, 1.0), (10, torch.inf)):
        monkeypatch.setattr(gated_mixture, "right_side", spoilt(row, value))
        found.append(cell("gates"))
    assert [record["status"] for record in found] == ["failed", "ok", "failed"]
    assert found[0]["entry"] == [14, 3]
    assert found[2]["reason"] == "result: entry (10, 3) is not finite"
