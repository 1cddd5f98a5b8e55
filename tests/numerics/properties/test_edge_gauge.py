"""CW3's property: falsehoods planted in gauges, corner cases, and norms alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.properties import Residual, edge_gauge, run_property
from numerics.walks import Walk, gauges
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)


def transports_of_another_gauge(sound: Any, walk: Walk) -> Walk:
    return replace(walk, weights=sound(walk).weights)


def largest_entry_as_frobenius_norm(sound: Any, blocks: Any) -> tuple[Any, Any]:
    """Length 1 everywhere: another positive factor of the edges, so the same operator."""
    peak, length = sound(blocks)
    return peak, np.ones_like(length)


def rows_that_do_not_sum_to_one(sound: Any, walk: Walk) -> Walk:
    gauge = sound(walk)
    return replace(gauge, weights=gauge.weights / 2, transports=gauge.transports * 2)


FALSEHOODS = {
    "transports of another gauge": Plant(
        "same_operator", "frobenius_gauge", transports_of_another_gauge),
    "largest entry as Frobenius norm": Plant(
        "frobenius", "frobenius_factors", largest_entry_as_frobenius_norm, gauges,
        also=(Plant("", "frobenius_factors", largest_entry_as_frobenius_norm),)),
    "rows that do not sum to one": Plant(
        "frobenius", "frobenius_gauge", rows_that_do_not_sum_to_one),
}  # fmt: skip
CORNERS: dict[str, Callable[[Any], bool]] = {
    "one token": lambda s: len(s.x) == 1,
    "an empty row": lambda s: not s.walk.weights.any(axis=1).all(),
    "one transport for all edges": lambda s: s.walk.transports.ndim == 2,
    "a transport of zero": lambda s: not s.walk.transports.any(axis=(-2, -1)).all(),
    "single precision": lambda s: s.x.dtype == np.float32,
}


@pytest.mark.slow
def test_norms_of_the_canonical_gauge_are_tightly_bounded_by_themselves() -> None:
    """The row sums, exact up to one division, could hide a loose bound on the norms."""

    def norms(sample: edge_gauge.Sample) -> Residual:
        both = edge_gauge.residual(replace(sample, clause="frobenius"))
        n = len(sample.walk.weights)
        return replace(both, lhs=both.lhs[n:], rhs=both.rhs[n:], bound=both.bound[n:])

    module: Any = SimpleNamespace(samples=edge_gauge.samples, residual=norms)
    result = run_property("CW3", module)
    assert result.ok, result.failures
