"""RA6: solutions and determinants of D + U U^T against exact rational arithmetic.

`inverse` compares LowRankMetric.solve with the exact solution of the stored system, within the
bound that it returns from its residuals; `determinant` compares logdet with the determinant of the
stored matrix, within a bound on the factors found. Neither side shares a line of code: the exact
one forms the matrix and eliminates over Q.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat
from hypothesis import strategies as st

from numerics.metrics.low_rank import LowRankMetric
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding import roundoff

CLAUSES = ("inverse", "determinant")


@dataclass(frozen=True)
class Sample:
    """A clause, a metric D (d,), U (d, r), and vectors v (m, d)."""

    clause: str
    D: np.ndarray
    U: np.ndarray
    v: np.ndarray


KINDS = ("dense", "dense", "zero", "large", "in the range", "repeated", "subnormal")


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Conditions up to 1e12 in D and in the capacitance, U = 0 or of repeated columns, d or r 1."""
    clause, kind = draw(st.sampled_from(CLAUSES)), draw(st.sampled_from(KINDS))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    d, r = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    D, U = strategies.low_rank_metrics(draw, rng, d, r)
    v = strategies.tokens(draw, rng, 2, d, np.float32).astype(np.float64)
    if kind == "zero":
        U = np.zeros_like(U)
    elif kind == "large":
        U = U * 10.0 ** rng.integers(0, 5, size=(1, r))
    elif kind == "in the range":
        v = rng.normal(size=(2, r)) @ U.T
    elif kind == "repeated":
        U = np.repeat(U[:, :1], r, axis=1)
    elif kind == "subnormal":
        U = np.where(rng.random((d, r)) < 0.5, U, float(np.finfo(dtype).smallest_subnormal))
    return Sample(clause, D.astype(dtype), U.astype(dtype), v.astype(dtype))


def hypotheses(sample: Sample) -> Iterator[Held]:
    """The diagonal is positive."""
    yield Held("D>0", {"D": sample.D})


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    metric = LowRankMetric(sample.D, sample.U)
    d, r = sample.U.shape
    if sample.clause == "inverse":
        found, bound = metric.solve_with_bound(sample.v)
        exact = exact_solution(sample)
        bound = bound + 2.0**-52 * np.abs(exact)
        return Residual("inverse", found, exact, bound, d + r)
    value = exact_logdet(sample)
    bound = logdet_bound(metric) + 2.0**-52 * abs(value)
    return Residual(
        "determinant", np.array([metric.logdet()]), np.array([value]), np.array([bound]), d + r
    )


def _rational(values: np.ndarray) -> list[fmpq]:
    parts = (Fraction(float(value)) for value in values.ravel())
    return [fmpq(part.numerator, part.denominator) for part in parts]


def _matrix(sample: Sample) -> fmpq_mat:
    d, r = sample.U.shape
    columns = fmpq_mat(d, r, _rational(sample.U))
    square = columns * columns.transpose()
    for place, value in enumerate(_rational(sample.D)):
        square[place, place] = square[place, place] + value
    return square


def exact_solution(sample: Sample) -> np.ndarray:
    """G^-1 v for the stored D, U and v, rounded once to float64."""
    m, d = sample.v.shape
    right = fmpq_mat(m, d, _rational(sample.v)).transpose()
    solved = _matrix(sample).solve(right).transpose()
    entries = [Fraction(int(x.p), int(x.q)) for x in solved.entries()]
    return np.array([float(entry) for entry in entries]).reshape(m, d)


def exact_logdet(sample: Sample) -> float:
    """log det G for the stored D and U, rounded once to float64."""
    with ctx.workprec(160):
        return float(arb(_matrix(sample).det()).log())


def logdet_bound(metric: LowRankMetric) -> float:
    """Bound on the error of logdet, from the factors that it read the determinant off.

    With [V; I] = Q R + F and N = R^-T C R^-1 - I the determinant of C is det(R)^2 det(I + N), and
    |N| <= |Q^T Q - I| + 2 |Q| |F R^-1| + |F R^-1|^2 in Frobenius norms.
    """
    root, upper, lower, triangle = (np.asarray(part) for part in metric._factor)
    d, r = upper.shape
    u = roundoff.units(np.float64).acc
    scaled = metric.U.astype(np.float64) / root[:, None]
    stacked, q = np.vstack([scaled, np.eye(r)]), np.vstack([upper, lower])
    lost = np.abs(stacked - q @ triangle) + 4 * u * np.abs(stacked) + 2.0**-1074
    lost += roundoff.gamma(r + 1, u) * (np.abs(q) @ np.abs(triangle))
    inverse = np.linalg.inv(triangle)
    gap = np.abs(triangle @ inverse - np.eye(r)) + roundoff.gamma(r + 1, u) * (
        np.abs(triangle) @ np.abs(inverse)
    )
    turned = np.linalg.norm(lost @ np.abs(inverse)) / (1 - np.linalg.norm(gap))
    overlap = np.abs(q.T @ q - np.eye(r)) + roundoff.gamma(d + r + 1, u) * (np.abs(q).T @ np.abs(q))
    skew = float(np.linalg.norm(overlap))
    off = skew + 2 * math.sqrt(1 + skew) * turned + turned**2
    if not off < 0.5:
        raise ArithmeticError("the factors say nothing about the determinant")
    diagonal = 2 * np.log(np.abs(triangle.diagonal()))
    logs = np.concatenate([np.log(metric.D.astype(np.float64)), diagonal])
    sums = (roundoff.gamma(d + r + 1, u) + 8 * u) * float(np.abs(logs).sum()) + 8 * u * r
    value = abs(float(logs.sum())) + sums
    wide = math.sqrt(r) * off / (1 - off) + sums
    store = roundoff.units(metric.D.dtype).store if metric.D.dtype != np.float64 else 0.0
    return (wide + store * (value + wide)) * (1 + 32 * (d + r) * u)
