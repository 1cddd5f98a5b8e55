"""Tokens and metrics whose scores have the largest rank that RA2 allows, in plain integers.

The principal lattice of width d is 0, e_a, 2 e_a, e_a + e_b, with metrics I, I, I + e_a e_a^T and
I + (e_a + e_b)(e_a + e_b)^T; fewer of its tokens give a regular matrix of every size in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from numerics.arrays import shape
from numerics.inputs import integer


@dataclass(frozen=True)
class PrincipalLattice:
    """Tokens 0, e_a, 2 e_a for a <= r = doubled, 2 e_{r+1} with metric I if r < d, and the first
    f = pairs sums e_a + e_b with a < b <= r.

    Raises TypeError, ValueError by name. Source: RA2.
    """

    d: int
    doubled: int
    pairs: int

    def __post_init__(self) -> None:
        integer("d", self.d, 1)
        r = integer("doubled", self.doubled, 0, self.d)
        integer("pairs", self.pairs, 0, r * (r - 1) // 2)

    @classmethod
    def whole(cls, d: int) -> PrincipalLattice:
        """All C(d + 2, 2) tokens; raises like the class."""
        d = integer("d", d, 1)
        return cls(d, d, d * (d - 1) // 2)

    @property
    def size(self) -> int:
        """The number n of tokens."""
        return 1 + self.d + min(self.doubled + 1, self.d) + self.pairs

    def tokens(self) -> np.ndarray:
        """Tokens (n, d), int64."""
        unit = np.eye(self.d, dtype=np.int64)
        return np.concatenate([0 * unit[:1], unit, 2 * unit[: self.doubled + 1], self._sums()])

    def directions(self) -> np.ndarray:
        """v (n, d), int64, of the metrics I + v v^T."""
        v = self.tokens() // 2  # of 2 e_a it leaves e_a
        v[1 + self.d + self.doubled :] = 0
        v[self.size - self.pairs :] = self._sums()
        return v

    def _sums(self) -> np.ndarray:
        sums = np.zeros((self.pairs, self.d), dtype=np.int64)
        for row, pair in zip(sums, combinations(range(self.doubled), 2), strict=False):
            row[list(pair)] = 1
        return sums

    def scores(self) -> np.ndarray:
        """-2 S (n, n) by explicit differences, int64."""
        return direction_scores(self.tokens(), self.directions())

    def determinant(self) -> int:
        """det(-2 S) in closed form: (-1)^(d+1) d 2^(n + 1) for the whole lattice."""
        d, r, f = self.d, self.doubled, self.pairs
        size = d * 2 ** (2 * d + 2 + f) if r == d else 2 ** (d + r + 2 + f)
        return (-1) ** (d + 1) * size


def direction_scores(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """|x_i - x_j|^2 + (v_i . (x_i - x_j))^2 (n, n), int64: -2 S of tokens x with metrics I + v v^T.

    x, v (n, d) hold integers. Raises TypeError, ValueError by name, ValueError for numbers whose
    squares could leave 63 bits. Source: RA2.
    """
    sizes: dict[str, int] = {}
    for name, array in (("x", x), ("v", v)):
        if not isinstance(array, np.ndarray) or array.dtype.kind != "i":
            kind = getattr(array, "dtype", type(array).__name__)
            raise TypeError(f"{name} must be a NumPy array of signed integers, got {kind}")
        shape(sizes, name, array, "n", "d")
    far = 2 * max(-int(x.min()), int(x.max()))
    steep = max(-int(v.min()), int(v.max()))
    if sizes["d"] * far**2 + (sizes["d"] * far * steep) ** 2 >= 2**63:
        raise ValueError(f"x and v must have squares below 2^63, got {far // 2} and {steep}")
    x, v = x.astype(np.int64), v.astype(np.int64)
    result = np.empty((len(x), len(x)), dtype=np.int64)
    for i, (token, direction) in enumerate(zip(x, v, strict=True)):
        steps = x - token
        result[i] = (steps * steps).sum(axis=1) + (steps @ direction) ** 2
    return result
