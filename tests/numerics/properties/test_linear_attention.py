"""AP4 numerically: sums in either order, readouts by moments, and falsehoods planted in them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from numerics.properties import linear_attention, run_property
from numerics.properties.linear_attention import Sample


@pytest.mark.slow
def test_readouts_go_through_the_moments() -> None:
    result = run_property("AP4", linear_attention)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert result.clauses == ("moments", "reassociation")


def features_of_queries_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = linear_attention.by_moments

    def wrong(query: Any, key: Any, value: Any) -> Any:
        if isinstance(query, np.ndarray):
            query = np.broadcast_to(query.mean(axis=1, keepdims=True), query.shape)
        return sound(query, key, value)

    monkeypatch.setattr(linear_attention, "by_moments", wrong)


def softmax_between(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = linear_attention.by_weights

    def wrong(query: Any, key: Any, value: Any) -> Any:
        if not isinstance(query, np.ndarray):
            return sound(query, key, value)
        return np.tanh(query @ key.T) @ value

    monkeypatch.setattr(linear_attention, "by_weights", wrong)


def normaliser_inside_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(outputs: np.ndarray) -> np.ndarray:
        return outputs[:, :-1] / outputs[:, -1:].sum()

    monkeypatch.setattr(linear_attention, "normalised", wrong)
    sound = linear_attention.by_moments

    def halves(query: Any, key: Any, value: Any) -> Any:
        found = sound(query, key, value)
        if isinstance(found, np.ndarray):
            found[:, -1] *= np.arange(1, len(found) + 1, dtype=found.dtype)
        return found

    monkeypatch.setattr(linear_attention, "by_moments", halves)


FALSEHOODS = {features_of_queries_summed: "", softmax_between: "", normaliser_inside_the_sum: ""}


@pytest.mark.slow
@pytest.mark.parametrize("plant", FALSEHOODS)
def test_a_planted_falsehood_is_rejected(plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    result = run_property("AP4", linear_attention, max_examples=40)
    assert not result.ok
    assert "residual / bound" in result.failures[0]


ONES = Sample("reassociation", np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), np.ones(1))
CORNERS = {
    "one of each": ONES,
    "zero features": replace(ONES, query=np.zeros((2, 1))),
    "n != p": replace(ONES, query=np.ones((3, 1)), key=np.ones((2, 1)), value=np.ones((2, 4))),
    "one positive key": replace(ONES, clause="moments", value=np.full((1, 2), 3.0)),
}


@pytest.mark.parametrize("corner", CORNERS)
def test_corner_cases_are_compared(corner: str) -> None:
    assert linear_attention.residual(CORNERS[corner]).ratio() <= 1


def test_signed_features_may_have_no_readout() -> None:
    sample = Sample("moments", np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [-1.0, 1.0]]),
                    np.array([[1.0], [0.0]]), np.ones(2))  # fmt: skip
    with pytest.raises(ValueError, match="computed must exceed its error bound"):
        linear_attention.residual(sample)
