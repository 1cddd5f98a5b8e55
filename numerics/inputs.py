"""The boundary of the functions of numbers: real numbers, integers, float64 arrays, places."""

from __future__ import annotations

import math
from functools import lru_cache
from numbers import Integral, Real

import numpy as np

from numerics.arrays import namespace, refuse, shape


def real(name: str, value: object) -> Real:
    """The value; TypeError for what is no real number."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a real number, got {type(value).__name__}")
    return value


def number(name: str, value: object, must: str = "finite") -> float:
    """The value as a float; TypeError for what is no real number, ValueError unless finite."""
    try:
        found = float(real(name, value))
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise ValueError(f"{name} must be {must}, got {value}")
    return found


def integer(name: str, value: object, least: int, most: int | None = None) -> int:
    """The value as an int; TypeError for what is no integer, ValueError out of the bounds."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {type(value).__name__}")
    found = int(value)
    if found < least:
        raise ValueError(f"{name} must be at least {least}, got {found}")
    if most is not None and found > most:
        raise ValueError(f"{name} must be at most {most}, got {found}")
    return found


def bandwidth(eps: object) -> float:
    """eps as a float; ValueError unless it is positive, and large enough to divide by."""
    value = number("eps", eps, "positive and finite")
    if value <= 0:
        raise ValueError(f"eps must be positive and finite, got {eps}")
    if value < 2.0**-1000:
        raise ValueError(f"eps must be at least 2^-1000, got {eps}")
    return value


def doubles(**arrays: np.ndarray) -> None:
    """TypeError unless all are float64 NumPy arrays: the stated bounds are those of float64."""
    namespace(**arrays)
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype != np.float64:
            raise TypeError(
                f"{name} must be a float64 NumPy array, got {type(array).__name__}, {array.dtype}"
            )


def places(rows: np.ndarray, n: int) -> np.ndarray:
    """rows, if they are tokens among n."""
    if not isinstance(rows, np.ndarray) or not np.issubdtype(rows.dtype, np.integer):
        kind = getattr(rows, "dtype", type(rows).__name__)
        raise TypeError(f"rows must be a NumPy array of integers, got {kind}")
    shape({}, "rows", rows, "m")
    refuse("rows", rows, (rows < 0) | (rows >= n), f"at least 0 and below n = {n}")
    return rows


def odd_prime(name: str, p: object) -> int:
    """p, if it is a modulus; TypeError, ValueError that name it otherwise."""
    if isinstance(p, bool) or not isinstance(p, int):
        raise TypeError(f"{name} must be an integer, got {type(p).__name__}")
    if not _is_odd_prime(p):
        raise ValueError(f"{name} must be an odd prime below 2^29, got {p}")
    return p


@lru_cache
def _is_odd_prime(p: int) -> bool:
    return 2 < p < 2**29 and all(p % k for k in range(2, math.isqrt(p) + 1))
