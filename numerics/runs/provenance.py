"""Where numbers come from: the commit of this checkout, versions of packages, the machine."""

from __future__ import annotations

import os
import platform
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

SUITE = "attention-geometry"
ROOT = Path(__file__).resolve().parents[2]


def checkout(untracked: bool) -> tuple[str, bool] | None:
    """The commit of this checkout, and whether files differ from it; None without git.

    With `untracked`, files that git neither knows nor ignores differ too. A run that may read such
    files asks for it; one that leaves its results among them does not.
    """
    if not _is_checkout():
        return None  # installed: a repository around the environment is not this one
    files = "normal" if untracked else "no"
    try:
        head = _git("rev-parse", "--verify", "HEAD")
        changed = _git("status", "--porcelain", f"--untracked-files={files}")
    except (OSError, subprocess.CalledProcessError):
        return None
    return head, bool(changed)


def commit() -> str | None:
    """The commit of this checkout, "+" behind it where tracked files differ; None without git."""
    if (found := checkout(untracked=False)) is None:
        return None
    head, changed = found
    return head + ("+" if changed else "")


def suite_version() -> str:
    """The version that this checkout declares, or the one installed."""
    if _is_checkout():
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        return str(project["project"]["version"])
    return _version(SUITE)


def versions(*packages: str) -> dict[str, str]:
    """Versions of Python and of packages; "not installed" where there is none."""
    return {"python": platform.python_version()} | {name: _version(name) for name in packages}


def machine(*packages: str) -> str:
    """Processor, cores that this process may use, threads allowed, and versions, as one line."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor() or platform.machine()
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count()
    threads = os.environ.get("OMP_NUM_THREADS", "as many as there are")
    python, *others = versions(*packages).items()
    found = [f"Python {python[1]}", *(" ".join(item) for item in others)]
    return f"{name}, {cores} cores, OMP threads {threads}; {', '.join(found)}"


def _is_checkout() -> bool:
    return (ROOT / "pyproject.toml").is_file()


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
