"""RA10 on a device: triangles of transports T_ij = A_i^-1 R_ij A_j, never formed, by two routes.

In the cell `curvature` R_ij = S_i C_ij S_j with signs S_i and C_ij = C for i < j, C^T for i > j, a
signed permutation C: R_ji = R_ij^T and R_ij R_jk R_ki = S_i C^e S_i, where e = 1 or -1 is the sense
of the triangle, 0 if two of its tokens agree. One side carries a vector around each triangle,
through six frames; the other applies A_i^-1 S_i C^e S_i A_i - I at its first token. In the cell
`torsion` R_ij = I: one side carries both edges and takes the gap, the other applies the changes of
the frame, A_k^-1 (A_k - A_i) a - A_j^-1 (A_j - A_i) b. Frames, signs and tokens are exact as
stored: the bound is that of rounding, with no defect in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.rounding.roundoff import gamma
from numerics.stress.cell import Cell
from numerics.stress.frames import FrameBound, Frames, draw_frames, frame_bound, random_signs
from numerics.stress.rounding import Precision, float64

CELLS = ("curvature", "torsion")
ROUND_TRIP, CONJUGATE = 18, 6
"""Roundings of a term through six frames and through two: three for each."""


@dataclass(frozen=True)
class Triangles:
    """Frames and signs of n tokens (n, d), C: y -> flips o y[order], tokens x (n, d), and triangles
    (i, second[i], third[i]). Vectors y are (B, d), one for each of B triangles."""

    frames: Frames
    signs: torch.Tensor
    flips: torch.Tensor
    order: torch.Tensor
    x: torch.Tensor
    second: torch.Tensor
    third: torch.Tensor

    def changed(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Triangles:
        """The same with other stored numbers, as `change` gives them."""
        signs, flips, x = change(self.signs), change(self.flips), change(self.x)
        order, second, third = (
            part.to(x.device) for part in (self.order, self.second, self.third)
        )  # fmt: skip
        return Triangles(self.frames.changed(change), signs, flips, order, x, second, third)

    def widened(self) -> Triangles:
        """The same in the dtype in which sums are carried."""
        wide = blockwise.accumulation_dtype(self.x.dtype)
        return self.changed(lambda part: part.to(wide))

    def power(self, exponent: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """C^e y for exponents e (B,) of 1, 0 and -1; exact."""
        there, back = self.flips * y[:, self.order], (self.flips * y)[:, self.order.argsort()]
        sense = exponent[:, None]
        return torch.where(sense > 0, there, torch.where(sense < 0, back, y))

    def turned(self, start: torch.Tensor, end: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """R_ij y for tokens j = start, i = end; exact."""
        return self.signs[end] * self.power(sense(start, end), self.signs[start] * y)


def sense(start: torch.Tensor, end: torch.Tensor) -> torch.Tensor:
    """The exponent of C in the transport from start to end: 1, 0 or -1."""
    return (start - end).sign()


@dataclass(frozen=True)
class Around:
    """What is left of a vector after its triangle, or the gap of its edges (n, d)."""

    result: torch.Tensor


def draw(cell: Cell, device: torch.device) -> tuple[Triangles, None]:
    """n triangles on n tokens, deterministic in the arguments except the device."""
    n, d, dtype = cell.n, cell.d, cell.stored
    source = torch.Generator().manual_seed(cell.seed)
    frames = draw_frames(n, d, source=source, dtype=dtype)
    x = torch.randn(n, d, generator=source, dtype=torch.float64)
    x[x.abs() < 2.0**-10] = 2.0**-10
    order, flips = torch.randperm(d, generator=source), random_signs(d, source=source)
    signs = random_signs(n, d, source=source)
    second, third = (torch.randperm(n, generator=source) for _ in range(2))
    signs, flips, x = (part.to(dtype) for part in (signs, flips, x))
    drawn = Triangles(frames, signs, flips, order, x, second, third)
    return drawn.changed(lambda part: part.to(device)), None


def longest_sum(triangles: Triangles, cell: Cell) -> int:
    """Terms of the longest sum of either side: a feature and its partner."""
    return 2


def _blocks(t: Triangles) -> Iterator[tuple[slice, torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Rows of a block, and the tokens i, j, k of its triangles."""
    n, d = t.x.shape
    for rows in blockwise.row_blocks(n, 8 * d, t.x.device):
        first = torch.arange(rows.start, rows.stop, device=t.x.device)
        yield rows, first, t.second[rows], t.third[rows]


