"""Every public function and class of numerics is in a table of refused inputs."""

import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest

import numerics
from numerics.rounding import units

FILES = sorted(Path(__file__).parent.glob("test_*.py"))
TABLES = [path for path in FILES if path != Path(__file__)]
NO_INPUT = {
    "arrays": "it is the boundary, which the rows of all others reach",
    "evidence.comparison": "made by checks, from their own arrays; properties/test_run.py refuses",
    "blockwise": "code on a device, whose refusals test_blockwise.py has",
}


def table(path: Path) -> ModuleType:
    """One file of rows, loaded by its path: the tests are no package."""
    spec = importlib.util.spec_from_file_location(f"table_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def public(module: ModuleType) -> set[str]:
    """Functions and classes that the module defines."""
    short = module.__name__.removeprefix("numerics.")
    return {
        f"{short}.{name}"
        for name, value in vars(module).items()
        if not name.startswith("_") and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == module.__name__
    }  # fmt: skip


def home(key: str) -> str:
    """A key as module.name: without a method, and with the module that defines the name."""
    names = key.split(".")
    depth = 2 if hasattr(importlib.import_module(f"numerics.{names[0]}"), "__path__") else 1
    module, name = ".".join(names[:depth]), names[depth]
    # roundoff re-exports the names of units.
    moved = module == "rounding.roundoff" and f"rounding.units.{name}" in public(units)
    return f"{'rounding.units' if moved else module}.{name}"


def names_of(tables: Iterable[ModuleType]) -> set[str]:
    """Names with rows, or without refusable input."""
    found: set[str] = set()
    for rows in tables:
        found |= {key for key, listed in rows.BAD.items() if listed}
        found |= getattr(rows, "PLAIN", set())
    return {home(key) for key in found}


def uncovered(modules: Iterable[ModuleType], names: set[str]) -> set[str]:
    """Public names of the modules that no table has."""
    return set().union(*(public(module) for module in modules)) - names


ELSEWHERE = ("properties", "runs", "stress", "trained")
"""Packages whose input is that of a command, with refusals in tests of their own."""
FOUND = {
    info.name.removeprefix("numerics.")
    for info in pkgutil.walk_packages(numerics.__path__, "numerics.")
    if not info.ispkg and info.name.split(".")[1] not in ELSEWHERE
}
MODULES = [importlib.import_module(f"numerics.{name}") for name in sorted(FOUND - NO_INPUT.keys())]
LOADED = [table(path) for path in TABLES]


def test_every_public_name_of_numerics_is_in_a_table() -> None:
    assert len(MODULES) > 15
    assert not uncovered(MODULES, names_of(LOADED))


def test_no_name_has_rows_and_is_said_to_need_none() -> None:
    both = [
        BAD.keys() & PLAIN for BAD, PLAIN in ((t.BAD, getattr(t, "PLAIN", set())) for t in LOADED)
    ]
    assert not set().union(*both)
    assert all(rows for table_ in LOADED for rows in table_.BAD.values())


def test_tables_name_nothing_that_is_gone() -> None:
    assert not names_of(LOADED) - set().union(*(public(module) for module in MODULES))


def test_modules_without_input_exist_and_have_a_reason() -> None:
    assert NO_INPUT.keys() <= FOUND
    assert all(NO_INPUT.values())


@pytest.mark.parametrize("place", range(len(TABLES)), ids=[path.stem for path in TABLES])
def test_without_one_table_its_names_would_be_seen(place: int) -> None:
    rest = names_of(LOADED[:place] + LOADED[place + 1 :])
    assert uncovered(MODULES, rest) == names_of([LOADED[place]]) - rest != set()


def test_a_planted_name_without_rows_would_be_seen() -> None:
    planted = ModuleType("numerics.planted")
    exec("def fresh(): ...\nclass Fresh: ...\ndef _hidden(): ...", vars(planted))
    for name in ("fresh", "Fresh", "_hidden"):
        vars(planted)[name].__module__ = planted.__name__
    names = names_of(LOADED)
    assert uncovered([*MODULES, planted], names) == {"planted.fresh", "planted.Fresh"}
    assert uncovered([planted], names | {"planted.fresh"}) == {"planted.Fresh"}


def test_a_name_whose_list_of_rows_is_empty_has_none() -> None:
    empty = ModuleType("empty")
    vars(empty)["BAD"] = {
        "walks.walk.Walk": [],
        "walks.walk.Walk.apply": [],
        "rounding.roundoff.gamma": [None],
    }
    assert names_of([empty]) == {"rounding.units.gamma"}
