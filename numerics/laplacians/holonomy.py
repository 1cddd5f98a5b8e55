"""Holonomies of a connection walk around the fundamental cycles of a spanning tree (CW10).

An edge i -> j is P_ij > 0; edges must be symmetric and connected, with T_ji = T_ij^-1, T (d, d)
or (n, n, d, d), finite off the edges too. The cycle of an edge off the tree, or of a self-loop,
runs from the root along the tree to j, over the edge to i and back along the tree.
T_ij = g_i g_j^-1 for some gauge g iff the holonomies of these cycles are all I; other cycle
bases, and the triangles, do not suffice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from numerics.arrays import Array, finite, namespace, shape
from numerics.rounding import roundoff
from numerics.rounding.roundoff import Rounded
from numerics.rounding.units import units
from numerics.walks.chains import support
from numerics.walks.elimination import float64


@dataclass(frozen=True)
class SpanningTree:
    """A tree over n nodes: root, each node's parent (the root's is itself), an order from the root.

    Raises ValueError unless root and parents are nodes, and order starts at the root and lists each
    node after its parent.
    """

    root: int
    parents: tuple[int, ...]
    order: tuple[int, ...]

    def __post_init__(self) -> None:
        nodes = range(len(self.parents))
        if self.root not in nodes:
            raise ValueError(f"root must lie in [0, {len(nodes)}), got {self.root}")
        if any(parent not in nodes for parent in self.parents):
            raise ValueError(f"parents must lie in [0, {len(nodes)}), got {self.parents}")
        place = {node: k for k, node in enumerate(self.order)}
        if sorted(self.order) != list(nodes) or place[self.root] != 0:
            raise ValueError(f"order must list every node, the root first, got {self.order}")
        late = [i for i, p in enumerate(self.parents) if i != self.root and place[p] >= place[i]]
        if late or self.parents[self.root] != self.root:
            raise ValueError(f"parents must come earlier in order, got {self.parents}")

    @property
    def depth(self) -> int:
        """Edges of the longest path from the root."""
        depths = [0] * len(self.parents)
        for node in self.order[1:]:
            depths[node] = depths[self.parents[node]] + 1
        return max(depths)


def spanning_tree(P: Array, root: int = 0) -> SpanningTree:
    """Breadth-first spanning tree of the edges of P (n, n), neighbours in ascending order.

    P is nonnegative, or its boolean support. Raises ValueError for a root out of range, an edge
    that goes one way only, and a graph that is not connected. Source: CW10.
    """
    edges = support(P)
    if isinstance(root, bool) or not isinstance(root, int):
        raise TypeError(f"root must be an int, got {type(root).__name__}")
    if not 0 <= root < len(edges):
        raise ValueError(f"root must lie in [0, {len(edges)}), got {root}")
    if (edges != edges.T).any():
        i, j = np.argwhere(edges & ~edges.T)[0].tolist()
        raise ValueError(f"P must have symmetric edges, got {i} -> {j} without {j} -> {i}")
    order, before = breadth_first_order(csr_array(edges), root)
    if len(order) < len(edges):
        missed = sorted(set(range(len(edges))) - set(order.tolist()))
        raise ValueError(f"P must be connected, got nodes {missed} out of reach of node {root}")
    before[root] = root
    return SpanningTree(root, tuple(before.tolist()), tuple(order.tolist()))


def mutually_inverse(P: Array, T: Array) -> None:
    """ValueError unless T_ij T_ji = I on every edge of P (n, n), up to the rounding of an inverse.

    The allowance is 16 d^2 u ||T_ij||_F ||T_ji||_F, u the unit roundoff of T's dtype. Edges are
    P_ij > 0 or, for boolean P, True; T (d, d) or (n, n, d, d). TypeError for P and T of two kinds.
    """
    namespace(T=T)
    edges = support(P)
    if isinstance(P, np.ndarray) != isinstance(T, np.ndarray):
        kind = type(P).__name__
        raise TypeError(f"T must be of the kind of P, {kind}, got {type(T).__name__}")
    shape({"n": len(edges)}, "T", T, *(() if T.ndim == 2 else ("n", "n")), "d", "d")
    finite(T=T)
    wide = float64(T)
    wide = wide[None, None] if T.ndim == 2 else wide
    xp, d = array_api_compat.array_namespace(wide), T.shape[-1]
    device = array_api_compat.device(T)
    eye = xp.eye(d, dtype=wide.dtype, device=device)
    # Blocks over their largest entries, p: no square over- or underflows, and T_ij T_ji = I is
    # unit_ij unit_ji = I / (p_ij p_ji).
    peak = _peak(wide)
    unit, back = wide / peak, xp.permute_dims(peak, (1, 0, 2, 3))
    size = xp.sqrt(xp.sum(unit * unit, axis=(-2, -1)))
    there_and_back = unit @ xp.permute_dims(unit, (1, 0, 2, 3))
    with np.errstate(over="ignore"):
        gap = xp.max(xp.abs(there_and_back - eye / peak / back), axis=(-2, -1))
    u = units(T.dtype, device).store
    bad = ~(gap <= 16 * d * d * u * size * xp.permute_dims(size, (1, 0)))
    bad = xp.asarray(edges, device=device) & bad
    if bool(xp.any(bad)):
        i, j = np.argwhere(np.asarray(bad.tolist()))[0].tolist()
        place = (i, j) if T.ndim == 4 else (0, 0)
        with np.errstate(over="ignore"):
            low, high = xp.minimum(peak, back)[place], xp.maximum(peak, back)[place]
            entry = xp.max(xp.abs(there_and_back[place] * low * high - eye)).item()
        raise ValueError(
            f"T must have T_ij T_ji = I on edges, got a deviation {entry:.3g} at ({i}, {j})"
        )


def _peak(blocks: Array) -> Array:
    """Largest entry (..., 1, 1) of each block, 1 for a block that is 0."""
    xp = array_api_compat.array_namespace(blocks)
    top = xp.max(xp.abs(blocks), axis=(-2, -1))[..., None, None]
    return xp.where(top > 0, top, xp.ones_like(top))


def _held(blocks: Array) -> Array:
    """The blocks themselves; ValueError where a product of transports left its dtype's range."""
    xp = array_api_compat.array_namespace(blocks)
    if not bool(xp.all(xp.isfinite(blocks))):
        raise ValueError(
            f"T must be of sizes whose products along the cycles {blocks.dtype} holds, got an "
            "overflow"
        )
    return blocks


