"""The stress case of AP6: false readouts, faults in one side, and the worst of rounding."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from numerics import blockwise
from numerics.arrays import dtype_name
from numerics.evidence.comparison import Comparison, merged
from numerics.stress.cell import Cell
from numerics.stress.rounding import NoBound, precision
from numerics.stress.theorems import tensor_attention
from numerics.stress.theorems.tensor_attention import Outputs, Pairs

CPU = torch.device("cpu")
U32, EXP32 = 2.0**-24, 6 * 2.0**-24


def pairs(cell: str, dtype: torch.dtype = torch.float32, n: int = 30, d: int = 12) -> Pairs:
    return tensor_attention.draw(Cell("AP6", cell, n, d, 1, dtype_name(dtype), "cpu", 3), CPU)[0]


def left(drawn: Pairs, cell: str) -> Outputs:
    with blockwise.exact_products():
        return tensor_attention.left_side(drawn, Cell("AP6", cell))


def right(drawn: Pairs, cell: str) -> Outputs:
    with blockwise.exact_products():
        return tensor_attention.right_side(drawn, Cell("AP6", cell))


def judge(cell: str, drawn: Pairs, one: Outputs, two: Outputs) -> list[Comparison]:
    """The comparisons of two results, by the bound for the pairs that were drawn."""
    model = precision(drawn.query.dtype, CPU)
    return merged(tensor_attention.comparisons(drawn, Cell("AP6", cell), one, two, model))


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


@pytest.mark.parametrize("dtype", list(blockwise.DTYPES))
@pytest.mark.parametrize("cell", tensor_attention.CELLS)
def test_either_side_is_what_the_formula_says(cell: str, dtype: str) -> None:
    drawn = pairs(cell, blockwise.DTYPES[dtype])
    true = TRUE[cell](drawn)
    assert all(item.ok for item in judge(cell, drawn, left(drawn, cell), true))
    assert all(item.ok for item in judge(cell, drawn, true, right(drawn, cell)))


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


@pytest.mark.parametrize("false", FALSE)
def test_a_false_formula_is_rejected(false: str) -> None:
    drawn = pairs("softmax")
    wrong = Outputs(FALSE[false](double(drawn)))
    (found,) = judge("softmax", drawn, left(drawn, "softmax"), wrong)
    assert found.finite
    assert not found.ok, found


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_moments_of_the_pair_are_not_those_of_its_sum(dtype: torch.dtype) -> None:
    """(K^T V) + (L^T W) for the product, totals alike, and numerators that are not divided."""
    drawn = pairs("moments", dtype)
    p, true = double(drawn), read(drawn)
    assert true.totals is not None
    first, second = p.first_key.mT @ p.first_value, p.second_key.mT @ p.second_value
    sums = p.query @ (p.first_key.sum(0) + p.second_key.sum(0))
    readouts = [Outputs(p.query @ (first + second) / true.totals[:, None], true.totals),
                Outputs(true.result * true.totals[:, None], true.totals)]  # fmt: skip
    for wrong in readouts:
        assert [item.ok for item in judge("moments", drawn, wrong, right(drawn, "moments"))] == [
            False,
            True,
        ]
    wrong = Outputs(true.result, sums)
    _, totals = judge("moments", drawn, left(drawn, "moments"), wrong)
    assert not totals.ok


FAULTS: dict[str, Callable[[Pairs], Pairs]] = {
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


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("cell", tensor_attention.CELLS)
def test_a_fault_in_one_side_is_rejected(cell: str, fault: str, dtype: torch.dtype) -> None:
    drawn = pairs(cell, dtype)
    spoilt = FAULTS[fault](drawn)
    assert not judge(cell, drawn, left(spoilt, cell), right(drawn, cell))[0].ok
    assert not judge(cell, drawn, left(drawn, cell), right(spoilt, cell))[0].ok


@pytest.mark.parametrize("n", [1, 30, 1025])
def test_tiles_hold_every_first_key_once(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blockwise, "CPU_BLOCK", 500)
    for tiles in (pairs("moments", n=n).tiles(arrays) for arrays in (1, 8)):
        assert [j for tile in tiles for j in range(n)[tile]] == list(range(n))


@pytest.mark.slow
@pytest.mark.parametrize("tile", [1, 90, 10**6])
@pytest.mark.parametrize("cell", tensor_attention.CELLS)
def test_the_size_of_tiles_and_blocks_does_not_matter(
    cell: str, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = pairs(cell)
    true = TRUE[cell](drawn)
    monkeypatch.setattr(tensor_attention, "PAIRS", tile)
    for block in (360, 2**22):
        monkeypatch.setattr(blockwise, "CPU_BLOCK", block)
        assert all(item.ok for item in judge(cell, drawn, left(drawn, cell), true))
        assert all(item.ok for item in judge(cell, drawn, true, right(drawn, cell)))


def test_a_second_key_and_value_of_ones_leave_attention() -> None:
    drawn = pairs("softmax")
    ones = torch.ones_like(drawn.second_key)
    drawn = replace(drawn, second_key=ones, second_value=ones)
    p = double(drawn)
    single = torch.softmax(p.query @ p.first_key.mT * p.scale, 1) @ p.first_value
    assert judge("softmax", drawn, left(drawn, "softmax"), Outputs(single))[0].ok
    assert judge("softmax", drawn, right(drawn, "softmax"), Outputs(single))[0].ok


@pytest.mark.parametrize(("n", "d", "k"), [(3, 2, 9), (3, 12, 12), (60, 2, 1020), (300, 2, 900)])
def test_the_longest_sum_is_over_a_tile_of_pairs(n: int, d: int, k: int) -> None:
    drawn = pairs("softmax", n=n, d=d)
    assert tensor_attention.longest_sum(drawn, Cell("AP6", "softmax")) == k
    assert max(d, *(n * (tile.stop - tile.start) for tile in drawn.tiles())) == k


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
    drawn = double(pairs("softmax", n=60, d=24))
    highest = softmax(drawn.scale * pairings(drawn)).flatten(1).amax(1)
    assert float(highest.min()) < 0.05
    assert float(highest.max()) > 0.95


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
    drawn = pairs("softmax", n=n, d=d)
    drawn = replace(drawn, first_value=drawn.first_value.abs(),
                    second_value=drawn.second_value.abs())  # fmt: skip
    sides = [worst_attention(drawn, sign, online == (sign > 0)) for sign in (1, -1)]
    (found,) = judge("softmax", drawn, sides[0], sides[1])
    assert found.ok
    assert found.ratio > 0.75


@pytest.mark.parametrize(("n", "d"), [(1, 50), (20, 3), (60, 1)])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_worst_sums_over_pairs_are_within_the_bound(n: int, d: int, sign: int) -> None:
    drawn = pairs("moments", n=n, d=d)
    drawn = replace(drawn, first_value=drawn.first_value.abs(),
                    second_value=drawn.second_value.abs())  # fmt: skip
    true = read(drawn)
    assert true.totals is not None
    moments, sums, every = (2 * n + 1 + d) * U32, (2 * n - 1 + d) * U32, (2 * n + d) * U32
    one = Outputs(true.result * (1 + sign * (moments + sums)), true.totals * (1 + sign * sums))
    two = Outputs(true.result * (1 - sign * 2 * every), true.totals * (1 - sign * every))
    for found in judge("moments", drawn, one, two):
        assert found.ok
        assert found.ratio > 0.9


def test_scores_too_large_for_the_dtype_have_no_bound() -> None:
    drawn = pairs("softmax")
    large = replace(drawn, query=drawn.query * 1e5)
    with pytest.raises(NoBound, match="scores are too large for this dtype"):
        judge("softmax", large, left(large, "softmax"), right(large, "softmax"))


def test_a_normaliser_that_may_be_zero_has_no_bound() -> None:
    drawn = pairs("moments")
    cancelled = replace(drawn, query=0 * drawn.query)
    with pytest.raises(NoBound, match="a normaliser has no digits in this dtype"):
        judge("moments", cancelled, left(cancelled, "moments"), right(cancelled, "moments"))
