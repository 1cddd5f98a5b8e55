"""RA16's property holds, is tight and can fail; both bounds and their near misses, exactly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from tests.numerics.properties.plant import Plant

SEEDS = (1,)
FALSEHOODS = {
    "columns for rows": Plant("layer", "by_rows", lambda sound, A, *rest: (
        sound(A.transpose(0, 2, 1), *rest))),
    "transposed W": Plant("layer", "by_rows", lambda sound, A, W, *rest: (
        sound(A, W.transpose(0, 2, 1), *rest))),
    "token left out": Plant("layer", "by_rows", lambda sound, A, W, keep, *rest: (
        sound(A, W, 0 * keep if isinstance(keep, np.ndarray) else keep, *rest))),
    "factor without W": Plant("attained", "factor", lambda sound, s: (
        sound(replace(s, W=-np.ones_like(s.W))))),
    "factor of residual layers": Plant("attained", "factor", lambda sound, s: (
        sound(replace(s, keep=np.ones_like(s.keep), add=np.ones_like(s.add))))),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    assert {s.x.dtype.name for s in seen} == {"float64", "float32"}
    assert {s.x.shape[0] for s in seen} >= {1, 2, 6}
    assert any((s.keep == 1).all() and (s.add == 1).all() for s in seen)
    assert any((s.keep + s.add == 1).all() for s in seen)
    assert any(not s.W.any() for s in seen)
    assert any((s.A.sum(axis=-1) == 0).any() for s in seen), "rows that see nothing"
    assert any(len(s.A) == 4 for s in seen)


Rows = list[list[Fraction]]


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
