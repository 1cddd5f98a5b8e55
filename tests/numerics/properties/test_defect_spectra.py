"""CW13's property: it holds, is tight, and sees falsehoods planted in flows and transports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import find, settings

from numerics.properties import Residual, run_property
from numerics.properties import defect_spectra as cw13
from numerics.walks import walk as walks

ONCE = settings(database=None, derandomize=True, deadline=None, max_examples=2000)


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_the_operator_defect_is_that_of_its_edges(suite_seed: int) -> None:
    result = run_property("CW13", cw13, suite_seed)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert result.clauses == ("defects", "imaginary")


def transports_of_the_other_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the flow goes one way only."""

    def wrong(flow: Any, turns: Any) -> walks.Walk:
        return walks.Walk(flow, turns[:, ::-1].copy())

    monkeypatch.setattr(cw13, "Walk", wrong)


def symmetric_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cw13, "Walk", lambda flow, turns: walks.Walk((flow + flow.T) / 2, turns))


def without_the_transports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the defect of reversibility."""

    def wrong(flow: Any, turns: Any) -> Fraction:
        d = turns.shape[-1]
        return sum((d * Fraction(float(x)) ** 2 for x in (flow - flow.T).ravel()), Fraction(0))

    monkeypatch.setattr(cw13, "edge_defects", wrong)


def without_the_width(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = cw13.edge_defects

    def wrong(flow: Any, turns: Any) -> Fraction:
        d, gap = turns.shape[-1], (flow - flow.T).astype(np.float64)
        return sound(flow, turns) - (d - 1) * Fraction(float((gap * gap).sum()))

    monkeypatch.setattr(cw13, "edge_defects", wrong)


def any_transports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Transports that are not orthogonal, of whole entries."""
    sound = cw13.signed_permutations

    def wrong(rng: Any, n: int, d: int, symmetric: bool = False) -> Any:
        return 2 * sound(rng, n, d, symmetric)

    monkeypatch.setattr(cw13, "signed_permutations", wrong)


FALSEHOODS = {
    transports_of_the_other_edge: "defects",
    symmetric_flow: "defects",
    without_the_transports: "defects",
    without_the_width: "defects",
    any_transports: "defects",
}


@pytest.mark.slow
@pytest.mark.parametrize("plant", FALSEHOODS, ids=lambda plant: plant.__name__)
def test_falsehood_is_caught(plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    result = run_property("CW13", cw13)
    assert not result.ok
    (failure,) = result.failures
    assert failure.startswith(f"CW13 {FALSEHOODS[plant]}: ")
    assert "residual / bound = " in failure


@pytest.mark.slow
def test_pairing_of_another_walk_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = walks.Walk.block_matrix

    def wrong(walk: walks.Walk) -> Any:
        return sound(replace(walk, transports=np.swapaxes(walk.transports, 2, 3).copy()))

    monkeypatch.setattr(walks.Walk, "block_matrix", wrong)
    result = run_property("CW13", cw13)
    assert any(failure.startswith("CW13 imaginary: ") for failure in result.failures)


@pytest.mark.slow
def test_bound_fifty_times_too_loose_is_caught() -> None:
    def loose(sample: cw13.Sample) -> Residual:
        residual = cw13.residual(sample)
        return replace(residual, bound=50 * residual.bound)

    module: Any = SimpleNamespace(samples=cw13.samples, residual=loose)
    result = run_property("CW13", module)
    assert not result.ok
    for clause in cw13.CLAUSES:
        assert any(f"{clause}: bound too loose" in failure for failure in result.failures)


CORNERS: dict[str, Callable[[cw13.Sample], bool]] = {
    "one token": lambda s: len(s.p) == 1,
    "width one": lambda s: s.p.shape[1] == 1,
    "float32": lambda s: s.p.dtype == np.float32,
    "one-way edge": lambda s: bool(((s.flow > 0) & (s.flow.T == 0)).any()),
    "symmetric transports": lambda s: (
        s.clause == "defects"
        and s.p.shape[1] > 1
        and bool((s.turns == np.transpose(s.turns, (1, 0, 3, 2))).all())
    ),
    "zero tokens": lambda s: bool((s.p == 0).all(axis=1).any()),
}


@pytest.mark.slow
@pytest.mark.parametrize("corner", CORNERS)
def test_corner_case_is_drawn_and_holds(corner: str) -> None:
    sample = find(cw13.samples(), CORNERS[corner], settings=ONCE)
    assert cw13.residual(sample).ratio() <= 1


def test_bound_on_imaginary_parts_is_attained_by_the_directed_three_cycle() -> None:
    """On C with C^3 = I the eigenvalues beside 1 have sum tr C - 1 and product 1."""
    cycle = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    assert (cycle @ cycle @ cycle == np.eye(3)).all()
    imaginary_squared = Fraction(4 - int(cycle.trace() - 1) ** 2, 4)
    gram = (cycle - cycle.T).T @ (cycle - cycle.T)
    kappa_squared = int(gram.trace()) // 2
    assert (gram @ gram == kappa_squared * gram).all()
    assert 4 * imaginary_squared == kappa_squared
    assert 16 * imaginary_squared > kappa_squared
