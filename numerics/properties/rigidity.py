"""CW7, multi-head attention with heads isometric for one metric is rigid.

identity: G - T_ij^T G T_ij = sum_{h<k} g_h g_k (O_h - O_k)^T G (O_h - O_k) on edges, with
T_ij = sum_h g_h O_h and CW2's gates. Heads are exact isometries of integer metrics, or rotations
rounded to the dtype, whose defects O_h^T G O_h - G, found exactly, enter the bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held, rotation_error, rounded
from numerics.rounding import roundoff
from numerics.walks.walk import multi_head_walk, softmax_walk

CLAUSE = "identity"
KINDS = ("rotations", "rotations", "isometries", "isometries", "equal", "opposite")
HEADS = (1, 2, 3, 3, 4, 4)
WIDTHS = (1, 2, 3, 4, 4)


@dataclass(frozen=True)
class Sample:
    """Attention (H, n, m), heads O_h (H, d, d) in column form, a metric G (d, d)."""

    attention: np.ndarray
    heads: np.ndarray
    metric: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Attention of every mask and logit kind; heads that differ, agree, or are opposite."""
    size, dtype = draw(strategies.sizes()), draw(strategies.dtypes())
    rng, kind = draw(strategies.generators()), draw(st.sampled_from(KINDS))
    count, d = draw(st.sampled_from(HEADS)), draw(st.sampled_from(WIDTHS))
    logits = strategies.logits(draw, rng, (count, size.n, size.m), dtype)
    attention = softmax_walk(logits, strategies.masks(draw, rng, size.n, size.m, MASKS))
    metric = np.eye(d)
    if kind == "isometries":
        frame, coframe = _frames(rng, d)
        metric = frame.T @ frame
        heads = np.stack([coframe @ _exact_rotation(rng, d) @ frame for _ in range(count)])
    else:
        heads = np.stack([strategies.rotation(rng, d) for _ in range(count)])
    if kind in ("equal", "opposite"):
        signs = np.ones(count) if kind == "equal" else rng.choice([-1.0, 1.0], size=count)
        heads = signs[:, None, None] * heads[:1]
    return Sample(attention, heads.astype(dtype), metric.astype(dtype))


# Edges are compared one by one: that no head attends anywhere shows no more than that some do not.
MASKS = tuple(kind for kind in strategies.MASKS if kind != "all empty")


def _frames(rng: np.random.Generator, d: int) -> tuple[np.ndarray, np.ndarray]:
    """A unit lower triangular integer matrix and its integer inverse."""
    lower = np.tril(rng.integers(-2, 3, size=(d, d)), -1) + np.eye(d)
    inverse = np.eye(d)
    for row in range(d):
        inverse[row] -= lower[row, :row] @ inverse[:row]
    return lower, inverse


