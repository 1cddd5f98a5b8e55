"""Measured exponents of low-rank metrics: times against d and r, slopes by log-log fits.

Run `python -m benchmarks.woodbury`. Beside every measured exponent stands that of the exact counts
over the same sizes (RA6): at a finite rank the terms of lower order lower it. A slope is given with
the range of the slopes between neighbouring sizes. The explicit inverse, which forms d x d, is
measured at smaller widths.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from numerics.costs import SolveCounts, distances_count, solve_counts
from numerics.metrics import LowRankMetric, pair_distances2

WIDTHS, RANKS, LENGTHS = (8192, 16384, 32768, 65536), (16, 32, 64, 128), (256, 512, 1024, 2048)
SMALL = (512, 1024, 2048, 4096)
RANK, WIDTH, VECTORS = 32, 16384, 16


@dataclass(frozen=True)
class Exponent:
    """Slope of log values against log sizes, and the range of the slopes between neighbours."""

    slope: float
    low: float
    high: float


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


def seconds(action: Callable[[], object], repeats: int) -> float:
    """Median time of an action after one run that does not count."""
    action()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return median(times)


def metric_of(d: int, r: int) -> LowRankMetric:
    """A well-conditioned metric, the same for the same sizes."""
    rng = np.random.default_rng(d + r)
    return LowRankMetric(np.exp(rng.normal(size=d)), rng.normal(size=(d, r)))


def prepare(metric: LowRankMetric) -> object:
    """The factorisation: a new object, since a metric keeps its own."""
    return LowRankMetric(metric.D, metric.U).logdet()


def apply_inverse(metric: LowRankMetric) -> object:
    """G^-1 at several vectors, with the bound on its error."""
    return metric.solve(np.tile(metric.D, (VECTORS, 1)))


def distances(n: int) -> Callable[[], object]:
    """All pairs among n tokens of width 64 in metrics of rank 4."""
    rng = np.random.default_rng(n)
    metric = LowRankMetric(np.exp(rng.normal(size=(n, 64))), rng.normal(size=(n, 64, 4)))
    x = rng.normal(size=(n, 64))
    return lambda: pair_distances2(metric, x)


def explicit(metric: LowRankMetric) -> object:
    """G^-1 as a matrix, for comparison only."""
    return metric.solve(np.eye(len(metric.D)))


def report(name: str, sizes: Sequence[int], times: Sequence[float], counts: Sequence[int]) -> str:
    """One line: the measured exponent, its range, and that of the counts."""
    found, expected = fitted(sizes, times), fitted(sizes, counts)
    interval = f"[{found.low:.2f}, {found.high:.2f}]"
    return f"{name:<34}{found.slope:6.2f} {interval:<16}{expected.slope:6.2f}"


def counted(d: Sequence[int], r: Sequence[int], part: Callable[[SolveCounts], int]) -> list[int]:
    """A count at every pair of sizes."""
    return [part(solve_counts(width, rank)) for width, rank in zip(d, r, strict=True)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; `--repeats` runs each size so often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args(arguments).repeats
    print(f"{'exponent of':<34}{'time':>6} {'between sizes':<16}{'count':>6}")
    by_width = [metric_of(d, RANK) for d in WIDTHS]
    by_rank = [metric_of(WIDTH, r) for r in RANKS]
    small = [metric_of(d, RANK) for d in SMALL]
    fixed, wide = [RANK] * len(WIDTHS), [WIDTH] * len(RANKS)
    for name, sizes, metrics, counts, action in (
        ("factorisation in d", WIDTHS, by_width,
         counted(WIDTHS, fixed, lambda c: c.preparation), prepare),
        ("factorisation in r", RANKS, by_rank,
         counted(wide, RANKS, lambda c: c.preparation), prepare),
        ("application in d", WIDTHS, by_width,
         counted(WIDTHS, fixed, lambda c: c.application), apply_inverse),
        ("application in r", RANKS, by_rank,
         counted(wide, RANKS, lambda c: c.application), apply_inverse),
        ("explicit inverse in d", SMALL, small,
         counted(SMALL, fixed, lambda c: c.explicit), explicit),
    ):  # fmt: skip
        times = [seconds(lambda m=metric, do=action: do(m), repeats) for metric in metrics]
        print(report(name, sizes, times, counts), flush=True)
    times = [seconds(distances(n), repeats) for n in LENGTHS]
    counts = [distances_count(n, n, 64, 4) for n in LENGTHS]
    print(report("distances of all pairs in n", LENGTHS, times, counts))


if __name__ == "__main__":
    main()
