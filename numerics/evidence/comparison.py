"""One numeric comparison: two sides, a bound on their difference, and an error planted in it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from numerics.arrays import Array

PLANTED = 8.0
"""A planted error of this many bounds in one entry must be rejected."""


@dataclass(frozen=True)
class Comparison:
    """The largest |lhs - rhs| / bound over all entries, and the residual and bound at that entry.

    finite is False when a side or the bound has an entry that is not a finite number: then the
    ratio is infinite and entry is the first such one. The ratio is infinite too where a residual is
    positive and the bound is not, or the bound is negative. k is the length of the longest sum.
    Of `entries` entries `bounded` have a positive bound, and at `rejected` of these an error of 8
    bounds, planted there, would be rejected. exact says that the sides are integers, which agree
    within a bound of 1/2 only where they are equal.
    """

    name: str
    k: int
    residual: float
    bound: float
    ratio: float
    entry: tuple[int, ...]
    finite: bool
    entries: int
    bounded: int
    rejected: int
    exact: bool = False

    @property
    def planted_rejected(self) -> bool:
        """Whether a planted error would be rejected wherever the bound is positive.

        That it is shows that every entry is compared at its own bound and that float64 resolves the
        bound beside the sides. The error scales with the bound, so this cannot show that the bound
        is small (tightness does) or that the two sides are independent (the falsehoods planted in
        the tests do).
        """
        return self.finite and self.rejected == self.bounded > 0

    @property
    def ok(self) -> bool:
        """Whether every entry is finite and within its bound, and could have been found beyond it.

        A bound of 0 asks for equality, which no planted multiple of it can break.
        """
        return self.planted_rejected and self.bounded == self.entries and self.ratio <= 1

    @property
    def tight(self) -> bool:
        """Whether the ratio reaches 0.1 / k; a residual of 0 shows no tightness, but integers that
        are equal need none."""
        return self.finite and (self.exact or self.ratio * self.k >= 0.1)

    def merge(self, other: Comparison) -> Comparison:
        """The comparison over both sets of entries; a non-finite entry takes precedence."""
        mine, theirs = (not self.finite, self.ratio), (not other.finite, other.ratio)
        worst = other if theirs > mine else self
        return replace(
            worst,
            entries=self.entries + other.entries,
            bounded=self.bounded + other.bounded,
            rejected=self.rejected + other.rejected,
        )


def compare(
    name: str, left: Array, right: Array, bound: Array, k: int, first_row: int = 0
) -> Comparison:
    """Compares two results of one shape (B, ...), real or complex, with the bound (B, ...) on
    their difference, in float64: tensors of one device on that device, others on the host.

    `first_row` is the index of their first row in the whole result, of which they may be a block.
    Raises ValueError naming the comparison when shapes differ, nothing is compared, or k < 1.
    """
    sides = _wide(left, right, bound)
    shapes = {
        part: tuple(side.shape)
        for part, side in zip(("lhs", "rhs", "bound"), sides, strict=True)
    }  # fmt: skip
    shape = shapes["lhs"]
    if len(set(shapes.values())) != 1:
        raise ValueError(f"{name}: lhs, rhs and bound must have one shape, got {shapes}")
    if math.prod(shape) == 0:
        raise ValueError(f"{name}: nothing compared, got shape {shape}")
    if k < 1:
        raise ValueError(f"{name}: k must be at least 1, got {k}")
    with np.errstate(over="ignore", invalid="ignore"):
        return _compared(name, sides, k, shape, first_row)


def _compared(
    name: str, sides: tuple[Any, Any, Any], k: int, shape: tuple[int, ...], first_row: int
) -> Comparison:
    left, right, bound = sides
    xp, entries = _namespace(left), math.prod(shape)
    # Before closeness: NaN would compare as equal.
    finite = xp.isfinite(left) & xp.isfinite(right) & xp.isfinite(bound)
    if not bool(finite.all()):
        entry = _place(xp.asarray(finite, dtype=xp.uint8).argmin(), shape, first_row)
        lost = (math.inf, math.inf, math.inf)
        return Comparison(name, k, *lost, entry, False, entries, bounded=0, rejected=0)
    residual, positive = abs(left - right), bound > 0
    ratio = residual / xp.where(positive, bound, 1.0)
    unbounded = (bound < 0) | ((bound == 0) & (residual > 0))
    ratio = xp.where(unbounded, math.inf, ratio)
    planted = abs(left + PLANTED * bound - right)
    worst = ratio.argmax()
    return Comparison(
        name=name,
        k=k,
        residual=float(residual.reshape(-1)[worst]),
        bound=float(bound.reshape(-1)[worst]),
        ratio=float(ratio.reshape(-1)[worst]),
        entry=_place(worst, shape, first_row),
        finite=True,
        entries=entries,
        bounded=int(positive.sum()),
        rejected=int((positive & (planted > bound)).sum()),
    )


def compare_integers(name: str, left: Array, right: Array, k: int) -> Comparison:
    """Compares two results that are integers below 2^53, of one shape, which must be equal.

    Raises ValueError like compare.
    """
    (wide,) = _wide(right)
    half = _namespace(wide).full_like(wide, 0.5)
    return replace(compare(name, left, right, half, k), exact=True)


def merged(blocks: Iterable[Comparison]) -> list[Comparison]:
    """The comparisons of all blocks, those of one name as one, in the order of first appearance."""
    found: dict[str, Comparison] = {}
    for block in blocks:
        found[block.name] = found[block.name].merge(block) if block.name in found else block
    return list(found.values())


@dataclass(frozen=True)
class Residual:
    """Both sides of a clause, the bound on |lhs - rhs| entry by entry, and its summation length k.

    lhs, rhs and bound have one shape; k is the length of the longest single sum.
    """

    clause: str
    lhs: Array
    rhs: Array
    bound: Array
    k: int

    def compared(self) -> Comparison:
        """The comparison of the sides, which must be one that says something.

        Raises ValueError like compare, and where a side or the bound is not finite, or a residual
        is positive where the bound is not.
        """
        found = compare(self.clause, self.lhs, self.rhs, self.bound, self.k)
        if not found.finite:
            for name, value in self._at(found.entry).items():
                if not np.isfinite(value):
                    raise ValueError(
                        f"{self.clause}: {name} must be finite, got {value} at {found.entry}"
                    )
        if math.isinf(found.ratio) and not found.bound > 0:
            raise ValueError(
                f"{self.clause}: bound must be positive where the residual is, got residual "
                f"{found.residual} and bound {found.bound} at {found.entry}"
            )
        return found

    def ratio(self) -> float:
        """Largest |lhs - rhs| / bound; raises like compared."""
        return self.compared().ratio

    def explain(self) -> str:
        """Sentence that shows the entry with the largest ratio."""
        found = self.compared()
        shown = ", ".join(f"{name} {value!r}" for name, value in self._at(found.entry).items())
        return (
            f"{self.clause}: residual / bound = {found.ratio:.6g} at {found.entry}: {shown}, "
            f"k = {self.k}"
        )

    def _at(self, place: tuple[int, ...]) -> dict[str, Any]:
        """Both sides and the bound at one entry."""
        parts = _wide(self.lhs, self.rhs, self.bound)
        names = ("lhs", "rhs", "bound")
        return {name: part[place].item() for name, part in zip(names, parts, strict=True)}


def _place(flat: Any, shape: tuple[int, ...], first_row: int) -> tuple[int, ...]:
    entry = [int(part) for part in np.unravel_index(int(flat), shape)]
    # A single number has no rows.
    return (entry[0] + first_row, *entry[1:]) if entry else ()


def _namespace(array: Any) -> Any:
    if isinstance(array, np.ndarray):
        return np
    import torch

    return torch


def _wide(*arrays: Array) -> tuple[Any, ...]:
    """Arrays in float64 or complex128: all tensors on one device, else NumPy arrays."""
    if all(hasattr(array, "detach") for array in arrays):
        import torch

        # MPS has no float64.
        there = [a.detach().cpu() if a.device.type == "mps" else a.detach() for a in arrays]
        if len({array.device for array in there}) == 1:
            return tuple(
                array.to(torch.complex128 if array.is_complex() else torch.float64)
                for array in there
            )
    return tuple(_host(array) for array in arrays)


def _host(array: Array) -> np.ndarray:
    if hasattr(array, "detach"):
        (array,) = _wide(array)
        array = array.cpu().numpy()
    host = np.asarray(array)
    return host.astype(np.complex128 if np.iscomplexobj(host) else np.float64)
