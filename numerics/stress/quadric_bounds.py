"""Rounding bounds of attention on flat space, spheres and hyperboloids, entry by entry in float64.

Weights are followed in the logarithm, as in `rounding`: whatever moves all scores of a row alike
cancels in their quotients. Moved points carry the rounding of the motion into scores and values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch

from numerics.rounding.roundoff import Rounded, gamma
from numerics.stress.rounding import (
    SPARE,
    ExactRows,
    NoBound,
    Precision,
    WeightError,
    float64,
    library_weights,
)

_U64 = 2.0**-53
_SPARE_SCORE = 2.0**-22


@dataclass(frozen=True)
class Pairings:
    """Scores of a block (B, n) up to float64 rounding, weights (B, n) that are at least theirs."""

    scores: torch.Tensor
    weights: torch.Tensor


def pairings(query: torch.Tensor, key: torch.Tensor, scale: float) -> Pairings:
    """Softmax of scale <q_i, k_j> for factors (B, w) and (n, w) in float64.

    Raises NoBound where float64 itself is too coarse for such scores.
    """
    width = query.shape[1]
    largest = scale * width * float(query.abs().amax() * key.abs().amax())
    if not (2 * width + 8) * _U64 * largest < _SPARE_SCORE:
        raise NoBound("scores are too large for a bound in float64")
    scores = (query @ key.mT).mul_(scale)
    return Pairings(scores, torch.softmax(scores, -1).mul_(SPARE))


def product_error(query: Rounded, key: Rounded, scale: float, model: Precision) -> torch.Tensor:
    """Error (B, n) of scale <q_i, k_j>, summed in any order, for computed (B, w) and (n, w)."""
    width, size = query.shape[1], query.computed @ key.computed.mT
    error = size.mul_(gamma(width + 6, model.wide.acc))
    error += query.error @ key.computed.mT
    error += query.magnitude @ key.error.mT
    largest = 1 + query.computed.amax() + key.computed.amax()
    return error.mul_(scale * SPARE).add_(4 * width * model.wide.eta * largest * max(1, scale))


def distance_error(
    found: Pairings, query: torch.Tensor, key: torch.Tensor, scale: float, model: Precision
) -> torch.Tensor:
    """Error (B, n) of -scale |q_i - k_j|^2 / 2 from differences of stored (B, d) and (n, d).

    The scores of `found` are scale (<q_i, k_j> - |k_j|^2 / 2).
    """
    d, near, far = query.shape[1], float64(query), float64(key)
    own, other = (near * near).sum(1, keepdim=True), (far * far).sum(1)
    square = (own - (2 / scale) * found.scores).clamp_min_(0)
    square += (4 * d + 16) * _U64 * (own + other)
    # A difference is rounded once and squared, its square once, and d of them are added.
    error = square.mul_(gamma(d + 3, model.wide.acc))
    lost = 4 * model.wide.eta + 2 * model.narrow.flush
    error += 4 * d * lost * (1 + near.abs().amax() + far.abs().amax())
    return error.mul_(scale / 2 * SPARE)


def walk_weights(
    found: Pairings, score_error: torch.Tensor, model: Precision, homogeneous: bool = False
) -> WeightError:
    """Error of exp(s - max s) over its sum, sums over keys and the quotient included.

    Where the readout is `homogeneous`, so that a factor common to a row's weights leaves it as it
    is, the error is that from a multiple of the exact weights, without the error of their sum.
    Raises NoBound where scores are too large for the dtype, or keys too many.
    """
    u, keys = model.wide.acc, found.scores.shape[-1]
    # The largest score is subtracted from all: what it is off by cancels, but exponents round.
    exponent = found.scores.amax(-1, keepdim=True) - found.scores + score_error
    exponent += score_error.amax(-1, keepdim=True)
    off = exponent.mul_(2 * u).add_(score_error).add_(_logarithm(model.wide.exp))
    total = _row_total(off, found) + 4 * keys * model.least + _of_sum(keys, u)
    own = torch.expm1(off.add_(_of_sum(keys + 2, u))).mul_(found.weights)
    floor = 8 * max(model.least, model.wide.eta)
    return _with_total(WeightError(found.weights, own, floor), total, homogeneous)


def fused_weights(
    found: Pairings, score_error: torch.Tensor, model: Precision, homogeneous: bool = False
) -> WeightError:
    """Error of torch's kernel on arrays of the accumulation dtype, like `walk_weights`.

    Raises NoBound like `walk_weights`.
    """
    size = found.scores.abs().add_(score_error).amax(-1, keepdim=True)
    total = _row_total(score_error, found)
    rows = ExactRows(found.weights, score_error, torch.zeros_like(total), size)
    weight = library_weights(rows, replace(model, narrow=model.wide))
    return _with_total(weight, total, homogeneous)


def mean(weight: WeightError, value: Rounded, observed: torch.Tensor, model: Precision) -> Rounded:
    """Bound of the means (B, d) of values (n, d), computed as `observed`."""
    error = weight.error @ value.computed
    error += weight.weights @ value.error
    error += weight.floor * value.computed.sum(0)
    error = error.mul_(SPARE).add_(4 * value.shape[0] * model.wide.eta)
    return Rounded(torch.full_like(error, torch.inf), error, model.wide).seen(observed)


def normalised(means: Rounded, signs: Rounded, squares: torch.Tensor) -> Rounded:
    """Bound of M over the root of eta_1 <M, M> (B, d), given that square (B,) as computed.

    Raises NoBound where <M, M> could be 0.
    """
    root = (means * means * signs).sum(1).sqrt(squares).reshape(-1, 1)
    try:
        return means.divide(root, squares.sqrt()[:, None])
    except ValueError as error:
        raise NoBound(f"a mean may be null in this dtype: {error}") from None


def _row_total(off: torch.Tensor, found: Pairings) -> torch.Tensor:
    """Logarithmic error (B, 1) of the sum over keys, due to those of its terms."""
    relative = torch.expm1(off).mul_(found.weights).sum(-1, keepdim=True) * SPARE
    if not bool((relative < 0.5).all()):
        raise NoBound("scores are too large for this dtype: no rounding bound on softmax")
    return -torch.log1p(-relative)


def _with_total(weight: WeightError, total: torch.Tensor, homogeneous: bool) -> WeightError:
    """The error where a further factor within e^total is common to a row's weights."""
    factor = total.exp()
    error = weight.error * factor
    if not homogeneous:
        error += weight.weights * total.expm1()
    return replace(weight, weights=weight.weights * factor, error=error)


def _of_sum(k: int, u: float) -> float:
    """The logarithmic error of k roundings."""
    if 2 * (k + 1) * u >= 1:
        raise NoBound(f"a sum of {k} terms has no rounding bound at unit roundoff {u:.3g}")
    return _logarithm(gamma(k, u))


def _logarithm(relative: float) -> float:
    return -math.log1p(-relative)
