"""Rows of the performance table from given times: the targets, their direction, what is divided.

Times of three runs are handed to the row in place of measured ones: its value must be made of the
shortest of each side, and both sides must have been timed in one call, in turn.
"""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Imports a benchmark by name: the folder is no part of the installed packages."""
    monkeypatch.syspath_prepend(ROOT)
    return lambda name: importlib.import_module(f"benchmarks.{name}")


def given(module: ModuleType, least: list[float], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Hands the module times of these least seconds, of another spread for each action: means and
    medians have other ratios. Returns the number of actions of each call."""
    times, counts = importlib.import_module("benchmarks.times").Times, []

    def timed(actions: list[Any], repeats: int) -> list[Any]:
        counts.append(len(actions))
        taken = [least.pop(0) for _ in actions]
        return [times((t * (2 + 3 * i), t, t * (1.5 + i))) for i, t in enumerate(taken)]

    monkeypatch.setattr(module, "timed", timed)
    return counts


def test_the_share_of_the_walk_is_its_operations_over_its_least_time_and_the_rate(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = load("kernels")
    counts = given(kernels, [4.0, 5.0, 0.5], monkeypatch)
    n, d, heads, size = 96, 16, 2, 128
    row = kernels.walk_rate(kernels.QUICK)
    transports, carried = heads * d * (d // heads) * d, heads * n * d * d
    walk = heads * n * n * (d // heads) + n * (heads * n) * d
    expected = 2 * (transports + carried + walk) / 4 / (2 * size**3 / 0.5)
    assert abs(row.value - expected) <= 4 * 2.0**-53 * expected
    assert (row.target, row.unit, counts) == (">= 0.9", "of the matrix rate", [3])
    assert row.notes[0] == "walk                  4 s (median 6, longest 8)"


def test_riemannian_attention_is_held_to_the_operation_ratio(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = load("kernels")
    counts = given(kernels, [21.0, 3.0], monkeypatch)
    row = kernels.geodesic_ratio(kernels.QUICK)
    # Of rank 2: 2 + 3 products where there are 2.
    assert abs(row.value - 7 / 2.5) <= 4 * 2.0**-53 * row.value
    assert (row.target, row.met, counts) == ("<= 1.15", False, [2])
    given(kernels, [2.5, 1.0], monkeypatch)
    assert kernels.geodesic_ratio(kernels.QUICK).met is True
    assert kernels.Case(4096, 8, 64, kernels.Sizes().rank).ratio == 3.5


def test_linear_attention_must_beat_both_peers_at_every_length(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = load("kernels")
    # Chunked, quadratic, SDPA at 128, 256 and 512 tokens: linear, and once no faster than SDPA.
    least = [1.0, 4.0, 3.0, 2.0, 16.0, 2.0, 4.0, 64.0, 32.0]
    counts = given(kernels, least, monkeypatch)
    slope, quadratic, sdpa = kernels.linear_attention(kernels.QUICK)
    assert counts == [3, 3, 3]
    assert abs(slope.value - 1) < 1e-12
    assert (slope.target, slope.met) == ("<= 1.1", True)
    assert (quadratic.value, quadratic.target, quadratic.met) == (4.0, "> 1", True)
    assert (sdpa.value, sdpa.target, sdpa.met) == (1.0, "> 1", False)
    assert sdpa.notes == ("n = 128: 3 x", "n = 256: 1 x", "n = 512: 8 x")
    assert min(kernels.Sizes().linear) == 2048


def test_linear_attention_that_is_quadratic_misses(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = load("kernels")
    given(kernels, [1.0, 9.0, 9.0, 4.0, 99.0, 99.0, 16.0, 999.0, 999.0], monkeypatch)
    slope, *_ = kernels.linear_attention(kernels.QUICK)
    assert (round(slope.value, 9), slope.met) == (2.0, False)
    assert slope.notes[-1] == "slopes between neighbours from 2.00 to 2.00"


def test_memory_is_linear_between_all_neighbours(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = load("kernels")
    bytes_at = dict(zip(kernels.QUICK.memory, (8e6, 8e6, 32e6), strict=True))
    monkeypatch.setattr(kernels, "walk_bytes", lambda n, sizes: bytes_at[n])
    monkeypatch.setattr(kernels, "geodesic_bytes", lambda n, sizes: n)
    walk, geodesic = kernels.memory(kernels.QUICK)
    assert (round(walk.value, 9), walk.target, walk.met) == (2.0, "<= 1.1", False)
    assert geodesic.met is True


def test_ranks_are_compared_with_sympy_and_timed_at_the_largest_width(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = load("suite")
    counts = given(suite, [0.5, 15.0, 5.0], monkeypatch)
    ratio, largest = suite.ranks(3, 4, 1)
    assert (ratio.value, ratio.target, ratio.met) == (30.0, ">= 20", True)
    assert (largest.value, largest.target, largest.met) == (5.0, "< 5", False)
    assert counts == [2, 1]


def test_the_whole_table_has_the_sizes_of_the_targets(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, asked = load("table"), {}
    monkeypatch.setattr(table.kernels, "measured", lambda sizes: asked.update(sizes=sizes) or ())
    monkeypatch.setattr(table.suite, "ranks", lambda *widths: asked.update(ranks=widths) or ())
    monkeypatch.setattr(table.suite, "durations", lambda run: asked.update(durations=run) or ())
    assert list(table.rows(quick=False, durations=True)) == []
    sizes = asked["sizes"]
    assert (sizes.n, sizes.d, sizes.heads, sizes.rank) == (4096, 512, 8, 4)
    assert len(sizes.memory) == len(sizes.linear) == 3
    assert sizes.repeats >= 3
    assert asked["ranks"][:2] == (10, 64)
    assert asked["durations"] is True


def test_a_rank_that_is_no_rank_over_Q_is_no_measurement(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, honest = load("suite"), load("suite").rank_of

    def modular(rows: Any) -> Any:
        return SimpleNamespace(rank=honest(rows).rank, exact=len(rows) == 10)

    monkeypatch.setattr(suite, "rank_of", modular)
    with pytest.raises(ArithmeticError, match="the rank at d = 4 must be 15 over Q"):
        list(suite.ranks(3, 4, 1))
    monkeypatch.setattr(suite, "rank_of", lambda rows: SimpleNamespace(rank=10, exact=False))
    with pytest.raises(ArithmeticError, match="the rank at d = 3 must be 10 over Q, got 10"):
        list(suite.ranks(3, 4, 1))


def test_the_suite_is_timed_by_its_own_commands(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    suite, commands = load("suite"), []

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        commands.append(command[1:])
        if "--json" in command:
            theorems = [{"id": "CW1", "seconds": 15.0}, {"id": "RA2", "seconds": 0.5}]
            Path(command[-1]).write_text(json.dumps({"theorems": theorems}))
        return SimpleNamespace(returncode=0, stdout="all well\n", stderr="")

    clock = iter((0.0, 120.0, 0.0, 119.5))
    monkeypatch.setattr(suite.subprocess, "run", run)
    monkeypatch.setattr(suite, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    verify, slowest, tests = suite.durations(run=True)
    assert commands[0][:-1] == ["-m", "paper_checks", "verify", "--no-formal", "--jobs", "2",
                                "--json"]  # fmt: skip
    assert commands[1] == ["-m", "pytest", "-q", "-m", "not slow", "-n", "2", "--dist", "loadgroup"]
    assert (verify.value, verify.target, verify.met) == (120.0, "< 120", False)
    assert (slowest.value, slowest.target, slowest.met) == (15.0, "<= 15", True)
    assert (tests.value, tests.target, tests.met) == (119.5, "< 120", True)


def test_attention_is_checked_in_every_head_and_up_to_the_last_row(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    attention, case = load("attention"), load("attention").Case(40, 3, 8, 2)
    attention.check(case)
    honest = attention.geodesic_attention
    for head, row in ((0, 0), (2, 0), (0, 39), (2, 39)):

        def spoilt(points: Any, metric: Any, values: Any, at: Any = (head, row)) -> torch.Tensor:
            found = honest(points, metric, values).clone()
            found[0, at[0], at[1]] += 0.1
            return found

        monkeypatch.setattr(attention, "geodesic_attention", spoilt)
        with pytest.raises(ArithmeticError, match="attention must be exact within"):
            attention.check(case)


def test_the_shares_of_both_attentions_are_their_products_over_the_rate(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    attention = load("attention")
    counts = given(attention, [2.0, 1.0, 1024**3 * 2 / 1e6], monkeypatch)
    lines = attention.side_by_side(attention.Case(100, 2, 8, 4), 1)
    # 2 (4 + 3) n^2 H w in 2 s and 4 n^2 H w in 1 s, at 10^6 operations a second.
    assert "share of the matrix rate 1.12 and 0.64" in lines
    assert "least / least            2.00 x, 0.57 of the operation ratio 3.5 (target 1.15)" in lines
    assert counts == [3]


def test_the_page_of_ranks_divides_theirs_by_ours(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rank = load("rank")
    counts = given(rank, [0.5, 15.0], monkeypatch)
    assert rank.side_by_side(3, 1).endswith("least / least            30.0 x (target 20 x)")
    assert counts == [2]
