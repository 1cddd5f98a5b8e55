"""AP2's property holds, is tight and can fail."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.pairings import exponential_pairing
from numerics.properties import Residual, run_property
from numerics.properties import exponential_pairing as ap2

PROPERTY: Any = ap2


@pytest.mark.slow
def test_exponential_pairings_are_multiplicative_and_give_attention() -> None:
    seen: list[ap2.Sample] = []

    def watched(sample: ap2.Sample) -> Residual:
        seen.append(sample)
        return ap2.residual(sample)

    module: Any = SimpleNamespace(samples=ap2.samples, residual=watched)
    result = run_property("AP2", module, 1)
    assert result.ok, result.failures
    assert (result.examples, result.clauses) == (200, ("additive", "attention"))
    assert result.planted_rejected
    assert {sample.q.dtype.name for sample in seen} == {"float64", "float32"}
    assert {len(sample.k) for sample in seen} >= {1, 2, 5}
    assert {1, 4} <= {sample.M.shape[0] for sample in seen} & {s.M.shape[1] for s in seen}
    assert any((sample.q == 0).all(axis=1).any() for sample in seen)
    assert any((sample.v == 0).all(axis=1).any() for sample in seen)


def key_bias(q: Any, k: Any, M: Any) -> np.ndarray:
    return exponential_pairing(q, k, M) * np.exp(k.sum(axis=1))


def query_norm(q: Any, k: Any, M: Any) -> np.ndarray:
    return exponential_pairing(q, k, M) * np.exp((q * q).sum(axis=1, keepdims=True) / 9)


def cubes_of_keys(q: Any, k: Any, M: Any) -> np.ndarray:
    return exponential_pairing(q, k**3, M)


def negated(q: Any, k: Any, M: Any) -> np.ndarray:
    return exponential_pairing(-q, k, M)


FALSEHOODS = [
    ("additive", key_bias), ("additive", query_norm), ("attention", cubes_of_keys),
    ("attention", negated), ("attention", key_bias),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("clause", "wrong"), FALSEHOODS)
def test_a_planted_falsehood_is_rejected(
    monkeypatch: pytest.MonkeyPatch, clause: str, wrong: Any
) -> None:
    monkeypatch.setattr(ap2, "exponential_pairing", wrong)
    monkeypatch.setattr(ap2, "CLAUSES", (clause,))
    result = run_property("AP2", PROPERTY, max_examples=60)
    assert not result.ok
    assert result.failures[0].startswith(f"AP2 {clause}: residual")


def test_a_row_term_of_the_queries_leaves_attention() -> None:
    rng = np.random.default_rng(0)
    q, k, M = (rng.normal(size=(2, 2)) for _ in range(3))
    plain, scaled = (ap2.readout(pair(q, k, M), np.eye(2)) for pair in (
        exponential_pairing, query_norm))  # fmt: skip
    assert np.isfinite(scaled).all()
    assert (np.abs(plain - scaled) <= 64 * 2.0**-53).all()
