"""A report is shown beside the statements that it judged, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sympy import Integer

from paper_checks import appendix, page
from paper_checks.__main__ import main
from paper_checks.papers import attention_geometry
from paper_checks.report import Report, TheoremRecord, Unusable, to_json
from paper_checks.statements import refuse_other_statements
from theorems import catalogue
from theorems.statement import Assumption, Clause, Mutant, Step, Theorem

CHANGES: dict[str, tuple[type, dict[str, Any]]] = {
    "a sentence": (Clause, {"statement": "Another."}),
    "a step": (Step, {"rhs": Integer(0)}),
    "a hypothesis": (Assumption, {"rules": ()}),
    "a mutant": (Mutant, {"drop": ()}),
}


@pytest.fixture
def old(report: Report, record_of: Callable[..., TheoremRecord]) -> Report:
    """A report on CW1 and CW6 with all claims."""
    return replace(report, theorems=(record_of("CW1"), record_of("CW6")))


@pytest.fixture
def state(
    changed: Callable[..., Theorem], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    """state(change): let CW1 be stated with one of CHANGES."""
    load = catalogue.load

    def make(change: str) -> None:
        kind, changes = CHANGES[change]
        other = changed(load("CW1"), kind, **changes)
        monkeypatch.setattr(catalogue, "load", lambda i: other if i == "CW1" else load(i))

    return make


def test_a_report_of_the_same_statements_is_shown(old: Report) -> None:
    refuse_other_statements(old)


@pytest.mark.parametrize("change", CHANGES)
def test_a_report_of_another_theorem_is_refused_by_name(
    change: str, old: Report, state: Callable[[str], None]
) -> None:
    state(change)
    message = (
        r"^CW1: the report is of another statement "
        r"\(digest [0-9a-f]{12} against [0-9a-f]{12}\): verify again$"
    )
    for render in (refuse_other_statements, page.render, appendix.render):
        with pytest.raises(Unusable, match=message):
            render(old)


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("CLAIMS", {"statement": "Another claim."}),
        ("CLAIMS", {"reading": "Another reading."}),
        ("EVIDENCE", {"holds": ("CW1",)}),
        ("EVIDENCE", {"added": ("another hypothesis",)}),
    ],
)
def test_a_report_of_another_claim_is_refused_by_name(
    part: str, changes: dict[str, Any], old: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "attention-geometry/single-head"
    if part == "CLAIMS":
        found = tuple(replace(c, **changes) if c.id == name else c
                      for c in attention_geometry.CLAIMS)  # fmt: skip
    else:
        found = dict(attention_geometry.EVIDENCE)
        found[name] = replace(found[name], **changes)
    monkeypatch.setattr(attention_geometry, part, found)
    with pytest.raises(Unusable, match=rf"^{name}: the report is of another statement \(digest"):
        refuse_other_statements(old)


def test_a_report_of_what_is_no_longer_stated_is_refused(
    old: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        # Another dictionary: an entry deleted and put back stands at the end.
        rest = {key: row for key, row in catalogue.CATALOGUE.items() if key != "CW6"}
        patched.setattr(catalogue, "CATALOGUE", rest)
        with pytest.raises(Unusable, match=r"does not fit this version: .*CW6"):
            refuse_other_statements(old)
    kept = tuple(c for c in attention_geometry.CLAIMS if not c.id.endswith("/single-head"))
    monkeypatch.setattr(attention_geometry, "CLAIMS", kept)
    with pytest.raises(Unusable, match="no claim attention-geometry/single-head"):
        refuse_other_statements(old)


def test_the_command_says_so_in_one_line_and_exits_2(
    old: Report, state: Callable[[str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "report.json").write_text(to_json(old), encoding="utf-8")
    words = ["appendix", "--out", str(tmp_path / "a.tex"), "--json", str(tmp_path / "report.json")]
    assert main(words) == 0
    (tmp_path / "a.tex").unlink()
    capsys.readouterr()
    state("a sentence")
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("attention-geometry appendix: CW1: the report is of another statement")
    assert not (tmp_path / "a.tex").exists()
