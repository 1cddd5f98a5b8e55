"""Statements as functions of concrete arrays: one module a theorem, samples() and residual().

`run_property` accepts a module only when its comparison was made, was not vacuous, was tight, and
rejects a planted error.
"""

from __future__ import annotations

import math
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, configuration, given, seed, settings
from hypothesis import errors as hypothesis_errors
from hypothesis.statistics import collector
from hypothesis.strategies import SearchStrategy

from numerics.arrays import Array

PLANTED = 8.0
"""A planted error of this many bounds in one entry must be rejected."""
TIGHTNESS = 0.1
"""Least value of k * residual / bound over the examples in the largest quarter of k."""
NONZERO = 0.25
"""Least share of comparisons whose residual is not exactly zero (50 of 200)."""


class PropertyModule(Protocol):
    """A module with the strategy of a theorem's inputs and its comparison at one input."""

    def samples(self) -> SearchStrategy[Any]: ...

    def residual(self, sample: Any, /) -> Residual: ...


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
        """The same comparison with an error of 8 bounds in its most tightly bounded entry."""
        bound = _plain(self.bound)
        if not (bound > 0).any():
            return None
        wrong = np.array(_plain(self.lhs))
        place = _first(bound == bound[bound > 0].min())
        wrong[place] += PLANTED * bound[place]
        return replace(self, lhs=wrong)


@dataclass(frozen=True)
class PropertyResult:
    """What a run compared: counts, the largest ratio, the tightness k * ratio, and the failures."""

    examples: int
    nonzero: int
    max_ratio: float
    tightness: float
    exhausted: bool
    planted_rejected: bool
    failures: tuple[str, ...]
    clauses: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the comparison was made often enough, held, was tight, and can fail."""
        return not self.failures and self.examples > 0


@dataclass
class _Tally:
    """Comparisons made so far for one clause."""

    ratios: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    planted: int = 0
    missed: str = ""

    def add(self, residual: Residual, ratio: float) -> None:
        self.ratios.append(ratio)
        self.lengths.append(residual.k)
        wrong = residual.planted()
        if wrong is None:
            return
        self.planted += 1
        if not wrong.ratio() > 1:
            self.missed = wrong.explain()

    @property
    def nonzero(self) -> int:
        return sum(ratio > 0 for ratio in self.ratios)

    @property
    def tightness(self) -> float:
        quarter = sorted(self.lengths)[(3 * len(self.lengths)) // 4]
        return max(k * r for k, r in zip(self.lengths, self.ratios, strict=True) if k >= quarter)

    def failures(self, clause: str) -> Iterator[str]:
        floor = math.ceil(NONZERO * len(self.ratios))
        if self.nonzero < floor:
            count = f"{self.nonzero} of {len(self.ratios)}"
            yield f"{clause}: NOT VERIFIED, only {count} residuals are nonzero, {floor} needed"
        if self.tightness < TIGHTNESS:
            yield (
                f"{clause}: bound too loose, k * residual / bound reaches only "
                f"{self.tightness:.3g} over the largest quarter of k, {TIGHTNESS} needed"
            )
        if self.missed or not self.planted:
            yield (
                f"{clause}: a planted error of {PLANTED:g} bounds was not rejected "
                f"{self.missed}".rstrip()
            )


def run_property(
    theorem_id: str, module: PropertyModule, suite_seed: int = 0, max_examples: int = 200
) -> PropertyResult:
    """Run a property module's samples through its comparison, seeded by crc32(id) ^ suite_seed.

    Nothing raised by the property escapes: it comes back as a failure that names the clause and
    shows the counterexample as Hypothesis shrank it. Source: spec "Properties".
    """
    tallies: dict[str, _Tally] = {}
    clause = getattr(module, "CLAUSE", theorem_id)
    statistics: list[dict[str, Any]] = []

    def body(sample: Any) -> None:
        nonlocal clause
        try:
            residual = module.residual(sample)
            clause = residual.clause
            ratio = residual.ratio()
            message = "" if ratio <= 1 else residual.explain()
        except hypothesis_errors.HypothesisException:
            raise
        except Exception as error:
            known = str(error).startswith(f"{clause}: ")
            message = str(error) if known else f"{clause}: {type(error).__name__}: {error}"
        if message:
            raise AssertionError(f"{message}\ncounterexample: {_shown(sample)}")
        tallies.setdefault(clause, _Tally()).add(residual, ratio)

    test = seed(zlib.crc32(theorem_id.encode()) ^ suite_seed)(
        settings(
            max_examples=max_examples,
            deadline=None,
            database=None,
            report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
            verbosity=Verbosity.quiet,
            suppress_health_check=(
                HealthCheck.too_slow,
                HealthCheck.data_too_large,
                HealthCheck.large_base_example,
            ),
        )(given(module.samples())(body))
    )
    failures: list[str] = []
    try:
        with _writing_elsewhere(), cast(Any, collector).with_value(statistics.append):
            test()
    except AssertionError as error:
        failures.append(f"{theorem_id} {error}")
    except hypothesis_errors.HypothesisException as error:
        failures.append(f"{theorem_id} {clause}: no comparison, {type(error).__name__}: {error}")
    return _judged(theorem_id, clause, tallies, failures, _exhausted(statistics), max_examples)


def _judged(
    theorem_id: str,
    clause: str,
    tallies: dict[str, _Tally],
    failures: list[str],
    exhausted: bool,
    max_examples: int,
) -> PropertyResult:
    """The result, with what the comparisons as a whole do not show added to the failures."""
    examples = sum(len(tally.ratios) for tally in tallies.values())
    if not failures and examples < max_examples and not exhausted:
        failures.append(
            f"{theorem_id} {clause}: only {examples} of {max_examples} comparisons "
            f"were made and the strategy is not exhausted"
        )
    if not failures and examples < NONZERO * max_examples:
        failures.append(
            f"{theorem_id} {clause}: the strategy is exhausted after {examples} comparisons, "
            f"{math.ceil(NONZERO * max_examples)} needed"
        )
    if not failures:
        failures.extend(
            f"{theorem_id} {line}"
            for name, tally in tallies.items()
            for line in tally.failures(name)
        )
    return PropertyResult(
        examples=examples,
        nonzero=sum(tally.nonzero for tally in tallies.values()),
        max_ratio=max((max(tally.ratios) for tally in tallies.values()), default=0.0),
        tightness=min((tally.tightness for tally in tallies.values()), default=0.0),
        exhausted=exhausted and examples < max_examples,
        planted_rejected=bool(tallies)
        and all(tally.planted > 0 and not tally.missed for tally in tallies.values()),
        failures=tuple(failures),
        clauses=tuple(sorted(tallies)),
    )


def _exhausted(statistics: list[dict[str, Any]]) -> bool:
    """Whether Hypothesis stopped because the strategy has nothing more to offer."""
    return any(entry.get("stopped-because") == "nothing left to do" for entry in statistics)


@contextmanager
def _writing_elsewhere() -> Iterator[None]:
    """Hypothesis keeps its files in a temporary directory, never in the checkout."""
    before = configuration.storage_directory(intent_to_write=False).path
    configuration.set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "attention-geometry")
    try:
        yield
    finally:
        configuration.set_hypothesis_home_dir(before)


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


def _shown(sample: Any) -> str:
    with np.printoptions(precision=17, floatmode="unique", threshold=60):
        return repr(sample)
