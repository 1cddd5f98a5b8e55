"""Stacks of attention layers in ball arithmetic, at oscillations far below any float.

Kept are the first token and the differences y_i = x_i - x_1. An unmasked layer moves them by
y'_i = sum_j (A_ij - A_1j) T y_j, and

    A_ij - A_1j = A_1j (e_ij - m_i) / (1 + m_i),  e_ij = exp(d_ij) - 1,  m_i = sum_k A_1k e_ik,

where d_ij = (s_ij - s_i1) - (s_1j - s_11): a family of scores gives d without subtracting what it
does not depend on, so nothing cancels and digits do not grow with the depth. Causal rows see
their own past: y'_i = sum_{j <= i} A_ij T y_j. Balls certify themselves; a run that loses its
digits is repeated with twice as many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from flint import arb, arb_mat, ctx

from numerics.arrays import finite, shape
from numerics.collapse.balls import Score, Tokens, balls, largest
from numerics.collapse.oscillation import spectral_norm
from numerics.inputs import doubles, integer, number

FIRST_BITS, MOST_BITS = 192, 2**14


class NoDigits(ArithmeticError):
    """No precision tried leaves the digits asked for: an oscillation may be zero, or not."""


@dataclass(frozen=True, eq=False)
class Head:
    """Scores and the transport T = (W_V W_O)^T (d, d) in column form, float64.

    slope >= 0 adds -slope (i - j) to the scores of a causal layer (ALiBi).
    """

    score: Score
    transport: np.ndarray
    slope: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.score, Score):
            raise TypeError(f"score must be a Score, got {type(self.score).__name__}")
        doubles(transport=self.transport)
        shape({}, "transport", self.transport, "d", "d")
        finite(transport=self.transport)
        if number("slope", self.slope) < 0:
            raise ValueError(f"slope must be at least 0, got {self.slope}")

    @property
    def norm(self) -> float:
        """Upper bound on |T|."""
        return float(spectral_norm(self.transport))


@dataclass(frozen=True, eq=False)
class Layer:
    """x' = residual x + sum_h A^h x T^h, causal or not, then put on the sphere of a radius or not.

    Raises ValueError, TypeError by name. Source: RA11, RA16, RA17.
    """

    heads: tuple[Head, ...]
    causal: bool = False
    residual: float = 0.0
    radius: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.heads, tuple) or not self.heads:
            raise ValueError(f"heads must be a tuple of one or more, got {self.heads!r:.80}")
        for head in self.heads:
            if not isinstance(head, Head):
                raise TypeError(f"heads must be a tuple of Head, got {type(head).__name__}")
            if head.slope and not self.causal:
                raise ValueError(f"slope must be 0 in a layer that is not causal, got {head.slope}")
        if not isinstance(self.causal, bool):
            raise TypeError(f"causal must be a bool, got {type(self.causal).__name__}")
        number("residual", self.residual)
        if self.radius is not None and number("radius", self.radius) <= 0:
            raise ValueError(f"radius must be positive, got {self.radius}")


@dataclass(frozen=True)
class Run:
    """What a stack leaves, as balls that contain the exact numbers.

    osc and first (L + 1): osc(x) and max_i |x_i - x_1| before and after each layer. factors (L):
    sum_h |T^h| tanh(Delta_h / 4) of an unmasked layer, sum_h |T^h| (1 - min_i A^h_i1) of a causal
    one, without its residual. bits: the precision that sufficed.
    """

    osc: tuple[arb, ...]
    first: tuple[arb, ...]
    factors: tuple[arb, ...]
    bits: int
    logs: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "logs", np.array([_log(value) for value in self.osc]))

    @property
    def first_logs(self) -> np.ndarray:
        """log max_i |x_i - x_1| as float64, -inf where it is zero."""
        return np.array([_log(value) for value in self.first])


def _log(value: arb) -> float:
    return -np.inf if value.is_zero() else float(value.log())


def simulate(x: np.ndarray, layers: Sequence[Layer], bits: int = 64) -> Run:
    """Run tokens x (n, d), float64, through layers, every osc to a relative precision of bits.

    Inputs count as the rational numbers that they are. Raises NoDigits where 2^14 bits do not
    suffice, ValueError, TypeError by name. Source: RA11, RA12, RA16, RA17.
    """
    doubles(x=x)
    sizes: dict[str, int] = {}
    shape(sizes, "x", x, "n", "d")
    finite(x=x)
    integer("bits", bits, 1, 2**12)
    for layer in layers:
        if not isinstance(layer, Layer):
            raise TypeError(f"layers must hold Layer objects, got {type(layer).__name__}")
        for head in layer.heads:
            shape(sizes, "transport", head.transport, "d", "d")
            head.score.check(sizes["n"], sizes["d"])
    precision = max(FIRST_BITS, 2 * bits)
    while precision <= MOST_BITS:
        with ctx.workprec(precision):
            run = _run(x, layers, precision)
        if all(_known(value, bits) for value in (*run.osc, *run.first)):
            return run
        precision *= 2
    raise NoDigits(f"x must stay known to {bits} bits, and is not within {MOST_BITS}")


def _known(value: arb, bits: int) -> bool:
    return value.is_finite() and (value.is_zero() or value.rel_accuracy_bits() >= bits)


def _run(x: np.ndarray, layers: Sequence[Layer], precision: int) -> Run:
    tokens = Tokens.of(x)
    osc, first, factors = [tokens.osc()], [tokens.from_first()], []
    for layer in layers:
        tokens, factor = _apply(layer, tokens)
        osc.append(tokens.osc())
        first.append(tokens.from_first())
        factors.append(factor)
        if not osc[-1].is_finite():
            break
    return Run(tuple(osc), tuple(first), tuple(factors), precision)


def _apply(layer: Layer, tokens: Tokens) -> tuple[Tokens, arb]:
    kept = arb(float(layer.residual))
    steps, first = tokens.steps * kept, tokens.first * kept
    factor = arb(0)
    for head in layer.heads:
        back = balls(head.transport).transpose()
        if layer.causal:
            weights = _causal_weights(head, tokens)
            moved, mean = weights * tokens.steps, tokens.first
            left = largest([1 - weights[i, 0] for i in range(1, tokens.n)] or [arb(0)])
        else:
            change, row, spread = _change(head.score, tokens)
            moved, mean = change * tokens.steps, tokens.first + row * tokens.steps
            left = (spread / 4).tanh()
        steps, first = steps + moved * back, first + mean * back
        factor += arb(head.norm) * left
    after = Tokens(first, _rooted(steps))
    return (after if layer.radius is None else after.on_sphere(layer.radius)), factor


def _rooted(steps: arb_mat) -> arb_mat:
    """The differences with that of the first token from itself exactly zero."""
    for a in range(steps.ncols()):
        steps[0, a] = arb(0)
    return steps


def _change(score: Score, tokens: Tokens) -> tuple[arb_mat, arb_mat, arb]:
    """A_ij - A_1j (n, n), the first row A_1j (1, n), and the spread Delta of the scores."""
    n = tokens.n
    scores = score.centred(tokens)
    powers = [scores.first[0, j].exp() for j in range(n)]
    total = sum(powers, arb(0))
    row = [power / total for power in powers]
    change = arb_mat(n, n)
    for i in range(1, n):
        grown = [scores.apart[i, j].expm1() for j in range(n)]
        mean = sum((a * e for a, e in zip(row, grown, strict=True)), arb(0))
        for j in range(n):
            change[i, j] = row[j] * (grown[j] - mean) / (1 + mean)
    return change, arb_mat([row]), _difference_spread(scores.apart)


def _difference_spread(apart: arb_mat) -> arb:
    """max_ii' spread_j(d_ij - d_i'j), as the largest sum of M_ii' = max_j (d_ij - d_i'j), M_i'i."""
    n = apart.nrows()
    tops = [[largest([apart[i, j] - apart[k, j] for j in range(n)]) for k in range(n)]
            for i in range(n)]  # fmt: skip
    return largest([tops[i][k] + tops[k][i] for i in range(n) for k in range(n)])


def _causal_weights(head: Head, tokens: Tokens) -> arb_mat:
    """A_ij over j <= i, (n, n)."""
    n = tokens.n
    scores = head.score.centred(tokens)
    first, apart = scores.first, scores.apart
    weights = arb_mat(n, n)
    for i in range(n):
        powers = [(first[0, j] + apart[i, j] + arb(head.slope) * j).exp() for j in range(i + 1)]
        total = sum(powers, arb(0))
        for j, power in enumerate(powers):
            weights[i, j] = power / total
    return weights
