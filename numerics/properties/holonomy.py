"""CW10, holonomy.

spectrum: a flat connection walk, T_ij = g_i g_j^-1, is P (x) I seen in the frames g:
W x = g (P (x) I) g^-1 x.
fundamental_cycles: the holonomy that the spanning tree gives each further edge is the product of
the transports along its cycle, here multiplied edge by edge in rational numbers.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from numerics.laplacians import holonomy
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held, inverse_error
from numerics.rounding import roundoff
from numerics.walks.walk import Walk, softmax_walk

CLAUSES = ("spectrum", "fundamental_cycles")
NODES = (1, 2, 3, 4, 5, 6, 6)
WIDTHS = (1, 2, 3, 4, 4)
CONDITIONS = (1.0, 1.0, 10.0, 100.0)
Rows = list[list[Fraction]]


@dataclass(frozen=True)
class Sample:
    """A clause, weights (n, n), transports (n, n, d, d); frames g, g^-1 (n, d, d), x (n, d)."""

    clause: str
    weights: np.ndarray
    transports: np.ndarray
    frames: np.ndarray
    coframes: np.ndarray
    x: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Walks of every mask in flat frames; connected graphs with self-loops in any frames."""
    clause = draw(st.sampled_from(CLAUSES))
    n, d = draw(st.sampled_from(NODES)), draw(st.sampled_from(WIDTHS))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    frames, coframes = integer_frames(rng, n, d)
    x = strategies.tokens(draw, rng, n, d, dtype)
    frames, coframes = frames.astype(dtype), coframes.astype(dtype)
    if clause == "spectrum":
        logits = strategies.logits(draw, rng, (n, n), dtype)
        weights = softmax_walk(logits, strategies.masks(draw, rng, n, n))
        transports = frames[:, None] @ coframes[None]
    else:
        edges = graph(rng, n, draw(st.floats(0.0, 1.0)))
        weights = (edges / edges.sum(axis=1, keepdims=True)).astype(dtype)
        transports = connection(rng, n, d, draw(st.sampled_from(CONDITIONS))).astype(dtype)
    return Sample(clause, weights, transports, frames, coframes, x)


