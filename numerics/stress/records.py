"""Finished cells as JSON lines: appended one by one, read back by a run that continues."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from numerics.stress.cell import FAILED, OK, Key

Record = dict[str, Any]


class Records:
    """The records in one JSON-lines file, which only ever grows by whole lines.

    Opening repairs a last line that a killed run left torn. Raises ValueError when any other line
    is not a JSON object: that file was not written here.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = _whole_lines(path)

    def finished(self, key: Key) -> Record | None:
        """The record of an evaluated cell, passed or failed; None if it has yet to run."""
        wanted = asdict(key)
        for record in reversed(self._lines):
            if record.get("status") in (OK, FAILED) and _matches(record, wanted):
                return record
        return None

    def append(self, record: Record) -> None:
        """Adds a record, on disk when this returns; one that says "not run" again is not added."""
        if record in self._lines:
            return
        line = json.dumps(record, allow_nan=False) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._lines.append(record)


def _matches(record: Record, wanted: Record) -> bool:
    return all(record.get(name) == value for name, value in wanted.items())


def _whole_lines(path: Path) -> list[Record]:
    """The file's records, its torn last line cut off."""
    if not path.exists():
        return []
    whole, newline, torn = path.read_bytes().rpartition(b"\n")
    if torn:
        with path.open("r+b") as file:
            file.truncate(len(whole) + len(newline))
    lines = whole.decode("utf-8", errors="replace").splitlines()
    return [_record(path, number, line) for number, line in enumerate(lines, 1)]


def _record(path: Path, number: int, line: str) -> Record:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}, line {number}: not JSON ({error.msg})") from None
    if not isinstance(record, dict):
        raise ValueError(f"{path}, line {number}: expected a JSON object")
    return record
