"""The size of what must be right for a derivation to be: the checker and its language."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "theorems"
LANGUAGE = ("statement.py", "rules.py")
WHAT = "theorems/checker, " + ", ".join(f"theorems/{name}" for name in LANGUAGE)
LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
          tokenize.ENDMARKER)  # fmt: skip


def trusted_files(package: Path = PACKAGE) -> list[Path]:
    """The files of the checker, and those that say what a theorem and a rule of inference are."""
    return [*sorted((package / "checker").rglob("*.py")), *(package / name for name in LANGUAGE)]


def trusted_lines(package: Path = PACKAGE) -> int:
    """How many lines of code the trusted files have."""
    return sum(lines_of_code(file.read_text("utf-8")) for file in trusted_files(package))


def lines_of_code(source: str) -> int:
    """How many lines are neither blank nor comment nor docstring."""
    docstrings = list(_docstrings(ast.parse(source)))
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        documents = token.type == tokenize.STRING and any(
            start <= token.start < end for start, end in docstrings
        )
        if token.type not in LAYOUT and not documents:
            found.update(range(token.start[0], token.end[0] + 1))
    return len(found)


def _docstrings(tree: ast.Module) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where the docstrings of a module and of all that it defines begin and end."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, owners) and ast.get_docstring(node) is not None:
            text = node.body[0]
            yield (
                (text.lineno, text.col_offset),
                (text.end_lineno or text.lineno, text.end_col_offset or text.col_offset),
            )
