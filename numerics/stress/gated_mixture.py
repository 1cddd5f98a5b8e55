"""CW2 on a device: the sum of the heads against one walk with gated transports.

One side is torch's fused attention of every head, followed by W_V and W_O; the other forms the walk
matrix, the gates and the transports by separate code. Compared besides the operator: the gates sum
to 1 on the walk's support, and the walk's rows to the sum of the head weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from numerics import blockwise
from numerics.roundoff import gamma
from numerics.stress import inputs
from numerics.stress.comparison import Comparison, compare
from numerics.stress.inputs import Layer
from numerics.stress.rounding import (
    Precision,
    Values,
    attend,
    float64,
    library_weights,
    scores,
    values,
    walk_weights,
)

CELLS = ("gates", "edge")
EDGE_ROWS = 1024
EDGE_SAMPLE = 128


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


def draw(
    cell: str, n: int, d: int, heads: int, dtype: torch.dtype, device: torch.device, seed: int
) -> tuple[Layer, torch.Tensor]:
    """The layer of a cell and the tokens of its rows, deterministic in the arguments."""
    return select(inputs.draw(n, d, heads, dtype, device, seed), cell, seed)


def select(layer: Layer, cell: str, seed: int) -> tuple[Layer, torch.Tensor]:
    """The layer a cell runs on and its query indices (B,): all, or a seeded sample for `edge`."""
    n = layer.query.shape[1]
    rows = torch.arange(n)
    if cell == "edge" and n > EDGE_ROWS:
        shuffled = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
        rows = shuffled[:EDGE_SAMPLE].sort().values
        layer = layer.at_rows(rows.to(layer.query.device))
    return layer, rows


def left_side(layer: Layer, cell: str) -> Heads:
    """Side one, sum_h A^h X W_V^h W_O^h with A^h inside torch's own kernel."""
    del cell
    values = layer.tokens @ layer.w_v
    outputs = blockwise.library_attention(layer.query, layer.key, values, layer.scale)
    joined = outputs.transpose(0, 1).flatten(1)
    return Heads(values, outputs, joined @ layer.w_o.flatten(0, 1))


def right_side(layer: Layer, cell: str) -> Walk:
    """Side two, sum_j P_ij T_ij x_j with T_ij = sum_h g^h_ij T^h / w_h, in blocks of queries."""
    transports = blockwise.stored_product(layer.w_v, layer.w_o)
    carried = blockwise.stored_product(layer.tokens, transports)
    product = blockwise.edge_product if cell == "edge" else blockwise.gated_product
    n, d = layer.query.shape[1], carried.shape[2]
    result = carried.new_empty(n, d)
    row_sums = layer.head_weights.new_empty(n)
    gate_defects = layer.head_weights.new_empty(n)
    row_entries = layer.keys * (max(layer.heads, d) if cell == "edge" else layer.heads)
    for rows in blockwise.row_blocks(n, row_entries, carried.device):
        attention = blockwise.softmax_rows(layer.query[:, rows], layer.key, layer.scale)
        walk, gates = blockwise.walk_and_gates(attention, layer.head_weights)
        row_sums[rows] = walk.sum(-1)
        gate_defects[rows] = (gates.sum(0) - (walk > 0).to(walk.dtype)).abs().amax(-1)
        result[rows] = product(walk, gates, layer.head_weights, carried)
    return Walk(transports, carried, result, row_sums, gate_defects)


def longest_sum(layer: Layer, cell: str) -> int:
    """Terms of the longest sum of either side: H m with the heads regrouped, else m, at least d."""
    terms = layer.keys * (layer.heads if cell == "gates" else 1)
    return max(terms, layer.tokens.shape[1])


def comparisons(
    layer: Layer, cell: str, heads: Heads, walk: Walk, model: Precision
) -> Iterator[Comparison]:
    """Operator, row sums and gate sums against their bounds, a block of queries at a time."""
    joint_w_o = model.enter(layer.w_o.flatten(0, 1))
    head_values, carried = _stored_values(layer, heads, walk, model)
    reference = scores(layer.key, layer.scale, model)
    k, row_terms = longest_sum(layer, cell), layer.keys + 2 * layer.heads
    roundings = 8 + (k if cell == "gates" else row_terms)
    head_weights = float64(layer.head_weights)
    gate_bound = gamma(2 * layer.heads + 4, model.wide.acc) + 4 * layer.heads * model.wide.eta
    n = layer.query.shape[1]
    for rows in blockwise.row_blocks(n, layer.keys * layer.heads, layer.query.device):
        exact = reference.rows(layer.query[:, rows])
        fused = attend(library_weights(exact, model), head_values, heads.outputs[:, rows], model)
        joined = fused.transpose(1, 0, 2).reshape(-1, joint_w_o.shape[0])
        one = model.store(joined @ joint_w_o, heads.result[rows])
        weight = walk_weights(exact, model, roundings, layer.head_weights)
        two = attend(weight, carried, walk.result[rows], model)
        yield compare(
            "operator", heads.result[rows], walk.result[rows], one.error + two.error, k, rows.start
        )
        # P is never rounded to storage: its rows are summed as they were accumulated.
        unstored = replace(model, narrow=model.wide)
        weight = walk_weights(exact, unstored, 8 + row_terms, layer.head_weights)
        lost = weight.error.sum(-1) + layer.keys * weight.floor
        row_bound = (head_weights[:, None] * lost).sum(0)
        yield compare(
            "row sums",
            walk.row_sums[rows],
            head_weights.sum().expand_as(row_bound),
            row_bound,
            row_terms,
            rows.start,
        )
        defects = walk.gate_defects[rows]
        yield compare(
            "gate sums",
            defects,
            torch.zeros_like(defects),
            torch.full_like(row_bound, gate_bound),
            layer.heads,
            rows.start,
        )


def _stored_values(
    layer: Layer, heads: Heads, walk: Walk, model: Precision
) -> tuple[Values, Values]:
    """Bounds of the heads' values X W_V^h and of the carried tokens X (W_V^h W_O^h)."""
    tokens, w_v, w_o = (model.enter(array) for array in (layer.tokens, layer.w_v, layer.w_o))
    head_values = model.store(tokens @ w_v, heads.values)
    transports = model.store(w_v @ w_o, walk.transports)
    return values(head_values), values(model.store(tokens @ transports, walk.carried))
