"""AP9, equivariance.

world: readouts on a list of tokens, in any order and some listed more than once, against those on
the world with the sum of the listed weights.
affine: readouts of the values T v + c against T R + c.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.pairings.readouts import readout
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding.roundoff import Rounded, exact

CLAUSES = ("world", "affine")


@dataclass(frozen=True)
class Sample:
    """A pairing (n, m), values (m, d), a list of tokens with whole weights, and T (d_o, d), c."""

    clause: str
    kappa: np.ndarray
    v: np.ndarray
    places: np.ndarray
    listed: np.ndarray
    T: np.ndarray
    c: np.ndarray

    @property
    def mu(self) -> np.ndarray:
        """The weight of each token, the sum of its places', which are whole numbers."""
        weights = np.zeros(len(self.v), self.v.dtype)
        np.add.at(weights, self.places, self.listed)
        return weights


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Pairings with zeros and of many magnitudes, tokens unlisted, reordered and repeated."""
    clause, dtype = draw(st.sampled_from(CLAUSES)), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    n, m = draw(st.sampled_from((3, 2, 1))), draw(st.sampled_from((6, 7, 7, 5, 2, 1)))
    d, d_o = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    kappa = rng.exponential(size=(n, m)) * 10.0 ** rng.integers(-4, 5, size=(n, 1))
    kappa = kappa * (rng.random((n, m)) < draw(st.sampled_from((1.0, 1.0, 0.5))))
    values = strategies.tokens(draw, rng, m, d, dtype)
    if draw(st.booleans()):
        values = rng.normal(size=(m, d)).astype(dtype)
    if draw(st.booleans()):
        places = rng.permutation(m)
        listed = np.ones(m)
    else:
        places = rng.integers(0, m, size=draw(st.sampled_from((9, 8, 4, 2, 1))))
        listed = rng.integers(0, 4, size=len(places)).astype(np.float64)
    return Sample(
        clause, kappa.astype(dtype), values, places,
        listed.astype(dtype), strategies.matrices(draw, rng, d_o, d, dtype),
        rng.normal(size=d_o).astype(dtype),
    )  # fmt: skip


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Each place lists one token; the pairing and the weights are nonnegative."""
    listing = np.eye(len(sample.v), dtype=sample.v.dtype)[sample.places]
    yield Held("B is a map", {"B": listing}, clause="world")
    yield Held("\\kappa>=0", {"\\kappa": sample.kappa}, clause="hull")
    mass = np.broadcast_to(sample.mu, sample.kappa.shape)
    yield Held("\\mu>=0", {"\\mu": mass}, clause="hull")


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _world(sample) if sample.clause == "world" else _affine(sample)


def rounded_readout(kappa: np.ndarray, v: Rounded, mu: np.ndarray) -> Rounded:
    """The readout as it is computed; rows without mass are 0."""
    mass = exact(kappa) * exact(mu[None, :])
    total = (kappa * mu).sum(axis=1, keepdims=True)
    empty = total == 0
    unit = Rounded(np.ones(empty.shape), np.zeros(empty.shape), mass.units, False)
    whole = mass.sum(axis=1).reshape(-1, 1).where(~empty)
    divisor = Rounded(np.where(empty, unit.magnitude, whole.magnitude), whole.error, mass.units)
    weights = mass.where(~np.broadcast_to(empty, kappa.shape))
    return weights.divide(divisor, np.where(empty, 1, total)) @ v


def _world(sample: Sample) -> Residual:
    kappa, v, places, listed = sample.kappa, sample.v, sample.places, sample.listed
    lhs = readout(kappa[:, places], v[places], listed)
    rhs = readout(kappa, v, sample.mu)
    bound = rounded_readout(kappa[:, places], exact(v[places]), listed).error
    bound = bound + rounded_readout(kappa, exact(v), sample.mu).error
    return Residual("world", lhs, rhs, bound, max(len(places), len(v)))


def _affine(sample: Sample) -> Residual:
    kappa, v, mu, T, c = sample.kappa, sample.v, sample.mu, sample.T, sample.c
    lhs, rhs = readout(kappa, v @ T.T + c, mu), readout(kappa, v, mu) @ T.T + c
    empty = (kappa * mu).sum(axis=1, keepdims=True) == 0
    # A query without mass reads 0, which an affine map with c != 0 does not fix.
    lhs, rhs = np.where(empty, 0, lhs), np.where(empty, 0, rhs)
    matrix, shift = exact(T.T), exact(c[None, :])
    before = rounded_readout(kappa, exact(v) @ matrix + shift, mu)
    after = rounded_readout(kappa, exact(v), mu) @ matrix + shift
    return Residual("affine", lhs, rhs, before.error + after.error, max(len(v), T.shape[1]))
