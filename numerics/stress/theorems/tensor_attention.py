"""AP6 on a device: attention to pairs (j, l) of keys, scored sum_a q_a k_ja l_la, valued v_j * w_l.

In the cell `softmax` one side pairs queries with the Khatri-Rao products of the keys, tile after
tile of pairs, and rescales its sums whenever a tile has a higher score; the other scales the
query by each first key, finds the total of every row and only then forms weights, which it applies
to the second values and then to the first. In the cell `moments` the features are positive and the
pairing has no exponential: one side reads the moments (K^T V) * (L^T W), the other forms all pairs.
Both work in the accumulation dtype, on a few queries sampled by seed: each meets all m^2 pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.rounding.roundoff import Rounded
from numerics.stress.cell import Cell
from numerics.stress.rounding import LIBRARY_EXP_ULPS, SPARE, NoBound, Precision, float64

CELLS = ("softmax", "moments")
QUERIES, SAMPLE = 64, 16
"""Queries up to which all are evaluated, and of how many there is a sample beyond."""
PAIRS = 1024


@dataclass(frozen=True)
class Pairs:
    """Stored queries (B, d), two keys (m, d) and two values (m, d), and the scale of scores."""

    query: torch.Tensor
    first_key: torch.Tensor
    second_key: torch.Tensor
    first_value: torch.Tensor
    second_value: torch.Tensor
    scale: float

    @property
    def parts(self) -> tuple[torch.Tensor, ...]:
        """The arrays, in the order above."""
        return (self.query, self.first_key, self.second_key, self.first_value, self.second_value)

    def wide(self) -> tuple[torch.Tensor, ...]:
        """The arrays in the accumulation dtype."""
        dtype = blockwise.accumulation_dtype(self.query.dtype)
        return tuple(part.to(dtype) for part in self.parts)

    def tiles(self, arrays: int = 1) -> list[slice]:
        """Runs of first keys with about PAIRS pairs, in a block even so many times over."""
        m, d = self.first_key.shape
        step = max(1, PAIRS // m)
        return [
            slice(start, min(start + step, some.stop))
            for some in blockwise.row_blocks(m, arrays * m * d, self.query.device)
            for start in range(some.start, some.stop, step)
        ]

    def blocks(self, arrays: int = 1) -> Iterator[tuple[slice, slice]]:
        """Blocks of queries, each with every tile, of so many arrays over their pairs."""
        tiles, (m, d) = self.tiles(arrays), self.first_key.shape
        entries = arrays * max(m, d) * (tiles[0].stop - tiles[0].start)
        for rows in blockwise.row_blocks(self.query.shape[0], entries, self.query.device):
            yield from ((rows, tile) for tile in tiles)


@dataclass(frozen=True)
class Outputs:
    """Outputs (B, d), and in the cell `moments` the totals they are divided by (B,)."""

    result: torch.Tensor
    totals: torch.Tensor | None = None


def draw(cell: Cell, device: torch.device) -> tuple[Pairs, torch.Tensor]:
    """Normal keys, values about 1 lest outputs average to 0, queries at sampled tokens (B,).

    A query leans towards a pair by a score from 1 to 32, log-uniformly: rows range from nearly
    uniform to nearly one-hot. In the cell `moments` features are exp(x / 2) of normal x instead.
    """
    n, d, dtype = cell.n, cell.d, cell.stored
    source = torch.Generator().manual_seed(cell.seed)
    drawn = blockwise.drawing_dtype(dtype)
    query, first, second, *values = torch.randn(5, n, d, generator=source, dtype=drawn)
    one, other = (torch.randperm(n, generator=source) for _ in range(2))
    lean = 32 ** torch.rand(n, 1, generator=source, dtype=drawn) / d**0.5
    shuffled = torch.randperm(n, generator=source)
    rows = shuffled[: n if n <= QUERIES else SAMPLE].sort().values
    if cell.name == "softmax":
        query = query / 4 + lean * first[one] * second[other]
    else:
        query, first, second = ((part / 2).exp() for part in (query, first, second))
    parts = (query[rows], first, second, *(1 + value for value in values))
    return Pairs(*(part.to(dtype).to(device) for part in parts), scale=d**-0.5), rows


def longest_sum(pairs: Pairs, cell: Cell) -> int:
    """Terms of the longest sum of either side: a tile of pairs, or the keys; at least d."""
    m, d = pairs.first_key.shape
    return max(_tile_pairs(m) if cell.name == "softmax" else m, d)


def _tile_pairs(keys: int) -> int:
    return keys * min(keys, max(1, PAIRS // keys))


def operations(pairs: Pairs, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides."""
    queries, (m, d) = pairs.query.shape[0], pairs.first_key.shape
    product = 2 * queries * m * m * d
    if cell.name == "softmax":
        return 2 * product, 3 * product
    return 2 * (2 * m * d * d + queries * d * d + queries * d), 2 * product


