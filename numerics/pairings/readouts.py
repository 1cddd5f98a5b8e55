"""Knowledge worlds, attention pairings and their readouts as arrays.

Queries q (n, d), keys k (m, d), values v (m, d_v); a pairing is an array kappa (n, m) >= 0, a world
the weights mu (m,) or (n, m) >= 0 of the tokens, of all queries or one each. A query whose world
has no mass reads 0.
"""

from __future__ import annotations

import math

import array_api_compat
import numpy as np

from numerics.arrays import (
    Array,
    boolean,
    dtype_name,
    finite,
    namespace,
    nonnegative,
    refuse,
    shape,
)
from numerics.inputs import integer, number

ALIGNMENTS = ("first", "last")
"""Which tokens the queries are where there are fewer or more queries than keys."""


def readout_weights(kappa: Array, mu: Array | None = None) -> Array:
    """Weights kappa_ij mu_j / sum_k kappa_ik mu_k (n, m); a query without mass has a zero row.

    Raises ValueError, TypeError by name; ValueError where a product or a row's mass overflows, and
    where positive products all underflow. Source: AP3, AP9.
    """
    xp = namespace(kappa=kappa, mu=mu)
    sizes: dict[str, int] = {}
    shape(sizes, "kappa", kappa, "n", "m")
    nonnegative(kappa=kappa)
    mass = kappa
    if mu is not None:
        shape(sizes, "mu", mu, *("n", "m")[-mu.ndim if mu.ndim in (1, 2) else 0 :])
        nonnegative(mu=mu)
        with np.errstate(over="ignore"):
            mass = kappa * mu
    with np.errstate(over="ignore"):
        total = xp.sum(mass, axis=1, keepdims=True)
    refuse("mass", total, ~xp.isfinite(total), "finite: scale kappa or mu")
    if mu is not None:
        lost = xp.any((kappa > 0) & (mu > 0), axis=1, keepdims=True) & (total == 0)
        refuse("mass", total, lost, "positive: scale kappa or mu")
    return mass / xp.where(total > 0, total, xp.ones_like(total))


def readout(kappa: Array, v: Array, mu: Array | None = None) -> Array:
    """Readouts sum_j w_ij v_j (n, d_v) of the pairing in the world; an empty world reads 0.

    Raises like readout_weights. Source: AP3, AP9.
    """
    namespace(kappa=kappa, v=v, mu=mu)
    sizes: dict[str, int] = {}
    shape(sizes, "kappa", kappa, "n", "m")
    shape(sizes, "v", v, "m", "d_v")
    finite(v=v)
    return readout_weights(kappa, mu) @ v


def exponential_pairing(q: Array, k: Array, M: Array) -> Array:
    """exp(q_i^T M k_j) (n, m) for M (d, d_k), k (m, d_k).

    Raises ValueError, TypeError by name; ValueError where an entry overflows. Source: AP2.
    """
    xp = namespace(q=q, k=k, M=M)
    sizes: dict[str, int] = {}
    shape(sizes, "q", q, "n", "d")
    shape(sizes, "M", M, "d", "d_k")
    shape(sizes, "k", k, "m", "d_k")
    finite(q=q, k=k, M=M)
    with np.errstate(over="ignore", invalid="ignore"):
        pairing = xp.exp((q @ M) @ xp.matrix_transpose(k))
    refuse("pairing", pairing, ~xp.isfinite(pairing), "finite: scale q, k or M")
    return pairing


def _gaps(scores: Array, tau: float, allowed: Array | None) -> tuple[Array, Array]:
    """(s - peak) / tau, -inf where hidden, and the peaks (..., n, 1), 0 in a hidden row."""
    xp = namespace(scores=scores)
    if scores.ndim < 2 or 0 in scores.shape:
        raise ValueError(
            f"scores must have shape (..., n, m), all positive, got {tuple(scores.shape)}"
        )
    hidden = scores == -float("inf")
    refused = xp.isnan(scores) | (scores == float("inf"))
    if allowed is not None:
        boolean("allowed", allowed, scores)
        if tuple(allowed.shape) not in (tuple(scores.shape), tuple(scores.shape[-2:])):
            raise ValueError(
                f"allowed must have shape {tuple(scores.shape[-2:])} or "
                f"{tuple(scores.shape)}, got {tuple(allowed.shape)}"
            )
        hidden, refused = hidden | ~allowed, refused & allowed
    refuse("scores", scores, refused, "finite or -inf")
    below = xp.zeros_like(scores) - float("inf")
    peak = xp.max(xp.where(hidden, below, scores), axis=-1, keepdims=True)
    peak = xp.where(xp.isfinite(peak), peak, xp.zeros_like(peak))
    # Differences before the division: ties stay ties, and a small tau overflows to weight 0.
    with np.errstate(over="ignore"):
        steps = xp.where(hidden, peak, scores) - peak
        refuse("scores", steps, ~xp.isfinite(steps), "such that differences in a row are finite")
        return xp.where(hidden, below, steps / tau), peak


