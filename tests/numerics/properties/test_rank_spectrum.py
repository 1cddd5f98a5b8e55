"""RA3's property holds, is tight and can fail."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)
FALSEHOODS = {
    "query side for both": Plant(
        "symmetrised_core", "geodesic_scores",
        lambda sound, x, D, U=None, kind="query": sound(x, D, U)),
    "cores of the first token": Plant("symmetrised_core", "core_features", lambda sound, s: (
        sound(replace(s, L=np.repeat(s.L[:1], len(s.L), axis=0))))),
    "no shared shift": Plant("symmetrised_core", "core_features", lambda sound, s: (
        sound(replace(s, scale=s.scale + 1)))),
    "core not lowered": Plant("symmetrised_core", "core_features", lambda sound, s: (
        sound(replace(s, L=np.swapaxes(s.L, 1, 2).copy())))),
    "conformal features": Plant("diagonal", "diagonal_features", lambda sound, x, D: (
        sound(x, np.repeat(D[:, :1], D.shape[1], axis=1)))),
    "homogeneous features": Plant("diagonal", "diagonal_features", lambda sound, x, D: (
        sound(x, np.repeat(D[:1], len(D), axis=0)))),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    assert {sample.U.shape[1] for sample in seen} == {1, 2, 3}
    assert any(sample.U.shape[1] > sample.U.shape[0] for sample in seen)
    assert {len(sample.x) for sample in seen} >= {1, 2, 6}
    assert {sample.x.dtype.name for sample in seen} == {"float64", "float32"}
    assert any(not sample.L.any(axis=(1, 2)).all() for sample in seen)
