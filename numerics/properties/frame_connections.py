"""RA10: transports between frames, their curvature proxies and torsion gaps, in floating point.

Frames are shears times powers of two, E = (I + N) diag(2^k) with N^2 = 0, so that E^-1 =
diag(2^-k) (I - N) is exact as stored, and turns are signed permutations: the hypotheses hold
without rounding. `rates` measures the expansions on charts of known transport.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from hypothesis import strategies as st

from numerics.evidence.rates import Rate
from numerics.metrics import connections
from numerics.metrics.connections import curvature_proxy, frame_transports, torsion_gap
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding.roundoff import Rounded, exact

CLAUSES = ("isometries", "flatness", "teleparallel")
EPSILONS = tuple(2.0**-k for k in range(4, 11))
ROUNDING = 2.0**-44
"""Bound on the error of an entry of three transports: a few hundred roundings of sizes below 2."""


@dataclass(frozen=True)
class Sample:
    """A clause, frames E, E^-1 (n, d, d), turns (n, n, d, d), tokens (n, d), triangles (m, 3)."""

    clause: str
    frames: np.ndarray
    coframes: np.ndarray
    turns: np.ndarray
    x: np.ndarray
    triangles: np.ndarray


NODES, WIDTHS = (4, 3, 2, 1, 4, 3, 4, 3, 4), (6, 2, 4, 1, 5, 3, 6, 5, 4, 6)
KINDS = ("any", "any", "any", "coboundary", "identity")


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Shears of many sizes, condition up to 1e12 (float64), turns with and without a gauge."""
    clause, kind = draw(st.sampled_from(CLAUSES)), draw(st.sampled_from(KINDS))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    n, d = draw(st.sampled_from(NODES)), draw(st.sampled_from(WIDTHS))
    shears = rng.normal(size=(n, d, d)) * (rng.random() < 0.9)
    shears *= 10.0 ** rng.integers(-1, 2, size=(n, d, 1)) if draw(st.booleans()) else 1.0
    shears, first = shears.astype(dtype), (d + 1) // 2
    shears[:, :first] = 0
    shears[:, :, first:] = 0
    top = draw(st.sampled_from((4, 1, 20 if dtype == np.float64 else 6, 4, 2, 0)))
    exponents, eye = rng.integers(-top, top + 1, size=(n, d)), np.eye(d)
    exponents[0, 0], exponents[0, -1] = top, -top
    scales = 2.0**exponents
    own = np.stack([signed_permutation(rng, d) for _ in range(n)])
    turns = own[:, None] @ np.swapaxes(own, 1, 2)[None]
    if kind == "any":
        loose = [signed_permutation(rng, d) for _ in range(n * n)]
        turns = np.stack(loose).reshape(n, n, d, d)
    elif kind == "identity":
        turns = np.broadcast_to(eye, turns.shape).copy()
    return Sample(
        clause=clause,
        frames=((eye + shears) * scales[:, None, :]).astype(dtype),
        coframes=((eye - shears) / scales[:, :, None]).astype(dtype),
        turns=turns.astype(dtype),
        x=strategies.tokens(draw, rng, n, d, dtype),
        triangles=rng.integers(n, size=(6, 3)),
    )


