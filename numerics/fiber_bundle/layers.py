"""The parts of a Fiber Bundle block as torch modules.

Shapes: B sequences, n tokens, width = H d with H heads of width d, rank r. Inputs x (B, n, width)
and outputs have the dtype of the weights, float64, float32 or bfloat16; metrics, scores and
transports are computed in float32 where that is bfloat16. Modules work on any device. Source: RA14.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from numerics.arrays import shape
from numerics.blockwise import accumulation_dtype
from numerics.fiber_bundle.attention import geodesic_attention
from numerics.fiber_bundle.connection import Connection, Phases
from numerics.fiber_bundle.metric_field import MetricField
from numerics.fiber_bundle.products import KINDS
from numerics.inputs import integer, number

DTYPES = (torch.float64, torch.float32, torch.bfloat16)
TRANSPORTS = ("plain", "frames", "phases")


def check_tokens(x: torch.Tensor, width: int, weight: torch.Tensor) -> None:
    """TypeError, ValueError unless x is (B, n, width), of the dtype and on the device of weight."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"x must be a torch tensor, got {type(x).__name__}")
    if x.dtype not in DTYPES or x.dtype != weight.dtype:
        raise TypeError(
            f"x must be float64, float32 or bfloat16, as the weights are ({weight.dtype}), "
            f"got {x.dtype}"
        )
    if x.device != weight.device:
        raise ValueError(f"x must be on the device of the weights, {weight.device}, got {x.device}")
    shape({"width": width}, "x", x, "B", "n", "width")


