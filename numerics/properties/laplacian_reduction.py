"""CW5, the Laplacian reduction.

reduction: connection_laplacian(w, O) = I - D^-1 S, S_ij = w_ij O_ij, against exact rationals.
energy: dirichlet_energy = <u, L u>_{pi,G}, exact, for walks that need not be reversible.
self_adjoint: <v, W u> = <W v, u> for reversible walks with T_ji = T_ij^-1.
A sample makes one comparison. Every hypothesis holds exactly: weights are whole flows over powers
of two, T_ij = F_i^-1 Q_ij F_j with signed permutations Q_ij and dyadic triangular frames F_i.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from numerics.laplacians.laplacian import connection_laplacian, dirichlet_energy
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding import roundoff
from numerics.walks.walk import Walk

CLAUSES = ("reduction", "energy", "self_adjoint")


@dataclass(frozen=True)
class Sample:
    """A clause, w (n, n) or the flow pi_i P_ij, pi (n,), T and G (n, d, d), tokens u, v (n, d)."""

    clause: str
    flow: np.ndarray
    law: np.ndarray
    transports: np.ndarray
    metrics: np.ndarray
    u: np.ndarray
    v: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Metrics of condition up to 2^40, self-loops, one-way edges, tokens of every kind."""
    clause = draw(st.sampled_from(CLAUSES))
    size, dtype = draw(strategies.sizes()), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    n, d = size.n, size.d_in
    width = draw(st.sampled_from((0, 1, 10 if dtype is np.float64 else 2)))
    frames, inverses = dyadic_frames(rng, n, d, width)
    turns = signed_permutations(rng, n, d, symmetric=clause != "energy")
    edges = inverses[:, None] @ turns @ frames[None]
    law = 2.0 ** rng.integers(1, 5, size=n)
    flow = whole_flow(rng, law, clause == "self_adjoint")
    if clause == "reduction":
        law, flow = np.ones(n), symmetric_weights(rng, n)
    u, v = (strategies.tokens(draw, rng, n, d, dtype) for _ in range(2))
    metrics = np.swapaxes(frames, 1, 2) @ frames
    flow, law, edges, metrics = (part.astype(dtype) for part in (flow, law, edges, metrics))
    return Sample(clause, flow, law, edges, metrics, u, v)


def dyadic_frames(
    rng: np.random.Generator, n: int, d: int, width: int
) -> tuple[np.ndarray, np.ndarray]:
    """F_i = 2^k times unit upper triangles of whole numbers, and the exact inverses.

    Diagonal where scales are many: products F_i T_ij would cancel more than their bound can see.
    """
    above = 2 if width < 2 else 1
    unit = np.triu(rng.integers(1 - above, above, size=(n, d, d)), 1) + np.eye(d)
    scales = 2.0 ** rng.integers(-width, width + 1, size=(n, d, 1))
    nilpotent, inverse, power = np.eye(d) - unit, np.eye(d) + 0 * unit, np.eye(d) + 0 * unit
    for _ in range(d - 1):
        power = power @ nilpotent
        inverse = inverse + power
    return scales * unit, inverse / np.swapaxes(scales, 1, 2)


def signed_permutations(
    rng: np.random.Generator, n: int, d: int, symmetric: bool = False
) -> np.ndarray:
    """Q_ij (n, n, d, d); where symmetric Q_ji = Q_ij^T, and signs on the diagonal of the Q_ii."""
    turns = np.zeros((n, n, d, d))
    for i in range(n):
        for j in range(n):
            places = np.arange(d) if symmetric and i == j else rng.permutation(d)
            turns[i, j, np.arange(d), places] = rng.choice((-1.0, 1.0), size=d)
            if symmetric and j < i:
                turns[i, j] = turns[j, i].T
    return turns


