"""The report has its schema and survives its file; destinations are checked."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from numerics.runs.files import write_whole
from paper_checks.report import Report, Unusable, check_destination, read_report, to_json

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
    assert DESIGNED["suite"] <= document["suite"].keys()
    assert DESIGNED["theorems"] <= document["theorems"][0].keys()
    assert DESIGNED["claims"] <= document["claims"][0].keys()
    assert {"suite", "theorems", "claims", "ok"} <= document.keys()
    assert {"name", "level"} <= document["theorems"][0]["clauses"][0].keys()


ABSENT = object()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("ok",), "yes", "Expected `bool`, got `str` - at `$.ok`"),
        (("theorems",), {}, "Expected `array`, got `object` - at `$.theorems`"),
        (("theorems", 0, "steps"), True, "Expected `int`, got `bool` - at `$.theorems[0].steps`"),
        (("theorems", 0, "steps"), 1.5, "Expected `int`, got `float` - at `$.theorems[0].steps`"),
        (("theorems", 0, "level"), 3, "got `int` - at `$.theorems[0].level`"),
        (("theorems", 0), [], "Expected `object`, got `array` - at `$.theorems[0]`"),
        (("theorems", 0, "necessity"), [], "Expected `object`, got `array` - at"),
        (("theorems", 0, "rates", 0, "slope"), "1", "got `str` - at `$.theorems[0].rates[0].slope"),
        (("claims", 0, "evidence", 0), None, "Expected `str`, got `null` - at `$.claims[0].evid"),
        (("suite", "commit"), 7, "got `int` - at `$.suite.commit`"),
        (("claims", 0, "verdict"), ABSENT, "missing required field `verdict` - at `$.claims[0]`"),
        (("theorems", 0, "digest"), ABSENT, "missing required field `digest` - at `$.theorems[0]"),
    ],
)
def test_each_departure_from_the_schema_is_named(
    report: Report, path: tuple[Any, ...], value: Any, message: str, tmp_path: Path
) -> None:
    document: Any = json.loads(to_json(report))
    place = document
    for step in path[:-1]:
        place = place[step]
    if value is ABSENT:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    file = tmp_path / "report.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(Unusable, match=rf"not a report of this version .*{re.escape(message)}"):
        read_report(file)


def test_no_infinity_is_written(report: Report) -> None:
    infinite = replace(report.theorems[0], max_residual_over_bound=float("inf"))
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(replace(report, theorems=(infinite,)))


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


@pytest.mark.slow
def test_a_number_of_numpy_is_a_number_of_the_report(report: Report) -> None:
    first, *rest = report.theorems
    measured = replace(first, tightness=np.float64(0.5))
    document: Any = json.loads(to_json(replace(report, theorems=(measured, *rest))))
    assert document["theorems"][0]["tightness"] == 0.5
    strange: Any = replace(first, tightness=object())
    with pytest.raises(
        NotImplementedError, match=r"^the report holds numbers and texts, got object"
    ):
        to_json(replace(report, theorems=(strange, *rest)))
