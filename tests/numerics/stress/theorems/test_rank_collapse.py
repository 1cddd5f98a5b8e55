"""Stress of RA11: faults in one side of a cell, and clusters farther apart than allowed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from numerics import blockwise, stress
from numerics.arrays import dtype_name
from numerics.evidence.comparison import Comparison, merged
from numerics.stress.cell import Cell
from numerics.stress.rounding import precision
from numerics.stress.theorems import rank_collapse
from numerics.stress.theorems.rank_collapse import BoundExceeded, Clusters

CPU = torch.device("cpu")
DTYPES = [torch.float64, torch.float32]


def clusters(cell: str, dtype: torch.dtype, n: int = 40) -> Clusters:
    return rank_collapse.draw(Cell("RA11", cell, n, 6, 1, dtype_name(dtype), "cpu", 5), CPU)[0]


def judge(
    c: Clusters,
    cell: str,
    dtype: torch.dtype,
    left: Callable[[Clusters], Clusters] = lambda c: c,
    right: Callable[[Clusters], Clusters] = lambda c: c,
) -> Comparison:
    """The cell's comparison with each side on inputs of its own, the bound on the honest ones."""
    with blockwise.exact_products():
        sides = (
            rank_collapse.left_side(left(c), Cell("RA11", cell)),
            rank_collapse.right_side(right(c), Cell("RA11", cell)),
        )
        (found,) = merged(
            rank_collapse.comparisons(c, Cell("RA11", cell), *sides, precision(dtype, CPU))
        )
        return found


FAULTS: dict[str, Callable[[Clusters], Clusters]] = {
    "scale forgotten": lambda c: replace(c, scale=1.0),
    "scale off by a thousandth": lambda c: replace(c, scale=c.scale * 1.001),
    "queries for keys": lambda c: replace(c, key=c.query),
    "keys of the other kind": lambda c: replace(c, key=c.key.flip(0)),
    "tokens of the other kind": lambda c: replace(c, token=c.token.flip(0)),
    "tokens scaled": lambda c: replace(c, token=c.token * 1.001),
    "kinds of other tokens": lambda c: replace(c, kinds=c.kinds.roll(1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("cell", rank_collapse.CELLS)
def test_a_fault_in_one_side_is_rejected(cell: str, fault: str, dtype: torch.dtype) -> None:
    c, spoil = clusters(cell, dtype), FAULTS[fault]
    assert judge(c, cell, dtype).ok
    assert not judge(c, cell, dtype, left=spoil).ok
    assert not judge(c, cell, dtype, right=spoil).ok


@pytest.mark.parametrize("cell", rank_collapse.CELLS)
def test_a_common_shift_of_all_tokens_is_not_seen_by_the_closed_form(cell: str) -> None:
    c = clusters(cell, torch.float64)
    one, two = (rank_collapse.right_side(part, Cell("RA11", cell)).result for part in
                (c, replace(c, token=c.token + 8.0)))  # fmt: skip
    assert float((one - two).abs().max()) < 64 * torch.finfo(torch.float64).eps


def test_equal_kinds_attain_the_bound_and_unequal_ones_do_not() -> None:
    equal = rank_collapse.right_side(
        clusters("two-clusters", torch.float64), Cell("RA11", "two-clusters")
    )
    assert abs(equal.apart - equal.largest) <= equal.error < 1e-13
    quarter = rank_collapse.right_side(
        clusters("unequal-clusters", torch.float64), Cell("RA11", "unequal-clusters")
    )
    assert quarter.apart < quarter.largest - 1e6 * quarter.error


@pytest.mark.parametrize("share", [0.999, 1.001])
def test_clusters_that_miss_the_bound_fail_the_cell(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = rank_collapse.right_side

    def moved(c: Clusters, cell: Cell) -> Any:
        side = honest(c, cell)
        return replace(side, apart=side.apart * share)

    monkeypatch.setattr(rank_collapse, "right_side", moved)
    record = stress.run_cell("RA11", "two-clusters", 40, 6, 1, "float32", "cpu", 0)
    assert record["status"] == "failed"
    assert "tanh(Delta/4)" in record["reason"]
    # Tokens of unequal kinds may be nearer, and may not be farther, than the bound.
    side = honest(clusters("unequal-clusters", torch.float64), Cell("RA11", "unequal-clusters"))
    far = replace(side, apart=side.largest + 1e-9)
    c = clusters("unequal-clusters", torch.float64)
    fused = rank_collapse.left_side(c, Cell("RA11", "unequal-clusters"))
    with pytest.raises(BoundExceeded, match=r"^clusters are .* apart for one before"):
        list(rank_collapse.comparisons(c, Cell("RA11", "unequal-clusters"), fused, far,
                                       precision(torch.float64, CPU)))  # fmt: skip


@pytest.mark.parametrize(("n", "first"), [(1, 1), (2, 1), (7, 4), (40, 20)])
def test_half_of_the_tokens_are_of_each_kind(n: int, first: int) -> None:
    assert int((clusters("two-clusters", torch.float32, n).kinds == 0).sum()) == first
