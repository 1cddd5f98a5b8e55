"""RA11's property holds, is tight and can fail; the largest of its bounds is reached exactly."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from numerics.properties import rank_collapse as ra11
from tests.numerics.properties.plant import Plant

SEEDS = (1,)
EXAMPLES = 40
LOOSE = 1000
ALONE = True


def clusters_of_unequal_size(sound: Any, *given: Any) -> tuple[np.ndarray, float]:
    x, g = sound(*given)
    return np.concatenate((x, x[:1])), g


FALSEHOODS = {
    "eighth of the diameter": Plant("clusters", "factor", lambda sound, x, g: sound(x, g / 2)),
    "scores of both sides summed": Plant("clusters", "conformal", lambda sound, x, g: (
        sound(x, g) + sound(x, g).T)),
    "clusters of unequal size": Plant("layer", "clusters", clusters_of_unequal_size),
    "largest head": Plant("layer", "contraction", lambda _, norms, spreads: (
        (norms * np.tanh(spreads / 4)).max(axis=-1))),
    "eighth of the spread": Plant("layer", "contraction", lambda sound, norms, spreads: (
        sound(norms, spreads / 2))),
    "rows alone": Plant("layer", "score_spread", lambda _, S: (
        SimpleNamespace(difference=np.ptp(S, axis=-1).max(axis=-1)))),
    "transports of norm one": Plant("layer", "spectral_norm", lambda _, T: np.ones(len(T))),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    assert {sample.family for sample in seen} == set(ra11.FAMILIES)
    assert {len(sample.x) for sample in seen} >= {1, 2, 64}
    assert {sample.x.shape[1] for sample in seen} == {1, 2, 3}
    assert {len(sample.S) for sample in seen} == {1, 2, 3}
    assert {sample.x.dtype.name for sample in seen} == {"float64", "float32"}
    assert any(len(np.unique(s.x, axis=0)) == 1 < len(s.x) for s in seen)
    assert any((s.T == 0).all(axis=(1, 2)).any() for s in seen)
    assert any(np.abs(s.S).max() > 1e3 for s in seen)


def test_the_ratio_to_the_bound_reaches_one() -> None:
    """At t = 3 all numbers are exact but exp: osc halves, and tanh(log(3) / 2) = 1/2."""
    S = np.array([[0.0, -np.log(3.0)], [-np.log(3.0), 0.0]])[None]
    sample = ra11.Sample("layer", "attained", np.array([[1.0], [-1.0]]), S, np.ones((1, 1, 1)), 1.0)
    residual = ra11.residual(sample)
    assert residual.ratio() <= 1
    assert abs(residual.lhs[0] - 1.0) <= residual.bound[0]
    assert residual.bound[0] < 2.0**-45
