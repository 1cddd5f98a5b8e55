"""Flatness is decided on fundamental cycles of a tree and self-loops, on nothing less (CW10)."""

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch

from numerics.laplacians import connection_laplacian
from numerics.laplacians.holonomy import (
    SpanningTree,
    flatness_defects,
    holonomies,
    is_flat,
    mutually_inverse,
    spanning_tree,
    tree_gauge,
)
from numerics.properties import strategies
from numerics.walks import Walk

KINDS = [np.asarray, torch.from_numpy]
U = 2.0**-53
C = np.array([[0.0, -1.0], [1.0, -1.0]])
C_INVERSE = np.array([[-1.0, 1.0], [-1.0, 0.0]])
SQUARE = (np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1)) / 2


def wheel() -> tuple[np.ndarray, np.ndarray]:
    """W_4: hub 0, rim 1-2-3-4; spokes I, T_12 = T_23 = T_34 = C, T_14 = C^2; simple random walk."""
    w, T = np.zeros((5, 5)), np.zeros((5, 5, 2, 2))
    rim = ((1, 2, C, C_INVERSE), (2, 3, C, C_INVERSE), (3, 4, C, C_INVERSE), (1, 4, C @ C, C))
    spokes = tuple((0, k, np.eye(2), np.eye(2)) for k in range(1, 5))
    for i, j, there, back in (*rim, *spokes):
        w[i, j] = w[j, i] = 1
        T[i, j], T[j, i] = there, back
    return w, T


def around(T: np.ndarray, cycle: tuple[int, ...]) -> np.ndarray:
    """Holonomy of a closed walk, last step leftmost."""
    h = np.eye(T.shape[-1])
    for here, there in zip(cycle, (*cycle[1:], cycle[0]), strict=True):
        h = T[there, here] @ h
    return h


def flat(rng: np.random.Generator, n: int, d: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """Connected symmetric edges, self-loops among them, with T_ij = g_i g_j^-1."""
    extra = rng.random((n, n)) < p
    edges = extra | extra.T | (np.abs(np.subtract.outer(np.arange(n), np.arange(n))) == 1)
    g = np.stack([strategies.rotation(rng, d) for _ in range(n)])
    T = g[:, None] @ g.transpose(0, 2, 1)[None]
    return edges / np.maximum(edges.sum(axis=1, keepdims=True), 1), T


def test_a_cycle_basis_with_trivial_holonomies_does_not_make_the_wheel_flat() -> None:
    w, T = wheel()
    assert (C @ C @ C == np.eye(2)).all()
    basis = ((0, 1, 2, 3, 4), (0, 3, 2, 1, 4), (0, 1, 4, 3, 2), (0, 2, 1, 4, 3))
    edges = [(i, j) for i in range(5) for j in range(i + 1, 5) if w[i, j]]
    rows = []
    for cycle in basis:
        assert (around(T, cycle) == np.eye(2)).all()
        steps = {frozenset(pair) for pair in zip(cycle, (*cycle[1:], cycle[0]), strict=True)}
        rows.append([int(frozenset(edge) in steps) for edge in edges])
    # Rank 4 over GF(2), the dimension of the cycle space: rank 8 - 5 + 1.
    assert len(edges) - 5 + 1 == 4
    sums = {tuple(np.bitwise_xor.reduce([r for k, r in enumerate(rows) if s >> k & 1]))
            for s in range(1, 16)}  # fmt: skip
    assert (0,) * 8 not in sums
    assert not (around(T, (0, 1, 2)) == np.eye(2)).all()

    P = w / w.sum(axis=1, keepdims=True)
    assert not is_flat(P, T)
    found = holonomies(P, T)
    assert list(found) == [(1, 2), (1, 4), (2, 3), (3, 4)]
    assert (found[1, 2] == C).all()
    assert (found[1, 4] == C @ C).all()
    assert np.linalg.eigvals(connection_laplacian(w, T)).real.min() > 0.4


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(10))
def test_gauge_transports_are_flat_and_one_twist_is_not(seed: int, kind: Any) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    P, T = flat(rng, n, d, 0.5)
    root = int(rng.integers(n))
    assert is_flat(kind(P), kind(T), root)
    g = np.asarray(tree_gauge(kind(P), kind(T), root))
    pure = g[:, None] @ np.linalg.inv(g)[None]
    assert np.abs((pure - T)[P > 0]).max(initial=0) <= 100 * n * d * d * U
    for i, j in holonomies(kind(P), kind(T), root):
        twisted = T.copy()
        twist = -np.eye(d) if i == j else strategies.rotation(rng, d) * 1.5
        twisted[i, j] = twisted[i, j] @ twist
        twisted[j, i] = np.linalg.inv(twisted[i, j])
        assert not is_flat(kind(P), kind(twisted), root)
        for edge, defect in flatness_defects(kind(P), kind(twisted), root).items():
            assert (defect > 1e-3) == (edge == (i, j))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_flat_connection_passes_after_rounding_and_a_small_twist_does_not(dtype: Any) -> None:
    eps = float(np.finfo(dtype).eps)
    for seed in range(20):
        P, T = flat(np.random.default_rng(seed), 6, 3, 0.6)
        assert is_flat(P.astype(dtype), T.astype(dtype))
        angle = 2**14 * eps
        turn = np.array([[1, -angle, 0], [angle, 1, 0], [0, 0, 1]])
        (i, j), *_ = [edge for edge in holonomies(P, T) if edge[0] != edge[1]]
        T[i, j] = T[i, j] @ turn
        T[j, i] = turn.T @ T[j, i]
        assert not is_flat(P.astype(dtype), T.astype(dtype))


