"""AP9's property holds, is tight and can fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from numerics.pairings import readout
from tests.numerics.properties.plant import Plant

SEEDS = (1,)
EXAMPLES = 60
ALONE = True
FALSEHOODS = {
    "without masses": Plant("world", "readout", lambda sound, kappa, v, mu: sound(kappa, v)),
    "squared masses": Plant(
        "world", "readout", lambda sound, kappa, v, mu: sound(kappa, v, mu * mu)),
    "values alone": Plant("world", "readout", lambda sound, kappa, v, mu: (
        sound(np.sort(kappa, axis=1), v, mu))),
    "unnormalised": Plant("affine", "readout", lambda _, kappa, v, mu: (kappa * mu) @ v),
    "squares of values": Plant(
        "affine", "readout", lambda sound, kappa, v, mu: sound(kappa, v * v, mu)),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    assert {sample.v.dtype.name for sample in seen} == {"float64", "float32"}
    assert any((sample.kappa == 0).any() for sample in seen)
    assert any(((sample.kappa * sample.mu).sum(axis=1) == 0).any() for sample in seen)
    assert any(len(np.unique(sample.places)) < len(sample.places) for sample in seen)
    assert any(len(np.unique(sample.places)) == len(sample.v) > 2 for sample in seen)


def test_a_signed_pairing_leaves_the_hull() -> None:
    kappa, v = np.array([[2.0, -1.0]]), np.array([[0.0], [1.0]])
    assert (kappa / kappa.sum() @ v).item() == -1.0
    with pytest.raises(ValueError, match=r"^kappa must be nonnegative, got -1\.0"):
        readout(kappa, v)


def test_squaring_the_values_does_not_pass() -> None:
    kappa, v = np.ones((1, 2)), np.array([[0.0], [2.0]])
    assert (readout(kappa, v).item(), readout(kappa, v * v).item()) == (1.0, 2.0)
