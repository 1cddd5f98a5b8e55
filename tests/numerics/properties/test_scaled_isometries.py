"""CW12's property: it holds, is tight, and sees falsehoods planted in the walks it compares."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from numerics.properties import scaled_isometries
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)


def second_walk(wrong: Callable[[Any, Any], tuple[Any, Any]]) -> Plant:
    """Planted in the isometric walk alone, or the same falsehood would stand on both sides."""
    calls = count(1)
    return Plant("generator", "Walk", lambda Walk, p, edges: (
        Walk(p, edges) if next(calls) % 2 else Walk(*wrong(p, edges))))  # fmt: skip


def weights_not_divided_by_rho(p: Any, edges: Any) -> tuple[Any, Any]:
    total = p.sum(axis=1, keepdims=True)
    return np.where(np.abs(total - 1) < 1e-3, p * 2, p).astype(p.dtype), edges


FALSEHOODS = {
    "weights not divided by rho": second_walk(weights_not_divided_by_rho),
    "transposed transports": second_walk(
        lambda p, T: (p, np.swapaxes(T, 2, 3).copy() if len(p) > 1 else T)),
    "transposed weights": second_walk(lambda p, T: (p.T.copy(), T)),
    "edges reversed": second_walk(lambda p, T: (p, np.swapaxes(T, 0, 1).copy())),
}  # fmt: skip


CORNERS: dict[str, Callable[[Any], bool]] = {
    "one token": lambda sample: len(sample.u) == 1,
    "one dimension": lambda sample: sample.u.shape[1] == 1,
    "an empty row": lambda sample: not sample.weights.any(axis=1).all(),
    "a killed walk": lambda sample: (sample.weights.sum(axis=1) < 0.75).all(),
    "scales of many sizes": lambda sample: sample.scales.max() > 1e6 * sample.scales.min(),
    "isometries alone": lambda sample: (sample.scales == 1).all(),
    "single precision": lambda sample: sample.u.dtype == np.float32,
    "a zero token": lambda sample: not sample.u.any(axis=1).all(),
    "subnormal tokens": lambda sample: 0 < np.abs(sample.u).max() < 1e-37,
}


def one_token(scale: float, transport: float) -> scaled_isometries.Sample:
    """P = 1 on one token of width 1."""
    one = np.ones((1, 1))
    return scaled_isometries.Sample(one, scale * one, transport * one[:, :, None, None], one)


def test_minus_two_is_a_potential_of_minus_one_and_twice_a_reflection() -> None:
    """P = 1, T = -2: I - W = 3 = (1 - 2) + 2 (1 + 1)."""
    residual = scaled_isometries.residual(one_token(2.0, -1.0))
    assert residual.lhs.tolist() == residual.rhs.tolist() == [[3.0]]


def test_twice_the_identity_is_a_potential_alone() -> None:
    """P = 1, T = 2: I - W = -1 = (1 - 2) + 2 (1 - 1)."""
    residual = scaled_isometries.residual(one_token(2.0, 1.0))
    assert residual.lhs.tolist() == residual.rhs.tolist() == [[-1.0]]
