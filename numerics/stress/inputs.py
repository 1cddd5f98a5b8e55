"""Seeded inputs of a stress cell: one attention layer, drawn on the CPU and moved to the device."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from numerics.blockwise import accumulation_dtype, drawing_dtype
from numerics.stress.cell import Cell


@dataclass(frozen=True)
class Layer:
    """Stored inputs of one attention layer with H heads, n queries and n tokens.

    tokens (n, d); query, key (H, n, d_k); w_v (H, d, d_v); w_o (H, d_v, d); b_v (d_v,); b_o (d,);
    head_weights (H,) in the accumulation dtype, with sum 1 up to rounding.
    """

    tokens: torch.Tensor
    query: torch.Tensor
    key: torch.Tensor
    w_v: torch.Tensor
    w_o: torch.Tensor
    b_v: torch.Tensor
    b_o: torch.Tensor
    head_weights: torch.Tensor
    scale: float

    @property
    def heads(self) -> int:
        """Number of heads H."""
        return self.query.shape[0]

    @property
    def keys(self) -> int:
        """Number of keys m."""
        return self.key.shape[1]

    def at_rows(self, rows: torch.Tensor) -> Layer:
        """The same layer with only the queries `rows` (B,), all keys kept."""
        return replace(self, query=self.query[:, rows])


def draw(cell: Cell, device: torch.device) -> Layer:
    """The layer of a cell, d_k = d_v = d / heads, deterministic in the cell on every device.

    Every query leans towards the key of a random token by a score from 1 to 16, log-uniformly, so
    that rows range from nearly uniform to nearly one-hot: uniform rows average rounding errors
    away, and larger random scores would drown the sums over keys in the error of the scores.
    """
    n, d, heads, dtype = cell.n, cell.d, cell.heads, cell.stored
    source = torch.Generator().manual_seed(cell.seed)
    drawn = drawing_dtype(dtype)
    width = d // heads

    def normal(*shape: int, spread: float = 1.0) -> torch.Tensor:
        entries = torch.randn(*shape, generator=source, dtype=drawn)
        return entries.mul_(spread).to(dtype).to(device)

    key = torch.randn(heads, n, width, generator=source, dtype=drawn)
    target = torch.randperm(n, generator=source)
    lean = 16 ** torch.rand(1, n, 1, generator=source, dtype=drawn) / width**0.5
    query = torch.randn(heads, n, width, generator=source, dtype=drawn).mul_(1 / 4)
    query.addcmul_(key[:, target], lean)
    # Weights away from 1/H: a walk that confuses w with 1/H must not go unnoticed.
    raw = 0.5 + torch.rand(heads, generator=source, dtype=torch.float64)
    return Layer(
        tokens=normal(n, d),
        query=query.to(dtype).to(device),
        key=key.to(dtype).to(device),
        w_v=normal(heads, d, width, spread=d**-0.5),
        w_o=normal(heads, width, d, spread=d**-0.5),
        b_v=normal(width),
        b_o=normal(d),
        head_weights=(raw / raw.sum()).to(accumulation_dtype(dtype)).to(device),
        scale=width**-0.5,
    )
