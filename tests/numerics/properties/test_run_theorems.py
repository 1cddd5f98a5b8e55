"""The theorems' properties hold, are tight, and see falsehoods planted in the code they test."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.properties import (
    Residual,
    constant_transport,
    edge_gauge,
    gated_mixture,
    run_property,
)
from numerics.walks import gauges, transports
from numerics.walks import walk as walks

PROPERTIES: dict[str, Any] = {"CW1": constant_transport, "CW2": gated_mixture, "CW3": edge_gauge}
CLAUSES = {"CW1": ("constant_transport",), "CW2": ("gates",), "CW3": ("frobenius", "same_operator")}


@pytest.mark.slow
@pytest.mark.parametrize("theorem", PROPERTIES)
@pytest.mark.parametrize("suite_seed", range(2))
def test_theorem_holds_numerically(theorem: str, suite_seed: int) -> None:
    result = run_property(theorem, PROPERTIES[theorem], suite_seed)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert not result.exhausted
    assert result.clauses == CLAUSES[theorem]


def transposed(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*arguments: Any) -> walks.Walk:
        walk = walks.single_head_walk(*arguments)
        square = walk.transports.shape[0] == walk.transports.shape[1]
        return replace(walk, transports=walk.transports.T.copy()) if square else walk

    monkeypatch.setattr(constant_transport, "single_head_walk", wrong)


def value_bias_not_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(p: Any, w_v: Any, w_o: Any, b_v: Any, b_o: Any) -> walks.Walk:
        walk = walks.single_head_walk(p, w_v, w_o)
        return replace(walk, offset=np.zeros((len(p), 1), p.dtype) + (b_v[None] @ w_o + b_o))

    monkeypatch.setattr(constant_transport, "single_head_walk", wrong)


def nan_in_masked_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(logits: Any, allowed: Any = None) -> Any:
        p = walks.softmax_walk(logits, allowed)
        p[p.sum(axis=1) == 0] = np.nan
        return p

    monkeypatch.setattr(constant_transport, "softmax_walk", wrong)


def without_the_factor_of_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(attention: Any, parts: Any, weights: Any = None) -> walks.Walk:
        heads = attention.dtype.type(len(attention))
        walk = walks.multi_head_walk(attention, parts, weights)
        return replace(walk, transports=walk.transports / heads)

    monkeypatch.setattr(gated_mixture, "multi_head_walk", wrong)


def unnormalised_gates(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(attention: Any, weights: Any = None) -> Any:
        return transports.head_weights(attention, weights)[:, None, None] * attention

    monkeypatch.setattr(walks, "gates", wrong)


def key_value_heads_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transports, "kv_head", lambda h, heads, kv_heads: h % kv_heads)


def transports_of_another_gauge(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(walk: walks.Walk) -> walks.Walk:
        return replace(walk, weights=gauges.frobenius_gauge(walk).weights)

    monkeypatch.setattr(edge_gauge, "frobenius_gauge", wrong)


def largest_entry_as_frobenius_norm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Length 1 everywhere: another positive factor of the edges, so the same operator."""
    sound = gauges.frobenius_factors

    def wrong(blocks: Any) -> tuple[Any, Any]:
        peak, length = sound(blocks)
        return peak, np.ones_like(length)

    for module in (gauges, edge_gauge):
        monkeypatch.setattr(module, "frobenius_factors", wrong)


def rows_that_do_not_sum_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(walk: walks.Walk) -> walks.Walk:
        gauge = gauges.frobenius_gauge(walk)
        return replace(gauge, weights=gauge.weights / 2, transports=gauge.transports * 2)

    monkeypatch.setattr(edge_gauge, "frobenius_gauge", wrong)


FALSEHOODS = {
    transposed: "CW1 constant_transport",
    value_bias_not_scaled: "CW1 constant_transport",
    nan_in_masked_rows: "CW1 constant_transport",
    without_the_factor_of_heads: "CW2 gates",
    unnormalised_gates: "CW2 gates",
    key_value_heads_in_turn: "CW2 gates",
    transports_of_another_gauge: "CW3 same_operator",
    largest_entry_as_frobenius_norm: "CW3 frobenius",
    rows_that_do_not_sum_to_one: "CW3 frobenius",
}


@pytest.mark.slow
@pytest.mark.parametrize("plant", FALSEHOODS, ids=lambda plant: plant.__name__)
def test_falsehood_is_caught(plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    theorem, clause = FALSEHOODS[plant].split()
    plant(monkeypatch)
    result = run_property(theorem, PROPERTIES[theorem])
    assert not result.ok
    (failure,) = result.failures
    assert failure.startswith(f"{theorem} {clause}: ")
    assert "counterexample: Sample(" in failure
    assert "nan" in failure or "residual / bound = " in failure


@pytest.mark.slow
@pytest.mark.parametrize("theorem", PROPERTIES)
@pytest.mark.parametrize("suite_seed", range(2))
def test_bound_fifty_times_too_loose_is_caught(theorem: str, suite_seed: int) -> None:
    sound = PROPERTIES[theorem]

    def loose(sample: Any) -> Residual:
        residual = sound.residual(sample)
        return replace(residual, bound=50 * residual.bound)

    module: Any = SimpleNamespace(samples=sound.samples, residual=loose)
    result = run_property(theorem, module, suite_seed)
    assert not result.ok
    for clause in CLAUSES[theorem]:
        assert any(f"{clause}: bound too loose" in failure for failure in result.failures)


@pytest.mark.slow
def test_norms_of_the_canonical_gauge_are_tightly_bounded_by_themselves() -> None:
    """The row sums, exact up to one division, could hide a loose bound on the norms."""

    def norms(sample: edge_gauge.Sample) -> Residual:
        both = edge_gauge.residual(replace(sample, clause="frobenius"))
        n = len(sample.walk.weights)
        return replace(both, lhs=both.lhs[n:], rhs=both.rhs[n:], bound=both.bound[n:])

    module: Any = SimpleNamespace(samples=edge_gauge.samples, residual=norms)
    result = run_property("CW3", module)
    assert result.ok, result.failures
