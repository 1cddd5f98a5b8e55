"""What low-rank metrics cost: exact counts of multiplications and divisions, and of whole layers.

Counts are integers and polynomials in n, m, d, r; roots and additions are not counted. Published
shapes give the share that geodesic attention adds to a layer, as a function of its length.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


def _whole(**sizes: int) -> None:
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int):
            raise TypeError(f"{name} must be an int, got {type(size).__name__}")
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")


@dataclass(frozen=True)
class SolveCounts:
    """Multiplications and divisions of the factored inverse of D + U U^T, U (d, r).

    scaling: D^-1 and D^-1 U; capacitance: the lower triangle of I + U^T D^-1 U; cholesky: its
    factor, r roots besides; application: G^-1 v; explicit: the entries of G^-1, from the scaled U.
    """

    scaling: int
    capacitance: int
    cholesky: int
    application: int
    explicit: int

    @property
    def preparation(self) -> int:
        """All that comes before the first application."""
        return self.scaling + self.capacitance + self.cholesky


def solve_counts(d: int, r: int) -> SolveCounts:
    """Counts for a metric of width d and rank r; ValueError, TypeError by name. Source: RA6."""
    _whole(d=d, r=r)
    return SolveCounts(
        scaling=d + d * r,
        capacitance=d * r * (r + 1) // 2,
        cholesky=r * (r - 1) * (r + 4) // 6,
        application=2 * d * r + r * r + r + 2 * d,
        explicit=r * d * (d + 1) // 2,
    )


def pair_count(d: int, r: int) -> int:
    """Multiplications of one distance, (r + 2) d + r; raises like solve_counts. Source: RA7."""
    _whole(d=d, r=r)
    return (r + 2) * d + r


def distances_count(n: int, m: int, d: int, r: int) -> int:
    """Multiplications of all n m distances by r + 2 products; raises like solve_counts.

    Source: RA7.
    """
    _whole(n=n, m=m, d=d, r=r)
    return (r + 2) * n * m * d + r * n * m + 2 * n * d + m * d + n * d * r


@dataclass(frozen=True)
class LayerShape:
    """One layer: width d, key/value width d_kv, MLP hidden width with 2 or 3 (gated) matrices.

    length is the context n that the model was published with; heads share the width d.
    """

    name: str
    d: int
    d_kv: int
    hidden: int
    matrices: int
    length: int

    def __post_init__(self) -> None:
        sizes = {name: getattr(self, name) for name in ("d", "d_kv", "hidden", "length")}
        _whole(**sizes, matrices=self.matrices)

    def per_token(self, n: int) -> int:
        """Multiply-adds of the standard layer a token: 2 d^2 + 2 d d_kv + MLP + 2 n d."""
        _whole(n=n)
        projections = 2 * self.d**2 + 2 * self.d * self.d_kv
        return projections + self.matrices * self.d * self.hidden + 2 * n * self.d


GPT_2 = LayerShape("GPT-2", d=768, d_kv=768, hidden=3072, matrices=2, length=1024)
LLAMA_3_8B = LayerShape("Llama-3-8B", d=4096, d_kv=1024, hidden=14336, matrices=3, length=8192)
LLAMA_3_70B = LayerShape("Llama-3-70B", d=8192, d_kv=1024, hidden=28672, matrices=3, length=8192)
SHAPES = (GPT_2, LLAMA_3_8B, LLAMA_3_70B)
RANKS = (1, 4, 8)


def score_overhead(layer: LayerShape, n: int, r: int) -> Fraction:
    """Extra multiply-adds of rank-r distances over a layer's own: (r + 1) n d a token.

    r + 2 products stand for Q K^T in every head; terms of order n r and d r are left out. Raises
    like solve_counts. Source: RA7.
    """
    _whole(n=n, r=r)
    return Fraction((r + 1) * n * layer.d, layer.per_token(n))


def head_overhead(layer: LayerShape, n: int, r: int) -> Fraction:
    """Extra multiply-adds of linear maps to D_i and U_i over a layer's own: (r + 1) d^2 a token.

    Raises like solve_counts. Source: RA7.
    """
    _whole(n=n, r=r)
    return Fraction((r + 1) * layer.d**2, layer.per_token(n))


@dataclass(frozen=True)
class Overhead:
    """Shares of a layer's multiply-adds that rank-r metrics add at length n."""

    layer: LayerShape
    n: int
    r: int
    scores: Fraction
    head: Fraction

    @property
    def total(self) -> Fraction:
        """Scores and a linear metric head together."""
        return self.scores + self.head


def overhead(layer: LayerShape, r: int, n: int | None = None) -> Overhead:
    """The overhead at length n, by default the published one; raises like solve_counts.

    Source: RA7.
    """
    n = layer.length if n is None else n
    return Overhead(layer, n, r, score_overhead(layer, n, r), head_overhead(layer, n, r))


def overhead_table() -> tuple[Overhead, ...]:
    """The overhead of every published shape at ranks 1, 4 and 8. Source: RA7."""
    return tuple(overhead(layer, r) for layer in SHAPES for r in RANKS)


def longest_cheap(layer: LayerShape, r: int, share: Fraction) -> int:
    """The largest n up to which the scores alone add at most `share`; 0 if none does.

    (r + 1) n d <= share (fixed + 2 n d) holds up to a length, or at all lengths when share is
    (r + 1) / 2 or more: ValueError then, as for a share that is not positive. Source: RA7.
    """
    _whole(r=r)
    if not isinstance(share, Fraction):
        raise TypeError(f"share must be a Fraction, got {type(share).__name__}")
    if not 0 < share < Fraction(r + 1, 2):
        raise ValueError(f"share must lie in (0, (r + 1) / 2), got {share} at r = {r}")
    fixed = layer.per_token(1) - 2 * layer.d
    return int(share * fixed / (layer.d * (r + 1 - 2 * share)))
