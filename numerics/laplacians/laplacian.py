"""Connection Laplacians, Dirichlet energy and adjoint of a walk (CW5, CW9), and its defects."""

from __future__ import annotations

import array_api_compat
import numpy as np

from numerics.arrays import Array, finite, namespace, nonnegative, positive, refuse, shape
from numerics.laplacians.defects import (
    _over,
    connection,
    inverse_symmetry_defect,
    metric_defect,
    operator_defect,
    product,
    representable,
    stored,
)
from numerics.laplacians.holonomy import mutually_inverse
from numerics.laplacians.reversibility import (
    Reversibility,
    logit_gradient_defect,
    reversibility_defect,
    stochasticity_defect,
)
from numerics.rounding.units import units
from numerics.walks.chains import (
    _recurrent,
    _reversal,
    additive_reversibilisation,
    multiplicative_reversibilisation,
    stationary_distribution,
    time_reversal,
)
from numerics.walks.elimination import Wide, float64

__all__ = [
    "Reversibility",
    "additive_reversibilisation",
    "adjoint",
    "connection_laplacian",
    "dirichlet_energy",
    "inverse_symmetry_defect",
    "logit_gradient_defect",
    "metric_defect",
    "multiplicative_reversibilisation",
    "operator_defect",
    "reversibility_defect",
    "stationary_distribution",
    "stochasticity_defect",
    "time_reversal",
]


def connection_laplacian(w: Array, O: Array) -> Array:
    """I - D^-1 S, (n d, n d) token-major, S_ij = w_ij O_ij, D_i = sum_j w_ij.

    w (n, n) symmetric nonnegative with positive row sums; O (d, d) or (n, n, d, d), finite, read
    where w > 0, O_ji = O_ij^-1 there, both up to rounding. That some metrics make the O_ij
    isometries is not checked (`metric_defect`). Raises ValueError, TypeError by name. Source: CW5.
    """
    xp = namespace(w=w, O=O)
    sizes: dict[str, int] = {}
    shape(sizes, "w", w, "n", "n")
    nonnegative(w=w)
    shape(sizes, "O", O, *(() if O.ndim == 2 else ("n", "n")), "d", "d")
    other = xp.permute_dims(w, (1, 0))
    slack = 8 * units(w.dtype, array_api_compat.device(w)).store * xp.maximum(w, other)
    refuse("w - w^T", w - other, xp.abs(w - other) > slack, "0 up to rounding (w symmetric)")
    top = xp.max(w, axis=1)
    refuse("the row sums of w", top, ~(top > 0), "positive")
    finite(O=O)
    mutually_inverse(w, O)
    shares = w / top[:, None]
    shares = shares / xp.sum(shares, axis=1, keepdims=True)
    edges = O[None, None] if O.ndim == 2 else O
    zero = xp.zeros_like(shares)[:, :, None, None]
    blocks = xp.where((w > 0)[:, :, None, None], shares[:, :, None, None] * edges, zero)
    n, d = sizes["n"], sizes["d"]
    walk = xp.reshape(xp.permute_dims(blocks, (0, 2, 1, 3)), (n * d, n * d))
    return xp.eye(n * d, dtype=walk.dtype, device=array_api_compat.device(w)) - walk


def dirichlet_energy(P: Array, T: Array, G: Array | None, pi: Array, u: Array) -> Array:
    """(1/2) sum_ij pi_i P_ij |u_i - T_ij u_j|^2 in the metric G_i, a scalar of the arrays' kind.

    P (n, n) row-stochastic, T (d, d) or (n, n, d, d), finite and read on edges only, G (d, d),
    (n, d, d) or None for I, pi (n,) nonnegative, u (n, d). Raises ValueError by name, also where
    the energy overflows, TypeError. Source: CW5.
    """
    xp = namespace(P=P, T=T, G=G, pi=pi, u=u)
    weights, blocks, factors = connection(P, T, G)
    shape({"n": len(weights)}, "pi", pi, "n")
    shape({"n": len(weights), "d": blocks.shape[-1]}, "u", u, "n", "d")
    nonnegative(pi=pi)
    finite(u=u)
    names, sections = "T, G, pi and u", float64(u)
    read = ((weights > 0) & (pi > 0)[:, None])[:, :, None]
    with np.errstate(over="ignore", invalid="ignore"):
        moved = (blocks @ sections[None, :, :, None])[..., 0]
        gaps = xp.where(read, sections[:, None] - moved, xp.zeros_like(sections)[None])
        gaps = representable((factors[:, None] @ gaps[..., None])[..., 0], names)
    # A square that overflows may stand under a weight that takes it back.
    lengths, flow = Wide.of(xp.abs(gaps)), Wide.of(pi)[:, None] * Wide.of(weights)
    total = (flow[:, :, None] * (lengths * lengths)).sum()[None]
    energy = Wide(total.mantissa / 2, total.exponent).value()
    return xp.reshape(stored(energy, P, names), ())


def adjoint(P: Array, T: Array, G: Array | None = None, pi: Array | None = None) -> Array:
    """W*, blocks (pi_j / pi_i) P_ji G_i^-1 T_ji^T G_j, as (n d, n d), token-major.

    The adjoint of W for sum_i pi_i u_i^T G_i v_i, pi (n,) > 0, by default the stationary law of
    P (n, n). T (d, d) or (n, n, d, d); G (d, d), (n, d, d) or None for I. Raises ValueError
    where P is not row-stochastic, or has transient states and pi is not given, or W* overflows.
    Source: CW9.
    """
    xp = namespace(P=P, T=T, G=G, pi=pi)
    weights, blocks, factors = connection(P, T, G)
    if pi is None:
        _recurrent(P)
        backward = _reversal(P).value()
    else:
        shape({"n": len(weights)}, "pi", pi, "n")
        positive(pi=pi)
        mass = Wide.of(pi)
        backward = Wide.of(xp.permute_dims(weights, (1, 0))) * mass[None, :] / mass[:, None]
        backward = representable(backward.value(), "pi")
    lower = xp.permute_dims(factors, (0, 2, 1))
    lowered = product(product(lower, factors)[:, None], blocks)
    turned = xp.permute_dims(_over(_over(lowered, factors), lower), (1, 0, 3, 2))
    starred = backward[:, :, None, None] * turned
    n, d = len(weights), blocks.shape[-1]
    return stored(xp.reshape(xp.permute_dims(starred, (0, 2, 1, 3)), (n * d, n * d)), P)
