"""CW4, how many heads an operator needs.

realignment: row (i, j) of R(W), with W the layer sum_h A^h X W_V^h W_O^h read off from basis
tokens X, against sum_h vec(A^h) vec(T^h)^T.
one_more: as many softmax heads as the rank says (or one more), found exactly and stored in floating
point, against the W with constant block row sums that they were found for.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding import roundoff
from numerics.walks.head_count import realignment, softmax_heads
from numerics.walks.transports import head_transports
from numerics.walks.walk import softmax_walk

CLAUSES = ("realignment", "one_more")

# Where no query sees a key both sides are zero, and weights of one key are 1: nothing rounds.
MASKS = tuple(kind for kind in strategies.MASKS if kind != "all empty")
SCALES = (1.0, 0.7, 0.7, 0.7)


@dataclass(frozen=True)
class Layer:
    """Attention (H, n, m) and the weights w_v (H, d_in, d_v), w_o (H, d_v, d_out) of its heads."""

    attention: np.ndarray
    w_v: np.ndarray
    w_o: np.ndarray
    clause: str = "realignment"


@dataclass(frozen=True)
class Operator:
    """Integer blocks (n, m, d_out, d_in) whose row sums do not depend on the row, and a dtype."""

    blocks: np.ndarray
    dtype: type
    clause: str = "one_more"


Sample: TypeAlias = Layer | Operator


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Layers of up to four heads, masked or killed, some zero; integer operators of every rank."""
    size, dtype = draw(strategies.sizes()), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    if draw(st.sampled_from(CLAUSES)) == "one_more":
        return _operator(draw, rng, dtype)
    attention = softmax_walk(
        strategies.logits(draw, rng, (size.heads, size.n, size.m), dtype),
        strategies.masks(draw, rng, size.n, size.m, MASKS),
    )
    scale = draw(st.sampled_from((*SCALES, float(np.finfo(dtype).tiny))))
    return Layer(
        attention=(attention * scale).astype(dtype),
        w_v=strategies.matrices(draw, rng, size.d_in, size.d_v, dtype, size.heads),
        w_o=strategies.matrices(draw, rng, size.d_v, size.d_out, dtype, size.heads),
    )


def _operator(draw: strategies.Draw, rng: np.random.Generator, dtype: type) -> Operator:
    """Blocks with last column total - others, by integer matrices of inner width up to 4."""
    n, m, d_out, d_in = (draw(st.integers(1, 3)) for _ in range(4))
    width = draw(st.integers(1, 4))
    left = rng.integers(-3, 4, size=(n, m, width))
    left[:, -1] += rng.integers(-3, 4, size=width) - left.sum(axis=1)
    right = rng.integers(-3, 4, size=(width, d_out, d_in))
    return Operator(np.einsum("ijh,hab->ijab", left, right), dtype)


def hypotheses(sample: Sample) -> Iterator[Held]:
    """The block rows of an operator of softmax heads have one sum."""
    if isinstance(sample, Operator):
        V = sample.blocks.astype(np.float64)
        sums = {"V": V, "V_+": V[0].sum(axis=0)}
        yield Held("block rows of V sum to V_+", sums, clause="column_space")


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _realignment(sample) if isinstance(sample, Layer) else _heads(sample)


def _realignment(layer: Layer) -> Residual:
    """The layer's own products on basis tokens against one product of inner width H."""
    a, w_v, w_o = layer.attention, layer.w_v, layer.w_o
    heads, n, m = a.shape
    d_in, d_v, d_out = w_v.shape[1], w_v.shape[2], w_o.shape[2]
    tokens = np.eye(m * d_in, dtype=a.dtype).reshape(m * d_in, m, d_in)
    outputs = np.zeros((m * d_in, n, d_out), a.dtype)
    for weights, read, write in zip(a, w_v, w_o, strict=True):
        outputs = outputs + (weights @ (tokens @ read)) @ write
    lhs = realignment(outputs.reshape(m * d_in, n * d_out).T, n, m)
    transports = head_transports(w_v, w_o)
    rhs = a.reshape(heads, n * m).T @ transports.reshape(heads, d_out * d_in)

    model = roundoff.units(a.dtype)
    walk, value, output = (roundoff.exact(part, model) for part in (a, w_v, w_o))
    # Products with the zeros and the one of a basis token are exact: A_ij times a row is left.
    read = walk.reshape(heads, n, m, 1, 1) * value.reshape(heads, 1, 1, d_in, d_v)
    layers = (read @ output.reshape(heads, 1, 1, d_v, d_out)).sum(axis=0)
    blocks = layers.transpose(0, 1, 3, 2).reshape(n * m, d_out * d_in)
    flat = (value @ output).transpose(0, 2, 1).reshape(heads, d_out * d_in)
    product = walk.reshape(heads, n * m).transpose(1, 0) @ flat
    return Residual(layer.clause, lhs, rhs, blocks.error + product.error, max(heads, d_v))


def _heads(operator: Operator) -> Residual:
    """sum_h vec(A^h) vec(T^h)^T, with heads that are stored once, against the blocks."""
    n, m, d_out, d_in = operator.blocks.shape
    matrix = operator.blocks.transpose(0, 2, 1, 3).reshape(n * d_out, m * d_in)
    found = softmax_heads(matrix, n, m)
    (a, attention), (t, transports) = (
        _stored([[x for row in part for x in row] for part in parts], operator.dtype)
        for parts in ([head.attention for head in found], [head.transport for head in found])
    )
    rhs = operator.blocks.reshape(n * m, d_out * d_in).astype(operator.dtype)
    bound = (attention.transpose(1, 0) @ transports).error
    return Residual(operator.clause, a.T @ t, rhs, bound, len(found))


def _stored(rows: list[list[Fraction]], dtype: type) -> tuple[np.ndarray, roundoff.Rounded]:
    """Rationals rounded to the dtype: by one unit, or float32 by one and a float64's beside it."""
    model = roundoff.units(dtype)
    values = np.array([[float(x) for x in row] for row in rows])
    magnitude = np.abs(values) * (1 + 2.0**-52)
    error = model.store * (1 + 2.0**-20) * magnitude + model.eta
    return values.astype(dtype), roundoff.Rounded(magnitude, error, model)
