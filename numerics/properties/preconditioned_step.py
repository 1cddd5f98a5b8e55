"""RA9: the direction G^-1 grad f of LowRankMetric.solve, in old and in new coordinates.

`direction` solves in floating point and moves the result by J, against the exact solution of the
transformed system J^-T G J^-1, J^-T p over Q. `low_rank` moves D, U and p by a signed permutation
times powers of 2, which is exact, and solves with the moved factors, against J G^-1 p over Q.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from hypothesis import strategies as st

from numerics.metrics.low_rank import LowRankMetric
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held, inverse_error
from numerics.rounding import roundoff

CLAUSES = ("direction", "low_rank")


@dataclass(frozen=True)
class Sample:
    """A clause, a metric D (d,), U (d, r), a gradient p (d,) and a Jacobian J (d, d)."""

    clause: str
    D: np.ndarray
    U: np.ndarray
    p: np.ndarray
    J: np.ndarray


KINDS = ("dense", "dense", "zero gradient", "zero factors", "repeated", "subnormal")


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Conditions up to 1e12 in D and in the capacitance, U = 0 or of repeated columns, p = 0."""
    clause, kind = draw(st.sampled_from(CLAUSES)), draw(st.sampled_from(KINDS))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    d, r = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    D, U = strategies.low_rank_metrics(draw, rng, d, r)
    p = rng.normal(size=d)
    if kind == "zero gradient":
        p = np.zeros_like(p)
    elif kind == "zero factors":
        U = np.zeros_like(U)
    elif kind == "repeated":
        U = np.repeat(U[:, :1], r, axis=1)
    elif kind == "subnormal":
        U = np.where(rng.random((d, r)) < 0.5, U, float(np.finfo(dtype).smallest_subnormal))
    J = jacobian(clause, rng, d)
    return Sample(clause, *(part.astype(dtype) for part in (D, U, p, J)))


def jacobian(clause: str, rng: np.random.Generator, d: int) -> np.ndarray:
    """A signed permutation times 2^-k, or a unit lower triangle of eighths times that.

    The inverse of the first multiplies by 2^k, which no subnormal entry loses digits by.
    """
    scales = rng.choice([-1.0, 1.0], size=d) * 2.0 ** -rng.integers(0, 7, size=d)
    monomial = (np.eye(d) * scales)[rng.permutation(d)]
    if clause == "low_rank":
        return monomial
    return (np.eye(d) + np.tril(rng.integers(-8, 9, size=(d, d)) / 8, -1)) @ monomial


def hypotheses(sample: Sample) -> Iterator[Held]:
    """The change of coordinates is invertible, and monomial where it keeps the form."""
    J = sample.J
    inverse = np.linalg.inv(J.astype(np.float64)).astype(J.dtype)
    errors = {"J'": inverse_error(J, inverse)}
    yield Held("J' inverts J", {"J": J, "J'": inverse}, errors, "direction")
    if sample.clause == "low_rank":
        yield Held("one entry a row", {"J'": inverse, "w": inverse * inverse})


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    d, r = sample.U.shape
    if sample.clause == "low_rank":
        moved = new_factors(sample)
        found, bound = LowRankMetric(*moved[:2]).solve_with_bound(moved[2])
        exact = old_direction(sample)
    else:
        step, error = LowRankMetric(sample.D, sample.U).solve_with_bound(sample.p)
        found = sample.J @ step
        bound = moved_bound(sample.J, step, error)
        exact = new_direction(sample)
    return Residual(sample.clause, found, exact, bound + 2.0**-52 * np.abs(exact), d + r)


def new_factors(sample: Sample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """D', U' and p' in the new coordinates, exactly: one entry of J^-T a row, a power of 2."""
    inverse = np.where(sample.J == 0, 0, 1 / np.where(sample.J == 0, 1, sample.J))
    return (inverse * inverse) @ sample.D, inverse @ sample.U, inverse @ sample.p


def moved_bound(J: np.ndarray, step: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Error of J times a vector that carries its own error."""
    product = roundoff.exact(J) @ roundoff.exact(step[:, None])
    carried = np.abs(J).astype(np.float64) @ error
    return (product.error[:, 0] + carried) * (1 + 4 * len(step) * 2.0**-53)


def _rational(values: np.ndarray) -> fmpq_mat:
    parts = [Fraction(float(value)) for value in values.ravel()]
    columns = values.shape[1] if values.ndim == 2 else 1
    entries = [fmpq(part.numerator, part.denominator) for part in parts]
    return fmpq_mat(len(values), columns, entries)


def _metric(sample: Sample) -> fmpq_mat:
    columns = _rational(sample.U)
    square = columns * columns.transpose()
    for place, value in enumerate(_rational(sample.D).entries()):
        square[place, place] = square[place, place] + value
    return square


def _floats(column: fmpq_mat) -> np.ndarray:
    return np.array([float(Fraction(int(x.p), int(x.q))) for x in column.entries()])


def new_direction(sample: Sample) -> np.ndarray:
    """The direction of the transformed metric and gradient, over Q, rounded once."""
    inverse = _rational(sample.J).inv()
    gradient = inverse.transpose() * _rational(sample.p)
    return _floats((inverse.transpose() * _metric(sample) * inverse).solve(gradient))


def old_direction(sample: Sample) -> np.ndarray:
    """J G^-1 p over Q, rounded once."""
    return _floats(_rational(sample.J) * _metric(sample).solve(_rational(sample.p)))
