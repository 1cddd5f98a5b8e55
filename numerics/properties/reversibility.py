"""CW8, when softmax attention is reversible.

tokens: with S_ij = x_i^T M x_j + r_i + c_j and B = (S - S^T) / 2, the cycle sum
B_ij + B_jk + B_ki is K(x_j - x_i, x_k - x_i), K = (M - M^T) / 2, on every triangle.
law: where all cycle sums vanish, exactly, the stationary law of softmax(S) is pi_i = Z_i e^{-2 u_i}
up to scale, Z_i = sum_j e^{S_ij}, u_i = (1/n) sum_j B_ij.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx, fmpq
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.rounding import roundoff
from numerics.walks.chains import stationary_distribution
from numerics.walks.walk import softmax_walk

CLAUSES = ("tokens", "law")
# One and two tokens have no triangle, and of width 1 there is no K: few of them are enough.
SIZES = st.sampled_from((6, 7, 6, 5, 4, 3, 2, 1))
WIDTHS = st.sampled_from((4, 4, 4, 4, 3, 2, 1))
REACH = st.sampled_from((0, 1, 16, 64))  # of logits in sixteenths; 64: weights down to e^-30
BITS = 160  # of the exact law: beside it the error of its own evaluation is nothing


@dataclass(frozen=True)
class Sample:
    """Tokens x (n, d), form (d, d), row and column terms (n,); law: reversible logits (n, n)."""

    clause: str
    x: np.ndarray
    form: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    logits: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Tokens and forms of every kind; logits with a potential, in float64 and float32."""
    clause = draw(st.sampled_from(CLAUSES))
    n, d, dtype = draw(SIZES), draw(WIDTHS), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    scale = draw(st.sampled_from((0.0, 1.0, 1.0, 100.0)))
    return Sample(
        clause,
        x=strategies.tokens(draw, rng, n, d, dtype),
        form=strategies.matrices(draw, rng, d, d, dtype),
        rows=(scale * rng.normal(size=n)).astype(dtype),
        columns=(scale * rng.normal(size=n)).astype(dtype),
        logits=with_potential(rng, n, draw(REACH)).astype(dtype),
    )


def with_potential(rng: np.random.Generator, n: int, reach: int) -> np.ndarray:
    """A_ij + u_i - u_j + r_i + c_j with symmetric A, in sixteenths: exact in every format here."""
    pair = rng.integers(-reach, reach + 1, size=(n, n))
    u, r, c = rng.integers(-reach, reach + 1, size=(3, n))
    return (np.tril(pair) + np.tril(pair, -1).T + (u + r)[:, None] + (c - u)) / 16


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _tokens(sample) if sample.clause == "tokens" else _law(sample.logits)


def token_logits(sample: Sample) -> np.ndarray:
    """S (n, n) in the order of a model: scores, then row and column terms."""
    scores = (sample.x @ sample.form) @ sample.x.T
    return scores + sample.rows[:, None] + sample.columns[None, :]


def cycle_sums(S: np.ndarray) -> np.ndarray:
    """B_ij + B_jk + B_ki (n, n, n) of B = (S - S^T) / 2."""
    B = (S - S.T) * S.dtype.type(0.5)
    return B[:, :, None] + B[None, :, :] + B.T[:, None, :]


def skew(form: np.ndarray) -> np.ndarray:
    """K = (M - M^T) / 2, (d, d)."""
    return (form - form.T) * form.dtype.type(0.5)


def on_differences(x: np.ndarray, K: np.ndarray) -> np.ndarray:
    """K(x_j - x_i, x_k - x_i), (n, n, n)."""
    steps = x[None, :, :] - x[:, None, :]
    return (steps @ K) @ np.swapaxes(steps, 1, 2)


def _tokens(sample: Sample) -> Residual:
    """Cycle sums of the logits against the skew form on differences of tokens."""
    lhs = cycle_sums(token_logits(sample))
    rhs = on_differences(sample.x, skew(sample.form))
    model = roundoff.units(sample.x.dtype)
    x, form, rows, columns, half = (
        roundoff.exact(part, model)
        for part in (
            sample.x,
            sample.form,
            sample.rows[:, None],
            sample.columns[None, :],
            np.full((1, 1), 0.5, sample.x.dtype),
        )
    )
    n, d = sample.x.shape
    S = ((x @ form) @ x.transpose(1, 0) + rows) + columns
    B = (S - S.transpose(1, 0)) * half
    three = B.reshape(n, n, 1) + B.reshape(1, n, n) + B.transpose(1, 0).reshape(n, 1, n)
    K = (form - form.transpose(1, 0)) * half
    steps = x.reshape(1, n, d) - x.reshape(n, 1, d)
    turned = (steps @ K) @ steps.transpose(0, 2, 1)
    return Residual("tokens", lhs, rhs, three.error + turned.error, d)


def exact_law(S: np.ndarray) -> list[arb]:
    """Z_i e^{-2 u_i} / sum of Z e^{-2 u} of float logits S (n, n), to BITS bits."""
    n, entries = len(S), [[fmpq(*v.as_integer_ratio()) for v in row] for row in S.tolist()]
    potential = [sum(entries[i][j] - entries[j][i] for j in range(n)) / (2 * n) for i in range(n)]
    with ctx.workprec(BITS):
        weights = [
            sum((arb(s).exp() for s in row), arb(0)) * arb(-2 * u).exp()
            for row, u in zip(entries, potential, strict=True)
        ]
        total = sum(weights, arb(0))
        return [weight / total for weight in weights]


def _law(S: np.ndarray) -> Residual:
    """Direct solve for the law of the computed walk, against the formula for the exact one."""
    P, n = softmax_walk(S), len(S)
    lhs, rhs = stationary_distribution(P), np.array([float(p.mid()) for p in exact_law(S)])
    # By the matrix-tree theorem pi_i is a sum of products of n - 1 entries off the diagonal over
    # the sum of all of these: entries off by a factor e^{+-delta} move it by e^{+-2 (n - 1) delta}.
    moved = math.expm1(2 * (n - 1) * largest_logarithm(P, S))
    solved = (n + 2) ** 3 * 2.0**-53
    stored = roundoff.units(S.dtype).store + 2.0**-52
    bound = ((1 + moved) * (1 + solved) * (1 + stored) - 1) * (1 + 2.0**-40) * rhs
    return Residual("law", lhs, rhs, bound, n)


def largest_logarithm(P: np.ndarray, S: np.ndarray) -> float:
    """The largest |log(P_ij / exact P_ij)| off the diagonal, rounded up."""
    n, worst = len(S), 0.0
    with ctx.workprec(BITS):
        for i in range(n):
            shifts = [fmpq(*float(s).as_integer_ratio()) for s in S[i]]
            log_total = sum((arb(s).exp() for s in shifts), arb(0)).log()
            for j in range(n):
                if i != j:
                    gap = arb(fmpq(*float(P[i, j]).as_integer_ratio())).log()
                    worst = max(worst, float(abs(gap - arb(shifts[j]) + log_total).upper()))
    return worst * (1 + 2.0**-50)
