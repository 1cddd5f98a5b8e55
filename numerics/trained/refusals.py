"""What cannot be used is refused in one line; packages of the extra `models` are asked for late."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType


class Refused(ValueError):
    """The input cannot be used; the message says in one line why, and what would help."""


def optional_module(name: str) -> ModuleType:
    """The module `name` of the optional extra `models`.

    Raises: Refused, with the line that installs it, when it does not import.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Refused(
            f"analyze needs the package {name.partition('.')[0]} ({error}): "
            "pip install 'attention-geometry[models]'"
        ) from error


def read_object(file: Path) -> dict[str, object]:
    """The JSON object in a file.

    Raises: Refused when the file is missing, unreadable or holds anything else.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise Refused(f"{file}: no such file") from error
    except (OSError, ValueError, RecursionError) as error:
        raise Refused(f"{file}: unreadable ({error})") from error
    if not isinstance(content, dict):
        raise Refused(f"{file}: must hold a JSON object, found {shown(content)}")
    return content


def shown(value: object) -> str:
    """A value as a message shows it: short, and `nothing` for None."""
    return "nothing" if value is None else repr(value)[:60]
