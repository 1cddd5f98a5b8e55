"""The bounds of AP4 and AP7 against sides that are as wrong as their roundings allow.

Of positive inputs every intermediate result is positive, so that k roundings by u in one direction
move it by (1 + u)^k. Side one is moved up so, side two down, each by the roundings that its terms
meet: the bound must hold this, or it is no bound, and by little more, or it shows little.
"""

import pytest
import torch

from numerics import blockwise
from numerics.arrays import dtype_name
from numerics.evidence.comparison import Comparison
from numerics.pairings.features import taylor_dimension, taylor_features
from numerics.stress.cell import Cell
from numerics.stress.rounding import precision
from numerics.stress.theorems import feature_maps as taylor_pairing
from numerics.stress.theorems import linear_attention
from numerics.stress.theorems.feature_maps import Numerators, Tokens
from numerics.stress.theorems.linear_attention import Features, Readouts
from tests.numerics.stress.theorems.sides import CPU, Sides

U = 2.0**-24
"""Both dtypes below accumulate in float32."""
DTYPES = [torch.float32, torch.bfloat16]
N, D = 40, 6
NEARLY = 0.97
"""The slack of a bound that counts every rounding is what float64 and powers of 1 + u need."""


def drawn(n: int, d: int, dtype: torch.dtype) -> list[torch.Tensor]:
    source = torch.Generator().manual_seed(4)
    return [(0.5 + torch.rand(n, d, generator=source)).to(dtype) for _ in range(3)]


def worst_readouts(cell: str, features: Features, more: int = 0) -> list[Comparison]:
    """AP4's comparisons, the sides moved by n + d roundings and `more`, and once by the quotient's
    where one is taken."""
    query, key, value = (part.double() for part in (features.query, features.key, features.value))
    n, d = query.shape
    numerators, totals = query @ (key.mT @ value), query @ key.sum(0)
    exact = numerators / totals[:, None] if cell == "readout" else numerators
    # A total is a sum of n terms, whose n - 1 additions are rounded, read by a product over d.
    apart = (n + d + more) + (n - 1 + d + 1 if cell == "readout" else 0)
    sides = [
        Readouts(exact * (1 + sign * U) ** apart, totals * (1 + sign * U) ** (n - 1 + d))
        for sign in (1, -1)
    ]
    stored = Cell("AP4", cell, dtype=dtype_name(features.query.dtype))
    return list(Sides(stored, features).compared(*sides).values())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cell", linear_attention.CELLS)
def test_readouts_as_wrong_as_rounding_allows_are_just_within_their_bound(
    cell: str, dtype: torch.dtype
) -> None:
    features = Features(*drawn(N, D, dtype))
    result, totals = worst_readouts(cell, features)
    assert (result.name, totals.name) == (
        "readouts" if cell == "readout" else "numerators", "totals",
    )  # fmt: skip
    assert NEARLY <= result.ratio <= 1
    assert NEARLY <= totals.ratio <= 1
    beyond, _ = worst_readouts(cell, features, more=N // 4)
    assert beyond.ratio > 1


def numerators(tokens: Tokens, one: float) -> torch.Tensor:
    """Numerators from scores where every rounding multiplies by `one`: d in a score, one each in
    its square, in the half of that and in both sums, n in the sum over the keys."""
    query, key, value = (part.double() for part in (tokens.query, tokens.key, tokens.value))
    scores = (query @ key.mT) * one**D
    pairings = (1 + scores) * one**2 + scores * scores / 2 * one**3
    return (pairings @ value) * one**N


@pytest.mark.parametrize("rows", [N, 16, 8])
@pytest.mark.parametrize("dtype", DTYPES)
def test_numerators_as_wrong_as_rounding_allows_are_just_within_their_bound(
    rows: int, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the blocks that the moments are summed in."""
    width = taylor_dimension(D, 2)
    monkeypatch.setattr(blockwise, "CPU_BLOCK", 2 * width * rows)
    tokens = Tokens(*drawn(N, D, dtype))
    sides = Sides(Cell("AP7", "degree-2", dtype=dtype_name(dtype)), tokens)
    blocks = -(-N // rows)
    roundings = 2 * taylor_pairing.FEATURE_ROUNDINGS + rows + blocks + width

    def compared(more: int) -> Comparison:
        one = Numerators(numerators(tokens, 1.0) * (1 + U) ** (roundings + more))
        two = Numerators(numerators(tokens, 1 - U))
        (found,) = sides.compared(one, two).values()
        return found

    assert NEARLY <= compared(0).ratio <= 1
    assert compared(N // 2).ratio > 1


def test_features_are_within_their_bound_of_those_in_float64() -> None:
    """8 roundings are counted; eager float32 makes at most 3, where a coordinate is squared."""
    tokens = Tokens(*drawn(400, D, torch.float32))
    bound = taylor_pairing._features(tokens.key, precision(torch.float32, CPU))
    found = taylor_features(tokens.key, 2).double()
    ratio = float(((found - taylor_features(tokens.key.double(), 2)).abs() / bound.error).max())
    assert 0.1 < ratio <= 0.5


@pytest.mark.parametrize("module", [linear_attention, taylor_pairing])
def test_inputs_in_float64_have_more_digits_than_float32(module) -> None:
    for cell in module.CELLS:
        inputs, _ = module.draw(Cell("", cell, 9, 4, 1, "float64", "cpu", 0), CPU)
        for part in (inputs.query, inputs.key, inputs.value):
            assert (part != part.float().double()).double().mean() > 0.9
