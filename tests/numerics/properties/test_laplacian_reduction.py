"""CW5's property: it holds, is tight, and sees falsehoods planted in Laplacians and energies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from numerics.laplacians import laplacian as laplacians
from numerics.properties import laplacian_reduction as cw5
from numerics.walks import walk as walks
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)


def energy_of(change: Callable[..., dict[str, Any]]) -> Plant:
    """The energy where some of (p, edges, metrics, law) are changed."""

    def wrong(sound: Any, p: Any, edges: Any, metrics: Any, law: Any, u: Any) -> Any:
        parts = {"p": p, "edges": edges, "metrics": metrics, "law": law}
        return sound(*(parts | change(**parts)).values(), u)

    return Plant("energy", "dirichlet_energy", wrong)


def largest_weight_as_degree(_: Any, w: Any, edges: Any) -> Any:
    n, d = len(w), edges.shape[-1]
    walk = walks.Walk(w / w.max(axis=1, keepdims=True), edges)
    return np.eye(n * d, dtype=w.dtype) - walk.block_matrix()


FALSEHOODS = {
    "energy without the half": Plant(
        "energy", "dirichlet_energy", lambda sound, *parts: 2 * sound(*parts)),
    "energy in the metric of the key": energy_of(
        lambda metrics, **_: {"metrics": metrics[::-1].copy()}),
    "energy of transposed transports": energy_of(
        lambda edges, **_: {"edges": np.swapaxes(edges, 2, 3).copy()}),
    "uniform law": energy_of(lambda law, **_: {"law": np.full_like(law, law.mean())}),
    "largest weight as degree": Plant(
        "reduction", "connection_laplacian", largest_weight_as_degree),
    "directed walks, without detailed balance": Plant(
        "self_adjoint", "whole_flow", lambda sound, rng, law, symmetric: sound(rng, law, False)),
    # The other clauses keep their transports.
    "transports without inverses": Plant(
        "self_adjoint", "Walk", lambda Walk, p, edges: Walk(p, edges[:, ::-1].copy())),
}  # fmt: skip


def widened(sample: cw5.Sample) -> cw5.Sample:
    """In float64, where the last rounding of a float32 energy does not hide the sums' bound."""
    names = ("flow", "law", "transports", "metrics", "u", "v")
    parts = {name: getattr(sample, name).astype(np.float64) for name in names}
    return replace(sample, **parts)


def reversible(sample: cw5.Sample) -> bool:
    return bool((sample.flow == sample.flow.T).all())


CORNERS: dict[str, Callable[[Any], bool]] = {
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
