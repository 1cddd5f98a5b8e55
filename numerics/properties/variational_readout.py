"""AP10, the readout is variational and stable.

least: sum_j mu_j kappa_j |t - v_j|^2, in floats, against Z |t - R|^2 plus its value at R, with R
and all else exact over the rationals.
stability: |R_mu - R_nu| for a coupling of two worlds against (c / a) times its cost: no larger, and
equal for a constant pairing where all values move along one axis to one side.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from numerics.pairings.readouts import readout
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held, rounded
from numerics.rounding import roundoff

CLAUSES = ("least", "stability")
U64 = 2.0**-53


@dataclass(frozen=True)
class Sample:
    """Masses gamma (m, m2), kernels and values of both worlds, distances of keys (m, m2), and the
    slope; where the clause is least: masses gamma (m, 1), a kernel, values v (m, d) and a point."""

    clause: str
    gamma: np.ndarray
    kappa: np.ndarray
    kappa2: np.ndarray
    v: np.ndarray
    v2: np.ndarray
    apart: np.ndarray
    slope: float
    attained: bool = False


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Tokens of every kind, kernels of many magnitudes, couplings with empty pairs."""
    clause = draw(st.sampled_from(CLAUSES))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    m, m2, d = (draw(st.sampled_from(sizes)) for sizes in ((8, 5, 2, 1), (4, 2, 1), (3, 2, 1)))
    if clause == "least":
        mass = rng.uniform(0.1, 2, size=(m, 1)) * (rng.random((m, 1)) < 0.8)
        mass[0] = 1
        kappa = 10.0 ** rng.uniform(-3, 2, size=m)
        v = strategies.tokens(draw, rng, m, d, dtype)
        point = strategies.tokens(draw, rng, 1, d, dtype)
        none = np.zeros(1, dtype)
        return Sample(clause, mass.astype(dtype), kappa.astype(dtype), none, v, point, none, 0.0)
    attained = draw(st.sampled_from((True, True, True, False)))
    m2 = m if attained else m2
    gamma = rng.integers(0, 9, size=(m, m2)).astype(dtype)
    gamma[0, 0] += 1
    if attained:
        gamma = gamma * np.eye(m, dtype=dtype)
    v, v2 = (rng.normal(size=(size, d)).astype(dtype) for size in (m, m2))
    kappa, kappa2 = (rng.uniform(1, 3, size=size).astype(dtype) for size in (m, m2))
    apart = rng.uniform(0, 2, size=(m, m2)).astype(dtype)
    slope = float(np.max(np.abs(kappa[:, None] - kappa2[None, :]) / (apart + dtype(2.0**-8))))
    apart, slope = apart + dtype(2.0**-7), slope * 1.0001
    if attained:
        kappa, kappa2 = np.ones_like(kappa), np.ones_like(kappa2)
        apart, slope = np.zeros_like(apart), 0.0
        v2 = v.copy()
        v2[:, 0] -= rng.uniform(0, 2, size=m).astype(dtype)
    return Sample(clause, gamma, kappa, kappa2, v, v2, apart, slope, attained)


def hypotheses(sample: Sample) -> Iterator[Held]:
    """A nonnegative coupling of two worlds of mass 1, positive pairings, distances of keys."""
    if sample.clause == "least":
        total = (sample.gamma[:, 0] * sample.kappa).sum()
        yield Held("Z>0", {"Z": np.asarray(total)})
        return
    gamma = sample.gamma / sample.gamma.sum()
    mu, nu = gamma.sum(axis=1), gamma.sum(axis=0)
    errors = {"mu": rounded(mu, len(nu)), "nu": rounded(nu, len(mu))}
    yield Held("gamma couples mu and nu", {"gamma": gamma, "mu": mu, "nu": nu}, errors)
    yield Held("mu and nu sum to 1", {"mu": mu, "nu": nu}, errors)
    yield Held("gamma is nonnegative", {"gamma": gamma})
    yield Held("a>0", {"a": np.asarray(min(sample.kappa.min(), sample.kappa2.min()))})
    yield Held("s is nonnegative", {"s": sample.apart})
    most = sample.slope * sample.apart.astype(np.float64)
    rise = sample.kappa[:, None].astype(np.float64) - sample.kappa2
    yield Held("kappa is Lipschitz", {"lambda": most - rise, "lambda_below": most + rise})


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _least(sample) if sample.clause == "least" else _stability(sample)


