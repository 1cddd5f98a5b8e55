"""Tokens and families of scores as balls, up to terms of a row, which softmax does not see.

Each family gives the first row s_1j - s_11 and, for all rows, d_ij = (s_ij - s_i1) -
(s_1j - s_11), by a formula in which nothing larger than d cancels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from flint import arb, arb_mat

from numerics.arrays import finite, refuse, shape
from numerics.collapse.oscillation import spectral_norm
from numerics.inputs import doubles, number, real


def largest(values: Iterable[arb]) -> arb:
    """A ball that contains the largest of the numbers."""
    first, *rest = values
    for value in rest:
        first = first.max(value)
    return first


def balls(matrix: np.ndarray) -> arb_mat:
    """The matrix of the rational numbers that the floats are."""
    return arb_mat([[arb(float(v)) for v in row] for row in matrix])


def squares(rows: arb_mat) -> list[arb]:
    """Squared lengths of the rows."""
    d = range(rows.ncols())
    sums = (sum((rows[i, a] * rows[i, a] for a in d), arb(0)) for i in range(rows.nrows()))
    return [value.nonnegative_part() for value in sums]


@dataclass(frozen=True)
class Tokens:
    """First token (1, d) and differences from it (n, d), the first of which is zero."""

    first: arb_mat
    steps: arb_mat

    @classmethod
    def of(cls, x: np.ndarray) -> Tokens:
        """Tokens x (n, d), float64, exactly."""
        entries = [[arb(float(v)) for v in row] for row in x]
        steps = [[v - w for v, w in zip(row, entries[0], strict=True)] for row in entries]
        return cls(arb_mat([entries[0]]), arb_mat(steps))

    @property
    def n(self) -> int:
        """Number of tokens."""
        return self.steps.nrows()

    @property
    def d(self) -> int:
        """Width of a token."""
        return self.steps.ncols()

    def rows(self) -> list[list[arb]]:
        """The tokens themselves."""
        return [[self.first[0, a] + self.steps[i, a] for a in range(self.d)]
                for i in range(self.n)]  # fmt: skip

    def apart(self, i: int) -> arb_mat:
        """x_j - x_i for all j (n, d), exactly zero at i."""
        d = range(self.d)
        return arb_mat([[arb(0) if j == i else self.steps[j, a] - self.steps[i, a] for a in d]
                        for j in range(self.n)])  # fmt: skip

    def osc(self) -> arb:
        """max_ij |x_i - x_j|."""
        return largest(s for i in range(self.n) for s in squares(self.apart(i))).sqrt()

    def from_first(self) -> arb:
        """max_i |x_i - x_1|."""
        return largest(squares(self.steps)).sqrt()

    def on_sphere(self, radius: float) -> Tokens:
        """The tokens scaled to a length; differences without cancellation.

        x_i/|x_i| - x_1/|x_1| = y_i/|x_i| - x_1 (2 x_1.y_i + |y_i|^2) / (|x_i||x_1|(|x_i|+|x_1|)).
        """
        rows, size, d = self.rows(), arb(float(radius)), range(self.d)
        lengths = [sum((v * v for v in row), arb(0)).sqrt() for row in rows]
        steps = arb_mat(self.n, self.d)
        for i in range(1, self.n):
            y = [self.steps[i, a] for a in d]
            grown = sum(((2 * self.first[0, a] + y[a]) * y[a] for a in d), arb(0))
            share = grown / (lengths[i] * lengths[0] * (lengths[i] + lengths[0]))
            for a in d:
                steps[i, a] = size * (y[a] / lengths[i] - self.first[0, a] * share)
        return Tokens(self.first * (size / lengths[0]), steps)


@dataclass(frozen=True)
class Centred:
    """Scores up to terms of a row: first s_1j - s_11 (1, n), and the differences of each row from
    it, apart (s_ij - s_i1) - (s_1j - s_11) (n, n)."""

    first: arb_mat
    apart: arb_mat


class Score(ABC):
    """A family of scores s_ij of tokens."""

    @abstractmethod
    def centred(self, tokens: Tokens) -> Centred:
        """The scores of tokens, up to terms of a row."""

    @abstractmethod
    def gain(self) -> tuple[float, int]:
        """(a, p) with Delta <= a osc^p for all tokens; ValueError where there is no such bound."""

    @abstractmethod
    def check(self, n: int, d: int) -> None:
        """ValueError unless there are such scores for n tokens of width d."""


@dataclass(frozen=True, eq=False)
class DotProduct(Score):
    """s_ij = x_i^T M x_j, M (d, d) float64 with any scale in it.

    Raises ValueError, TypeError by name. Source: RA11.
    """

    M: np.ndarray

    def __post_init__(self) -> None:
        doubles(M=self.M)
        shape({}, "M", self.M, "d", "d")
        finite(M=self.M)

    def check(self, n: int, d: int) -> None:
        """ValueError unless M is (d, d)."""
        shape({"d": d}, "M", self.M, "d", "d")

    def centred(self, tokens: Tokens) -> Centred:
        """x_1^T M y_j and y_i^T M y_j."""
        seen = balls(self.M) * tokens.steps.transpose()
        return Centred(tokens.first * seen, tokens.steps * seen)

    def gain(self) -> tuple[float, int]:
        """|M|, 2."""
        return float(spectral_norm(self.M)), 2


Field: TypeAlias = Callable[[list[arb]], Sequence[Sequence[arb]]]
"""A metric field: the metric (d rows of d balls) at a token (d balls)."""


@dataclass(frozen=True, eq=False)
class Geodesic(Score):
    """s_ij = -(1/2)|x_i - x_j|^2, or unsquared -|x_i - x_j|, in the metric of i, or the average of
    this over i and j.

    metrics is one metric (d, d), one for each token (n, d, d), float64, or a field; a field has a
    gain only where ceiling bounds its norm. Raises ValueError, TypeError by name. Source: RA11.
    """

    metrics: np.ndarray | Field
    symmetrised: bool = False
    squared: bool = True
    ceiling: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.metrics, np.ndarray) or not callable(self.metrics):
            doubles(metrics=self.metrics)
            axes = ("n",) if self.metrics.ndim == 3 else ()
            shape({}, "metrics", self.metrics, *axes, "d", "d")
            finite(metrics=self.metrics)
            _positive_definite(self.metrics)
        if self.ceiling is not None and number("ceiling", self.ceiling) <= 0:
            raise ValueError(f"ceiling must be positive, got {self.ceiling}")

    def check(self, n: int, d: int) -> None:
        """ValueError unless the metrics are those of n tokens of width d."""
        if isinstance(self.metrics, np.ndarray):
            axes = ("n",) if self.metrics.ndim == 3 else ()
            shape({"n": n, "d": d}, "metrics", self.metrics, *axes, "d", "d")

    def gain(self) -> tuple[float, int]:
        """(g, 2), or (2 sqrt(g), 1) unsquared, for metrics of norm at most g."""
        if isinstance(self.metrics, np.ndarray):
            g = float(np.max(spectral_norm(self.metrics)))
        elif self.ceiling is None:
            raise ValueError("ceiling must be given for a metric field, got None")
        else:
            g = float(self.ceiling)
        return (g, 2) if self.squared else (2 * float(np.sqrt(g)) * (1 + 2.0**-50), 1)

    def centred(self, tokens: Tokens) -> Centred:
        """From the distances, whose differences are as large as they are."""
        scores = [self._row(tokens, i, G) for i, G in enumerate(self._metrics(tokens))]
        if self.symmetrised:
            pairs = range(tokens.n)
            scores = [[(scores[i][j] + scores[j][i]) / 2 for j in pairs] for i in pairs]
        return _centred(scores)

    def _metrics(self, tokens: Tokens) -> list[arb_mat]:
        if not isinstance(self.metrics, np.ndarray):
            return [arb_mat([list(row) for row in self.metrics(x)]) for x in tokens.rows()]
        if self.metrics.ndim == 2:
            return [balls(self.metrics)] * tokens.n
        return [balls(G) for G in self.metrics]

    def _row(self, tokens: Tokens, i: int, G: arb_mat) -> list[arb]:
        steps = tokens.apart(i)
        seen, d = steps * G, range(tokens.d)
        squares = [sum((seen[j, a] * steps[j, a] for a in d), arb(0)) for j in range(tokens.n)]
        if self.squared:
            return [-square / 2 for square in squares]
        return [-square.nonnegative_part().sqrt() for square in squares]


@dataclass(frozen=True)
class Sharpened(Score):
    """s_ij = -B |x_i - x_j|^2 / osc(x)^2: the metric (2 B / osc^2) I, of row spread B >= 0.

    B is a number or a ball. Raises ValueError, TypeError by name. Source: RA12.
    """

    B: float | arb

    def __post_init__(self) -> None:
        if not isinstance(self.B, arb):
            real("B", self.B)
        if not (arb(self.B) >= 0 and arb(self.B).is_finite()):
            raise ValueError(f"B must be finite and at least 0, got {self.B}")

    def check(self, n: int, d: int) -> None:
        """Any tokens have such scores."""

    def gain(self) -> tuple[float, int]:
        """(2 B, 0), rounded up."""
        return 2 * float(arb(self.B).upper()) * (1 + 2.0**-50), 0

    def centred(self, tokens: Tokens) -> Centred:
        """From the distances; all scores are 0 where all tokens are equal."""
        n = tokens.n
        rows = [squares(tokens.apart(i)) for i in range(n)]
        pairs = [(i, j) for i in range(n) for j in range(i)]
        widest = largest([rows[i][j] for i, j in pairs] or [arb(0)])
        scores = [[arb(0)] * n for _ in range(n)]
        for i, j in pairs if not widest.is_zero() else []:
            # A pair wider than all others has the share 1, free of the digits of its width.
            alone = all(rows[i][j] > rows[k][l] for k, l in pairs if (k, l) != (i, j))
            share = arb(1) if alone else rows[i][j] / widest
            scores[i][j] = scores[j][i] = -arb(self.B) * share
        return _centred(scores)


def _centred(scores: list[list[arb]]) -> Centred:
    """Of scores (n, n), none much larger than their differences."""
    first = [value - scores[0][0] for value in scores[0]]
    apart = [[value - row[0] - w for value, w in zip(row, first, strict=True)] for row in scores]
    n = len(scores)
    for k in range(n):
        # Exactly zero, which balls minus themselves are not.
        apart[0][k] = apart[k][0] = arb(0)
    first[0] = arb(0)
    return Centred(arb_mat([first]), arb_mat(apart))


def _positive_definite(metrics: np.ndarray) -> None:
    transposed = np.swapaxes(metrics, -1, -2)
    refuse("metrics", metrics, metrics != transposed, "symmetric")
    least = np.linalg.eigvalsh(metrics)[..., 0]
    refuse("metrics", least, ~(least > 0), "positive definite, of least eigenvalue above 0")
