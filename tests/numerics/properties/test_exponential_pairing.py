"""AP2's property holds, is tight and can fail."""

from __future__ import annotations

from typing import Any

import numpy as np

from numerics.pairings import exponential_pairing
from numerics.properties import exponential_pairing as ap2
from tests.numerics.properties.plant import Plant

SEEDS = (1,)
EXAMPLES = 60
ALONE = True


def query_norm(pairing: Any, q: Any, k: Any, M: Any) -> np.ndarray:
    return pairing(q, k, M) * np.exp((q * q).sum(axis=1, keepdims=True) / 9)


FALSEHOODS = {
    "key bias": Plant("additive attention", "exponential_pairing", lambda pairing, q, k, M: (
        pairing(q, k, M) * np.exp(k.sum(axis=1)))),
    "query norm": Plant("additive", "exponential_pairing", query_norm),
    "cubes of keys": Plant(
        "attention", "exponential_pairing", lambda pairing, q, k, M: pairing(q, k**3, M)),
    "negated": Plant(
        "attention", "exponential_pairing", lambda pairing, q, k, M: pairing(-q, k, M)),
}  # fmt: skip


def test_a_row_term_of_the_queries_leaves_attention() -> None:
    rng = np.random.default_rng(0)
    q, k, M = (rng.normal(size=(2, 2)) for _ in range(3))
    pairings = exponential_pairing(q, k, M), query_norm(exponential_pairing, q, k, M)
    plain, scaled = (ap2.readout(pairing, np.eye(2)) for pairing in pairings)
    assert np.isfinite(scaled).all()
    assert (np.abs(plain - scaled) <= 64 * 2.0**-53).all()


def reached(seen: list[Any]) -> None:
    assert {sample.q.dtype.name for sample in seen} == {"float64", "float32"}
    assert {len(sample.k) for sample in seen} >= {1, 2, 5}
    assert {1, 4} <= {sample.M.shape[0] for sample in seen} & {s.M.shape[1] for s in seen}
    assert any((sample.q == 0).all(axis=1).any() for sample in seen)
    assert any((sample.v == 0).all(axis=1).any() for sample in seen)
