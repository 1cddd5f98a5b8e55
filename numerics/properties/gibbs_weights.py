"""AP1, Gibbs.

softmax: the weights softmax(s / tau) in floats against exp(s / tau) over its sum, by balls.
gibbs: <p, s> + tau H(p) in floats against tau (L P - sum p (log p - log q)) by balls,
with L = log sum exp(s / tau), log q = s / tau - L and the sum P of the floats p.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx
from hypothesis import strategies as st

from numerics.pairings.readouts import free_energy, gibbs_weights
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held, rounded
from numerics.rounding import roundoff

CLAUSES = ("softmax", "gibbs")
MASKS = ("none", "none", "full", "causal", "random", "empty rows", "all empty")
U64 = 2.0**-53
PRECISION = 200
LOG = 8
"""Unit roundoffs within which log is right: NumPy's float32 log is within 4 ulps."""


@dataclass(frozen=True)
class Sample:
    """Scores (n, m), the mask (n, m), a temperature of their dtype, and weights p (n, m)."""

    clause: str
    scores: np.ndarray
    allowed: np.ndarray | None
    tau: float
    p: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Scores of every kind, temperatures from 0.01 to 100, weights with zeros."""
    clause, dtype = draw(st.sampled_from(CLAUSES)), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    n, m = draw(st.sampled_from((1, 2, 3))), draw(st.sampled_from((1, 2, 3, 5, 7, 7, 7)))
    tau = float(dtype(rng.uniform(0.5, 2.0) * 10.0 ** draw(st.integers(-2, 2))))
    scores = (rng.normal(size=(n, m)) * 10.0 ** rng.integers(-2, 3)).astype(dtype)
    if clause == "softmax":
        allowed = strategies.masks(draw, rng, n, m, MASKS)
        if draw(st.booleans()):
            scores = strategies.logits(draw, rng, (n, m), dtype)
        return Sample(clause, scores, allowed, tau, np.ones((n, m), dtype))
    p = rng.exponential(size=(n, m)) * (rng.random((n, m)) < draw(st.sampled_from((0.5, 1.0))))
    total = p.sum(axis=1, keepdims=True)
    return Sample(clause, scores, None, tau, (p / np.where(total > 0, total, 1)).astype(dtype))


def hypotheses(sample: Sample) -> Iterator[Held]:
    """The temperature is positive; rows of weights with mass are squares of unit vectors."""
    yield Held("tau>0", {"tau": np.asarray(sample.tau)}, clause="gibbs")
    p = sample.p[sample.p.any(axis=1)]
    if sample.clause == "gibbs" and len(p):
        a = np.sqrt(p)
        yield Held("a>=0", {"a": a})
        yield Held("rows of a are unit vectors", {"a": a}, {"a": rounded(a, p.shape[1] + 1)})


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    with ctx.workprec(PRECISION):
        return _softmax(sample) if sample.clause == "softmax" else _gibbs(sample)


def exact_weights(scores: np.ndarray, allowed: np.ndarray, tau: float) -> np.ndarray:
    """exp(s / tau) over the sum of the row's visible ones, rounded once; hidden ones are 0."""
    weights = np.zeros(scores.shape)
    for i, row in enumerate(scores):
        powers = {j: (arb(float(s)) / arb(tau)).exp() for j, s in enumerate(row) if allowed[i, j]}
        total = sum(powers.values(), arb(0))
        for j, power in powers.items():
            weights[i, j] = float((power / total).mid())
    return weights


def visible_of(scores: np.ndarray, allowed: np.ndarray | None) -> np.ndarray:
    """Which keys a query sees."""
    visible = scores > -np.inf
    return visible if allowed is None else visible & allowed


def rounded_weights(
    scores: np.ndarray,
    tau: float = 1.0,
    allowed: np.ndarray | None = None,
    error: np.ndarray | float = 0.0,
) -> roundoff.Rounded:
    """The weights of gibbs_weights for computed scores that carry the given error."""
    visible = visible_of(scores, allowed)
    unit, hidden = roundoff.units(scores.dtype), np.array(-np.inf, scores.dtype)
    peak = np.max(np.where(visible, scores, hidden), axis=1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = np.where(visible, (scores - peak) / scores.dtype.type(tau), hidden)
    known = gaps > -np.inf
    size = np.abs(np.where(known, gaps, 0).astype(np.float64))
    own = 3 * unit.store * size + 2 * unit.eta + error / tau * (1 + 4 * U64)
    return roundoff.softmax(gaps, np.where(known, own, 0.0))


def _softmax(sample: Sample) -> Residual:
    scores, tau = sample.scores, sample.tau
    lhs = gibbs_weights(scores, tau, sample.allowed)
    rhs = exact_weights(scores, visible_of(scores, sample.allowed), tau)
    bound = rounded_weights(scores, tau, sample.allowed).error + U64 * np.abs(rhs)
    return Residual("softmax", lhs, rhs, bound, scores.shape[1])


def exact_value(p: np.ndarray, scores: np.ndarray, tau: float) -> np.ndarray:
    """tau (L P - sum p (log p - log q)) of each row, rounded once."""
    values = []
    for weights, row in zip(p, scores, strict=True):
        x = [arb(float(s)) / arb(tau) for s in row]
        L = sum((value.exp() for value in x), arb(0)).log()
        total, divergence = arb(0), arb(0)
        for weight, value in zip(weights, x, strict=True):
            if weight > 0:
                own = arb(float(weight))
                total += own
                divergence += own * (own.log() - (value - L))
        values.append(float((arb(tau) * (L * total - divergence)).mid()))
    return np.array(values)


def _gibbs(sample: Sample) -> Residual:
    p, scores, tau = sample.p, sample.scores, sample.tau
    lhs, rhs = free_energy(p, scores, tau), exact_value(p, scores, tau)
    unit = roundoff.units(p.dtype)
    logs = np.abs(np.log(np.where(p > 0, p, 1).astype(np.float64)))
    logs = roundoff.Rounded(logs * (1 + 4 * U64), LOG * unit.store * logs, unit)
    weights = roundoff.exact(p)
    linear = (weights * roundoff.exact(scores)).sum(axis=1)
    scale = roundoff.exact(np.array([tau], p.dtype))
    bound = (linear - scale * (weights * logs).sum(axis=1)).error + U64 * np.abs(rhs)
    return Residual("gibbs", lhs, rhs, bound, p.shape[1])
