"""Functions of symmetric and of square matrices with gradients that do not see eigenvectors.

Eigenvectors have no gradient where eigenvalues meet; f(A) has one everywhere. In an eigenbasis it
is the divided difference f[a, b] = (f(a) - f(b)) / (a - b), f'(a) on the diagonal (Daleckii and
Krein), which each function here has in closed form.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.autograd.function import once_differentiable

from numerics.arrays import Array, finite, namespace, refuse
from numerics.rows import transposed, xp_of
from numerics.spaces.lengths import roundoff

Value = Callable[[Array], Array]
"""Values (..., n) of a function at eigenvalues (..., n)."""
Difference = Callable[[Array, Array], Array]
"""Divided differences f[a, b] at eigenvalues a (..., n, 1) and b (..., 1, n)."""


def square_matrices(**arrays: Array) -> None:
    """TypeError, ValueError by name unless each is a stack (..., n, n), float64 or float32, finite.

    Arrays of one call must agree in kind, dtype and device, not in shape.
    """
    namespace(**arrays)
    for name, array in arrays.items():
        roundoff(array.dtype)
        sizes = tuple(array.shape)
        if len(sizes) < 2 or sizes[-1] != sizes[-2] or 0 in sizes:
            raise ValueError(f"{name} must have shape (..., n, n), all positive, got {sizes}")
    finite(**arrays)


def symmetric(name: str, a: Array) -> Array:
    """(a + a^T) / 2 for a (..., n, n) that is symmetric but for rounding.

    Raises ValueError where |a_ij - a_ji| > 16 n u max |a| in a matrix of the stack, TypeError by
    name: the eigenvalue routine would read one triangle and never see the other.
    """
    square_matrices(**{name: a})
    xp, turned = xp_of(a), transposed(a)
    size = xp.max(xp.abs(a), axis=(-2, -1), keepdims=True)
    refuse(name, a, xp.abs(a - turned) > 16 * a.shape[-1] * roundoff(a.dtype) * size, "symmetric")
    # Halves first: the sum of two of the largest numbers overflows.
    return a / 2 + turned / 2


def _eigh(a: Array, factor: Array | None) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of a, or of factor factor^T, small eigenvalues with digits."""
    xp = xp_of(a)
    if factor is None:
        return xp.linalg.eigh(a)
    basis, values, _ = xp.linalg.svd(factor, full_matrices=False)
    return values * values, basis


class _Spectral(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        a: torch.Tensor,
        value: Value,
        difference: Difference,
        factor: torch.Tensor | None,
    ) -> torch.Tensor:
        values, basis = _eigh(a, factor)
        ctx.save_for_backward(values, basis)
        ctx.difference = difference  # type: ignore[attr-defined]
        return (basis * value(values)[..., None, :]) @ basis.mT

    @staticmethod
    @once_differentiable
    def backward(  # type: ignore[override]
        ctx: torch.autograd.function.FunctionCtx, upstream: torch.Tensor
    ) -> tuple[torch.Tensor, None, None, None]:
        values, basis = ctx.saved_tensors  # type: ignore[attr-defined]
        weights = ctx.difference(values[..., :, None], values[..., None, :])  # type: ignore[attr-defined]
        # Not symmetrised: `symmetric`, through which a came, does that to the gradient too.
        turned = basis.mT @ upstream @ basis
        return basis @ (weights * turned) @ basis.mT, None, None, None


def spectral(a: Array, value: Value, difference: Difference, factor: Array | None = None) -> Array:
    """f(A) = V f(Lambda) V^T (..., n, n) for symmetric a (..., n, n), once differentiable.

    value gives f at the eigenvalues, difference its divided differences for the gradient. With a
    factor (..., n, n), a = factor factor^T, the eigenvalues are squared singular values of the
    factor: small ones keep twice the digits. Raises ValueError, TypeError by name. Source: Higham
    2008, 1.2 and 3.2 (Daleckii and Krein).
    """
    even = symmetric("a", a)
    if factor is not None:
        square_matrices(a=a, factor=factor)
        if factor.shape != a.shape:
            raise ValueError(
                f"factor must have the shape of a, {tuple(a.shape)}, got {tuple(factor.shape)}"
            )
    if isinstance(even, torch.Tensor):
        # Its factor only sharpens the values: the gradient passes through a.
        loose = None if factor is None else factor.detach()
        return _Spectral.apply(even, value, difference, loose)  # type: ignore[return-value]
    values, basis = _eigh(even, factor)
    return (basis * value(values)[..., None, :]) @ transposed(basis)


