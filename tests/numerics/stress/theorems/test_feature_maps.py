"""Stress of AP7: faults in one side, and widths that have too many features."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from numerics import stress
from numerics.stress.theorems import feature_maps as taylor_pairing
from numerics.stress.theorems.feature_maps import Tokens
from tests.numerics.properties.plant import Plant
from tests.numerics.stress.theorems.sides import Faults, drawn

tokens = partial(drawn, "AP7", n=50, d=12, seed=3)
SPOILS: dict[str, Callable[[Tokens], Tokens]] = {
    "values of other tokens": lambda t: replace(t, value=t.value.roll(1, 0)),
    "keys of other tokens": lambda t: replace(t, key=t.key.roll(1, 0)),
    "a key of 0, paired by 1": lambda t: replace(t, key=torch.cat([t.key[:-1], 0 * t.key[-1:]])),
    "queries and keys swapped": lambda t: replace(t, query=t.key / 12, key=t.query * 12),
    "scores scaled by 1.01": lambda t: replace(t, query=t.query * 1.01),
}  # fmt: skip


def of_degree(degree: int) -> Callable[[Tokens], Any]:
    """Side one by features of another degree."""
    honest = taylor_pairing.taylor_features
    width = Plant("", "_width", lambda _, t: honest(t.key[:1], degree).shape[1])
    features = Plant("", "taylor_features", lambda _, x, __: honest(x, degree), also=(width,))

    def side(t: Tokens) -> Any:
        with pytest.MonkeyPatch.context() as planted:
            features.put(planted, taylor_pairing)
            return tokens(taylor_pairing.CELLS[0], dtype="float32").on(t).left()

    return side


FAULTS = [
    Faults(tokens, SPOILS),
    Faults(
        tokens, {f"features of degree {k}": of_degree(k) for k in (1, 3)}, dtypes="float32",
        sides="left", results=True,
    ),
]  # fmt: skip


def test_numerators_are_those_of_the_polynomial_token_by_token() -> None:
    sides = tokens(taylor_pairing.CELLS[0], dtype="float64")
    query, key, value = sides.inputs.query, sides.inputs.key, sides.inputs.value
    scores = [float(query[7] @ other) for other in key]
    terms = [(1 + s + s * s / 2) * float(v) for s, v in zip(scores, value[:, 3], strict=True)]
    found = float(sides.left().result[7, 3])
    # 50 terms of one sign, nearly: roundings of 50 sums, 91 features and 12 coordinates.
    assert abs(found - sum(terms)) < 400 * 2.0**-53 * sum(map(abs, terms))


def test_a_width_with_too_many_features_fails_with_the_reason() -> None:
    record = stress.run_cell("AP7", None, 4, 1500, None, "float32", "cpu", 0)
    assert record["status"] == "failed"
    assert record["reason"] == "width 1500 has more than 1000000 features of degree 2"
