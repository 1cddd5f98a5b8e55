"""A record is stale when code that its case imports changed, and only then."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from numerics import stress
from numerics.runs import imports
from numerics.stress.cases import checked_cell, code_version
from numerics.stress.command import finished

# The package has a function of that name.
cases: Any = import_module("numerics.stress.cases")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources, which the versions are read from."""
    for file in imports.modules().values():
        copy = tmp_path / file.relative_to(imports.ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    honest = imports.digest
    monkeypatch.setattr(cases.imports, "digest", lambda *names: honest(*names, root=tmp_path))
    monkeypatch.setattr(cases, "code_version", code_version.__wrapped__)
    return tmp_path


def changed(project: Path, module: str, text: str = "\nplanted = 1\n") -> None:
    file = project / f"{module.replace('.', '/')}.py"
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    file.write_text(before + text, encoding="utf-8")
    for function in (imports.modules, imports.imports_of, imports.closure):
        function.cache_clear()


def versions() -> dict[str, str]:
    return {theorem: cases.code_version(theorem) for theorem in stress.cases()}


ALL = set(stress.cases())
CHANGES = {
    "numerics.arrays": ALL,
    "numerics.blockwise": ALL,
    "numerics.evidence.comparison": ALL,
    "numerics.stress.evaluation": ALL,
    "numerics.stress.cell": ALL,
    "numerics.runs.ranks": ALL,
    "numerics.inputs": {"RA2", "AP5", "AP7"},
    "numerics.scores.exact_rank": {"RA2"},
    "numerics.stress.inputs": {"CW1", "CW2", "CW7", "CW11", "AP1"},
    "numerics.stress.theorems.distance_cost": {"RA3", "RA7"},
    "numerics.stress.theorems.woodbury": {"RA6"},
    "numerics.stress.plots": set(),
    "numerics.stress.command": set(),
    "numerics.trained.session": set(),
    "theorems.rules": set(),
}


@pytest.mark.slow
@pytest.mark.parametrize("module", CHANGES)
def test_a_change_makes_stale_what_imports_it_and_nothing_else(project: Path, module: str) -> None:
    before = versions()
    changed(project, module)
    after = versions()
    assert {name for name in ALL if after[name] != before[name]} == CHANGES[module]


@pytest.mark.slow
def test_a_record_is_finished_until_a_planted_module_that_it_imports_changes(project: Path) -> None:
    def cell() -> stress.Cell:
        return checked_cell("RA6", "inverse", 4, 4, 1, "float32", "cpu", 0)

    record = {**cell().record(), "status": "ok"}
    changed(project, "numerics.planted")
    assert finished([record], cell()) == record
    changed(project, "numerics.stress.theorems.woodbury", "\nfrom numerics import planted\n")
    assert finished([record], cell()) is None
    record = {**cell().record(), "status": "ok"}
    changed(project, "numerics.planted", "planted = 2\n")
    assert finished([record], cell()) is None
    other = checked_cell("RA7", None, 4, 4, 1, "float32", "cpu", 0)
    changed(project, "numerics.planted", "planted = 3\n")
    assert checked_cell("RA7", None, 4, 4, 1, "float32", "cpu", 0) == other


def test_the_version_covers_how_the_case_is_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {code_version.__wrapped__("RA6")}
    honest = stress.cases()["RA6"]
    for change in ({"products": "stored"}, {"exact": True}):
        other = stress.Case(**{**vars(honest), **change})
        monkeypatch.setattr(cases, "cases", lambda other=other: {"RA6": other})
        found.add(code_version.__wrapped__("RA6"))
    monkeypatch.undo()
    monkeypatch.setattr(cases.torch, "__version__", "0.0")
    found.add(code_version.__wrapped__("RA6"))
    assert len(found) == 4
