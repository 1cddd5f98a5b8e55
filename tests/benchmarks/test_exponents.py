"""The exponents of low-rank metrics: what is run at each size, what is counted, what is fitted."""

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from numerics.metrics import LowRankMetric
from numerics.scores import costs

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Imports a benchmark by name: the folder is no part of the installed packages."""
    monkeypatch.syspath_prepend(ROOT)
    return lambda name: importlib.import_module(f"benchmarks.{name}")


def test_every_curve_runs_what_it_is_named_after(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    exponents = load("exponents")
    called: list[tuple[str, int]] = []

    def recorded(name: str) -> None:
        honest = getattr(LowRankMetric, name)

        def method(self: LowRankMetric, *arguments: Any) -> Any:
            called.append((name, id(self)))
            kept.append(self)
            return honest(self, *arguments)

        monkeypatch.setattr(LowRankMetric, name, method)

    def pairs(metric: LowRankMetric, x: Any) -> None:
        called.append(("pairs", id(metric)))
        assert len(x) == len(metric.D)

    kept: list[LowRankMetric] = []
    for name in ("solve", "apply", "logdet"):
        recorded(name)
    monkeypatch.setattr(exponents, "pair_distances2", pairs)
    expected = {"factorisation": "logdet", "G^-1 v": "solve", "G v": "apply",
                "explicit inverse": "solve", "distances of all pairs": "pairs"}  # fmt: skip
    curves = list(exponents.curves(exponents.TINY))
    assert len(curves) == 10
    for curve in curves:
        action = curve.actions[0]
        called.clear()
        action()
        action()
        assert [name for name, _ in called] == 2 * [expected[curve.name.rpartition(" in ")[0]]]
        # A metric keeps its factorisation: a second run on the same one would time nothing.
        assert (called[0] != called[1]) == curve.name.startswith("factorisation")


def test_every_curve_counts_the_multiplications_of_its_sizes(load: Any) -> None:
    exponents = load("exponents")
    s, vectors = exponents.TINY, exponents.VECTORS
    counts = {
        "factorisation": lambda d, r: costs.solve_counts(d, r).preparation,
        "G^-1 v": lambda d, r: vectors * costs.solve_counts(d, r).application,
        "G v": lambda d, r: vectors * d * (2 * r + 1),
    }
    found = {curve.name: (curve.sizes, curve.counts) for curve in exponents.curves(s)}
    for name, count in counts.items():
        assert found[f"{name} in d"] == (s.widths, tuple(count(d, s.rank) for d in s.widths))
        assert found[f"{name} in r"] == (s.ranks, tuple(count(s.width, r) for r in s.ranks))
    explicit = tuple(costs.solve_counts(d, s.rank).explicit for d in s.small)
    assert found["explicit inverse in d"] == (s.small, explicit)
    d, r, n = s.pair_width, s.pair_rank, s.length
    for axis, sizes, expected in (
        ("n", s.lengths, [costs.distances_count(m, m, d, r) for m in s.lengths]),
        ("d", s.pair_widths, [costs.distances_count(n, n, w, r) for w in s.pair_widths]),
        ("r", s.pair_ranks, [costs.distances_count(n, n, d, k) for k in s.pair_ranks]),
    ):
        assert found[f"distances of all pairs in {axis}"] == (sizes, tuple(expected))


def test_exponents_are_fitted_to_the_least_times(
    load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    exponents, times = load("exponents"), load("times").Times
    given = [times((9.0, 1.0)), times((4.0, 9.0)), times((16.0, 99.0))]
    monkeypatch.setattr(exponents, "timed", lambda actions, repeats: given)
    curve = exponents.Curve("x in d", (2, 4, 8), (print,) * 3, (2, 4, 8))
    fits = re.findall(r"(-?\d\.\d\d) \[", exponents.report(curve, 1))
    assert fits == ["2.00", "1.00"]
    line = load("recurrences").report("chunks", (2, 4, 8), given).splitlines()[-1]
    assert line.split() == ["exponent", "of", "n", "2.00", "[2.00,", "2.00]"]
