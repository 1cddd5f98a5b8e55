"""Measured exponents of low-rank metrics: times against d, r and n, slopes by log-log fits.

Run `python -m benchmarks.exponents`. Beside every measured exponent stands that of the exact counts
of multiplications over the same sizes (RA6, RA7): at finite sizes the terms of lower order lower
it, and so do, in the times, the costs of a call. A slope is given with the range of the slopes
between neighbouring sizes. The explicit inverse, which forms d x d, is measured at smaller widths.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.times import timed
from numerics.metrics.low_rank import LowRankMetric, pair_distances2
from numerics.runs.provenance import machine
from numerics.scores.costs import distances_count, solve_counts

VECTORS = 16
Action = Callable[[], object]


@dataclass(frozen=True)
class Sizes:
    """Widths, ranks and lengths that are varied, and the ones that are held."""

    widths: tuple[int, ...] = (8192, 16384, 32768, 65536)
    ranks: tuple[int, ...] = (16, 32, 64, 128)
    small: tuple[int, ...] = (512, 1024, 2048, 4096)
    width: int = 16384
    rank: int = 32
    lengths: tuple[int, ...] = (256, 512, 1024, 2048)
    pair_widths: tuple[int, ...] = (64, 128, 256, 512)
    pair_ranks: tuple[int, ...] = (4, 8, 16, 32)
    length: int = 768
    pair_width: int = 64
    pair_rank: int = 4


TINY = Sizes((64, 128, 256), (2, 4, 8), (16, 32, 64), 64, 4, (16, 32, 64), (8, 16, 32), (1, 2, 4),
             16, 8, 2)  # fmt: skip
"""Sizes that show nothing but that the code runs."""


@dataclass(frozen=True)
class Curve:
    """A quantity over sizes: what is run at each, and the multiplications that it needs."""

    name: str
    sizes: tuple[int, ...]
    actions: tuple[Action, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Exponent:
    """Slope of log values against log sizes, and the range of the slopes between neighbours."""

    slope: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.slope:5.2f} [{self.low:.2f}, {self.high:.2f}]"


def fitted(sizes: Sequence[int], values: Sequence[float]) -> Exponent:
    """The exponent of values that grow like a power of the sizes.

    Raises ValueError for fewer than three sizes, or numbers that are not positive.
    """
    if len(sizes) != len(values) or len(sizes) < 3:
        raise ValueError(f"values must be three or more, one a size, got {len(values)}")
    if min(*sizes, *values) <= 0:
        raise ValueError("sizes and values must be positive")
    x, y = np.log(np.asarray(sizes, float)), np.log(np.asarray(values, float))
    steps = np.diff(y) / np.diff(x)
    return Exponent(float(np.polyfit(x, y, 1)[0]), float(steps.min()), float(steps.max()))


def metric_of(d: int, r: int, *batch: int) -> LowRankMetric:
    """A well-conditioned metric, or a batch of them, the same for the same sizes."""
    rng = np.random.default_rng(d + r)
    return LowRankMetric(np.exp(rng.normal(size=(*batch, d))), rng.normal(size=(*batch, d, r)))


def factorisation(d: int, r: int) -> tuple[Action, int]:
    """What comes before the first application: a new object each time, a metric keeps its own."""
    metric = metric_of(d, r)
    action = lambda: LowRankMetric(metric.D, metric.U).logdet()  # noqa: E731
    return action, solve_counts(d, r).preparation


def solution(d: int, r: int) -> tuple[Action, int]:
    """G^-1 at several vectors, with the bound on its error, factored before."""
    metric = metric_of(d, r)
    v = np.tile(metric.D, (VECTORS, 1))
    metric.solve(v)
    return lambda: metric.solve(v), VECTORS * solve_counts(d, r).application


def application(d: int, r: int) -> tuple[Action, int]:
    """G at several vectors: d + 2 d r multiplications each."""
    metric = metric_of(d, r)
    v = np.tile(metric.D, (VECTORS, 1))
    return lambda: metric.apply(v), VECTORS * (d + 2 * d * r)


def explicit(d: int, r: int) -> tuple[Action, int]:
    """G^-1 as a matrix, for comparison only."""
    metric, eye = metric_of(d, r), np.eye(d)
    return lambda: metric.solve(eye), solve_counts(d, r).explicit


def distances(n: int, d: int, r: int) -> tuple[Action, int]:
    """All pairs among n tokens."""
    metric, x = metric_of(d, r, n), np.random.default_rng(n).normal(size=(n, d))
    return lambda: pair_distances2(metric, x), distances_count(n, n, d, r)


def curves(s: Sizes) -> Iterator[Curve]:
    """Everything that is measured, one at a time: the arrays of all would not fit together."""
    for name, make in (
        ("factorisation", factorisation),
        ("G^-1 v", solution),
        ("G v", application),
    ):
        yield curve(f"{name} in d", s.widths, [make(d, s.rank) for d in s.widths])
        yield curve(f"{name} in r", s.ranks, [make(s.width, r) for r in s.ranks])
    yield curve("explicit inverse in d", s.small, [explicit(d, s.rank) for d in s.small])
    pairs = "distances of all pairs"
    found = [distances(n, s.pair_width, s.pair_rank) for n in s.lengths]
    yield curve(f"{pairs} in n", s.lengths, found)
    found = [distances(s.length, d, s.pair_rank) for d in s.pair_widths]
    yield curve(f"{pairs} in d", s.pair_widths, found)
    found = [distances(s.length, s.pair_width, r) for r in s.pair_ranks]
    yield curve(f"{pairs} in r", s.pair_ranks, found)


def curve(name: str, sizes: tuple[int, ...], found: Sequence[tuple[Action, int]]) -> Curve:
    """A curve from what is run and counted at each size."""
    actions, counts = zip(*found, strict=True)
    return Curve(name, sizes, actions, counts)


def report(measured: Curve, repeats: int) -> str:
    """One line: the measured exponent with its range, and that of the counts with its own."""
    times = [times.least for times in timed(measured.actions, repeats)]
    found, expected = fitted(measured.sizes, times), fitted(measured.sizes, measured.counts)
    sizes = f"{measured.sizes[0]} .. {measured.sizes[-1]}"
    return f"{measured.name:<30}{sizes:<16}{found!s:<22}{expected}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="runs at each size (default 5)")
    parser.add_argument("--tiny", action="store_true", help="sizes that only show that it runs")
    chosen = parser.parse_args(arguments)
    print(machine("numpy"))
    print(f"{'exponent of':<30}{'sizes':<16}{'time [between sizes]':<22}multiplications")
    for measured in curves(TINY if chosen.tiny else Sizes()):
        print(report(measured, chosen.repeats), flush=True)


if __name__ == "__main__":
    main()
