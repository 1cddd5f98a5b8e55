"""Exact ranks of scores with their certificates (RA1, RA4), over Q and modulo a prime."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from numerics.scores import score_rank_exact
from numerics.scores.exact_rank import PRIME, SECOND_PRIME, RankCertificate, rank_of
from numerics.scores.families import distance_determinant
from numerics.scores.integer_scores import RANK_KINDS, centre, integer_scores

F = Fraction


def metrics_of_span(rng: np.random.Generator, n: int, d: int, g: int) -> np.ndarray:
    """n positive definite metrics with a span of dimension g, all but g - 1 of them equal."""
    frames = rng.integers(-9, 10, size=(g, d, d))
    chosen = frames @ frames.transpose(0, 2, 1) + np.eye(d, dtype=np.int64)
    return np.concatenate([chosen[1:], np.repeat(chosen[:1], n - g + 1, axis=0)])


def span_dimension(G: np.ndarray) -> int:
    return rank_of(G.reshape(len(G), -1)).rank


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_rank_is_one_plus_d_plus_g_for_any_metrics_with_a_span_of_dimension_g(d: int) -> None:
    rng = np.random.default_rng(d)
    for g in range(1, d * (d + 1) // 2 + 1):
        n = 1 + d + g
        G = metrics_of_span(rng, n, d, g)
        assert span_dimension(G) == g
        x = rng.integers(-50, 51, size=(n, d))
        assert score_rank_exact(x, G, modulus=PRIME).rank == 1 + d + g
        fewer = score_rank_exact(x[1:], G[1:], modulus=PRIME).rank
        assert fewer == n - 1, "rank never exceeds the number of tokens"


def test_two_tokens_more_do_not_raise_the_rank_and_centring_takes_one() -> None:
    rng = np.random.default_rng(0)
    G = metrics_of_span(rng, 10, 3, 4)
    x = rng.integers(-50, 51, size=(10, 3))
    found = score_rank_exact(x, G)
    assert (found.rank, found.exact) == (8, True)
    assert score_rank_exact(x, G, centred=True).rank == 7
    assert score_rank_exact(x, G, kind="key").rank == 8
    assert score_rank_exact(x, G, kind="symmetrised").rank == 10


def test_singular_metrics_with_a_common_kernel_have_less() -> None:
    G = np.zeros((4, 2, 2), dtype=np.int64)
    G[:, 0, 0] = 1, 2, 3, 5
    x = [[0, 1], [1, 5], [3, -2], [7, 4]]
    assert score_rank_exact(x, G).rank == 3 < 1 + 2 + 1


@pytest.mark.parametrize("d", [1, 2, 3])
def test_explicit_tokens_of_the_certificate_make_query_features_independent(d: int) -> None:
    """x_0 = s z, x_a = G_a^{-1} e_a and g tokens 0: the columns (x^T G x, G x, gamma)."""
    rng = np.random.default_rng(7 + d)
    for g in range(1, d * (d + 1) // 2 + 1):
        n = 1 + d + g
        G = metrics_of_span(rng, n, d, g)
        coordinates = np.zeros((n, g), dtype=object)
        coordinates[: g - 1, : g - 1] = np.eye(g - 1, dtype=np.int64)
        coordinates[g - 1 :, g - 1] = 1
        # The first g metrics are independent and stay at the token 0.
        rows = []
        for i in range(n):
            token = certificate_token(G, i - g, g) if i >= g else [F(0)] * d
            lowered = [sum(int(p) * q for p, q in zip(row, token, strict=True)) for row in G[i]]
            square = sum(p * q for p, q in zip(lowered, token, strict=True))
            rows.append([F(square), *map(F, lowered), *map(F, coordinates[i].tolist())])
        scale = np.lcm.reduce([entry.denominator for row in rows for entry in row], dtype=object)
        whole = np.array([[int(entry * scale) for entry in row] for row in rows], dtype=object)
        assert rank_of(whole).rank == 1 + d + g
        assert rank_of(np.delete(whole, 0, axis=1)).rank == d + g


def certificate_token(G: np.ndarray, place: int, g: int) -> list[Fraction]:
    """x_a = G_a^{-1} e_a for a < d, and then s z with z = e_1."""
    d = G.shape[1]
    inverses = [inverse_columns(G[g + a].tolist()) for a in range(d)]
    if place < d:
        return [row[place] for row in inverses[place]]
    last = G[g + d].tolist()
    size = F(last[0][0])
    t = sum((F(last[a][0]) * inverses[a][a][a] for a in range(d)), F(0))
    return [(1 + t + t * t) / size] + [F(0)] * (d - 1)


def inverse_columns(matrix: list[list[int]]) -> list[list[Fraction]]:
    """Gauss-Jordan elimination over the rationals, of a positive definite matrix."""
    d = len(matrix)
    rows = [[F(v) for v in row] + [F(int(i == j)) for j in range(d)]
            for i, row in enumerate(matrix)]  # fmt: skip
    for k in range(d):
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(d):
            if i != k:
                rows[i] = [p - rows[i][k] * q for p, q in zip(rows[i], rows[k], strict=True)]
    return [row[d:] for row in rows]


@pytest.mark.parametrize("kind", RANK_KINDS)
def test_certificates_hold_for_their_scores_and_for_no_others(kind: str) -> None:
    rng = np.random.default_rng(3)
    x, G = rng.integers(-9, 10, size=(7, 2)), metrics_of_span(rng, 7, 2, 3)
    for modulus in (None, PRIME):
        scores = integer_scores(x, G, kind=kind, modulus=modulus)
        found = rank_of(scores, modulus)
        assert found.certifies(scores.tolist())
        assert not found.certifies((2 * scores).tolist())
        assert not found.certifies((0 * scores).tolist())
        assert not replace(found, minor=found.minor + 1).certifies(scores.tolist())
        assert not replace(found, minor=0).certifies(scores.tolist())
        assert not replace(found, minor=0).certifies((0 * scores).tolist())
        twice = (found.rows[0], *found.rows[:-1])
        assert not replace(found, rows=twice).certifies(scores.tolist())
        longer = replace(found, rank=found.rank + 1)
        assert not longer.certifies(scores.tolist())


def test_rank_modulo_a_small_prime_is_a_lower_bound_only() -> None:
    x, G = [[0], [1], [3]], [[[1]]] * 3
    assert score_rank_exact(x, G).rank == 3
    assert score_rank_exact(x, G, modulus=3).rank == 2  # 0 and 3 are one token
    assert score_rank_exact(x, G, modulus=3).exact is False


def test_an_unlucky_prime_is_replaced_by_the_second() -> None:
    scores = np.array([[PRIME, 0], [0, 1]], dtype=object)
    found = rank_of(scores)
    assert (found.rank, found.modulus) == (2, SECOND_PRIME)
    both = np.array([[PRIME * SECOND_PRIME, 0], [0, 1]], dtype=object)
    with pytest.raises(ArithmeticError, match="no minor of size 2 survives"):
        rank_of(both)


def test_floats_and_fractions_are_read_exactly() -> None:
    x, D, U = np.array([[0.1], [0.25], [1.5]]), np.ones((3, 1)), np.full((3, 1, 1), 0.3)
    found = score_rank_exact(x, D=D, U=U)
    assert found.rank == 3
    same = [[F(1, 3)], [F(1, 3)], [F(2, 7)]]
    assert score_rank_exact(same, [[[F(1, 2)]]] * 3).rank == 2
    assert score_rank_exact(x, D=D).rank == score_rank_exact(x.tolist(), [[[1]]] * 3).rank


def test_scores_are_even_multiples_of_the_definition() -> None:
    x, G = [[0, 0], [1, 2], [3, 1]], [[[2, 1], [1, 3]]] * 3
    assert integer_scores(x, G).tolist()[0] == [0, 18, 27]
    assert integer_scores(x, G, kind="symmetrised").tolist()[0] == [0, 36, 54]
    assert integer_scores(x, G, kind="bilinear").tolist()[1] == [0, 18, 19]
    assert (centre(integer_scores(x, G))[0] == [-27, -9]).all()


def test_the_metric_of_the_query_acts_from_the_left() -> None:
    x, G = [[1, 0], [0, 1]], [[[0, 1], [0, 0]], [[0, 0], [5, 0]]]
    assert integer_scores(x, G, kind="bilinear").tolist() == [[0, 1], [5, 0]]
    both = [[0, 6], [6, 0]]
    assert integer_scores(x, G, kind="bilinear symmetrised").tolist() == both


def test_low_rank_metrics_are_diagonal_plus_columns_times_their_transpose() -> None:
    x, D = [[0, 0], [1, 2], [3, 1]], [[1, 2], [3, 4], [5, 6]]
    U = [[[1, 0], [2, 1]], [[0, 1], [1, 1]], [[2, 2], [0, 1]]]
    G = [[[2, 2], [2, 7]], [[4, 1], [1, 6]], [[13, 2], [2, 7]]]
    assert (integer_scores(x, D=D, U=U) == integer_scores(x, G)).all()


def test_fractions_are_inverted_modulo_the_prime() -> None:
    found = integer_scores([[0], [F(1, 2)]], [[[F(4, 3)]], [[8]]], modulus=7)
    assert found.tolist() == [[0, 5], [2, 0]]  # 1/3 = 5 modulo 7
    assert found.dtype == np.int64


def test_sums_modulo_the_prime_do_not_overflow() -> None:
    d = 31
    x = np.full((2, d), PRIME - 1)
    x[0] = 0
    G = np.full((2, d, d), PRIME - 1)
    found = integer_scores(x, G, modulus=PRIME)
    assert found[0, 1] == -(d * d) % PRIME


def test_one_token_has_rank_zero() -> None:
    assert score_rank_exact([[5]], [[[2]]]) == RankCertificate(0, (), (), PRIME, 1, True)
    assert score_rank_exact([[5]], [[[2]]], centred=True).rank == 0


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "no metric": (lambda: score_rank_exact([[1]]), ValueError, "G must be given, or D and U"),
    "both": (lambda: score_rank_exact([[1]], [[[1]]], D=[[1]]), ValueError, "G must be given"),
    "U alone": (lambda: score_rank_exact([[1]], [[[1]]], U=[[[1]]]), ValueError, "U must come"),
    "kind": (lambda: score_rank_exact([[1]], [[[1]]], kind="x"), ValueError, "kind must be one"),
    "shape": (lambda: score_rank_exact([[1]], [[[1, 2]]]), ValueError, "G must have shape"),
    "shape of U": (
        lambda: score_rank_exact([[1]], D=[[1]], U=[[[1], [2]]]), ValueError, "U must have shape"
    ),
    "axes": (lambda: score_rank_exact([1], [[[1]]]), ValueError, "x must have 2 axes"),
    "text": (lambda: score_rank_exact([["1"]], [[[1]]]), TypeError, "x must hold integers"),
    "truth": (lambda: score_rank_exact([[True]], [[[1]]]), TypeError, "x must hold integers"),
    "infinite": (
        lambda: score_rank_exact([[float("inf")]], [[[1]]]), ValueError, "x must be finite"
    ),
    "composite": (
        lambda: score_rank_exact([[1]], [[[1]]], modulus=15), ValueError, "modulus must be an odd"
    ),
    "two": (lambda: score_rank_exact([[1]], [[[1]]], modulus=2), ValueError, "modulus must be"),
    "real modulus": (
        lambda: score_rank_exact([[1]], [[[1]]], modulus=7.0),  # type: ignore[arg-type]
        TypeError, "modulus must be an integer",
    ),
    "denominator": (
        lambda: score_rank_exact([[F(1, 7)]], [[[1]]], modulus=7), ValueError, "x must be integral"
    ),
    "wide": (
        lambda: score_rank_exact([[0] * 32], [np.eye(32, dtype=int)], modulus=7),
        ValueError, "d must be at most 31",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_by_name(case: str) -> None:
    call, error, message = BAD[case]
    with pytest.raises(error, match=message):
        call()


def test_narrow_integers_are_taken_exactly() -> None:
    far = np.array([[100, -100]], dtype=np.int8)
    assert centre(far).tolist() == [[200]]
    for far, dtype in ((200, np.uint8), (2**40, np.int64), (2**64 - 1, np.uint64)):
        points = np.array([[0], [far]], dtype=dtype)
        assert distance_determinant(points).contains(arb(-(far**2)))
