"""Stress of RA6 and RA7: faults in one side of a cell, lost digits, and what is kept of a row."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from numerics import blockwise, stress
from numerics.arrays import dtype_name
from numerics.evidence.comparison import Comparison, merged
from numerics.metrics import LowRankMetric
from numerics.stress.cell import Cell
from numerics.stress.rounding import precision
from numerics.stress.theorems import distance_cost as pair_distances
from numerics.stress.theorems import woodbury as low_rank_metric
from numerics.stress.theorems.distance_cost import Tokens
from numerics.stress.theorems.woodbury import Systems

CPU = torch.device("cpu")
DTYPES = [torch.float64, torch.float32]


def judge(
    module: Any,
    inputs: Any,
    name: str,
    dtype: torch.dtype,
    left: Callable[[Any], Any] = lambda x: x,
    right: Callable[[Any], Any] = lambda x: x,
) -> Comparison:
    """The cell's comparison with each side on inputs of its own, the bound on the honest ones."""
    cell = Cell("", name)  # the theorem is that of the module
    with blockwise.exact_products():
        sides = module.left_side(left(inputs), cell), module.right_side(right(inputs), cell)
        (found,) = merged(module.comparisons(inputs, cell, *sides, precision(dtype, CPU)))
        return found


def systems(cell: str, dtype: torch.dtype) -> Systems:
    return low_rank_metric.draw(Cell("RA6", cell, 30, 24, 1, dtype_name(dtype), "cpu", 5), CPU)[0]


def changed(s: Systems, D: Any = lambda D: D, U: Any = lambda U: U) -> Systems:
    return replace(s, metric=LowRankMetric(D(s.metric.D), U(s.metric.U)))


def without_a_column(U: torch.Tensor) -> torch.Tensor:
    return torch.cat([U[:, 1:], torch.zeros_like(U[:, :1])], 1)


