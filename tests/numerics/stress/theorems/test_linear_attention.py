"""Faults in one side of the stress case of AP4, and a normaliser without digits."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from numerics import blockwise
from numerics.arrays import dtype_name
from numerics.evidence.comparison import Comparison, merged
from numerics.stress.cell import Cell
from numerics.stress.rounding import NoBound, precision
from numerics.stress.theorems import linear_attention
from numerics.stress.theorems.linear_attention import Features

CPU = torch.device("cpu")


def features(cell: str, dtype: torch.dtype) -> Features:
    return linear_attention.draw(Cell("AP4", cell, 50, 12, 1, dtype_name(dtype), "cpu", 3), CPU)[0]


def judge(
    cell: str,
    drawn: Features,
    left: Callable[[Features], Features] = lambda f: f,
    right: Callable[[Features], Features] = lambda f: f,
) -> list[Comparison]:
    """The comparisons with each side on features of its own, the bound on the honest ones."""
    with blockwise.exact_products():
        one = linear_attention.left_side(left(drawn), Cell("AP4", cell))
        two = linear_attention.right_side(right(drawn), Cell("AP4", cell))
        model = precision(drawn.query.dtype, CPU)
        return merged(linear_attention.comparisons(drawn, Cell("AP4", cell), one, two, model))


FAULTS: dict[str, Callable[[Features], Features]] = {
    "values of other tokens": lambda f: replace(f, value=f.value.roll(1, 0)),
    "keys of other tokens": lambda f: replace(f, key=f.key.roll(1, 0)),
    "one key left out": lambda f: replace(f, key=torch.cat([f.key[:-1], 0 * f.key[-1:]])),
    "a feature left out": lambda f: replace(
        f, query=torch.cat([f.query[:, 1:], 0 * f.query[:, :1]], 1)
    ),
    "queries and keys swapped": lambda f: replace(f, query=f.key, key=f.query),
    "values scaled by 1.01": lambda f: replace(f, value=f.value * 1.01),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("cell", linear_attention.CELLS)
def test_a_fault_in_one_side_is_rejected(cell: str, fault: str, dtype: torch.dtype) -> None:
    drawn, spoil = features(cell, dtype), FAULTS[fault]
    assert all(item.ok for item in judge(cell, drawn))
    assert not judge(cell, drawn, left=spoil)[0].ok
    assert not judge(cell, drawn, right=spoil)[0].ok


def test_readouts_of_equal_values_are_that_value() -> None:
    drawn = features("readout", torch.float64)
    equal = replace(drawn, value=torch.ones_like(drawn.value))
    read = linear_attention.left_side(equal, Cell("AP4", "readout")).result
    # 50 positive terms over their own sum: a few roundings of 50 terms and of 12 features.
    assert float((read - 1).abs().max()) < 200 * 2.0**-53


def test_a_normaliser_that_may_be_zero_has_no_bound() -> None:
    drawn = features("readout", torch.float32)
    cancelled = replace(drawn, key=torch.cat([drawn.key[:25], -drawn.key[:25]]))
    with pytest.raises(NoBound, match="a normaliser has no digits in this dtype"):
        judge("readout", cancelled)
