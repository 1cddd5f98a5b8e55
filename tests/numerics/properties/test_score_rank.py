"""RA1's property holds, is tight and can fail."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.properties import Residual, run_property
from numerics.properties import score_rank as ra1
from numerics.scores import geodesic_scores, score_rank_exact

PROPERTY: Any = ra1


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_scores_are_products_of_quadratic_features(suite_seed: int) -> None:
    result = run_property("RA1", PROPERTY, suite_seed)
    assert result.ok, result.failures
    assert (result.examples, result.clauses) == (200, ("features",))
    assert result.planted_rejected


def without_row_term(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(x: np.ndarray, G: np.ndarray) -> np.ndarray:
        _, linear, quadratic = ra1.parts(x, G)
        return linear - quadratic / 2

    monkeypatch.setattr(ra1, "feature_scores", wrong)


def linear_features_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(x: np.ndarray, G: np.ndarray) -> np.ndarray:
        row, linear, _ = ra1.parts(x, G)
        return linear - row / 2

    monkeypatch.setattr(ra1, "feature_scores", wrong)


def one_metric_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra1.feature_scores
    monkeypatch.setattr(
        ra1, "feature_scores", lambda x, G: sound(x, np.repeat(G[:1], len(G), axis=0))
    )


def metric_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra1, "geodesic_scores", lambda x, D, U: geodesic_scores(x, D, U, "key"))


def no_half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra1, "geodesic_scores", lambda x, D, U: 2 * geodesic_scores(x, D, U))


def frame_not_squared(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(self: ra1.Sample) -> np.ndarray:
        eye = np.eye(self.x.shape[1], dtype=self.x.dtype)
        return self.D[:, :, None] * eye + np.abs(self.U) @ np.swapaxes(np.abs(self.U), 1, 2)

    monkeypatch.setattr(ra1.Sample, "metrics", wrong)


def one_unit_of_roundoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra1, "scores_error", lambda x, D, U: np.zeros((len(x), len(x))))
    monkeypatch.setattr(
        ra1, "features_error", lambda x, G: np.full((len(x), len(x)), np.finfo(x.dtype).tiny)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "plant",
    [without_row_term, linear_features_only, one_metric_for_all, metric_of_the_key, no_half,
     frame_not_squared, one_unit_of_roundoff],
)  # fmt: skip
def test_a_planted_falsehood_is_rejected(monkeypatch: pytest.MonkeyPatch, plant: Any) -> None:
    plant(monkeypatch)
    result = run_property("RA1", PROPERTY)
    assert not result.ok
    assert result.failures[0].startswith("RA1 features: residual")


@pytest.mark.slow
def test_a_loose_bound_is_rejected() -> None:
    def loose(sample: Any) -> Residual:
        sound = ra1.residual(sample)
        return Residual(sound.clause, sound.lhs, sound.rhs, 1e3 * sound.bound, sound.k)

    module: Any = SimpleNamespace(samples=ra1.samples, residual=loose)
    failures = run_property("RA1", module).failures
    assert any("features: bound too loose" in failure for failure in failures)


@pytest.mark.slow
def test_samples_reach_the_corner_cases() -> None:
    seen: list[ra1.Sample] = []

    def watched(sample: ra1.Sample) -> Residual:
        seen.append(sample)
        return ra1.residual(sample)

    module: Any = SimpleNamespace(samples=ra1.samples, residual=watched)
    assert run_property("RA1", module).ok
    assert {len(sample.x) for sample in seen} >= {1, 2, 6}
    assert {sample.x.shape[1] for sample in seen} >= {1, 2, 4}
    assert {sample.U.shape[2] for sample in seen} == {1, 2, 3}
    assert {sample.x.dtype.name for sample in seen} == {"float64", "float32"}
    assert any(len(np.unique(s.x, axis=0)) < len(s.x) and s.x.any() for s in seen)
    assert any((~s.x.any(axis=1)).any() and s.x.any() for s in seen)
    assert any(0 < np.abs(s.x).max() < np.finfo(s.x.dtype).tiny for s in seen)
    assert any(np.abs(s.x).max() > 1e3 for s in seen)


@pytest.mark.parametrize("p", [3, 5, 7])
def test_the_bounds_hold_in_every_odd_characteristic(p: int) -> None:
    """x in F_p^2, metrics of a span of dimension g: 1 + d + g, and twice that if symmetrised."""
    rng = np.random.default_rng(p)
    for g in (1, 2, 3):
        basis = rng.integers(-3, 4, size=(g, 2, 2))
        G = np.einsum(
            "iq,qab->iab", rng.integers(-3, 4, size=(20, g)), basis + basis.swapaxes(1, 2)
        )
        x = rng.integers(0, p, size=(20, 2))
        assert score_rank_exact(x, G, modulus=p).rank <= 3 + g
        assert score_rank_exact(x, G, modulus=p, kind="symmetrised").rank <= 2 * (3 + g)


def test_symmetrised_conformal_scores_on_a_line_reach_twice_the_bound() -> None:
    x, factors = np.arange(6)[:, None], np.array([1, 2, 3, 5, 8, 13])[:, None, None]
    assert score_rank_exact(x, factors).rank == 3
    assert score_rank_exact(x, factors, kind="symmetrised").rank == 6
