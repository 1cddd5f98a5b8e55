"""RA17's property: it holds, is tight, and sees falsehoods; causal stacks reach their rates."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from flint import arb

from numerics.properties import causal_collapse
from tests.numerics.properties.plant import Plant

EXAMPLES = 60
FASTER = r"exceeds \(1 - min A_i1\) r"
FALSEHOODS = {
    "no mask": Plant("token_k", "causal", lambda _, scores: scores),
    "rate 1/k whatever the scores": Plant("depth", "own_factor", lambda _, weights, k: arb(1) / k),
    "weight on the first token": Plant("depth", "own_factor", lambda _, A, k: A[k - 1][0]),
    "weight of the token before": Plant("depth", "own_factor", lambda _, A, k: A[k - 2][k - 2]),
    "first layer only": Plant("depth", "layers", lambda sound, x, weights: sound(x, weights[:1])),
    "a layer too many": Plant("token_k", "layers", lambda sound, x, A: sound(x, [*A, A[-1]])),
    "from the last token": Plant("token_k", "differences", lambda sound, x: sound(x[::-1])[::-1]),
    "scores doubled": Plant("token_k", "exact_weights", lambda sound, scores: sound(
        [[None if s is None else 2 * s for s in row] for row in scores])),
    "largest first weight": Plant("token_k", "contraction", lambda _, A: (
        1 - causal_collapse.largest([row[0] for row in A[1:]])), says=FASTER),
    "squared": Plant("token_k", "contraction", lambda sound, A: sound(A) ** 2, says=FASTER),
    "least own weight": Plant("token_k", "contraction", lambda _, A: -causal_collapse.largest(
        [-A[i][i] for i in range(1, len(A))]), says=FASTER),
}  # fmt: skip


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
