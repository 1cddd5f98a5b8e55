"""AP1's property holds, is tight and can fail."""

from __future__ import annotations

from typing import Any

import numpy as np

from numerics.pairings import gibbs_weights
from numerics.properties import gibbs_weights as ap1
from tests.numerics.properties.plant import Plant

SEEDS = (1,)
EXAMPLES = 60


def one_winner(sound: Any, scores: Any, tau: float, allowed: Any) -> np.ndarray:
    weights = sound(scores, tau, allowed)
    best = weights == weights.max(axis=1, keepdims=True)
    return (best & (weights > 0)).astype(weights.dtype)


FALSEHOODS = {
    "without temperature": Plant("softmax", "gibbs_weights", lambda sound, scores, tau, allowed: (
        sound(scores, 1.0, allowed))),
    "unmasked": Plant("softmax", "gibbs_weights", lambda sound, scores, tau, allowed: (
        sound(scores, tau)), says="bound must be positive where the residual is"),
    "one winner": Plant("softmax", "gibbs_weights", one_winner),
    "minus entropy": Plant("gibbs", "free_energy", lambda sound, p, scores, tau: (
        2 * (p * scores).sum(axis=1) - sound(p, scores, tau))),
    "value without temperature": Plant("gibbs", "free_energy", lambda sound, p, scores, tau: (
        sound(p, scores, 1.0))),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    assert {sample.scores.shape[1] for sample in seen} >= {1, 2, 7}
    assert {sample.scores.dtype.name for sample in seen} == {"float64", "float32"}
    assert {float(np.sign(np.log10(sample.tau))) for sample in seen} >= {-1.0, 1.0}
    scores = [sample.scores for sample in seen if sample.clause == "softmax"]
    assert any(np.abs(S[np.isfinite(S)]).max(initial=0) > 1e3 for S in scores)
    assert any(np.isneginf(S).any() for S in scores)
    masks = [sample.allowed for sample in seen if sample.allowed is not None]
    assert any(not mask.any(axis=1).all() for mask in masks)
    assert any((sample.p == 0).any() for sample in seen if sample.clause == "gibbs")


def test_the_exact_value_is_reached_at_softmax_only() -> None:
    scores = np.array([[1.0, 0.0]])
    best = ap1.exact_value(gibbs_weights(scores), scores, 1.0)[0]
    gaps = [best - ap1.exact_value(np.array([[p, 1 - p]]), scores, 1.0)[0] for p in (0.5, 0.75, 1)]
    assert abs(best - np.log1p(np.e)) <= 8 * 2.0**-53
    assert min(gaps) > 1e-4
    assert max(gaps) == gaps[2], "the vertex is farther than both"
