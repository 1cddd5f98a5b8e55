"""RA4's property holds, is tight and can fail."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from numerics.properties import softmax_separation as ra4
from numerics.scores import geodesic_scores
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)
CALLS = count(1)
FALSEHOODS = {
    "without quadratic keys": Plant(
        "width", "narrow_logits", lambda _, x, G: ra4.ra1.parts(x, G)[1]),
    "column term for the row term": Plant("width", "narrow_logits", lambda sound, x, G: (
        sound(x, G) - ra4.ra1.parts(x, G)[0].T / 2)),
    "softmax over queries": Plant("width", "geodesic_scores", lambda sound, x, D, U: (
        sound(x, D, U).T.copy())),
    "uniform walk on one side": Plant("width", "softmax_walk", lambda sound, logits: (
        sound(logits * (next(CALLS) % 2)))),
    "column means": Plant("centred", "less_row_means", lambda _, S: (
        S - np.mean(S, axis=0, keepdims=True))),
    "first key removed": Plant("centred", "less_row_means", lambda _, S: S - S[:, :1]),
    "identity for centring": Plant("centred", "times_centring", lambda _, S: S.copy()),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    scores = [sample.S for sample in seen if sample.clause == "centred"]
    assert {S.shape[1] for S in scores} >= {1, 2, 7}
    assert any(S.shape[0] > S.shape[1] for S in scores)
    assert any(np.abs(S).max() > 1e3 for S in scores)
    assert {S.dtype.name for S in scores} == {"float64", "float32"}
    tokens = [sample.tokens for sample in seen if sample.clause == "width"]
    assert {len(sample.x) for sample in tokens} >= {1, 2, 6}
    largest = [np.abs(geodesic_scores(s.x, s.D, s.U)).max() for s in tokens]
    assert max(largest) > 1e4, "softmax saturates"


def test_a_head_of_width_d_plus_g_gives_the_walk_of_far_tokens() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-2, 3, size=(6, 2)).astype(np.float64)
    D, U = (part.astype(np.float64) for part in ra4.ra1.integer_metrics(rng, 6, 2, 1))
    G = ra4.ra1.Sample(x, D, U).metrics()
    logits = ra4.narrow_logits(x, G)
    shift = geodesic_scores(x, D, U) - logits  # integers and halves: exact
    assert (shift == shift[:, :1]).all()
    assert np.ptp(shift[:, 0]) > 0