def integer_frames(rng: np.random.Generator, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Integer matrices of determinant 1 or -1 with their integer inverses, (n, d, d) each."""
    lower = np.tril(rng.integers(-2, 3, size=(n, d, d)), -1) + np.eye(d, dtype=int)
    inverse = np.zeros_like(lower)
    for row in range(d):
        inverse[:, row] = np.eye(d, dtype=int)[row]
        for column in range(row):
            inverse[:, row] -= lower[:, row, column, None] * inverse[:, column]
    turn = np.eye(d, dtype=int)[rng.permutation(d)] * rng.choice([-1, 1], size=(n, 1, d))
    return lower @ turn, np.swapaxes(turn, 1, 2) @ inverse


def graph(rng: np.random.Generator, n: int, density: float) -> np.ndarray:
    """Symmetric 0/1 edges (n, n) of a connected graph, with one self-loop or more."""
    edges = np.triu(rng.random((n, n)) < density)
    for node in range(1, n):
        edges[rng.integers(node), node] = True
    node = rng.integers(n)
    edges[node, node] = True
    return (edges | edges.T).astype(np.float64)


def connection(rng: np.random.Generator, n: int, d: int, condition: float) -> np.ndarray:
    """Transports (n, n, d, d) with T_ji = T_ij^-1 up to rounding; reflections on self-loops."""
    edges = np.zeros((n, n, d, d))
    for i in range(n):
        signs = np.diag(rng.choice([-1.0, 1.0], size=d))
        turn = strategies.rotation(rng, d)
        edges[i, i] = turn @ signs @ turn.T
        for j in range(i):
            edges[i, j] = strategies.conditioned(rng, d, condition)
            edges[j, i] = np.linalg.inv(edges[i, j])
    return edges


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Flat transports come from frames; others are mutually inverse along the edges."""
    P, T = sample.weights, sample.transports
    frames = {"g": sample.frames, "g^{-1}": sample.coframes}
    if sample.clause == "spectrum":
        yield Held("g^{-1} inverts g", frames)
        yield Held("T is gauged along P", {"P": P, "T": T} | frames)
        return
    errors = {"T": inverse_error(np.swapaxes(T, 0, 1), T)}
    edges = (P > 0).astype(P.dtype)
    yield Held("T_ij inverts T_ji along E[i, j]", {"E": edges, "T": T}, errors)


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _spectrum(sample) if sample.clause == "spectrum" else _cycles(sample)


def _spectrum(sample: Sample) -> Residual:
    """The flat walk applied to x against P applied in the frames."""
    lhs = Walk(sample.weights, sample.transports).apply(sample.x)
    plain = sample.weights @ (sample.coframes @ sample.x[:, :, None])[:, :, 0]
    rhs = (sample.frames @ plain[:, :, None])[:, :, 0]
    n, d = sample.x.shape
    p, edges, g, inverse, x = (
        roundoff.exact(part)
        for part in (sample.weights, sample.transports, sample.frames, sample.coframes, sample.x)
    )
    moved = (edges @ x.reshape(1, n, d, 1)).reshape(n, n, d)
    walk = (p.reshape(n, n, 1) * moved).sum(axis=1)
    framed = p @ (inverse @ x.reshape(n, d, 1)).reshape(n, d)
    bound = walk.error + (g @ framed.reshape(n, d, 1)).reshape(n, d).error
    return Residual("spectrum", lhs, rhs, bound, max(n, d))


def _cycles(sample: Sample) -> Residual:
    """Holonomies by the tree against exact products along the cycles."""
    found = holonomy.holonomies(sample.weights, sample.transports)
    tree = holonomy.spanning_tree(sample.weights)
    exact = [cycle_product(sample.transports, cycle(tree.parents, *edge)) for edge in found]
    bound = _tree_error(sample.transports, tree, list(found))
    d = sample.transports.shape[-1]
    return Residual("fundamental_cycles", np.stack([*found.values()]), np.stack(exact), bound, d)


def cycle(parents: tuple[int, ...], i: int, j: int) -> list[int]:
    """Nodes from the root along the tree to i, over the edge to j, and back to the root."""
    there, back = [i], [j]
    for path in (there, back):
        while parents[path[-1]] != path[-1]:
            path.append(parents[path[-1]])
    return there[::-1] + back


def cycle_product(transports: np.ndarray, nodes: list[int]) -> np.ndarray:
    """Product of the stored transports along a walk, exact until it is rounded to float64."""
    d = transports.shape[-1]
    identity = [[Fraction(int(r == c)) for c in range(d)] for r in range(d)]
    factors = [
        [[Fraction(float(entry)) for entry in row] for row in transports[i, j]]
        for i, j in pairwise(nodes)
    ]
    return np.array([[float(e) for e in row] for row in reduce(_times, factors, identity)])


def _times(left: Rows, right: Rows) -> Rows:
    columns = list(zip(*right, strict=True))
    return [[sum((x * y for x, y in zip(row, c, strict=True)), Fraction(0)) for c in columns]
            for row in left]  # fmt: skip


def _tree_error(
    transports: np.ndarray, tree: holonomy.SpanningTree, edges: list[tuple[int, int]]
) -> np.ndarray:
    """Error of the holonomies (c, d, d) in the tree's order, and of rounding the exact product."""
    stored = roundoff.exact(transports)
    eye = roundoff.exact(np.eye(transports.shape[-1], dtype=transports.dtype))
    out, back = {tree.root: eye}, {tree.root: eye}
    for node in tree.order[1:]:
        parent = tree.parents[node]
        out[node] = stored[node, parent] @ out[parent]
        back[node] = back[parent] @ stored[parent, node]
    products = [back[i] @ stored[i, j] @ out[j] for i, j in edges]
    return np.stack([part.error + 2.0**-53 * part.magnitude for part in products])
