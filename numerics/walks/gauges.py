"""Changes of gauge: other weights and transports of one operator, other frames at the nodes."""

from __future__ import annotations

from dataclasses import replace

from numerics.arrays import Array, finite, namespace, shape
from numerics.walks.walk import Walk, checked, square


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


def block_norms(walk: Walk) -> Array:
    """Frobenius norms ||P_ij T_ij||_F of the walk's blocks, (n, m) (CW3)."""
    checked(walk)
    peak, length = frobenius_factors(walk.transports)
    return walk.weights * (peak * length)


def frobenius_gauge(walk: Walk) -> Walk:
    """The same operator with P_ij = c_ij / sum_k c_ik, c_ij = ||block_ij||_F (row-stochastic).

    The transports then have Frobenius norm sum_k c_ik along row i; rows of zero blocks stay
    zero. Source: CW3.
    """
    checked(walk)
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
