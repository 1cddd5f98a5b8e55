"""Stress of RA11: faults in one side of a cell, and clusters farther apart than allowed."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from numerics import stress
from numerics.stress.cell import Cell
from numerics.stress.theorems import rank_collapse
from numerics.stress.theorems.rank_collapse import BoundExceeded, Clusters
from tests.numerics.stress.theorems.sides import Faults, drawn

clusters = partial(drawn, "RA11", n=40, d=6)
SPOILS: dict[str, Callable[[Clusters], Clusters]] = {
    "scale forgotten": lambda c: replace(c, scale=1.0),
    "scale off by a thousandth": lambda c: replace(c, scale=c.scale * 1.001),
    "queries for keys": lambda c: replace(c, key=c.query),
    "keys of the other kind": lambda c: replace(c, key=c.key.flip(0)),
    "tokens of the other kind": lambda c: replace(c, token=c.token.flip(0)),
    "tokens scaled": lambda c: replace(c, token=c.token * 1.001),
    "kinds of other tokens": lambda c: replace(c, kinds=c.kinds.roll(1)),
}
FAULTS = [Faults(clusters, SPOILS)]


@pytest.mark.parametrize("cell", rank_collapse.CELLS)
def test_a_common_shift_of_all_tokens_is_not_seen_by_the_closed_form(cell: str) -> None:
    sides = clusters(cell, dtype="float64")
    one, two = sides.right().result, sides.right(lambda c: replace(c, token=c.token + 8.0)).result
    assert float((one - two).abs().max()) < 64 * torch.finfo(torch.float64).eps


def test_equal_kinds_attain_the_bound_and_unequal_ones_do_not() -> None:
    equal = clusters("two-clusters", dtype="float64").right()
    assert abs(equal.apart - equal.largest) <= equal.error < 1e-13
    quarter = clusters("unequal-clusters", dtype="float64").right()
    assert quarter.apart < quarter.largest - 1e6 * quarter.error


@pytest.mark.parametrize("share", [0.999, 1.001])
def test_clusters_that_miss_the_bound_fail_the_cell(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    unequal = clusters("unequal-clusters", dtype="float64")
    side = unequal.right()
    honest = rank_collapse.right_side

    def moved(c: Clusters, cell: Cell) -> Any:
        side = honest(c, cell)
        return replace(side, apart=side.apart * share)

    monkeypatch.setattr(rank_collapse, "right_side", moved)
    record = stress.run_cell("RA11", "two-clusters", 40, 6, 1, "float32", "cpu", 0)
    assert record["status"] == "failed"
    assert "tanh(Delta/4)" in record["reason"]
    # Tokens of unequal kinds may be nearer, and may not be farther, than the bound.
    far = replace(side, apart=side.largest + 1e-9)
    with pytest.raises(BoundExceeded, match=r"^clusters are .* apart for one before"):
        unequal.compared(unequal.left(), far)


@pytest.mark.parametrize(("n", "first"), [(1, 1), (2, 1), (7, 4), (40, 20)])
def test_half_of_the_tokens_are_of_each_kind(n: int, first: int) -> None:
    assert int((clusters("two-clusters", n=n).inputs.kinds == 0).sum()) == first