def gibbs_weights(scores: Array, tau: float = 1.0, allowed: Array | None = None) -> Array:
    """Weights softmax(scores / tau) (..., n, m), the maximiser of <p, s> + tau H(p).

    allowed is boolean, (n, m) or the scores' shape, True means allowed; scores may be -inf; a row
    without a visible key is a zero row. Raises ValueError, TypeError by name. Source: AP1.
    """
    xp = namespace(scores=scores)
    gaps, _ = _gaps(scores, _temperature(tau, scores), allowed)
    powers = xp.exp(gaps)
    total = xp.sum(powers, axis=-1, keepdims=True)
    return powers / xp.where(total > 0, total, xp.ones_like(total))


def log_partition(scores: Array, tau: float = 1.0, allowed: Array | None = None) -> Array:
    """tau log sum_j exp(s_ij / tau) (..., n), the largest value of <p, s> + tau H(p).

    -inf for a row without a visible key. Raises like gibbs_weights. Source: AP1.
    """
    xp = namespace(scores=scores)
    gaps, peak = _gaps(scores, _temperature(tau, scores), allowed)
    with np.errstate(divide="ignore", over="ignore"):
        value = peak[..., 0] + tau * xp.log(xp.sum(xp.exp(gaps), axis=-1))
    refuse("value", value, value == float("inf"), "finite: scale scores or tau")
    return value


def free_energy(p: Array, scores: Array, tau: float = 1.0) -> Array:
    """<p_i, s_i> + tau H(p_i) (n,) of weights p (n, m) >= 0, with 0 log 0 = 0.

    -inf where p meets a score of -inf. Raises ValueError, TypeError by name. Source: AP1.
    """
    xp = namespace(p=p, scores=scores)
    sizes: dict[str, int] = {}
    shape(sizes, "p", p, "n", "m")
    shape(sizes, "scores", scores, "n", "m")
    nonnegative(p=p)
    tau = _temperature(tau, p)
    refuse("scores", scores, xp.isnan(scores) | (scores == float("inf")), "finite or -inf")
    zero, one = xp.zeros_like(p), xp.ones_like(p)
    with np.errstate(over="ignore", invalid="ignore"):
        linear = xp.sum(p * xp.where(p > 0, scores, zero), axis=1)
        value = linear - tau * xp.sum(p * xp.log(xp.where(p > 0, p, one)), axis=1)
    refuse("value", value, xp.isnan(value) | (value == float("inf")), "finite: scale scores or tau")
    return value


def causal_mask(n_q: int, n_k: int, *, align: str, like: Array | None = None) -> Array:
    """Boolean mask (n_q, n_k): query i sees key j <= i + o, counted alike; True means allowed.

    o = 0 where the queries are the first tokens (align "first"), n_k - n_q where they are the last
    ("last": with n_q > n_k the first rows see nothing). NumPy, or of the kind and on the device of
    like. Raises ValueError, TypeError by name. Source: AP3.
    """
    n_q, n_k = integer("n_q", n_q, 1), integer("n_k", n_k, 1)
    if align not in ALIGNMENTS:
        raise ValueError(f"align must be one of {', '.join(ALIGNMENTS)}, got {align!r}")
    offset = 0 if align == "first" else n_k - n_q
    mask = np.arange(n_k)[None, :] <= np.arange(n_q)[:, None] + offset
    if like is None or isinstance(like, np.ndarray):
        return mask
    namespace(like=like)
    import torch

    return torch.asarray(mask, device=like.device)


def attention(
    q: Array, k: Array, v: Array, *, tau: float | None = None, allowed: Array | None = None
) -> Array:
    """Softmax attention (n, d_v): the readout of exp(<q, k> / tau), tau = sqrt(d) by default.

    allowed (n, m) is True where a query sees a key; a query that sees none reads 0.
    Raises ValueError, TypeError by name; ValueError where a score overflows. Source: AP2, AP3.
    """
    xp = namespace(q=q, k=k, v=v)
    sizes: dict[str, int] = {}
    shape(sizes, "q", q, "n", "d")
    shape(sizes, "k", k, "m", "d")
    shape(sizes, "v", v, "m", "d_v")
    finite(q=q, k=k, v=v)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = q @ xp.matrix_transpose(k)
    refuse("scores", scores, ~xp.isfinite(scores), "finite: scale q or k")
    return gibbs_weights(scores, math.sqrt(sizes["d"]) if tau is None else tau, allowed) @ v


def causal_attention(
    q: Array, k: Array, v: Array, *, align: str, tau: float | None = None
) -> Array:
    """Attention (n, d_v) along the filtration of causal_mask; align says which tokens q are.

    Raises like attention and causal_mask. Source: AP3.
    """
    namespace(q=q, k=k, v=v)
    sizes: dict[str, int] = {}
    shape(sizes, "q", q, "n", "d")
    shape(sizes, "k", k, "m", "d")
    allowed = causal_mask(sizes["n"], sizes["m"], align=align, like=q)
    return attention(q, k, v, tau=tau, allowed=allowed)


def _temperature(tau: object, like: Array) -> float:
    """tau, if it is a positive normal number of the dtype: another would round to 0 or overflow."""
    value = number("tau", tau, "positive and finite")
    if value <= 0:
        raise ValueError(f"tau must be positive and finite, got {tau}")
    limits = array_api_compat.array_namespace(like).finfo(like.dtype)
    if not float(limits.smallest_normal) <= value <= float(limits.max):
        raise ValueError(f"tau must be a normal number of {dtype_name(like.dtype)}, got {tau}")
    return value
