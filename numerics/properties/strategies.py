"""Generators that construct inputs having a property, and breakers that construct ones lacking it.

Functions that take `draw` are called inside a composite strategy, with one source of dense data:
`rng = draw(generators())`. Dense data comes from that seed, corner cases from array strategies:
plain array examples make most residuals exactly zero. Nothing is filtered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

# Building and validating a strategy costs more than drawing from it: all are cached.
Draw = Callable[[st.SearchStrategy[Any]], Any]


_one_of = lru_cache(st.sampled_from)
_counts = lru_cache(st.integers)


@dataclass(frozen=True)
class Sizes:
    """Sizes named as in the papers: n queries, m keys, widths, H = group * kv_heads heads."""

    n: int
    m: int
    d_in: int
    d_v: int
    d_out: int
    kv_heads: int
    group: int

    @property
    def heads(self) -> int:
        """H, the number of query heads."""
        return self.kv_heads * self.group


@lru_cache(4096)
@st.composite
def sizes(draw: Draw, tokens: int = 6, width: int = 4, heads: int = 2) -> Sizes:
    """Sizes from 1 to tokens, width, and heads**2, often with n != m and often 1."""
    axis, feature, head = (_counts(1, top) for top in (tokens, width, heads))
    return Sizes(
        draw(axis), draw(axis), draw(feature), draw(feature), draw(feature), draw(head), draw(head)
    )


@lru_cache
def dtypes() -> st.SearchStrategy[Any]:
    """float64 and float32."""
    return st.sampled_from((np.float64, np.float32))


@lru_cache
def generators() -> st.SearchStrategy[np.random.Generator]:
    """Seeded sources of dense data; Hypothesis draws and shrinks the seed."""
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


@lru_cache(4096)
def _entries(shape: tuple[int, ...], dtype: Any, low: float, high: float) -> Any:
    width = np.dtype(dtype).itemsize * 8
    return arrays(dtype, shape, elements=st.floats(low, high, width=width))  # type: ignore


MASKS = ("none", "full", "causal", "window", "random", "empty rows", "all empty")


def masks(
    draw: Draw, rng: np.random.Generator, n: int, m: int, kinds: tuple[str, ...] = MASKS
) -> np.ndarray | None:
    """Boolean mask (n, m), True means allowed, or None; a window counts the token itself."""
    kind = draw(_one_of(kinds))
    query, key = np.arange(n)[:, None], np.arange(m)[None, :]
    if kind == "none":
        return None
    if kind in ("random", "empty rows"):
        allowed = rng.random((n, m)) < 0.6
        if kind == "empty rows":
            allowed[rng.integers(n)] = False
        return allowed
    width = draw(_counts(1, max(1, n - 2))) if kind == "window" else n + m
    causal = (key <= query) & (key > query - width)
    return {"full": np.ones((n, m), bool), "all empty": np.zeros((n, m), bool)}.get(kind, causal)


LOGITS = ("dense", "dense", "huge", "ties", "zero", "subnormal", "minus infinity", "entries")


def logits(draw: Draw, rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Logits (..., n, m): dense, near 1e4 and -1e4, tied, zero, subnormal, -inf, or by entry."""
    kind = draw(_one_of(LOGITS))
    if kind == "entries":
        return draw(_entries(shape, dtype, -4.0, 4.0))
    dense = rng.normal(size=shape)
    values = {
        "huge": rng.choice([-1e4, 1e4], size=shape) + dense,
        "ties": rng.integers(-1, 2, size=shape).astype(np.float64),
        "zero": np.zeros(shape),
        "subnormal": rng.integers(-9, 9, size=shape) * float(np.finfo(dtype).smallest_subnormal),
        "minus infinity": np.where(rng.random(shape) < 0.4, -np.inf, dense),
    }.get(kind, dense)
    return values.astype(dtype)


TOKENS = ("dense", "dense", "dense", "repeated", "zero tokens", "wide", "subnormal", "entries")


