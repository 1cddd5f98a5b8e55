"""A bug planted in the source of a function, wherever the function is called."""

import importlib
import inspect
import textwrap
from collections.abc import Iterable
from typing import Any

import pytest


def plant(
    monkeypatch: pytest.MonkeyPatch, home: Any, name: str, sound: str, bug: str,
    places: Iterable[Any] = (),
) -> None:  # fmt: skip
    """Replace what is sound in home.name, of a module or class, there and in the places."""
    original = getattr(home, name)
    module = importlib.import_module(original.__module__)
    source = textwrap.dedent(inspect.getsource(original))
    assert source.count(sound) == 1, f"{name} has changed: plant the bug anew, not at {sound}"
    found: dict[str, Any] = {}
    exec("from __future__ import annotations\n" + source.replace(sound, bug), vars(module), found)
    for place in (home, module, *places):
        if getattr(place, name, None) is original:
            monkeypatch.setattr(place, name, found[name])
