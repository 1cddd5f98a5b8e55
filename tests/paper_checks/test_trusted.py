"""The trusted base: how large it is, that a report says so, and that it rests on nothing else."""

from __future__ import annotations

import ast
import io
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from paper_checks import appendix, page, terminal
from paper_checks.report import Report
from paper_checks.trusted import PACKAGE, lines_of_code, trusted_files, trusted_lines

SOURCE = '''"""Module.

Of some lines.
"""

import os  # counted


class Kept:
    "One line."

    text = """two
    lines"""  # both counted, and the name before them

    def method(self):
        """Docstring
        of two lines."""
        # a comment
        return (
            1,

            "a string that is no docstring",
        )
'''
COUNTED = 9
OUTSIDE = {
    "from theorems import catalogue": "theorems.catalogue",
    "from theorems.assumptions.constructions import reflection": "theorems.assumptions",
    "import numpy": "numpy",
    "from .. import connection_walks": "relative",
}
ALLOWED = ("theorems.checker", "theorems.statement", "theorems.rules")
LIBRARIES = ("sympy", "flint")


def outside(source: str) -> list[str]:
    """The imports of a source that leave the trusted base, its libraries and the standard ones."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            found.append("relative")
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found += (
                [f"{module}.{a.name}" for a in node.names] if module == "theorems" else [module]
            )
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return [name for name in found
            if not any(f"{name}.".startswith(f"{home}.") for home in (*ALLOWED, *LIBRARIES))
            and name.partition(".")[0] not in sys.stdlib_module_names]  # fmt: skip


def test_lines_of_code_are_neither_blank_nor_comment_nor_docstring() -> None:
    assert lines_of_code(SOURCE) == COUNTED
    assert lines_of_code("") == 0
    assert lines_of_code('"""Only a docstring."""\n\n# and a comment\n') == 0


def test_the_files_are_the_checker_and_the_language(tmp_path: Path) -> None:
    names = [path.relative_to(PACKAGE).as_posix() for path in trusted_files()]
    checker = sorted(path.name for path in (PACKAGE / "checker").iterdir() if path.suffix == ".py")
    assert names == [*(f"checker/{name}" for name in checker), "statement.py", "rules.py"]
    assert {"derive.py", "sums.py", "wellformed.py", "lint.py"} <= set(checker)
    (tmp_path / "checker" / "deeper").mkdir(parents=True)
    for file in ("checker/a.py", "checker/deeper/b.py", "statement.py", "rules.py", "catalogue.py"):
        (tmp_path / file).write_text(SOURCE, encoding="utf-8")
    assert trusted_lines(tmp_path) == 4 * COUNTED


@pytest.mark.parametrize("path", trusted_files(), ids=lambda path: path.name)
def test_a_trusted_file_imports_nothing_that_is_not(path: Path) -> None:
    assert outside(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("line", OUTSIDE)
def test_an_import_from_outside_is_seen(line: str) -> None:
    (found,) = outside(f"import ast\nfrom theorems.rules import Induction\n{line}\n")
    assert found.startswith(OUTSIDE[line])


@pytest.mark.slow
def test_every_rendering_says_how_large_it_is(report: Report) -> None:
    assert report.suite.trusted_lines == trusted_lines() > 0
    other = replace(report, theorems=(), suite=replace(report.suite, trusted_lines=98765))
    shown = "trusted: 98765 lines (theorems/checker, theorems/statement.py, theorems/rules.py)"
    assert shown in page.render(other)
    assert shown in appendix.render(other).replace(r"\allowbreak{}", "")
    for on_a_terminal in (True, False):
        stream = io.StringIO()
        terminal.print_report(other, Console(file=stream, force_terminal=on_a_terminal, width=200))
        assert shown in stream.getvalue().splitlines()
