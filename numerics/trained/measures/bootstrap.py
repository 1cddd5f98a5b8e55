"""Intervals: bootstrap over heads within layers and over texts; where one more draw may fall."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

RESAMPLES = 2000
LOW, HIGH = 0.025, 0.975


def interval(groups: Sequence[Sequence[float]], seed: int) -> list[float]:
    """[mean, 2.5%, 97.5%] of the mean of all values, resampled within each group (layer).

    Raises: ValueError for no value, or values that are not finite.
    """
    arrays = [np.asarray(group, float) for group in groups if len(group)]
    if not arrays or not all(np.isfinite(array).all() for array in arrays):
        raise ValueError(f"groups must hold finite values, got {groups!r:.80}")
    rng = np.random.default_rng([seed, len(arrays)])
    total = np.zeros(RESAMPLES)
    for array in arrays:
        total += rng.choice(array, size=(RESAMPLES, len(array))).sum(axis=1)
    count = sum(len(array) for array in arrays)
    low, high = np.quantile(total / count, (LOW, HIGH))
    return [sum(float(array.sum()) for array in arrays) / count, float(low), float(high)]


def text_interval(by_text: Sequence[float], seed: int) -> list[float]:
    """[mean, 2.5%, 97.5%] of a mean over texts, the texts resampled."""
    return interval([by_text], seed)


def reach_of_one_more(draws: Sequence[float]) -> float:
    """How far from the mean of k normal draws one more lies, 95%, by Student's t; inf for k = 1."""
    from scipy.special import stdtrit

    k = len(draws)
    if k < 2:
        return float("inf")
    deviation = float(np.std(draws, ddof=1))
    return float(stdtrit(k - 1, HIGH)) * deviation * (1 + 1 / k) ** 0.5
