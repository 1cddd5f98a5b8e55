"""The rank spectrum recomputed: families of metrics, their bounds (RA3), and exact ranks modulo p.

A rank modulo p that meets the bound of a factorisation is the rank over Q, and the generic one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, ctx

from numerics.arrays import is_array
from numerics.inputs import integer, odd_prime
from numerics.scores.exact_rank import PRIME, rank_of
from numerics.scores.integer_scores import centre, integer_scores

Metrics = Callable[[np.random.Generator, int, int, int], np.ndarray]
Width = Callable[[int, int], int]
TOKENS = ("generic", "sphere", "gain", "layer norm")


def full_width(d: int) -> int:
    """N = C(d + 2, 2). Raises TypeError, ValueError for what is no d >= 0."""
    d = integer("d", d, 0)
    return (d + 1) * (d + 2) // 2


@dataclass(frozen=True)
class Family:
    """A family of metrics, the kind of its scores, and the bounds on their rank and centred rank.

    metrics(rng, n, d, r) draws integers (n, d, d); least_d and below (r < d) say where the bounds
    hold; ranked families depend on r. Source: RA3.
    """

    name: str
    kind: str
    metrics: Metrics
    rank: Width
    tokens: str = "generic"
    ranked: bool = False
    least_d: int = 1
    drop: int = 1

    def centred(self, d: int, r: int) -> int:
        """The bound on the centred rank, the width that softmax needs."""
        return self.rank(d, r) - self.drop

    def applies(self, d: int, r: int) -> bool:
        """Whether the family has its bound at d and r."""
        return d >= self.least_d and (r < d if self.ranked else r == 1)


@dataclass(frozen=True)
class RankRow:
    """One line of the table: bounds, ranks modulo the prime, and whether they agree."""

    family: str
    tokens: str
    d: int
    r: int | None
    n: int
    bound: int
    rank: int
    centred_bound: int
    centred: int

    @property
    def exact(self) -> bool:
        """Whether both ranks meet their bounds: then they are the ranks over Q."""
        return (self.rank, self.centred) == (self.bound, self.centred_bound)


def _integers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-99, 100, size=shape)


def _scalars(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.integers(1, 100, size=(n, 1, 1)) * np.eye(d, dtype=np.int64)


def _euclidean(rng: np.random.Generator, n: int, d: int, r: int) -> np.ndarray:
    return np.broadcast_to(np.eye(d, dtype=np.int64), (n, d, d))


def _homogeneous(rng: np.random.Generator, n: int, d: int, r: int) -> np.ndarray:
    frame = _integers(rng, d, d)
    return np.broadcast_to(frame.T @ frame, (n, d, d))


def _conformal(rng: np.random.Generator, n: int, d: int, r: int) -> np.ndarray:
    return _scalars(rng, n, d)


def _diagonal(rng: np.random.Generator, n: int, d: int, r: int) -> np.ndarray:
    return rng.integers(1, 100, size=(n, d, 1)) * np.eye(d, dtype=np.int64)


def _through(rng: np.random.Generator, n: int, d: int, r: int, full: bool) -> np.ndarray:
    """U C_i U^T with C_i >= 0, diagonal or full."""
    U = _integers(rng, d, r)
    if not full:
        return np.einsum("ac,nc,bc->nab", U, rng.integers(1, 100, size=(n, r)), U)
    frames = rng.integers(-9, 10, size=(n, r, r))
    return U @ (frames @ np.swapaxes(frames, 1, 2)) @ U.T


def _shared(full: bool, fixed: bool) -> Metrics:
    def metrics(rng: np.random.Generator, n: int, d: int, r: int) -> np.ndarray:
        shift = 7 * np.eye(d, dtype=np.int64) if fixed else _scalars(rng, n, d)
        return shift + _through(rng, n, d, r, full)

    return metrics


def _rank_one(rng: np.random.Generator, n: int, d: int, r: int) -> np.ndarray:
    u = _integers(rng, n, d)
    return np.eye(d, dtype=np.int64) + u[:, :, None] * u[:, None, :]


def _low_rank(rng: np.random.Generator, n: int, d: int, r: int) -> np.ndarray:
    U = _integers(rng, n, d, 2)
    return _diagonal(rng, n, d, r) + U @ np.swapaxes(U, 1, 2)


def _symmetric(r: int) -> int:
    return r * (r + 1) // 2


def families() -> tuple[Family, ...]:
    """The families of RA3's table, and the tokens on which a width goes or stays."""
    N = full_width
    diagonal, core = _shared(False, False), _shared(True, False)
    fixed, fixed_core = _shared(False, True), _shared(True, True)
    bilinear, both, sym = "bilinear", "bilinear symmetrised", "symmetrised"
    return (
        Family("bilinear", bilinear, _rank_one, lambda d, r: d, drop=0),
        Family("bilinear", both, _rank_one, lambda d, r: 2 * d, drop=0),
        Family("homogeneous", both, _homogeneous, lambda d, r: d, drop=0),
        Family("shared core", both, fixed_core, lambda d, r: d + r, drop=0, ranked=True),
        Family("homogeneous", "query", _homogeneous, lambda d, r: d + 2),
        Family("conformal", "query", _conformal, lambda d, r: d + 2),
        Family("diagonal", "query", _diagonal, lambda d, r: 2 * d + 1),
        Family("shared diagonal", "query", diagonal, lambda d, r: d + 2 + r, ranked=True),
        Family("shared core", "query", core, lambda d, r: d + 2 + _symmetric(r), ranked=True),
        Family("I + u u^T", "query", _rank_one, lambda d, r: N(d)),
        Family("D + U U^T", "query", _low_rank, lambda d, r: N(d)),
        Family("D + U U^T", "key", _low_rank, lambda d, r: N(d), drop=0),
        Family("homogeneous", sym, _homogeneous, lambda d, r: d + 2),
        Family("conformal", sym, _conformal, lambda d, r: 2 * (d + 2)),
        Family("diagonal", sym, _diagonal, lambda d, r: 2 * (2 * d + 1)),
        Family("shared diagonal", sym, diagonal, lambda d, r: 2 * (d + 2 + r), ranked=True),
        Family("shared core", sym, core, lambda d, r: 2 * (d + 2 + _symmetric(r)), ranked=True),
        Family("D + U U^T", sym, _low_rank, lambda d, r: 2 * N(d)),
        Family("shared diagonal, fixed", sym, fixed, lambda d, r: d + 2 + 3 * r, ranked=True),
        Family(
            "shared core, fixed", sym, fixed_core, lambda d, r: d + 1 + (r + 1) ** 2, ranked=True
        ),
        *_restricted(),
    )


