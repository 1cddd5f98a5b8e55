"""Conditioned arrays with hypotheses of the vocabulary: where a chosen condition number matters.

`numerics.properties.hypotheses` draws any hypothesis by its exact construction. Those in the table
CONDITIONED have generators beside that, by the name of the entry of theorems.assumptions, whose
arrays reach condition numbers that small integers do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from numerics.properties.hypotheses import inverse_error, rotation_error, rounded
from numerics.properties.strategies import conditioned, rotation, spd

Arrays = dict[str, np.ndarray]


def stochastic(rng: np.random.Generator, n: int) -> np.ndarray:
    """Row-stochastic n x n walk matrix of full support, by softmax."""
    powers = np.exp(rng.normal(size=(n, n)))
    return powers / powers.sum(axis=1, keepdims=True)


def kernel(rng: np.random.Generator, n: int) -> np.ndarray:
    """Symmetric positive n x n kernel: the flow of a reversible walk."""
    half = np.exp(rng.normal(size=(n, n)))
    return half + half.T


def reversible(rng: np.random.Generator, n: int) -> np.ndarray:
    """Reversible row-stochastic n x n walk matrix: a symmetric positive kernel, normalised."""
    flow = kernel(rng, n)
    return flow / flow.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Conditioned:
    """Arrays under the names of the entry's example, and by how much rounding leaves each off."""

    arrays: Callable[[np.random.Generator, int], Arrays]
    errors: Callable[[Arrays], Arrays] = lambda arrays: {}


def _flow(rng: np.random.Generator, n: int) -> Arrays:
    flow = kernel(rng, n)
    law = flow.sum(axis=1)
    return {"P": flow / law[:, None], "pi": law, "f": flow / 2}


def _turns(rng: np.random.Generator, d: int) -> Arrays:
    return {"T": np.stack([rotation(rng, d) for _ in range(4)]).reshape(2, 2, d, d)}


def _isometries(rng: np.random.Generator, d: int) -> Arrays:
    """T_ij = L_i^-T Q_ij L_j^T for G_i = L_i L_i^T of condition 100."""
    metrics = np.stack([spd(rng, d, 100.0) for _ in range(2)])
    factors = np.swapaxes(np.linalg.cholesky(metrics), 1, 2)
    turns = _turns(rng, d)["T"]
    return {"G": metrics, "T": np.linalg.solve(factors[:, None], turns @ factors[None])}


def _isometry_errors(arrays: Arrays) -> Arrays:
    """Cholesky and a solve at condition 10 (Higham 2002, theorems 9.4 and 10.3)."""
    d = arrays["G"].shape[-1]
    size = np.abs(arrays["T"]).max(axis=(-2, -1), keepdims=True)
    return {"T": 100 * size * rotation_error(d), "G": rounded(arrays["G"], 8 * d)}


def _inverse(rng: np.random.Generator, d: int) -> Arrays:
    matrix = conditioned(rng, d, 1e6)
    return {"F": matrix, "H": np.linalg.inv(matrix)}


CONDITIONED = {
    "sums_to_one": Conditioned(
        lambda rng, n: {"P": stochastic(rng, n)}, lambda arrays: {"P": rounded(arrays["P"], 2 + 8)}
    ),
    "detailed_balance": Conditioned(_flow, lambda arrays: {"P": rounded(arrays["P"], 2)}),
    "orthogonal": Conditioned(
        _turns, lambda arrays: {"T": np.full(1, rotation_error(arrays["T"].shape[-1]))}
    ),
    "isometry": Conditioned(_isometries, _isometry_errors),
    "right_inverse": Conditioned(
        _inverse, lambda arrays: {"H": inverse_error(arrays["F"], arrays["H"])}
    ),
}
"""Generators by the name of the hypothesis; both take a source of numbers and a size."""
