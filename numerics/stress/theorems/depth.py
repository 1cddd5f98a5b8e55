"""CW11 on a device: frozen attention layers in sequence against the sum over words of heads.

One side applies the layers one after another: torch's fused attention of every head, then W_V and
W_O. The other multiplies, for every word of heads, the attention matrices into one sum over node
paths and the transports into one matrix, and applies both to the tokens once: H^L words for L
layers, (1 + H)^L in the cell `residual`, where a layer may also be passed by.
Words stand side by side in columns: Y is (n, words d), the head of the latest layer slowest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from numerics import blockwise
from numerics.evidence.comparison import Comparison, compare
from numerics.rounding.roundoff import Rounded
from numerics.stress import inputs
from numerics.stress.cell import Cell
from numerics.stress.inputs import Layer
from numerics.stress.rounding import (
    Precision,
    attend,
    library_weights,
    scores,
    values,
    walk_weights,
)

CELLS = ("two-layers", "three-layers", "residual")


@dataclass(frozen=True)
class Stack:
    """Layers applied to the tokens of the first, from first to last; their scores stay frozen."""

    layers: tuple[Layer, ...]

    @property
    def tokens(self) -> torch.Tensor:
        """The tokens (n, d) that the stack is applied to."""
        return self.layers[0].tokens


@dataclass(frozen=True)
class Layered:
    """Side one, a layer at a time: values (H, n, d_v), outputs (H, n, d_v), the sum over the heads
    (n, d) and the tokens after the layer (n, d).
    """

    values: list[torch.Tensor]
    outputs: list[torch.Tensor]
    mixed: list[torch.Tensor]
    tokens: list[torch.Tensor]

    @property
    def result(self) -> torch.Tensor:
        """The tokens (n, d) after the last layer."""
        return self.tokens[-1]


@dataclass(frozen=True)
class Words:
    """Side two: tokens averaged along the words of the first l < L layers (n, words d), transports
    of the heads (H, d, d) of each layer and of the words (words, d, d) of the first l layers, all
    in row form, and the result (n, d).
    """

    averaged: list[torch.Tensor]
    heads: list[torch.Tensor]
    transports: list[torch.Tensor]
    result: torch.Tensor


def draw(cell: Cell, device: torch.device) -> tuple[Stack, None]:
    """Two layers, three in the cell `three-layers`, each with scores and transports of its own."""
    depth = 3 if cell.name == "three-layers" else 2
    seeds = range(depth * cell.seed, depth * (cell.seed + 1))
    layers = (inputs.draw(replace(cell, seed=each), device) for each in seeds)
    return Stack(
        tuple(_thinned(layer, each) for layer, each in zip(layers, seeds, strict=True))
    ), None


def _thinned(layer: Layer, seed: int) -> Layer:
    """The layer with 4 nonzero entries in each row and column of W_V and W_O, of the same norm.

    The bound of a product of 2 L dense matrices with random signs exceeds its size by d^L.
    """
    source = torch.Generator().manual_seed(seed)
    d, few = layer.tokens.shape[1], min(4, layer.tokens.shape[1])

    def kept() -> torch.Tensor:
        order, columns, keep = (
            torch.randperm(d, generator=source),
            torch.arange(d),
            torch.zeros(d, d),
        )
        for shift in range(few):
            keep[order[(columns + shift) % d], columns] = (d / few) ** 0.5
        return keep.to(layer.tokens)

    w_v = layer.w_v * kept().reshape(d, layer.heads, -1).transpose(0, 1)
    return replace(layer, w_v=w_v, w_o=layer.w_o * kept().reshape(layer.w_o.shape))


def longest_sum(stack: Stack, cell: Cell) -> int:
    """Terms of the longest sum of either side: the tokens, or d for every word."""
    letters = stack.layers[0].heads + (cell.name == "residual")
    n, d = stack.tokens.shape
    return max(n, letters ** len(stack.layers) * d)


def operations(stack: Stack, cell: Cell) -> tuple[int, int]:
    """Floating-point operations of the matrix products of both sides."""
    (n, d), passes = stack.tokens.shape, cell.name == "residual"
    left = right = 0
    words = 1
    for place, layer in enumerate(stack.layers):
        heads, m, (width, d_v) = layer.heads, layer.keys, (layer.query.shape[2], layer.w_v.shape[2])
        left += heads * (m * d * d_v + n * m * (width + d_v) + n * d_v * d)
        right += heads * (d * d_v * d + n * m * width + n * m * words * d)
        # Transports of longer words are those of shorter ones times each head's.
        right += heads * words * d**3 if place else 0
        words *= heads + passes
    return 2 * left, 2 * (right + n * words * d * d)


def left_side(stack: Stack, cell: Cell) -> Layered:
    """Side one, W_L (... (W_1 X)) with W_l inside torch's own kernel; I + W_l in `residual`."""
    side, tokens = Layered([], [], [], []), stack.tokens
    for layer in stack.layers:
        carried = tokens @ layer.w_v
        outputs = blockwise.library_attention(layer.query, layer.key, carried, layer.scale)
        mixed = outputs.transpose(0, 1).flatten(1) @ layer.w_o.flatten(0, 1)
        tokens = tokens + mixed if cell.name == "residual" else mixed
        side.values.append(carried)
        side.outputs.append(outputs)
        side.mixed.append(mixed)
        side.tokens.append(tokens)
    return side


