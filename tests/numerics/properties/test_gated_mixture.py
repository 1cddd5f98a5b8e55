"""CW2's property: falsehoods planted in gates and transports, and corner cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from numerics.walks import transports
from numerics.walks import walk as walks
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)


def without_the_factor_of_heads(sound: Any, attention: Any, parts: Any, weights: Any = None) -> Any:
    walk = sound(attention, parts, weights)
    return replace(walk, transports=walk.transports / attention.dtype.type(len(attention)))


FALSEHOODS = {
    "without the factor of heads": Plant("gates", "multi_head_walk", without_the_factor_of_heads),
    "unnormalised gates": Plant("gates", "gates", lambda _, attention, weights=None: (
        transports.head_weights(attention, weights)[:, None, None] * attention), walks),
    "key-value heads in turn": Plant(
        "gates", "kv_head", lambda _, h, heads, kv_heads: h % kv_heads, transports),
}  # fmt: skip
CORNERS: dict[str, Callable[[Any], bool]] = {
    "one head": lambda s: len(s.w_o) == 1,
    "shared key-value heads": lambda s: 1 < len(s.w_v) < len(s.w_o),
    "a row that sees nothing": lambda s: s.allowed is not None and not s.allowed.any(axis=-1).all(),
    "a killed walk": lambda s: s.scale < 1,
    "weighted heads": lambda s: s.weights is not None,
    "single precision": lambda s: s.x.dtype == np.float32,
}
