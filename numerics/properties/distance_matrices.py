"""RA5, matrices of distances on vectors of sum 0.

cuts: for points of a line c^T D c' is -2 times the sum of gap times partial sums of c and of c'.
squared: for squared distances c^T D c' = -2 (sum_i c_i x_i) . (sum_i c'_i x_i).
The distances are those of geodesic_scores with G = I. A sample makes one of the two comparisons,
for all pairs of its vectors; they hold integers, so their sums are 0 exactly. With c' = c these are
the squares of the theorem.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties.distance_cost import difference
from numerics.properties.hypotheses import Held
from numerics.rounding import roundoff
from numerics.rounding.roundoff import Rounded
from numerics.scores.geodesic import geodesic_scores

CLAUSES = ("cuts", "squared")
# Short sums: of many terms the errors average out, and then no bound is tight.
VECTORS = 3
SIZES = st.sampled_from((5, 4, 5, 3, 5, 4, 5, 4, 3, 5, 4, 5, 2, 1))


@dataclass(frozen=True)
class Sample:
    """Sorted points of a line (n,), tokens x (n, d), and vectors c (n, VECTORS) of sum 0."""

    clause: str
    line: np.ndarray
    x: np.ndarray
    c: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Points of every kind, repeated ones too, in float64 and float32."""
    clause, n, d = draw(st.sampled_from(CLAUSES)), draw(SIZES), draw(st.sampled_from((3, 2, 1)))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    points = rng.normal(size=n).astype(dtype)
    if draw(st.sampled_from((False, True))):
        points = strategies.tokens(draw, rng, n, 1, dtype)[:, 0]
    x = strategies.tokens(draw, rng, n, d, dtype)
    return Sample(clause, np.sort(points), x, balanced(rng, n).astype(dtype))


def balanced(rng: np.random.Generator, n: int) -> np.ndarray:
    """Columns (n, VECTORS) of integers that sum to 0."""
    c = rng.integers(-99, 100, size=(n, VECTORS))
    c[-1] -= c.sum(axis=0)
    return c


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Vectors sum to 0, and the points of a line are in order."""
    for vector in sample.c.T:
        yield Held("e sums to 0", {"e": vector})
    if sample.clause == "cuts" and len(sample.line) > 1:
        yield Held("g>=0", {"g": sample.line[1:] - sample.line[:-1]})


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _cuts(sample) if sample.clause == "cuts" else _squared(sample)


def quadratic_form(D: np.ndarray, c: np.ndarray) -> np.ndarray:
    """c^T D c' for all pairs of columns."""
    return c.T @ (D @ c)


def form_error(D: Rounded, c: np.ndarray) -> Rounded:
    """The operations of quadratic_form, replayed."""
    vectors = roundoff.exact(c)
    return vectors.transpose(1, 0) @ (D @ vectors)


def by_gaps(line: np.ndarray, c: np.ndarray) -> np.ndarray:
    """-2 sum_p (x_{p+1} - x_p) (c_1 + ... + c_p) (c'_1 + ... + c'_p), for all pairs."""
    gaps, partial = line[1:] - line[:-1], np.cumsum(c, axis=0)[:-1]
    return c.dtype.type(-2) * ((gaps[None, :] * partial.T) @ partial)


def distances(x: np.ndarray) -> np.ndarray:
    """|x_i - x_j| (n, n)."""
    return -geodesic_scores(x, np.ones_like(x), squared=False)


def squared_distances(x: np.ndarray) -> np.ndarray:
    """|x_i - x_j|^2 (n, n)."""
    return x.dtype.type(-2) * geodesic_scores(x, np.ones_like(x))


def squares_error(x: np.ndarray) -> Rounded:
    """squared_distances replayed; a difference is off by a rounding of itself."""
    steps, two = difference(x[:, None], x[None]), roundoff.exact(np.full((1, 1), 2, x.dtype))
    return (steps * steps).sum(axis=2) / two * two


def _cuts(sample: Sample) -> Residual:
    line, c, n = sample.line, sample.c, len(sample.c)
    x, points = line[:, None], roundoff.exact(line)
    roots = squares_error(x).sqrt(np.asarray(squared_distances(x)))
    bound = form_error(roots, c).error
    if n > 1:
        partial = roundoff.exact(np.cumsum(c, axis=0)[:-1])  # integers: exact
        gaps = (points[1:] - points[:-1]).reshape(1, n - 1)
        two = roundoff.exact(np.full((1, 1), 2, c.dtype))
        bound = bound + (two * ((gaps * partial.transpose(1, 0)) @ partial)).error
    return Residual("cuts", quadratic_form(distances(x), c), by_gaps(line, c), bound, n)


def by_moment(x: np.ndarray, c: np.ndarray) -> np.ndarray:
    """-2 (sum_i c_i x_i) . (sum_i c'_i x_i), for all pairs."""
    moment = c.T @ x
    return c.dtype.type(-2) * (moment @ moment.T)


def _squared(sample: Sample) -> Residual:
    x, c = sample.x, sample.c
    n, d = x.shape
    tokens, two = roundoff.exact(x), roundoff.exact(np.full((1, 1), 2, c.dtype))
    moment = roundoff.exact(c).transpose(1, 0) @ tokens
    bound = form_error(squares_error(x), c).error
    bound = bound + (two * (moment @ moment.transpose(1, 0))).error
    lhs = quadratic_form(squared_distances(x), c)
    return Residual("squared", lhs, by_moment(x, c), bound, max(n, d))
