"""Transports of attention heads, the gates that mix them, and changes of gauge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from numerics.arrays import Array, finite, namespace, nonnegative, positive, shape

if TYPE_CHECKING:
    from numerics.walks.walk import Walk


def kv_head(h: int, heads: int, kv_heads: int) -> int:
    """Key/value head floor(h H_kv / H) that query head h reads (grouped-query attention, CW2)."""
    for name, value in (("h", h), ("heads", heads), ("kv_heads", kv_heads)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    if not 0 <= h < heads:
        raise ValueError(f"h must lie in [0, {heads}), got {h}")
    if not 0 < kv_heads <= heads:
        raise ValueError(f"kv_heads must lie in [1, {heads}], got {kv_heads}")
    return h * kv_heads // heads


def head_transports(w_v: Array, w_o: Array) -> Array:
    """Transports T^h = (W_V^{kv(h)} W_O^h)^T, (H, d_out, d_in), of every query head.

    w_v (H_kv, d_in, d_v), w_o (H, d_v, d_out) in row form, H_kv <= H. Raises ValueError,
    TypeError for shapes, kinds or entries that do not fit. Source: CW2.
    """
    xp = namespace(w_v=w_v, w_o=w_o)
    sizes: dict[str, int] = {}
    shape(sizes, "w_v", w_v, "H_kv", "d_in", "d_v")
    shape(sizes, "w_o", w_o, "H", "d_v", "d_out")
    finite(w_v=w_v, w_o=w_o)
    heads, kv_heads = sizes["H"], sizes["H_kv"]
    if kv_heads > heads:
        raise ValueError(f"w_v must have at most H = {heads} key/value heads, got {kv_heads}")
    read = xp.stack([w_v[kv_head(h, heads, kv_heads)] for h in range(heads)])
    return xp.permute_dims(read @ w_o, (0, 2, 1))


def head_weights(attention: Array, weights: Array | None = None) -> Array:
    """Checked head weights (H,), positive; 1/H each when none are given.

    attention (H, n, m) fixes H, kind and dtype. Source: CW2.
    """
    xp = namespace(attention=attention, weights=weights)
    sizes: dict[str, int] = {}
    shape(sizes, "attention", attention, "H", "n", "m")
    if weights is None:
        ones = xp.ones((sizes["H"],), dtype=attention.dtype, device=attention.device)
        return ones / sizes["H"]
    shape(sizes, "weights", weights, "H")
    positive(weights=weights)
    return weights


def gates(attention: Array, weights: Array | None = None) -> Array:
    """Gates g^h_ij = w_h A^h_ij / P_ij, (H, n, m): sum 1 over h where some head attends, else 0.

    attention (H, n, m) nonnegative, weights (H,) positive, 1/H each by default. Raises
    ValueError, TypeError by name. Source: CW2.
    """
    xp = namespace(attention=attention, weights=weights)
    w = head_weights(attention, weights)
    nonnegative(attention=attention)
    # Dividing by the largest entry first keeps subnormal edges: w A and P would lose them.
    peak = xp.max(attention, axis=0)
    support = peak > 0
    relative = attention / xp.where(support, peak, xp.ones_like(peak))[None]
    shares = w[:, None, None] * relative
    total = xp.sum(shares, axis=0)
    return shares / xp.where(total > 0, total, xp.ones_like(total))[None]


def frobenius_factors(transports: Array) -> tuple[Array, Array]:
    """Factors (peak, length), shape (...), with ||T||_F = peak * length, for T (..., d_out, d_in).

    peak = max |T_ab|, length = ||T / peak||_F (1 where T = 0), so that no square over- or
    underflows. Raises ValueError for fewer than two axes or entries that are not finite.
    """
    xp = namespace(transports=transports)
    if transports.ndim < 2 or 0 in transports.shape:
        raise ValueError(
            f"transports must have shape (..., d_out, d_in), all positive, got "
            f"{tuple(transports.shape)}"
        )
    finite(transports=transports)
    peak = xp.max(xp.abs(transports), axis=(-2, -1), keepdims=True)
    scaled = transports / xp.where(peak > 0, peak, xp.ones_like(peak))
    square = xp.sum(scaled * scaled, axis=(-2, -1), keepdims=True)
    length = xp.sqrt(xp.where(peak > 0, square, xp.ones_like(square)))
    return peak[..., 0, 0], length[..., 0, 0]


def _checked(walk: Walk) -> None:
    if not (hasattr(walk, "weights") and hasattr(walk, "transports")):
        raise TypeError(f"walk must be a Walk, got {type(walk).__name__}")


def square(walk: Walk) -> tuple[int, int]:
    """(n, d) of a walk from n tokens of width d to as many; ValueError for any other walk."""
    _checked(walk)
    n, m = walk.weights.shape
    d_out, d_in = walk.transports.shape[-2:]
    if n != m or d_out != d_in:
        raise ValueError(
            f"walk must be square (n = m, d_out = d_in), got n = {n}, m = {m}, "
            f"d_out = {d_out}, d_in = {d_in}"
        )
    return n, d_in


def block_norms(walk: Walk) -> Array:
    """Frobenius norms ||P_ij T_ij||_F of the walk's blocks, (n, m) (CW3)."""
    _checked(walk)
    peak, length = frobenius_factors(walk.transports)
    return walk.weights * (peak * length)


