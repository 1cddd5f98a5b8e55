"""RA8: the four chords of a quadratic metric in floating point against exact Taylor coefficients.

D_a(x) = c_a + s_a x_a^2 and U linear in x make a metric whose restriction to a chord is quadratic.
One side takes the chords from numerics.scores; the other is the energy of the segment, G + D/2 +
D2/6 from the derivatives at the query in rational arithmetic, less the error that RA8 states.
`rates` measures orders and coefficients against geodesic distances.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq
from hypothesis import strategies as st

from numerics.metrics import geodesic_rates
from numerics.properties import Residual, strategies
from numerics.rounding import roundoff
from numerics.rounding.roundoff import Rounded
from numerics.scores.geodesic import geodesic_scores, midpoint_scores

CLAUSE = "chords"
rates = geodesic_rates.rates


@dataclass(frozen=True)
class Sample:
    """A chord, tokens x (n, d), and the field: c, s (d,), U_0 (d, r), B (d, d, r) or rank 0."""

    chord: str
    x: np.ndarray
    c: np.ndarray
    s: np.ndarray
    U: np.ndarray | None
    B: np.ndarray

    def field(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """D (n, d) and U (n, d, r) at points (n, d)."""
        D = self.c + self.s * (x * x)
        if self.U is None:
            return D, None
        d, r = self.U.shape
        return D, self.U + (x @ self.B.reshape(d, d * r)).reshape(-1, d, r)


KINDS = ("dense", "dense", "dense", "constant", "linear", "no rank")


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Repeated, zero, far and subnormal tokens; constant metrics, metrics without slope or rank."""
    chord, kind = draw(st.sampled_from(geodesic_rates.CHORDS)), draw(st.sampled_from(KINDS))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    n, d, r = (
        draw(st.sampled_from((1, 2, 4, 4, 4))),
        draw(st.integers(1, 5)),
        draw(st.integers(1, 2)),
    )
    x = strategies.tokens(draw, rng, n, d, dtype)
    c, s = rng.uniform(0.5, 2.0, size=d), rng.uniform(0.0, 1.0, size=d)
    U, B = rng.normal(size=(d, r)), rng.normal(size=(d, d, r))
    if kind in ("constant", "linear"):
        s = np.zeros_like(s)
        B = B if kind == "linear" else np.zeros_like(B)
    c, s, U, B = (part.astype(dtype) for part in (c, s, U, B))
    return Sample(chord, x, c, s, None if kind == "no rank" else U, B)


def chord(sample: Sample) -> np.ndarray:
    """The sample's chord of every pair (n, n), from the scores."""
    D, U = sample.field(sample.x)
    if sample.chord == "query-side":
        return -2 * geodesic_scores(sample.x, D, U)
    average = -2 * geodesic_scores(sample.x, D, U, "symmetrised")
    if sample.chord == "symmetrised":
        return average
    middle = -2 * midpoint_scores(sample.x, sample.field)
    return middle if sample.chord == "midpoint" else (average + 2 * middle) / 3


def residual(sample: Sample) -> Residual:
    """The chords of all pairs against the energy of the segment less the stated error."""
    exact = expected(sample)
    bound = chord_bound(sample).error + 2.0**-52 * np.abs(exact)
    return Residual(CLAUSE, chord(sample), exact, bound, max(sample.x.shape[1], 2))


def expected(sample: Sample) -> np.ndarray:
    """Energy of the segment minus the error of the chord, exact but for one rounding at the end."""
    x, c, s, U, B = (_exact(part) for part in (sample.x, sample.c, sample.s, sample.U, sample.B))
    n = len(sample.x)
    found = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            value, slope, bend = _along(x[i], x[j] - x[i], c, s, U, B)
            segment = value + slope / 2 + bend / 6
            errors = stated(slope, bend)
            left = segment - errors[sample.chord]
            found[i, j] = float(Fraction(int(left.p), int(left.q)))
    return found


