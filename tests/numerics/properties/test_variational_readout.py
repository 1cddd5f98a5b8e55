"""AP10's property holds, is tight and can fail; its bound is attained exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from numerics.properties import variational_readout as ap10
from tests.numerics.properties.plant import Plant

SEEDS = (1,)
EXAMPLES = 60
FALSEHOODS = {
    "mean without masses": Plant("least", "completed_square", lambda sound, mass, *rest: (
        sound(np.ones_like(mass), *rest))),
    "no cross term": Plant("least", "energy", lambda sound, mass, kappa, v, point: (
        sound(mass, kappa, v, point * 0) + (mass * kappa).sum() * (point**2).sum())),
    "constant halved": Plant("stability", "constant", lambda sound, sample: sound(sample) / 2),
    "keys alone": Plant("stability", "cost", lambda _, sample, gamma: (
        float((gamma * sample.apart).sum()))),
    "unnormalised": Plant("stability", "readout", lambda _, kappa, v, mu: (kappa * mu) @ v),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    assert {s.attained for s in seen if s.clause == "stability"} == {True, False}
    assert {s.v.shape[0] for s in seen} >= {1, 2, 8}
    assert any(len(s.v) != len(s.v2) for s in seen if s.clause == "stability")
    assert any((s.gamma[:, 0] == 0).any() for s in seen if s.clause == "least")
    assert {s.v.dtype.name for s in seen} == {"float64", "float32"}


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
