"""The delta rule in its forms, within a bound that its contraction carries from token to token."""

from typing import Any

import numpy as np
import pytest

from numerics import recurrences
from numerics.recurrences import Read
from numerics.roundoff import gamma

r: Any = recurrences  # arguments are unpacked from lists
M, W = 3, 5


def tokens(T: int, seed: int = 0) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Queries, keys, values, beta with beta |k|^2 in [0, 2], and a state."""
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(T, width)) for width in (M, M, W)]
    beta = 1.99 * rng.random(T) / np.sum(parts[1] ** 2, axis=1)
    return parts, beta, rng.normal(size=(M, W))


def largest_state(parts: list[np.ndarray], beta: np.ndarray, state: np.ndarray) -> float:
    """Twice the largest norm of a state on the way: more than any form's, by the bound below."""
    norms = [float(np.linalg.norm(state))]
    for k, v, rate in zip(*parts[1:], beta, strict=True):
        state = state + rate * np.outer(k, v - k @ state)
        norms.append(float(np.linalg.norm(state)))
    return 2 * max(norms)


def distance(
    parts: list[np.ndarray], beta: np.ndarray, state: np.ndarray, chunk: int = 16
) -> tuple[float, float]:
    """Bounds of the Frobenius distances of the outputs and of the states of two forms.

    I - beta k k^T contracts, so errors of single tokens add up. A token writes at most
    beta (|v| + |k| most), and reads what its chunk has written; every sum has at most
    chunk + 2 m + 8 roundings.
    """
    query, key, value = (np.linalg.norm(part, axis=1) for part in parts)
    T, most = len(beta), largest_state(parts, beta, state)
    written = key * beta * (value + key * most)
    starts = np.arange(0, T, chunk)
    inside = np.repeat(np.add.reduceat(written, starts), np.diff(np.append(starts, T)))
    u = gamma(chunk + 2 * M + 8, 2.0**-53)
    states = 2 * float(np.sum(u * (most + 2 * written + 3 * inside)))
    assert states < most / 4
    reads = 2 * u * query * (most + inside)
    return float(np.linalg.norm(query * states + reads)), states


def assert_agree(one: Read, other: Read, within: tuple[float, float]) -> None:
    for left, right, most in zip(one, other, within, strict=True):
        assert np.isfinite(left).all()
        assert np.isfinite(right).all()
        assert float(np.linalg.norm(left - right)) <= most


@pytest.mark.parametrize("T", [1, 63, 64, 65, 100, 500])
def test_chunks_of_the_delta_rule_agree_with_its_recurrence(T: int) -> None:
    parts, beta, state = tokens(T)
    whole = r.delta_recurrent(*parts, beta, state)
    for chunk in (1, 2, 3, 16, T):
        most = distance(parts, beta, state, chunk)
        assert most[1] < 1e-6 * np.linalg.norm(whole.state)
        assert_agree(r.delta_chunked(*parts, beta, chunk, state), whole, most)


@pytest.mark.parametrize("T", [2, 64, 65])
def test_its_state_may_be_handed_over_at_any_split(T: int) -> None:
    parts, beta, state = tokens(T)
    whole, most = r.delta_recurrent(*parts, beta, state), distance(parts, beta, state)
    for split in range(1, T):
        first = [part[:split] for part in parts]
        second = [part[split:] for part in parts]
        before = r.delta_chunked(*first, beta[:split], 16, state)
        after = r.delta_chunked(*second, beta[split:], 16, before.state)
        joined = np.concatenate([before.outputs, after.outputs])
        assert_agree(Read(joined, after.state), whole, most)


def test_a_state_that_is_not_handed_over_is_seen() -> None:
    parts, beta, state = tokens(8)
    whole, most = r.delta_recurrent(*parts, beta, state), distance(parts, beta, state)
    lost = r.delta_recurrent(*parts, beta)
    assert float(np.linalg.norm(lost.outputs - whole.outputs)) > most[0]


def test_it_overwrites_exactly_if_beta_is_the_inverse_square_of_the_key() -> None:
    state = np.array([[3.0, 1.0], [5.0, -2.0]])
    key, value = np.array([[2.0, 0.0]]), np.array([[1.0, 7.0]])
    written = r.delta_recurrent(key, key, value, np.array([0.25]), state).state
    assert (key @ written).tolist() == value.tolist()
    assert written[1].tolist() == state[1].tolist()  # what an orthogonal key reads


def test_beta_one_overwrites_no_key_of_length_two() -> None:
    key, one = np.array([[2.0]]), np.ones((1, 1))
    for form in (r.delta_recurrent, lambda *a: r.delta_chunked(*a, 1)):
        assert form(key, key, one, np.ones(1)).state.tolist() == [[2.0]]
        assert form(key, key, one, np.ones(1)).outputs.tolist() == [[4.0]]


def test_heads_of_different_sizes_keep_apart() -> None:
    rng = np.random.default_rng(5)
    H, T = 2, 7
    query, key, value = (rng.normal(size=(H, T, width)) / 2 for width in (M, M, W))
    beta = rng.random((H, T))
    together = r.delta_chunked(query, key, value, beta, 3)
    for h in range(H):
        alone = r.delta_chunked(query[h], key[h], value[h], beta[h], 3)
        most = distance([query[h], key[h], value[h]], beta[h], np.zeros((M, W)))
        assert_agree(Read(together.outputs[h], together.state[h]), alone, most)
