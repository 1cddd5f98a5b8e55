"""Per-token frames: invertible matrices A_i, cheap to apply and to invert, and their metrics.

A_i x = s_i o (x + t_i o x[partner]) shears the second half of the features by the first and then
stretches; the metric of token i is G_i = A_i^T A_i, so that |x|_{G_i} = |A_i x|. Transports
A_i^{-1} C A_j with C a signed permutation are isometries from G_j to G_i exactly, as they are
stored: no hypothesis of a theorem holds here only up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from numerics.rounding.roundoff import Rounded, gamma
from numerics.stress.rounding import Precision, float64

ROUNDINGS = 7
"""Roundings of a term of A (u - A^{-1} c): 3 by solving, 1 by subtracting, 3 by applying."""


@dataclass(frozen=True)
class Frames:
    """Stretch s > 0 and shear t (..., d), t = 0 on the first half, in one dtype; partner (d,)."""

    stretch: torch.Tensor
    shear: torch.Tensor
    partner: torch.Tensor

    def changed(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Frames:
        """The same frames in another dtype, or on another device, as `change` gives them."""
        stretch, shear = change(self.stretch), change(self.shear)
        return Frames(stretch, shear, self.partner.to(stretch.device))

    def rows(self, rows: slice | torch.Tensor) -> Frames:
        """The frames of some tokens."""
        return Frames(self.stretch[rows], self.shear[rows], self.partner)

    def edges(self) -> Frames:
        """The frames of B tokens, shaped (B, 1, d) to act on vectors (B, m, d) at edges."""
        return Frames(self.stretch[:, None], self.shear[:, None], self.partner)

    def apply(self, x: torch.Tensor) -> torch.Tensor:
        """A x."""
        return self.stretch * (x + self.shear * x[..., self.partner])

    def solve(self, y: torch.Tensor) -> torch.Tensor:
        """A^{-1} y."""
        z = y / self.stretch
        return z - self.shear * z[..., self.partner]


def draw_frames(*shape: int, source: torch.Generator, dtype: torch.dtype) -> Frames:
    """Frames of the given shape (..., d) with stretches in [3/4, 3/2), shears up to 1/4.

    No entry but 0 is so small that a device could flush it.
    """
    d = shape[-1]
    first = (d + 1) // 2
    partner = torch.arange(d)
    partner[first:] -= first
    stretch = 0.75 * 2 ** torch.rand(*shape, generator=source, dtype=torch.float64)
    shear = (torch.rand(*shape, generator=source, dtype=torch.float64) + 1 / 64) / 5
    shear *= random_signs(*shape, source=source)
    shear[..., :first] = 0
    return Frames(stretch.to(dtype), shear.to(dtype), partner)


def random_signs(*shape: int, source: torch.Generator) -> torch.Tensor:
    """Entries 1 and -1, float64."""
    return 2.0 * torch.randint(0, 2, shape, generator=source, dtype=torch.float64) - 1


def random_involution(d: int, source: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """A signed permutation y -> signs o y[order] of order 2, that is, symmetric."""
    shuffled = torch.randperm(d, generator=source)
    order = torch.empty_like(shuffled)
    order[shuffled] = shuffled.flip(0)
    signs = random_signs(d, source=source)
    return order, signs * signs[order]


@dataclass(frozen=True)
class FrameBound:
    """Frames in absolute values, float64: what bounds of their application need."""

    stretch: torch.Tensor
    shear: torch.Tensor
    partner: torch.Tensor
    model: Precision

    def rows(self, rows: slice | torch.Tensor) -> FrameBound:
        """The frames of some tokens."""
        return FrameBound(self.stretch[rows], self.shear[rows], self.partner, self.model)

    def size(self, x: torch.Tensor) -> torch.Tensor:
        """|A| |x|, entry by entry."""
        x = x.abs()
        return self.stretch * (x + self.shear * x[..., self.partner])

    def unsize(self, y: torch.Tensor) -> torch.Tensor:
        """|A^{-1}| |y|, entry by entry."""
        z = y.abs() / self.stretch
        return z + self.shear * z[..., self.partner]

    def edges(self) -> FrameBound:
        """As `Frames.edges`."""
        return FrameBound(self.stretch[:, None], self.shear[:, None], self.partner, self.model)

    def rounded(self, size: torch.Tensor, roundings: int) -> Rounded:
        """An array of which every term of |exact| <= size meets so many roundings."""
        error = gamma(roundings, self.model.wide.acc) * size + self.underflow
        return Rounded(size, error, self.model.wide)

    def applied(self, x: torch.Tensor) -> Rounded:
        """A x for a stored x: three roundings a term."""
        return self.rounded(self.size(float64(x)), 3)

    @property
    def twist(self) -> torch.Tensor:
        """w with |A| |A^{-1}| c = c + w o c[partner] for c >= 0."""
        return 2 * self.stretch * self.shear / self.stretch[..., self.partner]

    @property
    def underflow(self) -> float:
        """What underflow costs in one entry: every operation once, magnified by at most 8."""
        return 64 * self.model.wide.eta

    def residual_error(self, u: torch.Tensor, c: torch.Tensor, lost: torch.Tensor) -> torch.Tensor:
        """Error of A (u - A^{-1} c) with u stored, c off by `lost`: the frames cancel on that.

        `c` bounds the computed c; all are of the frames' shape.
        """
        passed = c + self.twist * c[..., self.partner]
        rounded = gamma(ROUNDINGS, self.model.wide.acc) * (self.size(u) + passed)
        return rounded + lost + self.underflow


def frame_bound(frames: Frames, model: Precision) -> FrameBound:
    """The frames' absolute values on their device."""
    wide = frames.changed(float64)
    return FrameBound(wide.stretch, wide.shear.abs(), wide.partner, model)
