"""Figures of a run as SVG text: spectra, depth and collapse, each with its controls.

The text is the same for the same numbers: no date, identifiers by a fixed salt.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

SALT = "attention-geometry"
OWN, RANDOM, THIRD, FOURTH = "#b3262a", "#4a6fa5", "#5b8c5a", "#8a6d3b"
CONTROLS = {"initialised": RANDOM, "matched": THIRD, "other_text": FOURTH}


def figures(
    name: str, records: Sequence[dict[str, Any]], numbers: dict[str, Any]
) -> dict[str, str]:
    """SVG by file name: spectra.svg, depth.svg (two layers at least), collapse.svg."""
    found = {
        "spectra.svg": _spectra(name, records, numbers),
        "collapse.svg": _collapse(name, numbers["collapse"]),
    }
    if numbers["depth"]["transitions"]:
        found["depth.svg"] = _depth(name, numbers["depth"])
    return found


def _spectra(name: str, records: Sequence[dict[str, Any]], numbers: dict[str, Any]) -> str:
    """Left: singular values of the first, middle and last layer; right: CV by layer."""
    figure = Figure(figsize=(9, 3.6))
    left, right = figure.subplots(1, 2)
    last = len(records) - 1
    for index, style in zip(dict.fromkeys((0, last // 2, last)), ("-", "--", ":"), strict=False):
        values = records[index]["transports"]["own"]["spectrum"]
        x = np.linspace(0, 1, len(values))
        left.plot(x, values, style, color=OWN, label=f"layer {index}, mean over heads")
    for kind, colour in (("gaussian", RANDOM), ("haar", THIRD)):
        median, low, high = records[last]["transports"]["controls"][kind]["spectrum"]
        x = np.linspace(0, 1, len(median))
        left.plot(x, median, color=colour, label=f"{kind} control, 5-95%")
        left.fill_between(x, low, high, color=colour, alpha=0.25, linewidth=0)
    _dress(left, "share of the d_h directions", "singular value / mean")
    entry = numbers["transports"]["cv"]
    right.plot(entry["by_layer"], color=OWN, label="trained, mean over heads")
    for kind, colour in (("gaussian", RANDOM), ("haar", THIRD)):
        _band(right, entry[kind]["control_by_layer"], colour, f"{kind} control, 5-95%")
    _dress(right, "layer", "CV of singular values")
    return _svg(figure, f"{name}: transports against random factors")


def _depth(name: str, found: dict[str, Any]) -> str:
    figure = Figure(figsize=(9, 6.4))
    axes = figure.subplots(2, 2)
    for axis, measure in zip(axes.flat, ("distance", "cosine", "centred", "spectrum"), strict=True):
        table = found["no_sinks"][measure]
        _over_texts(axis, table["real"], OWN, "trained", start=1)
        for kind, colour in CONTROLS.items():
            _over_texts(axis, table[kind], colour, kind.replace("_", " "), start=1)
        _dress(axis, "layer (against the one before)", f"{measure}, sinks removed")
    return _svg(figure, f"{name}: walks of consecutive layers; bands span the texts")


def _collapse(name: str, found: dict[str, Any]) -> str:
    figure = Figure(figsize=(9, 3.8))
    left, right = figure.subplots(1, 2)
    _over_texts(left, found["real.whole.relative"], OWN, "model")
    _over_texts(left, found["real.no_sinks.relative"], OWN, "model, sinks removed", style=":")
    for kind in ("initialised", "matched"):
        _over_texts(left, found[f"{kind}.whole.relative"], CONTROLS[kind], f"{kind} model", start=1)
    for stack, colour in (("normed", FOURTH), ("bare", "black"), ("frozen", "gray")):
        _over_texts(left, found[f"{stack}.relative"], colour, f"{stack} stack", start=1)
    left.set_yscale("log")
    _dress(left, "layers passed", "|X - 1 mean| / |X|")
    key = found["bounded"]
    for stack, colour in (("bare", "black"), ("frozen", "gray")):
        _over_texts(right, found[f"{stack}.{key}"], colour, f"{stack} stack", start=1)
        _over_texts(right, found[f"{stack}.bound"], colour, f"{stack}: RA11", start=1, style="--")
    _over_texts(right, found["bare.floor"], "silver", "bare: rounding", start=1, style=":")
    right.set_yscale("log")
    _dress(right, "layers passed", "osc" if key == "osc" else "max |x_i - x_1|")
    return _svg(figure, f"{name}: collapse, with the bounds of RA11")


def _over_texts(
    axis: Axes,
    rows: Sequence[Sequence[float | None]],
    colour: str,
    label: str,
    start: int = 0,
    style: str = "-",
) -> None:
    """Mean over texts with a band from least to largest; undefined points are gaps."""
    table = np.array([[np.nan if v is None else v for v in row] for row in rows], float)
    if not table.size or np.isnan(table).all():
        return
    kept = ~np.isnan(table).any(axis=1)
    x, table = (start + np.arange(len(table)))[kept], table[kept]
    axis.plot(x, table.mean(axis=1), style, color=colour, label=label, linewidth=1.3)
    axis.fill_between(x, table.min(axis=1), table.max(axis=1), color=colour, alpha=0.2, linewidth=0)


def _band(axis: Axes, points: Sequence[Sequence[float]], colour: str, label: str) -> None:
    median, low, high = np.array(points, float).T
    axis.plot(median, color=colour, label=label)
    axis.fill_between(np.arange(len(median)), low, high, color=colour, alpha=0.25, linewidth=0)


def _dress(axis: Axes, x: str, y: str) -> None:
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    if x.startswith("layer"):
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7)


def _svg(figure: Figure, title: str) -> str:
    figure.suptitle(title, fontsize=10)
    # Fixed margins, and letters as text: a fitted layout draws everything twice.
    figure.subplots_adjust(0.09, 0.14, 0.98, 0.9, wspace=0.25, hspace=0.3)
    stream = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": SALT, "svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()
