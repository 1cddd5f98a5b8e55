"""AP6's property holds, is tight and can fail."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.pairings.tensor_attention import khatri_rao
from numerics.properties import Residual, run_property
from numerics.properties import tensor_attention as ap6
from numerics.walks import softmax_walk


@pytest.mark.slow
def test_pairs_are_attended_to_like_khatri_rao_rows() -> None:
    seen: list[ap6.Sample] = []

    def watched(sample: ap6.Sample) -> Residual:
        seen.append(sample)
        return ap6.residual(sample)

    module: Any = SimpleNamespace(samples=ap6.samples, residual=watched)
    result = run_property("AP6", module, 1)
    assert result.ok, result.failures
    assert (result.examples, result.clauses) == (200, ("finite_rank", "product_world"))
    assert result.planted_rejected
    pairs = [s for s in seen if s.clause == "product_world"]
    assert {len(s.q) for s in pairs} >= {1, 2, 5}
    assert any(len(s.k) != len(s.k2) for s in pairs)
    assert any(s.allowed is not None and not s.allowed.any(axis=1).all() for s in pairs)
    assert any(s.allowed is not None and s.allowed2 is not None for s in pairs)
    assert any(np.abs(s.q).max() > 1e3 for s in pairs)
    assert {s.q.dtype.name for s in seen} == {"float64", "float32"}
    assert {s.causal for s in seen if s.clause == "finite_rank"} == {True, False}


def values_added(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(sample: ap6.Sample) -> Any:
        logits = sample.q @ khatri_rao(sample.k, sample.k2).T
        weights = softmax_walk(logits, ap6._mask(sample))
        pairs = sample.v[:, None, :] + sample.v2[None, :, :]
        return logits, weights, weights @ pairs.reshape(-1, sample.v.shape[1])

    monkeypatch.setattr(ap6, "pair_attention", wrong)


def second_values_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(sample: ap6.Sample) -> Any:
        kernel = sample.q @ khatri_rao(sample.k, sample.k2).T
        kernel = np.where(ap6._prefix(sample), kernel, kernel.dtype.type(0))
        total = kernel.sum(axis=1, keepdims=True)
        return total, kernel @ khatri_rao(np.ones_like(sample.v), sample.v2) / total

    monkeypatch.setattr(ap6, "all_pairs", wrong)


def mask_of_the_first_world_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ap6,
        "tensor_attention",
        lambda q, k, k2, v, v2, allowed, allowed2: sound(q, k, k2, v, v2, allowed),
    )


def pairs_of_either_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(q: Any, k: Any, k2: Any, v: Any, v2: Any, allowed: Any, allowed2: Any) -> Any:
        if allowed is None or allowed2 is None:
            return sound(q, k, k2, v, v2, allowed, allowed2)
        seen = (allowed[:, :, None] | allowed2[:, None, :]).reshape(len(q), -1)
        return softmax_walk(q @ khatri_rao(k, k2).T, seen) @ khatri_rao(v, v2)

    monkeypatch.setattr(ap6, "tensor_attention", wrong)


def all_tokens_before_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ap6, "finite_rank_attention", lambda *parts: finite_rank(*parts[:5]))


def one_normaliser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ap6,
        "finite_rank_attention",
        lambda phi, psi, chi, v, v2, causal: (
            finite_rank(phi, psi, chi, v, v2, causal) * phi.dtype.type(1 + 2.0**-10)
        ),
    )


sound, finite_rank = ap6.tensor_attention, ap6.finite_rank_attention
FALSEHOODS = {
    "product_world": (values_added, mask_of_the_first_world_alone, pairs_of_either_mask),
    "finite_rank": (second_values_alone, all_tokens_before_the_query, one_normaliser),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clause", "plant"), [(clause, plant) for clause in FALSEHOODS for plant in FALSEHOODS[clause]]
)
def test_a_planted_falsehood_is_rejected(
    monkeypatch: pytest.MonkeyPatch, clause: str, plant: Any
) -> None:
    plant(monkeypatch)
    result = run_property("AP6", ap6, max_examples=60)
    assert not result.ok
    assert result.failures[0].startswith(f"AP6 {clause}: residual")


def test_a_query_that_sees_nothing_reads_zero() -> None:
    rng = np.random.default_rng(0)
    q, k, k2, v, v2 = (rng.normal(size=(3, 2)) for _ in range(5))
    allowed = np.array([[True, False, True], [False] * 3, [True] * 3])
    sample = ap6.Sample("product_world", q, k, k2, v, v2, allowed)
    out = ap6.tensor_attention(q, k, k2, v, v2, allowed)
    assert (out[1] == 0).all()
    assert ap6.residual(sample).ratio() <= 1
