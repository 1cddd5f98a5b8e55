"""CW7 on a device: how far a gated mixture of isometric heads contracts, at every edge.

O_h = A^{-1} C_h A with signed permutations C_h are isometries of the one metric G = A^T A, exactly
as they are stored; the gates are those of attention, stored for a seeded sample of queries and all
keys. One side is x^T (G - T_ij^T G T_ij) x for x = x_j, from T_ij x_j = sum_h g_h O_h x_j formed at
the edge; the other is sum_{h<k} g_h g_k |(O_h - O_k) x_j|_G^2, which nothing cancels in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.rounding.roundoff import gamma
from numerics.stress import inputs
from numerics.stress.cell import Cell
from numerics.stress.frames import Frames, draw_frames, frame_bound, random_signs
from numerics.stress.kernel_bound import SPARE
from numerics.stress.rounding import Precision, float64

CELLS = ("contraction",)
ROWS = 64


@dataclass(frozen=True)
class Mixture:
    """Tokens (n, d), one frame A, the C_h: y -> signs[h] o y[order[h]] (H, d), stored in one dtype;
    gates (H, B, n) in the dtype in which sums are carried.
    """

    tokens: torch.Tensor
    frame: Frames
    order: torch.Tensor
    signs: torch.Tensor
    gates: torch.Tensor

    def turned(self, image: torch.Tensor) -> torch.Tensor:
        """C_h y_j for all heads and tokens (H, n, d); exact."""
        return torch.stack(
            [sign * image[:, order] for sign, order in zip(self.signs, self.order, strict=True)]
        )


@dataclass(frozen=True)
class Contraction:
    """|x_j|_G^2 - |T_ij x_j|_G^2 at the sampled edges (B, n)."""

    result: torch.Tensor


def draw(cell: Cell, device: torch.device) -> tuple[Mixture, torch.Tensor]:
    """Heads isometric for one metric, and the gates of an attention layer at sampled queries."""
    n, d, heads, dtype = cell.n, cell.d, cell.heads, cell.stored
    source = torch.Generator().manual_seed(cell.seed)
    rows = torch.randperm(n, generator=source)[:ROWS].sort().values
    layer = inputs.draw(cell, device).at_rows(rows.to(device))
    attention = blockwise.softmax_rows(layer.query, layer.key, layer.scale)
    _, gates = blockwise.walk_and_gates(attention, layer.head_weights)
    order = torch.stack([torch.randperm(d, generator=source) for _ in range(heads)])
    signs = random_signs(heads, d, source=source).to(dtype).to(device)
    frame = draw_frames(d, source=source, dtype=dtype).changed(lambda part: part.to(device))
    tokens = layer.tokens.where(layer.tokens.abs() >= 2.0**-10, 2.0**-10)
    return Mixture(tokens, frame, order.to(device), signs, gates), rows


def longest_sum(mixture: Mixture, cell: Cell) -> int:
    """Terms of the longest sum of either side: the features, or the pairs of heads."""
    heads, d = mixture.order.shape
    return max(d, heads * (heads - 1) // 2)


def operations(mixture: Mixture, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of side one; side two has none."""
    return 2 * mixture.gates.numel() * mixture.tokens.shape[1], 0


def left_side(mixture: Mixture, cell: Cell) -> Contraction:
    """Side one, |x_j|^2 - |T_ij x_j|^2 with T_ij x_j formed at every edge from stored O_h x_j."""
    frame, tokens = _wide(mixture)
    image = frame.apply(tokens)
    carried = frame.solve(mixture.turned(image)).to(mixture.tokens.dtype)
    squares, result = (image * image).sum(-1), torch.empty_like(mixture.gates[0])
    for rows in _blocks(mixture):
        gates = mixture.gates[:, rows].permute(2, 1, 0)
        mixed = torch.bmm(gates, carried.to(gates.dtype).transpose(0, 1))
        result[rows] = (squares[:, None] - frame.apply(mixed).square().sum(-1)).mT
    return Contraction(result)


