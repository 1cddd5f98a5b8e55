"""RA8's property: it holds, is tight, and sees falsehoods planted in the chords or the formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from numerics.metrics import geodesic_rates
from numerics.properties import geodesic_chords
from numerics.properties.geodesic_chords import Sample, chord, expected
from numerics.scores import geodesic as scores
from tests.numerics.properties.plant import Plant

SEEDS = (1,)
EXAMPLES = 40


def misstated(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Plant:
    """Other errors of the chords than the stated ones."""
    return Plant("chords", "stated", lambda sound, *jet: (
        lambda errors: errors | change(errors))(sound(*jet)))  # fmt: skip


FALSEHOODS = {
    "trapezoid and midpoint swapped": misstated(
        lambda e: {"symmetrised": e["midpoint"], "midpoint": e["symmetrised"]}),
    "query exact": misstated(lambda e: {"query-side": 0}),
    "midpoint exact": misstated(lambda e: {"midpoint": 0}),
    "average exact": misstated(lambda e: {"symmetrised": 0}),
    "Simpson like the midpoint": misstated(lambda e: {"Simpson": e["midpoint"]}),
    "the key in place of the query": Plant(
        "chords", "geodesic_scores",
        lambda sound, x, D, U, kind="key": sound(x, D, U, kind)),
    "the query in place of the midpoint": Plant(
        "chords", "midpoint_scores", lambda _, x, field: scores.geodesic_scores(x, *field(x))),
}  # fmt: skip


def variants(sample: Sample) -> list[Sample]:
    """A corner of one chord is compared on every chord."""
    return [replace(sample, chord=name) for name in geodesic_rates.CHORDS]


CORNERS: dict[str, Callable[[Any], bool]] = {
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


EXACT = {"query-side": 4.0, "symmetrised": 28.0, "midpoint": 16.0, "Simpson": 20.0}


@pytest.mark.parametrize("name", EXACT)
def test_chords_of_one_plus_a_square_by_hand(name: str) -> None:
    """D = 1 + 3 x^2 on a line, from 0 to 2: metrics 1, 4, 13 times 4; Simpson's mean is 5."""
    one, zero = np.ones(1), np.zeros((1, 1, 1))
    sample = Sample(name, np.array([[0.0], [2.0]]), one, 3 * one, None, zero)
    assert chord(sample)[0, 1] == expected(sample)[0, 1] == EXACT[name]


def test_orders_are_measured_by_the_rates() -> None:
    assert geodesic_chords.rates is geodesic_rates.rates
