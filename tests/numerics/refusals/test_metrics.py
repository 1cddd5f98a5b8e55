"""Refused inputs of low-rank metrics and of their costs: a public name without rows fails."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from numerics import rows
from numerics.metrics import LowRankMetric, NoDigits, pair_distances2
from numerics.scores import costs

D3, U3, V3 = np.ones(3), np.ones((3, 2)), np.ones((4, 3))
ONE = LowRankMetric(D3, U3)
MANY = LowRankMetric(np.ones((2, 3)), np.ones((2, 3, 2)))
FRAME = ONE.frame()
NAN = np.full(3, np.nan)
F32 = np.float32


def cheap(share: Any) -> int:
    return costs.longest_cheap(costs.GPT_2, 1, share)


Row = tuple[Callable[[], Any], type[Exception], str]
BAD: dict[str, list[Row]] = {
    "metrics.low_rank.LowRankMetric": [
        (lambda: LowRankMetric([1.0], U3), TypeError, "D must be a NumPy.*got list"),
        (lambda: LowRankMetric(D3, U3.astype(F32)), TypeError, "U must have the dtype.*float32"),
        (lambda: LowRankMetric(D3, torch.ones(3, 2)), TypeError, "U must be of the kind.*Tensor"),
        (lambda: LowRankMetric(D3, U3[:2]), ValueError, r"U must have shape \(d, r\).*d = 3"),
        (lambda: LowRankMetric(D3 - 1, U3), ValueError, r"D must be positive, got 0.0 at \(0,\)"),
        (lambda: LowRankMetric(-D3, U3), ValueError, "D must be positive, got -1.0"),
        (lambda: LowRankMetric(NAN, U3), ValueError, "D must be finite, got nan"),
        (lambda: LowRankMetric(D3, U3 * np.inf), ValueError, "U must be finite, got inf"),
        (lambda: LowRankMetric(D3[None], U3), ValueError, r"U must have shape \(n, d, r\)"),
        (lambda: LowRankMetric(D3, np.ones((3, 0))), ValueError, r"U.*all positive, got \(3, 0\)"),
        (lambda: ONE.apply(V3.T), ValueError, r"v must have shape \(..., d\) with d = 3.*\(3, 4\)"),
        (lambda: ONE.apply(V3.astype(F32)), TypeError, "v must have the dtype of D"),
        (lambda: ONE.solve(NAN), ValueError, "v must be finite, got nan"),
        (lambda: MANY.apply(V3), ValueError, r"v must have shape \(n, d\) or \(n, m, d\) with"),
        (lambda: MANY.solve(D3), ValueError, "v must have shape.*n = 2"),
        (lambda: ONE.distance2(V3, V3[:1]), ValueError, r"b must have the shape of a.*\(1, 3\)"),
        (lambda: ONE.distance2(V3, torch.ones(4, 3)), TypeError, "b must be of the kind of a"),
        (lambda: ONE.dual_norm2(V3[:, :2]), ValueError, "v must have shape"),
        (lambda: ONE.pair_error(D3, D3, D3), ValueError, r"x and w must have shapes.*\(2,\)"),
        (lambda: ONE.pair_error(D3, D3, D3[:2] * np.nan), ValueError, "w must be finite"),
        (lambda: LowRankMetric(D3 * 1e30, U3).apply(D3 * 1e300), OverflowError, "overflows"),
        (lambda: LowRankMetric(D3.astype(F32) * F32(1e-30), 0 * U3.astype(F32)).solve(
            D3.astype(F32) * F32(1e20)), OverflowError, "must fit into float32"),
        (lambda: LowRankMetric(D3 * 1e-300, U3 * 1e200).solve(D3), NoDigits, "U must be finite be"),
    ],
    "metrics.low_rank.Frame": [
        (lambda: FRAME.apply(V3.T), ValueError, "x must have shape"),
        (lambda: FRAME.solve(NAN), ValueError, "y must be finite"),
        (lambda: FRAME.solve(D3.astype(F32)), TypeError, "y must have the dtype"),
    ],
    "metrics.low_rank.pair_distances2": [
        (lambda: pair_distances2(ONE, V3), ValueError, r"metric.D must have shape \(n, d\)"),
        (lambda: pair_distances2(MANY, V3), ValueError, "x must have shape.*n = 2"),
        (lambda: pair_distances2(MANY, V3[:2], V3[:, :2]), ValueError, "y must have shape.*d = 3"),
        (lambda: pair_distances2(MANY, V3[:2], origin=NAN), ValueError, "origin must be finite"),
        (lambda: pair_distances2(MANY, V3[:2], origin=D3[:2]), ValueError, "origin must have sh"),
        (lambda: pair_distances2(MANY, V3[:2].astype(F32)), TypeError, "x must have the dtype"),
    ],
    "rows.as_rows": [
        (lambda: rows.as_rows("z", D3[:2], D3), ValueError, "z must have shape.*d = 3, all pos"),
        (lambda: rows.as_rows("z", [1.0], D3), TypeError, "z must be a NumPy array.*got list"),
    ],
    "rows.restored": [
        (lambda: rows.restored(D3.astype(F32), D3 * 1e39), OverflowError, "fit into float32"),
    ],
    "scores.costs.solve_counts": [
        (lambda: costs.solve_counts(0, 1), ValueError, "d must be at least 1, got 0"),
        (lambda: costs.solve_counts(3, 1.0), TypeError, "r must be an int, got float"),  # type: ignore
        (lambda: costs.solve_counts(True, 1), TypeError, "d must be an int, got bool"),
    ],
    "scores.costs.pair_count": [
        (lambda: costs.pair_count(4, -1), ValueError, "r must be at least 1"),
    ],
    "scores.costs.distances_count": [
        (lambda: costs.distances_count(4, 0, 4, 1), ValueError, "m must be at least 1, got 0"),
    ],
    "scores.costs.LayerShape": [
        (lambda: replace(costs.GPT_2, d=0), ValueError, "d must be at least 1, got 0"),
        (lambda: replace(costs.GPT_2, hidden=2.5), TypeError, "hidden must be an int, got float"),  # type: ignore
        (lambda: costs.GPT_2.per_token(0), ValueError, "n must be at least 1, got 0"),
    ],
    "scores.costs.score_overhead": [
        (lambda: costs.score_overhead(costs.GPT_2, 0, 1), ValueError, "n must be at least 1"),
        (lambda: costs.score_overhead(costs.GPT_2, 9, 0), ValueError, "r must be at least 1"),
    ],
    "scores.costs.head_overhead": [
        (lambda: costs.head_overhead(costs.GPT_2, 9, 0), ValueError, "r must be at least 1"),
    ],
    "scores.costs.overhead": [
        (lambda: costs.overhead(costs.GPT_2, 0), ValueError, "r must be at least 1, got 0"),
        (lambda: costs.overhead(costs.GPT_2, 1, 0), ValueError, "n must be at least 1, got 0"),
    ],
    "scores.costs.overhead_table": [
        (lambda: costs.overhead_table(1), TypeError, "takes 0 positional arguments"),  # type: ignore
    ],
    "scores.costs.longest_cheap": [
        (lambda: cheap(0.1), TypeError, "share must be a Fraction, got float"),
        (lambda: cheap(Fraction(1)), ValueError, "share must lie in.*got 1 at r = 1"),
        (lambda: cheap(Fraction(0)), ValueError, "share must lie in.*got 0 at r = 1"),
    ],
}  # fmt: skip
ROWS = [(name, row) for name, rows in BAD.items() for row in rows]
PLAIN = {  # an exception, records of results, and what takes arrays that were checked before
    "metrics.low_rank.NoDigits", "metrics.low_rank.Pair", "scores.costs.SolveCounts",
    "scores.costs.Overhead", "rows.xp_of",
    "rows.transposed", "rows.block_length", "rows.blocked_product", "rows.wide", "rows.working",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{n}-{r[2]}" for n, r in ROWS])
def test_bad_input_is_refused_by_name(name: str, row: Row) -> None:
    call, error, message = row
    with pytest.raises(error, match=message):
        call()
