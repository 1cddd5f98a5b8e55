"""RA12's property holds, is tight and can fail; contraction, products and limits, exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import log, prod
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

from numerics.properties import collapse_threshold as ra12
from tests.numerics.properties.plant import Plant

SEEDS = (1,)
LOOSE = 100
FALSEHOODS = {
    "tanh for any clusters": Plant("two_clusters", "factor", lambda sound, E, s: (
        sound(E, s) if s.clause == "causal" else (E - 1) / (E + 1))),
    "second token looks back": Plant("causal", "factor", lambda sound, E, s: (
        1 / (E + 1) if s.clause == "causal" else sound(E, s))),
    "no mask": Plant("causal", "mask", lambda _, sample: None),
    "one index off": Plant("products", "closed_form", lambda sound, power, L: sound(power, L + 1)),
    "half the spread": Plant(" ".join(ra12.CLAUSES), "log", lambda _, E: log(E) / 2),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    clusters = [s for s in seen if s.clause == "two_clusters"]
    assert {s.x.dtype.name for s in seen} == {"float64", "float32"}
    assert {s.power for s in seen} == {0, 1, 2, 3}
    assert any(s.members.sum() != len(s.members) / 2 for s in clusters)
    assert any(1 in s.spreads for s in seen)
    assert any(Fraction(1, 2) in s.spreads for s in seen)
    assert any(max(s.spreads) >= 2**40 for s in seen)
    assert any(not s.x.any() for s in seen)
    assert any((s.x[0] == -s.x[1]).all() for s in seen)


def sample(
    clause: str, spreads: list[str], x: list[list[float]], members: list[bool]
) -> ra12.Sample:
    values = tuple(Fraction(E) for E in spreads)
    return ra12.Sample(clause, values, np.array(x), np.array(members))


CORNERS = {
    "no spread": sample("two_clusters", ["1"], [[1.0], [2.0], [2.0]], [True, False, False]),
    "equal tokens": sample("two_clusters", ["2"] * 3, [[0.1], [0.1]], [True, False]),
    "negative spread": sample("two_clusters", ["1/2"], [[1.0], [-1.0]], [False, True]),
    "isolated": sample("causal", [str(2**90)], [[1.0], [0.3], [7.0]], [True, False, False]),
    "subnormal": sample("causal", ["3"], [[5e-324], [-5e-324]], [True, False]),
}


@pytest.mark.parametrize("L", [2, 3, 10, 40])
def test_closed_forms_are_the_products_of_the_factors(L: int) -> None:
    for power in (1, 2, 3):
        factors = [Fraction(l**power - 1, l**power + 1) for l in range(2, L + 1)]
        assert ra12.closed_form(power, L) == prod(factors)
    telescoped = Fraction(L + 1, 2 * L)
    assert telescoped**2 <= ra12.closed_form(2, L) <= telescoped
    assert ra12.closed_form(3, L) == Fraction(2, 3) + Fraction(2, 3 * L * (L + 1))


@pytest.mark.parametrize("L", [10, 500])
def test_spreads_of_2_log_l_leave_pi_over_sinh_pi(L: int) -> None:
    kept = ra12.closed_form(2, L)
    with ctx.workprec(200):
        limit = arb.pi() / arb.pi().sinh()
        product = arb(kept.numerator) / arb(kept.denominator)
        assert product * arb(L) ** 2 / arb(L + 1) ** 2 < limit
        assert limit < product
        assert abs(limit - arb("0.27203")) < arb("1e-6")


def softmax_layer(rng: np.random.Generator, n: int, E: int) -> list[list[Fraction]]:
    """Rows of weights that differ at most by the factor E."""
    weights = [[Fraction(int(w), 12) for w in rng.integers(12, 12 * E + 1, n)] for _ in range(n)]
    return [[w / sum(row) for w in row] for row in weights]


def moved(A: list[list[Fraction]], x: list[Fraction]) -> list[Fraction]:
    return [sum((a * v for a, v in zip(row, x, strict=True)), start=Fraction(0)) for row in A]


def osc(x: list[Fraction]) -> Fraction:
    return max(x) - min(x)


@pytest.mark.parametrize("E", [1, 2, 5])
def test_a_layer_contracts_by_one_minus_one_over_E(E: int) -> None:
    rng = np.random.default_rng(E)
    for n in (2, 3, 5):
        for _ in range(40):
            A, x = softmax_layer(rng, n, E), [Fraction(int(v)) for v in rng.integers(-9, 10, n)]
            assert min(min(row) for row in A) >= Fraction(1, n * E)
            assert osc(moved(A, x)) <= (1 - Fraction(1, E)) * osc(x)


@pytest.mark.parametrize("E", [1, 2, 5])
def test_under_a_causal_mask_the_others_approach_the_first_token(E: int) -> None:
    rng = np.random.default_rng(E)
    for _ in range(40):
        n = int(rng.integers(2, 6))
        full = softmax_layer(rng, n, E)
        seen = [[w * (j <= i) for j, w in enumerate(row)] for i, row in enumerate(full)]
        A = [[w / sum(row) for w in row] for row in seen]
        x = [Fraction(int(v)) for v in rng.integers(-9, 10, n)]
        far = max(abs(v - x[0]) for v in x)
        new = moved(A, x)
        assert new[0] == x[0]
        assert max(abs(v - x[0]) for v in new) <= (1 - Fraction(1, n * E)) * far


def test_opposite_tokens_stay_opposite_while_they_approach_zero() -> None:
    x = [Fraction(1), Fraction(-1)]
    for l in range(2, 30):
        A = [[Fraction(l, l + 1), Fraction(1, l + 1)], [Fraction(1, l + 1), Fraction(l, l + 1)]]
        x = moved(A, x)
        mean = sum(x, start=Fraction(0)) / 2
        assert sum((v - mean) ** 2 for v in x) == sum(v**2 for v in x)
    assert osc(x) == 2 * Fraction(2, 29 * 30)


def test_the_second_token_alone_keeps_distinct_tokens_apart() -> None:
    distances = {
        abs(a - b) for a, b in combinations(moved([[Fraction(1), Fraction(0)],
                                                   [Fraction(1, 4), Fraction(3, 4)]],
                                                  [Fraction(0), Fraction(1)]), 2)
    }  # fmt: skip
    assert distances == {Fraction(3, 4)}
