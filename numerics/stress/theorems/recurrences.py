"""AP5 on a device: chunked linear attention against the recurrence, one token after another.

A term of token j in the output of token t is multiplied by the decays between, added to the state
and read once: it carries at most a (t - j) + b relative roundings on either side, a and b from the
width, the chunk and the largest decay. Their sum over j is again linear attention, of absolute
values with distances as weights, and is evaluated in float64.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.pairings import recurrences as forms
from numerics.stress import sharding
from numerics.stress.cell import Cell
from numerics.stress.rounding import NoBound, Precision, float64

CELLS = ("decay", "undamped")
CHUNK = BLOCK = 64
LARGEST_DECAY = 0.125


@dataclass(frozen=True)
class Tokens:
    """Queries and keys (n, d), values (n, d), logarithms of decays (n,) or None, all stored."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    log_decay: torch.Tensor | None

    def wide(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Queries, keys and values in the accumulation dtype."""
        dtype = blockwise.accumulation_dtype(self.query.dtype)
        return self.query.to(dtype), self.key.to(dtype), self.value.to(dtype)

    def wide_decay(self) -> torch.Tensor | None:
        """The logarithms in the accumulation dtype."""
        dtype = blockwise.accumulation_dtype(self.query.dtype)
        return None if self.log_decay is None else self.log_decay.to(dtype)


@dataclass(frozen=True)
class Outputs:
    """Outputs (n, d), stored."""

    result: torch.Tensor


def draw(cell: Cell, device: torch.device) -> tuple[Tokens, None]:
    """Normal queries, keys and values; uniform decays in the cell `decay`."""
    n, d, dtype = cell.n, cell.d, cell.stored
    source = torch.Generator().manual_seed(cell.seed)
    size, drawn = d**-0.5, blockwise.drawing_dtype(dtype)

    def normal(scale: float) -> torch.Tensor:
        return (torch.randn(n, d, generator=source, dtype=drawn) * scale).to(device, dtype)

    query, key, value = normal(size), normal(1.0), normal(1.0)
    decay = -LARGEST_DECAY * torch.rand(n, generator=source, dtype=drawn)
    stored = decay.to(device, dtype) if cell.name == "decay" else None
    return Tokens(query, key, value, stored), None


def longest_sum(tokens: Tokens, cell: Cell) -> int:
    """Terms of the longest sum: all tokens."""
    return tokens.query.shape[0]


def operations(tokens: Tokens, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides, of this rank's tokens; side
    two's are products with one token's key, value and query.
    """
    n, d = tokens.query.shape
    own = sharding.own_count(n)
    chunks = [min(CHUNK, own - start) for start in range(0, own, CHUNK)]
    left = sum(2 * size * size * d + 2 * size * d * d for size in chunks)
    return 2 * left, 2 * 2 * own * d * d


def left_side(tokens: Tokens, cell: Cell) -> Outputs:
    """Side one, `numerics.pairings.recurrences.chunked`."""
    n, d = tokens.query.shape
    decay = tokens.wide_decay()

    def outputs(rows: slice) -> torch.Tensor:
        query, key, value = (part[rows] for part in tokens.wide())
        own = None if decay is None else decay[rows]
        before = sharding.received(query.new_zeros(d, d))
        read = forms.chunked(query, key, value, CHUNK, own, state=before)
        sharding.hand_over(read.state)
        return read.outputs.to(tokens.query.dtype)

    return Outputs(sharding.by_rows(outputs, n))


def right_side(tokens: Tokens, cell: Cell) -> Outputs:
    """Side two, the state of one token after another, updated in place."""
    query, key, value = tokens.wide()
    n, d = query.shape
    decay = tokens.wide_decay()
    factors = [] if decay is None else torch.exp(decay).tolist()
    result = torch.empty_like(tokens.query)
    own = sharding.own_rows(n)
    state = sharding.received(query.new_zeros(d, d))
    for start in range(own.start, own.stop, BLOCK):
        rows = slice(start, min(start + BLOCK, own.stop))
        parts = zip(*(part[rows].unbind(0) for part in (query, key, value)), strict=True)
        read = []
        for t, (q, k, v) in enumerate(parts, start):
            if factors:
                state.mul_(factors[t])
            state.addr_(k, v)
            read.append(q @ state)
        result[rows] = torch.stack(read).to(result.dtype)
    sharding.hand_over(state)
    return Outputs(sharding.completed(result))


def comparisons(
    tokens: Tokens, cell: Cell, left: Outputs, right: Outputs, model: Precision
) -> Iterator[Comparison]:
    """The outputs by blocks of tokens, against the bounds of both sides."""
    n, d = tokens.query.shape
    u, exp = model.wide.acc, model.wide.exp / model.wide.acc
    each = 2.0 if tokens.log_decay is None else 2 + exp + 1.25 * CHUNK * LARGEST_DECAY
    once = d + 2 * CHUNK + 12 + 6 * exp
    if u * once >= 0.5:
        raise NoBound(f"width {d} has no rounding bound at unit roundoff {u:.3g}")
    # (1 + u)^x - 1 <= u x exp(u x) with x = each (t - j) + once; as much again covers float64.
    outward = 2 * u * math.exp(2 * u * once)
    least = 64 * (n + d) * d * max(model.least, model.wide.eta)
    largest = (1 + tokens.key.abs().amax()) * (1 + tokens.value.abs().amax())
    for rows, size, spread in _majorants(tokens, 2 * u * each):
        one, two = left.result[rows], right.result[rows]
        reach = 1 + float64(tokens.query[rows]).abs().sum(-1, keepdim=True)
        bound = outward * (each * spread + once * size) + least * reach * float64(largest)
        if model.narrow.store != model.wide.store:
            stored = float64(one).abs() + float64(two).abs()
            bound = bound + 2 * model.narrow.store * stored + 4 * model.narrow.eta
        yield compare("outputs", one, two, bound, n, rows.start)


def _majorants(tokens: Tokens, tilt: float) -> Iterator[tuple[slice, torch.Tensor, torch.Tensor]]:
    """Sums over j of w_tj <|q_t|, |k_j|> |v_j|, and of t - j times that, by blocks of rows (B, d).

    Weights are raised by exp(tilt (t - j)). The states at a block's start hold the sums so far, and
    the distances to the token before it.
    """
    query, key, value = (float64(part).abs() for part in
                         (tokens.query, tokens.key, tokens.value))  # fmt: skip
    n, d = query.shape
    own = sharding.own_rows(n)
    size, spread = sharding.received(query.new_zeros(2, d, d))
    log_decay = query.new_zeros(n) if tokens.log_decay is None else float64(tokens.log_decay)
    for start in range(own.start, own.stop, BLOCK):
        rows = slice(start, min(start + BLOCK, own.stop))
        q, k, v, decay = query[rows], key[rows], value[rows], log_decay[rows]
        count = torch.arange(q.shape[0], dtype=q.dtype, device=q.device)
        distance = count[:, None] - count[None, :]
        weights = torch.exp(forms.segment_sums(decay) + tilt * distance)
        apart = weights * distance
        since = torch.exp(torch.cumsum(decay + tilt, 0))[:, None]
        scores, before = q @ k.T, q @ size
        yield (
            rows,
            (scores * weights) @ v + since * before,
            (scores * apart) @ v + since * (q @ spread + (count[:, None] + 1) * before),
        )
        last = since[-1]
        spread = last * (spread + q.shape[0] * size) + (k * apart[-1][:, None]).T @ v
        size = last * size + (k * weights[-1][:, None]).T @ v
    sharding.hand_over(torch.stack([size, spread]))
