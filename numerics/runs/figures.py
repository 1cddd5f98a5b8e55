"""Figures as SVG text, the same for the same numbers: no date, identifiers by a fixed salt."""

from __future__ import annotations

import io

import matplotlib as mpl
from matplotlib.figure import Figure

SALT = "attention-geometry"


def svg(figure: Figure) -> str:
    """The figure, its letters as text."""
    stream = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": SALT, "svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()
