"""The performance table: what is written, what counts as met, what is no measurement."""

import importlib
import json
import math
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import torch

ROOT = Path(__file__).resolve().parents[1]
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


def test_every_target_has_a_row_with_its_verdict(
    load, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bench" / "results.json"
    load("table").main(["--quick", "--out", str(path)])
    written = json.loads(path.read_text())
    assert set(written) == {"machine", "rows"}
    assert "torch" in written["machine"]["description"]
    rows = written["rows"]
    for name, row in zip(NAMES, rows, strict=True):
        assert row["name"].startswith(name)
        assert set(row) == {"name", "value", "unit", "target", "met"}
        relation, limit = row["target"].split()
        assert row["met"] in (True, False) if row["value"] else row["met"] is None
        if row["value"]:
            sign = 1 if relation == ">=" else -1
            assert row["met"] == (sign * row["value"] >= sign * float(limit))
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
    assert "MISSED" in str(row("x", 3.0, "s", "<=", 2.0))
    assert "x: NOT RUN (target <= 2): not run" in str(row("x", None, "s", "<=", 2.0))


def test_operations_of_the_walk_are_its_products(load) -> None:
    kernels = load("kernels")
    layer = kernels.draw_layer(5, 6, 3, torch.float32, kernels.CPU, 0)
    transports, carried = 3 * 6 * 2 * 6, 3 * 5 * 6 * 6
    scores, walk = 3 * 5 * 5 * 2, 5 * (3 * 5) * 6
    assert kernels.walk_operations(layer) == 2 * (transports + carried + scores + walk)


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
    with pytest.raises(ArithmeticError, match="the rank at d = 3 must be 10"):
        list(suite.ranks(3, 4, 1))


def test_the_slowest_theorem_is_read_from_a_report(load) -> None:
    suite = load("suite")
    theorems = [{"id": "CW1", "seconds": 2.0}, {"id": "RA2", "seconds": 16.0}]
    row = suite.slowest(theorems)
    assert (row.value, row.met, row.notes) == (16.0, False, ("RA2, of 2 theorems",))
    assert suite.slowest([]).met is None


def test_a_suite_that_fails_has_no_duration(load, monkeypatch: pytest.MonkeyPatch) -> None:
    suite, status = load("suite"), 1
    monkeypatch.setattr(
        suite.subprocess, "run",
        lambda *_, **__: SimpleNamespace(returncode=status, stdout="a\n3 failed\n", stderr=""),
    )  # fmt: skip
    rows = list(suite.durations(run=True))
    assert [row.met for row in rows] == [None, None, None]
    assert rows[2].notes == ("failed with status 1: 3 failed",)
    status = 0
    assert list(suite.durations(run=True))[2].met is True
