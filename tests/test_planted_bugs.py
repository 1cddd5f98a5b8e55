"""The suite can fail: the whole command on copies of it, each with one bug planted.

The bugs stand in the .toml file of the same name. A replacement that no longer fits its source
fails too, since a stale plant shows nothing.
"""

import compileall
import json
import os
import shutil
import sys
import tomllib
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from py_compile import PycInvalidationMode

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("theorems", "numerics", "paper_checks")
REPORT = "report.json"
SHOWN = 25  # last lines of the output that a failing test shows
LIMIT = 300.0  # seconds of one command
LIBRARIES = ["flint", "hypothesis.extra.numpy", "matplotlib", "rich.console", "scipy.linalg",
             "sympy", "torch"]  # fmt: skip


@dataclass(frozen=True)
class Plant:
    """A bug: `old` replaced by `new` in `file`, or the file removed, and the failures expected."""

    name: str
    file: str
    verify: str
    expected: list[str]
    old: str | None = None
    new: str | None = None

    def put_into(self, suite: Path) -> None:
        """Change the file in a copy of the suite.

        Raises: ValueError when the replaced text does not occur exactly once.
        """
        path = suite / self.file
        if self.old is None or self.new is None:
            path.unlink()
            return
        text = path.read_text(encoding="utf-8")
        if (times := text.count(self.old)) != 1:
            raise ValueError(f"{self.name}: {self.old!r} occurs {times} times in {self.file}")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")

    def __str__(self) -> str:
        if self.old is None:
            return f"{self.name}: {self.file} removed"
        return f"{self.name}: in {self.file}\n  {self.old!r}\nreplaced by\n  {self.new!r}"


TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PLANTS = [Plant(name, **table) for name, table in TABLES.items()]


@pytest.fixture(scope="session")
def unmodified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One copy of the suite for each test process, compiled once; plants go into copies of it."""
    suite = tmp_path_factory.mktemp("unmodified")
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, suite / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", suite)
    # By hash, not by time: a plant of the same length in the same second is compiled anew.
    compileall.compile_dir(suite, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    return suite


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it said."""

    returncode: int | None
    stdout: str
    stderr: str


def _verify_in(suite: Path, arguments: list[str]) -> None:
    """The command in the copy, by a process that has imported libraries and nothing of ours."""
    if early := [name for name in PACKAGES if name in sys.modules]:
        raise ImportError(f"{', '.join(early)} came with the test, not with the copy")
    os.chdir(suite)
    sys.path.insert(0, str(suite))
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    command, workers = map(import_module, ("paper_checks.__main__", "paper_checks.workers"))
    for module in (command, workers):
        assert Path(module.__file__ or "").is_relative_to(suite), f"{module} is not the copy's"
    # What is imported by now is all that a worker needs, so it need not start from nothing.
    vars(workers)["_context"] = partial(get_context, "fork")
    sys.exit(command.main(["verify", *arguments, "--jobs", "1", "--json", REPORT]))


def verify(suite: Path, *names: str) -> Done:
    context = get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    process = context.Process(target=_verify_in, args=(suite, list(names)))
    process.start()
    process.join(LIMIT)
    if process.exitcode is None:
        process.kill()
        process.join()
        pytest.fail(f"verify {' '.join(names)} took more than {LIMIT} s")
    said = [(suite / name).read_text(encoding="utf-8") for name in ("stdout", "stderr")]
    return Done(process.exitcode, *said)


def shown(what: object, done: Done) -> str:
    """What ran, its exit status, and the end of what it said."""
    lines = [line[:300] for line in (done.stderr + done.stdout).splitlines()]
    return "\n".join([str(what), f"exit status {done.returncode}", *lines[-SHOWN:]])


def test_plants_reach_every_package_and_say_what_must_fail() -> None:
    assert {plant.file.partition("/")[0] for plant in PLANTS} == set(PACKAGES)
    silent = [plant.name for plant in PLANTS if not plant.expected or not all(plant.expected)]
    assert not silent, f"no failure is expected of {silent}"


@pytest.mark.slow
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_the_plant_fits_the_source(plant: Plant, tmp_path: Path) -> None:
    copy = tmp_path / plant.file
    copy.parent.mkdir(parents=True)
    shutil.copy(ROOT / plant.file, copy)
    plant.put_into(tmp_path)
    if copy.exists():  # a bug that Python itself refuses would be no test of the suite
        compile(copy.read_text(encoding="utf-8"), plant.file, "exec")


@pytest.mark.parametrize("text", ["", "here and here"])
def test_a_stale_plant_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "module.py").write_text(text, encoding="utf-8")
    plant = Plant("stale", "module.py", "CW1", ["CW1"], old="here", new="there")
    with pytest.raises(ValueError, match=r"stale: 'here' occurs [02] times in module\.py"):
        plant.put_into(tmp_path)


@pytest.mark.slow
def test_the_unmodified_copy_passes(unmodified: Path) -> None:
    """One theorem of a family; that all hold is what `make verify` shows of the checkout."""
    done = verify(unmodified, "CW1", "RA7")
    assert done.returncode == 0, shown("the unmodified copy", done)
    assert "FAILED" not in done.stdout + done.stderr, shown("the unmodified copy", done)
    report = json.loads((unmodified / REPORT).read_text(encoding="utf-8"))
    assert report["ok"]
    assert [record["id"] for record in report["theorems"]] == ["CW1", "RA7"]
    # Not above: the process that verifies a copy imports this module, and so nothing of ours.
    built = import_module("theorems.catalogue").CATALOGUE
    assert {plant.verify for plant in PLANTS} <= set(built)


@pytest.mark.slow
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_the_planted_bug_is_caught_and_named(
    plant: Plant, unmodified: Path, tmp_path: Path
) -> None:
    suite = shutil.copytree(unmodified, tmp_path / "suite")
    plant.put_into(suite)
    done = verify(suite, plant.verify)
    assert done.returncode == 1, shown(plant, done)
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED: ")]
    missing = [
        text for text in plant.expected
        if not any(line.startswith(f"FAILED: {text}") for line in failed)
    ]  # fmt: skip
    assert not missing, shown(f"{plant}\nno failure opens with {missing}", done)
    assert not json.loads((suite / REPORT).read_text(encoding="utf-8"))["ok"], shown(plant, done)
