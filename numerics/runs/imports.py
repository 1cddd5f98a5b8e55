"""The import graph of this project, read from its sources: the code that a result rests on.

Nothing is imported. An import inside a function counts as one at the top, and one for the type
checker as one that is executed. A package that an import only passes on its way to a module does
not count: its `__init__` lends names and computes nothing. A module named in a string, as for
importlib.import_module, is not seen.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("benchmarks", "numerics", "paper_checks", "theorems")


@cache
def modules(root: Path = ROOT) -> dict[str, Path]:
    """The files of the project's modules, by name; a package is named by its folder.

    They are those of PACKAGES that lie in `root`, whatever is installed elsewhere.
    """
    files = (file for package in PACKAGES for file in sorted((root / package).rglob("*.py")))
    return {_name(file.relative_to(root)): file for file in files}


def _name(file: Path) -> str:
    parts = file.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_of(module: str, root: Path = ROOT) -> frozenset[str]:
    """The project's modules that a module imports itself.

    `from package import name` imports the module package.name where there is one, else the package.
    Raises ValueError for a module that the project has not, or a file that does not parse.
    """
    known = modules(root)
    if module not in known:
        raise ValueError(f"module must be one of the project's, got {module!r}")
    file = known[module]
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError as error:
        raise ValueError(f"module must parse, got {module!r}: {error}") from None
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    found = {name for node in ast.walk(tree) for name in _imported(node, package, known)}
    return frozenset(found & known.keys()) - {module}


def _imported(node: ast.AST, package: str, known: dict[str, Path]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[: -(node.level - 1) or None] if node.level else []
        home = ".".join([*above, *([node.module] if node.module else [])])
        for alias in node.names:
            inner = f"{home}.{alias.name}"
            yield inner if inner in known else home


@cache
def closure(module: str, root: Path = ROOT) -> frozenset[str]:
    """The module and all of the project's that it imports, by way of others too.

    Raises ValueError as `imports_of`.
    """
    found, waiting = {module}, [module]
    while waiting:
        fresh = imports_of(waiting.pop(), root) - found
        found |= fresh
        waiting += fresh
    return frozenset(found)


def digest(*names: str, root: Path = ROOT) -> str:
    """Twelve hexadecimal digits over the sources of modules and of all that they import.

    Raises ValueError as `imports_of`.
    """
    rests_on = frozenset[str]().union(*(closure(name, root) for name in names))
    state = hashlib.sha256()
    for name in sorted(rests_on):
        source = modules(root)[name].read_bytes()
        state.update(f"{name} {len(source)}\n".encode() + source)
    return state.hexdigest()[:12]
