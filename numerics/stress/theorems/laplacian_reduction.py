"""CW5 on a device: the Dirichlet energy of a connection walk, from its generator and edge by edge.

The walk is a softmax of a symmetric kernel, with a drift in the cell `energy`; the transports
A_i^{-1} C U_j A_j are isometries of the metrics A_i^T A_i. Stationarity and isometry hold exactly
for the stored points, frames and signs: the bound is that of rounding, with no defect in it.
In the cell `energy` the walk is irreversible and T_ji is not T_ij^{-1}: (a), pi P = pi and (c) are
all that the identity needs. In the cell `laplacian` (b) and (d) hold as well.

One side carries the tokens along regrouped rows, sum_i pi_i <u_i, u_i - (W u)_i>_{G_i}; the other
forms u_i - T_ij u_j at every edge and weighs it by the flow, without pi or P. Compared besides the
energy, at every token, is the identity whose mean the energy is (the carre du champ):
(1/2) sum_j P_ij |u_i - T_ij u_j|^2 = <u_i, (L u)_i> - (|u_i|^2 - sum_j P_ij |u_j|^2) / 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.rounding.roundoff import Rounded, gamma
from numerics.stress import sharding
from numerics.stress.cell import Cell
from numerics.stress.connection import Connection, draw
from numerics.stress.frames import ROUNDINGS, FrameBound, frame_bound
from numerics.stress.kernel_bound import SPARE, KernelBound, kernel_bound
from numerics.stress.kernel_walk import flow_rows, total_flow, walk_law, walk_rows
from numerics.stress.rounding import Precision, float64

__all__ = [
    "CELLS", "comparisons", "draw", "left_side", "longest_sum", "operations", "right_side",
]  # fmt: skip

CELLS = ("energy", "laplacian")


@dataclass(frozen=True)
class Generator:
    """Side one: pi_i <u_i, (L u)_i> (K, n), the same less half pi_i times L of |u|^2 (K, n), and
    the energies (K,).
    """

    products: torch.Tensor
    local: torch.Tensor
    result: torch.Tensor


@dataclass(frozen=True)
class Edges:
    """Side two: (1/2) sum_j pi_i P_ij |u_i - T_ij u_j|^2 at the tokens (K, n), and sums (K,)."""

    local: torch.Tensor
    result: torch.Tensor


def longest_sum(connection: Connection, cell: Cell) -> int:
    """Terms of the longest sum of either side: the tokens, or the features."""
    return max(connection.field.shape)


def operations(connection: Connection, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides, of this rank's rows; side two
    has those of the scores alone.
    """
    (n, d), fields = connection.field.shape, connection.flips.shape[0]
    means = 2 * sharding.own_count(n) * n * (fields * d + 1)
    walk = connection.walk
    return walk.score_operations(2) + means, walk.score_operations(3)


def left_side(connection: Connection, cell: Cell) -> Generator:
    """Side one, <u, (I - W) u>, with W u by one product of P and the carried tokens a field."""
    stored, c = connection.field.dtype, connection.widened()
    image = c.frames.apply(c.field)
    carried = c.turned(image).to(stored)
    squares = (image * image).sum(-1)
    law = walk_law(c.walk)
    products, excess = torch.empty_like(c.flips), torch.empty_like(squares)
    for rows in c.walk.blocks():
        weights = walk_rows(c.walk, law, rows).to(stored)
        ends = c.walk.successors(rows)
        share, rest = law.kernel_share[rows, None], law.cycle_share[rows, None]
        frames, field = c.frames.rows(rows), c.field[rows]
        for k, flip in enumerate(connection.flips):
            along = flip[:, None] * carried
            mean = blockwise.stored_product(weights, along).to(field.dtype)
            mean = share * mean + rest * along[ends].to(field.dtype)
            own = c.flips[k, rows, None]
            drop = frames.apply(own * field - frames.solve(mean))
            products[k, rows] = law.stationary[rows] * (own * image[rows] * drop).sum(-1)
        mean = share[:, 0] * (weights.to(squares.dtype) @ squares) + rest[:, 0] * squares[ends]
        excess[rows] = law.stationary[rows] * (squares[rows] - mean)
    sharding.completed(products, 1)
    sharding.completed(excess)
    return Generator(products, products - excess / 2, blockwise.pairwise_sum(products))


def right_side(connection: Connection, cell: Cell) -> Edges:
    """Side two, (1/2) sum_ij (flow i to j) |u_i - T_ij u_j|^2, every edge of a block formed."""
    c = connection.widened()
    n, d = c.field.shape
    carried = c.turned(c.frames.apply(c.field))
    flow, local = total_flow(c.walk), torch.empty_like(c.flips)
    # About eight arrays of one number an edge and feature live at once.
    for rows in c.walk.blocks(8 * n * d):
        frames, field = c.frames.rows(rows).edges(), c.field[rows][:, None]
        arrived = frames.solve(carried[None])
        apart, summed = (
            frames.apply(each).square_().sum(-1) for each in (field - arrived, field + arrived)
        )
        weights = flow_rows(c.walk, flow, rows)
        for k, flip in enumerate(c.flips):
            distances = torch.where(flip[rows, None] == flip, apart, summed)
            local[k, rows] = blockwise.pairwise_sum(weights * distances) / 2
    return Edges(local, blockwise.pairwise_sum(sharding.completed(local, 1)))


