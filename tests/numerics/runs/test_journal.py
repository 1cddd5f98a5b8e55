"""The journal of a run: whole lines only, one run only, each on disk; what a killed run leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from numerics.runs.journal import Journal, undisturbed, whole_records

HEADER = {"kind": "run", "seed": 0, "model": {"name": "m"}}
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "records.jsonl"


@pytest.mark.parametrize(("header", "lines"), [(None, 2), (HEADER, 3)])
def test_records_come_back(path: Path, header: dict[str, object] | None, lines: int) -> None:
    journal = Journal(path, header)
    assert path.exists() == (header is not None)
    for layer in (0, 1):
        journal.append({"layer": layer, "x": 0.1})
    assert Journal(path, header).records == journal.records == [
        {"layer": 0, "x": 0.1}, {"layer": 1, "x": 0.1},
    ]  # fmt: skip
    assert len(path.read_text().splitlines()) == lines, "opening wrote something"


def test_what_is_kept_is_what_the_file_says(path: Path) -> None:
    journal = Journal(path, {"sizes": (1, 2)})
    journal.append({"entry": (3, 4), "residual": None})
    assert journal.records == [{"entry": [3, 4], "residual": None}]
    assert Journal(path, {"sizes": [1, 2]}).records == journal.records


@pytest.mark.parametrize("torn", [b'{"la', b"\x00\x00", b"\xff", b'{"layer": 1}'])
@pytest.mark.parametrize("header", [None, HEADER])
def test_a_torn_last_line_is_cut_off_by_opening_and_left_by_reading(
    path: Path, torn: bytes, header: dict[str, object] | None
) -> None:
    Journal(path, header).append({"layer": 0})
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert whole_records(path)[-1] == {"layer": 0}
    assert path.read_bytes() == whole + torn
    journal = Journal(path, header)
    assert path.read_bytes() == whole
    journal.append({"layer": 1})
    assert Journal(path, header).records == [{"layer": 0}, {"layer": 1}]


def test_a_torn_header_starts_anew(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"kind": "ru')
    assert Journal(path, HEADER).records == []
    assert json.loads(path.read_text()) == HEADER


@pytest.mark.parametrize("header", [None, HEADER])
def test_a_line_without_an_end_that_no_run_began_is_left_alone(
    path: Path, header: dict[str, object] | None
) -> None:
    path.parent.mkdir()
    path.write_bytes(b"notes of another kind")
    message = "records.jsonl: begun by no such run, got b'notes of another kind'; choose another"
    with pytest.raises(ValueError, match=message):
        Journal(path, header)
    assert path.read_bytes() == b"notes of another kind"


@pytest.mark.parametrize(
    ("change", "named"),
    [({"seed": 1}, "seed"), ({"model": {"name": "other"}, "seed": 1}, "model, seed"),
     ({"extra": 1}, "extra")],
)  # fmt: skip
def test_another_run_is_refused_by_name_and_left_alone(
    path: Path, change: dict[str, object], named: str
) -> None:
    Journal(path, HEADER).append({"layer": 0})
    path.write_bytes(path.read_bytes() + b"torn")
    before = path.read_bytes()
    message = rf"records.jsonl: belongs to another run \(different {named}\); choose another --out"
    with pytest.raises(ValueError, match=message):
        Journal(path, HEADER | change)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{broken", r"line 2: not JSON \(Expecting"),
        (b"\xff", r"line 2: not JSON \('utf-8' codec"),
        (b"[" * 100_000, r"line 2: not JSON \("),
        (b"[1]", r"line 2: expected a JSON object, got \[1\]; choose another --out or remove"),
        (b"null", "line 2: expected a JSON object, got None"),
        (b"", "line 2: not JSON"),
    ],
    ids=["broken", "no UTF-8", "deep", "array", "null", "empty"],
)
@pytest.mark.parametrize("header", [None, HEADER])
def test_a_line_that_was_not_written_here_is_refused_and_left_alone(
    path: Path, header: dict[str, object] | None, line: bytes, message: str
) -> None:
    path.parent.mkdir()
    first = json.dumps(HEADER).encode() + b"\n"
    path.write_bytes(first + line + b"\n" + b'{"layer": 1}\n' + b"torn")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=message):
        Journal(path, header)
    with pytest.raises(ValueError, match=message):
        whole_records(path)
    assert path.read_bytes() == before


def test_a_record_is_on_disk_as_a_whole_line_when_append_returns(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bytes] = []

    def fsync(number: int) -> None:
        assert os.fstat(number).st_ino == path.stat().st_ino
        synced.append(path.read_bytes())

    monkeypatch.setattr(os, "fsync", fsync)
    Journal(path).append({"layer": 0})
    assert synced == [b'{"layer": 0}\n']


def test_numbers_that_json_has_not_are_refused_before_anything_is_written(path: Path) -> None:
    journal = Journal(path)
    with pytest.raises(ValueError, match="Out of range float values"):
        journal.append({"layer": 0, "x": float("nan")})
    assert journal.records == []
    assert not path.exists()


def test_a_file_that_cannot_be_written_is_named(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(path)

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    message = r"records.jsonl: cannot be written \(No space left on device\)$"
    with pytest.raises(OSError, match=message):
        journal.append({"layer": 0})
    assert journal.records == []
    path.write_bytes(b'{"torn')
    with pytest.raises(OSError, match=message):
        Journal(path)
    with pytest.raises(OSError, match=r"below/records.jsonl: cannot be written \("):
        Journal(path / "below" / "records.jsonl", HEADER)


def test_a_record_is_written_before_its_process_ends(path: Path) -> None:
    """SIGTERM inside a line reaches its handler after it, also where another thread takes it."""
    told: list[bytes] = []
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    honest, before = os.fsync, signal.getsignal(signal.SIGTERM)

    def fsync(number: int) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        assert told == []
        honest(number)

    signal.signal(signal.SIGTERM, lambda number, frame: told.append(path.read_bytes()))
    try:
        other.start()
        with pytest.MonkeyPatch.context() as planted:
            planted.setattr(os, "fsync", fsync)
            Journal(path).append({"layer": 0})
        assert told == [b'{"layer": 0}\n']
        os.kill(os.getpid(), signal.SIGTERM)
        assert len(told) == 2
    finally:
        done.set()
        other.join()
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("ignored", [True, False])
def test_a_handler_that_is_none_stays(ignored: bool) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        with undisturbed():
            if ignored:
                os.kill(os.getpid(), signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) == (signal.SIG_IGN if ignored else signal.SIG_DFL)
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.slow
def test_a_process_told_to_end_while_it_writes_ends_after() -> None:
    code = """
import os, signal
from numerics.runs.journal import undisturbed
with undisturbed():
    os.kill(os.getpid(), signal.SIGTERM)
    print("written", flush=True)
print("after", flush=True)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (-signal.SIGTERM, "written\n")
