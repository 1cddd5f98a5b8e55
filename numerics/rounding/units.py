"""The rounding model of a dtype on a device: three units of roundoff and what underflow costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from numerics.arrays import dtype_name

_U64 = 2.0**-53
_U32 = 2.0**-24


@dataclass(frozen=True)
class Units:
    """Unit roundoffs of storage, accumulation and exp, and the absolute error of underflow.

    flush is the size below which the device reads a number as zero: 0 with gradual underflow.
    """

    store: float
    acc: float
    exp: float
    eta: float
    flush: float = 0.0

    def __post_init__(self) -> None:
        for name in ("store", "acc", "exp"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} must lie in (0, 1), got {getattr(self, name)}")
        for name in ("eta", "flush"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(
                    f"{name} must be finite and nonnegative, got {getattr(self, name)}"
                )

    @property
    def once(self) -> float:
        """Relative error of one elementwise operation, rounded to storage (Higham 2002, 2.2)."""
        if self.store == self.acc:
            return self.store
        return self.store + self.acc + self.store * self.acc


# exp within 2 ulps (float64) and 3 ulps (float32) covers NumPy's, SLEEF's and CUDA's tables.
# 2**-1075, half the smallest float64, is not a float64: the smallest itself stands for it.
_MODELS = {
    "float64": (Units(_U64, _U64, 4 * _U64, 2.0**-1074), 2.0**-1022),
    "float32": (Units(_U32, _U32, 6 * _U32, 2.0**-150), 2.0**-126),
    "bfloat16": (Units(2.0**-8, _U32, 6 * _U32, 2.0**-134), 2.0**-126),
    "float16": (Units(2.0**-11, _U32, 6 * _U32, 2.0**-25), 2.0**-14),
}


def units(dtype: Any, device: Any = "cpu") -> Units:
    """Rounding model of a dtype on a device, with flushing to zero detected when called.

    Raises ValueError for a dtype other than float64, float32, bfloat16, float16 (and for float64
    on MPS, which has none). Source: Higham 2002, 2.2.
    """
    name = dtype_name(dtype)
    if name not in _MODELS or (name == "float64" and str(device).startswith("mps")):
        raise ValueError(
            f"dtype must be one of {', '.join(_MODELS)} (no float64 on mps), got {name} on {device}"
        )
    model, normal = _MODELS[name]
    torch_kind = str(dtype).startswith("torch.") or name == "bfloat16" or str(device) != "cpu"
    working = [normal] if name in ("float64", "float32") else [normal, 2.0**-126]
    flushing = [tiny for tiny in working if _flushes(name, tiny, device, torch_kind)]
    if not flushing:
        return model
    return Units(model.store, model.acc, model.exp, 2 * max(flushing), max(flushing))


def _flushes(name: str, tiny: float, device: Any, torch_kind: bool) -> bool:
    """Whether a product, elementwise or of matrices, loses a subnormal result or input.

    Matrix units (AMX, VDPBF16PS) flush on their own, whatever the elementwise unit does.
    """
    width = 64
    working = name if tiny == _MODELS[name][1] else "float32"
    if torch_kind:
        import torch

        one = torch.ones((width, width), dtype=getattr(torch, working), device=device)
        eye = torch.eye(width, dtype=one.dtype, device=device)
    else:
        one = np.ones((width, width), dtype=working)
        eye = np.eye(width, dtype=working)
    low = one * tiny
    half = low * 0.5
    outputs = (half, low @ (eye * 0.5), (half * 2.0), half @ (eye * 2.0))
    return any(not bool((out != 0).all()) for out in outputs)


def gamma(k: int, u: float) -> float:
    """gamma_k = k u / (1 - k u), rounded up; ValueError unless 0 <= k u < 1 (Higham 2002, 3.1)."""
    if not (k >= 0 and 0 < u and k * u < 1):
        raise ValueError(f"k * u must lie in [0, 1), got k = {k}, u = {u}")
    return k * u / (1 - k * u) * (1 + 8 * _U64)
