"""CW6's property: it holds, is tight, and sees falsehoods planted in one transport."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numerics.laplacians import laplacian as laplacians
from numerics.properties import single_head_laplacian as cw6
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)
FALSEHOODS = {
    "metric without the identity": Plant("involution", "own_metric", lambda _, t: t.T @ t),
    "transposed transport": Plant("spectrum", "Walk", lambda Walk, p, t: Walk(p, t.T.copy())),
    "transposed weights": Plant("spectrum", "Walk", lambda Walk, p, t: Walk(p.T.copy(), t)),
}


def squares_to_identity(sample: cw6.Sample) -> bool:
    t = sample.transport
    return sample.clause == "involution" and bool((t @ t == np.eye(len(t))).all())


CORNERS: dict[str, Callable[[Any], bool]] = {
    "oblique involution": lambda s: (
        squares_to_identity(s) and bool((s.transport.T != s.transport).any())
    ),
    "large corner": lambda s: squares_to_identity(s) and np.abs(s.transport).max() > 100,
    "one token": lambda s: len(s.x) == 1,
    "width one": lambda s: len(s.y) == 1,
    "float32": lambda s: s.x.dtype == np.float32,
    "masked row": lambda s: s.clause == "spectrum" and bool((s.weights.sum(axis=1) == 0).any()),
    "subnormal tokens": lambda s: bool(((s.x != 0) & (np.abs(s.x) < 1e-37)).any()),
}


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e3])
def test_involutions_square_to_the_identity_exactly(scale: float) -> None:
    for seed in range(20):
        t = cw6.involution(np.random.default_rng(seed), 4, scale)
        assert (t @ t == np.eye(4)).all()


def test_oblique_involution_is_a_laplacian_for_its_own_metric_and_a_rotation_for_none() -> None:
    p = np.full((2, 2), 0.5)
    oblique, rotation = np.array([[1.0, 1.0], [0.0, -1.0]]), np.array([[0.0, -1.0], [1.0, 0.0]])
    metric = np.eye(2) + oblique.T @ oblique
    assert (oblique.T @ metric @ oblique == metric).all()
    assert (oblique @ oblique == np.eye(2)).all()
    assert laplacians.metric_defect(p, oblique) > 0.1
    assert laplacians.metric_defect(p, rotation) == 0.0
    assert laplacians.inverse_symmetry_defect(p, rotation) == 1.0
