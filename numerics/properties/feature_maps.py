"""AP7, random and Taylor features of exp(q . k).

positive: the inner product of positive features against the mean over the frequencies of
exp(omega . (q + k) - |q|^2 / 2 - |k|^2 / 2), in ball arithmetic on the stored numbers.
trigonometric: that of trigonometric features against exp((|q|^2 + |k|^2) / 2) times the mean of
cos(omega . (q - k)), the same way.
taylor: the inner product of Taylor features against T_p(q . k), exact over the rationals.
A sample makes one of the three comparisons.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, ctx, fmpq
from hypothesis import strategies as st

from numerics.pairings import features
from numerics.properties import Residual, strategies
from numerics.rounding import roundoff
from numerics.rounding.roundoff import Rounded

CLAUSES = ("positive", "trigonometric", "taylor")
BITS = 200


@dataclass(frozen=True)
class Sample:
    """A query q and a key k (1, d), frequencies (m, d), and the degree of Taylor features."""

    clause: str
    q: np.ndarray
    k: np.ndarray
    omega: np.ndarray
    degree: int


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Tokens of every kind, of length at most about 4; antipodal and equal pairs."""
    clause = draw(st.sampled_from(CLAUSES))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    d, m = draw(st.sampled_from((3, 2, 1))), draw(st.sampled_from((12, 5, 2, 1)))
    q, k = (strategies.tokens(draw, rng, 1, d, dtype) for _ in range(2))
    q, k = (np.clip(x, -2, 2) for x in (q, k))
    pair = draw(st.sampled_from(("any", "any", "any", "equal", "antipodal")))
    if pair != "any":
        k = q if pair == "equal" else -q
    omega = features.frequencies(m, d, int(rng.integers(2**32)), q)
    return Sample(clause, q, k, omega, draw(st.sampled_from((6, 4, 3, 1, 0))))


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _taylor(sample) if sample.clause == "taylor" else _random(sample)


def _exact(value: float) -> arb:
    part = Fraction(float(value))
    return arb(fmpq(part.numerator, part.denominator))


def _dot(x: np.ndarray, y: np.ndarray) -> arb:
    return sum((_exact(a) * _exact(b) for a, b in zip(x, y, strict=True)), start=arb(0))


def expected(sample: Sample) -> float:
    """The estimate that the features stand for, from the stored numbers."""
    with ctx.workprec(BITS):
        q, k = sample.q[0], sample.k[0]
        half = (_dot(q, q) + _dot(k, k)) / 2
        total = arb(0)
        for row in sample.omega:
            one, other = _dot(row, q), _dot(row, k)
            if sample.clause == "positive":
                total += (one + other - half).exp()
            else:
                total += (one - other).cos() * half.exp()
        return float(total / len(sample.omega))


def _random(sample: Sample) -> Residual:
    positive = sample.clause == "positive"
    make = features.positive_features if positive else features.trigonometric_features
    sides = [make(x, sample.omega) for x in (sample.q, sample.k)]
    parts = [_feature(x, sample.omega, made, positive)
             for x, made in zip((sample.q, sample.k), sides, strict=True)]  # fmt: skip
    m, rhs = len(sample.omega), np.array([[expected(sample)]])
    unit = 2.0**-52
    bound = (parts[0] @ parts[1].transpose(1, 0)).error + unit * np.abs(rhs)
    count = sides[0].shape[1]
    return Residual(sample.clause, sides[0] @ sides[1].T, rhs, bound, max(count, m))


def _feature(x: np.ndarray, omega: np.ndarray, made: np.ndarray, positive: bool) -> Rounded:
    """Features with the errors of exponents, exp, cos, the division by sqrt m and underflow."""
    unit = roundoff.units(x.dtype)
    one, frequency = roundoff.exact(x), roundoff.exact(omega)
    projected = one @ frequency.transpose(1, 0)
    half = (one * one).sum(axis=1).reshape(1, 1)
    half = Rounded(half.magnitude / 2, half.error / 2 + unit.eta, unit)
    size = np.abs(made.astype(np.float64))
    if positive:
        off = (projected - half).error
        relative = np.expm1(off) * (1 + unit.exp) + unit.exp
    else:
        # cos and sin are 1-Lipschitz and within 4 units; the factor is at most e^{|x|^2/2}.
        factor = np.exp(half.magnitude) * (1 + 2.0**-40) / math.sqrt(len(omega))
        off = projected.error + 4 * unit.exp
        relative = np.expm1(half.error) * (1 + unit.exp) + unit.exp + 4 * unit.store
        waves = np.concatenate((off, off), axis=1) * factor
        error = waves * (1 + relative) + relative * (size + waves) + 4 * unit.eta
        return Rounded(size + error, error * (1 + 2.0**-10), unit)
    error = size * (relative + 4 * unit.store) * (1 + 2 * relative) + 4 * unit.eta
    return Rounded(size + error, error * (1 + 2.0**-10), unit)


def polynomial(sample: Sample) -> float:
    """T_p(q . k), exactly, rounded once."""
    pairs = zip(sample.q[0], sample.k[0], strict=True)
    s = sum((Fraction(float(a)) * Fraction(float(b)) for a, b in pairs), start=Fraction(0))
    return float(sum(s**r / math.factorial(r) for r in range(sample.degree + 1)))


def _taylor(sample: Sample) -> Residual:
    sides = [features.taylor_features(x, sample.degree) for x in (sample.q, sample.k)]
    unit = roundoff.units(sample.q.dtype)
    # A feature is at most p quotients by rounded roots and p - 1 products.
    relative = roundoff.gamma(4 * sample.degree + 1, unit.store)
    parts = [
        Rounded(np.abs(side) * (1 + relative), np.abs(side) * relative * (1 + 2.0**-10)
                + _underflow(x, sample.degree, unit.eta), unit)
        for x, side in zip((sample.q, sample.k), map(_wide, sides), strict=True)
    ]  # fmt: skip
    rhs = np.array([[polynomial(sample)]])
    bound = (parts[0] @ parts[1].transpose(1, 0)).error + 2.0**-52 * np.abs(rhs)
    return Residual("taylor", sides[0] @ sides[1].T, rhs, bound, sides[0].shape[1])


def _wide(side: np.ndarray) -> np.ndarray:
    return side.astype(np.float64)


def _underflow(x: np.ndarray, degree: int, eta: float) -> float:
    """Each of 2 p operations may underflow once, and later factors are at most max(1, |x|)."""
    return 4 * degree * eta * max(1.0, float(np.abs(x).max())) ** degree
