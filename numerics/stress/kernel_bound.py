"""Rounding bounds of a kernel walk: its law, rows and flows against their exact values.

Weights are followed in the logarithm, as in `rounding`: what a computed exponential is off by, what
its row's total is off by, and the operations between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from numerics import blockwise
from numerics.rounding.roundoff import Rounded, gamma
from numerics.stress.kernel_walk import WIDTH, KernelWalk
from numerics.stress.rounding import SPARE, NoBound, Precision, float64


@dataclass(frozen=True)
class KernelBound:
    """The same walk in float64, and what the computed one may be off by.

    log_totals (n,) are exact up to float64 rounding, log_error (n,) bounds the error of computed
    ones; the law and the shares (n,) carry theirs; flow_error is that of the total's logarithm.
    """

    points: torch.Tensor
    drift: float
    peak: float
    log_totals: torch.Tensor
    log_error: torch.Tensor
    stationary: Rounded
    kernel_share: Rounded
    cycle_share: Rounded
    flow_error: float
    model: Precision

    def attention(self, rows: slice) -> Rounded:
        """Bound of `walk_rows`."""
        scores, error = _scores(self.points, self.points[rows], self.model)
        return self._normalised(
            scores, error, self.log_totals[rows, None], self.log_error[rows, None]
        )

    def transition_rows(self, walk: KernelWalk, rows: slice) -> Rounded:
        """Bound of the function of this name."""
        found = self.kernel_share[rows].reshape(-1, 1) * self.attention(rows)
        return _with_cycle(found, walk.successors(rows), self.cycle_share[rows])

    def transition_columns(self, walk: KernelWalk, rows: slice) -> Rounded:
        """Bound of the function of this name."""
        scores, error = _scores(self.points, self.points[rows], self.model)
        found = self.kernel_share * self._normalised(scores, error, self.log_totals, self.log_error)
        before = walk.successors(rows, -1)
        return _with_cycle(found, before, self.cycle_share[before.to(scores.device)])

    def transition_entries(self, start: torch.Tensor, end: torch.Tensor) -> Rounded:
        """Bound of the function of this name."""
        ends = self.points[start], self.points[end]
        scores, error = (
            (ends[0] * ends[1]).sum(-1),
            _score_error((ends[0] * ends[1]).abs().sum(-1), self.model),
        )
        kernel = self.kernel_share[start] * self._normalised(
            scores, error, self.log_totals[start], self.log_error[start]
        )
        return kernel + self.cycle_share[start].where((start + 1) % self.points.shape[0] == end)

    def flow(self, walk: KernelWalk, rows: slice, steps: int = 1) -> Rounded:
        """Bound of `flow_rows`, with steps = -1 of `flow_columns`."""
        u = self.model.wide.acc
        scores, error = _scores(self.points, self.points[rows], self.model)
        log_error = _exponential(error, scores - self.peak, self.model) + self.flow_error + 4 * u
        share = (1 - self.drift) * (scores - torch.logsumexp(self.log_totals, 0)).exp()
        kernel = _relative(share, torch.expm1(log_error), self.model)
        cycle = torch.full_like(self.log_totals[rows], self.drift / self.points.shape[0])
        return _with_cycle(
            kernel, walk.successors(rows, steps), _relative(cycle, 2 * u + 0 * cycle, self.model)
        )

    def _normalised(
        self,
        scores: torch.Tensor,
        error: torch.Tensor,
        log_totals: torch.Tensor,
        log_error: torch.Tensor,
    ) -> Rounded:
        gap = scores - log_totals
        off = _exponential(error + log_error, gap, self.model)
        return _relative(gap.exp(), torch.expm1(off), self.model)


def kernel_bound(walk: KernelWalk, model: Precision) -> KernelBound:
    """Bounds of everything above. Raises NoBound where a weight could underflow."""
    points, n, u = float64(walk.points), walk.tokens, model.wide.acc
    depth = math.ceil(math.log2(n)) if n > 1 else 0
    totals, errors, lost = [], [], []
    peak = float((points * points).sum(-1).max())
    # By every rank alone: a refusal below must not leave others waiting.
    for rows in blockwise.row_blocks(n, 16 * n, points.device):
        scores, error = _scores(points, points[rows], model)
        if not bool((peak - scores < 60).all()):
            raise NoBound("scores are too far apart: a weight could underflow")
        total = torch.logsumexp(scores, -1)
        highest = scores.amax(-1, keepdim=True)
        share = (scores - total[:, None]).exp()
        off = torch.expm1(_exponential(error, scores - highest, model))
        summed = (share * off).sum(-1) * SPARE + gamma(depth, u)
        rounded = model.wide.exp * (math.log(n) + 1) + 2 * u * (total.abs() + 1)
        totals.append(total)
        errors.append(_logarithmic(summed) + rounded)
        off = torch.expm1(_exponential(error, scores - peak, model))
        lost.append((share * off).sum(-1))
    log_totals, log_error = torch.cat(totals), torch.cat(errors)
    law = torch.softmax(log_totals, 0)
    flow_lost = (law * torch.cat(lost)).sum()[None] * SPARE + gamma(2 * depth, u)
    step = _exponential(log_error, log_totals - log_totals.max(), model)
    off = _logarithmic((law * torch.expm1(step)).sum()[None] * SPARE + gamma(depth, u))
    relative = torch.expm1(step + off + 3 * u)
    stationary = (1 - walk.drift) * law + walk.drift / n
    share = (1 - walk.drift) * law / stationary
    # The share is x / (x + 1) of x = (1 - e) n Z_i / (e sum Z): its relative error is that of x
    # times 1 minus the share.
    moved = relative / (1 - relative)
    return KernelBound(
        points,
        walk.drift,
        peak,
        log_totals,
        log_error,
        _relative(stationary, share * relative + 4 * u, model),
        _relative(share, (1 - share) * moved + 5 * u, model),
        _relative(1 - share, share * moved + 5 * u, model),
        float(_logarithmic(flow_lost)[0]),
        model,
    )


def _scores(
    points: torch.Tensor, rows: torch.Tensor, model: Precision
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores (B, n) in float64 and the error of those computed."""
    return rows @ points.mT, _score_error(rows.abs() @ points.abs().mT, model)


