"""Exact values: the evaluator against the book, ranks, determinants, nested reciprocals."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from sympy import Expr, Sum

from theorems.assumptions.constructions import invertible, reflection, unit_vector
from theorems.checker.exact import (
    Draw,
    Generators,
    LargeRationals,
    Nothing,
    Rejected,
    SmallIntegers,
    determinant,
    evaluate,
    rank,
    times,
)
from theorems.statement import Definition, array, symbols_of

n, m = symbols_of("n m")
i, j, k = symbols_of("i j k")
x, u, w, q, P = array("x", m), array("u", n), array("w", n), array("q", n), array("P", n, m)
PRIME = 2**31 - 1


def test_random_sums_have_the_values_of_the_book(
    random_sum: Callable[[Random], Expr], value_of: Callable[[Expr, int], np.ndarray],
    arrays_of: Callable[[int], dict[Any, np.ndarray]],
) -> None:  # fmt: skip
    rng, sizes = Random(1), {"n": 2, "m": 3}
    for _ in range(60):
        draw = Draw(Nothing(rng), [], sizes)
        for base, entries in arrays_of(0).items():
            for cell in np.ndindex(entries.shape):
                draw.put(base, tuple(axis + 1 for axis in cell), fmpq(int(entries[cell])))
        expr = random_sum(rng)
        expected = np.broadcast_to(value_of(expr, 0), (2, 3, 2))
        for place in product(range(2), range(3), range(2)):
            indices = {s: at + 1 for s, at in zip((i, j, k), place, strict=True)}
            exact = fmpq(evaluate(expr, draw, indices))
            modular = int(exact.p) * pow(int(exact.q), -1, PRIME) % PRIME
            assert modular == expected[place], f"{expr} at {place}: {exact}"


def test_an_index_summed_twice_means_its_innermost_range() -> None:
    """sum_{i<=m} sum_{i<=n} u_i = m sum_{i<=n} u_i."""
    draw = Draw(SmallIntegers(Random(0)), [], {"n": 2, "m": 3})
    nested = evaluate(Sum(Sum(u[i], (i, 1, n)), (i, 1, m)), draw, {})
    assert nested == 3 * (draw.get("u", (1,)) + draw.get("u", (2,)))


HILBERT = [[fmpq(1, r + c + 1) for c in range(4)] for r in range(4)]
VANDERMONDE = [[node**power for power in range(4)] for node in (1, 2, 3, 5)]
# Columns (1, sqrt 2), (sqrt 2, 2) are dependent: multiplication by sqrt 2 on the basis 1, sqrt 2.
ROOT2 = [[0, 2], [1, 0]]


def over_root2(rows: list[list[tuple[int, int]]]) -> list[list[int]]:
    """A matrix over Q(sqrt 2), entries p + q sqrt 2, as blocks over Q: the radicals cleared."""
    cleared = []
    for row in rows:
        for r in range(2):
            cleared.append([p * (r == c) + q_ * ROOT2[r][c] for p, q_ in row for c in range(2)])
    return cleared


@pytest.mark.parametrize(("rows", "expected"), [
    (HILBERT, 4), (VANDERMONDE, 4), ([[1, 2], [2, 4]], 1), ([[0, 0], [0, 0]], 0),
    ([[1, 2, 3]], 1), ([[fmpq(1, 3), 1], [1, 3]], 1), ([[10**20, 1], [1, 0]], 2),
    (over_root2([[(1, 0), (0, 1)], [(0, 1), (2, 0)]]), 2),  # rank 1 over Q(sqrt 2)
    (over_root2([[(1, 0), (0, 1)], [(0, 1), (1, 0)]]), 4),  # rank 2 over Q(sqrt 2)
])  # fmt: skip
def test_ranks_are_the_known_ones(rows: list[list[Any]], expected: int) -> None:
    assert rank(rows) == expected


@pytest.mark.parametrize(("rows", "expected"), [
    (HILBERT, fmpq(1, 6048000)), (VANDERMONDE, 48), ([[1, 2], [2, 4]], 0), ([[0, 1], [1, 0]], -1),
    (ROOT2, -2), (over_root2([[(1, 0), (0, 1)], [(0, 1), (1, 0)]]), 1),  # the norm of 1 - 2
])  # fmt: skip
def test_determinants_are_the_known_ones(rows: list[list[Any]], expected: Any) -> None:
    assert determinant(rows) == expected


def test_nested_reciprocals_are_cleared() -> None:
    """1 / (a + 1/b) = b / (a b + 1), and (a/b) / (c/d) = a d / (b c)."""
    source = Generators(20)
    a, b, c, d = (source.fresh(None) for _ in range(4))
    invert = source.inverse
    assert source.is_zero(invert(a + invert(b)) - b * invert(a * b + 1))
    assert source.is_zero(a * invert(b) * invert(c * invert(d)) - a * d * invert(b * c))
    assert not source.is_zero(invert(a + invert(b)) - b * invert(a * b - 1))
    assert not source.is_zero(invert(a) - invert(b))


def test_the_reciprocal_of_a_hidden_zero_is_rejected() -> None:
    source = Generators(8)
    a = source.fresh(None)
    with pytest.raises(Rejected, match="reciprocal of zero"):
        source.inverse(a * source.inverse(a) - 1)
    with pytest.raises(Rejected, match="reciprocal of zero"):
        SmallIntegers(Random(0)).inverse(fmpq(0))


@pytest.mark.parametrize("source", [LargeRationals(Random(3)), Generators(60)])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_constructions_have_their_property(source: Any, size: int) -> None:
    draw, zero = Draw(source, []), source.is_zero
    matrix, inverted = invertible(draw, size)
    rotation, vector = reflection(draw, size), unit_vector(draw, size)
    assert zero(sum(value * value for value in vector) - 1)
    for left, right in ((matrix, inverted), (inverted, matrix), (rotation, rotation)):
        for r, row in enumerate(times(left, right)):
            assert all(zero(value - (r == column)) for column, value in enumerate(row))


def test_a_quotient_times_its_divisor_is_the_dividend() -> None:
    for source in (LargeRationals(Random(0)), Generators(9), SmallIntegers(Random(1))):
        draw = Draw(source, [Definition(q[i], u[i], over=w[i])], {"n": 1})
        draw.put(w, (1,), source.fresh(">0"))
        value = evaluate(w[i] * q[i] - u[i], draw, {i: 1})
        assert source.is_zero(value), f"{type(source).__name__}: {value}"


def test_a_defined_entry_cannot_be_chosen() -> None:
    draw = Draw(SmallIntegers(Random(0)), [Definition(q[i], u[i])])
    with pytest.raises(Rejected, match="q is defined, used or filled: only one construction"):
        draw.put(q, (1,), fmpq(1))


def test_entries_have_their_signs() -> None:
    source = SmallIntegers(Random(0))
    drawn = {sign: {source.fresh(sign) for _ in range(300)} for sign in (None, "!=0", ">=0", ">0")}
    assert min(drawn[">0"]) > 0
    assert min(drawn[">=0"]) == 0
    assert 0 not in drawn["!=0"]
    assert {-1, 0, 1} <= drawn[None]
    assert min(drawn["!=0"]) < 0
