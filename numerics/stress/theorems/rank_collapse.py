"""RA11 on a device: what a layer leaves of two clusters of tokens, where its bound is attained.

Tokens are c + v or c - v, and so are queries and keys, of two kinds: n_+ and n_- of them. One side
is torch's fused attention over all n keys, as differences from what became of the first token; the
other is the closed form (p_+ - p_-) 2 v between the kinds, p_s = n_+ / (n_+ + n_- e^{-gap_s}) the
share of the keys of kind + and gap_s the difference of the two scores. Kinds of one size have
p_+ - p_- = tanh(Delta / 4), the largest that RA11 allows; kinds of other sizes stay below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.rounding.roundoff import Rounded, gamma
from numerics.stress import sharding
from numerics.stress.cell import Cell
from numerics.stress.rounding import (
    Precision,
    Scores,
    Values,
    attend,
    float64,
    library_weights,
    scores,
    values,
)

CELLS = ("two-clusters", "unequal-clusters")
WIDTH = 8
_U64 = 2.0**-53


class BoundExceeded(ArithmeticError):
    """Two clusters are farther apart after the layer than RA11 allows."""


@dataclass(frozen=True)
class Clusters:
    """The kinds (n,), 0 for + and 1 for -; of each kind the query and key (2, w), token (2, d)."""

    kinds: torch.Tensor
    query: torch.Tensor
    key: torch.Tensor
    token: torch.Tensor
    scale: float

    def every(self, part: torch.Tensor) -> torch.Tensor:
        """The rows of all tokens, as one head (1, n, .)."""
        return part[self.kinds][None]


@dataclass(frozen=True)
class Fused:
    """Side one: the outputs (1, n, d) and their differences from the first (n, d)."""

    outputs: torch.Tensor
    result: torch.Tensor


@dataclass(frozen=True)
class Closed:
    """Side two: the difference of shares p_+ - p_-, tanh(Delta/4), both with one error, and the
    differences from the first token (n, d)."""

    apart: float
    largest: float
    error: float
    result: torch.Tensor


def draw(cell: Cell, device: torch.device) -> tuple[Clusters, None]:
    """Kinds in random order, half of each or a quarter of one, opposite queries and keys."""
    n, d, dtype = cell.n, cell.d, cell.stored
    source = torch.Generator().manual_seed(cell.seed)
    drawn = blockwise.drawing_dtype(dtype)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=source, dtype=drawn)

    first = n - n // 2 if cell.name == "two-clusters" else n - n // 4
    order = torch.randperm(n, generator=source)
    kinds = (order >= first).long()
    signs = torch.tensor([[1.0], [-1.0]])
    query, key = signs * normal(1, WIDTH), signs * normal(1, WIDTH)
    # Scores of about 1: far smaller ones leave nothing, far larger ones everything.
    key = (key + query) / 2
    token = normal(1, d) + signs * normal(1, d)
    query, key, token = (part.to(dtype).to(device) for part in (query, key, token))
    return Clusters(kinds.to(device), query, key, token, WIDTH**-0.5), None


def longest_sum(clusters: Clusters, cell: Cell) -> int:
    """Terms of the longest sum of either side: the keys, or the width of a query."""
    return max(len(clusters.kinds), WIDTH)


def operations(clusters: Clusters, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides, side one's of this rank's
    rows; side two has the four scores, and their sizes.
    """
    n, (kinds, width) = len(clusters.kinds), clusters.query.shape
    left = sharding.own_count(n) * n * (width + clusters.token.shape[1])
    return 2 * left, 2 * 2 * kinds * kinds * width


def left_side(clusters: Clusters, cell: Cell) -> Fused:
    """Side one, attention of every token to every token."""
    c = clusters
    query, key, token = c.every(c.query), c.every(c.key), c.every(c.token)

    def attended(rows: slice) -> torch.Tensor:
        return blockwise.library_attention(query[:, rows], key, token, c.scale)

    outputs = sharding.by_rows(attended, len(c.kinds), 1)
    wide = outputs[0].to(blockwise.accumulation_dtype(outputs.dtype))
    return Fused(outputs, wide - wide[:1])


def right_side(clusters: Clusters, cell: Cell) -> Closed:
    """Side two, from two queries, two keys and the numbers of tokens, in float64."""
    query, key, token = (float64(part) for part in (clusters.query, clusters.key, clusters.token))
    table = query @ key.mT * clusters.scale
    gap = table[:, 0] - table[:, 1]
    ones = int(len(clusters.kinds) - clusters.kinds.sum())
    decay = torch.exp(-gap)
    shares = ones + (len(clusters.kinds) - ones) * decay
    apart = ones * (len(clusters.kinds) - ones) * (decay[1] - decay[0]) / shares.prod()
    size = (query.abs() @ key.abs().mT).max() * clusters.scale
    # The error of a gap moves a share by at most a quarter of it; the rest are 16 roundings.
    error = float(gamma(4 * WIDTH + 16, _U64) * size + 32 * _U64)
    kinds = float64(clusters.kinds)
    moved = (kinds[:1] - kinds)[:, None] * (apart * (token[0] - token[1]))
    largest = float(torch.tanh((gap[0] - gap[1]) / 4))
    return Closed(float(apart), largest, error, moved)


def comparisons(
    clusters: Clusters, cell: Cell, fused: Fused, closed: Closed, model: Precision
) -> Iterator[Comparison]:
    """The differences from the first token, a block at a time; BoundExceeded where the shares are
    farther apart than tanh(Delta/4), or by more than rounding nearer where they should attain it.
    """
    _within(clusters, cell, closed)
    c, k = clusters, longest_sum(clusters, cell)
    reference = scores(c.every(c.key), c.scale, model)
    carried = values(model.enter(c.token)[c.kinds].reshape(1, len(c.kinds), -1))
    first = _moved(clusters, slice(0, 1), reference, carried, fused, model)
    step = (float64(c.token[0]) - float64(c.token[1])).abs()
    other = (closed.error + 8 * _U64) * step + 8 * model.wide.eta
    for rows in sharding.row_blocks(len(c.kinds), len(c.kinds), c.kinds.device):
        moved = _moved(clusters, rows, reference, carried, fused, model) - first
        yield compare(
            "oscillation", fused.result[rows], closed.result[rows], moved.error + other, k,
            rows.start,
        )  # fmt: skip


def _moved(
    c: Clusters, rows: slice, reference: Scores, carried: Values, fused: Fused, model: Precision
) -> Rounded:
    """Outputs of a block, (B, d)."""
    exact = reference.rows(c.every(c.query)[:, rows])
    found = attend(library_weights(exact, model), carried, fused.outputs[:, rows], model)
    return replace(found, magnitude=found.magnitude[0], error=found.error[0])


def _within(clusters: Clusters, cell: Cell, closed: Closed) -> None:
    beyond = abs(closed.apart) - abs(closed.largest)
    n = len(clusters.kinds)
    attained = cell.name == "two-clusters" and n % 2 == 0
    if beyond > 2 * closed.error or (attained and -beyond > 2 * closed.error):
        raise BoundExceeded(
            f"clusters are {closed.apart!r} apart for one before, tanh(Delta/4) is "
            f"{closed.largest!r}"
        )
