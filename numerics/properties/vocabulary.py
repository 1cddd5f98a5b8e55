"""The vocabulary of assumptions as arrays: inputs that have each, inputs that lack it, a defect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from numerics.properties.strategies import conditioned, rotation, spd


@dataclass(frozen=True)
class Assumed:
    """An assumption: inputs of a size that have it, ones that lack it (size >= least), a defect.

    defect is 0 exactly when the assumption holds, up to rounding, and infinite for a sign error.
    """

    holds: Callable[[np.random.Generator, int], np.ndarray]
    breaks: Callable[[np.random.Generator, int], np.ndarray]
    defect: Callable[[np.ndarray], float]
    least: int = 1


def stochastic(rng: np.random.Generator, n: int) -> np.ndarray:
    """Row-stochastic n x n walk matrix of full support, by softmax."""
    powers = np.exp(rng.normal(size=(n, n)))
    return powers / powers.sum(axis=1, keepdims=True)


def reversible(rng: np.random.Generator, n: int) -> np.ndarray:
    """Reversible row-stochastic n x n walk matrix: a symmetric positive kernel, normalised."""
    kernel = np.exp(rng.normal(size=(n, n)))
    kernel = kernel + kernel.T
    return kernel / kernel.sum(axis=1, keepdims=True)


def isometry(rng: np.random.Generator, d: int) -> np.ndarray:
    """(T, G) stacked (2, d, d) with T^T G T = G, G = L L^T of condition 100: T = L^-T Q L^T."""
    metric = spd(rng, d, 100.0)
    factor = np.linalg.cholesky(metric).T
    return np.stack([np.linalg.solve(factor, rotation(rng, d) @ factor), metric])


def involution(rng: np.random.Generator, d: int) -> np.ndarray:
    """T = S diag(+-1) S^-1 with T^2 = I, S of condition 10."""
    basis = conditioned(rng, d, 10.0)
    return np.linalg.solve(basis.T, (basis * rng.choice([-1.0, 1.0], size=d)).T).T


def _with_cycle(rng: np.random.Generator, n: int) -> np.ndarray:
    walk = reversible(rng, n)
    return (walk + 2 * np.roll(np.eye(n), 1, axis=1)) / 3


def _excess(p: np.ndarray, two_sided: bool) -> float:
    excess = p.sum(axis=-1) - 1
    size = np.abs(excess) if two_sided else np.maximum(excess, 0)
    return float(np.max(size)) if (p >= 0).all() else np.inf


def _cycle_defect(p: np.ndarray) -> float:
    """Kolmogorov's criterion on triangles, enough for full support (CW8)."""
    around = np.einsum("ij,jk,ki->ijk", p, p, p)
    return float(np.max(np.abs(around - around.transpose(2, 1, 0)) / around))


def _relative(difference: np.ndarray, scale: np.ndarray) -> float:
    return float(np.max(np.abs(difference)) / np.max(np.abs(scale)))


def _indefinite(g: np.ndarray) -> float:
    lowest = float(np.linalg.eigvalsh((g + g.T) / 2)[0])
    return _relative(g - g.T, g) + (0.0 if lowest > 0 else np.inf)


def _scaled_row(p: np.ndarray) -> np.ndarray:
    return np.concatenate([2 * p[:1], p[1:]])


VOCABULARY = {
    "row-stochastic": Assumed(
        stochastic, lambda rng, n: _scaled_row(stochastic(rng, n)), lambda p: _excess(p, True)
    ),
    "substochastic": Assumed(
        lambda rng, n: stochastic(rng, n) * rng.uniform(size=(n, 1)),
        lambda rng, n: _scaled_row(stochastic(rng, n)),
        lambda p: _excess(p, False),
    ),
    "reversible": Assumed(reversible, _with_cycle, _cycle_defect, least=3),
    "symmetric": Assumed(
        lambda rng, d: spd(rng, d, 10.0) - spd(rng, d, 3.0),
        lambda rng, d: spd(rng, d, 10.0) + np.triu(np.ones((d, d)), 1),
        lambda a: _relative(a - a.T, np.append(a, 1.0)),
        least=2,
    ),
    "orthogonal": Assumed(
        rotation,
        lambda rng, d: 2 * rotation(rng, d),
        lambda q: _relative(q.T @ q - np.eye(len(q)), np.ones(1)),
    ),
    "isometry": Assumed(
        isometry,
        lambda rng, d: isometry(rng, d) * np.array([2.0, 1.0])[:, None, None],
        lambda tg: _relative(tg[0].T @ tg[1] @ tg[0] - tg[1], tg[1]),
    ),
    "involution": Assumed(
        involution,
        lambda rng, d: 2 * involution(rng, d),
        lambda t: _relative(t @ t - np.eye(len(t)), np.ones(1)),
    ),
    "positive definite": Assumed(
        lambda rng, d: spd(rng, d, 1e6), lambda rng, d: -spd(rng, d, 10.0), _indefinite
    ),
    "invertible": Assumed(
        lambda rng, d: conditioned(rng, d, 1e6),
        lambda rng, d: conditioned(rng, d, 10.0) * (np.arange(d) > 0),
        lambda a: 0.0 if np.linalg.matrix_rank(a) == len(a) else np.inf,
    ),
    "convex weights": Assumed(
        lambda rng, h: stochastic(rng, h)[0],
        lambda rng, h: -stochastic(rng, h)[0],
        lambda w: _excess(w, True) if (w > 0).all() else np.inf,
    ),
}
