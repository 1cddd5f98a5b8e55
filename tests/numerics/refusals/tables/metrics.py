"""Refused inputs of low-rank metrics and of their costs: a public name without rows fails."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from numerics import rows
from numerics.metrics import LowRankMetric, NoDigits, pair_distances2
from numerics.scores import costs
from tests.numerics.refusals.faults import Call, Floats, Integer, Refused

D3, U3, V3 = np.ones(3), np.ones((3, 2)), np.ones((4, 3))
ONE = LowRankMetric(D3, U3)
MANY = LowRankMetric(np.ones((2, 3)), np.ones((2, 3, 2)))
FRAME = ONE.frame()
NAN = np.full(3, np.nan)
F32 = np.float32
VECTORS = Floats(V3, "... d=3", beside="D")
SIZE = Integer(1, 1, kind="an int")


def cheap(share: Any) -> int:
    return costs.longest_cheap(costs.GPT_2, 1, share)


BAD: Refused = {
    "metrics.low_rank.LowRankMetric": [
        Call(LowRankMetric, D=Floats(D3, "d | n d", "positive"), U=Floats(U3, "d r | n d r")),
        Call(ONE.apply, v=VECTORS),
        Call(ONE.solve, v=VECTORS),
        Call(ONE.dual_norm2, v=VECTORS),
        Call(ONE.distance2, a=Floats(V3), b=Floats(V3, "~n=4 d=3")),
        (lambda: LowRankMetric(D3[None], U3), ValueError, r"U must have shape \(n, d, r\)"),
        (lambda: MANY.apply(V3), ValueError, r"v must have shape \(n, d\) or \(n, m, d\) with"),
        (lambda: MANY.solve(D3), ValueError, "v must have shape.*n = 2"),
        (lambda: ONE.pair_error(D3, D3, D3), ValueError, r"x and w must have shapes.*\(2,\)"),
        (lambda: ONE.pair_error(D3, D3, D3[:2] * np.nan), ValueError, "w must be finite"),
        (lambda: LowRankMetric(D3 * 1e30, U3).apply(D3 * 1e300), OverflowError, "overflows"),
        (lambda: LowRankMetric(D3.astype(F32) * F32(1e-30), 0 * U3.astype(F32)).solve(
            D3.astype(F32) * F32(1e20)), OverflowError, "must fit into float32"),
        (lambda: LowRankMetric(D3 * 1e-300, U3 * 1e200).solve(D3), NoDigits, "U must be finite be"),
    ],
    "metrics.low_rank.Frame": [Call(FRAME.apply, x=VECTORS), Call(FRAME.solve, y=VECTORS)],
    "metrics.low_rank.pair_distances2": [
        Call(pair_distances2, metric=MANY, x=Floats(V3[:2], "n=2 d=3", beside="D"),
             y=Floats(V3, "m d"), origin=Floats(D3, "d")),
        (lambda: pair_distances2(ONE, V3), ValueError, r"metric.D must have shape \(n, d\)"),
    ],
    "rows.as_rows": [
        Call(lambda z: rows.as_rows("z", z, D3), z=VECTORS),
        (lambda: rows.as_rows("z", D3[:2], D3), ValueError, "z must have shape.*d = 3, all pos"),
    ],
    "rows.restored": [
        (lambda: rows.restored(D3.astype(F32), D3 * 1e39), OverflowError, "fit into float32"),
    ],
    "scores.costs.solve_counts": [Call(costs.solve_counts, d=SIZE, r=SIZE)],
    "scores.costs.pair_count": [Call(costs.pair_count, d=SIZE, r=SIZE)],
    "scores.costs.distances_count": [Call(costs.distances_count, n=SIZE, m=SIZE, d=SIZE, r=SIZE)],
    "scores.costs.LayerShape": [
        Call(partial(replace, costs.GPT_2), d=SIZE, d_kv=SIZE, hidden=SIZE, matrices=SIZE,
             length=SIZE),
        Call(costs.GPT_2.per_token, n=SIZE),
    ],
    "scores.costs.score_overhead": [Call(costs.score_overhead, layer=costs.GPT_2, n=SIZE, r=SIZE)],
    "scores.costs.head_overhead": [Call(costs.head_overhead, layer=costs.GPT_2, n=SIZE, r=SIZE)],
    "scores.costs.overhead": [Call(costs.overhead, layer=costs.GPT_2, n=SIZE, r=SIZE)],
    "scores.costs.overhead_table": [
        (lambda: costs.overhead_table(1), TypeError, "takes 0 positional arguments"),  # type: ignore
    ],
    "scores.costs.longest_cheap": [
        (lambda: cheap(0.1), TypeError, "share must be a Fraction, got float"),
        (lambda: cheap(Fraction(1)), ValueError, "share must lie in.*got 1 at r = 1"),
        (lambda: cheap(Fraction(0)), ValueError, "share must lie in.*got 0 at r = 1"),
    ],
}  # fmt: skip
PLAIN = {  # an exception, records of results, and what takes arrays that were checked before
    "metrics.low_rank.NoDigits", "metrics.low_rank.Pair", "scores.costs.SolveCounts",
    "scores.costs.Overhead", "rows.xp_of",
    "rows.transposed", "rows.block_length", "rows.blocked_product", "rows.wide", "rows.working",
}  # fmt: skip
WARNINGS = ("overflow encountered",)