def frobenius_gauge(walk: Walk) -> Walk:
    """The same operator with P_ij = c_ij / sum_k c_ik, c_ij = ||block_ij||_F (row-stochastic).

    The transports then have Frobenius norm sum_k c_ik along row i; rows of zero blocks stay
    zero. Source: CW3.
    """
    _checked(walk)
    xp = namespace(weights=walk.weights)
    norms = block_norms(walk)
    rows = xp.sum(norms, axis=1, keepdims=True)
    rows = xp.where(rows > 0, rows, xp.ones_like(rows))
    shares = norms / rows
    peak, length = frobenius_factors(walk.transports)
    scale = xp.where(peak > 0, peak, xp.ones_like(peak))
    direction = walk.transports / scale[..., None, None] / length[..., None, None]
    edges = rows[:, :, None, None] * direction + xp.zeros_like(shares)[:, :, None, None]
    on_support = (shares > 0)[:, :, None, None]
    return replace(
        walk, weights=shares, transports=xp.where(on_support, edges, xp.zeros_like(edges))
    )


def node_gauge(walk: Walk, g: Array) -> Walk:
    """Change of frames T_ij -> g_i T_ij g_j^{-1}, offset_i -> g_i offset_i, so W -> g W g^{-1}.

    g (n, d, d) invertible; the walk must be square. Raises ValueError by name. Source: CW3.
    """
    n, d = square(walk)
    xp = namespace(weights=walk.weights, g=g)
    shape({"n": n, "d": d}, "g", g, "n", "d", "d")
    finite(g=g)
    zero = xp.zeros_like(walk.weights)[:, :, None, None]
    turned = g[:, None] @ walk.transports + zero
    try:
        solved = xp.linalg.solve(
            xp.permute_dims(g, (0, 2, 1))[None] + zero, xp.permute_dims(turned, (0, 1, 3, 2))
        )
    except (RuntimeError, ValueError) as error:  # LinAlgError of torch and of NumPy
        raise ValueError(
            f"g must be invertible at every node, got a singular matrix: {error}"
        ) from None
    moved = xp.permute_dims(solved, (0, 1, 3, 2))
    on_support = (walk.weights > 0)[:, :, None, None]
    offset = None if walk.offset is None else (g @ walk.offset[:, :, None])[..., 0]
    return replace(
        walk, transports=xp.where(on_support, moved, xp.zeros_like(moved)), offset=offset
    )
