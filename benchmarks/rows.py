"""A row of the performance table: what was measured against which target, and the spread."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.times import Times

RELATIONS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}


@dataclass(frozen=True)
class Row:
    """A value, None where it was not measured, in a unit; the target and its relation.

    notes say how the value came about: times with their spread, or why there is none. What was run
    and failed has no value and misses its target, unlike what was not run.
    """

    name: str
    value: float | None
    unit: str
    relation: str
    limit: float
    notes: tuple[str, ...] = ()
    failed: bool = False

    @property
    def target(self) -> str:
        """The target as it is printed."""
        return f"{self.relation} {self.limit:g}"

    @property
    def met(self) -> bool | None:
        """Whether the value is on the right side; None where nothing was run, False for NaN."""
        if self.value is None:
            return False if self.failed else None
        return bool(RELATIONS[self.relation](self.value, self.limit))

    def record(self) -> dict[str, Any]:
        """The row as JSON, which has no NaN and no infinity: null stands for them."""
        known = self.value is not None and math.isfinite(self.value)
        return {
            "name": self.name,
            "value": self.value if known else None,
            "unit": self.unit,
            "target": self.target,
            "met": self.met,
        }

    def __str__(self) -> str:
        absent = "FAILED" if self.failed else "NOT RUN"
        found = absent if self.value is None else f"{self.value:.3g} {self.unit}"
        verdict = {None: "not run", True: "met", False: "MISSED"}[self.met]
        first = f"{self.name}: {found} (target {self.target}): {verdict}"
        return "\n  ".join([first, *self.notes])


def spread(names: Sequence[str], times: Sequence[Times]) -> tuple[str, ...]:
    """A note for each of several actions that took turns."""
    width = max(map(len, names))
    return tuple(f"{name:<{width}}  {found}" for name, found in zip(names, times, strict=True))