def _score_error(size: torch.Tensor, model: Precision) -> torch.Tensor:
    """Error of a computed score plus that of its float64 value, for the sum of absolute terms."""
    return 2 * gamma(WIDTH, model.wide.acc) * size + 4 * WIDTH * model.wide.eta


def _with_cycle(rows: Rounded, ends: torch.Tensor, share: Rounded) -> Rounded:
    """Bound of `with_cycle`."""
    ends = ends.to(rows.error.device)
    places = torch.arange(rows.shape[0], device=ends.device)
    added = rows[places, ends] + share
    magnitude, error = rows.magnitude.clone(), rows.error.clone()
    magnitude[places, ends], error[places, ends] = added.magnitude, added.error
    return Rounded(magnitude, error, rows.units)


def _exponential(error: torch.Tensor, exponent: torch.Tensor, model: Precision) -> torch.Tensor:
    """Error of the logarithm of a computed exp(x - y), x - y off by `error` before rounding."""
    u = model.wide
    return error + 2 * u.acc * (exponent.abs() + error + 1) + _logarithmic_of(u.exp)


def _logarithmic(relative: torch.Tensor) -> torch.Tensor:
    """|log(1 + x)| over all |x| <= relative; NoBound unless relative < 1/2."""
    if not bool((relative < 0.5).all()):
        raise NoBound("too many tokens for this dtype: the walk has no rounding bound")
    return -torch.log1p(-relative)


def _logarithmic_of(relative: float) -> float:
    return -math.log1p(-relative)


def _relative(value: torch.Tensor, relative: torch.Tensor, model: Precision) -> Rounded:
    """A nonnegative array with its relative error."""
    error = value * relative * SPARE + 4 * model.wide.eta
    return Rounded(value * SPARE, error, model.wide)
