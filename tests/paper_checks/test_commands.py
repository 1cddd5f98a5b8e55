"""The command line: exit statuses, one clear line where something is wrong, whole files."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from paper_checks import __main__, commands, run
from paper_checks.__main__ import main
from paper_checks.claims import FAILED
from paper_checks.papers.list import PAPERS, family_of
from paper_checks.report import Report, to_json
from theorems import catalogue
from theorems.checker.lint import lint_package
from theorems.statement import Cited, Clause, Step

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def with_report(report: Report, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Let `verify` end with this report instead of a run; what it was called with is kept."""
    document: dict[str, Any] = {"report": report}

    def verify(ids: list[str], **options: Any) -> Report:
        document["ids"] = ids
        return document["report"]

    monkeypatch.setattr(commands, "verify", verify)
    return document


@pytest.mark.slow
def test_a_run_in_which_all_holds_exits_0(
    with_report: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "--report", str(tmp_path / "out")]) == 0
    assert with_report["ids"] == list(catalogue.CATALOGUE)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "appendix.tex", "report.html", "report.json",
    ]  # fmt: skip
    printed = capsys.readouterr().out
    assert "attention-geometry/single-head: PROVED, as read from the abstract" in printed
    assert "attention-geometry/laplacian-conditions: PROVED WITH ADDED HYPOTHESES" in printed


@pytest.mark.slow
def test_a_page_that_cannot_be_set_fails_the_run_and_spares_the_rest(
    with_report: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = with_report["report"]
    first = replace(report.theorems[0], title="raw_underscore")
    with_report["report"] = replace(report, theorems=(first, *report.theorems[1:]))
    assert main(["verify", "--report", str(tmp_path)]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
    assert "text has '_' outside a formula" in capsys.readouterr().out


def test_a_paper_without_theorems_is_all_pending(capsys: pytest.CaptureFixture[str]) -> None:
    empty = [key for key, paper in PAPERS.items()
             if paper.family not in {family_of(i) for i in catalogue.CATALOGUE}]  # fmt: skip
    for key in empty:
        assert main(["verify", "--paper", key]) == 0
        printed = capsys.readouterr().out
        assert f"{key}/" in printed
        assert "PROVED" not in printed


def test_strict_makes_pending_fail(with_report: dict[str, Any]) -> None:
    report = with_report["report"]
    assert report.suite.pending > 0
    assert main(["verify", "--strict"]) == 1
    whole = replace(report.suite, pending=0, not_built=(), not_selected=())
    with_report["report"] = replace(report, suite=whole)
    assert main(["verify", "--strict"]) == 0
    with_report["report"] = replace(report, suite=replace(whole, not_built=("CW4",)))
    assert main(["verify", "--strict"]) == 1


def test_what_failed_is_printed_and_exits_1(
    with_report: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    report = with_report["report"]
    theorem = replace(report.theorems[0], failures=("CW1.biases: planted",))
    claim = replace(report.claims[0], outcome=FAILED, verdict="FAILED: CW1.biases")
    with_report["report"] = replace(
        report, ok=False, errors=("attention-geometry/x: no evidence ids",),
        theorems=(theorem, *report.theorems[1:]), claims=(claim, *report.claims[1:]),
    )  # fmt: skip
    assert main(["verify"]) == 1
    printed = capsys.readouterr().out
    assert "FAILED: CW1.biases: planted" in printed
    assert "FAILED: attention-geometry/connection-walk: FAILED: CW1.biases" in printed
    assert "FAILED: attention-geometry/x: no evidence ids" in printed
    assert "3 failures" in printed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["CW2", "CW1"], ["CW1", "CW2"]),
        (["CW"], [i for i in catalogue.CATALOGUE if i.startswith("CW")]),
        (["CW", "CW1", "CW1"], [i for i in catalogue.CATALOGUE if i.startswith("CW")]),
        (["--paper", "attention-geometry"], [i for i in catalogue.CATALOGUE if i[:2] == "CW"]),
        (["--paper", "attention-geometry", "CW1"], ["CW1"]),
    ],
)
def test_selection(with_report: dict[str, Any], words: list[str], expected: list[str]) -> None:
    assert main(["verify", *words]) == 0
    assert with_report["ids"] == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["verify", "CW99"], "CW99: neither a theorem nor a family"),
        (["verify", "cw1"], "cw1: neither a theorem nor a family"),
        (["verify", "AP99"], "AP99: planned, not built yet"),
        (["verify", "--html", "no/../such.txt/x/", "--json", "."], "--json .: is a directory"),
        (["show", "CW99"], "theorem CW99 is unknown"),
        (["stress", "CW3"], "CW3: built, but has no stress case; these have one: CW1"),
        (["stress", "AP99"], "AP99: planned, not built yet"),
        (["appendix", "--out", "a.tex", "--json", "absent.json"], "--json absent.json: No such"),
    ],
)
def test_unusable_input_is_one_line_and_exits_2(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(catalogue, "PLANNED", frozenset({"AP99"}))
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "argument"),
    [
        (["verify", "--jobs", "0"], "--jobs"),
        (["verify", "--jobs", "two"], "--jobs"),
        (["verify", "--seed", "-1"], "--seed"),
        (["verify", "--paper", "other"], "--paper"),
        (["appendix"], "--out"),
        (["unknown"], "COMMAND"),
        ([], "COMMAND"),
    ],
)
def test_bad_usage_names_the_argument(
    words: list[str], argument: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert argument in capsys.readouterr().err


@pytest.mark.slow
def test_a_forbidden_construct_in_the_theorems_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "verify", lambda ids, **options: run.verify([], **options))
    assert main(["verify"]) == 0
    capsys.readouterr()
    copy = shutil.copytree(ROOT / "theorems", tmp_path / "theorems")
    with (copy / "connection_walks" / "edge_gauge.py").open("a") as stream:
        stream.write("\nsmuggled = total_norm.lhs.simplify()\n")
    monkeypatch.setattr(run, "lint_package", partial(lint_package, copy))
    assert main(["verify"]) == 1
    printed = capsys.readouterr().out
    assert "FAILED: theorems/connection_walks/edge_gauge.py:" in printed
    assert ".simplify" in printed


