"""The least number of heads, with certificates and heads that multiply out (CW4)."""

from fractions import Fraction
from itertools import chain
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from flint import fmpq, fmpq_mat, fmpz_mat

from numerics.walks import head_count
from numerics.walks import walk as walks
from numerics.walks.head_count import (
    Head,
    HeadCount,
    least_heads,
    operator_schmidt_rank,
    operator_schmidt_values,
    realignment,
    softmax_heads,
)

EXAMPLE = [[2, -1], [1, 0]]
F = Fraction


def integers(rng: np.random.Generator, n: int, m: int, low: int) -> np.ndarray:
    """n x m integers from low to 3 with equal row sums."""
    A = rng.integers(low, 4, size=(n, m)).astype(object)
    A[:, -1] += 4 - A.sum(axis=1)
    return A


def operator(seed: int) -> tuple[np.ndarray, int, int, int, int]:
    """A sum of one to three integer terms A (x) T, with n, m, d_out, d_in."""
    rng = np.random.default_rng(seed)
    n, m, d_out, d_in = rng.integers(1, 5, size=4).tolist()
    W = np.zeros((n * d_out, m * d_in), dtype=object)
    for _ in range(rng.integers(0, 4)):
        A = integers(rng, n, m, -2 if seed % 2 else 0)
        W = W + np.kron(A, rng.integers(-2, 3, size=(d_out, d_in)).astype(object))
    return np.vectorize(int, otypes=[object])(W), n, m, d_out, d_in


def multiplied(heads: tuple[Head, ...]) -> np.ndarray:
    parts = [np.kron(np.array(h.attention), np.array(h.transport)) for h in heads]
    return np.sum(parts, axis=0)


def flat(rows: Any) -> list[Fraction]:
    return list(chain.from_iterable(rows))


def test_the_example_needs_one_head_more_than_its_rank() -> None:
    assert operator_schmidt_rank(EXAMPLE, 2, 2) == 1
    count = least_heads(EXAMPLE, 2, 2)
    assert (count.heads, count.rank, count.positive) == (2, 1, None)
    y = flat(count.annihilator)
    assert min(y) >= 0
    assert any(y)
    assert sum(a * b for a, b in zip(y, flat(EXAMPLE), strict=True)) == 0
    heads = softmax_heads(EXAMPLE, 2, 2)
    assert len(heads) == 2
    assert (multiplied(heads) == np.array(EXAMPLE)).all()


def test_the_decomposition_of_the_paper_adds_up() -> None:
    """3 [[5/6, 1/6], [2/3, 1/3]] - 2 [[1/4, 3/4], [1/2, 1/2]]."""
    heads = (Head(((F(5, 6), F(1, 6)), (F(2, 3), F(1, 3))), ((F(3),),)),
             Head(((F(1, 4), F(3, 4)), (F(1, 2), F(1, 2))), ((F(-2),),)))  # fmt: skip
    assert (multiplied(heads) == np.array(EXAMPLE)).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_heads_multiply_out_and_their_number_is_certified(seed: int) -> None:
    W, n, m, d_out, d_in = operator(seed)
    count, heads = least_heads(W, n, m), softmax_heads(W, n, m)
    assert len(heads) == count.heads <= min(n * (m - 1) + 1, d_out * d_in + 1)
    assert (multiplied(heads) == W).all()
    for head in heads:
        assert min(flat(head.attention)) > 0
        assert {sum(row) for row in head.attention} == {1}
    columns = np.array(realignment(W, n, m)).T
    if count.positive is None:
        y = np.array(flat(count.annihilator))
        assert not (columns @ y).any()
        assert min(y) >= 0
        assert y.any()
    else:
        element = [flat(count.positive)]
        assert min(element[0]) > 0
        stacked = [*columns.tolist(), *element]
        assert operator_schmidt_rank(stacked, 1, n * m) == count.rank


def test_both_answers_occur() -> None:
    extra = {least_heads(*operator(seed)[:3]).annihilator is None for seed in range(60)}
    assert extra == {True, False}


