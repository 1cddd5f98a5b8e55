"""The stress command: a grid evaluated once, killed and continued, failures named, bad usage."""

import argparse
import io
import json
import signal
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from numerics import stress
from numerics.stress import __main__ as command_line
from numerics.stress.cell import Cell
from numerics.stress.command import finished, grid, print_table
from numerics.stress.theorems import gated_mixture

ROOT = Path(__file__).parents[3]


def run(out: Path, *arguments: str) -> int:
    return command_line.main([*arguments, "--d", "8", "--out", str(out)])


def grid_of(*arguments: str) -> list[Cell]:
    parser = argparse.ArgumentParser()
    stress.add_arguments(parser)
    return grid(parser.parse_args([*arguments, "--d", "8"]))


def lines(out: Path, theorem: str = "CW2") -> list[dict[str, Any]]:
    text = (out / f"{theorem}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.slow
def test_a_grid_is_evaluated_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = ("CW2", "--n", "5", "9", "--heads", "2", "4", "--dtype", "float32", "float64")
    assert run(tmp_path, *grid) == 0
    first = lines(tmp_path)
    assert len(first) == 8
    assert all(record["status"] == "ok" for record in first)
    monkeypatch.setattr("numerics.stress.command.evaluate", None)
    capsys.readouterr()
    assert run(tmp_path, *grid) == 0
    assert lines(tmp_path) == first
    output = capsys.readouterr()
    assert output.err.count("(finished earlier)") == 8
    assert len(output.out.splitlines()) == 9


@pytest.mark.slow
def test_other_seeds_and_other_code_are_other_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tmp_path, "CW1", "--n", "5") == 0
    assert run(tmp_path, "CW1", "--n", "5", "--seed", "1") == 0
    cases = import_module("numerics.stress.cases")
    monkeypatch.setattr(cases, "code_version", lambda theorem: "changed")
    assert run(tmp_path, "CW1", "--n", "5") == 0
    assert len({(x["seed"], x["version"]) for x in lines(tmp_path, "CW1")}) == 3


@pytest.mark.slow
@pytest.mark.parametrize("torn", ['{"id": "CW2", "ce', "\x00\x00", '{"id": "CW2"}'])
def test_a_torn_last_line_is_repaired(tmp_path: Path, torn: str) -> None:
    assert run(tmp_path, "CW2", "--n", "5") == 0
    whole = lines(tmp_path)
    with (tmp_path / "CW2.jsonl").open("a", encoding="utf-8") as file:
        file.write(torn)
    assert run(tmp_path, "CW2", "--n", "5", "9") == 0
    assert lines(tmp_path)[:1] == whole
    assert [record["n"] for record in lines(tmp_path)] == [5, 9]


@pytest.mark.parametrize("line", ["not JSON\n", "[1]\n"])
def test_a_file_that_was_not_written_here_is_left_alone(
    tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "CW2.jsonl"
    path.write_text(line, encoding="utf-8")
    assert run(tmp_path, "CW2", "--n", "5") == 2
    assert path.read_text(encoding="utf-8") == line
    assert "CW2.jsonl, line 1:" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("kept")
    monkeypatch.setattr("numerics.stress.command.evaluate", None)
    assert run(file / "out", "CW2", "--n", "5") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        f"stress: {file / 'out'}: cannot be written ({file} is not a writable directory)"
    )
    assert file.read_text() == "kept"


CELL = Cell("CW2", "gates", 5, 8, 2, "float32", "cpu", 0, "code")


def with_status(status: str, **more: Any) -> dict[str, Any]:
    return {**CELL.record(), "status": status, **more}


def test_the_last_record_of_an_evaluated_cell_counts() -> None:
    for status in ("ok", "failed"):
        assert finished([with_status(status)], CELL) == with_status(status)
    records = [with_status("failed"), with_status("ok", residual=1.0), with_status("not run")]
    assert finished(records, CELL) == with_status("ok", residual=1.0)


@pytest.mark.parametrize("name", CELL.record())
def test_a_cell_that_differs_in_anything_is_not_finished(name: str) -> None:
    changed = with_status("ok")
    changed[name] = 7 if isinstance(changed[name], int) else "other"
    assert finished([changed], CELL) is None


def test_a_cell_that_did_not_run_or_does_not_say_has_yet_to_run() -> None:
    assert finished([], CELL) is None
    assert finished([CELL.record(), with_status("not run")], CELL) is None


@pytest.mark.slow
def test_a_killed_run_continues_where_it_was(tmp_path: Path) -> None:
    sizes = [str(n) for n in range(40, 100)]
    arguments = ["CW2", "--n", *sizes, "--d", "8", "--heads", "4", "--out", str(tmp_path)]
    path = tmp_path / "CW2.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "numerics.stress", *arguments],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    with process.stderr:
        assert [process.stderr.readline().rpartition(": ")[2] for _ in range(3)] == 3 * ["ok\n"]
        process.kill()
    assert process.wait() == -signal.SIGKILL
    before = path.read_bytes().rpartition(b"\n")[0].splitlines()
    assert 3 <= len(before) < len(sizes)
    assert command_line.main(arguments) == 0
    after = path.read_bytes().splitlines()
    assert after[: len(before)] == before
    assert [json.loads(line)["n"] for line in after] == list(map(int, sizes))


