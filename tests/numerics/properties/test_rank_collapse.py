"""RA11's property holds, is tight and can fail; the largest of its bounds is reached exactly."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.properties import Residual, run_property
from numerics.properties import rank_collapse as ra11


@pytest.mark.slow
def test_layers_contract_by_the_bound_which_clusters_attain() -> None:
    seen: list[ra11.Sample] = []

    def watched(sample: ra11.Sample) -> Residual:
        seen.append(sample)
        return ra11.residual(sample)

    module: Any = SimpleNamespace(samples=ra11.samples, residual=watched)
    result = run_property("RA11", module, 1)
    assert result.ok, result.failures
    assert (result.examples, result.clauses) == (200, ("clusters", "layer"))
    assert result.planted_rejected
    assert {sample.family for sample in seen} == set(ra11.FAMILIES)
    assert {len(sample.x) for sample in seen} >= {1, 2, 64}
    assert {sample.x.shape[1] for sample in seen} == {1, 2, 3}
    assert {len(sample.S) for sample in seen} == {1, 2, 3}
    assert {sample.x.dtype.name for sample in seen} == {"float64", "float32"}
    assert any(len(np.unique(s.x, axis=0)) == 1 < len(s.x) for s in seen)
    assert any((s.T == 0).all(axis=(1, 2)).any() for s in seen)
    assert any(np.abs(s.S).max() > 1e3 for s in seen)


def eighth_of_the_diameter(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra11.factor
    monkeypatch.setattr(ra11, "factor", lambda x, g: sound(x, g / 2))


def scores_of_both_sides_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra11.conformal
    monkeypatch.setattr(ra11, "conformal", lambda x, g: sound(x, g) + sound(x, g).T)


def clusters_of_unequal_size(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra11.clusters

    def wrong(*given: Any) -> tuple[np.ndarray, float]:
        x, g = sound(*given)
        return np.concatenate((x, x[:1])), g

    monkeypatch.setattr(ra11, "clusters", wrong)


def largest_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ra11, "contraction", lambda norms, spreads: (norms * np.tanh(spreads / 4)).max(axis=-1)
    )


def eighth_of_the_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra11.contraction
    monkeypatch.setattr(ra11, "contraction", lambda norms, spreads: sound(norms, spreads / 2))


def rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ra11, "score_spread", lambda S: SimpleNamespace(difference=np.ptp(S, axis=-1).max(axis=-1))
    )


def transports_of_norm_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra11, "spectral_norm", lambda T: np.ones(len(T)))


FALSEHOODS = {
    "clusters": (eighth_of_the_diameter, scores_of_both_sides_summed),
    "layer": (
        clusters_of_unequal_size,
        largest_head,
        eighth_of_the_spread,
        rows_alone,
        transports_of_norm_one,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clause", "plant"), [(clause, plant) for clause in FALSEHOODS for plant in FALSEHOODS[clause]]
)
def test_a_planted_falsehood_is_rejected(
    monkeypatch: pytest.MonkeyPatch, clause: str, plant: Any
) -> None:
    plant(monkeypatch)
    module: Any = SimpleNamespace(
        samples=lambda: ra11.samples().filter(lambda sample: sample.clause == clause),
        residual=ra11.residual,
    )
    result = run_property("RA11", module, max_examples=40)
    assert not result.ok
    assert result.failures[0].startswith(f"RA11 {clause}: residual")


def test_the_ratio_to_the_bound_reaches_one() -> None:
    """At t = 3 all numbers are exact but exp: osc halves, and tanh(log(3) / 2) = 1/2."""
    S = np.array([[0.0, -np.log(3.0)], [-np.log(3.0), 0.0]])[None]
    sample = ra11.Sample("layer", "attained", np.array([[1.0], [-1.0]]), S, np.ones((1, 1, 1)), 1.0)
    residual = ra11.residual(sample)
    assert residual.ratio() <= 1
    assert abs(residual.lhs[0] - 1.0) <= residual.bound[0]
    assert residual.bound[0] < 2.0**-45
