"""CW6, a single head as a connection Laplacian.

involution: T^T G T = T^T T + (T^2)^T T^2 for G = I + T^T T, which is G where T^2 = I. T is any
matrix, or +-[[I, C], [0, -I]] up to permutation and transpose: its square is exactly I.
spectrum: (P (x) T)(x (x) y) = (P x) (x) (T y), so eigenvalues multiply; for any P, T, x, y.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held, rounded
from numerics.rounding import roundoff
from numerics.walks.walk import Walk, softmax_walk

CLAUSES = ("involution", "spectrum")
KINDS = ("involution", "dense", "dense", "dense", "any")


@dataclass(frozen=True)
class Sample:
    """A clause, a walk matrix P (n, n), one transport T (d, d), vectors x (n,) and y (d,)."""

    clause: str
    weights: np.ndarray
    transport: np.ndarray
    x: np.ndarray
    y: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Involutions of every signature and size of C; heads of every mask, logit and matrix kind."""
    clause = draw(st.sampled_from(CLAUSES))
    size, dtype = draw(strategies.sizes()), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    n, d = size.n, size.d_in
    kind = draw(st.sampled_from(KINDS)) if clause == "involution" else "any"
    if kind == "involution":
        transport = involution(rng, d, draw(st.sampled_from((0.0, 1.0, 1.0, 1e3)))).astype(dtype)
    elif kind == "dense":
        transport = rng.normal(size=(d, d)).astype(dtype)
    else:
        transport = strategies.matrices(draw, rng, d, d, dtype)
    weights = softmax_walk(
        strategies.logits(draw, rng, (n, n), dtype), strategies.masks(draw, rng, n, n)
    )
    x = strategies.tokens(draw, rng, n, 1, dtype)[:, 0]
    y = strategies.tokens(draw, rng, 1, d, dtype)[0]
    return Sample(clause, weights, transport, x, y)


def involution(rng: np.random.Generator, d: int, scale: float) -> np.ndarray:
    """A d x d matrix with T^2 = I exactly, in float32 too."""
    positive = int(rng.integers(0, d + 1))
    rows = np.diag(np.where(np.arange(d) < positive, 1.0, -1.0))
    corner = scale * rng.normal(size=(positive, d - positive))
    rows[:positive, positive:] = corner.astype(np.float32)
    order = rng.permutation(d)
    rows = rows[order][:, order] * rng.choice((1.0, -1.0))
    return rows.T.copy() if rng.random() < 0.5 else rows


def hypotheses(sample: Sample) -> Iterator[Held]:
    """The rows that see a key are stochastic; a row of the identity stands for any other."""
    p = sample.weights
    p = np.where(p.any(axis=1, keepdims=True), p, np.eye(len(p), dtype=p.dtype))
    yield Held("P sums to 1", {"P": p}, {"P": rounded(p, len(p))}, "involution")


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _involution(sample) if sample.clause == "involution" else _spectrum(sample)


def own_metric(transport: np.ndarray) -> np.ndarray:
    """G = I + T^T T."""
    return np.eye(len(transport), dtype=transport.dtype) + transport.T @ transport


def _involution(sample: Sample) -> Residual:
    """T^T (G T) against T^T T + (T T)^T (T T)."""
    t = sample.transport
    lhs, squared = t.T @ (own_metric(t) @ t), t @ t
    rhs = t.T @ t + squared.T @ squared
    moved = roundoff.exact(t)
    turned = moved.transpose(1, 0)
    eye = roundoff.exact(np.eye(len(t), dtype=t.dtype))
    pulled = turned @ ((eye + turned @ moved) @ moved)
    twice = moved @ moved
    error = pulled.error + (turned @ moved + twice.transpose(1, 0) @ twice).error
    return Residual("involution", lhs, rhs, error, len(t))


def _spectrum(sample: Sample) -> Residual:
    """The head applied to the tokens x_i y, against (P x)_i (T y)."""
    p, t, x, y = sample.weights, sample.transport, sample.x, sample.y
    n, d = len(x), len(y)
    tokens = x[:, None] * y
    lhs = Walk(p, t).apply(tokens)
    rhs = (p @ x)[:, None] * (t @ y)
    weights, transport, first, second = (
        roundoff.exact(part) for part in (p, t, x.reshape(n, 1), y.reshape(d, 1))
    )
    outer = first * second.reshape(1, d)
    moved = weights @ (outer @ transport.transpose(1, 0))
    apart = (weights @ first) * (transport @ second).reshape(1, d)
    return Residual("spectrum", lhs, rhs, moved.error + apart.error, max(n, d))
