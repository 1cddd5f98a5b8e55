"""Both models' curves: as a record, a table, a plot, and a statement of what came out.

A record is JSON: settings, parameters, unigram entropy, curves (kind -> one list of (step, loss)
for each seed) and geometry (one entry a seed). Losses are in nats a letter, to four digits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from numerics.fiber_bundle.grammar import unigram_entropy
from numerics.fiber_bundle.model import MODELS
from numerics.fiber_bundle.training import Run, validation_text
from numerics.inputs import integer
from numerics.runs.figures import svg
from numerics.runs.files import write_whole

DIGITS = 4
STORED = Path(__file__).with_name("curves.json")
COLOURS = {"fiber-bundle": "#0072B2", "standard": "#D55E00"}


def record(runs: Sequence[Run]) -> dict[str, Any]:
    """The record of finished runs, of one text; ValueError for none."""
    if not runs:
        raise ValueError("runs must not be empty")
    curves: dict[str, list[Any]] = {}
    for run in runs:
        points = [[step, round(loss, DIGITS)] for step, loss in run.curve]
        curves.setdefault(run.settings.shape.kind, []).append(points)
    return {
        "settings": {
            run.settings.shape.kind: asdict(run.settings) | {"seed": None} for run in runs
        },
        "parameters": {run.settings.shape.kind: run.settings.shape.parameters() for run in runs},
        "unigram_entropy": round(unigram_entropy(validation_text(runs[0].settings)), DIGITS),
        "curves": curves,
        "geometry": [geometry(run) for run in runs if run.settings.shape.kind == MODELS[0]],
    }


@torch.no_grad()
def geometry(run: Run, count: int = 64) -> dict[str, list[float]]:
    """Of each block of a trained Fiber Bundle model, means over triples of tokens and heads.

    holonomy: |angle| of T_ij T_jk T_ki, in radians; torsion: |gap| / (|a| + |b|), all in G_i.
    Raises ValueError, TypeError by name.
    """
    if not isinstance(run, Run):
        raise TypeError(f"run must be a Run, got {type(run).__name__}")
    integer("count", count, 1)
    draw = torch.Generator().manual_seed(0)
    length = run.settings.shape.length
    triples = torch.stack([torch.randperm(length, generator=draw)[:3] for _ in range(count)])
    symbols = run.held_out()[:4]
    found: dict[str, list[float]] = {"holonomy": [], "torsion": []}
    for points, connection in run.model.geometry(symbols):
        i, j, k = triples.unbind(1)
        sides = [points[..., place, :] - points[..., i, :] for place in (j, k)]
        here = connection.metric.at(i)
        length_of = [here.norm2(side).sqrt() for side in sides]
        gap = here.norm2(connection.torsion(points, triples)).sqrt()
        angle = connection.holonomy_angle(triples).abs()
        found["holonomy"].append(round(float(angle.mean()), DIGITS))
        found["torsion"].append(round(float((gap / (length_of[0] + length_of[1])).mean()), DIGITS))
    return found


def save(found: dict[str, Any], path: Path) -> None:
    """Write a record."""
    write_whole(path, json.dumps(found, indent=1) + "\n")


def load(path: Path = STORED) -> dict[str, Any]:
    """A record that was saved, by default the one beside this module; ValueError if it is none."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        complete = {"settings", "parameters", "unigram_entropy", "curves"} <= found.keys()
    except (json.JSONDecodeError, UnicodeDecodeError, AttributeError) as error:
        raise ValueError(f"{path} must hold a record of curves: {error}") from error
    if not complete:
        raise ValueError(f"{path} must hold a record of curves, got keys {sorted(found)}")
    return found


def final(found: dict[str, Any], kind: str) -> list[float]:
    """Last validation loss of each seed."""
    return [points[-1][1] for points in found["curves"][kind]]


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Both curves as a table, step by step: the mean over seeds and its range."""
    kinds = list(found["curves"])
    yield "step    " + "".join(f"{kind:<26}" for kind in kinds).rstrip()
    for place, (step, _) in enumerate(found["curves"][kinds[0]][0]):
        cells = []
        for kind in kinds:
            losses = [points[place][1] for points in found["curves"][kind]]
            cells.append(f"{mean(losses):.3f} [{min(losses):.3f}, {max(losses):.3f}]")
        yield f"{step:<8}" + "".join(f"{cell:<26}" for cell in cells).rstrip()


def outcome(found: dict[str, Any]) -> Iterator[str]:
    """What came out, in sentences, with the entropy that both had to beat."""
    entropy, parameters = found["unigram_entropy"], found["parameters"]
    for kind in found["curves"]:
        losses = final(found, kind)
        below = sum(loss < entropy for loss in losses)
        yield (
            f"{kind}: {parameters[kind]} parameters, final validation loss {mean(losses):.3f} "
            f"[{min(losses):.3f}, {max(losses):.3f}] nats a letter, below the unigram entropy "
            f"{entropy:.3f} in {below} of {len(losses)} runs"
        )
    if set(found["curves"]) == set(MODELS):
        ours, theirs = (final(found, kind) for kind in MODELS)
        wins = sum(a < b for a, b in zip(ours, theirs, strict=True))
        gap = mean(ours) - mean(theirs)
        yield (
            f"At equal size the fiber-bundle model ends lower in {wins} of {len(ours)} seeds; its "
            f"mean final loss is {abs(gap):.3f} nats {'higher' if gap > 0 else 'lower'}. It does "
            "more arithmetic a step, and one small text, one size and one set of step sizes say "
            "nothing about other tasks."
        )


def plot(found: dict[str, Any], axes: Axes) -> None:
    """Draw all curves and the unigram entropy."""
    for kind, runs in found["curves"].items():
        for number, points in enumerate(runs):
            steps, losses = zip(*points, strict=True)
            label = f"{kind} ({found['parameters'][kind]} parameters)" if number == 0 else None
            axes.plot(steps, losses, color=COLOURS[kind], lw=1.2, label=label)
    axes.axhline(found["unigram_entropy"], color="0.4", ls="--", lw=1, label="unigram entropy")
    axes.set(xlabel="step", ylabel="validation loss (nats a letter)")
    axes.legend(fontsize=9)


def picture(found: dict[str, Any], path: Path) -> None:
    """The plot as an SVG file."""
    figure = Figure(figsize=(7, 4.5))
    plot(found, figure.subplots())
    write_whole(path, svg(figure))
