"""A theorem's title is written once, in the theorem: what else shows it is compared with it."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from theorems.catalogue import CATALOGUE, load

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


def heading(identifier: str) -> str:
    return f"{identifier}. {load(identifier).title}."


@pytest.mark.parametrize("identifier", CATALOGUE)
def test_a_module_opens_with_its_theorems_title(identifier: str) -> None:
    text = import_module(f"theorems.{CATALOGUE[identifier]}").__doc__ or ""
    assert text.splitlines()[0] == heading(identifier)


@pytest.mark.parametrize("identifier", CATALOGUE)
def test_a_module_restates_no_clause(identifier: str) -> None:
    """Clauses stand in the theorem alone: a second wording would drift."""
    text = import_module(f"theorems.{CATALOGUE[identifier]}").__doc__ or ""
    first = {line.split()[0] for line in text.splitlines() if line and not line.startswith(" ")}
    assert not first & {clause.name for clause in load(identifier).clauses}


def test_the_table_of_the_readme_is_the_catalogue() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Z]{2}\d+) \| (.*) \|$", text, flags=re.MULTILINE)
    assert rows == [(identifier, load(identifier).title) for identifier in CATALOGUE]


def test_formal_statements_are_headed_by_the_titles() -> None:
    text = (ROOT / "formal" / "statements.v").read_text(encoding="utf-8")
    found = re.findall(r"^\(\* ([A-Z]{2}\d+\. .*?) \*\)$", text, flags=re.MULTILINE)
    stated = set(re.findall(r"^Theorem ([A-Z]{2}\d+)_", text, flags=re.MULTILINE))
    assert found == [heading(identifier) for identifier in CATALOGUE if identifier in stated]
