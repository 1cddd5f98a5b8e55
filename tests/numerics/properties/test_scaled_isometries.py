"""CW12's property: it holds, is tight, and sees falsehoods planted in the walks it compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import find, settings

from numerics.properties import run_property, scaled_isometries
from numerics.walks import Walk

ONCE = settings(database=None, derandomize=True, deadline=None, max_examples=2000)


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_scaled_isometries_are_an_isometric_walk_and_a_potential(suite_seed: int) -> None:
    result = run_property("CW12", scaled_isometries, suite_seed)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert result.clauses == ("generator",)


def weights_not_divided_by_rho(p: Any, edges: Any) -> Walk:
    total = p.sum(axis=1, keepdims=True)
    return Walk(np.where(np.abs(total - 1) < 1e-3, p * 2, p).astype(p.dtype), edges)


def transposed_transports(p: Any, edges: Any) -> Walk:
    return Walk(p, np.swapaxes(edges, 2, 3).copy() if len(p) > 1 else edges)


def transposed_weights(p: Any, edges: Any) -> Walk:
    return Walk(p.T.copy(), edges)


def edges_reversed(p: Any, edges: Any) -> Walk:
    return Walk(p, np.swapaxes(edges, 0, 1).copy())


@pytest.mark.slow
@pytest.mark.parametrize("plant", [
    weights_not_divided_by_rho, transposed_transports, transposed_weights, edges_reversed,
])  # fmt: skip
def test_a_planted_falsehood_is_rejected(
    plant: Callable[[Any, Any], Walk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted in the isometric walk alone, or the same falsehood would stand on both sides."""
    calls = [0]

    def wrong(p: Any, edges: Any) -> Walk:
        calls[0] += 1
        return plant(p, edges) if calls[0] % 2 == 0 else Walk(p, edges)

    monkeypatch.setattr(scaled_isometries, "Walk", wrong)
    result = run_property("CW12", scaled_isometries)
    assert not result.ok
    assert result.failures[0].startswith("CW12 generator: residual / bound")


@pytest.mark.slow
def test_a_bound_fifty_times_too_loose_is_caught() -> None:
    sound = scaled_isometries.residual
    module: Any = SimpleNamespace(
        samples=scaled_isometries.samples,
        residual=lambda sample: replace(sound(sample), bound=50 * sound(sample).bound),
    )
    result = run_property("CW12", module)
    assert any("bound too loose" in failure for failure in result.failures), result


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


@pytest.mark.slow
@pytest.mark.parametrize("corner", CORNERS)
def test_the_samples_reach(corner: str) -> None:
    found = find(scaled_isometries.samples(), CORNERS[corner], settings=ONCE)
    assert scaled_isometries.residual(found).ratio() <= 1


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
