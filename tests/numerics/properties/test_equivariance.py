"""AP9's property holds, is tight and can fail."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.pairings import readout
from numerics.properties import Residual, run_property
from numerics.properties import equivariance as ap9

PROPERTY: Any = ap9


@pytest.mark.slow
def test_readouts_are_equivariant() -> None:
    seen: list[ap9.Sample] = []

    def watched(sample: ap9.Sample) -> Residual:
        seen.append(sample)
        return ap9.residual(sample)

    module: Any = SimpleNamespace(samples=ap9.samples, residual=watched)
    result = run_property("AP9", module, 1)
    assert result.ok, result.failures
    assert (result.examples, result.clauses) == (200, ("affine", "world"))
    assert result.planted_rejected
    assert {sample.v.dtype.name for sample in seen} == {"float64", "float32"}
    assert any((sample.kappa == 0).any() for sample in seen)
    assert any(((sample.kappa * sample.mu).sum(axis=1) == 0).any() for sample in seen)
    assert any(len(np.unique(sample.places)) < len(sample.places) for sample in seen)
    assert any(len(np.unique(sample.places)) == len(sample.v) > 2 for sample in seen)


def unnormalised(kappa: Any, v: Any, mu: Any) -> np.ndarray:
    return (kappa * mu) @ v


def without_masses(kappa: Any, v: Any, mu: Any) -> np.ndarray:
    return readout(kappa, v)


def squared_masses(kappa: Any, v: Any, mu: Any) -> np.ndarray:
    return readout(kappa, v, mu * mu)


def values_alone(kappa: Any, v: Any, mu: Any) -> np.ndarray:
    return readout(np.sort(kappa, axis=1), v, mu)


def squares_of_values(kappa: Any, v: Any, mu: Any) -> np.ndarray:
    return readout(kappa, v * v, mu)


FALSEHOODS = [
    ("world", without_masses), ("world", squared_masses), ("world", values_alone),
    ("affine", unnormalised), ("affine", squares_of_values),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("clause", "wrong"), FALSEHOODS)
def test_a_planted_falsehood_is_rejected(
    monkeypatch: pytest.MonkeyPatch, clause: str, wrong: Any
) -> None:
    monkeypatch.setattr(ap9, "readout", wrong)
    monkeypatch.setattr(ap9, "CLAUSES", (clause,))
    result = run_property("AP9", PROPERTY, max_examples=60)
    assert not result.ok
    assert result.failures[0].startswith(f"AP9 {clause}: residual")


def test_a_signed_pairing_leaves_the_hull() -> None:
    kappa, v = np.array([[2.0, -1.0]]), np.array([[0.0], [1.0]])
    assert (kappa / kappa.sum() @ v).item() == -1.0
    with pytest.raises(ValueError, match=r"^kappa must be nonnegative, got -1\.0"):
        readout(kappa, v)


def test_squaring_the_values_does_not_pass() -> None:
    kappa, v = np.ones((1, 2)), np.array([[0.0], [2.0]])
    assert (readout(kappa, v).item(), readout(kappa, v * v).item()) == (1.0, 2.0)