def stated(slope: Any, bend: Any) -> dict[str, Any]:
    """What the four chords leave of the segment's energy: RA8's errors without |Gamma|^2."""
    zero = Fraction(0)
    parts = Fraction(int(slope.p), int(slope.q)), Fraction(int(bend.p), int(bend.q))
    errors = geodesic_rates.leading_errors(geodesic_rates.Jet(*parts, zero))
    found = {name: fmpq(e.numerator, e.denominator) for name, (_, e) in errors.items()}
    return found | {"query-side": found["query-side"] + bend / 6}


def _along(x: Any, h: Any, c: Any, s: Any, U: Any, B: Any) -> tuple[Any, Any, Any]:
    """G(h, h) and its first two derivatives along h, at x."""
    zero = fmpq(0)
    value = sum((c + s * x * x) * h * h, zero)
    slope = sum(2 * s * x * h**3, zero)
    bend = sum(2 * s * h**4, zero)
    if U is not None:
        here = h @ (U + np.tensordot(x, B, axes=1))
        grow = h @ np.tensordot(h, B, axes=1)
        value += sum(here * here, zero)
        slope += 2 * sum(here * grow, zero)
        bend += 2 * sum(grow * grow, zero)
    return value, slope, bend


def _exact(values: np.ndarray | None) -> Any:
    """An object array of the rationals that the entries are."""
    if values is None:
        return None
    found = np.empty(values.shape, dtype=object)
    for place, value in np.ndenumerate(values):
        part = Fraction(float(value))
        found[place] = fmpq(part.numerator, part.denominator)
    return found


def _field_bound(sample: Sample, x: Rounded) -> tuple[Rounded, Rounded | None]:
    """The field, replayed at points (m, d)."""
    c, s = roundoff.exact(sample.c[None]), roundoff.exact(sample.s[None])
    D = c + s * (x * x)
    if sample.U is None:
        return D, None
    d, r = sample.U.shape
    linear = x @ roundoff.exact(sample.B.reshape(d, d * r))
    return D, roundoff.exact(sample.U[None]) + linear.reshape(x.shape[0], d, r)


def _steps(x: np.ndarray) -> Rounded:
    """x_j - x_i (n, n, d): one rounding of the difference itself, however near they are."""
    model, wide = roundoff.units(x.dtype), roundoff.units(np.float64)
    size = np.abs(x[None].astype(np.float64) - x[:, None]) * (1 + 4 * wide.acc)
    return Rounded(size, model.once * size * (1 + 4 * wide.acc) + 2 * model.flush, model)


def _lengths(steps: Rounded, D: Rounded, U: Rounded | None) -> Rounded:
    """|x_j - x_i|^2 in metrics (n, n, d) or (n, 1, d), replayed."""
    total = (D * (steps * steps)).sum(2)
    if U is None:
        return total
    n, m, d = steps.shape
    pairs = steps.reshape(n, m, 1, d) @ U
    seen = pairs.reshape(n, m, U.shape[-1])
    return total + (seen * seen).sum(2)


def chord_bound(sample: Sample) -> Rounded:
    """The chord of every pair, replayed."""
    x, (n, d) = roundoff.exact(sample.x), sample.x.shape
    steps, two = _steps(sample.x), roundoff.exact(np.full((1, 1), 2.0, sample.x.dtype))
    D, U = _field_bound(sample, x)
    query = _lengths(steps, D.reshape(n, 1, d), None if U is None else U.reshape(n, 1, d, -1))
    if sample.chord == "query-side":
        return query
    average = (query + query.transpose(1, 0)) / two
    if sample.chord == "symmetrised":
        return average
    half = x / two
    points = (half.reshape(n, 1, d) + half.reshape(1, n, d)).reshape(n * n, d)
    D, U = _field_bound(sample, points)
    middle = _lengths(steps, D.reshape(n, n, d), None if U is None else U.reshape(n, n, d, -1))
    if sample.chord == "midpoint":
        return middle
    three = roundoff.exact(np.full((1, 1), 3.0, sample.x.dtype))
    return (average + two * middle) / three
