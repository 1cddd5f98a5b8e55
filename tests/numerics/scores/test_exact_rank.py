"""Ranks, determinants and certificates of integers, and the principal lattice of RA2."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from math import comb, prod

import numpy as np
import pytest
from flint import fmpq, fmpz

from numerics.scores.exact_rank import PRIME, SECOND_PRIME, determinant_of, large_prime, rank_of
from numerics.scores.integer_scores import centre, integer_scores
from numerics.scores.principal_lattice import PrincipalLattice, direction_scores

F = Fraction


def leibniz(rows: list[list[Fraction]]) -> Fraction:
    """The determinant as the signed sum over permutations."""
    n = len(rows)

    def sign(order: tuple[int, ...]) -> int:
        return (-1) ** sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))

    products = (sign(o) * prod(rows[i][o[i]] for i in range(n)) for o in permutations(range(n)))
    return F(sum(products))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
def test_determinants_are_signed_sums_over_permutations(n: int) -> None:
    rng = np.random.default_rng(n)
    rows = [[F(int(a), int(b)) for a, b in zip(*rng.integers(1, 9, (2, n)), strict=True)]
            for _ in range(n)]  # fmt: skip
    expected = leibniz(rows)
    assert determinant_of(rows) == expected
    residue = expected.numerator * pow(expected.denominator, -1, PRIME) % PRIME
    assert determinant_of(rows, PRIME) == residue


@pytest.mark.parametrize(
    ("n", "m", "rank"), [(7, 7, 7), (7, 7, 4), (9, 6, 6), (5, 8, 3), (4, 4, 0)]
)
def test_the_rank_of_a_product_is_its_inner_width(n: int, m: int, rank: int) -> None:
    rng = np.random.default_rng(n + rank)
    matrix = rng.integers(-9, 10, (n, rank)) @ rng.integers(-9, 10, (rank, m))
    for modulus in (None, PRIME, SECOND_PRIME):
        found = rank_of(matrix, modulus)
        assert found.rank == rank
        assert found.certifies(matrix)
        assert len(found.rows) == len(found.columns) == rank
    assert rank_of(matrix).exact
    assert rank_of(matrix, PRIME).exact == (rank == min(n, m)), "no larger rank is possible"


def test_an_unlucky_modulus_leaves_no_false_certificate() -> None:
    matrix = [[7, 0], [0, 1]]
    found = rank_of(matrix, 7)
    assert (found.rank, found.rows, found.columns, found.exact) == (1, (1,), (1,), False)
    assert rank_of(matrix, 11).exact
    full = replace(found, rank=2, rows=(0, 1), columns=(0, 1))
    assert not any(replace(full, minor=minor).certifies(matrix) for minor in range(7))


def test_primes_are_primes_below_2_to_the_29_and_differ_by_seed() -> None:
    found = [large_prime(seed) for seed in range(20)]
    assert len(set(found)) == 20
    assert all(2**27 < p < 2**29 for p in found)
    assert not [p for p in found if any(p % k == 0 for k in range(2, int(p**0.5) + 1))]
    assert [large_prime(seed) for seed in range(20)] == found


def whole_metrics(lattice: PrincipalLattice) -> np.ndarray:
    v = lattice.directions()
    return np.eye(lattice.d, dtype=np.int64) + v[:, :, None] * v[:, None, :]


@pytest.mark.parametrize("d", range(1, 13))
def test_the_lattice_has_the_determinant_of_the_closed_form(d: int) -> None:
    lattice, N = PrincipalLattice.whole(d), comb(d + 2, 2)
    Q = lattice.scores()
    assert Q.shape == (N, N)
    assert determinant_of(Q) == lattice.determinant() == (-1) ** (d + 1) * d * 2 ** (N + 1)
    assert rank_of(Q) == rank_of(Q, PRIME)
    assert rank_of(Q).rank == N
    assert rank_of(centre(Q)).rank == N - 1, "what softmax needs"


@pytest.mark.parametrize("d", [1, 2, 3, 4, 6])
def test_the_scores_are_those_of_the_tokens_and_metrics(d: int) -> None:
    lattice = PrincipalLattice.whole(d)
    assert (lattice.scores() == integer_scores(lattice.tokens(), whole_metrics(lattice))).all()


def test_the_lattice_of_the_plane_is_the_one_of_the_statement() -> None:
    lattice = PrincipalLattice.whole(2)
    assert lattice.tokens().tolist() == [[0, 0], [1, 0], [0, 1], [2, 0], [0, 2], [1, 1]]
    assert lattice.directions().tolist() == [[0, 0], [0, 0], [0, 0], [1, 0], [0, 1], [1, 1]]


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_a_part_of_the_lattice_is_regular_at_every_size_in_between(d: int) -> None:
    sizes = set()
    for r in range(d + 1):
        for f in range(r * (r - 1) // 2 + 1):
            part = PrincipalLattice(d, r, f)
            Q = part.scores()
            assert len(Q) == part.size
            sizes.add(part.size)
            last = d * 2 ** (2 * d + 2 + f) if r == d else 2 ** (d + r + 2 + f)
            assert determinant_of(Q) == part.determinant() == (-1) ** (d + 1) * last
    assert sizes == set(range(d + 2, comb(d + 2, 2) + 1))


def moved(x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x[-1] *= 2
    return x, v


def flat(x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x, np.concatenate([v[:-1], 0 * v[:1]])


def one_direction(x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x, np.arange(len(x))[:, None] * v[-1:]


def repeated(x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([x[:-1], x[:1]]), v


FALSE: dict[str, tuple[Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]], bool]] = {
    "a token moved": (moved, True),
    "a metric without its direction": (flat, False),
    "one direction for all": (one_direction, False),
    "a token twice": (repeated, False),
}


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 3, 7, 12])
@pytest.mark.parametrize("name", FALSE)
def test_a_false_lattice_is_told_from_the_true_one(name: str, d: int) -> None:
    lattice = PrincipalLattice.whole(d)
    spoil, regular = FALSE[name]
    Q = direction_scores(*spoil(lattice.tokens(), lattice.directions()))
    p = large_prime(0)
    assert determinant_of(Q, p) != lattice.determinant() % p
    assert not rank_of(lattice.scores(), p).certifies(Q)
    assert (rank_of(Q, p).rank == lattice.size) is regular


def test_the_exponent_and_the_sign_of_the_closed_form_are_needed() -> None:
    """d = 1: 16, neither 8 nor -16."""
    assert PrincipalLattice.whole(1).scores().tolist() == [[0, 1, 4], [1, 0, 1], [8, 2, 0]]
    assert determinant_of(PrincipalLattice.whole(1).scores()) == 16


def test_large_tokens_do_not_wrap() -> None:
    far = 2**28
    x, v = np.array([[-far], [far]]), np.array([[1], [2]])
    squares = [int((2 * far) ** 2) * (1 + k * k) for k in (1, 2)]
    assert direction_scores(x, v).tolist() == [[0, squares[0]], [squares[1], 0]]
    narrow = direction_scores(np.array([[-100], [100]], dtype=np.int8), np.ones((2, 1), np.int8))
    assert narrow.tolist() == [[0, 80000], [80000, 0]]


def test_fractions_and_flint_numbers_are_taken_exactly() -> None:
    rows = [[Fraction(1, 2), fmpq(1, 3)], [3, np.int64(2)], [0, fmpz(0)]]
    for modulus in (None, 7):
        found = rank_of(rows, modulus)
        assert (found.rank, found.certifies(rows)) == (1, True)
    assert rank_of([[Fraction(1, 2), 0], [0, 1]]).rank == 2
    for larger in ([[0], [1]], [[0, 1]]):
        assert rank_of(larger).certifies(larger)
        assert not rank_of(larger).certifies([[1]])
