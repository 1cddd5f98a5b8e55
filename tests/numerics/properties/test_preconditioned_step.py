"""RA9's property: it holds, is tight, and sees falsehoods planted in the change of coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from numerics.metrics import LowRankMetric
from numerics.properties.preconditioned_step import CLAUSES, Sample, residual
from tests.numerics.properties.plant import Plant

SEEDS = (1,)
EXAMPLES = 60
LOOSE = 1000


def moved_along(change: Callable[[np.ndarray], np.ndarray]) -> Plant:
    """The direction moved by another matrix than the Jacobian."""
    return Plant("direction", "new_direction", lambda sound, sample: (
        sound(replace(sample, J=change(sample.J)))))  # fmt: skip


FALSEHOODS = {
    "gradient as a vector": Plant(
        "low_rank", "new_factors", lambda sound, s: (*sound(s)[:2], s.J @ s.p)),
    "columns as vectors": Plant(
        "low_rank", "new_factors", lambda sound, s: (sound(s)[0], s.J @ s.U, sound(s)[2])),
    "diagonal not squared": Plant("low_rank", "new_factors", lambda sound, s: (
        np.abs(np.linalg.inv(s.J).T.astype(s.D.dtype)) @ s.D, *sound(s)[1:])),
    "nothing moved": Plant("low_rank", "new_factors", lambda _, s: (s.D, s.U, s.p)),
    "transposed Jacobian": moved_along(lambda J: J.T),
    "inverse Jacobian": moved_along(lambda J: np.linalg.inv(J).astype(J.dtype)),
    "identity for the Jacobian": moved_along(lambda J: np.eye(len(J), dtype=J.dtype)),
    "Euclidean direction": Plant(
        "direction low_rank", "solve_with_bound", lambda _, self, v: (v, 2.0**-40 * np.abs(v)),
        LowRankMetric),
}  # fmt: skip


CORNERS: dict[str, Callable[[Any], bool]] = {
    "one dimension": lambda sample: len(sample.D) == 1,
    "rank above the width": lambda sample: sample.U.shape[1] > len(sample.D),
    "zero gradient": lambda sample: not sample.p.any(),
    "zero factors": lambda sample: not sample.U.any(),
    "condition 1e12": lambda sample: bool(np.ptp(np.log10(sample.D.astype(float))) > 11.5),
    "single precision": lambda sample: bool(sample.D.dtype == np.float32),
    "subnormal factors": lambda sample: bool(
        0 < np.abs(sample.U).min() < np.finfo(sample.U.dtype).smallest_normal
    ),
    "a Jacobian that is no permutation": lambda sample: bool((sample.J != 0).sum() > len(sample.J)),
}


@pytest.mark.parametrize("clause", CLAUSES)
def test_a_metric_of_rank_one_by_hand(clause: str) -> None:
    """D = I, U = (1, 1), p = (3, 0), y = -2 x: G^-1 p = (2, -1), moved (-4, 2)."""
    J = -2 * np.eye(2)
    sample = Sample(clause, np.ones(2), np.ones((2, 1)), np.array([3.0, 0.0]), J)
    assert residual(sample).rhs.tolist() == [-4.0, 2.0]
    assert residual(sample).ratio() <= 1


def test_the_finite_step_fails_under_a_square() -> None:
    """f = x, G = 1, x = 1, eta = 1/2, y = x^2, so J = 2: 1/4 against 0."""
    flat = LowRankMetric(np.ones(1), np.zeros((1, 1)))
    moved = LowRankMetric(np.array([0.25]), np.zeros((1, 1)))
    x = y = np.ones(1)
    assert (x - 0.5 * flat.solve(np.ones(1))) ** 2 == 0.25
    assert y - 0.5 * moved.solve(np.array([0.5])) == 0.0
