"""The records of a run as JSON lines, each on disk before the next, for a run that continues.

A killed run leaves at most one torn line, the last: it is no record, and opening the journal again
cuts it off.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from numerics.runs.files import writing

Record = dict[str, Any]
ADVICE = "choose another --out or remove the file"


class Journal:
    """A file of records, opened for appending; `records` are all that it holds.

    With a header, which tells one run from another, the file's first line is that header and no
    record; without one, the file is made by the first record. Raises ValueError for a file of
    another run, which names what differs, a line that is no JSON object, or a file of one line
    without an end that no killed run left: then the file stays as it is. OSError, which names the
    file, when it cannot be read or written.
    """

    def __init__(self, path: Path, header: Record | None = None) -> None:
        whole, torn = _parts(path)
        self.path, self.records = path, _parsed(path, whole)
        wanted = None if header is None else json.loads(_line(header))
        if wanted is not None and self.records:
            _check_header(path, self.records.pop(0), wanted)
        if torn and not whole:
            _check_torn(path, torn, wanted)
        if torn:
            with writing(path), path.open("r+b") as file:
                file.truncate(len(whole))
                os.fsync(file.fileno())
        if wanted is not None and not whole:
            self._write(wanted)

    def append(self, record: Record) -> None:
        """Adds a record as one whole line, on disk when this returns.

        Raises ValueError for a number that JSON has not, OSError when the file cannot be written.
        """
        self._write(record)
        self.records.append(json.loads(_line(record)))

    def _write(self, record: Record) -> None:
        line = _line(record)
        with undisturbed(), writing(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())


def whole_records(path: Path) -> list[Record]:
    """The records in a file that another process may be writing; none where there is no file.

    Raises ValueError that names the line for one that is no JSON object.
    """
    whole, _ = _parts(path)
    return _parsed(path, whole)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Puts off SIGTERM until its body is done; in the main thread alone.

    A signal mask would not do: it holds for one thread, and the others take the signal.
    """
    waiting: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGTERM, lambda *told: waiting.append(told))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if waiting and callable(before):
            before(*waiting[0])
        elif waiting:
            signal.raise_signal(signal.SIGTERM)


def _line(record: Record) -> str:
    return json.dumps(record, allow_nan=False) + "\n"


def _parts(path: Path) -> tuple[bytes, bytes]:
    """The whole lines of a file, and what follows them."""
    if not path.exists():
        return b"", b""
    whole, newline, torn = path.read_bytes().rpartition(b"\n")
    return whole + newline, torn


def _parsed(path: Path, whole: bytes) -> list[Record]:
    lines = whole.split(b"\n")[:-1]
    return [_record(f"{path}, line {number}", line) for number, line in enumerate(lines, 1)]


def _record(where: str, line: bytes) -> Record:
    try:
        record = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: not JSON ({error}); {ADVICE}") from None
    if not isinstance(record, dict):
        raise ValueError(f"{where}: expected a JSON object, got {str(record)[:60]}; {ADVICE}")
    return record


def _check_torn(path: Path, torn: bytes, header: Record | None) -> None:
    """A file without a whole line is a run's only if its first line was begun by one."""
    begun = torn.startswith(b"{") if header is None else _line(header).encode().startswith(torn)
    if not begun:
        raise ValueError(f"{path}: begun by no such run, got {torn[:60]!r}; {ADVICE}")


def _check_header(path: Path, found: Record, wanted: Record) -> None:
    if found != wanted:
        names = sorted(n for n in wanted | found if wanted.get(n) != found.get(n))
        raise ValueError(f"{path}: belongs to another run (different {', '.join(names)}); {ADVICE}")
