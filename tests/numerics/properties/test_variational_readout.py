"""AP10's property holds, is tight and can fail; its bound is attained exactly."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.properties import Residual, run_property
from numerics.properties import variational_readout as ap10


@pytest.mark.slow
def test_readouts_are_means_and_move_no_farther_than_their_worlds() -> None:
    seen: list[ap10.Sample] = []

    def watched(sample: ap10.Sample) -> Residual:
        seen.append(sample)
        return ap10.residual(sample)

    module: Any = SimpleNamespace(samples=ap10.samples, residual=watched)
    result = run_property("AP10", module, 1)
    assert result.ok, result.failures
    assert (result.examples, result.clauses) == (200, ("least", "stability"))
    assert result.planted_rejected
    assert {s.attained for s in seen if s.clause == "stability"} == {True, False}
    assert {s.v.shape[0] for s in seen} >= {1, 2, 8}
    assert any(len(s.v) != len(s.v2) for s in seen if s.clause == "stability")
    assert any((s.gamma[:, 0] == 0).any() for s in seen if s.clause == "least")
    assert {s.v.dtype.name for s in seen} == {"float64", "float32"}


def mean_without_masses(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ap10.completed_square
    monkeypatch.setattr(
        ap10, "completed_square", lambda mass, kappa, v, t: sound(np.ones_like(mass), kappa, v, t)
    )


def no_cross_term(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ap10.energy

    def wrong(mass: Any, kappa: Any, v: Any, point: Any) -> Any:
        return sound(mass, kappa, v, point * 0) + (mass * kappa).sum() * (point**2).sum()

    monkeypatch.setattr(ap10, "energy", wrong)


def constant_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ap10.constant
    monkeypatch.setattr(ap10, "constant", lambda sample: sound(sample) / 2)


def keys_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ap10, "cost", lambda sample, gamma: float((gamma * sample.apart).sum()))


def unnormalised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ap10, "readout", lambda kappa, v, mu: (kappa * mu) @ v)


FALSEHOODS = {
    "least": (mean_without_masses, no_cross_term),
    "stability": (constant_halved, keys_alone, unnormalised),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clause", "plant"), [(clause, plant) for clause in FALSEHOODS for plant in FALSEHOODS[clause]]
)
def test_a_planted_falsehood_is_rejected(
    monkeypatch: pytest.MonkeyPatch, clause: str, plant: Any
) -> None:
    plant(monkeypatch)
    result = run_property("AP10", ap10, max_examples=60)
    assert not result.ok
    assert result.failures[0].startswith(f"AP10 {clause}: residual")


def test_the_bound_is_attained_where_all_values_move_to_one_side() -> None:
    v = np.array([[1.0, 5.0], [-2.0, 0.5]])
    sample = ap10.Sample(
        "stability", np.diag([1.0, 3.0]), np.ones(2), np.ones(2), v, v - [[2.0, 0.0], [4.0, 0.0]],
        np.zeros((2, 2)), 0.0, True,
    )  # fmt: skip
    found = ap10.residual(sample)
    assert (found.lhs == 3.5).all()
    assert (found.rhs == 3.5).all()


def test_a_steep_pairing_moves_readouts_by_more_than_b_over_a() -> None:
    # kappa = (2, 1) against (1, 1), values 3 and 0: 2 against 3/2, at keys 1/8 apart, slope 8.
    v, apart = np.array([[3.0], [0.0]]), np.array([[0.125, 9.0], [9.0, 0.0]])
    sample = ap10.Sample("stability", np.eye(2), np.array([2.0, 1.0]), np.ones(2), v, v, apart, 8.0)
    found = ap10.residual(sample)
    assert found.ratio() <= 1
    assert ap10.constant(sample) == 24.0
    assert 2 * ap10.cost(sample, np.eye(2) / 2) < 0.5 < 24 * ap10.cost(sample, np.eye(2) / 2)