def left_side(pairs: Pairs, cell: Cell) -> Outputs:
    """Side one, by Khatri-Rao products with an online softmax, or by moments."""
    return _online(pairs) if cell.name == "softmax" else _from_moments(pairs)


def right_side(pairs: Pairs, cell: Cell) -> Outputs:
    """Side two, by queries scaled with each first key, over all pairs."""
    return _normalised(pairs) if cell.name == "softmax" else _from_pairs(pairs)


def _online(pairs: Pairs) -> Outputs:
    query, first, second, *values = pairs.wide()
    peak = torch.full_like(query[:, :1], -math.inf)
    total, result = torch.zeros_like(peak), torch.zeros_like(query)
    for rows, tile in pairs.blocks():
        features = _khatri_rao(first[tile], second)
        scores = (query[rows] @ features.mT).mul_(pairs.scale)
        higher = torch.maximum(peak[rows], scores.amax(1, keepdim=True))
        weights, kept = (scores - higher).exp_(), (peak[rows] - higher).exp()
        total[rows] = total[rows] * kept + weights.sum(1, keepdim=True)
        result[rows] = result[rows] * kept + weights @ _khatri_rao(values[0][tile], values[1])
        peak[rows] = higher
    return Outputs(result / total)


def _khatri_rao(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Products x_j * y_l (J m, d) of all rows, the first index outermost."""
    return (first[:, None] * second).flatten(0, 1)


def _normalised(pairs: Pairs) -> Outputs:
    query, first, second, first_value, second_value = pairs.wide()
    query = query * pairs.scale
    masses = query.new_empty(query.shape[0], first.shape[0])
    for rows, tile in pairs.blocks():
        masses[rows, tile] = torch.logsumexp(_scaled(query[rows], first[tile], second), 2)
    log_totals, result = torch.logsumexp(masses, 1), torch.zeros_like(query)
    for rows, tile in pairs.blocks():
        scores = _scaled(query[rows], first[tile], second)
        weights = scores.sub_(log_totals[rows, None, None]).exp_()
        result[rows] += _applied(weights, first_value[tile], second_value)
    return Outputs(result)


def _scaled(query: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Pairings (B, J, m) of queries scaled by first keys with the second keys."""
    scaled = (query[:, None] * first).flatten(0, 1)
    return (scaled @ second.mT).reshape(query.shape[0], first.shape[0], second.shape[0])


def _applied(weights: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Weights (B, J, m) on values (B, d): the second ones by a product, then the first."""
    moved = (weights.flatten(0, 1) @ second).reshape(*weights.shape[:2], -1)
    return (moved * first).sum(1)


def _from_moments(pairs: Pairs) -> Outputs:
    query, first, second, first_value, second_value = pairs.wide()
    moments = (first.mT @ first_value) * (second.mT @ second_value)
    totals = query @ (first.sum(0) * second.sum(0))[:, None]
    return Outputs(query @ moments / totals, totals[:, 0])


def _from_pairs(pairs: Pairs) -> Outputs:
    query, first, second, first_value, second_value = pairs.wide()
    totals, result = torch.zeros_like(query[:, 0]), torch.zeros_like(query)
    for rows, tile in pairs.blocks():
        weights = _scaled(query[rows], first[tile], second)
        totals[rows] += weights.sum(2).sum(1)
        result[rows] += _applied(weights, first_value[tile], second_value)
    return Outputs(result / totals[:, None], totals)


def comparisons(
    pairs: Pairs, cell: Cell, left: Outputs, right: Outputs, model: Precision
) -> Iterator[Comparison]:
    """The outputs, and in the cell `moments` the totals, against their bounds."""
    k = longest_sum(pairs, cell)
    if left.totals is None or right.totals is None:
        yield compare("outputs", left.result, right.result, _softmax_error(pairs, model), k)
        return
    query, first, second, *values = (model.enter(part) for part in pairs.parts)
    moments = (first.transpose(1, 0) @ values[0]) * (second.transpose(1, 0) @ values[1])
    total = query @ (first.sum(0) * second.sum(0)).reshape(-1, 1)
    one, every = query @ moments, _by_pairs(total, pairs, model)
    two = _divided(_by_pairs(one, pairs, model), every, right.totals)
    error = _divided(one, total, left.totals).error + two.error
    yield compare("readouts", left.result, right.result, error, k)
    error = (total.error + every.error)[:, 0]
    yield compare("totals", left.totals, right.totals, error, k)


def _by_pairs(moment: Rounded, pairs: Pairs, model: Precision) -> Rounded:
    """Bound of what the moments bound, summed over all pairs: pairings are positive sums, so that
    every term meets so many roundings.
    """
    m, d = pairs.first_key.shape
    terms = math.expm1(-(d + 2 * m + 4) * math.log1p(-model.wide.acc))
    largest = math.prod(1 + float(part.abs().amax()) for part in pairs.parts)
    lost = (8 * model.wide.eta + 4 * model.narrow.flush) * m * m * d * largest
    return Rounded(moment.magnitude, moment.magnitude * terms * SPARE + lost, model.wide)


def _divided(numerators: Rounded, totals: Rounded, computed: torch.Tensor) -> Rounded:
    """Bound of numerators (B, d) over totals (B, 1); NoBound where one could be 0."""
    try:
        return numerators.divide(totals, computed[:, None])
    except ValueError as error:
        raise NoBound(f"a normaliser has no digits in this dtype: {error}") from None


def _softmax_error(pairs: Pairs, model: Precision) -> torch.Tensor:
    """Bound (B, d) on the difference of both sides of the cell `softmax`."""
    exact = _Scores(pairs, model)
    log_totals, left, right = exact.totals()
    first, second = (float64(part).abs() for part in (pairs.first_value, pairs.second_value))
    found, worst = torch.zeros_like(exact.query), 0.0
    for rows, tile in pairs.blocks(8):
        scores, error = exact.tile(rows, tile)
        weights = scores.sub_(log_totals[rows, None, None]).exp_()
        off = torch.expm1(error + left[rows, None, None])
        off += torch.expm1(error + right[rows, None, None])
        worst = max(worst, float(off.amax()))
        found[rows] += _applied(off.mul_(weights), first[tile], second)
    # In float64 the weights of the bound itself are off by as much as those of the sides.
    found *= SPARE * math.exp(4 * worst * 2.0**-53 / model.wide.acc)
    underflow = exact.least * first.sum(0) * second.sum(0)
    eta = 8 * model.wide.eta * exact.keys**2 + 4 * model.narrow.flush
    return found + underflow + eta * (1 + first.amax()) * (1 + second.amax())


class _Scores:
    """Scores of pairs in float64, and errors of weights, followed in the logarithm as in AP1."""

    def __init__(self, pairs: Pairs, model: Precision) -> None:
        self.pairs, self.model, self.tiles = pairs, model, len(pairs.tiles())
        self.keys, self.width = pairs.first_key.shape
        self.query, self.first, self.second = (float64(part) for part in pairs.parts[:3])
        self.least = 16 * (self.tiles + 1) * max(model.least, model.wide.eta)

    def tile(self, rows: slice, tile: slice) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores (B, J, m) and how far computed ones may be off."""
        parts = self.query[rows], self.first[tile], self.second
        sizes, wide = [part.abs() for part in parts], self.model.wide
        # A product of three, and six roundings that scale: one factor, or the sum.
        error = _scaled(sizes[0], sizes[1], sizes[2])
        error *= self.pairs.scale * math.expm1(-(self.width + 7) * math.log1p(-wide.acc))
        largest = math.prod(1 + float(part.amax()) for part in sizes)
        error += (8 * wide.eta + 4 * self.model.narrow.flush) * self.width * largest
        return _scaled(*parts).mul_(self.pairs.scale), error

    def totals(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Logarithms of the totals and errors of weights on both sides, the scores' own apart (B,).

        Raises NoBound where they are too large.
        """
        peak = torch.full_like(self.query[:, 0], -math.inf)
        total, lost, size = (torch.zeros_like(peak) for _ in range(3))
        for rows, tile in self.pairs.blocks(8):
            scores, error = (part.flatten(1) for part in self.tile(rows, tile))
            size[rows] = torch.maximum(size[rows], (scores.abs() + error).amax(1))
            higher = torch.maximum(peak[rows], scores.amax(1))
            kept, weights = (peak[rows] - higher).exp(), (scores - higher[:, None]).exp()
            total[rows] = total[rows] * kept + weights.sum(1)
            lost[rows] = lost[rows] * kept + (weights * torch.expm1(error)).sum(1)
            peak[rows] = higher
        inherited = SPARE * torch.log1p(lost / total) + self.least * self.keys**2
        left, right = (inherited + each for each in self._roundings(size))
        if not bool((torch.maximum(left, right) < 0.5).all()):
            raise NoBound("scores are too large for this dtype: no rounding bound on softmax")
        return peak + total.log(), left, right

    def _roundings(self, size: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Of weights, totals and sums over values (B,): online, where differences of the peaks
        telescope, and by the logarithms of two sums.
        """
        acc, logs, m = self.model.wide.acc, 1 + math.log(self.keys), self.keys
        unit, exp, library = (
            -math.log1p(-u) for u in (acc, self.model.wide.exp, 2 * LIBRARY_EXP_ULPS * acc)
        )
        sums = max(_tile_pairs(m), self.width) + 3 * self.tiles + 2
        online = 2 * ((self.tiles + 1) * exp + (2 * size + sums) * unit)
        return online, 2 * (library + exp * logs) + exp + (4 * m + 3 + 10 * (size + logs)) * unit
