"""A file is whole or what it was before; a folder that cannot be written is known beforehand."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from numerics.runs.files import unwritable, write_whole


@pytest.mark.parametrize("content", ["Weyl, ∇\n", b"\x00\xff"])
def test_a_file_is_written_in_a_folder_that_was_not_there(
    tmp_path: Path, content: str | bytes
) -> None:
    path = tmp_path / "new" / "deep" / "summary.json"
    assert write_whole(path, content) == path
    found = path.read_text(encoding="utf-8") if isinstance(content, str) else path.read_bytes()
    assert found == content
    assert list(path.parent.iterdir()) == [path]


def test_a_file_is_on_disk_before_it_takes_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced = tmp_path / "summary.json", []

    def fsync(number: int) -> None:
        (unfinished,) = tmp_path.iterdir()
        assert os.fstat(number).st_ino == unfinished.stat().st_ino
        synced.append((unfinished.name != path.name, unfinished.read_text()))

    monkeypatch.setattr(os, "fsync", fsync)
    write_whole(path, "new")
    assert synced == [(True, "new")]


@pytest.mark.parametrize("broken", ["open", "fsync", "replace"])
def test_a_write_that_fails_leaves_what_was_there(
    tmp_path: Path, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_whole(tmp_path / "out" / "summary.json", "old")

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os if broken == "fsync" else Path, broken, full)
    message = f"{path}: cannot be written (No space left on device)"
    with pytest.raises(OSError, match=f"^{re.escape(message)}$"):
        write_whole(path, "new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_an_interruption_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_whole(tmp_path / "summary.json", "old")

    def interrupted(number: int) -> None:
        raise KeyboardInterrupt("inside the write")

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt, match="inside the write"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_text_that_has_no_bytes_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = write_whole(tmp_path / "report.json", "old")
    with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
        write_whole(path, "new \udcff")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_is_known_beforehand(tmp_path: Path) -> None:
    file = write_whole(tmp_path / "file", "")
    assert unwritable(tmp_path) is None
    assert unwritable(tmp_path / "new" / "deep") is None
    for folder in (file, file / "below", file / "below" / "deep"):
        assert unwritable(folder) == f"{file} is not a writable directory"
        with pytest.raises(OSError, match=r"cannot be written \(.+\)$"):
            write_whole(folder / "summary.json", "new")
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_without_permission_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Asked of the system, which would let the superuser write anywhere.
    monkeypatch.setattr(os, "access", lambda path, mode: (path, mode) != (tmp_path, os.W_OK))
    assert unwritable(tmp_path / "new") == f"{tmp_path} is not a writable directory"