def signed_permutation(rng: np.random.Generator, d: int) -> np.ndarray:
    """A permutation matrix with signs."""
    return np.eye(d)[rng.permutation(d)] * rng.choice([-1.0, 1.0], size=(1, d))


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Frames have the stored inverses, and turns are orthogonal."""
    frames = {"E": sample.frames, "E^{-1}": sample.coframes}
    yield Held("E^{-1} inverts E", frames, clause="isometries")
    yield Held("R is orthogonal", {"R": sample.turns}, clause="isometries")


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    d = sample.x.shape[1]
    lhs, rhs, errors = {
        "isometries": _isometries, "flatness": _flatness, "teleparallel": _teleparallel
    }[sample.clause](sample)  # fmt: skip
    return Residual(sample.clause, lhs, rhs, errors, d)


def _transposed(array: np.ndarray) -> np.ndarray:
    return np.swapaxes(array, -1, -2)


def _flip(array: Rounded) -> Rounded:
    axes = [*range(len(array.shape) - 2), len(array.shape) - 1, len(array.shape) - 2]
    return array.transpose(*axes)


def _transports(sample: Sample) -> Rounded:
    frames, coframes, turns = map(exact, (sample.frames, sample.coframes, sample.turns))
    turned = coframes.magnitude[:, None] @ turns.magnitude  # moves entries without rounding
    return Rounded(turned, np.zeros_like(turned), frames.units, False) @ frames[None]


def _isometries(sample: Sample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T_ij^T G_i T_ij against G_j."""
    frames, exact_frames = sample.frames, exact(sample.frames)
    T, replayed = frame_transports(frames, sample.coframes, sample.turns), _transports(sample)
    metric = _transposed(frames) @ frames
    bound = (_flip(exact_frames) @ exact_frames).seen(metric)
    lhs = _transposed(T) @ (metric[:, None] @ T)
    carried = (bound[:, None] @ replayed.seen(T)).seen(metric[:, None] @ T)
    lost = (_flip(replayed.seen(T)) @ carried).error + bound.error[None]
    return lhs, np.broadcast_to(metric[None], lhs.shape), lost


