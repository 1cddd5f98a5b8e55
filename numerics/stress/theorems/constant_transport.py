"""CW1 on a device: a single head against the walk P (x) T with one transport for all edges.

One side is torch's fused attention followed by W_V, W_O and their biases; the other forms P by
separate code and T = (W_V W_O)^T, and adds rho_i W_O^T b_V + b_O. In the cell `sink` a further key
with score 0 and value 0 takes a share of every row: P is substochastic and rho_i varies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch.nn import functional

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.rounding.roundoff import Rounded
from numerics.stress import inputs
from numerics.stress.cell import Cell
from numerics.stress.inputs import Layer
from numerics.stress.rounding import (
    Precision,
    Values,
    WeightError,
    attend,
    library_weights,
    scores,
    values,
    walk_weights,
)

CELLS = ("kronecker", "sink")


@dataclass(frozen=True)
class Head:
    """Side one: X W_V (n, d_v), with bias and sink (1, m, d_v), heads' output (1, n, d_v), that
    times W_O (n, d), and the result (n, d) with b_O.
    """

    projected: torch.Tensor
    values: torch.Tensor
    outputs: torch.Tensor
    mixed: torch.Tensor
    result: torch.Tensor


@dataclass(frozen=True)
class Walk:
    """Side two: transport (d, d) in row form W_V W_O, carried tokens T x_j (n, d), W_O^T b_V (d,),
    row sums rho (n,), P (x) T applied to the tokens (n, d), and the result (n, d) with biases.
    """

    transport: torch.Tensor
    carried: torch.Tensor
    shift: torch.Tensor
    row_sums: torch.Tensor
    transported: torch.Tensor
    result: torch.Tensor


def draw(cell: Cell, device: torch.device) -> tuple[Layer, torch.Tensor]:
    """The layer of a cell and the tokens of its rows, deterministic in the arguments."""
    return select(inputs.draw(cell, device), cell)


def select(layer: Layer, cell: Cell) -> tuple[Layer, torch.Tensor]:
    """The layer a cell runs on, with the sink's key where it has one, and its query indices."""
    if cell.name == "sink":
        layer = replace(layer, key=functional.pad(layer.key, (0, 0, 0, 1)))
    return layer, torch.arange(layer.query.shape[1])


def longest_sum(layer: Layer, cell: Cell) -> int:
    """Terms of the longest sum of either side: the keys, at least d."""
    return max(layer.keys, layer.tokens.shape[1])


