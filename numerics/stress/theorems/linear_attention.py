"""AP4 on a device: attention of a finite-rank pairing, from its moments and from all n^2 pairings.

One side forms the moments phi(K)^T [V, 1] once and reads them, phi(Q) (phi(K)^T [V, 1]); the other
forms the pairings phi(Q) phi(K)^T in blocks of queries and applies them to V. In the cell `readout`
the features are positive and both sides divide by their totals; in the cell `moments` they are
signed and nothing is divided, for a normaliser might be 0. Both sides work and leave their results
in the accumulation dtype.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.rounding.roundoff import Rounded
from numerics.stress.cell import Cell
from numerics.stress.rounding import NoBound, Precision

CELLS = ("readout", "moments")


@dataclass(frozen=True)
class Features:
    """Features of queries and keys (n, d), values (n, d), all stored."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor

    def wide(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The same in the accumulation dtype."""
        dtype = blockwise.accumulation_dtype(self.query.dtype)
        return self.query.to(dtype), self.key.to(dtype), self.value.to(dtype)


@dataclass(frozen=True)
class Readouts:
    """Readouts, or numerators (n, d), and the totals they are divided by (n,)."""

    result: torch.Tensor
    totals: torch.Tensor


def draw(cell: Cell, device: torch.device) -> tuple[Features, None]:
    """Normal values; features exp(x / 2) of normal x, or 1 + x where they may have signs."""
    n, d, dtype = cell.n, cell.d, cell.stored
    source = torch.Generator().manual_seed(cell.seed)
    drawn = blockwise.drawing_dtype(dtype)
    query, key, value = (torch.randn(n, d, generator=source, dtype=drawn) for _ in range(3))
    if cell.name == "readout":
        query, key = (query / 2).exp(), (key / 2).exp()
    else:
        # Sums of terms whose signs are even would be far smaller than any bound on them.
        query, key, value = query + 1, key + 1, value + 1
    parts = (part.to(dtype).to(device) for part in (query, key, value))
    return Features(*parts), None


def longest_sum(features: Features, cell: Cell) -> int:
    """Terms of the longest sum of either side: the tokens, or the features."""
    return max(features.query.shape)


def operations(features: Features, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides."""
    n, d = features.query.shape
    return 2 * (n * d + 2 * n * d * d), 2 * 2 * n * n * d


def left_side(features: Features, cell: Cell) -> Readouts:
    """Side one, from the moments."""
    query, key, value = features.wide()
    totals = query @ key.sum(0)
    return _read(query @ (key.mT @ value), totals, cell)


def right_side(features: Features, cell: Cell) -> Readouts:
    """Side two, from the pairings of all queries with all keys, in blocks of queries."""
    query, key, value = features.wide()
    result, totals = torch.empty_like(value), torch.empty_like(value[:, 0])
    for rows in _blocks(features):
        pairings = query[rows] @ key.mT
        totals[rows] = pairings.sum(1)
        result[rows] = pairings @ value
    return _read(result, totals, cell)


def _read(numerators: torch.Tensor, totals: torch.Tensor, cell: Cell) -> Readouts:
    return Readouts(numerators / totals[:, None] if cell.name == "readout" else numerators, totals)


def _blocks(features: Features) -> Iterator[slice]:
    n, _ = features.query.shape
    return blockwise.row_blocks(n, n, features.query.device)


def comparisons(
    features: Features, cell: Cell, left: Readouts, right: Readouts, model: Precision
) -> Iterator[Comparison]:
    """Readouts and totals against their bounds, a block of queries at a time."""
    query, key, value = (
        model.enter(part) for part in (features.query, features.key, features.value)
    )
    moments, sums = key.transpose(1, 0) @ value, key.sum(0)
    k = longest_sum(features, cell)
    for rows in _blocks(features):
        read = query[rows] @ moments
        total = (query[rows] @ sums.reshape(-1, 1)).reshape(-1)
        pairings = query[rows] @ key.transpose(1, 0)
        every, each = pairings.sum(1), pairings @ value
        if cell.name == "readout":
            read = _divided(read, total.seen(left.totals[rows]), left.totals[rows])
            each = _divided(each, every.seen(right.totals[rows]), right.totals[rows])
        name = "readouts" if cell.name == "readout" else "numerators"
        error = read.error + each.error
        yield compare(name, left.result[rows], right.result[rows], error, k, rows.start)
        error = total.error + every.error
        yield compare("totals", left.totals[rows], right.totals[rows], error, k, rows.start)


def _divided(numerators: Rounded, totals: Rounded, computed: torch.Tensor) -> Rounded:
    """Bound of numerators (B, d) over totals (B,); NoBound where one could be 0."""
    try:
        return numerators.divide(totals.reshape(-1, 1), computed[:, None])
    except ValueError as error:
        raise NoBound(f"a normaliser has no digits in this dtype: {error}") from None
