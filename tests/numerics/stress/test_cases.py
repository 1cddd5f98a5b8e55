"""Stress cells hold their bounds, tightly, within the memory of a block."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from numerics import blockwise, stress
from numerics.evidence.comparison import PLANTED, compare
from numerics.stress.cell import Cell
from numerics.stress.inputs import Layer, draw
from numerics.stress.theorems import gated_mixture
from numerics.stress.theorems import reversibility_defects as defects
from numerics.stress.theorems import rigidity as rigid_mixture
from theorems.catalogue import CATALOGUE

CPU = torch.device("cpu")
CELLS = [(case.theorem, cell) for case in stress.cases().values() for cell in case.cells]


def heads_of(theorem: str) -> int:
    return 1 if stress.cases()[theorem].single_head else 3


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d", "heads"), [(1, 1, 1), (2, 6, 3), (63, 20, 5), (100, 48, 4)])
@pytest.mark.parametrize("dtype", list(blockwise.DTYPES))
@pytest.mark.parametrize(("theorem", "cell"), CELLS)
def test_both_sides_agree_within_the_bound(
    theorem: str, cell: str, dtype: str, n: int, d: int, heads: int
) -> None:
    heads = min(heads, 1) if stress.cases()[theorem].single_head else heads
    record = stress.run_cell(theorem, cell, n, d, heads, dtype, "cpu", seed=n)
    assert record["status"] == "ok", record
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert all(item["planted_rejected"] for item in record["comparisons"])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize(("theorem", "cell"), CELLS)
def test_the_bound_is_tight(theorem: str, cell: str, dtype: str) -> None:
    record = stress.run_cell(theorem, cell, 300, 48, heads_of(theorem), dtype, "cpu", seed=1)
    assert record["status"] == "ok", record
    assert all(item["tight"] for item in record["comparisons"]), record


@pytest.mark.slow
@pytest.mark.parametrize("theorem", list(stress.cases()))
def test_the_default_cell_of_verify_is_tight(theorem: str) -> None:
    heads = 1 if stress.cases()[theorem].single_head else 4
    for seed in range(3):
        record = stress.run_cell(theorem, None, 256, 64, heads, "float32", "cpu", seed)
        assert (record["status"], record["tight"]) == ("ok", True), record


@pytest.mark.slow
@pytest.mark.parametrize("block", [2**9, 2**11])
@pytest.mark.parametrize(("theorem", "cell"), CELLS)
def test_nothing_as_large_as_n_times_n_is_allocated(
    theorem: str, cell: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Largest(TorchDispatchMode):
        entries = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None):
            result = func(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor):
                self.entries = max(self.entries, result.numel())
            return result

    monkeypatch.setattr(blockwise, "CPU_BLOCK", block)
    monkeypatch.setattr(rigid_mixture, "ROWS", 8)
    monkeypatch.setattr(defects, "EDGES", 16)
    n, d, heads = 80, 6, heads_of(theorem)
    with Largest() as largest:
        record = stress.run_cell(theorem, cell, n, d, heads, "float32", "cpu", seed=2)
    assert record["status"] == "ok", record
    # A row of one block may be wider than the block; edges hold d numbers for every key; words of
    # all layers but the last are held for every token; 16 fields and 8 sampled queries have a
    # number for every key; the rounding model probes the device with products of 64 x 64.
    words = heads**2 if cell == "three-layers" else heads + 1
    allowed = max(block, n * words * d, (n + 1) * max(heads, d), 8 * n * max(heads, 2), 64 * 64)
    assert largest.entries <= allowed < n * n


def test_edges_are_sampled_by_seed_beyond_the_full_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gated_mixture, "EDGE_ROWS", 60)
    monkeypatch.setattr(gated_mixture, "EDGE_SAMPLE", 16)
    cell = Cell("CW2", "edge", 70, 24, 3, seed=5)
    layer = draw(cell, CPU)
    (sampled, rows), (_, again), (_, other) = (
        gated_mixture.select(layer, replace(cell, seed=seed)) for seed in (5, 5, 6)
    )
    assert torch.equal(rows, again)
    assert not torch.equal(rows, other)
    assert torch.equal(sampled.query, layer.query[:, rows])
    assert sampled.keys == 70
    assert stress.run_cell("CW2", "edge", 70, 24, 3, "float32", "cpu", 5)["status"] == "ok"


def test_a_failure_in_a_sampled_row_is_reported_by_its_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gated_mixture, "EDGE_ROWS", 60)
    monkeypatch.setattr(gated_mixture, "EDGE_SAMPLE", 16)
    _, rows = gated_mixture.draw(Cell("CW2", "edge", 70, 24, 3, seed=5), CPU)
    honest = gated_mixture.left_side

    def spoilt(layer: Layer, cell: Cell) -> gated_mixture.Heads:
        heads = honest(layer, cell)
        heads.result[9, 4] += 1
        return heads

    monkeypatch.setattr(gated_mixture, "left_side", spoilt)
    record = stress.run_cell("CW2", "edge", 70, 24, 3, "float32", "cpu", 5)
    assert (record["status"], record["entry"]) == ("failed", [int(rows[9]), 4])


def test_nan_on_both_sides_is_not_agreement() -> None:
    nan = torch.full((2, 3), math.nan)
    found = compare("operator", nan, nan, torch.ones(2, 3, dtype=torch.float64), k=3)
    assert not found.ok
    assert found.entry == (0, 0)


@pytest.mark.parametrize("bound", [0.0, math.inf, math.nan])
def test_a_bound_that_nothing_could_break_is_not_ok(bound: float) -> None:
    equal = torch.ones(2, 3)
    found = compare("operator", equal, equal, torch.full((2, 3), bound, dtype=torch.float64), k=3)
    assert not found.ok


def test_merging_keeps_the_worst_block_and_any_that_is_not_finite() -> None:
    one, bound = torch.zeros(1, 2), torch.ones(1, 2, dtype=torch.float64)
    good = compare("x", one, one + 0.25, bound, k=2)
    worse = compare("x", one, one + 0.5, bound, k=2, first_row=7)
    broken = compare("x", one, one + math.nan, bound, k=2, first_row=9)
    both = replace(worse, entries=4, bounded=4, rejected=4)
    assert good.merge(worse) == worse.merge(good) == both
    assert good.merge(broken).merge(worse).entry == (9, 0)
    assert not broken.merge(good).planted_rejected


def test_comparing_different_shapes_is_refused() -> None:
    with pytest.raises(ValueError, match="x: lhs, rhs and bound must have one shape"):
        compare("x", torch.zeros(2), torch.zeros(3), torch.zeros(2), k=1)


def test_inputs_depend_on_nothing_but_their_arguments() -> None:
    cell = Cell("CW2", "gates", 9, 6, 3, seed=4)
    first, torch_state = draw(cell, CPU), torch.get_rng_state()
    again, other = draw(cell, CPU), draw(replace(cell, seed=3), CPU)
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert torch.equal(first.query, again.query)
    assert not torch.equal(first.query, other.query)


def test_a_sum_too_long_for_its_dtype_fails_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gated_mixture, "longest_sum", lambda layer, cell: 2**24)
    record = stress.run_cell("CW2", "gates", 8, 6, 3, "float32", "cpu", 0)
    assert record["status"] == "failed"
    assert "16777224 terms has no rounding bound" in record["reason"]


def spoil_right_side(theorem: str, entry: tuple[int, ...], error: float) -> tuple[Any, str, Any]:
    """The arguments of a patch that adds an error to one entry of side two."""
    module = stress.cases()[theorem].module
    honest = module.right_side

    def spoilt(inputs: Any, cell: Cell) -> Any:
        side = honest(inputs, cell)
        side.result[entry] += error
        return side

    return module, "right_side", spoilt


@pytest.mark.slow
@pytest.mark.parametrize("dtype", list(blockwise.DTYPES))
@pytest.mark.parametrize(("theorem", "cell"), CELLS)
def test_a_planted_error_of_8_bounds_is_rejected(
    theorem: str, cell: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (theorem, cell, 40, 24, heads_of(theorem), dtype, "cpu", 5)
    clean = stress.run_cell(*arguments)
    assert clean["status"] == "ok", clean
    planted = PLANTED * clean["bound"]
    monkeypatch.setattr(*spoil_right_side(theorem, tuple(clean["entry"]), planted))
    found = stress.run_cell(*arguments)
    assert (found["status"], found["entry"]) == ("failed", clean["entry"]), found
    assert found["ratio"] > PLANTED - 2
    assert f"{found['comparisons'][0]['name']}: residual is" in found["reason"]


@pytest.mark.slow
@pytest.mark.parametrize(("theorem", "cell"), CELLS)
def test_an_entry_that_is_not_a_number_fails_and_is_named(
    theorem: str, cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = tuple(stress.run_cell(theorem, cell, 10, 6, 1, "float32", "cpu", 0)["entry"])
    monkeypatch.setattr(*spoil_right_side(theorem, entry, math.nan))
    record = stress.run_cell(theorem, cell, 10, 6, 1, "float32", "cpu", 0)
    assert (record["status"], record["residual"]) == ("failed", None)
    assert f"entry {entry} is not finite" in record["reason"]
    assert json.dumps(record, allow_nan=False)


@pytest.mark.slow
@pytest.mark.gpu
@pytest.mark.parametrize("dtype", list(blockwise.DTYPES))
@pytest.mark.parametrize(("theorem", "cell"), CELLS)
def test_the_bound_holds_on_a_gpu(theorem: str, cell: str, dtype: str) -> None:
    record = stress.run_cell(theorem, cell, 500, 96, heads_of(theorem), dtype, "cuda", seed=1)
    assert record["status"] == "ok", record


def test_a_case_stands_in_the_file_of_its_theorems_slug() -> None:
    for identifier, case in stress.cases().items():
        assert case.theorem == identifier
        slug = CATALOGUE[identifier].rpartition(".")[2]
        assert case.module.__name__ == f"numerics.stress.theorems.{slug}"
