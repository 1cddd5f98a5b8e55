"""CW11, depth.

paths: L frozen layers of several heads applied in turn against the sum over head words
h_L ... h_1 and node paths i_L ... i_0 of prod_l A^{l,h_l}_{i_l i_{l-1}} T^{L,h_L} ... T^{1,h_1}.
residual_paths: x + layer(x) in turn against x and the paths through every choice of layers.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import add, matmul, mul
from typing import Any

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.rounding import roundoff
from numerics.walks.walk import softmax_walk

CLAUSES = ("paths", "residual_paths")

# Where no query sees a key every path has weight 0, and nothing rounds.
MASKS = tuple(kind for kind in strategies.MASKS if kind != "all empty")


@dataclass(frozen=True)
class Sample:
    """A clause, attention (L, H, n, n), transports (L, H, d, d) and tokens x (n, d)."""

    clause: str
    attention: np.ndarray
    transports: np.ndarray
    x: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Up to three layers of up to three heads, masked, causal or killed, with zero heads."""
    depth = draw(st.sampled_from((1, 2, 2, 3, 3)))
    heads, n, d = (draw(st.sampled_from((1, 2, 2, 3, 3))) for _ in range(3))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    attention = softmax_walk(
        strategies.logits(draw, rng, (depth, heads, n, n), dtype),
        strategies.masks(draw, rng, n, n, MASKS),
    )
    scale = draw(st.sampled_from((1.0, 0.7, 0.7, 0.7, 1e-12)))
    transports = strategies.matrices(draw, rng, d, d, dtype, depth * heads)
    return Sample(
        clause=draw(st.sampled_from(CLAUSES)),
        attention=(attention * scale).astype(dtype),
        transports=transports.reshape(depth, heads, d, d),
        x=strategies.tokens(draw, rng, n, d, dtype),
    )


def layers_in_turn(attention: Any, transports: Any, x: Any, skip: bool) -> Any:
    """Tokens (n, d) after layers (H, n, n), (H, d, d), first one first; x + layer(x) with skip."""
    for weights, matrices in zip(attention, transports, strict=True):
        update = (weights @ (x @ matrices.transpose(0, 2, 1))).sum(axis=0)
        x = x + update if skip else update
    return x


def path_weights(attention: Any) -> Any:
    """Weights (H^s, n, n^(s-1), n) of all paths through s layers: word, end, nodes between, start.

    Nodes and heads of the last layer come first, as in a product of matrices.
    """
    s = len(attention)
    heads, n, _ = attention[0].shape

    def spread(place: int, weights: Any) -> Any:
        shape = [1] * (2 * s + 1)
        shape[place], shape[s + place], shape[s + place + 1] = heads, n, n
        return weights.reshape(*shape)

    factors = [spread(s - 1 - place, weights) for place, weights in enumerate(attention)]
    return reduce(mul, factors).reshape(heads**s, n, n ** (s - 1), n)


def word_transports(transports: Any) -> Any:
    """T^{s,h_s} ... T^{1,h_1} for all words of heads, (H^s, d, d)."""
    s = len(transports)
    heads, d, _ = transports[0].shape

    def spread(place: int, matrices: Any) -> Any:
        shape = [1] * s
        shape[place] = heads
        return matrices.reshape(*shape, d, d)

    factors = [spread(s - 1 - place, matrices) for place, matrices in enumerate(transports)]
    return reduce(matmul, reversed(factors)).reshape(heads**s, d, d)


def path_sum(attention: Any, transports: Any, x: Any) -> Any:
    """Sum over all words and node paths of weight times transport times x (n, d)."""
    weights = path_weights(attention).sum(axis=2)
    words, n, _ = weights.shape
    moved = x @ word_transports(transports).transpose(0, 2, 1)
    rows = weights.transpose(1, 0, 2).reshape(n, words * n)
    return rows @ moved.reshape(words * n, x.shape[1])


def residual_path_sum(attention: Any, transports: Any, x: Any) -> Any:
    """x and the sums over the paths through every nonempty choice of layers."""
    depth = len(attention)
    chosen = [c for s in range(1, depth + 1) for c in combinations(range(depth), s)]
    sums = [path_sum([attention[l] for l in c], [transports[l] for l in c], x) for c in chosen]
    return reduce(add, sums, x)


def residual(sample: Sample) -> Residual:
    """Layers in turn against the sum over paths, both replayed for the bound."""
    skip = sample.clause == "residual_paths"
    by_paths = residual_path_sum if skip else path_sum
    attention, transports, x = sample.attention, sample.transports, sample.x
    lhs = layers_in_turn(attention, transports, x, skip)
    rhs = by_paths(attention, transports, x)

    model = roundoff.units(x.dtype)
    weights = [roundoff.exact(layer, model) for layer in attention]
    matrices = [roundoff.exact(layer, model) for layer in transports]
    tokens = roundoff.exact(x, model)
    bound = layers_in_turn(weights, matrices, tokens, skip).error
    bound = bound + by_paths(weights, matrices, tokens).error
    depth, heads, n, _ = attention.shape
    return Residual(sample.clause, lhs, rhs, bound, max(heads**depth * n, n ** (depth - 1)))
