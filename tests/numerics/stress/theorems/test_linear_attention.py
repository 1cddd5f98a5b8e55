"""Stress of AP4: faults in one side, and a normaliser without digits."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
import torch

from numerics.stress.rounding import NoBound
from numerics.stress.theorems.linear_attention import Features
from tests.numerics.stress.theorems.sides import Faults, drawn

features = partial(drawn, "AP4", n=50, d=12, seed=3)
SPOILS: dict[str, Callable[[Features], Features]] = {
    "values of other tokens": lambda f: replace(f, value=f.value.roll(1, 0)),
    "keys of other tokens": lambda f: replace(f, key=f.key.roll(1, 0)),
    "one key left out": lambda f: replace(f, key=torch.cat([f.key[:-1], 0 * f.key[-1:]])),
    "a feature left out": lambda f: replace(
        f, query=torch.cat([f.query[:, 1:], 0 * f.query[:, :1]], 1)
    ),
    "queries and keys swapped": lambda f: replace(f, query=f.key, key=f.query),
    "values scaled by 1.01": lambda f: replace(f, value=f.value * 1.01),
}  # fmt: skip
FAULTS = [Faults(features, SPOILS)]


def test_readouts_of_equal_values_are_that_value() -> None:
    sides = features("readout", dtype="float64")
    read = sides.left(lambda f: replace(f, value=torch.ones_like(f.value))).result
    # 50 positive terms over their own sum: a few roundings of 50 terms and of 12 features.
    assert float((read - 1).abs().max()) < 200 * 2.0**-53


def test_a_normaliser_that_may_be_zero_has_no_bound() -> None:
    sides = features("readout")
    key = sides.inputs.key[:25]
    with pytest.raises(NoBound, match="a normaliser has no digits in this dtype"):
        sides.on(replace(sides.inputs, key=torch.cat([key, -key]))).judged()
