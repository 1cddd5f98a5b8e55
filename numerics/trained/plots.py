"""Figures of a run as SVG text: spectra, depth and collapse, each with its controls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from numerics.runs.figures import svg
from numerics.trained.records import (
    ByText,
    CollapseNumbers,
    DepthNumbers,
    Numbers,
    TransportNumbers,
    select,
)

if TYPE_CHECKING:
    from polars import DataFrame

OWN, RANDOM, THIRD, FOURTH = "#b3262a", "#4a6fa5", "#5b8c5a", "#8a6d3b"
CONTROLS = {"initialised": RANDOM, "matched": THIRD, "other_text": FOURTH}


def figures(name: str, rows: DataFrame, numbers: Numbers) -> dict[str, str]:
    """SVG by file name: spectra.svg, depth.svg (two layers at least), collapse.svg.

    rows is the long table of all layers, numbers what `summary` makes of it.
    """
    found = {
        "spectra.svg": _spectra(name, rows, numbers.transports),
        "collapse.svg": _collapse(name, numbers.collapse),
    }
    if numbers.depth.transitions:
        found["depth.svg"] = _depth(name, numbers.depth)
    return found


def _spectra(name: str, rows: DataFrame, numbers: TransportNumbers) -> str:
    """Left: singular values of the first, middle and last layer; right: CV by layer."""
    figure = Figure(figsize=(9, 3.6))
    left, right = figure.subplots(1, 2)
    entry = numbers.spreads["cv"]
    spectra, last = select(rows, measure="spectrum", section="transports"), len(entry.by_layer) - 1
    for index, style in zip(dict.fromkeys((0, last // 2, last)), ("-", "--", ":"), strict=False):
        values = select(spectra, kind="trained", layer=index)["value"].to_numpy()
        x = np.linspace(0, 1, len(values))
        left.plot(x, values, style, color=OWN, label=f"layer {index}, mean over heads")
    for kind, colour in (("gaussian", RANDOM), ("haar", THIRD)):
        control = select(spectra, kind=kind, layer=last)
        median, low, high = (control[point].to_numpy() for point in ("value", "low", "high"))
        x = np.linspace(0, 1, len(median))
        left.plot(x, median, color=colour, label=f"{kind} control, 5-95%")
        left.fill_between(x, low, high, color=colour, alpha=0.25, linewidth=0)
    _dress(left, "share of the d_h directions", "singular value / mean")
    right.plot(_floats(entry.by_layer), color=OWN, label="trained, mean over heads")
    for kind, colour in (("gaussian", RANDOM), ("haar", THIRD)):
        _band(right, entry.controls[kind].control_by_layer, colour, f"{kind} control, 5-95%")
    _dress(right, "layer", "CV of singular values")
    return _svg(figure, f"{name}: transports against random factors")


def _depth(name: str, found: DepthNumbers) -> str:
    figure = Figure(figsize=(9, 6.4))
    axes = figure.subplots(2, 2)
    for axis, measure in zip(axes.flat, ("distance", "cosine", "centred", "spectrum"), strict=True):
        table = found.views["no_sinks"][measure]
        _over_texts(axis, table.trained, OWN, "trained", start=1)
        for kind, rows in (
            ("initialised", table.initialised.by_text),
            ("matched", table.matched.by_text),
            ("other_text", table.other_text),
        ):
            _over_texts(axis, rows, CONTROLS[kind], kind.replace("_", " "), start=1)
        _dress(axis, "layer (against the one before)", f"{measure}, sinks removed")
    return _svg(figure, f"{name}: walks of consecutive layers; bands span the texts")


def _collapse(name: str, found: CollapseNumbers) -> str:
    figure = Figure(figsize=(9, 3.8))
    left, right = figure.subplots(1, 2)
    whole, no_sinks = (found.trained[view].relative for view in ("whole", "no_sinks"))
    _over_texts(left, whole, OWN, "model")
    _over_texts(left, no_sinks, OWN, "model, sinks removed", style=":")
    for kind, views in found.models.items():
        _over_texts(left, views["whole"], CONTROLS[kind], f"{kind} model", start=1)
    for kind, colour in (("normed", FOURTH), ("bare", "black"), ("frozen", "gray")):
        _over_texts(left, found.stacks[kind].relative, colour, f"{kind} stack", start=1)
    left.set_yscale("log")
    _dress(left, "layers passed", "|X - 1 mean| / |X|")
    for kind, colour in (("bare", "black"), ("frozen", "gray")):
        stack = found.stacks[kind]
        _over_texts(right, stack.spread, colour, f"{kind} stack", start=1)
        _over_texts(right, stack.bound or (), colour, f"{kind}: RA11", start=1, style="--")
    _over_texts(right, found.stacks["bare"].floor, "silver", "bare: rounding", start=1, style=":")
    right.set_yscale("log")
    _dress(right, "layers passed", "osc" if found.bounded == "osc" else "max |x_i - x_1|")
    return _svg(figure, f"{name}: collapse, with the bounds of RA11")


def _over_texts(
    axis: Axes, rows: ByText, colour: str, label: str, start: int = 0, style: str = "-"
) -> None:
    """Mean over texts with a band from least to largest; undefined points are gaps."""
    table = np.array([_floats(row) for row in rows], float)
    if not table.size or np.isnan(table).all():
        return
    kept = ~np.isnan(table).any(axis=1)
    x, table = (start + np.arange(len(table)))[kept], table[kept]
    axis.plot(x, table.mean(axis=1), style, color=colour, label=label, linewidth=1.3)
    axis.fill_between(x, table.min(axis=1), table.max(axis=1), color=colour, alpha=0.2, linewidth=0)


def _floats(values: Sequence[float | None]) -> list[float]:
    """The values, NaN for None."""
    return [np.nan if value is None else value for value in values]


def _band(axis: Axes, points: Sequence[Sequence[float | None]], colour: str, label: str) -> None:
    median, low, high = np.array([_floats(row) for row in points], float).T
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
    return svg(figure)