@pytest.mark.parametrize("thin", [F(1, 10**6), F(1, 10**20), F(0), -F(1, 10**20)])
def test_no_cone_is_too_thin(thin: Fraction) -> None:
    """One positive direction, of width 1e-20, that floating point cannot tell from none."""
    W = [[1 - thin, thin], [thin, 1 - thin]]
    assert least_heads(W, 2, 2).heads == (1 if thin > 0 else 2)
    pair = np.kron(np.array([[F(1), F(-1), F(3)], [F(1), F(1), F(1)]]), np.array([[1, 0]]))
    pair = pair + np.kron(np.array([[F(-1), 1 + thin, -thin], [F(0)] * 3]), np.array([[0, 1]]))
    heads = softmax_heads(pair, 2, 3)
    assert (multiplied(heads) == pair).all()
    # s A + t B > 0 iff t < s < (1 + thin) t.
    assert len(heads) == (2 if thin > 0 else 3)


@pytest.mark.slow
def test_the_exact_method_agrees_with_the_proposals() -> None:
    for seed in range(60):
        W, n, m, *_ = operator(seed)
        factors = head_count._Factors(W, n, m)
        if factors.rank and all(any(b[k] for b in factors.basis) for k in range(n * m)):
            exact, proposed = head_count._simplex(factors), head_count._decided(factors)
            assert (exact[0] is None) == (proposed[0] is None)


@pytest.mark.slow
def test_wrong_proposals_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [least_heads(*operator(seed)[:3]).heads for seed in range(60)]
    rng = np.random.default_rng(0)

    def nonsense(c: np.ndarray, **_: Any) -> SimpleNamespace:
        return SimpleNamespace(x=rng.random(len(c)))

    monkeypatch.setattr(head_count, "linprog", nonsense)
    assert [least_heads(*operator(seed)[:3]).heads for seed in range(60)] == expected


def test_zero_needs_one_head() -> None:
    assert least_heads([[0, 0], [0, 0]], 2, 2).heads == 1
    (head,) = softmax_heads([[0, 0], [0, 0]], 2, 2)
    assert head.transport == ((F(0),),)


def test_rank_of_the_operator_does_not_bound_the_heads() -> None:
    """A (x) I has rank 4 and one head; heads can cancel, so more heads than rank R exist."""
    A = [[F(2, 3), F(1, 3)], [F(1, 3), F(2, 3)]]
    W = np.kron(np.array(A), np.eye(2, dtype=int))
    assert fmpq_mat([[fmpq(int(x.numerator), int(x.denominator)) for x in row] for row in W]
                    ).rank() == 4  # fmt: skip
    assert least_heads(W, 2, 2).heads == operator_schmidt_rank(W, 2, 2) == 1


def test_operators_whose_rows_differ_have_no_heads() -> None:
    with pytest.raises(ValueError, match=r"W must have block row sums .*got 1 and 2 in entry"):
        least_heads([[1, 0], [0, 2]], 2, 2)
    with pytest.raises(ValueError, match="W must have block row sums"):
        softmax_heads([[1, 0], [0, 2]], 2, 2)


def test_heads_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(ArithmeticError, match="the heads do not add to W"):
        head_count._multiplied_out([([fmpq(1)], [fmpq(2)])], [[fmpq(3)]])


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
def test_realignment_sends_heads_to_outer_products(kind: Any) -> None:
    rng = np.random.default_rng(0)
    A, T = rng.integers(-3, 4, size=(2, 2, 3)), rng.integers(-3, 4, size=(2, 4, 5))
    W = np.sum([np.kron(a, t) for a, t in zip(A, T, strict=True)], axis=0).astype(float)
    expected = np.einsum("hr,hc->rc", A.reshape(2, 6), T.reshape(2, 20))
    aligned = realignment(kind(W), 2, 3)
    assert isinstance(aligned, type(kind(W)))
    assert (np.asarray(aligned) == expected).all()
    exact = realignment(W.astype(int), 2, 3)
    assert (np.array(exact, dtype=float) == expected).all()
    block = walks.multi_head_walk(np.abs(A.astype(float)), T.astype(float)).block_matrix()
    assert operator_schmidt_rank(block.round().astype(int), 2, 3) == 2


