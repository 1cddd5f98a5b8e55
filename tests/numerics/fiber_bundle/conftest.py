"""Seeded tokens with metrics, and what their attention is by explicit differences."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch

from numerics.fiber_bundle.connection import Phases
from numerics.fiber_bundle.metric_field import MetricField


@dataclass(frozen=True)
class Tokens:
    """Points, metric, values and phases of (B, H, n) tokens."""

    points: torch.Tensor
    metric: MetricField
    values: torch.Tensor
    phases: Phases

    def to(self, dtype: torch.dtype) -> "Tokens":
        """The same numbers rounded to a dtype."""
        metric = MetricField(self.metric.D.to(dtype), self.metric.U.to(dtype))
        phases = Phases(self.phases.a.to(dtype), self.phases.b.to(dtype))
        return Tokens(self.points.to(dtype), metric, self.values.to(dtype), phases)

    @property
    def n(self) -> int:
        return self.points.shape[-2]

    def scores(self, kind: str = "query", scale: float | None = None) -> torch.Tensor:
        """Scores (B, H, n, n) by explicit differences, float64."""
        x, D, U = (t.double() for t in (self.points, self.metric.D, self.metric.U))
        steps = x[..., None, :, :] - x[..., :, None, :]
        along = (steps @ U).square().sum(-1)
        found = ((D[..., None, :] * steps * steps).sum(-1) + along) / -2
        found = found * (x.shape[-1] ** -0.5 if scale is None else scale)
        return found if kind == "query" else (found + found.mT) / 2

    def visible(self, allowed: torch.Tensor | None, causal: bool) -> torch.Tensor:
        """Pairs (B, H, n, n) that both masks leave."""
        n, shape = self.n, (*self.points.shape[:3], self.n)
        seen = torch.ones(n, n, dtype=torch.bool) if allowed is None else allowed
        return (seen.tril() if causal else seen).expand(shape)

    def attention(
        self, kind: str = "query", allowed: torch.Tensor | None = None, causal: bool = False
    ) -> torch.Tensor:
        """Weights (B, H, n, n), float64; a row that sees nothing is 0."""
        seen = self.visible(allowed, causal)
        scores = self.scores(kind).masked_fill(~seen, -torch.inf)
        blind = ~seen.any(-1, keepdim=True)
        return torch.softmax(scores.masked_fill(blind, 0), -1).masked_fill(blind, 0)


@pytest.fixture
def draw() -> Callable[..., Tokens]:
    """A function (B, H, n, d, r, d_v=d, seed=0) to seeded float64 tokens."""

    def tokens(B: int, H: int, n: int, d: int, r: int, d_v: int = 0, seed: int = 0) -> Tokens:
        g = torch.Generator().manual_seed(seed)

        def normal(*shape: int) -> torch.Tensor:
            return torch.randn(*shape, generator=g, dtype=torch.float64)

        metric = MetricField((normal(B, H, n, d) / 2).exp(), normal(B, H, n, d, r) / 2)
        phases = Phases(normal(B, H, n, 2), normal(B, H, n, 2))
        return Tokens(normal(B, H, n, d), metric, normal(B, H, n, d_v or d), phases)

    return tokens
