"""One fault planted in one side of a stress case, and the comparison that must reject it."""

import json
import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from numerics import blockwise, stress
from numerics.evidence.comparison import Comparison, merged
from numerics.stress.cell import Cell
from numerics.stress.inputs import Layer
from numerics.stress.rounding import precision
from numerics.stress.theorems import gated_mixture

CPU = torch.device("cpu")
CW2_CELLS = [("CW2", cell) for cell in gated_mixture.CELLS]


def heads_of(theorem: str) -> int:
    return 1 if stress.cases()[theorem].single_head else 3


def judge(
    theorem: str, name: str, dtype: str, spoil: Callable[[Layer], Layer] = lambda x: x
) -> dict[str, Comparison]:
    """The cell's comparisons, side two on a spoilt layer."""
    module = stress.cases()[theorem].module
    cell = Cell(theorem, name, 70, 24, heads_of(theorem), dtype, seed=5)
    layer, _ = module.draw(cell, CPU)
    with blockwise.exact_products():
        library, walk = module.left_side(layer, cell), module.right_side(spoil(layer), cell)
        blocks = module.comparisons(layer, cell, library, walk, precision(cell.stored, CPU))
        return {item.name: item for item in merged(blocks)}


def nan_row(layer: Layer) -> Layer:
    query = layer.query.clone()
    query[0, 3] = math.nan
    return replace(layer, query=query)


FAULTS: dict[str, Callable[[Layer], Layer]] = {
    "transport transposed": lambda x: replace(x, w_v=x.w_o.mT, w_o=x.w_v.mT),
    "scale applied twice": lambda x: replace(x, scale=x.scale**2),
    "scale missing": lambda x: replace(x, scale=1.0),
    "scale of the model width": lambda x: replace(x, scale=x.tokens.shape[1] ** -0.5 / 2),
    "queries and keys swapped": lambda x: replace(x, query=x.key[:, :70], key=x.query),
    "one key dropped": lambda x: replace(x, key=x.key.roll(1, 1)),
    "transport scaled by 1.01": lambda x: replace(x, w_o=x.w_o * 1.01),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("theorem", "cell"), [("CW1", "kronecker"), *CW2_CELLS])
def test_a_fault_in_one_side_is_rejected(theorem: str, cell: str, fault: str, dtype: str) -> None:
    found = judge(theorem, cell, dtype, FAULTS[fault])["operator"]
    assert found.finite
    assert not found.ok, found


@pytest.mark.parametrize("cell", gated_mixture.CELLS)
def test_heads_in_a_wrong_order_are_rejected(cell: str) -> None:
    found = judge("CW2", cell, "float32", lambda x: replace(x, w_o=x.w_o.flip(0)))
    assert not found["operator"].ok, found


@pytest.mark.parametrize("cell", ["kronecker", "sink"])
def test_dropped_and_exchanged_biases_are_rejected(cell: str) -> None:
    for spoil in (
        lambda x: replace(x, b_v=torch.zeros_like(x.b_v)),
        lambda x: replace(x, b_o=torch.zeros_like(x.b_o)),
        lambda x: replace(x, b_v=x.b_o, b_o=x.b_v),
    ):
        assert not judge("CW1", cell, "float32", spoil)["operator"].ok


def test_with_a_sink_the_shift_is_not_constant() -> None:
    """b_V enters with weight rho_i: adding it as if rho were 1 must fail where a sink is."""
    module = stress.cases()["CW1"].module
    cell = Cell("CW1", "sink", 70, 24, seed=5)
    layer, _ = module.draw(cell, CPU)
    with blockwise.exact_products():
        head, walk = module.left_side(layer, cell), module.right_side(layer, cell)
        constant = replace(walk, result=walk.transported + walk.shift + layer.b_o)
        model = precision(torch.float32, CPU)
        assert float(walk.row_sums.min()) < 0.99
        assert all(block.ok for block in module.comparisons(layer, cell, head, walk, model))
        assert not all(block.ok for block in module.comparisons(layer, cell, head, constant, model))


@pytest.mark.parametrize("cell", gated_mixture.CELLS)
@pytest.mark.parametrize("name", ["gated_product", "edge_product"])
def test_a_missing_factor_H_is_rejected(
    cell: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The convex mixture of T^h itself, without 1 / w_h, is off by H."""
    honest = getattr(blockwise, name)

    def mixture_of_transports(walk, gates, head_weights, carried):
        return honest(walk, gates, torch.ones_like(head_weights), carried)

    monkeypatch.setattr(blockwise, name, mixture_of_transports)
    hit = name == ("edge_product" if cell == "edge" else "gated_product")
    assert judge("CW2", cell, "float32")["operator"].ok != hit


@pytest.mark.parametrize("cell", gated_mixture.CELLS)
def test_unnormalised_gates_are_rejected(cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = blockwise.walk_and_gates

    def unnormalised(attention, head_weights):
        return honest(attention, head_weights)[0], attention * head_weights[:, None, None]

    monkeypatch.setattr(blockwise, "walk_and_gates", unnormalised)
    found = judge("CW2", cell, "float32")
    assert not found["operator"].ok
    assert not found["gate sums"].ok


@pytest.mark.parametrize("cell", gated_mixture.CELLS)
def test_faults_that_the_operator_cannot_see_are_rejected(
    cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A factor moved from the gates to the walk leaves every product P_ij T_ij unchanged."""
    honest = blockwise.walk_and_gates

    def moved(attention, head_weights):
        walk, gates = honest(attention, head_weights)
        return walk * 2, gates / 2

    monkeypatch.setattr(blockwise, "walk_and_gates", moved)
    found = judge("CW2", cell, "float32")
    assert {name: item.ok for name, item in found.items()} == {
        "operator": True,
        "row sums": False,
        "gate sums": False,
    }


@pytest.mark.parametrize("cell", gated_mixture.CELLS)
def test_head_weights_that_do_not_sum_to_one_are_seen_in_the_row_sums(cell: str) -> None:
    found = judge("CW2", cell, "float32", lambda x: replace(x, head_weights=2 * x.head_weights))
    assert {name: item.ok for name, item in found.items()} == {
        "operator": True,
        "row sums": False,
        "gate sums": True,
    }


@pytest.mark.parametrize("theorem", ["CW1", "CW2"])
def test_a_row_of_nan_fails_and_is_named(theorem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = stress.cases()[theorem].module
    honest = module.right_side
    monkeypatch.setattr(module, "right_side", lambda layer, cell: honest(nan_row(layer), cell))
    record = stress.run_cell(theorem, None, 10, 6, heads_of(theorem), "float32", "cpu", 0)
    assert record["status"] == "failed"
    assert "entry (3, 0) is not finite" in record["reason"]
    assert record["residual"] is None
    assert json.dumps(record, allow_nan=False)