SYSTEM_FAULTS: dict[str, Callable[[Systems], Systems]] = {
    "a column of U dropped": lambda s: changed(s, U=without_a_column),
    "U U^T counted twice": lambda s: changed(s, U=lambda U: U * 2**0.5),
    "D in a wrong order": lambda s: changed(s, D=lambda D: D.roll(1)),
    "D scaled by 1.01": lambda s: changed(s, D=lambda D: D * 1.01),
    "v of another row": lambda s: replace(s, v=s.v.roll(1, 0)),
    "v scaled by 1.01": lambda s: replace(s, v=s.v * 1.01),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fault", SYSTEM_FAULTS)
@pytest.mark.parametrize("cell", low_rank_metric.CELLS)
def test_a_fault_in_one_side_of_the_systems_is_rejected(
    cell: str, fault: str, dtype: torch.dtype
) -> None:
    s, spoil = systems(cell, dtype), SYSTEM_FAULTS[fault]
    assert judge(low_rank_metric, s, cell, dtype).ok
    assert not judge(low_rank_metric, s, cell, dtype, left=spoil).ok
    assert not judge(low_rank_metric, s, cell, dtype, right=spoil).ok


def test_the_textbook_form_in_float32_would_be_rejected() -> None:
    s = systems("ill-conditioned", torch.float32)
    D, U, v = s.metric.D, s.metric.U, s.v
    scaled = U / D[:, None]
    capacitance = U.T @ scaled + torch.eye(U.shape[1])
    naive = (v - torch.linalg.solve(capacitance, (v @ scaled).T).T @ U.T) / D
    with blockwise.exact_products():
        left, right = (side(s, Cell("RA6", "ill-conditioned")) for side in (
            low_rank_metric.left_side, low_rank_metric.right_side))  # fmt: skip
        wrong = replace(left, result=naive)
        model = precision(torch.float32, CPU)
        pairs = ((left, right), (wrong, right))
        honest, found = (
            merged(low_rank_metric.comparisons(s, Cell("RA6", "ill-conditioned"), *pair, model))[0]
            for pair in pairs
        )
    assert honest.ok
    assert not found.ok
    assert found.ratio > 100


def test_lost_digits_fail_the_cell_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def hopeless(*arguments: Any) -> tuple[Systems, None]:
        s, rows = honest(*arguments)
        return changed(s, D=lambda D: D * 1e-40), rows

    honest = low_rank_metric.draw
    monkeypatch.setattr(low_rank_metric, "draw", hopeless)
    record = stress.run_cell("RA6", "inverse", 8, 24, 1, "float64", "cpu", 0)
    assert record["status"] == "failed"
    assert "rounding may have destroyed the result" in record["reason"]


@pytest.mark.parametrize(("d", "r"), [(1, 1), (24, 4), (4096, 64)])
def test_the_rank_is_the_root_of_the_width(d: int, r: int) -> None:
    s, _ = low_rank_metric.draw(Cell("RA6", "inverse", 1, d, 1, "float32", "cpu", 0), CPU)
    assert s.metric.U.shape == (d, r)


@pytest.mark.slow
@pytest.mark.parametrize("cell", low_rank_metric.CELLS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_width_4096_holds_its_bound_tightly(cell: str, dtype: str) -> None:
    record = stress.run_cell("RA6", cell, 4, 4096, 1, dtype, "cpu", 0)
    assert (record["status"], record["tight"], record["k"]) == ("ok", True, 4096), record


def tokens(dtype: torch.dtype) -> Tokens:
    return pair_distances.draw(
        Cell("RA7", "query-side", 40, 24, 1, dtype_name(dtype), "cpu", 5), CPU
    )[0]


TOKEN_FAULTS: dict[str, Callable[[Tokens], Tokens]] = {
    "a column of U dropped": lambda t: replace(t, U=without_a_column(t.U.mT).mT),
    "U U^T counted twice": lambda t: replace(t, U=t.U * 2**0.5),
    "metrics of other tokens": lambda t: replace(t, D=t.D.roll(1, 0), U=t.U.roll(1, 0)),
    "one metric for all": lambda t: replace(t, D=t.D[:1].expand_as(t.D), U=t.U[:1].expand_as(t.U)),
    "diagonal left out": lambda t: replace(t, D=torch.ones_like(t.D)),
    "tokens scaled by 1.01": lambda t: replace(t, x=t.x * 1.01),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fault", TOKEN_FAULTS)
@pytest.mark.parametrize("cell", pair_distances.CELLS)
def test_a_fault_in_one_side_of_the_distances_is_rejected(
    cell: str, fault: str, dtype: torch.dtype
) -> None:
    t, spoil = tokens(dtype), TOKEN_FAULTS[fault]
    assert judge(pair_distances, t, cell, dtype).ok
    assert not judge(pair_distances, t, cell, dtype, left=spoil).ok
    assert not judge(pair_distances, t, cell, dtype, right=spoil).ok


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_origin_gives_the_same_distances(dtype: torch.dtype) -> None:
    t = tokens(dtype)
    for origin in (t.origin - 3, t.x[7], torch.zeros_like(t.origin)):
        assert judge(pair_distances, replace(t, origin=origin), "query-side", dtype).ok


def test_moving_the_queries_alone_is_rejected() -> None:
    t = tokens(torch.float64)
    few = replace(t, x=torch.cat([t.x[:1] + 1, t.x[1:]]))
    assert not judge(pair_distances, t, "query-side", torch.float64, left=lambda _: few).ok


@pytest.mark.parametrize("dtype", DTYPES)
def test_query_side_and_symmetrised_distances_differ(dtype: torch.dtype) -> None:
    t = tokens(dtype)
    with blockwise.exact_products():
        left = pair_distances.left_side(t, Cell("RA7", "query-side"))
        right = pair_distances.right_side(t, Cell("RA7", "symmetrised"))
        model = precision(dtype, CPU)
        (found,) = merged(
            pair_distances.comparisons(t, Cell("RA7", "symmetrised"), left, right, model)
        )
    assert not found.ok


@pytest.mark.parametrize("block", [2**9, 2**22])
def test_what_is_kept_of_a_row_is_its_nearest_other_and_its_farthest(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blockwise, "CPU_BLOCK", block)
    t = tokens(torch.float64)
    n = len(t.x)
    side = pair_distances.right_side(t, Cell("RA7", "query-side"))
    for i in (0, 13, n - 1):
        step = t.x[i] - t.x
        distances = step.square() @ t.D[i] + (step @ t.U[i]).square().sum(1)
        others = [j for j in range(n) if j != i]
        nearest = min(others, key=lambda j: float(distances[j]))
        farthest = max(others, key=lambda j: float(distances[j]))
        assert side.tokens[i].tolist() == [nearest, farthest]
        relative = side.result[i] / distances[[nearest, farthest]] - 1
        assert float(relative.abs().max()) < 64 * torch.finfo(torch.float64).eps
