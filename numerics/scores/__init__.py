"""Scores from per-token metrics: their values, exact ranks and costs."""

from numerics.scores.geodesic import (
    KINDS,
    geodesic_scores,
    midpoint_scores,
    score_rank_exact,
    sphere_tokens,
)

__all__ = ["KINDS", "geodesic_scores", "midpoint_scores", "score_rank_exact", "sphere_tokens"]
