"""RA2's property holds, is tight and can fail, and few tokens have their closed form."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import fmpz_mat

from numerics.properties import Residual, run_property
from numerics.properties import exact_rank as ra2
from numerics.scores.principal_lattice import PrincipalLattice, direction_scores

PROPERTY: Any = ra2


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_float_scores_of_the_lattice_have_its_determinant(suite_seed: int) -> None:
    result = run_property("RA2", PROPERTY, suite_seed)
    assert result.ok, result.failures
    assert (result.examples, result.clauses) == (200, ("certificate", "part", "without_pairs"))
    assert result.planted_rejected


@pytest.mark.parametrize("d", range(1, 6))
def test_up_to_d_plus_1_tokens_have_a_determinant_in_closed_form(d: int) -> None:
    for n in range(1, d + 1):
        corners = np.eye(d, dtype=np.int64)[:n]
        few = np.concatenate([0 * corners[:1], corners])
        exact = int(fmpz_mat(direction_scores(few, 0 * few).tolist()).det())
        assert exact == (-1) ** n * n * 2 ** (n - 1)


def another_exponent(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra2.closed_form
    monkeypatch.setattr(ra2, "closed_form", lambda lattice: sound(lattice) / 2)


def another_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra2.closed_form
    monkeypatch.setattr(ra2, "closed_form", lambda lattice: -sound(lattice))


def one_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = PrincipalLattice.directions
    monkeypatch.setattr(PrincipalLattice, "directions", lambda lattice: np.where(
        sound(lattice).any(axis=1, keepdims=True), np.ones_like(sound(lattice)), 0))  # fmt: skip


def another_metric_in_float(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ra2.geodesic_scores
    monkeypatch.setattr(ra2, "geodesic_scores", lambda x, D, U: sound(
        x, D * (1 + 64 * np.finfo(D.dtype).eps), U))  # fmt: skip


FALSEHOODS = (another_exponent, another_sign, one_direction, another_metric_in_float)


@pytest.mark.slow
@pytest.mark.parametrize("plant", FALSEHOODS)
@pytest.mark.parametrize("clause", ra2.CLAUSES)
def test_a_planted_falsehood_is_rejected(
    monkeypatch: pytest.MonkeyPatch, clause: str, plant: Any
) -> None:
    plant(monkeypatch)
    monkeypatch.setattr(ra2, "CLAUSES", (clause,))
    result = run_property("RA2", PROPERTY, max_examples=60)
    assert not result.ok
    # One direction for all may leave a singular matrix, which has no bound and is refused as well.
    found = ("residual", "ZeroDivisionError: matrix is singular")
    assert result.failures[0].startswith(tuple(f"RA2 {clause}: {what}" for what in found))


@pytest.mark.slow
def test_samples_reach_the_corner_cases() -> None:
    seen: list[ra2.Sample] = []

    def watched(sample: ra2.Sample) -> Residual:
        seen.append(sample)
        return ra2.residual(sample)

    module: Any = SimpleNamespace(samples=ra2.samples, residual=watched)
    assert run_property("RA2", module).ok
    lattices = {(one.lattice.d, one.lattice.doubled, one.lattice.pairs) for one in seen}
    assert {(1, 0, 0), (1, 1, 0), (2, 2, 1), (4, 4, 6), (4, 0, 0)} <= lattices
    assert any(d > r and f for d, r, f in lattices)
    assert {sample.s.dtype.name for sample in seen} == {"float64", "float32"}
    assert any((sample.s < 0).any() for sample in seen)
    assert any(np.abs(sample.s).max() > 1e6 * np.abs(sample.s).min() for sample in seen)
