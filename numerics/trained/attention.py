"""One attention module written out: pattern, output, transports, in the symbols of the theorems."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from numerics.walks import softmax_walk


@dataclass(frozen=True)
class AttentionWeights:
    """The tensors of one attention module in row form, stacked by head.

    Shapes: w_q, w_k (H, d, d_k); b_q, b_k (H, d_k); w_v (H, d, d_v); b_v (H, d_v);
    w_o (H, d_v, d); b_o (d,). `scale` multiplies the logits.
    Source: Vaswani et al. 2017, section 3.2.
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

    @property
    def heads(self) -> int:
        """H, the number of heads."""
        return self.w_q.shape[0]


def attention_pattern(x: torch.Tensor, weights: AttentionWeights) -> torch.Tensor:
    """The walk matrix of every head, A^h (H, n, n), from tokens x (n, d).

    Source: CW1, A^h = softmax(scale (X W_Q^h + b_Q^h)(X W_K^h + b_K^h)^T).
    """
    query = x @ weights.w_q + weights.b_q[:, None]
    key = x @ weights.w_k + weights.b_k[:, None]
    return softmax_walk(query @ key.mT * weights.scale)


def attention_output(x: torch.Tensor, weights: AttentionWeights) -> torch.Tensor:
    """The attention module's output Y (n, d) for tokens x (n, d), before residual and norm.

    Source: CW1 summed over heads, Y = sum_h A^h (X W_V^h + b_V^h) W_O^h + b_O.
    """
    value = x @ weights.w_v + weights.b_v[:, None]
    return (attention_pattern(x, weights) @ value @ weights.w_o).sum(dim=0) + weights.b_o
