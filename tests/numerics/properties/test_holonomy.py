"""CW10's property: it holds, is tight, and sees falsehoods planted in walks and holonomies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import find, settings

from numerics.laplacians import holonomy as suite
from numerics.properties import holonomy, run_property
from numerics.walks import Walk

ONCE = settings(database=None, derandomize=True, deadline=None, max_examples=2000)


@pytest.mark.slow
@pytest.mark.parametrize("suite_seed", range(2))
def test_flat_walks_and_fundamental_cycles(suite_seed: int) -> None:
    result = run_property("CW10", holonomy, suite_seed)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert result.clauses == ("fundamental_cycles", "spectrum")


def transposed_transports(monkeypatch: pytest.MonkeyPatch) -> str:
    def wrong(weights: Any, transports: Any) -> Walk:
        return Walk(weights, np.swapaxes(transports, 2, 3).copy())

    monkeypatch.setattr(holonomy, "Walk", wrong)
    return "spectrum"


def transposed_weights(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(holonomy, "Walk", lambda p, edges: Walk(p.T.copy(), edges))
    return "spectrum"


def edge_against_its_direction(monkeypatch: pytest.MonkeyPatch) -> str:
    true = suite.holonomies

    def wrong(weights: Any, transports: Any) -> Any:
        return true(weights, np.swapaxes(transports, 0, 1).copy())

    monkeypatch.setattr(holonomy.holonomy, "holonomies", wrong)
    return "fundamental_cycles"


def no_way_back(monkeypatch: pytest.MonkeyPatch) -> str:
    true = suite._along_the_tree

    def wrong(tree: Any, edges: Any, eye: Any) -> Any:
        out, _ = true(tree, edges, eye)
        return out, out

    monkeypatch.setattr(suite, "_along_the_tree", wrong)
    return "fundamental_cycles"


def one_tree_step(monkeypatch: pytest.MonkeyPatch) -> str:
    def wrong(tree: Any, edges: Any, eye: Any) -> Any:
        nodes = range(len(tree.parents))
        return (
            [edges[i, tree.parents[i]] if i != tree.root else eye for i in nodes],
            [edges[tree.parents[i], i] if i != tree.root else eye for i in nodes],
        )

    monkeypatch.setattr(suite, "_along_the_tree", wrong)
    return "fundamental_cycles"


@pytest.mark.slow
@pytest.mark.parametrize("plant", [
    transposed_transports, transposed_weights, edge_against_its_direction, no_way_back,
    one_tree_step,
])  # fmt: skip
def test_a_planted_falsehood_is_rejected(
    plant: Callable[[pytest.MonkeyPatch], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clause = plant(monkeypatch)
    result = run_property("CW10", holonomy)
    assert not result.ok
    assert result.failures[0].startswith(f"CW10 {clause}: residual / bound")


CORNERS: dict[str, Callable[[Any], bool]] = {
    "one node": lambda sample: len(sample.weights) == 1,
    "one dimension": lambda sample: sample.x.shape[1] == 1,
    "a row without edges": lambda sample: not sample.weights.any(axis=1).all(),
    "single precision": lambda sample: sample.x.dtype == np.float32,
    "zero token": lambda sample: sample.clause == "spectrum" and not sample.x.any(axis=1).all(),
    "several cycles on several nodes": lambda sample: (
        sample.clause == "fundamental_cycles"
        and len(sample.weights) > 3
        and (sample.weights > 0).sum() > 3 * len(sample.weights)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("corner", CORNERS)
def test_the_samples_reach(corner: str) -> None:
    found = find(holonomy.samples(), CORNERS[corner], settings=ONCE)
    assert holonomy.residual(found).ratio() <= 1


def test_a_cycle_leaves_the_root_along_the_tree_and_returns_along_it() -> None:
    parents = (0, 0, 1, 0)
    assert holonomy.cycle(parents, 2, 3) == [0, 1, 2, 3, 0]
    assert holonomy.cycle(parents, 2, 2) == [0, 1, 2, 2, 1, 0]
    assert holonomy.cycle(parents, 0, 0) == [0, 0]


def test_a_cycle_product_is_exact_where_floating_point_is_not() -> None:
    big = 2.0**60
    walk = np.zeros((2, 2, 2, 2))
    walk[0, 1] = [[big, 1.0], [0.0, 1.0]]
    walk[1, 0] = [[1.0, 1.0], [-big, 0.0]]
    assert holonomy.cycle_product(walk, [0, 1, 0]).tolist() == [[0.0, big], [-big, 0.0]]


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_integer_frames_have_integer_inverses(d: int) -> None:
    frames, coframes = holonomy.integer_frames(np.random.default_rng(d), 5, d)
    identity = np.broadcast_to(np.eye(d, dtype=int), (5, d, d))
    assert (frames @ coframes == identity).all()
    assert (coframes @ frames == identity).all()


def test_a_graph_is_connected_with_symmetric_edges_and_a_self_loop() -> None:
    for seed in range(20):
        edges = holonomy.graph(np.random.default_rng(seed), 5, 0.0)
        tree = suite.spanning_tree(edges)
        assert sorted(tree.order) == list(range(5))
        assert np.trace(edges) >= 1


@pytest.mark.slow
def test_transports_that_are_not_mutually_inverse_are_refused() -> None:
    sample = find(holonomy.samples(), CORNERS["several cycles on several nodes"], settings=ONCE)
    turned = replace(sample, transports=2 * sample.transports)
    with pytest.raises(ValueError, match="T must have T_ij T_ji = I"):
        holonomy.residual(turned)
