"""Metrics of low rank, geodesics and connections."""

from numerics.metrics.low_rank import Frame, LowRankMetric, NoDigits, Pair, pair_distances2

__all__ = ["Frame", "LowRankMetric", "NoDigits", "Pair", "pair_distances2"]
