"""CW9, what to measure when a walk is not reversible.

adjoint: the blocks of W* = (pi_j / pi_i) P_ji G_i^{-1} T_ji^T G_j are those of the adjoint of W,
pi_i P_ij G_i T_ij = pi_j (W*_ji)^T G_j for all i, j, whatever pi > 0.
reversibilisations: with a stationary pi, <x, x>_pi - <x, P x>_pi is the energy
(1/2) sum_ij pi_i A_ij (x_i - x_j)^2 of A = (P + P*) / 2.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.laplacians.laplacian import adjoint
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding import roundoff
from numerics.walks.chains import additive_reversibilisation
from numerics.walks.walk import softmax_walk

CLAUSES = ("adjoint", "reversibilisations")
# Rows must not be empty here; what is small adds up little, so that a few of them are enough.
MASKS = ("none", "full", "causal", "window")
SIZES = st.sampled_from((6, 7, 5, 6, 4, 3, 2, 1))
WIDTHS = st.sampled_from((4, 4, 3, 3, 2, 1))


@dataclass(frozen=True)
class Sample:
    """P (n, n), pi (n,), T (n, n, d, d), frames F (n, d, d) of G_i = F_i^T F_i, x (n, d).

    For "reversibilisations" pi is stationary for P without rounding: both are dyadic.
    """

    clause: str
    P: np.ndarray
    pi: np.ndarray
    T: np.ndarray
    frames: np.ndarray
    x: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Masked and full walks, periodic and reducible ones; transports and tokens of every kind."""
    clause = draw(st.sampled_from(CLAUSES))
    n, d, dtype = draw(SIZES), draw(WIDTHS), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    edges = strategies.matrices(draw, rng, d, d, dtype, n * n).reshape(n, n, d, d)
    if clause == "adjoint":
        pi = rng.uniform(0.5, 1.0, size=n) * 10.0 ** rng.integers(-3, 4, size=n)
        logits = strategies.logits(draw, rng, (n, n), dtype)
        allowed = strategies.masks(draw, rng, n, n, MASKS)
        P = softmax_walk(np.where(np.isfinite(logits), logits, 0).astype(dtype), allowed)
    else:
        flow = circulation(rng, n, draw(st.sampled_from(FLOWS)))
        pi = flow.sum(axis=1)
        P = (flow / pi[:, None]).astype(dtype)
    x = strategies.tokens(draw, rng, n, d, dtype)
    return Sample(clause, P, pi.astype(dtype), edges, frames(rng, n, d).astype(dtype), x)


FLOWS = ("dense", "dense", "dense", "cycle", "reversible", "lazy", "two classes")


def circulation(rng: np.random.Generator, n: int, kind: str) -> np.ndarray:
    """Integers (n, n) with equal row and column sums, each a power of two: so P is dyadic."""
    flow = np.zeros((n, n))
    if kind == "cycle":
        return np.roll(np.eye(n), 1, axis=1)
    for _ in range(n if kind in ("dense", "lazy") else 0):
        flow += rng.integers(1, 4) * np.eye(n)[rng.permutation(n)]
    if kind in ("reversible", "two classes"):
        pair = np.tril(rng.integers(0, 5, size=(n, n)))
        flow += pair + pair.T
    if kind == "two classes":
        half = np.arange(n) < n // 2
        flow = np.where(half[:, None] == half[None, :], flow, 0.0)
    totals = flow.sum(axis=1)
    return flow + np.diag(
        2.0 ** np.ceil(np.log2(np.maximum(totals, 1) + (kind == "lazy"))) - totals
    )