def whole_flow(rng: np.random.Generator, law: np.ndarray, symmetric: bool) -> np.ndarray:
    """Whole numbers with row and column sums law: units moved around random cycles, or swaps."""
    n = len(law)
    flow = np.diag(law)
    for _ in range(3 * n):
        length = 2 if symmetric else int(rng.integers(1, n + 1))
        cycle = rng.permutation(n)[:length]
        if len(cycle) == length and (flow[cycle, cycle] >= 1).all():
            flow[cycle, cycle] -= 1
            flow[cycle, np.roll(cycle, 1)] += 1
    return flow


def symmetric_weights(rng: np.random.Generator, n: int) -> np.ndarray:
    """w_ij = w_ji >= 0 of many sizes, some zero, with positive row sums; exact in float32."""
    upper = np.triu(rng.uniform(0.1, 1.0, size=(n, n)) * 10.0 ** rng.integers(-3, 4, size=(n, n)))
    upper = np.where(rng.random((n, n)) < 0.3, 0.0, upper)
    weights = (upper + np.triu(upper, 1).T).astype(np.float32)
    np.fill_diagonal(weights, np.where(weights.sum(axis=1) > 0, np.diagonal(weights), 1.0))
    return weights


def hypotheses(sample: Sample) -> Iterator[Held]:
    """A stochastic walk with a stationary law and isometries; a reversible one with inverses."""
    law, T = sample.law, sample.transports
    if sample.clause == "reduction":
        law = sample.flow.sum(axis=1)
    P = sample.flow / law[:, None]
    yield Held("pi>0", {"pi": law}, clause="reduction")
    yield Held("P>=0", {"P": P}, clause="reduction")
    if sample.clause == "reduction":
        return
    factors = np.linalg.cholesky(sample.metrics.astype(np.float64))
    F = np.swapaxes(factors, 1, 2).astype(P.dtype)
    yield Held("P sums to 1", {"P": P}, clause="energy")
    yield Held("pi is stationary for P", {"pi": law, "P": P}, clause="energy")
    yield Held("T is isometric on edges of P", {"P": P, "F": F, "T": T})
    if sample.clause == "self_adjoint":
        yield Held("P is reversible for pi", {"g": sample.flow - sample.flow.T})
        yield Held("T has inverse pairs on edges of P", {"P": P, "T": T})


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    if sample.clause == "reduction":
        return _reduction(sample)
    return _energy(sample) if sample.clause == "energy" else _self_adjoint(sample)


def _reduction(sample: Sample) -> Residual:
    """The Laplacian of w and O against delta - w_ij O_ij / sum_k w_ik in exact arithmetic."""
    w, edges = sample.flow, sample.transports
    n, d = sample.u.shape
    lhs = connection_laplacian(w, edges)
    sums = [sum(map(Fraction, row)) for row in w.tolist()]
    rhs = np.eye(n * d)
    for i, a, j, b in np.ndindex(n, d, n, d):
        share = Fraction(float(w[i, j])) * Fraction(float(edges[i, j, a, b])) / sums[i]
        rhs[i * d + a, j * d + b] = float(int(i == j and a == b) - share)
    top = w.max(axis=1, keepdims=True)
    scaled = roundoff.exact(w) / roundoff.exact(top)
    totals = (w / top).sum(axis=1, keepdims=True)
    shares = scaled.divide(scaled.sum(axis=1).reshape(n, 1), totals)
    blocks = (shares.reshape(n, n, 1, 1) * roundoff.exact(edges)).where((w > 0)[:, :, None, None])
    walk = blocks.transpose(0, 2, 1, 3).reshape(n * d, n * d)
    error = (roundoff.exact(np.eye(n * d).astype(w.dtype)) - walk).error
    return Residual("reduction", lhs, rhs, error + 2.0**-53 * np.abs(rhs), n)


