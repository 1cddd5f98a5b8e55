"""AP3's property holds, is tight and can fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from numerics.pairings import attention, gibbs_weights
from numerics.properties import filtrations as ap3
from tests.numerics.properties.plant import Plant

SEEDS = (1,)
EXAMPLES = 60
ALONE = True


def not_renormalised(weights: Any, allowed: Any) -> np.ndarray:
    return np.where(allowed, weights, weights.dtype.type(0))


FALSEHOODS = {
    "bidirectional": Plant("prefix", "causal_attention", lambda _, q, k, v, *, align, tau: (
        attention(q, k, v, tau=tau))),
    "one alignment": Plant("prefix", "causal_attention", lambda sound, q, k, v, *, align, tau: (
        sound(q, k, v, align="first", tau=tau))),
    "values of the next token": Plant(
        "prefix", "causal_attention", lambda sound, q, k, v, **how: (
            sound(q, k, np.concatenate([v[1:], v[:1]]), **how))),
    "not renormalised": Plant("renormalised", "masked_afterwards", lambda _, weights, allowed: (
        not_renormalised(weights, allowed))),
    "all masked reads softmax": Plant(
        "renormalised", "masked_afterwards", lambda sound, weights, allowed: np.where(
            allowed.any(axis=1, keepdims=True), sound(weights, allowed), weights),
        says="bound must be positive where the residual is"),
}  # fmt: skip


def test_a_mask_after_softmax_leaves_half_of_a_row() -> None:
    weights, allowed = gibbs_weights(np.zeros((1, 2))), np.array([[True, False]])
    assert not_renormalised(weights, allowed).sum() == 0.5
    assert ap3.masked_afterwards(weights, allowed).tolist() == [[1.0, 0.0]]


def reached(seen: list[Any]) -> None:
    assert {sample.q.dtype.name for sample in seen} == {"float64", "float32"}
    sizes = {(len(sample.q) > len(sample.k)) - (len(sample.q) < len(sample.k)) for sample in seen}
    assert sizes == {-1, 0, 1}
    assert {sample.align for sample in seen} == {"first", "last"}
    assert any(not sample.allowed.any() for sample in seen)
    assert any(not sample.allowed.any(axis=1).all() for sample in seen if sample.allowed.any())
    assert any(len(np.unique(sample.k, axis=0)) < len(sample.k) for sample in seen)


@pytest.mark.parametrize(
    ("align", "lengths"), [("first", [1, 2, 3]), ("last", [0, 1, 2]), ("last", [3, 4, 5])]
)
def test_prefix_lengths(align: str, lengths: list[int]) -> None:
    m = 5 if lengths[2] == 5 else 2 if align == "last" else 4
    assert [ap3.prefix_length(i, 3, m, align) for i in range(3)] == lengths
