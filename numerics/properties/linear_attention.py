"""AP4, linear attention.

reassociation: (phi(Q) psi(K)^T) V and its row sums against phi(Q) (psi(K)^T V) and phi(Q) z.
moments: readouts by the matrix of weights against those by the moments (M, z), for positive
features and masses.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from numerics.pairings.recurrences import normalised, with_ones
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding import roundoff

CLAUSES = ("reassociation", "moments")


@dataclass(frozen=True)
class Sample:
    """A clause, features of queries (n, m) and keys (p, m), values (p, w), masses (p,)."""

    clause: str
    query: np.ndarray
    key: np.ndarray
    value: np.ndarray
    mass: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Any sizes; signed features, zero and repeated tokens, or positive features and masses."""
    clause, dtype = draw(st.sampled_from(CLAUSES)), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    n, p, m, w = (draw(st.integers(1, top)) for top in (5, 6, 4, 3))
    value = strategies.tokens(draw, rng, p, w, dtype)
    if clause == "moments":
        query, key = (rng.uniform(0.25, 4.0, size=(rows, m)).astype(dtype) for rows in (n, p))
    else:
        query = strategies.tokens(draw, rng, n, m, dtype)
        key = strategies.tokens(draw, rng, p, m, dtype)
    mass = rng.uniform(0.25, 4.0, size=p).astype(dtype)
    return Sample(clause, query, key, value, mass)


def by_weights(query: Any, key: Any, value: Any) -> Any:
    """(phi(Q) psi(K)^T) V, for values with a last coordinate 1."""
    return (query @ key.transpose(1, 0)) @ value


def by_moments(query: Any, key: Any, value: Any) -> Any:
    """phi(Q) (psi(K)^T V), with the same values."""
    return query @ (key.transpose(1, 0) @ value)


def quotient(outputs: roundoff.Rounded, computed: np.ndarray) -> roundoff.Rounded:
    """Coordinates over the last one, given as computed."""
    return outputs[:, :-1].divide(outputs[:, -1:], computed[:, -1:])


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Readouts by moments have positive features and masses."""
    if sample.clause == "moments":
        yield Held("phi>0", {"phi": sample.query}, clause="positivity")
        yield Held("psi>0", {"psi": sample.key}, clause="positivity")
        yield Held("mu>0", {"mu": sample.mass}, clause="positivity")


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    value = with_ones(sample.value)
    key = sample.key
    weighted = roundoff.exact(key)
    if sample.clause == "moments":
        weighted = weighted * roundoff.exact(sample.mass[:, None])
        key = key * sample.mass[:, None]
    parts = (roundoff.exact(sample.query), weighted, roundoff.exact(value))
    left, right = (form(sample.query, key, value) for form in (by_weights, by_moments))
    one, two = (form(*parts) for form in (by_weights, by_moments))
    k = max(sample.key.shape)
    if sample.clause == "reassociation":
        return Residual("reassociation", left, right, one.error + two.error, k)
    bound = quotient(one, left).error + quotient(two, right).error
    return Residual("moments", normalised(left), normalised(right), bound, k)