def test_flatness_decides_the_kernel_and_the_spectrum() -> None:
    """W = g (P (x) I) g^-1: spec W is d copies of spec P."""
    P, T = flat(np.random.default_rng(3), 5, 2, 0.5)
    spectrum = np.sort(np.linalg.eigvals(Walk(P, T).block_matrix()).real)
    once = np.sort(np.linalg.eigvals(P).real)
    assert np.abs(spectrum - np.repeat(once, 2)).max() <= 1e5 * U
    kernel = np.linalg.svd(Walk(P, T).generator())[1]
    assert (kernel <= 1e4 * U).sum() == 2


@pytest.mark.parametrize("kind", KINDS)
def test_triangles_do_not_suffice(kind: Any) -> None:
    """C_4 with one sign: no triangle, holonomy -1."""
    T = np.ones((4, 4, 1, 1))
    assert is_flat(kind(SQUARE), kind(T))
    T[0, 1] = T[1, 0] = -1
    found = holonomies(kind(SQUARE), kind(T))
    assert [h.tolist() for h in found.values()] == [[[-1.0]]]
    assert not is_flat(kind(SQUARE), kind(T))
    assert flatness_defects(kind(SQUARE), kind(T)) == {(2, 3): 2.0}


def test_constant_transports_are_flat_iff_a_power_is_the_identity() -> None:
    """T = -1: flat on C_4, whose closed walks are even, and not with a self-loop."""
    minus = -np.eye(1)
    assert is_flat(SQUARE, minus)
    lazy = (SQUARE + np.eye(4)) / 2
    assert not is_flat(lazy, minus)
    assert flatness_defects(lazy, minus)[0, 0] == 2
    assert is_flat(np.ones((1, 1)), np.eye(3))
    assert holonomies(np.ones((1, 1)), minus)[0, 0].tolist() == [[-1.0]]
    assert holonomies(np.zeros((1, 1)), minus) == {}


