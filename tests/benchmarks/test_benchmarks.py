"""The benchmarks run at tiny sizes, and what they fit and print is right."""

import importlib
import re
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest

from numerics.scores import costs

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch):
    """Imports a benchmark by name: the folder is no part of the installed packages."""
    monkeypatch.syspath_prepend(ROOT)

    def module(name: str) -> ModuleType:
        return importlib.import_module(f"benchmarks.{name}")

    return module


def test_the_rank_runs_beside_its_peer(load, capsys: pytest.CaptureFixture[str]) -> None:
    load("rank").main(["--repeats", "1", "--width", "3", "--largest", "4"])
    machine, first, ours, peer, ratio, last, alone = capsys.readouterr().out.splitlines()
    assert re.search(r"\d+ cores.*python-flint \d", machine)
    assert (first, last) == ("d = 3, 10 x 10", "d = 4, 15 x 15")
    for line in (ours, peer, alone):
        assert re.search(r" [0-9.e-]+ s \(median [0-9.e-]+, longest [0-9.e-]+\)$", line)
    assert re.search(r"[0-9.]+ x \(target 20 x\)$", ratio)


def test_a_rank_that_falls_short_is_no_measurement(load, monkeypatch: pytest.MonkeyPatch) -> None:
    rank = load("rank")
    lattice = rank.PrincipalLattice
    monkeypatch.setattr(lattice, "directions", lambda self: 0 * self.tokens())
    with pytest.raises(ArithmeticError, match=r"ranks must be 10, got \(5, 5\)"):
        rank.side_by_side(3, 1)
    with pytest.raises(ArithmeticError, match="the rank at d = 3 must be 10"):
        rank.largest(3, 1)


def test_every_exponent_is_printed_beside_that_of_the_counts(
    load, capsys: pytest.CaptureFixture[str]
) -> None:
    load("exponents").main(["--tiny", "--repeats", "1"])
    lines = capsys.readouterr().out.splitlines()[2:]
    names = [re.split(r" {2,}", line)[0] for line in lines]
    quantities = ("factorisation", "G^-1 v", "G v", "distances of all pairs")
    expected = {f"{q} in {s}" for q in quantities for s in "dr"}
    assert set(names) == expected | {"explicit inverse in d", "distances of all pairs in n"}
    for line in lines:
        found = re.findall(r"(-?\d+\.\d\d) \[(-?\d+\.\d\d), (-?\d+\.\d\d)\]", line)
        assert len(found) == 2, line
        assert all(float(low) <= float(high) for _, low, high in found), line


def test_counts_at_full_sizes_have_the_exponents_of_the_theorems(load) -> None:
    """The polynomials of RA6 and RA7 over the sizes that are measured."""
    exponents = load("exponents")
    sizes, fitted = exponents.Sizes(), exponents.fitted
    for part, d_slope, r_slope in (("preparation", 1, 2), ("application", 1, 1)):
        in_d = fitted(sizes.widths, [getattr(costs.solve_counts(d, sizes.rank), part)
                                     for d in sizes.widths])  # fmt: skip
        in_r = fitted(sizes.ranks, [getattr(costs.solve_counts(sizes.width, r), part)
                                    for r in sizes.ranks])  # fmt: skip
        assert d_slope - 0.02 < in_d.low <= in_d.slope <= in_d.high < d_slope + 0.001
        assert r_slope - 0.15 < in_r.low <= in_r.slope <= in_r.high < r_slope + 0.001
    d, r = sizes.pair_width, sizes.pair_rank
    in_n = fitted(sizes.lengths, [costs.distances_count(n, n, d, r) for n in sizes.lengths])
    assert 1.98 < in_n.low <= in_n.high <= 2


def test_a_power_has_its_exponent_and_others_a_range(load) -> None:
    fitted = load("exponents").fitted
    cubes = fitted((2, 4, 8, 16), [5.0 * n**3 for n in (2, 4, 8, 16)])
    assert max(abs(v - 3) for v in (cubes.slope, cubes.low, cubes.high)) < 1e-12
    mixed = fitted((1, 2, 4), [1.0, 2.0, 8.0])
    assert (round(mixed.low, 9), round(mixed.slope, 9), round(mixed.high, 9)) == (1, 1.5, 2)
    with pytest.raises(ValueError, match="values must be three or more, one a size, got 2"):
        fitted((1, 2), [1.0, 2.0])
    with pytest.raises(ValueError, match="sizes and values must be positive"):
        fitted((1, 2, 3), [1.0, 0.0, 2.0])


def test_times_are_counted_after_one_run_that_is_not(load) -> None:
    timed, calls = load("times").timed, []
    first, second = timed([lambda: calls.append("a"), lambda: calls.append("b")], 3)
    assert calls == ["a", "b"] * 4
    assert len(first.seconds) == len(second.seconds) == 3
    assert first.least == min(first.seconds)
    with pytest.raises(ValueError, match="repeats must be at least 1, got 0"):
        timed([], 0)


def test_the_page_of_overheads_holds_the_published_lengths(
    load, capsys: pytest.CaptureFixture[str]
) -> None:
    load("overhead").main([])
    page = capsys.readouterr().out
    for row in (
        "| **1024** | 18 % / 32 % | 45 % / 80 % | 82 % / 143 % |",
        "| **8192** | 24 % / 35 % | 59 % / 88 % | 106 % / 159 % |",
        "| **8192** | 14 % / 27 % | 34 % / 68 % | 61 % / 122 % |",
    ):
        assert row in page
    assert "the scores add 14 % or more (Llama-3-70B, r = 1), 27 %" in page
    share = costs.score_overhead(costs.GPT_2, 242, 1), costs.score_overhead(costs.GPT_2, 243, 1)
    assert "| GPT-2 | 5.0 % | 242 | 94 | 51 |" in page
    assert share[0] <= Fraction(1, 20) < share[1]
    tables = page.split("\n\n")
    assert all(len({line.count("|") for line in t.splitlines()}) == 1 for t in tables if "|" in t)
