"""A Fiber Bundle block and the standard block it is compared with, pre-norm, with residuals.

Shapes and dtypes as in `layers`. Masks: allowed (n, n), (B, 1, n, n) or (B, H, n, n), boolean, True
means visible; causal hides later tokens. Source: RA14.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from numerics.arrays import boolean, finite
from numerics.fiber_bundle.connection import Connection
from numerics.fiber_bundle.layers import (
    GeodesicAttention,
    MetricHead,
    PreconditionedFeedForward,
    check_tokens,
    head_width,
    merge_heads,
    split_heads,
)
from numerics.inputs import integer


class FiberBundleBlock(nn.Module):
    """x + attention(norm x), then x - G^-1 f(norm x), with one metric a token, that of norm x.

    Raises ValueError, TypeError by name, NoDigits as `geodesic_attention`. Source: RA14.
    """

    def __init__(
        self, width: int, heads: int, hidden: int, rank: int = 2, kind: str = "query",
        transport: str = "frames",
    ) -> None:  # fmt: skip
        super().__init__()
        self.width, self.heads = width, heads
        self.metric = MetricHead(width, heads, rank)
        self.attention = GeodesicAttention(width, heads, kind, transport)
        self.feed_forward = PreconditionedFeedForward(width, heads, hidden)
        self.attention_norm, self.feed_forward_norm = nn.RMSNorm(width), nn.RMSNorm(width)

    def forward(
        self, x: torch.Tensor, allowed: torch.Tensor | None = None, causal: bool = False
    ) -> torch.Tensor:
        """Tokens (B, n, width) -> (B, n, width).

        A token that neither sees nor is seen may hold NaN: it counts as 0.
        """
        x = needed(x, self, self.attention.points.weight, allowed, causal)
        y = self.attention_norm(x)
        metric = self.metric(y)
        x = x + self.attention(y, metric, allowed, causal)
        return x + self.feed_forward(self.feed_forward_norm(x), metric)

    def geometry(self, x: torch.Tensor) -> tuple[torch.Tensor, Connection]:
        """Points (B, H, n, d) of tokens x (B, n, width), and the connection among them.

        Its `curvature`, `holonomy_angle` and `torsion` answer for the triples one asks for.
        """
        check_tokens(x, self.width, self.attention.points.weight)
        y = self.attention_norm(x)
        return self.attention.geometry(y, self.metric(y))


class StandardBlock(nn.Module):
    """x + attention(norm x), then x + f(norm x), by torch's scaled_dot_product_attention.

    tied: queries are keys. key_norms: -|k_j|^2 / (2 sqrt d) is added to the scores of key j. With
    both the attention is that of distances, a Fiber Bundle block with G = I and T = I, and always
    reversible (CW8). Raises ValueError, TypeError by name. Source: RA14.
    """

    def __init__(
        self, width: int, heads: int, hidden: int, tied: bool = False, key_norms: bool = False
    ) -> None:
        super().__init__()
        head_width(width, heads)
        self.width, self.heads, self.key_norms = width, heads, key_norms
        self.queries = None if tied else nn.Linear(width, width, bias=False)
        self.keys = nn.Linear(width, width, bias=False)
        self.values = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        self.inner = nn.Linear(width, integer("hidden", hidden, 1))
        self.outer = nn.Linear(hidden, width)
        self.attention_norm, self.feed_forward_norm = nn.RMSNorm(width), nn.RMSNorm(width)

    def forward(
        self, x: torch.Tensor, allowed: torch.Tensor | None = None, causal: bool = False
    ) -> torch.Tensor:
        """Tokens (B, n, width) -> (B, n, width); masked tokens as in FiberBundleBlock."""
        x = needed(x, self, self.keys.weight, allowed, causal)
        y = self.attention_norm(x)
        keys = split_heads(self.keys(y), self.heads)
        queries = keys if self.queries is None else split_heads(self.queries(y), self.heads)
        values = split_heads(self.values(y), self.heads)
        bias, blind = self._bias(keys, allowed, causal)
        mixed = functional.scaled_dot_product_attention(
            queries, keys, values, attn_mask=bias, is_causal=causal and bias is None
        )
        if blind is not None:
            mixed = mixed.masked_fill(blind, 0)
        x = x + self.output(merge_heads(mixed))
        return x + self.outer(functional.gelu(self.inner(self.feed_forward_norm(x))))

    def _bias(
        self, keys: torch.Tensor, allowed: torch.Tensor | None, causal: bool
    ) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """What is added to the scores, None for nothing, and the queries that see nothing."""
        if allowed is None and not self.key_norms:
            return None, None
        n, d = keys.shape[-2:]
        bias = keys.new_zeros(1, 1, n, n)
        if self.key_norms:
            bias = bias - (keys.square().sum(-1) * (0.5 * d**-0.5))[..., None, :]
        visible = visible_pairs(allowed, causal, n, keys.device)
        blind = ~visible.any(-1, keepdim=True)
        return bias.masked_fill(~(visible | blind), -torch.inf), blind


def visible_pairs(
    allowed: torch.Tensor | None, causal: bool, n: int, device: torch.device
) -> torch.Tensor:
    """Pairs (.., n, n) that both masks leave."""
    visible = torch.ones(n, n, dtype=torch.bool, device=device) if allowed is None else allowed
    return visible.tril() if causal else visible


def needed(
    x: torch.Tensor, block: FiberBundleBlock | StandardBlock, weight: torch.Tensor,
    allowed: torch.Tensor | None, causal: bool,
) -> torch.Tensor:  # fmt: skip
    """x with 0 for tokens that no head of the block sees or asks for; ValueError, TypeError."""
    check_tokens(x, block.width, weight)
    if not isinstance(causal, bool):
        raise TypeError(f"causal must be a bool, got {type(causal).__name__}")
    if allowed is not None:
        boolean("allowed", allowed, x)
        (batch, n), heads = x.shape[:2], block.heads
        if tuple(allowed.shape) not in {(n, n), (batch, 1, n, n), (batch, heads, n, n)}:
            raise ValueError(
                f"allowed must have shape (n, n), (B, 1, n, n) or (B, H, n, n) with B = {batch}, "
                f"H = {heads}, n = {n}, got {tuple(allowed.shape)}"
            )
        visible = visible_pairs(allowed, causal, n, x.device)
        used = visible.any(-1) | visible.any(-2)
        used = used.any(1) if used.ndim == 3 else used[None]
        x = x.masked_fill(~used[..., None], 0)
    finite(x=x.detach())
    return x
