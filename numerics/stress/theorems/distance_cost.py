"""RA7 on a device: all n^2 distances in per-token metrics, by products and by differences.

One side forms r + 2 matrix products of tokens moved by a common origin, the other D and U^T at the
explicit differences; both in the accumulation dtype, in blocks of queries. What is kept of a row is
its nearest other token's distance and its farthest, and which tokens these are: two rows of
distances that agree within a bound have minima that agree within the larger of the bounds where the
minima lie, and so for maxima.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.metrics.low_rank import LowRankMetric, pair_distances2
from numerics.rounding.roundoff import Rounded
from numerics.stress import sharding
from numerics.stress.cell import Cell
from numerics.stress.rounding import Precision, float64

CELLS = ("query-side", "symmetrised")
RANK = 8


@dataclass(frozen=True)
class Tokens:
    """Metrics D (n, d), U (n, d, r), tokens x (n, d) and an origin (d,), in the stored dtype."""

    D: torch.Tensor
    U: torch.Tensor
    x: torch.Tensor
    origin: torch.Tensor


@dataclass(frozen=True)
class Extremes:
    """The nearest and the farthest distance of every token (n, 2), and the tokens there (n, 2)."""

    result: torch.Tensor
    tokens: torch.Tensor


def draw(cell: Cell, device: torch.device) -> tuple[Tokens, None]:
    """Tokens around an offset as large as their spread, half of them in close pairs."""
    n, d, dtype = cell.n, cell.d, cell.stored
    source = torch.Generator().manual_seed(cell.seed)
    drawn = blockwise.drawing_dtype(dtype)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=source, dtype=drawn)

    x, half = 1 + normal(n, d), n // 4
    x[half : 2 * half] = x[:half] + normal(half, d) / 64
    D = 4 ** (torch.rand(n, d, generator=source, dtype=drawn) - 0.5)
    U, origin = normal(n, d, RANK) / 2, torch.ones(d)
    return Tokens(*(part.to(dtype).to(device) for part in (D, U, x, origin))), None


def longest_sum(tokens: Tokens, cell: Cell) -> int:
    """Terms of the longest sum of either side."""
    return max(tokens.x.shape[1], RANK)


def _blocks(tokens: Tokens) -> Iterator[slice]:
    n, d = tokens.x.shape
    return sharding.row_blocks(n, n * max(d, RANK), tokens.x.device)


def _accumulated(tokens: Tokens) -> Tokens:
    dtype = blockwise.accumulation_dtype(tokens.x.dtype)
    return Tokens(*(part.to(dtype) for part in (tokens.D, tokens.U, tokens.x, tokens.origin)))


def operations(tokens: Tokens, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides, of this rank's rows."""
    n, d, r = tokens.U.shape
    product = 2 * sharding.own_count(n) * n * d * (2 if cell.name == "symmetrised" else 1)
    return (r + 2) * product, r * product


def left_side(tokens: Tokens, cell: Cell) -> Extremes:
    """Side one, r + 2 products a block."""
    t = _accumulated(tokens)

    def distances(rows: slice) -> torch.Tensor:
        own = LowRankMetric(t.D[rows], t.U[rows])
        found = pair_distances2(own, t.x[rows], t.x, t.origin)
        if cell.name == "symmetrised":
            found = (found + pair_distances2(every, t.x, t.x[rows], t.origin).T) / 2
        return found

    every = LowRankMetric(t.D, t.U)
    return extremes(tokens.x, _blocks(tokens), distances)


def right_side(tokens: Tokens, cell: Cell) -> Extremes:
    """Side two, explicit differences."""
    t = _accumulated(tokens)

    def distances(rows: slice) -> torch.Tensor:
        few, n = t.x[rows], len(t.x)
        own = LowRankMetric(t.D[rows], t.U[rows])
        found = own.distance2(
            few[:, None].expand(-1, n, -1).contiguous(), t.x.expand(len(few), -1, -1).contiguous()
        )
        if cell.name == "symmetrised":
            back = every.distance2(
                t.x[:, None].expand(-1, len(few), -1).contiguous(),
                few.expand(n, -1, -1).contiguous(),
            )
            found = (found + back.T) / 2
        return found

    every = LowRankMetric(t.D, t.U)
    return extremes(tokens.x, _blocks(tokens), distances)


def extremes(
    x: torch.Tensor, blocks: Iterable[slice], distances: Callable[[slice], torch.Tensor]
) -> Extremes:
    """Least and largest entries of the rows, a token's distance from itself apart."""
    values, places = [], []
    n = len(x)
    for rows in blocks:
        block = distances(rows)
        largest, last = block.max(1)
        if n > 1:
            itself = torch.arange(rows.start, rows.stop, device=block.device)[:, None]
            block.scatter_(1, itself, torch.inf)
        least, first = block.min(1)
        values.append(torch.stack([least, largest], 1))
        places.append(torch.stack([first, last], 1))
    own = torch.cat(values), torch.cat(places)
    return Extremes(*(sharding.by_rows(lambda _, part=part: part, n) for part in own))


def comparisons(
    tokens: Tokens, cell: Cell, left: Extremes, right: Extremes, model: Precision
) -> Iterator[Comparison]:
    """The extremes against the larger bound of the pairs at which the sides found them."""
    k, columns = longest_sum(tokens, cell), []
    for column in range(2):
        at_left, at_right = (
            _pair_bound(tokens, cell, side.tokens[:, column], model) for side in (left, right)
        )
        columns.append(torch.maximum(at_left, at_right))
    yield compare("distances", left.result, right.result, torch.stack(columns, 1), k)


def _pair_bound(tokens: Tokens, cell: Cell, keys: torch.Tensor, model: Precision) -> torch.Tensor:
    """Bound (n,) on the difference of both sides at one key a query."""
    blocks = []
    n, d = tokens.x.shape
    for rows in sharding.row_blocks(n, d * RANK, tokens.x.device):
        x, y = tokens.x[rows], tokens.x[keys[rows]]
        found = _both(tokens.D[rows], tokens.U[rows], x, y, tokens.origin, model)
        if cell.name == "symmetrised":
            other = keys[rows]
            back = _both(tokens.D[other], tokens.U[other], y, x, tokens.origin, model)
            half = model.enter(torch.full_like(tokens.x[:1, 0], 0.5))
            found = tuple(half * (one + two) for one, two in zip(found, back, strict=True))
        blocks.append(found[0].error + found[1].error)
    return sharding.by_rows(lambda _: torch.cat(blocks), n)


def _both(
    D: torch.Tensor, U: torch.Tensor, x: torch.Tensor, y: torch.Tensor, o: torch.Tensor,
    model: Precision,
) -> tuple[Rounded, Rounded]:  # fmt: skip
    """The distances of B pairs by products and by differences, replayed."""
    metric, columns, query, key = (model.enter(part) for part in (D, U, x, y))
    count, d = x.shape
    step = query - key
    exact = torch.einsum("bd,bdr->br", float64(x) - float64(y), float64(U))
    along = (step.reshape(count, 1, d) @ columns).reshape(count, RANK).seen(exact)
    differences = (metric * (step * step)).sum(1) + (along * along).sum(1)
    origin = model.enter(o[None])
    query, key = query - origin, key - origin
    weighted = metric * query
    cross = (weighted * key).sum(1)
    products = (weighted * query).sum(1) - (cross + cross) + (metric * (key * key)).sum(1)
    for c in range(RANK):
        column = columns[:, :, c]
        apart = ((column * query).sum(1) - (column * key).sum(1)).seen(exact[:, c])
        products = products + apart * apart
    return products, differences
