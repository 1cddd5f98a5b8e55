"""Pictures of walks, flows, frames and spectra.

What is drawn is rounded before: rounding errors differ between machines, stored figures must not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, Polygon

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"  # colour-blind safe
GREY, PALE = "0.55", "0.85"
Point = Any  # two numbers: an array, a tuple or a list


def pair(point: Point) -> tuple[float, float]:
    """A point as matplotlib wants it."""
    return float(point[0]), float(point[1])


def tidy(values: np.ndarray | Sequence[complex], digits: int = 6) -> np.ndarray:
    """Values rounded, without minus zeros, complex ones sorted by real and imaginary part."""
    rounded = np.round(np.asarray(values), digits) + 0.0
    return np.sort_complex(rounded) if np.iscomplexobj(rounded) else rounded


def bare(axes: Axes, across: tuple[float, float], up: tuple[float, float], title: str = "") -> None:
    """A part of the plane without frame and ticks."""
    axes.set(xlim=across, ylim=up, aspect="equal")
    axes.axis("off")
    axes.set_title(title, fontsize=12)


def on_circle(n: int, first: float = 90.0, radius: float = 1.0) -> np.ndarray:
    """n points on a circle, clockwise from an angle in degrees, (n, 2)."""
    turn = np.deg2rad(first) - 2 * np.pi * np.arange(n) / n
    return tidy(radius * np.stack([np.cos(turn), np.sin(turn)], axis=1))


def arrow(
    axes: Axes, start: Point, end: Point, colour: str = "black",
    width: float = 1.5, bend: float = 0.0, gap: float = 0.0, head: float = 1.0, layer: float = 3,
) -> None:  # fmt: skip
    """An arrow, bent to the left of its direction; gap is what stays free at both ends."""
    axes.add_patch(
        FancyArrowPatch(
            posA=pair(start), posB=pair(end), color=colour, lw=width, shrinkA=gap, shrinkB=gap,
            connectionstyle=f"arc3,rad={bend}", zorder=layer,
            arrowstyle=f"-|>,head_length={5 * head},head_width={2.6 * head}",
        )
    )  # fmt: skip


def nodes(
    axes: Axes, spots: np.ndarray, names: Sequence[str], radius: float = 0.13,
    fill: str | Sequence[str] = "white",
) -> None:  # fmt: skip
    """Nodes of a graph with their names."""
    fills = [fill] * len(spots) if isinstance(fill, str) else fill
    for spot, name, colour in zip(spots, names, fills, strict=True):
        axes.add_patch(Circle(pair(spot), radius, facecolor=colour, edgecolor="black", zorder=5))
        axes.text(*pair(spot), name, ha="center", va="center", fontsize=11, zorder=6)


def line(
    axes: Axes, start: Point, end: Point, colour: str = PALE,
    width: float = 1.5, dashed: bool = False, layer: float = 1,
) -> None:  # fmt: skip
    """A straight edge."""
    axes.plot(*zip(start, end, strict=True), color=colour, lw=width, zorder=layer,
              linestyle="--" if dashed else "-", solid_capstyle="butt")  # fmt: skip


def beside(start: Point, end: Point, away: float) -> np.ndarray:
    """A point on the right of the middle of an edge."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    along = (end - start) / np.hypot(*(end - start))
    return (start + end) / 2 + away * np.array([along[1], -along[0]])


def image_of_circle(
    axes: Axes, matrix: np.ndarray, centre: Point, size: float,
    metric: np.ndarray | None = None,
) -> None:  # fmt: skip
    """The unit circle, or that of a metric, its image, and the images of both basis vectors."""
    middle, matrix = np.asarray(centre, float), np.asarray(matrix, float)
    turn = np.linspace(0, 2 * np.pi, 90)
    unit = np.array([np.cos(turn), np.sin(turn)])
    if metric is not None:
        # x = F^{-1} unit has x^T G x = 1 for G = F^T F.
        unit = np.linalg.solve(np.linalg.cholesky(np.asarray(metric, float)).T, unit)
    axes.add_patch(Polygon(tidy(middle + size * unit.T), closed=True, facecolor="white",
                           edgecolor="0.6", lw=0.9, zorder=2))  # fmt: skip
    outline = tidy(middle + size * (matrix @ unit).T)
    axes.add_patch(Polygon(outline, closed=True, facecolor=PALE, edgecolor="0.25", lw=0.9,
                           alpha=0.85, zorder=3))  # fmt: skip
    for column, colour in zip(matrix.T, (BLUE, RED), strict=True):
        if np.hypot(*column) > 1e-6:
            arrow(axes, middle, tidy(middle + size * column), colour, head=0.7, layer=4)


def disc(axes: Axes, title: str = "", radius: float = 1.0) -> None:
    """Where spectra of L may lie: the disc |z - 1| <= radius and the segment [0, 2]."""
    axes.add_patch(Circle((1, 0), radius, facecolor="0.95", edgecolor=GREY, lw=1, zorder=0))
    axes.plot([0, 2], [0, 0], color=GREEN, lw=5, alpha=0.45, solid_capstyle="butt", zorder=1)
    axes.axhline(0, color=PALE, lw=0.8, zorder=0)
    axes.set(aspect="equal")
    axes.set_xticks([-1, 0, 1, 2, 3])
    axes.set_yticks([-1, 0, 1])
    axes.tick_params(labelsize=9)
    axes.set_title(title, fontsize=11)


def spectrum(axes: Axes, values: np.ndarray | Sequence[complex], colour: str = BLUE) -> None:
    """Eigenvalues as dots, red where they lie outside the disc |z - 1| <= 1."""
    for value in tidy(np.asarray(values, complex)):
        outside = abs(value - 1) > 1 + 1e-6
        axes.plot(value.real, value.imag, "o", color=RED if outside else colour, ms=5, zorder=4)


def flow_graph(
    axes: Axes, flow: np.ndarray, spots: np.ndarray, names: Sequence[str], scale: float,
    least: float = 1e-3, radius: float = 0.13,
) -> None:  # fmt: skip
    """Edge flow F: what goes both ways as grey edges, the surplus F_ij - F_ji as arrows i -> j."""
    flow = tidy(flow)
    for i in range(len(flow)):
        for j in range(i):
            both, surplus = min(flow[i, j], flow[j, i]), flow[i, j] - flow[j, i]
            if both > least:
                line(axes, spots[i], spots[j], width=scale * 2 * both)
            start, end = (i, j) if surplus > 0 else (j, i)
            if abs(surplus) > least:
                arrow(axes, spots[start], spots[end], RED, scale * abs(surplus), gap=15, layer=2,
                      head=0.8 + scale * abs(surplus) / 6)  # fmt: skip
    nodes(axes, spots, names, radius)


def dial(axes: Axes, centre: Point, angle: float, size: float, colour: str) -> None:
    """A unit vector at a node, by its angle."""
    axes.add_patch(Circle(pair(centre), size, facecolor="white", edgecolor="0.6", lw=0.9, zorder=3))
    tip = np.asarray(centre, float) + size * np.array([np.cos(angle), np.sin(angle)])
    arrow(axes, pair(centre), tuple(tidy(tip)), colour, 1.8, layer=4, head=0.8)
