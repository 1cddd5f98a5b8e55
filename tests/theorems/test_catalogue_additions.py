"""A theorem is added by two files of one slug and one row; a missing half is one clear line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SLUG = "connection_walks.shifted_means"


def example(path: str) -> str:
    """The file that the page shows under this path."""
    _, found, rest = PAGE.partition(f"`{path}`:\n\n```python\n")
    assert found, f"CONTRIBUTING.md shows no {path}"
    return rest.partition("```")[0]


ROW = f'\nCATALOGUE["EX1"] = "{SLUG}"\n'
HALVES = {
    path: example(path)
    for path in (f"theorems/{SLUG.replace('.', '/')}.py", "numerics/properties/shifted_means.py")
}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A copy of the packages with the example theorem added."""
    for package in ("theorems", "numerics", "paper_checks"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=lambda *_: ["__pycache__"])
    for name, text in HALVES.items():
        (tmp_path / name).write_text(text)
    with (tmp_path / "theorems/catalogue.py").open("a") as stream:
        stream.write(ROW)
    return tmp_path


def run(suite: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "paper_checks", *words]
    environment = {**os.environ, "PYTHONPATH": str(suite)}
    return subprocess.run(command, cwd=suite, env=environment, capture_output=True, text=True,
                          timeout=100, check=False)  # fmt: skip


@pytest.mark.slow
def test_two_files_and_a_row_add_a_theorem(suite: Path) -> None:
    assert f'"EX1": "{SLUG}",' in PAGE
    done = run(suite, "verify", "EX1", "--json", "report.json")
    assert done.returncode == 0, done.stdout + done.stderr
    (record,) = json.loads((suite / "report.json").read_text())["theorems"]
    assert record["id"] == "EX1"
    assert record["ok"]
    assert record["level"] == "G"
    assert (record["mutants_refuted"], record["property_examples"]) == (1, 200)


FAULTS = {
    **{f"no {half}": f"{half} is missing" for half in HALVES},
    "another id": "theorems/connection_walks/gated_mixture.py defines CW2",
}


@pytest.fixture(params=FAULTS)
def fault(request: pytest.FixtureRequest, suite: Path) -> str:
    """A fault of the copy, by the line that must name it."""
    if (half := request.param.removeprefix("no ")) in HALVES:
        (suite / half).unlink()
    else:
        with (suite / "theorems/catalogue.py").open("a") as stream:
            stream.write(ROW.replace("shifted_means", "gated_mixture"))
    return FAULTS[request.param]


@pytest.mark.slow
def test_a_missing_half_is_one_clear_line_and_unusable_input(suite: Path, fault: str) -> None:
    done = run(suite, "show", "EX1")
    assert done.returncode == 2, done.stdout + done.stderr
    assert not done.stdout
    (line,) = done.stderr.strip().splitlines()
    assert line.endswith(f"EX1: {fault}"), line


@pytest.mark.slow
def test_a_missing_half_fails_the_run_with_one_line(suite: Path, fault: str) -> None:
    done = run(suite, "verify", "EX1")
    assert done.returncode == 1, done.stdout + done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("FAILED: "))
    assert line.endswith(f"EX1: {fault}"), line


@pytest.mark.slow
@pytest.mark.parametrize("command", ["show", "verify"])
def test_a_missing_row_is_one_clear_line(suite: Path, command: str) -> None:
    catalogue = suite / "theorems/catalogue.py"
    catalogue.write_text(catalogue.read_text().removesuffix(ROW))
    done = run(suite, command, "EX1")
    assert done.returncode == 2, done.stdout + done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert "EX1" in line
