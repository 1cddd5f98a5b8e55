"""The rooms: where things live, which way imports go, and which names stay importable."""

import importlib
import inspect
import json
from collections.abc import Iterable
from pathlib import Path

import networkx as nx
import pytest

from numerics.runs import imports
from theorems.catalogue import CATALOGUE

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
MIRRORED = ("theorems", "numerics", "paper_checks", "benchmarks")
ABOUT_ALL = {"numerics/refusals": "the input that every public name of numerics refuses"}
"""Folders of tests that mirror no package, and what they are about."""
ROOMS = 20  # so many a reader takes in at a glance
PUBLISHED: dict[str, dict[str, str]] = json.loads(
    (TESTS / "public_names.json").read_text(encoding="utf-8")
)
"""Public names of the stable packages and their signatures, as first published."""


def strangers(folder: Path, rows: Iterable[str]) -> set[str]:
    """Modules of a family's folder that are no row of the catalogue, and rows without a module."""
    slugs = {row.partition(".")[2] for row in rows if row.partition(".")[0] == folder.name}
    found = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    return found ^ slugs


@pytest.mark.parametrize("family", sorted({row.partition(".")[0] for row in CATALOGUE.values()}))
def test_a_familys_folder_holds_its_theorems_and_nothing_else(family: str) -> None:
    assert not strangers(ROOT / "theorems" / family, CATALOGUE.values())


def test_a_module_without_a_row_would_be_seen(tmp_path: Path) -> None:
    folder = tmp_path / "connection_walks"
    folder.mkdir()
    for name in ("__init__", "depth", "helpers"):
        (folder / f"{name}.py").touch()
    rows = ["connection_walks.depth", "connection_walks.gone", "attention_pairings.other"]
    assert strangers(folder, rows) == {"helpers", "gone"}


def rooms(package: Path) -> list[str]:
    """Modules and packages at the top of a package."""
    found = [path for path in package.iterdir() if path.suffix == ".py" or path.is_dir()]
    return sorted(path.stem for path in found if not path.name.startswith("__"))


def test_numerics_is_taken_in_at_a_glance() -> None:
    found = rooms(ROOT / "numerics")
    assert {"walks", "laplacians", "properties", "stress"} <= set(found)
    assert len(found) <= ROOMS, found


def circles(edges: Iterable[tuple[str, str]]) -> list[set[str]]:
    """Modules that import one another, directly or through others."""
    found = nx.strongly_connected_components(nx.DiGraph(edges))
    return [circle for circle in found if len(circle) > 1]


def _edges() -> list[tuple[str, str]]:
    return [(name, used) for name in imports.modules() for used in imports.imports_of(name)]


def _room(module: str) -> str:
    """A module's package, or the module itself where it stands at the top of numerics."""
    return ".".join(module.split(".")[:2])


@pytest.mark.slow
def test_no_import_goes_round_in_a_circle() -> None:
    edges = _edges()
    assert len(edges) > 500
    assert not circles(edges)


@pytest.mark.slow
def test_no_circle_of_rooms() -> None:
    crossing = {(_room(a), _room(b)) for a, b in _edges() if _room(a) != _room(b)}
    assert len(crossing) > 50
    assert not circles(crossing)


def test_a_circle_would_be_seen() -> None:
    assert circles([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]) == [{"a", "b", "c"}]


@pytest.mark.slow
def test_theorems_import_no_numbers_and_numerics_no_claims() -> None:
    packages = ("theorems", "numerics", "paper_checks", "benchmarks")
    backwards = [
        (a, b)
        for a, b in _edges()
        if packages.index(a.partition(".")[0]) < packages.index(b.partition(".")[0])
    ]
    assert not backwards


def misplaced(test: Path, tests: Path, root: Path) -> bool:
    """Whether tests/<folders>/test_<module>[_<aspect>].py has no <folders>/<module> beside it.

    <module> is a module or package in that folder, or the folder itself where a test is about all
    of it.
    """
    folder = test.parent.relative_to(tests)
    words = test.stem.split("_")[1:]
    names = ["_".join(words[:count]) for count in range(1, len(words) + 1)]
    here = root / folder
    found = [name == folder.name or (here / f"{name}.py").is_file() or (here / name).is_dir()
             for name in names]  # fmt: skip
    return not any(found)


def test_tests_stand_where_their_modules_stand() -> None:
    found = [path for top in MIRRORED for path in sorted((TESTS / top).rglob("test_*.py"))]
    assert len(found) > 100
    mirrored = [p for p in found if p.parent.relative_to(TESTS).as_posix() not in ABOUT_ALL]
    assert not [str(p.relative_to(TESTS)) for p in mirrored if misplaced(p, TESTS, ROOT)]
    assert all((TESTS / folder).is_dir() for folder in ABOUT_ALL)


def test_a_misplaced_test_would_be_seen() -> None:
    def seen(name: str) -> bool:
        return misplaced(TESTS / name, TESTS, ROOT)

    assert not seen("numerics/walks/test_chains.py")
    assert not seen("numerics/walks/test_walk_extremes.py")
    assert not seen("numerics/spaces/test_spaces_together.py")
    assert seen("numerics/walks/test_geodesics.py")
    assert seen("numerics/test_chains.py")


def signature(value: object) -> str:
    """What a caller relies on: a signature, the bases of an exception, or a constant's value."""
    if inspect.isclass(value) and issubclass(value, BaseException):
        return "exception " + ",".join(base.__name__ for base in value.__bases__)
    if isinstance(value, property):
        return "property"
    return str(inspect.signature(value)) if callable(value) else repr(value)


def changed(package: str, names: dict[str, str]) -> list[str]:
    """Published names of a package that are gone or have another signature."""
    module, lost = importlib.import_module(package), []
    for name, expected in names.items():
        value: object = module
        for part in name.split("."):
            value = inspect.getattr_static(value, part, None)
        if value is None or signature(value) != expected:
            lost.append(f"{package}.{name}: {value and signature(value)}, not {expected}")
    return lost


@pytest.mark.slow
@pytest.mark.parametrize("package", PUBLISHED)
def test_published_names_stay_importable_with_their_signatures(package: str) -> None:
    assert len(PUBLISHED[package]) >= 4
    assert not changed(package, PUBLISHED[package])


def test_a_name_that_is_gone_or_changed_would_be_seen() -> None:
    names = {"Walk.apply": "(self)", "gone": "()", "softmax_walk": "(logits)"}
    assert [line.partition(":")[0] for line in changed("numerics.walks", names)] == [
        "numerics.walks.Walk.apply",
        "numerics.walks.gone",
        "numerics.walks.softmax_walk",
    ]
