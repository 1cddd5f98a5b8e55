"""RA10 numerically: it holds, is tight, sees planted falsehoods, and its orders are measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import find

from numerics.metrics import connections
from numerics.properties import frame_connections
from numerics.properties.frame_connections import Sample
from tests.numerics.properties.plant import SEARCH, Plant

EXAMPLES = 60
FALSEHOODS = {
    "i and j exchanged": Plant("isometries", "frame_transports", lambda sound, *given: (
        np.swapaxes(sound(*given), 0, 1))),
    "transposed transports": Plant("isometries", "frame_transports", lambda sound, *given: (
        np.swapaxes(sound(*given), -1, -2))),
    "off by a thousandth": Plant("isometries", "frame_transports", lambda sound, frames, *rest: (
        sound(frames, *rest) * frames.dtype.type(1 + 2.0**-10))),
    "the gap of the other order": Plant(
        "teleparallel", "torsion_gap", lambda sound, T, x, triangles: (
            sound(T, x, triangles[:, [0, 2, 1]]))),
    "the gap by T_ij for T_ji": Plant(
        "teleparallel", "torsion_gap", lambda sound, T, x, triangles: (
            sound(np.swapaxes(T, 0, 1), x, triangles))),
    "the identity kept": Plant("flatness", "curvature_proxy", lambda sound, T, triangles: (
        sound(T, triangles) + np.eye(T.shape[-1], dtype=T.dtype))),
    "the triangle from another node": Plant(
        "flatness", "curvature_proxy", lambda sound, T, triangles: (
            sound(T, triangles[:, [1, 2, 0]]))),
}  # fmt: skip


def test_without_orthogonal_turns_the_transports_are_no_isometries() -> None:
    one = np.eye(2)[None]
    found = Sample("isometries", one, one, np.array([[[[1.0, 0.5], [0.0, 1.0]]]]), one[0],
                   np.zeros((1, 3), int))  # fmt: skip
    with pytest.raises(ValueError, match="turns must be such that"):
        frame_connections.residual(found)


CORNERS: dict[str, Callable[[Any], bool]] = {
    "one token": lambda s: len(s.x) == 1,
    "one feature": lambda s: s.x.shape[1] == 1,
    "repeated tokens": lambda s: len(np.unique(s.x, axis=0)) < len(s.x),
    "zero tokens": lambda s: not s.x.any(),
    "subnormal tokens": lambda s: 0 < np.abs(s.x).max() < np.finfo(s.x.dtype).tiny,
    "single precision": lambda s: s.x.dtype == np.float32,
    "condition 1e12": lambda s: np.linalg.cond(s.frames).max() > 1e12,
    "no turns": lambda s: (s.turns == np.eye(s.x.shape[1])).all(),
    "turns without a gauge": lambda s: frame_connections.curvature_proxy(
        s.turns, s.triangles).any(),
}  # fmt: skip


def test_the_hypotheses_hold_exactly_for_what_is_stored() -> None:
    found = find(
        frame_connections.samples(), lambda s: s.x.shape[1] > 2 and len(s.x) > 2, settings=SEARCH
    )
    eye = np.eye(found.x.shape[1])
    assert (found.frames @ found.coframes == eye).all()
    assert (np.swapaxes(found.turns, -1, -2) @ found.turns == eye).all()


RATES = {rate.name: rate for rate in frame_connections.rates()}


@pytest.mark.parametrize("name", RATES)
def test_the_order_is_as_stated(name: str) -> None:
    assert RATES[name].ok, RATES[name].explain()


@pytest.mark.parametrize("name", [name for name in RATES if "coefficient" in name])
def test_the_leading_coefficient_is_right_at_the_smallest_edge(name: str) -> None:
    rate = RATES[name]
    assert rate.errors[-1] < 0.02 * abs(rate.target)


def test_other_signs_and_the_whole_curvature_are_no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    half = frame_connections.rotation_rate
    for factor in (-1, 2):
        monkeypatch.setattr(
            frame_connections, "rotation_rate", lambda *a, f=factor: f * half(*a)
        )  # fmt: skip
        wrong = [rate.name for rate in frame_connections.rates() if not rate.ok]
        assert wrong == [name for name in RATES if "curvature proxy" in name]


def test_transports_of_the_whole_christoffel_symbols_transposed_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = connections.polar_transport
    monkeypatch.setattr(
        connections, "polar_transport", lambda start, end: honest(start, end).T
    )  # fmt: skip
    rate = frame_connections.rates()[0]
    assert not rate.ok
