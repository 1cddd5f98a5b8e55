"""Parity gate and identity of one attention module (CW1, CW2).

Satisfies, for module inputs z (n, d), which are the layer's inputs x after the norm that
precedes the module if any does, and an attention module with H query heads:
  parity     the transformers module = softmax attention written out from the same tensors;
  edges      the module = sum_j P_ij (T_ij z_j) + b_i, the vector T_ij z_j formed on every edge;
  matrices   the same with the matrices T_ij themselves formed;
  surrogate  sum_j P_ij (sum_h T^h) z_j + b_i: what the head-mean graph alone keeps.
P is the head mean, T_ij = sum_h g^h_ij H T^h, g^h_ij = A^h_ij / (H P_ij), T^h = (W_V^h W_O^h)^T.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from numerics.trained.models.architectures import Layer
from numerics.trained.models.attention import AttentionWeights, attention_output, attention_pattern
from numerics.walks.transports import gates, head_transports

# Rounding in float64 leaves about 1e-15 on these norms. The mildest fault, one softmax kept in
# float32, leaves 3e-8. The threshold stands two decades above the one, five below the other.
PARITY_THRESHOLD = 1e-13
IDENTITY_THRESHOLD = 1e-13
# Forming every T_ij costs n^2 d^2 H multiply-adds a layer; beyond this, a seeded sample of rows.
FORMED_PRODUCTS = 5e10
BLOCK_BYTES = 2**22  # stays in a core's cache: tiles of 64 MiB were several times slower
TRANSPORT_BYTES = 2**26


@dataclass(frozen=True)
class Parity:
    """How far a layer written out is from the transformers layer; norms as `relative_error`."""

    attention: float
    layer: float

    @property
    def ok(self) -> bool:
        """Both below PARITY_THRESHOLD (NaN is not)."""
        return self.attention < PARITY_THRESHOLD and self.layer < PARITY_THRESHOLD


@dataclass(frozen=True)
class Identity:
    """The errors of one layer against the transformers module, and what they rest on.

    `edges`, `matrices`, `surrogate` as in the module's docstring; `rows_formed` of the n query
    rows had their matrices T_ij formed; `row_sum_deviation` = max_{h,i} |sum_j A^h_ij - 1|.
    """

    edges: float
    matrices: float
    surrogate: float
    rows_formed: int
    row_sum_deviation: float

    @property
    def ok(self) -> bool:
        """Both forms of the identity below IDENTITY_THRESHOLD (NaN is not)."""
        return self.edges < IDENTITY_THRESHOLD and self.matrices < IDENTITY_THRESHOLD


def relative_error(found: torch.Tensor, expected: torch.Tensor) -> float:
    """max_i |found_i - expected_i| / max_i |expected_i| over token rows, both (n, d).

    Raises: ValueError for different shapes, entries not finite, or expected = 0.
    """
    if found.shape != expected.shape:
        raise ValueError(f"found has shape {tuple(found.shape)}, expected {tuple(expected.shape)}")
    for name, value in (("found", found), ("expected", expected)):
        if not bool(torch.isfinite(value).all()):
            raise ValueError(f"{name} holds NaN or infinity")
    size = expected.norm(dim=-1).max().item()
    if size == 0:
        raise ValueError("expected is zero at every token: a relative error is undefined")
    return (found - expected).norm(dim=-1).max().item() / size


@torch.no_grad()
def parity(x: torch.Tensor, layer: Layer) -> Parity:
    """The parity gate of one layer at its input x (n, d).

    Raises: ValueError as `relative_error`.
    """
    reference, z = layer.reference(), layer.attention_input(x)
    y = attention_output(z, layer.attention())
    return Parity(
        relative_error(y, reference.attention_output(z)),
        relative_error(layer.after_attention(x, y), reference.layer_output(x)),
    )


@torch.no_grad()
def measure(
    x: torch.Tensor, layer: Layer, rows: torch.Tensor, transport_bytes: int = TRANSPORT_BYTES
) -> Identity:
    """The identity at a layer's input x (n, d); matrices T_ij formed on the query rows `rows`.

    The matrices T^h are held some of their rows at a time, transport_bytes at most (one row of
    each at least): all of them outweigh the layer that they come from.
    Raises: ValueError as `relative_error`.
    Source: CW1, CW2.
    """
    weights, z = layer.attention(), layer.attention_input(x)
    y, pattern = layer.reference().attention_output(z), attention_pattern(z, weights)
    offset, d = walk_offset(pattern, weights), weights.w_o.shape[2]
    edges, formed, surrogate = offset.clone(), y.clone(), offset.clone()
    formed[rows] = offset[rows]  # rows left out keep error 0, the norm is over all, as for `edges`
    step = max(1, transport_bytes // (8 * weights.heads * z.shape[1]))
    for start in range(0, d, step):
        block = slice(start, start + step)
        transports = head_transports(weights.w_v, weights.w_o[:, :, block])
        edges[:, block] += edge_walk(pattern, transports, z)
        formed[rows, block] += formed_walk(pattern[:, rows], transports, z)
        surrogate[:, block] += scalar_surrogate(pattern, transports, z)
    return Identity(
        edges=relative_error(edges, y),
        matrices=relative_error(formed, y),
        surrogate=relative_error(surrogate, y),
        rows_formed=len(rows),
        row_sum_deviation=(pattern.sum(dim=-1) - 1).abs().max().item(),
    )


def walk_offset(pattern: torch.Tensor, weights: AttentionWeights) -> torch.Tensor:
    """b_i = sum_h rho^h_i (W_O^h)^T b_V^h + b_O, (n, d); rho^h_i the row sums of pattern (H, n, n).

    The row sums stay: b_V is one constant vector only where they are exactly 1 (CW1).
    """
    folded = (weights.b_v[:, None] @ weights.w_o)[:, 0]
    return pattern.sum(dim=-1).mT @ folded + weights.b_o


def edge_walk(
    pattern: torch.Tensor, transports: torch.Tensor, x: torch.Tensor, block_bytes: int = BLOCK_BYTES
) -> torch.Tensor:
    """sum_j P_ij (T_ij x_j), (n, d), the vector T_ij x_j formed on every edge.

    Shapes: pattern (H, n, m), transports (H, d, d), x (m, d). Blocks of query rows hold
    (rows, m, d) numbers, block_bytes at most (one row at least).
    Source: CW2; off the support of P, where T_ij is free, the gates are 0.
    """
    heads, n, m = pattern.shape
    moved = (heads * transports @ x.mT).permute(2, 0, 1)  # (m, H, d): H T^h x_j
    mean, shares = pattern.mean(dim=0), gates(pattern)
    step = max(1, block_bytes // (8 * m * transports.shape[1]))
    out = torch.empty((n, transports.shape[1]), dtype=x.dtype)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        edges = shares[:, rows].permute(2, 1, 0) @ moved  # (m, rows, d): T_ij x_j
        out[rows] = (mean[rows].mT[..., None] * edges).sum(dim=0)
    return out


def formed_walk(
    pattern: torch.Tensor, transports: torch.Tensor, x: torch.Tensor, block_bytes: int = BLOCK_BYTES
) -> torch.Tensor:
    """sum_j P_ij T_ij x_j, (n, d), every matrix T_ij formed, some of its rows at a time.

    Shapes: as `edge_walk`. Blocks of one query hold (m, rows of T_ij, d) numbers, block_bytes at
    most (one row at least).
    Source: CW2; equals `multi_head_walk(pattern, transports).apply(x)`, whose (n, m, d, d)
    transports do not fit here.
    """
    heads, n, m = pattern.shape
    d_out, d_in = transports.shape[1:]
    mean, shares, convex = pattern.mean(dim=0), gates(pattern), heads * transports
    step = max(1, block_bytes // (8 * m * d_in))
    out = torch.empty((n, d_out), dtype=x.dtype)
    for start in range(0, d_out, step):
        rows = convex[:, start : start + step].reshape(heads, -1)
        for i in range(n):
            formed = (shares[:, i].mT @ rows).reshape(m, -1, d_in)  # rows of T_ij for every j
            out[i, start : start + step] = mean[i] @ (formed @ x[..., None])[..., 0]
    return out


def scalar_surrogate(
    pattern: torch.Tensor, transports: torch.Tensor, x: torch.Tensor
) -> torch.Tensor:
    """sum_j P_ij T x_j with P the head mean and the one transport T = sum_h T^h, (n, d)."""
    return pattern.mean(dim=0) @ x @ transports.sum(dim=0).mT


def rows_to_form(n: int, d: int, heads: int, seed: int, layer: int) -> torch.Tensor:
    """The query rows whose matrices T_ij are formed: all n, or a seeded sample, sorted."""
    affordable = max(1, int(FORMED_PRODUCTS / (n * d * d * heads)))
    if affordable >= n:
        return torch.arange(n)
    chosen = np.random.default_rng([seed, layer]).choice(n, size=affordable, replace=False)
    return torch.from_numpy(np.sort(chosen))