def _restricted() -> Iterator[Family]:
    """Tokens on a sphere lose one width iff I is in the span of the metrics."""
    N, sym = full_width, "symmetrised"
    fixed, fixed_core = _shared(False, True), _shared(True, True)

    def sphere(name: str, kind: str, metrics: Metrics, rank: Width, ranked: bool = False) -> Family:
        return Family(name, kind, metrics, rank, "sphere", ranked, least_d=2)

    yield sphere("I", "query", _euclidean, lambda d, r: d + 1)
    yield sphere("homogeneous", "query", _homogeneous, lambda d, r: d + 2)
    yield sphere("conformal", "query", _conformal, lambda d, r: d + 1)
    yield sphere("diagonal", "query", _diagonal, lambda d, r: 2 * d)
    yield sphere("D + U U^T", "query", _low_rank, lambda d, r: N(d) - 1)
    yield sphere("conformal", sym, _conformal, lambda d, r: 2 * (d + 1))
    yield sphere("D + U U^T", sym, _low_rank, lambda d, r: 2 * (N(d) - 1))
    yield sphere("shared diagonal, fixed", sym, fixed, lambda d, r: d + 2 + 3 * r, True)
    yield sphere("shared core, fixed", sym, fixed_core, lambda d, r: d + 1 + (r + 1) ** 2, True)
    yield Family("conformal", "query", _conformal, lambda d, r: d + 2, "gain", least_d=2)
    yield Family("diagonal", "query", _diagonal, lambda d, r: 2 * d, "gain", least_d=2)
    yield Family(
        "D + U U^T", "query", _low_rank, lambda d, r: N(d - 1) - 1, "layer norm", least_d=3
    )


