"""Functions of the capacitance S = I + V^T V that frames and solves need, with stable gradients.

S is r x r and symmetric, at least I. Its eigenvectors have no gradient where eigenvalues meet, and
they all meet at V = 0. A function f of the matrix has one everywhere: in the eigenbasis it is the
divided difference (f(s_a) - f(s_b)) / (s_a^2 - s_b^2), which these functions have in closed form,
without a subtraction. Source: RA6, RA10.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.autograd.function import once_differentiable

from numerics.arrays import finite, namespace, shape


class Cores(NamedTuple):
    """Functions of S = I + V^T V, each (..., r, r), with R = S^1/2.

    frame (I + R)^-1, unframe (S + R)^-1 and solve S^-1: I + V frame V^T is the root of I + V V^T,
    I - V unframe V^T the inverse of that root, I - V solve V^T that of I + V V^T itself.
    """

    frame: torch.Tensor
    unframe: torch.Tensor
    solve: torch.Tensor


class _Cores(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx, gram: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        values, basis = torch.linalg.eigh(gram)
        # A Gram matrix may have an eigenvalue just below 0 by rounding only.
        s = torch.sqrt(1 + values.clamp(min=0))
        ctx.save_for_backward(s, basis)
        factors = (1 / (1 + s), 1 / (s * (1 + s)), 1 / (s * s))
        found = [(basis * factor[..., None, :]) @ basis.mT for factor in factors]
        return found[0], found[1], found[2]

    @staticmethod
    @once_differentiable
    def backward(  # type: ignore[override]
        ctx: torch.autograd.function.FunctionCtx, *upstream: torch.Tensor
    ) -> torch.Tensor:
        s, basis = ctx.saved_tensors  # type: ignore[attr-defined]
        a, b = s[..., :, None], s[..., None, :]
        differences = (
            1 / ((1 + a) * (1 + b) * (a + b)),
            (1 + a + b) / ((a + a * a) * (b + b * b) * (a + b)),
            1 / (a * a * b * b),
        )
        turned = [basis.mT @ ((g + g.mT) / 2) @ basis for g in upstream]
        total = sum(d * g for d, g in zip(differences, turned, strict=True))
        return -(basis @ total @ basis.mT)


def cores(V: torch.Tensor) -> Cores:
    """The three functions of I + V^T V for V (..., d, r), float64 or float32, once differentiable.

    Raises ValueError, TypeError by name. Source: RA6, RA10.
    """
    namespace(V=V)
    if V.dtype not in (torch.float64, torch.float32):
        raise TypeError(f"V must be float64 or float32, got {V.dtype}")
    shape({}, "V", V, *(f"batch_{k}" for k in range(V.ndim - 2)), "d", "r")
    finite(V=V.detach())
    gram = V.mT @ V
    if not bool(gram.detach().isfinite().all()):
        largest = float(V.detach().abs().max())
        raise ValueError(f"V must be smaller: V^T V overflows {V.dtype}, got up to {largest:.1e}")
    return Cores(*_Cores.apply(gram))  # type: ignore[misc]
