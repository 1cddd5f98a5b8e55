"""RA3's property holds, is tight and can fail."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.properties import Residual, run_property
from numerics.properties import rank_spectrum as ra3
from numerics.scores import geodesic_scores

PROPERTY: Any = ra3


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_families_are_sums_of_products_of_the_stated_widths(suite_seed: int) -> None:
    result = run_property("RA3", PROPERTY, suite_seed)
    assert result.ok, result.failures
    assert (result.examples, result.clauses) == (200, ("diagonal", "symmetrised_core"))
    assert result.planted_rejected


def query_side_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra3, "geodesic_scores", lambda x, D, U=None, kind="query":
                        geodesic_scores(x, D, U))  # fmt: skip


def cores_of_the_first_token(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra3.core_features
    monkeypatch.setattr(ra3, "core_features", lambda sample: sound(
        replace(sample, L=np.repeat(sample.L[:1], len(sample.L), axis=0))))  # fmt: skip


def no_shared_shift(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra3.core_features
    monkeypatch.setattr(
        ra3, "core_features", lambda sample: sound(replace(sample, scale=sample.scale + 1))
    )


def core_not_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra3.core_features
    monkeypatch.setattr(ra3, "core_features", lambda sample: sound(
        replace(sample, L=np.swapaxes(sample.L, 1, 2).copy())))  # fmt: skip


def conformal_features(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra3.diagonal_features
    monkeypatch.setattr(
        ra3, "diagonal_features", lambda x, D: sound(x, np.repeat(D[:, :1], D.shape[1], axis=1))
    )


def homogeneous_features(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra3.diagonal_features
    monkeypatch.setattr(
        ra3, "diagonal_features", lambda x, D: sound(x, np.repeat(D[:1], len(D), axis=0))
    )


FALSEHOODS = {
    "symmetrised_core": (
        query_side_for_both, cores_of_the_first_token, no_shared_shift, core_not_lowered
    ),
    "diagonal": (conformal_features, homogeneous_features),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clause", "plant"), [(clause, plant) for clause in FALSEHOODS for plant in FALSEHOODS[clause]]
)
def test_a_planted_falsehood_is_rejected(
    monkeypatch: pytest.MonkeyPatch, clause: str, plant: Any
) -> None:
    plant(monkeypatch)
    result = run_property("RA3", PROPERTY)
    assert not result.ok
    assert result.failures[0].startswith(f"RA3 {clause}: residual")


@pytest.mark.slow
def test_samples_reach_the_corner_cases() -> None:
    seen: list[ra3.Sample] = []

    def watched(sample: ra3.Sample) -> Residual:
        seen.append(sample)
        return ra3.residual(sample)

    module: Any = SimpleNamespace(samples=ra3.samples, residual=watched)
    assert run_property("RA3", module).ok
    assert {sample.U.shape[1] for sample in seen} == {1, 2, 3}
    assert any(sample.U.shape[1] > sample.U.shape[0] for sample in seen)
    assert {len(sample.x) for sample in seen} >= {1, 2, 6}
    assert {sample.x.dtype.name for sample in seen} == {"float64", "float32"}
    assert any(not sample.L.any(axis=(1, 2)).all() for sample in seen)
