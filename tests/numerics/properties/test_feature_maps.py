"""AP7's property holds, is tight and can fail."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.pairings import features
from numerics.properties import Residual, run_property
from numerics.properties import feature_maps as ap7


@pytest.mark.slow
def test_features_have_the_inner_products_that_they_stand_for() -> None:
    seen: list[ap7.Sample] = []

    def watched(sample: ap7.Sample) -> Residual:
        seen.append(sample)
        return ap7.residual(sample)

    module: Any = SimpleNamespace(samples=ap7.samples, residual=watched)
    result = run_property("AP7", module, 1)
    assert result.ok, result.failures
    assert (result.examples, result.clauses) == (200, ("positive", "taylor", "trigonometric"))
    assert result.planted_rejected
    assert {s.q.shape[1] for s in seen} == {1, 2, 3}
    assert {s.degree for s in seen if s.clause == "taylor"} == {0, 1, 3, 4, 6}
    assert any((s.q == -s.k).all() for s in seen)
    assert any((s.q == 0).all() for s in seen)
    assert {s.q.dtype.name for s in seen} == {"float64", "float32"}


def without_the_gaussian_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        features,
        "positive_features",
        lambda x, omega: np.exp(x @ omega.T) / x.dtype.type(np.sqrt(len(omega))),
    )


def not_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = features.positive_features
    monkeypatch.setattr(
        features,
        "positive_features",
        lambda x, omega: sound(x, omega) * x.dtype.type(np.sqrt(len(omega))),
    )


def cosines_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = features.trigonometric_features
    monkeypatch.setattr(
        features, "trigonometric_features", lambda x, omega: sound(x, omega)[:, : len(omega)]
    )
    monkeypatch.setattr(ap7, "_feature", lambda x, omega, made, positive: ap7.roundoff.exact(made))


def monomials_unweighted(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = features._monomial

    def wrong(x: Any, word: tuple[int, ...]) -> Any:
        return np.prod(x[:, list(word)], axis=1) if len(word) > 1 else sound(x, word)

    monkeypatch.setattr(features, "_monomial", wrong)


def degree_short(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = features.taylor_features
    monkeypatch.setattr(features, "taylor_features", lambda x, degree: sound(x, max(0, degree - 1)))


FALSEHOODS = {
    "positive": (without_the_gaussian_factor, not_averaged),
    "trigonometric": (cosines_alone,),
    "taylor": (monomials_unweighted, degree_short),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clause", "plant"), [(clause, plant) for clause in FALSEHOODS for plant in FALSEHOODS[clause]]
)
def test_a_planted_falsehood_is_rejected(
    monkeypatch: pytest.MonkeyPatch, clause: str, plant: Any
) -> None:
    plant(monkeypatch)
    result = run_property("AP7", ap7, max_examples=60)
    assert not result.ok
    assert result.failures[0].startswith(f"AP7 {clause}: residual")
