"""Forward error of attention on a device, entry by entry, against the exact value of its inputs.

Both sides of a stress case start from the same stored queries, keys, tokens and weights. The
distance of each from the exact result is bounded here in float64, block by block; their sum bounds
the distance of one from the other.

Softmax weights are followed in the logarithm: a weight whose computed logarithm is off by at most t
is off by at most (e^t - 1) times itself, and logarithmic errors of products and quotients add.
What is assumed of torch's `scaled_dot_product_attention` (and of nothing else of its order):
scores are products summed in the accumulation dtype, in any order, scaled before or after; keys are
visited in tiles, each shifted by a running maximum and rescaled when it grows; exp is within 20
ulps; unnormalised weights may be rounded once to storage before they meet the values; sums over the
keys run in the accumulation dtype, in any order; the result is rounded once to storage.
Sources: Blanchard, Higham and Higham 2021 (softmax), Higham 2002, 3.1 and 3.5 (products).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch

from numerics.blockwise import accumulation_dtype
from numerics.rounding.roundoff import Rounded, Units, exact, gamma, units

_U64 = 2.0**-53
LIBRARY_EXP_ULPS = 20
"""Ulps within which torch's exp is, vectorised or not."""
SPARE = 1 + 2.0**-20
"""Covers the rounding, in float64, of the bounds themselves."""
_CPU_KEY_TILE = 512
_ACCELERATOR_KEY_TILE = 64


class NoBound(ArithmeticError):
    """The dtype is too coarse for this cell: rounding may have destroyed the result."""


@dataclass(frozen=True)
class Precision:
    """The rounding model of a dtype on a device: storage (narrow), accumulation (wide).

    least is the smallest normal number of the accumulation dtype: exp may flush what lies below.
    key_tile is the number of keys that torch's kernel visits at a time, or fewer than it does.
    """

    narrow: Units
    wide: Units
    least: float
    key_tile: int

    def enter(self, array: torch.Tensor) -> Rounded:
        """A stored array, exact unless the device flushes it, under the accumulation's units."""
        return replace(exact(array, self.narrow), units=self.wide)

    def store(self, value: Rounded, observed: torch.Tensor) -> Rounded:
        """`value` rounded once to storage, given what was stored: |fl(x) - x| <= u |fl(x)|."""
        if self.narrow.store == self.wide.store:
            return value.seen(observed)
        size = float64(observed).abs()
        error = value.error + self.narrow.store * (1 + 8 * _U64) * size + 2 * self.narrow.eta
        return Rounded(value.magnitude, error, self.wide).seen(observed)


def precision(dtype: torch.dtype, device: torch.device) -> Precision:
    """The rounding model of `dtype` on `device`.

    Raises ValueError for a dtype that has none there.
    """
    wide = accumulation_dtype(dtype)
    tile = _CPU_KEY_TILE if device.type == "cpu" else _ACCELERATOR_KEY_TILE
    return Precision(units(dtype, device), units(wide, device), torch.finfo(wide).tiny, tile)


def float64(array: torch.Tensor) -> torch.Tensor:
    """`array` in float64, on its own device unless that is MPS, which has no float64."""
    return (array.cpu() if array.device.type == "mps" else array).to(torch.float64)


@dataclass(frozen=True)
class ExactRows:
    """Attention weights (H, B, m) of a block in float64 and what any evaluation inherits.

    score_error (H, B, m) bounds the error of a computed score, total_error (H, B, 1) that of the
    logarithm of the sum over keys due to it, size (H, B, 1) the largest score.
    """

    weights: torch.Tensor
    score_error: torch.Tensor
    total_error: torch.Tensor
    size: torch.Tensor


@dataclass(frozen=True)
class WeightError:
    """|computed - exact| <= error (H, B, m) + floor; exact <= weights (H, B, m).

    error holds every relative rounding up to the sum over keys, floor what underflow loses.
    """

    weights: torch.Tensor
    error: torch.Tensor
    floor: float


@dataclass(frozen=True)
class Scores:
    """Keys (H, m, d_k) in float64 with their absolute values, from which rows are scored."""

    key: torch.Tensor
    key_size: torch.Tensor
    scale: float
    model: Precision

    def rows(self, query: torch.Tensor) -> ExactRows:
        """Weights of a block of queries (H, B, d_k) and the error of its computed scores.

        Raises NoBound when the scores' error is too large for any bound on the softmax.
        """
        wide, narrow, width = self.model.wide, self.model.narrow, query.shape[-1]
        signed = float64(query)
        size = signed.abs()
        # Six roundings scale a score: the scale or its square root, on one factor or on both.
        roundings = self.scale * _gamma(width + 6, wide.acc)
        error = torch.matmul(size, self.key_size.mT).mul_(roundings)
        largest_factor = 1 + size.amax() + self.key_size.amax()
        error += (4 * wide.eta + 2 * narrow.flush) * width * largest_factor
        scores = torch.matmul(signed, self.key.mT).mul_(self.scale)
        largest = (scores.abs() + error).amax(-1, keepdim=True)
        weights = torch.softmax(scores, -1)
        inherited = torch.expm1(error).mul_(weights).sum(-1, keepdim=True)
        if not bool((inherited < 0.5).all()):
            raise NoBound("scores are too large for this dtype: no rounding bound on softmax")
        return ExactRows(weights, error, -torch.log1p(-inherited), largest)


