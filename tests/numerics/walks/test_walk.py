"""Walks: the cases of the reports, gradients, and both kinds of array."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from numerics.rounding import roundoff
from numerics.walks import Walk, multi_head_walk, single_head_walk, softmax_walk

KINDS = [np.asarray, torch.from_numpy]
CAUSAL_THEN_EMPTY = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0]], bool)


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fully_masked_row_is_a_zero_row(kind: Any) -> None:
    p = softmax_walk(kind(normal(0, 3, 3)), kind(CAUSAL_THEN_EMPTY))
    assert isinstance(p, type(kind(CAUSAL_THEN_EMPTY)))
    assert (p[2] == 0).all()
    assert p[0, 0] == 1
    assert float(abs(p[1].sum() - 1)) <= roundoff.gamma(3, 2.0**-53)


def test_gradients_of_the_other_rows_stay_finite() -> None:
    logits = torch.from_numpy(normal(1, 3, 3)).requires_grad_()
    softmax_walk(logits, torch.from_numpy(CAUSAL_THEN_EMPTY)).square().sum().backward()
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()
    assert (logits.grad[2] == 0).all()
    assert (logits.grad[1, :2] != 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_nan_in_a_masked_logit_does_not_leak(kind: Any) -> None:
    dirty = normal(2, 3, 3)
    clean = softmax_walk(kind(dirty.copy()), kind(CAUSAL_THEN_EMPTY))
    dirty[~CAUSAL_THEN_EMPTY] = np.nan
    assert (softmax_walk(kind(dirty), kind(CAUSAL_THEN_EMPTY)) == clean).all()


def test_nan_in_a_masked_logit_does_not_reach_gradients() -> None:
    dirty = normal(3, 3, 3)
    dirty[~CAUSAL_THEN_EMPTY] = np.nan
    logits = torch.from_numpy(dirty).requires_grad_()
    softmax_walk(logits, torch.from_numpy(CAUSAL_THEN_EMPTY)).square().sum().backward()
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_logits_at_the_ends_of_the_range(dtype: Any) -> None:
    top = np.finfo(dtype).max
    logits = np.array([[top, -top, top], [-top, -top, -np.inf]], dtype)
    half = Fraction(1, 2)
    expected = [[half, 0, half], [half, half, 0]]
    assert [[Fraction(float(p)) for p in row] for row in softmax_walk(logits)] == expected


@pytest.mark.parametrize("kind", KINDS)
def test_nan_in_a_token_no_query_sees_does_not_leak(kind: Any) -> None:
    p = softmax_walk(kind(normal(4, 3, 3)), kind(CAUSAL_THEN_EMPTY))
    x = normal(5, 3, 2)
    x[2] = np.nan
    for transports in (normal(6, 2, 2), normal(6, 3, 3, 2, 2)):
        y = Walk(p, kind(transports)).apply(kind(x))
        assert np.isfinite(np.asarray(y)).all()
        x[2] = 7.0
        assert (Walk(p, kind(transports)).apply(kind(x)) == y).all()
        x[2] = np.nan
    x[0, 1] = np.nan
    with pytest.raises(ValueError, match=r"x must be finite in every row.*nan at \(0, 1\)"):
        Walk(p, kind(normal(6, 2, 2))).apply(kind(x))


def test_sinks_shift_by_their_row_sums() -> None:
    """Rows [.6, .3], [.2, .5] with b_V = (1, 2) shift by .9 and .7, not by a constant."""
    weights = np.array([[0.6, 0.3], [0.2, 0.5]])
    walk = single_head_walk(weights, np.zeros((2, 2)), np.eye(2), np.array([1.0, 2.0]))
    assert walk.offset is not None
    bound = (roundoff.exact(weights).sum(axis=1).reshape(2, 1)
             * roundoff.exact(np.array([[1.0, 2.0]]))).error  # fmt: skip
    exact = [sum(Fraction(float(w)) for w in row) for row in weights]
    for i, j in np.ndindex(2, 2):
        shift = Fraction(float(walk.offset[i, j])) - (j + 1) * exact[i]
        assert abs(shift) <= Fraction(float(bound[i, j]))
    assert walk.offset[0, 0] != walk.offset[1, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_two_heads_that_swap_tokens_and_signs(kind: Any) -> None:
    attention = kind(np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]]))
    transports = kind(np.array([[[2.0]], [[-4.0]]]))
    walk = multi_head_walk(attention, transports)
    assert (walk.weights == kind(np.array([[0.5, 0.5], [0.5, 0.5]]))).all()
    assert walk.transports[:, :, 0, 0].tolist() == [[4.0, -8.0], [-2.0, -2.0]]
    assert walk.block_matrix().tolist() == [[2.0, -4.0], [-1.0, -1.0]]
    assert walk.generator().tolist() == [[-1.0, 4.0], [1.0, 2.0]]
    assert walk.apply(kind(np.array([[1.0], [3.0]]))).tolist() == [[-10.0], [-4.0]]


def test_transports_vanish_off_the_support() -> None:
    attention = np.stack([softmax_walk(normal(h, 3, 3), CAUSAL_THEN_EMPTY) for h in range(2)])
    walk = multi_head_walk(attention, normal(9, 2, 4, 5))
    assert (walk.transports[~CAUSAL_THEN_EMPTY] == 0).all()
    assert (walk.transports[CAUSAL_THEN_EMPTY] != 0).all()


def test_subnormal_attention_keeps_its_transports() -> None:
    tiny = float(np.finfo(np.float64).smallest_subnormal)
    attention = np.full((2, 1, 1), 2 * tiny)
    walk = multi_head_walk(attention, np.array([[[3.0]], [[5.0]]]))
    assert walk.weights.item() == 2 * tiny
    assert walk.transports.item() == 8.0


@pytest.mark.parametrize("edgewise", [False, True])
def test_block_matrix_is_token_major(edgewise: bool) -> None:
    n, m, d_out, d_in = 2, 3, 4, 5
    weights = softmax_walk(normal(0, n, m))
    transports = normal(1, n, m, d_out, d_in) if edgewise else normal(1, d_out, d_in)
    block = Walk(weights, transports).block_matrix()
    assert block.shape == (n * d_out, m * d_in)
    for i, j in np.ndindex(n, m):
        part = block[i * d_out : (i + 1) * d_out, j * d_in : (j + 1) * d_in]
        assert (part == weights[i, j] * (transports[i, j] if edgewise else transports)).all()


def test_one_implementation_serves_both_kinds() -> None:
    attention, transports, x = softmax_walk(normal(0, 3, 4, 5)), normal(1, 3, 2, 6), normal(2, 5, 6)
    ours = multi_head_walk(attention, transports).apply(x)
    tensors = [torch.from_numpy(a) for a in (attention, transports, x)]
    theirs = multi_head_walk(*tensors[:2]).apply(tensors[2])
    a, t, tokens = (roundoff.exact(part) for part in (attention, transports, x))
    scale = a @ (tokens.reshape(1, 5, 6) @ t.transpose(0, 2, 1))
    bound = roundoff.gamma(6 + 5 + 3 + 8, 2.0**-53) * scale.magnitude.sum(axis=0)
    assert (np.abs(ours - theirs.numpy()) <= 2 * bound).all()


def test_gradients_flow_through_gates_and_transports() -> None:
    logits = torch.from_numpy(normal(0, 2, 3, 3)).requires_grad_()
    transports = torch.from_numpy(normal(1, 2, 2, 2)).requires_grad_()
    x = torch.from_numpy(normal(2, 3, 2)).requires_grad_()
    mask = torch.from_numpy(CAUSAL_THEN_EMPTY)
    multi_head_walk(softmax_walk(logits, mask), transports).apply(x).square().sum().backward()
    for leaf in (logits, transports, x):
        assert leaf.grad is not None
        assert torch.isfinite(leaf.grad).all()
        assert (leaf.grad != 0).any()


def test_true_means_allowed() -> None:
    allowed = np.array([[True, False]])
    assert softmax_walk(np.zeros((1, 2)), allowed).tolist() == [[1.0, 0.0]]


def test_an_edge_that_underflows_leaves_the_support() -> None:
    tiny = float(np.finfo(np.float64).smallest_subnormal)
    walk = multi_head_walk(np.array([[[tiny, 1.0]]]), np.ones((1, 1, 1)), np.array([0.25]))
    assert walk.weights.tolist() == [[0.0, 0.25]]
    assert walk.transports.ravel().tolist() == [0.0, 4.0]
