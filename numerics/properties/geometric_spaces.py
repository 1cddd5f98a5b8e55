"""AP8, geometric spaces: before an isometry and after it.

quadrics: <O q, O k> against <q, k> on the sphere and the hyperboloid.
normalised_mean: the normalised mean of O v against O times that of v.
arithmetic_mean: the mean of g Y g^T against g times the mean times g^T, for definite Y.
log_euclidean: squared distances of the logarithms sigma O A O^T + g I against those of A.
grassmannian, rotations: tr P Q under P -> O P O^T, tr Q^T K under Q -> A Q B.
flat: weights by -|q - k|^2/(2 tau) against those by q.k/tau - |k|^2/(2 tau).
The isometries are dyadic, so that in floats too they are isometries. A sample makes one of these
comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held, rotation_error, rounded
from numerics.rounding import roundoff
from numerics.rounding.roundoff import Rounded, exact

CLAUSES = ("quadrics", "normalised_mean", "arithmetic_mean", "log_euclidean", "grassmannian",
           "rotations", "flat")  # fmt: skip
SQUARES = (1, 2, 4, 8)
"""Squared lengths of the integer normals of reflections; 2/|x|^2 is dyadic."""


@dataclass(frozen=True)
class Sample:
    """Points q (n, ...) and k (m, ...), the form's eta (d,), isometries, weights (m,), tau."""

    clause: str
    q: np.ndarray
    k: np.ndarray
    eta: np.ndarray
    left: np.ndarray
    right: np.ndarray
    w: np.ndarray
    tau: float = 1.0


def reflection(rng: np.random.Generator, eta: np.ndarray, dtype: type) -> np.ndarray:
    """I - 2 x (eta x)^T / <x, x> with an integer x of square +-1, +-2, +-4 or +-8: it is dyadic.

    Normals without zeros come first: the others leave coordinates alone.
    """
    square, tries = 0, 0
    while abs(square) not in SQUARES:
        entries = (-2, -1, -1, 1, 1, 2) if tries < 30 else (-2, -1, 0, 0, 1, 2)
        x, tries = rng.choice(entries, size=len(eta)), tries + 1
        square = int(x @ (eta * x))
    return (np.eye(len(eta)) - 2.0 / square * np.outer(x, eta * x)).astype(dtype)


def unit(points: np.ndarray) -> np.ndarray:
    """The points divided by their norms."""
    return points / np.linalg.norm(points, axis=-1, keepdims=True)


def quadric_points(rng: np.random.Generator, count: int, eta: np.ndarray) -> np.ndarray:
    """Points of one half of the sphere, or of the upper sheet, some far out; first is the pole."""
    d = len(eta)
    if eta[0] > 0:
        points = unit(0.6 * rng.normal(size=(count, d)) + np.eye(d)[0])
        return np.where(points[:, :1] < 0, -points, points)
    space = rng.normal(size=(count, d - 1)) * 10.0 ** rng.integers(-2, 2, size=(count, 1))
    return np.hstack([np.sqrt(1 + (space**2).sum(axis=1, keepdims=True)), space])