def right_side(stack: Stack, cell: Cell) -> Words:
    """Side two, sum over words of (A^{L,h_L} ... A^{1,h_1} X) (T^{1,h_1} ... T^{L,h_L})."""
    *inner, last = stack.layers
    passes = cell.name == "residual"
    heads = [blockwise.stored_product(layer.w_v, layer.w_o) for layer in stack.layers]
    transports = [_one_by_one(heads[0], passes)]
    for single in heads[1:]:
        transports.append(_longer(transports[-1], single, passes))
    averaged = [stack.tokens]
    for layer in inner:
        blocks = [_average(layer, averaged[-1], rows, passes) for rows in _rows(layer)]
        averaged.append(torch.cat(blocks))
    joint, result = transports[-1].flatten(0, 1), torch.empty_like(stack.tokens)
    for rows in _rows(last, joint.shape[0]):
        words = _average(last, averaged[-1], rows, passes)
        result[rows] = blockwise.stored_product(words, joint)
    return Words(averaged[1:], heads, transports, result)


def _rows(layer: Layer, columns: int = 1) -> Iterator[slice]:
    entries = max(layer.heads * layer.keys, columns)
    return blockwise.row_blocks(layer.query.shape[1], entries, layer.query.device)


def _average(layer: Layer, words: torch.Tensor, rows: slice, passes: bool) -> torch.Tensor:
    """Rows of A^h Y for every head h, side by side (B, H words d), after Y where a word passes."""
    attention = blockwise.softmax_rows(layer.query[:, rows], layer.key, layer.scale)
    steps = blockwise.stored_product(attention.to(words.dtype), words)
    steps = steps.transpose(0, 1).flatten(1)
    return torch.cat([words[rows], steps], 1) if passes else steps


def _one_by_one(single: torch.Tensor, passes: bool) -> torch.Tensor:
    """Transports of the words of one layer: its heads', after the identity where a word passes."""
    eye = torch.eye(single.shape[-1], dtype=single.dtype, device=single.device)[None]
    return torch.cat([eye, single]) if passes else single


def _longer(shorter: torch.Tensor, single: torch.Tensor, passes: bool) -> torch.Tensor:
    """Transports of the words longer by one layer, in the order of `_average`'s columns."""
    steps = blockwise.stored_product(shorter[None], single[:, None]).flatten(0, 1)
    return torch.cat([shorter, steps]) if passes else steps


