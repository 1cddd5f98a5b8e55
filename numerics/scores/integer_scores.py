"""Scores as exact integers, and their rank over Q or modulo a prime.

Entries are integers, fractions or floats (which are rationals). The rank is that of 2 S or 4 S,
so characteristic 2 alone is excluded.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from numerics.arrays import shape
from numerics.inputs import odd_prime
from numerics.scores.exact_rank import RankCertificate, rank_of

RANK_KINDS = ("query", "key", "symmetrised", "bilinear", "bilinear symmetrised")
_WIDEST = 31  # below 2^29 a sum of 31 products fits in 63 bits


def score_rank_exact(
    x: Any,
    G: Any = None,
    *,
    D: Any = None,
    U: Any = None,
    kind: str = "query",
    modulus: int | None = None,
    centred: bool = False,
) -> RankCertificate:
    """Rank of the scores of tokens x (n, d) with metrics G (n, d, d), or D (n, d) and U (n, d, r).

    centred: of S C, the width that softmax needs. With modulus, a prime below 2^29 other than 2,
    the rank modulo it. Raises ValueError, TypeError by name. Source: RA1, RA3, RA4.
    """
    scores = integer_scores(x, G, D=D, U=U, kind=kind, modulus=modulus)
    return rank_of(centre(scores) if centred else scores, modulus)


def integer_scores(
    x: Any,
    G: Any = None,
    *,
    D: Any = None,
    U: Any = None,
    kind: str = "query",
    modulus: int | None = None,
) -> np.ndarray:
    """-2 S, or -4 S where symmetrised (x_i^T G_i x_j, twice where symmetrised, if bilinear), in
    integers: object entries over Q, scaled to be integers, or int64 ones modulo a prime.

    Raises ValueError, TypeError by name.
    """
    if kind not in RANK_KINDS:
        raise ValueError(f"kind must be one of {', '.join(RANK_KINDS)}, got {kind!r}")
    if modulus is not None:
        odd_prime("modulus", modulus)
    tokens, metrics = _rationals("x", x, 2), _metrics(G, D, U)
    n, d = tokens.shape
    if metrics.shape != (n, d, d):
        name, axes = ("D", 2) if G is None else ("G", 3)
        raise ValueError(f"{name} must have shape {(n, d, d)[:axes]}, got {metrics.shape[:axes]}")
    if modulus is None:
        tokens, metrics = _cleared(tokens), _cleared(metrics)
    else:
        if d > _WIDEST:
            raise ValueError(f"d must be at most {_WIDEST} with a modulus, got {d}")
        named = "G" if D is None else "D" if U is None else "D + U U^T"
        tokens, metrics = _reduced("x", tokens, modulus), _reduced(named, metrics, modulus)
    return _paired(tokens, metrics, kind, modulus)


def centre(scores: np.ndarray) -> np.ndarray:
    """Differences with the last column of scores (n, m): of the rank of S C, without a division.

    Raises TypeError unless they are an array of signed integers, floats or objects, ValueError
    unless they have two axes.
    """
    if not isinstance(scores, np.ndarray) or scores.dtype.kind not in "ifO":
        kind = getattr(scores, "dtype", type(scores).__name__)
        raise TypeError(f"scores must be a NumPy array of signed integers, got {kind}")
    shape({}, "scores", scores, "n", "m")
    if scores.dtype.kind == "i":
        scores = scores.astype(np.int64, copy=False)  # differences of narrow integers wrap
    return scores[:, :-1] - scores[:, -1:]


def _paired(x: np.ndarray, G: np.ndarray, kind: str, p: int | None) -> np.ndarray:
    """Entry (i, j) from each token's own metric; modulo p no sum leaves 63 bits."""

    def small(values: np.ndarray) -> np.ndarray:
        return values if p is None else values % p

    rows = []
    for token, metric in zip(x, G, strict=True):
        if kind.startswith("bilinear"):
            rows.append(small(x @ small(metric.T @ token)))
        else:
            steps = x - token
            rows.append(small(np.sum(small(steps @ metric) * steps, axis=1)))
    own = np.stack(rows)
    if kind == "key":
        return own.T
    return small(own + own.T) if kind.endswith("symmetrised") else own


def _metrics(G: Any, D: Any, U: Any) -> np.ndarray:
    if (G is None) == (D is None):
        raise ValueError("G must be given, or D and U, and not both")
    if G is not None:
        if U is not None:
            raise ValueError("U must come with D, got G")
        return _rationals("G", G, 3)
    diagonal = _rationals("D", D, 2)
    n, d = diagonal.shape
    metrics = np.full((n, d, d), Fraction(0), dtype=object)
    metrics[:, range(d), range(d)] = diagonal
    if U is not None:
        columns = _rationals("U", U, 3)
        if columns.shape[:2] != (n, d):
            raise ValueError(f"U must have shape ({n}, {d}, r), got {columns.shape}")
        metrics = metrics + np.stack([u @ u.T for u in columns])
    return metrics


def _rationals(name: str, values: Any, axes: int) -> np.ndarray:
    """Entries as integers or fractions, exactly."""
    array = np.asarray(values.tolist() if hasattr(values, "tolist") else values, dtype=object)
    if array.ndim != axes or array.size == 0:
        raise ValueError(f"{name} must have {axes} axes, all positive, got shape {array.shape}")

    def exact(entry: Any) -> int | Fraction:
        if isinstance(entry, bool) or not isinstance(entry, int | float | Fraction):
            raise TypeError(
                f"{name} must hold integers, fractions or floats, got {type(entry).__name__}"
            )
        if isinstance(entry, float) and not np.isfinite(entry):
            raise ValueError(f"{name} must be finite, got {entry}")
        return entry if isinstance(entry, int) else Fraction(entry)

    return _each(exact, array)


def _each(function: Callable[[Any], Any], values: np.ndarray) -> np.ndarray:
    """The function at every entry, as an array of objects."""
    return np.asarray(np.frompyfunc(function, 1, 1)(values), dtype=object)


def _cleared(values: np.ndarray) -> np.ndarray:
    scale = lcm(*(Fraction(entry).denominator for entry in values.flat))
    return _each(lambda entry: int(entry * scale), values)


def _reduced(name: str, values: np.ndarray, p: int) -> np.ndarray:
    def residue(entry: int | Fraction) -> int:
        if isinstance(entry, int):
            return entry % p
        exact = Fraction(entry)
        if exact.denominator % p == 0:
            raise ValueError(f"{name} must be integral modulo {p}, got {exact}")
        return exact.numerator * pow(exact.denominator, -1, p) % p

    return _each(residue, values).astype(np.int64)
