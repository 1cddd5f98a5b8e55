"""The bounds on a layer, over thousands of generated stacks of up to 64 tokens, without exception.

Every family of scores occurs with one head and with several, in both dtypes, with metrics of
different tokens. Rounding enters on the side of the bound: tokens with their error, scores with
theirs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from numerics.collapse import (
    attention_step,
    contraction,
    dobrushin,
    osc,
    score_spread,
    spectral_norm,
)
from numerics.rounding.roundoff import gamma
from numerics.rounding.units import units
from numerics.scores import geodesic_scores
from numerics.walks import softmax_walk

KINDS = ("dot product", "homogeneous", "query", "symmetrised", "unsquared")
RANK, LAYERS = 2, 2
# Tokens, width, heads and how many stacks of each kind.
SHAPES = ((2, 1, 1, 60), (2, 3, 1, 60), (3, 2, 2, 60), (5, 4, 3, 30), (9, 3, 1, 30),
          (17, 5, 2, 12), (33, 8, 1, 6), (64, 6, 1, 3), (64, 16, 2, 2))  # fmt: skip
U64 = 2.0**-53


@dataclass(frozen=True)
class Layers:
    """A batch of layers: tokens (b, n, d), scores (b, H, n, n), transports (b, H, d, d).

    ceiling (b, H) bounds Delta from metrics and osc, rounding (b, H) what the scores' own
    rounding adds to it.
    """

    x: np.ndarray
    scores: np.ndarray
    transports: np.ndarray
    ceiling: np.ndarray
    rounding: np.ndarray


def metrics(
    rng: np.random.Generator, kind: str, batch: tuple[int, ...], n: int, d: int, dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    """D (b, H, n, d) from 1/4 to 4 and U (b, H, n, d, r), equal for all tokens or not."""
    own = 1 if kind == "homogeneous" else n
    D = 4.0 ** rng.uniform(-1, 1, size=(*batch, own, d))
    U = rng.standard_normal((*batch, own, d, RANK)) / np.sqrt(d)
    # A few heads and tokens with metrics a hundred times as large.
    loud = np.where(rng.random((*batch, own, 1)) < 0.1, 10.0, 1.0)
    return (
        np.broadcast_to(D * loud**2, (*batch, n, d)).astype(dtype),
        np.broadcast_to(U * loud[..., None], (*batch, n, d, RANK)).astype(dtype),
    )


def scored(rng: np.random.Generator, kind: str, x: np.ndarray, heads: int) -> Layers:
    """A layer of scores of a kind at tokens x, transports of any norm up to 2."""
    (b, n, d), dtype = x.shape, x.dtype
    u, batch = units(dtype).acc, (b, heads)
    transports = rng.standard_normal((*batch, d, d)) / np.sqrt(d)
    transports = (transports * rng.uniform(0.2, 1, size=(*batch, 1, 1)) / heads).astype(dtype)
    width = osc(x.astype(np.float64))[:, None] * (1 + 64 * U64)
    if kind == "dot product":
        M = (rng.standard_normal((*batch, d, d)) / d).astype(dtype)
        scores = x[:, None] @ M @ np.swapaxes(x, 1, 2)[:, None]
        largest = np.max(np.linalg.norm(x.astype(np.float64), axis=-1), axis=-1)[:, None]
        size = np.linalg.norm(M.astype(np.float64), axis=(-2, -1)) * largest**2
        ceiling, rounding = spectral_norm(M) * width**2, gamma(2 * d + 8, u) * size * (1 + 1e-6)
        return Layers(x, scores, transports, ceiling, 4 * rounding)
    D, U = metrics(rng, kind, batch, n, d, dtype)
    style, squared = "symmetrised" if kind == "symmetrised" else "query", kind != "unsquared"
    scores = np.array([[geodesic_scores(x[k], D[k, h], U[k, h], style, squared=squared)
                        for h in range(heads)] for k in range(b)])  # fmt: skip
    # The square root of G: norms of G are the squares of its norms.
    root = np.concatenate([np.sqrt(D.astype(np.float64))[..., None] * np.eye(d), U], axis=-1)
    g = np.max(spectral_norm(root), axis=-1) ** 2 * (1 + 64 * U64)
    size = np.max(np.max(D, axis=-1) + np.sum(U * U, axis=(-2, -1)), axis=-1).astype(np.float64)
    relative = gamma(2 * d + RANK + 12, u) * size * (1 + 1e-3)
    if squared:
        return Layers(x, scores, transports, g * width**2, 2 * relative * width**2)
    smallest = np.sqrt(np.min(D, axis=(-2, -1)).astype(np.float64))
    return Layers(
        x, scores, transports, 2 * np.sqrt(g) * width, 4 * relative / smallest * width + 1e-300
    )


def stacks(kind: str, shape: tuple[int, int, int, int], dtype: Any) -> Iterator[Layers]:
    """The layers of a batch of stacks, each from the tokens that the one before computed."""
    n, d, heads, count = shape
    rng = np.random.default_rng([KINDS.index(kind), n, d, np.dtype(dtype).itemsize])
    spread = 10.0 ** rng.uniform(-2, 0.7, size=(count, 1, 1))
    x = rng.standard_normal((count, n, d))
    # Every fourth stack has two clusters, every fourth other one a token far away.
    x[::4] = x[::4, :1] + np.where(np.arange(n) < n // 2, 0.0, 1.0)[:, None]
    x[1::4, -1] *= 4
    x = (spread * x + rng.standard_normal((count, 1, d))).astype(dtype)
    for _ in range(LAYERS):
        layer = scored(rng, kind, x, heads)
        yield layer
        x = attention_step(x, layer.scores, layer.transports).x


@dataclass(frozen=True)
class Checked:
    """Largest of each quantity over its bound, by stack, layers in order."""

    layer: np.ndarray
    scores: np.ndarray
    variation: np.ndarray


def over(value: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """value / bound; 0 or infinite where tokens have become equal and the bound is 0."""
    quotient = value / np.where(bound > 0, bound, 1.0)
    return np.where(bound > 0, quotient, np.where(value > 0, np.inf, 0.0))


def checked(layer: Layers) -> Checked:
    """osc', Delta and the total variation of a batch of layers over their bounds."""
    spread = score_spread(layer.scores.astype(np.float64)).difference * (1 + 8 * U64)
    step = attention_step(layer.x, layer.scores, layer.transports)
    wide = layer.x.astype(np.float64), step.x.astype(np.float64)
    before, after = (osc(part) * (1 + s * 64 * U64) for part, s in zip(wide, (1, -1), strict=True))
    factor = contraction(spectral_norm(layer.transports), spread)
    walks = softmax_walk(layer.scores.astype(np.float64))
    lost = gamma(4 * layer.x.shape[1] + 64, U64)
    return Checked(
        over(after - step.spread_error(), factor * before),
        over(spread - layer.rounding, layer.ceiling),
        over(dobrushin(walks) - lost, np.tanh(spread / 4) * (1 + 8 * U64)),
    )


