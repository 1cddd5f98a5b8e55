"""Transport between tokens, T_ij = E_i^-1 R_ij E_j, and its curvature and torsion (RA10).

R_ij is the identity, or one phase a pair: R_ij = cos(t_ij) I + sin(t_ij) J with the complex
structure J (a, b) = (-b, a) on the two halves of a head, and t_ij = a_i . b_j - b_i . a_j. Phases
are antisymmetric, so R_ji = R_ij^T, R_ii = I and T_ji = T_ij^-1; and around a triangle they add up
to t_ij + t_jk + t_ki, which is 0 for all triangles only if R is a coboundary.

With R = I all triangles have curvature 0 whatever the metrics are (the teleparallel connection),
but generally torsion.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from numerics.arrays import finite, namespace, shape
from numerics.fiber_bundle.metric_field import MetricField
from numerics.fiber_bundle.products import LARGEST_ERROR


def quarter_turn(v: torch.Tensor) -> torch.Tensor:
    """J v = (-b, a) for v = (a, b) (..., d), d even; raises ValueError, TypeError by name."""
    namespace(v=v)
    if v.ndim < 1 or v.shape[-1] % 2:
        raise ValueError(f"v must have an even last axis, got shape {tuple(v.shape)}")
    first, second = v.chunk(2, dim=-1)
    return torch.cat([-second, first], -1)


@dataclass(frozen=True, eq=False)
class Phases:
    """Phases t_ij = a_i . b_j - b_i . a_j from a, b (..., n, k).

    Raises ValueError, TypeError by name, ValueError where rounding leaves no digit of a phase.
    """

    a: torch.Tensor
    b: torch.Tensor

    def __post_init__(self) -> None:
        namespace(a=self.a, b=self.b)
        sizes: dict[str, int] = {}
        batch = [f"batch_{k}" for k in range(max(0, self.a.ndim - 2))]
        shape(sizes, "a", self.a, *batch, "n", "k")
        shape(sizes, "b", self.b, *batch, "n", "k")
        finite(a=self.a.detach(), b=self.b.detach())
        with torch.no_grad():
            longest = [part.double().norm(dim=-1).amax() for part in (self.left, self.right)]
            error = longest[0] * longest[1] * 2 * sizes["k"] * torch.finfo(self.a.dtype).eps
        if not bool(error <= LARGEST_ERROR):
            raise ValueError(
                f"a and b must be smaller: {self.a.dtype} products leave no digit of their phases, "
                f"of up to {float(longest[0] * longest[1]):.1e}"
            )

    @property
    def left(self) -> torch.Tensor:
        """(a_i, -b_i) (..., n, 2k): its product with right_j is t_ij."""
        return torch.cat([self.a, -self.b], -1)

    @property
    def right(self) -> torch.Tensor:
        """(b_j, a_j) (..., n, 2k)."""
        return torch.cat([self.b, self.a], -1)

    def between(self, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
        """t_ij (..., m) for places i, j (m,)."""
        return (self.left[..., i, :] * self.right[..., j, :]).sum(-1)


@dataclass(frozen=True, eq=False)
class Connection:
    """Transports of tokens with metrics (..., n, d) and phases (..., n, k), or none: R_ij = I.

    Places i, j and triples are integer tensors (m,) and (m, 3). No d x d matrix is formed. Raises
    ValueError, TypeError by name. Source: RA10.
    """

    metric: MetricField
    phases: Phases | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.metric, MetricField):
            raise TypeError(f"metric must be a MetricField, got {type(self.metric).__name__}")
        if self.phases is None:
            return
        if not isinstance(self.phases, Phases):
            raise TypeError(f"phases must be Phases or None, got {type(self.phases).__name__}")
        namespace(D=self.metric.D, phases=self.phases.a)
        if self.phases.a.shape[:-1] != self.metric.D.shape[:-1]:
            raise ValueError(
                f"phases must be those of tokens {tuple(self.metric.D.shape[:-1])}, "
                f"got {tuple(self.phases.a.shape[:-1])}"
            )
        if self.metric.D.shape[-1] % 2:
            raise ValueError(f"phases need an even head width, got {self.metric.D.shape[-1]}")

    def transport(self, i: torch.Tensor, j: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """T_ij v (..., m, d) of vectors at j, as vectors at i: an isometry from G_j to G_i."""
        there, here = self._places("j", j), self._places("i", i)
        w = self.metric.at(there).frame(v)
        if self.phases is not None:
            t = self.phases.between(here, there)[..., None]
            w = torch.cos(t) * w + torch.sin(t) * quarter_turn(w)
        return self.metric.at(here).unframe(w)

    def curvature(self, triples: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """(T_ij T_jk T_ki - I) v (..., m, d) for triples (i, j, k) and vectors v at i.

        For transports along segments of a smooth metric connection (1/2) R(a, b) v + O(3), with
        a = x_j - x_i and b = x_k - x_i.
        """
        i, j, k = self._triples(triples)
        moved = self.transport(j, k, self.transport(k, i, v))
        return self.transport(i, j, moved) - v

    def holonomy_angle(self, triples: torch.Tensor) -> torch.Tensor:
        """t_ij + t_jk + t_ki (..., m): in the frame of i, T_ij T_jk T_ki turns by this angle.

        |curvature(v)| = 2 |sin(angle / 2)| |v| in the norm of G_i, for every v.
        """
        i, j, k = self._triples(triples)
        if self.phases is None:
            return torch.zeros_like(self.metric.D[..., i, 0])
        t = self.phases.between
        return t(i, j) + t(j, k) + t(k, i)

    def torsion(self, points: torch.Tensor, triples: torch.Tensor) -> torch.Tensor:
        """Gap a + T_ji b - b - T_ki a (..., m, d), a = x_j - x_i, b = x_k - x_i, of points
        (..., n, d): -Tor(a, b) + O(3) for transports along segments of a smooth connection."""
        i, j, k = self._triples(triples)
        namespace(D=self.metric.D, points=points)
        if points.shape != self.metric.D.shape:
            raise ValueError(
                f"points must have shape {tuple(self.metric.D.shape)}, got {tuple(points.shape)}"
            )
        finite(points=points.detach())
        a = points[..., j, :] - points[..., i, :]
        b = points[..., k, :] - points[..., i, :]
        return a + self.transport(j, i, b) - b - self.transport(k, i, a)

    def _places(self, name: str, places: torch.Tensor) -> torch.Tensor:
        if not isinstance(places, torch.Tensor) or places.dtype != torch.int64:
            kind = getattr(places, "dtype", type(places).__name__)
            raise TypeError(f"{name} must be an int64 tensor of places, got {kind}")
        n = self.metric.D.shape[-2]
        inside = (places >= 0) & (places < n)
        if places.ndim != 1 or not len(places) or not bool(inside.all()):
            raise ValueError(
                f"{name} must be places (m,), m > 0, of n = {n} tokens, got {places.tolist()!s:.80}"
            )
        return places

    def _triples(self, triples: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if not isinstance(triples, torch.Tensor) or triples.dtype != torch.int64:
            kind = getattr(triples, "dtype", type(triples).__name__)
            raise TypeError(f"triples must be an int64 tensor, got {kind}")
        if triples.ndim != 2 or triples.shape[1] != 3:
            raise ValueError(f"triples must have shape (m, 3), got {tuple(triples.shape)}")
        return tuple(self._places("triples", column) for column in triples.unbind(1))
