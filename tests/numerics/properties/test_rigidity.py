"""CW7's property: it holds, is tight, and sees falsehoods planted in gates and transports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import find, settings

from numerics.properties import Residual, rigidity, run_property
from numerics.walks import walk as walks

ONCE = settings(database=None, derandomize=True, deadline=None, max_examples=2000)


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_mixtures_of_isometries_fall_short_by_their_pairs(suite_seed: int) -> None:
    result = run_property("CW7", rigidity, suite_seed)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert result.clauses == ("identity",)


def gates_of_the_first_head(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(attention: Any, weights: Any = None) -> Any:
        gates = np.zeros_like(attention)
        gates[0] = attention.sum(axis=0) > 0
        return gates

    monkeypatch.setattr(walks, "gates", wrong)


def unnormalised_gates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "gates", lambda attention, weights=None: attention)


def transports_of_the_heads_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """T^h in place of O_h = H T^h."""

    def wrong(attention: Any, heads: Any, weights: Any) -> walks.Walk:
        count = heads.dtype.type(len(heads))
        return walks.multi_head_walk(attention, heads / count, weights)

    monkeypatch.setattr(rigidity, "multi_head_walk", wrong)


def heads_of_another_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(attention: Any, heads: Any, weights: Any) -> walks.Walk:
        walk = walks.multi_head_walk(attention, heads, weights)
        return replace(walk, transports=walk.transports[:, ::-1].copy())

    monkeypatch.setattr(rigidity, "multi_head_walk", wrong)


def isometries_of_another_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    """Defects are not allowed for, so heads must be isometric for this metric."""
    monkeypatch.setattr(rigidity, "_defects", lambda heads, metric: np.zeros_like(heads))
    sound = rigidity.residual

    def wrong(sample: Any) -> Residual:
        return sound(replace(sample, metric=2 * sample.metric + np.ones_like(sample.metric)))

    monkeypatch.setattr(rigidity, "residual", wrong)


@pytest.mark.slow
@pytest.mark.parametrize("plant", [
    gates_of_the_first_head, unnormalised_gates, transports_of_the_heads_alone,
    heads_of_another_edge, isometries_of_another_metric,
])  # fmt: skip
def test_a_planted_falsehood_is_rejected(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    result = run_property("CW7", rigidity)
    assert not result.ok
    assert result.failures[0].startswith("CW7 identity: residual / bound")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rotations", "isometries"])
def test_a_bound_fifty_times_too_loose_is_caught(kind: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(rigidity, "KINDS", (kind,))
    sound = rigidity.residual
    module: Any = SimpleNamespace(
        samples=rigidity.samples,
        residual=lambda sample: replace(sound(sample), bound=50 * sound(sample).bound),
    )
    result = run_property("CW7", module)
    assert any("bound too loose" in failure for failure in result.failures), result


CORNERS: dict[str, Callable[[Any], bool]] = {
    "one head": lambda sample: len(sample.heads) == 1,
    "four heads of width four": lambda sample: sample.heads.shape[:2] == (4, 4),
    "one query of one key": lambda sample: sample.attention.shape[1:] == (1, 1),
    "one dimension": lambda sample: sample.heads.shape[1] == 1,
    "cross-attention": lambda sample: sample.attention.shape[1] != sample.attention.shape[2],
    "an edge that no head uses": lambda sample: not sample.attention.any(axis=0).all(),
    "an edge that one head of two uses": lambda sample: (
        len(sample.heads) == 2 and ((sample.attention > 0).sum(axis=0) == 1).any()
    ),
    "single precision": lambda sample: sample.heads.dtype == np.float32,
    "a metric that is not the identity": lambda sample: (
        len(sample.metric) > 1 and np.abs(sample.metric - np.diag(np.diag(sample.metric))).any()
    ),
    "opposite heads": lambda sample: (
        len(sample.heads) > 1 and (sample.heads[0] == -sample.heads[1]).all()
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("corner", CORNERS)
def test_the_samples_reach(corner: str) -> None:
    found = find(rigidity.samples(), CORNERS[corner], settings=ONCE)
    assert rigidity.residual(found).ratio() <= 1


def half_and_half(second: list[list[float]]) -> rigidity.Sample:
    """Two heads, the first the identity, that share one edge equally."""
    pair = np.array([np.eye(2), second])
    return rigidity.Sample(np.ones((2, 1, 1)), pair, np.eye(2))


def test_equal_heads_keep_the_metric_exactly() -> None:
    """The case of equality of |T v| <= |v|."""
    residual = rigidity.residual(half_and_half([[1.0, 0.0], [0.0, 1.0]]))
    assert not residual.lhs.any()
    assert not residual.rhs.any()


def test_heads_that_differ_keep_a_vector_and_shrink_another() -> None:
    residual = rigidity.residual(half_and_half([[1.0, 0.0], [0.0, -1.0]]))
    assert residual.lhs[0, 0].tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert residual.rhs[0, 0].tolist() == [[0.0, 0.0], [0.0, 1.0]]


def test_exact_isometries_have_no_defect_and_rotations_a_small_one() -> None:
    rng = np.random.default_rng(0)
    for d in (1, 2, 3, 4):
        frame, coframe = rigidity._frames(rng, d)
        head = coframe @ rigidity._exact_rotation(rng, d) @ frame
        assert not rigidity._defects(head[None], frame.T @ frame).any()
        turned = np.array([[0.6, -0.8], [0.8, 0.6]])
        defect = rigidity._defects(turned[None], np.eye(2))
        assert 0 < defect.max() < 2.0**-50
