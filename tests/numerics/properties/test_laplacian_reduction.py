"""CW5's property: it holds, is tight, and sees falsehoods planted in Laplacians and energies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import find, settings

from numerics.laplacians import laplacian as laplacians
from numerics.properties import Residual, run_property
from numerics.properties import laplacian_reduction as cw5
from numerics.walks import walk as walks

ONCE = settings(database=None, derandomize=True, deadline=None, max_examples=2000)


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_walks_reduce_to_laplacians_and_their_energy_is_the_quadratic_form(suite_seed: int) -> None:
    result = run_property("CW5", cw5, suite_seed)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert result.clauses == ("energy", "reduction", "self_adjoint")


def energy_without_the_half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        cw5, "dirichlet_energy", lambda *parts: 2 * laplacians.dirichlet_energy(*parts)
    )


def energy_in_the_metric_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(p: Any, edges: Any, metrics: Any, law: Any, u: Any) -> Any:
        return laplacians.dirichlet_energy(p, edges, metrics[::-1].copy(), law, u)

    monkeypatch.setattr(cw5, "dirichlet_energy", wrong)


def energy_of_transposed_transports(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(p: Any, edges: Any, metrics: Any, law: Any, u: Any) -> Any:
        turned = np.swapaxes(edges, 2, 3).copy()
        return laplacians.dirichlet_energy(p, turned, metrics, law, u)

    monkeypatch.setattr(cw5, "dirichlet_energy", wrong)


def uniform_law(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(p: Any, edges: Any, metrics: Any, law: Any, u: Any) -> Any:
        flat = np.full_like(law, law.mean())
        return laplacians.dirichlet_energy(p, edges, metrics, flat, u)

    monkeypatch.setattr(cw5, "dirichlet_energy", wrong)


def largest_weight_as_degree(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(w: Any, edges: Any) -> Any:
        n, d = len(w), edges.shape[-1]
        walk = walks.Walk(w / w.max(axis=1, keepdims=True), edges)
        return np.eye(n * d, dtype=w.dtype) - walk.block_matrix()

    monkeypatch.setattr(cw5, "connection_laplacian", wrong)


def directed_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Self-adjointness without detailed balance."""
    sound = cw5.whole_flow
    monkeypatch.setattr(cw5, "whole_flow", lambda rng, law, symmetric: sound(rng, law, False))


def transports_without_inverses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Self-adjointness without T_ji = T_ij^-1; the other clauses keep their transports."""
    sound = walks.Walk

    def wrong(p: Any, edges: Any) -> walks.Walk:
        return sound(p, edges[:, ::-1].copy())

    monkeypatch.setattr(cw5, "Walk", wrong)


FALSEHOODS = {
    energy_without_the_half: "energy",
    energy_in_the_metric_of_the_key: "energy",
    energy_of_transposed_transports: "energy",
    uniform_law: "energy",
    largest_weight_as_degree: "reduction",
    directed_walks: "self_adjoint",
    transports_without_inverses: "self_adjoint",
}


@pytest.mark.slow
@pytest.mark.parametrize("plant", FALSEHOODS, ids=lambda plant: plant.__name__)
def test_falsehood_is_caught(plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    result = run_property("CW5", cw5)
    assert not result.ok
    (failure,) = result.failures
    assert failure.startswith(f"CW5 {FALSEHOODS[plant]}: ")
    assert "residual / bound = " in failure


def widened(sample: cw5.Sample) -> cw5.Sample:
    """In float64, where the last rounding of a float32 energy does not hide the sums' bound."""
    parts = {
        name: getattr(sample, name).astype(np.float64)
        for name in ("flow", "law", "transports", "metrics", "u", "v")
    }
    return replace(sample, **parts)


@pytest.mark.slow
def test_bound_fifty_times_too_loose_is_caught() -> None:
    def loose(sample: cw5.Sample) -> Residual:
        residual = cw5.residual(sample)
        return replace(residual, bound=50 * residual.bound)

    module: Any = SimpleNamespace(samples=lambda: cw5.samples().map(widened), residual=loose)
    result = run_property("CW5", module)
    assert not result.ok
    for clause in cw5.CLAUSES:
        assert any(f"{clause}: bound too loose" in failure for failure in result.failures)


def reversible(sample: cw5.Sample) -> bool:
    return bool((sample.flow == sample.flow.T).all())


CORNERS: dict[str, Callable[[cw5.Sample], bool]] = {
    "one token": lambda s: len(s.u) == 1,
    "width one": lambda s: s.u.shape[1] == 1,
    "float32": lambda s: s.u.dtype == np.float32,
    "one-way walk": lambda s: s.clause == "energy" and not reversible(s),
    "nonuniform law": lambda s: s.clause == "energy" and len(set(s.law.tolist())) > 1,
    "ill-conditioned metric": lambda s: np.ptp(np.log2(np.diagonal(s.metrics, 0, 1, 2))) >= 39,
    "no self-loop": lambda s: s.clause == "reduction" and bool((np.diagonal(s.flow) == 0).any()),
    "reversing self-loop": lambda s: (
        s.clause == "self_adjoint" and bool((np.diagonal(s.transports[0, 0]) == -1).any())
    ),
    "zero tokens": lambda s: bool((s.u == 0).all(axis=1).any()),
    "repeated tokens": lambda s: len(s.u) > 1 and bool((s.u[0] == s.u[1]).all()),
    "subnormal tokens": lambda s: bool(((s.u != 0) & (np.abs(s.u) < 1e-37)).any()),
}


@pytest.mark.slow
@pytest.mark.parametrize("corner", CORNERS)
def test_corner_case_is_drawn_and_holds(corner: str) -> None:
    sample = find(cw5.samples(), CORNERS[corner], settings=ONCE)
    assert cw5.residual(sample).ratio() <= 1


@pytest.mark.parametrize("width", [0, 1, 10])
def test_frames_are_inverted_and_factored_exactly(width: int) -> None:
    frames, inverses = cw5.dyadic_frames(np.random.default_rng(width), 5, 4, width)
    assert (frames @ inverses == np.eye(4)).all()
    factors = np.linalg.cholesky(np.swapaxes(frames, 1, 2) @ frames)
    assert (np.swapaxes(factors, 1, 2) == frames).all()


@pytest.mark.parametrize("symmetric", [False, True])
def test_whole_flows_have_the_given_margins(symmetric: bool) -> None:
    law = np.array([2.0, 8.0, 4.0, 16.0])
    flow = cw5.whole_flow(np.random.default_rng(3), law, symmetric)
    assert (flow.sum(axis=0) == law).all()
    assert (flow.sum(axis=1) == law).all()
    assert bool((flow == flow.T).all()) == symmetric
    assert (flow >= 0).all()
    assert (flow != np.diag(law)).any()


def test_energy_is_zero_exactly_on_parallel_tokens_and_the_disc_is_reached() -> None:
    """Cases of equality: L u = 0 for u_i = T_ij u_j, and L u = 2 u for T = -1 on one node."""
    one, minus = np.ones((1, 1)), -np.ones((1, 1, 1, 1))
    metric, law, u = np.ones((1, 1, 1)), np.ones(1), np.full((1, 1), 3.0)
    assert cw5.exact_form(one, minus, metric, law, u) == Fraction(18)
    assert laplacians.dirichlet_energy(one, minus, metric, law, u) == 18.0
    assert laplacians.dirichlet_energy(one, -minus, metric, law, u) == 0.0
    assert walks.Walk(one, minus).generator().tolist() == [[2.0]]
