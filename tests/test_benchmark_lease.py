"""The script for a GPU runs on a CPU at small sizes and writes one file; failed steps are in it."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "benchmarks" / "gpu_lease.sh"


@pytest.fixture
def lease(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.lease")


def run(out: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    shared = {**os.environ, "PYTHON": sys.executable, "OUT": str(out), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        ["sh", str(SCRIPT), *arguments], env={**shared, "DEVICE": "cpu", **settings},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_every_step_and_cell_is_in_one_file(tmp_path: Path) -> None:
    ended = run(tmp_path, "quick")
    assert ended.returncode == 0, ended.stderr
    assert "NOT RUN on a GPU; 3 ok, 0 failed, 0 not run" in ended.stdout
    found = json.loads((tmp_path / "results.json").read_text())
    assert [(step["name"], step["status"]) for step in found["steps"]] == [
        ("gates", "0"), ("distances", "0"), ("refused", "2"),
    ]  # fmt: skip
    walks = [cell for cell in found["cells"] if cell["id"] == "CW2"]
    assert [cell["dtype"] for cell in walks] == ["bfloat16", "float32"]
    assert all(0 < cell["share_of_matrix_rate"] < 1 for cell in walks)
    assert set(found["machine"]["matrix_rates"]) == {"bfloat16", "float32"}


def test_steps_without_time_are_written_down(tmp_path: Path) -> None:
    ended = run(tmp_path, "quick", SECONDS_ALLOWED="0")
    assert ended.returncode == 1
    found = json.loads((tmp_path / "results.json").read_text())
    assert [step["status"] for step in found["steps"]] == 3 * ["no-time"]
    assert found["cells"] == []
    assert "0 ok, 0 failed, 0 not run" in ended.stdout


def test_another_size_is_refused(tmp_path: Path) -> None:
    ended = run(tmp_path / "none", "large")
    assert ended.returncode == 2
    assert ended.stderr == "gpu_lease: expected quick or nothing, got 'large'\n"
    assert not (tmp_path / "none").exists()


def test_a_share_is_operations_over_time_and_rate(lease: ModuleType) -> None:
    cell: dict[str, Any] = {"id": "CW2", "cell": "gates", "n": 5, "d": 6, "heads": 3,
                            "dtype": "float32", "seconds": {"right": 2.0}}  # fmt: skip
    count = 2 * 3 * (6 * 2 * 6 + 5 * 6 * 6 + 5 * 5 * 2 + 5 * 5 * 6)
    assert lease.operations(cell) == count
    assert lease.with_rate(cell, {"float32": count / 4})["share_of_matrix_rate"] == 2
    others = ({**cell, "cell": "edge"}, {**cell, "seconds": {}}, {**cell, "dtype": "float64"})
    for other in others:
        assert lease.with_rate(other, {"float32": 1.0})["share_of_matrix_rate"] is None


def test_a_cell_that_did_not_run_is_not_ok(
    lease: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "steps.tsv").write_text("gates\t0\t1\tCW2\n")
    absent = {"id": "CW2", "cell": "gates", "n": 5, "d": 6, "heads": 3, "dtype": "float32"}
    for status, expected in (("not run", 1), ("failed", 1), ("ok", 0)):
        (tmp_path / "CW2.jsonl").write_text(json.dumps({**absent, "status": status}) + "\n")
        assert lease.main([str(tmp_path), "--size", "8"]) == expected
        assert f"1 {status}" in capsys.readouterr().out


def test_a_rate_needs_a_right_product(lease: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lease.matrix_rate(torch.float32, torch.device("cpu"), 8, 1) > 0
    ones = torch.ones
    monkeypatch.setattr(torch, "ones", lambda *shape, **kind: 2 * ones(*shape, **kind))
    with pytest.raises(ArithmeticError, match="the product of ones must be 8, got 32"):
        lease.matrix_rate(torch.float32, torch.device("cpu"), 8, 1)
