"""CW3, edge gauge.

same_operator: (P, T) and its Frobenius gauge, P'_ij = c_ij / sum_k c_ik with
c_ij = ||P_ij T_ij||_F and T'_ij = P_ij T_ij / P'_ij, are one operator (for any positive c).
frobenius: the rows of P' with a nonzero block sum to 1, and ||T'_ij||_F = sum_k c_ik on each.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.rounding import roundoff
from numerics.walks.gauges import block_norms, frobenius_factors, frobenius_gauge
from numerics.walks.walk import Walk, softmax_walk

CLAUSES = ("same_operator", "frobenius")

# Rows are gauged one by one: that all are empty shows no more than that some are.
MASKS = tuple(kind for kind in strategies.MASKS if kind != "all empty")


@dataclass(frozen=True)
class Sample:
    """A clause, a walk (weights (n, m), constant or edgewise transports), tokens x (m, d_in)."""

    clause: str
    walk: Walk
    x: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Walks with masked rows, zero and rescaled transports, row sums other than 1."""
    clause = draw(st.sampled_from(CLAUSES))
    size, dtype = draw(strategies.sizes()), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    weights = softmax_walk(
        strategies.logits(draw, rng, (size.n, size.m), dtype),
        strategies.masks(draw, rng, size.n, size.m, MASKS),
    )
    scale = draw(st.sampled_from((1.0, 1.0, 0.5, 3.0, float(np.finfo(dtype).tiny))))
    weights = (weights * scale).astype(dtype)
    if draw(st.booleans()):
        edges = strategies.matrices(draw, rng, size.d_out, size.d_in, dtype)
    else:
        edges = strategies.matrices(draw, rng, size.d_out, size.d_in, dtype, size.n * size.m)
        edges = edges.reshape(size.n, size.m, size.d_out, size.d_in)
    x = strategies.tokens(draw, rng, size.m, size.d_in, dtype)
    return Sample(clause, Walk(weights, edges), x)


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    if sample.clause == "frobenius":
        return _frobenius(sample.walk)
    return _same_operator(sample.walk, sample.x)


def _same_operator(walk: Walk, x: np.ndarray) -> Residual:
    """The walk applied to x against its Frobenius gauge applied to x."""
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
    return Residual("same_operator", lhs, rhs, bound, max(d_in, m))


def _applied(
    p: roundoff.Rounded, edges: roundoff.Rounded, tokens: roundoff.Rounded
) -> roundoff.Rounded:
    """sum_j P_ij (T_ij x_j) in the order of Walk.apply."""
    n, m, d_out, d_in = edges.shape
    moved = (edges @ tokens.reshape(1, m, d_in, 1)).reshape(n, m, d_out)
    return (p.reshape(n, m, 1) * moved).sum(axis=1)


def _frobenius(walk: Walk) -> Residual:
    """Row sums of P' against 1, ||T'_ij||_F against the row's total, norms taken by hypot."""
    gauge = frobenius_gauge(walk)
    blocks = walk.transports[None, None] if walk.constant else walk.transports
    weights = walk.weights.astype(np.float64)
    norms, turned = _norms(blocks), _norms(gauge.transports)
    c = weights * norms.magnitude
    total = c.sum(axis=1, keepdims=True)
    # A block whose norm or share may underflow may count as zero or not: the gauge decides.
    normal = 2 * float(np.finfo(walk.weights.dtype).tiny)
    nonzero = (c >= normal) & (c >= normal * total) | (gauge.weights > 0)
    lhs = (gauge.weights.sum(axis=1), turned.magnitude)
    rhs = (nonzero.any(axis=1).astype(np.float64), np.where(nonzero, total, 0.0))
    exact_total = (roundoff.exact(weights) * norms).sum(axis=1)
    size = _norms(_gauge_error(walk.weights, blocks)).computed
    bound = (_row_sums_error(walk), size + turned.error + exact_total.error[:, None])
    # The row sums' length m, even where a norm sums more: with k = d_out d_in their ratios, which
    # are the largest, would be weighed by a length that they do not have.
    return Residual("frobenius", _joined(lhs), _joined(rhs), _joined(bound), len(weights[0]))


def _joined(parts: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    return np.concatenate([part.ravel() for part in parts])


def _norms(blocks: np.ndarray) -> roundoff.Rounded:
    """Frobenius norms (n, m) in float64, as computed: hypot has error below one ulp (CPython).

    Unlike frobenius_factors it takes no maximum, quotient or root of its own.
    """
    model = roundoff.units(np.float64)
    flat = blocks.reshape(-1, math.prod(blocks.shape[2:])).tolist()
    values = np.array([math.hypot(*block) for block in flat]).reshape(blocks.shape[:2])
    return roundoff.Rounded(values, 2 * model.store * values + model.eta, model)


def _row_sums_error(walk: Walk) -> np.ndarray:
    """Error of sum_j P'_ij as a sum that is 1: that of c enters c and its row alike and cancels."""
    norms = block_norms(walk)
    rows = norms.sum(axis=1)
    rows = np.where(rows > 0, rows, 1).astype(norms.dtype)
    c = roundoff.exact(norms)
    shares = c / roundoff.exact(rows[:, None])
    return shares.sum(axis=1).error + c.sum(axis=1).error / rows


def _gauge_error(weights: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Error of T'_ij = (sum_k P_ik ||T_ik||_F) T_ij / ||T_ij||_F in frobenius_gauge's order."""
    peak = np.abs(blocks).max(axis=(2, 3))
    safe = np.where(peak > 0, peak, 1).astype(blocks.dtype)[:, :, None, None]
    scaled = blocks / safe
    square = np.where(peak > 0, (scaled * scaled).sum(axis=(2, 3)), 1).astype(blocks.dtype)
    direction = roundoff.exact(blocks) / roundoff.exact(safe)
    flat = (direction * direction).reshape(*peak.shape, -1)
    length = flat.sum(axis=2).sqrt(square)
    c = roundoff.exact(weights) * (roundoff.exact(peak) * length)
    root = np.sqrt(square)[:, :, None, None]
    turned = direction.divide(length.reshape(*root.shape), root)
    return (c.sum(axis=1).reshape(-1, 1, 1, 1) * turned).error
