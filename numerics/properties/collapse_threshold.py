"""RA12, the logarithmic law of rank collapse.

two_clusters: softmax layers on two clusters of tokens, scores 0 inside and -B across, against the
product of the factors p q (E^2 - 1) / ((p E + q)(q E + p)), E = e^B, in exact arithmetic.
causal: the second token under a causal mask against the product of E / (E + 1).
products: clusters of one size with B = c log l, l = 2, ..., L, against the closed forms.
E is rational, so that only B = log E, softmax and the products of matrices round. A sample makes
one of the comparisons; `rates` measures the limits for c = 1, 2, 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import log, prod

import numpy as np
from flint import fmpq, fmpq_mat
from hypothesis import strategies as st

from numerics.collapse import rates as collapse_rates
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding import roundoff
from numerics.walks.walk import softmax_walk

CLAUSES = ("two_clusters", "causal", "products")
SPREADS = tuple(Fraction(E) for E in ("1/2", "1", "3/2", "2", "3", "7", "64", "1024"))
ALMOST_ISOLATED = (Fraction(2**40), Fraction(2**90))
rates = collapse_rates.product_rates


@dataclass(frozen=True)
class Sample:
    """A clause, E = e^B of every layer, tokens x (n, d), members (n,) of the first cluster, and the
    power c of l where E = l^c."""

    clause: str
    spreads: tuple[Fraction, ...]
    x: np.ndarray
    members: np.ndarray
    power: int = 0


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Up to three tokens a cluster, layers of every spread (negative and none too), tokens of every
    kind, equal and opposite ones too."""
    clause, dtype = draw(st.sampled_from(CLAUSES)), draw(strategies.dtypes())
    rng, d = draw(strategies.generators()), draw(st.sampled_from((1, 2, 3, 8, 16)))
    p = draw(st.integers(1, 3))
    q = draw(st.integers(1, 3)) if clause == "two_clusters" else p
    later = draw(st.sampled_from((0, 1, 2, 4, 4))) if clause == "causal" else 0
    kinds = SPREADS + ALMOST_ISOLATED * draw(st.booleans())
    spreads = tuple(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3)))
    power = draw(st.integers(1, 3)) if clause == "products" else 0
    if power:
        spreads = tuple(Fraction(l**power) for l in range(2, draw(st.integers(2, 6)) + 1))
    members = rng.permutation(np.arange(p + q) < p)
    x = strategies.tokens(draw, rng, 2 + later, d, dtype)
    if draw(st.booleans()):
        x[1] = -x[0]  # where rounding errors of the weights do not cancel
    if clause == "causal":
        return Sample(clause, spreads, x, np.arange(len(x)) == 0)
    return Sample(clause, spreads, x[np.where(members, 0, 1)], members, power)


def alike(sample: Sample) -> np.ndarray:
    """Pairs of the same cluster, or under the causal mask of the same token, (n, n)."""
    if sample.clause == "causal":
        return np.eye(len(sample.x), dtype=bool)
    return sample.members[:, None] == sample.members[None]


