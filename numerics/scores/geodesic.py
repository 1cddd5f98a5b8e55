"""Scores of Riemannian attention: each token i has the metric G_i = diag(D_i) + U_i U_i^T.

Tokens are rows, x (n, d); D (n, d) is positive, U (n, d, r) or absent. No function here makes an
array of n x n x d entries, and the only n x n ones are scores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numerics.arrays import Array, finite, namespace, positive, refuse, shape
from numerics.scores.integer_scores import score_rank_exact

__all__ = ["KINDS", "geodesic_scores", "midpoint_scores", "score_rank_exact", "sphere_tokens"]

KINDS = ("query", "key", "symmetrised")
"""Whose metric measures x_i - x_j: that of i, that of j, or the average of both."""

_BLOCK = 2**20  # entries of one block of differences


def geodesic_scores(
    x: Array,
    D: Array,
    U: Array | None = None,
    kind: str = "query",
    *,
    squared: bool = True,
    products: bool = False,
) -> Array:
    """Scores (n, n): -(1/2)|x_i - x_j|^2 in the metric that kind names, or -|x_i - x_j|.

    Differences come first, so s_ii = 0 exactly and near tokens keep their digits; products=True
    takes r + 2 matrix products instead, whose error is absolute, gamma times the squared diameter.
    Raises ValueError, TypeError by name; ValueError where a score overflows. Source: RA1, RA7.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    xp = namespace(x=x, D=D, U=U)
    _checked(x, D, U)
    distances = _by_products(xp, x, D, U) if products else _by_differences(xp, x, D, U)
    if kind == "key":
        distances = xp.permute_dims(distances, (1, 0))
    elif kind == "symmetrised":
        distances = (distances + xp.permute_dims(distances, (1, 0))) / 2
    return _scores(xp, distances, squared)


def midpoint_scores(
    x: Array, field: Callable[[Array], tuple[Array, Array | None]], *, squared: bool = True
) -> Array:
    """Scores (n, n) in the metric at the midpoint of each pair of tokens x (n, d).

    field maps points (n, d) to D (n, d) and U (n, d, r) or None; it is called once a query.
    Raises like geodesic_scores. Source: RA8.
    """
    xp = namespace(x=x)
    shape({}, "x", x, "n", "d")
    finite(x=x)
    rows = []
    for i in range(x.shape[0]):
        points = x / 2 + x[i : i + 1] / 2
        D, U = field(points)
        namespace(x=x, D=D, U=U)
        _checked(points, D, U)
        step = (x - x[i : i + 1])[:, None, :]
        rows.append(_norms(xp, step, D, U)[:, 0])
    return _scores(xp, xp.stack(rows), squared)


def sphere_tokens(x: Array, gain: Array | None = None) -> Array:
    """Tokens (n, d) scaled to mean square 1, times gain (d,): RMSNorm without epsilon.

    Without gain they lie on the sphere of radius sqrt(d). Raises ValueError for a zero token.
    Source: RA3.
    """
    xp = namespace(x=x, gain=gain)
    sizes: dict[str, int] = {}
    shape(sizes, "x", x, "n", "d")
    finite(x=x, gain=gain)
    peak = xp.max(xp.abs(x), axis=1, keepdims=True)
    refuse("x", peak, peak == 0, "nonzero in every row")
    if gain is not None:
        shape(sizes, "gain", gain, "d")
    # Scaled by the largest entry first: no square over- or underflows.
    scaled = x / peak
    unit = scaled / xp.sqrt(xp.mean(scaled * scaled, axis=1, keepdims=True))
    return unit if gain is None else unit * gain[None, :]


def _checked(x: Array, D: Array, U: Array | None) -> None:
    sizes: dict[str, int] = {}
    shape(sizes, "x", x, "n", "d")
    shape(sizes, "D", D, "n", "d")
    finite(x=x, U=U)
    positive(D=D)
    if U is not None:
        shape(sizes, "U", U, "n", "d", "r")


def _norms(xp: Any, steps: Array, D: Array, U: Array | None) -> Array:
    """|v|^2 in metric i of vectors (n, m, d): D (n, d), U (n, d, r)."""
    total = xp.sum(D[:, None, :] * (steps * steps), axis=-1)
    if U is not None:
        seen = steps @ U
        total = total + xp.sum(seen * seen, axis=-1)
    return total


def _by_differences(xp: Any, x: Array, D: Array, U: Array | None) -> Array:
    n, d = x.shape
    rows = max(1, _BLOCK // (n * d))
    blocks = []
    for start in range(0, n, rows):
        own = slice(start, start + rows)
        steps = x[None, :, :] - x[own][:, None, :]
        blocks.append(_norms(xp, steps, D[own], None if U is None else U[own]))
    return xp.concat(blocks, axis=0)


def _by_products(xp: Any, x: Array, D: Array, U: Array | None) -> Array:
    """From r + 2 products; one common token is subtracted, since only differences matter."""
    x = x - x[:1]
    keys = xp.permute_dims(x, (1, 0))
    own = xp.sum(D * x * x, axis=1)[:, None]
    total = own + D @ (keys * keys) - 2 * ((D * x) @ keys)
    for c in range(0 if U is None else U.shape[2]):
        u = U[:, :, c]  # type: ignore[index]
        gap = xp.sum(u * x, axis=1)[:, None] - u @ keys
        total = total + gap * gap
    return xp.where(total > 0, total, xp.zeros_like(total))


def _scores(xp: Any, distances: Array, squared: bool) -> Array:
    refuse("scores", distances, ~xp.isfinite(distances), "finite: scale the tokens or the metrics")
    return -distances / 2 if squared else -xp.sqrt(distances)
