"""Ranks and determinants over Q and modulo a prime, with certificates that plain code checks.

The elimination is python-flint's; a certificate is checked by one of its own in plain integers.
Entries are integers or fractions, in nested lists, NumPy arrays or flint matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq, fmpz, fmpz_mat, nmod_mat

from numerics.inputs import integer, odd_prime

Matrix: TypeAlias = np.ndarray | Sequence[Sequence[Any]]

PRIME = 2**29 - 3
"""Below 2^29 a sum of up to 31 products fits in 63 bits."""

SECOND_PRIME = 2**29 - 33


@dataclass(frozen=True)
class RankCertificate:
    """A rank with its certificate: rows and columns whose minor is not 0 modulo a prime.

    A minor of integers that is not 0 modulo a prime is not 0, so the rank over Q is at least
    `rank`. exact says that it is the rank over Q, which is decided where no larger one is possible.
    """

    rank: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    modulus: int
    minor: int
    exact: bool

    def certifies(self, matrix: Matrix) -> bool:
        """Whether the matrix given to rank_of has this minor, by elimination in plain integers.

        Raises TypeError, ValueError like rank_of.
        """
        p = odd_prime("modulus", self.modulus)
        whole, _ = _whole(matrix, p)
        if not len(set(self.rows)) == len(set(self.columns)) == self.rank:
            return False
        width = len(whole[0]) if whole else 0
        if not (
            set(self.rows) <= set(range(len(whole))) and set(self.columns) <= set(range(width))
        ):
            return False
        minor = [[whole[i][j] % p for j in self.columns] for i in self.rows]
        return self.minor % p != 0 and _eliminated(minor, p) == self.minor % p


def rank_of(matrix: Matrix, modulus: int | None = None) -> RankCertificate:
    """Rank of a matrix (n, m) with its certificate, over Q or modulo a prime.

    Fractions are scaled by their common denominator. Raises TypeError for other entries (a float
    is not read), ValueError by name.
    """
    if modulus is not None:
        odd_prime("modulus", modulus)
    rows, _ = _whole(matrix, modulus)
    if not rows or not rows[0]:
        return RankCertificate(0, (), (), modulus or PRIME, 1, True)
    whole, rank = fmpz_mat(rows), None
    for prime in (PRIME, SECOND_PRIME) if modulus is None else (modulus,):
        found = _certified(rows, nmod_mat(whole, prime))
        if found.exact or modulus is not None:
            return found
        rank = whole.rank() if rank is None else rank
        if found.rank == rank:
            return replace(found, exact=True)
    raise ArithmeticError(f"no minor of size {rank} survives modulo {PRIME} or {SECOND_PRIME}")


def determinant_of(matrix: Matrix, modulus: int | None = None) -> Fraction:
    """Determinant of a matrix (n, n) over Q, or its residue modulo a prime.

    Raises TypeError, ValueError like rank_of, and ValueError for a matrix that is not square.
    """
    if modulus is not None:
        odd_prime("modulus", modulus)
    rows, scale = _whole(matrix, modulus)
    if any(len(row) != len(rows) for row in rows):
        raise ValueError(f"matrix must be square, got shape ({len(rows)}, {len(rows[0])})")
    if not rows:
        return Fraction(1)
    whole = fmpz_mat(rows)
    if modulus is None:
        return Fraction(int(whole.det()), scale ** len(rows))
    residue = int(nmod_mat(whole, modulus).det())
    return Fraction(residue * pow(scale, -len(rows), modulus) % modulus)


def large_prime(seed: int) -> int:
    """A prime below 2^29, another one for nearly every seed.

    Raises TypeError, ValueError for what is no seed.
    """
    start = int(np.random.default_rng(integer("seed", seed, 0)).integers(2**28, 2**29))
    while not fmpz(start).is_prime():
        start -= 1
    return start


def _whole(matrix: Any, p: int | None) -> tuple[list[list[int]], int]:
    """Rows of the matrix as integers, times a common denominator, which p must not divide."""
    rows = [_listed(row) for row in _listed(matrix)]
    if len({len(row) for row in rows}) > 1:
        raise ValueError(f"matrix must have rows of one length, got {sorted(map(len, rows))}")
    integral = isinstance(matrix, np.ndarray) and matrix.dtype.kind in "iu" and matrix.ndim == 2
    if integral or all(type(entry) is int for row in rows for entry in row):
        return rows, 1
    exact = [[_rational(entry) for entry in row] for row in rows]
    scale = lcm(*(entry.denominator for row in exact for entry in row))
    if p is not None and scale % p == 0:
        raise ValueError(f"matrix must be integral modulo {p}, got denominator {scale}")
    return [[int(entry * scale) for entry in row] for row in exact], scale


def _listed(values: Any) -> list[Any]:
    found = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(found, list | tuple):
        raise TypeError(f"matrix must have rows of entries, got {type(found).__name__}")
    return list(found)


def _rational(entry: Any) -> int | Fraction:
    if isinstance(entry, fmpq):
        return Fraction(int(entry.p), int(entry.q))
    if isinstance(entry, Integral | fmpz) and not isinstance(entry, bool):
        return int(entry)
    if isinstance(entry, Fraction):
        return entry
    raise TypeError(f"matrix must hold integers or fractions, got {type(entry).__name__}")


def _certified(rows: list[list[int]], matrix: nmod_mat) -> RankCertificate:
    """The certificate modulo the matrix's prime: all of it where it is regular, else its pivots."""
    size, p = (matrix.nrows(), matrix.ncols()), int(matrix.modulus())
    if size[0] == size[1] and (minor := int(matrix.det())):
        every = tuple(range(size[0]))
        return RankCertificate(len(every), every, every, p, minor, True)
    columns = _pivots(matrix)
    inside = [[row[j] for j in columns] for row in rows]
    flipped = fmpz_mat([list(column) for column in zip(*inside, strict=True)])
    places = _pivots(nmod_mat(flipped, p)) if columns else ()
    minor = int(nmod_mat(fmpz_mat([inside[i] for i in places]), p).det()) if places else 1
    return RankCertificate(len(columns), places, columns, p, minor, len(columns) == min(size))


def _pivots(matrix: nmod_mat) -> tuple[int, ...]:
    reduced, rank = matrix.rref()
    found = []
    for row in range(rank):
        start = found[-1] + 1 if found else 0
        found.append(next(j for j in range(start, matrix.ncols()) if int(reduced[row, j])))
    return tuple(found)


def _eliminated(rows: list[list[int]], p: int) -> int:
    """Determinant modulo a prime, by elimination."""
    total, rows = 1, [list(row) for row in rows]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            rows[k], rows[pivot], total = rows[pivot], rows[k], -total
        total = total * rows[k][k] % p
        inverse = pow(rows[k][k], -1, p)
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] * inverse % p
            if factor:
                rows[i] = [(a - factor * b) % p for a, b in zip(rows[i], rows[k], strict=True)]
    return total % p