def sinc(x: Array) -> Array:
    """sin(x) / x, 1 at 0, elementwise: differentiable once and without a quotient of zeros."""
    xp = xp_of(x)
    square = x * x
    near = square <= roundoff(x.dtype) ** 0.5
    safe = xp.where(near, xp.ones_like(x), x)
    return xp.where(near, 1 - square / 6, xp.sin(safe) / safe)


def log_difference(a: Array, b: Array) -> Array:
    """(log a - log b) / (a - b), 1 / a where equal, elementwise for positive a, b.

    With r = (a - b) / (a + b) it is 2 artanh(r) / (r (a + b)), which does not cancel.
    """
    xp = xp_of(a)
    total = a + b
    ratio = (a - b) / total
    far, near = xp.abs(ratio) > 0.5, xp.abs(ratio) < roundoff(a.dtype) ** 0.5
    apart = xp.where(far, a - b, xp.ones_like(ratio))
    safe = xp.where(far | near, xp.ones_like(ratio) / 2, ratio)
    close = 2 * xp.where(near, 1 + ratio * ratio / 3, xp.atanh(safe) / safe) / total
    return xp.where(far, (xp.log(a) - xp.log(b)) / apart, close)


def exp_difference(a: Array, b: Array) -> Array:
    """(exp a - exp b) / (a - b), exp a where equal, elementwise.

    It is exp(max) (1 - exp(-h)) / h with h = |a - b|, which does not cancel.
    """
    xp = xp_of(a)
    h = xp.abs(a - b)
    zero = h == 0
    safe = xp.where(zero, xp.ones_like(h), h)
    ratio = xp.where(zero, xp.ones_like(h), -xp.expm1(-safe) / safe)
    return xp.exp(xp.maximum(a, b)) * ratio


def _svd(m: Array, oriented: bool) -> tuple[Array, Array, Array]:
    """U, sigma, V^T with m = U diag(sigma) V^T; oriented: det UV = 1, the last sigma signed."""
    xp = xp_of(m)
    left, values, right = xp.linalg.svd(m, full_matrices=False)
    if oriented:
        turn = xp.sign(xp.linalg.det(left) * xp.linalg.det(right))[..., None]
        left = xp.concat([left[..., :-1], left[..., -1:] * turn[..., None]], axis=-1)
        values = xp.concat([values[..., :-1], values[..., -1:] * turn], axis=-1)
    return left, values, right


class _Singular(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: torch.autograd.function.FunctionCtx,
        m: torch.Tensor,
        value: Value,
        difference: Difference,
        oriented: bool,
    ) -> torch.Tensor:
        left, values, right = _svd(m, oriented)
        found = value(values)
        ctx.save_for_backward(left, values, right, found)
        ctx.difference = difference  # type: ignore[attr-defined]
        return (left * found[..., None, :]) @ right

    @staticmethod
    @once_differentiable
    def backward(  # type: ignore[override]
        ctx: torch.autograd.function.FunctionCtx, upstream: torch.Tensor
    ) -> tuple[torch.Tensor, None, None, None]:
        left, values, right, found = ctx.saved_tensors  # type: ignore[attr-defined]
        a, b = values[..., :, None], values[..., None, :]
        even = ctx.difference(a, b)  # type: ignore[attr-defined]
        # An odd part has no diagonal, and the sum may vanish there.
        diagonal = torch.eye(values.shape[-1], dtype=torch.bool, device=values.device)
        sums = torch.where(diagonal, torch.ones_like(a + b), a + b)
        odd = (found[..., :, None] + found[..., None, :]) / sums
        turned = left.mT @ upstream @ right.mT
        total = even * (turned + turned.mT) / 2 + odd * (turned - turned.mT) / 2
        return left @ total @ right, None, None, None


def singular(m: Array, value: Value, difference: Difference, oriented: bool = False) -> Array:
    """U f(Sigma) V^T (..., n, n) for m = U Sigma V^T (..., n, n), once differentiable.

    value gives f at the singular values, difference its divided differences. Oriented: det UV = 1
    and the last singular value takes the sign of det m. Differentiable where no two singular
    values add to 0. Raises ValueError, TypeError by name. Source: Noferini 2017.
    """
    square_matrices(m=m)
    if isinstance(m, torch.Tensor):
        return _Singular.apply(m, value, difference, oriented)  # type: ignore[return-value]
    left, values, right = _svd(m, oriented)
    return (left * value(values)[..., None, :]) @ right
