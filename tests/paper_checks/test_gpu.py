"""The report names a GPU where a committed file says that cells ran on it, and nowhere else."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from paper_checks import gpu
from paper_checks.run import describe_suite


def cell(status: str, device: str = "cuda") -> dict[str, str]:
    return {"status": status, "device": device}


def written(folder: Path, name: str | None, *cells: dict[str, str]) -> Path:
    path = folder / "gpu_results.json"
    path.write_text(json.dumps({"machine": {"gpu": name}, "cells": cells}), encoding="utf-8")
    return path


def test_without_results_it_is_not_run(tmp_path: Path) -> None:
    assert gpu.stated(tmp_path / "absent.json") == "NOT RUN"


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        (None, [cell("ok")]),
        ("A", []),
        ("A", [cell("ok", "cpu")]),
        ("A", [cell("not run"), cell("ok", "cpu")]),
    ],
)
def test_cells_elsewhere_are_no_run_on_a_gpu(
    tmp_path: Path, name: str | None, cells: list[dict[str, str]]
) -> None:
    assert gpu.stated(written(tmp_path, name, *cells)) == "NOT RUN"


def test_cells_are_counted_by_status(tmp_path: Path) -> None:
    cells = [cell("ok"), cell("failed", "cuda:1"), cell("ok"), cell("not run"), cell("ok", "cpu")]
    assert gpu.stated(written(tmp_path, "A", *cells)) == "A, 2 ok, 1 failed, 1 not run"


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"machine": {"gpu": "A"}, "cells": [1]}'])
def test_another_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "gpu_results.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape("gpu_results.json: not the results of a GPU")):
        gpu.stated(path)


def test_an_unknown_status_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"status must be one of .*, got \['good'\]"):
        gpu.stated(written(tmp_path, "A", cell("good")))


def test_the_report_says_what_the_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> Any:
        return describe_suite([], 0).gpu

    assert read() == gpu.stated()
    monkeypatch.setattr(gpu.stated, "__defaults__", (written(tmp_path, "A", cell("ok")),))
    assert read() == "A, 1 ok, 0 failed, 0 not run"
