"""The import graph sees every form of an import, and a digest changes with what it rests on."""

import subprocess
import sys
from pathlib import Path

import pytest

from numerics.runs import imports
from numerics.runs.imports import closure, digest, imports_of, modules

SOURCES = {
    "numerics/__init__.py": "",
    "numerics/arrays.py": "import math\n",
    "numerics/rows.py": "from numerics import arrays\n",
    "numerics/walks/__init__.py": "from numerics.walks.walk import walk\n",
    "numerics/walks/walk.py": "from ..rows import total\nfrom . import gauges\n",
    "numerics/walks/gauges.py": "import numerics.arrays as xp\n",
    "numerics/case.py": "from numerics.walks.walk import walk\n",
    "numerics/user.py": "from numerics.walks import walk_matrix\n",
    "numerics/lazy.py": "def late():\n    from numerics import case\n",
    "numerics/circle.py": "import numerics.other\n",
    "numerics/other.py": "import numerics.circle\n",
    "theorems/__init__.py": "",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


def test_modules_are_named_as_they_are_imported(project: Path) -> None:
    assert set(modules(project)) == {
        "numerics", "numerics.arrays", "numerics.rows", "numerics.walks", "numerics.walks.walk",
        "numerics.walks.gauges", "numerics.case", "numerics.user", "numerics.lazy",
        "numerics.circle", "numerics.other", "theorems",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("arrays", set()),
        ("rows", {"arrays"}),
        ("walks", {"walks.walk"}),
        ("walks.walk", {"rows", "walks.gauges"}),
        ("walks.gauges", {"arrays"}),
        ("case", {"walks.walk"}),
        ("user", {"walks"}),
        ("lazy", {"case"}),
    ],
)
def test_every_form_of_an_import_is_seen(project: Path, module: str, expected: set[str]) -> None:
    assert imports_of(f"numerics.{module}", project) == {f"numerics.{name}" for name in expected}


def test_a_closure_holds_what_is_imported_by_way_of_others(project: Path) -> None:
    inner = {"walks.walk", "walks.gauges", "rows", "arrays"}
    assert closure("numerics.case", project) == {f"numerics.{x}" for x in {"case", *inner}}
    # A package is part of it where names are taken from it, not where an import passes it.
    assert closure("numerics.user", project) == {f"numerics.{x}" for x in {"user", "walks", *inner}}
    assert closure("numerics.circle", project) == {"numerics.circle", "numerics.other"}


def changed(project: Path, module: str, text: str) -> str:
    """The digest of numerics.case after a module has another text."""
    (project / f"numerics/{module}.py").write_text(text, encoding="utf-8")
    for function in (modules, imports_of, closure):
        function.cache_clear()
    return digest("numerics.case", root=project)


@pytest.mark.parametrize("module", ["case", "walks/walk", "walks/gauges", "arrays"])
def test_a_change_inside_the_closure_changes_the_digest(project: Path, module: str) -> None:
    before = digest("numerics.case", root=project)
    assert changed(project, module, SOURCES[f"numerics/{module}.py"] + "x = 1\n") != before


@pytest.mark.parametrize("module", ["lazy", "walks/__init__", "planted"])
def test_a_change_outside_the_closure_does_not(project: Path, module: str) -> None:
    before = digest("numerics.case", root=project)
    assert changed(project, module, "x = 1\n") == before


def test_a_planted_module_counts_once_it_is_imported(project: Path) -> None:
    changed(project, "planted", "x = 1\n")
    before = changed(project, "rows", "from numerics import planted\n")
    assert "numerics.planted" in closure("numerics.case", project)
    assert changed(project, "planted", "x = 2\n") != before


def test_code_that_moves_from_one_module_to_another_changes_the_digest(project: Path) -> None:
    before = digest("numerics.case", root=project)
    changed(project, "arrays", "")
    assert changed(project, "rows", "import math\nfrom numerics import arrays\n") != before


def test_what_is_no_module_of_the_project_is_refused(project: Path) -> None:
    with pytest.raises(ValueError, match=r"must be one of the project's, got 'numerics\.absent'"):
        closure("numerics.absent", project)
    (project / "numerics/torn.py").write_text("def", encoding="utf-8")
    modules.cache_clear()
    with pytest.raises(ValueError, match=r"must parse, got 'numerics\.torn'"):
        closure("numerics.torn", project)


@pytest.mark.slow
@pytest.mark.parametrize("module", ["numerics.walks.transports", "numerics.stress"])
def test_nothing_that_python_loads_is_missed(module: str) -> None:
    """Python executes the packages on the way too: with them the imports are all that is loaded."""
    script = f"import sys, {module}\nprint(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True,
        cwd=imports.ROOT,
    ).stdout.split()  # fmt: skip
    found, waiting = set[str](), {module}
    while waiting:
        found |= waiting
        passed = {name.rpartition(".")[0] for name in waiting} - {""}
        waiting = passed.union(*map(imports_of, waiting)) - found
    assert modules().keys() & set(loaded) <= found
    assert len(found) >= 3
