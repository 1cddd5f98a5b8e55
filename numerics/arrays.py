"""The boundary of the array functions: one namespace, stated shapes, finite entries."""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType
from typing import Any, TypeAlias

import array_api_compat
import numpy as np

Array: TypeAlias = Any
"""A NumPy array or a torch tensor; a function returns the kind it was given."""

_FLOATING = ("float64", "float32", "float16", "bfloat16")


@lru_cache
def dtype_name(dtype: Any) -> str:
    """Name of a NumPy or torch dtype ("float32", "bfloat16"); TypeError for anything else."""
    name = str(dtype).removeprefix("torch.")
    if name in ("bfloat16", "bool") or str(dtype).startswith("torch."):
        return name
    try:
        return np.dtype(dtype).name
    except TypeError:
        raise TypeError(f"dtype must be a NumPy or torch dtype, got {dtype!r}") from None


def is_array(value: object) -> bool:
    """Whether value is a plain NumPy array or a torch tensor."""
    if isinstance(value, np.ndarray):
        return not isinstance(value, (np.matrix, np.ma.MaskedArray))
    return array_api_compat.is_torch_array(value)


def namespace(**arrays: Array | None) -> ModuleType:
    """Namespace of real floating arrays of one kind, dtype and device; absent (None) ones skipped.

    Raises TypeError for other objects, kinds or dtypes and for mixtures (promotion would hide
    them), ValueError for tensors on different devices.
    """
    present = {name: value for name, value in arrays.items() if value is not None}
    for name, value in present.items():
        if not is_array(value):
            kind = type(value).__name__
            raise TypeError(f"{name} must be a NumPy array or a torch tensor, got {kind}")
        if dtype_name(value.dtype) not in _FLOATING:
            raise TypeError(
                f"{name} must be real floating ({', '.join(_FLOATING)}), got {value.dtype}"
            )
    (first, reference), *others = present.items()
    for name, value in others:
        if isinstance(value, np.ndarray) != isinstance(reference, np.ndarray):
            raise TypeError(
                f"{name} must be of the kind of {first}, "
                f"{type(reference).__name__}, got {type(value).__name__}"
            )
        if value.dtype != reference.dtype:
            raise TypeError(
                f"{name} must have the dtype of {first}, {reference.dtype}, got {value.dtype}"
            )
        there, here = array_api_compat.device(value), array_api_compat.device(reference)
        if there != here:
            raise ValueError(f"{name} must be on the device of {first}, {here}, got {there}")
    return array_api_compat.array_namespace(*present.values())


def boolean(name: str, mask: Array, like: Array) -> None:
    """TypeError unless mask is a boolean array of the kind of like, ValueError off its device."""
    if not is_array(mask) or isinstance(mask, np.ndarray) != isinstance(like, np.ndarray):
        raise TypeError(
            f"{name} must be a boolean {type(like).__name__}, got {type(mask).__name__}"
        )
    if dtype_name(mask.dtype) != "bool":
        raise TypeError(f"{name} must be boolean (True means allowed), got {mask.dtype}")
    there, here = array_api_compat.device(mask), array_api_compat.device(like)
    if there != here:
        raise ValueError(f"{name} must be on device {here}, got {there}")


def shape(sizes: dict[str, int], name: str, array: Array, *axes: str) -> None:
    """Bind the axes' symbols to array's sizes; ValueError where a bound symbol disagrees."""
    actual = tuple(array.shape)
    agrees = len(actual) == len(axes) and all(
        size > 0 and sizes.get(axis, size) == size for axis, size in zip(axes, actual, strict=True)
    )
    fresh = dict(zip(axes, actual, strict=False))
    if not agrees or any(fresh[a] != s for a, s in zip(axes, actual, strict=True)):
        known = ", ".join(
            f"{axis} = {sizes[axis]}" for axis in dict.fromkeys(axes) if axis in sizes
        )
        raise ValueError(
            f"{name} must have shape ({', '.join(axes)})"
            f"{' with ' + known if known else ''}, all positive, got {actual}"
        )
    sizes.update(fresh)


def refuse(name: str, array: Array, bad: Array, must: str) -> None:
    """ValueError that names the first entry of array at which bad holds, if there is one."""
    xp = array_api_compat.array_namespace(array)
    if bool(xp.any(bad)):
        flat = xp.astype(xp.reshape(bad, (-1,)), xp.uint8)
        index = np.unravel_index(int(xp.argmax(flat)), tuple(bad.shape))
        place = tuple(int(i) for i in index)
        entry = array[place]
        entry = entry.detach() if hasattr(entry, "detach") else entry
        raise ValueError(f"{name} must be {must}, got {float(entry)} at {place}")


def finite(**arrays: Array | None) -> None:
    """ValueError that names the first array with a NaN or infinite entry."""
    for name, array in arrays.items():
        if array is not None:
            xp = array_api_compat.array_namespace(array)
            refuse(name, array, ~xp.isfinite(array), "finite")


def nonnegative(**arrays: Array) -> None:
    """ValueError that names the first array with an entry that is negative or not finite."""
    finite(**arrays)
    for name, array in arrays.items():
        refuse(name, array, array < 0, "nonnegative")


def positive(**arrays: Array) -> None:
    """ValueError that names the first array with an entry that is not positive and finite."""
    finite(**arrays)
    for name, array in arrays.items():
        refuse(name, array, ~(array > 0), "positive")
