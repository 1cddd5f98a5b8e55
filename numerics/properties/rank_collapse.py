"""RA11, rank collapse.

clusters: two clusters of equal size under squared distances in one metric g I. All differences of
tokens after the layer against tanh(g osc^2 / 4) times those before.
layer: osc after a layer of H heads against sum_h |T^h| tanh(Delta_h / 4) osc, for scores of every
family: no larger, and equal where both clusters have one map up to scale for all heads.
A sample makes one of the two comparisons. The scores are the stored ones, so only the layer rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.collapse.oscillation import (
    attention_step,
    contraction,
    osc,
    score_spread,
    spectral_norm,
)
from numerics.collapse.rates import unmasked_rates
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding import roundoff
from numerics.scores.geodesic import geodesic_scores

CLAUSES = ("clusters", "layer")
FAMILIES = 5 * ("attained",) + ("dot", "query", "symmetrised", "unsquared", "any")
HALVES = st.sampled_from((1, 2, 3, 8, 16, 32, 2, 8))
TOKENS = st.sampled_from((1, 2, 3, 4, 6, 8, 64, 5))
U64 = 2.0**-53

rates = unmasked_rates


@dataclass(frozen=True)
class Sample:
    """Tokens x (n, d), scores S (H, n, n) of a family, transports T (H, d, d) in column form, and
    the norm g of the metric."""

    clause: str
    family: str
    x: np.ndarray
    S: np.ndarray
    T: np.ndarray
    g: float


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Clusters of small integers, whose scores are exact; tokens of every kind for other layers."""
    clause = draw(st.sampled_from(CLAUSES))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    d, H = draw(st.sampled_from((1, 2, 3))), draw(st.sampled_from((1, 2, 3)))
    family = "attained" if clause == "clusters" else draw(st.sampled_from(FAMILIES))
    if family == "attained":
        x, g = clusters(rng, draw(HALVES), d, draw(st.booleans()))
        x = x.astype(dtype)
        T = np.eye(d, dtype=dtype)[None]
        if clause == "layer":
            scale = rng.integers(1, 16, size=H) / 16
            T = (scale[:, None, None] * signed_permutation(rng, d)).astype(dtype)
        S = np.repeat(conformal(x, g)[None], len(T), axis=0)
        return Sample(clause, family, x, S, T, g)
    n = draw(TOKENS)
    x = strategies.tokens(draw, rng, n, d, dtype)
    T = strategies.matrices(draw, rng, d, d, dtype, H)
    S = np.stack([scores(family, rng, x) for _ in range(H)])
    return Sample(clause, family, x, S, T, 0.0)


def clusters(rng: np.random.Generator, half: int, d: int, apart: bool) -> tuple[np.ndarray, float]:
    """Tokens o + w and o - w, `half` of each in any order, and the norm g of the metric."""
    w, o = rng.integers(-3, 4, size=d), rng.integers(-8, 9, size=d) * int(apart)
    signs = rng.permutation(np.repeat((1, -1), half))
    return o + signs[:, None] * w, float(2.0 ** rng.integers(-8, 2))


def signed_permutation(rng: np.random.Generator, d: int) -> np.ndarray:
    """A matrix of norm 1, exactly."""
    return np.eye(d)[rng.permutation(d)] * rng.choice((-1.0, 1.0), size=d)


def conformal(x: np.ndarray, g: float) -> np.ndarray:
    """Squared query-side scores (n, n) in the metric g I."""
    return geodesic_scores(x, np.full_like(x, g))


def scores(family: str, rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """Scores (n, n): any, or of the tokens; finite, and at most about 1e4."""
    n, d = x.shape
    if family == "any":
        return (rng.normal(size=(n, n)) * 10.0 ** rng.integers(-3, 5)).astype(x.dtype)
    peak = max(float(np.abs(x).max()), 1.0)
    scaled = x / x.dtype.type(peak)
    if family == "dot":
        return scaled @ rng.normal(size=(d, d)).astype(x.dtype) @ scaled.T
    D = (10.0 ** rng.uniform(-2, 2, size=(n, d))).astype(x.dtype)
    U = rng.normal(size=(n, d, 2)).astype(x.dtype)
    kind = "symmetrised" if family == "symmetrised" else "query"
    return geodesic_scores(scaled, D, U, kind, squared=family != "unsquared")


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Where the bound is attained every head is an isometry times its norm, and so within it."""
    if sample.family == "attained":
        T = sample.T
        norms = np.sqrt((T[:, :, 0] * T[:, :, 0]).sum(axis=1))
        yield Held("omega>=0", {"omega": norms}, clause="layer")
        parts = {"W": T, "K": np.zeros_like(T), "omega": norms}
        yield Held("norm of W", parts, clause="layer")


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _clusters(sample) if sample.clause == "clusters" else _layer(sample)


def factor(x: np.ndarray, g: float) -> float:
    """tanh(g osc^2 / 4), from the exact squared diameter of integer tokens."""
    steps = x[:, None, :] - x[None, :, :]
    return float(np.tanh(g * float((steps * steps).sum(axis=2).max()) / 4))


def _clusters(sample: Sample) -> Residual:
    x, n = sample.x, len(sample.x)
    step = attention_step(x, sample.S, sample.T)
    after = step.x[:, None, :] - step.x[None, :, :]
    wide = x.astype(np.float64)
    before = wide[:, None, :] - wide[None, :, :]
    rhs = factor(wide, sample.g) * before
    unit = roundoff.units(x.dtype)
    error = step.error[:, None, :] + step.error[None, :, :]
    bound = error + unit.store * np.abs(after) + 8 * U64 * np.abs(rhs)
    return Residual("clusters", after, rhs, bound * (1 + 16 * U64), n)


def _layer(sample: Sample) -> Residual:
    """Equal where the bound is attained; elsewhere what exceeds it."""
    x, (n, d) = sample.x, sample.x.shape
    unit = roundoff.units(x.dtype)
    own = (d + 8) * unit.store
    step, spreads = attention_step(x, sample.S, sample.T), score_spread(sample.S).difference
    norms = spectral_norm(sample.T)
    before, after = float(osc(x)), float(osc(step.x))
    bound = float(contraction(norms, spreads.astype(np.float64))) * before
    # A spread is off by a rounding of each difference and one of its own; tanh(u / 4) by a
    # quarter of that at most.
    apart = np.abs(sample.S[:, :, None, :] - sample.S[:, None, :, :]).max(axis=(1, 2, 3))
    off = unit.store * (2 * apart.astype(np.float64) + spreads.astype(np.float64))
    error = float(step.spread_error()) + own * after + 2 * own * bound
    error += float((norms * off).sum()) * before / 4
    error = error * (1 + 64 * U64) + 64 * U64 * bound + 4 * unit.eta
    lhs = after if sample.family == "attained" else max(after, bound)
    return Residual("layer", np.array([lhs]), np.array([bound]), np.array([error]), n)
