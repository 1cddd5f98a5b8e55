"""AP3's property holds, is tight and can fail."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.pairings import attention, causal_attention, gibbs_weights
from numerics.properties import Residual, run_property
from numerics.properties import filtrations as ap3

PROPERTY: Any = ap3


@pytest.mark.slow
def test_causal_attention_is_readout_along_a_filtration() -> None:
    seen: list[ap3.Sample] = []

    def watched(sample: ap3.Sample) -> Residual:
        seen.append(sample)
        return ap3.residual(sample)

    module: Any = SimpleNamespace(samples=ap3.samples, residual=watched)
    result = run_property("AP3", module, 1)
    assert result.ok, result.failures
    assert (result.examples, result.clauses) == (200, ("prefix", "renormalised"))
    assert result.planted_rejected
    assert {sample.q.dtype.name for sample in seen} == {"float64", "float32"}
    sizes = {(len(sample.q) > len(sample.k)) - (len(sample.q) < len(sample.k)) for sample in seen}
    assert sizes == {-1, 0, 1}
    assert {sample.align for sample in seen} == {"first", "last"}
    assert any(not sample.allowed.any() for sample in seen)
    assert any(not sample.allowed.any(axis=1).all() for sample in seen if sample.allowed.any())
    assert any(len(np.unique(sample.k, axis=0)) < len(sample.k) for sample in seen)


def bidirectional(q: Any, k: Any, v: Any, *, align: str, tau: float) -> np.ndarray:
    return attention(q, k, v, tau=tau)


def one_alignment(q: Any, k: Any, v: Any, *, align: str, tau: float) -> np.ndarray:
    return causal_attention(q, k, v, align="first", tau=tau)


def values_of_the_next_token(q: Any, k: Any, v: Any, *, align: str, tau: float) -> np.ndarray:
    later = np.concatenate([v[1:], v[:1]])
    return causal_attention(q, k, later, align=align, tau=tau)


def not_renormalised(weights: Any, allowed: Any) -> np.ndarray:
    return np.where(allowed, weights, weights.dtype.type(0))


def all_masked_reads_softmax(weights: Any, allowed: Any) -> np.ndarray:
    rows = allowed.any(axis=1, keepdims=True)
    return np.where(rows, ap3_masked(weights, allowed), weights)


ap3_masked = ap3.masked_afterwards
FALSEHOODS = [
    ("prefix", "causal_attention", bidirectional), ("prefix", "causal_attention", one_alignment),
    ("prefix", "causal_attention", values_of_the_next_token),
    ("renormalised", "masked_afterwards", not_renormalised),
    ("renormalised", "masked_afterwards", all_masked_reads_softmax),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("clause", "name", "wrong"), FALSEHOODS)
def test_a_planted_falsehood_is_rejected(
    monkeypatch: pytest.MonkeyPatch, clause: str, name: str, wrong: Any
) -> None:
    monkeypatch.setattr(ap3, name, wrong)
    monkeypatch.setattr(ap3, "CLAUSES", (clause,))
    result = run_property("AP3", PROPERTY, max_examples=60)
    assert not result.ok
    assert result.failures[0].startswith(f"AP3 {clause}: ")


def test_a_mask_after_softmax_leaves_half_of_a_row() -> None:
    weights, allowed = gibbs_weights(np.zeros((1, 2))), np.array([[True, False]])
    assert not_renormalised(weights, allowed).sum() == 0.5
    assert ap3.masked_afterwards(weights, allowed).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("align", "lengths"), [("first", [1, 2, 3]), ("last", [0, 1, 2]), ("last", [3, 4, 5])]
)
def test_prefix_lengths(align: str, lengths: list[int]) -> None:
    m = 5 if lengths[2] == 5 else 2 if align == "last" else 4
    assert [ap3.prefix_length(i, 3, m, align) for i in range(3)] == lengths
