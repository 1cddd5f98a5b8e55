"""What the project says about itself is so: packages, pins, citation, changelog, habits."""

import importlib
import re
import subprocess
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("theorems", "numerics", "paper_checks")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# The brackets keep this pattern from finding itself.
MACHINE_PATH = re.compile(r"(?<![\w.}~])/(wor[k]|roo[t]|tm[p]|hom[e]/\w+|User[s]/\w+)/")


def pins() -> dict[str, str]:
    """Distribution name -> exact version, from constraints.txt; any other line is an error."""
    found = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            match = re.fullmatch(r"([\w.-]+)==([\w.]+)", line)
            assert match, f"constraints.txt: {line!r} is not an exact pin"
            found[canonicalize_name(match[1])] = match[2]
    return found


def direct_requirements() -> list[Requirement]:
    """Everything that pyproject.toml asks for, extras included."""
    extras = PROJECT["optional-dependencies"].values()
    return [Requirement(r) for group in (PROJECT["dependencies"], *extras) for r in group]


def required_distributions() -> set[str]:
    """Names of all distributions that the direct requirements bring on every platform."""
    seen: set[tuple[str, str]] = set()
    todo = [
        (canonicalize_name(r.name), extra)
        for r in direct_requirements()
        for extra in ("", *r.extras)
    ]
    while todo:
        name, extra = todo.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for text in metadata.requires(name) or []:
            r = Requirement(text)
            # What only some platforms need cannot be pinned from another one.
            if r.marker and (
                "platform" in str(r.marker) or not r.marker.evaluate({"extra": extra})
            ):
                continue
            todo += [(canonicalize_name(r.name), e) for e in ("", *r.extras)]
    return {name for name, _ in seen}


def tracked_files() -> list[Path]:
    """Files under version control or about to be; needs a git checkout."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode:
        pytest.skip("not a git checkout, so nothing says which files belong; runs in a clone")
    files = [ROOT / name for name in listing.stdout.split("\0") if name]
    return [path for path in files if path.is_file()]


def machine_paths(text: str) -> list[str]:
    """Lines that name a folder of somebody's machine."""
    return [line for line in text.splitlines() if MACHINE_PATH.search(line)]


def modules() -> Iterator[Path]:
    for folder in (*PACKAGES, "tests", "notebooks"):
        yield from sorted((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_package_imports_from_this_checkout(package: str) -> None:
    spec = importlib.import_module(package).__spec__
    assert spec
    assert spec.submodule_search_locations
    assert str(ROOT / package) in list(spec.submodule_search_locations)


def test_console_command_is_the_module_main() -> None:
    module, name = PROJECT["scripts"]["attention-geometry"].split(":")
    assert callable(getattr(importlib.import_module(module), name))


@pytest.mark.slow
@pytest.mark.parametrize("requirement", direct_requirements(), ids=lambda r: r.name)
def test_direct_requirement_has_an_exact_pin_within_its_range(requirement: Requirement) -> None:
    version = pins().get(canonicalize_name(requirement.name))
    assert version, f"constraints.txt does not pin {requirement.name}"
    assert requirement.specifier.contains(version), f"pinned to {version}, wanted {requirement}"


@pytest.mark.slow
def test_everything_installed_is_pinned() -> None:
    assert not required_distributions() - pins().keys()


def test_citation_names_this_version_and_licence() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["title"] == PROJECT["name"]
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    for reference in citation["references"]:
        assert {"type", "title", "authors"} <= reference.keys(), reference


def test_changelog_has_this_version_on_top() -> None:
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == PROJECT["version"]


def test_readme_names_only_make_targets_that_exist() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = re.findall(r"(?:^|`)make ([a-z]+)", readme, re.MULTILINE)
    assert {"verify", "test"} <= set(named) <= targets


def test_the_examples_of_the_readme_run_and_say_what_they_say(
    capsys: pytest.CaptureFixture[str],
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for example in (examples := re.findall(r"```python\n(.*?)```", readme, re.DOTALL)):
        exec(compile(example, "README.md", "exec"), names)
    assert len(examples) == 3
    printed = capsys.readouterr().out.splitlines()
    assert "defect=0.25193" in printed[1]
    assert printed[2] == "transient states"
    assert printed[-1] == "(6, 3)"
    for line in printed[-3:-1]:  # a layer contracts, and scores spread no more than tokens
        left, right = map(float, line.split(" <= "))
        assert 0 < left <= right


@pytest.mark.slow
def test_no_tracked_file_names_a_folder_of_one_machine() -> None:
    files = tracked_files()
    assert ROOT / "pyproject.toml" in files
    found = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # fonts and other binary data
        found += [f"{path.relative_to(ROOT)}: {line}" for line in machine_paths(text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", ["work", "root", "tmp", "home/ada", "Users/ada"])
def test_a_planted_machine_path_is_found(folder: str) -> None:
    assert machine_paths(f'open("/{folder}/data.npy")')
    assert machine_paths(f"see /{folder}/notes")
    assert not machine_paths(f"https://example.org/{folder}/page")
    assert not machine_paths(f"build/{folder}/page and notebooks/{folder}/page")


def test_modules_are_named_after_what_they_hold() -> None:
    found = list(modules())
    assert Path(__file__) in found
    vague = [p for p in found if p.stem in {"utils", "util", "helpers", "helper", "misc"}]
    assert not vague, f"a name that says nothing: {vague}"
