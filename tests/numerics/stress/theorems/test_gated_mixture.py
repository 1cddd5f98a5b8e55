"""Stress of CW1 and CW2: faults in the walk and its code, and blocks of rows that are compared."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from numerics import blockwise, stress
from numerics.stress.cell import Cell
from numerics.stress.inputs import Layer
from numerics.stress.theorems import gated_mixture
from tests.numerics.properties.plant import Plant
from tests.numerics.stress.theorems.sides import Faults, drawn

single = partial(drawn, "CW1", n=70, d=24)
several = partial(drawn, "CW2", n=70, d=24, heads=3)


SPOILS: dict[str, Callable[[Layer], Layer]] = {
    "transport transposed": lambda x: replace(x, w_v=x.w_o.mT, w_o=x.w_v.mT),
    "scale applied twice": lambda x: replace(x, scale=x.scale**2),
    "scale missing": lambda x: replace(x, scale=1.0),
    "scale of the model width": lambda x: replace(x, scale=x.tokens.shape[1] ** -0.5 / 2),
    "queries and keys swapped": lambda x: replace(x, query=x.key[:, :70], key=x.query),
    "one key dropped": lambda x: replace(x, key=x.key.roll(1, 1)),
    "transport scaled by 1.01": lambda x: replace(x, w_o=x.w_o * 1.01),
}
BIASES: dict[str, Callable[[Layer], Layer]] = {
    "bias of the values dropped": lambda x: replace(x, b_v=torch.zeros_like(x.b_v)),
    "bias of the output dropped": lambda x: replace(x, b_o=torch.zeros_like(x.b_o)),
    "biases exchanged": lambda x: replace(x, b_v=x.b_o, b_o=x.b_v),
}
ORDER: dict[str, Callable[[Layer], Layer]] = {
    "heads in a wrong order": lambda x: replace(x, w_o=x.w_o.flip(0))
}


def mixture_of_transports(sound: Any, walk: Any, gates: Any, weights: Any, carried: Any) -> Any:
    """The convex mixture of T^h itself, without 1 / w_h, is off by H."""
    return sound(walk, gates, torch.ones_like(weights), carried)


def unnormalised(sound: Any, attention: Any, weights: Any) -> Any:
    return sound(attention, weights)[0], attention * weights[:, None, None]


def moved(sound: Any, attention: Any, weights: Any) -> Any:
    """A factor moved from the gates to the walk leaves every product P_ij T_ij unchanged."""
    walk, gates = sound(attention, weights)
    return walk * 2, gates / 2


MISSING = {
    name: Plant("operator", name, mixture_of_transports, blockwise)
    for name in ("gated_product", "edge_product")
}
GATES = {
    "gates not normalised": Plant("operator, gate sums", "walk_and_gates", unnormalised, blockwise),
    "a factor of the walk": Plant("row sums, gate sums", "walk_and_gates", moved, blockwise),
}
WEIGHTS: dict[str, Callable[[Layer], Layer]] = {
    "head weights of sum 2": lambda x: replace(x, head_weights=2 * x.head_weights)
}
FAULTS = [
    Faults(single, SPOILS, ("kronecker",), sides="right"),
    Faults(several, SPOILS, sides="right"),
    Faults(single, BIASES, ("kronecker", "sink"), "float32", "right"),
    Faults(several, ORDER, dtypes="float32", sides="right"),
    Faults(
        several, MISSING, dtypes="float32",
        holds=frozenset(
            (cell, name) for cell in gated_mixture.CELLS for name in MISSING
            if name != ("edge_product" if cell == "edge" else "gated_product")
        ),
    ),
    Faults(several, GATES, dtypes="float32", alone=True),
    Faults(several, WEIGHTS, (), "float32", "right", blames="row sums", alone=True),
]  # fmt: skip


def test_with_a_sink_the_shift_is_not_constant() -> None:
    """b_V enters with weight rho_i: adding it as if rho were 1 must fail where a sink is."""
    sides = single("sink")
    walk = sides.right()
    constant = replace(walk, result=walk.transported + walk.shift + sides.inputs.b_o)
    assert float(walk.row_sums.min()) < 0.99
    assert sides.equal(sides.left(), walk)
    assert not sides.equal(sides.left(), constant)


def nan_row(layer: Layer) -> Layer:
    query = layer.query.clone()
    query[0, 3] = math.nan
    return replace(layer, query=query)


@pytest.mark.parametrize("theorem", ["CW1", "CW2"])
def test_a_row_of_nan_fails_and_is_named(theorem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = stress.cases()[theorem].module
    honest = module.right_side
    monkeypatch.setattr(module, "right_side", lambda layer, cell: honest(nan_row(layer), cell))
    record = stress.run_cell(
        theorem, None, 10, 6, {"CW1": 1, "CW2": 3}[theorem], "float32", "cpu", 0
    )
    assert record["status"] == "failed"
    assert "entry (3, 0) is not finite" in record["reason"]
    assert record["residual"] is None
    assert json.dumps(record, allow_nan=False)


def sampled(name: str) -> dict[str, Any]:
    return stress.run_cell("CW2", name, 70, 12, 3, "float32", "cpu", 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", gated_mixture.CELLS)
def test_some_blocks_of_rows_are_compared_and_named(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sampled(name)
    assert [item["name"] for item in whole["comparisons"]] == ["operator", "row sums", "gate sums"]
    monkeypatch.setattr(blockwise, "CPU_BLOCK", 4 * 7 * 70)
    blocks = sampled(name)
    assert blocks["comparisons"][0]["name"] == "operator"
    monkeypatch.setattr(gated_mixture, "BOUND_ROWS", 35)
    some = sampled(name)
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
        found.append(sampled("gates"))
    assert [record["status"] for record in found] == ["failed", "ok", "failed"]
    assert found[0]["entry"] == [14, 3]
    assert found[2]["reason"] == "result: entry (10, 3) is not finite"
