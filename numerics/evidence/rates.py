"""How fast values approach a limit: the order of their error, with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numerics.inputs import number, real

ORDER_WITHIN = 0.05
"""How far from the expected order an end of the interval may lie.

A local slope of the error c eps + c' eps^2 is off by about (c'/c) eps; at a wrong limit it is 0.
"""
FINEST = 0.03
"""Largest error at the finest eps, as a fraction of the target (of 1 where the target is 0)."""


@dataclass(frozen=True)
class Rate:
    """Values at falling eps, the limit that they should have, and the order of their error.

    The values carry no noise: the interval of the order is the range of the local slopes over the
    finer half, widened by `rounding`, a bound on the rounding error of every value. Where all
    errors there are within that bound there is no slope, and the limit is attained.
    Raises TypeError for what is no real number, ValueError for fewer than four values, eps not
    falling and positive, or a number that is not finite.
    """

    name: str
    target: float
    epsilons: tuple[float, ...]
    values: tuple[float, ...]
    expected: float = 1.0
    rounding: float = 0.0

    def __post_init__(self) -> None:
        self._check_types()
        count = len(self.epsilons)
        if count < 4 or len(self.values) != count:
            raise ValueError(
                f"{self.name}: values must be four or more, one for each of epsilons, got "
                f"{len(self.values)} for {count}"
            )
        falling = all(a > b for a, b in zip(self.epsilons, self.epsilons[1:], strict=False))
        if not (falling and self.epsilons[-1] > 0):
            raise ValueError(
                f"{self.name}: epsilons must be falling and positive, got {self.epsilons}"
            )
        for name in ("target", "expected", "rounding"):
            number(f"{self.name}: {name}", getattr(self, name))
        for name in ("values", "epsilons"):
            for value in getattr(self, name):
                number(f"{self.name}: {name}", value)
        ceiling = FINEST * self._scale / 1000  # above it, an error within rounding says little
        if not 0 <= self.rounding <= ceiling:
            raise ValueError(
                f"{self.name}: rounding must lie between 0 and {ceiling:.3g}, a thousandth of the "
                f"largest error allowed, got {self.rounding}"
            )

    def _check_types(self) -> None:
        for name in ("target", "expected", "rounding"):
            real(f"{self.name}: {name}", getattr(self, name))
        for name in ("values", "epsilons"):
            found = getattr(self, name)
            if not isinstance(found, tuple | list | np.ndarray):
                kind = type(found).__name__
                raise TypeError(f"{self.name}: {name} must be a tuple of numbers, got {kind}")
            for value in found:
                real(f"{self.name}: {name}", value)

    @property
    def _scale(self) -> float:
        return abs(self.target) or 1.0

    @property
    def errors(self) -> tuple[float, ...]:
        """|value - target| at each eps."""
        return tuple(abs(value - self.target) for value in self.values)

    @property
    def _finer(self) -> tuple[np.ndarray, np.ndarray]:
        """log eps and errors of the finer half, three points or more."""
        first = min(len(self.values) // 2, len(self.values) - 3)
        return np.log(self.epsilons[first:]), np.array(self.errors[first:])

    @property
    def attained(self) -> bool:
        """Whether every error of the finer half is within rounding."""
        return bool(np.all(self._finer[1] <= self.rounding))

    @property
    def _interval(self) -> tuple[float, float] | None:
        log_eps, errors = self._finer
        if np.any(errors <= self.rounding):
            return None  # the logarithm of an error that may be zero
        steps = -np.diff(log_eps)
        smallest, largest = np.log(errors - self.rounding), np.log(errors + self.rounding)
        lows = (smallest[:-1] - largest[1:]) / steps
        highs = (largest[:-1] - smallest[1:]) / steps
        return float(np.min(lows)), float(np.max(highs))

    @property
    def low(self) -> float | None:
        """Least local slope of the finer half; None where an error may be zero."""
        return self._interval[0] if self._interval else None

    @property
    def high(self) -> float | None:
        """Largest local slope of the finer half; None where an error may be zero."""
        return self._interval[1] if self._interval else None

    @property
    def slope(self) -> float | None:
        """Least-squares slope of log error against log eps over the finer half."""
        if self._interval is None:
            return None
        log_eps, errors = self._finer
        centred = log_eps - np.mean(log_eps)
        return float(centred @ np.log(errors) / (centred @ centred))

    @property
    def ok(self) -> bool:
        """Whether the limit is attained, or nearly reached and approached at the expected order."""
        if self.attained:
            return True
        if self._interval is None or self.errors[-1] > FINEST * self._scale:
            return False
        low, high = self._interval
        return self.expected - ORDER_WITHIN <= low and high <= self.expected + ORDER_WITHIN

    def explain(self) -> str:
        """The measurement as one line."""
        order = "limit attained" if self.attained else "an error within rounding, no order"
        if self._interval is not None:
            low, high = self._interval
            order = f"order {self.slope:.3f} in [{low:.3f}, {high:.3f}], expected {self.expected:g}"
        return (
            f"{self.name}: {self.values[-1]:.6g} at eps = {self.epsilons[-1]:.3g}, "
            f"limit {self.target:.6g}, error {self.errors[-1]:.2g}, {order}"
        )
