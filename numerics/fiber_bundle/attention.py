"""Geodesic attention: softmax of minus half the squared distances between tokens.

Query-side scores measure x_i - x_j in the metric of i, symmetrised ones in the mean of both
metrics. Shapes: B sequences, H heads, n tokens, head width d, rank r, value width d_v. Half
precisions must be widened before. Source: RA7, RA14.
"""

from __future__ import annotations

from functools import partial

import torch
from torch.utils.checkpoint import checkpoint

from numerics.arrays import boolean, namespace, refuse, shape
from numerics.fiber_bundle.connection import Phases, quarter_turn
from numerics.fiber_bundle.metric_field import MetricField
from numerics.fiber_bundle.products import KINDS, NoDigits, Products
from numerics.fiber_bundle.tiles import Visibility, tiled_attention
from numerics.inputs import number

# Scores (heads x rows x keys) of one block of queries whose gradients are kept.
BLOCK = 2**22


def geodesic_attention(
    points: torch.Tensor,
    metric: MetricField,
    values: torch.Tensor,
    *,
    kind: str = "query",
    scale: float | None = None,
    allowed: torch.Tensor | None = None,
    causal: bool = False,
    phases: Phases | None = None,
) -> torch.Tensor:
    """sum_j softmax_j(-(scale / 2) |x_i - x_j|^2) R_ij v_j, (B, H, n, d_v), in linear memory.

    points (B, H, n, d), metric of the same tokens, values (B, H, n, d_v); scale is 1/sqrt(d) by
    default. allowed (n, n) or (B, 1 or H, n, n) is boolean, True means visible; causal hides later
    tokens. A query that sees nothing yields 0, and a token that nothing needs may hold NaN. R_ij is
    the identity or that of phases (B, H, n, k), with d_v even.

    Under gradients each block of queries is evaluated again on the way back. Raises ValueError,
    TypeError by name, NoDigits where float32 cannot hold the distances. Source: RA7, RA14.
    """
    sizes = _checked(points, metric, values, kind, phases)
    if not isinstance(causal, bool):
        raise TypeError(f"causal must be a bool, got {type(causal).__name__}")
    factor = sizes["d"] ** -0.5 if scale is None else number("scale", scale)
    if factor <= 0:
        raise ValueError(f"scale must be positive, got {scale}")
    mask = None if allowed is None else _mask(allowed, points, sizes)
    points, values, centre = _usable(points, values, mask, causal)
    parts = (points - centre, metric.D, metric.U, values)
    y, D, U, v = (part.flatten(0, 1) for part in parts)
    turns = None
    if phases is not None:
        turns = (phases.left.flatten(0, 1), phases.right.flatten(0, 1))
    visibility = _visibility(mask, causal, sizes)
    inputs = (points, metric.D, metric.U, values, *(turns or ()))
    if torch.is_grad_enabled() and any(t.requires_grad for t in inputs):
        out = _blocks(Products.of(y, D, U, factor), v, kind, visibility, turns)
    else:
        out = tiled_attention(y, D, U, factor, v, kind, visibility, turns)
    if not all(end.isfinite() for end in out.detach().aminmax()):
        raise NoDigits(
            f"points, metric and values must be smaller: a product overflows {out.dtype}"
        )
    return out.unflatten(0, points.shape[:2])


def _checked(
    points: torch.Tensor, metric: MetricField, values: torch.Tensor, kind: str,
    phases: Phases | None,
) -> dict[str, int]:  # fmt: skip
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    for name, tensor in (("points", points), ("values", values)):
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name} must be a torch tensor, got {type(tensor).__name__}")
    if not isinstance(metric, MetricField):
        raise TypeError(f"metric must be a MetricField, got {type(metric).__name__}")
    namespace(D=metric.D, points=points, values=values)
    sizes: dict[str, int] = {}
    shape(sizes, "points", points, "B", "H", "n", "d")
    shape(sizes, "metric.D", metric.D, "B", "H", "n", "d")
    shape(sizes, "values", values, "B", "H", "n", "d_v")
    if phases is not None:
        if not isinstance(phases, Phases):
            raise TypeError(f"phases must be Phases or None, got {type(phases).__name__}")
        namespace(values=values, phases=phases.a)
        shape(sizes, "phases.a", phases.a, "B", "H", "n", "k")
        if sizes["d_v"] % 2:
            raise ValueError(f"values must have an even width under phases, got {sizes['d_v']}")
    return sizes