def spread_scores(E: Fraction, sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Scores (n, n), 0 among the same and -log E across, and the bound on their error."""
    across = np.where(alike(sample), 0.0, -log(E))
    stored = across.astype(sample.x.dtype)
    # The logarithm is within 2 ulps of float64; the rest is the rounding of float32.
    return stored, np.abs(stored - across) + 2.0**-51 * np.abs(across)


def mask(sample: Sample) -> np.ndarray | None:
    """The causal mask, or none."""
    n = len(sample.x)
    return np.tril(np.ones((n, n), dtype=bool)) if sample.clause == "causal" else None


def through_layers(sample: Sample) -> list[np.ndarray]:
    """Tokens before the first layer and after every one."""
    found = [sample.x]
    for E in sample.spreads:
        found.append(softmax_walk(spread_scores(E, sample)[0], mask(sample)) @ found[-1])
    return found


def exact_weights(E: Fraction, sample: Sample) -> fmpq_mat:
    """The softmax weights of a layer as rational numbers, (n, n)."""
    n, allowed = len(sample.x), mask(sample)
    seen = np.ones((n, n), bool) if allowed is None else allowed
    weights = [[(E if same else Fraction(1)) * int(keep) for same, keep in zip(*rows, strict=True)]
               for rows in zip(alike(sample), seen, strict=True)]  # fmt: skip
    shares = [[weight / sum(row) for weight in row] for row in weights]
    return fmpq_mat([[fmpq(w.numerator, w.denominator) for w in row] for row in shares])


def difference_error(sample: Sample, states: list[np.ndarray]) -> np.ndarray:
    """Bound on the error of the difference after all layers, (d,).

    A layer adds to its exact result at most the replayed error of softmax and of its product; the
    exact later layers carry that error on linearly, and a difference of tokens sees little of it.
    """
    one, other = pair(sample)
    seen = fmpq_mat([[int(k == one) - int(k == other) for k in range(len(sample.x))]])
    total = np.zeros(sample.x.shape[1])
    for E, x in zip(sample.spreads[::-1], states[-2::-1], strict=True):
        scores, error = spread_scores(E, sample)
        added = roundoff.softmax(scores, error, mask(sample)) @ roundoff.exact(x)
        weights = np.array([abs(float(Fraction(int(w.p), int(w.q)))) for w in seen.entries()])
        total = total + weights @ added.error
        seen = seen * exact_weights(E, sample)
    return total * (1 + 2.0**-40) + 2.0**-1060


def factor(E: Fraction, sample: Sample) -> Fraction:
    """What one layer leaves of the difference."""
    if sample.clause == "causal":
        return E / (E + 1)
    p = int(sample.members.sum())
    q = len(sample.members) - p
    return p * q * (E**2 - 1) / ((p * E + q) * (q * E + p))


def closed_form(power: int, L: int) -> Fraction:
    """What equal clusters keep of their difference through the layers 2, ..., L, E = l^power."""
    if power == 1:
        return Fraction(2, L * (L + 1))
    if power == 3:
        return Fraction(2 * (L**2 + L + 1), 3 * L * (L + 1))
    return Fraction(L + 1, 2 * L) / prod(1 + Fraction(1, l**2) for l in range(2, L + 1))


def kept(sample: Sample) -> Fraction:
    """What all layers leave of the difference."""
    if sample.clause == "products":
        return closed_form(sample.power, len(sample.spreads) + 1)
    return prod((factor(E, sample) for E in sample.spreads), start=Fraction(1))


def pair(sample: Sample) -> tuple[int, int]:
    """A token of each cluster, or the second and the first token."""
    if sample.clause == "causal":
        return 1, 0
    return int(np.argmax(sample.members)), int(np.argmin(sample.members))


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Tokens stand in two clusters, the first of as many as the indicator counts."""
    if sample.clause == "causal":
        return
    x, first = sample.x, sample.members
    g, base = first.astype(x.dtype), x[~first][0]
    count = np.asarray(int(first.sum()), x.dtype)
    yield Held("p>0", {"p": count}, clause="two_clusters")
    yield Held("g is the indicator of p tokens", {"g": g, "p": count}, clause="two_clusters")
    parts = {"X_{l}": x, "g": g, "v": x[first][0] - base, "c_{l}": base, "h_{l}": np.asarray(1.0)}
    parts["h_{l}"] = parts["h_{l}"].astype(x.dtype)
    yield Held("two clusters at level l", parts, clause="two_clusters")


def residual(sample: Sample) -> Residual:
    """The difference after all layers against that before, times what the layers leave of it."""
    (one, other), states, share = pair(sample), through_layers(sample), kept(sample)
    lhs = states[-1][one].astype(np.float64) - states[-1][other]
    exact = [share * (Fraction(float(u)) - Fraction(float(v)))
             for u, v in zip(sample.x[one], sample.x[other], strict=True)]  # fmt: skip
    rhs = np.array([float(value) for value in exact])
    error = difference_error(sample, states) + 2.0**-53 * (np.abs(lhs) + np.abs(rhs))
    return Residual(sample.clause, lhs, rhs, error, len(sample.x))
