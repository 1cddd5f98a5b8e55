"""Intervals over heads, and where one more draw may fall."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.trained.measures.bootstrap import interval, reach_of_one_more


def test_intervals_resample_heads_within_layers() -> None:
    layers = [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    assert interval(layers, 0) == [0.5, 0.5, 0.5], "layers were mixed"
    mean, low, high = interval([[0.0, 1.0] * 50], 0)
    # 100 fair coins: 95% within 1.96 * 0.05, the ends of 2000 resamples within a fifth of that.
    assert mean == 0.5
    assert 0.08 < mean - low < 0.12
    assert 0.08 < high - mean < 0.12
    assert interval([[0.0, 1.0] * 50], 0) == [mean, low, high], "unseeded"
    with pytest.raises(ValueError, match="finite values"):
        interval([[float("nan")]], 0)
    with pytest.raises(ValueError, match="finite values"):
        interval([], 0)


def test_one_more_draw_lies_within_its_reach_in_95_of_100() -> None:
    draws = np.random.default_rng(7).standard_normal((2000, 4))
    missed = sum(abs(d[3] - d[:3].mean()) > reach_of_one_more(d[:3].tolist()) for d in draws)
    # Binomial of 2000 at 5%: deviation 9.7, so 4.5 deviations either side.
    assert 56 < missed < 144, f"{missed} of 2000 outside"
    assert reach_of_one_more([1.0]) == float("inf")
