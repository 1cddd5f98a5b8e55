"""The rank spectrum, exactly: every family at every d, closed determinants, and the exceptions."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import prod

import numpy as np
import pytest
from flint import arb, fmpz_mat

from numerics.scores.exact_rank import PRIME, rank_of
from numerics.scores.families import (
    Family,
    distance_determinant,
    families,
    full_width,
    rank_row,
    rank_table,
    tokens_modulo,
)
from numerics.scores.integer_scores import centre, integer_scores, score_rank_exact

EYE = np.eye


@pytest.mark.slow
@pytest.mark.parametrize("d", range(1, 13))
def test_every_family_meets_its_bound(d: int) -> None:
    rows = rank_table(dims=(d,))
    assert not [row for row in rows if not row.exact]
    assert len({row.family for row in rows}) == (13 if d == 1 else 21)
    assert {row.r for row in rows} == {None, *range(1, min(d, 4))}


def named(name: str, kind: str, tokens: str = "generic") -> Family:
    (found,) = [f for f in families() if (f.name, f.kind, f.tokens) == (name, kind, tokens)]
    return found


@pytest.mark.parametrize("drop", [-1, 1])
def test_a_wrong_bound_is_not_met(drop: int) -> None:
    for family in families():
        d = max(3, family.least_d)
        wrong = replace(family, rank=lambda d, r, f=family: f.rank(d, r) + drop)
        assert not rank_row(wrong, d).exact
        centred = replace(family, drop=family.drop + drop)
        assert not rank_row(centred, d).exact


def test_the_verdict_on_heterogeneous_metrics() -> None:
    linear = [
        ("conformal", "query"), ("diagonal", "query"), ("conformal", "symmetrised"),
        ("diagonal", "symmetrised"), ("bilinear", "bilinear"),
        ("bilinear", "bilinear symmetrised"),
    ]  # fmt: skip
    for d in (4, 8, 12):
        assert all(named(*names).rank(d, 1) <= 4 * d + 4 for names in linear)
        assert named("D + U U^T", "query").rank(d, 1) > d * d // 2


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_rank_is_the_number_of_tokens_up_to_the_bound(d: int) -> None:
    rng = np.random.default_rng(d)
    N = full_width(d)
    x, u = rng.integers(-30, 31, size=(N + 2, d)), rng.integers(-30, 31, size=(N + 2, d))
    G = EYE(d, dtype=np.int64) + u[:, :, None] * u[:, None, :]
    for n in range(1, N + 3):
        rank = score_rank_exact(x[:n], G[:n], modulus=PRIME).rank
        assert rank == (0 if n == 1 else min(n, N))


def lattice(d: int, r: int, pairs: list[tuple[int, int]]) -> np.ndarray:
    """0, e_a, then 2 e_a for a <= r, 2 e_{r+1} where r < d, and e_a + e_b for the pairs."""
    unit = EYE(d, dtype=np.int64)
    doubled = 2 * unit[: min(r + 1, d)]
    sums = [unit[a] + unit[b] for a, b in pairs]
    return np.array([0 * unit[0], *unit, *doubled, *sums])


def determinant(Q: np.ndarray) -> int:
    return int(fmpz_mat([[int(v) for v in row] for row in Q]).det())


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_conformal_scores_have_the_closed_determinant(d: int) -> None:
    x = lattice(d, 0, [])
    factors = np.arange(2, 2 + len(x))
    Q = integer_scores(x, factors[:, None, None] * EYE(d, dtype=np.int64))
    assert determinant(Q) == (-1) ** (d + 1) * 2 ** (d + 2) * prod(factors.tolist())


@pytest.mark.parametrize("d", [2, 3, 4, 6])
def test_diagonal_and_shared_metrics_have_the_closed_determinants(d: int) -> None:
    unit = EYE(d, dtype=np.int64)
    for r in range(1, d + 1):
        for pairs in ([], list(combinations(range(r), 2))):
            x = lattice(d, r, pairs)
            G = np.repeat(unit[None], len(x), axis=0)
            for a in range(r):
                G[d + 1 + a] += np.outer(unit[a], unit[a])
            for place, (a, b) in enumerate(pairs):
                v = unit[a] + unit[b]
                G[len(x) - len(pairs) + place] += np.outer(v, v)
            power = 2 * d + 2 if r == d else d + r + 2
            expected = (-1) ** (d + 1) * 2 ** (power + len(pairs)) * (d if r == d else 1)
            assert determinant(integer_scores(x, G)) == expected


def test_heterogeneous_conformal_metrics_stay_at_rank_four_in_the_plane() -> None:
    x = [[0, 0], [1, 0], [0, 1], [2, 3], [5, -1], [-2, 4]]
    G = np.arange(1, 7)[:, None, None] * EYE(2, dtype=np.int64)
    assert score_rank_exact(x, G).rank == 4


def test_one_direction_gives_bilinear_symmetrised_rank_three() -> None:
    ones, factors = np.ones((2, 2), dtype=np.int64), np.arange(1, 7) ** 2
    G = EYE(2, dtype=np.int64) + factors[:, None, None] * ones
    x = [[0, 1], [1, 0], [2, 1], [2, 3], [5, -1], [-2, 4]]
    assert score_rank_exact(x, G, kind="bilinear symmetrised").rank == 3


def test_formulas_for_r_below_d_fail_at_r_equal_to_d() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(-20, 21, size=(12, 3))
    scaled = rng.integers(1, 50, size=(12, 3))[:, :, None] * EYE(3, dtype=np.int64)
    assert score_rank_exact(x, scaled).rank == 7 < 3 + 2 + 3
    cores = rng.integers(-9, 10, size=(12, 2, 2))
    G = EYE(2, dtype=np.int64) + cores @ cores.transpose(0, 2, 1)
    assert score_rank_exact(x[:, :2], G).rank == 6 < 2 + 2 + 3


def test_softmax_of_key_side_scores_needs_one_width_more() -> None:
    query, key = named("D + U U^T", "query"), named("D + U U^T", "key")
    assert (query.centred(3, 1), key.centred(3, 1)) == (9, 10)
    assert rank_row(key, 3).centred == 10


def ranks(scores: np.ndarray) -> tuple[int, int]:
    return rank_of(scores).rank, rank_of(centre(scores)).rank


def test_centring_takes_exactly_one_from_invertible_scores() -> None:
    x = lattice(3, 3, list(combinations(range(3), 2)))
    unit = EYE(3, dtype=np.int64)
    G = np.repeat(unit[None], 10, axis=0)
    for place in range(3):
        G[4 + place] += np.outer(unit[place], unit[place])
    for place, (a, b) in enumerate(combinations(range(3), 2)):
        G[7 + place] += np.outer(unit[a] + unit[b], unit[a] + unit[b])
    assert ranks(integer_scores(x, G)) == (10, 9)


@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_bidirectional_distance_bias_has_full_rank_and_causal_alibi_has_none_left(n: int) -> None:
    place = np.arange(n)
    both, causal = abs(place[:, None] - place), place[:, None] - place
    assert ranks(both) == (n, n - 1)
    assert determinant(both) == (-1) ** (n - 1) * (n - 1) * 2 ** (n - 2)
    assert ranks(causal)[1] == 1  # one column term


def test_centring_the_columns_is_another_matrix() -> None:
    S = np.array([[0, 1], [0, 1]])
    assert rank_of(centre(S)).rank == 1
    assert rank_of(centre(S.T)).rank == 0


def test_the_visible_block_of_a_causal_mask_needs_the_full_width() -> None:
    """Keys first, then queries: rows N.. see columns ..N."""
    rng = np.random.default_rng(5)
    N = full_width(2)
    x = rng.integers(-9, 10, size=(2 * N, 2))
    u = rng.integers(-9, 10, size=(2 * N, 2))
    G = EYE(2, dtype=np.int64) + u[:, :, None] * u[:, None, :]
    visible = np.tril(np.ones((2 * N, 2 * N), bool))
    assert visible[N:, :N].all()
    block = integer_scores(x, G)[N:, :N]
    assert ranks(block) == (N, N - 1)


def point_sets() -> Iterator[np.ndarray]:
    rng = np.random.default_rng(1)
    for d in range(1, 13):
        yield rng.permutation(np.unique(rng.integers(-9, 10, size=(d + 4, d)), axis=0))
    yield np.array([[0, 0], [1, 0], [0, 1], [1, 1]])


def certain_sign(value: arb) -> int:
    return 1 if value > 0 else -1 if value < 0 else 0


def test_distances_of_distinct_points_have_determinants_of_known_sign() -> None:
    for points in point_sets():
        n = len(points)
        assert n >= 2
        assert certain_sign(distance_determinant(points)) == (-1) ** (n - 1)


def test_other_distance_matrices_are_singular() -> None:
    assert distance_determinant(np.array([[3, 1]])) == 0
    assert certain_sign(distance_determinant(np.array([[0, 0], [1, 0], [0, 0]]))) == 0
    place = np.arange(4)
    assert determinant((place[:, None] - place) ** 2) == 0
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    assert determinant(abs(corners[:, None] - corners[None]).sum(axis=2)) == 0


def test_tokens_lie_where_they_should() -> None:
    rng = np.random.default_rng(0)
    for d in (3, 7):
        sphere = tokens_modulo(rng, 9, d, "sphere").astype(object)
        assert set((sphere * sphere).sum(axis=1) % PRIME) == {1}
        centred = tokens_modulo(rng, 9, d, "layer norm").astype(object)
        assert set((centred * centred).sum(axis=1) % PRIME) == {2}
        assert set(centred.sum(axis=1) % PRIME) == {0}
        gained = tokens_modulo(rng, 9, d, "gain").astype(object)
        assert len(set((gained * gained).sum(axis=1) % PRIME)) > 1


def test_bad_input_is_refused_by_name() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="kind must be one of"):
        tokens_modulo(rng, 3, 2, "cube")
    with pytest.raises(ValueError, match="d must be larger for layer norm tokens, got 2"):
        tokens_modulo(rng, 3, 2, "layer norm")
    with pytest.raises(ValueError, match="shared core has no bound at d = 2, r = 2"):
        rank_row(named("shared core", "query"), 2, 2)
    with pytest.raises(TypeError, match="points must be integers"):
        distance_determinant(np.array([[0.5]]))
    with pytest.raises(ValueError, match="points must have shape"):
        distance_determinant(np.zeros((0, 2), dtype=int))
