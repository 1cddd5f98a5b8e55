"""Measured limits reach every rendering, and one that is missed fails its theorem by name."""

import io
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from numerics.evidence.rates import Rate
from paper_checks import appendix, page, run, terminal
from paper_checks.rates import measured_rates, rate_record
from paper_checks.report import RateRecord, Report, TheoremRecord

EPSILONS = (0.04, 0.02, 0.01, 0.005)
GOOD = Rate("reached", 2.0, EPSILONS, tuple(2 + eps for eps in EPSILONS))
MISSED = Rate("missed <b>", 2.5, EPSILONS, GOOD.values)
ATTAINED = Rate("attained_exactly", 2.0, EPSILONS, (2.0,) * 4)
NONE: tuple[list[RateRecord], list[str]] = ([], [])


def module(*rates: Any) -> Any:
    return SimpleNamespace(rates=lambda: list(rates))


def test_a_module_without_rates_has_none() -> None:
    assert measured_rates(SimpleNamespace()) == NONE


def test_a_rate_becomes_a_record_of_the_report() -> None:
    (found, attained), failures = measured_rates(module(GOOD, ATTAINED))
    assert failures == []
    assert found == RateRecord(
        name="reached", target=2.0, finest=2.005, error=GOOD.errors[-1], slope=GOOD.slope,
        low=GOOD.low, high=GOOD.high, expected=1.0, ok=True,
    )  # fmt: skip
    assert attained.slope is attained.low is attained.high is None


def test_what_is_missed_is_a_failure_and_a_record() -> None:
    records, failures = measured_rates(module(GOOD, MISSED))
    assert [record.ok for record in records] == [True, False]
    assert failures == [MISSED.explain()]


def test_rates_that_measure_nothing_or_break_are_failures() -> None:
    assert measured_rates(module()) == ([], ["rates() measured nothing"])
    records, failures = measured_rates(module(GOOD, 3))
    assert records == []
    assert failures == ["rates() raised AttributeError: 'int' object has no attribute 'ok'"]


def with_rates(record: TheoremRecord, *rates: Rate) -> TheoremRecord:
    return replace(record, rates=tuple(rate_record(rate) for rate in rates))


def printed(report: Report, record: TheoremRecord, on_a_terminal: bool) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=on_a_terminal, width=200, no_color=True)
    terminal.print_report(replace(report, theorems=(record,)), console)
    return stream.getvalue()


@pytest.mark.parametrize("on_a_terminal", [True, False])
def test_verify_prints_one_line_a_rate(
    report: Report, record_of: Callable[..., TheoremRecord], on_a_terminal: bool
) -> None:
    record = with_rates(record_of("CW1"), GOOD, MISSED, ATTAINED)
    lines = [
        line for line in printed(report, record, on_a_terminal).splitlines() if "rate:" in line
    ]
    assert lines == [
        "CW1 rate: reached: 2.005, limit 2, error 0.005, order 1.000 in [1.000, 1.000], "
        "expected 1, ok",
        "CW1 rate: missed <b>: 2.005, limit 2.5, error 0.495, order -0.022 in [-0.030, -0.015], "
        "expected 1, FAILED",
        "CW1 rate: attained_exactly: 2, limit 2, error 0, order attained to rounding, ok",
    ]
    assert "rate:" not in printed(report, record_of("CW1"), on_a_terminal)


@pytest.mark.slow
def test_page_and_appendix_show_a_table_of_rates(
    report: Report, record_of: Callable[..., TheoremRecord]
) -> None:
    one, two = with_rates(record_of("CW1"), GOOD, MISSED, ATTAINED), record_of("CW2")
    both = replace(report, theorems=(one, two))
    shown = page.render(both)
    assert shown.count("Measured limits") == 1
    assert "<td>missed &lt;b&gt;</td>" in shown
    table = shown[shown.index("Measured limits") : shown.index('<h2 id="CW2"')]
    assert table.count(">FAILED<") == 1
    assert "<td>1.000 in [1.000, 1.000], expected 1</td>" in table
    assert "<td>attained to rounding</td>" in table
    assert page.count_formulas(both) == shown.count("<math")

    typeset = appendix.render(both).replace(r"\allowbreak{}", "")
    assert typeset.count(r"\paragraph{Measured limits.}") == 1
    rows = typeset[typeset.index("Measured limits") :].split("\n\\end{longtable}")[0]
    assert r"attained\_exactly & 2 & 2 & 0 & attained to rounding \\" in rows
    assert rows.count(r"\textbf{FAILED}") == 1
    assert "reached & 2 & 2.005 & 0.005 & 1.000 in" in rows


@pytest.mark.slow
def test_a_missed_limit_fails_its_theorem_and_is_named(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "numerics.properties.constant_transport.rates"
    monkeypatch.setattr(name, lambda: [GOOD, MISSED], raising=False)
    record = run.check_theorem("CW1", stress=False)
    assert not record.ok
    assert record.failures == (f"CW1.rate: {MISSED.explain()}",)
    assert [rate.name for rate in record.rates] == ["reached", "missed <b>"]
    assert f"\nFAILED: CW1.rate: {MISSED.explain()}\n" in printed(report, record, False)