def scores(key: torch.Tensor, scale: float, model: Precision) -> Scores:
    """Scores against the stored keys (H, m, d_k)."""
    wide = float64(key)
    return Scores(wide, wide.abs(), scale, model)


@dataclass(frozen=True)
class Values:
    """Rows (H, m, w) that weights are applied to: size >= |computed|, error, and size summed over
    the keys (H, 1, w).
    """

    size: torch.Tensor
    error: torch.Tensor
    total: torch.Tensor


def values(rounded: Rounded) -> Values:
    """The rows of a computed array (H, m, w), ready for `attend`."""
    size = rounded.computed
    return Values(size, rounded.error, size.sum(-2, keepdim=True))


def library_weights(rows: ExactRows, model: Precision) -> WeightError:
    """Error of torch's fused softmax weights on a block, sums over keys included.

    Raises NoBound when there are too many keys for the accumulation dtype.
    """
    u, keys = model.wide.acc, rows.weights.shape[-1]
    tiles = math.ceil(keys / model.key_tile)
    exp = tiles * (2 * LIBRARY_EXP_ULPS * u + u)
    # The exponents round against the running maximum; the rescalings' telescope to the same size.
    shifted = exp + 16 * u * rows.size
    weight = _logarithmic(shifted + _gamma(keys + 2 * tiles + 3, u) + _once_stored(model))
    total = _logarithmic(shifted + _gamma(keys + 2 * tiles, u))
    floor = 8 * (tiles + 1) * model.least + _stored_floor(model)
    return _weight_error(rows, weight + total, floor, model)


def walk_weights(
    rows: ExactRows, model: Precision, roundings: int, head_weights: torch.Tensor | None = None
) -> WeightError:
    """Error of `blockwise.softmax_rows` followed by `roundings` roundings a term.

    `head_weights` (H,) are those the walk is formed with: dividing by them magnifies underflow.
    Raises NoBound when there are too many roundings for the accumulation dtype.
    """
    u, exp, keys = model.wide.acc, model.wide.exp, rows.weights.shape[-1]
    log_keys = math.log(keys)
    total = _logarithmic(exp + 4 * u * rows.size + _gamma(keys, u))
    # The logarithm's own error, then the rounding of log-sum-exp and of the exponent.
    total = total + exp * (log_keys + u) + 8 * u * (rows.size + log_keys)
    weight = _logarithmic(
        torch.full_like(rows.size, exp + _gamma(roundings, u) + _once_stored(model))
    )
    least_weight = 1.0 if head_weights is None else min(1.0, float(head_weights.min()))
    floor = 16 * max(model.least, model.wide.eta) / least_weight + _stored_floor(model)
    return _weight_error(rows, weight + total, floor, model)


def attend(weight: WeightError, rows: Values, observed: torch.Tensor, model: Precision) -> Rounded:
    """Bound for weights (H, B, m) times rows (H, m, w), the result stored as `observed`.

    `observed` is (H, B, w), or (B, w) when the product also sums over the heads.
    """
    error = attention_error(weight, rows, model)
    error = error.sum(0) if observed.ndim == 2 else error
    return model.store(Rounded(torch.full_like(error, torch.inf), error, model.wide), observed)


def attention_error(weight: WeightError, rows: Values, model: Precision) -> torch.Tensor:
    """Error of weights (H, B, m) times rows (H, m, w) before it is stored, head by head."""
    error = torch.matmul(weight.error, rows.size)
    error += torch.matmul(weight.weights, rows.error)
    error += weight.floor * rows.total
    return error.add_(4 * rows.size.shape[1] * model.wide.eta)


def _weight_error(
    rows: ExactRows, roundings: torch.Tensor, floor: float, model: Precision
) -> WeightError:
    relative = torch.expm1(rows.score_error + rows.total_error + roundings)
    # The weights and the bound are rounded themselves, by the same operations in float64: their
    # relative error is at most the device's, scaled by the ratio of the two units.
    outward = 1 + 4 * relative.amax() * _U64 / model.wide.acc
    weights = rows.weights * outward
    return WeightError(weights, relative.mul_(weights), floor)


def _gamma(k: int, u: float) -> float:
    """gamma_k; NoBound where k u >= 1."""
    if k * u >= 1:
        raise NoBound(f"a sum of {k} terms has no rounding bound at unit roundoff {u:.3g}")
    return gamma(k, u)


def _logarithmic(relative: torch.Tensor) -> torch.Tensor:
    """|log(1 + x)| over all |x| <= relative; NoBound unless relative < 1."""
    if not bool((relative < 1).all()):
        raise NoBound("too many roundings for this dtype: the weights have no rounding bound")
    return -torch.log1p(-relative)


def _once_stored(model: Precision) -> float:
    return 0.0 if model.narrow.store == model.wide.store else model.narrow.store


def _stored_floor(model: Precision) -> float:
    return 0.0 if model.narrow.store == model.wide.store else 4 * model.narrow.eta