def tokens_modulo(
    rng: np.random.Generator, n: int, d: int, kind: str = "generic", p: int = PRIME
) -> np.ndarray:
    """Tokens (n, d) modulo p: generic; with |x|^2 = 1; the same times a gain; or with |x|^2 = 2
    and entries of sum 0, as LayerNorm leaves them, each by a line through one such point.

    Raises TypeError, ValueError by name, and ValueError for a sphere with too few points.
    """
    n, d, p = integer("n", n, 1), integer("d", d, 0), odd_prime("p", p)
    if kind not in TOKENS:
        raise ValueError(f"kind must be one of {', '.join(TOKENS)}, got {kind!r}")
    if d < {"generic": 1, "layer norm": 3}.get(kind, 2):
        raise ValueError(f"d must be larger for {kind} tokens, got {d}")
    lines = _integers(rng, n, d)
    if kind == "generic":
        return lines
    start = np.zeros(d, dtype=np.int64)
    start[0] = 1
    if kind == "layer norm":
        start[1] = -1
        lines[:, -1] -= lines.sum(axis=1)
    rows = []
    for line in lines:
        square = int(line @ line)
        if square % p == 0:
            raise ValueError(f"lines must have a square that is not 0 modulo {p}, got {square}")
        step = 2 * int(start @ line) * pow(square, -1, p) % p
        rows.append([(int(s) - step * int(v)) % p for s, v in zip(start, line, strict=True)])
    tokens = np.array(rows, dtype=np.int64)
    return tokens * rng.integers(2, 50, size=d) % p if kind == "gain" else tokens


def rank_row(family: Family, d: int, r: int = 1, seed: int = 0, p: int = PRIME) -> RankRow:
    """The ranks of one family at one d (and r), for two tokens more than its bound.

    Raises TypeError, ValueError by name, and where the family has no bound. Source: RA3, RA4.
    """
    d, r, seed, p = (
        integer("d", d, 0),
        integer("r", r, 0),
        integer("seed", seed, 0),
        odd_prime("p", p),
    )
    if not family.applies(d, r):
        raise ValueError(f"{family.name} has no bound at d = {d}, r = {r}")
    bound = family.rank(d, r)
    n, rng = bound + 2, np.random.default_rng((seed, d, r))
    x, G = tokens_modulo(rng, n, d, family.tokens, p), family.metrics(rng, n, d, r)
    scores = integer_scores(x, G, kind=family.kind, modulus=p)
    rank, centred = rank_of(scores, p).rank, rank_of(centre(scores), p).rank
    name = f"{family.name}, {family.kind}"
    return RankRow(
        name, family.tokens, d, r if family.ranked else None, n, bound, rank,
        family.centred(d, r), centred,
    )  # fmt: skip


def _listed(name: str, values: Iterable[int], least: int) -> list[int]:
    if not isinstance(values, Iterable):
        raise TypeError(f"{name} must be integers, got {type(values).__name__}")
    found = [integer(name, value, least) for value in values]
    if not found:
        raise ValueError(f"{name} must not be empty, got {values}")
    return found


def rank_table(
    dims: Iterable[int] = range(1, 13), ranks: Iterable[int] = (1, 2, 3), seed: int = 0
) -> list[RankRow]:
    """All families at every d >= 1, and at every r >= 0 where it applies.

    Raises TypeError, ValueError by name, and for dims or ranks that are empty.
    """
    widths, depths = _listed("dims", dims, 1), _listed("ranks", ranks, 0)
    pairs = [(d, r) for d in widths for r in depths]
    return [
        rank_row(family, d, r, seed) for family in families() for d, r in pairs
        if family.applies(d, r)
    ]  # fmt: skip


def distance_determinant(points: np.ndarray, bits: int = 256) -> arb:
    """A ball that contains the determinant of the distances of integer points (n, d).

    Raises ValueError, TypeError for points that are no integers. Source: RA5.
    """
    bits = integer("bits", bits, 2)
    if not is_array(points) or not isinstance(points, np.ndarray):
        raise TypeError(f"points must be a NumPy array of integers, got {type(points).__name__}")
    if not np.issubdtype(points.dtype, np.integer):
        raise TypeError(f"points must be integers, got {points.dtype}")
    if points.ndim != 2 or points.size == 0:
        raise ValueError(f"points must have shape (n, d), all positive, got {points.shape}")
    # Differences of unsigned and squares of narrow integers wrap.
    square = points.shape[1] * (2 * max(-int(points.min()), int(points.max()))) ** 2
    points = points.astype(np.int64 if square < 2**63 else object)
    with ctx.workprec(bits):
        squares = [[int(((p - q) ** 2).sum()) for q in points] for p in points]
        return arb_mat([[arb(square).sqrt() for square in row] for row in squares]).det()
