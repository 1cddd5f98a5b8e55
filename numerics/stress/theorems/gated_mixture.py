"""CW2 on a device: the sum of the heads against one walk with gated transports.

One side is torch's fused attention of every head, followed by W_V and W_O; the other forms the walk
matrix, the gates and the transports by separate code. Compared besides the operator: the gates sum
to 1 on the walk's support, and the walk's rows to the sum of the head weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.rounding.roundoff import Rounded, gamma
from numerics.stress import inputs, sharding
from numerics.stress.cell import Cell
from numerics.stress.inputs import Layer
from numerics.stress.rounding import (
    Precision,
    Values,
    attend,
    attention_error,
    float64,
    library_weights,
    scores,
    values,
    walk_weights,
)

CELLS = ("gates", "edge")
EDGE_ROWS = 1024
EDGE_SAMPLE = 128
BOUND_ROWS = 2**14
"""Queries up to which every row is compared: the bound takes far longer than the walk."""


@dataclass(frozen=True)
class Heads:
    """Side one: values (H, m, d_v) and outputs (H, n, d_v) of the heads, and their sum (n, d)."""

    values: torch.Tensor
    outputs: torch.Tensor
    result: torch.Tensor


@dataclass(frozen=True)
class Walk:
    """Side two: transports (H, d, d) in row form W_V W_O, carried tokens T^h x_j (H, m, d), the
    result (n, d), row sums (n,) of P and, per row, the largest |sum_h g^h_ij - 1| (n,).
    """

    transports: torch.Tensor
    carried: torch.Tensor
    result: torch.Tensor
    row_sums: torch.Tensor
    gate_defects: torch.Tensor


def draw(cell: Cell, device: torch.device) -> tuple[Layer, torch.Tensor]:
    """The layer of a cell and the tokens of its rows, deterministic in the arguments."""
    return select(inputs.draw(cell, device), cell)


def select(layer: Layer, cell: Cell) -> tuple[Layer, torch.Tensor]:
    """The layer a cell runs on and its query indices (B,): all, or a seeded sample for `edge`."""
    n = layer.query.shape[1]
    rows = torch.arange(n)
    if cell.name == "edge" and n > EDGE_ROWS:
        shuffled = torch.randperm(n, generator=torch.Generator().manual_seed(cell.seed))
        rows = shuffled[:EDGE_SAMPLE].sort().values
        layer = layer.at_rows(rows.to(layer.query.device))
    return layer, rows


def left_side(layer: Layer, cell: Cell) -> Heads:
    """Side one, sum_h A^h X W_V^h W_O^h with A^h inside torch's own kernel."""
    tokens, queries, w_o = layer.tokens, layer.query, layer.w_o.flatten(0, 1)
    n = queries.shape[1]
    values = sharding.by_rows(lambda rows: tokens[rows] @ layer.w_v, layer.keys, 1)

    def attended(rows: slice) -> torch.Tensor:
        return blockwise.library_attention(queries[:, rows], layer.key, values, layer.scale)

    outputs = sharding.by_rows(attended, n, 1)
    joined = outputs.transpose(0, 1).flatten(1)
    return Heads(values, outputs, sharding.by_rows(lambda rows: joined[rows] @ w_o, n))


def right_side(layer: Layer, cell: Cell) -> Walk:
    """Side two, sum_j P_ij T_ij x_j with T_ij = sum_h g^h_ij T^h / w_h, in blocks of queries."""
    transports = blockwise.stored_product(layer.w_v, layer.w_o)

    def moved(rows: slice) -> torch.Tensor:
        return blockwise.stored_product(layer.tokens[rows], transports)

    carried = sharding.by_rows(moved, layer.keys, 1)
    product = blockwise.edge_product if cell.name == "edge" else blockwise.gated_product
    n, d = layer.query.shape[1], carried.shape[2]
    result = carried.new_empty(n, d)
    row_sums = layer.head_weights.new_empty(n)
    gate_defects = layer.head_weights.new_empty(n)
    row_entries = layer.keys * (max(layer.heads, d) if cell.name == "edge" else layer.heads)
    for rows in sharding.row_blocks(n, row_entries, carried.device):
        attention = blockwise.softmax_rows(layer.query[:, rows], layer.key, layer.scale)
        walk, gates = blockwise.walk_and_gates(attention, layer.head_weights)
        row_sums[rows] = walk.sum(-1)
        gate_defects[rows] = (gates.sum(0) - (walk > 0).to(walk.dtype)).abs().amax(-1)
        result[rows] = product(walk, gates, layer.head_weights, carried)
    for part in (result, row_sums, gate_defects):
        sharding.completed(part)
    return Walk(transports, carried, result, row_sums, gate_defects)


def longest_sum(layer: Layer, cell: Cell) -> int:
    """Terms of the longest sum of either side: H m with the heads regrouped, else m, at least d."""
    terms = layer.keys * (layer.heads if cell.name == "gates" else 1)
    return max(terms, layer.tokens.shape[1])


