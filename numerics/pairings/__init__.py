"""Readouts of pairings, features, recurrences and tensor attention."""

from numerics.pairings.readouts import (
    ALIGNMENTS,
    attention,
    causal_attention,
    causal_mask,
    exponential_pairing,
    free_energy,
    gibbs_weights,
    log_partition,
    readout,
    readout_weights,
)

__all__ = [
    "ALIGNMENTS",
    "attention",
    "causal_attention",
    "causal_mask",
    "exponential_pairing",
    "free_energy",
    "gibbs_weights",
    "log_partition",
    "readout",
    "readout_weights",
]
