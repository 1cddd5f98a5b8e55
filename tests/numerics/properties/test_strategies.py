"""The generators have what they promise, reach the edges, and the breakers break."""

from collections import Counter
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from numerics.properties import strategies
from numerics.rounding.roundoff import gamma

U = 2.0**-53


def drawn(strategy: st.SearchStrategy[Any], count: int = 300) -> list[Any]:
    """Examples of a strategy, seeded."""
    seen: list[Any] = []

    @hypothesis.seed(20240501)
    @hypothesis.settings(max_examples=count, phases=[hypothesis.Phase.generate])
    @hypothesis.given(strategy)
    def collect(example: Any) -> None:
        seen.append(example)

    collect()
    assert len(seen) >= count
    return seen


@st.composite
def part(draw: strategies.Draw, name: str, *arguments: Any) -> Any:
    return getattr(strategies, name)(draw, draw(strategies.generators()), *arguments)


@pytest.mark.slow
def test_sizes_reach_every_edge() -> None:
    seen = drawn(strategies.sizes())
    edges = Counter(
        edge
        for s in seen
        for edge, holds in {
            "n = 1": s.n == 1,
            "m = 1": s.m == 1,
            "d = 1": s.d_in == 1,
            "H = 1": s.heads == 1,
            "n != m": s.n != s.m,
            "grouped": s.group > 1 and s.kv_heads > 1,
            "all widths differ": len({s.d_in, s.d_v, s.d_out}) == 3,
            "largest": max(s.n, s.m) == 6,
        }.items()
        if holds
    )
    assert min(edges.values()) >= 10
    assert len(edges) == 8


@pytest.mark.slow
def test_masks_reach_every_kind() -> None:
    seen = drawn(part("masks", 5, 4))
    rows = [None if mask is None else mask.any(axis=1) for mask in seen]
    assert sum(row is None for row in rows) >= 10
    some = [row for row in rows if row is not None]
    assert sum(not row.any() for row in some) >= 10
    assert sum(bool(row.any() and not row.all()) for row in some) >= 10
    assert sum(bool(row.all()) for row in some) >= 10


@pytest.mark.slow
def test_a_window_counts_the_token_itself() -> None:
    windows = drawn(part("masks", 6, 6, ("window",)), 50)
    assert all(np.diagonal(mask).all() for mask in windows)
    assert any(mask.sum(axis=1).max() == 1 for mask in windows)
    assert all(mask.sum(axis=1).max() < 5 for mask in windows)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_logits_reach_every_kind(dtype: Any) -> None:
    seen = drawn(part("logits", (4, 5), dtype))
    assert all(logits.dtype == dtype for logits in seen)
    assert sum(bool((logits > 9e3).any() and (logits < -9e3).any()) for logits in seen) >= 10
    assert sum(bool((logits == -np.inf).any()) for logits in seen) >= 10
    assert sum(not logits.any() for logits in seen) >= 10
    tiny = np.finfo(dtype).smallest_normal
    assert sum(bool(logits.any() and (np.abs(logits) < tiny).all()) for logits in seen) >= 10
    assert sum(len(np.unique(logits)) in (2, 3) for logits in seen) >= 10
    assert not any(np.isnan(logits).any() or (logits == np.inf).any() for logits in seen)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tokens_reach_every_kind(dtype: Any) -> None:
    seen = drawn(part("tokens", 5, 3, dtype))
    repeated = [len(np.unique(x, axis=0)) < 5 and bool(x.any(axis=1).all()) for x in seen]
    zero = [bool(x.any()) and not x.any(axis=1).all() for x in seen]
    tiny = np.finfo(dtype).smallest_normal
    subnormal = [bool(x.any() and (np.abs(x) < tiny).all()) for x in seen]
    ends = [(np.abs(x).min(), np.abs(x).max()) for x in seen if x.all()]
    wide = [1e4 * low < high < 1e12 * low for low, high in ends]
    assert min(map(sum, (repeated, zero, subnormal, wide))) >= 10


@pytest.mark.slow
def test_whole_heads_are_zero_in_some_weights() -> None:
    seen = drawn(part("matrices", 3, 2, np.float64, 4))
    dead = [int((~w.any(axis=(1, 2))).sum()) for w in seen]
    assert sum(0 < count < 4 for count in dead) >= 10
    assert sum(np.linalg.matrix_rank(w[0]) == 1 for w in seen) >= 10


@pytest.mark.slow
def test_head_weights_are_positive_and_not_always_a_simplex() -> None:
    seen = [w for w in drawn(part("head_weights", 3, np.float64)) if w is not None]
    assert all((w > 0).all() for w in seen)
    sums = [abs(w.sum() - 1) <= gamma(6, U) for w in seen]
    assert min(sum(sums), len(sums) - sum(sums)) >= 10
    assert sum(w.max() > 1e6 * w.min() for w in seen) >= 10


@pytest.mark.slow
def test_conditioning_reaches_its_ends() -> None:
    @st.composite
    def pairs(draw: strategies.Draw) -> tuple[float, np.ndarray]:
        condition = strategies.conditions(draw)
        return condition, strategies.spd(draw(strategies.generators()), 4, condition)

    for condition, g in (seen := drawn(pairs())):
        values = np.linalg.eigvalsh(g)
        assert values[0] > 0
        assert abs(values[0] * condition - 1) <= condition * gamma(20 * 16, U)
    assert sum(condition > 1e6 for condition, _ in seen) >= 10
    assert sum(condition == 1 for condition, _ in seen) >= 10
    assert max(condition for condition, _ in seen) == 1e12


@pytest.mark.slow
def test_capacitance_is_nearly_singular_for_some_metrics() -> None:
    seen = drawn(part("low_rank_metrics", 5, 2))
    conditions = [np.linalg.cond(np.eye(2) + u.T @ (u / diagonal[:, None])) for diagonal, u in seen]
    assert all((diagonal > 0).all() for diagonal, _ in seen)
    assert sum(c > 1e6 for c in conditions) >= 10
    assert sum(c < 1e3 for c in conditions) >= 10