def right_side(mixture: Mixture, cell: Cell) -> Contraction:
    """Side two, the sum over pairs of heads of g_h g_k |O_h x_j - O_k x_j|^2."""
    frame, tokens = _wide(mixture)
    moved = frame.solve(mixture.turned(frame.apply(tokens)))
    result = torch.zeros_like(mixture.gates[0])
    for h in range(moved.shape[0]):
        for k in range(h):
            apart = frame.apply(moved[h] - moved[k]).square().sum(-1)
            result += mixture.gates[h] * mixture.gates[k] * apart
    return Contraction(result)


def _wide(mixture: Mixture) -> tuple[Frames, torch.Tensor]:
    wide = mixture.gates.dtype
    return mixture.frame.changed(lambda part: part.to(wide)), mixture.tokens.to(wide)


def _blocks(mixture: Mixture) -> Iterator[slice]:
    """Blocks of the sampled queries that hold d numbers for every key."""
    heads, sampled, keys = mixture.gates.shape
    entries = keys * max(heads, mixture.tokens.shape[1])
    return blockwise.row_blocks(sampled, entries, mixture.gates.device)


def comparisons(
    mixture: Mixture, cell: Cell, left: Contraction, right: Contraction, model: Precision
) -> Iterator[Comparison]:
    """The contraction at every sampled edge against its bound."""
    k, gates = longest_sum(mixture, cell), float64(mixture.gates)
    heads, d = mixture.order.shape
    u = model.wide
    # Gates sum to 1 up to 2 H + 4 roundings, and |T x|_G <= |x|_G times their sum.
    excess = 3 * (gamma(2 * heads + 4, u.acc) + 4 * heads * u.eta)
    length, alone, one, two = _head_bounds(mixture, model)
    length = length * (1 + excess)
    for rows in _blocks(mixture):
        block = gates[:, rows]
        mixed = torch.einsum("hbn,hn->bn", block, one)
        lost = _square_error(length, mixed, d, model)
        own = _square_error(length, alone, d, model)
        lost += own + (u.acc + excess) * (length + mixed) ** 2
        for h in range(heads):
            for g in range(h):
                weight = block[h] * block[g]
                apart = two[h] + two[g]
                error = _square_error(2 * length, apart, d, model)
                pairs = gamma(heads * (heads - 1) // 2 + 2, u.acc)
                lost += weight * (error + pairs * (2 * length + apart) ** 2) + 4 * u.eta
        yield compare(
            "contraction", left.result[rows], right.result[rows], lost * SPARE, k, rows.start
        )


def _head_bounds(
    mixture: Mixture, model: Precision
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """|x_j|_G (n,), the error of A x_j (n,), and by how much each head's O_h x_j (H, n) is off once
    it is mixed (side one) or subtracted from another's (side two), in the norm of G.
    """
    bound, u, stored = frame_bound(mixture.frame, model), model.wide, model.narrow
    tokens, heads = float64(mixture.tokens), mixture.order.shape[0]
    order = mixture.order.to(tokens.device)
    size = torch.stack([bound.unsize(bound.size(tokens)[:, each]) for each in order])
    error = gamma(6, u.acc) * size + bound.underflow
    kept = error
    if stored.store != u.store:
        kept = error + stored.store * (size + error) + 2 * stored.eta
    one = bound.size(kept + gamma(heads + 3, u.acc) * (size + kept)) + bound.underflow
    two = bound.size(error + gamma(4, u.acc) * (size + error)) + bound.underflow
    image = bound.applied(mixture.tokens)
    exact = mixture.frame.changed(float64).apply(tokens)
    return exact.norm(dim=1), image.error.norm(dim=1), one.norm(dim=2), two.norm(dim=2)


def _square_error(
    length: torch.Tensor, off: torch.Tensor, d: int, model: Precision
) -> torch.Tensor:
    """Error of the computed |y|^2 of a vector y of norm <= length, computed up to `off`."""
    squared = gamma(d, model.wide.acc) * (length + off) ** 2
    return off * (2 * length + off) + squared + 2 * d * model.wide.eta