def _mask(allowed: torch.Tensor, like: torch.Tensor, sizes: dict[str, int]) -> torch.Tensor:
    """allowed as (B or 1, H or 1, n, n)."""
    boolean("allowed", allowed, like)
    batch, heads, n = (sizes[name] for name in ("B", "H", "n"))
    known = {(n, n), (batch, 1, n, n), (batch, heads, n, n)}
    if tuple(allowed.shape) not in known:
        raise ValueError(
            f"allowed must have shape (n, n), (B, 1, n, n) or (B, H, n, n) with B = {batch}, "
            f"H = {heads}, n = {n}, got {tuple(allowed.shape)}"
        )
    return allowed if allowed.ndim == 4 else allowed[None, None]


def _usable(
    points: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None, causal: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The inputs with what nothing needs set to 0, and the first visible point of each head.

    0 * NaN is NaN: a token that no query sees must be absent from the products, not only masked.
    """
    if mask is None:
        for name, tensor in (("points", points), ("values", values)):
            # One pass over the numbers; the second, slower look is for the message.
            if not all(end.isfinite() for end in tensor.detach().aminmax()):
                refuse(name, tensor.detach(), ~tensor.isfinite(), "finite")
        return points, values, points[..., :1, :].detach()
    seen = mask.tril() if causal else mask
    queries = seen.any(-1)[..., None].expand(*points.shape[:3], 1)
    keys = seen.any(-2)[..., None].expand(*points.shape[:3], 1)
    either = queries | keys
    bad = ~points.isfinite() & either
    refuse("points", points.detach(), bad, "finite where some query needs them")
    bad = ~values.isfinite() & keys
    refuse("values", values.detach(), bad, "finite where some query sees them")
    points, values = points.masked_fill(~either, 0), values.masked_fill(~keys, 0)
    first = keys.to(torch.uint8).argmax(-2, keepdim=True).expand(-1, -1, -1, points.shape[-1])
    return points, values, points.gather(-2, first).detach()


def _visibility(mask: torch.Tensor | None, causal: bool, sizes: dict[str, int]) -> Visibility:
    """The masks as they are stored, not one for each head."""
    if mask is None:
        return Visibility(None, None, causal, True)
    batch, heads = (torch.arange(sizes[name], device=mask.device) for name in ("B", "H"))
    places = (batch % mask.shape[0])[:, None] * mask.shape[1] + heads % mask.shape[1]
    # A query that sees nothing has no known largest score.
    oneself = bool(mask.diagonal(dim1=-2, dim2=-1).all())
    return Visibility(mask.flatten(0, 1), places.flatten(), causal, oneself)


def _blocks(
    products: Products, values: torch.Tensor, kind: str, visibility: Visibility,
    phases: tuple[torch.Tensor, torch.Tensor] | None,
) -> torch.Tensor:  # fmt: skip
    """The differentiable form, all keys of a block of queries at once."""
    heads, n, _ = values.shape
    step = max(1, BLOCK // (heads * n))
    if step >= n:
        return _rows(products, values, kind, visibility, phases, slice(0, n))
    blocks = []
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        block = partial(_rows, products, values, kind, visibility, phases, rows)
        blocks.append(checkpoint(block, use_reentrant=False))
    return torch.cat(blocks, 1)  # type: ignore[arg-type]


def _rows(
    products: Products, values: torch.Tensor, kind: str, visibility: Visibility,
    phases: tuple[torch.Tensor, torch.Tensor] | None, rows: slice,
) -> torch.Tensor:  # fmt: skip
    scores = products.rows(rows, kind)
    if visibility.everything:
        weights = torch.softmax(scores, -1)
    else:
        hidden = torch.zeros_like(scores)
        visibility.hide(hidden, slice(None), rows, slice(0, values.shape[1]))
        blind = (hidden == -torch.inf).all(-1, keepdim=True)
        weights = torch.softmax((scores + hidden).masked_fill(blind, 0), -1).masked_fill(blind, 0)
    if phases is None:
        return weights @ values
    angle = phases[0][:, rows] @ phases[1].mT
    turned = (weights * torch.sin(angle)) @ quarter_turn(values)
    return (weights * torch.cos(angle)) @ values + turned