def test_a_run_lints_the_theorems() -> None:
    assert run.lint_package is lint_package


def test_an_interrupt_is_one_line_and_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "run_list", interrupted)
    assert main(["list"]) == 130
    assert capsys.readouterr().err == "attention-geometry list: interrupted\n"


def test_list_names_what_is_built_planned_and_claimed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "PLANNED", frozenset({"AP99"}))
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    assert all(f"\n{i} " in f"\n{printed}" for i in catalogue.CATALOGUE)
    assert "AP99" in printed
    assert "attention-geometry/single-head: " in printed
    assert not set("$\\{}") & set(printed)
    assert printed.startswith("CW1   K if verified Single-head")


def test_list_says_a_level_that_its_clauses_can_reach(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    theorem = catalogue.load("CW1")
    step = theorem.clauses[0].steps[0]
    assert isinstance(step, Step)
    axiom = Cited(id="axiom", because="", statement="", source="")
    for steps, level in [
        ((replace(step, shapes_only=True),), "S"), ((axiom, step), "G | axiom"), ((), "N"),
    ]:  # fmt: skip
        clauses = (*theorem.clauses, Clause("more", "", steps))
        monkeypatch.setattr(catalogue, "load", lambda _, c=clauses: replace(theorem, clauses=c))
        assert main(["list"]) == 0
        assert f"CW1   {level} if verified " in capsys.readouterr().out


def test_show_prints_clauses_and_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "CW1"]) == 0
    printed = capsys.readouterr().out
    assert "CW1.kronecker: " in printed
    assert "(sum identity)" in printed
    assert r"\quad" not in printed
    assert printed.index("CW1.biases") < printed.index("assuming P sums to 1")
    assert main(["show", "attention-geometry/single-head"]) == 0
    assert "evidence: CW1.constant_transport" in capsys.readouterr().out


def test_bibtex_names_theorem_version_and_paper(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "CW2", "--bibtex"]) == 0
    printed = capsys.readouterr().out
    assert "note = {Theorem CW2 (" in printed
    assert "version = {" in printed
    assert "@misc{attention-geometry," in printed
    assert "eprint = {2607.10677}" in printed
    assert "note = {identifier as listed in an index}" in printed
    assert main(["show", "attention-pairings/definitions", "--bibtex"]) == 0
    assert "no public identifier known" in capsys.readouterr().out


@pytest.mark.slow
def test_appendix_comes_from_a_report_file(report: Report, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(to_json(report))
    words = ["appendix", "--out", str(tmp_path / "a.tex"), "--json", str(tmp_path / "report.json")]
    assert main(words) == 0
    assert r"\label{thm:CW1}" in (tmp_path / "a.tex").read_text()


def test_a_file_that_cannot_be_written_is_one_line_and_status_2(
    with_report: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "report.json"
    assert main(["verify", "--json", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        f"attention-geometry verify: {path}: cannot be written (No space left on device)"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_report_of_other_clauses_is_refused(
    report: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = report.theorems[0]
    renamed = (replace(first.clauses[0], name="renamed"), *first.clauses[1:])
    other = replace(report, theorems=(replace(first, clauses=renamed),))
    (tmp_path / "report.json").write_text(to_json(other))
    words = ["appendix", "--out", str(tmp_path / "a.tex"), "--json", str(tmp_path / "report.json")]
    assert main(words) == 2
    assert "does not fit this version: clauses of CW1" in capsys.readouterr().err
    other = replace(report, theorems=(replace(first, necessity={"renamed": {}}),))
    (tmp_path / "report.json").write_text(to_json(other))
    assert main(words) == 2
    assert "does not fit this version: assumptions of CW1: renamed" in capsys.readouterr().err
    assert not (tmp_path / "a.tex").exists()


def test_prove_says_in_one_line_how_a_prover_is_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert main(["prove", "CW1"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("attention-geometry prove: no prover found; install")


@pytest.mark.parametrize("name", __main__.BORROWED)
def test_borrowed_commands_explain_themselves(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([name, "--help"])
    assert f"usage: attention-geometry {name}" in capsys.readouterr().out


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -m paper_checks list | head -1"
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert done.stdout.startswith("CW1")
