"""The frame stays small enough to be read in one sitting, since everything rests on it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from theorems import catalogue

PACKAGE = Path(catalogue.__file__).parent
FRAME = (
    "statement", "rules", "determinants", "sums", "exact", "world", "derive", "instances",
    "assumptions", "check",
)  # fmt: skip


def lines_of_code(source: str) -> int:
    """Lines that are neither blank, nor only comment, nor docstring."""
    text: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            first = body[0]
            if isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
                text |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = enumerate(source.splitlines(), start=1)
    return sum(
        1 for at, line in lines
        if line.strip() and not line.strip().startswith("#") and at not in text
    )  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), [
    ('"""Text."""\n\nx = 1  # a number\n# nothing\n', 1),
    ('def f():\n    """Two\n    lines."""\n    return 1\n', 2),
    ('x = """not\na docstring"""\n', 2),
])  # fmt: skip
def test_lines_of_code_are_counted(source: str, expected: int) -> None:
    assert lines_of_code(source) == expected


def test_a_statement_is_read_on_one_page() -> None:
    assert len((PACKAGE / "statement.py").read_text().splitlines()) <= 150


def test_the_frame_is_at_most_1175_lines_of_code() -> None:
    sizes = {name: lines_of_code((PACKAGE / f"{name}.py").read_text()) for name in FRAME}
    assert sum(sizes.values()) <= 1175, sizes


def test_every_file_is_under_300_lines() -> None:
    sizes = {file.name: len(file.read_text().splitlines()) for file in PACKAGE.rglob("*.py")}
    assert max(sizes.values()) < 300, sizes
