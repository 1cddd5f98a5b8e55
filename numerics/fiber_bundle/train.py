"""Train Fiber Bundle and standard models of equal size on a small generated text.

`python -m numerics.fiber_bundle.train` trains both for three seeds, prints and plots both curves
and says what came out. Every run writes checkpoints; after a kill the same command goes on from
them, to exactly the result of a run without a kill.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from numerics.blockwise import AbsentDevice, open_device
from numerics.fiber_bundle import curves
from numerics.fiber_bundle.grammar import ALPHABET
from numerics.fiber_bundle.layers import TRANSPORTS
from numerics.fiber_bundle.model import MODELS, Shape
from numerics.fiber_bundle.products import KINDS
from numerics.fiber_bundle.training import NonFiniteLoss, Run, Settings
from numerics.runs.terminal import progress

DEFAULT = Settings(Shape(MODELS[0], len(ALPHABET)))


def plan(arguments: argparse.Namespace) -> list[Settings]:
    """The settings of every run, seed by seed, both kinds at equal size; ValueError by name."""
    ours = Shape(
        MODELS[0], len(ALPHABET), length=arguments.length, width=arguments.width,
        rank=arguments.rank, scores=arguments.scores, transport=arguments.transport,
    )  # fmt: skip
    theirs = ours.standard_of_equal_size()
    share = abs(ours.parameters() - theirs.parameters()) / ours.parameters()
    if share > 0.01:
        raise ValueError(f"width must allow equal sizes, got models that differ by {share:.1%}")
    return [
        Settings(
            shape, seed, steps=arguments.steps, every=arguments.every, rate=arguments.rate,
            batch=arguments.batch,
        )
        for seed in range(arguments.seeds)
        for shape in (ours, theirs)
    ]  # fmt: skip


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command's arguments; exits with status 2 for unknown ones."""
    parser = argparse.ArgumentParser(
        prog="python -m numerics.fiber_bundle.train", description=__doc__
    )
    shape = DEFAULT.shape
    parser.add_argument("--out", type=Path, default=Path("build/fiber_bundle"), help="folder")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:K or mps (default cpu)")
    for name, value, text in (
        ("seeds", 3, "runs of each kind"),
        ("steps", DEFAULT.steps, "steps of a run"),
        ("every", DEFAULT.every, "steps between validations and checkpoints"),
        ("batch", DEFAULT.batch, "windows of a step"),
        ("length", shape.length, "letters of a window"),
        ("width", shape.width, "width of a token"),
        ("rank", shape.rank, "rank of U"),
    ):
        parser.add_argument(f"--{name}", type=int, default=value, help=f"{text} (default {value})")
    rate = DEFAULT.rate
    parser.add_argument("--rate", type=float, default=rate, help=f"of AdamW (default {rate})")
    parser.add_argument("--scores", choices=KINDS, default=shape.scores)
    parser.add_argument("--transport", choices=TRANSPORTS, default=shape.transport)
    return parser.parse_args(arguments)


def train_all(settings: Sequence[Settings], out: Path, device: str) -> list[Run]:
    """Every run to its end, from its checkpoint where there is one. Raises like Run.train."""
    runs = []
    with progress(Console(), sum(s.steps for s in settings)) as steps:
        for chosen in settings:
            run = Run(chosen, device)
            place = out / f"{chosen.shape.kind}-{chosen.seed}.pt"
            if place.exists():
                run.restore(place)
                print(f"{run.name}: goes on after step {run.step}", flush=True)
            steps.begins(run.name)
            steps.done(count=run.step)

            def show(run: Run) -> None:
                step, loss = run.curve[-1]
                validated = f"{run.name}: step {step}, loss {loss:.4f}"
                steps.done(validated if run.step == step else None)

            run.train(place, show)
            runs.append(run)
    return runs


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, print and plot; 0, 1 after a loss that is not finite, 2 for unusable arguments."""
    chosen = parse(arguments)
    try:
        device = str(open_device(chosen.device))
        if chosen.seeds < 1:
            raise ValueError(f"seeds must be at least 1, got {chosen.seeds}")
        runs = train_all(plan(chosen), chosen.out, device)
        found = curves.record(runs)
        curves.save(found, chosen.out / "curves.json")
        curves.picture(found, chosen.out / "curves.svg")
    except NonFiniteLoss as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    except (ValueError, OSError, AbsentDevice) as error:
        print(f"train: {error}", file=sys.stderr)
        return 2
    print("\nvalidation loss in nats a letter, mean over seeds [least, largest]")
    for line in (*curves.lines(found), "", *curves.outcome(found)):
        print(line)
    for seed, entry in enumerate(found["geometry"]):
        print(f"geometry of seed {seed}, block by block: {entry}")
    print(f"curves and plot: {chosen.out / 'curves.json'}, {chosen.out / 'curves.svg'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
