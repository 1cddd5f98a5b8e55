"""The performance table: what is written, what counts as met, what is no measurement."""

import importlib
import json
import math
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "connection walk CW2 gates",
    "Riemannian attention over torch SDPA",
    "memory of CW2 gates",
    "memory of Riemannian attention",
    "causal linear attention, 2 heads of width 8, time",
    "causal linear attention, 2 heads of width 8, masked quadratic form over chunked",
    "causal linear attention, 2 heads of width 8, torch's causal SDPA over chunked",
    "exact rank RA2, SymPy over ours, d = 3, 10 x 10",
    "exact rank RA2, d = 4, 15 x 15",
    "verify of everything",
    "its slowest theorem",
    "the quick tests",
)


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch):
    """Imports a benchmark by name: the folder is no part of the installed packages."""
    monkeypatch.syspath_prepend(ROOT)

    def module(name: str) -> ModuleType:
        return importlib.import_module(f"benchmarks.{name}")

    return module


@pytest.mark.slow
def test_every_target_has_a_row_with_its_verdict(
    load, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bench" / "results.json"
    assert load("table").main(["--quick", "--out", str(path)]) == 0
    written = json.loads(path.read_text())
    assert set(written) == {"machine", "rows"}
    assert "torch" in written["machine"]["description"]
    assert written["machine"]["complete"] is True
    rows = written["rows"]
    for name, row in zip(NAMES, rows, strict=True):
        assert row["name"].startswith(name)
        assert set(row) == {"name", "value", "unit", "target", "met"}
        relation, limit = row["target"].split()
        assert row["met"] in (True, False) if row["value"] else row["met"] is None
        if row["value"]:
            sign = 1 if relation in (">=", ">") else -1
            beyond = sign * (row["value"] - float(limit))
            assert row["met"] == (beyond >= 0 if relation in (">=", "<=") else beyond > 0)
    assert [row["met"] for row in rows if "memory" in row["name"]] == [True, True]
    printed = capsys.readouterr().out
    assert all(f"{row['name']}: " in printed for row in rows)
    assert printed.count("(median ") == 3 + 2 + 9 + 2 + 1
    assert printed.splitlines()[-1].startswith("12 targets: ")
    assert list(path.parent.iterdir()) == [path]


def test_a_target_is_met_on_its_own_side_only(load) -> None:
    row = load("rows").Row
    least = [row("x", value, "s", ">=", 2.0).met for value in (1.9, 2.0, 2.1, None, math.nan)]
    assert least == [False, True, True, None, False]
    most = [row("x", value, "s", "<=", 2.0).met for value in (1.9, 2.0, 2.1, None, math.nan)]
    assert most == [True, True, False, None, False]
    more = [row("x", value, "x", ">", 2.0).met for value in (1.9, 2.0, 2.1, None, math.nan)]
    assert more == [False, False, True, None, False]
    less = [row("x", value, "s", "<", 2.0).met for value in (1.9, 2.0, 2.1, None, math.nan)]
    assert less == [True, False, False, None, False]
    assert "MISSED" in str(row("x", 3.0, "s", "<=", 2.0))
    written = [row("x", value, "s", "<=", 2.0).record() for value in (1.9, math.nan, math.inf)]
    assert [(part["value"], part["met"]) for part in written] == [
        (1.9, True), (None, False), (None, False),
    ]  # fmt: skip
    assert "x: NOT RUN (target <= 2): not run" in str(row("x", None, "s", "<=", 2.0))


def test_a_run_that_ends_early_keeps_the_rows_before(
    load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table, row, path = load("table"), load("rows").Row, tmp_path / "results.json"
    path.write_text("of an earlier run")

    def kept() -> tuple[bool, list[str]]:
        written = json.loads(path.read_text())
        return written["machine"]["complete"], [row["name"] for row in written["rows"]]

    def interrupted(end: BaseException, quick: bool, durations: bool):
        assert kept() == (False, [])
        yield row("first", 1.0, "s", "<", 2.0)
        assert kept() == (False, ["first"])
        yield row("second", 3.0, "s", "<", 2.0)
        raise end

    arguments = ["--quick", "--out", str(path)]
    wrong = ArithmeticError("the rank at d = 3 must be 10")
    monkeypatch.setattr(table, "rows", partial(interrupted, wrong))
    assert table.main(arguments) == 1
    assert capsys.readouterr().err == f"bench: {wrong}; 2 rows before it are kept\n"
    assert kept() == (False, ["first", "second"])
    path.write_text("of an earlier run")
    monkeypatch.setattr(table, "rows", partial(interrupted, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        table.main(arguments)
    assert kept() == (False, ["first", "second"])


def test_memory_that_is_quadratic_is_a_missed_target(load, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = load("kernels")
    monkeypatch.setattr(kernels, "walk_bytes", lambda n, sizes: n * n)
    monkeypatch.setattr(kernels, "geodesic_bytes", lambda n, sizes: 7 * n)
    assert [row.met for row in kernels.memory(kernels.QUICK)] == [False, True]


def test_what_is_wrong_is_no_measurement(load, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels, suite = load("kernels"), load("suite")
    kernels.agree(4)
    honest = kernels.chunked
    with monkeypatch.context() as planted:
        planted.setattr(kernels, "chunked", lambda q, k, v, c: honest(q, k, v + 1, c))
        with pytest.raises(ArithmeticError, match="must equal the masked quadratic form"):
            kernels.agree(4)
    walk = kernels.gated_mixture.right_side
    with monkeypatch.context() as planted:
        planted.setattr(
            kernels.gated_mixture, "right_side",
            lambda layer, cell: walk(layer.at_rows(torch.arange(95, -1, -1)), cell),
        )  # fmt: skip
        with pytest.raises(ArithmeticError, match="the walk of CW2 must hold its bound: operator"):
            kernels.holds(kernels.QUICK)
    monkeypatch.setattr(suite, "peer", lambda rows: 9)
    with pytest.raises(ArithmeticError, match="SymPy's rank at d = 3 must be 10"):
        list(suite.ranks(3, 4, 1))


def test_the_slowest_theorem_is_read_from_a_report(load) -> None:
    suite = load("suite")
    theorems = [{"id": "CW1", "seconds": 2.0}, {"id": "RA2", "seconds": 16.0}]
    row = suite.slowest(theorems)
    assert (row.value, row.met, row.notes) == (16.0, False, ("RA2, of 2 theorems",))
    nothing = suite.slowest([])
    assert (nothing.value, nothing.met) == (None, False)
    assert str(nothing).startswith("its slowest theorem: FAILED (target <= 15): MISSED")


def test_a_suite_that_fails_has_no_duration(load, monkeypatch: pytest.MonkeyPatch) -> None:
    suite, status = load("suite"), 1
    monkeypatch.setattr(
        suite.subprocess, "run",
        lambda *_, **__: SimpleNamespace(returncode=status, stdout="a\n3 failed\n", stderr=""),
    )  # fmt: skip
    rows = list(suite.durations(run=True))
    assert [(row.value, row.met) for row in rows] == 3 * [(None, False)]
    assert [row.met for row in suite.durations(run=False)] == [None, None, None]
    assert rows[2].notes == ("failed with status 1: 3 failed",)
    status = 0
    assert list(suite.durations(run=True))[2].met is True
