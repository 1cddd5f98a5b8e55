"""RA16's property holds, is tight and can fail; both bounds and their near misses, exactly."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.properties import Residual, run_property
from numerics.properties import residual_streams as ra16

PROPERTY: Any = ra16
Rows = list[list[Fraction]]


@pytest.mark.slow
def test_differences_of_a_residual_layer() -> None:
    seen: list[ra16.Sample] = []

    def watched(drawn: ra16.Sample) -> Residual:
        seen.append(drawn)
        return ra16.residual(drawn)

    module: Any = SimpleNamespace(samples=ra16.samples, residual=watched)
    result = run_property("RA16", module, suite_seed=1)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.clauses == ("attained", "layer")
    assert 0 < result.max_ratio <= 1
    assert result.planted_rejected
    assert {s.x.dtype.name for s in seen} == {"float64", "float32"}
    assert {s.x.shape[0] for s in seen} >= {1, 2, 6}
    assert any((s.keep == 1).all() and (s.add == 1).all() for s in seen)
    assert any((s.keep + s.add == 1).all() for s in seen)
    assert any(not s.W.any() for s in seen)
    assert any((s.A.sum(axis=-1) == 0).any() for s in seen), "rows that see nothing"
    assert any(len(s.A) == 4 for s in seen)


def columns_for_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra16.by_rows
    monkeypatch.setattr(ra16, "by_rows", lambda A, *rest: sound(A.transpose(0, 2, 1), *rest))


def transposed_W(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra16.by_rows
    monkeypatch.setattr(ra16, "by_rows", lambda A, W, *rest: sound(A, W.transpose(0, 2, 1), *rest))


def token_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra16.by_rows

    def wrong(A: Any, W: Any, keep: Any, add: Any, x: Any) -> Any:
        return sound(A, W, 0 * keep if isinstance(keep, np.ndarray) else keep, add, x)

    monkeypatch.setattr(ra16, "by_rows", wrong)


def factor_without_W(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra16.factor

    def wrong(sample: ra16.Sample) -> Fraction:
        return sound(replace(sample, W=-np.ones_like(sample.W)))

    monkeypatch.setattr(ra16, "factor", wrong)


def factor_of_residual_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra16.factor
    monkeypatch.setattr(
        ra16,
        "factor",
        lambda s: sound(replace(s, keep=np.ones_like(s.keep), add=np.ones_like(s.add))),
    )


FALSEHOODS = {
    columns_for_rows: "layer",
    transposed_W: "layer",
    token_left_out: "layer",
    factor_without_W: "attained",
    factor_of_residual_layers: "attained",
}


@pytest.mark.slow
@pytest.mark.parametrize("plant", FALSEHOODS, ids=lambda plant: plant.__name__)
def test_a_planted_falsehood_is_rejected(plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    result = run_property("RA16", PROPERTY)
    assert not result.ok
    assert result.failures[0].startswith(f"RA16 {FALSEHOODS[plant]}: residual")


def variation(A: Rows) -> Fraction:
    """The largest total variation of two rows."""
    rows = product(A, repeat=2)
    return max(sum((abs(u - v) for u, v in zip(*pair, strict=True)), Fraction(0)) / 2
               for pair in rows)  # fmt: skip


def moved(A: Rows, x: list[Fraction]) -> list[Fraction]:
    return [sum((a * v for a, v in zip(row, x, strict=True)), start=Fraction(0)) for row in A]


def layer(A: Rows, x: list[Fraction], keep: Fraction, w: Fraction) -> list[Fraction]:
    return [keep * v + w * u for v, u in zip(x, moved(A, x), strict=True)]


def osc(x: list[Fraction]) -> Fraction:
    return max(x) - min(x)


def quarters(*rows: tuple[int, int]) -> Rows:
    return [[Fraction(entry, 4) for entry in row] for row in rows]


ONE = Fraction(1)
TOKENS = [Fraction(0), ONE]


def test_both_bounds_hold_exactly() -> None:
    rng = np.random.default_rng(16)
    for _ in range(150):
        n = int(rng.integers(1, 6))
        whole = rng.integers(0, 9, size=(n, n)) + np.eye(n, dtype=int)
        A = [[Fraction(int(w), int(row.sum())) for w in row] for row in whole]
        x = [Fraction(int(v)) for v in rng.integers(-9, 10, n)]
        w, a = Fraction(int(rng.integers(-8, 9)), 4), Fraction(int(rng.integers(0, 9)), 8)
        tau = variation(A)
        assert osc(layer(A, x, ONE, w)) >= (1 - abs(w) * tau) * osc(x)
        mixed = osc(layer(A, x, a, 1 - a))
        assert (a - (1 - a) * tau) * osc(x) <= mixed <= (a + (1 - a) * tau) * osc(x)


def test_two_tokens_attain_the_bounds() -> None:
    near, far = quarters((3, 1), (1, 3)), quarters((1, 3), (3, 1))
    half = ONE / 2
    assert osc(layer(near, TOKENS, ONE, -ONE)) == 1 - variation(near) == half
    assert osc(layer(far, TOKENS, half, half)) == half - half * variation(far) == ONE / 4
    assert osc(layer(near, TOKENS, half, half)) == half + half * variation(near) == 3 * ONE / 4


def test_the_norm_of_W_and_the_variation_are_needed() -> None:
    near = quarters((3, 1), (1, 3))
    assert osc(layer(near, TOKENS, ONE, -2 * ONE)) == 0 < 1 - variation(near)
    assert osc(layer(quarters((4, 0), (0, 4)), TOKENS, ONE, -ONE)) == 0


def test_summable_updates_keep_tokens_apart() -> None:
    x = TOKENS
    for l in range(2, 60):
        x = layer(quarters((4, 0), (0, 4)), x, ONE, -Fraction(1, l**2))
    assert osc(x) == Fraction(60, 2 * 59)


def test_the_relative_residual_may_fall_while_differences_stay() -> None:
    x = [Fraction(0), Fraction(2)]
    new = layer(quarters((2, 2), (2, 2)), x, ONE, ONE)

    def relative(tokens: list[Fraction]) -> Fraction:
        mean = sum(tokens, start=Fraction(0)) / len(tokens)
        spread = sum(((v - mean) ** 2 for v in tokens), start=Fraction(0))
        return spread / sum((v**2 for v in tokens), start=Fraction(0))

    assert (new, osc(new)) == ([ONE, 3 * ONE], osc(x))
    assert (relative(x), relative(new)) == (ONE / 2, ONE / 5)
