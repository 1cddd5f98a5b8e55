"""A connection walk whose hypotheses hold exactly for what is stored, and vector fields on it.

Transports T_ij = A_i^{-1} C U_j A_j, with C a signed permutation and U_j diagonal signs, are
isometries of the metrics G_i = A_i^T A_i. C of order 2 and U_j = I make T_ji = T_ij^{-1}.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from numerics.blockwise import accumulation_dtype
from numerics.stress.cell import Cell
from numerics.stress.frames import Frames, draw_frames, random_involution, random_signs
from numerics.stress.kernel_walk import DRIFT, KernelWalk, draw_walk

FIELDS = 16
"""Fields, the same up to signs at the tokens: one sum alone could be exact by chance."""


@dataclass(frozen=True)
class Connection:
    """A walk, frames A_i (n, d), turns U_j (n, d) and C: y -> signs o y[order]; a field u (n, d)
    and flips, signs (K, n) that make K fields of it. All stored in one dtype.
    """

    walk: KernelWalk
    frames: Frames
    turns: torch.Tensor
    order: torch.Tensor
    signs: torch.Tensor
    field: torch.Tensor
    flips: torch.Tensor

    def changed(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Connection:
        """The same in another dtype, or on another device, as `change` gives it."""
        parts = (change(part) for part in (self.signs, self.field, self.flips))
        walk = KernelWalk(change(self.walk.points), self.walk.drift)
        turns = change(self.turns)
        order = self.order.to(turns.device)
        return Connection(walk, self.frames.changed(change), turns, order, *parts)

    def widened(self) -> Connection:
        """The same in the dtype in which sums are carried."""
        wide = accumulation_dtype(self.field.dtype)
        return self.changed(lambda part: part.to(wide))

    def turned(self, image: torch.Tensor) -> torch.Tensor:
        """C U_j y_j for vectors y (n, d) at the tokens; exact."""
        return self.signs * (self.turns * image)[..., self.order]


def draw(cell: Cell, device: torch.device) -> tuple[Connection, None]:
    """A connection walk and K fields on it, deterministic in the arguments except the device."""
    n, d, dtype = cell.n, cell.d, cell.stored
    source = torch.Generator().manual_seed(cell.seed)
    reversible = cell.name == "laplacian"
    walk = draw_walk(n, dtype, source, 0.0 if reversible else DRIFT)
    frames = draw_frames(n, d, source=source, dtype=dtype)
    field = torch.randn(n, d, generator=source, dtype=torch.float64)
    field[field.abs() < 2.0**-10] = 2.0**-10
    turns, flips = random_signs(n, d, source=source), random_signs(FIELDS, n, source=source)
    order, signs = random_involution(d, source)
    if reversible:
        turns = torch.ones_like(turns)
    else:
        order, signs = torch.randperm(d, generator=source), random_signs(d, source=source)
    signs, field, turns, flips = (part.to(dtype) for part in (signs, field, turns, flips))
    drawn = Connection(walk, frames, turns, order, signs, field, flips)
    return drawn.changed(lambda part: part.to(device)), None
