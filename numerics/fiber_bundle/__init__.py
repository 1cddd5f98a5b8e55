"""The Fiber Bundle Transformer of the second paper, built so that its words can be checked (RA14).

Tokens carry metrics G_i = diag(D_i) + U_i U_i^T of low rank. Attention is a softmax of squared
distances in them, values move through T_ij = E_i^-1 R_ij E_j, the feed-forward part takes the step
-G_i^-1 f. No d x d matrix is formed, and attention needs memory linear in n.
"""

from numerics.fiber_bundle.attention import geodesic_attention
from numerics.fiber_bundle.blocks import FiberBundleBlock, StandardBlock
from numerics.fiber_bundle.connection import Connection, Phases
from numerics.fiber_bundle.layers import (
    GeodesicAttention,
    MetricHead,
    PreconditionedFeedForward,
    TransportedValues,
)
from numerics.fiber_bundle.metric_field import MetricField
from numerics.fiber_bundle.model import LanguageModel, Shape
from numerics.fiber_bundle.products import NoDigits

__all__ = [
    "Connection",
    "FiberBundleBlock",
    "GeodesicAttention",
    "LanguageModel",
    "MetricField",
    "MetricHead",
    "NoDigits",
    "Phases",
    "PreconditionedFeedForward",
    "Shape",
    "StandardBlock",
    "TransportedValues",
    "geodesic_attention",
]
