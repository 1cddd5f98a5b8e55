"""The report as a LaTeX appendix: every number from the run, every formula from the theorems."""

from __future__ import annotations

from importlib import resources

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from paper_checks import latex, terminal
from paper_checks.exposition import expositions
from paper_checks.papers.list import LISTED, PAPERS
from paper_checks.report import Report
from paper_checks.statements import refuse_other_statements


def _environment() -> Environment:
    folder = resources.files("paper_checks") / "templates"
    environment = Environment(
        loader=FileSystemLoader(str(folder)),
        block_start_string="<%", block_end_string="%>",
        variable_start_string="<<", variable_end_string=">>",
        comment_start_string="<#", comment_end_string="#>",
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False,
    )  # fmt: skip
    environment.filters |= {
        "text": latex.tex,
        "literal": lambda value: latex.literal(str(value)),
        "number": terminal.number,
        "level": terminal.level_text,
        "exact": terminal.exact_text,
        "stress": terminal.stress_text,
        "order": terminal.order_text,
        "compared": terminal.compared_text,
        "value": "{:.6g}".format,
    }
    return environment


def bibliography(report: Report) -> dict[str, tuple[str, str]]:
    """Source text -> (citation key, text), in order of first use, papers first."""
    found: dict[str, tuple[str, str]] = {}
    for key, paper in PAPERS.items():
        listed = f"arXiv:{paper.identifier} ({LISTED})" if paper.identifier else \
            "no public identifier known"  # fmt: skip
        found[key] = (key, f"{paper.title}, {listed}.")
    for shown in expositions(report):
        cited = [step.source for part in shown.clauses for step in part.links if step.source]
        for source in (*shown.sources, *cited):
            paper = next((p for p in PAPERS.values() if p.identifier
                          and p.identifier in source), None)  # fmt: skip
            found.setdefault(source, found[paper.key] if paper else (f"source{len(found)}", source))
    return found


def render(report: Report) -> str:
    """The appendix as a LaTeX document that texlive-latex-base alone typesets.

    Raises: Unusable when the report is of other statements than this version, latex.Rejected for
    prose outside the shared subset.
    """
    refuse_other_statements(report)
    sources = bibliography(report)
    return _environment().get_template("appendix.tex.j2").render(
        report=report,
        suite=report.suite,
        shown=expositions(report),
        papers=PAPERS,
        sources=sources,
        entries=dict.fromkeys(sources.values()),
        summary=terminal.summary(report),
        trusted=terminal.trusted_text(report.suite),
        failures=terminal.failure_lines(report),
    )  # fmt: skip
