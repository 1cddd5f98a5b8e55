"""Faults in one side of the stress case of AP7, and widths that have too many features."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from numerics import blockwise, stress
from numerics.arrays import dtype_name
from numerics.evidence.comparison import Comparison, merged
from numerics.stress.cell import Cell
from numerics.stress.rounding import precision
from numerics.stress.theorems import feature_maps as taylor_pairing
from numerics.stress.theorems.feature_maps import Tokens

CPU = torch.device("cpu")
(CELL,) = taylor_pairing.CELLS


def tokens(dtype: torch.dtype) -> Tokens:
    return taylor_pairing.draw(Cell("AP7", CELL, 50, 12, 1, dtype_name(dtype), "cpu", 3), CPU)[0]


def judge(
    drawn: Tokens,
    left: Callable[[Tokens], Tokens] = lambda t: t,
    right: Callable[[Tokens], Tokens] = lambda t: t,
) -> Comparison:
    """The comparison with each side on tokens of its own, the bound on the honest ones."""
    with blockwise.exact_products():
        one = taylor_pairing.left_side(left(drawn), Cell("AP7", CELL))
        two = taylor_pairing.right_side(right(drawn), Cell("AP7", CELL))
        model = precision(drawn.query.dtype, CPU)
        (found,) = merged(taylor_pairing.comparisons(drawn, Cell("AP7", CELL), one, two, model))
        return found


FAULTS: dict[str, Callable[[Tokens], Tokens]] = {
    "values of other tokens": lambda t: replace(t, value=t.value.roll(1, 0)),
    "keys of other tokens": lambda t: replace(t, key=t.key.roll(1, 0)),
    "a key of 0, paired by 1": lambda t: replace(t, key=torch.cat([t.key[:-1], 0 * t.key[-1:]])),
    "queries and keys swapped": lambda t: replace(t, query=t.key / 12, key=t.query * 12),
    "scores scaled by 1.01": lambda t: replace(t, query=t.query * 1.01),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_one_side_is_rejected(fault: str, dtype: torch.dtype) -> None:
    drawn, spoil = tokens(dtype), FAULTS[fault]
    assert judge(drawn).ok
    assert not judge(drawn, left=spoil).ok
    assert not judge(drawn, right=spoil).ok


@pytest.mark.parametrize("degree", [1, 3])
def test_features_of_another_degree_are_rejected(
    degree: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, honest = tokens(torch.float32), taylor_pairing.taylor_features
    two = taylor_pairing.right_side(drawn, Cell("AP7", CELL))
    bounded = taylor_pairing.comparisons(
        drawn, Cell("AP7", CELL), two, two, precision(torch.float32, CPU)
    )
    assert merged(bounded)[0].ok

    def features(x: torch.Tensor, _: int) -> torch.Tensor:
        return honest(x, degree)

    with monkeypatch.context() as planted:
        planted.setattr(taylor_pairing, "taylor_features", features)
        planted.setattr(taylor_pairing, "_width", lambda t: features(t.key[:1], 0).shape[1])
        one = taylor_pairing.left_side(drawn, Cell("AP7", CELL))
    model = precision(torch.float32, CPU)
    assert not merged(taylor_pairing.comparisons(drawn, Cell("AP7", CELL), one, two, model))[0].ok


def test_numerators_are_those_of_the_polynomial_token_by_token() -> None:
    drawn = tokens(torch.float64)
    scores = [float(drawn.query[7] @ key) for key in drawn.key]
    terms = [(1 + s + s * s / 2) * float(v) for s, v in zip(scores, drawn.value[:, 3], strict=True)]
    found = float(taylor_pairing.left_side(drawn, Cell("AP7", CELL)).result[7, 3])
    # 50 terms of one sign, nearly: roundings of 50 sums, 91 features and 12 coordinates.
    assert abs(found - sum(terms)) < 400 * 2.0**-53 * sum(map(abs, terms))


def test_a_width_with_too_many_features_fails_with_the_reason() -> None:
    record = stress.run_cell("AP7", None, 4, 1500, None, "float32", "cpu", 0)
    assert record["status"] == "failed"
    assert record["reason"] == "width 1500 has more than 1000000 features of degree 2"
