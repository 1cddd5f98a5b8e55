"""A causal language model of either kind of block, and pairs of models of equal size.

Shapes: B sequences of n <= length symbols, vocabulary V. Source: RA14.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import nn

from numerics.fiber_bundle.blocks import FiberBundleBlock, StandardBlock
from numerics.fiber_bundle.connection import Connection
from numerics.fiber_bundle.layers import TRANSPORTS, head_width
from numerics.fiber_bundle.products import KINDS
from numerics.inputs import integer

MODELS = ("fiber-bundle", "standard")


@dataclass(frozen=True)
class Shape:
    """Sizes of a model: kind is fiber-bundle or standard; rank, scores and transport are those of
    a fiber-bundle block. Raises ValueError, TypeError by name."""

    kind: str
    vocabulary: int
    length: int = 64
    width: int = 64
    heads: int = 4
    blocks: int = 2
    hidden: int = 128
    rank: int = 2
    scores: str = "query"
    transport: str = "phases"

    def __post_init__(self) -> None:
        known = (("kind", MODELS), ("scores", KINDS), ("transport", TRANSPORTS))
        for name, values in known:
            if getattr(self, name) not in values:
                raise ValueError(
                    f"{name} must be one of {', '.join(values)}, got {getattr(self, name)!r}"
                )
        for name in ("vocabulary", "length", "blocks", "hidden"):
            integer(name, getattr(self, name), 1)
        integer("rank", self.rank, 1, head_width(self.width, self.heads))

    def block(self) -> FiberBundleBlock | StandardBlock:
        """One block of this shape."""
        if self.kind == "standard":
            return StandardBlock(self.width, self.heads, self.hidden)
        return FiberBundleBlock(
            self.width, self.heads, self.hidden, self.rank, self.scores, self.transport
        )

    def parameters(self) -> int:
        """Trainable numbers of a model of this shape, without allocating them."""
        with torch.device("meta"):
            return sum(p.numel() for p in LanguageModel(self).parameters())

    def standard_of_equal_size(self) -> Shape:
        """The standard model whose hidden width brings its parameters nearest to this one's."""
        base = replace(self, kind="standard", hidden=1).parameters()
        each = self.blocks * (2 * self.width + 1)
        return replace(
            self, kind="standard", hidden=1 + max(0, round((self.parameters() - base) / each))
        )


class LanguageModel(nn.Module):
    """Embedding, positions, blocks, norm, readout: symbols (B, n) -> logits (B, n, V), causal.

    Raises ValueError, TypeError by name. Source: RA14.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        if not isinstance(shape, Shape):
            raise TypeError(f"shape must be a Shape, got {type(shape).__name__}")
        self.shape = shape
        self.symbols = nn.Embedding(shape.vocabulary, shape.width)
        self.places = nn.Parameter(torch.empty(shape.length, shape.width))
        self.blocks = nn.ModuleList(shape.block() for _ in range(shape.blocks))
        self.norm = nn.RMSNorm(shape.width)
        self.readout = nn.Linear(shape.width, shape.vocabulary)
        for weight in (self.symbols.weight, self.places):
            nn.init.normal_(weight, std=0.5)

    def embed(self, symbols: torch.Tensor) -> torch.Tensor:
        """Symbols (B, n) -> tokens (B, n, width)."""
        if not isinstance(symbols, torch.Tensor) or symbols.dtype != torch.int64:
            kind = getattr(symbols, "dtype", type(symbols).__name__)
            raise TypeError(f"symbols must be an int64 tensor, got {kind}")
        if symbols.ndim != 2 or not 0 < symbols.shape[1] <= self.shape.length or not len(symbols):
            raise ValueError(
                f"symbols must have shape (B, n) with n <= {self.shape.length}, both positive, "
                f"got {tuple(symbols.shape)}"
            )
        if bool(((symbols < 0) | (symbols >= self.shape.vocabulary)).any()):
            raise ValueError(
                f"symbols must be at least 0 and below V = {self.shape.vocabulary}, "
                f"got {int(symbols.min())} to {int(symbols.max())}"
            )
        return self.symbols(symbols) + self.places[: symbols.shape[1]]

    def forward(self, symbols: torch.Tensor) -> torch.Tensor:
        """Logits of the next symbol at every place."""
        x = self.embed(symbols)
        for block in self.blocks:
            x = block(x, causal=True)
        return self.readout(self.norm(x))

    def geometry(self, symbols: torch.Tensor) -> list[tuple[torch.Tensor, Connection]]:
        """Points (B, H, n, d) and connection of every block, for curvature and torsion.

        Raises TypeError for a standard model, which has neither.
        """
        x, found = self.embed(symbols), []
        for block in self.blocks:
            if not isinstance(block, FiberBundleBlock):
                raise TypeError("a standard model has no metrics, so no curvature or torsion")
            found.append(block.geometry(x))
            x = block(x, causal=True)
        return found