def _energy(sample: Sample) -> Residual:
    """The energy against <u, u - W u>_{pi,G} in exact arithmetic."""
    p = sample.flow / sample.law[:, None]
    edges, metrics, law, u = sample.transports, sample.metrics, sample.law, sample.u
    n, d = u.shape
    lhs = np.reshape(dirichlet_energy(p, edges, metrics, law, u), (1,))
    rhs = np.array([float(exact_form(p, edges, metrics, law, u))])
    # E_i with E_i^T E_i = G_i, exact as F_i is; the computed gaps sharpen their bounds.
    upper = np.swapaxes(np.linalg.cholesky(metrics.astype(np.float64)), 1, 2)
    apart = u[:, None].astype(np.float64) - (edges.astype(np.float64) @ u[None, :, :, None])[..., 0]
    wide = roundoff.units(np.float64)
    weights, blocks, factors, tokens, mass = (
        roundoff.exact(part.astype(np.float64), wide) for part in (p, edges, upper, u, law)
    )
    moved = (blocks @ tokens.reshape(1, n, d, 1)).reshape(n, n, d)
    differences = (tokens.reshape(n, 1, d) - moved).seen(apart).reshape(n, n, d, 1)
    gaps = (factors.reshape(n, 1, d, d) @ differences).seen(upper[:, None] @ apart[..., None])
    squares = (gaps.transpose(0, 1, 3, 2) @ gaps).reshape(n, n)
    total = (mass.reshape(n, 1) * weights * squares).reshape(n * n).sum(axis=0)
    half = total * roundoff.exact(np.array(0.5), wide)
    stored = roundoff.units(u.dtype)
    rounding = 0.0 if u.dtype == np.float64 else stored.once * half.computed + stored.eta
    bound = np.reshape(half.error + rounding + 2.0**-53 * np.abs(rhs), (1,))
    return Residual("energy", lhs, rhs, bound, max(n * n, d))


def exact_form(
    p: np.ndarray, edges: np.ndarray, metrics: np.ndarray, law: np.ndarray, u: np.ndarray
) -> Fraction:
    """<u, u - W u>_{pi,G} of the stored numbers."""
    n, d = u.shape
    exact_u = [[Fraction(float(x)) for x in row] for row in u]
    total = Fraction(0)
    for i in range(n):
        rest = list(exact_u[i])
        for j, a, b in np.ndindex(n, d, d):
            if p[i, j] > 0:
                block = Fraction(float(p[i, j])) * Fraction(float(edges[i, j, a, b]))
                rest[a] -= block * exact_u[j][b]
        for a, b in np.ndindex(d, d):
            mass = Fraction(float(law[i])) * Fraction(float(metrics[i, a, b]))
            total += mass * exact_u[i][a] * rest[b]
    return total


def _self_adjoint(sample: Sample) -> Residual:
    """<v, W u> against <W v, u>, each computed by the walk."""
    p = sample.flow / sample.law[:, None]
    walk = Walk(p, sample.transports)
    left, left_error = _paired(sample, walk, sample.u, sample.v)
    right, right_error = _paired(sample, walk, sample.v, sample.u)
    return Residual("self_adjoint", left, right, left_error + right_error, max(sample.u.shape))


def _paired(
    sample: Sample, walk: Walk, moved: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """<other, W moved>_{pi,G} as an array of one entry, and its error."""
    n, d = moved.shape
    y = walk.apply(moved)
    pulled = (sample.metrics @ y[:, :, None])[..., 0]
    value = (sample.law * (other * pulled).sum(axis=1)).sum(axis=0, keepdims=True)
    p, edges, metrics, law, tokens, second = (
        roundoff.exact(part)
        for part in (walk.weights, walk.transports, sample.metrics, sample.law, moved, other)
    )
    blocks = (edges @ tokens.reshape(1, n, d, 1)).reshape(n, n, d)
    replayed = (p.reshape(n, n, 1) * blocks).sum(axis=1)
    forms = (second * (metrics @ replayed.reshape(n, d, 1)).reshape(n, d)).sum(axis=1)
    return value, np.reshape((law * forms).sum(axis=0).error, (1,))
