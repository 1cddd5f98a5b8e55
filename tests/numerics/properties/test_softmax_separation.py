"""RA4's property holds, is tight and can fail."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.properties import Residual, run_property
from numerics.properties import softmax_separation as ra4
from numerics.scores import geodesic_scores
from numerics.walks import softmax_walk

PROPERTY: Any = ra4


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_softmax_sees_the_centred_scores_only(suite_seed: int) -> None:
    result = run_property("RA4", PROPERTY, suite_seed)
    assert result.ok, result.failures
    assert (result.examples, result.clauses) == (200, ("centred", "width"))
    assert result.planted_rejected


def without_quadratic_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra4, "narrow_logits", lambda x, G: ra4.ra1.parts(x, G)[1])


def column_term_for_the_row_term(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra4.narrow_logits
    monkeypatch.setattr(
        ra4, "narrow_logits", lambda x, G: sound(x, G) - ra4.ra1.parts(x, G)[0].T / 2
    )


def softmax_over_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra4, "geodesic_scores", lambda x, D, U: geodesic_scores(x, D, U).T.copy())


def uniform_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def wrong(logits: np.ndarray) -> np.ndarray:
        calls.append(1)
        return softmax_walk(logits * (len(calls) % 2))

    monkeypatch.setattr(ra4, "softmax_walk", wrong)


def column_means(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra4, "less_row_means", lambda S: S - np.mean(S, axis=0, keepdims=True))


def first_key_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra4, "less_row_means", lambda S: S - S[:, :1])


def identity_for_centring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra4, "times_centring", lambda S: S.copy())


FALSEHOODS = {
    "width": (without_quadratic_keys, column_term_for_the_row_term, softmax_over_queries,
              uniform_walk),
    "centred": (column_means, first_key_removed, identity_for_centring),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clause", "plant"), [(clause, plant) for clause in FALSEHOODS for plant in FALSEHOODS[clause]]
)
def test_a_planted_falsehood_is_rejected(
    monkeypatch: pytest.MonkeyPatch, clause: str, plant: Any
) -> None:
    plant(monkeypatch)
    result = run_property("RA4", PROPERTY)
    assert not result.ok
    assert result.failures[0].startswith(f"RA4 {clause}: residual")


@pytest.mark.slow
def test_samples_reach_the_corner_cases() -> None:
    seen: list[ra4.Sample] = []

    def watched(sample: ra4.Sample) -> Residual:
        seen.append(sample)
        return ra4.residual(sample)

    module: Any = SimpleNamespace(samples=ra4.samples, residual=watched)
    assert run_property("RA4", module).ok
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
