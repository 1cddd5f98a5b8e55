"""Every performance target of the suite, measured in one run: what, value, target, met or not.

Run `python -m benchmarks.table`, or `make bench`; `--quick` shows only that the code runs. Both
sides of a ratio take turns in one process, and their shortest times count; the spread of all times
is printed. The rows go to build/bench/results.json, each as soon as it is there; `complete` says
whether all are. A missed target is a finding, not an error: the exit status is 0, and 1 where what
would be measured computes something wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks import kernels, rank, suite
from benchmarks.rows import Row
from numerics import blockwise
from numerics.runs.files import write_whole
from numerics.runs.provenance import machine

OUT = Path("build/bench/results.json")
PACKAGES = ("torch", "numpy", "sympy", "python-flint")


def rows(quick: bool, durations: bool) -> Iterator[Row]:
    """All rows, each as soon as it is measured."""
    yield from kernels.measured(kernels.QUICK if quick else kernels.Sizes())
    if quick:
        yield from suite.ranks(suite.QUICK_WIDTH, suite.QUICK_LARGEST, 1)
    else:
        yield from suite.ranks(rank.WIDTH, rank.LARGEST, suite.RUNS)
    yield from suite.durations(durations)


def machine_record(description: str) -> dict[str, Any]:
    """The machine as JSON, with its load when the run begins."""
    return {
        "description": description,
        "system": platform.platform(),
        "threads": torch.get_num_threads(),
        "gpu": blockwise.gpu_name(),
        "load": list(os.getloadavg()),
    }


def write(path: Path, record: dict[str, Any], found: Iterable[Row], complete: bool) -> None:
    """Writes the results so far as a whole: a run that ends early leaves what it has measured."""
    content = {"machine": {**record, "complete": complete}, "rows": [row.record() for row in found]}
    write_whole(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, no runs of the suite")
    parser.add_argument(
        "--no-durations", action="store_true", help="leave out verify and the quick tests"
    )
    parser.add_argument("--out", type=Path, default=OUT, help=f"results (default {OUT})")
    chosen = parser.parse_args(arguments)
    description, found = machine(*PACKAGES), []
    print(description, flush=True)
    record = machine_record(description)
    # The file of an earlier run must not pass for that of this one.
    write(chosen.out, record, found, False)
    try:
        for row in rows(chosen.quick, not (chosen.quick or chosen.no_durations)):
            print(row, flush=True)
            found.append(row)
            write(chosen.out, record, found, False)
    except ArithmeticError as wrong:
        print(f"bench: {wrong}; {len(found)} rows before it are kept", file=sys.stderr)
        return 1
    write(chosen.out, record, found, True)
    missed = [row.name for row in found if row.met is False]
    unknown = sum(row.met is None for row in found)
    print(f"{len(found)} targets: {len(missed)} missed, {unknown} not run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
