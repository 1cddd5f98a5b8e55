"""CW6's property: it holds, is tight, and sees falsehoods planted in one transport."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import find, settings

from numerics.laplacians import laplacian as laplacians
from numerics.properties import Residual, run_property
from numerics.properties import single_head_laplacian as cw6
from numerics.walks import walk as walks

ONCE = settings(database=None, derandomize=True, deadline=None, max_examples=2000)


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_involutions_keep_their_metric_and_eigenvalues_multiply(suite_seed: int) -> None:
    result = run_property("CW6", cw6, suite_seed)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert result.clauses == ("involution", "spectrum")


def metric_without_the_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cw6, "own_metric", lambda t: t.T @ t)


def transposed_transport(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cw6, "Walk", lambda p, t: walks.Walk(p, t.T.copy()))


def transposed_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cw6, "Walk", lambda p, t: walks.Walk(p.T.copy(), t))


FALSEHOODS = {
    metric_without_the_identity: "involution",
    transposed_transport: "spectrum",
    transposed_weights: "spectrum",
}


@pytest.mark.slow
@pytest.mark.parametrize("plant", FALSEHOODS, ids=lambda plant: plant.__name__)
def test_falsehood_is_caught(plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    result = run_property("CW6", cw6)
    assert not result.ok
    (failure,) = result.failures
    assert failure.startswith(f"CW6 {FALSEHOODS[plant]}: ")
    assert "residual / bound = " in failure


@pytest.mark.slow
def test_bound_fifty_times_too_loose_is_caught() -> None:
    def loose(sample: cw6.Sample) -> Residual:
        residual = cw6.residual(sample)
        return replace(residual, bound=50 * residual.bound)

    module: Any = SimpleNamespace(samples=cw6.samples, residual=loose)
    result = run_property("CW6", module)
    assert not result.ok
    for clause in cw6.CLAUSES:
        assert any(f"{clause}: bound too loose" in failure for failure in result.failures)


def squares_to_identity(sample: cw6.Sample) -> bool:
    t = sample.transport
    return sample.clause == "involution" and bool((t @ t == np.eye(len(t))).all())


CORNERS: dict[str, Callable[[cw6.Sample], bool]] = {
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


@pytest.mark.slow
@pytest.mark.parametrize("corner", CORNERS)
def test_corner_case_is_drawn_and_holds(corner: str) -> None:
    sample = find(cw6.samples(), CORNERS[corner], settings=ONCE)
    assert cw6.residual(sample).ratio() <= 1


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