def _flatness(sample: Sample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T_ij T_jk T_ki - I against E_i^-1 (R_ij R_jk R_ki - I) E_i."""
    T = frame_transports(sample.frames, sample.coframes, sample.turns)
    replayed = _transports(sample).seen(T)
    i, j, k = sample.triangles.T
    eye = exact(np.eye(sample.x.shape[1], dtype=T.dtype)[None])
    twice = (replayed[i, j] @ replayed[j, k]).seen(T[i, j] @ T[j, k])
    left = twice @ replayed[k, i] + eye
    turns = sample.turns[i, j] @ sample.turns[j, k] @ sample.turns[k, i]
    turns -= np.eye(sample.x.shape[1], dtype=T.dtype)
    right = (exact(sample.coframes[i]) @ exact(turns)) @ exact(sample.frames[i])
    rhs = sample.coframes[i] @ turns @ sample.frames[i]
    return curvature_proxy(T, sample.triangles), rhs, left.error + right.error


def _teleparallel(sample: Sample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gap for R_ij = I against E_k^-1 (E_k - E_i) a - E_j^-1 (E_j - E_i) b."""
    plain = np.broadcast_to(np.eye(sample.x.shape[1], dtype=sample.x.dtype), sample.turns.shape)
    T = frame_transports(sample.frames, sample.coframes)
    replayed = _transports(replace(sample, turns=plain)).seen(T)
    i, j, k = sample.triangles.T
    x = exact(sample.x)
    a, b = x[j] - x[i], x[k] - x[i]
    m, d = a.shape
    back = replayed[k, i] @ a.reshape(m, d, 1), replayed[j, i] @ b.reshape(m, d, 1)
    left = (a - b) + (back[1] - back[0]).reshape(m, d)

    def bent(node: np.ndarray, step: np.ndarray) -> np.ndarray:
        change = sample.frames[node] - sample.frames[i]
        return (sample.coframes[node] @ (change @ step[:, :, None]))[:, :, 0]

    def bent_bound(node: np.ndarray, step: Rounded) -> Rounded:
        change = exact(sample.frames[node]) - exact(sample.frames[i])
        return (exact(sample.coframes[node]) @ (change @ step.reshape(m, d, 1))).reshape(m, d)

    steps = sample.x[j] - sample.x[i], sample.x[k] - sample.x[i]
    rhs = bent(k, steps[0]) - bent(j, steps[1])
    right = bent_bound(k, a) - bent_bound(j, b)
    return torsion_gap(T, sample.x, sample.triangles), rhs, left.error + right.error


A, B = np.array([0.7, 0.4]), np.array([-0.3, 0.9])
TRIANGLE = np.array([[0, 1, 2]])
Transport = Callable[[np.ndarray, np.ndarray], np.ndarray]


def corner(base: np.ndarray, h: float) -> np.ndarray:
    """Tokens base, base + h A and base + h B (3, 2)."""
    return np.stack([base, base + h * A, base + h * B])


def proxies(transport: Transport, base: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Curvature proxy (2, 2) and torsion gap (2,) of the corner at base."""
    x = corner(base, h)
    T = connections.pairwise(transport, x)
    return curvature_proxy(T, TRIANGLE)[0], torsion_gap(T, x, TRIANGLE)[0]


def rotation_rate(curvature: float, base: np.ndarray) -> float:
    """R(A, B)_01 / 2 in the conformal chart at base: K lambda^2 (A_0 B_1 - B_0 A_1) / 2."""
    stretch = 2 / (1 + curvature * float(base @ base))
    return curvature * stretch**2 * float(A[0] * B[1] - B[0] * A[1]) / 2


def normal_gap(curvature: float, h: float) -> np.ndarray:
    """Torsion gap (2,) of the corner at the origin of a normal chart."""
    to_a = connections.normal_transport(curvature, h * A)
    to_b = connections.normal_transport(curvature, h * B)
    return h * (A - B + to_a @ B - to_b @ A)


def bent_frame(x: np.ndarray) -> np.ndarray:
    """A field of frames (2, 2) that is no Jacobian matrix."""
    return np.array([[1 + x[1], x[0] * x[1]], [x[0] / 2, 2 + x[0]]])


def frame_transport(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """E(end)^-1 E(start)."""
    return np.linalg.solve(bent_frame(end), bent_frame(start))


def frame_torsion(x: np.ndarray) -> np.ndarray:
    """E^-1 (d_A E B - d_B E A) at x (2,)."""

    def slope(h: np.ndarray) -> np.ndarray:
        return np.array([[h[1], x[0] * h[1] + x[1] * h[0]], [h[0] / 2, h[0]]])

    return np.linalg.solve(bent_frame(x), slope(A) @ B - slope(B) @ A)


def rates() -> list[Rate]:
    """Orders of the proxies on the plane, the sphere and the hyperbolic plane, and of R = I."""
    polar, inside = np.array([1.2, 0.3]), np.array([0.2, 0.1])
    charts = {
        f"curvature {value:g}": (value, partial(connections.conformal_transport, value))
        for value in (1.0, -1.0)
    }
    flat = [float(np.linalg.norm(proxies(connections.polar_transport, polar, h)[1]))
            for h in EPSILONS]  # fmt: skip
    found = [Rate("torsion gap in polar coordinates", 0.0, EPSILONS, tuple(flat), 3.0)]
    wide, coefficient = ROUNDING / EPSILONS[-1] ** 2, "leading coefficient"
    for name, (value, transport) in charts.items():
        pairs = [proxies(transport, inside, h) for h in EPSILONS]
        turned = [pair[0][0, 1] / h**2 for pair, h in zip(pairs, EPSILONS, strict=True)]
        gaps = [float(np.linalg.norm(pair[1])) for pair in pairs]
        found += [
            Rate(f"{name}: {coefficient} of the curvature proxy", rotation_rate(value, inside),
                 EPSILONS, tuple(turned), 1.0, wide),
            Rate(f"{name}: torsion gap", 0.0, EPSILONS, tuple(gaps), 3.0),
        ]  # fmt: skip
    tau = frame_torsion(inside)
    twisted = [proxies(frame_transport, inside, h)[1][0] / h**2 for h in EPSILONS]
    found.append(Rate(f"R = I: {coefficient} of the torsion gap", -float(tau[0]), EPSILONS,
                      tuple(twisted), 1.0, wide))  # fmt: skip
    return found
