"""RA8's property: it holds, is tight, and sees falsehoods planted in the chords or the formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import find, settings

from numerics.metrics import geodesic_rates
from numerics.properties import geodesic_chords, run_property
from numerics.properties.geodesic_chords import Sample, chord, expected, residual
from numerics.scores import geodesic as scores

ONCE = settings(database=None, derandomize=True, deadline=None, max_examples=2000)


@pytest.mark.slow
def test_the_chords_are_the_segment_less_the_stated_errors() -> None:
    result = run_property("RA8", geodesic_chords, suite_seed=1)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert result.clauses == ("chords",)


def rejected() -> str:
    """What a short run says, which must fail by its bound."""
    result = run_property("RA8", geodesic_chords, max_examples=40)
    assert not result.ok
    assert "residual / bound" in result.failures[0]
    return result.failures[0]


FALSEHOODS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "trapezoid and midpoint swapped": lambda errors: (
        errors | {"symmetrised": errors["midpoint"], "midpoint": errors["symmetrised"]}
    ),
    "query exact": lambda errors: errors | {"query-side": 0},
    "midpoint exact": lambda errors: errors | {"midpoint": 0},
    "average exact": lambda errors: errors | {"symmetrised": 0},
    "Simpson like the midpoint": lambda errors: errors | {"Simpson": errors["midpoint"]},
}


@pytest.mark.slow
@pytest.mark.parametrize("falsehood", FALSEHOODS)
def test_a_false_error_is_rejected(falsehood: str, monkeypatch: pytest.MonkeyPatch) -> None:
    true, wrong = geodesic_chords.stated, FALSEHOODS[falsehood]
    monkeypatch.setattr(geodesic_chords, "stated", lambda *jet: wrong(true(*jet)))
    rejected()


@pytest.mark.slow
def test_the_key_in_place_of_the_query_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    true = geodesic_chords.geodesic_scores
    monkeypatch.setattr(
        geodesic_chords, "geodesic_scores", lambda x, D, U, kind="key": true(x, D, U, kind)
    )
    rejected()


@pytest.mark.slow
def test_the_query_in_place_of_the_midpoint_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_the_query(x: np.ndarray, field: Any) -> np.ndarray:
        return scores.geodesic_scores(x, *field(x))

    monkeypatch.setattr(geodesic_chords, "midpoint_scores", of_the_query)
    rejected()


CORNERS: dict[str, Callable[[Sample], bool]] = {
    "one dimension": lambda sample: sample.x.shape[1] == 1,
    "one token": lambda sample: len(sample.x) == 1,
    "constant metric": lambda sample: not sample.s.any() and not sample.B.any(),
    "linear factors": lambda sample: not sample.s.any() and bool(sample.B.any()),
    "no rank": lambda sample: sample.U is None,
    "equal tokens": lambda sample: len(sample.x) > 1 and not (sample.x - sample.x[0]).any(),
    "single precision": lambda sample: sample.x.dtype == np.float32,
    "subnormal tokens": lambda sample: (
        0 < np.abs(sample.x).max() < np.finfo(sample.x.dtype).smallest_normal
    ),
    "every chord of two tokens": lambda sample: sample.chord == "Simpson" and len(sample.x) == 2,
}


@pytest.mark.slow
@pytest.mark.parametrize("corner", CORNERS)
def test_the_samples_reach(corner: str) -> None:
    found = find(geodesic_chords.samples(), CORNERS[corner], settings=ONCE)
    for name in geodesic_rates.CHORDS:
        assert residual(replace(found, chord=name)).ratio() <= 1


EXACT = {"query-side": 4.0, "symmetrised": 28.0, "midpoint": 16.0, "Simpson": 20.0}


@pytest.mark.parametrize("name", EXACT)
def test_chords_of_one_plus_a_square_by_hand(name: str) -> None:
    """D = 1 + 3 x^2 on a line, from 0 to 2: metrics 1, 4, 13 times 4; Simpson's mean is 5."""
    one, zero = np.ones(1), np.zeros((1, 1, 1))
    sample = Sample(name, np.array([[0.0], [2.0]]), one, 3 * one, None, zero)
    assert chord(sample)[0, 1] == expected(sample)[0, 1] == EXACT[name]


def test_orders_are_measured_by_the_rates() -> None:
    assert geodesic_chords.rates is geodesic_rates.rates
