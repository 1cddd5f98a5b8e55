"""Two reports are told apart by each thing that they say, and by nothing else."""

from __future__ import annotations

import json
import runpy
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).with_name("compare_reports.py")))
REPORT: dict[str, Any] = {
    "suite": {"version": "1", "commit": "a", "modified": True, "python": "3", "packages": {},
              "seed": 0, "started": "now", "seconds": 1.5, "kernel": "checked"},
    "theorems": [
        {"id": "CW1", "level": "K", "kernel": "checked", "steps": 3, "seconds": 0.5,
         "warnings": [], "tightness": 1.0, "necessity": {"P": {"gates": "needed"}},
         "clauses": [{"name": "gates", "level": "K", "failures": []}],
         "formal": [{"name": "gates", "checked": True}],
         "stress": [{"n": 256, "seconds": {"left": 0.1}, "version": "f", "ratio": 0.5,
                     "peak_memory_bytes": 7, "entry": [1, 2]}]},
        {"id": "CW2", "level": "G", "steps": 4, "clauses": [{"name": "P[i, j]", "level": "G"}]},
    ],
    "claims": [{"id": "paper/one", "verdict": "PROVED", "evidence": ["CW1"]}],
    "errors": [],
    "ok": True,
}  # fmt: skip
ABSENT = object()


def changed(*path: Any, value: Any) -> dict[str, Any]:
    """The report with another value at a path, or without what stands there."""
    report: Any = deepcopy(REPORT)
    place = report
    for key in path[:-1]:
        place = place[key]
    if value is ABSENT:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return report


def compare(
    old: Any, new: Any, folder: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[int, list[str]]:
    """The exit status of the script and the lines that it prints."""
    files = [folder / "old.json", folder / "new.json"]
    for file, report in zip(files, (old, new), strict=True):
        file.write_text(json.dumps(report), encoding="utf-8")
    status = SCRIPT["main"]([*map(str, files), *options])
    return status, capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("ok",), False, "ok: true against false"),
        (("errors",), ["planted"], "errors[0]: only in the new"),
        (("suite", "seed"), 1, "suite.seed: 0 against 1"),
        (("suite", "seed"), False, "suite.seed: 0 against false"),
        (("theorems", 0, "steps"), 3.0, "theorems[CW1].steps: 3 against 3.0"),
        (("theorems", 0, "tightness"), 1.0000000000000002,
         "theorems[CW1].tightness: 1.0 against 1.0000000000000002"),
        (("theorems", 0, "level"), "G", 'theorems[CW1].level: "K" against "G"'),
        (("theorems", 0, "necessity", "P", "gates"), "not used",
         'theorems[CW1].necessity.P.gates: "needed" against "not used"'),
        (("theorems", 0, "necessity", "P"), ABSENT,
         "theorems[CW1].necessity.P: only in the old"),
        (("theorems", 0, "stress", 0, "entry", 1), 3,
         "theorems[CW1].stress[0].entry[1]: 2 against 3"),
        (("theorems", 1, "clauses", 0, "level"), "S",
         'theorems[CW2].clauses[P(i, j)].level: "G" against "S"'),
        (("theorems", 1), ABSENT, "theorems[CW2]: only in the old"),
        (("theorems",), REPORT["theorems"][::-1], "theorems: another order"),
        (("claims", 0, "verdict"), "FAILED",
         'claims[paper/one].verdict: "PROVED" against "FAILED"'),
        (("claims", 0, "note"), "", "claims[paper/one].note: only in the new"),
    ],
)  # fmt: skip
def test_reports_that_differ_are_told_apart_by_path(
    path: tuple[Any, ...], value: Any, line: str,
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert compare(REPORT, changed(*path, value=value), tmp_path, capsys) == (1, [line])


@pytest.mark.parametrize(
    "path",
    [
        *(("suite", key) for key in ("version", "commit", "modified", "python", "packages",
                                     "started", "seconds", "trusted_lines")),
        *(("theorems", 0, key) for key in ("seconds", "warnings", "digest")),
        *(("theorems", 0, "stress", 0, key)
          for key in ("seconds", "version", "peak_memory_bytes")),
        ("claims", 0, "digest"),
    ],
)  # fmt: skip
def test_times_versions_and_added_fields_are_not_compared(
    path: tuple[Any, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = changed(*path, value="another")
    assert compare(REPORT, other, tmp_path, capsys) == (0, ["equal"])
    if path[-1] not in ("trusted_lines", "digest"):
        assert compare(changed(*path, value=ABSENT), REPORT, tmp_path, capsys)[0] == 0
    elsewhere = changed("errors", value={path[-1]: "another"})
    assert compare(REPORT, elsewhere, tmp_path, capsys)[0] == 1


def test_common_theorems_are_compared_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one: dict[str, Any] = {**changed("ok", value=False), "theorems": REPORT["theorems"][1:]}
    assert compare(REPORT, one, tmp_path, capsys)[0] == 1
    assert compare(REPORT, one, tmp_path, capsys, "--common") == (0, ["equal"])
    other = {**one, "theorems": [{**REPORT["theorems"][1], "steps": 5}]}
    line = "theorems[CW2].steps: 4 against 5"
    assert compare(REPORT, other, tmp_path, capsys, "--common") == (1, [line])
    with pytest.raises(ValueError, match="a theorem in common, found none"):
        compare(REPORT, {**one, "theorems": []}, tmp_path, capsys, "--common")


def test_without_the_prover_levels_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unproved = changed("suite", "kernel", value="left out")
    unproved["theorems"][0] |= {"level": "G", "kernel": "left out"}
    unproved["theorems"][0]["clauses"][0]["level"] = "G"
    unproved["theorems"][0]["formal"] = []
    status, lines = compare(REPORT, unproved, tmp_path, capsys)
    assert (status, len(lines)) == (1, 5)
    assert compare(REPORT, unproved, tmp_path, capsys, "--no-formal") == (0, ["equal"])
    unproved["theorems"][0]["steps"] = 5
    assert compare(REPORT, unproved, tmp_path, capsys, "--no-formal")[0] == 1
