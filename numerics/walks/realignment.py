"""The realignment of an operator and its rank, exact over the rationals or numeric (CW4).

W has blocks W_ij (d_out, d_in), i < n, j < m, token-major. Its realignment R(W) has the row
vec(W_ij) for each (i, j); R(sum_h A^h (x) T^h) = sum_h vec(A^h) vec(T^h)^T.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import frexp
from typing import Any

import numpy as np
from flint import fmpq, fmpz

from numerics.arrays import Array, finite, is_array, namespace
from numerics.rounding.units import units
from theorems.checker.exact import rank

Rows = tuple[tuple[Fraction, ...], ...]
"""An exact matrix, row by row."""


@dataclass(frozen=True)
class SchmidtValues:
    """Singular values of R(W), descending, the size that counts as zero, how many exceed it.

    rank is decided by `null` alone: exact entries have `operator_schmidt_rank`. Raises ValueError
    for a null that is negative or not finite.
    """

    values: Array
    null: float
    rank: int

    def __post_init__(self) -> None:
        if not 0 <= self.null < float("inf"):
            raise ValueError(f"null must be nonnegative and finite, got {self.null}")


def _rational(entry: Any) -> fmpq:
    if isinstance(entry, (int, np.integer, fmpz)) and not isinstance(entry, bool):
        return fmpq(int(entry))
    if isinstance(entry, Fraction):
        return fmpq(entry.numerator, entry.denominator)
    if isinstance(entry, fmpq):
        return entry
    raise TypeError(
        f"W must have integer or rational entries (int, Fraction, fmpq), got {type(entry).__name__}"
    )


def _shape(rows: int, columns: int, n: int, m: int) -> tuple[int, int]:
    """(d_out, d_in) of an operator (rows, columns) with n x m blocks."""
    for name, value in (("n", n), ("m", m)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} must be an int, got {type(value).__name__}")
        if value < 1:
            raise ValueError(f"{name} must be positive, got {value}")
    if not rows or not columns or rows % n or columns % m:
        raise ValueError(
            f"W must have shape (n d_out, m d_in) with n = {n}, m = {m}, got ({rows}, {columns})"
        )
    return rows // n, columns // m


def exact_realignment(W: Any, n: int, m: int) -> tuple[list[list[fmpq]], int, int]:
    """Rows of R(W) in fmpq, d_out and d_in, of W (n d_out, m d_in) with rational entries.

    Raises TypeError for other entries, ValueError for shapes that do not fit.
    """
    table = W.tolist() if hasattr(W, "tolist") else W
    if not isinstance(table, Iterable) or not all(isinstance(row, Iterable) for row in table):
        raise TypeError(f"W must be a matrix of rationals, got {type(W).__name__}")
    rows = [[_rational(entry) for entry in row] for row in table]
    widths = {len(row) for row in rows}
    if len(widths) != 1:
        raise ValueError(f"W must have rows of one length, got lengths {sorted(widths)}")
    d_out, d_in = _shape(len(rows), widths.pop(), n, m)
    blocks = [
        [rows[i * d_out + a][j * d_in + b] for a in range(d_out) for b in range(d_in)]
        for i in range(n)
        for j in range(m)
    ]
    return blocks, d_out, d_in


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def rows_of(entries: Iterable[fmpq], columns: int) -> Rows:
    """Entries in rows of that many columns; ValueError where the last row is short."""
    flat = [_fraction(entry) for entry in entries]
    if columns < 1 or len(flat) % columns:
        raise ValueError(f"columns must divide the {len(flat)} entries, got {columns}")
    return tuple(tuple(flat[k : k + columns]) for k in range(0, len(flat), columns))


def realignment(W: Any, n: int, m: int) -> Any:
    """R(W), (n m, d_out d_in), of W (n d_out, m d_in): row (i, j) is vec of block (i, j).

    A floating array gives an array of its kind, exact entries (nested sequences, integer or
    object arrays, flint matrices) give rows of Fractions. Raises ValueError, TypeError by name.
    Source: CW4.
    """
    if not _floating(W):
        blocks, d_out, d_in = exact_realignment(W, n, m)
        return rows_of(chain.from_iterable(blocks), d_out * d_in)
    xp = namespace(W=W)
    if W.ndim != 2:
        raise ValueError(f"W must be a matrix, got shape {tuple(W.shape)}")
    d_out, d_in = _shape(W.shape[0], W.shape[1], n, m)
    blocks = xp.permute_dims(xp.reshape(W, (n, d_out, m, d_in)), (0, 2, 1, 3))
    return xp.reshape(blocks, (n * m, d_out * d_in))


def _floating(W: Any) -> bool:
    return is_array(W) and not (isinstance(W, np.ndarray) and W.dtype.kind in "iuO")


def operator_schmidt_rank(W: Any, n: int, m: int) -> int:
    """rank R(W), exact: no sum of fewer heads A^h (x) T^h gives W.

    W (n d_out, m d_in) of int, Fraction, fmpq entries; TypeError for floating ones, of which
    `operator_schmidt_values` decides a numeric rank. Source: CW4.
    """
    return rank(exact_realignment(W, n, m)[0])


def operator_schmidt_values(W: Array, n: int, m: int, storage: Any = None) -> SchmidtValues:
    """Singular values of R(W) of a floating W (n d_out, m d_in), and the numeric rank.

    Zero is what does not exceed max(n m, d_out d_in) * 2 u * the largest value, u the unit
    roundoff of the dtype in which W's entries were last stored: W's own, or `storage`. The rank
    does not change with W's size. Raises ValueError by name, also where float64 does not hold the
    largest value, TypeError. Source: CW4.
    """
    xp = namespace(W=W)
    aligned = realignment(W, n, m)
    finite(W=W)
    entries = xp.astype(aligned, xp.float64)
    # Powers of two, which are exact: entries below 1, so that no value over- or underflows.
    exponent = frexp(xp.max(xp.abs(entries)).item())[1]
    half = exponent // 2
    down, up = (2.0**-half, 2.0 ** (half - exponent)), (2.0**half, 2.0 ** (exponent - half))
    scaled = xp.linalg.svdvals(entries * down[0] * down[1])
    with np.errstate(over="ignore"):
        values = scaled * up[0] * up[1]
    if not bool(xp.all(xp.isfinite(values))):
        raise ValueError(
            "W must be of a size whose singular values float64 holds, got entries up to "
            f"{xp.max(xp.abs(entries)).item():.3g}"
        )
    u = units(W.dtype if storage is None else storage).store
    factor = max(aligned.shape) * 2 * u
    exceed = scaled > factor * xp.max(scaled).item()
    count = int(xp.sum(xp.astype(exceed, xp.int64)).item())
    return SchmidtValues(values, factor * xp.max(values).item(), count)
