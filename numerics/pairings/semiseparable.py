"""Lower-triangular matrices as recurrences with few states, decided exactly by ranks of blocks.

Three versions: "after", y_t = c_t^T h_t; "before", y_t = c_t^T h_{t-1} + D_t x_t; "free",
y_t = c_t^T h_t + D_t x_t; with h_t = A_t h_{t-1} + b_t x_t. Source: AP5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from numerics.inputs import integer, number

Rows: TypeAlias = list[list[Fraction]]
VERSIONS = ("after", "before", "free")


@dataclass(frozen=True)
class Realisation:
    """A_t (m_t, m_{t-1}), b_t (m_t), c_t (m_t, or m_{t-1} in "before") and D_t, t = 1, ..., n."""

    version: str
    A: tuple[Rows, ...]
    b: tuple[tuple[Fraction, ...], ...]
    c: tuple[tuple[Fraction, ...], ...]
    D: tuple[Fraction, ...]

    @property
    def states(self) -> int:
        """The largest number of states."""
        return max(len(b) for b in self.b)

    def apply(self, x: Sequence[Any]) -> list[Fraction]:
        """The outputs for n inputs, integers or fractions, from the empty state."""
        values = [_rational("x", entry) for entry in _listed("x", x)]
        if len(values) != len(self.D):
            raise ValueError(f"x must have n = {len(self.D)} entries, got {len(values)}")
        state: list[Fraction] = []
        outputs = []
        for A, b, c, D, value in zip(self.A, self.b, self.c, self.D, values, strict=True):
            after = [_dot(row, state) + entry * value for row, entry in zip(A, b, strict=True)]
            read = state if self.version == "before" else after
            outputs.append(_dot(c, read) + D * value)
            state = after
        return outputs

    def matrix(self) -> Rows:
        """The lower-triangular matrix of the recurrence."""
        n = len(self.D)
        columns = [self.apply([int(i == j) for i in range(n)]) for j in range(n)]
        return [list(row) for row in zip(*columns, strict=True)]


def block_ranks(L: Any, version: str) -> list[int]:
    """The least number of states at t = 1, ..., n (at t - 1 in "before"), from ranks over Q.

    after: rank L[>=t, <=t]; before: rank L[>=t, <t]; free: rank L[>=t, <t] + rank L[>t, <=t] -
    rank L[>t, <t]. L is a square lower-triangular array or nested list of integers or fractions.
    Raises TypeError, ValueError by name.
    """
    rows, n = _triangular(L), len(L)
    _known(version)

    def rank(first: int, last: int) -> int:
        return _rank([row[:last] for row in rows[first:]])

    if version == "after":
        return [rank(t, t + 1) for t in range(n)]
    if version == "before":
        return [rank(t, t) for t in range(n)]
    return [rank(t, t) + rank(t + 1, t + 1) - rank(t + 1, t) for t in range(n)]


def least_states(L: Any, version: str) -> int:
    """The least number of states of a recurrence for L; arguments and errors as `block_ranks`."""
    return max(block_ranks(L, version))


def realise(L: Any, version: str) -> Realisation:
    """A recurrence for L with the least number of states at every time, by factors of its blocks.

    Arguments and errors as `block_ranks`.
    """
    rows, n = _triangular(L), len(L)
    _known(version)
    D = [Fraction(0)] * n
    if version == "free":
        D = [rows[t][t] - _corner(rows, t) for t in range(n)]
    if version == "before":
        D = [rows[t][t] for t in range(n)]
    inner = [[e - (i == j) * D[i] for j, e in enumerate(row)] for i, row in enumerate(rows)]
    shift = 0 if version == "before" else 1
    blocks = [_factor([row[: t + shift] for row in inner[t:]]) for t in range(n)]
    after = [*blocks[1:], _Factors([], [], [])] if version == "before" else blocks
    earlier: list[int] = []
    A, b = [], []
    for t, block in enumerate(after):
        # In the reduced right factor before, the columns `earlier` are the identity.
        A.append([[row[j] for j in earlier] for row in block.right])
        b.append(tuple(row[t] for row in block.right))
        earlier = block.pivots
    c = (tuple(block.left[0]) for block in blocks)
    return Realisation(version, tuple(A), tuple(b), tuple(c), tuple(D))


def power_matrix(n: int, base: int = 2) -> list[list[int]]:
    """base^(i j) for j <= i, and 0 above: unnormalised causal softmax of q_i = i, k_j = j log base.

    Raises TypeError, ValueError for n < 1 or base < 2.
    """
    size, power = integer("n", n, 1), integer("base", base, 2)
    return [[power ** (i * j) if j <= i else 0 for j in range(1, size + 1)]
            for i in range(1, size + 1)]  # fmt: skip


def exponential_minors(query: Sequence[float], key: Sequence[float], digits: int = 0) -> list[arb]:
    """Balls that contain det [exp(q_i k_j)] of a largest square part of every block of rows >= t
    and columns <= t, t = 1, ..., n: the last rows, the first columns.

    A ball without 0 certifies that the block has full rank. query, key hold n floats, taken as the
    rational numbers they are; digits is the precision in decimals, 0 for one that grows with n.
    Raises TypeError, ValueError by name.
    """
    queries, keys = (_floats(name, v) for name, v in (("query", query), ("key", key)))
    n, places = len(queries), integer("digits", digits, 0)
    if len(keys) != n:
        raise ValueError(f"key must have n = {n} entries, got {len(keys)}")
    sizes = [min(n - t, t + 1) for t in range(n)]
    with ctx.workdps(places or 30 + 2 * n * n):
        table = [[(arb(q) * arb(k)).exp() for k in keys] for q in queries]
        return [arb_mat([row[:size] for row in table[n - size :]]).det() for size in sizes]


@dataclass(frozen=True)
class _Factors:
    """left right = block: columns of the block, and its reduced rows with their pivots."""

    left: Rows
    right: Rows
    pivots: list[int]


def _factor(block: Rows) -> _Factors:
    if not block or not block[0]:
        return _Factors([[] for _ in block], [], [])
    reduced, rank = _matrix(block).rref()
    right = [[_fraction(reduced[i, j]) for j in range(len(block[0]))] for i in range(rank)]
    pivots = [next(j for j, entry in enumerate(row) if entry) for row in right]
    return _Factors([[row[j] for j in pivots] for row in block], right, pivots)


def _corner(rows: Rows, t: int) -> Fraction:
    """A value at (t, t) with which the block of rows >= t and columns <= t has least rank."""
    above, beside = rows[t][:t], [row[t] for row in rows[t + 1 :]]
    B = [row[:t] for row in rows[t + 1 :]]
    if (u := _combination(B, above)) is not None:
        return _dot(u, beside)
    turned = [[row[j] for row in B] for j in range(t)]
    if (y := _combination(turned, beside)) is not None:
        return _dot(y, above)
    return Fraction(0)


def _combination(rows: Rows, target: list[Fraction]) -> list[Fraction] | None:
    """u with u^T rows = target, or None."""
    if not any(target):
        return [Fraction(0)] * len(rows)
    if not rows or not rows[0]:
        return None
    columns = [list(column) for column in zip(*rows, strict=True)]
    system = [[*column, entry] for column, entry in zip(columns, target, strict=True)]
    factors = _factor(system)
    if factors.pivots[-1] == len(rows):
        return None
    found = [Fraction(0)] * len(rows)
    for row, place in zip(factors.right, factors.pivots, strict=True):
        found[place] = row[-1]
    return found


def _rank(block: Rows) -> int:
    return _matrix(block).rank() if block and block[0] else 0


def _matrix(rows: Rows) -> fmpq_mat:
    return fmpq_mat([[fmpq(e.numerator, e.denominator) for e in row] for row in rows])


def _fraction(entry: fmpq) -> Fraction:
    return Fraction(int(entry.p), int(entry.q))


def _dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def _known(version: str) -> None:
    if version not in VERSIONS:
        raise ValueError(f"version must be one of {', '.join(VERSIONS)}, got {version!r}")


def _listed(name: str, values: Any) -> list[Any]:
    found = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(found, list | tuple):
        raise TypeError(f"{name} must be an array or a list, got {type(found).__name__}")
    return list(found)


def _rational(name: str, entry: Any) -> Fraction:
    if isinstance(entry, bool) or not isinstance(entry, int | Fraction):
        raise TypeError(f"{name} must hold integers or fractions, got {type(entry).__name__}")
    return Fraction(entry)


def _floats(name: str, values: Any) -> list[float]:
    found = _listed(name, values)
    if not found:
        raise ValueError(f"{name} must have entries, got none")
    return [number(name, value) for value in found]


def _triangular(L: Any) -> Rows:
    rows = [_listed("L", row) for row in _listed("L", L)]
    lengths = {len(row) for row in rows}
    if not rows or lengths != {len(rows)}:
        raise ValueError(f"L must be square, got {len(rows)} rows of lengths {sorted(lengths)}")
    exact = [[_rational("L", entry) for entry in row] for row in rows]
    for i, row in enumerate(exact):
        for j, entry in enumerate(row[i + 1 :], start=i + 1):
            if entry:
                raise ValueError(f"L must be lower triangular, got {entry} at ({i}, {j})")
    return exact
