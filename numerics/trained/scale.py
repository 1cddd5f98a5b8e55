"""The claim about scale: slopes of (trained - control) over the sizes of one family."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

LEAST_SIZES = 3


def effects(numbers: Mapping[str, Any], parameters: int) -> dict[str, float] | None:
    """log size of a model and both effects, trained - control: log CV ratio, distance of walks.

    None where the depth of the model has no thirds. Never the raw numbers: controls move with
    size too.
    """
    ratio = numbers["transports"]["cv"]["gaussian"]["ratio"]
    table = numbers["depth"]["no_sinks"]["distance"]
    if ratio is None or numbers["depth"]["transitions"] < 3:
        return None
    deep = slice(-(-2 * len(table["real"]) // 3), None)
    real, control = (np.mean(np.array(table[k][deep], float)) for k in ("real", "matched"))
    return {
        "log_size": math.log(parameters),
        "isometry": math.log(ratio[0]),
        "depth": float(real - control),
    }


def slope(sizes: Sequence[float], values: Sequence[float]) -> list[float]:
    """[slope, low, high] of values over log sizes, 95% by Student's t.

    Raises: ValueError for fewer than three sizes or sizes that are all one.
    """
    from scipy.stats import linregress, t  # slow to import, and seldom asked for

    if len(set(sizes)) < LEAST_SIZES:
        raise ValueError(f"sizes must be at least {LEAST_SIZES} different ones, got {list(sizes)}")
    fit = linregress(sizes, values)
    reach = float(t.ppf(0.975, len(sizes) - 2)) * fit.stderr
    return [float(fit.slope), float(fit.slope - reach), float(fit.slope + reach)]
