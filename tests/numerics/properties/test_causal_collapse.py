"""RA17's property: it holds, is tight, and sees falsehoods; causal stacks reach their rates."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import find, settings

from numerics.properties import causal_collapse, run_property

ONCE = settings(database=None, derandomize=True, deadline=None, max_examples=2000)


@pytest.mark.slow
def test_differences_after_causal_layers_are_exact_up_to_rounding() -> None:
    result = run_property("RA17", causal_collapse)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert result.clauses == ("depth", "token_k")


TRUE = {name: getattr(causal_collapse, name) for name in ("layers", "differences", "exact_weights")}
FALSEHOODS: dict[str, tuple[str, Callable[..., Any]]] = {
    "no mask": ("causal", lambda scores: scores),
    "rate 1/k whatever the scores": ("own_factor", lambda weights, k: arb(1) / k),
    "weight on the first token": ("own_factor", lambda weights, k: weights[k - 1][0]),
    "weight of the token before": ("own_factor", lambda weights, k: weights[k - 2][k - 2]),
    "first layer only": ("layers", lambda x, weights: TRUE["layers"](x, weights[:1])),
    "a layer too many": ("layers", lambda x, weights: TRUE["layers"](x, [*weights, weights[-1]])),
    "from the last token": ("differences", lambda x: TRUE["differences"](x[::-1])[::-1]),
    "scores doubled": ("exact_weights", lambda scores: TRUE["exact_weights"](
        [[None if s is None else 2 * s for s in row] for row in scores])),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("falsehood", FALSEHOODS)
def test_a_false_factor_mask_or_layer_is_rejected(
    falsehood: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(causal_collapse, *FALSEHOODS[falsehood])
    result = run_property("RA17", causal_collapse, max_examples=60)
    assert not result.ok
    assert "residual / bound" in result.failures[0]


BOUNDS: dict[str, Callable[[list[list[arb]]], arb]] = {
    "largest first weight": lambda A: 1 - causal_collapse.largest([row[0] for row in A[1:]]),
    "squared": lambda A: TRUE_CONTRACTION(A) ** 2,
    "least own weight": lambda A: -causal_collapse.largest([-A[i][i] for i in range(1, len(A))]),
}
TRUE_CONTRACTION = causal_collapse.contraction


@pytest.mark.slow
@pytest.mark.parametrize("falsehood", BOUNDS)
def test_a_faster_contraction_is_refuted(falsehood: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causal_collapse, "contraction", BOUNDS[falsehood])
    result = run_property("RA17", causal_collapse, max_examples=60)
    assert not result.ok
    assert "exceeds (1 - min A_i1) r" in result.failures[0]


def test_two_tokens_contract_by_exactly_the_weight_on_the_second() -> None:
    weights = causal_collapse.exact_weights([[arb(3), None], [arb(0), arb(0)]])
    assert causal_collapse.contraction(weights) == causal_collapse.own_factor(weights, 2) == 0.5


@pytest.mark.parametrize("k", [2, 3, 5])
def test_binomials_are_divided_by_k_in_a_uniform_causal_layer(k: int) -> None:
    n = 9
    y = [Fraction(comb(i - 1, k - 1)) for i in range(1, n + 1)]
    assert [sum(y[:i], start=Fraction(0)) / i for i in range(1, n + 1)] == [v / k for v in y]


def test_ratios_of_causal_stacks_tend_to_the_rates() -> None:
    found = {rate.name: rate for rate in causal_collapse.rates()}
    assert [rate.explain() for rate in found.values() if not rate.ok] == []
    assert sorted(round(rate.target, 3) for rate in found.values()) == [
        0.333, 0.5, 0.5, 0.5, 0.668, 4.0,
    ]  # fmt: skip


@pytest.mark.parametrize(("copies", "target"), [(2, 2), (3, 3), (3, 2), (2, 3)])
def test_the_rate_is_one_half_only_where_the_second_token_is_not_the_first(
    copies: int, target: int
) -> None:
    score = causal_collapse.dot_product([arb(1), arb(0)])
    contraction = arb(copies) / (copies + 1)
    rate = causal_collapse._rate(
        "r'/r", score, copies, 5, arb(1) / target, contraction, (24, 28, 32, 36)
    )
    assert rate.ok == (copies == target), rate.explain()


def test_no_rate_is_that_of_its_scores_without_the_slope(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causal_collapse, "with_slope", lambda score, slope: score)
    assert [rate.name for rate in causal_collapse.rates() if not rate.ok] == [
        "ALiBi of slope 0.7, x_2 != x_1"
    ]


CORNERS: dict[str, Callable[[Any], bool]] = {
    "one token": lambda sample: len(sample.x) == 1,
    "one feature": lambda sample: sample.x.shape[1] == 1,
    "copies of the first token": lambda sample: sample.k > 2,
    "all tokens equal": lambda sample: len(sample.x) > 1 and (sample.x == sample.x[0]).all(),
    "huge scores": lambda sample: (np.abs(sample.scores[np.isfinite(sample.scores)]) > 9e3).any(),
    "a visible token of weight 0": lambda sample: (
        np.isneginf(sample.scores) & np.tri(len(sample.x), dtype=bool)
    ).any(),
    "four layers": lambda sample: len(sample.scores) == 4,
    "single precision": lambda sample: sample.x.dtype == np.float32,
    "subnormal tokens": lambda sample: 0 < np.abs(sample.x).max() < np.finfo(sample.x.dtype).tiny,
}


@pytest.mark.slow
@pytest.mark.parametrize("corner", CORNERS)
def test_the_samples_reach(corner: str) -> None:
    found = find(causal_collapse.samples(), CORNERS[corner], settings=ONCE)
    assert causal_collapse.residual(found).ratio() <= 1
