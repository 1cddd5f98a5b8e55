"""The script for a GPU runs on a CPU at small sizes and writes one file; failed steps are in it."""

import importlib
import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "benchmarks" / "gpu_lease.sh"
MACHINE = {"description": "one core", "device": "cuda", "gpu": "H200", "versions": {"CW2": "new"}}
CELL = {"id": "CW2", "cell": "gates", "n": 5, "d": 6, "heads": 3, "dtype": "float32",
        "device": "cuda", "seed": 0, "ranks": 1, "version": "new"}  # fmt: skip


@pytest.fixture
def lease(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.lease")


def run(out: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    shared = {**os.environ, "PYTHON": sys.executable, "OUT": str(out), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        ["sh", str(SCRIPT), *arguments], env={**shared, "DEVICE": "cpu", **settings},
        capture_output=True, text=True, check=False, cwd=out.parent,
    )  # fmt: skip


def interpreter(folder: Path, step: str) -> str:
    """A PYTHON whose stress commands do `step` instead, and which names a machine at once."""
    path, begun = folder / "python", json.dumps(MACHINE)
    path.write_text(
        f"""#!/bin/sh
case "$*" in
*--begin*) mkdir -p "$3"; printf '%s' {shlex.quote(begun)} >"$3/machine.json"; : >"$3/steps.tsv" ;;
*numerics.stress*) {step} ;;
*) exec {shlex.quote(sys.executable)} "$@" ;;
esac
"""
    )
    path.chmod(0o755)
    return str(path)


def results(out: Path) -> dict[str, Any]:
    return json.loads((out / "results.json").read_text())


@pytest.mark.slow
def test_every_step_and_cell_is_in_one_file(tmp_path: Path) -> None:
    ended = run(tmp_path / "out", "quick")
    assert ended.returncode == 0, ended.stderr
    assert "NOT RUN on a GPU; 3 ok, 0 failed, 0 not run, 0 of 2 steps unfinished" in ended.stdout
    found = results(tmp_path / "out")
    assert [(step["name"], step["status"]) for step in found["steps"]] == [
        ("gates", "0"), ("distances", "0"),
    ]  # fmt: skip
    walks = [cell for cell in found["cells"] if cell["id"] == "CW2"]
    assert [cell["dtype"] for cell in walks] == ["bfloat16", "float32"]
    assert all(0 < cell["matrix_rate"]["right"] < 1 for cell in walks)
    assert found["machine"]["gpu"] is None
    assert "torch" in found["machine"]["description"]
    again = run(tmp_path / "out", "quick")
    assert again.returncode == 0
    assert results(tmp_path / "out")["cells"] == found["cells"]


@pytest.mark.slow
def test_without_a_gpu_nothing_ran_and_nothing_is_ok(tmp_path: Path) -> None:
    ended = run(tmp_path / "out", "quick", DEVICE="cuda", CUDA_VISIBLE_DEVICES="")
    assert ended.returncode == 1
    assert "NOT RUN on a GPU; 0 ok, 0 failed, 3 not run, 0 of 2 steps unfinished" in ended.stdout
    assert {cell["status"] for cell in results(tmp_path / "out")["cells"]} == {"not run"}


@pytest.mark.slow
def test_a_failed_step_is_in_the_file_and_the_next_goes_on(tmp_path: Path) -> None:
    step = 'case "$*" in *CW2*) exit 3 ;; esac'
    ended = run(tmp_path / "out", "quick", PYTHON=interpreter(tmp_path, step))
    assert ended.returncode == 1
    statuses = [(step["name"], step["status"]) for step in results(tmp_path / "out")["steps"]]
    assert statuses == [("gates", "3"), ("distances", "0")]
    assert "1 of 2 steps unfinished" in ended.stdout


@pytest.mark.slow
def test_a_step_ends_with_the_time_and_the_rest_is_written_down(tmp_path: Path) -> None:
    python = interpreter(tmp_path, "exec sleep 60")
    started = time.monotonic()
    ended = run(tmp_path / "out", PYTHON=python, SECONDS_ALLOWED="3", DEVICE="cuda")
    assert time.monotonic() - started < 40
    assert ended.returncode == 1
    found = results(tmp_path / "out")["steps"]
    assert [step["status"] for step in found] == ["124", *6 * ["no-time"]]
    arguments = {step["name"]: step["arguments"] for step in found}
    full = "CW2 --n 131072 --d 4096 --heads 32 --dtype"
    assert arguments["gates-full-bf16"] == f"{full} bfloat16"
    assert arguments["gates-full-f32"] == f"{full} float32"
    assert arguments["distances-full"] == "RA7 --n 65536 --d 128 --dtype float32"


@pytest.mark.slow
def test_finished_steps_are_in_the_file_while_the_next_one_runs(tmp_path: Path) -> None:
    copied = f"cp {shlex.quote(str(tmp_path))}/out/results.json {shlex.quote(str(tmp_path))}/seen"
    step = f'case "$*" in *RA7*) {copied} ;; esac'
    run(tmp_path / "out", "quick", PYTHON=interpreter(tmp_path, step))
    assert [step["name"] for step in json.loads((tmp_path / "seen").read_text())["steps"]] == [
        "gates"
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        (["large"], {}, "expected quick or nothing, got 'large'"),
        ([], {"SECONDS_ALLOWED": "8m"}, "SECONDS_ALLOWED must be a whole number, got '8m'"),
        ([], {"PYTHON": "no-python"}, "'no-python -m benchmarks.lease' must run: install"),
        ([], {"DEVICE": "tpu"}, "device: expected cpu, cuda, cuda:K or mps, got 'tpu'"),
    ],
)
def test_what_cannot_run_is_refused_and_leaves_nothing(
    tmp_path: Path, arguments: list[str], settings: dict[str, str], message: str
) -> None:
    ended = run(tmp_path / "none", *arguments, **settings)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert len(ended.stderr.splitlines()) == 1 + ("no-python" in message)
    assert not (tmp_path / "none").exists()


def folder(path: Path, records: list[dict[str, Any]], steps: str = "gates\t0\t1\tCW2\n") -> Path:
    (path / "machine.json").write_text(json.dumps(MACHINE))
    (path / "steps.tsv").write_text(steps)
    (path / "CW2.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize(
    ("statuses", "steps", "expected"),
    [
        (["ok"], "gates\t0\t1\tCW2\n", 0),
        (["not run"], "gates\t0\t1\tCW2\n", 1),
        (["failed"], "gates\t0\t1\tCW2\n", 1),
        (["ok", "failed"], "gates\t0\t1\tCW2\n", 1),
        (["ok", "not run"], "gates\t0\t1\tCW2\n", 0),
        (["ok"], "gates\t1\t1\tCW2\n", 1),
        (["ok"], "gates\tno-time\t0\tCW2\n", 1),
        ([], "", 1),
    ],
)
def test_the_status_is_0_where_cells_ran_and_nothing_failed(
    lease: ModuleType, tmp_path: Path, statuses: list[str], steps: str, expected: int
) -> None:
    records = [{**CELL, "n": n, "status": status} for n, status in enumerate(statuses)]
    assert lease.main([str(folder(tmp_path, records, steps))]) == expected
    assert [cell["status"] for cell in results(tmp_path)["cells"]] == statuses


def test_a_gpu_is_named_only_where_a_cell_ran_on_it(lease: ModuleType, tmp_path: Path) -> None:
    for device, status, line in (
        ("cuda", "ok", "H200; 1 ok"),
        ("cuda:1", "failed", "H200; 0 ok, 1 failed"),
        ("cuda", "not run", "NOT RUN on a GPU; 0 ok"),
        ("cpu", "ok", "NOT RUN on a GPU; 1 ok"),
    ):
        folder(tmp_path, [{**CELL, "device": device, "status": status}])
        assert lease.verdict(lease.collected(tmp_path))[1].startswith(line)


def test_torn_lines_other_code_and_cells_that_ran_later_are_left_out(
    lease: ModuleType, tmp_path: Path
) -> None:
    records = [{**CELL, "status": "not run"}, {**CELL, "status": "failed", "version": "old"},
               {**CELL, "status": "ok"}, {**CELL, "seed": 1, "status": "failed"},
               {**CELL, "seed": 2, "status": "failed", "version": "old"}]  # fmt: skip
    folder(tmp_path, records)
    with (tmp_path / "CW2.jsonl").open("a") as file:
        file.write('{"id": "CW2", "ce')
    found = lease.collected(tmp_path)["cells"]
    assert [(cell["seed"], cell["status"]) for cell in found] == [(0, "ok"), (1, "failed")]


def test_cells_of_another_machine_are_not_taken_for_this_ones(
    lease: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lease.main([str(tmp_path), "--begin", "cpu"]) == 0
    assert lease.main([str(tmp_path), "--begin", "cpu"]) == 0
    before = (tmp_path / "machine.json").read_text()
    written = json.loads(before)
    assert (written["device"], written["gpu"]) == ("cpu", None)
    assert lease.main([str(tmp_path), "--begin", "mps"]) == 2
    assert "holds cells of device 'cpu', not 'mps': choose another OUT" in capsys.readouterr().err
    assert (tmp_path / "machine.json").read_text() == before
    (tmp_path / "machine.json").write_text(json.dumps({**written, "description": "other"}))
    assert lease.main([str(tmp_path), "--begin", "cpu"]) == 2
    assert "holds cells of description 'other', not" in capsys.readouterr().err
    (tmp_path / "machine.json").unlink()
    assert lease.main([str(tmp_path)]) == 2
    assert "has no machine.json: gpu_lease.sh begins by writing it" in capsys.readouterr().err
