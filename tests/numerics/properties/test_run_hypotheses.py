"""Every drawn sample is checked for what its theorem assumes of it."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from numerics.properties import Residual, constant_transport, run_property
from numerics.properties.hypotheses import Held
from numerics.walks import walk as walks
from theorems import catalogue

CHECKED = {
    "CW1": {"P sums to 1"},
    "CW2": {"A>=0", "w>0"},
    "CW4": {"block rows of V sum to V_+"},
    "CW5": {
        "pi>0", "P>=0", "P sums to 1", "pi is stationary for P", "T is isometric on edges of P",
        "P is reversible for pi", "T has inverse pairs on edges of P",
    },
    "CW6": {"P sums to 1"},
    "CW7": {"A>=0", "O is isometric for F^T F"},
    "CW9": {"pi>0", "P>=0", "pi is stationary for P"},
    "CW10": {"g^{-1} inverts g", "T is gauged along P", "T_ij inverts T_ji along E[i, j]"},
    "CW12": {"P>=0", "c>0", "rho>0"},
    "CW13": {"P>=0", "T is isometric on edges of P"},
    "CW14": {"rho>0", "offsets are isotropic"},
    "RA2": {"E is a simple graph"},
    "RA5": {"e sums to 0", "g>=0"},
    "RA6": {"D>0"},
    "RA9": {"J' inverts J", "one entry a row"},
    "RA10": {"E^{-1} inverts E", "R is orthogonal"},
    "RA11": {"omega>=0", "norm of W"},
    "RA12": {"p>0", "g is the indicator of p tokens", "two clusters at level l"},
    "RA14": {"B is a permutation matrix", "s is a vector of signs"},
    "RA16": {"A sums to 1", "\\alpha>=0", "\\beta>=0", "W is bounded"},
    "RA17": {"A>=0", "A_u sums to 1", "row k sums to 1", "later rows sum to 1"},
    "RA18": {"c sums to 0"},
    "AP1": {"tau>0", "a>=0", "rows of a are unit vectors"},
    "AP4": {"phi>0", "psi>0", "mu>0"},
    "AP6": {"E>=0", "Z>0"},
    "AP8": {
        "O keeps the form", "epsilon is a sign", "q on the quadric", "A is orthogonal",
        "B is orthogonal", "Q is orthogonal", "O is orthogonal", "tau>0",
    },
    "AP9": {"B is a map", "\\kappa>=0", "\\mu>=0"},
    "AP10": {
        "Z>0", "gamma couples mu and nu", "mu and nu sum to 1", "gamma is nonnegative", "a>0",
        "s is nonnegative", "kappa is Lipschitz",
    },
}  # fmt: skip
NOTHING_ASSUMED = {
    "CW3": "the walk may be any; its hypotheses define the gauge that the comparison computes",
    "CW8": "logits may be any; its hypotheses are their exponentials, which balls take",
    "CW11": "layers may be any; its hypotheses number the words and paths of the sums",
    "RA1": "scores may be of any metrics; its hypotheses place the blocks of the features",
    "RA3": "metrics may be any; its hypotheses span the spaces whose dimensions are counted",
    "RA4": "scores may be any; its hypotheses bring them into general position for lower bounds",
    "RA7": "D and U may be any; only the count of operations assumes positive sizes",
    "RA8": "the field may be any; its hypotheses are the moments of quadratures",
    "RA13": "matrices may be any; its hypotheses define their sizes and largest sums",
    "RA15": "metrics may be any; its hypotheses are exponentials, which balls take",
    "AP2": "queries and keys may be any; its hypotheses are the exponentials of the comparison",
    "AP3": "scores may be any; its hypotheses are totals of exponentials and what a mask removes",
    "AP5": "tokens may be any; its hypotheses are the states at level l of an induction",
    "AP7": "tokens may be any; its hypotheses are moments of the Gaussian law",
}


def module_of(theorem: str) -> Any:
    return import_module(catalogue.property_module(theorem))


def test_every_theorem_is_listed_once() -> None:
    listed = CHECKED.keys() | NOTHING_ASSUMED.keys()
    missing = [theorem for theorem in catalogue.CATALOGUE if theorem not in listed]
    assert not missing, f"neither in CHECKED nor in NOTHING_ASSUMED: {', '.join(missing)}"
    assert listed == catalogue.CATALOGUE.keys()
    assert not CHECKED.keys() & NOTHING_ASSUMED.keys()
    assert all(NOTHING_ASSUMED.values())


@pytest.mark.slow
@pytest.mark.parametrize("theorem", catalogue.CATALOGUE)
def test_samples_are_checked_for_the_listed_hypotheses(theorem: str) -> None:
    module, found = module_of(theorem), set[str]()
    if theorem in NOTHING_ASSUMED:
        assert not hasattr(module, "hypotheses")
        return

    @seed(20261130)
    @settings(
        max_examples=60, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
    )  # fmt: skip
    @given(module.samples())
    def collect(sample: Any) -> None:
        found.update(held.id for held in module.hypotheses(sample))

    collect()
    assert found == CHECKED.get(theorem)


Change = Callable[[Any], Any]


def first_doubled(array: np.ndarray) -> np.ndarray:
    wrong = array.copy()
    wrong[0] *= 2
    return wrong


# Samples that lack a hypothesis; the comparison of most of them holds all the same.
BREAKERS: dict[str, tuple[str, Change]] = {
    "CW2": ("w>0", lambda s: s if s.weights is None else replace(s, weights=-s.weights)),
    "CW5": ("T is isometric on edges of P", lambda s: replace(s, transports=2 * s.transports)
            if s.clause == "energy" else s),
    "CW7": ("O is isometric for F^T F", lambda s: replace(s, heads=2 * s.heads)),
    "CW9": ("P>=0", lambda s: replace(s, P=-s.P)),
    "CW10": ("T is gauged along P", lambda s: replace(s, transports=first_doubled(s.transports))
             if s.clause == "spectrum" else s),
    "CW12": ("P>=0", lambda s: replace(s, weights=-s.weights)),
    "CW13": ("T is isometric on edges of P", lambda s: replace(s, turns=2 * s.turns)),
    "RA5": ("e sums to 0", lambda s: replace(s, c=s.c + 1)),
    "RA6": ("D>0", lambda s: replace(s, D=-s.D)),
    "RA9": ("one entry a row", lambda s: replace(s, J=s.J @ np.triu(np.ones_like(s.J)))),
    "RA10": ("R is orthogonal", lambda s: replace(s, turns=2 * s.turns)),
    "RA12": ("two clusters at level l", lambda s: replace(s, x=first_doubled(s.x + 1))),
    "RA16": ("A sums to 1", lambda s: replace(s, A=s.A / 2)),
    "RA18": ("c sums to 0", lambda s: replace(s, c=s.c + 1)),
    "AP4": ("phi>0", lambda s: replace(s, query=-s.query)),
    "AP8": ("O keeps the form", lambda s: replace(s, left=2 * s.left)
            if s.clause == "quadrics" else s),
    "AP9": ("\\kappa>=0", lambda s: replace(s, kappa=-s.kappa)),
    "AP10": ("s is nonnegative", lambda s: replace(s, apart=s.apart - 4)),
}  # fmt: skip


def doubled_but_one_row(A: np.ndarray) -> np.ndarray:
    wrong = 2 * A
    wrong[..., :1, :] *= int(A.shape[-1] == 1)
    return wrong


# Arrays of the same samples that another check would pass over.
FURTHER: dict[str, tuple[str, Change]] = {
    "CW6": ("P sums to 1", lambda s: replace(s, weights=doubled_but_one_row(s.weights))),
    "RA16": ("A sums to 1", lambda s: replace(s, A=doubled_but_one_row(s.A))),
    "AP8": ("Q is orthogonal", lambda s: replace(s, k=2 * s.k) if s.clause == "rotations" else s),
    "AP10": ("kappa is Lipschitz", lambda s: replace(s, slope=s.slope / 2)),
}


def sampling(module: Any, change: Change) -> Any:
    """The module with changed samples."""
    return SimpleNamespace(
        samples=lambda: module.samples().map(change),
        residual=module.residual,
        hypotheses=module.hypotheses,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("theorem", "broken"), [*BREAKERS.items(), *FURTHER.items()])
def test_a_sampler_that_breaks_a_hypothesis_is_reported(
    theorem: str, broken: tuple[str, Change]
) -> None:
    lost, change = broken
    result = run_property(theorem, sampling(module_of(theorem), change), max_examples=60)
    assert not result.ok
    (failure,) = result.failures
    assert failure.startswith(f"{theorem} ")
    assert f": sample violates {lost}: " in failure
    assert "counterexample: " in failure


@pytest.mark.slow
def test_what_no_comparison_sees_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """CW1 holds for walks of any row sums, and says of stochastic ones what it says of no other."""

    def doubled(logits: Any, allowed: Any = None) -> Any:
        return 2 * walks.softmax_walk(logits, allowed)

    monkeypatch.setattr(constant_transport, "softmax_walk", doubled)
    unchecked: Any = SimpleNamespace(
        samples=constant_transport.samples, residual=constant_transport.residual
    )
    assert run_property("CW1", unchecked).ok
    (failure,) = run_property("CW1", constant_transport).failures
    assert failure.startswith("CW1 constant_transport: sample violates P sums to 1: Sum(")
    assert ": 2.0 against 1.0, bound " in failure


def declaring(held: Callable[[Any], Held]) -> Any:
    def residual(sample: Any) -> Residual:
        return replace(constant_transport.residual(sample), clause="biases")

    return SimpleNamespace(
        samples=constant_transport.samples, residual=residual,
        hypotheses=lambda sample: [held(sample)],
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("held", "message"),
    [
        (lambda s: Held("P sums to 2", {"P": s.x}), "ValueError: CW1 biases must assume 'P sums"),
        (lambda s: Held("P sums to 1", {"Q": s.x}), "ValueError: arrays must have P of 'P sums"),
        (lambda s: Held("P sums to 1", {"P": s.b_v}), r"ValueError: P must have shape (n, m)"),
    ],
)
def test_a_wrong_declaration_is_a_failure(held: Callable[[Any], Held], message: str) -> None:
    (failure,) = run_property("CW1", declaring(held)).failures
    assert failure.startswith(f"CW1 biases: hypotheses: {message}")


@pytest.mark.slow
def test_a_failed_comparison_is_reported_first() -> None:
    module = sampling(module_of("RA16"), BREAKERS["RA16"][1])
    sound = module.residual
    module.residual = lambda sample: replace(sound(sample), lhs=sound(sample).lhs + 1)
    (failure,) = run_property("RA16", module).failures
    first, second, *_ = failure.splitlines()
    assert "residual / bound = " in first
    assert second.startswith(("layer: sample violates A sums", "attained: sample violates A sums"))