def split_heads(x: torch.Tensor, heads: int) -> torch.Tensor:
    """(B, n, H k) -> (B, H, n, k)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """(B, H, n, k) -> (B, n, H k)."""
    return x.transpose(1, 2).flatten(-2)


def head_width(width: int, heads: int) -> int:
    """d = width / H; ValueError, TypeError by name."""
    integer("width", width, 1)
    integer("heads", heads, 1)
    if width % heads:
        raise ValueError(f"heads must divide width = {width}, got {heads}")
    return width // heads


class MetricHead(nn.Module):
    """Token x (B, n, width) -> metrics diag(D) + U U^T of every head, (B, H, n, d) and (.., d, r).

    D = exp(log_range tanh z) lies in [e^-log_range, e^log_range], U = spread tanh(z') / sqrt(d r)
    has |U| <= spread: `bound` = e^log_range + spread^2 bounds |G| for every input. With weights 0
    all metrics are I. Raises ValueError, TypeError by name. Source: RA14.
    """

    def __init__(
        self, width: int, heads: int, rank: int, log_range: float = 1.5, spread: float = 2.0
    ) -> None:
        super().__init__()
        d = head_width(width, heads)
        self.width, self.heads, self.rank = width, heads, integer("rank", rank, 1, d)
        self.log_range, self.spread = number("log_range", log_range), number("spread", spread)
        if min(self.log_range, self.spread) <= 0:
            raise ValueError(f"log_range and spread must be positive, got {log_range}, {spread}")
        self.diagonal = nn.Linear(width, width)
        self.columns = nn.Linear(width, width * rank)
        for layer in (self.diagonal, self.columns):
            nn.init.normal_(layer.weight, std=0.5 / math.sqrt(width))
            nn.init.zeros_(layer.bias)

    @property
    def bound(self) -> float:
        """Bound e^log_range + spread^2 on |G|, in exact arithmetic."""
        return math.exp(self.log_range) + self.spread**2

    def forward(self, x: torch.Tensor) -> MetricField:
        """The metrics of tokens x (B, n, width)."""
        check_tokens(x, self.width, self.diagonal.weight)
        wide = accumulation_dtype(x.dtype)
        d = self.width // self.heads
        level = split_heads(self.diagonal(x), self.heads).to(wide)
        entries = split_heads(self.columns(x), self.heads).to(wide).unflatten(-1, (self.rank, d))
        return MetricField(
            torch.exp(self.log_range * torch.tanh(level)),
            (torch.tanh(entries) * (self.spread / math.sqrt(d * self.rank))).mT,
        )


class TransportedValues(nn.Module):
    """The transports of a layer: T_ij = E_i^-1 R_ij E_j of tokens (B, n, width).

    phases: R_ij turns by t_ij = a_i . b_j - b_i . a_j, a and b linear in x and of `planes` numbers
    a head; otherwise R_ij = I. Raises ValueError, TypeError by name. Source: RA10, RA14.
    """

    def __init__(self, width: int, heads: int, phases: bool = False, planes: int = 2) -> None:
        super().__init__()
        d = head_width(width, heads)
        self.width, self.heads, self.planes = width, heads, integer("planes", planes, 1)
        if not isinstance(phases, bool):
            raise TypeError(f"phases must be a bool, got {type(phases).__name__}")
        if phases and d % 2:
            raise ValueError(f"heads must have an even width under phases, got {d}")
        self.phases = nn.Linear(width, 2 * heads * planes, bias=False) if phases else None

    def forward(self, x: torch.Tensor, metric: MetricField) -> Connection:
        """The connection of tokens x with their metrics (B, H, n, d)."""
        if self.phases is None:
            return Connection(metric)
        check_tokens(x, self.width, self.phases.weight)
        parts = split_heads(self.phases(x), self.heads).to(metric.D.dtype)
        return Connection(metric, Phases(*parts.chunk(2, dim=-1)))


class GeodesicAttention(nn.Module):
    """sum_h sum_j A^h_ij T^h_ij v^h_j W_O^h, A^h = softmax of -(1/2)|p_i - p_j|^2 / sqrt(d).

    Points p and values v are linear in x; distances are query-side or symmetrised. transport:
    plain (T_ij = I), frames (T_ij = E_i^-1 E_j) or phases (T_ij = E_i^-1 R_ij E_j). No biases: the
    layer without a residual is one of RA11 when transport is plain. Raises ValueError, TypeError by
    name. Source: RA7, RA10, RA14.
    """

    def __init__(
        self, width: int, heads: int, kind: str = "query", transport: str = "frames"
    ) -> None:
        super().__init__()
        head_width(width, heads)
        for name, value, known in (("kind", kind, KINDS), ("transport", transport, TRANSPORTS)):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
        self.width, self.heads, self.kind, self.transport = width, heads, kind, transport
        self.points = nn.Linear(width, width, bias=False)
        self.values = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        self.transports = TransportedValues(width, heads, transport == "phases")

    def geometry(self, x: torch.Tensor, metric: MetricField) -> tuple[torch.Tensor, Connection]:
        """Points (B, H, n, d) of tokens x (B, n, width), and the connection among them."""
        check_tokens(x, self.width, self.points.weight)
        points = split_heads(self.points(x), self.heads).to(metric.D.dtype)
        if points.shape != metric.D.shape:
            raise ValueError(
                f"metric must be of tokens {tuple(points.shape)}, got {tuple(metric.D.shape)}"
            )
        return points, self.transports(x, metric)

    def forward(
        self, x: torch.Tensor, metric: MetricField, allowed: torch.Tensor | None = None,
        causal: bool = False,
    ) -> torch.Tensor:  # fmt: skip
        """Tokens (B, n, width) -> (B, n, width); masks as in `geodesic_attention`."""
        points, connection = self.geometry(x, metric)
        values = split_heads(self.values(x), self.heads).to(points.dtype)
        framed = self.transport != "plain"
        carried = geodesic_attention(
            points, metric, metric.frame(values) if framed else values,
            kind=self.kind, allowed=allowed, causal=causal, phases=connection.phases,
        )  # fmt: skip
        back = metric.unframe(carried) if framed else carried
        return self.output(merge_heads(back).to(x.dtype))


class PreconditionedFeedForward(nn.Module):
    """The step -G^-1 f(x) with f(x) = W_2 act(W_1 x + b_1) + b_2, head by head by Woodbury.

    f stands where a gradient would: with W_2 = W_1^T and b_2 = 0 it is the gradient of
    sum_k Phi(w_k . x + b_k), Phi' = act, and the step is steepest descent of that potential in the
    metric of the token. Raises ValueError, TypeError by name. Source: RA9, RA14.
    """

    def __init__(
        self, width: int, heads: int, hidden: int,
        activation: Callable[[torch.Tensor], torch.Tensor] = functional.gelu,
    ) -> None:  # fmt: skip
        super().__init__()
        head_width(width, heads)
        self.width, self.heads, self.activation = width, heads, activation
        self.inner = nn.Linear(width, integer("hidden", hidden, 1))
        self.outer = nn.Linear(hidden, width)

    def forward(self, x: torch.Tensor, metric: MetricField) -> torch.Tensor:
        """Tokens (B, n, width) with metrics (B, H, n, d) -> steps (B, n, width)."""
        check_tokens(x, self.width, self.inner.weight)
        covector = split_heads(self.outer(self.activation(self.inner(x))), self.heads)
        return merge_heads(-metric.solve(covector.to(metric.D.dtype))).to(x.dtype)
