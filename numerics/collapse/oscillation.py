"""Rank collapse in numbers: how far apart tokens are, and how much a layer can leave of it.

A layer maps tokens x (n, d) to x'_i = sum_h sum_j A^h_ij T^h x_j, A^h = softmax(S^h). Then
osc(x') <= sum_h |T^h| tanh(Delta_h / 4) osc(x), Delta_h the spread over keys of a difference of
two rows of scores (RA11). Norms and bounds are rounded up: what is returned is never too small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat

from numerics.arrays import Array, dtype_name, finite, namespace, nonnegative, refuse, shape
from numerics.inputs import number
from numerics.rounding import roundoff
from numerics.rounding.units import gamma, units
from numerics.rows import wide, working, xp_of
from numerics.walks.walk import softmax_walk

_U64 = 2.0**-53
_TINY = 2.0**-1074
_LARGEST_ENTRY = 2.0**500  # of a matrix whose Gram matrix float64 can hold


def _batched(sizes: dict[str, int], name: str, array: Array, *axes: str) -> None:
    """Bind the symbols of the last axes; those before them are a batch."""
    batch = tuple(f"batch_{k}" for k in range(max(0, array.ndim - len(axes))))
    shape(sizes, name, array, *batch, *axes)


def osc(x: Array) -> Array:
    """Oscillation max_ij |x_i - x_j| (...) of tokens x (..., n, d), in the Euclidean norm.

    Its relative error is at most (d + 8) unit roundoffs, however near the tokens are. Raises
    ValueError, TypeError by name; ValueError where a difference overflows. Source: RA11.
    """
    xp = namespace(x=x)
    _batched({}, "x", x, "n", "d")
    finite(x=x)
    tokens = working(x)
    widths = xp.max(tokens, axis=-2, keepdims=True) - xp.min(tokens, axis=-2, keepdims=True)
    refuse("x", widths, ~xp.isfinite(widths), "of finite differences: scale it")
    # Measured by the widest coordinate, no square over- or underflows to any effect.
    peak = xp.max(widths, axis=-1, keepdims=True)
    unit = xp.where(peak > 0, peak, xp.ones_like(peak))
    largest = xp.zeros_like(peak[..., 0, 0])
    for i in range(x.shape[-2]):
        steps = (tokens - tokens[..., i : i + 1, :]) / unit
        largest = xp.maximum(largest, xp.max(xp.sum(steps * steps, axis=-1), axis=-1))
    return xp.astype(xp.sqrt(largest) * peak[..., 0, 0], x.dtype)


def dobrushin(A: Array) -> Array:
    """Dobrushin's coefficient (...), the largest total variation between rows of A (..., n, m).

    osc(A x) <= dobrushin(A) osc(x). Entries may be negative. Raises ValueError where rows have
    different sums, beyond the rounding of a softmax, and ValueError, TypeError by name.
    Source: RA11; Dobrushin 1956.
    """
    xp = namespace(A=A)
    _batched({}, "A", A, "n", "m")
    finite(A=A)
    model, m = units(A.dtype, array_api_compat.device(A)), A.shape[-1]
    rows = wide(A)
    sums = xp.sum(rows, axis=-1)
    allowed = gamma(4 * (m + 16), model.acc) + 4 * model.store
    allowed = allowed * xp.max(xp.sum(xp.abs(rows), axis=-1), axis=-1) + m * model.eta
    apart = xp.max(sums, axis=-1) - xp.min(sums, axis=-1)
    refuse("A", apart, ~(apart <= 2 * allowed), "of equal row sums (apart by 0)")
    largest = xp.zeros_like(sums[..., 0])
    for i in range(A.shape[-2]):
        distance = xp.sum(xp.abs(rows - rows[..., i : i + 1, :]), axis=-1) / 2
        largest = xp.maximum(largest, xp.max(distance, axis=-1))
    return xp.astype(largest, A.dtype)


@dataclass(frozen=True)
class ScoreSpread:
    """difference = max_ii' spread_j(s_ij - s_i'j) = Delta and row = max_i spread_j s_ij = B.

    Each has the shape of the batch; Delta <= 2 B. A spread is a largest minus a least value.
    """

    difference: Array
    row: Array


def score_spread(S: Array) -> ScoreSpread:
    """Spreads of scores S (..., n, m), one rounding each beside that of the differences.

    Raises ValueError for scores that are not finite (a mask has no spread) or whose differences
    are not, TypeError by name. Source: RA11.
    """
    xp = namespace(S=S)
    _batched({}, "S", S, "n", "m")
    finite(S=S)
    row = xp.max(xp.max(S, axis=-1) - xp.min(S, axis=-1), axis=-1)
    largest = xp.zeros_like(row)
    for i in range(S.shape[-2]):
        apart = S - S[..., i : i + 1, :]
        spread = xp.max(apart, axis=-1) - xp.min(apart, axis=-1)
        largest = xp.maximum(largest, xp.max(spread, axis=-1))
    refuse("S", largest, ~xp.isfinite(largest), "of finite differences: scale it")
    return ScoreSpread(largest, row)


def spectral_norm(W: Array) -> Array:
    """Largest singular value (...) of W (..., p, q), in float64 and rounded up.

    Raises ValueError for entries beyond 2^500, ValueError, TypeError by name.

    With V the computed right singular vectors, |W|^2 <= |(W V)^T W V| / (1 - |V^T V - I|), both
    in the largest absolute row sum.
    """
    xp = namespace(W=W)
    _batched({}, "W", W, "p", "q")
    finite(W=W)
    entries = wide(W)
    refuse("W", W, xp.abs(entries) > _LARGEST_ENTRY, "at most 2^500 in size: scale it")
    V = xp.linalg.eigh(xp.matrix_transpose(entries) @ entries)[1]
    image = roundoff.exact(entries) @ roundoff.exact(V)
    top = _row_sums(xp, entries @ V, image)
    eye = xp.eye(V.shape[-1], dtype=V.dtype, device=array_api_compat.device(V))
    tilt = _row_sums(xp, V, roundoff.exact(V), eye)
    refuse("W", tilt, ~(tilt < 0.5), "a matrix whose singular vectors are found: scale it")
    return xp.sqrt(top / (1 - tilt)) * (1 + 8 * _U64)


def _row_sums(xp: Any, B: Array, bound: roundoff.Rounded, minus: Array | None = None) -> Array:
    """Upper bound on the largest absolute row sum of exact B^T B - minus; B as computed."""
    gram = xp.matrix_transpose(B) @ B
    q = gram.shape[-1]
    axes = (*range(B.ndim - 2), B.ndim - 1, B.ndim - 2)
    error = (bound.seen(B).transpose(*axes) @ bound.seen(B)).error
    size = xp.abs(gram if minus is None else gram - minus) + error
    return xp.max(xp.sum(size, axis=-1), axis=-1) * (1 + (q + 8) * _U64)


def contraction(value_norms: Array, spreads: Array) -> Array:
    """Factor sum_h |T^h| tanh(Delta_h / 4) (...) that a layer leaves of osc, rounded up.

    value_norms and spreads are (..., H), nonnegative. Raises ValueError, TypeError by name.
    Source: RA11.
    """
    xp = namespace(value_norms=value_norms, spreads=spreads)
    sizes: dict[str, int] = {}
    _batched(sizes, "value_norms", value_norms, "H")
    # Of the same batch: spreads of fewer axes would broadcast.
    batch = (f"batch_{k}" for k in range(value_norms.ndim - 1))
    shape(sizes, "spreads", spreads, *batch, "H")
    nonnegative(value_norms=value_norms, spreads=spreads)
    terms = wide(value_norms) * xp.tanh(wide(spreads) / 4)
    return xp.sum(terms, axis=-1) * (1 + (value_norms.shape[-1] + 16) * _U64) + _TINY


def collapse_bound(osc0: float, value_norms: Array, spreads: Array) -> Array:
    """Bounds (L + 1,) on osc before and after each of L layers, from their spreads Delta (L, H).

    value_norms (L, H); osc0 >= 0 is the oscillation of the initial tokens. Rounded up, so never
    below the smallest float64 where osc0 > 0. Raises ValueError, TypeError by name. Source: RA11.
    """
    xp = namespace(value_norms=value_norms, spreads=spreads)
    sizes: dict[str, int] = {}
    shape(sizes, "value_norms", value_norms, "L", "H")
    shape(sizes, "spreads", spreads, "L", "H")
    start = xp.zeros_like(wide(value_norms)[:1, 0]) + _nonnegative("osc0", osc0)
    found = [start]
    for factor in contraction(value_norms, spreads):
        found.append(xp.where(start > 0, found[-1] * factor * (1 + 4 * _U64) + _TINY, start))
    return xp.concat(found)


def _nonnegative(name: str, value: object) -> float:
    found = number(name, value)
    if found < 0:
        raise ValueError(f"{name} must be at least 0, got {value}")
    return found


@dataclass(frozen=True)
class Step:
    """Tokens (..., n, d) after a layer, and error (..., n, d) >= |computed - exact|, float64."""

    x: Array
    error: Array

    def spread_error(self) -> Array:
        """Bound (...) on the error that osc inherits from the tokens, twice a token's."""
        xp = xp_of(self.error)
        peak = xp.max(xp.max(self.error, axis=-1), axis=-1)
        unit = xp.where(peak > 0, peak, xp.ones_like(peak))
        share = self.error / unit[..., None, None]
        square = xp.max(xp.sum(share * share, axis=-1), axis=-1)
        return 2 * xp.sqrt(square) * peak * (1 + (self.error.shape[-1] + 8) * _U64) + _TINY


