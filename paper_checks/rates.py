"""Limits that a property module measures, as records of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paper_checks.report import RateRecord

if TYPE_CHECKING:  # the parent of the workers imports no arrays
    from numerics.evidence.rates import Rate


def measured_rates(property_module: Any) -> tuple[list[RateRecord], list[str]]:
    """What the module's `rates()` measured, if it has one, and a line for each fault.

    A rate that is not ok is a fault, and so are no rates at all and whatever `rates()` raises.
    """
    measure = getattr(property_module, "rates", None)
    if measure is None:
        return [], []
    records: list[RateRecord] = []
    try:
        found = list(measure())
        failures = [rate.explain() for rate in found if not rate.ok]
        records += [rate_record(rate) for rate in found]
        failures += [] if found else ["rates() measured nothing"]
    except Exception as error:
        failures = [f"rates() raised {type(error).__name__}: {error}"]
    return records, failures


def rate_record(rate: Rate) -> RateRecord:
    """A rate as it stands in the report."""
    return RateRecord(
        name=rate.name, target=rate.target, finest=rate.values[-1], error=rate.errors[-1],
        slope=rate.slope, low=rate.low, high=rate.high, expected=rate.expected, ok=rate.ok,
    )  # fmt: skip
