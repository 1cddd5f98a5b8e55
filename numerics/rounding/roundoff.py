"""Rigorous forward error bounds, composed by replaying the exact sequence of operations.

`exact(x)` enters a stored array; `@`, `+`, `-`, `*`, `/`, `.sqrt`, `.sum` then follow the
computation and carry `error >= |computed - exact|`, entry by entry, in float64 on the array's own
device.
Every formula is Higham 2002, sections 2.2, 3.1 and 3.5, with gradual or abrupt underflow added.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import array_api_compat
import numpy as np

from numerics.arrays import Array, boolean, finite, namespace, refuse
from numerics.rounding.units import Units, gamma, units

_U64 = 2.0**-53

__all__ = ["Rounded", "Units", "exact", "gamma", "softmax", "units"]


@dataclass(frozen=True)
class Rounded:
    """A computed array known through magnitude >= |exact| and error >= |computed - exact|.

    inexact is False only for stored inputs, whose error is zero; both arrays are float64.
    """

    magnitude: Array
    error: Array
    units: Units
    inexact: bool = True

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the computed array."""
        return tuple(self.magnitude.shape)

    @property
    def computed(self) -> Array:
        """Upper bound on |computed|."""
        return self.magnitude + self.error if self.inexact else self.magnitude

    def _with(self, other: Rounded) -> Units:
        if not isinstance(cast(object, other), Rounded):
            raise TypeError(
                f"other must be Rounded (enter it by exact()), got {type(other).__name__}"
            )
        if self.units != other.units:
            raise TypeError(f"other must have units {self.units}, got {other.units}")
        return self.units

    def _done(self, magnitude: Array, error: Array, k: int, underflows: int) -> Rounded:
        # The bound is itself computed, from nonnegative float64 numbers: k + 8 spare roundings
        # cover it and the final comparison; a second eta per product covers its own underflow.
        up = 1 + (k + 8) * 2 * _U64
        return Rounded(magnitude * up, error * up + 2 * underflows * self.units.eta, self.units)

    def __matmul__(self, other: Rounded) -> Rounded:
        """Product: gamma_k |A||B| + k eta (1 + gamma_k) + u_store |AB| (Higham 2002, 3.5)."""
        u = self._with(other)
        k = self.shape[-1]
        error = gamma(k, u.acc) * (self.computed @ other.computed)
        if other.inexact:
            error = error + self.magnitude @ other.error
        if self.inexact:
            error = error + self.error @ other.computed
        magnitude = self.magnitude @ other.magnitude
        if u.store != u.acc:
            error = error + u.store * (magnitude + error)
        return self._done(magnitude, error, 2 * k, k + 1)

    def __add__(self, other: Rounded) -> Rounded:
        """Sum of two arrays: one rounding; underflow is harmless unless flushed."""
        u = self._with(other)
        error = self.error + other.error + u.once * (self.computed + other.computed)
        return self._done(self.magnitude + other.magnitude, error, 2, 2 if u.flush else 0)

    __sub__ = __add__

    def __mul__(self, other: Rounded) -> Rounded:
        """Elementwise product: one rounding and one underflow."""
        u = self._with(other)
        error = (
            self.error * other.computed
            + self.magnitude * other.error
            + u.once * (self.computed * other.computed)
        )
        return self._done(self.magnitude * other.magnitude, error, 3, 2)

    def __truediv__(self, other: Rounded) -> Rounded:
        """Elementwise quotient by a stored (exact) array; other denominators: `divide`."""
        if self._with(other) and other.inexact:
            raise ValueError("other must be exact for /, got a computed array: use divide")
        return self.divide(other, other.magnitude)

    def divide(self, other: Rounded, computed: Array) -> Rounded:
        """Quotient by a computed array; ValueError where its error does not exclude zero.

        computed is the denominator as computed: |exact| >= |computed| - error.
        """
        u = self._with(other)
        size = abs(_float64(computed))
        low = (size - other.error) * (1 - 4 * _U64)
        xp = array_api_compat.array_namespace(low)
        if not bool(xp.all(low > 0)):
            raise ValueError(
                "computed must exceed its error bound everywhere, got a denominator "
                "that may be zero"
            )
        magnitude = self.magnitude / low
        # Quotients before products: a unit of roundoff times a subnormal would be lost, and the
        # division by a subnormal would not bring it back.
        error = self.error / size + magnitude * (other.error / size)
        error = error + u.once * (self.computed / size)
        return self._done(magnitude, error, 5, 2)

    def sqrt(self, computed: Array) -> Rounded:
        """Square root, rounded once, of an array that was computed as computed >= 0.

        |sqrt(a) - sqrt(b)| = |a - b| / (sqrt(a) + sqrt(b)), and b >= a - error for the exact b.
        """
        size = abs(_float64(computed))
        xp = array_api_compat.array_namespace(size)
        low = xp.clip(size - self.error, 0.0, None)
        roots = xp.where(low > 0, xp.sqrt(size) + xp.sqrt(low), xp.ones_like(low))
        carried = xp.where(low > 0, self.error / roots, xp.sqrt(size + self.error))
        return self._done(xp.sqrt(self.magnitude), carried + self.units.once * xp.sqrt(size), 5, 0)

    def sum(self, axis: int) -> Rounded:
        """Sum along an axis, in any order (Higham 2002, 4.2)."""
        u = self.units
        xp = array_api_compat.array_namespace(self.magnitude)
        k = self.shape[axis]
        error = gamma(k - 1, u.acc) * xp.sum(self.computed, axis=axis)
        magnitude = xp.sum(self.magnitude, axis=axis)
        error = error + xp.sum(self.error, axis=axis)
        if u.store != u.acc:
            error = error + u.store * (magnitude + error)
        return self._done(magnitude, error, k, k if u.flush else 0)

    def seen(self, computed: Array) -> Rounded:
        """The same array with its magnitude sharpened to |computed| + error."""
        xp = array_api_compat.array_namespace(self.magnitude)
        observed = (abs(_float64(computed)) + self.error) * (1 + 4 * _U64)
        return Rounded(xp.minimum(self.magnitude, observed), self.error, self.units, self.inexact)

    def where(self, keep: Array) -> Rounded:
        """Zero outside keep, without rounding."""
        xp = array_api_compat.array_namespace(self.magnitude)
        zero = xp.zeros_like(self.magnitude)
        return Rounded(
            xp.where(keep, self.magnitude, zero),
            xp.where(keep, self.error, zero),
            self.units,
            self.inexact,
        )

    def reshape(self, *sizes: int) -> Rounded:
        """Another shape, without rounding."""
        xp = array_api_compat.array_namespace(self.magnitude)
        return Rounded(
            xp.reshape(self.magnitude, sizes),
            xp.reshape(self.error, sizes),
            self.units,
            self.inexact,
        )

    def transpose(self, *axes: int) -> Rounded:
        """Permuted axes, without rounding."""
        xp = array_api_compat.array_namespace(self.magnitude)
        return Rounded(
            xp.permute_dims(self.magnitude, axes),
            xp.permute_dims(self.error, axes),
            self.units,
            self.inexact,
        )

    def __getitem__(self, index: Any) -> Rounded:
        return Rounded(self.magnitude[index], self.error[index], self.units, self.inexact)


