"""The claim about scale: slopes of (trained - control) over the sizes of one family."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

LEAST_SIZES = 3


def thirds(transitions: int) -> list[range]:
    """Transitions l -> l + 1 in three parts, in order, as equal as can be.

    Raises: ValueError for fewer than three: a part would be empty.
    """
    if transitions < 3:
        raise ValueError(f"transitions must be at least 3 to have thirds, got {transitions}")
    ends = [0, *((k * transitions + 1) // 3 for k in (1, 2)), transitions]
    return [range(a, b) for a, b in pairwise(ends)]


def effects(numbers: Mapping[str, Any], parameters: int) -> dict[str, float] | None:
    """log size of a model and both effects, trained - control: log CV ratio, distance of walks.

    None where the depth of the model has no thirds. Never the raw numbers: controls move with
    size too.
    """
    ratio = numbers["transports"]["cv"]["gaussian"]["ratio"]
    table = numbers["depth"]["no_sinks"]["distance"]
    if ratio is None or numbers["depth"]["transitions"] < 3:
        return None
    deep = thirds(len(table["real"]))[2]
    real, control = (
        np.mean(np.array([table[k][i] for i in deep], float)) for k in ("real", "matched")
    )
    return {
        "log_size": math.log(parameters),
        "isometry": math.log(ratio[0]),
        "depth": float(real - control),
    }


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
