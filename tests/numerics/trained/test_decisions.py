"""The decision rules on numbers made by hand: each verdict is reached, each condition counts."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from numerics.trained import decisions
from numerics.trained.decisions import ILL_DEFINED, NOT_SUPPORTED, NOT_TESTABLE, SUPPORTED, decide
from numerics.trained.records import Numbers, Statement, read
from numerics.trained.scale import Effects, effects, slope, thirds

KINDS = ("gaussian", "haar", "permuted", "shuffled", "norms")
DRAWN = ("initialised", "matched")
LAYERS, TEXTS = 7, 3


def spread_entry(ratio: float) -> dict[str, Any]:
    control = {
        "control": 0.2, "control_by_layer": [[0.2, 0.19, 0.21]] * LAYERS,
        "ratio": [ratio, ratio - 0.05, ratio + 0.05], "below_5": 0.9 if ratio < 1 else 0.0,
        "above_95": 0.0 if ratio < 1 else 0.9,
    }  # fmt: skip
    return {
        "value": [0.2 * ratio, 0.1, 0.3], "by_layer": [0.2 * ratio] * LAYERS, "left_out": 0,
        "controls": {kind: copy.deepcopy(control) for kind in KINDS},
    }  # fmt: skip


def defect_entry(difference: float) -> dict[str, Any]:
    gap = [difference, difference - 0.05, difference + 0.05]
    return {
        "value": [0.8, 0.7, 0.9], "control": [1.3, 1.2, 1.4], "difference": gap,
        "below_5": 0.8 if difference < 0 else 0.1, "above_95": 0.0, "walks": 84, "undefined": 0,
        "no_structure": 0, "empty_rows": 2, "draws_lost": 0,
        "untrained": {"heads": 28, "median": 1.2, "difference": list(gap)},
    }  # fmt: skip


def depth_table(first: float, last: float) -> dict[str, Any]:
    steps = [first + (last - first) * k / (LAYERS - 2) for k in range(LAYERS - 1)]
    other = [[0.9, 0.91, 0.89]] * (LAYERS - 1)
    drawn = {"by_text": other, "by_model": [[0.9, 0.92, 0.88]] * (LAYERS - 1)}
    return {
        "trained": [[s, 1.01 * s, 0.99 * s] for s in steps],
        "other_text": other,
        **{kind: dict(drawn) for kind in DRAWN},
    }


def stack(values: list[float], **more: float) -> dict[str, Any]:
    constant = {key: [[value] * TEXTS] * LAYERS for key, value in more.items()}
    return {"spread": [[value] * TEXTS for value in values], **constant}


def numbers() -> dict[str, Any]:
    """A model that supports every claim that one model can, as JSON."""
    pure = [0.5**k for k in range(LAYERS)]
    bounds = {"factor": 0.6, "spread_factor": 0.7, "bound": 2.0}
    apart = [[0.9, 0.8, 0.85]] * (LAYERS + 1)
    measures = ("cv", "cv_folded", "functional", "summed", "mixed")
    return {
        "identity": {"edges": 1e-15, "matrices": 2e-15, "layers": LAYERS, "surrogate": [0.8, 0.9]},
        "transports": {
            "heads": 4, "value_heads": 4, "inner": 8, "d": 96, "joined_values": 32,
            "theory": 0.204, "floor": 0.957, "gaussian_over_theory": 1.0,
            "spreads": {m: spread_entry(0.7) for m in measures},
        },
        "reversibility": {
            "heads": {
                "reduced": {"centred": defect_entry(-0.4)},
                "whole": {"curl": defect_entry(-0.2), "raw": defect_entry(-0.1)},
            },
            "head_mean": {},
            "noise": [],
        },
        "depth": {
            "transitions": LAYERS - 1, "views": {"no_sinks": {"distance": depth_table(0.8, 0.1)}}
        },
        "collapse": {
            "bounded": "osc",
            "trained": {"no_sinks": {"relative": apart, "osc": apart}},
            "models": {"initialised": {"no_sinks": [[0.7, 0.7, 0.7]] * LAYERS}},
            "stacks": {
                "normed": {**stack(pure, floor=1e-15), "relative": [[0.1, 0.11, 0.09]] * LAYERS},
                **{
                    name: stack(pure, relative=0.01, floor=1e-15, **bounds)
                    for name in ("bare", "frozen")
                },
            },
        },
    }  # fmt: skip


def statements(found: dict[str, Any]) -> list[Statement]:
    return decide(read(Numbers, found))


def statement(found: dict[str, Any], id: str) -> Statement:
    (one,) = [s for s in statements(found) if s.id == id]
    return one


def test_a_model_that_supports_all() -> None:
    outcomes = {s.id: s.outcome for s in statements(numbers())}
    assert outcomes.pop("EM.scale") == NOT_TESTABLE
    assert set(outcomes.values()) == {SUPPORTED}, f"{outcomes}"
    assert len(outcomes) == 10


def edit(*path: Any, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(found: Any) -> None:
        for key in path[:-1]:
            found = found[key]
        found[path[-1]] = to

    return change


SPREADS, WALKS = ("transports", "spreads"), ("reversibility", "heads")
DISTANCES, STACKS = ("depth", "views", "no_sinks", "distance"), ("collapse", "stacks")
CHANGES: dict[str, tuple[str, Callable[[dict[str, Any]], None], str]] = {
    "a wrong identity": ("EM.identity", edit("identity", "edges", to=1e-12), NOT_SUPPORTED),
    **{
        f"a ratio to {kind} that may be 1": (
            "EM.isometry",
            edit(*SPREADS, "cv", "controls", kind, "ratio", to=[0.9, 0.8, 1.01]),
            NOT_SUPPORTED,
        )
        for kind in KINDS
    },
    "few heads below the 5% point": (
        "EM.isometry",
        edit(*SPREADS, "cv", "controls", "gaussian", "below_5", to=0.5),
        NOT_SUPPORTED,
    ),
    "few heads": ("EM.isometry", edit("transports", "heads", to=1), NOT_TESTABLE),
    "no transport with a spread": (
        "EM.functional",
        edit(*SPREADS, "functional", "controls", "gaussian", "ratio", to=None),
        ILL_DEFINED,
    ),
    "causal": ("EM.reversibility", edit("reversibility", to="undefined"), ILL_DEFINED),
    "no structure": (
        "EM.reversibility",
        edit(*WALKS, "reduced", "centred", "difference", to=None),
        ILL_DEFINED,
    ),
    "no nearer than models without training": (
        "EM.reversibility",
        edit(*WALKS, "reduced", "centred", "untrained", "difference", to=[-0.1, -0.2, 0.01]),
        NOT_SUPPORTED,
    ),
    "no nearer in its logits": (
        "EM.reversibility",
        edit(*WALKS, "whole", "curl", to=defect_entry(0.1)),
        NOT_SUPPORTED,
    ),
    "few heads with a law": (
        "EM.reversibility",
        edit(*WALKS, "reduced", "centred", "untrained", "heads", to=7),
        NOT_TESTABLE,
    ),
    "two transitions": ("EM.depth_stability", edit("depth", "transitions", to=2), NOT_TESTABLE),
    "distances that rise": (
        "EM.depth_stability",
        edit(*DISTANCES, to=depth_table(0.1, 0.8)),
        NOT_SUPPORTED,
    ),
    "distances that fall a little": (
        "EM.depth_stability",
        edit(*DISTANCES, to=depth_table(0.8, 0.5)),
        NOT_SUPPORTED,
    ),
    "uniform attention, with distance 0 throughout": (
        "EM.depth_stability",
        edit(*DISTANCES, "initialised", "by_text", to=[[0.01] * TEXTS] * (LAYERS - 1)),
        NOT_SUPPORTED,
    ),
    **{
        f"distances that one more {kind} model may have": (
            "EM.depth_stability",
            edit(*DISTANCES, kind, "by_model", to=[[0.7, 0.9, 1.1]] * (LAYERS - 1)),
            NOT_SUPPORTED,
        )
        for kind in DRAWN
    },
    "random models of which only the mean is known": (
        "EM.depth_stability",
        edit(*DISTANCES, "matched", "by_model", to=None),
        NOT_SUPPORTED,
    ),
    "one text": (
        "EM.depth_stability",
        edit(*DISTANCES, "trained", to=[[0.5]] * (LAYERS - 1)),
        NOT_TESTABLE,
    ),
    "a broken bound": ("EM.collapse_bound", edit(*STACKS, "bare", "bound", to=[[1e-9] * 3] * 7),
                       NOT_SUPPORTED),
    "tokens that stay apart": (
        "EM.collapse", edit(*STACKS, "normed", "relative", to=[[0.9] * 3]), NOT_SUPPORTED
    ),
    "a stack that overflowed": (
        "EM.collapse", edit(*STACKS, "normed", "relative", to=[[None] * 3]), NOT_TESTABLE
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", CHANGES)
def test_every_condition_counts(case: str) -> None:
    id, change, expected = CHANGES[case]
    found = numbers()
    change(found)
    assert statement(found, id).outcome == expected, statement(found, id).line
    others = {s.id: s.outcome for s in statements(found) if s.id not in (id, "EM.scale")}
    if case != "few heads":
        assert set(others.values()) == {SUPPORTED}, f"{case} moved {others}"


def test_factors_above_1_are_called_vacuous() -> None:
    found = numbers()
    for name in ("bare", "frozen"):
        found["collapse"]["stacks"][name]["factor"] = [[3.0] * TEXTS] * LAYERS
    one = statement(found, "EM.collapse_bound")
    assert one.outcome == ILL_DEFINED
    assert "VACUOUS" in one.text


def test_what_a_stack_loses_to_overflow_is_said() -> None:
    found = numbers()
    bare = found["collapse"]["stacks"]["bare"]
    bare["spread"] = [[None] * TEXTS, *bare["spread"][1:]]
    assert (
        f", {TEXTS} beyond float64's range left out" in statement(found, "EM.collapse_bound").text
    )
    assert "range" not in statement(numbers(), "EM.collapse_bound").text


def test_no_norm_means_nothing_to_fold() -> None:
    found = numbers()
    del found["transports"]["spreads"]["cv_folded"]
    assert statement(found, "EM.isometry_folded").outcome == ILL_DEFINED


def test_flat_spectra_are_no_control() -> None:
    found = numbers()
    for kind in ("haar", "permuted"):
        found["transports"]["spreads"]["cv"]["controls"][kind]["ratio"] = None
    one = statement(found, "EM.isometry")
    assert one.outcome == SUPPORTED
    assert "0/0 against haar, permuted" in one.text


def test_sentences_carry_value_control_and_interval() -> None:
    text = statement(numbers(), "EM.isometry").text
    assert "CV 0.140 against 0.200 of gaussian factors (sqrt(d_h/2d) = 0.204)" in text
    assert all(f"{kind} 0.700 [0.650, 0.750]" in text for kind in KINDS), text


def test_scale_needs_three_sizes_and_slopes_beyond_0() -> None:
    family = [Effects(log_size=float(k), isometry=-0.1 * k, depth=-0.2 * k) for k in range(4)]
    assert decisions.scale(family[:2]).outcome == NOT_TESTABLE
    assert decisions.scale(family).outcome == SUPPORTED
    flat = [replace(one, depth=0.1 * (one.log_size % 2)) for one in family]
    assert decisions.scale(flat).outcome == NOT_SUPPORTED
    # Residuals -1/6, 1/3, -1/6 over sum x^2 = 2 give the error sqrt(1/12), and t_1 is 12.706.
    assert slope([0.0, 1.0, 2.0], [0.0, 1.0, 1.0]) == pytest.approx(
        [0.5, 0.5 - 12.706205 / 12**0.5, 0.5 + 12.706205 / 12**0.5], rel=1e-6, abs=0
    )
    with pytest.raises(ValueError, match="at least 3 different"):
        slope([1.0, 1.0, 2.0], [0.0, 1.0, 2.0])


def test_effects_are_differences_from_controls() -> None:
    found = effects(read(Numbers, numbers()), 1000)
    assert found is not None
    assert found.isometry < 0
    assert found.depth == pytest.approx(0.17 - 0.9, rel=1e-9, abs=0)
    short = numbers()
    short["depth"]["transitions"] = 2
    assert effects(read(Numbers, short), 1000) is None


def test_zero_spread_is_left_out_of_what_is_counted() -> None:
    found = numbers()
    found["transports"]["spreads"]["cv"]["left_out"] = 4 * LAYERS - 7
    one = statement(found, "EM.isometry")
    assert one.outcome == NOT_TESTABLE, one.line
    assert "fewer than 8 values" in one.text


@pytest.mark.parametrize("transitions", [5, 8, 29])
def test_scale_and_depth_have_one_deep_third(transitions: int) -> None:
    found = numbers()
    deep = thirds(transitions)[2]
    none = [[0.0] * TEXTS] * transitions
    table = {
        "trained": [[1.0 if i in deep else 0.0] * TEXTS for i in range(transitions)],
        "other_text": none, "initialised": {"by_text": none}, "matched": {"by_text": none},
    }  # fmt: skip
    found["depth"] = {"transitions": transitions, "views": {"no_sinks": {"distance": table}}}
    effect = effects(read(Numbers, found), 1000)
    assert effect is not None
    assert effect.depth == 1.0
