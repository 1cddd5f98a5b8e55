"""CW9 on a device: defects of an irreversible walk by definition and by their closed forms.

Reversibility, at every token and over all edges: (1/2) sum_j |pi_i P_ij - pi_j P_ji|, from P and
pi, against pi_i - sum_j min of both flows, from flows that know neither; summed over i it is the
distance of the edge flow from its reversal. Operator, at a seeded sample of edges: the squared norm
of the block of W - W* in the pi, G-Hilbert-Schmidt norm, formed of dense P_ij T_ij and
(pi_j / pi_i) P_ji G_i^{-1} T_ji^T G_j, against CW13's closed form
d (a_ij - a_ji)^2 + a_ij a_ji |B_ij - B_ji^T|^2, where B_ij = A_i T_ij A_j^{-1} is a known
orthogonal matrix and a_ij = sqrt(pi_i / pi_j) P_ij. Half precisions only store the inputs here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.rounding.roundoff import Rounded, gamma
from numerics.stress import connection
from numerics.stress.cell import Cell
from numerics.stress.connection import Connection
from numerics.stress.frames import FrameBound, frame_bound
from numerics.stress.kernel_bound import SPARE, KernelBound, kernel_bound
from numerics.stress.kernel_walk import (
    Law,
    flow_columns,
    flow_rows,
    total_flow,
    transition_columns,
    transition_entries,
    transition_rows,
    walk_law,
)
from numerics.stress.rounding import Precision

CELLS = ("reversibility", "operator")
EDGES = 64


@dataclass(frozen=True)
class Defects:
    """The defect at every token (n,), or the squared norms of sampled blocks (E,)."""

    result: torch.Tensor


@dataclass(frozen=True)
class Sampled:
    """A connection walk and the ends i and j (E,) of sampled edges."""

    connection: Connection
    rows: torch.Tensor
    columns: torch.Tensor


def draw(cell: Cell, device: torch.device) -> tuple[Sampled, None]:
    """A drifting connection walk and edges: a quarter on the drift's cycle, the rest anywhere."""
    n = cell.n
    drawn, _ = connection.draw(cell, device)
    source = torch.Generator().manual_seed(cell.seed)
    rows, columns = torch.randint(n, (2, EDGES), generator=source)
    cycle = EDGES // 4
    columns[:cycle] = (rows[:cycle] + 1) % n
    return Sampled(drawn, rows.to(device), columns.to(device)), None


def longest_sum(sampled: Sampled, cell: Cell) -> int:
    """Terms of the longest sum of either side: the tokens, or the entries of a block."""
    n, d = sampled.connection.field.shape
    return max(n, d * d) if cell.name == "operator" else n


