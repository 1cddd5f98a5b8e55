"""RA1, the features of geodesic scores.

features: -(1/2)|x_i - x_j|^2 in the metric of i, from differences, against a sum of products of
inner widths 1, d and g = d^2: -(1/2) x_i^T G_i x_i, G_i x_i . x_j, and G_i against x_j x_j^T.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.rounding import roundoff
from numerics.rounding.roundoff import Rounded
from numerics.scores.geodesic import geodesic_scores

CLAUSE = "features"
# One token has the score 0 only; few of them are enough.
TOKENS = st.sampled_from((5, 6, 4, 3, 2, 6, 5, 1))
WIDTHS = st.sampled_from((4, 4, 4, 3, 2, 1))


@dataclass(frozen=True)
class Sample:
    """Tokens x (n, d) with metrics diag(D_i) + U_i U_i^T, D (n, d) and U (n, d, r)."""

    x: np.ndarray
    D: np.ndarray
    U: np.ndarray

    def metrics(self) -> np.ndarray:
        """G (n, d, d), exact: D and U are small integers."""
        eye = np.eye(self.x.shape[1], dtype=self.x.dtype)
        return self.D[:, :, None] * eye + self.U @ np.swapaxes(self.U, 1, 2)


@st.composite
def samples(draw: strategies.Draw, tokens: st.SearchStrategy[int] = TOKENS) -> Sample:
    """Tokens of every kind, metrics of small integers, in float64 and float32."""
    n, d, r = draw(tokens), draw(WIDTHS), draw(st.integers(1, 3))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    x = strategies.tokens(draw, rng, n, d, dtype)
    D, U = integer_metrics(rng, n, d, r)
    return Sample(x, D.astype(dtype), U.astype(dtype))


def integer_metrics(
    rng: np.random.Generator, n: int, d: int, r: int
) -> tuple[np.ndarray, np.ndarray]:
    """D (n, d) > 0 and U (n, d, r) of small integers: G_i is exact in every format here."""
    return rng.integers(1, 8, size=(n, d)), rng.integers(-3, 4, size=(n, d, r))


def residual(sample: Sample) -> Residual:
    """The library's scores against the products of features."""
    lhs = geodesic_scores(sample.x, sample.D, sample.U)
    rhs = feature_scores(sample.x, sample.metrics())
    bound = scores_error(sample.x, sample.D, sample.U) + features_error(sample.x, sample.metrics())
    return Residual(CLAUSE, lhs, rhs, bound, max(2, sample.x.shape[1] ** 2))


def parts(x: np.ndarray, G: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The row term (n, 1), and the products of widths d and d^2 (n, n)."""
    n, d = x.shape
    moved = (G @ x[:, :, None])[:, :, 0]
    row = np.sum(moved * x, axis=1)[:, None]
    pairs = np.reshape(x[:, :, None] * x[:, None, :], (n, d * d))
    return row, moved @ x.T, np.reshape(G, (n, d * d)) @ pairs.T


def feature_scores(x: np.ndarray, G: np.ndarray) -> np.ndarray:
    """-(1/2) alpha_i + beta_i . x_j - (1/2) sum of G_i against x_j x_j^T, (n, n)."""
    row, linear, quadratic = parts(x, G)
    half = x.dtype.type(0.5)
    return (linear - half * row) - half * quadratic


def distances_error(x: np.ndarray, D: np.ndarray, U: np.ndarray) -> Rounded:
    """The squared distances (n, n) as geodesic_scores computes them, replayed."""
    (n, d), r = x.shape, U.shape[2]
    tokens, scale, frame = (roundoff.exact(part) for part in (x, D, U))
    steps = tokens.reshape(1, n, d) - tokens.reshape(n, 1, d)
    total = (scale.reshape(n, 1, d) * (steps * steps)).sum(axis=2)
    seen = steps @ frame.reshape(n, d, r)
    return total + (seen * seen).sum(axis=2)


def scores_error(x: np.ndarray, D: np.ndarray, U: np.ndarray) -> np.ndarray:
    """Bound on the error of geodesic_scores, (n, n)."""
    two = roundoff.exact(np.full((1, 1), 2, x.dtype))
    return (distances_error(x, D, U) / two).error


def features_error(x: np.ndarray, G: np.ndarray) -> np.ndarray:
    """Bound on the error of feature_scores, (n, n)."""
    n, d = x.shape
    tokens, metric = roundoff.exact(x), roundoff.exact(G)
    half = roundoff.exact(np.full((1, 1), 0.5, x.dtype))
    moved = (metric @ tokens.reshape(n, d, 1)).reshape(n, d)
    row = (moved * tokens).sum(axis=1).reshape(n, 1)
    pairs = (tokens.reshape(n, d, 1) * tokens.reshape(n, 1, d)).reshape(n, d * d)
    quadratic = metric.reshape(n, d * d) @ pairs.transpose(1, 0)
    return ((moved @ tokens.transpose(1, 0) - half * row) - half * quadratic).error
