"""RA17, causal stacks.

token_k: differences from the first token after one layer, of all tokens, against their exact value
sum_j A_ij (x_j - x_1); exactly, r' <= (1 - min A_i1) r.
depth: x_k - x_1 after several layers of given scores against the exact prod A_kk (x_k - x_1).
A sample makes one of the two comparisons. `rates` measures the limits of stacks whose scores
follow the tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, ctx
from hypothesis import strategies as st

from numerics.evidence.rates import Rate
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held, rounded
from numerics.rounding import roundoff
from numerics.walks.walk import softmax_walk

CLAUSES = ("token_k", "depth")
SIZES = st.sampled_from((5, 6, 5, 4, 3, 2, 1))
BITS = 200  # of exact values: beside a rounding of float64 the error of their evaluation is nothing


@contextmanager
def _bits() -> Iterator[None]:
    before, ctx.prec = ctx.prec, BITS
    try:
        yield
    finally:
        ctx.prec = before


@dataclass(frozen=True)
class Sample:
    """Tokens x (n, d) of which the first k - 1 are equal; scores (L, n, n), -inf off the mask."""

    clause: str
    x: np.ndarray
    k: int
    scores: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Tokens and scores of every kind, with ALiBi or not, in float64 and float32."""
    clause, n, d = draw(st.sampled_from(CLAUSES)), draw(SIZES), draw(st.sampled_from((1, 2, 3)))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    k = min(n, draw(st.sampled_from((2, 2, 2, 3, 4))))
    depth = draw(st.sampled_from((1, 2, 3, 4))) if clause == "depth" else 1
    scores = strategies.logits(draw, rng, (depth, n, n), dtype)
    scores = np.where(np.isneginf(scores) & np.eye(n, dtype=bool), dtype(0), scores)
    if draw(st.booleans()):
        scores = scores - dtype(0.75) * (np.arange(n)[:, None] - np.arange(n)).astype(dtype)
    x = strategies.tokens(draw, rng, n, d, dtype)
    x[: max(k - 1, 1)] = x[0]
    return Sample(clause, x, k, causal(scores.astype(dtype)))


def causal(scores: np.ndarray) -> np.ndarray:
    """The scores, -inf where j > i."""
    n = scores.shape[-1]
    return np.where(np.tri(n, dtype=bool), scores, scores.dtype.type(-np.inf))


def layers(x: Any, weights: Any) -> Any:
    """Differences from the first token (n, d) after layers of weights (L, n, n)."""
    for layer in weights:
        x = layer @ x
    return x - x[:1]


def exact_weights(scores: Sequence[Sequence[arb | None]]) -> list[list[arb]]:
    """Softmax of each row in balls; None is a token that is not seen."""
    found = []
    for row in scores:
        seen = [score for score in row if score is not None]
        peak = max(seen, key=lambda score: float(score.mid()))
        powers = [arb(0) if score is None else (score - peak).exp() for score in row]
        total = sum(powers, arb(0))
        found.append([power / total for power in powers])
    return found


def balls(scores: np.ndarray) -> list[list[arb | None]]:
    """The scores as they are stored, None for -inf."""
    return [[None if np.isneginf(s) else arb(float(s)) for s in row] for row in scores]


def differences(x: np.ndarray) -> list[list[arb]]:
    """x_i - x_1 of the stored tokens."""
    return [[arb(float(a)) - arb(float(b)) for a, b in zip(row, x[0], strict=True)] for row in x]


def mixed(weights: list[list[arb]], y: list[list[arb]]) -> list[list[arb]]:
    """sum_j A_ij y_j."""
    return [[sum((a * b for a, b in zip(row, column, strict=True)), arb(0))
             for column in zip(*y, strict=True)] for row in weights]  # fmt: skip


def squares(y: list[list[arb]]) -> list[arb]:
    """|y_i|^2."""
    return [sum((value * value for value in row), arb(0)) for row in y]


def largest(values: Sequence[arb]) -> arb:
    """The largest of the balls."""
    found = values[0]
    for value in values[1:]:
        found = found.max(value)
    return found


def contraction(weights: list[list[arb]]) -> arb:
    """1 - min A_i1 over the tokens after the first."""
    return largest([1 - row[0] for row in weights[1:]])


def own_factor(weights: list[list[arb]], k: int) -> arb:
    """A_kk, for the token k counted from 1."""
    return weights[k - 1][k - 1]


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Rows are weights: of the equal tokens, of token k, and of the later ones."""
    A, m = softmax_walk(sample.scores, sample.scores > -np.inf)[0], sample.k - 1
    off = rounded(A, len(A))
    yield Held("A>=0", {"A": A}, clause="contraction")
    if m:
        own, error = {"A_u": A[:m, :m]}, {"A_u": off[:m, :m]}
        yield Held("A_u sums to 1", own, error, "token_k")
        own, error = {"V": A[m, :m], "a": np.asarray(A[m, m])}, {"V": off[m, :m], "a": off[m, m]}
        yield Held("row k sums to 1", own, error, "token_k")
    if m and len(A) > m + 1:
        later, parts = slice(m + 1, None), ("C", "b", "A_x")
        places = (slice(0, m), m, later)
        own = {name: A[later, place] for name, place in zip(parts, places, strict=True)}
        error = {name: off[later, place] for name, place in zip(parts, places, strict=True)}
        yield Held("later rows sum to 1", own, error, "token_k")


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for; ArithmeticError where tokens do not contract."""
    with _bits():
        exact = [exact_weights(balls(layer)) for layer in sample.scores]
        y = differences(sample.x)
        if sample.clause == "depth":
            factor = math.prod((own_factor(A, sample.k) for A in exact), start=arb(1))
            values = [[factor * value for value in y[sample.k - 1]]]
        else:
            values = mixed(exact[0], y)
            _contracts(exact[0], y, values)
        rhs = np.array([[float(value.mid()) for value in row] for row in values])
    allowed = sample.scores > -np.inf
    lhs = layers(sample.x, softmax_walk(sample.scores, allowed))
    weights = [roundoff.softmax(s, allowed=m) for s, m in zip(sample.scores, allowed, strict=True)]
    bound = layers(roundoff.exact(sample.x), weights).error
    if sample.clause == "depth":
        place = slice(sample.k - 1, sample.k)
        lhs, bound = lhs[place], bound[place]
    return Residual(sample.clause, lhs, rhs, bound + 2.0**-52 * np.abs(rhs), len(sample.x))