def operations(layer: Layer, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides."""
    (_, n, width), (tokens, d) = layer.query.shape, layer.tokens.shape
    d_v = layer.w_v.shape[2]
    projections = tokens * d * d_v + n * d_v * d
    left = projections + n * layer.keys * (width + d_v)
    transport = d * d_v * d + tokens * d * d + d_v * d
    return 2 * left, 2 * (transport + n * layer.keys * width + n * tokens * d)


def left_side(layer: Layer, cell: Cell) -> Head:
    """Side one, A (X W_V + 1 b_V^T) W_O + 1 b_O^T with A inside torch's own kernel."""
    n = layer.tokens.shape[0]
    projected = layer.tokens @ layer.w_v[0]
    biased = functional.pad(projected + layer.b_v, (0, 0, 0, layer.keys - n))[None]
    outputs = blockwise.library_attention(layer.query, layer.key, biased, layer.scale)
    mixed = outputs[0] @ layer.w_o[0]
    return Head(projected, biased, outputs, mixed, mixed + layer.b_o)


def right_side(layer: Layer, cell: Cell) -> Walk:
    """Side two, sum_j P_ij T x_j + rho_i W_O^T b_V + b_O, in blocks of queries."""
    transport = blockwise.stored_product(layer.w_v[0], layer.w_o[0])
    carried = blockwise.stored_product(layer.tokens, transport)
    shift = blockwise.stored_product(layer.b_v[None], layer.w_o[0])[0]
    n, tokens = layer.query.shape[1], layer.tokens.shape[0]
    transported = carried.new_empty(n, carried.shape[1])
    row_sums = layer.head_weights.new_empty(n)
    for rows in blockwise.row_blocks(n, layer.keys, carried.device):
        attention = blockwise.softmax_rows(layer.query[:, rows], layer.key, layer.scale)
        walk = attention[0, :, :tokens]
        row_sums[rows] = walk.sum(-1)
        transported[rows] = blockwise.stored_product(walk.to(carried.dtype), carried)
    wide = row_sums.dtype
    result = transported.to(wide) + row_sums[:, None] * shift.to(wide) + layer.b_o.to(wide)
    return Walk(transport, carried, shift, row_sums, transported, result.to(carried.dtype))


def comparisons(
    layer: Layer, cell: Cell, head: Head, walk: Walk, model: Precision
) -> Iterator[Comparison]:
    """Operator and, for a stochastic walk, row sums against their bounds, a block at a time."""
    head_values, carried, shift = _stored_values(layer, head, walk, model)
    w_o, b_o = model.enter(layer.w_o[0]), model.enter(layer.b_o)
    reference = scores(layer.key, layer.scale, model)
    k, tokens = longest_sum(layer, cell), layer.tokens.shape[0]
    unstored = replace(model, narrow=model.wide)
    for rows in blockwise.row_blocks(layer.query.shape[1], layer.keys, layer.query.device):
        exact = reference.rows(layer.query[:, rows])
        fused = attend(library_weights(exact, model), head_values, head.outputs[:, rows], model)
        one = model.store(fused[0] @ w_o, head.mixed[rows]) + b_o
        one = model.store(one, head.result[rows])
        weight = _tokens_only(walk_weights(exact, model, layer.keys + 2, None), tokens)
        moved = attend(weight, carried, walk.transported[rows], model)
        weight = _tokens_only(walk_weights(exact, unstored, layer.keys, None), tokens)
        lost = weight.error.sum(-1)[0] + tokens * weight.floor
        rho = Rounded(weight.weights.sum(-1)[0], lost, model.wide).seen(walk.row_sums[rows])
        two = moved + rho.reshape(-1, 1) * shift + b_o
        two = model.store(two, walk.result[rows])
        yield compare(
            "operator", head.result[rows], walk.result[rows], one.error + two.error, k, rows.start
        )
        if cell.name == "kronecker":
            sums = walk.row_sums[rows]
            yield compare("row sums", sums, torch.ones_like(sums), lost, layer.keys, rows.start)


def _stored_values(
    layer: Layer, head: Head, walk: Walk, model: Precision
) -> tuple[Values, Values, Rounded]:
    """Bounds of the head's values, the carried tokens X (W_V W_O) and the shift W_O^T b_V."""
    arrays = (layer.tokens, layer.w_v[0], layer.w_o[0], layer.b_v[None])
    tokens, w_v, w_o, b_v = (model.enter(array) for array in arrays)
    n = layer.tokens.shape[0]
    biased = model.store(tokens @ w_v, head.projected) + b_v
    biased = model.store(biased, head.values[0, :n])
    sink = (0, 0, 0, layer.keys - n)
    padded = replace(
        biased,
        magnitude=functional.pad(biased.magnitude, sink),
        error=functional.pad(biased.error, sink),
    )
    transport = model.store(w_v @ w_o, walk.transport)
    carried = model.store(tokens @ transport, walk.carried)
    shift = model.store(b_v @ w_o, walk.shift[None])
    return values(_one_head(padded)), values(_one_head(carried)), shift


def _one_head(rows: Rounded) -> Rounded:
    return rows.reshape(1, *rows.shape)


def _tokens_only(weight: WeightError, tokens: int) -> WeightError:
    """The weights without the sink's column."""
    return replace(weight, weights=weight.weights[..., :tokens], error=weight.error[..., :tokens])
