"""CW1's property: falsehoods planted in walks of one head, and corner cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from numerics.walks import Walk
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)


def transposed(sound: Any, *given: Any) -> Walk:
    walk = sound(*given)
    square = walk.transports.shape[0] == walk.transports.shape[1]
    return replace(walk, transports=walk.transports.T.copy()) if square else walk


def value_bias_not_scaled(sound: Any, p: Any, w_v: Any, w_o: Any, b_v: Any, b_o: Any) -> Walk:
    return replace(
        sound(p, w_v, w_o), offset=np.zeros((len(p), 1), p.dtype) + (b_v[None] @ w_o + b_o)
    )


def nan_in_masked_rows(sound: Any, logits: Any, allowed: Any = None) -> Any:
    p = sound(logits, allowed)
    p[p.sum(axis=1) == 0] = np.nan
    return p


FALSEHOODS = {
    "transposed": Plant("constant_transport", "single_head_walk", transposed),
    "value bias not scaled": Plant(
        "constant_transport", "single_head_walk", value_bias_not_scaled),
    "nan in masked rows": Plant(
        "constant_transport", "softmax_walk", nan_in_masked_rows, says="nan"),
}  # fmt: skip
CORNERS: dict[str, Callable[[Any], bool]] = {
    "one key": lambda s: s.logits.shape[1] == 1,
    "cross-attention": lambda s: s.logits.shape[0] != s.logits.shape[1],
    "a row that sees nothing": lambda s: (
        not s.sink and s.allowed is not None and not s.allowed.any(axis=1).all()
    ),
    "a sink": lambda s: s.sink,
    "single precision": lambda s: s.x.dtype == np.float32,
}
