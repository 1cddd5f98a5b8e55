"""RA2's property holds, is tight and can fail, and few tokens have their closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpz_mat

from numerics.properties import exact_rank as ra2
from numerics.scores.principal_lattice import PrincipalLattice, direction_scores
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)
EXAMPLES = 60
ALONE = True
EACH = " ".join(ra2.CLAUSES)
FALSEHOODS = {
    "another exponent": Plant(EACH, "closed_form", lambda sound, lattice: sound(lattice) / 2),
    "another sign": Plant(EACH, "closed_form", lambda sound, lattice: -sound(lattice)),
    # One direction for all may leave a singular matrix, which has no bound and is refused as well.
    "one direction": Plant(EACH, "directions", lambda sound, lattice: np.where(
        sound(lattice).any(axis=1, keepdims=True), np.ones_like(sound(lattice)), 0),
        PrincipalLattice, says="residual|ZeroDivisionError: matrix is singular"),
    "another metric in float": Plant(EACH, "geodesic_scores", lambda sound, x, D, U: sound(
        x, D * (1 + 64 * np.finfo(D.dtype).eps), U)),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    lattices = {(one.lattice.d, one.lattice.doubled, one.lattice.pairs) for one in seen}
    assert {(1, 0, 0), (1, 1, 0), (2, 2, 1), (4, 4, 6), (4, 0, 0)} <= lattices
    assert any(d > r and f for d, r, f in lattices)
    assert {sample.s.dtype.name for sample in seen} == {"float64", "float32"}
    assert any((sample.s < 0).any() for sample in seen)
    assert any(np.abs(sample.s).max() > 1e6 * np.abs(sample.s).min() for sample in seen)


@pytest.mark.parametrize("d", range(1, 6))
def test_up_to_d_plus_1_tokens_have_a_determinant_in_closed_form(d: int) -> None:
    for n in range(1, d + 1):
        corners = np.eye(d, dtype=np.int64)[:n]
        few = np.concatenate([0 * corners[:1], corners])
        exact = int(fmpz_mat(direction_scores(few, 0 * few).tolist()).det())
        assert exact == (-1) ** n * n * 2 ** (n - 1)
