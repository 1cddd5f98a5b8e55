"""Worlds, pairings and readouts as arrays: limits, masks, alignments, and torch's attention."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, ctx

from numerics.pairings import (
    attention,
    causal_attention,
    causal_mask,
    exponential_pairing,
    free_energy,
    gibbs_weights,
    log_partition,
    readout,
    readout_weights,
)
from numerics.properties.gibbs_weights import rounded_weights
from numerics.rounding.roundoff import exact
from numerics.rounding.units import gamma, units

INF = float("inf")


def tokens(n: int, m: int, d: int = 3, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d)), rng.normal(size=(m, 2))


def test_cold_weights_are_uniform_on_the_argmax() -> None:
    scores = np.array([[1.0, 1.0, 0.0], [3.0, 2.0, 2.0]])
    assert gibbs_weights(scores, 1e-300).tolist() == [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]
    assert log_partition(scores, 1e-300).tolist() == [1.0, 3.0]
    assert gibbs_weights(scores, 1.0)[0, 2] > 0, "warm ones are not"


def test_hot_weights_are_uniform() -> None:
    scores = np.array([[1.0, -5.0, 0.0, 1e3]])
    assert gibbs_weights(scores, 1e300).tolist() == [[0.25] * 4]
    assert gibbs_weights(scores, 1.0)[0, 3] == 1.0


def value_bound(scores: np.ndarray, tau: float) -> float:
    """Error of peak + tau log sum exp: of the gaps, of the sum, of log within 8 u, and of both."""
    u, m = units(scores.dtype).store, scores.size
    gap = float(np.ptp(scores)) / tau
    inner = math.expm1(3 * u * gap) + gamma(m + 8, u) + 8 * u * math.log(m)
    return 2 * (tau * inner + 2 * u * (float(np.abs(scores).max()) + tau * math.log(m)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("tau", [0.125, 1.0, 3.0])
def test_log_partition_is_the_logarithm_of_the_sum(dtype: Any, tau: float) -> None:
    scores = np.random.default_rng(1).normal(size=(1, 9)).astype(dtype) * dtype(10)
    with ctx.workprec(200):
        true = arb(tau) * sum(((arb(float(s)) / arb(tau)).exp() for s in scores[0]), arb(0)).log()
        true = float(true.mid())
    found, bound = float(log_partition(scores, tau)[0]), value_bound(scores, tau)
    assert math.isfinite(found)
    assert abs(found - true) <= bound
    assert not abs(found / tau - true) <= bound or tau == 1, "the value without tau is another"


def test_no_weights_have_a_larger_value_than_softmax() -> None:
    rng = np.random.default_rng(2)
    scores, tau = rng.normal(size=(1, 4)), 0.7
    best, slack = float(log_partition(scores, tau)[0]), value_bound(scores, tau)
    own = float(free_energy(gibbs_weights(scores, tau), scores, tau)[0])
    assert math.isfinite(own)
    assert abs(best - own) <= 8 * slack
    for p in [*np.eye(4), np.full(4, 0.25), *rng.dirichlet(np.ones(4), size=20)]:
        value = float(free_energy(p[None, :], scores, tau)[0])
        assert math.isfinite(value)
        assert value < best - 8 * slack, "only softmax reaches it"


def test_zero_weights_have_no_entropy_and_hidden_scores_none_of_them() -> None:
    p, scores = np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[2.0, -INF], [-INF, 0.0]])
    assert free_energy(p, scores, 3.0).tolist() == [2.0, -INF]


def test_hidden_rows_are_zero_rows_and_never_nan() -> None:
    scores = np.array([[-INF, -INF], [0.0, -INF]])
    assert gibbs_weights(scores).tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert log_partition(scores).tolist() == [-INF, 0.0]
    allowed = np.array([[True, True], [False, False]])
    assert gibbs_weights(np.zeros((2, 2)), 1.0, allowed).tolist() == [[0.5, 0.5], [0.0, 0.0]]


def test_a_mask_on_every_key_changes_nothing() -> None:
    scores = np.array([[0.0, 0.0], [1.5, -2.25]])
    masked = gibbs_weights(scores - 2.0**20)
    assert np.array_equal(masked, gibbs_weights(scores))
    assert masked[0].tolist() == [0.5, 0.5], "and not 0, as a hidden row reads"


def test_a_mask_on_some_keys_tends_to_the_visible_world() -> None:
    q, k, v = tokens(2, 5)
    scores, hidden = q @ k.T, np.array([False, True, False, True, True])
    limit = gibbs_weights(scores, 1.0, np.broadcast_to(~hidden, scores.shape)) @ v
    gaps = [
        np.abs(gibbs_weights(np.where(hidden, scores - M, scores)) @ v - limit).max()
        for M in (0.0, 2.0, 4.0, 800.0)
    ]
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3] == 0.0


def test_alignments_of_a_causal_mask() -> None:
    assert causal_mask(2, 4, align="first").astype(int).tolist() == [[1, 0, 0, 0], [1, 1, 0, 0]]
    assert causal_mask(2, 4, align="last").astype(int).tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert causal_mask(3, 1, align="last").tolist() == [[False], [False], [True]]
    square = causal_mask(3, 3, align="first")
    assert np.array_equal(square, causal_mask(3, 3, align="last"))
    assert np.array_equal(square, np.tril(np.ones((3, 3), bool)))


def test_one_query_on_two_keys_of_equal_scores() -> None:
    q, k, v = np.zeros((1, 1)), np.zeros((2, 1)), np.array([[0.0], [1.0]])
    assert causal_attention(q, k, v, align="last").tolist() == [[0.5]]
    assert causal_attention(q, k, v, align="first").tolist() == [[0.0]]


def test_the_output_does_not_depend_on_later_tokens() -> None:
    q, k, v = tokens(4, 4)
    later_k, later_v = k.copy(), v.copy()
    later_k[2:], later_v[2:] = 7.0, 1e6
    before = causal_attention(q, k, v, align="first")
    after = causal_attention(q, later_k, later_v, align="first")
    assert np.array_equal(before[:2], after[:2])
    assert (before[2:] != after[2:]).all()
    assert (attention(q, k, v)[:2] != attention(q, later_k, later_v)[:2]).all(), "unmasked does"


def test_rows_before_the_first_key_read_zero() -> None:
    q, k, v = tokens(3, 1)
    assert causal_attention(q, k, v, align="last").tolist() == [[0.0, 0.0], [0.0, 0.0], [*v[0]]]


def test_gradients_of_empty_rows_are_finite() -> None:
    q, k, v = (torch.tensor(part, requires_grad=True) for part in tokens(3, 1))
    causal_attention(q, k, v, align="last").sum().backward()
    for part in (q, k, v):
        assert part.grad is not None
        assert bool(torch.isfinite(part.grad).all())


def test_worlds_without_mass_read_zero() -> None:
    kappa, v = np.array([[0.0, 0.0], [1.0, 3.0]]), np.array([[4.0], [8.0]])
    assert readout(kappa, v).tolist() == [[0.0], [7.0]]
    assert readout(kappa, v, np.array([0.0, 0.0])).tolist() == [[0.0], [0.0]]
    own = np.array([[1.0, 1.0], [3.0, 1.0]])
    assert readout_weights(kappa, own).tolist() == [[0.0, 0.0], [0.5, 0.5]]


def test_equal_tokens_may_be_listed_apart() -> None:
    kappa, v = np.array([[1.0, 2.0]]), np.array([[3.0], [6.0]])
    merged = readout(kappa, v, np.array([2.0, 1.0]))
    assert merged.tolist() == readout(kappa[:, [0, 1, 0]], v[[0, 1, 0]]).tolist() == [[4.5]]
    assert readout(kappa, v).tolist() == [[5.0]], "but count twice"


def test_the_pairing_of_zero_is_one() -> None:
    q, k, M = np.zeros((1, 2)), np.ones((2, 3)), np.ones((2, 3))
    assert exponential_pairing(q, k, M).tolist() == [[1.0, 1.0]]
    lopsided = np.array([[0.0, math.log(2)], [0.0, 0.0]])
    found = exponential_pairing(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), lopsided)
    assert abs(found[0, 0] - 2.0) <= 8 * 2.0**-53
    assert exponential_pairing(np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]]), lopsided) == 1.0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(("n", "m"), [(6, 6), (3, 6), (6, 4)])
def test_torch_attention_agrees(dtype: torch.dtype, n: int, m: int) -> None:
    q, k, v = (torch.tensor(part, dtype=dtype) for part in tokens(n, m, 4, n + m))
    peer = torch.nn.functional.scaled_dot_product_attention
    plain = [part.numpy() for part in (q, k, v)]
    size = np.abs(plain[0].astype(float)) @ np.abs(plain[1].astype(float)).T
    scores = exact(plain[0]) @ exact(plain[1].T)
    # The peer scales queries and keys before their product: four more roundings.
    error = scores.error + 4 * units(plain[0].dtype).store * size
    for align, mask in (("first", None), ("last", causal_mask(n, m, align="last", like=q))):
        rows = causal_mask(n, m, align=align)
        weights = rounded_weights(plain[0] @ plain[1].T, 2.0, rows, error)
        bound = 2 * (weights @ exact(plain[2])).error
        theirs = peer(q[None], k[None], v[None], mask, is_causal=mask is None)[0].numpy()
        ours = causal_attention(q, k, v, align=align).numpy()
        seen = rows.any(axis=1)
        assert np.isfinite(ours).all()
        assert np.isfinite(theirs[seen]).all()
        assert (np.abs(ours - theirs)[seen] <= bound[seen]).all()
        other = causal_attention(q, k, v, align="last" if align == "first" else "first").numpy()
        assert n == m or not (np.abs(other - theirs)[seen] <= bound[seen]).all()


def test_tensors_give_tensors_of_their_dtype() -> None:
    q, k, v = (torch.tensor(part, dtype=torch.float32) for part in tokens(2, 3))
    found = attention(q, k, v, tau=2.0)
    assert (type(found), found.dtype, tuple(found.shape)) == (torch.Tensor, torch.float32, (2, 2))
    assert causal_mask(2, 3, align="last", like=q).dtype == torch.bool
    assert readout(exponential_pairing(q, k, torch.eye(3)), v).dtype == torch.float32
    for value in (log_partition(q @ k.T), free_energy(gibbs_weights(q @ k.T), q @ k.T)):
        assert value.dtype == torch.float32
