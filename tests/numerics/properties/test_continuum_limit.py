"""CW14's property: it holds, is tight, and sees falsehoods planted in the walk or the formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from numerics.laplacians import continuum
from numerics.properties import continuum_limit
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)


def of_another(change: Callable[[Any], Any]) -> Plant:
    """The formula of a changed sample."""
    return Plant("affine_density", "limit", lambda sound, sample: sound(change(sample)))


FALSEHOODS = {
    "whole laplacian": of_another(lambda s: replace(s, hessian=2 * s.hessian)),
    "half the drift": of_another(lambda s: replace(s, slope=s.slope / 2)),
    "no drift": of_another(lambda s: replace(s, slope=0 * s.slope)),
    "drift upstream": of_another(lambda s: replace(s, slope=-s.slope)),
    "other stencil": of_another(lambda s: replace(s, corners=not s.corners)),
    "density left out": of_another(lambda s: replace(s, rho=2 * s.rho)),
    "transports do not turn back": Plant(
        "affine_density", "swapaxes", lambda _, array, *axes: array, continuum_limit.np),
}  # fmt: skip


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


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_stencil_has_no_odd_moments_and_an_isotropic_covariance(d: int, corners: bool) -> None:
    offsets = continuum_limit.stencil(d, corners)
    share = 1 if corners else d
    assert offsets.sum(axis=0).tolist() == [0] * d
    assert (share * offsets.T @ offsets == len(offsets) * np.eye(d)).all()


def test_the_limit_on_curved_spaces_is_measured_by_the_rates() -> None:
    assert continuum_limit.rates is continuum.rates
