"""The file of finished cells: what counts as finished, what is on disk when."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from numerics.stress.cell import Key
from numerics.stress.records import Records

KEY = Key("CW2", "gates", 5, 8, 2, "float32", "cpu", 0, "code")


def record(status: str, **more: Any) -> dict[str, Any]:
    return {**asdict(KEY), "status": status, **more}


@pytest.mark.parametrize("status", ["ok", "failed"])
def test_an_evaluated_cell_is_finished(tmp_path: Path, status: str) -> None:
    path = tmp_path / "new" / "CW2.jsonl"
    Records(path).append(record(status))
    assert Records(path).finished(KEY) == record(status)


@pytest.mark.parametrize("name", [field for field in asdict(KEY) if field != "ranks"])
def test_a_cell_that_differs_in_anything_is_not_finished(tmp_path: Path, name: str) -> None:
    path, changed = tmp_path / "CW2.jsonl", record("ok")
    changed[name] = 7 if isinstance(changed[name], int) else "other"
    Records(path).append(changed)
    assert Records(path).finished(KEY) is None


def test_a_cell_that_did_not_run_or_does_not_say_has_yet_to_run(tmp_path: Path) -> None:
    path = tmp_path / "CW2.jsonl"
    path.write_text(json.dumps(asdict(KEY)) + "\n" + json.dumps(record("not run")) + "\n")
    assert Records(path).finished(KEY) is None


def test_the_last_record_counts_and_nothing_is_added_twice(tmp_path: Path) -> None:
    path = tmp_path / "CW2.jsonl"
    records = Records(path)
    for found in (record("failed"), record("not run"), record("not run"), record("ok")):
        records.append(found)
    assert records.finished(KEY) == record("ok")
    assert Records(path).finished(KEY) == record("ok")
    statuses = [json.loads(line)["status"] for line in path.read_text().splitlines()]
    assert statuses == ["failed", "not run", "ok"]


def test_a_record_is_on_disk_as_a_whole_line_when_append_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced = tmp_path / "CW2.jsonl", []

    def fsync(number: int) -> None:
        assert os.fstat(number).st_ino == path.stat().st_ino
        synced.append(path.read_bytes())

    monkeypatch.setattr(os, "fsync", fsync)
    Records(path).append(record("ok"))
    assert synced == [path.read_bytes()]
    assert json.loads(synced[0]) == record("ok")
    assert synced[0].endswith(b"\n")


def test_what_json_has_not_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "CW2.jsonl"
    with pytest.raises(ValueError, match="Out of range float values"):
        Records(path).append(record("ok", residual=float("nan")))
    assert not path.exists()
