"""RA18, the kernel sense of Gram.

homogeneous: with one metric G = diag(D) + U U^T for all tokens the kernel of a base token,
S_ij - S_io - S_oj + S_oo, is the Gram matrix of x_i - x_o.
conditional: row and column terms do not change c^T S c' for integer vectors of sum 0, which second
differences of S give by partial sums of c and c'.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties import score_rank as ra1
from numerics.properties.distance_matrices import balanced, form_error, quadratic_form
from numerics.properties.hypotheses import Held
from numerics.rounding import roundoff
from numerics.scores.geodesic import geodesic_scores

CLAUSES = ("homogeneous", "conditional")
# Short sums: of many terms the errors average out, and then no bound is tight.
TOKENS = st.sampled_from((4, 3, 4, 2, 4, 1))


@dataclass(frozen=True)
class Sample:
    """Tokens x (n, d), one metric D (d,), U (d, r); scores S (m, m), their terms (m,), and vectors
    c (m, 3) of sum 0."""

    clause: str
    x: np.ndarray
    D: np.ndarray
    U: np.ndarray
    S: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    c: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Tokens and scores of every kind, in float64 and float32."""
    clause, tokens = draw(st.sampled_from(CLAUSES)), draw(ra1.samples())
    rng = draw(strategies.generators())
    n, dtype = draw(TOKENS), tokens.x.dtype
    S, rows, columns = (rng.normal(size=shape).astype(dtype) for shape in ((n, n), n, n))
    return Sample(clause, tokens.x, tokens.D[0], tokens.U[0], S, rows, columns,
                  balanced(rng, n).astype(dtype))  # fmt: skip


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Vectors sum to 0."""
    for vector in sample.c.T:
        yield Held("c sums to 0", {"c": vector}, clause="conditional")


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _homogeneous(sample) if sample.clause == "homogeneous" else _conditional(sample)


def base_kernel(S: np.ndarray) -> np.ndarray:
    """S_ij - S_io - S_oj + S_oo of the first token o, (n, n)."""
    return ((S - S[:, :1]) - S[:1, :]) + S[:1, :1]


def gram_matrix(x: np.ndarray, D: np.ndarray, U: np.ndarray) -> np.ndarray:
    """(x_i - x_o)^T G (x_j - x_o), (n, n)."""
    steps = x - x[:1]
    seen = steps @ U
    return (D[None, :] * steps) @ steps.T + seen @ seen.T


def everywhere(part: np.ndarray, n: int) -> np.ndarray:
    """The same metric for n tokens."""
    return np.repeat(part[None], n, axis=0)


def _homogeneous(sample: Sample) -> Residual:
    x, D, U, n = sample.x, sample.D, sample.U, len(sample.x)
    S = geodesic_scores(x, everywhere(D, n), everywhere(U, n))
    two = roundoff.exact(np.full((1, 1), 2, x.dtype))
    scores = ra1.distances_error(x, everywhere(D, n), everywhere(U, n)) / two
    kernel = ((scores - scores[:, :1]) - scores[:1, :]) + scores[:1, :1]
    tokens = roundoff.exact(x)
    steps = tokens - tokens[:1]
    seen = steps @ roundoff.exact(U)
    gram = (roundoff.exact(D[None, :]) * steps) @ steps.transpose(1, 0)
    gram = gram + seen @ seen.transpose(1, 0)
    bound = kernel.error + gram.error
    return Residual("homogeneous", base_kernel(S), gram_matrix(x, D, U), bound, max(2, *U.shape))


def with_terms(S: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """S_ij + r_i + c_j."""
    return (S + rows[:, None]) + columns[None, :]


def by_differences(S: np.ndarray, c: np.ndarray) -> np.ndarray:
    """c^T S c' for all pairs of columns, from second differences of S and partial sums of c."""
    partial = np.cumsum(c, axis=0)[:-1]
    steps = (S[:-1, :-1] - S[1:, :-1]) - (S[:-1, 1:] - S[1:, 1:])
    return partial.T @ (steps @ partial)


def _conditional(sample: Sample) -> Residual:
    S, rows, columns, c = sample.S, sample.rows, sample.columns, sample.c
    lhs, rhs = quadratic_form(with_terms(S, rows, columns), c), by_differences(S, c)
    plain = roundoff.exact(S)
    terms = (plain + roundoff.exact(rows[:, None])) + roundoff.exact(columns[None, :])
    bound = form_error(terms, c).error
    if len(c) > 1:
        steps = (plain[:-1, :-1] - plain[1:, :-1]) - (plain[:-1, 1:] - plain[1:, 1:])
        partial = np.cumsum(c, axis=0)[:-1]  # integers: exact
        bound = bound + form_error(steps, partial).error
    return Residual("conditional", lhs, rhs, bound, len(c))