def frames(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """D U with powers of two D and unit upper triangular U of entries -1, 0, 1.

    G = F^T F then has integer entries and its Cholesky factor is F, without rounding.
    """
    unit = np.triu(rng.integers(-1, 2, size=(n, d, d)), 1) + np.eye(d)
    return 2.0 ** rng.integers(0, 3, size=(n, d, 1)) * unit


def hypotheses(sample: Sample) -> Iterator[Held]:
    """The law is positive; where it is said to be stationary it is, for a stochastic walk."""
    yield Held("pi>0", {"pi": sample.pi})
    yield Held("P>=0", {"P": sample.P}, clause="time_reversal")
    if sample.clause == "reversibilisations":
        yield Held("pi is stationary for P", {"pi": sample.pi, "P": sample.P})


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _adjoint(sample) if sample.clause == "adjoint" else _energy(sample)


def metrics(sample: Sample) -> np.ndarray:
    """G_i = F_i^T F_i, (n, d, d)."""
    return np.swapaxes(sample.frames, 1, 2) @ sample.frames


def lowered_blocks(sample: Sample) -> np.ndarray:
    """pi_i P_ij G_i T_ij, (n, n, d, d) in float64."""
    P, pi, T = (part.astype(np.float64) for part in (sample.P, sample.pi, sample.T))
    weights = (pi[:, None] * P)[:, :, None, None]
    return weights * (metrics(sample).astype(np.float64)[:, None] @ T)


def raised_blocks(sample: Sample, starred: np.ndarray) -> np.ndarray:
    """pi_j (W*_ji)^T G_j, (n, n, d, d) in float64, of W* (n d, n d)."""
    n, d = sample.x.shape
    blocks = starred.astype(np.float64).reshape(n, d, n, d).transpose(2, 0, 3, 1)
    law = sample.pi.astype(np.float64)[None, :, None, None]
    return law * (blocks @ metrics(sample).astype(np.float64)[None])


def _adjoint(sample: Sample) -> Residual:
    """Both matrices of the form <v_i, W_ij u_j>, from W and from W*."""
    lhs = lowered_blocks(sample)
    starred = adjoint(sample.P, sample.T, metrics(sample), sample.pi)
    rhs = raised_blocks(sample, starred)
    n, d = sample.x.shape
    model = roundoff.units(np.float64)
    P, pi, T, G, F, inverse = (
        roundoff.exact(part.astype(np.float64), model)
        for part in (
            sample.P,
            sample.pi,
            # Off the edges W has no block, whatever T is there.
            np.where((sample.P > 0)[:, :, None, None], sample.T, 0),
            metrics(sample),
            sample.frames,
            np.linalg.inv(sample.frames.astype(np.float64)),
        )
    )
    scale = (pi.reshape(n, 1) * P).reshape(n, n, 1, 1)
    lowered = G.reshape(n, 1, d, d) @ T
    direct = scale * lowered
    # Substitution solves a system off by gamma_d |F|, so its error is that of one product more.
    solved = lowered
    for factor, undone in ((F, inverse), (F.transpose(0, 2, 1), inverse.transpose(0, 2, 1))):
        L, Li = factor.reshape(1, n, d, d), undone.reshape(1, n, d, d)
        solved = ((solved @ Li) @ L) @ Li
    # backward_ji = P_ij pi_i / pi_j; the transpose puts block (j, i) of W* where (i, j) was.
    backward = (P * pi.reshape(n, 1)).divide(pi.reshape(1, n), sample.pi[None, :])
    turned = backward.reshape(n, n, 1, 1) * solved
    stored = roundoff.units(sample.P.dtype)
    size = turned.magnitude + turned.error
    error = turned.error + 1.001 * stored.store * size + 2 * stored.eta
    starred_blocks = roundoff.Rounded(size, error, model)
    moved = pi.reshape(1, n, 1, 1) * (starred_blocks @ G.reshape(1, n, d, d))
    return Residual("adjoint", lhs, rhs, direct.error + moved.error, d)


def decrease(sample: Sample) -> np.ndarray:
    """<x, x>_pi - <x, P x>_pi for each column of x, (d,)."""
    x, law = sample.x, sample.pi[:, None]
    return (law * (x * x)).sum(axis=0) - (law * (x * (sample.P @ x))).sum(axis=0)


def energy(walk: np.ndarray, sample: Sample) -> np.ndarray:
    """(1/2) sum_ij pi_i walk_ij (x_i - x_j)^2 for each column of x, (d,)."""
    steps = sample.x[:, None] - sample.x[None]
    flow = (sample.pi[:, None] * walk)[:, :, None]
    return (flow * (steps * steps)).sum(axis=1).sum(axis=0) * walk.dtype.type(0.5)


def _energy(sample: Sample) -> Residual:
    """What P loses of a function's square, against the energy of its additive reversibilisation."""
    A = additive_reversibilisation(sample.P)
    lhs, rhs = decrease(sample), energy(A, sample)
    n, d = sample.x.shape
    model = roundoff.units(sample.x.dtype)
    P, law, x, half = (
        roundoff.exact(part, model)
        for part in (sample.P, sample.pi.reshape(n, 1), sample.x, np.full(1, 0.5, sample.x.dtype))
    )
    lost = (law * (x * x)).sum(axis=0) + (law * (x * (P @ x))).sum(axis=0)
    # P* has the errors of two entries of the law and of two operations, its mean with P one more.
    relative = (2 * (n + 2) ** 3 + 8) * 2.0**-53 + 1.001 * model.store
    walk = A.astype(np.float64) * (1 + 2 * relative)
    reversed_walk = roundoff.Rounded(walk, relative * walk + 2 * model.eta, model)
    steps = x.reshape(n, 1, d) - x.reshape(1, n, d)
    flow = (law * reversed_walk).reshape(n, n, 1)
    spent = (flow * (steps * steps)).sum(axis=1).sum(axis=0) * half
    return Residual("reversibilisations", lhs, rhs, lost.error + spent.error, n)
