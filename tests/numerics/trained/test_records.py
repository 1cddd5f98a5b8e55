"""Records go to JSON and come back, and what is no record is refused by its path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from numerics.trained.records import (
    COLUMNS,
    Arguments,
    Header,
    LayerIdentity,
    LayerRecord,
    ModelFacts,
    Module,
    Row,
    Statement,
    TextFacts,
    plain,
    read,
    read_text,
    select,
    table,
    text_of,
)

HEADER = Header(
    model=ModelFacts(
        name="tiny", architecture="bert", causal=False, d=15, heads=3, layers=2, layers_measured=2,
        parameters=100, stored_types={"F32": 3}, quantised=False,
    ),
    sha256={"config.json": "0" * 64},
    texts=(TextFacts(sha256="1" * 64, tokens_in_text=9, n=8),),
    arguments=Arguments(draws=200, seed=0),
    versions={"python": "3.11"},
    commit=None,
)  # fmt: skip


def layer(index: int) -> LayerRecord:
    return LayerRecord(
        layer=index,
        identity=LayerIdentity(
            layer=index, parity_attention=0.1, parity_layer=1 / 3, edges=1e-15, matrices=5e-324,
            surrogate=0.7, rows_formed=8, row_sum_deviation=2**-53, ok=True,
        ),
        module=Module(heads=3, value_heads=3, inner=5, d=15, joined_values=15, pairs=28),
        rows=(
            Row(section="transports", measure="cv", kind="trained", head=1, value=0.1),
            Row(section="transports", measure="cv", kind="haar", head=1, value=0.2, low=0.1,
                high=0.3),
            Row(section="depth", measure="centred", kind="trained", view="whole", text=0,
                reason="a walk is uniform"),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("record", [HEADER, layer(0), layer(7)], ids=["run", "layer", "another"])
def test_records_come_back_to_the_last_bit(record: Header | LayerRecord) -> None:
    line = json.loads(json.dumps(plain(record), allow_nan=False))
    assert read(type(record), line) == record
    assert read_text(type(record), text_of(record)) == record


def test_lines_say_what_they_are_and_rows_leave_out_what_they_have_not() -> None:
    assert plain(HEADER)["kind"] == "run"
    line = plain(layer(0))
    assert line["kind"] == "layer"
    assert line["rows"][0] == {
        "section": "transports", "measure": "cv", "kind": "trained", "head": 1, "value": 0.1
    }  # fmt: skip


def without(content: dict[str, Any], key: str) -> dict[str, Any]:
    return {k: v for k, v in content.items() if k != key}


LINE = plain(layer(0))
REFUSED: dict[str, tuple[Any, str]] = {
    "no object": ([LINE], r"Expected `object`, got `array`"),
    "another kind": (LINE | {"kind": "run"}, r"Invalid value 'run' - at `\$.kind`"),
    "a field too few": (without(LINE, "module"), r"missing required field `module`"),
    "a field too many": (LINE | {"modul": 1}, r"unknown field `modul`"),
    "true for a number": (LINE | {"layer": True}, r"Expected `int`, got `bool` - at `\$.layer`"),
    "words for a number": (
        LINE | {"rows": [LINE["rows"][0] | {"value": "0.1"}]},
        r"Expected `float \| null`, got `str` - at `\$.rows\[0\].value`",
    ),
    "null for a number": (
        LINE | {"identity": LINE["identity"] | {"edges": None}},
        r"Expected `float`, got `null` - at `\$.identity.edges`",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_record_is_refused_by_its_path(case: str) -> None:
    content, match = REFUSED[case]
    with pytest.raises(ValueError, match=match):
        read(LayerRecord, content)
    with pytest.raises(ValueError, match=match):
        read_text(LayerRecord, json.dumps(content))


@pytest.mark.parametrize("text", ["", "{", '{"id": NaN}', '{"id": "a", "outcome": "b"'])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON is malformed|was truncated"):
        read_text(Statement, text)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_json_has_not_are_refused(value: float) -> None:
    one = layer(0)
    broken = replace(one, identity=replace(one.identity, edges=value))
    with pytest.raises(ValueError, match="not JSON compliant"):
        text_of(broken)


def test_records_are_frozen() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        HEADER.arguments.seed = 1  # pyright: ignore


@pytest.mark.usefixtures("polars")
def test_the_table_has_a_row_for_every_measurement(tmp_path: Path) -> None:
    rows = table([layer(0), layer(3)])
    assert rows.columns == list(COLUMNS)
    assert rows["layer"].to_list() == [0, 0, 0, 3, 3, 3]
    haar = select(rows, kind="haar", layer=3)
    assert haar.row(0, named=True) == {
        "layer": 3, "section": "transports", "measure": "cv", "kind": "haar", "view": None,
        "text": None, "head": 1, "member": None, "value": 0.2, "low": 0.1, "high": 0.3,
        "reason": None,
    }  # fmt: skip
    assert len(select(rows, head=None)) == 2, "no value is a value to select by"
    assert len(select(rows, head=1)) == 4
    lines = rows.write_csv().splitlines()
    assert lines[0] == ",".join(COLUMNS)
    assert lines[3] == "0,depth,centred,trained,whole,0,,,,,,a walk is uniform"
