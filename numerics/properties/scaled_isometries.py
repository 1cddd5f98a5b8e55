"""CW12, scaled isometries are an isometric walk's generator plus a potential.

generator: (I - W) u = (1 - rho_i) u_i + rho_i ((I - W') u)_i for W = (P, c O), W' = (P', O),
rho_i = sum_j P_ij c_ij > 0, P'_ij = P_ij c_ij / rho_i, and P'_ij = 0 in empty rows. The identity
holds for O of any kind, so isometries enter as stored, without a defect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding import roundoff
from numerics.walks.walk import Walk, softmax_walk

CLAUSE = "generator"
KINDS = ("rotations", "rotations", "reflections", "identity", "any")
# Rows are compared one by one: that all are empty shows no more than that some are.
MASKS = tuple(kind for kind in strategies.MASKS if kind != "all empty")


@dataclass(frozen=True)
class Sample:
    """Weights P (n, n), scales c (n, n) > 0, transports O (n, n, d, d), tokens u (n, d)."""

    weights: np.ndarray
    scales: np.ndarray
    transports: np.ndarray
    u: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Walks of many masks and scales of many sizes; killed walks; isometries and others."""
    size, dtype = draw(strategies.sizes()), draw(strategies.dtypes())
    rng, kind = draw(strategies.generators()), draw(st.sampled_from(KINDS))
    n, d = size.n, size.d_in
    weights = softmax_walk(
        strategies.logits(draw, rng, (n, n), dtype), strategies.masks(draw, rng, n, n, MASKS)
    )
    weights = (weights * draw(st.sampled_from((1.0, 1.0, 0.5)))).astype(dtype)
    spread = draw(st.sampled_from((0.0, 1.0, 8.0)))
    scales = np.exp(spread * rng.normal(size=(n, n)).clip(-2, 2)).astype(dtype)
    turns = np.stack([strategies.rotation(rng, d) for _ in range(n * n)])
    if kind == "reflections":
        turns = np.eye(d) - 2 * turns[:, :, :1] @ np.swapaxes(turns[:, :, :1], 1, 2)
    elif kind == "identity":
        turns = np.zeros_like(turns) + np.eye(d)
    elif kind == "any":
        turns = rng.normal(size=turns.shape)
    edges = turns.reshape(n, n, d, d).astype(dtype)
    return Sample(weights, scales, edges, strategies.tokens(draw, rng, n, d, dtype))


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Nonnegative weights, positive scales, and positive row sums where a row sees a token."""
    p, c = sample.weights, sample.scales
    rho = (p * c).sum(axis=1)[p.any(axis=1)]
    yield Held("P>=0", {"P": p}, clause="isometric_walk")
    yield Held("c>0", {"c": c}, clause="isometric_walk")
    if len(rho):
        yield Held("rho>0", {"rho": rho})


def residual(sample: Sample) -> Residual:
    """The generator of the scaled walk against potential plus isometric generator."""
    p, c, edges, u = sample.weights, sample.scales, sample.transports, sample.u
    lhs = u - Walk(p, c[:, :, None, None] * edges).apply(u)
    rho = (p * c).sum(axis=1, keepdims=True)
    safe = np.where(rho > 0, rho, 1).astype(u.dtype)
    rhs = (1 - rho) * u + rho * (u - Walk((p * c) / safe, edges).apply(u))
    return Residual(CLAUSE, lhs, rhs, _error(sample, safe), max(u.shape))


def _error(sample: Sample, safe: np.ndarray) -> np.ndarray:
    """Both sides' errors, replayed in their own order."""
    p, c, edges, u = (
        roundoff.exact(part)
        for part in (sample.weights, sample.scales, sample.transports, sample.u)
    )
    n = u.shape[0]
    direct = u - _applied(p, c.reshape(n, n, 1, 1) * edges, u)
    shares = p * c
    rho = shares.sum(axis=1).reshape(n, 1)
    one = roundoff.exact(np.ones((n, 1), sample.u.dtype))
    visible = sample.weights.any(axis=1, keepdims=True)
    walk = shares.divide(rho.where(visible), safe)
    split = (one - rho) * u + rho * (u - _applied(walk, edges, u))
    return direct.error + split.error


def _applied(
    p: roundoff.Rounded, edges: roundoff.Rounded, tokens: roundoff.Rounded
) -> roundoff.Rounded:
    """sum_j P_ij (T_ij u_j) in the order of Walk.apply."""
    n, m, d_out, d_in = edges.shape
    moved = (edges @ tokens.reshape(1, m, d_in, 1)).reshape(n, m, d_out)
    return (p.reshape(n, m, 1) * moved).sum(axis=1)
