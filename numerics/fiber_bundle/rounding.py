"""A rigorous bound on the rounding errors of geodesic attention, by replaying its operations.

The bound covers the tiled and the differentiable form, whatever the tiles: sums are bounded in any
order. It is evaluated with n x n entries, so it is a tool for checks, not for long sequences.
Source: RA7.
"""

from __future__ import annotations

import torch

from numerics.fiber_bundle import tiles
from numerics.fiber_bundle.metric_field import MetricField
from numerics.fiber_bundle.products import KINDS
from numerics.inputs import number
from numerics.rounding import roundoff
from numerics.rounding.roundoff import Rounded, exact
from numerics.rounding.units import units


def score_error(
    points: torch.Tensor, metric: MetricField, scale: float, kind: str = "query"
) -> torch.Tensor:
    """Bound (..., n, n), float64, on |computed - exact| of the scores from r + 2 products.

    points (..., n, d) and metrics of the dtype whose rounding is meant; the first token is the
    common one. Raises ValueError, TypeError by name. Source: RA7.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    if points.shape != metric.D.shape:
        raise ValueError(
            f"points must have shape {tuple(metric.D.shape)}, got {tuple(points.shape)}"
        )
    factor = number("scale", scale)
    y = exact(points) - exact(points[..., :1, :])
    D, U = exact(metric.D), exact(metric.U)
    axes = tuple(range(points.ndim - 2))
    turn = (*axes, points.ndim - 1, points.ndim - 2)

    def times(part: Rounded, value: float) -> Rounded:
        return part * exact(torch.full_like(points[..., :1, :1], value))

    flat = y[..., None, :] @ U  # (..., n, 1, r)
    spread = (flat @ U.transpose(*axes, *(k + len(axes) for k in (0, 2, 1))))[..., 0, :]
    moved = D * y + spread
    own = times((moved * y).sum(points.ndim - 1)[..., None], -factor / 2)
    cross = times(moved, factor) @ y.transpose(*turn)
    cross = cross + times(D, -factor / 2) @ (y * y).transpose(*turn)
    total = own + cross
    for c in range(metric.rank):
        along = U[..., c] @ y.transpose(*turn)
        total = total + times(along * along, factor / 2)
    if kind == "query":
        return total.error
    once = 2 * units(points.dtype, points.device).once
    both = total.error + once * total.magnitude
    return (both + both.mT) / 2


def attention_error(
    points: torch.Tensor, metric: MetricField, values: torch.Tensor, scores: torch.Tensor,
    scale: float, kind: str = "query", allowed: torch.Tensor | None = None,
) -> torch.Tensor:  # fmt: skip
    """Bound (..., n, d_v), float64, on |computed - exact| of softmax(scores) values.

    scores (..., n, n) are those of the points, in float64 from explicit differences; allowed has
    their shape. Raises ValueError, TypeError by name. Source: RA7.
    """
    n = points.shape[-2]
    if tuple(scores.shape) != (*points.shape[:-1], n):
        raise ValueError(
            f"scores must have shape {(*points.shape[:-1], n)}, got {tuple(scores.shape)}"
        )
    model = units(points.dtype, points.device)
    # A running maximum multiplies by one more exponential for each tile of keys.
    count = -(-n // min(tiles.KEYS, tiles.QUERIES)) + 1
    error = score_error(points, metric, scale, kind) + 8 * count * model.exp
    weights = roundoff.softmax(scores.double(), error, allowed, model)
    return (weights @ exact(values, model)).error
