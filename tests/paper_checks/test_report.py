"""The report has its schema and survives its file; destinations are checked."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from numerics.runs.files import write_whole
from paper_checks.report import (
    Report,
    Unusable,
    check_destination,
    read_report,
    shape_errors,
    to_json,
)

DESIGNED = {
    "suite": {"version", "commit", "python", "packages", "seed", "started", "seconds", "pending"},
    "theorems": {
        "id", "title", "level", "steps", "steps_checked", "steps_cited", "cited", "inherited",
        "clauses",
        "instances", "property_examples", "nonzero_residuals", "max_residual_over_bound",
        "mutants", "mutants_refuted", "necessity", "stress", "kernel", "ok", "seconds",
    },
    "claims": {"id", "paper", "statement", "reading", "verdict", "evidence", "note"},
}  # fmt: skip


@pytest.mark.slow
def test_report_has_the_designed_keys(report: Report) -> None:
    document: Any = json.loads(to_json(report))
    assert shape_errors(document, Report) == []
    assert DESIGNED["suite"] <= document["suite"].keys()
    assert DESIGNED["theorems"] <= document["theorems"][0].keys()
    assert DESIGNED["claims"] <= document["claims"][0].keys()
    assert {"suite", "theorems", "claims", "ok"} <= document.keys()
    assert {"name", "level"} <= document["theorems"][0]["clauses"][0].keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("ok",), "yes", "report.ok: expected bool, found str"),
        (("theorems",), {}, "report.theorems: expected a list, found dict"),
        (("theorems", 0, "steps"), True, "report.theorems[0].steps: expected int, found bool"),
        (("theorems", 0, "steps"), 1.5, "report.theorems[0].steps: expected int, found float"),
        (("theorems", 0, "level"), 3, "report.theorems[0].level: expected str, found int"),
        (("theorems", 0), [], "report.theorems[0]: expected an object, found list"),
        (("theorems", 0, "necessity"), [], "report.theorems[0].necessity: expected an object"),
        (("claims", 0, "evidence", 0), None, "report.claims[0].evidence[0]: expected str"),
        (("suite", "commit"), 7, "report.suite.commit: expected str, found int"),
    ],
)
def test_each_departure_from_the_schema_is_named(
    report: Report, path: tuple[Any, ...], value: Any, message: str
) -> None:
    document: Any = deepcopy(report)
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    (error,) = shape_errors(document, Report)
    assert error.startswith(message)


def test_a_missing_key_is_named(report: Report) -> None:
    document: Any = deepcopy(report)
    del document["claims"][0]["verdict"]
    assert shape_errors(document, Report) == ["report.claims[0].verdict: missing"]


def test_no_infinity_is_written(report: Report) -> None:
    document: Any = deepcopy(report)
    document["theorems"][0]["max_residual_over_bound"] = float("inf")
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(document)


def test_a_report_survives_its_file(report: Report, tmp_path: Path) -> None:
    write_whole(tmp_path / "new" / "report.json", to_json(report))
    assert read_report(tmp_path / "new" / "report.json") == report


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "No such file"), ("{", "not JSON"), ("{}", "not a report"), ("\udcff", "not JSON")],
)
def test_an_unusable_report_is_refused(tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "report.json"
    if text is not None:
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(Unusable, match=f"--json .*{message}"):
        read_report(file)


def test_destinations_are_checked_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    check_destination("--html", tmp_path / "new" / "report.html")
    check_destination("--report", tmp_path, folder=True)
    with pytest.raises(Unusable, match=r"--html .* is a directory"):
        check_destination("--html", tmp_path)
    with pytest.raises(Unusable, match=r"--html .* is not a writable directory"):
        check_destination("--html", tmp_path / "file" / "report.html")
    with pytest.raises(Unusable, match=r"--report .* is not a writable directory"):
        check_destination("--report", tmp_path / "file", folder=True)
