"""One numeric comparison: two sides, a bound on their difference, and an error planted in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from numerics.arrays import Array

PLANTED = 8.0
"""A planted error of this many bounds in one entry must be rejected."""


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

    def ratio(self) -> float:
        """Largest |lhs - rhs| / bound; raises like ratios."""
        return float(np.max(self.ratios()))

    def ratios(self) -> np.ndarray:
        """Entrywise |lhs - rhs| / bound.

        Raises ValueError naming the clause where a side or the bound is not finite (checked
        before closeness: NaN would compare as equal), shapes differ, nothing is compared, or a
        residual is positive where the bound is not.
        """
        sides = {"lhs": _plain(self.lhs), "rhs": _plain(self.rhs), "bound": _plain(self.bound)}
        shapes = {name: side.shape for name, side in sides.items()}
        if len(set(shapes.values())) != 1:
            raise ValueError(f"{self.clause}: lhs, rhs and bound must have one shape, got {shapes}")
        if sides["lhs"].size == 0:
            raise ValueError(f"{self.clause}: nothing compared, got shape {sides['lhs'].shape}")
        if self.k < 1:
            raise ValueError(f"{self.clause}: k must be at least 1, got {self.k}")
        for name, side in sides.items():
            if not np.isfinite(side).all():
                place = _first(~np.isfinite(side))
                raise ValueError(
                    f"{self.clause}: {name} must be finite, got {side[place]} at {place}"
                )
        bound = sides["bound"]
        with np.errstate(over="ignore"):
            difference = np.abs(sides["lhs"] - sides["rhs"])
        unbounded = (bound < 0) | ((bound == 0) & (difference > 0))
        if unbounded.any():
            place = _first(unbounded)
            raise ValueError(
                f"{self.clause}: bound must be positive where the residual is, got "
                f"residual {difference[place]} and bound {bound[place]} at {place}"
            )
        with np.errstate(over="ignore"):
            return difference / np.where(bound > 0, bound, 1.0)

    def explain(self) -> str:
        """Sentence that shows the entry with the largest ratio."""
        ratios = self.ratios()
        place = _first(ratios == ratios.max())
        return (
            f"{self.clause}: residual / bound = {ratios[place]:.6g} at {place}: lhs "
            f"{_plain(self.lhs)[place]!r}, rhs {_plain(self.rhs)[place]!r}, bound "
            f"{_plain(self.bound)[place]!r}, k = {self.k}"
        )

    def planted(self) -> Residual | None:
        """The same comparison with an error of 8 bounds in its most tightly bounded entry.

        None where no bound is positive. That it is rejected shows that every entry is compared at
        its own bound and that float64 resolves the bound beside lhs. The error scales with the
        bound, so this cannot show that the bound is small (TIGHTNESS does) or that the two sides
        are independent (the falsehoods planted in the tests do).
        """
        bound = _plain(self.bound)
        if not (bound > 0).any():
            return None
        wrong = np.array(_plain(self.lhs))
        place = _first(bound == bound[bound > 0].min())
        wrong[place] += PLANTED * bound[place]
        return replace(self, lhs=wrong)


def _first(where: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(where)[0])


def _plain(array: Array) -> np.ndarray:
    """Array as float64 or complex128 on the host."""
    if not isinstance(array, np.ndarray) and hasattr(array, "detach"):
        import torch

        array = array.detach().cpu()
        array = array.numpy() if array.is_complex() else array.to(torch.float64).numpy()
    host = np.asarray(array)
    return host.astype(np.complex128 if np.iscomplexobj(host) else np.float64)
