"""A metric at every token, G_i = diag(D_i) + U_i U_i^T: applied, inverted and framed in O(d r).

No d x d matrix is formed. With V = D^-1/2 U the frame is E = (I + V K V^T) D^1/2, E^T E = G,
K = (I + (I + V^T V)^1/2)^-1. Everything here is differentiable, and accurate to about
u (1 + |V|^2) relatively, which the metric head bounds; `numerics.metrics.LowRankMetric` is the
slower form with an error bound at every solve. Source: RA6, RA10.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch

from numerics.arrays import finite, is_array, namespace, positive, shape
from numerics.fiber_bundle.capacitance import Cores, cores


@dataclass(frozen=True, eq=False)
class MetricField:
    """Metrics diag(D) + U U^T of tokens: D (..., n, d) > 0, U (..., n, d, r).

    Both float64 or float32: half precisions are widened before a metric is made of them. Vectors
    are (..., n, d), of which metric i takes the i-th. Raises ValueError, TypeError by name.
    Source: RA6, RA10.
    """

    D: torch.Tensor
    U: torch.Tensor

    def __post_init__(self) -> None:
        for name, tensor in (("D", self.D), ("U", self.U)):
            if not isinstance(tensor, torch.Tensor):
                raise TypeError(f"{name} must be a torch tensor, got {type(tensor).__name__}")
        namespace(D=self.D, U=self.U)
        if self.D.dtype not in (torch.float64, torch.float32):
            raise TypeError(f"D must be float64 or float32, got {self.D.dtype}")
        sizes: dict[str, int] = {}
        batch = [f"batch_{k}" for k in range(max(0, self.D.ndim - 2))]
        shape(sizes, "D", self.D, *batch, "n", "d")
        shape(sizes, "U", self.U, *batch, "n", "d", "r")
        positive(D=self.D.detach())
        finite(U=self.U.detach())

    @property
    def rank(self) -> int:
        """Columns r of U."""
        return self.U.shape[-1]

    def at(self, tokens: torch.Tensor) -> MetricField:
        """The metrics of some tokens, by their places (m,); IndexError beyond n."""
        return MetricField(self.D[..., tokens, :], self.U[..., tokens, :, :])

    def apply(self, v: torch.Tensor) -> torch.Tensor:
        """G_i v_i in O(d r) a token; raises ValueError, TypeError by name."""
        self._check("v", v)
        return self.D * v + spread(self.U, along(self.U, v))

    def norm2(self, v: torch.Tensor) -> torch.Tensor:
        """v_i^T G_i v_i (..., n), a sum of squares: never negative; raises like apply."""
        self._check("v", v)
        return (self.D * v * v).sum(-1) + along(self.U, v).square().sum(-1)

    def solve(self, v: torch.Tensor) -> torch.Tensor:
        """G_i^-1 v_i in O(d r + r^2) a token after O(d r^2 + r^3) once; raises like apply.

        Source: RA6.
        """
        self._check("v", v)
        return self._minus(v / self._root, self._cores.solve) / self._root

    def frame(self, v: torch.Tensor) -> torch.Tensor:
        """E_i v_i, with |E_i v|^2 = v^T G_i v; cost and errors like solve. Source: RA10."""
        self._check("v", v)
        w = self._root * v
        return w + spread(self._scaled, _times(self._cores.frame, along(self._scaled, w)))

    def unframe(self, w: torch.Tensor) -> torch.Tensor:
        """E_i^-1 w_i; cost and errors like solve. Source: RA10."""
        self._check("w", w)
        return self._minus(w, self._cores.unframe) / self._root

    def _minus(self, w: torch.Tensor, core: torch.Tensor) -> torch.Tensor:
        return w - spread(self._scaled, _times(core, along(self._scaled, w)))

    def _check(self, name: str, v: torch.Tensor) -> None:
        if not is_array(v):
            raise TypeError(f"{name} must be a torch tensor, got {type(v).__name__}")
        namespace(D=self.D, **{name: v})
        if v.shape != self.D.shape:
            raise ValueError(
                f"{name} must have the shape of D, {tuple(self.D.shape)}, got {tuple(v.shape)}"
            )
        finite(**{name: v.detach()})

    @cached_property
    def _root(self) -> torch.Tensor:
        return torch.sqrt(self.D)

    @cached_property
    def _scaled(self) -> torch.Tensor:
        return self.U / self._root[..., None]

    @cached_property
    def _cores(self) -> Cores:
        return cores(self._scaled)


def along(U: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """U_i^T v_i (..., n, r)."""
    return (v[..., None, :] @ U)[..., 0, :]


def spread(U: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """U_i w_i (..., n, d)."""
    return (w[..., None, :] @ U.mT)[..., 0, :]


def _times(core: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """core_i w_i (..., n, r) of a symmetric core."""
    return (w[..., None, :] @ core)[..., 0, :]
