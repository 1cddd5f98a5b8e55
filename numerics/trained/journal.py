"""measurements.jsonl: one line for the run, then one a layer, each safe on disk before the next.

A killed run leaves at most one torn line, the last, which is cut off on resuming. A journal of
another model, seed or arguments is never added to.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from numerics.trained.formats.checkpoint import Refused

Record = dict[str, Any]


class Journal:
    """The journal of one run, opened for appending; `records` are the layers already measured.

    Raises: Refused when the file belongs to another run, holds a broken line before the last, or
    cannot be written.
    """

    def __init__(self, file: Path, header: Record) -> None:
        self.file = file
        self.header = json.loads(line_of(header))
        self.records: dict[int, Record] = {}
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            whole = self._repaired()
            if whole:
                self._read(whole)
            else:
                self._append(self.header)
        except OSError as error:
            raise Refused(f"{file}: cannot be written ({error})") from error

    def append(self, record: Record) -> None:
        """Add one layer's record; it is on disk when this returns."""
        try:
            self._append(record)
        except OSError as error:
            raise Refused(f"{self.file}: cannot be written ({error})") from error
        self.records[record["layer"]] = json.loads(line_of(record))

    def _append(self, record: Record) -> None:
        with self.file.open("ab") as stream:
            stream.write(line_of(record).encode())
            stream.flush()
            os.fsync(stream.fileno())

    def _repaired(self) -> list[str]:
        """The whole lines; what follows the last line break is cut off."""
        if not self.file.exists():
            return []
        content = self.file.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            with self.file.open("r+b") as stream:
                stream.truncate(len(whole))
                os.fsync(stream.fileno())
        return whole.decode("utf-8", errors="replace").splitlines()

    def _read(self, lines: list[str]) -> None:
        parsed = []
        for number, line in enumerate(lines, 1):
            try:
                parsed.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise Refused(f"{self.file}: line {number} is broken; remove the file") from error
        found, *records = parsed
        if found != self.header:
            known = found if isinstance(found, dict) else {}
            keys = sorted(
                k for k in self.header.keys() | known.keys() if self.header.get(k) != known.get(k)
            )
            raise Refused(
                f"{self.file}: belongs to another run (different {', '.join(keys)}); "
                "choose another --out or remove it"
            )
        for number, record in enumerate(records, 2):
            if not isinstance(record, dict) or type(record.get("layer")) is not int:
                raise Refused(f"{self.file}: line {number} is no layer's record; remove the file")
        self.records = {record["layer"]: record for record in records}


def line_of(record: Record) -> str:
    """A record as one line of strict JSON."""
    return json.dumps(record, sort_keys=True, allow_nan=False) + "\n"