def tokens(draw: Draw, rng: np.random.Generator, m: int, d: int, dtype: Any) -> np.ndarray:
    """Tokens (m, d): dense, repeated, some zero, of many magnitudes, subnormal, or by entry."""
    kind = draw(_one_of(TOKENS))
    if kind == "entries":
        return draw(_entries((m, d), dtype, -2.0, 2.0))
    dense = rng.normal(size=(m, d))
    values = {
        "repeated": dense[rng.integers(0, max(1, m // 2), size=m)],
        "zero tokens": np.where(rng.random((m, 1)) < 0.5, 0.0, dense),
        "wide": dense * 10.0 ** rng.integers(-4, 5, size=(m, 1)),
        "subnormal": rng.integers(-9, 9, size=(m, d)) * float(np.finfo(dtype).smallest_subnormal),
    }.get(kind, dense)
    return values.astype(dtype)


def rotation(rng: np.random.Generator, d: int) -> np.ndarray:
    """Orthogonal d x d matrix, Haar distributed up to rounding, by QR."""
    q, r = np.linalg.qr(rng.normal(size=(d, d)))
    return q * np.where(np.diagonal(r) < 0, -1.0, 1.0)


def conditioned(rng: np.random.Generator, d: int, condition: float) -> np.ndarray:
    """d x d matrix with singular values from 1 down to 1/condition."""
    values = np.geomspace(1.0, 1.0 / condition, d) if d > 1 else np.ones(1)
    return rotation(rng, d) * values @ rotation(rng, d)


def spd(rng: np.random.Generator, d: int, condition: float) -> np.ndarray:
    """Symmetric positive definite d x d matrix with eigenvalues from 1 down to 1/condition."""
    q = rotation(rng, d)
    values = np.geomspace(1.0, 1.0 / condition, d) if d > 1 else np.ones(1)
    product = q * values @ q.T
    return (product + product.T) / 2


def conditions(draw: Draw, dtype: Any = np.float64) -> float:
    """Condition numbers, powers of ten up to 1e12 (float64) or 1e4 (float32: u cond < 1)."""
    return 10.0 ** draw(_counts(0, 12 if np.dtype(dtype) == np.float64 else 4))


MATRICES = ("dense", "dense", "dense", "zero", "orthogonal", "low rank", "wide", "entries")


def matrices(
    draw: Draw, rng: np.random.Generator, rows: int, cols: int, dtype: Any, heads: int | None = None
) -> np.ndarray:
    """Weights (rows, cols) or (H, rows, cols): generic or structured; whole heads may be 0."""
    kind = draw(_one_of(MATRICES))
    shape = (heads or 1, rows, cols)
    if kind == "entries":
        values = draw(_entries(shape, dtype, -2.0, 2.0))
        return values if heads else values[0]
    dense = rng.normal(size=shape)
    top = max(rows, cols)
    values = {
        "zero": np.where(rng.random((shape[0], 1, 1)) < 0.5, 0.0, dense),
        "orthogonal": np.stack([rotation(rng, top)[:rows, :cols] for _ in range(shape[0])]),
        "low rank": dense[:, :, :1] * dense[:, :1, :],
        "wide": dense * 10.0 ** rng.integers(-4, 5, size=(shape[0], rows, 1)),
    }.get(kind, dense).astype(dtype)
    return values if heads else values[0]


def head_weights(draw: Draw, rng: np.random.Generator, heads: int, dtype: Any) -> np.ndarray | None:
    """Positive head weights (H,), with sum 1 or not, of many magnitudes, or None for 1/H."""
    kind = draw(_one_of(("default", "simplex", "any", "wide")))
    if kind == "default":
        return None
    values = rng.uniform(0.1, 1.0, size=heads)
    if kind == "wide":
        values = values * 10.0 ** np.linspace(-6, 2, heads)
    return (values / values.sum() if kind == "simplex" else values).astype(dtype)


def low_rank_metrics(
    draw: Draw, rng: np.random.Generator, d: int, r: int
) -> tuple[np.ndarray, np.ndarray]:
    """(D, U) of D + U U^T, D (d,) > 0, U (d, r): up to 1e12, capacitance I + U^T D^-1 U too."""
    condition = conditions(draw)
    diagonal = np.geomspace(1.0, 1.0 / condition, d) if d > 1 else np.ones(1)
    columns = rng.normal(size=(d, r))
    if draw(st.booleans()):
        columns[:, -1] = columns[:, 0]
    return rng.permutation(diagonal), columns
