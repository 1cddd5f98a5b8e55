"""The report as one self-contained HTML page: no script, nothing fetched, its own maths font."""

from __future__ import annotations

import base64
from importlib import resources

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from paper_checks import latex, tables, terminal
from paper_checks.exposition import expositions
from paper_checks.papers.list import PAPERS
from paper_checks.report import Report
from paper_checks.statements import refuse_other_statements

FONT = "latinmodern-math-subset.woff2"


def _environment() -> Environment:
    folder = resources.files("paper_checks") / "templates"
    environment = Environment(
        loader=FileSystemLoader(str(folder)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "text": lambda text: Markup(latex.html(text)),
        "display": lambda formula: Markup(latex.mathml(formula, True)),
        "number": terminal.number,
        "level": terminal.level_text,
        "exact": terminal.exact_text,
        "stress": terminal.stress_text,
        "order": terminal.order_text,
        "compared": terminal.compared_text,
        "value": "{:.6g}".format,
    }
    return environment


def font_data() -> str:
    """The embedded maths font as base64."""
    font = resources.files("paper_checks") / "data" / FONT
    return base64.b64encode(font.read_bytes()).decode("ascii")


def count_formulas(report: Report) -> int:
    """How many formulas the page of a report must hold, counted without rendering it."""
    shown = expositions(report)
    texts = [text for s in shown for text in s.texts]
    texts += [record.title for record in report.theorems]  # once more, in the table
    texts += [text for s in shown for table in s.record.tables for text in tables.texts(table)]
    texts += [text for c in report.claims for text in (
        c.statement, c.reading, c.note, c.settled_by, *c.added)]  # fmt: skip
    inline = sum(len(latex.formulas_in(text)) for text in texts)
    return inline + sum(len(s.display_formulas) for s in shown)


def render(report: Report) -> str:
    """The page.

    Raises: Unusable when the report is of other statements than this version, latex.Rejected for
    a formula that the converter does not accept.
    """
    refuse_other_statements(report)
    template = _environment().get_template("report.html.j2")
    return template.render(
        report=report,
        suite=report.suite,
        shown=expositions(report),
        papers=PAPERS,
        summary=terminal.summary(report),
        trusted=terminal.trusted_text(report.suite),
        failures=terminal.failure_lines(report),
        font=font_data(),
    )
