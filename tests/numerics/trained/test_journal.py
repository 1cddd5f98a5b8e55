"""The journal of a run: whole lines only, one run only; and what a killed run leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from numerics.trained.formats.checkpoint import Refused
from numerics.trained.journal import Journal

HEADER = {"kind": "run", "seed": 0, "model": {"name": "m"}}


def test_records_come_back(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "measurements.jsonl"
    journal = Journal(file, HEADER)
    for layer in (0, 1):
        journal.append({"layer": layer, "x": 0.1})
    assert Journal(file, HEADER).records == {0: {"layer": 0, "x": 0.1}, 1: {"layer": 1, "x": 0.1}}
    assert len(file.read_text().splitlines()) == 3, "opening wrote something"


@pytest.mark.parametrize("cut", [1, 5, 17])
def test_a_torn_last_line_is_cut_off_and_measured_again(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "measurements.jsonl"
    journal = Journal(file, HEADER)
    journal.append({"layer": 0})
    whole = file.read_bytes()
    journal.append({"layer": 1, "value": 0.25})
    file.write_bytes(file.read_bytes()[:-cut])
    again = Journal(file, HEADER)
    assert set(again.records) == {0}
    assert file.read_bytes() == whole
    again.append({"layer": 1, "value": 0.25})
    assert set(Journal(file, HEADER).records) == {0, 1}


def test_a_torn_header_starts_anew(tmp_path: Path) -> None:
    file = tmp_path / "measurements.jsonl"
    file.write_bytes(b'{"kind": "ru')
    Journal(file, HEADER)
    assert json.loads(file.read_text()) == HEADER


@pytest.mark.parametrize(
    ("change", "named"),
    [({"seed": 1}, "seed"), ({"model": {"name": "other"}}, "model"), ({"extra": 1}, "extra")],
)
def test_another_run_is_refused_and_left_alone(
    tmp_path: Path, change: dict[str, object], named: str
) -> None:
    file = tmp_path / "measurements.jsonl"
    Journal(file, HEADER).append({"layer": 0})
    before = file.read_bytes()
    with pytest.raises(Refused, match=f"belongs to another run .different {named}"):
        Journal(file, HEADER | change)
    assert file.read_bytes() == before


def test_a_broken_line_before_the_last_is_no_accident(tmp_path: Path) -> None:
    file = tmp_path / "measurements.jsonl"
    Journal(file, HEADER)
    with file.open("a") as stream:
        stream.write("{broken\n" + '{"layer": 1}\n')
    with pytest.raises(Refused, match="line 2 is broken"):
        Journal(file, HEADER)


@pytest.mark.parametrize("line", ["[]", "{}", '{"layer": "1"}', '{"layer": true}', "null"])
def test_a_line_that_is_no_record_is_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / "measurements.jsonl"
    Journal(file, HEADER)
    with file.open("a") as stream:
        stream.write(line + "\n")
    with pytest.raises(Refused, match="line 2 is no layer's record"):
        Journal(file, HEADER)


def test_numbers_that_json_has_not_are_refused(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "measurements.jsonl", HEADER)
    with pytest.raises(ValueError, match="not JSON compliant"):
        journal.append({"layer": 0, "x": float("nan")})
    assert Journal(journal.file, HEADER).records == {}
