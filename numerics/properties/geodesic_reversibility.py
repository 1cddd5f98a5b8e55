"""RA15, reversibility of geodesic attention.

conformal: for G_i = lambda_i I, -4 times the cycle sum of B = (S - S^T)/2 of query-side scores is
lambda_i (d_ij - d_ik) + lambda_j (d_jk - d_ij) + lambda_k (d_ik - d_jk), on every triangle.
law: the stationary law of the softmax of symmetrised scores, whatever the metrics, is Z_i, the row
totals, up to scale.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx, fmpq
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties import score_rank as ra1
from numerics.properties.reversibility import BITS, cycle_sums, largest_logarithm
from numerics.rounding import roundoff
from numerics.rounding.roundoff import Rounded
from numerics.scores.geodesic import geodesic_scores
from numerics.walks.chains import stationary_distribution
from numerics.walks.walk import softmax_walk

CLAUSES = ("conformal", "law")


@dataclass(frozen=True)
class Sample:
    """Tokens x (n, d), conformal factors (n,), and tokens with metrics for the law."""

    clause: str
    x: np.ndarray
    factors: np.ndarray
    tokens: ra1.Sample


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Tokens of every kind; for the law of diameter at most about 2, in float64 and float32."""
    clause = draw(st.sampled_from(CLAUSES))
    tokens, rng = draw(ra1.samples()), draw(strategies.generators())
    factors = rng.uniform(0.1, 10.0, size=len(tokens.x)).astype(tokens.x.dtype)
    near = rng.integers(-8, 9, size=tokens.x.shape) / 32
    law = ra1.Sample(near.astype(tokens.x.dtype), tokens.D, tokens.U)
    return Sample(clause, tokens.x, factors, law)


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    if sample.clause == "law":
        return _law(sample.tokens)
    return _conformal(sample.x, sample.factors)


def by_factors(x: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """The sum over the three factors, (n, n, n), from |x|^2 + |y|^2 - 2 x . y."""
    n = len(x)
    norms = np.sum(x * x, axis=1)
    d2 = (norms[:, None] + norms[None, :]) - x.dtype.type(2) * (x @ x.T)
    ij, jk, ik = d2[:, :, None], d2[None, :, :], d2[:, None, :]
    i, j, k = (np.reshape(factors, shape) for shape in ((n, 1, 1), (1, n, 1), (1, 1, n)))
    return (i * (ij - ik) + j * (jk - ij)) + k * (ik - jk)


def scalar_metrics(x: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """D (n, d) of the metrics lambda_i I."""
    return factors[:, None] * np.ones_like(x)


def _conformal(x: np.ndarray, factors: np.ndarray) -> Residual:
    n, d = x.shape
    S = geodesic_scores(x, scalar_metrics(x, factors))
    lhs = x.dtype.type(-4) * cycle_sums(S)
    none = np.zeros((n, d, 1), x.dtype)
    half, four, two = (roundoff.exact(np.full((1, 1), value, x.dtype)) for value in (0.5, 4.0, 2.0))
    scores = ra1.distances_error(x, scalar_metrics(x, factors), none) / two
    B = (scores - scores.transpose(1, 0)) * half
    three = (B.reshape(n, n, 1) + B.reshape(1, n, n)) + B.transpose(1, 0).reshape(n, 1, n)
    bound = (three * four.reshape(1, 1, 1)).error + _factors_error(x, factors, two).error
    return Residual("conformal", lhs, by_factors(x, factors), bound, max(d, 2))


def _factors_error(x: np.ndarray, factors: np.ndarray, two: Rounded) -> Rounded:
    """The operations of by_factors, replayed."""
    n = len(x)
    tokens, scale = roundoff.exact(x), roundoff.exact(factors)
    norms = (tokens * tokens).sum(axis=1)
    d2 = (norms.reshape(n, 1) + norms.reshape(1, n)) - two * (tokens @ tokens.transpose(1, 0))
    ij, jk, ik = d2.reshape(n, n, 1), d2.reshape(1, n, n), d2.reshape(n, 1, n)
    i, j, k = (scale.reshape(*shape) for shape in ((n, 1, 1), (1, n, 1), (1, 1, n)))
    return (i * (ij - ik) + j * (jk - ij)) + k * (ik - jk)


def row_totals(S: np.ndarray) -> np.ndarray:
    """Z_i / sum of Z of float scores S (n, n), rounded from BITS bits."""
    with ctx.workprec(BITS):
        totals = [
            sum((arb(fmpq(*s.as_integer_ratio())).exp() for s in row), arb(0)) for row in S.tolist()
        ]
        whole = sum(totals, arb(0))
        return np.array([float((total / whole).mid()) for total in totals])


def _law(tokens: ra1.Sample) -> Residual:
    """Direct solve for the law of the computed walk, against the row totals."""
    S = geodesic_scores(tokens.x, tokens.D, tokens.U, "symmetrised")
    P, n = softmax_walk(S), len(S)
    rhs = row_totals(S)
    # As for CW8: by the matrix-tree theorem entries off by a factor e^{+-delta} move the law by
    # e^{+-2 (n - 1) delta}.
    moved = math.expm1(2 * (n - 1) * largest_logarithm(P, S))
    solved = (n + 2) ** 3 * 2.0**-53
    stored = roundoff.units(S.dtype).store + 2.0**-52
    bound = ((1 + moved) * (1 + solved) * (1 + stored) - 1) * (1 + 2.0**-40) * rhs
    return Residual("law", stationary_distribution(P), rhs, bound, n)
