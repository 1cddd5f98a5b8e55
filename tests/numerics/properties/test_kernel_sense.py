"""RA18's property holds, is tight and can fail; the counterexample certified by balls."""

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat, ctx, fmpq

from numerics.properties import Residual, run_property
from numerics.properties import kernel_sense as ra18
from numerics.scores import geodesic_scores

PROPERTY: Any = ra18


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_one_metric_gives_gram_matrices(suite_seed: int) -> None:
    result = run_property("RA18", PROPERTY, suite_seed)
    assert result.ok, result.failures
    assert (result.examples, result.clauses) == (200, ("conditional", "homogeneous"))
    assert result.planted_rejected


def base_token_without_diagonal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra18, "base_kernel", lambda S: S - S[:, :1])


def tokens_for_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(x: np.ndarray, D: np.ndarray, U: np.ndarray) -> np.ndarray:
        return (D[None] * x) @ x.T + (x @ U) @ (x @ U).T

    monkeypatch.setattr(ra18, "gram_matrix", wrong)


def several_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(part: np.ndarray, n: int) -> np.ndarray:
        scale = np.arange(1, n + 1, dtype=part.dtype)
        return part[None] * np.reshape(scale, (n,) + (1,) * part.ndim)

    sound = ra18.residual

    def residual(sample: ra18.Sample) -> Residual:
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(ra18, "geodesic_scores", lambda x, D, U: geodesic_scores(
                x, wrong(D[0], len(x)), wrong(U[0], len(x)), "symmetrised"))  # fmt: skip
            return sound(sample)

    monkeypatch.setattr(ra18, "residual", residual)


def terms_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ra18, "with_terms", lambda S, rows, columns: S + rows[:, None] * columns[None, :]
    )


def sum_not_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ra18, "balanced", lambda rng, n: rng.integers(1, 9, size=(n, 3)))


def first_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ra18, "by_differences",
        lambda S, c: np.cumsum(c, axis=0)[:-1].T @ ((S[:-1] - S[1:]) @ np.cumsum(c, axis=0)),
    )  # fmt: skip


FALSEHOODS = {
    "homogeneous": (base_token_without_diagonal, tokens_for_steps, several_metrics),
    "conditional": (terms_of_pairs, sum_not_zero, first_differences),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clause", "plant"), [(clause, plant) for clause in FALSEHOODS for plant in FALSEHOODS[clause]]
)
def test_a_planted_falsehood_is_rejected(
    monkeypatch: pytest.MonkeyPatch, clause: str, plant: Any
) -> None:
    plant(monkeypatch)
    result = run_property("RA18", PROPERTY)
    assert not result.ok
    assert result.failures[0].startswith(f"RA18 {clause}: residual")


@pytest.mark.slow
def test_samples_reach_the_corner_cases() -> None:
    seen: list[ra18.Sample] = []

    def watched(sample: ra18.Sample) -> Residual:
        seen.append(sample)
        return ra18.residual(sample)

    module: Any = SimpleNamespace(samples=ra18.samples, residual=watched)
    assert run_property("RA18", module).ok
    assert {len(sample.x) for sample in seen} >= {1, 2, 4}
    assert {sample.x.shape[1] for sample in seen} >= {1, 2, 4}
    assert {sample.x.dtype.name for sample in seen} == {"float64", "float32"}
    assert any(len(np.unique(s.x, axis=0)) < len(s.x) for s in seen)
    assert not any(sample.c.sum(axis=0).any() for sample in seen)


def exponential(S: list[list[Fraction]], tau: Fraction) -> arb_mat:
    scaled = [[entry / tau for entry in row] for row in S]
    return arb_mat([[arb(fmpq(s.numerator, s.denominator)).exp() for s in row] for row in scaled])


def is_positive_definite(matrix: arb_mat) -> bool:
    """Every leading minor is certainly positive."""
    rows = matrix.tolist()
    minors = [arb_mat([row[:k] for row in rows[:k]]).det() for k in range(1, len(rows) + 1)]
    return all(minor > 0 for minor in minors)


def line_scores(points: list[int], factors: list[Fraction]) -> list[list[Fraction]]:
    """Symmetrised scores of conformal metrics on a line."""
    pairs = list(zip(points, factors, strict=True))
    return [[-(f + g) / 4 * (x - y) ** 2 for y, g in pairs] for x, f in pairs]


TAUS = [Fraction(1, 4), Fraction(1), Fraction(4), Fraction(64)]


def test_one_metric_is_a_kernel_for_every_tau_and_several_are_not() -> None:
    points, c = [0, 1, 2], arb_mat([[1], [-2], [1]])
    one = line_scores(points, [Fraction(1)] * 3)
    several = line_scores(points, [Fraction(1), Fraction(1, 2), Fraction(1)])
    form = sum(int(a) * int(b) * several[i][j] for i, a in enumerate((1, -2, 1))
               for j, b in enumerate((1, -2, 1)))  # fmt: skip
    assert form == -1
    with ctx.workprec(200):
        assert all(is_positive_definite(exponential(one, tau)) for tau in TAUS)
        assert is_positive_definite(exponential(several, TAUS[0]))
        for tau in TAUS[2:]:
            assert (c.transpose() * exponential(several, tau) * c)[0, 0] < 0


def test_symmetric_scores_need_not_be_a_kernel() -> None:
    S = np.array([[0, 1], [1, 0]])
    c = np.array([1, -1])
    assert c @ S @ c == -2
