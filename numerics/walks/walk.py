"""Attention as a connection walk: (W x)_i = sum_j P_ij T_ij x_j (+ offset_i).

Tokens are rows: x is (m, d_in). P (n, m) is the walk matrix, T (d_out, d_in) or
(n, m, d_out, d_in) the transports in column form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numerics.arrays import Array, boolean, finite, namespace, nonnegative, refuse, shape
from numerics.walks.transports import gates, head_weights


def softmax_walk(logits: Array, allowed: Array | None = None) -> Array:
    """Walk matrix (..., n, m) of logits (..., n, m); a fully masked row is a zero row.

    allowed is boolean, (n, m) or the logits' shape, True means allowed; logits may be -inf.
    Raises ValueError for an allowed logit that is NaN or +inf. Source: CW1.
    """
    xp = namespace(logits=logits)
    if logits.ndim < 2 or 0 in logits.shape:
        raise ValueError(
            f"logits must have shape (..., n, m), all positive, got {tuple(logits.shape)}"
        )
    visible = logits > -float("inf")
    refused = xp.isnan(logits) | (logits == float("inf"))
    if allowed is not None:
        boolean("allowed", allowed, logits)
        if tuple(allowed.shape) not in (tuple(logits.shape), tuple(logits.shape[-2:])):
            raise ValueError(
                f"allowed must have shape {tuple(logits.shape[-2:])} or "
                f"{tuple(logits.shape)}, got {tuple(allowed.shape)}"
            )
        visible, refused = visible & allowed, refused & allowed
    refuse("logits", logits, refused, "finite or -inf")
    zero = xp.zeros_like(logits)
    peak = xp.max(xp.where(visible, logits, zero - float("inf")), axis=-1, keepdims=True)
    peak = xp.where(xp.isfinite(peak), peak, xp.zeros_like(peak))
    # Selecting before exp, not after, keeps NaN out of both the values and the gradients.
    with np.errstate(over="ignore"):
        gap = xp.where(visible, logits, peak) - peak
    powers = xp.where(visible, xp.exp(gap), zero)
    total = xp.sum(powers, axis=-1, keepdims=True)
    return powers / xp.where(total > 0, total, xp.ones_like(total))


@dataclass(frozen=True)
class Walk:
    """Walk matrix (n, m), transports (d_out, d_in) or (n, m, d_out, d_in), offset (n, d_out).

    Raises ValueError for shapes that disagree, entries that are not finite or negative weights,
    TypeError for mixed kinds or dtypes. Source: CW1, CW2.
    """

    weights: Array
    transports: Array
    offset: Array | None = None

    def __post_init__(self) -> None:
        namespace(weights=self.weights, transports=self.transports, offset=self.offset)
        sizes: dict[str, int] = {}
        shape(sizes, "weights", self.weights, "n", "m")
        edges = ("n", "m") if self.transports.ndim != 2 else ()
        shape(sizes, "transports", self.transports, *edges, "d_out", "d_in")
        if self.offset is not None:
            shape(sizes, "offset", self.offset, "n", "d_out")
        nonnegative(weights=self.weights)
        finite(transports=self.transports, offset=self.offset)

    @property
    def constant(self) -> bool:
        """Whether one transport (d_out, d_in) serves every edge."""
        return self.transports.ndim == 2

    def apply(self, x: Array) -> Array:
        """Map tokens x (m, d_in) to (n, d_out); rows of x that no query sees may hold NaN.

        Raises ValueError where a visible row of x is not finite.
        """
        xp = namespace(weights=self.weights, x=x)
        sizes = {"m": self.weights.shape[1], "d_in": self.transports.shape[-1]}
        shape(sizes, "x", x, "m", "d_in")
        seen = xp.any(self.weights > 0, axis=0)[:, None]
        refuse("x", x, ~xp.isfinite(x) & seen, "finite in every row that some query sees")
        x = xp.where(seen, x, xp.zeros_like(x))
        if self.constant:
            out = self.weights @ (x @ xp.permute_dims(self.transports, (1, 0)))
        else:
            moved = (self.transports @ x[None, :, :, None])[..., 0]
            out = xp.sum(self.weights[:, :, None] * moved, axis=1)
        return out if self.offset is None else out + self.offset

    def block_matrix(self) -> Array:
        """Blocks P_ij T_ij of the linear part as (n d_out, m d_in), token-major."""
        xp = namespace(weights=self.weights)
        n, m = self.weights.shape
        d_out, d_in = self.transports.shape[-2:]
        edges = (
            self.transports[None, :, None, :]
            if self.constant
            else xp.permute_dims(self.transports, (0, 2, 1, 3))
        )
        return xp.reshape(self.weights[:, None, :, None] * edges, (n * d_out, m * d_in))

    def generator(self) -> Array:
        """I - W of the linear part, (n d, n d); ValueError unless n = m and d_out = d_in."""
        xp = namespace(weights=self.weights)
        n, d = square(self)
        block = self.block_matrix()
        eye = xp.eye(n * d, dtype=block.dtype, device=block.device)
        return eye - block


def single_head_walk(
    weights: Array, w_v: Array, w_o: Array, b_v: Array | None = None, b_o: Array | None = None
) -> Walk:
    """Walk of one head: T = (W_V W_O)^T on every edge, offset rho_i W_O^T b_V + b_O.

    Row form: weights (n, m), w_v (d_in, d_v), w_o (d_v, d_out), b_v (d_v), b_o (d_out); rho_i is
    the i-th row sum. Raises like Walk. Source: CW1.
    """
    xp = namespace(weights=weights, w_v=w_v, w_o=w_o, b_v=b_v, b_o=b_o)
    sizes: dict[str, int] = {}
    shape(sizes, "weights", weights, "n", "m")
    shape(sizes, "w_v", w_v, "d_in", "d_v")
    shape(sizes, "w_o", w_o, "d_v", "d_out")
    finite(w_v=w_v, w_o=w_o, b_v=b_v, b_o=b_o)
    offset = None
    if b_v is not None:
        shape(sizes, "b_v", b_v, "d_v")
        rho = xp.sum(weights, axis=1, keepdims=True)
        offset = rho * (b_v[None, :] @ w_o)
    if b_o is not None:
        shape(sizes, "b_o", b_o, "d_out")
        rows = xp.zeros((sizes["n"], 1), dtype=b_o.dtype, device=b_o.device)
        offset = rows + b_o[None, :] if offset is None else offset + b_o[None, :]
    return Walk(weights, xp.permute_dims(w_v @ w_o, (1, 0)), offset)


def multi_head_walk(attention: Array, transports: Array, weights: Array | None = None) -> Walk:
    """One edge-dependent walk equal to the sum over heads of A^h X (T^h)^T.

    attention (H, n, m) nonnegative, transports (H, d_out, d_in), weights (H,) positive, 1/H each
    by default: P = sum_h w_h A^h, T_ij = sum_h g^h_ij T^h / w_h on the support of P, 0 elsewhere.
    Raises ValueError, TypeError like Walk. Source: CW2.
    """
    xp = namespace(attention=attention, transports=transports, weights=weights)
    sizes: dict[str, int] = {}
    shape(sizes, "attention", attention, "H", "n", "m")
    shape(sizes, "transports", transports, "H", "d_out", "d_in")
    finite(transports=transports)
    w = head_weights(attention, weights)
    heads, n, m = attention.shape
    d_out, d_in = transports.shape[1:]
    shares = gates(attention, w) / w[:, None, None]
    walk = xp.reshape(w[None, :] @ xp.reshape(attention, (heads, n * m)), (n, m))
    mixed = xp.permute_dims(xp.reshape(shares, (heads, n * m)), (1, 0)) @ xp.reshape(
        transports, (heads, d_out * d_in)
    )
    edges = xp.reshape(mixed, (n, m, d_out, d_in))
    on_support = (walk > 0)[:, :, None, None]
    return Walk(walk, xp.where(on_support, edges, xp.zeros_like(edges)))


def checked(walk: Walk) -> None:
    """Raises TypeError for anything but a walk."""
    if not (hasattr(walk, "weights") and hasattr(walk, "transports")):
        raise TypeError(f"walk must be a Walk, got {type(walk).__name__}")


def square(walk: Walk) -> tuple[int, int]:
    """(n, d) of a walk from n tokens of width d to as many; ValueError for any other walk."""
    checked(walk)
    n, m = walk.weights.shape
    d_out, d_in = walk.transports.shape[-2:]
    if n != m or d_out != d_in:
        raise ValueError(
            f"walk must be square (n = m, d_out = d_in), got n = {n}, m = {m}, "
            f"d_out = {d_out}, d_in = {d_in}"
        )
    return n, d_in
