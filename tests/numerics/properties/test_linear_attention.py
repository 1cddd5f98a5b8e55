"""AP4 numerically: sums in either order, readouts by moments, and falsehoods planted in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from numerics.properties import linear_attention
from numerics.properties.linear_attention import Sample
from tests.numerics.properties.plant import Plant

EXAMPLES = 40


def features_of_queries_summed(sound: Any, query: Any, key: Any, value: Any) -> Any:
    if isinstance(query, np.ndarray):
        query = np.broadcast_to(query.mean(axis=1, keepdims=True), query.shape)
    return sound(query, key, value)


def last_column_growing(sound: Any, query: Any, key: Any, value: Any) -> Any:
    moments = sound(query, key, value)
    if isinstance(moments, np.ndarray):
        moments[:, -1] *= np.arange(1, len(moments) + 1, dtype=moments.dtype)
    return moments


FALSEHOODS = {
    "features of queries summed": Plant("moments", "by_moments", features_of_queries_summed),
    "softmax between": Plant("reassociation", "by_weights", lambda sound, query, key, value: (
        np.tanh(query @ key.T) @ value if isinstance(query, np.ndarray)
        else sound(query, key, value))),
    "normaliser inside the sum": Plant(
        "moments", "normalised", lambda _, outputs: outputs[:, :-1] / outputs[:, -1:].sum(),
        also=(Plant("", "by_moments", last_column_growing),)),
}  # fmt: skip


ONES = Sample("reassociation", np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), np.ones(1))


CORNERS = {
    "one of each": ONES,
    "zero features": replace(ONES, query=np.zeros((2, 1))),
    "n != p": replace(ONES, query=np.ones((3, 1)), key=np.ones((2, 1)), value=np.ones((2, 4))),
    "one positive key": replace(ONES, clause="moments", value=np.full((1, 2), 3.0)),
}


def test_signed_features_may_have_no_readout() -> None:
    sample = Sample("moments", np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [-1.0, 1.0]]),
                    np.array([[1.0], [0.0]]), np.ones(2))  # fmt: skip
    with pytest.raises(ValueError, match="computed must exceed its error bound"):
        linear_attention.residual(sample)
