"""Attention as walks that transport vectors along edges: walks, chains, transports, heads."""

from numerics.walks.walk import Walk, multi_head_walk, single_head_walk, softmax_walk

__all__ = ["Walk", "multi_head_walk", "single_head_walk", "softmax_walk"]
