"""Refused inputs of every public function and class of numerics: a name without rows fails."""

import importlib
import inspect
import pkgutil
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import numerics
from numerics.arrays import namespace
from numerics.rounding import units
from tests.numerics.refusals.faults import Call, Floats, Row, listed

NO_INPUT = {
    "arrays": "it is the boundary, which the rows of all others reach",
    "evidence.comparison": "made by checks, from their own arrays; properties/test_run.py refuses",
    "blockwise": "code on a device, whose refusals test_blockwise.py has",
}
ELSEWHERE = ("properties", "runs", "stress", "trained")
"""Packages whose input is that of a command, with refusals in tests of their own."""


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
        found |= {key for key, stated in rows.BAD.items() if stated}
        found |= getattr(rows, "PLAIN", set())
    return {home(key) for key in found}


def uncovered(modules: Iterable[ModuleType], names: set[str]) -> set[str]:
    """Public names of the modules that no table has."""
    return set().union(*(public(module) for module in modules)) - names


def fault(row: Row) -> str | None:
    """What is wrong with the answer to a refused input; an error of another class is raised."""
    call, error, message = row
    try:
        call()
    except error as refusal:
        said = str(refusal)
        return None if re.search(message, said) else f"{message!r} does not match {said!r}"
    return f"{message!r}: accepted"


FOUND = {
    info.name.removeprefix("numerics.")
    for info in pkgutil.walk_packages(numerics.__path__, "numerics.")
    if not info.ispkg and info.name.split(".")[1] not in ELSEWHERE
}
MODULES = [importlib.import_module(f"numerics.{name}") for name in sorted(FOUND - NO_INPUT.keys())]
NAMES = sorted(path.stem for path in (Path(__file__).parent / "tables").glob("*.py"))
TABLES = [importlib.import_module(f"tests.numerics.refusals.tables.{name}") for name in NAMES]
BAD = [(table, key) for table in TABLES for key in table.BAD]


@pytest.mark.slow
@pytest.mark.parametrize(("table", "key"), BAD, ids=[key for _, key in BAD])
def test_bad_input_is_refused_by_name(table: ModuleType, key: str) -> None:
    with warnings.catch_warnings():
        for message in getattr(table, "WARNINGS", ()):
            warnings.filterwarnings("ignore", message, RuntimeWarning)
        found = [fault(row) for row in listed(*table.BAD[key])]
        assert found
        assert not [wrong for wrong in found if wrong]


@pytest.mark.slow
@pytest.mark.parametrize(("table", "key"), BAD, ids=[key for _, key in BAD])
def test_the_same_call_without_its_fault_is_accepted(table: ModuleType, key: str) -> None:
    for stated in table.BAD[key]:
        if isinstance(stated, Call):
            stated.sound()


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES, ids=NAMES)
def test_what_is_sound_is_accepted(table: ModuleType) -> None:
    """A function that refuses everything would pass all rows of particular faults."""
    assert all(holds() for holds in getattr(table, "SOUND", ()))


def test_every_public_name_of_numerics_is_in_a_table() -> None:
    assert len(MODULES) > 15
    assert not uncovered(MODULES, names_of(TABLES))


def test_no_name_has_rows_twice_or_is_said_to_need_none() -> None:
    keys = [key for table in TABLES for key in (*table.BAD, *getattr(table, "PLAIN", ()))]
    assert len(keys) == len(set(keys))
    assert all(stated for table in TABLES for stated in table.BAD.values())


def test_tables_name_nothing_that_is_gone() -> None:
    assert not names_of(TABLES) - set().union(*(public(module) for module in MODULES))


def test_modules_without_input_exist_and_have_a_reason() -> None:
    assert NO_INPUT.keys() <= FOUND
    assert all(NO_INPUT.values())


@pytest.mark.parametrize("place", range(len(TABLES)), ids=NAMES)
def test_without_one_table_its_names_would_be_seen(place: int) -> None:
    rest = names_of(TABLES[:place] + TABLES[place + 1 :])
    assert uncovered(MODULES, rest) == names_of([TABLES[place]]) - rest != set()


def test_a_planted_name_without_rows_would_be_seen() -> None:
    planted = ModuleType("numerics.planted")
    exec("def fresh(): ...\nclass Fresh: ...\ndef _hidden(): ...", vars(planted))
    for name in ("fresh", "Fresh", "_hidden"):
        vars(planted)[name].__module__ = planted.__name__
    names = names_of(TABLES)
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


def test_a_row_that_is_accepted_or_answered_otherwise_is_seen() -> None:
    assert fault((lambda: int("x"), ValueError, "^invalid literal")) is None
    assert fault((lambda: int("x"), ValueError, "^valid")) is not None
    assert fault((lambda: int("1"), ValueError, "^invalid literal")) is not None
    with pytest.raises(ValueError, match=r"^invalid literal"):
        fault((lambda: int("x"), TypeError, "^invalid literal"))


def test_checks_that_a_function_lacks_are_seen() -> None:
    """One that checks kinds and dtypes only: an axis of 1 broadcasts, and a NaN is a sum."""

    def total(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        namespace(x=x, y=y)
        return x + y

    array = Floats(np.ones((2, 3)), "n d")
    rows = listed(Call(total, x=array, y=array))
    seen = [wrong for wrong in map(fault, rows) if wrong]
    assert (len(rows), len(seen)) == (25, 16)
    assert sum("accepted" in wrong for wrong in seen) == 12
