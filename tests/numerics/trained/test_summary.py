"""From records to numbers, on records small enough to do by hand."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from numerics.trained import summary
from numerics.trained.measurements import walk_rows
from numerics.trained.measures.control_models import KINDS as MODELS
from numerics.trained.measures.controls import KINDS
from numerics.trained.measures.pattern_reversibility import CAUSAL, DEFINED, MEASURES, Cell
from numerics.trained.records import LayerIdentity, LayerRecord, Module, Row, plain

pytestmark = pytest.mark.usefixtures("polars")

POINTS = ((0.2, 0.1, 0.3), (0.4, 0.3, 0.5))  # median, 5%, 95% of two heads


def drawn(measure: str, point: tuple[float | None, ...], **place: Any) -> list[Row]:
    """A row of every control of transports."""
    value, low, high = point
    return [
        Row(section="transports", measure=measure, kind=kind, value=value, low=low, high=high,
            **place)
        for kind in KINDS
    ]  # fmt: skip


def transports(layer: int, cv: list[float | None]) -> list[Row]:
    def own(measure: str, kind: str = "trained", **place: Any) -> Row:
        return Row(section="transports", measure=measure, kind=kind, **place)

    rows = [own("summed", value=0.4 + 0.1 * layer), *drawn("summed", (0.4, 0.3, 0.5)),
            own("mixed", member=0, value=0.5), own("mixed", member=1, value=0.7),
            *drawn("mixed", (0.6, 0.55, 0.65))]  # fmt: skip
    for head in (0, 1):
        rows.append(own("cv", "folded", head=head, value=cv[head]))
        for name in ("cv", "condition", "participation", "functional"):
            rows.append(own(name, head=head, value=cv[head]))
            rows += drawn(name, POINTS[head], head=head)
    return rows


def walks(text: int) -> list[Row]:
    def both(point: list[float], head: int | None) -> list[Row]:
        counts = {"n": 8, "empty_rows": 1, "draws_lost": 0}
        whole = dict.fromkeys(MEASURES, point) | {"centred": "no structure"}
        reduced = dict.fromkeys(DEFINED["reduced"], point)
        return [
            *walk_rows("whole", Cell(**counts, defects=whole), text, head),
            *walk_rows("reduced", Cell(**counts, defects=reduced), text, head),
        ]

    untrained = [
        Row(section="reversibility", measure=measure, kind="matched", view=view, text=text,
            value=1.0, low=0.9, high=1.1)
        for view, measures in DEFINED.items() for measure in measures
    ]  # fmt: skip
    return [
        *both([0.4, 1.0, 0.8, 1.2], 0),
        *both([1.3, 1.0, 0.8, 1.2], 1),
        *both([0.5, 1.0, 0.8, 1.2], None),
        *untrained,
    ]


def compared(layer: int, text: int) -> list[Row]:
    values = {"distance": 0.5 - 0.1 * layer, "cosine": 0.9, "centred": None, "spectrum": 0.1}
    members = [("trained", None), ("other_text", None)]
    members += [(kind, k) for kind in MODELS for k in range(3)]
    return [
        Row(section="depth", measure=measure, kind=kind, view=view, text=text, member=member,
            value=value)
        for kind, member in members for view in ("whole", "no_sinks")
        for measure, value in values.items()
    ]  # fmt: skip


def spreads(kind: str, distance: float, **place: Any) -> list[Row]:
    found = {"relative": distance, "osc": 2 * distance, "from_first": distance, "floor": 0.0}
    return [
        Row(section="collapse", measure=measure, kind=kind, value=value, **place)
        for measure, value in found.items()
    ]


def apart(layer: int, text: int) -> list[Row]:
    rows = spreads("normed", 0.3, text=text) + spreads("frozen", 0.5, text=text)
    rows += [replace(row, kind="bare", value=None) for row in spreads("bare", 0.0, text=text)]
    for measure, value in (("factor", 0.8), ("spread_factor", 0.9), ("bound", 3.0)):
        for kind in ("bare", "frozen"):
            rows.append(Row(section="collapse", measure=measure, kind=kind, text=text,
                            value=None if kind == "bare" else value))  # fmt: skip
    for view, distance in (("whole", 0.9), ("no_sinks", 0.8)):
        for kind in ("trained",) if layer else ("entering", "trained"):
            rows += spreads(kind, distance, view=view, text=text)
        for kind in MODELS:
            for k in range(3):
                rows += spreads(kind, distance, view=view, text=text, member=k)
    return rows


def record(layer: int, cv: list[float | None]) -> LayerRecord:
    rows = transports(layer, cv)
    for text in (0, 1):
        rows += walks(text) + apart(layer, text) + (compared(layer, text) if layer else [])
    own = LayerIdentity(
        layer=layer, parity_attention=0.0, parity_layer=0.0, edges=1e-15 * (layer + 1),
        matrices=1e-16, surrogate=0.7, rows_formed=8, row_sum_deviation=0.0, ok=True,
    )  # fmt: skip
    module = Module(heads=2, value_heads=2, inner=4, d=32, joined_values=8, pairs=56)
    return LayerRecord(layer=layer, identity=own, module=module, rows=tuple(rows))


def changed(of: LayerRecord, change: dict[str, Any], **where: Any) -> LayerRecord:
    """The record with its rows changed whose fields have the given values."""
    rows = [
        replace(row, **change) if all(getattr(row, k) == v for k, v in where.items()) else row
        for row in of.rows
    ]
    assert rows != list(of.rows), f"no row with {where}"
    return replace(of, rows=tuple(rows))


def measured(records: list[LayerRecord], causal: bool = False) -> dict[str, Any]:
    return plain(summary.numbers(records, causal=causal, seed=0))


@pytest.fixture
def numbers() -> dict[str, Any]:
    return measured([record(0, [0.05, 0.6]), record(1, [0.15, 0.4]), record(2, [0.2, None])])


def test_identity_takes_the_worst_layer(numbers: dict[str, Any]) -> None:
    assert numbers["identity"] == {
        "layers": 3, "edges": 3e-15, "matrices": 1e-16, "surrogate": (0.7,) * 3
    }  # fmt: skip


def test_ratios_shares_and_what_is_left_out(numbers: dict[str, Any]) -> None:
    entry = numbers["transports"]["spreads"]["cv"]
    assert entry["left_out"] == 1
    gaussian = entry["controls"]["gaussian"]
    # Ratios 1/4, 3/2, 3/4, 1, 1: one of five below its 5% point, one above its 95% point.
    assert gaussian["ratio"][0] == 0.9
    assert (gaussian["below_5"], gaussian["above_95"]) == (0.2, 0.2)
    assert gaussian["control"] == pytest.approx(0.3, rel=1e-5, abs=0)
    assert gaussian["control_by_layer"][0] == (0.3, 0.2, 0.4)
    assert entry["by_layer"] == (0.325, 0.275, 0.2)
    assert set(numbers["transports"]["spreads"]["cv_folded"]["controls"]) == {"gaussian"}


def test_sums_are_resampled_over_layers_and_edges_within(numbers: dict[str, Any]) -> None:
    mean, low, high = numbers["transports"]["spreads"]["summed"]["controls"]["gaussian"]["ratio"]
    assert mean == 1.25
    assert low < 1.1 < 1.4 < high, "layers are not resampled"
    mixed = numbers["transports"]["spreads"]["mixed"]["controls"]["gaussian"]
    assert (mixed["below_5"], mixed["above_95"]) == (0.5, 0.5)
    low, high = mixed["ratio"][1:]
    assert low < 1 < high


def test_theory_and_floor_belong_to_the_shape(numbers: dict[str, Any]) -> None:
    found = numbers["transports"]
    assert found["theory"] == 0.25
    assert found["gaussian_over_theory"] == pytest.approx(1.2, rel=1e-5, abs=0)
    assert found["floor"] == pytest.approx((28 / 32) ** 0.5, rel=1e-5, abs=0)


def test_defects_are_averaged_over_texts_and_counted_by_walk(numbers: dict[str, Any]) -> None:
    entry = numbers["reversibility"]["heads"]["reduced"]["centred"]
    assert entry["value"][0] == 0.85
    assert entry["difference"][0] == -0.15
    assert entry["untrained"]["difference"][0] == -0.15
    assert (entry["walks"], entry["untrained"]["heads"], entry["empty_rows"]) == (12, 6, 12)
    assert (entry["below_5"], entry["above_95"]) == (0.5, 0.5)
    assert entry["draws_lost"] == 0
    whole = numbers["reversibility"]["heads"]["whole"]["centred"]
    assert (whole["value"], whole["no_structure"], whole["walks"]) == (None, 12, 0)
    mean = numbers["reversibility"]["head_mean"]["reduced"]["centred"]
    assert (mean["value"], mean["untrained"]) == ((0.5, 0.5, 0.5), None)
    assert "curl" not in numbers["reversibility"]["heads"]["reduced"]
    assert [noise["n"] for noise in numbers["reversibility"]["noise"]] == [8]


def test_causal_models_keep_the_reason() -> None:
    found = measured([record(0, [0.1, 0.1])], causal=True)
    assert found["reversibility"] == CAUSAL
    assert found["collapse"]["bounded"] == "from_first"


def test_depth_and_collapse_are_tables_by_layer_and_text(numbers: dict[str, Any]) -> None:
    distances = numbers["depth"]["views"]["no_sinks"]["distance"]
    assert numbers["depth"]["transitions"] == 2
    assert distances["trained"] == ((0.4, 0.4), (0.3, 0.3))
    matched = distances["matched"]
    assert matched["by_text"] == distances["other_text"] == distances["trained"]
    assert matched["by_model"] == ((0.4,) * 3, (0.3,) * 3), "three models by transition"
    centred = numbers["depth"]["views"]["whole"]["centred"]
    assert centred["initialised"]["by_text"] == ((None,) * 2,) * 2
    collapse = numbers["collapse"]
    passed = collapse["trained"]["no_sinks"]
    assert passed["relative"] == ((0.8, 0.8),) * 4, "entering and three layers"
    stacks = collapse["stacks"]
    assert stacks["bare"]["spread"] == ((None, None),) * 3
    assert stacks["frozen"]["bound"] == ((3.0, 3.0),) * 3
    assert stacks["normed"]["bound"] is None


def test_flat_controls_give_no_ratio() -> None:
    flat = record(0, [1e-16, 1e-16])
    for kind in ("haar", "permuted"):
        flat = changed(flat, dict.fromkeys(("value", "low", "high"), 1e-8), kind=kind, measure="cv")
    found = measured([flat])["transports"]["spreads"]["cv"]["controls"]
    assert found["haar"]["ratio"] is None
    assert found["gaussian"]["ratio"][0] < 1e-14


def test_a_head_that_carries_nothing_has_no_spread_and_no_control() -> None:
    dead = changed(record(0, [0.05, 0.6]), {"value": None, "low": None, "high": None}, head=1,
                   measure="cv")  # fmt: skip
    found = measured([dead])["transports"]
    assert found["gaussian_over_theory"] == pytest.approx(0.8, rel=1e-5, abs=0)
    entry = found["spreads"]["cv"]
    assert (entry["left_out"], entry["by_layer"]) == (1, (0.05,))
    assert entry["controls"]["haar"]["control_by_layer"] == ((0.2, 0.1, 0.3),)
    assert entry["controls"]["haar"]["ratio"] == (0.25, 0.25, 0.25)


def test_means_of_one_head_are_over_its_own_texts() -> None:
    place = {"section": "reversibility", "measure": "raw", "view": "whole", "head": 0}
    moved = changed(record(0, [0.1, 0.1]), {"value": 0.8}, kind="trained", text=1, **place)
    entry = measured([moved])["reversibility"]["heads"]["whole"]["raw"]
    assert entry["value"][0] == pytest.approx((0.6 + 1.3) / 2, rel=1e-5, abs=0)
    lost = changed(moved, {"value": None, "reason": "no law"}, kind="trained", text=0, **place)
    entry = measured([lost])["reversibility"]["heads"]["whole"]["raw"]
    assert entry["value"][0] == pytest.approx((0.8 + 1.3) / 2, rel=1e-5, abs=0)
    assert (entry["walks"], entry["undefined"], entry["no_structure"]) == (3, 1, 0)


def test_rounding_is_to_six_digits_everywhere() -> None:
    assert summary.rounded({"a": [1 / 3, (2e-9 / 3, 1)], "b": None}) == {
        "a": [0.333333, [6.66667e-10, 1]], "b": None
    }  # fmt: skip
