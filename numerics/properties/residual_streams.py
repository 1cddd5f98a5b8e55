"""RA16, residual streams.

layer: the difference of two tokens after x'_i = alpha x_i + beta sum_j A_ij W x_j against
alpha (x_i - x_k) + beta sum_j (A_ij - A_kj) W x_j.
attained: two tokens with A = [[s, 1 - s], [1 - s, s]] and W = -w I through several layers, against
the product of 1 - w (2 s - 1), or of a - (1 - a) w (2 s - 1), in exact arithmetic: there both
bounds hold with equality.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held, rounded
from numerics.rounding import roundoff
from numerics.walks.walk import softmax_walk

CLAUSES = ("layer", "attained")


@dataclass(frozen=True)
class Sample:
    """A clause, weights A (L, n, n), W (L, d, d) in column form, alpha and beta (L,), x (n, d)."""

    clause: str
    A: np.ndarray
    W: np.ndarray
    keep: np.ndarray
    add: np.ndarray
    x: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """One layer of any kind, or up to four layers of two tokens; residual and averaging layers."""
    clause, dtype = draw(st.sampled_from(CLAUSES)), draw(strategies.dtypes())
    rng, d = draw(strategies.generators()), draw(st.integers(1, 4))
    n = draw(st.integers(1, 6)) if clause == "layer" else 2
    depth = 1 if clause == "layer" else draw(st.integers(1, 4))
    x = strategies.tokens(draw, rng, n, d, dtype)
    keep = np.ones(depth, dtype)
    if draw(st.booleans()):
        keep = (rng.integers(0, 9, size=depth) / 8).astype(dtype)
    add = (1 - keep if (keep != 1).any() else keep).astype(dtype)
    if clause == "layer":
        logits = strategies.logits(draw, rng, (1, n, n), dtype)
        A = softmax_walk(logits, strategies.masks(draw, rng, n, n))
        return Sample(clause, A, strategies.matrices(draw, rng, d, d, dtype, 1), keep, add, x)
    own = (rng.integers(0, 129, size=depth) / 128).astype(dtype)
    A = np.stack([np.stack([own, 1 - own], 1), np.stack([1 - own, own], 1)], 1)
    w = (rng.normal(size=depth) if draw(st.booleans()) else np.ones(depth)).astype(dtype)
    return Sample(clause, A, -w[:, None, None] * np.eye(d, dtype=dtype), keep, add, x)


def through_layers(A: Any, W: Any, keep: Any, add: Any, x: Any) -> Any:
    """Tokens after x'_i = alpha x_i + beta sum_j A_ij W x_j of every layer in turn."""
    for layer in range(A.shape[0]):
        moved = x @ W[layer].transpose(1, 0)
        x = keep[layer].reshape(1, 1) * x + add[layer].reshape(1, 1) * (A[layer] @ moved)
    return x


def differences(x: Any) -> Any:
    """x_i - x_k of all pairs, (n, n, d)."""
    n, d = x.shape
    return x.reshape(n, 1, d) - x.reshape(1, n, d)


def by_rows(A: Any, W: Any, keep: Any, add: Any, x: Any) -> Any:
    """alpha (x_i - x_k) + beta sum_j (A_ij - A_kj) W x_j of one layer, (n, n, d)."""
    n, d = x.shape
    moved = x @ W[0].transpose(1, 0)
    rows = differences(A[0]).reshape(n * n, n) @ moved
    return keep.reshape(1, 1, 1) * differences(x) + add.reshape(1, 1, 1) * rows.reshape(n, n, d)


def factor(sample: Sample) -> Fraction:
    """The product of alpha - beta w tau over the layers, tau = A_11 - A_21 with its sign."""
    product = Fraction(1)
    for A, W, keep, add in zip(sample.A, sample.W, sample.keep, sample.add, strict=True):
        tau, w = Fraction(float(A[0, 0])) - Fraction(float(A[1, 0])), -Fraction(float(W[0, 0]))
        product *= Fraction(float(keep)) - Fraction(float(add)) * w * tau
    return product


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Weights of rows that see a token sum to 1; what is kept and added is nonnegative."""
    for layer, keep, add in zip(sample.A, sample.keep, sample.add, strict=True):
        # A row of the identity stands for one that sees no token.
        A = np.where(layer.any(axis=1, keepdims=True), layer, np.eye(len(layer), dtype=layer.dtype))
        yield Held("A sums to 1", {"A": A}, {"A": rounded(A, len(A))}, "layer")
        yield Held("\\alpha>=0", {"\\alpha": np.asarray(keep)}, clause="layer")
        yield Held("\\beta>=0", {"\\beta": np.asarray(add)}, clause="layer")
    if sample.clause == "attained":
        for W in sample.W:
            parts = {"W": W, "K": np.zeros_like(W), "w": np.asarray(abs(W[0, 0]))}
            yield Held("W is bounded", parts, clause="layer")


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    parts = (sample.A, sample.W, sample.keep, sample.add, sample.x)
    rounded = [roundoff.exact(part) for part in parts]
    lhs = differences(through_layers(*parts))
    error = differences(through_layers(*rounded)).error
    if sample.clause == "layer":
        error = error + by_rows(*rounded).error
        return Residual("layer", lhs, by_rows(*parts), error, max(sample.x.shape))
    product = factor(sample)
    exact = [product * (Fraction(float(u)) - Fraction(float(v)))
             for u, v in zip(*sample.x, strict=True)]  # fmt: skip
    rhs = np.array([float(value) for value in exact])
    error = error[0, 1] + 2.0**-52 * np.abs(rhs) + 2.0**-1074
    return Residual("attained", lhs[0, 1].astype(np.float64), rhs, error, max(sample.x.shape))
