"""AP6, tensor attention.

product_world: softmax over pairs, as computed by contracting one world after the other, against
standard attention of the queries on the Khatri-Rao rows of keys and values.
finite_rank: the pairing sum_g phi psi chi by one-sided sums against the sum over all pairs.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.pairings.tensor_attention import finite_rank_attention, khatri_rao, tensor_attention
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding import roundoff
from numerics.rounding.roundoff import Rounded
from numerics.walks.walk import softmax_walk

CLAUSES = ("product_world", "finite_rank")


@dataclass(frozen=True)
class Sample:
    """Queries, keys and values of two worlds; q (n, d) are features where the rank is finite."""

    clause: str
    q: np.ndarray
    k: np.ndarray
    k2: np.ndarray
    v: np.ndarray
    v2: np.ndarray
    allowed: np.ndarray | None
    allowed2: np.ndarray | None = None
    causal: bool = False


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Tokens of every kind; features of many magnitudes, some zero but in their first column."""
    clause = draw(st.sampled_from(CLAUSES))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    sizes = draw(strategies.sizes())
    n, m, d, d_v = sizes.n, sizes.m, sizes.d_in, sizes.d_v
    m2 = draw(st.sampled_from((1, 2, 3, 5, 7)))
    if clause == "product_world":
        q, k, k2 = (strategies.tokens(draw, rng, rows, d, dtype) for rows in (n, m, m2))
        scale = dtype(1 / max(1.0, *(float(np.abs(x).max()) for x in (q, k, k2))) ** 2)
        allowed, allowed2 = (strategies.masks(draw, rng, n, rows) for rows in (m, m2))
        # Where all pairs but one are far below it a row is exact: not too often, as with one pair.
        q = q * (scale * dtype(draw(st.sampled_from((1, 1, 30, 1e4)))))
        v, v2 = (strategies.tokens(draw, rng, rows, d_v, dtype) for rows in (m, m2))
        return Sample(clause, q, k, k2, v, v2, allowed, allowed2)
    causal = draw(st.booleans())
    rows = (n, n, n) if causal else (n, m, m2)
    q, k, k2 = (features(rng, size, d, dtype) for size in rows)
    v, v2 = (strategies.tokens(draw, rng, size, d_v, dtype) for size in rows[1:])
    return Sample(clause, q, k, k2, v, v2, None, causal=causal)


def features(rng: np.random.Generator, rows: int, d: int, dtype: type) -> np.ndarray:
    """Nonnegative features (rows, d), the first of them positive."""
    values = 10.0 ** rng.uniform(-2, 2, size=(rows, d)) * (rng.random((rows, d)) < 0.7)
    values[:, 0] += 1
    return values.astype(dtype)


def hypotheses(sample: Sample) -> Iterator[Held]:
    """A kernel of finite rank is nonnegative, with a positive total."""
    if sample.clause == "finite_rank":
        kernel = np.einsum("ig,jg,lg->ijl", sample.q, sample.k, sample.k2)
        yield Held("E>=0", {"E": kernel}, clause="product_world")
        yield Held("Z>0", {"Z": kernel.sum(axis=(1, 2))}, clause="product_world")


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _pairs(sample) if sample.clause == "product_world" else _features(sample)