def attention_step(
    x: Array, scores: Array, transports: Array, allowed: Array | None = None
) -> Step:
    """x'_i = sum_h sum_j softmax(scores^h)_ij T^h x_j with a rigorous bound on its rounding.

    x (..., n, d), scores (..., H, n, n), transports (..., H, d, d) in column form, float64 or
    float32; allowed (n, n) is a mask for all heads. Raises ValueError, TypeError by name.
    """
    xp = namespace(x=x, scores=scores, transports=transports)
    if "16" in dtype_name(x.dtype):
        raise TypeError(f"x must be float64 or float32, got {x.dtype}")
    sizes: dict[str, int] = {}
    _batched(sizes, "x", x, "n", "d")
    _batched(sizes, "scores", scores, "H", "n", "n")
    _batched(sizes, "transports", transports, "H", "d", "d")
    if not x.ndim == scores.ndim - 1 == transports.ndim - 1:
        raise ValueError(
            "x, scores and transports must have one batch, got shapes "
            f"{tuple(x.shape)}, {tuple(scores.shape)}, {tuple(transports.shape)}"
        )
    finite(x=x, scores=scores, transports=transports)
    weights = softmax_walk(scores, allowed)
    seen = None if allowed is None else xp.broadcast_to(allowed, tuple(scores.shape))
    carried = x[..., None, :, :] @ xp.matrix_transpose(transports)
    moved = weights @ carried
    heads = scores.ndim - 3
    axes = (*range(heads + 1), heads + 2, heads + 1)
    # A batch axis in front of the heads: Rounded products broadcast like those of arrays.
    values = roundoff.exact(x[..., None, :, :]) @ roundoff.exact(transports).transpose(*axes)
    out = (roundoff.softmax(scores, allowed=seen) @ values.seen(carried)).seen(moved).sum(heads)
    return Step(xp.sum(moved, axis=heads), out.error)