def _along_the_tree(tree: SpanningTree, edges: Any, eye: Any) -> tuple[list[Any], list[Any]]:
    """Products of transports from the root to each node and back, by the tree's paths."""
    out, back = [eye] * len(tree.parents), [eye] * len(tree.parents)
    with np.errstate(over="ignore", invalid="ignore"):
        for node in tree.order[1:]:
            parent = tree.parents[node]
            out[node] = edges[node, parent] @ out[parent]
            back[node] = back[parent] @ edges[parent, node]
    return out, back


def _around(back: Any, edge: Any, out: Any) -> Any:
    """Product of the way to j, the edge i <- j and the way back from i."""
    with np.errstate(over="ignore", invalid="ignore"):
        return back @ edge @ out


def _checked(P: Array, T: Array, root: int) -> tuple[SpanningTree, Array, Array]:
    """Tree, transports (n, n, d, d) and I, in T's dtype."""
    xp = namespace(T=T)
    tree = spanning_tree(P, root)
    mutually_inverse(P, T)
    n, d = len(tree.parents), T.shape[-1]
    device = array_api_compat.device(T)
    edges = T if T.ndim == 4 else xp.broadcast_to(T, (n, n, d, d))
    return tree, edges, xp.eye(d, dtype=T.dtype, device=device)


