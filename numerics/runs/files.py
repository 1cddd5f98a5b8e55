"""Files that a run leaves: whole or absent, and in a folder that is asked for before the work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """A body that writes a file, whose folder is there when it begins.

    Raises OSError that names the file and the reason, for any that the body raises.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise OSError(f"{path}: cannot be written ({error.strerror or error})") from error


def write_whole(path: Path, content: str | bytes) -> Path:
    """Writes a file, text as UTF-8, and returns its path; it is on disk when this returns.

    Whatever happens meanwhile, the file is there with all of its content or is what it was before.
    Raises OSError that names the file, UnicodeEncodeError for text that UTF-8 has not.
    """
    whole = content.encode("utf-8") if isinstance(content, str) else content
    # Another process that writes the same file has another name for its unfinished one.
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with writing(path):
            with unfinished.open("wb") as file:
                file.write(whole)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
    finally:
        with suppress(OSError):  # in a folder that is none, there is no file to remove
            unfinished.unlink()
    return path


def unwritable(folder: Path) -> str | None:
    """Why no file could be written in a folder, which may not be there yet; None if one could."""
    existing = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
    if existing.is_dir() and os.access(existing, os.W_OK):
        return None
    return f"{existing} is not a writable directory"
