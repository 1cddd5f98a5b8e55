"""Rank collapse: oscillations, contraction, bounds and stacks."""

from numerics.collapse.oscillation import (
    ScoreSpread,
    Step,
    attention_step,
    collapse_bound,
    contraction,
    dobrushin,
    osc,
    score_spread,
    spectral_norm,
)

__all__ = [
    "ScoreSpread",
    "Step",
    "attention_step",
    "collapse_bound",
    "contraction",
    "dobrushin",
    "osc",
    "score_spread",
    "spectral_norm",
]
