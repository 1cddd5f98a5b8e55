"""CW14's property: it holds, is tight, and sees falsehoods planted in the walk or the formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import find, settings

from numerics.laplacians import continuum
from numerics.properties import continuum_limit, run_property

ONCE = settings(database=None, derandomize=True, deadline=None, max_examples=2000)


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_the_walk_is_the_generator_at_every_bandwidth(suite_seed: int) -> None:
    result = run_property("CW14", continuum_limit, suite_seed)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert result.clauses == ("affine_density",)


FALSEHOODS: dict[str, Callable[[Any], Any]] = {
    "whole laplacian": lambda sample: replace(sample, hessian=2 * sample.hessian),
    "half the drift": lambda sample: replace(sample, slope=sample.slope / 2),
    "no drift": lambda sample: replace(sample, slope=0 * sample.slope),
    "drift upstream": lambda sample: replace(sample, slope=-sample.slope),
    "other stencil": lambda sample: replace(sample, corners=not sample.corners),
    "density left out": lambda sample: replace(sample, rho=2 * sample.rho),
}


@pytest.mark.slow
@pytest.mark.parametrize("falsehood", FALSEHOODS)
def test_a_false_formula_is_rejected(falsehood: str, monkeypatch: pytest.MonkeyPatch) -> None:
    true, wrong = continuum_limit.limit, FALSEHOODS[falsehood]
    monkeypatch.setattr(continuum_limit, "limit", lambda sample: true(wrong(sample)))
    result = run_property("CW14", continuum_limit)
    assert not result.ok
    assert "residual / bound" in result.failures[0]


def test_transports_that_do_not_turn_back_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(continuum_limit.np, "swapaxes", lambda array, *_: array)
    result = run_property("CW14", continuum_limit)
    assert not result.ok
    assert "residual / bound" in result.failures[0]


CORNERS: dict[str, Callable[[Any], bool]] = {
    "one dimension": lambda sample: sample.slope.shape == (1,),
    "one fibre dimension": lambda sample: sample.u.shape == (1,),
    "cube": lambda sample: sample.corners and len(sample.slope) > 1,
    "uniform density": lambda sample: not sample.slope.any(),
    "zero section": lambda sample: not sample.gradient.any(),
    "single precision": lambda sample: sample.u.dtype == np.float32,
    "subnormal hessian": lambda sample: (
        0 < np.abs(sample.hessian).max() < np.finfo(sample.u.dtype).tiny
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("corner", CORNERS)
def test_the_samples_reach(corner: str) -> None:
    found = find(continuum_limit.samples(), CORNERS[corner], settings=ONCE)
    assert continuum_limit.residual(found).ratio() <= 1


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_stencil_has_no_odd_moments_and_an_isotropic_covariance(d: int, corners: bool) -> None:
    offsets = continuum_limit.stencil(d, corners)
    share = 1 if corners else d
    assert offsets.sum(axis=0).tolist() == [0] * d
    assert (share * offsets.T @ offsets == len(offsets) * np.eye(d)).all()


def test_the_limit_on_curved_spaces_is_measured_by_the_rates() -> None:
    assert continuum_limit.rates is continuum.rates
