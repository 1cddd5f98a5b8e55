"""Tensor attention: reductions, reorderings, masks, the causal form and its state."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from numerics.evidence.comparison import Residual
from numerics.pairings.tensor_attention import (
    finite_rank_attention,
    khatri_rao,
    pair_scores,
    prefix,
    tensor_attention,
)
from numerics.rounding.roundoff import gamma
from numerics.walks import softmax_walk

U = 2.0**-53


def tokens(seed: int, *rows: int, width: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(size, width)) for size in rows]


def same(one: Any, other: Any, *parts: Any) -> None:
    """Two evaluations of outputs on q, k, k2, v, v2: a score has at most d + 4 roundings and a
    weight the relative error of exp of twice that and of its sum, of m m2 terms."""
    one, other = (np.asarray(x, dtype=np.float64) for x in (one, other))
    q, k, k2, v, v2 = (np.abs(np.asarray(x, dtype=np.float64)) for x in parts)
    scores = float(np.einsum("ia,ja,la->ijl", q, k, k2).max())
    terms = len(k) * len(k2)
    relative = math.expm1(4 * gamma(q.shape[1] + 4, U) * scores) + gamma(terms + 12, U)
    bound = np.full(one.shape, 2 * v.max() * v2.max() * (relative + gamma(terms + 2, U)))
    assert Residual("same", one, other, bound, terms).ratio() <= 1


def same_quotient(one: Any, other: Any, *parts: Any) -> None:
    """The same for positive features: sums of at most m m2 w terms and their quotient."""
    one, other = (np.asarray(x, dtype=np.float64) for x in (one, other))
    _, psi, chi, v, v2 = (np.abs(np.asarray(x, dtype=np.float64)) for x in parts)
    terms = psi.size * len(chi)
    bound = np.full(one.shape, 4 * v.max() * v2.max() * gamma(terms + 8, U))
    assert Residual("same", one, other, bound, terms).ratio() <= 1


def test_a_second_world_of_ones_gives_standard_attention() -> None:
    q, k, v = tokens(0, 4, 5, 5)
    ones = np.ones((3, 3))
    found = tensor_attention(q, k, ones, v, ones)
    same(found, softmax_walk(q @ k.T) @ v, q, k, ones, v, ones)


def test_constant_second_tokens_rescale_queries_and_outputs() -> None:
    q, k, v = tokens(1, 4, 5, 5)
    c, w = np.array([2.0, -1.0, 0.5]), np.array([3.0, 0.0, -1.0])
    parts = q, k, np.tile(c, (2, 1)), v, np.tile(w, (2, 1))
    found = tensor_attention(*parts)
    same(found, softmax_walk((q * c) @ k.T) @ v * w, *parts)
    plain = softmax_walk(q @ k.T) @ v * w
    assert np.abs(found - plain).max() > 0.01, "the queries are rescaled"


def test_a_second_key_of_two_squares_the_odds() -> None:
    log2 = np.log(2.0)
    k, k2 = np.array([[log2], [0.0]]), np.array([[2.0]])
    one = np.ones((1, 1))
    parts = one, k, k2, np.array([[1.0], [0.0]]), one
    same(tensor_attention(*parts), [[0.8]], *parts)


def test_exp_of_a_trilinear_score_does_not_factor() -> None:
    # Base 2, keys and values 0 and 1: 2/5, where the product of two readouts has 4/9.
    keys, q = np.array([[0.0], [1.0]]), np.array([[np.log(2.0)]])
    parts = q, keys, keys, keys, keys
    same(tensor_attention(*parts), [[0.4]], *parts)
    one = softmax_walk(q @ keys.T) @ keys
    same(one * one, [[4 / 9]], *parts)


def test_equal_scores_share_the_pairs_of_tokens() -> None:
    zeros, first = np.zeros((3, 2)), np.array([[1.0], [0.0], [0.0]])
    assert tensor_attention(zeros, zeros, zeros, first, first).tolist() == [[1 / 9]] * 3


def test_weights_of_pairs_sum_to_one() -> None:
    q, k, k2 = tokens(2, 4, 5, 2)
    ones = np.ones((5, 1)), np.ones((2, 1))
    same(tensor_attention(q, k, k2, *ones), np.ones((4, 1)), q, k, k2, *ones)
    assert pair_scores(q, k, k2).shape == (4, 5, 2)
    flat = (q @ khatri_rao(k, k2).T).reshape(4, 5, 2)
    sizes = np.einsum("ia,ja,la->ijl", *(np.abs(x) for x in (q, k, k2)))
    bound = 2 * gamma(q.shape[1] + 1, U) * sizes
    assert Residual("scores", pair_scores(q, k, k2), flat, bound, 3).ratio() <= 1


def test_reordered_tokens_give_reordered_outputs() -> None:
    q, k, k2, v, v2 = tokens(3, 4, 5, 6, 5, 6)
    rng = np.random.default_rng(4)
    s, p, p2 = (rng.permutation(size) for size in (4, 5, 6))
    moved = tensor_attention(q[s], k[p], k2[p2], v[p], v2[p2])
    same(moved, tensor_attention(q, k, k2, v, v2)[s], q, k, k2, v, v2)
    assert np.abs(tensor_attention(q, k[p], k2, v, v2) - moved).max() > 0.01


def test_later_tokens_do_not_change_a_prefix() -> None:
    q, k, k2, v, v2 = tokens(5, 6, 6, 6, 6, 6)
    seen = prefix(6, q)
    whole = tensor_attention(q, k, k2, v, v2, seen, seen)
    for t in range(1, 7):
        cut = [x[:t] for x in (q, k, k2, v, v2)]
        found = tensor_attention(*cut, allowed=prefix(t, q), allowed2=prefix(t, q))
        same(found, whole[:t], q, k, k2, v, v2)
    one_mask = tensor_attention(q, k, k2, v, v2, seen)
    assert np.abs(one_mask[0] - whole[0]).max() > 0.01, "both tokens of a pair are masked"


def test_finite_rank_pairings_agree_with_all_pairs_and_with_a_state() -> None:
    rng = np.random.default_rng(6)
    phi, psi, chi = (rng.uniform(0.1, 1, size=(6, 2)) for _ in range(3))
    v, v2 = tokens(7, 6, 6)
    kernel = np.einsum("ig,jg,lg->ijl", phi, psi, chi)
    out = np.einsum("ijl,jb,lb->ib", kernel, v, v2) / kernel.sum(axis=(1, 2))[:, None]
    parts = phi, psi, chi, v, v2
    same_quotient(finite_rank_attention(*parts), out, *parts)
    state = [np.zeros((2, 3)), np.zeros((2, 3)), np.zeros(2), np.zeros(2)]
    rows = []
    for t in range(6):
        for place, (part, values) in enumerate(((psi, v), (chi, v2))):
            state[place] = state[place] + part[t][:, None] * values[t]
            state[place + 2] = state[place + 2] + part[t]
        rows.append(phi[t] @ (state[0] * state[1]) / (phi[t] @ (state[2] * state[3])))
    same_quotient(finite_rank_attention(*parts, causal=True), np.stack(rows), *parts)


def test_rank_one_features_give_the_product_of_two_readouts() -> None:
    rng = np.random.default_rng(8)
    phi, psi, chi = (rng.uniform(0.1, 1, size=(4, 1)) for _ in range(3))
    v, v2 = tokens(9, 4, 4)
    one, two = (part[:, 0] @ x / part.sum() for part, x in ((psi, v), (chi, v2)))
    parts = phi, psi, chi, v, v2
    same_quotient(finite_rank_attention(*parts), np.tile(one * two, (4, 1)), *parts)


@pytest.mark.parametrize("causal", [False, True])
def test_torch_agrees_and_has_gradients(causal: bool) -> None:
    arrays = [np.abs(x) + 0.1 for x in tokens(10, 4, 4, 4, 4, 4)]
    tensors = [torch.tensor(x, requires_grad=True) for x in arrays]
    out = finite_rank_attention(*tensors, causal=causal)
    plain_out = finite_rank_attention(*arrays, causal=causal)
    same_quotient(out.detach().numpy(), plain_out, *arrays)
    mask = prefix(4, tensors[0].detach()) if causal else None
    pairs = tensor_attention(*tensors, allowed=mask, allowed2=mask)
    plain = prefix(4, arrays[0]) if causal else None
    plain_pairs = tensor_attention(*arrays, allowed=plain, allowed2=plain)
    same(pairs.detach().numpy(), plain_pairs, *arrays)
    (out.sum() + pairs.sum()).backward()
    assert all(bool(torch.isfinite(x.grad).all()) for x in tensors if x.grad is not None)
    assert all(x.grad is not None for x in tensors)
