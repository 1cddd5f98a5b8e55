"""Transports of attention heads and the gates that mix them."""

from __future__ import annotations

from numerics.arrays import Array, finite, namespace, nonnegative, positive, shape


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
