"""RA3, the rank spectrum.

symmetrised_core: for G_i = lambda I + U C_i U^T the scores of both sides against a sum of products
of inner widths 1, 1, d, r, r^2 and r^2 (C_i and p p^T are symmetric: r(r+1)/2 of them count).
diagonal: query-side scores of G_i = diag(D_i) against products of inner widths 1, d and d.
A sample makes one of the two comparisons. `tables` recomputes the ranks of all families.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties import score_rank as ra1
from numerics.rounding import roundoff
from numerics.scores.geodesic import geodesic_scores
from numerics.scores.tables import rank_tables

CLAUSES = ("symmetrised_core", "diagonal")
tables = rank_tables


@dataclass(frozen=True)
class Sample:
    """Tokens x (n, d), D (n, d), lambda, U (d, r) and cores L_i L_i^T, L (n, r, r)."""

    clause: str
    x: np.ndarray
    D: np.ndarray
    scale: int
    U: np.ndarray
    L: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Tokens of every kind, metrics of small integers, in float64 and float32."""
    clause, tokens = draw(st.sampled_from(CLAUSES)), draw(ra1.samples())
    rng, dtype = draw(strategies.generators()), tokens.x.dtype
    (n, d), r = tokens.x.shape, draw(st.integers(1, 3))
    U, L = rng.integers(-2, 3, size=(d, r)), rng.integers(-2, 3, size=(n, r, r))
    return Sample(clause, tokens.x, tokens.D, int(rng.integers(1, 5)), U.astype(dtype),
                  L.astype(dtype))  # fmt: skip


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _core(sample) if sample.clause == "symmetrised_core" else _diagonal(sample.x, sample.D)


def core_features(sample: Sample) -> np.ndarray:
    """-4 S (n, n) as a sum of products of features."""
    x, two = sample.x, sample.x.dtype.type(2)
    n, r = len(x), sample.U.shape[1]
    C = sample.L @ np.swapaxes(sample.L, 1, 2)
    p = x @ sample.U
    kappa = (C @ p[:, :, None])[:, :, 0]
    height = two * sample.scale * np.sum(x * x, axis=1) + np.sum(kappa * p, axis=1)
    pulled = two * sample.scale * x + kappa @ sample.U.T
    squares = np.reshape(p[:, :, None] * p[:, None, :], (n, r * r))
    cores = np.reshape(C, (n, r * r)) @ squares.T
    linear = two * (x @ pulled.T) + two * (kappa @ p.T)
    return ((height[:, None] + height[None, :]) + (cores + cores.T)) - linear


def _core(sample: Sample) -> Residual:
    x, (n, d) = sample.x, sample.x.shape
    r = sample.U.shape[1]
    D, frames = np.full_like(x, sample.scale), sample.U @ sample.L
    lhs = x.dtype.type(-4) * geodesic_scores(x, D, frames, "symmetrised")
    rhs = core_features(sample)

    number = {v: roundoff.exact(np.full((1, 1), v, x.dtype)) for v in (2, 4, 2 * sample.scale)}
    own = ra1.distances_error(x, D, frames)
    scores = (own + own.transpose(1, 0)) / number[2] / number[2]
    tokens, U = roundoff.exact(x), roundoff.exact(sample.U)
    C = roundoff.exact(sample.L @ np.swapaxes(sample.L, 1, 2))
    p = tokens @ U
    kappa = (C @ p.reshape(n, r, 1)).reshape(n, r)
    norm = (tokens * tokens).sum(axis=1).reshape(n, 1)
    height = number[2 * sample.scale] * norm + (kappa * p).sum(axis=1).reshape(n, 1)
    pulled = number[2 * sample.scale] * tokens + kappa @ U.transpose(1, 0)
    squares = (p.reshape(n, r, 1) * p.reshape(n, 1, r)).reshape(n, r * r)
    cores = C.reshape(n, r * r) @ squares.transpose(1, 0)
    linear = number[2] * (tokens @ pulled.transpose(1, 0))
    linear = linear + number[2] * (kappa @ p.transpose(1, 0))
    sums = (height + height.transpose(1, 0)) + (cores + cores.transpose(1, 0))
    bound = (scores * number[4]).error + (sums - linear).error
    return Residual("symmetrised_core", lhs, rhs, bound, max(2, d, r * r))


def diagonal_features(x: np.ndarray, D: np.ndarray) -> np.ndarray:
    """S (n, n) of inner widths 1, d and d."""
    half = x.dtype.type(0.5)
    row = np.sum(D * (x * x), axis=1)[:, None]
    return ((D * x) @ x.T - half * row) - half * (D @ (x * x).T)


def _diagonal(x: np.ndarray, D: np.ndarray) -> Residual:
    n, d = x.shape
    tokens, scale = roundoff.exact(x), roundoff.exact(D)
    half = roundoff.exact(np.full((1, 1), 0.5, x.dtype))
    squares = tokens * tokens
    row = (scale * squares).sum(axis=1).reshape(n, 1)
    linear = (scale * tokens) @ tokens.transpose(1, 0)
    features = (linear - half * row) - half * (scale @ squares.transpose(1, 0))
    bound = ra1.scores_error(x, D, np.zeros((n, d, 1), x.dtype)) + features.error
    lhs = geodesic_scores(x, D)
    return Residual("diagonal", lhs, diagonal_features(x, D), bound, max(2, d))