def operations(layer: Layer, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides, of this rank's rows."""
    (heads, n, width), d = layer.query.shape, layer.tokens.shape[1]
    m, d_v = layer.keys, layer.w_v.shape[2]
    own, tokens = sharding.own_count(n), sharding.own_count(m)
    left = heads * (tokens * d * d_v + own * m * (width + d_v) + own * d_v * d)
    carried = heads * (d * d_v * d + tokens * d * d)
    # By edges the mixture of the transports is applied to the tokens after it is formed.
    walk = own * m * d * (heads + 1 if cell.name == "edge" else heads)
    return 2 * left, 2 * (carried + heads * own * m * width + walk)


def comparisons(
    layer: Layer, cell: Cell, heads: Heads, walk: Walk, model: Precision
) -> Iterator[Comparison]:
    """Operator, row sums and gate sums against their bounds, a block of queries at a time.

    Beyond BOUND_ROWS queries these are some of the blocks, spread over all; the names say so.
    """
    joint_w_o = model.enter(layer.w_o.flatten(0, 1))
    bounds = _head_errors(layer, cell, heads, walk, model)
    k, row_terms = longest_sum(layer, cell), _row_terms(layer)
    total = float64(layer.head_weights).sum()
    gate_bound = gamma(2 * layer.heads + 4, model.wide.acc) + 4 * layer.heads * model.wide.eta
    blocks = _checked_blocks(layer)
    stride = _stride(layer)
    part = "" if stride == 1 else f" in one block of {stride}"
    for rows in blocks:
        error = bounds.joined[rows]
        joined = Rounded(torch.full_like(error, torch.inf), error, model.wide)
        joined = joined.seen(heads.outputs[:, rows].transpose(0, 1).flatten(1))
        one = model.store(joined @ joint_w_o, heads.result[rows])
        error = bounds.walk[rows]
        two = Rounded(torch.full_like(error, torch.inf), error, model.wide)
        two = model.store(two, walk.result[rows])
        yield compare(
            f"operator{part}", heads.result[rows], walk.result[rows], one.error + two.error, k,
            rows.start,
        )  # fmt: skip
        row_bound = bounds.row_sums[rows]
        yield compare(
            f"row sums{part}", walk.row_sums[rows], total.expand_as(row_bound), row_bound,
            row_terms, rows.start,
        )  # fmt: skip
        defects = walk.gate_defects[rows]
        yield compare(
            f"gate sums{part}", defects, torch.zeros_like(defects),
            torch.full_like(row_bound, gate_bound), layer.heads, rows.start,
        )  # fmt: skip


@dataclass(frozen=True)
class _Errors:
    """Errors of the heads' outputs side by side (n, H d_v), of the walk's rows before they are
    stored (n, d), and of its row sums (n,).
    """

    joined: torch.Tensor
    walk: torch.Tensor
    row_sums: torch.Tensor


def _head_errors(layer: Layer, cell: Cell, heads: Heads, walk: Walk, model: Precision) -> _Errors:
    """Head after head: float64 bounds of all heads' carried tokens at once would be far larger than
    the tokens.
    """
    n, width = layer.query.shape[1], layer.w_v.shape[2]
    head_weights, row_terms = float64(layer.head_weights), _row_terms(layer)
    roundings = 8 + (longest_sum(layer, cell) if cell.name == "gates" else row_terms)
    # P is never rounded to storage: its rows are summed as they were accumulated.
    unstored = replace(model, narrow=model.wide)
    joined = head_weights.new_zeros(n, layer.heads * width)
    found = _Errors(joined, head_weights.new_zeros(n, walk.carried.shape[2]),
                    head_weights.new_zeros(n))  # fmt: skip
    for h in range(layer.heads):
        head = slice(h, h + 1)
        head_values, carried = _stored_values(layer, heads, walk, model, head)
        reference = scores(layer.key[head], layer.scale, model)
        for rows in _checked_blocks(layer):
            exact = reference.rows(layer.query[head, rows])
            weight = library_weights(exact, model)
            fused = attend(weight, head_values, heads.outputs[head, rows], model)
            found.joined[rows, h * width : (h + 1) * width] = fused.error[0]
            weight = walk_weights(exact, model, roundings, layer.head_weights)
            found.walk[rows] += attention_error(weight, carried, model)[0]
            weight = walk_weights(exact, unstored, 8 + row_terms, layer.head_weights)
            lost = weight.error.sum(-1) + layer.keys * weight.floor
            found.row_sums[rows] += head_weights[h] * lost[0]
    return found


def _row_terms(layer: Layer) -> int:
    return layer.keys + 2 * layer.heads


def _stride(layer: Layer) -> int:
    return math.ceil(layer.query.shape[1] / BOUND_ROWS)


def _checked_blocks(layer: Layer) -> list[slice]:
    """Blocks of queries whose bounds are formed: all, or every few beyond BOUND_ROWS."""
    n = layer.query.shape[1]
    # A block holds several float64 arrays.
    return list(sharding.row_blocks(n, 4 * layer.keys, layer.query.device))[:: _stride(layer)]


def _stored_values(
    layer: Layer, heads: Heads, walk: Walk, model: Precision, head: slice
) -> tuple[Values, Values]:
    """Bounds of a head's values X W_V^h and of its carried tokens X (W_V^h W_O^h)."""
    tokens, w_v, w_o = (
        model.enter(array) for array in (layer.tokens, layer.w_v[head], layer.w_o[head])
    )
    head_values = model.store(tokens @ w_v, heads.values[head])
    transports = model.store(w_v @ w_o, walk.transports[head])
    return values(head_values), values(model.store(tokens @ transports, walk.carried[head]))