@pytest.mark.parametrize("seed", range(10))
def test_holonomies_are_those_of_the_fundamental_cycles(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P, T = flat(rng, 6, 2, 0.4)
    for i in range(6):
        for j in range(i):
            T[i, j] = strategies.rotation(rng, 2)
            T[j, i] = T[i, j].T
        T[i, i] = np.array([[0.0, 1.0], [1.0, 0.0]])
    tree = spanning_tree(P, root=2)
    found = holonomies(P, T, root=2)
    assert len(found) == np.triu(P > 0).sum() - 5

    def path(node: int) -> tuple[int, ...]:
        return (2,) if node == 2 else (*path(tree.parents[node]), node)

    for (i, j), h in found.items():
        loop = (*path(j), *reversed(path(i)))
        expected = np.eye(2)
        for here, there in pairwise(loop):
            expected = T[there, here] @ expected
        assert np.abs(h - expected).max() <= 100 * U
        assert j not in (tree.parents[i],) or i == j


@pytest.mark.parametrize("seed", range(20))
def test_trees_are_breadth_first_and_the_same_every_time(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P, _ = flat(rng, int(rng.integers(1, 9)), 1, 0.3)
    root = int(rng.integers(len(P)))
    tree = spanning_tree(P, root)
    assert tree == spanning_tree(torch.from_numpy(P), root) == spanning_tree(P > 0, root)
    distance = nx.single_source_shortest_path_length(nx.from_numpy_array(P > 0), root)
    assert tree.parents[root] == root
    for node in set(range(len(P))) - {root}:
        nearer = [k for k in range(len(P)) if P[node, k] > 0 and distance[k] < distance[node]]
        assert tree.parents[node] in nearer


def test_a_disconnected_graph_is_refused() -> None:
    """Its components have d covariantly constant sections each: no one tree sees them."""
    P = np.zeros((4, 4))
    P[:2, :2] = P[2:, 2:] = 0.5
    with pytest.raises(ValueError, match=r"P must be connected, got nodes \[2, 3\] out of reach"):
        holonomies(P, np.eye(2))


def test_directed_edges_are_refused() -> None:
    """2 <- 1, 3 <- 2 with T = 1, 3 <- 1 with T = 2 has no directed cycle, and is not flat."""
    causal = np.array([[1.0, 0, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]])
    with pytest.raises(ValueError, match="P must have symmetric edges, got 1 -> 0 without 0 -> 1"):
        tree_gauge(causal, np.eye(1))


def test_inverses_are_accepted_as_computed_and_refused_when_wrong() -> None:
    rng = np.random.default_rng(0)
    for condition in (1.0, 1e3, 1e6):
        T = np.zeros((2, 2, 3, 3))
        T[0, 1] = strategies.conditioned(rng, 3, condition)
        T[1, 0] = np.linalg.inv(T[0, 1])
        mutually_inverse(1 - np.eye(2), T)
        T[1, 0] *= 1 + 1e-4
        with pytest.raises(ValueError, match=r"T must have T_ij T_ji = I .*at \(0, 1\)"):
            mutually_inverse(1 - np.eye(2), T)


def test_a_tree_lists_every_node_after_its_parent() -> None:
    assert SpanningTree(1, (1, 1, 0), (1, 0, 2)).parents == (1, 1, 0)
    with pytest.raises(ValueError, match="parents must come earlier"):
        SpanningTree(1, (2, 1, 1), (1, 0, 2))


def test_a_tree_of_nodes_that_are_none_is_refused() -> None:
    for parents in ((0, 5), (0, -1)):
        with pytest.raises(ValueError, match=r"parents must lie in \[0, 2\), got \(0, "):
            SpanningTree(0, parents, (0, 1))
    with pytest.raises(ValueError, match=r"root must lie in \[0, 2\), got 7"):
        SpanningTree(7, (0, 0), (0, 1))
    with pytest.raises(ValueError, match=r"root must lie in \[0, 0\), got 0"):
        SpanningTree(0, (), ())


def test_weights_and_transports_are_of_one_kind() -> None:
    P, T = np.full((2, 2), 0.5), torch.eye(2, dtype=torch.float64)
    for call in (mutually_inverse, tree_gauge, holonomies, flatness_defects, is_flat):
        for weights in (P, P > 0):
            with pytest.raises(TypeError, match="T must be of the kind of P, ndarray, got Tensor"):
                call(weights, T)
        with pytest.raises(TypeError, match="T must be of the kind of P, Tensor, got ndarray"):
            call(torch.from_numpy(P), np.eye(2))
