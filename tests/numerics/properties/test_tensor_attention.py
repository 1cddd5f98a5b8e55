"""AP6's property holds, is tight and can fail."""

from __future__ import annotations

from typing import Any

import numpy as np

from numerics.pairings.tensor_attention import khatri_rao
from numerics.properties import tensor_attention as ap6
from numerics.walks import softmax_walk
from tests.numerics.properties.plant import Plant

SEEDS = (1,)
EXAMPLES = 60


def values_added(_: Any, sample: ap6.Sample) -> Any:
    logits = sample.q @ khatri_rao(sample.k, sample.k2).T
    weights = softmax_walk(logits, ap6._mask(sample))
    pairs = sample.v[:, None, :] + sample.v2[None, :, :]
    return logits, weights, weights @ pairs.reshape(-1, sample.v.shape[1])


def second_values_alone(_: Any, sample: ap6.Sample) -> Any:
    kernel = sample.q @ khatri_rao(sample.k, sample.k2).T
    kernel = np.where(ap6._prefix(sample), kernel, kernel.dtype.type(0))
    total = kernel.sum(axis=1, keepdims=True)
    return total, kernel @ khatri_rao(np.ones_like(sample.v), sample.v2) / total


def pairs_of_either_mask(
    sound: Any, q: Any, k: Any, k2: Any, v: Any, v2: Any, allowed: Any, allowed2: Any
) -> Any:
    if allowed is None or allowed2 is None:
        return sound(q, k, k2, v, v2, allowed, allowed2)
    seen = (allowed[:, :, None] | allowed2[:, None, :]).reshape(len(q), -1)
    return softmax_walk(q @ khatri_rao(k, k2).T, seen) @ khatri_rao(v, v2)


FALSEHOODS = {
    "values added": Plant("product_world", "pair_attention", values_added),
    "mask of the first world alone": Plant(
        "product_world", "tensor_attention", lambda sound, *given: sound(*given[:6])),
    "pairs of either mask": Plant("product_world", "tensor_attention", pairs_of_either_mask),
    "second values alone": Plant("finite_rank", "all_pairs", second_values_alone),
    "all tokens before the query": Plant(
        "finite_rank", "finite_rank_attention", lambda sound, *given: sound(*given[:5])),
    "one normaliser": Plant("finite_rank", "finite_rank_attention", lambda sound, phi, *rest: (
        sound(phi, *rest) * phi.dtype.type(1 + 2.0**-10))),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    pairs = [s for s in seen if s.clause == "product_world"]
    assert {len(s.q) for s in pairs} >= {1, 2, 5}
    assert any(len(s.k) != len(s.k2) for s in pairs)
    assert any(s.allowed is not None and not s.allowed.any(axis=1).all() for s in pairs)
    assert any(s.allowed is not None and s.allowed2 is not None for s in pairs)
    assert any(np.abs(s.q).max() > 1e3 for s in pairs)
    assert {s.q.dtype.name for s in seen} == {"float64", "float32"}
    assert {s.causal for s in seen if s.clause == "finite_rank"} == {True, False}


def test_a_query_that_sees_nothing_reads_zero() -> None:
    rng = np.random.default_rng(0)
    q, k, k2, v, v2 = (rng.normal(size=(3, 2)) for _ in range(5))
    allowed = np.array([[True, False, True], [False] * 3, [True] * 3])
    sample = ap6.Sample("product_world", q, k, k2, v, v2, allowed)
    out = ap6.tensor_attention(q, k, k2, v, v2, allowed)
    assert (out[1] == 0).all()
    assert ap6.residual(sample).ratio() <= 1
