"""Stress of RA6 and RA7: faults in one side of a cell, lost digits, and what is kept of a row."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from numerics import blockwise, stress
from numerics.metrics import LowRankMetric
from numerics.stress.theorems import woodbury as low_rank_metric
from numerics.stress.theorems.distance_cost import Tokens
from numerics.stress.theorems.woodbury import Systems
from tests.numerics.stress.theorems.sides import Faults, drawn

DTYPES = ["float64", "float32"]
systems, tokens = partial(drawn, "RA6", n=30, d=24), partial(drawn, "RA7", n=40, d=24)


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
TOKEN_FAULTS: dict[str, Callable[[Tokens], Tokens]] = {
    "a column of U dropped": lambda t: replace(t, U=without_a_column(t.U.mT).mT),
    "U U^T counted twice": lambda t: replace(t, U=t.U * 2**0.5),
    "metrics of other tokens": lambda t: replace(t, D=t.D.roll(1, 0), U=t.U.roll(1, 0)),
    "one metric for all": lambda t: replace(t, D=t.D[:1].expand_as(t.D), U=t.U[:1].expand_as(t.U)),
    "diagonal left out": lambda t: replace(t, D=torch.ones_like(t.D)),
    "tokens scaled by 1.01": lambda t: replace(t, x=t.x * 1.01),
}
FAULTS = [Faults(systems, SYSTEM_FAULTS), Faults(tokens, TOKEN_FAULTS)]


def test_the_textbook_form_in_float32_would_be_rejected() -> None:
    sides = systems("ill-conditioned")
    D, U, v = sides.inputs.metric.D, sides.inputs.metric.U, sides.inputs.v
    scaled = U / D[:, None]
    capacitance = U.T @ scaled + torch.eye(U.shape[1])
    naive = (v - torch.linalg.solve(capacitance, (v @ scaled).T).T @ U.T) / D
    assert sides.agree()
    (found,) = sides.compared(replace(sides.left(), result=naive), sides.right()).values()
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
    assert systems("inverse", n=1, d=d, seed=0).inputs.metric.U.shape == (d, r)


@pytest.mark.slow
@pytest.mark.parametrize("cell", low_rank_metric.CELLS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_width_4096_holds_its_bound_tightly(cell: str, dtype: str) -> None:
    record = stress.run_cell("RA6", cell, 4, 4096, 1, dtype, "cpu", 0)
    assert (record["status"], record["tight"], record["k"]) == ("ok", True, 4096), record


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_origin_gives_the_same_distances(dtype: str) -> None:
    sides = tokens("query-side", dtype=dtype)
    t = sides.inputs
    for origin in (t.origin - 3, t.x[7], torch.zeros_like(t.origin)):
        assert sides.on(replace(t, origin=origin)).agree()


def test_moving_the_queries_alone_is_rejected() -> None:
    def few(t: Tokens) -> Tokens:
        return replace(t, x=torch.cat([t.x[:1] + 1, t.x[1:]]))

    assert not tokens("query-side", dtype="float64").agree(left=few)


@pytest.mark.parametrize("dtype", DTYPES)
def test_query_side_and_symmetrised_distances_differ(dtype: str) -> None:
    left, sides = tokens("query-side", dtype=dtype).left(), tokens("symmetrised", dtype=dtype)
    assert not sides.equal(left, sides.right())


@pytest.mark.parametrize("block", [2**9, 2**22])
def test_what_is_kept_of_a_row_is_its_nearest_other_and_its_farthest(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blockwise, "CPU_BLOCK", block)
    sides = tokens("query-side", dtype="float64")
    t, side = sides.inputs, sides.right()
    n = len(t.x)
    for i in (0, 13, n - 1):
        step = t.x[i] - t.x
        distances = step.square() @ t.D[i] + (step @ t.U[i]).square().sum(1)
        others = [j for j in range(n) if j != i]
        nearest = min(others, key=lambda j: float(distances[j]))
        farthest = max(others, key=lambda j: float(distances[j]))
        assert side.tokens[i].tolist() == [nearest, farthest]
        relative = side.result[i] / distances[[nearest, farthest]] - 1
        assert float(relative.abs().max()) < 64 * torch.finfo(torch.float64).eps
