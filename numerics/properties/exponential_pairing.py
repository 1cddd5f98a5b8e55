"""AP2, why exp.

additive: exp((q + q')^T M k) against the product of exp(q^T M k) and exp(q'^T M k), with q + q'
exact.
attention: softmax attention of the queries W_Q^T q on the keys W_K^T k against the readout of
exp(q^T M k) with M = W_Q W_K^T.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.pairings.readouts import attention, exponential_pairing, readout
from numerics.properties import Residual, strategies
from numerics.properties.gibbs_weights import rounded_weights
from numerics.rounding.roundoff import Rounded, exact

CLAUSES = ("additive", "attention")
U64 = 2.0**-53


@dataclass(frozen=True)
class Sample:
    """Queries q, q' (n, d), keys (m, d_k), values (m, d_v), W_Q (d, w) and W_K (d_k, w)."""

    clause: str
    q: np.ndarray
    q2: np.ndarray
    k: np.ndarray
    v: np.ndarray
    W_Q: np.ndarray
    W_K: np.ndarray

    @property
    def M(self) -> np.ndarray:
        """W_Q W_K^T (d, d_k)."""
        return self.W_Q @ self.W_K.T


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Queries in sixteenths, keys and values of every kind, products of size about 1."""
    clause, dtype = draw(st.sampled_from(CLAUSES)), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    n, m = draw(st.sampled_from((1, 2, 3))), draw(st.sampled_from((1, 2, 3, 5, 5)))
    d, d_k, d_v, w = (draw(st.integers(1, 4)) for _ in range(4))
    q, q2 = (rng.integers(-32, 33, size=(n, d)) / 16 for _ in range(2))
    k = strategies.tokens(draw, rng, m, d_k, dtype)
    k = k / dtype(max(1.0, float(np.abs(k).max())))
    return Sample(
        clause, q.astype(dtype), q2.astype(dtype), k, strategies.tokens(draw, rng, m, d_v, dtype),
        (rng.normal(size=(d, w)) / d).astype(dtype), (rng.normal(size=(d_k, w)) / w).astype(dtype),
    )  # fmt: skip


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _additive(sample) if sample.clause == "additive" else _attention(sample)


def rounded_pairing(logits: Rounded, computed: np.ndarray) -> Rounded:
    """exp of the exact logits, from its computed value: exp(e) (1 + u_exp) - 1 beside it."""
    unit = logits.units
    carried = np.expm1(logits.error) * (1 + 4 * U64)
    size = computed.astype(np.float64) * (1 + carried) / (1 - unit.exp) * (1 + 8 * U64)
    relative = carried + unit.exp + carried * unit.exp
    return Rounded(size, size * relative * (1 + 8 * U64) + unit.eta, unit)


def _logits(q: Rounded, M: Rounded, k: np.ndarray) -> Rounded:
    return (q @ M) @ exact(k.T)


def _additive(sample: Sample) -> Residual:
    q, q2, k, M = sample.q, sample.q2, sample.k, sample.M
    first, second, both = (exponential_pairing(x, k, M) for x in (q, q2, q + q2))
    parts = [
        rounded_pairing(_logits(exact(x), exact(M), k), pairing)
        for x, pairing in ((q, first), (q2, second), (q + q2, both))
    ]
    bound = (parts[0] * parts[1]).error + parts[2].error
    return Residual("additive", both, first * second, bound, max(M.shape))


def _attention(sample: Sample) -> Residual:
    q, k, v, M = sample.q, sample.k, sample.v, sample.M
    queries, keys = q @ sample.W_Q, k @ sample.W_K
    lhs = attention(queries, keys, v, tau=1.0)
    pairing = exponential_pairing(q, k, M)
    rhs = readout(pairing, v)

    W_Q, W_K, values = exact(sample.W_Q), exact(sample.W_K.T), exact(v)
    scores = (exact(q) @ W_Q) @ (exact(k) @ exact(sample.W_K)).transpose(1, 0)
    narrow = rounded_weights(queries @ keys.T, error=scores.error) @ values
    wide = rounded_pairing(_logits(exact(q), W_Q @ W_K, k), pairing)
    total = pairing.sum(axis=1, keepdims=True)
    weights = wide.divide(wide.sum(axis=1).reshape(-1, 1), total)
    n = max(*sample.W_Q.shape, *k.shape)
    return Residual("attention", lhs, rhs, narrow.error + (weights @ values).error, n)