@pytest.mark.slow
def test_a_failing_cell_is_named_and_stays_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = gated_mixture.right_side
    with monkeypatch.context() as planted:
        planted.setattr(
            gated_mixture, "right_side", lambda layer, cell: honest(replace(layer, scale=1.0), cell)
        )
        assert run(tmp_path, "CW2", "--n", "9", "--heads", "2") == 1
    assert "FAILED CW2 gates n=9 d=8 heads=2 float32 cpu seed=0: operator" in (
        capsys.readouterr().err
    )
    assert run(tmp_path, "CW2", "--n", "9", "--heads", "2") == 1
    assert [record["status"] for record in lines(tmp_path)] == ["failed"]


def test_an_absent_device_is_not_run_and_never_ok(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for _ in range(2):
        assert run(tmp_path, "CW2", "--n", "5", "--device", "cuda") == 0
    (record,) = lines(tmp_path)
    assert (record["status"], record["matrix_rate"]) == ("not run", None)
    assert "no CUDA device" in record["reason"]
    output = capsys.readouterr()
    assert "NOT RUN" in output.out
    assert "\tok" not in output.out
    (cell,) = grid_of("CW2", "--n", "5", "--device", "cuda")
    assert cell.record().items() <= record.items()
    assert finished([record], cell) is None
    assert finished([{**record, "status": "ok"}], cell) is not None


def table(*records: dict[str, Any]) -> list[str]:
    text = io.StringIO()
    print_table(list(records), Console(file=text, force_terminal=True, color_system=None, width=80))
    return text.getvalue().splitlines()


def test_the_table_fits_a_terminal_of_80_columns() -> None:
    record = stress.run_cell("CW2", "gates", 30, 8, 2, "bfloat16", "cpu", 0)
    rate = {"flops_per_second": 1e14, "left": 0.931, "right": 0.874}
    large = {**record, "n": 131072, "d": 4096, "heads": 32, "tight": False, "matrix_rate": rate}
    absent = {**record, "device": "cuda:0", "status": "not run", "reason": "no such device"}
    header, *rows = table(record, large, absent)
    assert header.split()[-5:] == ["residual", "ratio", "s", "rate", "MiB"]
    assert len(rows) == 6
    assert not any("…" in row for row in rows)
    assert rows[0].split()[:6] == ["CW2", "gates", "30x8x2", "bfloat16", "cpu", "ok"]
    assert rows[1].split()[:6] == ["CW2", "gates", "131072x4096x32", "bfloat16", "cpu", "loose"]
    assert [row.split()[-2] for row in rows[:3]] == ["-", "93/87", "-"]
    assert rows[2].split()[4:7] == ["cuda:0", "NOT", "RUN"]
    assert rows[3:] == [
        "rate: left and right side in percent of the matrix-product rate",
        "loose: within the bound, but by a ratio below 0.1 / k",
        "NOT RUN: no such device",
    ]
    long = {**large, "seconds": {"left": 100.0, "right": 50.0}, "peak_memory_bytes": 2**36}
    assert table(long)[1].split()[-3:] == ["150", "93/87", "65536"]


def test_lines_have_the_rates_of_both_sides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, "CW2", "--n", "64", "--dtype", "bfloat16") == 0
    (record,) = lines(tmp_path)
    header, row = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    shown = dict(zip(header, row, strict=True))
    rate = record["matrix_rate"]
    assert [shown["left rate"], shown["right rate"]] == [
        f"{100 * rate[side]:.1f}%" for side in ("left", "right")
    ]
    assert run(tmp_path, "RA2") == 0
    assert [record["matrix_rate"] for record in lines(tmp_path, "RA2")] == [None]
    header, row = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert dict(zip(header, row, strict=True))["left rate"] == "-"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CW3"], "unknown id 'CW3'"),
        (["CW2", "--heads", "3"], "heads must divide d, got heads = 3 and d = 8"),
        (["CW1", "--heads", "2"], "CW1 is about a single head"),
        (["CW5", "--heads", "2"], "CW5 is about a single head"),
        (["CW11", "--cell", "one-layer"], "CW11 has cells two-layers, three-layers, residual"),
        (["CW2", "--cell", "kronecker"], "CW2 has cells gates, edge, not 'kronecker'"),
        (["CW2", "--dtype", "int8"], "dtype must be one of float64"),
        (["CW2", "--device", "tpu"], "expected cpu, cuda, cuda:K or mps"),
        (["CW2", "--device", "mps", "--dtype", "float64"], "MPS has no float64"),
        (["CW2", "--n", "0"], "n, d and heads must be positive"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(
    tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, *arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_arguments_fit_into_another_parser(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    stress.add_arguments(parser.add_subparsers().add_parser("stress"))
    args = parser.parse_args(["stress", "all", "--n", "5", "--d", "8", "--out", str(tmp_path)])
    assert stress.run(args) == 0
    assert {path.name for path in tmp_path.iterdir()} == {f"{i}.jsonl" for i in stress.cases()}
