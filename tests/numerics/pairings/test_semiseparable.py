"""Blocks of lower-triangular matrices: exact ranks, recurrences by factors, softmax."""

import random
from fractions import Fraction

import pytest
from flint import arb

from numerics.pairings.semiseparable import (
    VERSIONS,
    block_ranks,
    exponential_minors,
    least_states,
    power_matrix,
    realise,
)

STRICT_BLOCKS_OF_RANK_ONE = [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
FREE_NEEDS_TWO = [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
IDENTITY = [[1, 0], [0, 1]]


def matrices(count: int) -> list[list[list[int | Fraction]]]:
    rng = random.Random(7)
    entries = (0, 0, 0, 1, 1, -1, 2, Fraction(1, 2))
    sizes = [rng.choice((1, 2, 3, 4, 5)) for _ in range(count)]
    return [[[rng.choice(entries) if j <= i else 0 for j in range(n)] for i in range(n)]
            for n in sizes]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_factors_of_the_blocks_give_a_recurrence_with_the_least_states(version: str) -> None:
    for L in matrices(120):
        found = realise(L, version)
        assert found.matrix() == L
        read = found.c if version == "before" else found.b
        assert [len(part) for part in read] == block_ranks(L, version)
        assert found.states <= least_states(L, version)


def test_reading_before_or_after_the_update_makes_a_difference() -> None:
    L = STRICT_BLOCKS_OF_RANK_ONE
    assert block_ranks(L, "before") == [0, 1, 1]
    assert block_ranks(L, "after") == [1, 2, 1]
    assert [least_states(L, version) for version in VERSIONS] == [2, 1, 1]


def test_strict_blocks_do_not_decide_feed_through_beside_the_updated_state() -> None:
    assert block_ranks(FREE_NEEDS_TWO, "before") == [0, 1, 1]
    assert block_ranks(FREE_NEEDS_TWO, "free") == [1, 2, 1]
    values = (-2, -1, 0, 1, 2)
    for c2, A2, b1, c3, A3, b2 in ((a, b, c, d, e, f) for a in values for b in values
                                   for c in values for d in values for e in values
                                   for f in values):  # fmt: skip
        assert (c2 * A2 * b1, c3 * A3 * b2, c3 * A3 * A2 * b1) != (1, 1, 0)


def test_the_identity_needs_a_state_that_forgets() -> None:
    found = realise(IDENTITY, "after")
    assert found.matrix() == IDENTITY
    assert found.states == 1
    assert found.A[1] == [[0]]


@pytest.mark.slow
def test_the_free_corner_is_the_least_over_all_corners() -> None:
    corners = [Fraction(p, q) for p in range(-6, 7) for q in (1, 2, 3)]
    for L in matrices(40):
        n, free = len(L), block_ranks(L, "free")
        for t in range(n):
            ranks = []
            for corner in corners:
                moved = [[corner if i == j == t else e for j, e in enumerate(row)]
                         for i, row in enumerate(L)]  # fmt: skip
                ranks.append(block_ranks(moved, "after")[t])
            assert min(ranks) >= free[t]
            assert block_ranks([[e - (i == j) * d for j, e in enumerate(row)] for i, (row, d) in
                                enumerate(zip(L, realise(L, "free").D, strict=True))],
                               "after")[t] == free[t]  # fmt: skip


@pytest.mark.slow
def test_softmax_blocks_have_full_rank_by_powers_of_two() -> None:
    for n in range(1, 41):
        ranks = block_ranks(power_matrix(n), "after")
        assert ranks == [min(n - t, t + 1) for t in range(n)]
        assert max(ranks) == -(-n // 2)
    for n in (1, 2, 7, 12, 40):
        assert least_states(power_matrix(n), "before") == n // 2


def test_repeated_tokens_have_blocks_of_rank_one() -> None:
    L = [[1 if j <= i else 0 for j in range(6)] for i in range(6)]
    assert block_ranks(L, "after") == 6 * [1]
    rows = power_matrix(6)
    twice = [[rows[i // 2][j] if j <= i else 0 for j in range(6)] for i in range(6)]
    assert least_states(twice, "after") < least_states(rows, "after")


def excludes_zero(ball: arb) -> bool:
    return bool(ball > 0) or bool(ball < 0)


@pytest.mark.slow
def test_exponentials_of_distinct_tokens_are_certified_by_balls() -> None:
    rng = random.Random(11)
    for n in range(1, 41):
        query, key = ([rng.uniform(-2, 2) for _ in range(n)] for _ in range(2))
        minors = exponential_minors(query, key, digits=30 + n * n)
        assert len(minors) == n
        assert all(map(excludes_zero, minors))


def test_a_repeated_key_is_not_certified() -> None:
    assert excludes_zero(exponential_minors([0.5, 1.0, 1.5], [1.0, 2.0, 3.0])[1])
    assert not excludes_zero(exponential_minors([0.5, 1.0, 1.5], [1.0, 1.0, 3.0])[1])
    assert not excludes_zero(exponential_minors([0.5, 1.0, 1.0], [1.0, 2.0, 3.0])[1])


def test_too_few_digits_certify_nothing() -> None:
    tokens = [k / 8 for k in range(20)]
    assert not all(map(excludes_zero, exponential_minors(tokens, tokens, digits=15)))
    assert all(map(excludes_zero, exponential_minors(tokens, tokens)))