def _contracts(weights: list[list[arb]], y: list[list[arb]], moved: list[list[arb]]) -> None:
    if len(y) == 1:
        return
    before, after = largest(squares(y)), largest(squares(moved))
    if after > contraction(weights) ** 2 * before:
        raise ArithmeticError(
            f"r' = {math.sqrt(float(after))} exceeds (1 - min A_i1) r, r = "
            f"{math.sqrt(float(before))}"
        )


Scores = Callable[[int, int, list[list[arb]]], arb]
"""Score of query i for key j from the differences y, up to what does not depend on j."""


def dot_product(first: list[arb]) -> Scores:
    """x_i . x_j of tokens whose first is given."""

    def score(i: int, j: int, y: list[list[arb]]) -> arb:
        return sum((a * (b + c) for a, b, c in zip(y[j], y[i], first, strict=True)), arb(0))

    return score


def geodesic(scales: list[arb]) -> Scores:
    """-(1/2) lambda_i |x_i - x_j|^2: another metric for every token."""

    def score(i: int, j: int, y: list[list[arb]]) -> arb:
        steps = (a - b for a, b in zip(y[i], y[j], strict=True))
        return -scales[i] * sum((step * step for step in steps), arb(0)) / 2

    return score


def with_slope(score: Scores, slope: arb) -> Scores:
    """ALiBi: less slope times the distance i - j."""
    return lambda i, j, y: score(i, j, y) - slope * (i - j)


def stack(score: Scores, y: list[list[arb]], depth: int) -> Iterator[list[list[arb]]]:
    """Differences from the first token after 0, 1, ..., depth causal layers with W = I."""
    n = len(y)
    yield y
    for _ in range(depth):
        seen = [[score(i, j, y) if j <= i else None for j in range(n)] for i in range(n)]
        y = mixed(exact_weights(seen), y)
        yield y


TOKENS = ((3, -1), (1, 2), (-2, 1), (2, 2), (0, -3), (-1, 1))  # quarters: differences from x_1
SLOPE = 0.7


def _tokens(k: int, n: int) -> list[list[arb]]:
    zero = [arb(0), arb(0)]
    later = [[arb(a) / 4, arb(b) / 4] for a, b in TOKENS[: n - k + 1]]
    return [zero for _ in range(k - 1)] + later


def _rate(name: str, score: Scores, k: int, n: int, target: arb, contraction: arb,
          depths: tuple[int, ...], shape: bool = False) -> Rate:  # fmt: skip
    """r'/r (or |z_n| where shape) at some depths against its limit, eps = contraction^depth."""
    history = list(stack(score, _tokens(k, n), max(depths) + 1))
    sizes = [squares(y) for y in history]
    if shape:
        values = [(sizes[l][n - 1] / sizes[l][k - 1]).sqrt() for l in depths]
    else:
        values = [(largest(sizes[l + 1]) / largest(sizes[l])).sqrt() for l in depths]
    rounding = max(float(value.rad()) for value in values) + 2.0**-50 * float(target.mid())
    return Rate(
        name,
        float(target.mid()),
        tuple(float((contraction**l).mid()) for l in depths),
        tuple(float(value.mid()) for value in values),
        rounding=rounding,
    )


def rates() -> list[Rate]:
    """r'/r -> 1/k and |z_i| -> C(i-1, k-1) in stacks whose scores follow the tokens."""
    with _bits():
        first, scales = [arb(1) / 2, arb(-1)], [arb(s) / 3 for s in (3, 1, 5, 2, 7, 4)]
        dot, metric = dot_product(first), geodesic(scales)
        half, third, deep = arb(1) / 2, arb(1) / 3, (24, 32, 40, 48, 56, 64)
        shallow = (8, 10, 12, 14, 16, 18)
        lam = (-arb(SLOPE)).exp()
        place, longer = 1 + lam, 1 + lam + lam**2
        return [
            _rate("dot products, x_2 != x_1", dot, 2, 6, half, 2 * third, deep),
            _rate("a metric for each token, x_2 != x_1", metric, 2, 6, half, 2 * third, deep),
            _rate("dot products, x_1 = x_2 != x_3", dot, 3, 6, third, 3 * half / 2, deep),
            _rate("two tokens, dot products", dot, 2, 2, half, half, shallow),
            _rate(f"ALiBi of slope {SLOPE}, x_2 != x_1", with_slope(metric, arb(SLOPE)), 2, 4,
                  1 / place, place / longer, tuple(2 * depth for depth in deep)),
            _rate("shape of five tokens, x_2 != x_1", metric, 2, 5, arb(4), 2 * third, deep, True),
        ]  # fmt: skip
