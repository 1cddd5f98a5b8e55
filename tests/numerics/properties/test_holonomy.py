"""CW10's property: it holds, is tight, and sees falsehoods planted in walks and holonomies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import find

from numerics.laplacians import holonomy as suite
from numerics.properties import holonomy
from tests.numerics.properties.plant import SEARCH, Plant

SEEDS = (0, 1)


def no_way_back(sound: Any, tree: Any, edges: Any, eye: Any) -> Any:
    out, _ = sound(tree, edges, eye)
    return out, out


def one_tree_step(_: Any, tree: Any, edges: Any, eye: Any) -> Any:
    steps = [(i, parent) for i, parent in enumerate(tree.parents)]
    return (
        [edges[i, parent] if i != tree.root else eye for i, parent in steps],
        [edges[parent, i] if i != tree.root else eye for i, parent in steps],
    )


FALSEHOODS = {
    "transposed transports": Plant("spectrum", "Walk", lambda Walk, p, edges: (
        Walk(p, np.swapaxes(edges, 2, 3).copy()))),
    "transposed weights": Plant("spectrum", "Walk", lambda Walk, p, edges: Walk(p.T.copy(), edges)),
    "edge against its direction": Plant(
        "fundamental_cycles", "holonomies", lambda sound, weights, transports: (
            sound(weights, np.swapaxes(transports, 0, 1).copy())), holonomy.holonomy),
    "no way back": Plant("fundamental_cycles", "_along_the_tree", no_way_back, suite),
    "one tree step": Plant("fundamental_cycles", "_along_the_tree", one_tree_step, suite),
}  # fmt: skip


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
    sample = find(holonomy.samples(), CORNERS["several cycles on several nodes"], settings=SEARCH)
    turned = replace(sample, transports=2 * sample.transports)
    with pytest.raises(ValueError, match="T must have T_ij T_ji = I"):
        holonomy.residual(turned)