def energy(mass: np.ndarray, kappa: np.ndarray, v: np.ndarray, point: np.ndarray) -> np.ndarray:
    """sum_j mu_j kappa_j |t - v_j|^2."""
    steps = point - v
    return np.sum(mass * kappa * np.sum(steps * steps, axis=1), axis=0, keepdims=True)


def _fractions(values: np.ndarray) -> list[Fraction]:
    return [Fraction(float(value)) for value in values.ravel()]


def completed_square(mass: np.ndarray, kappa: np.ndarray, v: np.ndarray, point: np.ndarray
                     ) -> float:  # fmt: skip
    """Z |t - R|^2 + sum_j mu_j kappa_j |R - v_j|^2, exactly, rounded once."""
    weights = [a * b for a, b in zip(_fractions(mass), _fractions(kappa), strict=True)]
    total = sum(weights, start=Fraction(0))
    value = Fraction(0)
    for column, at in zip(v.T, _fractions(point), strict=True):
        values = _fractions(column)
        mean = sum((w * x for w, x in zip(weights, values, strict=True)), start=Fraction(0)) / total
        value += total * (at - mean) ** 2
        value += sum((w * (mean - x) ** 2 for w, x in zip(weights, values, strict=True)),
                     start=Fraction(0))  # fmt: skip
    return float(value)


def _least(sample: Sample) -> Residual:
    mass, kappa, v, point = sample.gamma[:, 0], sample.kappa, sample.v, sample.v2
    found, exact = energy(mass, kappa, v, point), completed_square(mass, kappa, v, point)
    steps = roundoff.exact(point) - roundoff.exact(v)
    terms = roundoff.exact(mass) * roundoff.exact(kappa) * (steps * steps).sum(axis=1)
    bound = terms.reshape(1, -1).sum(axis=1).error + 2 * U64 * exact
    return Residual("least", found, np.array([exact]), bound, len(mass) + v.shape[1])


def _mean(kappa: np.ndarray, mass: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The readout and a bound on its error."""
    found = readout(kappa[None, :], v, mass)[0]
    masses = roundoff.exact(kappa[None, :]) * roundoff.exact(mass[None, :])
    plain = kappa * mass
    weights = masses.divide(masses.sum(axis=1).reshape(1, 1), plain.sum().reshape(1, 1))
    # Another order of the sum of the masses is within 1 + 2^-10 of this one's bound.
    return found, (weights @ roundoff.exact(v)).error[0] * (1 + 2.0**-10)


def cost(sample: Sample, gamma: np.ndarray) -> float:
    """sum gamma (s + |v - v'|) for gamma of total mass 1."""
    steps = sample.v[:, None, :].astype(np.float64) - sample.v2[None, :, :]
    return float((gamma * (sample.apart + np.sqrt((steps**2).sum(axis=2)))).sum())


def constant(sample: Sample) -> float:
    """max(b, l D) / a, with D the diameter of the values of the second world."""
    steps = sample.v2[:, None, :].astype(np.float64) - sample.v2[None, :, :]
    diameter = float(np.sqrt((steps**2).sum(axis=2)).max())
    least = min(float(sample.kappa.min()), float(sample.kappa2.min()))
    return max(float(sample.kappa.max()), sample.slope * diameter) / least


def _stability(sample: Sample) -> Residual:
    """Equal where the bound is attained; elsewhere what exceeds it. Masses are whole numbers."""
    m, m2 = sample.gamma.shape
    one, error = _mean(sample.kappa, sample.gamma.sum(axis=1), sample.v)
    two, error2 = _mean(sample.kappa2, sample.gamma.sum(axis=0), sample.v2)
    apart = np.linalg.norm(one.astype(np.float64) - two)
    whole = sample.gamma.astype(np.float64)
    limit = constant(sample) * cost(sample, whole / whole.sum())
    lhs = apart if sample.attained else max(apart, limit)
    bound = np.linalg.norm(error + error2) + (m * m2 + 32) * U64 * (apart + limit)
    return Residual("stability", np.array([lhs]), np.array([limit]),
                    np.array([bound + 2.0**-1000]), m)  # fmt: skip
