"""Two computed results against the rounding bound on their difference, entry by entry."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch

from numerics.stress.rounding import float64

PLANTED = 8
"""A planted error of this many bounds must be rejected, or the comparison shows nothing."""


@dataclass(frozen=True)
class Comparison:
    """The largest residual / bound over all entries, and the residual and bound at that entry.

    finite is False when a side or the bound has an entry that is not a finite number: then ratio
    is infinite and entry is the first such one. planted_rejected says whether a planted error of 8
    bounds would be rejected at every entry. k is the length of the longest sum. exact says that
    the sides are integers, which agree within a bound of 1/2 only where they are equal.
    """

    name: str
    k: int
    residual: float
    bound: float
    ratio: float
    entry: tuple[int, ...]
    finite: bool
    planted_rejected: bool
    exact: bool = False

    @property
    def ok(self) -> bool:
        """Whether every entry is finite and within its bound, by a comparison that can fail."""
        return self.finite and self.planted_rejected and self.ratio <= 1

    @property
    def tight(self) -> bool:
        """Whether the ratio reaches 0.1 / k; a residual of 0 shows no tightness, but integers that
        are equal need none."""
        return self.finite and (self.exact or self.ratio * self.k >= 0.1)

    def merge(self, other: Comparison) -> Comparison:
        """The comparison over both sets of entries; a non-finite entry takes precedence."""
        mine, theirs = (not self.finite, self.ratio), (not other.finite, other.ratio)
        worst = other if theirs > mine else self
        return replace(worst, planted_rejected=self.planted_rejected and other.planted_rejected)


def compare(
    name: str,
    left: torch.Tensor,
    right: torch.Tensor,
    bound: torch.Tensor,
    k: int,
    first_row: int = 0,
) -> Comparison:
    """Compares two results of one shape (B, ...) with the bound on their difference.

    `first_row` is the index of their first row in the whole result.
    Raises ValueError when the shapes differ.
    """
    if not left.shape == right.shape == bound.shape:
        raise ValueError(f"shapes differ: {left.shape}, {right.shape}, {bound.shape}")
    residual = (float64(left) - float64(right)).abs()
    finite = torch.isfinite(residual) & torch.isfinite(bound)
    if not bool(finite.all()):
        entry = _index(finite.to(torch.uint8).argmin(), left.shape, first_row)
        return Comparison(name, k, math.inf, math.inf, math.inf, entry, False, False)
    # A bound of 0 asks for equality, which no planted multiple of it can break.
    ratio = torch.where(residual == 0, 0.0, residual / bound)
    planted = float64(left) + PLANTED * bound - float64(right)
    worst = ratio.argmax()
    return Comparison(
        name=name,
        k=k,
        residual=float(residual.flatten()[worst]),
        bound=float(bound.flatten()[worst]),
        ratio=float(ratio.flatten()[worst]),
        entry=_index(worst, left.shape, first_row),
        finite=True,
        planted_rejected=bool((planted.abs() > bound).all()),
    )


def compare_integers(name: str, left: torch.Tensor, right: torch.Tensor, k: int) -> Comparison:
    """Compares two results that are integers below 2^53, of one shape, which must be equal.

    Raises ValueError like compare.
    """
    half = torch.full_like(float64(right), 0.5)
    return replace(compare(name, left, right, half, k), exact=True)


def merged(blocks: Iterable[Comparison]) -> list[Comparison]:
    """The comparisons of all blocks, those of one name as one, in the order of first appearance."""
    found: dict[str, Comparison] = {}
    for block in blocks:
        found[block.name] = found[block.name].merge(block) if block.name in found else block
    return list(found.values())


def _index(flat: torch.Tensor, shape: torch.Size, first_row: int) -> tuple[int, ...]:
    entry = [int(part) for part in torch.unravel_index(flat, shape)]
    return (entry[0] + first_row, *entry[1:])
