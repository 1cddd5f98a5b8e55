"""What a run takes back from an earlier one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from numerics.runs.journal import Journal
from numerics.trained import analyze, plots, session
from numerics.trained.formats.checkpoint import Refused
from numerics.trained.measurements import Settings
from numerics.trained.records import LayerIdentity, LayerRecord, Module, Row, plain

RUN = {"kind": "run"}
RECORD = LayerRecord(
    layer=0,
    identity=LayerIdentity(
        layer=0, parity_attention=0.0, parity_layer=0.0, edges=1e-15, matrices=1e-15,
        surrogate=0.7, rows_formed=8, row_sum_deviation=0.0, ok=True,
    ),
    module=Module(heads=3, value_heads=3, inner=5, d=15, joined_values=15, pairs=28),
    rows=(Row(section="transports", measure="summed", kind="trained", value=0.1),),
)  # fmt: skip
LINE = plain(RECORD)
NO_RECORDS: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "missing required field `layer`"),
    "a layer in words": (LINE | {"layer": "1"}, r"Expected `int`, got `str` - at `\$\.layer`"),
    "a layer that is true": (LINE | {"layer": True}, r"Expected `int`, got `bool`"),
    "a field too many": (LINE | {"sed": 0}, "unknown field `sed`"),
    "rows that are none": (LINE | {"rows": [0]}, r"got `int` - at `\$\.rows\[0\]`"),
}


def test_records_of_an_earlier_run_come_back(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "measurements.jsonl", RUN)
    journal.append(LINE)
    assert session.by_layer(Journal(journal.path, RUN)) == {0: RECORD}


@pytest.mark.parametrize("case", NO_RECORDS)
def test_a_line_that_is_no_layers_record_is_refused(case: str, tmp_path: Path) -> None:
    line, match = NO_RECORDS[case]
    file = tmp_path / "measurements.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in (RUN, LINE, line)))
    with pytest.raises(Refused, match=f"line 3 is no layer's record .*{match}.*; remove the file"):
        session.by_layer(Journal(file, RUN))


@pytest.mark.slow
def test_a_file_with_such_a_line_is_left_alone(
    tiny: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, "figures", lambda name, rows, numbers: {})
    file, settings = tmp_path / "measurements.jsonl", Settings(draws=10)
    analyze.analyze(tiny, text, tmp_path, settings)
    *lines, last = file.read_text().splitlines()
    file.write_text("\n".join([*lines, json.dumps(json.loads(last) | {"sed": 0})]) + "\n")
    before = file.read_bytes()
    with pytest.raises(Refused, match=r"line 3 is no layer's record .*unknown field `sed`"):
        analyze.analyze(tiny, text, tmp_path, settings)
    assert file.read_bytes() == before
