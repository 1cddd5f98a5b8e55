"""Counts against loops that count themselves; the published table; the theorem's polynomials."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sympy import Integer

from numerics.scores import costs
from numerics.scores.costs import GPT_2, LLAMA_3_8B, LLAMA_3_70B, overhead
from theorems.riemannian_attention import woodbury
from theorems.riemannian_attention.steps import metric_counts


class Counted:
    """A number that counts its multiplications and divisions."""

    operations = 0

    def __init__(self, value: float) -> None:
        self.value = value

    def __mul__(self, other: Counted) -> Counted:
        Counted.operations += 1
        return Counted(self.value * other.value)

    def __truediv__(self, other: Counted) -> Counted:
        Counted.operations += 1
        return Counted(self.value / other.value)

    def __add__(self, other: Counted) -> Counted:
        return Counted(self.value + other.value)

    def __sub__(self, other: Counted) -> Counted:
        return Counted(self.value - other.value)


ZERO, ONE = Counted(0.0), Counted(1.0)
Rows = list[list[Counted]]


def counted(action: Callable[[], Any]) -> tuple[Any, int]:
    """What an action returns, and its multiplications and divisions."""
    before = Counted.operations
    found = action()
    return found, Counted.operations - before


def inner(left: list[Counted], right: list[Counted]) -> Counted:
    return sum((a * b for a, b in zip(left, right, strict=True)), ZERO)


def scaled(D: list[Counted], U: Rows) -> tuple[list[Counted], Rows]:
    inverse = [ONE / value for value in D]
    return inverse, [[i * value for value in row] for i, row in zip(inverse, U, strict=True)]


def columns(rows: Rows) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]


def capacitance(U: Rows, V: Rows) -> Rows:
    """The lower triangle of I + U^T V, V = D^-1 U."""
    one, other = columns(U), columns(V)
    return [
        [inner(one[c], other[e]) + (ONE if c == e else ZERO) for e in range(c + 1)]
        for c in range(len(one))
    ]


def cholesky(lower: Rows) -> Rows:
    """The factor L of a symmetric matrix given by its lower triangle."""
    factor: Rows = []
    for c, row in enumerate(lower):
        solved = forward(factor, row[:c])
        rest = row[c] - inner(solved, solved)
        factor.append([*solved, Counted(math.sqrt(rest.value))])
    return factor


def forward(lower: Rows, right: list[Counted]) -> list[Counted]:
    found: list[Counted] = []
    for row, value in zip(lower, right, strict=True):
        found.append((value - inner(row[: len(found)], found)) / row[len(found)])
    return found


def backward(lower: Rows, right: list[Counted]) -> list[Counted]:
    flipped = [row[::-1] for row in [[r[c] for r in lower[c:]] for c in range(len(lower))][::-1]]
    return forward(flipped, right[::-1])[::-1]


def application(inverse: list[Counted], U: Rows, factor: Rows, v: list[Counted]) -> list[Counted]:
    """D^-1 (v - U y) with C y = U^T D^-1 v."""
    weighted = [i * value for i, value in zip(inverse, v, strict=True)]
    y = backward(factor, forward(factor, [inner(column, weighted) for column in columns(U)]))
    return [i * (value - inner(row, y)) for i, value, row in zip(inverse, v, U, strict=True)]


def entries(values: np.ndarray) -> Any:
    return [entries(part) for part in values] if values.ndim else Counted(float(values))


@pytest.mark.parametrize(("d", "r"), [(1, 1), (2, 1), (3, 2), (7, 3), (5, 6), (12, 4)])
def test_counts_are_those_of_loops_that_count(d: int, r: int) -> None:
    rng = np.random.default_rng(d * r)
    D, U, v = np.exp(rng.normal(size=d)), rng.normal(size=(d, r)), rng.normal(size=d)
    expected = costs.solve_counts(d, r)
    (inverse, V), scaling = counted(lambda: scaled(entries(D), entries(U)))
    lower, products = counted(lambda: capacitance(entries(U), V))
    factor, factoring = counted(lambda: cholesky(lower))
    x, applied = counted(lambda: application(inverse, entries(U), factor, entries(v)))
    assert (scaling, products, factoring, applied) == (
        expected.scaling, expected.capacitance, expected.cholesky, expected.application
    )  # fmt: skip
    # The loops that are counted do solve the system.
    found, G = np.array([value.value for value in x]), np.diag(D) + U @ U.T
    backward_error = np.linalg.norm(G @ found - v) / np.linalg.norm(G) / np.linalg.norm(found)
    assert backward_error <= 64 * (d + r) * np.finfo(np.float64).eps


@pytest.mark.parametrize(("n", "m", "d", "r"), [(1, 1, 1, 1), (3, 2, 4, 2), (2, 5, 3, 3)])
def test_distances_count_the_products_and_what_comes_with_them(
    n: int, m: int, d: int, r: int
) -> None:
    rng = np.random.default_rng(n + m)
    # Whole numbers: both sides are exact, so they must be equal.
    shapes = ((n, d), (n, d, r), (n, d), (m, d))
    D, U, x, y = (entries(rng.integers(-5, 6, size=shape)) for shape in shapes)

    def one_pair() -> Counted:
        step = [a - b for a, b in zip(x[0], y[0], strict=True)]
        along = [inner(column, step) for column in columns(U[0])]
        weighted = [w * s for w, s in zip(D[0], step, strict=True)]
        return inner(weighted, step) + inner(along, along)

    def by_products() -> Rows:
        weighted = [[w * value for w, value in zip(D[i], x[i], strict=True)] for i in range(n)]
        squares = [[value * value for value in key] for key in y]
        own = [inner(weighted[i], x[i]) for i in range(n)]
        along = [[inner(column, x[i]) for column in columns(U[i])] for i in range(n)]
        found = []
        for i in range(n):
            found.append([])
            for j in range(m):
                cross, norm = inner(weighted[i], y[j]), inner(D[i], squares[j])
                total = own[i] - cross - cross + norm
                for c, column in enumerate(columns(U[i])):
                    apart = along[i][c] - inner(column, y[j])
                    total = total + apart * apart
                found[-1].append(total)
        return found

    distance, pair = counted(one_pair)
    matrix, count = counted(by_products)
    assert pair == costs.pair_count(d, r)
    assert count == costs.distances_count(n, m, d, r)
    assert matrix[0][0].value == distance.value


def test_the_theorem_and_the_code_count_alike() -> None:
    for d in range(1, 6):
        for r in range(1, 6):
            found = costs.solve_counts(d, r)
            D, R = Integer(d), Integer(r)
            assert found.preparation == metric_counts.setup(D, R)
            assert found.cholesky == metric_counts.cholesky(R)
            assert found.capacitance == D * metric_counts.triangle(R)
            assert found.explicit == R * metric_counts.triangle(D)
            sizes = {metric_counts.d: D, metric_counts.r: R}
            assert found.application == metric_counts.application.rhs.subs(sizes)
    assert {clause.name for clause in woodbury.THEOREM.clauses} >= {"counts", "order"}


def fitted(sizes: list[int], count: Callable[[int], int]) -> float:
    """Least-squares slope of log count against log size."""
    return float(np.polyfit(np.log(sizes), np.log([count(s) for s in sizes]), 1)[0])


def test_exponents_of_the_counts() -> None:
    widths, ranks = [2**k for k in range(12, 17)], [2**k for k in range(5, 9)]
    assert abs(fitted(widths, lambda d: costs.solve_counts(d, 16).preparation) - 1) < 0.01
    assert abs(fitted(widths, lambda d: costs.solve_counts(d, 16).application) - 1) < 0.01
    assert abs(fitted(widths, lambda d: costs.solve_counts(d, 16).explicit) - 2) < 0.01
    assert abs(fitted(ranks, lambda r: costs.solve_counts(2**16, r).preparation) - 2) < 0.05
    assert abs(fitted(ranks, lambda r: costs.solve_counts(r, 64 * r).preparation) - 3) < 0.05


# Shares in percent of a standard layer: the scores alone, and with a linear metric head.
TABLE = {
    (GPT_2, 1): (18, 32), (GPT_2, 4): (45, 80), (GPT_2, 8): (82, 143),
    (LLAMA_3_8B, 1): (24, 35), (LLAMA_3_8B, 4): (59, 88), (LLAMA_3_8B, 8): (106, 159),
    (LLAMA_3_70B, 1): (14, 27), (LLAMA_3_70B, 4): (34, 68), (LLAMA_3_70B, 8): (61, 122),
}  # fmt: skip


def test_the_overhead_at_published_shapes() -> None:
    found = {
        (row.layer, row.r): (round(100 * row.scores), round(100 * row.total))
        for row in costs.overhead_table()
    }
    assert found == TABLE


def test_an_ungated_mlp_or_a_full_key_width_would_change_the_table() -> None:
    for wrong in (replace(LLAMA_3_8B, matrices=2), replace(LLAMA_3_8B, d_kv=4096)):
        assert round(100 * overhead(wrong, 1).scores) != TABLE[LLAMA_3_8B, 1][0]


def test_overhead_is_not_negligible_at_published_lengths_and_small_only_for_short_ones() -> None:
    assert min(row.scores for row in costs.overhead_table()) > Fraction(13, 100)
    for layer in costs.SHAPES:
        for r in costs.RANKS:
            n = costs.longest_cheap(layer, r, Fraction(1, 100))
            assert n < layer.d / 4
            assert overhead(layer, r, n).scores <= Fraction(1, 100)
            assert overhead(layer, r, n + 1).scores > Fraction(1, 100)


def test_overhead_grows_with_length_towards_half_of_r_plus_1() -> None:
    for r in (1, 4):
        shares = [overhead(GPT_2, r, n).scores for n in (10, 1000, 10**5, 10**12)]
        assert shares == sorted(shares)
        assert Fraction(r + 1, 2) - shares[-1] < Fraction(1, 10**5)
        assert shares[-1] < Fraction(r + 1, 2)
