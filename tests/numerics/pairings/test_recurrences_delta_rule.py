"""The delta rule in its forms, within a bound that its contraction carries from token to token."""

from typing import Any

import numpy as np
import pytest

from numerics.pairings import recurrences
from numerics.pairings.recurrences import Read
from numerics.rounding.roundoff import gamma

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
    parts: list[np.ndarray], beta: np.ndarray, state: np.ndarray, chunk: int = 16, split: int = 0
) -> tuple[float, float]:
    """Bounds of the Frobenius distances of the outputs and of the states of two forms.

    I - beta k k^T contracts, so errors of single tokens add up. A token writes at most
    beta |k| (|v| + |k| most), and reads what its chunk has written: beta |k|^2 <= 2 of its sum.
    The recurrence is the form of chunks of one.
    """
    query, key, value = (np.linalg.norm(part, axis=1) for part in parts)
    T, most = len(beta), largest_state(parts, beta, state)
    written = key * beta * (value + key * most)
    states, reads = 0.0, np.zeros(T)
    for size in (chunk, 1):
        starts = [*range(0, split, size), *range(split, T, size)]
        for start, end in zip(starts, [*starts[1:], T], strict=True):
            rows = slice(start, end)
            so_far = np.cumsum(written[rows])
            u = np.array([gamma(place + 2 * M + 8, 2.0**-53) for place in range(len(so_far))])
            states += float(np.sum(u * (written[rows] + 2 * so_far)))
            states += float(u[-1] * (most + so_far[-1]))
            reads[rows] += u * query[rows] * (most + so_far)
    assert states < most / 4
    return float(np.linalg.norm(query * states + reads)), states


def assert_agree(one: Read, other: Read, within: tuple[float, float]) -> None:
    for left, right, most in zip(one, other, within, strict=True):
        assert np.isfinite(left).all()
        assert np.isfinite(right).all()
        assert float(np.linalg.norm(left - right)) <= most


@pytest.mark.slow
@pytest.mark.parametrize("T", [1, 63, 64, 65, 100, 2000])
def test_chunks_of_the_delta_rule_agree_with_its_recurrence(T: int) -> None:
    parts, beta, state = tokens(T)
    whole = r.delta_recurrent(*parts, beta, state)
    for chunk in (1, 2, 3, 16, T):
        most = distance(parts, beta, state, chunk)
        assert most[1] < 1e-5 * np.linalg.norm(whole.state)
        assert_agree(r.delta_chunked(*parts, beta, chunk, state), whole, most)


@pytest.mark.slow
@pytest.mark.parametrize("T", [2, 63, 64, 65, 2000])
def test_its_state_may_be_handed_over_at_any_split(T: int) -> None:
    parts, beta, state = tokens(T)
    whole = r.delta_recurrent(*parts, beta, state)
    splits = range(1, T) if T <= 65 else np.random.default_rng(1).choice(T - 1, 10, False) + 1
    for split in splits:
        first = [part[:split] for part in parts]
        second = [part[split:] for part in parts]
        before = r.delta_chunked(*first, beta[:split], 16, state)
        after = r.delta_chunked(*second, beta[split:], 16, before.state)
        joined = np.concatenate([before.outputs, after.outputs])
        most = distance(parts, beta, state, 16, split)
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
