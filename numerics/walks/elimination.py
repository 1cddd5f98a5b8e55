"""The stationary law of an irreducible walk without subtraction, overflow or underflow.

Grassmann, Taksar and Heyman (1985) eliminate states with sums, products and quotients of
nonnegative numbers only, so every entry of the law is known to a small relative error; chains
of rare transitions need more than the exponents of float64, which `Wide` adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np

from numerics.arrays import Array, namespace, nonnegative, shape

_LOW, _HIGH, _UP, _DOWN = 2.0**-128, 2.0**128, 2.0**256, 2.0**-256
_NOTHING = -(2.0**40)  # exponent of a zero: below every other


def float64(array: Array) -> Array:
    """The array in float64, on its device; TypeError for a device that has none (MPS).

    Raises TypeError for what is no real floating array.
    """
    xp = namespace(array=array)
    return xp.astype(array, xp.float64)


@dataclass(frozen=True)
class Wide:
    """Nonnegative float64 numbers mantissa * 2^(256 exponent), exponents None where all are 0.

    Scaling by 2^256 is exact, so every operation has the relative error of float64 arithmetic
    (2^-53 for each product, quotient or sum of two) whatever the size. Raises ValueError for a
    mantissa that is negative, infinite or NaN.
    """

    mantissa: Array
    exponent: Array | None = None

    def __post_init__(self) -> None:
        m = self.mantissa
        # A sum of a NumPy array is a scalar, and no array of its kind.
        xp = np if isinstance(m, float) else array_api_compat.array_namespace(m)
        if not (bool(xp.min(m) >= 0) and bool(xp.max(m) < float("inf"))):
            raise ValueError(f"mantissa must be nonnegative and finite, got {m}")

    @classmethod
    def of(cls, array: Array) -> Wide:
        """The numbers of an array, exactly."""
        array = float64(array)
        nonnegative(mantissa=array)
        wide = cls(array)
        for _ in range(5):  # 2^-1074 to 2^1024 lie within four steps of the middle
            wide = wide._normal()
        return wide

    def _normal(self) -> Wide:
        """The same numbers, mantissas one step nearer to [2^-128, 2^128)."""
        xp, m, e = array_api_compat.array_namespace(self.mantissa), self.mantissa, self.exponent
        small, large = (m < _LOW) & (m > 0), m >= _HIGH
        if e is None and not bool(xp.any(small | large)):
            return self
        e, one = xp.zeros_like(m) if e is None else e, xp.ones_like(m)
        scaled = m * xp.where(small, one * _UP, xp.where(large, one * _DOWN, one))
        e = e + xp.astype(large, m.dtype) - xp.astype(small, m.dtype)
        return Wide(scaled, xp.where(m > 0, e, xp.zeros_like(e) + _NOTHING))

    def _exponents(self) -> Array:
        if self.exponent is not None:
            return self.exponent
        xp = array_api_compat.array_namespace(self.mantissa)
        zero = xp.zeros_like(self.mantissa)
        return xp.where(self.mantissa > 0, zero, zero + _NOTHING)

    def _below(self, top: Array) -> Array:
        """Mantissas for the exponent top, which is at least this one; 2^-384 of top is dropped."""
        xp = array_api_compat.array_namespace(self.mantissa)
        gap = top - self._exponents()
        near = xp.where(gap == 1, self.mantissa * _DOWN, xp.zeros_like(self.mantissa))
        return xp.where(gap == 0, self.mantissa, near)

    def __mul__(self, other: Wide) -> Wide:
        narrow = self.exponent is None and other.exponent is None
        exponent = None if narrow else self._exponents() + other._exponents()
        return Wide(self.mantissa * other.mantissa, exponent)._normal()

    def __truediv__(self, other: Wide) -> Wide:
        """Quotient by positive numbers."""
        narrow = self.exponent is None and other.exponent is None
        exponent = None if narrow else self._exponents() - other._exponents()
        return Wide(self.mantissa / other.mantissa, exponent)._normal()

    def __add__(self, other: Wide) -> Wide:
        if self.exponent is None and other.exponent is None:
            return Wide(self.mantissa + other.mantissa)._normal()
        xp = array_api_compat.array_namespace(self.mantissa)
        top = xp.maximum(self._exponents(), other._exponents())
        return Wide(self._below(top) + other._below(top), top)._normal()

    def sqrt(self) -> Wide:
        """Square roots."""
        xp, e = array_api_compat.array_namespace(self.mantissa), self.exponent
        if e is None:
            return Wide(xp.sqrt(self.mantissa))._normal()
        half = xp.floor(e / 2)
        odd = xp.where(e - 2 * half == 1, xp.ones_like(e) * _HIGH, xp.ones_like(e))
        return Wide(xp.sqrt(self.mantissa) * odd, half)._normal()

    def turned(self) -> Wide:
        """The transpose of a matrix (n, m)."""
        xp, e = array_api_compat.array_namespace(self.mantissa), self.exponent
        exponent = None if e is None else xp.permute_dims(e, (1, 0))
        return Wide(xp.permute_dims(self.mantissa, (1, 0)), exponent)

    def relative(self) -> Array:
        """The numbers over the largest of them, not 0, in float64; below 2^-256 they may be 0."""
        xp = array_api_compat.array_namespace(self.mantissa)
        below = self._below(xp.max(self._exponents()))
        return below / xp.max(below)

    def sum(self) -> Wide:
        """Sum of all numbers."""
        xp = array_api_compat.array_namespace(self.mantissa)
        if self.exponent is None:
            return Wide(xp.sum(self.mantissa))._normal()
        top = xp.max(self.exponent)
        return Wide(xp.sum(self._below(top)), top)._normal()

    def __getitem__(self, index: Any) -> Wide:
        exponent = self.exponent
        return Wide(self.mantissa[index], None if exponent is None else exponent[index])

    def value(self) -> Array:
        """The numbers in float64; what lies outside its range becomes 0 or infinite."""
        if self.exponent is None:
            return self.mantissa
        xp, out = array_api_compat.array_namespace(self.mantissa), self.mantissa
        one = xp.ones_like(out)
        with np.errstate(over="ignore"):
            for step in range(1, 6):
                below, above = self.exponent <= -step, self.exponent >= step
                out = out * xp.where(below, one * _DOWN, xp.where(above, one * _UP, one))
        return out


def concatenate(parts: list[Wide]) -> Wide:
    """Vectors of wide numbers, end to end; ValueError for an empty list."""
    if not parts:
        raise ValueError("parts must hold at least one vector, got none")
    xp = array_api_compat.array_namespace(*[part.mantissa for part in parts])
    mantissa = xp.concat([part.mantissa for part in parts])
    if all(part.exponent is None for part in parts):
        return Wide(mantissa)
    return Wide(mantissa, xp.concat([part._exponents() for part in parts]))


def stationary_law(P: Array) -> Wide:
    """Stationary law (n,) of an irreducible walk P (n, n), from its entries off the diagonal.

    The diagonal counts as 1 minus the rest of its row. Every entry has relative error at most
    (n + 2)^3 2^-53. Raises ValueError where the elimination meets a state that leads nowhere.
    Source: Grassmann, Taksar and Heyman 1985; order of the bound: O'Cinneide 1993.
    """
    # Projective errors, in units of 2^-53: eliminating state k of k + 1 perturbs the entries of
    # the smaller walk by k + 3 roundings, hence its law by 2 (k - 1) (k + 3) (matrix-tree
    # theorem), and the weight of state k adds 2 (2 k + 3). The sum is below (n + 2)^3.
    sizes: dict[str, int] = {}
    shape(sizes, "P", P, "n", "n")
    rest, steps = Wide.of(P), []
    for k in range(sizes["n"] - 1, 0, -1):
        row, column = rest[k, :k], rest[:k, k]
        total = row.sum()
        if not bool(total.mantissa > 0):
            raise ValueError(f"P must be irreducible, got no way from state {k} to those before it")
        steps.append((column, total))
        rest = rest[:k, :k] + column[:, None] * (row / total)[None, :]
    law = Wide(rest.mantissa[0] * 0 + 1)  # one state, in the array kind of P
    for column, total in reversed(steps):
        law = concatenate([law, ((law * column).sum() / total)[None]])
    return law / law.sum()
