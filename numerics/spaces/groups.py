"""Matrices of isometry groups: checked at the boundary, and drawn."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np

from numerics.arrays import Array, finite, is_array, namespace, refuse
from numerics.spaces.lengths import roundoff
from numerics.spaces.space import detached


def matrix(name: str, g: Any, x: Array, *sizes: int) -> None:
    """TypeError or ValueError unless g is finite, of shape sizes, kind and dtype of x."""
    if not is_array(g):
        raise TypeError(f"{name} must be an array of shape {sizes}, got {type(g).__name__}")
    namespace(x=x, **{name: g})
    if tuple(g.shape) != sizes:
        raise ValueError(f"{name} must have shape {sizes}, got {tuple(g.shape)}")
    finite(**{name: g})


def check_orthogonal(name: str, g: Any, x: Array, size: int) -> None:
    """Raises like matrix, and ValueError unless g g^T is the identity up to 32 size roundoffs."""
    matrix(name, g, x, size, size)
    g = detached(g)
    xp = array_api_compat.array_namespace(g)
    with np.errstate(over="ignore", invalid="ignore"):
        defect = abs(g @ g.T - xp.eye(size, dtype=g.dtype, device=array_api_compat.device(g)))
    must = "orthogonal: |g g^T - 1| at most rounding"
    refuse(name, defect, ~(defect <= 32 * size * roundoff(g.dtype)), must)


def random_orthogonal(generator: np.random.Generator, size: int) -> np.ndarray:
    """An orthogonal float64 matrix of Haar's law."""
    q, r = np.linalg.qr(generator.normal(size=(size, size)))
    return q * np.where(np.diag(r) < 0, -1.0, 1.0)
