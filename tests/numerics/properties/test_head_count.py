"""CW4 numerically: realignments, head counts of drawn layers, and falsehoods planted in both."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from numerics.properties import head_count
from numerics.walks.head_count import Head, least_heads, operator_schmidt_rank, softmax_heads
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)


def blocks_by_columns(_: Any, W: Any, n: int, m: int) -> Any:
    d_out, d_in = W.shape[0] // n, W.shape[1] // m
    return W.reshape(n, d_out, m, d_in).transpose(0, 2, 3, 1).reshape(n * m, d_out * d_in)


def transports_not_transposed(sound: Any, w_v: Any, w_o: Any) -> Any:
    product = sound(w_v, w_o)
    return product.transpose(0, 2, 1).reshape(product.shape)


def one_head_dropped(sound: Any, W: Any, n: int, m: int) -> tuple[Head, ...]:
    first, *rest = sound(W, n, m)
    zero = tuple((Fraction(0),) * len(row) for row in first.transport)
    return (replace(first, transport=zero), *rest)


def transports_not_rescaled(sound: Any, W: Any, n: int, m: int) -> tuple[Head, ...]:
    *rest, last = sound(W, n, m)
    halved = tuple(tuple(x / 2 for x in row) for row in last.transport)
    return (*rest, replace(last, transport=halved))


FALSEHOODS = {
    "blocks by columns": Plant("realignment", "realignment", blocks_by_columns),
    "rows of the block matrix": Plant("realignment", "realignment", lambda _, W, n, m: (
        W.reshape(n * m, W.size // (n * m)))),
    "transports not transposed": Plant(
        "realignment", "head_transports", transports_not_transposed),
    "one head dropped": Plant("one_more", "softmax_heads", one_head_dropped),
    "transports not rescaled": Plant("one_more", "softmax_heads", transports_not_rescaled),
}  # fmt: skip
ONE = np.ones((1, 1, 1))
CORNERS = {
    "zero head": head_count.Layer(ONE, 0 * ONE, ONE),
    "no key": head_count.Layer(np.zeros((2, 3, 2)), np.ones((2, 2, 1)), np.ones((2, 1, 3))),
    "zero": head_count.Operator(np.zeros((2, 2, 1, 1), dtype=int), np.float32),
    "one more head": head_count.Operator(np.array([[[[2]], [[-1]]], [[[1]], [[0]]]]), np.float64),
}


SHIFT_WITHOUT_POSITIVE = [[2, -1], [1, 0]]


def layer(
    rng: np.random.Generator, heads: int, n: int, m: int, d_out: int, d_in: int, same: bool = False
) -> list[list[Fraction]]:
    """sum_h A^h (x) T^h of small integer transports and positive rational row-stochastic A^h."""
    scores = rng.integers(1, 9, size=(heads, n, m))
    attention = [[[Fraction(int(x), int(row.sum())) for x in row] for row in a] for a in scores]
    transports = rng.integers(-9, 10, size=(heads, d_out, d_in))
    if same:
        transports[1:] = transports[:1]
    return [
        [
            sum(
                (attention[h][i][j] * int(transports[h, a, b]) for h in range(heads)),
                start=Fraction(0),
            )
            for j in range(m)
            for b in range(d_in)
        ]
        for i in range(n)
        for a in range(d_out)
    ]


SHAPES = [(2, 3, 3, 2, 2), (3, 2, 3, 2, 2), (4, 2, 3, 2, 2), (5, 2, 3, 2, 2), (3, 2, 2, 1, 1),
          (4, 2, 2, 3, 2), (2, 1, 1, 2, 2), (3, 1, 3, 2, 2)]  # fmt: skip


@pytest.mark.parametrize(("heads", "n", "m", "d_out", "d_in"), SHAPES)
def test_generic_heads_have_rank_min_of_heads_and_both_dimensions(
    heads: int, n: int, m: int, d_out: int, d_in: int
) -> None:
    W = layer(np.random.default_rng(4), heads, n, m, d_out, d_in)
    generic = min(heads, n * (m - 1) + 1, d_out * d_in)
    assert operator_schmidt_rank(W, n, m) == generic
    assert least_heads(W, n, m).heads <= heads


@pytest.mark.parametrize("heads", [2, 3])
def test_heads_with_one_transport_are_one_head(heads: int) -> None:
    W = layer(np.random.default_rng(4), heads, 3, 3, 2, 2, same=True)
    found = least_heads(W, 3, 3)
    assert (found.rank, found.heads) == (1, 1)


def test_no_layer_has_fewer_heads_than_the_rank_or_more_than_always_suffice() -> None:
    rng = np.random.default_rng(11)
    met = set()
    for _ in range(30):
        n, m, d_out, d_in = (int(rng.integers(1, 4)) for _ in range(4))
        blocks = rng.integers(-2, 3, size=(n, m, d_out, d_in))
        blocks[:, -1] += rng.integers(-2, 3, size=(d_out, d_in)) - blocks.sum(axis=1)
        W = blocks.transpose(0, 2, 1, 3).reshape(n * d_out, m * d_in)
        r = operator_schmidt_rank(W, n, m)
        heads = softmax_heads(W, n, m)
        assert len(heads) in (max(r, 1), r + 1)
        assert len(heads) <= min(n * (m - 1) + 1, d_out * d_in + 1)
        met.add(len(heads) - r)
    assert met == {0, 1}


def test_operator_of_rank_one_without_positive_element_needs_two_heads() -> None:
    assert operator_schmidt_rank(SHIFT_WITHOUT_POSITIVE, 2, 2) == 1
    found = least_heads(SHIFT_WITHOUT_POSITIVE, 2, 2)
    assert (found.heads, found.positive) == (2, None)
    assert found.annihilator is not None
    pairs = zip(found.annihilator, SHIFT_WITHOUT_POSITIVE, strict=True)
    assert sum(y * w for ys, ws in pairs for y, w in zip(ys, ws, strict=True)) == 0


def test_block_row_sums_that_depend_on_the_row_are_reached_by_no_heads() -> None:
    with pytest.raises(ValueError, match="block row sums that do not depend on the row"):
        least_heads([[1, 0], [0, 2]], 2, 2)


def test_rank_of_the_block_matrix_is_not_the_number_of_heads() -> None:
    third = Fraction(1, 3)
    W = np.kron([[2 * third, third], [third, 2 * third]], np.eye(2, dtype=int)).tolist()
    W = [[Fraction(x) for x in row] for row in W]
    assert operator_schmidt_rank(W, 2, 2) == 1
    assert operator_schmidt_rank(W, 4, 1) > 1
