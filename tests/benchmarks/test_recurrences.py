"""The times of linear attention: what is printed, and the multiplications that are counted."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def benchmark_of_recurrences(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.recurrences")


def test_both_forms_are_timed_at_every_length(
    benchmark_of_recurrences, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark_of_recurrences.main(["--n", "64", "128", "256", "--d", "2", "--repeats", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines[1:] if not line.startswith(" ")] == [
        "chunks of 64", "token by token", "multiplications by chunks",
    ]  # fmt: skip
    assert sum(line.startswith("  n = ") for line in lines) == 6
    assert len([line for line in lines if re.search(r"exponent of n +-?\d+\.\d\d \[", line)]) == 3
    assert lines[-1].split() == ["exponent", "of", "n", "1.00", "[1.00,", "1.00]"]


def test_multiplications_are_counted_chunk_by_chunk(benchmark_of_recurrences) -> None:
    count = benchmark_of_recurrences.multiplications
    # Two tokens of width 1 at once: 4 scores and 4 decays of them, 4 by the values; 2 queries
    # decayed and 2 times the state; 2 keys decayed and 2 times the values, the state decayed.
    assert count(2, 1, 2) == 4 + 4 + 4 + 2 + 2 + 2 + 2 + 1
    assert count(5, 3, 2) == 2 * count(2, 3, 2) + count(1, 3, 1)
    assert [count(n, 64, 64) // count(64, 64, 64) for n in (64, 640, 1_000_000 // 64 * 64)] == [
        1, 10, 15_625,
    ]  # fmt: skip


def test_each_form_is_timed_under_its_own_name(
    benchmark_of_recurrences, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times, ran = benchmark_of_recurrences.Times, []

    def timed(actions, repeats: int):
        for action in actions:
            action()
        seconds = {"chunked": 1.0, "recurrent": 7.0}[ran[-1][0]]
        return [times((seconds * n, 9.0 * n)) for n, _ in enumerate(actions, 1)]

    def recorded(name: str) -> None:
        monkeypatch.setattr(
            benchmark_of_recurrences, name, lambda *parts: ran.append((name, len(parts[0])))
        )

    for name in ("chunked", "recurrent"):
        recorded(name)
    monkeypatch.setattr(benchmark_of_recurrences, "timed", timed)
    benchmark_of_recurrences.main(["--n", "64", "128", "256", "--d", "2"])
    assert ran == [(name, n) for name in ("chunked", "recurrent") for n in (64, 128, 256)]
    printed = capsys.readouterr().out
    chunks, tokens = printed.partition("token by token")[::2]
    assert re.findall(r"n = \d+ +(\d+) s", chunks) == ["1", "2", "3"]
    assert re.findall(r"n = \d+ +(\d+) s", tokens) == ["7", "14", "21"]
