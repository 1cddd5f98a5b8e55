"""AP5 numerically: forms of one recurrence, falsehoods planted in them, and its stress case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from numerics.arrays import dtype_name
from numerics.evidence.comparison import Comparison, merged
from numerics.pairings import recurrences as forms
from numerics.pairings.recurrences import Read
from numerics.properties.recurrences import Sample
from numerics.rounding import roundoff
from numerics.stress.cell import Cell
from numerics.stress.rounding import precision
from numerics.stress.theorems import recurrences as stress
from numerics.stress.theorems.recurrences import Tokens
from tests.numerics.properties.plant import Plant

EXAMPLES = 60


def tokens_miss_themselves(sound: Any, q: Any, k: Any, v: Any, *rest: Any) -> Read:
    read = sound(q, k, v, *rest)
    return Read(read.outputs - (q * k).sum(-1)[..., None] * v, read.state)


def state_left_without_the_last_token(
    sound: Any, q: Any, k: Any, v: Any, beta: Any, chunk: int, state: Any
) -> Read:
    read = sound(q, k, v, beta, chunk, state)
    if len(v) == 1:
        return Read(read.outputs, state)
    early = sound(q[:-1], k[:-1], v[:-1], beta[:-1], chunk, state)
    return Read(read.outputs, early.state)


FALSEHOODS = {
    "state left without the last token": Plant(
        "delta_rule", "delta_chunked", state_left_without_the_last_token, forms),
    "state is lost": Plant("handover", "chunked", lambda sound, q, k, v, *rest: (
        sound(q, k, v, *rest[:3])), forms),
    "new token decays": Plant("decays", "_segments", lambda sound, xp, decay, reset: (
        sound(xp, decay, reset) + decay[..., None]), forms),
    # As many examples as a run, for a falsehood that shows in few: where a sample has a reset.
    "resets are late": Plant(
        "decays", "parallel", lambda sound, q, k, v, decay, reset, state: sound(
            q, k, v, decay, None if reset is None else np.roll(reset, 1), state),
        forms, examples=200),
    "delta rule only adds": Plant(
        "delta_rule", "delta_chunked", lambda _, q, k, v, beta, chunk, state: (
            forms.chunked(q, beta[:, None] * k, v, chunk, None, None, state)), forms),
    "tokens miss themselves": Plant("decays", "_at_once", tokens_miss_themselves, forms),
}  # fmt: skip


ONE = Sample("decays", np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), None,
             None, np.ones(1), 1)  # fmt: skip
LONG = replace(ONE, query=np.ones((5, 2)), key=np.ones((5, 2)), value=np.ones((5, 3)),
               state=np.ones((2, 3)), beta=np.full(5, 0.5))  # fmt: skip


CORNERS = {
    "one token": ONE,
    "every token resets": replace(LONG, reset=np.ones(5, dtype=bool)),
    "weights underflow": replace(LONG, log_decay=np.full((5, 2), -400.0)),
    "a chunk of all": replace(LONG, clause="handover", chunk=5),
    "beta zero": replace(LONG, clause="delta_rule", beta=np.zeros(5), chunk=2),
    "exact overwriting": replace(LONG, clause="delta_rule", chunk=2),
}


FAULTS: dict[str, Callable[[Tokens], Tokens]] = {
    "queries for keys": lambda t: replace(t, key=t.query),
    "a token late": lambda t: replace(t, value=t.value.roll(1, 0)),
    "one value off": lambda t: replace(t, value=t.value * (1 + 1e-3 * (torch.arange(
        len(t.value))[:, None] == 3))),
    "no decay": lambda t: replace(t, log_decay=None),
    "decay off by a hundredth": lambda t: replace(
        t, log_decay=None if t.log_decay is None else 1.01 * t.log_decay),
}  # fmt: skip


def judge(tokens: Tokens, other: Tokens) -> Comparison:
    sides = stress.left_side(tokens, Cell("AP5", "")), stress.right_side(other, Cell("AP5", ""))
    model = precision(tokens.query.dtype, torch.device("cpu"))
    (found,) = merged(stress.comparisons(tokens, Cell("AP5", ""), *sides, model))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_fault_in_one_side_of_the_stress_case_is_rejected(fault: str, dtype: torch.dtype) -> None:
    tokens, _ = stress.draw(
        Cell("AP5", "decay", 300, 8, 1, dtype_name(dtype), "cpu", 5), torch.device("cpu")
    )
    assert judge(tokens, tokens).ok
    assert not judge(tokens, FAULTS[fault](tokens)).ok


@pytest.mark.parametrize("cell", stress.CELLS)
def test_the_stress_bound_is_the_sum_over_pairs_of_tokens(cell: str) -> None:
    tokens, _ = stress.draw(Cell("AP5", cell, 600, 4, 1, "float64", "cpu", 1), torch.device("cpu"))
    tilt, n = 1e-4, 600
    place = torch.arange(n, dtype=torch.float64)
    apart = place[:, None] - place[None, :]
    decay = torch.zeros(n, dtype=torch.float64)
    total = torch.cumsum(decay if tokens.log_decay is None else tokens.log_decay, 0)
    weights = torch.tril(torch.exp((total[:, None] - total[None, :] + tilt * apart).clamp(max=9)))
    scores = (tokens.query.abs() @ tokens.key.abs().T) * weights
    sizes, spreads = zip(*[part[1:] for part in stress._majorants(tokens, tilt)], strict=True)
    for found, exact in ((sizes, scores), (spreads, scores * apart)):
        right = exact @ tokens.value.abs()
        gap = (torch.cat(found) - right).abs()
        # Sums of nonnegative terms; an exponent of at most 8 n units is off by as many roundings.
        assert bool(torch.isfinite(gap).all())
        assert bool((gap <= roundoff.gamma(16 * n, 2.0**-53) * right).all())
