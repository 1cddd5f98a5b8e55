"""Vectors as rows of one metric or of a batch, and the precisions in which they are worked on."""

from __future__ import annotations

import math
from types import ModuleType

import array_api_compat
import numpy as np

from numerics.arrays import Array, dtype_name, finite, namespace

WIDE = "float64"


def xp_of(array: Array) -> ModuleType:
    """The array's namespace."""
    return array_api_compat.array_namespace(array)


def transposed(array: Array) -> Array:
    """The array with its last two axes exchanged."""
    return xp_of(array).matrix_transpose(array)


def block_length(d: int) -> int:
    """Terms that blocked_product sums at a time, about sqrt(d)."""
    return math.isqrt(d - 1) + 1


def blocked_product(x: Array, U: Array) -> Array:
    """x U for rows x (..., m, d), block by block: at most 2 sqrt(d) + 2 roundings a term, not d."""
    d = U.shape[-2]
    length = block_length(d)
    parts = [slice(start, min(start + length, d)) for start in range(0, d, length)]
    return sum(x[..., part] @ U[..., part, :] for part in parts)


def _cast(array: Array, name: str) -> Array:
    xp = xp_of(array)
    return array if dtype_name(array.dtype) == name else xp.astype(array, getattr(xp, name))


def wide(array: Array) -> Array:
    """The array in float64; on a device that has none, in its own dtype."""
    on_mps = str(array_api_compat.device(array)).startswith("mps")
    return _cast(array, "float32" if on_mps else WIDE)


def working(array: Array) -> Array:
    """Half precisions in float32, in which their products are summed anyway."""
    return _cast(array, "float32") if "16" in dtype_name(array.dtype) else array


def as_rows(name: str, v: Array, D: Array) -> Array:
    """Vectors as rows (m, d) of one metric D (d,), or (n, m, d) of a batch D (n, d), checked.

    Raises ValueError, TypeError by name.
    """
    namespace(**{"D": D, name: v})
    *batch, d = D.shape
    fits = v.ndim >= 1 and v.shape[-1] == d and 0 not in v.shape
    if batch:
        fits = fits and v.ndim in (2, 3) and v.shape[0] == batch[0]
    if not fits:
        expected = "(n, d) or (n, m, d) with n = {}, d = {}" if batch else "(..., d) with d = {}"
        raise ValueError(
            f"{name} must have shape {expected.format(*batch, d)}, all positive, "
            f"got {tuple(v.shape)}"
        )
    finite(**{name: v})
    return xp_of(v).reshape(v, (*batch, -1, d))


def restored(v: Array, rows: Array, sizes: tuple[int, ...] | None = None) -> Array:
    """The result in the dtype of the vectors, in their shape or the one given.

    Raises OverflowError where that dtype has no number as large.
    """
    xp = xp_of(v)
    with np.errstate(over="ignore"):
        result = xp.astype(xp.reshape(rows, tuple(v.shape if sizes is None else sizes)), v.dtype)
    if not bool(xp.all(xp.isfinite(result))):
        raise OverflowError(f"the result must fit into {dtype_name(v.dtype)}, and overflows")
    return result