def test_exact_entries_of_every_kind() -> None:
    for W in (EXAMPLE, np.array(EXAMPLE), fmpz_mat(EXAMPLE), fmpq_mat(fmpz_mat(EXAMPLE)),
              [[F(2), F(-1)], [fmpq(1), np.int64(0)]]):  # fmt: skip
        assert operator_schmidt_rank(W, 2, 2) == 1
        assert realignment(W, 2, 2) == ((2,), (-1,), (1,), (0,))


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
def test_numeric_rank_names_the_precision_that_decided_it(kind: Any) -> None:
    """A rank-10 product rounded to float16 has another rank under float32's default."""
    rng = np.random.default_rng(0)
    low = rng.normal(size=(200, 10)) @ rng.normal(size=(10, 200)) / 10
    stored = low.astype(np.float16).astype(np.float32)
    rotated = stored.reshape(200, 1, 200).transpose(1, 0, 2).reshape(200, 200)
    half = operator_schmidt_values(kind(rotated.reshape(200, 200)), 200, 1, storage=np.float16)
    single = operator_schmidt_values(kind(rotated), 200, 1)
    assert half.rank == 10
    assert single.rank > 100
    assert half.null == 200 * 2.0**-10 * float(half.values[0])
    exact = operator_schmidt_values(kind(low), 200, 1)
    assert exact.rank == 10


def test_a_count_must_fit_its_certificate() -> None:
    with pytest.raises(ValueError, match="heads must be 2, got 1"):
        HeadCount(1, 1, None, ((F(1),),))
    with pytest.raises(ValueError, match="certificate must not have negative"):
        HeadCount(1, 1, ((F(1), F(0)),), None)


def test_a_certificate_is_a_matrix_that_is_not_zero() -> None:
    assert HeadCount(1, 0, None, ((F(1), F(0)),)).heads == 1
    with pytest.raises(ValueError, match="annihilator must not be 0, got only zeros"):
        HeadCount(2, 1, None, ((F(0), F(0)), (F(0), F(0))))
    for rows, lengths in (((), r"\[\]"), (((), ()), r"\[0\]"), (((F(1),), ()), r"\[0, 1\]")):
        with pytest.raises(ValueError, match=f"annihilator must have rows.*lengths {lengths}"):
            HeadCount(2, 1, None, rows)
        with pytest.raises(ValueError, match=f"positive must have rows.*lengths {lengths}"):
            HeadCount(1, 1, rows, None)
        with pytest.raises(ValueError, match=f"attention must have rows.*lengths {lengths}"):
            Head(rows, ((F(1),),))
        with pytest.raises(ValueError, match=f"transport must have rows.*lengths {lengths}"):
            Head(((F(1, 2), F(1, 2)),), rows)
    with pytest.raises(ValueError, match="rank must be at least 1, got 0"):
        HeadCount(0, 0, ((F(1),),), None)
    with pytest.raises(ValueError, match="rank must be at least 0, got -1"):
        HeadCount(0, -1, None, ((F(1),),))


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
@pytest.mark.parametrize("exponent", [-900, -600, 600, 1020])
def test_the_numeric_rank_does_not_change_with_the_size(exponent: int, kind: Any) -> None:
    rng = np.random.default_rng(1)
    A, T = rng.integers(-3, 4, size=(2, 2, 3)), rng.integers(-3, 4, size=(2, 4, 5))
    W = np.sum([np.kron(a, t) for a, t in zip(A, T, strict=True)], axis=0) / 64.0
    once = operator_schmidt_values(kind(W), 2, 3)
    found = operator_schmidt_values(kind(W * 2.0**exponent), 2, 3)
    assert found.rank == once.rank == 2
    size = 2.0**exponent
    assert np.isfinite(np.asarray(found.values)).all()
    gap = np.abs(np.asarray(found.values)[:2] / size - np.asarray(once.values)[:2])
    assert gap.max() <= 64 * 2.0**-53 * float(once.values[0])
    assert abs(found.null / size - once.null) <= 64 * 2.0**-53 * once.null


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
def test_singular_values_beyond_float64_are_refused(kind: Any) -> None:
    """R(W) of 1e308 I has the one value 2e308."""
    with pytest.raises(ValueError, match=r"W must be of a size .* entries up to 1e\+308"):
        operator_schmidt_values(kind(np.eye(4) * 1e308), 2, 2)
    half = operator_schmidt_values(kind(np.eye(4) * 5e307), 2, 2)
    assert half.rank == 1
    assert abs(float(half.values[0]) / 1e308 - 1) <= 64 * 2.0**-53
    tiny = operator_schmidt_values(kind(np.eye(4) * 2.0**-1074), 2, 2)
    assert (tiny.rank, float(tiny.values[0])) == (1, 2.0**-1073)
    assert operator_schmidt_values(kind(np.zeros((4, 4))), 2, 2).rank == 0
