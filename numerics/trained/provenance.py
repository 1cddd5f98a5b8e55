"""What numbers come from: versions of packages, and the commit of the code that measured."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("attention-geometry", "numpy", "torch", "safetensors", "tokenizers", "transformers")
ROOT = Path(__file__).resolve().parents[2]


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that the numbers depend on."""
    return {"python": platform.python_version()} | {p: _version(p) for p in PACKAGES}


def commit() -> str | None:
    """The commit of this checkout, "+" behind it where tracked files differ; None without git."""
    if not (ROOT / "pyproject.toml").is_file():
        return None  # installed: a repository around the environment is not this one
    try:
        head = _git("rev-parse", "--verify", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + ("+" if changed else "")


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
