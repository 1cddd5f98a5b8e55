"""RA2: the determinant of float scores of the principal lattice and of its parts.

In coordinates scaled by s and moved by t the tokens are s x + t and the metrics diag(1 / s^2) +
(v / s)(v / s)^T, with the same scores as before. The determinant of the computed -2 S, exact over
Q, is compared with the closed form within what the rounding errors of the entries can do to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding import roundoff
from numerics.rounding.roundoff import Rounded
from numerics.scores.geodesic import geodesic_scores
from numerics.scores.principal_lattice import PrincipalLattice

CLAUSES = ("certificate", "without_pairs", "part")
SCALES = ("random", "random", "random", "wide", "negative", "powers of two")


@dataclass(frozen=True)
class Sample:
    """A clause, a lattice that it speaks of, scales s (d,) and shifts t (d,) of its coordinates."""

    clause: str
    lattice: PrincipalLattice
    s: np.ndarray
    t: np.ndarray

    def tokens(self) -> np.ndarray:
        """The tokens (n, d) as stored."""
        return self.lattice.tokens().astype(self.s.dtype) * self.s + self.t


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Lattices of width up to 4, whole and in part, at scales that round and that do not."""
    clause, kind = draw(st.sampled_from(CLAUSES)), draw(st.sampled_from(SCALES))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    d = draw(st.integers(2 if clause == "certificate" else 1, 4))
    doubled = draw(st.integers(0, d - 1)) if clause == "part" else d
    pairs = doubled * (doubled - 1) // 2
    if clause != "certificate" and pairs:
        pairs = 0 if clause == "without_pairs" else draw(st.integers(0, pairs))
    elif pairs:
        pairs = draw(st.integers(1, pairs))
    s = rng.uniform(0.5, 2, size=d)
    if kind == "wide":
        s *= 10.0 ** rng.integers(-4, 5, size=d)
    elif kind == "negative":
        s *= rng.choice([-1, 1], size=d)
    elif kind == "powers of two":
        s = 2.0 ** rng.integers(-4, 5, size=d)
    t = np.zeros(d) if kind == "powers of two" else s * rng.uniform(-2, 2, size=d)
    return Sample(clause, PrincipalLattice(d, doubled, pairs), s.astype(dtype), t.astype(dtype))


def hypotheses(sample: Sample) -> Iterator[Held]:
    """The directions beyond the first d are the edges of a simple graph."""
    lattice = sample.lattice
    if lattice.pairs:
        edges = lattice.directions()[lattice.size - lattice.pairs :].astype(np.float64)
        yield Held("E is a simple graph", {"E": edges}, clause="certificate")


def residual(sample: Sample) -> Residual:
    """The exact determinant of the computed scores against the closed form."""
    lattice, s, x = sample.lattice, sample.s, sample.tokens()
    v = lattice.directions().astype(s.dtype)
    D = np.broadcast_to(s.dtype.type(1) / (s * s), x.shape).copy()
    computed = s.dtype.type(-2) * geodesic_scores(x, D, (v / s)[:, :, None])
    bound = determinant_bound(lattice, scores_error(sample))
    found = rational_determinant(computed)
    sides = (np.array([float(Fraction(int(found.p), int(found.q)))]), closed_form(lattice))
    return Residual(sample.clause, *sides, bound + 2.0**-52 * np.abs(sides[0]), lattice.size)


def closed_form(lattice: PrincipalLattice) -> np.ndarray:
    """det(-2 S) (1,), a small number times a power of 2."""
    return np.array([float(lattice.determinant())])


def rational_determinant(matrix: np.ndarray) -> fmpq:
    """The determinant over Q of a matrix of floats, which are rational numbers."""
    entries = [Fraction(float(entry)) for entry in matrix.ravel()]
    n = len(matrix)
    return fmpq_mat(n, n, [fmpq(entry.numerator, entry.denominator) for entry in entries]).det()


def scores_error(sample: Sample) -> np.ndarray:
    """Bound on the errors of the computed -2 S (n, n), from the rounding of tokens and metrics."""
    s, x = sample.s, sample.tokens()
    (n, d), one = x.shape, roundoff.exact(np.ones((1, 1), s.dtype))
    scale = roundoff.exact(s.reshape(1, d))
    inverse = one.divide(scale * scale, (s * s).reshape(1, d))
    frame = roundoff.exact(sample.lattice.directions().astype(s.dtype)) / scale
    # Exact steps are s times 0, 1 or 2; computed ones are 0 or near them, so the subtraction that
    # shows their error is exact.
    integers = sample.lattice.tokens().astype(s.dtype)
    wanted = (integers[None, :, :] - integers[:, None, :]) * s
    lost = np.abs((x[None, :, :] - x[:, None, :]) - wanted).astype(np.float64)
    stored = roundoff.exact(wanted)
    steps = Rounded(stored.magnitude, lost, stored.units)
    total = (inverse.reshape(1, 1, d) * (steps * steps)).sum(axis=2)
    seen = (steps * frame.reshape(n, 1, d)).sum(axis=2)
    return (total + (seen * seen)).error


@lru_cache(maxsize=64)
def inverse_magnitudes(lattice: PrincipalLattice) -> np.ndarray:
    """Entrywise |Q^-1| (n, n), rounded up, of the exact Q = -2 S."""
    n = lattice.size
    inverse = fmpz_mat(lattice.scores().tolist()).inv()
    entries = [abs(Fraction(int(entry.p), int(entry.q))) for entry in inverse.entries()]
    return np.array([float(entry) for entry in entries]).reshape(n, n) * (1 + 2.0**-52)


def determinant_bound(lattice: PrincipalLattice, error: np.ndarray) -> np.ndarray:
    """Bound (1,) on |det(Q + E) - det Q| for |E| <= error: with M = Q^-1 E and t the sum of all
    |M_ij|, det(I + M) - 1 is the trace of M up to exp(t) - 1 - t <= t^2 exp(t) / 2."""
    inverse = inverse_magnitudes(lattice)
    first = float(np.sum(inverse * error.T))
    whole = float(np.sum(inverse @ error))
    relative = first + whole**2 * np.exp(whole) / 2
    spare = 1 + 4 * lattice.size**2 * 2.0**-53
    return np.abs(closed_form(lattice)) * np.array([relative * spare])
