"""Residual and bound of finished cells against n, log-log, as SVG: one file a theorem and dtype."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from numerics.runs import figures
from numerics.runs.files import write_whole

Record = dict[str, Any]


def write(folder: Path, records: Sequence[Record]) -> list[Path]:
    """Writes the plots of all theorems and dtypes that have cells at two values of n or more."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if record.get("bound"):
            groups.setdefault((record["id"], record["dtype"]), []).append(record)
    written = []
    for (theorem, dtype), cells in groups.items():
        if len({cell["n"] for cell in cells}) > 1:
            path = folder / f"{theorem}-{dtype}.svg"
            written.append(write_whole(path, svg(f"{theorem}, {dtype}", cells)))
    return written


def svg(title: str, cells: Sequence[Record]) -> str:
    """The plot of cells of one theorem and dtype: a solid residual and a dashed bound a series."""
    figure = Figure(figsize=(6.4, 4.2))
    axes = figure.subplots()
    for index, (label, points) in enumerate(series(cells).items()):
        colour = f"C{index % 10}"
        _line(axes, points, "residual", "o-", colour, f"{label}: residual")
        _line(axes, points, "bound", "s--", colour, f"{label}: bound")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("n")
    axes.set_ylabel("largest residual / bound, and its bound")
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=7, frameon=False)
    return figures.svg(figure)


def series(cells: Sequence[Record]) -> dict[str, list[Record]]:
    """Cells that differ in n alone, ordered by it, under the name of what they share."""
    found: dict[str, list[Record]] = {}
    for cell in sorted(cells, key=lambda cell: cell["n"]):
        parts = [cell["cell"], f"d={cell['d']}"]
        parts += [f"H={cell['heads']}"] if cell["heads"] > 1 else []
        parts += [f"ranks={cell['ranks']}"] if cell.get("ranks", 1) > 1 else []
        parts += [] if cell["device"] == "cpu" else [cell["device"]]
        found.setdefault(", ".join([*parts, f"seed {cell['seed']}"]), []).append(cell)
    return found


def _line(
    axes: Axes, points: Sequence[Record], name: str, style: str, colour: str, label: str
) -> None:
    """A residual of 0 has no place on a logarithmic axis and is left out."""
    shown = [point for point in points if point[name]]
    axes.plot([p["n"] for p in shown], [p[name] for p in shown], style, color=colour, label=label,
              markersize=4, linewidth=1)  # fmt: skip
