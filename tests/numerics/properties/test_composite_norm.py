"""RA13's property: it holds, is tight, and sees falsehoods planted in norms, layers and bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numerics.properties import composite_norm
from tests.numerics.properties.plant import Plant


def columns_twice(norms: Any, M: np.ndarray) -> np.ndarray:
    column, row, _ = norms(M)
    return np.array([column, row, column], M.dtype)


EXAMPLES = 100
EXCEEDED = "exceeds its bound"
FALSEHOODS = {
    "signed sums": Plant("submultiplicative", "norms", lambda norms, M: np.array(
        [M.sum(axis=0).max(), M.sum(axis=1).max(), norms(M)[2]], M.dtype)),
    "norms exchanged": Plant("submultiplicative", "norms", lambda norms, M: norms(M.T)),
    "composite of one norm": Plant("submultiplicative", "norms", columns_twice),
    "first head only": Plant("multi_head", "layer", lambda _, Z, W: Z[0] @ W[0]),
    "heads crossed": Plant("multi_head", "layer", lambda layer, Z, W: layer(Z, W[::-1])),
    "without H": Plant(
        "multi_head", "exact_bound", lambda bound, Z, W: bound(Z, W) / len(Z) ** 2, says=EXCEEDED),
    "H once": Plant(
        "multi_head", "exact_bound", lambda bound, Z, W: bound(Z, W) / len(Z), says=EXCEEDED),
    "first head's norms": Plant("multi_head", "exact_bound", lambda bound, Z, W: (
        len(Z) ** 2 * bound(Z[:1], W[:1])), says=EXCEEDED),
    "two lines": Plant(
        "not_a_norm", "one_line", lambda sound, n, t: sound(n, t) + sound(n, t)[::-1]),
}  # fmt: skip


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
