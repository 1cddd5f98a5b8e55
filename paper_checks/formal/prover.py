"""The proof assistant: where it is, and its answers for sources, kept by their content."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from paper_checks.formal.source import required

INSTALL = (
    "install Rocq (Coq) and Mathematical Components: "
    "`sudo apt-get install --no-install-recommends coq libcoq-mathcomp-algebra` on Debian and "
    "Ubuntu, `opam install coq-mathcomp-algebra` elsewhere"
)
MARK = "== "  # opens a line of a source's own among what the prover prints
TIMEOUT = 300  # seconds a file
LIBRARY = "user-contrib/mathcomp/algebra/ssrnum.vo"


@dataclass(frozen=True)
class Prover:
    """A compiler of proofs, and a text that changes with it and with its library."""

    command: tuple[str, ...]
    version: str


def find_prover() -> Prover | None:
    """The prover on the path together with its library, or None."""
    for name, words in (("coqc", ()), ("rocq", ("compile",))):
        if (path := shutil.which(name)) is None:
            continue
        asked = [path, "--version"], [path, *words, "-where"]
        version, where = (
            subprocess.run(a, capture_output=True, text=True, check=False).stdout.strip()
            for a in asked
        )
        places = [Path(where) / LIBRARY, *_on_search_path()]
        if library := next((p for p in places if p.is_file()), None):
            stamp = f"{version}\n{library}\n{library.stat().st_mtime_ns}"
            return Prover((path, *words), stamp)
    return None


def _on_search_path() -> Iterable[Path]:
    """Where environments such as nix keep the library."""
    for variable in ("COQPATH", "ROCQPATH"):
        for folder in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(folder) / LIBRARY.removeprefix("user-contrib/")


@dataclass(frozen=True)
class Answer:
    """What compiling a source gave: where the result lies, what was printed, what was wrong."""

    folder: Path | None
    printed: str
    error: str


class Compiler:
    """Compiles sources, each once for its content and that of everything it requires."""

    def __init__(self, prover: Prover, sources: Mapping[str, str], build: Path) -> None:
        self._prover, self._sources, self._build = prover, sources, build
        self._answers: dict[str, Answer] = {}

    def compile(self, names: Iterable[str], jobs: int) -> dict[str, Answer]:
        """Compile sources and what they require, `jobs` at a time."""
        graph: dict[str, list[str]] = {}
        open_names = list(names)
        while open_names:
            name = open_names.pop()
            if name not in graph and name in self._sources:
                graph[name] = required(self._sources[name])
                open_names += graph[name]
        waves = TopologicalSorter(graph)
        try:
            waves.prepare()
        except CycleError as error:
            circle = ", ".join(error.args[1])
            return {name: Answer(None, "", f"require each other: {circle}") for name in graph}
        with ThreadPoolExecutor(jobs) as pool:
            while waves.is_active():
                ready = waves.get_ready()
                for name, answer in zip(ready, pool.map(self._one, ready), strict=True):
                    self._answers[name] = answer
                waves.done(*ready)
        return dict(self._answers)

    def _closure(self, name: str) -> list[str]:
        """Everything that a source requires, directly or not, in a fixed order."""
        found: dict[str, None] = {}
        for used in required(self._sources[name]):
            for deeper in self._closure(used) if used in self._sources else ():
                found[deeper] = None
            found[used] = None
        return list(found)

    def _one(self, name: str) -> Answer:
        if name not in self._sources:
            return Answer(None, "", f"formal/{name}.v is missing")
        before = {used: self._answers[used] for used in self._closure(name)}
        if broken := [used for used, answer in before.items() if answer.folder is None]:
            return Answer(None, "", f"requires {broken[0]}, which does not compile")
        folders = [str(answer.folder) for answer in before.values()]
        content = "\0".join((self._prover.version, name, self._sources[name], *folders))
        home = self._build / hashlib.sha256(content.encode()).hexdigest()[:32]
        known = (home / "printed").is_file()
        if not known and (error := self._compile_into(home, name, folders)):
            return Answer(None, "", error)
        return Answer(home, (home / "printed").read_text(encoding="utf-8"), "")

    def _compile_into(self, home: Path, name: str, folders: list[str]) -> str:
        """Compile beside the final place and move the whole there; what was wrong, if anything."""
        self._build.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._build) as scratch:
            work = Path(scratch) / "result"
            work.mkdir()
            (work / f"{name}.v").write_text(self._sources[name], encoding="utf-8")
            paths = [word for folder in (*folders, str(work))
                     for word in ("-Q", folder, "AttentionGeometry")]  # fmt: skip
            command = [*self._prover.command, "-q", "-w", "none", *paths, str(work / f"{name}.v")]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT,
                                      check=False)  # fmt: skip
            except subprocess.TimeoutExpired:
                return f"took more than {TIMEOUT} s"
            if done.returncode:
                answered = re.findall(rf"(?m)^{MARK}.*", done.stdout)[-1:]
                return "\n".join([*answered, done.stderr.replace(f"{work}/", "").strip()])
            (work / "printed").write_text(done.stdout, encoding="utf-8")
            try:
                work.rename(home)
            except OSError:
                if not (home / "printed").is_file():  # else another process was first
                    raise
        return ""
