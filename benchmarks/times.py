"""Times of a measurement with their spread."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Times:
    """Seconds of one action, run several times; the least is the least disturbed."""

    seconds: tuple[float, ...]

    @property
    def least(self) -> float:
        """The shortest time."""
        return min(self.seconds)

    def __str__(self) -> str:
        middle, longest = median(self.seconds), max(self.seconds)
        return f"{self.least:.3g} s (median {middle:.3g}, longest {longest:.3g})"


def timed(actions: Sequence[Callable[[], object]], repeats: int) -> list[Times]:
    """Times of several actions in turn, after one run each that does not count.

    Raises ValueError unless repeats is positive.
    """
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, got {repeats}")
    found: list[list[float]] = [[] for _ in actions]
    for lap in range(repeats + 1):
        for action, seconds in zip(actions, found, strict=True):
            start = time.perf_counter()
            action()
            if lap:
                seconds.append(time.perf_counter() - start)
    return [Times(tuple(seconds)) for seconds in found]
