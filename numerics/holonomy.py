"""The name under which `numerics.laplacians.holonomy` was first published."""

from numerics.laplacians.holonomy import (
    SpanningTree,
    flatness_defects,
    holonomies,
    is_flat,
    mutually_inverse,
    spanning_tree,
    tree_gauge,
)

__all__ = [
    "SpanningTree",
    "flatness_defects",
    "holonomies",
    "is_flat",
    "mutually_inverse",
    "spanning_tree",
    "tree_gauge",
]
