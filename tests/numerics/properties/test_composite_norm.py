"""RA13's property: it holds, is tight, and sees falsehoods planted in norms, layers and bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import find, settings

from numerics.properties import composite_norm, run_property

ONCE = settings(database=None, derandomize=True, deadline=None, max_examples=2000)


@pytest.mark.slow
def test_norms_of_layers_are_exact_up_to_rounding() -> None:
    result = run_property("RA13", composite_norm)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert result.clauses == ("multi_head", "not_a_norm", "submultiplicative")


def columns_twice(M: np.ndarray) -> np.ndarray:
    column, row, _ = TRUE_NORMS(M)
    return np.array([column, row, column], M.dtype)


TRUE_NORMS, TRUE_LAYER = composite_norm.norms, composite_norm.layer
FALSEHOODS: dict[str, tuple[str, Callable[..., Any]]] = {
    "signed sums": ("norms", lambda M: np.array(
        [M.sum(axis=0).max(), M.sum(axis=1).max(), TRUE_NORMS(M)[2]], M.dtype)),
    "norms exchanged": ("norms", lambda M: TRUE_NORMS(M.T)),
    "composite of one norm": ("norms", columns_twice),
    "first head only": ("layer", lambda Z, W: Z[0] @ W[0]),
    "heads crossed": ("layer", lambda Z, W: TRUE_LAYER(Z, W[::-1])),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("falsehood", FALSEHOODS)
def test_other_norms_and_layers_are_rejected(
    falsehood: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(composite_norm, *FALSEHOODS[falsehood])
    result = run_property("RA13", composite_norm, max_examples=60)
    assert not result.ok
    assert "residual / bound" in result.failures[0]


BOUNDS: dict[str, Callable[[np.ndarray, np.ndarray], fmpq]] = {
    "without H": lambda Z, W: TRUE_BOUND(Z, W) / len(Z) ** 2,
    "H once": lambda Z, W: TRUE_BOUND(Z, W) / len(Z),
    "first head's norms": lambda Z, W: len(Z) ** 2 * TRUE_BOUND(Z[:1], W[:1]),
}
TRUE_BOUND = composite_norm.exact_bound


@pytest.mark.slow
@pytest.mark.parametrize("falsehood", BOUNDS)
def test_false_bounds_are_exceeded(falsehood: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composite_norm, "exact_bound", BOUNDS[falsehood])
    result = run_property("RA13", composite_norm, max_examples=100)
    assert not result.ok
    assert "exceeds its bound" in result.failures[0]


@pytest.mark.parametrize("heads", [1, 2, 5])
def test_equal_heads_of_one_entry_attain_the_bound(heads: int) -> None:
    Z, W = np.full((heads, 1, 1), 3.0), np.full((heads, 1, 1), -2.0)
    column, row = composite_norm.exact_norms(composite_norm.exactly(composite_norm.layer(Z, W)))
    assert column * row == composite_norm.exact_bound(Z, W) == (6 * heads) ** 2


def test_largest_composite_of_the_heads_bounds_no_layer() -> None:
    n = 4
    E = composite_norm.one_line(n, np.array(1.0))
    W = np.stack([E, E.T])
    Z = np.stack([np.eye(n)] * 2)
    norms = [composite_norm.exact_norms(composite_norm.exactly(head)) for head in W]
    assert [column * row for column, row in norms] == [n, n]
    column, row = composite_norm.exact_norms(composite_norm.exactly(composite_norm.layer(Z, W)))
    assert column * row == (n + 1) ** 2 > 2**2 * n
    assert column * row <= composite_norm.exact_bound(Z, W) == 2**2 * n**2


def test_averaging_can_double_the_composite() -> None:
    A, X = composite_norm.one_line(4, np.array(1.0)).T, np.eye(4)[:, 3:]
    assert A.sum(axis=1).tolist() == [1.0] * 4
    assert composite_norm.norms(X)[2] == 1.0
    assert composite_norm.norms(A @ X)[2] == 2.0


CORNERS: dict[str, Callable[[Any], bool]] = {
    "one head": lambda sample: sample.clause == "submultiplicative",
    "several heads, one of them zero": lambda sample: (
        sample.clause == "multi_head" and not sample.W.any(axis=(1, 2)).all()
    ),
    "equal heads that attain the bound": lambda sample: (
        sample.clause == "multi_head"
        and np.count_nonzero(sample.Z[0]) == np.count_nonzero(sample.W[0]) == 1
        and (sample.W == sample.W[:1]).all()
    ),
    "one token of width one": lambda sample: sample.Z.shape[1:] == (1, 1),
    "more tokens than features": lambda sample: sample.Z.shape[1] > sample.W.shape[2],
    "subnormal": lambda sample: 0 < np.abs(sample.Z).max() < np.finfo(sample.Z.dtype).tiny,
    "single precision": lambda sample: sample.Z.dtype == np.float32,
    "n = 1": lambda sample: sample.clause == "not_a_norm" and sample.n == 1,
}


@pytest.mark.slow
@pytest.mark.parametrize("corner", CORNERS)
def test_the_samples_reach(corner: str) -> None:
    found = find(composite_norm.samples(), CORNERS[corner], settings=ONCE)
    assert composite_norm.residual(found).ratio() <= 1
