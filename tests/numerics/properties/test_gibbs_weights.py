"""AP1's property holds, is tight and can fail."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.pairings import free_energy, gibbs_weights
from numerics.properties import Residual, run_property
from numerics.properties import gibbs_weights as ap1

PROPERTY: Any = ap1


@pytest.mark.slow
def test_softmax_and_the_gibbs_value_in_floats() -> None:
    seen: list[ap1.Sample] = []

    def watched(sample: ap1.Sample) -> Residual:
        seen.append(sample)
        return ap1.residual(sample)

    module: Any = SimpleNamespace(samples=ap1.samples, residual=watched)
    result = run_property("AP1", module, 1)
    assert result.ok, result.failures
    assert (result.examples, result.clauses) == (200, ("gibbs", "softmax"))
    assert result.planted_rejected
    assert {sample.scores.shape[1] for sample in seen} >= {1, 2, 7}
    assert {sample.scores.dtype.name for sample in seen} == {"float64", "float32"}
    assert {float(np.sign(np.log10(sample.tau))) for sample in seen} >= {-1.0, 1.0}
    scores = [sample.scores for sample in seen if sample.clause == "softmax"]
    assert any(np.abs(S[np.isfinite(S)]).max(initial=0) > 1e3 for S in scores)
    assert any(np.isneginf(S).any() for S in scores)
    masks = [sample.allowed for sample in seen if sample.allowed is not None]
    assert any(not mask.any(axis=1).all() for mask in masks)
    assert any((sample.p == 0).any() for sample in seen if sample.clause == "gibbs")


def without_temperature(scores: Any, tau: float, allowed: Any) -> np.ndarray:
    return gibbs_weights(scores, 1.0, allowed)


def unmasked(scores: Any, tau: float, allowed: Any) -> np.ndarray:
    return gibbs_weights(scores, tau)


def one_winner(scores: Any, tau: float, allowed: Any) -> np.ndarray:
    weights = gibbs_weights(scores, tau, allowed)
    best = weights == weights.max(axis=1, keepdims=True)
    return (best & (weights > 0)).astype(weights.dtype)


def minus_entropy(p: Any, scores: Any, tau: float) -> np.ndarray:
    return 2 * (p * scores).sum(axis=1) - free_energy(p, scores, tau)


def value_without_temperature(p: Any, scores: Any, tau: float) -> np.ndarray:
    return free_energy(p, scores, 1.0)


FALSEHOODS = [
    ("softmax", "gibbs_weights", without_temperature), ("softmax", "gibbs_weights", unmasked),
    ("softmax", "gibbs_weights", one_winner), ("gibbs", "free_energy", minus_entropy),
    ("gibbs", "free_energy", value_without_temperature),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("clause", "name", "wrong"), FALSEHOODS)
def test_a_planted_falsehood_is_rejected(
    monkeypatch: pytest.MonkeyPatch, clause: str, name: str, wrong: Any
) -> None:
    monkeypatch.setattr(ap1, name, wrong)
    result = run_property("AP1", PROPERTY, max_examples=60)
    assert not result.ok
    assert result.failures[0].startswith(f"AP1 {clause}: ")


def test_the_exact_value_is_reached_at_softmax_only() -> None:
    scores = np.array([[1.0, 0.0]])
    best = ap1.exact_value(gibbs_weights(scores), scores, 1.0)[0]
    gaps = [best - ap1.exact_value(np.array([[p, 1 - p]]), scores, 1.0)[0] for p in (0.5, 0.75, 1)]
    assert abs(best - np.log1p(np.e)) <= 8 * 2.0**-53
    assert min(gaps) > 1e-4
    assert max(gaps) == gaps[2], "the vertex is farther than both"
