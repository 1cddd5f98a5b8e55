"""AP3, causal attention is the readout along a filtration.

prefix: causal attention on all tokens, by masks and a shifted softmax, against readouts of exp on
each query's prefix alone, which never sees a later token.
renormalised: attention under a mask V against V times the weights of the whole row, divided by
what is left of it.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.pairings.readouts import (
    ALIGNMENTS,
    attention,
    causal_attention,
    causal_mask,
    exponential_pairing,
    gibbs_weights,
    readout,
)
from numerics.properties import Residual, strategies
from numerics.properties.exponential_pairing import rounded_pairing
from numerics.properties.gibbs_weights import rounded_weights
from numerics.rounding.roundoff import Rounded, exact

CLAUSES = ("prefix", "renormalised")
MASKS = ("causal", "random", "random", "random", "empty rows", "window", "full", "all empty")


@dataclass(frozen=True)
class Sample:
    """Queries (n, d), keys (m, d), values (m, d_v), a temperature that is a power of two."""

    clause: str
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    tau: float
    align: str
    allowed: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Scores of size about 1, values of every kind, more and fewer queries than keys."""
    clause, dtype = draw(st.sampled_from(CLAUSES)), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    # Sizes and masks come from the seed: drawn one by one, small ones and repeats would prevail.
    n, m = int(rng.choice((1, 2, 3, 4, 4))), int(rng.choice((1, 2, 3, 6, 7, 7)))
    d, d_v = draw(st.sampled_from((4, 3, 2, 1))), draw(st.sampled_from((4, 3, 2, 1)))
    keys, values = (rng.normal(size=(m, width)).astype(dtype) for width in (d, d_v))
    if draw(st.sampled_from((False, False, True))):
        keys, values = (strategies.tokens(draw, rng, m, width, dtype) for width in (d, d_v))
        keys = keys / dtype(max(1.0, float(np.abs(keys).max())))
    allowed = strategies.masks(draw, rng, n, m, (str(rng.choice(MASKS)),))
    assert allowed is not None
    return Sample(
        clause, rng.normal(size=(n, d)).astype(dtype), keys,
        values, 2.0 ** draw(st.integers(-1, 2)),
        draw(st.sampled_from(ALIGNMENTS)), allowed,
    )  # fmt: skip


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _prefix(sample) if sample.clause == "prefix" else _renormalised(sample)


def _masked(sample: Sample, allowed: np.ndarray | None) -> Rounded:
    """The weights of attention under a mask."""
    scores = exact(sample.q) @ exact(sample.k.T)
    return rounded_weights(sample.q @ sample.k.T, sample.tau, allowed, scores.error)


def prefix_length(query: int, n: int, m: int, align: str) -> int:
    """How many of m keys the query sees, at least 0."""
    return min(m, max(0, query + 1 + (m - n if align == "last" else 0)))


def _prefix(sample: Sample) -> Residual:
    q, k, v, (n, m) = sample.q, sample.k, sample.v, (len(sample.q), len(sample.k))
    lhs = causal_attention(q, k, v, align=sample.align, tau=sample.tau)
    rhs, bound = np.zeros_like(lhs), np.zeros(lhs.shape)
    scale = (np.eye(q.shape[1]) / sample.tau).astype(q.dtype)
    for i in range(n):
        t, query = prefix_length(i, n, m, sample.align), q[i : i + 1]
        if not t:
            continue
        pairing = exponential_pairing(query, k[:t], scale)
        rhs[i] = readout(pairing, v[:t])[0]
        logits = (exact(query) @ exact(scale)) @ exact(k[:t].T)
        pairs = rounded_pairing(logits, pairing)
        total = pairing.sum(axis=1, keepdims=True)
        weights = pairs.divide(pairs.sum(axis=1).reshape(1, 1), total)
        bound[i] = (weights @ exact(v[:t])).error[0]
    seen = causal_mask(n, m, align=sample.align)
    bound += np.where(seen.any(axis=1)[:, None], (_masked(sample, seen) @ exact(v)).error, 0.0)
    return Residual("prefix", lhs, rhs, bound, max(m, q.shape[1]))


def masked_afterwards(weights: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """V_ij w_ij over what is left of the row; a row without a visible key is 0."""
    kept = np.where(allowed, weights, weights.dtype.type(0))
    left = kept.sum(axis=1, keepdims=True)
    return kept / np.where(allowed.any(axis=1, keepdims=True), left, left.dtype.type(1))


def _renormalised(sample: Sample) -> Residual:
    q, k, v, allowed = sample.q, sample.k, sample.v, sample.allowed
    lhs = attention(q, k, v, tau=sample.tau, allowed=allowed)
    weights = gibbs_weights(q @ k.T, sample.tau)
    rhs = masked_afterwards(weights, allowed) @ v
    rows = allowed.any(axis=1)
    bound = np.zeros(lhs.shape)
    if rows.any():
        kept = _masked(sample, None).where(allowed)[rows]
        left = np.where(allowed, weights, weights.dtype.type(0))[rows].sum(axis=1, keepdims=True)
        after = kept.divide(kept.sum(axis=1).reshape(-1, 1), left) @ exact(v)
        before = (_masked(sample, allowed) @ exact(v)).error[rows]
        bound[rows] = before + after.error
    return Residual("renormalised", lhs, rhs, bound, max(len(k), q.shape[1]))
