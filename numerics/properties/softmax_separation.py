"""RA4, the width that softmax needs.

width: softmax of the scores, from differences, against softmax of logits Q K^T of inner width
d + g without the row term, Q = (G_i x_i, -(1/2) G_i), K = (x_j, x_j x_j^T).
centred: S less its row means against S C.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties import score_rank as ra1
from numerics.rounding import roundoff
from numerics.scores.geodesic import geodesic_scores
from numerics.walks.walk import softmax_walk

CLAUSES = ("width", "centred")


@dataclass(frozen=True)
class Sample:
    """Tokens with metrics, and any scores S (n, m)."""

    clause: str
    tokens: ra1.Sample
    S: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Tokens and scores of every kind, in float64 and float32."""
    clause = draw(st.sampled_from(CLAUSES))
    tokens = draw(ra1.samples())
    rng = draw(strategies.generators())
    n, m = draw(st.sampled_from((1, 2, 3, 5))), draw(st.sampled_from((6, 7, 7, 5, 3, 2, 1)))
    S = rng.normal(size=(n, m)) * 10.0 ** draw(st.integers(-3, 4))
    return Sample(clause, tokens, S.astype(draw(strategies.dtypes())))


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _width(sample.tokens) if sample.clause == "width" else _centred(sample.S)


def narrow_logits(x: np.ndarray, G: np.ndarray) -> np.ndarray:
    """Q K^T (n, n) of inner width d + g."""
    _, linear, quadratic = ra1.parts(x, G)
    return linear - x.dtype.type(0.5) * quadratic


def _width(tokens: ra1.Sample) -> Residual:
    x, G = tokens.x, tokens.metrics()
    scores, logits = geodesic_scores(x, tokens.D, tokens.U), narrow_logits(x, G)
    error = ra1.scores_error(x, tokens.D, tokens.U)
    wide = roundoff.softmax(scores, error)
    narrow = roundoff.softmax(logits, ra1.features_error(x, G))
    k = max(2, x.shape[1] ** 2, len(x))
    return Residual("width", softmax_walk(scores), softmax_walk(logits),
                    wide.error + narrow.error, k)  # fmt: skip


def less_row_means(S: np.ndarray) -> np.ndarray:
    """S_ij - (1/m) sum_l S_il."""
    return S - np.sum(S, axis=1, keepdims=True) / S.dtype.type(S.shape[1])


def times_centring(S: np.ndarray) -> np.ndarray:
    """(S (m I - 11^T)) / m, with an integer matrix."""
    m = S.shape[1]
    centring = (m * np.eye(m) - np.ones((m, m))).astype(S.dtype)
    return (S @ centring) / S.dtype.type(m)


def _centred(S: np.ndarray) -> Residual:
    n, m = S.shape
    scores, size = roundoff.exact(S), roundoff.exact(np.full((1, 1), m, S.dtype))
    centring = roundoff.exact((m * np.eye(m) - np.ones((m, m))).astype(S.dtype))
    means = scores - scores.sum(axis=1).reshape(n, 1) / size
    bound = means.error + ((scores @ centring) / size).error
    return Residual("centred", less_row_means(S), times_centring(S), bound, m)
