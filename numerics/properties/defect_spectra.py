"""CW13, from measured defects to spectra.

defects: |A - A^T|_F^2 = sum_ij d (a_ij - a_ji)^2 + a_ij a_ji |B_ij - B_ji^T|_F^2 for A with blocks
a_ij B_ij, B_ij exactly orthogonal (signed permutations), a >= 0.
imaginary: <p, A q> - <q, A p> = <p, (A - A^T) q>, which is the imaginary part of an eigenvalue.
A sample makes one of the two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.properties.laplacian_reduction import signed_permutations
from numerics.rounding import roundoff
from numerics.walks.walk import Walk, softmax_walk

CLAUSES = ("defects", "imaginary")
MASKS = tuple(kind for kind in strategies.MASKS if kind != "all empty")


@dataclass(frozen=True)
class Sample:
    """A clause, a_ij = sqrt(pi_i / pi_j) P_ij (n, n), B (n, n, d, d), vectors p and q (n, d)."""

    clause: str
    flow: np.ndarray
    turns: np.ndarray
    p: np.ndarray
    q: np.ndarray


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Flows of softmax walks and dense ones, near symmetric and not; any B for the pairing."""
    clause = draw(st.sampled_from(CLAUSES))
    size, dtype = draw(strategies.sizes()), draw(strategies.dtypes())
    rng = draw(strategies.generators())
    n, d = size.n, size.d_in
    walk = softmax_walk(
        strategies.logits(draw, rng, (n, n), dtype), strategies.masks(draw, rng, n, n, MASKS)
    )
    roots = 2.0 ** rng.integers(-2, 3, size=n)
    flow = roots[:, None] * walk / roots
    if draw(st.sampled_from((False, True, True))):
        flow = rng.random((n, n)) * roots[:, None] / roots
    if draw(st.booleans()):
        flow = (flow + flow.T) / 2 * (1 + 1e-3 * rng.random((n, n)))
    turns = signed_permutations(rng, n, d, symmetric=draw(st.booleans()))
    if clause == "imaginary":
        turns = turns + rng.normal(size=turns.shape)
    p, q = (strategies.tokens(draw, rng, n, d, dtype) for _ in range(2))
    return Sample(clause, flow.astype(dtype), turns.astype(dtype), p, q)


def hypotheses(sample: Sample) -> Iterator[Held]:
    """Flows are nonnegative; the blocks whose defects are measured are isometric."""
    flow, turns = sample.flow, sample.turns
    yield Held("P>=0", {"P": flow}, clause="range")
    if sample.clause == "defects":
        frames = np.zeros_like(turns[0]) + np.eye(turns.shape[-1], dtype=turns.dtype)
        yield Held("T is isometric on edges of P", {"P": flow, "F": frames, "T": turns})


def residual(sample: Sample) -> Residual:
    """The comparison that the sample asks for."""
    return _defects(sample) if sample.clause == "defects" else _pairing(sample)


def _defects(sample: Sample) -> Residual:
    """The matrix A - A^T squared, against the defects of (b) and (d) in exact arithmetic."""
    n, d = sample.p.shape
    matrix = Walk(sample.flow, sample.turns).block_matrix()
    difference = matrix - matrix.T
    lhs = (difference * difference).sum(axis=1).sum(axis=0, keepdims=True)
    rhs = np.array([float(edge_defects(sample.flow, sample.turns))])
    flow, blocks = roundoff.exact(sample.flow), roundoff.exact(sample.turns)
    large = flow.reshape(n, 1, n, 1) * blocks.transpose(0, 2, 1, 3)
    large = large.reshape(n * d, n * d)
    left = large - large.transpose(1, 0)
    error = (left * left).sum(axis=1).sum(axis=0).error + 2.0**-53 * np.abs(rhs)
    return Residual("defects", lhs, rhs, error, n * d)


def edge_defects(flow: np.ndarray, turns: np.ndarray) -> Fraction:
    """sum_ij d (a_ij - a_ji)^2 + a_ij a_ji |B_ij - B_ji^T|_F^2 of the stored numbers."""
    n, d = len(flow), turns.shape[-1]
    a = [[Fraction(float(value)) for value in row] for row in flow]
    total = Fraction(0)
    for i, j in np.ndindex(n, n):
        apart = turns[i, j] - turns[j, i].T  # entries 0, +-1, +-2: exact
        total += d * (a[i][j] - a[j][i]) ** 2 + a[i][j] * a[j][i] * int((apart * apart).sum())
    return total


def _pairing(sample: Sample) -> Residual:
    """Two applications of the walk against one of the matrix A - A^T."""
    walk = Walk(sample.flow, sample.turns)
    p, q = sample.p, sample.q
    n, d = p.shape
    forth, back = (p * walk.apply(q)).sum(axis=1), (q * walk.apply(p)).sum(axis=1)
    lhs = forth.sum(axis=0, keepdims=True) - back.sum(axis=0, keepdims=True)
    matrix = walk.block_matrix()
    rhs = p.reshape(1, n * d) @ ((matrix - matrix.T) @ q.reshape(n * d, 1))

    flow, turns, first, second = (
        roundoff.exact(part) for part in (sample.flow, sample.turns, p, q)
    )

    def applied(tokens: roundoff.Rounded) -> roundoff.Rounded:
        moved = (turns @ tokens.reshape(1, n, d, 1)).reshape(n, n, d)
        return (flow.reshape(n, n, 1) * moved).sum(axis=1)

    pairs = [(one * applied(other)).sum(axis=1).sum(axis=0)
             for one, other in ((first, second), (second, first))]  # fmt: skip
    large = (flow.reshape(n, 1, n, 1) * turns.transpose(0, 2, 1, 3)).reshape(n * d, n * d)
    skew = large - large.transpose(1, 0)
    image = first.reshape(1, n * d) @ (skew @ second.reshape(n * d, 1))
    error = (pairs[0] - pairs[1]).error + image.error.reshape(())
    return Residual("imaginary", lhs, rhs[0], np.reshape(error, (1,)), n * d)
