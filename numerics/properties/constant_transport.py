"""CW1, single head = constant transport.

constant_transport: (P (X W_V + b_V)) W_O + b_O = the walk (P, T), T = (W_V W_O)^T on every edge,
with offset rho_i W_O^T b_V + b_O, for any walk matrix P (masked, causal, killed, cross).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held, rounded
from numerics.rounding import roundoff
from numerics.walks.walk import single_head_walk, softmax_walk

CLAUSE = "constant_transport"


@dataclass(frozen=True)
class Sample:
    """Logits (n, m), mask, a sink or not, tokens (m, d_in), and one head's weights in row form."""

    logits: np.ndarray
    allowed: np.ndarray | None
    sink: bool
    x: np.ndarray
    w_v: np.ndarray
    w_o: np.ndarray
    b_v: np.ndarray
    b_o: np.ndarray

    def walk_matrix(self) -> np.ndarray:
        """P (n, m); with a sink, softmax over one more key of logit 0 whose weight is dropped."""
        if not self.sink:
            return softmax_walk(self.logits, self.allowed)
        n = self.logits.shape[0]
        logits = np.concatenate([self.logits, np.zeros((n, 1), self.logits.dtype)], axis=1)
        allowed = None
        if self.allowed is not None:
            allowed = np.concatenate([self.allowed, np.ones((n, 1), bool)], axis=1)
        return softmax_walk(logits, allowed)[:, :-1]


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Heads of every mask, logit and token kind, in float64 and float32."""
    size, dtype = draw(strategies.sizes()), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    return Sample(
        logits=strategies.logits(draw, rng, (size.n, size.m), dtype),
        allowed=strategies.masks(draw, rng, size.n, size.m),
        sink=draw(st.booleans()),
        x=strategies.tokens(draw, rng, size.m, size.d_in, dtype),
        w_v=strategies.matrices(draw, rng, size.d_in, size.d_v, dtype),
        w_o=strategies.matrices(draw, rng, size.d_v, size.d_out, dtype),
        b_v=strategies.tokens(draw, rng, 1, size.d_v, dtype)[0],
        b_o=strategies.tokens(draw, rng, 1, size.d_out, dtype)[0],
    )


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Rows that see a key are stochastic, if no weight goes to a sink."""
    p = sample.walk_matrix()
    p = p[p.any(axis=1)]
    if not sample.sink and len(p):
        yield Held("P sums to 1", {"P": p}, {"P": rounded(p, p.shape[1])}, "biases")


def residual(sample: Sample) -> Residual:
    """The module's own order of operations against the walk's, with both replayed for the bound."""
    p, x = sample.walk_matrix(), sample.x
    w_v, w_o, b_v, b_o = sample.w_v, sample.w_o, sample.b_v, sample.b_o
    lhs = (p @ (x @ w_v + b_v)) @ w_o + b_o
    rhs = single_head_walk(p, w_v, w_o, b_v, b_o).apply(x)

    model = roundoff.units(x.dtype)
    walk, tokens, value, output, bias_v, bias_o = (
        roundoff.exact(a, model) for a in (p, x, w_v, w_o, b_v[None, :], b_o[None, :])
    )
    module = (walk @ (tokens @ value + bias_v)) @ output + bias_o
    rho = walk.sum(axis=1).reshape(-1, 1)
    offset = rho * (bias_v @ output) + bias_o
    moved = walk @ (tokens @ (value @ output)) + offset
    k = max(*w_v.shape, p.shape[1])
    return Residual(CLAUSE, lhs, rhs, module.error + moved.error, k)
