"""The runner of property modules: samples, comparisons, and what they show as a whole."""

from __future__ import annotations

import math
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast
from unittest.mock import patch

import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, configuration, given, seed, settings
from hypothesis import errors as hypothesis_errors
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from hypothesis.statistics import collector
from hypothesis.strategies import SearchStrategy

from numerics.evidence.comparison import PLANTED, Comparison, Residual
from numerics.properties.hypotheses import assumption, violation

TIGHTNESS = 0.1
"""Least value of k * residual / bound over the examples in the largest quarter of k."""
NONZERO = 0.25
"""Least share of comparisons whose residual is not exactly zero (50 of 200)."""


class PropertyModule(Protocol):
    """A module with the strategy of a theorem's inputs and its comparison at one input.

    CLAUSE, if there, names its clause; samples of a module of several name theirs as `clause`.
    hypotheses(sample), if there, yields what the theorem assumes of the sample's arrays
    (numerics.properties.hypotheses.Held).
    rates(), if there, gives the measured orders at which limits are approached
    (numerics.evidence.rates), and tables() what the theorem states of values that are computed
    (numerics.evidence.tables).
    """

    def samples(self) -> SearchStrategy[Any]: ...

    def residual(self, sample: Any, /) -> Residual: ...


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

    def add(self, found: Comparison) -> None:
        self.ratios.append(found.ratio)
        self.lengths.append(found.k)
        # No multiple of a bound of 0 is an error: such a sample shows nothing of a planted one.
        self.planted += found.bounded > 0
        if found.rejected < found.bounded:
            self.missed = f"at {found.bounded - found.rejected} of {found.bounded} entries"

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
    shows the counterexample as Hypothesis shrank it. README, "What a level means": this is N.
    """
    tallies: dict[str, _Tally] = {}
    clause = getattr(module, "CLAUSE", theorem_id)
    statistics: list[dict[str, Any]] = []
    lacking: list[str] = []

    def body(sample: Any) -> None:
        nonlocal clause
        # Known before the comparison is made, so that an error raised on the way names it too.
        clause = getattr(sample, "clause", clause)
        try:
            residual = module.residual(sample)
            clause = residual.clause
            found = residual.compared()
            message = "" if found.ratio <= 1 else residual.explain()
        except hypothesis_errors.HypothesisException:
            raise
        except Exception as error:
            known = str(error).startswith(f"{clause}: ")
            message = str(error) if known else f"{clause}: {type(error).__name__}: {error}"
        unassumed = _unassumed(theorem_id, clause, module, sample)
        if message:
            message = f"{message}\n{unassumed}".rstrip()
            raise AssertionError(f"{message}\ncounterexample: {_shown(sample)}")
        if unassumed and not lacking:
            # Not raised: what a comparison finds is the better counterexample, and comes first.
            lacking.append(f"{theorem_id} {unassumed}\ncounterexample: {_shown(sample)}")
        tallies.setdefault(clause, _Tally()).add(found)

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
        with (
            _writing_elsewhere(),
            _drawing_by_the_seed_alone(),
            cast(Any, collector).with_value(statistics.append),
        ):
            test()
    except AssertionError as error:
        failures.append(f"{theorem_id} {error}")
    except hypothesis_errors.HypothesisException as error:
        failures.append(f"{theorem_id} {clause}: no comparison, {type(error).__name__}: {error}")
    failures = failures or lacking
    return _judged(theorem_id, clause, tallies, failures, _exhausted(statistics), max_examples)


def _unassumed(theorem_id: str, clause: str, module: PropertyModule, sample: Any) -> str:
    """How a sample lacks what its theorem assumes; empty where it has it."""
    message = ""
    try:
        for held in getattr(module, "hypotheses", lambda sample: ())(sample):
            hypothesis = assumption(theorem_id, held.clause or clause, held.id)
            if fault := violation(hypothesis, held.arrays, held.errors):
                message = f"{clause}: sample violates {fault}"
                break
    except hypothesis_errors.HypothesisException:
        raise
    except Exception as error:
        message = f"{clause}: hypotheses: {type(error).__name__}: {error}"
    return message


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


def _shown(sample: Any) -> str:
    with np.printoptions(precision=17, floatmode="unique", threshold=60):
        return repr(sample)


@contextmanager
def _drawing_by_the_seed_alone() -> Iterator[None]:
    """Samples that do not depend on the modules that happen to be loaded.

    Hypothesis mixes the numbers written in them into its draws, and offers no setting against it.
    """
    with (
        patch.object(providers.HypothesisProvider, "_local_constants", Constants()),
        patch.object(providers, "CONSTANTS_CACHE", {}),
    ):
        yield