def pair_attention(sample: Sample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logits (n, m m2), weights and outputs of standard attention on pairs."""
    logits = sample.q @ khatri_rao(sample.k, sample.k2).T
    weights = softmax_walk(logits, _mask(sample))
    return logits, weights, weights @ khatri_rao(sample.v, sample.v2)


def _mask(sample: Sample) -> np.ndarray | None:
    """Pairs (n, m m2) whose two tokens the query sees."""
    if sample.allowed is None and sample.allowed2 is None:
        return None
    n, m, m2 = len(sample.q), len(sample.k), len(sample.k2)
    one, two = (
        np.ones((n, size), bool) if mask is None else mask
        for mask, size in ((sample.allowed, m), (sample.allowed2, m2))
    )
    return (one[:, :, None] & two[:, None, :]).reshape(n, m * m2)


def _scores(sample: Sample) -> np.ndarray:
    pairs = sample.q[:, None, :] * sample.k[None, :, :] @ sample.k2.T
    return pairs.reshape(len(sample.q), -1)


def _khatri_rao(a: np.ndarray, b: np.ndarray) -> Rounded:
    rows = roundoff.exact(a)[:, None, :] * roundoff.exact(b)[None, :, :]
    return rows.reshape(len(a) * len(b), a.shape[1])


def _pairs(sample: Sample) -> Residual:
    n, m, m2 = len(sample.q), len(sample.k), len(sample.k2)
    logits, _, out = pair_attention(sample)
    scores, mask = _scores(sample), _mask(sample)
    q, k, k2, v, v2 = map(roundoff.exact, (sample.q, sample.k, sample.k2, sample.v, sample.v2))
    first = (q[:, None, :] * k[None, :, :]) @ k2.transpose(1, 0)
    other = q @ _khatri_rao(sample.k, sample.k2).transpose(1, 0)
    one = roundoff.softmax(scores, first.reshape(n, m * m2).error, mask)
    two = roundoff.softmax(logits, other.error, mask)
    found = tensor_attention(
        sample.q, sample.k, sample.k2, sample.v, sample.v2, sample.allowed, sample.allowed2
    )
    inner = (one.reshape(n, m, m2) @ v2) * v[None, :, :]
    bound = inner.sum(axis=1).error + (two @ _khatri_rao(sample.v, sample.v2)).error
    return Residual("product_world", found, out, bound, m * m2)


def all_pairs(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """The kernel (n, m m2) over all pairs, zero outside the prefix, and the readout."""
    kernel = sample.q @ khatri_rao(sample.k, sample.k2).T
    kernel = np.where(_prefix(sample), kernel, kernel.dtype.type(0))
    total = kernel.sum(axis=1, keepdims=True)
    return total, (kernel @ khatri_rao(sample.v, sample.v2)) / total


def _prefix(sample: Sample) -> np.ndarray:
    n, m, m2 = len(sample.q), len(sample.k), len(sample.k2)
    if not sample.causal:
        return np.ones((n, m * m2), bool)
    seen = np.tri(n, dtype=bool)
    return (seen[:, :, None] & seen[:, None, :]).reshape(n, n * n)


def _features(sample: Sample) -> Residual:
    found = finite_rank_attention(sample.q, sample.k, sample.k2, sample.v, sample.v2, sample.causal)
    total, out = all_pairs(sample)
    q = roundoff.exact(sample.q)
    kernel = (q @ _khatri_rao(sample.k, sample.k2).transpose(1, 0)).where(_prefix(sample))
    direct = (kernel @ _khatri_rao(sample.v, sample.v2)).divide(
        kernel.sum(axis=1).reshape(len(sample.q), 1), total
    )
    bound = direct.error + _one_sided_bound(sample).error
    return Residual("finite_rank", found, out, bound, max(len(sample.k) * len(sample.k2), 2))


def _one_sided_bound(sample: Sample) -> Rounded:
    """The one-sided sums, replayed query by query."""
    q, v, v2 = map(roundoff.exact, (sample.q, sample.v, sample.v2))
    k, k2 = roundoff.exact(sample.k), roundoff.exact(sample.k2)
    n = len(sample.q)
    rows: list[Rounded] = []
    for i in range(n):
        at = slice(0, i + 1) if sample.causal else slice(None)
        sides = [(k[at], v[at], sample.k[at]), (k2[at], v2[at], sample.k2[at])]
        moments = [part.transpose(1, 0) @ values for part, values, _ in sides]
        masses = [part.sum(axis=0) for part, _, _ in sides]
        known = np.prod([plain.sum(axis=0) for *_, plain in sides], axis=0)
        total = (q[i] * (masses[0] * masses[1])).reshape(1, -1).sum(axis=1)
        computed = np.array([(sample.q[i] * known).sum()])
        numerator = (q[i].reshape(-1, 1) * (moments[0] * moments[1])).sum(axis=0)
        rows.append(numerator.divide(total, computed))
    # The module may add in another order: its positive normaliser is another one within the bound.
    wider = 1 + 2.0**-10
    errors = np.stack([row.error for row in rows]) * wider
    return Rounded(np.stack([row.magnitude for row in rows]), errors, q.units)
