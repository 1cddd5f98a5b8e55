"""CW2, multi-head = one edge-dependent walk.

gates: sum_h A^h X W_V^{kv(h)} W_O^h = the walk (P, T), P = sum_h w_h A^h,
T_ij = sum_h g^h_ij T^h / w_h, g^h_ij = w_h A^h_ij / P_ij on the support of P, for any w > 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding import roundoff
from numerics.walks.transports import head_transports, head_weights
from numerics.walks.walk import multi_head_walk, softmax_walk

CLAUSE = "gates"


@dataclass(frozen=True)
class Sample:
    """Logits (H, n, m), mask, scale of A, tokens (m, d_in), w_v (H_kv, ...), w_o (H, ...), w."""

    logits: np.ndarray
    allowed: np.ndarray | None
    scale: float
    x: np.ndarray
    w_v: np.ndarray
    w_o: np.ndarray
    weights: np.ndarray | None

    def attention(self) -> np.ndarray:
        """A (H, n, m); scale < 1 makes killed walks, down to subnormal entries."""
        attention = softmax_walk(self.logits, self.allowed)
        return (attention * self.scale).astype(attention.dtype)


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Layers of up to four heads, grouped queries, masks, zero heads, subnormal attention."""
    size, dtype = draw(strategies.sizes()), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    tiny = 5 * float(np.finfo(dtype).smallest_subnormal)
    return Sample(
        logits=strategies.logits(draw, rng, (size.heads, size.n, size.m), dtype),
        allowed=strategies.masks(draw, rng, size.n, size.m),
        scale=draw(st.sampled_from((1.0, 1.0, 1.0, 0.5, tiny))),
        x=strategies.tokens(draw, rng, size.m, size.d_in, dtype),
        w_v=strategies.matrices(draw, rng, size.d_in, size.d_v, dtype, size.kv_heads),
        w_o=strategies.matrices(draw, rng, size.d_v, size.d_out, dtype, size.heads),
        weights=strategies.head_weights(draw, rng, size.heads, dtype),
    )


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Attention is nonnegative and the weights of the heads are positive."""
    yield Held("A>=0", {"A": sample.attention()})
    if sample.weights is not None:
        yield Held("w>0", {"w": sample.weights})


def residual(sample: Sample) -> Residual:
    """The layer head by head, as a model computes it, against the one walk."""
    attention, x = sample.attention(), sample.x
    read = np.repeat(sample.w_v, len(sample.w_o) // len(sample.w_v), axis=0)
    lhs = np.zeros((attention.shape[1], sample.w_o.shape[2]), x.dtype)
    for a, w_v, w_o in zip(attention, read, sample.w_o, strict=True):
        lhs = lhs + (a @ (x @ w_v)) @ w_o
    transports = head_transports(sample.w_v, sample.w_o)
    rhs = multi_head_walk(attention, transports, sample.weights).apply(x)

    weights = head_weights(attention, sample.weights)
    bound = _heads_error(attention, x, read, sample.w_o) + _walk_error(
        attention, x, read, sample.w_o, weights
    )
    k = max(*read.shape, x.shape[0])
    return Residual(CLAUSE, lhs, rhs, bound, k)


def _heads_error(
    attention: np.ndarray, x: np.ndarray, read: np.ndarray, w_o: np.ndarray
) -> np.ndarray:
    """Error of the per-head sum: one head's products, then one addition a head."""
    model = roundoff.units(x.dtype)
    a, tokens, value, output = (roundoff.exact(part, model) for part in (attention, x, read, w_o))
    return ((a @ (tokens @ value)) @ output).sum(axis=0).error


def _walk_error(
    attention: np.ndarray, x: np.ndarray, read: np.ndarray, w_o: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Error of gates, mixture and edgewise application, in multi_head_walk's order."""
    heads, n, m = attention.shape
    model = roundoff.units(x.dtype)
    a, tokens, value, output, w = (
        roundoff.exact(part, model) for part in (attention, x, read, w_o, weights)
    )
    peak = attention.max(axis=0)
    safe = np.where(peak > 0, peak, 1).astype(x.dtype)
    shares = w.reshape(heads, 1, 1) * (a / roundoff.exact(safe, model))
    total = (weights[:, None, None] * (attention / safe)).sum(axis=0)
    gates = shares.divide(shares.sum(axis=0).where(peak > 0), np.where(peak > 0, total, 1))
    transports = (value @ output).transpose(0, 2, 1)
    d_out, d_in = transports.shape[1:]
    scaled = (gates / w.reshape(heads, 1, 1)).reshape(heads, n * m).transpose(1, 0)
    edges = (scaled @ transports.reshape(heads, d_out * d_in)).reshape(n, m, d_out, d_in)
    moved = (edges @ tokens.reshape(1, m, d_in, 1)).reshape(n, m, d_out)
    walk = (w.reshape(1, heads) @ a.reshape(heads, n * m)).reshape(n, m, 1)
    return (walk * moved).sum(axis=1).error
