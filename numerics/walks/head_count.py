"""How many softmax heads realise an operator, decided exactly over the rationals (CW4).

W has blocks W_ij (d_out, d_in), i < n, j < m, token-major; r is the rank of its realignment and
C the column space, read as n x m matrices. r heads suffice iff C has a positive element; by
Gordan's theorem it has none iff some y >= 0, not 0, is orthogonal to C. Linear programmes in
floating point propose one or the other, the exact simplex method decides what they leave, and
only exact arithmetic accepts a certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from operator import mul
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog
from sympy import Matrix, Rational, ones
from sympy.solvers.simplex import linprog as exact_linprog

from numerics.walks.realignment import (
    Rows,
    SchmidtValues,
    exact_realignment,
    operator_schmidt_rank,
    operator_schmidt_values,
    realignment,
    rows_of,
)

__all__ = [
    "Head",
    "HeadCount",
    "SchmidtValues",
    "least_heads",
    "operator_schmidt_rank",
    "operator_schmidt_values",
    "realignment",
    "softmax_heads",
]


@dataclass(frozen=True)
class HeadCount:
    """The least number of heads and its certificate: exactly one of the two matrices is there.

    positive (n, m) > 0 lies in the column space C of R(W), so heads = rank >= 1; or annihilator
    (n, m) >= 0, not 0, is orthogonal to C: C has no positive element and heads = rank + 1.
    Raises ValueError where that does not fit. Source: CW4; Gordan 1873.
    """

    heads: int
    rank: int
    positive: Rows | None
    annihilator: Rows | None

    def __post_init__(self) -> None:
        if (self.positive is None) == (self.annihilator is None):
            raise ValueError("positive or annihilator must be given, and not both")
        name, extra = ("positive", 0) if self.annihilator is None else ("annihilator", 1)
        if self.rank < 1 - extra:
            raise ValueError(f"rank must be at least {1 - extra}, got {self.rank}")
        if self.heads != self.rank + extra:
            raise ValueError(f"heads must be {self.rank + extra}, got {self.heads}")
        _matrix(name, rows := self.positive or self.annihilator or ())
        least = min(chain.from_iterable(rows))
        if least < 0 or (not extra and least == 0):
            raise ValueError(f"the certificate must not have negative entries, got {least}")
        if not any(map(any, rows)):
            raise ValueError(f"{name} must not be 0, got only zeros")


def _matrix(name: str, rows: Rows) -> None:
    if len(widths := {len(row) for row in rows}) != 1 or widths == {0}:
        lengths = sorted(widths)
        raise ValueError(f"{name} must have rows of one positive length, got lengths {lengths}")


@dataclass(frozen=True)
class Head:
    """attention (n, m) positive with row sums 1, transport (d_out, d_in), both exact.

    Raises ValueError for an attention that no softmax gives, and for what is no matrix.
    """

    attention: Rows
    transport: Rows

    def __post_init__(self) -> None:
        _matrix("attention", self.attention)
        for row in self.attention:
            if min(row) <= 0 or sum(row) != 1:
                raise ValueError(f"attention must have positive rows of sum 1, got {row}")
        _matrix("transport", self.transport)


class _Factors:
    """R(W) = M X with M (n m, r) a basis of its column space and X (r, d_out d_in)."""

    def __init__(self, W: Any, n: int, m: int) -> None:
        blocks, self.d_out, self.d_in = exact_realignment(W, n, m)
        self.n, self.m = n, m
        for f in range(self.d_out * self.d_in):
            sums = {sum((blocks[i * m + j][f] for j in range(m)), fmpq(0)) for i in range(n)}
            if len(sums) > 1:
                low, high = min(sums), max(sums)
                raise ValueError(
                    "W must have block row sums that do not depend on the row, got "
                    f"{low} and {high} in entry {divmod(f, self.d_in)}"
                )
        reduced, self.rank = fmpq_mat(blocks).rref()
        table = reduced.tolist()
        pivots = [next(f for f, x in enumerate(table[k]) if x) for k in range(self.rank)]
        self.basis = [[row[f] for row in blocks] for f in pivots]
        self.coordinates = table[: self.rank]

    def element(self, coefficients: Sequence[fmpq]) -> list[fmpq]:
        """The element of C with these coordinates, flattened."""
        pairs = list(zip(coefficients, self.basis, strict=True))
        return [sum((c * b[k] for c, b in pairs), fmpq(0)) for k in range(self.n * self.m)]

    def scaled(self) -> tuple[np.ndarray, list[fmpq], list[fmpq]]:
        """The basis (n m, r) in floats, rows and columns divided by their largest entries."""
        columns = [max(map(abs, b)) for b in self.basis]
        table = [[b[k] / c for b, c in zip(self.basis, columns, strict=True)]
                 for k in range(self.n * self.m)]  # fmt: skip
        rows = [max(map(abs, row)) for row in table]
        floats = [[_float(x / top) for x in row] for row, top in zip(table, rows, strict=True)]
        return np.array(floats), rows, columns


def _float(x: fmpq) -> float:
    return float(Fraction(int(x.p), int(x.q)))


def _near(x: float, limit: int) -> fmpq:
    close = Fraction(x).limit_denominator(limit) if limit else Fraction(x)
    return fmpq(close.numerator, close.denominator)


def _positive(factors: _Factors) -> list[fmpq] | None:
    """Coordinates of a positive element of C, checked exactly, or None where none was proposed."""
    table, _, columns = factors.scaled()
    width = table.shape[1]
    # Largest t with every entry of the scaled element at least t and coordinates in [-1, 1].
    found = linprog(
        np.append(np.zeros(width), -1.0),
        A_ub=np.hstack([-table, np.ones((len(table), 1))]), b_ub=np.zeros(len(table)),
        bounds=[(-1, 1)] * width + [(None, 1)], method="highs-ds",
    )  # fmt: skip
    if found.x is None:
        return None
    for limit in (100, 10**6, 0):
        proposed = [_near(x, limit) / c for x, c in zip(found.x[:-1], columns, strict=True)]
        if min(factors.element(proposed)) > 0:
            return proposed
    return None


def _annihilator(factors: _Factors) -> list[fmpq] | None:
    """y >= 0, not 0, orthogonal to C, checked exactly, or None where none was proposed."""
    table, rows, _ = factors.scaled()
    found = linprog(
        np.zeros(len(table)),
        A_eq=np.vstack([table.T, np.ones((1, len(table)))]),
        b_eq=np.append(np.zeros(table.shape[1]), 1.0), bounds=(0, None), method="highs-ds",
    )  # fmt: skip
    if found.x is None:
        return None
    for least in (1e-9, 1e-12, 0.0):
        kept = [k for k, y in enumerate(found.x) if y > least]
        values = _null_vector(
            [[b[k] for k in kept] for b in factors.basis],
            [_near(found.x[k], 0) / rows[k] for k in kept],
        )
        if any(values) and min(values) >= 0:
            filled = dict(zip(kept, values, strict=True))
            return [filled.get(k, fmpq(0)) for k in range(factors.n * factors.m)]
    return None


def _null_vector(matrix: list[list[fmpq]], near: list[fmpq]) -> list[fmpq]:
    """The exact null vector that has the entries of `near` in the columns without pivot."""
    reduced, rank = fmpq_mat(matrix).rref()
    table = reduced.tolist()[:rank]
    pivots = [next(f for f, x in enumerate(row) if x) for row in table]
    free = [f for f in range(len(near)) if f not in pivots]
    values = [near[f] if f in free else fmpq(0) for f in range(len(near))]
    for row, pivot in zip(table, pivots, strict=True):
        values[pivot] = -sum((row[f] * near[f] for f in free), fmpq(0))
    return values


def _decided(factors: _Factors) -> tuple[list[fmpq] | None, list[fmpq] | None]:
    """Coordinates of a positive element of C, or an annihilator of C."""
    cells = range(factors.n * factors.m)
    for k in cells:
        if not any(b[k] for b in factors.basis):
            return None, [fmpq(int(k == other)) for other in cells]
    if (coefficients := _positive(factors)) is not None:
        return coefficients, None
    if (y := _annihilator(factors)) is not None:
        return None, y
    return _simplex(factors)


def _rational(value: Any) -> fmpq:
    exact = Rational(value)
    return fmpq(int(exact.p), int(exact.q))


def _simplex(factors: _Factors) -> tuple[list[fmpq] | None, list[fmpq] | None]:
    """The same by the exact simplex method: slow, but no cone is too thin for it."""
    table = Matrix([[Rational(int(x.p), int(x.q)) for x in b] for b in factors.basis])
    r, cells = table.shape
    # Coordinates c = p - q: with bounds below 0, SymPy 1.14 returns points that are not optimal.
    element = (-table.T).row_join(table.T).row_join(ones(cells, 1))
    rows = Matrix.vstack(element, ones(1, 2 * r + 1))
    value, point = exact_linprog([0] * (2 * r) + [-1], rows, [0] * cells + [1])
    if value < 0:
        return [_rational(p - q) for p, q in zip(point[:r], point[r:-1], strict=True)], None
    rows = Matrix.vstack(table, -table, ones(1, cells))
    _, point = exact_linprog([-1] * cells, rows, [0] * (2 * r) + [1])
    return None, [_rational(y) for y in point]


def _certified(factors: _Factors) -> tuple[list[fmpq] | None, list[fmpq] | None]:
    """`_decided`, checked once more; ArithmeticError where neither certificate holds."""
    coefficients, y = _decided(factors)
    if coefficients is not None:
        sound = min(factors.element(coefficients)) > 0
    else:
        assert y is not None
        products = [sum(map(mul, y, b), fmpq(0)) for b in factors.basis]
        sound = min(y) >= 0 and any(y) and not any(products)
    if not sound:
        raise ArithmeticError(f"no certificate: coordinates {coefficients}, annihilator {y}")
    return coefficients, y


def least_heads(W: Any, n: int, m: int) -> HeadCount:
    """The least number of full-support softmax heads whose sum is W, with its certificate.

    W (n d_out, m d_in) of int, Fraction, fmpq entries; head widths are unrestricted. Raises
    ValueError where the block row sums of W depend on the row (no number of heads will do),
    TypeError for other entries. Source: CW4.
    """
    factors = _Factors(W, n, m)
    coefficients, y = _certified(factors)
    if coefficients is not None:
        element = rows_of(factors.element(coefficients), m)
        return HeadCount(factors.rank, factors.rank, element, None)
    return HeadCount(factors.rank + 1, factors.rank, None, rows_of(y or [], m))


def softmax_heads(W: Any, n: int, m: int) -> tuple[Head, ...]:
    """As many exact heads (A^h, T^h) as `least_heads` counts, W = sum_h A^h (x) T^h.

    The first A is a positive element of C, or uniform where there is none, and the others are
    (A + eps M) / (1 + eps c) over a basis M of the rest of C, with row sums c. Raises like
    `least_heads`. Source: CW4.
    """
    factors = _Factors(W, n, m)
    coefficients, _ = _certified(factors)
    basis, coordinates = list(factors.basis), [list(row) for row in factors.coordinates]
    first = [fmpq(1, m)] * (n * m)
    rest = [fmpq(0)] * (factors.d_out * factors.d_in)
    if coefficients is not None:
        first = factors.element(coefficients)
        total = sum(first[:m], fmpq(0))
        first, alpha = [a / total for a in first], [c / total for c in coefficients]
        # first = sum_b alpha_b M_b takes the place of one M_p in the basis.
        p = next(b for b, a in enumerate(alpha) if a)
        rest = [x / alpha[p] for x in coordinates[p]]
        coordinates = [
            [x - alpha[b] * y for x, y in zip(row, rest, strict=True)]
            for b, row in enumerate(coordinates)
        ]
        del basis[p], coordinates[p]
    heads = []
    for element, row in zip(basis, coordinates, strict=True):
        eps = min(first) / (2 * max(map(abs, element)))
        total = 1 + eps * sum(element[:m], fmpq(0))
        heads.append(([(a + eps * b) / total for a, b in zip(first, element, strict=True)],
                      [x * total / eps for x in row]))  # fmt: skip
        rest = [x - y / eps for x, y in zip(rest, row, strict=True)]
    heads.insert(0, (first, rest))
    _multiplied_out(heads, exact_realignment(W, n, m)[0])
    return tuple(Head(rows_of(a, m), rows_of(t, factors.d_in)) for a, t in heads)


def _multiplied_out(heads: list[tuple[list[fmpq], list[fmpq]]], blocks: list[list[fmpq]]) -> None:
    attention = fmpq_mat([a for a, _ in heads]).transpose()
    if attention * fmpq_mat([t for _, t in heads]) != fmpq_mat(blocks):
        raise ArithmeticError("the heads do not add to W")
