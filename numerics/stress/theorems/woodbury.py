"""RA6 on a device: G^-1 v for G = diag(D) + U U^T by two routes, each with a bound of its own.

One side is LowRankMetric.solve, from a QR factorisation, stored in the dtype of the cell; the other
is the textbook form D^-1 (v - U y) with (I + U^T D^-1 U) y = U^T D^-1 v by Cholesky, refined once,
in float64 and on the CPU where the device has none. The errors of both follow from their residuals.
Ranks are the whole part of sqrt(d): 64 at d = 4096.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.metrics.low_rank import LowRankMetric
from numerics.stress.cell import Cell
from numerics.stress.rounding import Precision, float64

CELLS = ("inverse", "ill-conditioned")


@dataclass(frozen=True)
class Systems:
    """One metric D (d,), U (d, r) and n right sides v (n, d)."""

    metric: LowRankMetric
    v: torch.Tensor


@dataclass(frozen=True)
class Solved:
    """Solutions (n, d), and a bound on their error (n, d), float64."""

    result: torch.Tensor
    bound: torch.Tensor


def draw(cell: Cell, device: torch.device) -> tuple[Systems, None]:
    """D of condition 100, or of 1e12 (1e8 in float16, which has no more); half of v in range U."""
    n, d, dtype = cell.n, cell.d, cell.stored
    source = torch.Generator().manual_seed(cell.seed)
    decades = 2.0 if cell.name == "inverse" else 8.0 if dtype == torch.float16 else 12.0

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=source, dtype=torch.float64)

    diagonal = 10 ** torch.linspace(-decades / 2, decades / 2, d, dtype=torch.float64)
    diagonal = diagonal[torch.randperm(d, generator=source)]
    columns = normal(d, math.isqrt(d))
    v = diagonal.sqrt() * normal(n, d) + normal(n, math.isqrt(d)) @ columns.T
    D, U, right = (part.to(dtype).to(device) for part in (diagonal, columns, v))
    return Systems(LowRankMetric(D, U), right), None


def longest_sum(systems: Systems, cell: Cell) -> int:
    """Terms of the longest sum of either side."""
    return max(systems.metric.U.shape)


def _blocks(systems: Systems) -> Iterator[slice]:
    n, _ = systems.v.shape
    return blockwise.row_blocks(n, max(systems.metric.U.shape), systems.v.device)


def operations(systems: Systems, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides, without factorisations and
    triangular solutions.
    """
    n, (d, r) = systems.v.shape[0], systems.metric.U.shape
    # Two solutions, the residuals between them, and the bound: eleven products of n x d x r.
    both = 11 * n * d * r
    return 2 * (both + 4 * n * r * r), 2 * (both + r * d * r)


def left_side(systems: Systems, cell: Cell) -> Solved:
    """Side one, LowRankMetric.solve with the bound that it returns; NoDigits fails the cell."""
    parts = [systems.metric.solve_with_bound(systems.v[rows]) for rows in _blocks(systems)]
    return Solved(torch.cat([x for x, _ in parts]), torch.cat([bound for _, bound in parts]))


def right_side(systems: Systems, cell: Cell) -> Solved:
    """Side two, D^-1 (v - U y) refined once, with the bound that follows from its residuals."""
    D, U, v = (float64(part) for part in (systems.metric.D, systems.metric.U, systems.v))
    metric, scaled = LowRankMetric(D, U), U / D[:, None]
    factor = torch.linalg.cholesky(U.T @ scaled + torch.eye(U.shape[1]).to(U))

    def solved(p: torch.Tensor, q: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.cholesky_solve((p @ scaled + q).T, factor).T
        return (p - y @ U.T) / D, y

    result, bound = torch.empty_like(v), torch.empty_like(v)
    for rows in _blocks(systems):
        x, y = solved(v[rows], torch.zeros_like(v[rows] @ U))
        more = solved(v[rows] - D * x - y @ U.T, x @ U - y)
        result[rows] = x + more[0]
        bound[rows] = metric.pair_error(v[rows], result[rows], y + more[1])[:, None] / D.sqrt()
    return Solved(result, bound)


def comparisons(
    systems: Systems, cell: Cell, left: Solved, right: Solved, model: Precision
) -> Iterator[Comparison]:
    """The solutions against the sum of both bounds."""
    k = longest_sum(systems, cell)
    for rows in _blocks(systems):
        bound = (float64(left.bound[rows]) + right.bound[rows]) * (1 + 2.0**-50)
        yield compare("inverse", left.result[rows], right.result[rows], bound, k, rows.start)