def _cycles(P: Array, tree: SpanningTree) -> list[tuple[int, int]]:
    """Edges (i, j), i <= j, off the tree."""
    pairs = np.argwhere(np.triu(support(P))).tolist()
    return [(i, j) for i, j in pairs if (tree.parents[i] != j and tree.parents[j] != i) or i == j]


def tree_gauge(P: Array, T: Array, root: int = 0) -> Array:
    """g (n, d, d), g_i the product of the transports along the tree from the root to i.

    T_ij = g_i g_j^-1 on the tree's edges, and on all edges iff the connection is flat. Raises
    ValueError by name, also for edges that are not symmetric, connected, mutually inverse, and
    for products that T's dtype does not hold. Source: CW10.
    """
    tree, edges, eye = _checked(P, T, root)
    out, back = _along_the_tree(tree, edges, eye)
    xp = namespace(T=T)
    _held(xp.stack(back))  # the inverse, infinite where g underflows
    return _held(xp.stack(out))


def holonomies(P: Array, T: Array, root: int = 0) -> dict[tuple[int, int], Array]:
    """Holonomy g_i^-1 T_ij g_j (d, d) at the root of each edge (i, j), i <= j, off the tree.

    Self-loops (i, i) included; empty for a tree. Raises like `tree_gauge`. Source: CW10.
    """
    tree, edges, eye = _checked(P, T, root)
    out, back = _along_the_tree(tree, edges, eye)
    return {(i, j): _held(_around(back[i], edges[i, j], out[j])) for i, j in _cycles(P, tree)}


def flatness_defects(P: Array, T: Array, root: int = 0) -> dict[tuple[int, int], float]:
    """||h - I||_F of every holonomy; it depends on the root unless the transports are orthogonal.

    Raises like `tree_gauge`. Source: CW10.
    """
    defects = {}
    for edge, h in holonomies(P, T, root).items():
        xp, wide = array_api_compat.array_namespace(h), float64(h)
        eye = xp.eye(h.shape[0], dtype=wide.dtype, device=array_api_compat.device(h))
        peak = _peak(wide - eye)
        with np.errstate(over="ignore"):
            defects[edge] = _held(xp.linalg.vector_norm((wide - eye) / peak) * peak).item()
    return defects


def is_flat(P: Array, T: Array, root: int = 0) -> bool:
    """Whether every holonomy is I within the rounding of its product and of T's blocks.

    Each entry of T_ij is taken as known to 4 u ||T_ij||_F^2 ||T_ji||_F, u the unit roundoff of
    T's dtype, which covers a computed inverse or product of rotations. A connection that is flat
    to that accuracy passes, and one that fails is not flat. Raises like `tree_gauge`, and
    ValueError where a holonomy is not I and float64 does not hold its bound. Source: CW10.
    """
    tree, edges, eye = _checked(P, T, root)
    stored = roundoff.exact(edges)
    xp = array_api_compat.array_namespace(stored.magnitude)
    peak = _peak(stored.magnitude)
    size = peak * xp.sqrt(xp.sum((stored.magnitude / peak) ** 2, axis=(-2, -1), keepdims=True))
    # The norms of T_ij and T_ji first: their product is a condition number.
    with np.errstate(over="ignore"):
        slack = 4 * stored.units.store * (size * xp.permute_dims(size, (1, 0, 2, 3))) * size
    once = Rounded(stored.magnitude + slack, xp.zeros_like(stored.magnitude) + slack, stored.units)
    out, back = _along_the_tree(tree, once, roundoff.exact(eye))
    computed_out, computed_back = _along_the_tree(tree, edges, eye)
    identity = roundoff.exact(eye).magnitude
    for i, j in _cycles(P, tree):
        bound = _around(back[i], once[i, j], out[j]).error
        h = _held(_around(computed_back[i], edges[i, j], computed_out[j]))
        gap = abs(float64(h) - identity)
        if bool((gap > bound).any()):
            return False
        if bool((gap > 0).any()):
            _held(bound)
    return True
