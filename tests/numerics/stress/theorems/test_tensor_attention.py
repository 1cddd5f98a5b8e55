"""The stress case of AP6: false readouts, faults in one side, and the worst of rounding."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
import torch

from numerics import blockwise
from numerics.stress.cell import Cell
from numerics.stress.rounding import NoBound
from numerics.stress.theorems import tensor_attention
from numerics.stress.theorems.tensor_attention import Outputs, Pairs
from tests.numerics.stress.theorems.sides import CPU, Faults, Sides, drawn

U32, EXP32 = 2.0**-24, 6 * 2.0**-24
pairs = partial(drawn, "AP6", n=30, d=12, seed=3)


def double(drawn: Pairs) -> Pairs:
    return Pairs(*(part.double() for part in drawn.parts), scale=drawn.scale)


def pairings(p: Pairs) -> torch.Tensor:
    return torch.einsum("ia,ja,la->ijl", p.query, p.first_key, p.second_key)


def weighed(weights: torch.Tensor, p: Pairs) -> torch.Tensor:
    return torch.einsum("ijl,ja,la->ia", weights, p.first_value, p.second_value)


def softmax(scores: torch.Tensor) -> torch.Tensor:
    return torch.softmax(scores.flatten(1), 1).reshape(scores.shape)


def attended(drawn: Pairs) -> Outputs:
    p = double(drawn)
    return Outputs(weighed(softmax(p.scale * pairings(p)), p))


def read(drawn: Pairs) -> Outputs:
    p = double(drawn)
    kappa = pairings(p)
    totals = kappa.sum((1, 2))
    return Outputs(weighed(kappa, p) / totals[:, None], totals)


TRUE: dict[str, Callable[[Pairs], Outputs]] = {"softmax": attended, "moments": read}


def by_rows(p: Pairs) -> torch.Tensor:
    """A softmax of the second keys for every first key, the first keys with equal weights."""
    return torch.softmax(p.scale * pairings(p), 2) / p.first_key.shape[0]


def by_marginals(p: Pairs) -> torch.Tensor:
    """The product of the two marginals: what a pairing of rank one in the pair would give."""
    weights = softmax(p.scale * pairings(p))
    return weights.sum(2, keepdim=True) * weights.sum(1, keepdim=True)


FALSE: dict[str, Callable[[Pairs], torch.Tensor]] = {
    "no scale": lambda p: weighed(softmax(pairings(p)), p),
    "the order of the pair reversed": lambda p: weighed(softmax(p.scale * pairings(p)).mT, p),
    "a softmax for every first key": lambda p: weighed(by_rows(p), p),
    "the marginals multiplied": lambda p: weighed(by_marginals(p), p),
    "no softmax": lambda p: weighed(pairings(p) / pairings(p).sum((1, 2), keepdim=True), p),
    "values added": lambda p: torch.einsum(
        "ijl,jla->ia", softmax(p.scale * pairings(p)), p.first_value[:, None] + p.second_value
    ),
}  # fmt: skip
SPOILS: dict[str, Callable[[Pairs], Pairs]] = {
    "first values of other tokens": lambda p: replace(p, first_value=p.first_value.roll(1, 0)),
    "second values of other tokens": lambda p: replace(p, second_value=p.second_value.roll(1, 0)),
    "first keys of other tokens": lambda p: replace(p, first_key=p.first_key.roll(1, 0)),
    "second keys of other tokens": lambda p: replace(p, second_key=p.second_key.roll(1, 0)),
    "keys swapped": lambda p: replace(p, first_key=p.second_key, second_key=p.first_key),
    "one key for both": lambda p: replace(p, second_key=p.first_key),
    "values swapped": lambda p: replace(
        p, first_value=p.second_value, second_value=p.first_value.roll(1, 0)
    ),
    "queries of other tokens": lambda p: replace(p, query=p.query.roll(1, 0)),
    "one key dropped": lambda p: replace(
        p, second_key=torch.cat([p.second_key[:-1], p.second_key[:1]])
    ),
    "features scaled by up to 1.01": lambda p: replace(
        p, query=p.query * torch.linspace(1, 1.01, p.query.shape[1], dtype=p.query.dtype)
    ),
}  # fmt: skip
FORMULAS = [(pairs, list(blockwise.DTYPES), TRUE)]
FAULTS = [
    Faults(pairs, SPOILS),
    Faults(
        pairs,
        {key: lambda p, f=f: Outputs(f(double(p))) for key, f in FALSE.items()},
        ("softmax",), "float32", "right", results=True,
    ),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_moments_of_the_pair_are_not_those_of_its_sum(dtype: str) -> None:
    """(K^T V) + (L^T W) for the product, totals alike, and numerators that are not divided."""
    sides = pairs("moments", dtype=dtype)
    p, true = double(sides.inputs), read(sides.inputs)
    assert true.totals is not None
    first, second = p.first_key.mT @ p.first_value, p.second_key.mT @ p.second_value
    sums = p.query @ (p.first_key.sum(0) + p.second_key.sum(0))
    for wrong in (p.query @ (first + second) / true.totals[:, None],
                  true.result * true.totals[:, None]):  # fmt: skip
        found = sides.compared(Outputs(wrong, true.totals), sides.right()).values()
        assert [item.ok for item in found] == [False, True]
    _, totals = sides.compared(sides.left(), Outputs(true.result, sums)).values()
    assert not totals.ok


@pytest.mark.parametrize("n", [1, 30, 1025])
def test_tiles_hold_every_first_key_once(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blockwise, "CPU_BLOCK", 500)
    for tiles in (pairs("moments", n=n).inputs.tiles(arrays) for arrays in (1, 8)):
        assert [j for tile in tiles for j in range(n)[tile]] == list(range(n))


@pytest.mark.slow
@pytest.mark.parametrize("tile", [1, 90, 10**6])
@pytest.mark.parametrize("cell", tensor_attention.CELLS)
def test_the_size_of_tiles_and_blocks_does_not_matter(
    cell: str, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = pairs(cell)
    true = TRUE[cell](sides.inputs)
    monkeypatch.setattr(tensor_attention, "PAIRS", tile)
    for block in (360, 2**22):
        monkeypatch.setattr(blockwise, "CPU_BLOCK", block)
        assert sides.equal(sides.left(), true)
        assert sides.equal(true, sides.right())


def test_a_second_key_and_value_of_ones_leave_attention() -> None:
    sides = pairs("softmax")
    ones = torch.ones_like(sides.inputs.second_key)
    sides = sides.on(replace(sides.inputs, second_key=ones, second_value=ones))
    p = double(sides.inputs)
    single = Outputs(torch.softmax(p.query @ p.first_key.mT * p.scale, 1) @ p.first_value)
    assert sides.equal(sides.left(), single)
    assert sides.equal(sides.right(), single)


@pytest.mark.parametrize(("n", "d", "k"), [(3, 2, 9), (3, 12, 12), (60, 2, 1020), (300, 2, 900)])
def test_the_longest_sum_is_over_a_tile_of_pairs(n: int, d: int, k: int) -> None:
    sides = pairs("softmax", n=n, d=d)
    assert tensor_attention.longest_sum(sides.inputs, sides.cell) == k
    assert max(d, *(n * (tile.stop - tile.start) for tile in sides.inputs.tiles())) == k


def test_queries_beyond_the_full_number_are_a_sample_by_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn, rows = tensor_attention.draw(Cell("AP6", "softmax", 64, 6, 1, "float32", "cpu", 5), CPU)
    assert torch.equal(rows, torch.arange(64))
    assert len(drawn.query) == 64
    (sampled, rows), (_, again), (_, other) = (
        tensor_attention.draw(Cell("AP6", "softmax", 65, 6, 1, "float32", "cpu", seed), CPU)
        for seed in (5, 5, 6)
    )
    assert len(sampled.query) == len(rows.unique()) == tensor_attention.SAMPLE
    assert sampled.first_key.shape == (65, 6)
    assert torch.equal(rows, again)
    assert not torch.equal(rows, other)
    monkeypatch.setattr(tensor_attention, "QUERIES", 65)
    every, _ = tensor_attention.draw(Cell("AP6", "softmax", 65, 6, 1, "float32", "cpu", 5), CPU)
    assert torch.equal(sampled.query, every.query[rows])


def test_rows_range_from_nearly_uniform_to_nearly_one_hot() -> None:
    p = double(pairs("softmax", n=60, d=24).inputs)
    highest = softmax(p.scale * pairings(p)).flatten(1).amax(1)
    assert float(highest.min()) < 0.05
    assert float(highest.max()) > 0.95


def positive(cell: str, n: int, d: int) -> Sides:
    """A cell with positive values."""
    sides = pairs(cell, n=n, d=d)
    p = sides.inputs
    return sides.on(replace(p, first_value=p.first_value.abs(), second_value=p.second_value.abs()))


def worst_attention(drawn: Pairs, sign: int, online: bool) -> Outputs:
    """The largest outputs, or the least, that a side may compute in float32 for positive values."""
    p = double(drawn)
    m, d = p.first_key.shape
    s = p.scale * pairings(p)
    sizes = replace(p, query=p.query.abs(), first_key=p.first_key.abs(),
                    second_key=p.second_key.abs())  # fmt: skip
    off = (d + 3) * U32 * p.scale * pairings(sizes)
    tiles = len(drawn.tiles())
    terms = tensor_attention.longest_sum(drawn, Cell("AP6", "softmax")) + 2 * tiles - 1
    if online:
        below = s.amax((1, 2), keepdim=True) - s
        weight = (tiles + 1) * EXP32 + (terms + below + 3) * U32
        total = (tiles + 1) * EXP32 + terms * U32
    else:
        total = 2 * (40 * U32 + EXP32 * math.log(m)) + 2 * (m - 1) * U32
        size = torch.logsumexp(s, (1, 2), keepdim=True)
        weight = EXP32 + (2 * m + 2 * size.abs() + s.abs()) * U32
    values = torch.einsum("ja,la->jla", p.first_value, p.second_value)
    found = []
    for column in values.unbind(2):
        mean = (softmax(s) * column).sum((1, 2), keepdim=True)
        moved = s + sign * off * (column - mean).sign()
        roundings = (sign * (weight + total)).exp()
        found.append((softmax(moved) * roundings * column).sum((1, 2)))
    return Outputs(torch.stack(found, 1))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), [(2, 200), (3, 100), (12, 1), (40, 1), (24, 8)])
@pytest.mark.parametrize("online", [True, False])
@pytest.mark.parametrize("tile", [1, tensor_attention.PAIRS])
def test_the_worst_that_rounding_may_do_is_within_the_bound(
    n: int, d: int, online: bool, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensor_attention, "PAIRS", tile)
    sides = positive("softmax", n, d)
    worst = [worst_attention(sides.inputs, sign, online == (sign > 0)) for sign in (1, -1)]
    (found,) = sides.compared(*worst).values()
    assert found.ok
    assert found.ratio > 0.75


@pytest.mark.parametrize(("n", "d"), [(1, 50), (20, 3), (60, 1)])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_worst_sums_over_pairs_are_within_the_bound(n: int, d: int, sign: int) -> None:
    sides = positive("moments", n, d)
    true = read(sides.inputs)
    assert true.totals is not None
    moments, sums, every = (2 * n + 1 + d) * U32, (2 * n - 1 + d) * U32, (2 * n + d) * U32
    one = Outputs(true.result * (1 + sign * (moments + sums)), true.totals * (1 + sign * sums))
    two = Outputs(true.result * (1 - sign * 2 * every), true.totals * (1 - sign * every))
    for found in sides.compared(one, two).values():
        assert found.ok
        assert found.ratio > 0.9


def test_scores_too_large_for_the_dtype_have_no_bound() -> None:
    sides = pairs("softmax")
    large = replace(sides.inputs, query=sides.inputs.query * 1e5)
    with pytest.raises(NoBound, match="scores are too large for this dtype"):
        sides.on(large).judged()


def test_a_normaliser_that_may_be_zero_has_no_bound() -> None:
    sides = pairs("moments")
    cancelled = replace(sides.inputs, query=0 * sides.inputs.query)
    with pytest.raises(NoBound, match="a normaliser has no digits in this dtype"):
        sides.on(cancelled).judged()