def definite(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    """Positive definite matrices, some of them ill-conditioned."""
    roots = rng.normal(size=(count, d, d)) * 10.0 ** rng.integers(-2, 2, size=(count, d, 1))
    return np.swapaxes(roots, 1, 2) @ roots + 1e-3 * np.eye(d)


def orthogonal(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    """Orthogonal matrices."""
    return np.stack([np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(count)])


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Points and an isometry of one of the spaces; n = 1, d = 1, equal points, zero weights."""
    clause, dtype = draw(st.sampled_from(CLAUSES)), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    n, m = draw(st.sampled_from((3, 2, 1))), draw(st.sampled_from((5, 4, 1)))
    matrices = clause in ("log_euclidean", "grassmannian", "rotations")
    d = draw(st.sampled_from((4, 4, 4, 3, 2, 1) if matrices else (5, 5, 4, 4, 3, 2, 1)))
    eta = np.ones(d)
    if clause in ("quadrics", "normalised_mean") and d > 1 and draw(st.booleans()):
        eta[0] = -1.0
    w = rng.exponential(size=m) * (rng.random(m) < draw(st.sampled_from((1.0, 1.0, 0.6))))
    w[0] += 0.1
    left, right = reflection(rng, eta, dtype), reflection(rng, eta, dtype)
    if clause == "arithmetic_mean":
        left = rng.integers(-2, 3, size=(d, d)).astype(dtype)
    q, k = (_points(clause, rng, count, eta) for count in (n, m))
    k[-1] = draw(st.sampled_from((q, k, k)))[0]
    tau = float(dtype(rng.uniform(0.5, 2.0)))
    q, k, w = (part.astype(dtype) for part in (q, k, w))
    return Sample(clause, q, k, eta.astype(dtype), left, right, w, tau)


def _points(clause: str, rng: np.random.Generator, count: int, eta: np.ndarray) -> np.ndarray:
    d = len(eta)
    if clause in ("quadrics", "normalised_mean"):
        return quadric_points(rng, count, eta)
    if clause == "arithmetic_mean":
        return definite(rng, count, d)
    if clause == "log_euclidean":
        logs = rng.normal(size=(count, d, d))
        return logs + np.swapaxes(logs, 1, 2)
    if clause == "flat":
        return rng.normal(size=(count, d))
    frames = orthogonal(rng, count, d)
    if clause == "rotations":
        return frames
    some = frames[:, :, : max(1, d // 2)]
    return some @ np.swapaxes(some, 1, 2)


# What is compared. Each takes the arrays of a sample and what an isometry makes of them.
def form(x: np.ndarray, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """<x_i, y_j> = sum_a eta_a x_ia y_ja."""
    return (x * eta) @ y.T


def normalised_mean(w: np.ndarray, v: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """sum_j w_j v_j over its norm (d,)."""
    mean = w @ v
    return mean / np.sqrt(np.abs((mean * mean) @ eta))


def mean_of(w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """sum_j w_j v_j of matrices v (m, d, d)."""
    return (w[:, None, None] * v).sum(axis=0)


def traces(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """tr x_i^T y_j (n, m)."""
    return x.reshape(len(x), -1) @ y.reshape(len(y), -1).T


def squared_distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """|x_i - y_j|^2 (n, m) of vectors or of matrices."""
    gaps = (x[:, None] - y[None]).reshape(len(x), len(y), -1)
    return (gaps * gaps).sum(axis=2)


def tied_scores(q: np.ndarray, k: np.ndarray, two_tau: np.floating) -> np.ndarray:
    """q_i . k_j / tau - |k_j|^2 / (2 tau)."""
    return (2 * (q @ k.T) - (k * k).sum(axis=1)) / two_tau


def softmax(scores: np.ndarray) -> np.ndarray:
    """The rows' softmax weights, shifted by their largest score."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Points lie on the quadric, and what moves them keeps the form."""
    eta, d = sample.eta, len(sample.eta)
    if sample.clause in ("quadrics", "normalised_mean"):
        yield Held("O keeps the form", {"eta": eta, "O": sample.left})
        sign = np.asarray(eta[0])
        yield Held("epsilon is a sign", {"epsilon": sign}, clause="normalised_mean")
        for q in (*sample.q, *sample.k):
            parts = {"q": q, "eta": eta, "epsilon": sign}
            yield Held("q on the quadric", parts, {"q": rounded(q, d + 3)}, "quadrics")
    elif sample.clause in ("log_euclidean", "grassmannian"):
        yield Held("O is orthogonal", {"O": sample.left})
    elif sample.clause == "rotations":
        yield Held("A is orthogonal", {"A": sample.left})
        yield Held("B is orthogonal", {"B": sample.right})
        for Q in (*sample.q, *sample.k):
            yield Held("Q is orthogonal", {"Q": Q}, {"Q": np.full(Q.shape, rotation_error(d))})
    elif sample.clause == "flat":
        yield Held("tau>0", {"tau": np.asarray(sample.tau)})


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return COMPARISONS[sample.clause](sample)


def _quadrics(s: Sample) -> Residual:
    eta, turn = exact(s.eta[None, :]), exact(s.left.T)
    lhs, rhs = form(s.q @ s.left.T, s.k @ s.left.T, s.eta), form(s.q, s.k, s.eta)
    after = ((exact(s.q) @ turn) * eta) @ (exact(s.k) @ turn).transpose(1, 0)
    before = (exact(s.q) * eta) @ exact(s.k.T)
    return Residual("quadrics", lhs, rhs, after.error + before.error, s.q.shape[1])


def _rounded_mean(w: np.ndarray, v: Rounded, computed: np.ndarray, eta: np.ndarray) -> Rounded:
    mean = (exact(w[None, :]) @ v).seen(computed[None, :])
    total = (computed * computed) @ eta
    square = (mean * mean) @ exact(eta[:, None])
    norm = square.sqrt(np.abs(total).reshape(1, 1))
    return mean.divide(norm, np.sqrt(np.abs(total)).reshape(1, 1))


def _normalised_mean(s: Sample) -> Residual:
    w, v, turn = s.w, s.k, s.left.T
    lhs, rhs = normalised_mean(w, v @ turn, s.eta), normalised_mean(w, v, s.eta) @ turn
    images = (exact(v) @ exact(turn)).seen(v @ turn)
    after = _rounded_mean(w, images, w @ (v @ turn), s.eta)
    before = _rounded_mean(w, exact(v), w @ v, s.eta) @ exact(turn)
    bound = (after.error + before.error)[0]
    return Residual("normalised_mean", lhs, rhs, bound, max(len(w), len(turn)))


def _arithmetic_mean(s: Sample) -> Residual:
    w, g, back = exact(s.w[:, None, None]), exact(s.left), exact(s.left.T)
    lhs = mean_of(s.w, s.left @ s.k @ s.left.T)
    rhs = s.left @ mean_of(s.w, s.k) @ s.left.T
    after = (w * _rounded_image(s.left, s.k, s.left.T)).sum(axis=0)
    before = g @ (w * exact(s.k)).sum(axis=0) @ back
    bound = after.error + before.error
    return Residual("arithmetic_mean", lhs, rhs, bound, max(len(s.w), len(s.left)))


def moved_logs(logs: np.ndarray, turn: np.ndarray, shift: float) -> np.ndarray:
    """-O A O^T + g I, the logarithms after a rotation, an inversion and a scaling."""
    scaled = np.asarray(shift, logs.dtype) * np.eye(len(turn), dtype=logs.dtype)
    return scaled - turn @ logs @ turn.T


def _rounded_image(left: np.ndarray, part: np.ndarray, right: np.ndarray) -> Rounded:
    """left @ part @ right as computed from stored arrays."""
    first = (exact(left) @ exact(part)).seen(left @ part)
    return (first @ exact(right)).seen(left @ part @ right)


def _rounded_squares(x: Rounded, y: Rounded) -> Rounded:
    n, m, size = x.shape[0], y.shape[0], int(np.prod(x.shape[1:]))
    gaps = x.reshape(n, 1, size) - y.reshape(1, m, size)
    return (gaps * gaps).sum(axis=2)


def _log_euclidean(s: Sample) -> Residual:
    lhs = squared_distances(*(moved_logs(part, s.left, s.tau) for part in (s.q, s.k)))
    shift = exact((s.tau * np.eye(len(s.left))).astype(s.q.dtype)[None])
    images = (_rounded_image(s.left, part, s.left.T) for part in (s.q, s.k))
    after = _rounded_squares(*(shift - image for image in images))
    before = _rounded_squares(exact(s.q), exact(s.k))
    rhs = squared_distances(s.q, s.k)
    return Residual("log_euclidean", lhs, rhs, after.error + before.error, s.left.size)


def _rounded_traces(x: Rounded, y: Rounded) -> Rounded:
    n, m, size = x.shape[0], y.shape[0], x.shape[1] * x.shape[2]
    return x.reshape(n, size) @ y.reshape(m, size).transpose(1, 0)


def _moved_traces(s: Sample, right: np.ndarray) -> Residual:
    lhs = traces(s.left @ s.q @ right, s.left @ s.k @ right)
    after = _rounded_traces(*(_rounded_image(s.left, part, right) for part in (s.q, s.k)))
    before = _rounded_traces(exact(s.q), exact(s.k))
    return Residual(s.clause, lhs, traces(s.q, s.k), after.error + before.error, s.left.size)


def _grassmannian(s: Sample) -> Residual:
    return _moved_traces(s, s.left.T)


def _rotations(s: Sample) -> Residual:
    return _moved_traces(s, s.right)


def _flat(s: Sample) -> Residual:
    q, k, two = s.q, s.k, s.q.dtype.type(2 * s.tau)
    scores = -squared_distances(q, k) / two
    tied = tied_scores(q, k, two)
    twice, divisor = exact(np.full((1, 1), 2, q.dtype)), exact(np.full((1, 1), two))
    first = _rounded_squares(exact(q), exact(k)) / divisor
    column = (exact(k) * exact(k)).sum(axis=1).reshape(1, len(k))
    second = (twice * (exact(q) @ exact(k.T)) - column) / divisor
    bound = roundoff.softmax(scores, first.error).error + roundoff.softmax(tied, second.error).error
    return Residual("flat", softmax(scores), softmax(tied), bound, max(len(k), q.shape[1]))


COMPARISONS = {
    "quadrics": _quadrics,
    "normalised_mean": _normalised_mean,
    "arithmetic_mean": _arithmetic_mean,
    "log_euclidean": _log_euclidean,
    "grassmannian": _grassmannian,
    "rotations": _rotations,
    "flat": _flat,
}
