"""Refused inputs of scores, as floats and as integers, and of the families of metrics."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from numerics.scores import families as score_families
from numerics.scores import geodesic as scores
from numerics.scores import geodesic_scores, midpoint_scores
from numerics.scores import integer_scores as score_rank
from numerics.scores.exact_rank import PRIME
from numerics.scores.families import distance_determinant, rank_row, rank_table
from numerics.scores.integer_scores import centre
from tests.numerics.refusals.faults import Call, Choice, Floats, Integer, Refused, Row

X, D, U = np.arange(6.0).reshape(3, 2), np.ones((3, 2)), np.ones((3, 2, 1))
F32 = np.float32
INF = float("inf")
ONE, METRIC = [[1]], [[[1]]]
FAMILY = next(f for f in score_families.families() if f.name == "conformal")
WHOLE = np.arange(4).reshape(2, 2)


def midpoint(field: Any, x: Any = X) -> Any:
    return midpoint_scores(x, field)


def tokens(n: Any = 3, d: Any = 2, kind: str = "generic", p: int = PRIME) -> Any:
    return score_families.tokens_modulo(np.random.default_rng(0), n, d, kind, p)


def ranked(call: Callable[..., Any]) -> list[Row]:
    """Rows that every function of exact tokens and metrics has."""
    return [
        (lambda: call(ONE), ValueError, "G must be given, or D and U, and not both"),
        (lambda: call(ONE, METRIC, D=ONE), ValueError, "G must be given, or D and U"),
        (lambda: call(ONE, METRIC, U=METRIC), ValueError, "U must come with D, got G"),
        (lambda: call(ONE, METRIC, kind="x"), ValueError, "kind must be one of query.*got 'x'"),
        (lambda: call(ONE, [[[1, 2]]]), ValueError, r"G must have shape \(1, 1, 1\), got"),
        (lambda: call(ONE, D=ONE * 2), ValueError, r"^D must have shape \(1, 1\), got \(2, 1\)"),
        (lambda: call(ONE, D=[1]), ValueError, r"D must have 2 axes.*got shape \(1,\)"),
        (lambda: call(ONE, D=ONE, U=[ONE * 2]), ValueError, r"U must have shape \(1, 1, r\)"),
        (lambda: call([1], METRIC), ValueError, r"x must have 2 axes.*got shape \(1,\)"),
        (lambda: call([[]], METRIC), ValueError, r"x must have 2 axes.*got shape \(1, 0\)"),
        (lambda: call([["1"]], METRIC), TypeError, "x must hold integers, fractions or.*got str"),
        (lambda: call([[True]], METRIC), TypeError, "x must hold integers.*got bool"),
        (lambda: call([[1j]], METRIC), TypeError, "x must hold integers.*got complex"),
        (lambda: call([[INF]], METRIC), ValueError, "x must be finite, got inf"),
        (lambda: call(ONE, [[[INF]]]), ValueError, "G must be finite, got inf"),
        (lambda: call(ONE, METRIC, modulus=15), ValueError, "modulus must be an odd prime.*15"),
        (lambda: call(ONE, METRIC, modulus=2), ValueError, "modulus must be an odd prime.*got 2"),
        (lambda: call(ONE, METRIC, modulus=7.0), TypeError, "modulus must be an integer.*float"),
        (lambda: call(ONE, METRIC, modulus=True), TypeError, "modulus must be an integer.*bool"),
        (lambda: call([[Fraction(1, 7)]], METRIC, modulus=7), ValueError, "x must be integral mo"),
        (lambda: call(ONE, D=[[Fraction(1, 7)]], modulus=7), ValueError, "^D must be integral mo"),
        (lambda: call([[0] * 32], [np.eye(32, dtype=int)], modulus=7), ValueError, "d must be at"),
    ]


BAD: Refused = {
    "scores.geodesic.geodesic_scores": [
        Call(geodesic_scores, x=Floats(X, "n d"), D=Floats(D, "n d", "positive"),
             U=Floats(U, "n d r"), kind=Choice("query", ".*")),
        (lambda: geodesic_scores(X, D, U, "both"), ValueError, "kind must be one of.*got 'both'"),
        (lambda: geodesic_scores(1e200 * X, D), ValueError, "scores must be finite: scale"),
    ],
    "scores.geodesic.midpoint_scores": [
        Call(midpoint_scores, x=Floats(X, "n d"), field=lambda p: (D, U)),
        Call(lambda **parts: midpoint(lambda p: tuple(parts.values())),
             D=Floats(D, "n=3 d=2", "positive", "x"), U=Floats(U, "n=3 d=2 r", beside="x")),
        (lambda: midpoint(lambda p: (D, U), 1e200 * X), ValueError, "scores must be finite"),
    ],
    "scores.geodesic.sphere_tokens": [
        Call(scores.sphere_tokens, x=Floats(X + 1, "n d"), gain=Floats(D[0], "d")),
        (lambda: scores.sphere_tokens(0 * X), ValueError, "x must be nonzero in every row"),
    ],
    "scores.integer_scores.score_rank_exact": ranked(score_rank.score_rank_exact),
    "scores.integer_scores.integer_scores": ranked(score_rank.integer_scores),
    "scores.integer_scores.centre": [
        (lambda: centre(np.ones((2, 3, 4))), ValueError, r"^scores must have.*got \(2, 3, 4\)"),
        (lambda: centre(WHOLE[0]), ValueError, r"^scores must have shape.*got \(2,\)"),
        (lambda: centre(WHOLE[:, :0]), ValueError, r"^scores must have.*got \(2, 0\)"),
        (lambda: centre(WHOLE.astype(np.uint8)), TypeError, "^scores must be.*signed.*got uint8"),
        (lambda: centre(ONE), TypeError, "^scores must be a NumPy.*got list"),  # type: ignore
    ],
    "scores.families.full_width": [Call(score_families.full_width, d=Integer(2, 0))],
    "scores.families.Family": [
        (lambda: rank_row(replace(FAMILY, kind="x"), 2), ValueError, "kind.*one of query.*'x'"),
        (lambda: rank_row(replace(FAMILY, tokens="x"), 2), ValueError, "kind.*one of generic.*'x'"),
    ],
    "scores.families.tokens_modulo": [
        Call(tokens, n=Integer(3, 1), d=Integer(2, 0), kind=Choice("generic", ".*")),
        (lambda: tokens(kind="moon"), ValueError, "kind must be one of generic.*got 'moon'"),
        (lambda: tokens(p=4), ValueError, "^p must be an odd prime.*got 4"),
        (lambda: tokens(d=0), ValueError, "d must be larger for generic tokens, got 0"),
        (lambda: tokens(d=1, kind="sphere"), ValueError, "d must be larger for sphere tokens"),
        (lambda: tokens(d=1, kind="gain"), ValueError, "d must be larger for gain tokens, got 1"),
        (lambda: tokens(kind="layer norm"), ValueError, "d must be larger for layer norm.*got 2"),
        (lambda: tokens(40, 3, "sphere", 3), ValueError, "lines must have a square.*modulo 3"),
    ],
    "scores.families.rank_row": [
        Call(rank_row, family=FAMILY, d=Integer(2, 0), r=Integer(1, 0), seed=Integer(0, 0)),
        (lambda: rank_row(FAMILY, 0), ValueError, "conformal has no bound at d = 0, r = 1"),
        (lambda: rank_row(FAMILY, 2, 2), ValueError, "conformal has no bound at d = 2, r = 2"),
        (lambda: rank_row(FAMILY, 2, p=15), ValueError, "^p must be an odd prime.*got 15"),
        (lambda: rank_row(FAMILY, 32), ValueError, "d must be at most 31 with a modulus, got 32"),
    ],
    "scores.families.rank_table": [
        (lambda: rank_table([0]), ValueError, "^dims must be at least 1, got 0"),
        (lambda: rank_table([1.5]), TypeError, "^dims must be an integer, got float"),  # type: ignore
        (lambda: rank_table([2], [-1]), ValueError, "^ranks must be at least 0, got -1"),
        (lambda: rank_table([]), ValueError, "^dims must not be empty"),
        (lambda: rank_table(3), TypeError, "^dims must be integers, got int"),  # type: ignore
        (lambda: rank_table([32], [1]), ValueError, "d must be at most 31 with a modulus, got 32"),
    ],
    "scores.families.distance_determinant": [
        Call(distance_determinant, points=WHOLE, bits=Integer(256, 2)),
        (lambda: distance_determinant(X), TypeError, "points must be integers, got float64"),
        (lambda: distance_determinant(ONE), TypeError, "^points must be a NumPy.*got list"),  # type: ignore
        (lambda: distance_determinant(WHOLE[0]), ValueError, r"points must have shape \(n, d\)"),
        (lambda: distance_determinant(WHOLE[:0]), ValueError, r"points must.*got \(0, 2\)"),
    ],
}  # fmt: skip
PLAIN = {  # a record of results, and a function without arguments
    "scores.families.RankRow", "scores.families.families",
}  # fmt: skip
WARNINGS = ("overflow encountered", "invalid value encountered")
