"""Roundoff, inner products and even functions of a length, for NumPy and torch alike."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from numerics.arrays import Array, dtype_name

_ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24}


def roundoff(dtype: Any) -> float:
    """Unit roundoff of float64 or float32; TypeError for any other dtype."""
    name = dtype_name(dtype)
    if name not in _ROUNDOFF:
        raise TypeError(f"dtype must be float32 or float64, got {name}")
    return _ROUNDOFF[name]


def dot(xp: ModuleType, u: Array, v: Array, axes: int = 1) -> Array:
    """Sum of u v over the trailing axes; leading axes broadcast."""
    return xp.sum(u * v, axis=tuple(range(-axes, 0)))


def per_length(xp: ModuleType, square: Array, function: Callable[[Array], Array]) -> Array:
    """f(t)/t at t = sqrt(square), for odd f with f(t)/t = 1 + c t^2 + ..., |c| <= 1.

    Up to one roundoff in t^2 it is 1: closer is not possible, and a derivative of sqrt at 0, which
    is infinite, is never formed. square f(t)^2/t^2 then has the right gradient at t = 0.
    """
    near = square <= roundoff(square.dtype)
    length = xp.sqrt(xp.where(near, xp.ones_like(square), square))
    return xp.where(near, xp.ones_like(square), function(length) / length)


def norm(xp: ModuleType, square: Array) -> Array:
    """sqrt(square), with derivative 0 where it is 0."""
    zero = square <= 0
    root = xp.sqrt(xp.where(zero, xp.ones_like(square), square))
    return xp.where(zero, xp.zeros_like(square), root)
