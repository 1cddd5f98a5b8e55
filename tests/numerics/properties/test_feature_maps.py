"""AP7's property holds, is tight and can fail."""

from __future__ import annotations

from typing import Any

import numpy as np

from numerics.pairings import features
from numerics.properties import feature_maps as ap7
from tests.numerics.properties.plant import Plant

SEEDS = (1,)
EXAMPLES = 60


def root(x: Any, omega: Any) -> Any:
    return x.dtype.type(np.sqrt(len(omega)))


FALSEHOODS = {
    "without the Gaussian factor": Plant("positive", "positive_features", lambda _, x, omega: (
        np.exp(x @ omega.T) / root(x, omega)), features),
    "not averaged": Plant("positive", "positive_features", lambda sound, x, omega: (
        sound(x, omega) * root(x, omega)), features),
    "cosines alone": Plant(
        "trigonometric", "trigonometric_features",
        lambda sound, x, omega: sound(x, omega)[:, : len(omega)], features,
        also=(Plant("", "_feature", lambda _, x, omega, made, positive: (
            ap7.roundoff.exact(made))),)),
    "monomials unweighted": Plant("taylor", "_monomial", lambda sound, x, word: (
        np.prod(x[:, list(word)], axis=1) if len(word) > 1 else sound(x, word)), features),
    "degree short": Plant("taylor", "taylor_features", lambda sound, x, degree: (
        sound(x, max(0, degree - 1))), features),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    assert {s.q.shape[1] for s in seen} == {1, 2, 3}
    assert {s.degree for s in seen if s.clause == "taylor"} == {0, 1, 3, 4, 6}
    assert any((s.q == -s.k).all() for s in seen)
    assert any((s.q == 0).all() for s in seen)
    assert {s.q.dtype.name for s in seen} == {"float64", "float32"}