def _exact_rotation(rng: np.random.Generator, d: int) -> np.ndarray:
    """A signed permutation, for d = 4 sometimes times half a Hadamard matrix."""
    turn = np.eye(d)[rng.permutation(d)] * rng.choice([-1.0, 1.0], size=d)
    if d < 4 or rng.random() < 0.5:
        return turn
    return turn @ np.kron([[1, 1], [1, -1]], [[1, 1], [1, -1]]) / 2


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Attention is nonnegative and every head is an isometry of the metric."""
    yield Held("A>=0", {"A": sample.attention}, clause="gates")
    d = len(sample.metric)
    F = np.linalg.cholesky(sample.metric.astype(np.float64)).T.astype(sample.metric.dtype)
    errors = {"F": rounded(F, d + 1), "O": np.full(sample.heads.shape, rotation_error(d))}
    yield Held("O is isometric for F^T F", {"F": F, "O": sample.heads}, errors)


def residual(sample: Sample) -> Residual:
    """The defect of T_ij, mixed by the walk, against the pairs of heads with plain gates A / P."""
    a, heads, metric = sample.attention, sample.heads, sample.metric
    edges = multi_head_walk(a, heads, np.ones(len(a), a.dtype)).transports
    total = a.sum(axis=0)
    support = total > 0
    weights = a / np.where(support, total, 1).astype(a.dtype)
    pulled = np.swapaxes(edges, 2, 3) @ (metric @ edges)
    lhs = np.where(support[:, :, None, None], metric - pulled, 0).astype(a.dtype)
    rhs = np.zeros_like(lhs)
    pairs = [(h, k) for k in range(len(heads)) for h in range(k)]
    for h, k in pairs:
        gap = heads[h] - heads[k]
        rhs = rhs + (weights[h] * weights[k])[:, :, None, None] * (gap.T @ (metric @ gap))
    gates, mixed = _mixture(a, heads, total)
    bound = _pulled_error(mixed, metric) + _pairs_error(gates, heads, metric, pairs)
    bound = bound + (gates.computed[..., None, None] * _defects(heads, metric)[:, None, None]).sum(
        0
    )
    bound = np.where(support[:, :, None, None], bound, 0)
    return Residual(CLAUSE, lhs, rhs, bound, max(len(heads), len(pairs), len(metric)))


def _mixture(
    a: np.ndarray, heads: np.ndarray, total: np.ndarray
) -> tuple[roundoff.Rounded, roundoff.Rounded]:
    """Plain gates A / P, and the transports mixed in multi_head_walk's order."""
    count, n, m = a.shape
    d = heads.shape[1]
    support = total > 0
    plain = roundoff.exact(a)
    gates = plain.divide(plain.sum(axis=0).where(support), np.where(support, total, 1))
    peak = a.max(axis=0)
    safe = np.where(support, peak, 1).astype(a.dtype)
    shares = plain / roundoff.exact(safe)
    sums = (a / safe).sum(axis=0)
    mixed = shares.divide(shares.sum(axis=0).where(support), np.where(support, sums, 1))
    rows = mixed.reshape(count, n * m).transpose(1, 0)
    edges = rows @ roundoff.exact(heads).reshape(count, d * d)
    return gates, edges.reshape(n, m, d, d)


def _pulled_error(edges: roundoff.Rounded, metric: np.ndarray) -> np.ndarray:
    """Error of G - T^T (G T)."""
    g = roundoff.exact(metric)
    return (g - edges.transpose(0, 1, 3, 2) @ (g @ edges)).error


def _pairs_error(
    gates: roundoff.Rounded, heads: np.ndarray, metric: np.ndarray, pairs: list[tuple[int, int]]
) -> np.ndarray:
    """Error of the sum over pairs, one addition a pair."""
    g, o = roundoff.exact(metric), roundoff.exact(heads)
    n, m = gates.shape[1:]
    d = len(metric)
    rest = roundoff.exact(np.zeros((n, m, d, d), heads.dtype))
    for h, k in pairs:
        gap = (o[h] - o[k]).seen(heads[h] - heads[k])
        square = gap.transpose(1, 0) @ (g @ gap)
        rest = rest + (gates[h] * gates[k]).reshape(n, m, 1, 1) * square
    return rest.error


def _defects(heads: np.ndarray, metric: np.ndarray) -> np.ndarray:
    """|O_h^T G O_h - G| of the stored heads, (H, d, d): exact but for one rounding, covered."""
    g = [[Fraction(float(x)) for x in row] for row in metric]
    axis = range(len(g))
    defects = np.zeros(heads.shape)
    for h, head in enumerate(heads):
        o = [[Fraction(float(x)) for x in row] for row in head]
        moved = [[sum(g[r][k] * o[k][c] for k in axis) for c in axis] for r in axis]
        for r in axis:
            for c in axis:
                exact = sum(o[k][r] * moved[k][c] for k in axis) - g[r][c]
                defects[h, r, c] = abs(float(exact)) * (1 + 2.0**-50)
    return defects
