"""A walk with a stationary law in closed form: softmax of a symmetric kernel, drifting on a cycle.

K_ij = exp(p_i . p_j) is symmetric, so that softmax rows K_ij / Z_i are reversible with law Z_i.
With drift e every token also passes the share e / n of the flow on to its successor i + 1 (mod n):
the flow (1 - e) K_ij / sum Z + (e / n) [j = i + 1] leaves pi_i = (1 - e) Z_i / sum Z + e / n as it
is, but runs one way. All of this holds exactly for the stored points. Code works in the dtype in
which sums are carried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from numerics import blockwise
from numerics.stress import sharding

WIDTH = 8
DRIFT = 0.5


@dataclass(frozen=True)
class KernelWalk:
    """Points p_i (n, r) and drift e: 0 or a power of two, by which products are exact."""

    points: torch.Tensor
    drift: float

    @property
    def tokens(self) -> int:
        """Number of tokens n."""
        return self.points.shape[0]

    def blocks(self, row_entries: int = 1) -> Iterator[slice]:
        """Blocks of this rank's tokens that hold about a block's worth of numbers."""
        return sharding.row_blocks(self.tokens, max(self.tokens, row_entries), self.points.device)

    def bound_blocks(self) -> Iterator[slice]:
        """Blocks for the bounds, which keep about sixteen float64 arrays of a block at once."""
        return self.blocks(16 * self.tokens)

    def successors(self, rows: slice, steps: int = 1) -> torch.Tensor:
        """The tokens (B,) that the cycle leads to from those of a block; steps = -1: comes from."""
        tokens = torch.arange(rows.start, rows.stop, device=self.points.device)
        return (tokens + steps) % self.tokens

    def score_operations(self, times: int) -> int:
        """Floating-point operations of the scores of this rank's tokens, formed so often."""
        n, width = self.points.shape
        return times * 2 * sharding.own_count(n) * n * width

    def scores(self, rows: slice) -> torch.Tensor:
        """p_i . p_j for the tokens i of a block and all j (B, n)."""
        return self.points[rows] @ self.points.mT


@dataclass(frozen=True)
class Law:
    """Walk form: log Z_i, pi_i, the shares of row i that follow kernel and cycle; all (n,)."""

    log_totals: torch.Tensor
    stationary: torch.Tensor
    kernel_share: torch.Tensor
    cycle_share: torch.Tensor


@dataclass(frozen=True)
class Flow:
    """Flow form: pi_i P_ij = (1 - e) exp(p_i . p_j - peak) / total + (e / n) [j = i + 1]."""

    peak: torch.Tensor
    total: torch.Tensor


def draw_walk(n: int, dtype: torch.dtype, source: torch.Generator, drift: float) -> KernelWalk:
    """Points in at most 8 dimensions with 1 <= |p_i|^2 <= 4, no entry so small as to be flushed."""
    points = torch.randn(n, WIDTH, generator=source, dtype=torch.float64)
    points[points.abs() < 2.0**-10] = 2.0**-10
    length = 2 ** torch.rand(n, 1, generator=source, dtype=torch.float64)
    points *= length / points.norm(dim=1, keepdim=True)
    return KernelWalk(points.to(dtype), drift)


def walk_law(walk: KernelWalk) -> Law:
    """The stationary law from the rows' log-totals, and the shares of each row."""
    n, drift = walk.tokens, walk.drift
    log_totals = walk.points.new_empty(n)
    for rows in walk.blocks():
        scores = walk.scores(rows)
        peak = scores.amax(-1, keepdim=True)
        log_totals[rows] = peak[:, 0] + blockwise.pairwise_sum((scores - peak).exp()).log()
    sharding.completed(log_totals)
    weights = (log_totals - log_totals.max()).exp()
    law = weights / blockwise.pairwise_sum(weights)
    stationary = (1 - drift) * law + drift / n
    return Law(log_totals, stationary, (1 - drift) * law / stationary, drift / n / stationary)


def walk_rows(walk: KernelWalk, law: Law, rows: slice) -> torch.Tensor:
    """Rows of exp(p_i . p_j) / Z_i, without the drift (B, n)."""
    return (walk.scores(rows) - law.log_totals[rows, None]).exp()


def total_flow(walk: KernelWalk) -> Flow:
    """The largest score and the total of the kernel relative to it."""
    peaks, sums = (walk.points.new_empty(walk.tokens) for _ in range(2))
    for rows in walk.blocks():
        peaks[rows] = walk.scores(rows).amax(1)
    peak = sharding.completed(peaks).amax()
    for rows in walk.blocks():
        sums[rows] = blockwise.pairwise_sum((walk.scores(rows) - peak).exp())
    return Flow(peak, blockwise.pairwise_sum(sharding.completed(sums)))


def flow_rows(walk: KernelWalk, flow: Flow, rows: slice) -> torch.Tensor:
    """Flows pi_i P_ij out of the tokens i of a block (B, n)."""
    found = (1 - walk.drift) * ((walk.scores(rows) - flow.peak).exp() / flow.total)
    return with_cycle(found, walk.successors(rows), walk.drift / walk.tokens)


def flow_columns(walk: KernelWalk, flow: Flow, rows: slice) -> torch.Tensor:
    """Flows pi_j P_ji into the tokens i of a block (B, n)."""
    scores = (walk.points @ walk.points[rows].mT).mT
    found = (1 - walk.drift) * ((scores - flow.peak).exp() / flow.total)
    return with_cycle(found, walk.successors(rows, -1), walk.drift / walk.tokens)


def transition_rows(walk: KernelWalk, law: Law, rows: slice) -> torch.Tensor:
    """P_ij for the tokens i of a block and all j, drift included (B, n)."""
    found = law.kernel_share[rows, None] * walk_rows(walk, law, rows)
    return with_cycle(found, walk.successors(rows), law.cycle_share[rows])


def transition_columns(walk: KernelWalk, law: Law, rows: slice) -> torch.Tensor:
    """P_ji for the tokens i of a block and all j, drift included (B, n)."""
    found = law.kernel_share * (walk.scores(rows) - law.log_totals).exp()
    before = walk.successors(rows, -1)
    return with_cycle(found, before, law.cycle_share[before])


def transition_entries(
    walk: KernelWalk, law: Law, start: torch.Tensor, end: torch.Tensor
) -> torch.Tensor:
    """P_ij at the edges (start, end) (E,)."""
    scores = (walk.points[start] * walk.points[end]).sum(-1)
    kernel = law.kernel_share[start] * (scores - law.log_totals[start]).exp()
    return kernel + law.cycle_share[start] * ((start + 1) % walk.tokens == end)


def with_cycle(rows: torch.Tensor, ends: torch.Tensor, share: torch.Tensor | float) -> torch.Tensor:
    """Rows (B, n) with `share` added to the column `ends` (B,) of each."""
    places = torch.arange(rows.shape[0], device=rows.device)
    rows[places, ends] += share
    return rows
