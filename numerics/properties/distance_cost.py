"""RA7: distances in low-rank metrics by explicit differences, by products, and over Q.

`low_rank_form` compares LowRankMetric.distance2 with the quadratic form of the stored matrix in
exact rational arithmetic; `products` compares pair_distances2, from r + 2 matrix products and any
origin, with distance2 of all pairs. `tables` gives the share of published layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from hypothesis import strategies as st

from numerics.metrics.low_rank import LowRankMetric, pair_distances2
from numerics.properties import Residual, strategies
from numerics.rounding import roundoff
from numerics.rounding.roundoff import Rounded
from numerics.scores.tables import overhead_tables

CLAUSES = ("low_rank_form", "products")
ORIGINS = ("mean", "zero", "first", "far")
tables = overhead_tables


@dataclass(frozen=True)
class Sample:
    """A clause, metrics D (n, d), U (n, d, r), queries x (n, d), keys y (m, d), an origin (d,)."""

    clause: str
    D: np.ndarray
    U: np.ndarray
    x: np.ndarray
    y: np.ndarray
    origin: np.ndarray | None


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Repeated, equal, zero and far tokens, U = 0, D of condition up to 1e12, n != m."""
    clause, dtype = draw(st.sampled_from(CLAUSES)), draw(strategies.dtypes())
    size, rng = draw(strategies.sizes(width=6)), draw(strategies.generators())
    r = draw(st.integers(1, 3))
    pairs = [strategies.low_rank_metrics(draw, rng, size.d_in, r) for _ in range(size.n)]
    D, U = (np.stack(parts).astype(dtype) for parts in zip(*pairs, strict=True))
    U = np.zeros_like(U) if draw(st.integers(0, 7)) == 0 else U
    x = strategies.tokens(draw, rng, size.n, size.d_in, dtype)
    y = strategies.tokens(draw, rng, size.m, size.d_in, dtype)
    if draw(st.booleans()):
        y[0] = x[0]
    origins = {"zero": np.zeros_like(y[0]), "first": y[0], "far": y[0] + dtype(100.0)}
    return Sample(clause, D, U, x, y, origins.get(draw(st.sampled_from(ORIGINS))))


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    n, m, d = len(sample.x), *sample.y.shape
    metric = LowRankMetric(sample.D, sample.U)
    queries = np.repeat(sample.x[:, None], m, axis=1)
    explicit = metric.distance2(queries, np.repeat(sample.y[None], n, axis=0))
    bound = explicit_bound(sample).error
    if sample.clause == "low_rank_form":
        exact = exact_distances(sample)
        return Residual(sample.clause, explicit, exact, bound + 2.0**-52 * exact, d)
    products = pair_distances2(metric, sample.x, sample.y, sample.origin)
    return Residual(sample.clause, products, explicit, bound + products_bound(sample).error, d)


def difference(a: np.ndarray, b: np.ndarray) -> Rounded:
    """a - b of stored arrays: one rounding of the difference itself, however near they are."""
    model, wide = roundoff.units(a.dtype), roundoff.units(np.float64)
    size = np.abs(a.astype(np.float64) - b) * (1 + 4 * wide.acc)
    return Rounded(size, model.once * size * (1 + 4 * wide.acc) + 2 * model.flush, model)


def explicit_bound(sample: Sample) -> Rounded:
    """distance2 of all pairs, replayed."""
    D, U = (roundoff.exact(part) for part in (sample.D, sample.U))
    n, d = sample.x.shape
    steps = difference(sample.x[:, None], sample.y[None])
    along = steps @ U
    return (D.reshape(n, 1, d) * (steps * steps)).sum(2) + (along * along).sum(2)


def products_bound(sample: Sample) -> Rounded:
    """pair_distances2, replayed; any origin gives the same distances, so it enters as stored."""
    origin = sample.y.mean(axis=0) if sample.origin is None else sample.origin
    D, U = (roundoff.exact(part) for part in (sample.D, sample.U))
    queries, keys = difference(sample.x, origin), difference(sample.y, origin)
    weighted, turned, n = D * queries, keys.transpose(1, 0), len(sample.x)
    half = weighted @ turned
    total = (weighted * queries).sum(1).reshape(n, 1) - (half + half)
    total = total + D @ (keys * keys).transpose(1, 0)
    for c in range(sample.U.shape[2]):
        column = U[:, :, c]
        along = (column * queries).sum(1).reshape(n, 1) - column @ turned
        total = total + along * along
    return total


def exact_distances(sample: Sample) -> np.ndarray:
    """(x_i - y_j)^T G_i (x_i - y_j) with the matrices G_i formed, rounded once to float64."""
    x, y = (_rational(part) for part in (sample.x, sample.y))
    d, r = sample.U.shape[1:]
    found = np.empty((len(sample.x), len(sample.y)))
    for i, query in enumerate(x):
        columns = fmpq_mat(d, r, [value for row in _rational(sample.U[i]) for value in row])
        square = columns * columns.transpose()
        for place, (value,) in enumerate(_rational(sample.D[i][:, None])):
            square[place, place] = square[place, place] + value
        for j, key in enumerate(y):
            step = fmpq_mat(1, d, [a - b for a, b in zip(query, key, strict=True)])
            value = (step * square * step.transpose())[0, 0]
            found[i, j] = float(Fraction(int(value.p), int(value.q)))
    return found


def _rational(rows: np.ndarray) -> list[list[fmpq]]:
    fractions = [[Fraction(float(value)) for value in row] for row in rows]
    return [[fmpq(part.numerator, part.denominator) for part in row] for row in fractions]
