"""AP7 on a device: attention by the Taylor polynomial of exp, from its features and from scores.

One side reads moments of the features of degree at most 2 (`taylor_features`),
phi(Q) (phi(K)^T V), without a score; the other forms scores s = <q, k> in blocks of queries and
applies 1 + s + s^2 / 2. Both are numerators: the polynomial is positive, and the readout is the
quotient of two of them. Both sides work and leave their results in the accumulation dtype.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.pairings.features import LARGEST_DIMENSION, taylor_dimension, taylor_features
from numerics.rounding.roundoff import Rounded, gamma
from numerics.stress.cell import Cell
from numerics.stress.rounding import NoBound, Precision, float64

CELLS = ("degree-2",)
DEGREE = 2
FEATURE_ROUNDINGS = 8
"""Roundings of a feature: two coordinates over a root, itself rounded, and their product."""


@dataclass(frozen=True)
class Tokens:
    """Queries, keys and values (n, d), stored."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor

    def wide(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The same in the accumulation dtype."""
        dtype = blockwise.accumulation_dtype(self.query.dtype)
        return self.query.to(dtype), self.key.to(dtype), self.value.to(dtype)


@dataclass(frozen=True)
class Numerators:
    """sum_j T_2(<q_i, k_j>) v_j (n, d)."""

    result: torch.Tensor


def draw(cell: Cell, device: torch.device) -> tuple[Tokens, None]:
    """Entries about 1, so that sums do not cancel, and scores about 1.

    Raises NoBound for widths with too many features.
    """
    n, d, dtype = cell.n, cell.d, cell.stored
    if taylor_dimension(d, DEGREE) > LARGEST_DIMENSION:
        raise NoBound(f"width {d} has more than {LARGEST_DIMENSION} features of degree {DEGREE}")
    source = torch.Generator().manual_seed(cell.seed)
    drawn = blockwise.drawing_dtype(dtype)
    query, key, value = (1 + torch.randn(n, d, generator=source, dtype=drawn) / 2 for _ in range(3))
    # No feature so small that it could be lost: a product of two is a normal number.
    query, key, value = (x.where(x.abs() >= 2.0**-10, 2.0**-10) for x in (query / d, key, value))
    parts = (part.to(dtype).to(device) for part in (query, key, value))
    return Tokens(*parts), None


def longest_sum(tokens: Tokens, cell: Cell) -> int:
    """Terms of the longest sum of either side: the tokens, or the features."""
    n, d = tokens.query.shape
    return max(n, taylor_dimension(d, DEGREE))


def operations(tokens: Tokens, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides."""
    n, d = tokens.query.shape
    return 2 * 2 * n * _width(tokens) * d, 2 * 2 * n * n * d


def left_side(tokens: Tokens, cell: Cell) -> Numerators:
    """Side one, from the moments of the features."""
    query, key, value = tokens.wide()
    moments = value.new_zeros(_width(tokens), value.shape[1])
    for rows in _feature_blocks(tokens):
        moments += taylor_features(key[rows], DEGREE).mT @ value[rows]
    result = torch.empty_like(value)
    for rows in _feature_blocks(tokens):
        result[rows] = taylor_features(query[rows], DEGREE) @ moments
    return Numerators(result)


def right_side(tokens: Tokens, cell: Cell) -> Numerators:
    """Side two, from the scores of all queries with all keys, in blocks of queries."""
    query, key, value = tokens.wide()
    result = torch.empty_like(value)
    for rows in _score_blocks(tokens):
        scores = query[rows] @ key.mT
        result[rows] = (1 + scores + scores * scores * 0.5) @ value
    return Numerators(result)


def _width(tokens: Tokens) -> int:
    return taylor_dimension(tokens.query.shape[1], DEGREE)


def _feature_blocks(tokens: Tokens) -> Iterator[slice]:
    # The columns of a block are made one by one and then stacked.
    return blockwise.row_blocks(tokens.query.shape[0], 2 * _width(tokens), tokens.query.device)


def _score_blocks(tokens: Tokens) -> Iterator[slice]:
    n, _ = tokens.query.shape
    return blockwise.row_blocks(n, max(n, _width(tokens)), tokens.query.device)


def comparisons(
    tokens: Tokens, cell: Cell, left: Numerators, right: Numerators, model: Precision
) -> Iterator[Comparison]:
    """The numerators against their bounds, a block of queries at a time."""
    k = longest_sum(tokens, cell)
    query, key, value = (model.enter(part) for part in (tokens.query, tokens.key, tokens.value))
    moments = _moments(tokens, value, model)
    for rows in _score_blocks(tokens):
        one = _features(tokens.query[rows], model) @ moments
        scores = query[rows] @ key.transpose(1, 0)
        ones = model.enter(torch.ones_like(tokens.query[:1, :1]))
        half = model.enter(torch.full_like(tokens.query[:1, :1], 0.5))
        two = (ones + scores + scores * scores * half) @ value
        error = one.error + two.error
        yield compare("numerators", left.result[rows], right.result[rows], error, k, rows.start)


def _moments(tokens: Tokens, value: Rounded, model: Precision) -> Rounded:
    """Bound of the moments: a term is summed in its block, whose sum meets those of the others."""
    n, _ = tokens.query.shape
    blocks = list(_feature_blocks(tokens))
    roundings = blocks[0].stop + len(blocks)
    magnitude, carried = 0.0, 0.0
    for rows in blocks:
        features = _features(tokens.key[rows], model)
        magnitude = magnitude + features.computed.mT @ value.magnitude[rows]
        carried = carried + features.error.mT @ value.magnitude[rows]
    error = carried + gamma(roundings, model.wide.acc) * magnitude
    # These sums are themselves rounded, in float64 and in as many steps.
    error = error * (1 + 4 * gamma(roundings + 8, 2.0**-53))
    magnitude = magnitude * (1 + 2 * gamma(roundings + 8, 2.0**-53))
    return Rounded(magnitude, error + 4 * n * model.wide.eta, model.wide)


def _features(stored: torch.Tensor, model: Precision) -> Rounded:
    """Bound of the features of stored tokens (B, d)."""
    size = taylor_features(float64(stored).abs(), DEGREE) * (1 + 2.0**-40)
    error = gamma(FEATURE_ROUNDINGS, model.wide.acc) * size + 4 * model.wide.eta
    return Rounded(size, error, model.wide)