def operations(sampled: Sampled, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides: of scores, and of matrices at
    the sampled edges.
    """
    walk, d = sampled.connection.walk, sampled.connection.field.shape[1]
    if cell.name == "operator":
        # Metrics and cometrics of both ends, the adjoint and the weighed block: two products each.
        return walk.score_operations(1) + 2 * 8 * len(sampled.rows) * d**3, walk.score_operations(1)
    return walk.score_operations(3), walk.score_operations(4)


def left_side(sampled: Sampled, cell: Cell) -> Defects:
    """Side one, the definitions, from pi and P."""
    c = sampled.connection.widened()
    law = walk_law(c.walk)
    if cell.name == "operator":
        edges = blockwise.row_blocks(EDGES, c.field.shape[1] ** 2, c.field.device)
        parts = [_block_norms(c, law, sampled.rows[e], sampled.columns[e]) for e in edges]
        return Defects(torch.cat(parts))
    defects = torch.empty_like(law.stationary)
    for rows in c.walk.blocks():
        out = law.stationary[rows, None] * transition_rows(c.walk, law, rows)
        back = law.stationary * transition_columns(c.walk, law, rows)
        defects[rows] = blockwise.pairwise_sum((out - back).abs()) / 2
    return Defects(defects)


def right_side(sampled: Sampled, cell: Cell) -> Defects:
    """Side two, the closed forms: from flows alone, or from the orthogonal B_ij."""
    c = sampled.connection.widened()
    if cell.name == "operator":
        edges = blockwise.row_blocks(EDGES, c.field.shape[1] ** 2, c.field.device)
        law = walk_law(c.walk)
        parts = [_closed_norms(c, law, sampled.rows[e], sampled.columns[e]) for e in edges]
        return Defects(torch.cat(parts))
    flow, defects = total_flow(c.walk), torch.empty_like(c.field[:, 0])
    for rows in c.walk.blocks():
        out, back = flow_rows(c.walk, flow, rows), flow_columns(c.walk, flow, rows)
        both = blockwise.pairwise_sum(torch.minimum(out, back))
        defects[rows] = blockwise.pairwise_sum(out) - both
    return Defects(defects)


def _block_norms(c: Connection, law: Law, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    """Squared norms of the blocks (i, j) of W - W* (E,), every matrix (E, d, d) formed."""
    eye = torch.eye(c.field.shape[1], dtype=c.field.dtype, device=c.field.device)
    root_i = c.frames.rows(i).edges().apply(eye).mT
    inverse_j = c.frames.rows(j).edges().solve(eye).mT
    _, cometric_i = metrics(c, i)
    metric_j, _ = metrics(c, j)
    out, back = transport_matrices(c, i, j), transport_matrices(c, j, i)
    adjoint = cometric_i @ back.mT @ metric_j
    pi_i, pi_j = law.stationary[i], law.stationary[j]
    forward, backward = transition_entries(c.walk, law, i, j), transition_entries(c.walk, law, j, i)
    block = forward[:, None, None] * out - (pi_j / pi_i * backward)[:, None, None] * adjoint
    weighed = root_i @ block @ inverse_j
    return pi_i / pi_j * (weighed * weighed).sum((1, 2))


def metrics(c: Connection, i: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """G_i = A_i^T A_i and G_i^{-1} = A_i^{-1} A_i^{-T} (E, d, d)."""
    eye = torch.eye(c.field.shape[1], dtype=c.field.dtype, device=c.field.device)
    frames = c.frames.rows(i).edges()
    root, inverse = frames.apply(eye).mT, frames.solve(eye).mT
    return root.mT @ root, inverse @ inverse.mT


def transport_matrices(c: Connection, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    """T_ij = A_i^{-1} C U_j A_j at edges (E, d, d)."""
    eye = torch.eye(c.field.shape[1], dtype=c.field.dtype, device=c.field.device)
    image = c.frames.rows(j).edges().apply(eye)
    return c.frames.rows(i).edges().solve(orthogonal_part(c, image, j)).mT


def orthogonal_part(c: Connection, image: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    """C U_j of the vectors image[e, a] (E, a, d)."""
    return c.signs * (c.turns[j, None] * image)[..., c.order]


def _closed_norms(c: Connection, law: Law, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    """d (a_ij - a_ji)^2 + a_ij a_ji |B_ij - B_ji^T|^2 with the known orthogonal B (E,)."""
    d = c.field.shape[1]
    eye = torch.eye(d, dtype=c.field.dtype, device=c.field.device)
    forward, backward = orthogonal_part(c, eye, j).mT, orthogonal_part(c, eye, i).mT
    apart = ((forward - backward.mT) ** 2).sum((1, 2))
    ratio = law.stationary[i] / law.stationary[j]
    out = ratio.sqrt() * transition_entries(c.walk, law, i, j)
    back = (1 / ratio).sqrt() * transition_entries(c.walk, law, j, i)
    return d * (out - back) ** 2 + out * back * apart


def comparisons(
    sampled: Sampled, cell: Cell, left: Defects, right: Defects, model: Precision
) -> Iterator[Comparison]:
    """The cell's defects against their bound."""
    walk, bound = sampled.connection.walk, kernel_bound(sampled.connection.walk, model)
    k, u = longest_sum(sampled, cell), model.wide
    if cell.name == "operator":
        d = sampled.connection.field.shape[1]
        for edges in blockwise.row_blocks(EDGES, d * d, sampled.rows.device):
            one, two = _operator_bounds(sampled, bound, edges)
            lost = (one.error + two.error) * SPARE
            yield compare("operator", left.result[edges], right.result[edges], lost, k, edges.start)
        return
    summing = gamma(math.ceil(math.log2(walk.tokens)) + 2, u.acc)
    for rows in walk.bound_blocks():
        pi = bound.stationary
        out = pi[rows].reshape(-1, 1) * bound.transition_rows(walk, rows)
        back = pi * bound.transition_columns(walk, rows)
        either = out - back
        # Flows are nonnegative: where both are known their difference is at most the larger.
        size = torch.maximum(out.magnitude, back.magnitude)
        lost = (either.error + summing * (size + either.error)).sum(-1) / 2
        out, back = bound.flow(walk, rows), bound.flow(walk, rows, -1)
        lost += (2 * out.error + back.error + 2 * summing * (out.computed)).sum(-1)
        yield compare(
            "reversibility", left.result[rows], right.result[rows], lost * SPARE, k, rows.start
        )


def _operator_bounds(sampled: Sampled, bound: KernelBound, edges: slice) -> tuple[Rounded, Rounded]:
    """Bounds of both squared norms at some edges (E,), by the same operations."""
    c, model = sampled.connection, bound.model
    device = bound.log_totals.device
    i, j = sampled.rows[edges].to(device), sampled.columns[edges].to(device)
    frames, d = frame_bound(c.frames, model), c.field.shape[1]
    forward, backward = bound.transition_entries(i, j), bound.transition_entries(j, i)
    ratio, inverse = _quotient(bound, i, j), _quotient(bound, j, i)
    weighed = _weighed_bound(frames, c, i, j, forward, inverse * backward)
    squares = (weighed * weighed).reshape(-1, d * d).sum(1)
    one = ratio * squares
    out, back = _root(ratio) * forward, _root(inverse) * backward
    gap = out - back
    # |B_ij - B_ji^T|^2 is an integer up to 4 d, exactly computed.
    most = Rounded(0 * out.error + 4 * d, 0 * out.error, model.wide, False)
    width = Rounded(0 * out.error + d, 0 * out.error, model.wide, False)
    return one, width * (gap * gap) + out * back * most


def _weighed_bound(
    frames: FrameBound,
    c: Connection,
    i: torch.Tensor,
    j: torch.Tensor,
    forward: Rounded,
    backward: Rounded,
) -> Rounded:
    """Bound of A_i (P_ij T_ij - (pi_j / pi_i) P_ji G_i^{-1} T_ji^T G_j) A_j^{-1} (E, d, d)."""
    eye = torch.eye(c.field.shape[1], dtype=torch.float64, device=i.device)
    at_i, at_j = frames.rows(i).edges(), frames.rows(j).edges()
    order = c.order.to(i.device)

    def matrix(size: torch.Tensor, roundings: int) -> Rounded:
        return frames.rounded(size.mT, roundings)

    root_i, root_j = matrix(at_i.size(eye), 3), matrix(at_j.size(eye), 3)
    inverse_i, inverse_j = matrix(at_i.unsize(eye), 3), matrix(at_j.unsize(eye), 3)
    out = matrix(at_i.unsize(at_j.size(eye)[..., order]), 6)
    back = matrix(at_j.unsize(at_i.size(eye)[..., order]), 6)
    cometric = inverse_i @ inverse_i.transpose(0, 2, 1)
    metric = root_j.transpose(0, 2, 1) @ root_j
    adjoint = cometric @ back.transpose(0, 2, 1) @ metric
    block = forward.reshape(-1, 1, 1) * out - backward.reshape(-1, 1, 1) * adjoint
    return root_i @ block @ inverse_j


def _quotient(bound: KernelBound, i: torch.Tensor, j: torch.Tensor) -> Rounded:
    """Bound of a computed pi_i / pi_j (E,), or of the reciprocal of the computed inverse."""
    pi, u = bound.stationary.magnitude, bound.model.wide.acc
    relative = bound.stationary.error / pi
    off = (relative[i] + relative[j] + 3 * u) / (1 - relative[j] - 3 * u)
    value = pi[i] / pi[j] * SPARE
    return Rounded(value, value * off, bound.model.wide)


def _root(value: Rounded) -> Rounded:
    """Bound of a computed square root: |sqrt(1 + x) - 1| <= |x| / (1 + sqrt(1 - |x|))."""
    relative, u = value.error / value.magnitude, value.units.acc
    off = relative / (1 + (1 - relative).sqrt()) + 2 * u
    root = value.magnitude.sqrt()
    return Rounded(root, root * off * SPARE, value.units)
