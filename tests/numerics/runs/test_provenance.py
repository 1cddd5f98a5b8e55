"""The commit and whether files differ from it, versions, the machine; what is said without them."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

from numerics.runs import provenance


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for this checkout, with its project file, not yet under git."""
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "7.8.9"\n')
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def head(root: Path) -> str:
    git(root, "init", "--quiet")
    git(root, "add", "pyproject.toml")
    git(root, "commit", "--quiet", "--message", "first")
    return git(root, "rev-parse", "HEAD")


@pytest.mark.slow
def test_a_clean_checkout_is_its_commit(root: Path, head: str) -> None:
    assert len(head) == 40
    assert provenance.commit() == head
    assert provenance.checkout(untracked=True) == (head, False)


@pytest.mark.slow
def test_a_changed_file_makes_another_of_it(root: Path, head: str) -> None:
    with (root / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    assert provenance.commit() == head + "+"
    assert provenance.checkout(untracked=False) == (head, True)


@pytest.mark.slow
def test_an_unknown_file_counts_only_where_asked(root: Path, head: str) -> None:
    """A run that leaves its results in the checkout continues as the run that it was."""
    (root / "results.json").write_text("{}")
    assert provenance.commit() == head
    assert provenance.checkout(untracked=False) == (head, False)
    assert provenance.checkout(untracked=True) == (head, True)


def test_without_git_or_a_commit_there_is_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert provenance.commit() is None
    assert provenance.checkout(untracked=True) is None
    monkeypatch.setenv("PATH", os.devnull)
    assert provenance.checkout(untracked=True) is None


@pytest.mark.slow
def test_an_installed_copy_is_no_checkout_of_what_lies_around_it(root: Path, head: str) -> None:
    (root / "pyproject.toml").unlink()
    assert provenance.commit() is None
    assert provenance.suite_version() == metadata.version("attention-geometry")


def test_a_checkout_declares_its_version(root: Path) -> None:
    assert provenance.suite_version() == "7.8.9"


def test_versions_are_those_installed() -> None:
    found = provenance.versions("numpy", "no-such-package")
    assert found == {
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
        "no-such-package": "not installed",
    }


def test_the_machine_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    line = provenance.machine("numpy", "rich")
    assert "\n" not in line
    assert " cores, OMP threads 3; Python " in line
    assert line.endswith(
        f"; Python {platform.python_version()}, numpy {metadata.version('numpy')}, "
        f"rich {metadata.version('rich')}"
    )
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert "OMP threads as many as there are; " in provenance.machine("numpy")
