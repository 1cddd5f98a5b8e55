"""Determinants of block matrices with symbolic sizes, as products of block triangular matrices.

A block matrix is triangular here if it can be expanded: some row has one block that is not the
number 0, a square one, and the rest without its row and its column is triangular again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sympy import Add, Expr, Indexed, Integer, KroneckerDelta, Mul, Rational, Sum, Symbol, factorrat

from theorems.statement import Rule
from theorems.checker.sums import Refused, is_size, normal_form

Axis = tuple[tuple[Symbol, Expr], ...]  # index and size of every block


class Blocks(NamedTuple):
    """A square matrix of blocks; each entry is a function of the indices of its row and column."""

    rows: Axis
    columns: Axis
    entries: tuple[tuple[Expr, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Determinant(Rule):
    """det matrix = value * the determinants of the parts: the matrix is the product of the factors,
    each block triangular; their diagonal blocks that are a number times the identity make the
    value, all others are the parts."""

    matrix: Blocks
    factors: tuple[Blocks, ...]
    value: Expr
    parts: tuple[Blocks, ...] = ()

    def identities(self) -> Iterator[tuple[Expr, Expr, dict[Symbol, str]]]:
        """Both sides of every block of matrix = product of the factors, and the free ranges."""
        for p, (row, height) in enumerate(self.matrix.rows):
            for q, (column, width) in enumerate(self.matrix.columns):
                entry = self.matrix.entries[p][q]
                yield entry, _entry(self.factors, p, q), {row: str(height), column: str(width)}

    def fault(self) -> str | None:
        """Why the determinants of the factors are not the value times those of the parts."""
        total: Counter[Any] = Counter()
        parts: list[Blocks] = []
        for place, factor in enumerate(self.factors, start=1):
            if (found := expansion(factor)) is None:
                return f"factor {place} is not block triangular"
            total.update({-1: found[1]})
            for block in found[0]:
                ((i, size),), ((j, _),), ((entry,),) = block
                inside, identity = Mul.make_args(entry), KroneckerDelta(i, j)
                number = Mul(*(part for part in inside if part != identity))
                if (size != 1 and identity not in inside) or number.has(Indexed, KroneckerDelta):
                    parts.append(block)
                else:
                    total.update(powers(number, size))
        if Counter(parts) != Counter(self.parts):
            return f"{len(parts)} blocks are no multiples of the identity, and not the parts"
        total.update(powers(self.value, Integer(-1)))
        for base, exponent in total.items():
            if any(base != -1 or c % 2 for c in normal_form(exponent).values()):
                return f"the value differs by the power {exponent} of {base}"
        return None


def _entry(factors: Sequence[Blocks], p: int, q: int) -> Expr:
    row = factors[0].entries[p]
    if len(factors) == 1:
        return row[q]
    return Add(*(Sum(row[k] * _entry(factors[1:], k, q), (index, 1, size))
                 for k, (index, size) in enumerate(factors[0].columns) if row[k] != 0))


def expansion(matrix: Blocks) -> tuple[list[Blocks], Expr] | None:
    """The blocks whose determinants multiply to that of a block triangular matrix, up to a sign,
    and the exponent of -1; None where the matrix is not block triangular."""
    rows, columns, entries = matrix
    if not rows:
        return [], Integer(0)
    for p, row in enumerate(entries):
        places = [q for q, entry in enumerate(row) if entry != 0]
        if len(places) == 1 and rows[p][1] == columns[(q := places[0])][1]:
            below = (line[:q] + line[q + 1 :] for line in entries[:p] + entries[p + 1 :])
            rest = Blocks(rows[:p] + rows[p + 1 :], columns[:q] + columns[q + 1 :], tuple(below))
            if (found := expansion(rest)) is None:
                return None
            block = Blocks(rows[p : p + 1], columns[q : q + 1], ((row[q],),))
            places_before = Add(*(size for _, size in rows[:p] + columns[:q]))
            return [block, *found[0]], rows[p][1] * places_before + found[1]
    return None


def powers(number: Expr, exponent: Expr) -> dict[Any, Expr]:
    """The exponents of -1, of primes and of sizes in a power of a product of numbers and sizes;
    Refused for anything else."""
    found: Counter[Any] = Counter()
    for factor in Mul.make_args(number):
        base, power = factor.as_base_exp()
        sizes = power.free_symbols | (set() if isinstance(base, Rational) else {base})
        if not all(map(is_size, sizes)):
            raise Refused(f"{number} is no product of powers of numbers and sizes")
        split = factorrat(base) if isinstance(base, Rational) else {base: 1}
        found.update({part: times * power * exponent for part, times in split.items()})
    return found
