"""One attention module written out: pattern, output, transports, in the symbols of the theorems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from numerics.walks.walk import softmax_walk

# n -> (cos, sin), each (n, d_k): the angles of positions 0 .. n - 1.
RotaryTables = Callable[[int], tuple[torch.Tensor, torch.Tensor]]


@dataclass(frozen=True)
class HeadNorms:
    """RMS norms over the channels of every query and every key; gains (d_k,)."""

    query_gain: torch.Tensor
    key_gain: torch.Tensor
    eps: float


@dataclass(frozen=True)
class AttentionWeights:
    """The tensors of one attention module in row form, stacked by query head.

    Shapes: w_q, w_k (H, d, d_k); b_q, b_k (H, d_k); w_v (H, d, d_v); b_v (H, d_v);
    w_o (H, d_v, d); b_o (d,). `scale` multiplies the logits, `softcap` c then maps them to
    c tanh(logits / c). Query i sees key j where j <= i (`causal`) and i - j < `window`, which
    counts the token itself. Queries and keys are normed (`norms`), then turned (`rotary`).
    Source: Vaswani et al. 2017, section 3.2; Su et al. 2021 for the turn.
    """

    w_q: torch.Tensor
    b_q: torch.Tensor
    w_k: torch.Tensor
    b_k: torch.Tensor
    w_v: torch.Tensor
    b_v: torch.Tensor
    w_o: torch.Tensor
    b_o: torch.Tensor
    scale: float
    causal: bool = False
    window: int | None = None
    softcap: float | None = None
    rotary: RotaryTables | None = None
    norms: HeadNorms | None = None

    @property
    def heads(self) -> int:
        """H, the number of query heads."""
        return self.w_q.shape[0]


def attention_pattern(z: torch.Tensor, weights: AttentionWeights) -> torch.Tensor:
    """The walk matrix of every head, A^h (H, n, n), from module inputs z (n, d).

    Raises: ValueError for logits that are NaN or +inf where a query sees the key.
    Source: CW1, A^h = softmax of the logits over the keys that a query sees.
    """
    return softmax_walk(attention_logits(z, weights), visible_keys(len(z), weights))


def attention_output(z: torch.Tensor, weights: AttentionWeights) -> torch.Tensor:
    """The attention module's output Y (n, d) for module inputs z (n, d).

    Source: CW1 summed over heads, Y = sum_h A^h (Z W_V^h + b_V^h) W_O^h + b_O.
    """
    value = z @ weights.w_v + weights.b_v[:, None]
    return (attention_pattern(z, weights) @ value @ weights.w_o).sum(dim=0) + weights.b_o


def attention_logits(z: torch.Tensor, weights: AttentionWeights) -> torch.Tensor:
    """The logits of every head over all pairs of tokens, (H, n, n), before any mask.

    Source: CW1, scale q_i . k_j with q = turn(norm(Z W_Q + b_Q)), k likewise, then the soft-cap.
    """
    query = z @ weights.w_q + weights.b_q[:, None]
    key = z @ weights.w_k + weights.b_k[:, None]
    if weights.norms is not None:
        query = rms_norm(query, weights.norms.query_gain, weights.norms.eps)
        key = rms_norm(key, weights.norms.key_gain, weights.norms.eps)
    if weights.rotary is not None:
        tables = weights.rotary(len(z))
        query, key = turn(query, *tables), turn(key, *tables)
    logits = query @ key.mT * weights.scale
    if weights.softcap is None:
        return logits
    return weights.softcap * torch.tanh(logits / weights.softcap)


def visible_keys(n: int, weights: AttentionWeights) -> torch.Tensor:
    """Which keys each query sees, boolean (n, n), True where it does."""
    lag = torch.arange(n)[:, None] - torch.arange(n)
    visible = lag >= 0 if weights.causal else torch.ones((n, n), dtype=torch.bool)
    return visible if weights.window is None else visible & (lag < weights.window)


def rms_norm(x: torch.Tensor, gain: torch.Tensor, eps: float) -> torch.Tensor:
    """gain * x / sqrt(mean of x^2 over channels + eps), shape of x (..., d)."""
    return gain * x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt()


def turn(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """x (H, n, d_k) with channels r and r + d_k/2 turned as one plane; cos, sin (n, d_k).

    This is the half-split layout; interleaved planes (2r, 2r + 1) are another channel order.
    """
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin
