"""The appendix is LaTeX that a small installation typesets, with the numbers of the report."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from paper_checks import appendix
from paper_checks.report import Report, TheoremRecord

ALLOWED = {"amsmath", "amssymb", "amsthm", "bm", "longtable", "tabularx", "array", "geometry",
           "hyperref", "inputenc"}  # fmt: skip
OVERFULL = 10.0  # points that a line may stick out: less than the eye objects to


@pytest.fixture(scope="session")
def source(report: Report) -> str:
    return appendix.render(report)


@pytest.mark.slow
@pytest.mark.latex
def test_appendix_is_typeset_without_errors_or_long_lines(
    source: str, typeset: Callable[[str], tuple[str, float]]
) -> None:
    log, sticks_out = typeset(source)
    assert not re.search(r"LaTeX Warning: .*undefined", log)
    assert sticks_out <= OVERFULL, re.findall(r"Overfull.*\n.*", log)


@pytest.mark.slow
def test_only_packages_of_a_small_installation_are_used(source: str) -> None:
    used = {
        name
        for names in re.findall(r"\\usepackage(?:\[[^]]*\])?\{([^}]*)\}", source)
        for name in names.split(",")
    }
    assert used <= ALLOWED


@pytest.mark.slow
def test_every_theorem_has_its_label_and_every_citation_its_entry(
    report: Report, source: str
) -> None:
    for record in report.theorems:
        assert rf"\label{{thm:{record.id}}}" in source
    cited = set(re.findall(r"\\cite\{([^}]*)\}", source))
    assert cited <= set(re.findall(r"\\bibitem\{([^}]*)\}", source))
    assert {"attention-geometry", "riemannian-attention", "attention-pairings"} <= cited
    assert "identifier as listed in an index" in source


@pytest.mark.slow
def test_numbers_are_those_of_the_report(
    report: Report, record_of: Callable[..., TheoremRecord]
) -> None:
    record = replace(record_of("CW1"), instances=987654, max_residual_over_bound=0.0625)
    text = appendix.render(replace(report, theorems=(record,)))
    assert "987654 with free symbols, 3 on 63-bit rationals" in text
    assert "0.0625" in text
    assert "FAILED" not in text


def test_a_failure_is_shown(report: Report, record_of: Callable[..., TheoremRecord]) -> None:
    record = record_of("CW1", ok=False)
    text = appendix.render(replace(report, theorems=(record,), ok=False))
    assert r"\textbf{FAILED}" in text
    assert "planted" in text


@pytest.mark.slow
def test_sources_are_listed_once(report: Report, source: str) -> None:
    entries = re.findall(r"\\bibitem\{.*?\} (.*)", source)
    assert len(entries) == len(set(entries))
    assert len(appendix.bibliography(report)) >= len(entries)
