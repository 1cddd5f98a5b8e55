"""From records to numbers, on records small enough to do by hand."""

from __future__ import annotations

from typing import Any

import pytest

from numerics.trained import summary
from numerics.trained.measures.controls import KINDS
from numerics.trained.measures.pattern_reversibility import CAUSAL

POINTS = [[0.2, 0.4], [0.1, 0.3], [0.3, 0.5]]  # median, 5%, 95% of two heads


def spread(distance: float) -> dict[str, float]:
    return {"relative": distance, "osc": 2 * distance, "from_first": distance, "floor": 0.0}


def defect(value: float, control: float, low: float, high: float) -> dict[str, Any]:
    entry = [value, control, low, high]
    cell = {"n": 8, "empty_rows": 1, "draws_lost": 0, "raw": entry, "flow": entry}
    return {
        "whole": {**cell, "centred": "no structure", "curl": entry},
        "reduced": {**cell, "centred": entry},
    }


def record(layer: int, cv: list[float | None]) -> dict[str, Any]:
    names = ("cv", "condition", "participation", "functional")
    own = {**dict.fromkeys(names, cv), "summed": 0.4 + 0.1 * layer, "mixed": [0.5, 0.7]}
    control = {
        **dict.fromkeys(names, POINTS),
        "summed": [0.4, 0.3, 0.5],
        "mixed": [0.6, 0.55, 0.65],
    }
    views = {
        view: {"distance": 0.5 - 0.1 * layer, "cosine": 0.9, "centred": None, "spectrum": 0.1}
        for view in ("whole", "no_sinks")
    }
    stack = {**spread(0.5), "factor": 0.8, "spread_factor": 0.9, "bound": 3.0}
    state = {"whole": spread(0.9), "no_sinks": spread(0.8)}
    model = {"whole": {"centred": [1.0, 0.9, 1.1]}, "reduced": {"centred": [1.0, 0.9, 1.1]}}
    return {
        "layer": layer,
        "identity": {"edges": 1e-15 * (layer + 1), "matrices": 1e-16, "surrogate": 0.7},
        "transports": {
            "heads": 2, "value_heads": 2, "inner": 4, "d": 32, "joined_values": 8, "own": own,
            "folded": {"cv": cv}, "controls": dict.fromkeys(KINDS, control),
        },
        "reversibility": [
            {"heads": [defect(0.4, 1.0, 0.8, 1.2), defect(1.3, 1.0, 0.8, 1.2)],
             "head_mean": defect(0.5, 1.0, 0.8, 1.2), "matched": model}
        ] * 2,
        "depth": {
            "real": [views, views], "other_text": [views, views],
            "initialised": [[views, views]] * 3, "matched": [[views, views]] * 3,
        } if layer else None,
        "collapse": {
            "entering": [state] * 2, "real": [state] * 2, "initialised": [[state] * 2] * 3,
            "matched": [[state] * 2] * 3,
            "stacks": [{"normed": spread(0.3), "bare": None, "frozen": stack}] * 2,
        },
    }  # fmt: skip


@pytest.fixture
def numbers() -> dict[str, Any]:
    records = [record(0, [0.05, 0.6]), record(1, [0.15, 0.4]), record(2, [0.2, None])]
    return summary.numbers(records, causal=False, seed=0)


def test_identity_takes_the_worst_layer(numbers: dict[str, Any]) -> None:
    assert numbers["identity"] == {
        "layers": 3, "edges": 3e-15, "matrices": 1e-16, "surrogate": [0.7] * 3
    }  # fmt: skip


def test_ratios_shares_and_what_is_left_out(numbers: dict[str, Any]) -> None:
    entry = numbers["transports"]["cv"]
    assert entry["left_out"] == 1
    gaussian = entry["gaussian"]
    # Ratios 1/4, 3/2, 3/4, 1, 1: one of five below its 5% point, one above its 95% point.
    assert gaussian["ratio"][0] == 0.9
    assert (gaussian["below_5"], gaussian["above_95"]) == (0.2, 0.2)
    assert gaussian["control"] == pytest.approx(0.3, rel=1e-5, abs=0)
    assert gaussian["control_by_layer"][0] == [0.3, 0.2, 0.4]
    assert entry["by_layer"] == [0.325, 0.275, 0.2]
    assert set(numbers["transports"]["cv_folded"]) >= {"gaussian"}
    assert "haar" not in numbers["transports"]["cv_folded"]


