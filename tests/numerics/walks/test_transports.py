"""Transports: grouped queries, gates, the canonical edge gauge and node gauges."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from numerics.properties import strategies
from numerics.rounding import roundoff
from numerics.walks import Walk, softmax_walk
from numerics.walks.gauges import block_norms, frobenius_factors, frobenius_gauge, node_gauge
from numerics.walks.transports import gates, head_transports, head_weights, kv_head

U = 2.0**-53


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def test_query_heads_read_their_group_in_order() -> None:
    assert [kv_head(h, 6, 2) for h in range(6)] == [0, 0, 0, 1, 1, 1]
    assert [kv_head(h, 6, 2) for h in range(6)] != [h % 2 for h in range(6)]


def test_each_head_has_its_own_transport() -> None:
    w_v, w_o = np.array([[[2.0]], [[3.0]]]), np.array([[[1.0]], [[5.0]], [[7.0]], [[11.0]]])
    assert head_transports(w_v, w_o).ravel().tolist() == [2.0, 10.0, 21.0, 33.0]


def test_transports_are_in_column_form() -> None:
    w_v, w_o = np.array([[[0.0, 1.0], [0.0, 0.0]]]), np.eye(2)[None]
    assert head_transports(w_v, w_o)[0].tolist() == [[0.0, 0.0], [1.0, 0.0]]


def test_gates_sum_to_one_on_the_support_and_vanish_off_it() -> None:
    mask = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0]], bool)
    attention = np.stack([softmax_walk(normal(h, 3, 3), mask) for h in range(3)])
    shares = gates(attention, np.array([0.2, 0.3, 4.0]))
    assert (shares[:, ~mask] == 0).all()
    assert (np.abs(shares[:, mask].sum(axis=0) - 1) <= roundoff.gamma(8, U)).all()


def test_gates_are_exact_shares() -> None:
    attention = np.array([0.25, 0.5]).reshape(2, 1, 1)
    got = gates(attention, np.array([1.0, 3.0])).ravel()
    for value, exact in zip(got, (Fraction(1, 7), Fraction(6, 7)), strict=True):
        assert abs(Fraction(float(value)) - exact) <= Fraction(roundoff.gamma(5, U)) * exact


def test_default_head_weights_are_one_over_the_number_of_heads() -> None:
    assert head_weights(np.zeros((4, 1, 1))).tolist() == [0.25] * 4
    assert head_weights(torch.zeros(4, 1, 1)).tolist() == [0.25] * 4


def test_norms_survive_entries_whose_squares_do_not() -> None:
    for scale in (1e-200, 1e200):
        peak, length = frobenius_factors(scale * np.array([[3.0, 0.0], [0.0, 4.0]]))
        assert abs(float(peak * length) / scale - 5) <= 5 * roundoff.gamma(12, U)


def test_canonical_gauge_is_row_stochastic_with_equal_norms_along_rows() -> None:
    weights = 3 * softmax_walk(normal(0, 3, 4))
    weights[1] = 0
    gauge = frobenius_gauge(Walk(weights, normal(1, 3, 4, 2, 5)))
    norms = np.sqrt((gauge.transports**2).sum(axis=(2, 3)))
    rows = block_norms(Walk(weights, normal(1, 3, 4, 2, 5))).sum(axis=1)
    accuracy = roundoff.gamma(40, U)
    assert (np.abs(gauge.weights.sum(axis=1) - [1, 0, 1]) <= accuracy).all()
    assert (np.abs(norms - rows[:, None]) <= accuracy * rows[:, None]).all()


def test_canonical_gauge_forgets_a_rescaling_of_edges() -> None:
    weights, edges = softmax_walk(normal(0, 3, 4)), normal(1, 3, 4, 2, 2)
    powers = 2.0 ** np.arange(12).reshape(3, 4)
    first = frobenius_gauge(Walk(weights, edges))
    second = frobenius_gauge(Walk(weights * powers, edges / powers[:, :, None, None]))
    assert (first.weights == second.weights).all()
    assert (first.transports == second.transports).all()


def test_a_walk_of_zero_blocks_stays_zero() -> None:
    gauge = frobenius_gauge(Walk(np.ones((2, 2)), np.zeros((3, 3))))
    assert not gauge.weights.any()
    assert not gauge.transports.any()


def test_node_gauge_conjugates_the_operator() -> None:
    """T_ij -> g_i T_ij g_j^-1 and not g_i T_ij g_j: n = 1, g = 2, T = 1 leaves 1, not 4."""
    walk = Walk(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)))
    moved = node_gauge(walk, np.full((1, 1, 1), 2.0))
    assert moved.transports.item() == 1.0
    assert moved.offset is not None
    assert moved.offset.item() == 2.0


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
def test_orthogonal_node_gauge_turns_outputs_with_inputs(kind) -> None:
    n, d = 4, 3
    rng = np.random.default_rng(7)
    g = np.stack([strategies.rotation(rng, d) for _ in range(n)])
    weights, edges, x = softmax_walk(normal(0, n, n)), normal(1, n, n, d, d), normal(2, n, d)
    turned = (g @ x[:, :, None])[..., 0]
    moved = node_gauge(Walk(kind(weights), kind(edges)), kind(g)).apply(kind(turned))
    expected = (g @ Walk(weights, edges).apply(x)[:, :, None])[..., 0]
    scale = np.abs(edges).sum() * np.abs(x).max()
    assert np.abs(np.asarray(moved) - expected).max() <= roundoff.gamma(30 * d * d, U) * scale


def test_gates_of_subnormal_attention_are_shares_too() -> None:
    tiny = float(np.finfo(np.float64).smallest_subnormal)
    assert gates(np.full((2, 1, 1), tiny), np.full(2, 0.25)).ravel().tolist() == [0.5, 0.5]
