"""RA9's property: it holds, is tight, and sees falsehoods planted in the change of coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import find, settings

from numerics.metrics import LowRankMetric
from numerics.properties import preconditioned_step, run_property
from numerics.properties.preconditioned_step import CLAUSES, Sample, residual

ONCE = settings(database=None, derandomize=True, deadline=None, max_examples=2000)


@pytest.mark.slow
def test_the_direction_is_a_vector() -> None:
    result = run_property("RA9", preconditioned_step, suite_seed=1)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert result.clauses == ("direction", "low_rank")


def rejected(clause: str) -> None:
    result = run_property("RA9", preconditioned_step, max_examples=60)
    assert not result.ok
    assert f"{clause}: residual / bound" in result.failures[0]


Factors = tuple[np.ndarray, np.ndarray, np.ndarray]
MOVED: dict[str, Callable[[Sample], Factors]] = {
    "gradient as a vector": lambda s: (*preconditioned_step.new_factors(s)[:2], s.J @ s.p),
    "columns as vectors": lambda s: (
        preconditioned_step.new_factors(s)[0], s.J @ s.U, preconditioned_step.new_factors(s)[2]
    ),
    "diagonal not squared": lambda s: (
        np.abs(np.linalg.inv(s.J).T.astype(s.D.dtype)) @ s.D,
        *preconditioned_step.new_factors(s)[1:],
    ),
    "nothing moved": lambda s: (s.D, s.U, s.p),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("falsehood", MOVED)
def test_factors_moved_wrongly_are_rejected(
    falsehood: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = preconditioned_step.new_factors

    def wrong(sample: Sample) -> Factors:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(preconditioned_step, "new_factors", true)
            return MOVED[falsehood](sample)

    monkeypatch.setattr(preconditioned_step, "new_factors", wrong)
    rejected("low_rank")


JACOBIANS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "transposed": lambda J: J.T,
    "inverse": lambda J: np.linalg.inv(J).astype(J.dtype),
    "identity": lambda J: np.eye(len(J), dtype=J.dtype),
}


@pytest.mark.slow
@pytest.mark.parametrize("falsehood", JACOBIANS)
def test_a_direction_moved_wrongly_is_rejected(
    falsehood: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = preconditioned_step.new_direction
    monkeypatch.setattr(
        preconditioned_step,
        "new_direction",
        lambda sample: true(replace(sample, J=JACOBIANS[falsehood](sample.J))),
    )
    rejected("direction")


def test_the_euclidean_direction_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    def euclidean(self: Any, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return v, 2.0**-40 * np.abs(v)

    monkeypatch.setattr(preconditioned_step.LowRankMetric, "solve_with_bound", euclidean)
    result = run_property("RA9", preconditioned_step, max_examples=40)
    assert not result.ok
    assert "residual / bound" in result.failures[0]


CORNERS: dict[str, Callable[[Sample], bool]] = {
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


@pytest.mark.slow
@pytest.mark.parametrize("corner", CORNERS)
def test_the_samples_reach(corner: str) -> None:
    found = find(preconditioned_step.samples(), CORNERS[corner], settings=ONCE)
    assert residual(found).ratio() <= 1


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
