"""CW7's property: it holds, is tight, and sees falsehoods planted in gates and transports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from numerics.properties import rigidity, run_property
from numerics.walks import walk as walks
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)


def gates_of_the_first_head(_: Any, attention: Any, weights: Any = None) -> Any:
    gates = np.zeros_like(attention)
    gates[0] = attention.sum(axis=0) > 0
    return gates


def heads_of_another_edge(sound: Any, *given: Any) -> walks.Walk:
    walk = sound(*given)
    return replace(walk, transports=walk.transports[:, ::-1].copy())


FALSEHOODS = {
    "gates of the first head": Plant("identity", "gates", gates_of_the_first_head, walks),
    "unnormalised gates": Plant(
        "identity", "gates", lambda _, attention, weights=None: attention, walks),
    "T^h in place of O_h = H T^h": Plant(
        "identity", "multi_head_walk", lambda sound, attention, heads, weights: (
            sound(attention, heads / heads.dtype.type(len(heads)), weights))),
    "heads of another edge": Plant("identity", "multi_head_walk", heads_of_another_edge),
    # Defects are not allowed for, so heads must be isometric for this metric.
    "isometries of another metric": Plant(
        "identity", "residual", lambda sound, sample: sound(
            replace(sample, metric=2 * sample.metric + np.ones_like(sample.metric))),
        also=(Plant("", "_defects", lambda _, heads, metric: np.zeros_like(heads)),)),
}  # fmt: skip


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