def comparisons(
    connection: Connection, cell: Cell, generator: Generator, edges: Edges, model: Precision
) -> Iterator[Comparison]:
    """Energies of all fields, and the identity at every token, against their bounds."""
    k = longest_sum(connection, cell)
    products, local, at_edges = _token_bounds(connection, model)
    n = local.shape[0]
    summing = gamma(math.ceil(math.log2(n)) if n > 1 else 0, model.wide.acc)
    lost = products.sum(0) + summing * (float64(generator.products).abs() + products).sum(-1)
    lost += at_edges.sum(-1) + summing * (float64(edges.local) + at_edges).sum(-1)
    yield compare("energy", generator.result, edges.result, lost * SPARE, k)
    yield compare("each token", generator.local, edges.local, (local + at_edges) * SPARE, k)


def _token_bounds(
    connection: Connection, model: Precision
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Bounds at the tokens: side one's products (n,) and local energies (n,), the same for every
    field, and side two's local energies (K, n).
    """
    frames, bound = frame_bound(connection.frames, model), kernel_bound(connection.walk, model)
    image = frames.applied(connection.field)
    carried = image[:, connection.order.to(image.error.device)]
    flips = float64(connection.flips)
    products, local = torch.empty_like(flips[0]), torch.empty_like(flips[0])
    at_edges, distances = torch.empty_like(flips), _Distances(connection, frames, carried)
    for rows in connection.walk.bound_blocks():
        weights = bound.attention(rows)
        product, excess = _generator_bound(connection, frames, image, carried, weights, bound, rows)
        products[rows] = product.error
        local[rows] = (
            product.error + excess.error / 2 + model.wide.acc * (product.computed + excess.computed)
        )
        at_edges[:, rows] = _edge_bound(distances, bound.flow(connection.walk, rows), flips, rows)
    sharding.completed(products)
    sharding.completed(local)
    return products, local, sharding.completed(at_edges, 1)


def _generator_bound(
    connection: Connection,
    frames: FrameBound,
    image: Rounded,
    carried: Rounded,
    weights: Rounded,
    bound: KernelBound,
    rows: slice,
) -> tuple[Rounded, Rounded]:
    """Bounds of pi_i <u_i, (L u)_i> and of pi_i times L of |u|^2 on a block of tokens (B,)."""
    model = bound.model
    ends = connection.walk.successors(rows).to(image.error.device)
    share, rest = bound.kernel_share[rows], bound.cycle_share[rows]
    weights, carried = _stored(weights, model), _stored(carried, model)
    mean = _stored(weights @ carried, model)
    mean = share.reshape(-1, 1) * mean + rest.reshape(-1, 1) * carried[ends]
    field = float64(connection.field[rows])
    lost = frames.rows(rows).residual_error(field, mean.computed, mean.error)
    drop = Rounded(image.magnitude[rows] + mean.magnitude, lost, model.wide)
    product = bound.stationary[rows] * (image[rows] * drop).sum(1)
    squares = (image * image).sum(1)
    mean = share * (weights @ squares.reshape(-1, 1)).reshape(-1) + rest * squares[ends]
    return product, bound.stationary[rows] * (squares[rows] - mean)


def _stored(value: Rounded, model: Precision) -> Rounded:
    """`value` rounded once to storage, whatever was stored."""
    if model.narrow.store == model.wide.store:
        return value
    error = value.error + model.narrow.store * value.computed + 2 * model.narrow.eta
    return Rounded(value.magnitude, error, model.wide)


class _Distances:
    """|A_i u_i -+ C U_j A_j u_j| at the edges of a block, and how far computed squares are off."""

    def __init__(self, connection: Connection, frames: FrameBound, carried: Rounded) -> None:
        self.model, self.width = frames.model, connection.field.shape[1]
        wide = connection.changed(float64)
        self.image = wide.frames.apply(wide.field)
        self.arrived, self.length = wide.turned(self.image), self.image.norm(dim=1)
        self.lost = carried.error.norm(dim=1)
        # |A| |A^{-1}| = I + w with at most one entry a row and column.
        self.spread = 1 + frames.twist.amax(1)
        self.own = frames.size(wide.field).norm(dim=1)
        self.underflow = self.width**0.5 * frames.underflow

    def squares(self, rows: slice) -> tuple[tuple[torch.Tensor, torch.Tensor], ...]:
        """Squared distances (B, n) and bounds on their computed ones' error, for - and for +."""
        u = self.model.wide
        reached = self.spread[rows, None] * (self.length + self.lost)
        off = gamma(ROUNDINGS, u.acc) * (self.own[rows, None] + reached)
        off += self.lost + self.underflow
        lengths = self.length[rows, None] ** 2 + self.length**2
        product = 2 * self.image[rows] @ self.arrived.mT
        found = []
        for square in (lengths - product, lengths + product):
            square = square.clamp_min_(0) + 4 * (self.width + 4) * 2.0**-53 * lengths
            size = square.sqrt()
            error = off * (2 * size + off) + gamma(self.width, u.acc) * (size + off) ** 2
            found.append((square, error + 2 * self.width * u.eta))
        return tuple(found)


def _edge_bound(
    distances: _Distances, flow: Rounded, flips: torch.Tensor, rows: slice
) -> torch.Tensor:
    """Bound of the energies at the tokens of a block, for every field (K, B)."""
    u, n = distances.model.wide, flips.shape[1]
    depth = math.ceil(math.log2(n)) if n > 1 else 0
    apart, summed = (
        flow.error * (square + error)
        + flow.magnitude * error
        + gamma(depth + 1, u.acc) * flow.computed * (square + error)
        + 4 * u.eta
        for square, error in distances.squares(rows)
    )
    # Fields of equal signs at i and j meet the difference, others the sum.
    either = (apart + summed).sum(-1)
    turned = flips @ (apart - summed).mT
    return (either + flips[:, rows] * turned) / 4
