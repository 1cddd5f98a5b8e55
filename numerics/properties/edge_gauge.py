"""CW3, edge gauge.

same_operator: (P, T) and its Frobenius gauge, P'_ij = c_ij / sum_k c_ik with
c_ij = ||P_ij T_ij||_F and T'_ij = P_ij T_ij / P'_ij, are one operator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics import roundoff, strategies
from numerics.properties import Residual
from numerics.transports import block_norms, frobenius_factors, frobenius_gauge
from numerics.walks import Walk, softmax_walk

CLAUSE = "same_operator"


@dataclass(frozen=True)
class Sample:
    """A walk (weights (n, m), constant or edgewise transports) and tokens x (m, d_in)."""

    walk: Walk
    x: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Walks with masked rows, zero and rescaled transports, row sums other than 1."""
    size, dtype = draw(strategies.sizes()), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    weights = softmax_walk(
        strategies.logits(draw, rng, (size.n, size.m), dtype),
        strategies.masks(draw, rng, size.n, size.m),
    )
    scale = draw(st.sampled_from((1.0, 1.0, 0.5, 3.0, float(np.finfo(dtype).tiny))))
    weights = (weights * scale).astype(dtype)
    if draw(st.booleans()):
        edges = strategies.matrices(draw, rng, size.d_out, size.d_in, dtype)
    else:
        edges = strategies.matrices(draw, rng, size.d_out, size.d_in, dtype, size.n * size.m)
        edges = edges.reshape(size.n, size.m, size.d_out, size.d_in)
    return Sample(Walk(weights, edges), strategies.tokens(draw, rng, size.m, size.d_in, dtype))


def residual(sample: Sample) -> Residual:
    """The walk applied to x against its Frobenius gauge applied to x."""
    walk, x = sample.walk, sample.x
    lhs, rhs = walk.apply(x), frobenius_gauge(walk).apply(x)
    model = roundoff.units(x.dtype)
    n, m = walk.weights.shape
    d_in = x.shape[1]
    p, edges = roundoff.exact(walk.weights, model), roundoff.exact(walk.transports, model)
    tokens = roundoff.exact(x, model)
    constant = walk.constant
    direct = p @ (tokens @ edges.transpose(1, 0)) if constant else _applied(p, edges, tokens)
    # Any positive row factor, norm and peak give the same operator exactly, so the computed
    # ones enter without error: only the operations that use them round.
    rows = block_norms(walk).sum(axis=1, keepdims=True)
    row = roundoff.exact(np.where(rows > 0, rows, 1).astype(x.dtype), model)
    peak, length = (roundoff.exact(part, model) for part in frobenius_factors(walk.transports))
    shares = p * (peak * length) / row
    flat = (*peak.shape, 1, 1)
    nonzero = roundoff.exact(np.where(peak.magnitude > 0, peak.magnitude, 1).astype(x.dtype), model)
    direction = edges / nonzero.reshape(*flat) / length.reshape(*flat)
    gauged = row.reshape(n, 1, 1, 1) * direction
    if constant:
        gauged = gauged + roundoff.exact(np.zeros((n, m, 1, 1), x.dtype), model)
    bound = direct.error + _applied(shares, gauged, tokens).error
    return Residual(CLAUSE, lhs, rhs, bound, max(d_in, m))


def _applied(
    p: roundoff.Rounded, edges: roundoff.Rounded, tokens: roundoff.Rounded
) -> roundoff.Rounded:
    """sum_j P_ij (T_ij x_j) in the order of Walk.apply."""
    n, m, d_out, d_in = edges.shape
    moved = (edges @ tokens.reshape(1, m, d_in, 1)).reshape(n, m, d_out)
    return (p.reshape(n, m, 1) * moved).sum(axis=1)
