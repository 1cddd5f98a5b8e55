"""Tensor attention: a query attends to pairs of tokens, the readout of a product of two worlds.

q (n, d), first keys k (m, d) with values v (m, d_v), second keys k2 (m2, d) with values v2
(m2, d_v). The score of the pair (j, l) is sum_a q_ia k_ja k2_la, its value v_j * v2_l.
"""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np

from numerics.arrays import Array, boolean, finite, namespace, refuse, shape
from numerics.inputs import integer
from numerics.walks.walk import softmax_walk


def khatri_rao(a: Array, b: Array) -> Array:
    """Rows a_j * b_l (m m2, d) of all pairs, first index outermost, of a (m, d) and b (m2, d).

    Raises TypeError, ValueError for other shapes, mixed kinds, entries or products that are not
    finite. Source: AP6.
    """
    xp = namespace(a=a, b=b)
    sizes: dict[str, int] = {}
    shape(sizes, "a", a, "m", "d")
    shape(sizes, "b", b, "m2", "d")
    finite(a=a, b=b)
    with np.errstate(over="ignore"):
        pairs = a[:, None, :] * b[None, :, :]
    refuse("a", pairs, ~xp.isfinite(pairs), "of finite products with b")
    return xp.reshape(pairs, (sizes["m"] * sizes["m2"], sizes["d"]))


def pair_scores(q: Array, k: Array, k2: Array) -> Array:
    """Trilinear scores (n, m, m2) of q (n, d), k (m, d), k2 (m2, d); raises like khatri_rao.

    No scale is applied. Source: AP6.
    """
    xp = namespace(q=q, k=k, k2=k2)
    sizes: dict[str, int] = {}
    for name, array, axis in (("q", q, "n"), ("k", k, "m"), ("k2", k2, "m2")):
        shape(sizes, name, array, axis, "d")
    finite(q=q, k=k, k2=k2)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = (q[:, None, :] * k[None, :, :]) @ xp.permute_dims(k2, (1, 0))
    refuse("q", scores, ~xp.isfinite(scores), "of finite scores")
    return scores


def tensor_attention(
    q: Array, k: Array, k2: Array, v: Array, v2: Array,
    allowed: Array | None = None, allowed2: Array | None = None,
) -> Array:  # fmt: skip
    """Outputs (n, d_v): softmax over pairs of the trilinear scores, on the values v_j * v2_l.

    allowed (n, m) and allowed2 (n, m2) are boolean, True where the query sees the token; a pair is
    seen if both are, and a query without a pair reads 0. `prefix(n)` for both is the causal form.
    Takes n m m2 (d + d_v) multiplications. Raises TypeError, ValueError for shapes, kinds, entries
    or scores that are not finite. Source: AP6.
    """
    xp = namespace(q=q, k=k, k2=k2, v=v, v2=v2)
    scores = pair_scores(q, k, k2)
    n, m, m2 = scores.shape
    sizes = {"n": n, "m": m, "m2": m2}
    _values(sizes, v, v2)
    seen = _seen(sizes, q, allowed, allowed2)
    flat = xp.reshape(scores, (n, m * m2))
    mask = None if seen is None else xp.reshape(seen, (n, m * m2))
    weights = xp.reshape(softmax_walk(flat, mask), (n, m, m2))
    with np.errstate(over="ignore"):
        out = xp.sum((weights @ v2) * v[None, :, :], axis=1)
    refuse("v", out, ~xp.isfinite(out), "of finite outputs")
    return out


def finite_rank_attention(
    phi: Array, psi: Array, chi: Array, v: Array, v2: Array, causal: bool = False
) -> Array:
    """Outputs (n, d_v) of the pairing sum_g phi_ig psi_jg chi_lg, by one-sided sums: O(n w d_v).

    phi (n, w), psi (m, w), chi (m2, w); causal takes n = m = m2 and the tokens up to the query.
    Raises TypeError, ValueError for shapes, kinds or entries that are not finite, and where a
    normaliser is not positive: nonnegative features with a common one are safe. Source: AP6.
    """
    xp = namespace(phi=phi, psi=psi, chi=chi, v=v, v2=v2)
    sizes: dict[str, int] = {}
    for name, array, axis in (("phi", phi, "n"), ("psi", psi, "m"), ("chi", chi, "m2")):
        shape(sizes, name, array, axis, "w")
    if not isinstance(causal, bool):
        raise TypeError(f"causal must be a bool, got {type(causal).__name__}")
    if causal and not sizes["n"] == sizes["m"] == sizes["m2"]:
        got = (sizes["n"], sizes["m"], sizes["m2"])
        raise ValueError(f"causal must have n = m = m2, got {got}")
    _values(sizes, v, v2)
    finite(phi=phi, psi=psi, chi=chi)
    with np.errstate(over="ignore", invalid="ignore"):
        moments = _one_sided(xp, psi, v, causal) * _one_sided(xp, chi, v2, causal)
        masses = _one_sided(xp, psi, None, causal) * _one_sided(xp, chi, None, causal)
        total = xp.sum(phi * masses, axis=1)
    refuse("phi", total, ~(total > 0) | ~xp.isfinite(total), "of positive, finite normalisers")
    with np.errstate(over="ignore", invalid="ignore"):
        out = xp.sum(phi[:, :, None] * moments, axis=1) / total[:, None]
    refuse("v", out, ~xp.isfinite(out), "of finite outputs")
    return out


def prefix(n: int, like: Array) -> Array:
    """Boolean (n, n), True for tokens up to the query, of the kind and device of `like`.

    Raises TypeError, ValueError for n < 1. Source: AP6.
    """
    xp = namespace(like=like)
    places = xp.arange(integer("n", n, 1), device=array_api_compat.device(like))
    return places[None, :] <= places[:, None]


def _one_sided(xp: Any, features: Array, values: Array | None, causal: bool) -> Array:
    """Sums of features (m, w), times values (m, d_v) where given, over all tokens or prefixes.

    The first axis is the query's: of length 1 if the sum is over all tokens.
    """
    if not causal:
        if values is None:
            return xp.sum(features, axis=0)[None]
        return (xp.permute_dims(features, (1, 0)) @ values)[None]
    terms = features if values is None else features[:, :, None] * values[:, None, :]
    return xp.cumulative_sum(terms, axis=0)


def _values(sizes: dict[str, int], v: Array, v2: Array) -> None:
    shape(sizes, "v", v, "m", "d_v")
    shape(sizes, "v2", v2, "m2", "d_v")
    finite(v=v, v2=v2)


def _seen(
    sizes: dict[str, int], like: Array, allowed: Array | None, allowed2: Array | None
) -> Array | None:
    """Pairs (n, m, m2) whose two tokens the query sees, or None for all."""
    seen = None
    for name, mask, axis in (("allowed", allowed, "m"), ("allowed2", allowed2, "m2")):
        if mask is None:
            continue
        boolean(name, mask, like)
        shape(sizes, name, mask, "n", axis)
        side = mask[:, :, None] if axis == "m" else mask[:, None, :]
        seen = side if seen is None else seen & side
    if seen is None:
        return None
    xp = array_api_compat.array_namespace(seen)
    return xp.broadcast_to(seen, (sizes["n"], sizes["m"], sizes["m2"]))