def _around(i: torch.Tensor, j: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    return sense(j, i) + sense(k, j) + sense(i, k)


def _edges(
    t: Triangles, i: torch.Tensor, j: torch.Tensor, k: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    return t.x[j] - t.x[i], t.x[k] - t.x[i]


def operations(triangles: Triangles, cell: Cell) -> tuple[int, int]:
    """None: neither side has a matrix product, frames act feature by feature."""
    return 0, 0


def left_side(triangles: Triangles, cell: Cell) -> Around:
    """Side one, transport by transport."""
    t = triangles.widened()
    result = torch.empty_like(t.x)

    def carried(start: torch.Tensor, end: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        image = t.frames.rows(start).apply(y)
        turned = t.turned(start, end, image) if cell.name == "curvature" else image
        return t.frames.rows(end).solve(turned)

    for rows, i, j, k in _blocks(t):
        if cell.name == "curvature":
            result[rows] = carried(j, i, carried(k, j, carried(i, k, t.x[i]))) - t.x[i]
        else:
            a, b = _edges(t, i, j, k)
            result[rows] = (a - b) + (carried(i, j, b) - carried(i, k, a))
    return Around(result)


def right_side(triangles: Triangles, cell: Cell) -> Around:
    """Side two, at the first token alone, or by the changes of the frame."""
    t = triangles.widened()
    result = torch.empty_like(t.x)

    def bent(node: torch.Tensor, i: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        near, far = t.frames.rows(i), t.frames.rows(node)
        across = far.stretch * far.shear - near.stretch * near.shear
        change = (far.stretch - near.stretch) * y + across * y[:, near.partner]
        return far.solve(change)

    for rows, i, j, k in _blocks(t):
        if cell.name == "curvature":
            own, signs = t.frames.rows(i), t.signs[i]
            turned = signs * t.power(_around(i, j, k), signs * own.apply(t.x[i]))
            result[rows] = own.solve(turned) - t.x[i]
        else:
            a, b = _edges(t, i, j, k)
            result[rows] = bent(k, i, a) - bent(j, i, b)
    return Around(result)


def comparisons(
    triangles: Triangles, cell: Cell, left: Around, right: Around, model: Precision
) -> Iterator[Comparison]:
    """The triangles against their bounds, block by block."""
    t, frames = triangles.changed(float64), frame_bound(triangles.frames, model)
    k = longest_sum(triangles, cell)
    for rows, *nodes in _blocks(t):
        bound = (_round_trip if cell.name == "curvature" else _gap)(t, frames, *nodes)
        bound = bound * (1 + 2.0**-40) + 2**12 * frames.underflow
        yield compare(cell.name, left.result[rows], right.result[rows], bound, k, rows.start)


def _round_trip(
    t: Triangles, frames: FrameBound, i: torch.Tensor, j: torch.Tensor, k: torch.Tensor
) -> torch.Tensor:
    """Bound on both sides of the curvature: every term is rounded as often as it meets a frame."""
    u = frames.model.wide.acc
    own, vector = frames.rows(i), t.x[i].abs()
    image = own.size(vector)
    near = own.unsize(t.power(_around(i, j, k), image).abs())
    far = image
    for start, end in ((i, k), (k, j)):
        there = frames.rows(end)
        far = there.size(there.unsize(t.power(sense(start, end), far).abs()))
    far = own.unsize(t.power(sense(j, i), far).abs())
    error = gamma(ROUND_TRIP, u) * far + gamma(CONJUGATE, u) * near
    return error + u * (far + near + 2 * vector + error)


def _gap(
    t: Triangles, frames: FrameBound, i: torch.Tensor, j: torch.Tensor, k: torch.Tensor
) -> torch.Tensor:
    """Bound on both sides of the gap: edges are rounded once, and with them all that they meet."""
    u, own = frames.model.wide.acc, frames.rows(i)
    total = torch.zeros_like(t.x[i])
    for node, edge in zip((j, k), reversed(_edges(t, i, j, k)), strict=True):
        size, there = edge.abs() * (1 + 2 * u), frames.rows(node)
        carried = there.unsize(own.size(size))
        # An edge, six roundings of its transport, two of the sums they meet.
        total += gamma(9, u) * carried + gamma(3, u) * size
        # An edge, its product with a change of the frame (four), a solution (three), a difference.
        bent = there.unsize(there.size(size) + own.size(size))
        total += gamma(9, u) * bent
    return total
