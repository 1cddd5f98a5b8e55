"""The claim about scale: slopes of (trained - control) over the sizes of one family."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from numerics.trained.records import Numbers

LEAST_SIZES = 3


def thirds(transitions: int) -> list[range]:
    """Transitions l -> l + 1 in three parts, in order, as equal as can be.

    Raises: ValueError for fewer than three: a part would be empty.
    """
    if transitions < 3:
        raise ValueError(f"transitions must be at least 3 to have thirds, got {transitions}")
    ends = [0, *((k * transitions + 1) // 3 for k in (1, 2)), transitions]
    return [range(a, b) for a, b in pairwise(ends)]


@dataclass(frozen=True)
class Effects:
    """log of the number of parameters; trained - control: log CV ratio, and distance of walks."""

    log_size: float
    isometry: float
    depth: float


def effects(numbers: Numbers, parameters: int) -> Effects | None:
    """The size of a model and both effects: CV against gaussian factors, walks of the deep third.

    None where the depth of the model has no thirds. Never the raw numbers: controls move with
    size too.
    """
    ratio = numbers.transports.spreads["cv"].controls["gaussian"].ratio
    if ratio is None or numbers.depth.transitions < 3:
        return None
    table = numbers.depth.views["no_sinks"]["distance"]
    deep = thirds(len(table.trained))[2]
    trained, control = (
        np.mean(np.array([rows[i] for i in deep], float))
        for rows in (table.trained, table.matched.by_text)
    )
    return Effects(
        log_size=math.log(parameters), isometry=math.log(ratio[0]), depth=float(trained - control)
    )


def slope(sizes: Sequence[float], values: Sequence[float]) -> list[float]:
    """[slope, low, high] of values over log sizes, 95% by Student's t.

    Raises: ValueError for fewer than three sizes or sizes that are all one.
    """
    from scipy.special import stdtrit  # slow to import, and seldom asked for

    if len(set(sizes)) < LEAST_SIZES:
        raise ValueError(f"sizes must be at least {LEAST_SIZES} different ones, got {list(sizes)}")
    x, y = (np.asarray(given, float) - np.mean(given) for given in (sizes, values))
    found = float(x @ y / (x @ x))
    error = (float((y - found * x) @ (y - found * x)) / (len(x) - 2) / float(x @ x)) ** 0.5
    reach = float(stdtrit(len(x) - 2, 0.975)) * error
    return [found, found - reach, found + reach]