def comparisons(
    stack: Stack, cell: Cell, layered: Layered, words: Words, model: Precision
) -> Iterator[Comparison]:
    """The tokens after all layers against their bound."""
    one = _layered_bound(stack, cell, layered, model)
    k = longest_sum(stack, cell)
    for rows, two in _words_bound(stack, cell, words, model):
        left, right = layered.result[rows], words.result[rows]
        yield compare("operator", left, right, one.error[rows] + two.error, k, rows.start)


def _layered_bound(stack: Stack, cell: Cell, layered: Layered, model: Precision) -> Rounded:
    tokens = model.enter(stack.tokens)
    for step, layer in enumerate(stack.layers):
        carried = values(model.store(tokens @ model.enter(layer.w_v), layered.values[step]))
        reference, blocks = scores(layer.key, layer.scale, model), []
        w_o = model.enter(layer.w_o.flatten(0, 1))
        for rows in _rows(layer):
            weights = library_weights(reference.rows(layer.query[:, rows]), model)
            fused = attend(weights, carried, layered.outputs[step][:, rows], model)
            blocks.append(fused.transpose(1, 0, 2).reshape(-1, w_o.shape[0]))
        mixed = model.store(_joined(blocks, 0) @ w_o, layered.mixed[step])
        passed = model.store(tokens + mixed, layered.tokens[step])
        tokens = passed if cell.name == "residual" else mixed
    return tokens


def _words_bound(
    stack: Stack, cell: Cell, words: Words, model: Precision
) -> Iterator[tuple[slice, Rounded]]:
    """Bound of side two by blocks of rows: the words of all layers are never held for all rows."""
    *inner, last = stack.layers
    passes, averaged = cell.name == "residual", model.enter(stack.tokens)
    for layer, stored in zip(inner, words.averaged, strict=True):
        blocks = [_average_bound(layer, averaged, rows, passes, model) for rows in _rows(layer)]
        averaged = _joined(blocks, 0).seen(stored)
    transports = _transports_bound(stack, passes, words, model)
    joint = transports.reshape(-1, transports.shape[-1])
    for rows in _rows(last, joint.shape[0]):
        joined = _average_bound(last, averaged, rows, passes, model)
        yield rows, model.store(joined @ joint, words.result[rows])


def _average_bound(
    layer: Layer, words: Rounded, rows: slice, passes: bool, model: Precision
) -> Rounded:
    """Bound of `_average`, rounded once to storage."""
    exact = scores(layer.key, layer.scale, model).rows(layer.query[:, rows])
    weight = walk_weights(exact, model, layer.keys + 2)
    size = words.computed
    error = weight.error @ size + weight.weights @ words.error
    error += weight.floor * size.sum(0) + 4 * layer.keys * model.wide.eta
    largest = weight.weights @ words.magnitude
    if model.narrow.store != model.wide.store:
        error += model.narrow.store * (largest + error) + 2 * model.narrow.eta
    steps = Rounded(largest, error, model.wide).transpose(1, 0, 2)
    steps = steps.reshape(rows.stop - rows.start, -1)
    return _joined([words[rows], steps], 1) if passes else steps


def _transports_bound(stack: Stack, passes: bool, words: Words, model: Precision) -> Rounded:
    """Bound of the transports of all words."""
    found: Rounded | None = None
    for layer, single, stored in zip(stack.layers, words.heads, words.transports, strict=True):
        head = model.store(model.enter(layer.w_v) @ model.enter(layer.w_o), single)
        d = single.shape[-1]
        if found is None:
            eye = model.enter(_one_by_one(single[:0], True))
            found = _joined([eye, head], 0) if passes else head
            continue
        count = found.shape[0]
        product = found.reshape(1, count, d, d) @ head.reshape(-1, 1, d, d)
        longer = model.store(product.reshape(-1, d, d), stored[count * passes :])
        found = _joined([found, longer], 0) if passes else longer
    assert found is not None
    return found


def _joined(parts: list[Rounded], axis: int) -> Rounded:
    """Arrays joined along an axis, without rounding."""
    magnitude = torch.cat([part.magnitude for part in parts], axis)
    error = torch.cat([part.error for part in parts], axis)
    return Rounded(magnitude, error, parts[0].units)