@cache
def every_stack() -> dict[tuple[str, str], list[Checked]]:
    """All ratios by kind and dtype; the work of this module, done once."""
    found = {}
    for kind in KINDS:
        for dtype in (np.float64, np.float32):
            shapes = SHAPES if dtype is np.float64 else SHAPES[:4]
            found[kind, np.dtype(dtype).name] = [
                checked(layer) for shape in shapes for layer in stacks(kind, shape, dtype)
            ]
    return found


@pytest.mark.slow
def test_there_are_thousands_of_stacks_of_up_to_64_tokens() -> None:
    made = sum(len(part.layer) for parts in every_stack().values() for part in parts) // LAYERS
    expected = len(KINDS) * (sum(s[3] for s in SHAPES) + sum(s[3] for s in SHAPES[:4]))
    assert made == expected > 2000
    assert max(s[0] for s in SHAPES) == 64


@pytest.mark.slow
@pytest.mark.parametrize("quantity", ["layer", "scores", "variation"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_stack_exceeds_a_bound(kind: str, quantity: str) -> None:
    for dtype in ("float64", "float32"):
        ratios = np.concatenate([getattr(part, quantity).ravel() for part in
                                 every_stack()[kind, dtype]])  # fmt: skip
        assert np.all(np.isfinite(ratios))
        assert np.max(ratios) <= 1, (kind, dtype, quantity, float(np.max(ratios)))
        # The bounds are no giveaway: some stack comes within a quarter of each of them.
        assert np.max(ratios) > 0.75, (kind, dtype, quantity, float(np.max(ratios)))


FALSE: dict[str, Callable[[Layers], Layers]] = {
    "an eighth for a quarter": lambda layer: replace(layer, scores=layer.scores / 2),
    "the largest head for the sum": lambda layer: replace(
        layer, scores=layer.scores[:, :1], transports=layer.transports[:, :1]
    ),
    "transports taken to be half as large": lambda layer: replace(
        layer, transports=layer.transports / 2
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FALSE)
def test_a_false_bound_is_exceeded(name: str) -> None:
    exceeded = 0
    for shape in SHAPES[:4]:
        layer = next(stacks("homogeneous", shape, np.float64))
        false = FALSE[name](layer)
        spread = score_spread(false.scores).difference
        factor = contraction(spectral_norm(false.transports), spread)
        step = attention_step(layer.x, layer.scores, layer.transports)
        exceeded += int(np.sum(osc(step.x) - step.spread_error() > factor * osc(layer.x)))
    assert exceeded > 5


@pytest.mark.parametrize("n", [2, 6, 64])
@pytest.mark.parametrize("d", [1, 5])
@pytest.mark.parametrize("g", [0.01, 1.0])
def test_two_equal_clusters_attain_all_bounds(n: int, d: int, g: float) -> None:
    x = np.zeros((n, d))
    x[n // 2 :] = np.linspace(0.5, 1.5, d)
    turn = np.linalg.qr(np.random.default_rng(d).standard_normal((d, d)))[0]
    scores = geodesic_scores(x, np.full((n, d), g))
    spread, width = float(score_spread(scores).difference), float(osc(x))
    assert abs(spread / (g * width**2) - 1) <= gamma(4 * d + 32, U64)
    step = attention_step(x, scores[None], turn[None])
    factor = float(contraction(spectral_norm(turn[None]), np.array([spread])))
    found, error = float(osc(step.x)), float(step.spread_error())
    assert found <= factor * width * (1 + 64 * U64) + error
    # tanh(Delta/4) is off by what Delta is, and the norm of the turn by d^2 roundings.
    slack = factor * width * gamma(64 * (d + 2) ** 2, U64)
    assert factor * width - found <= error + slack
    assert error + slack < 1e-10 * found
