"""RA1's property holds, is tight and can fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from numerics.properties import score_rank as ra1
from numerics.scores import score_rank_exact
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)
LOOSE = 1000


def frame_not_squared(_: Any, sample: ra1.Sample) -> np.ndarray:
    eye = np.eye(sample.x.shape[1], dtype=sample.x.dtype)
    return sample.D[:, :, None] * eye + np.abs(sample.U) @ np.swapaxes(np.abs(sample.U), 1, 2)


FALSEHOODS = {
    "without row term": Plant(
        "features", "feature_scores", lambda _, x, G: ra1.parts(x, G)[1] - ra1.parts(x, G)[2] / 2),
    "linear features only": Plant(
        "features", "feature_scores", lambda _, x, G: ra1.parts(x, G)[1] - ra1.parts(x, G)[0] / 2),
    "one metric for all": Plant("features", "feature_scores", lambda sound, x, G: (
        sound(x, np.repeat(G[:1], len(G), axis=0)))),
    "metric of the key": Plant("features", "geodesic_scores", lambda sound, x, D, U: (
        sound(x, D, U, "key"))),
    "no half": Plant("features", "geodesic_scores", lambda sound, *given: 2 * sound(*given)),
    "frame not squared": Plant("features", "metrics", frame_not_squared, ra1.Sample),
    "one unit of roundoff": Plant(
        "features", "scores_error", lambda _, x, D, U: np.zeros((len(x), len(x))),
        also=(Plant("", "features_error", lambda _, x, G: (
            np.full((len(x), len(x)), np.finfo(x.dtype).tiny))),)),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    assert {len(sample.x) for sample in seen} >= {1, 2, 6}
    assert {sample.x.shape[1] for sample in seen} >= {1, 2, 4}
    assert {sample.U.shape[2] for sample in seen} == {1, 2, 3}
    assert {sample.x.dtype.name for sample in seen} == {"float64", "float32"}
    assert any(len(np.unique(s.x, axis=0)) < len(s.x) and s.x.any() for s in seen)
    assert any((~s.x.any(axis=1)).any() and s.x.any() for s in seen)
    assert any(0 < np.abs(s.x).max() < np.finfo(s.x.dtype).tiny for s in seen)
    assert any(np.abs(s.x).max() > 1e3 for s in seen)


@pytest.mark.parametrize("p", [3, 5, 7])
def test_the_bounds_hold_in_every_odd_characteristic(p: int) -> None:
    """x in F_p^2, metrics of a span of dimension g: 1 + d + g, and twice that if symmetrised."""
    rng = np.random.default_rng(p)
    for g in (1, 2, 3):
        basis = rng.integers(-3, 4, size=(g, 2, 2))
        G = np.einsum(
            "iq,qab->iab", rng.integers(-3, 4, size=(20, g)), basis + basis.swapaxes(1, 2)
        )
        x = rng.integers(0, p, size=(20, 2))
        assert score_rank_exact(x, G, modulus=p).rank <= 3 + g
        assert score_rank_exact(x, G, modulus=p, kind="symmetrised").rank <= 2 * (3 + g)


def test_symmetrised_conformal_scores_on_a_line_reach_twice_the_bound() -> None:
    x, factors = np.arange(6)[:, None], np.array([1, 2, 3, 5, 8, 13])[:, None, None]
    assert score_rank_exact(x, factors).rank == 3
    assert score_rank_exact(x, factors, kind="symmetrised").rank == 6