def test_sums_are_resampled_over_layers_and_edges_within(numbers: dict[str, Any]) -> None:
    mean, low, high = numbers["transports"]["summed"]["gaussian"]["ratio"]
    assert mean == 1.25
    assert low < 1.1 < 1.4 < high, "layers are not resampled"
    mixed = numbers["transports"]["mixed"]["gaussian"]
    assert (mixed["below_5"], mixed["above_95"]) == (0.5, 0.5)
    low, high = mixed["ratio"][1:]
    assert low < 1 < high


def test_theory_and_floor_belong_to_the_shape(numbers: dict[str, Any]) -> None:
    found = numbers["transports"]
    assert found["theory"] == 0.25
    assert found["gaussian_over_theory"] == pytest.approx(1.2, rel=1e-5, abs=0)
    assert found["floor_on_all_of_R^d"] == pytest.approx((28 / 32) ** 0.5, rel=1e-5, abs=0)


def test_defects_are_averaged_over_texts_and_counted_by_walk(numbers: dict[str, Any]) -> None:
    entry = numbers["reversibility"]["heads.reduced.centred"]
    assert entry["value"][0] == 0.85
    assert entry["difference"][0] == -0.15
    assert entry["difference_matched"][0] == -0.15
    assert (entry["walks"], entry["heads"], entry["empty_rows"]) == (12, 6, 12)
    assert (entry["below_5"], entry["above_95"]) == (0.5, 0.5)
    assert entry["draws_lost"] == 0
    whole = numbers["reversibility"]["heads.whole.centred"]
    assert (whole["value"], whole["no_structure"], whole["walks"]) == (None, 12, 0)
    assert numbers["reversibility"]["head_mean.reduced.centred"]["value"] == [0.5, 0.5, 0.5]
    assert "heads.reduced.curl" not in numbers["reversibility"]


def test_causal_models_keep_the_reason() -> None:
    found = summary.numbers([record(0, [0.1, 0.1])], causal=True, seed=0)
    assert found["reversibility"] == CAUSAL
    assert found["collapse"]["bounded"] == "from_first"


def test_depth_and_collapse_are_tables_by_layer_and_text(numbers: dict[str, Any]) -> None:
    distances = numbers["depth"]["no_sinks"]["distance"]
    assert numbers["depth"]["transitions"] == 2
    assert distances["real"] == [[0.4, 0.4], [0.3, 0.3]]
    assert distances["matched"] == distances["other_text"] == distances["real"]
    assert distances["matched_models"] == [[0.4] * 3, [0.3] * 3], "three models by transition"
    assert numbers["depth"]["whole"]["centred"]["initialised"] == [[None] * 2] * 2
    collapse = numbers["collapse"]
    assert collapse["real.no_sinks.relative"] == [[0.8, 0.8]] * 4, "entering and three layers"
    assert collapse["bare.osc"] == [[None, None]] * 3
    assert collapse["frozen.bound"] == [[3.0, 3.0]] * 3
    assert "normed.bound" not in collapse


def test_flat_controls_give_no_ratio() -> None:
    flat = record(0, [1e-16, 1e-16])
    for kind in ("haar", "permuted"):
        control = flat["transports"]["controls"][kind]
        flat["transports"]["controls"][kind] = {**control, "cv": [[1e-8] * 2] * 3}
    found = summary.numbers([flat], causal=False, seed=0)["transports"]["cv"]
    assert found["haar"]["ratio"] is None
    assert found["gaussian"]["ratio"][0] < 1e-14


def test_rounding_is_to_six_digits_everywhere() -> None:
    assert summary.rounded({"a": [1 / 3, (2e-9 / 3, 1)], "b": None}) == {
        "a": [0.333333, [6.66667e-10, 1]], "b": None
    }  # fmt: skip