def _float64(array: Array) -> Array:
    """The array in float64, outside the gradient tape, on the CPU where the device has none."""
    if isinstance(array, np.ndarray):
        return array.astype(np.float64)
    import torch

    array = array.detach()
    return (array.cpu() if array.device.type == "mps" else array).to(torch.float64)


def exact(array: Array, model: Units | None = None) -> Rounded:
    """A stored array without error, under its own dtype's and device's model or the given one.

    Where the device flushes, inputs below its smallest normal number are read as zero.
    """
    namespace(array=array)
    finite(array=array)
    chosen = model or units(array.dtype, array_api_compat.device(array))
    magnitude = abs(_float64(array))
    xp = array_api_compat.array_namespace(magnitude)
    error = xp.zeros_like(magnitude)
    if chosen.flush:
        error = xp.where(magnitude < chosen.flush, error + chosen.flush, error)
    return Rounded(magnitude, error, chosen, bool(chosen.flush))


def _both(first: Any, second: Any) -> Any:
    """(1 + first)(1 + second) - 1 without cancellation."""
    return first + second + first * second


def softmax(
    logits: Array,
    error: Array | None = None,
    allowed: Array | None = None,
    model: Units | None = None,
) -> Rounded:
    """Bound for the shifted softmax of computed logits (..., m) that carry the given error.

    -inf and masked entries (allowed False) have weight 0. Source: Blanchard, Higham and Higham
    2021, section 3, with the logits' own error and underflow added.
    """
    namespace(logits=logits)
    if error is not None:
        namespace(error=error)
    if allowed is not None:
        boolean("allowed", allowed, logits)
    for name, part in (("error", error), ("allowed", allowed)):
        if part is not None and tuple(part.shape) != tuple(logits.shape):
            raise ValueError(
                f"{name} must have shape {tuple(logits.shape)}, got {tuple(part.shape)}"
            )
    u = model or units(logits.dtype, array_api_compat.device(logits))
    value = _float64(logits)
    xp = array_api_compat.array_namespace(value)
    zero = xp.zeros_like(value)
    visible = value > -float("inf")
    refused = xp.isnan(value) | (value == float("inf"))
    if allowed is not None:
        mask = allowed.cpu() if visible.device != allowed.device else allowed
        visible, refused = visible & mask, refused & mask
    refuse("logits", value, refused, "finite or -inf")
    value = xp.where(visible, value, zero)
    peak = xp.max(xp.where(visible, value, zero - float("inf")), axis=-1, keepdims=True)
    gap = xp.where(visible, xp.where(visible, peak, zero) - value, zero)
    weight = xp.where(visible, xp.exp(-gap), zero)
    total = xp.sum(weight, axis=-1, keepdims=True)
    weight = weight / xp.where(total > 0, total, xp.ones_like(total))

    m = logits.shape[-1]
    stored = 0.0 if u.store == u.acc else u.store
    numerator = _both(xp.expm1(xp.clip(gap * u.once, 0.0, 700.0)), _both(u.exp, stored))
    # The float64 weights are themselves rounded; `own` covers that in every use of them.
    own = 2 * (xp.expm1(xp.clip(gap * _U64, 0.0, 700.0)) + gamma(m + 16, _U64))
    mean = xp.sum(weight * numerator * (1 + own), axis=-1, keepdims=True)
    below = _both(mean, _both(gamma(m - 1, u.acc), stored)) + 2 * m * u.eta
    low = xp.where(below < 1, 1 - below, zero + _U64)
    relative = (_both(numerator, u.once) + below) / low
    inherited = zero
    if error is not None:
        carried = xp.where(visible, xp.clip(_float64(error), 0.0, 350.0), zero)
        inherited = xp.expm1(carried + xp.max(carried, axis=-1, keepdims=True))
    ceiling = xp.where(visible, zero + 2.0, zero)
    bound = weight * (relative + inherited) * (1 + own) + 8 * u.eta
    return Rounded(
        xp.minimum(weight * (1 + inherited) * (1 + own), ceiling), xp.minimum(bound, ceiling), u
    )
