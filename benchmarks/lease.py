"""One file of the results of `gpu_lease.sh`: the machine, every step and every cell.

`python -m benchmarks.lease FOLDER --begin DEVICE` names the machine in the folder before the steps;
`python -m benchmarks.lease FOLDER` collects what is there after any of them, and can do so later
and elsewhere. A cell's record holds the device's matrix-product rate and the shares of it that its
sides reached. NOT RUN is never counted as ok. The exit status is 1 unless every step ended well,
at least one cell ran and all that did are ok.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numerics.runs.files import write_whole
from numerics.runs.journal import Record, whole_records
from numerics.runs.provenance import machine

RESULTS, MACHINE = "results.json", "machine.json"
IDENTITY = ("id", "cell", "n", "d", "heads", "dtype", "device", "seed", "ranks")
STATUSES = ("ok", "failed", "not run")


def named(device: str) -> Record:
    """This machine, the device that the cells are asked for, and the versions of their code."""
    from numerics import blockwise
    from numerics.stress.cases import cases, code_version

    return {
        "description": machine("torch"),
        "device": device,
        "gpu": blockwise.gpu_name(device),
        "versions": {theorem: code_version(theorem) for theorem in cases()},
    }


def begin(folder: Path, device: str) -> None:
    """Writes down the machine, and that no step was taken yet.

    Raises ValueError where the folder holds cells of another machine or device: theirs would be
    taken for this one's.
    """
    path, found = folder / MACHINE, named(device)
    folder.mkdir(parents=True, exist_ok=True)
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        for name in ("description", "device", "gpu"):
            if before[name] != found[name]:
                raise ValueError(
                    f"{folder} holds cells of {name} {before[name]!r}, not {found[name]!r}: "
                    "choose another OUT"
                )
    _written(path, found)
    (folder / "steps.tsv").write_text("", encoding="utf-8")


def cells(folder: Path, versions: Mapping[str, str]) -> list[Record]:
    """The last record of every cell that these versions of the code evaluated."""
    found: dict[tuple[Any, ...], Record] = {}
    for file in sorted(folder.glob("*.jsonl")):
        for record in whole_records(file):
            if record["version"] == versions.get(record["id"]):
                found[tuple(record[name] for name in IDENTITY)] = record
    return list(found.values())


def steps(folder: Path) -> list[Record]:
    """The steps as the script wrote them down."""
    lines = (folder / "steps.tsv").read_text(encoding="utf-8").splitlines()
    names = ("name", "status", "seconds", "arguments")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines]


def collected(folder: Path) -> Record:
    """Everything that goes into the file.

    Raises ValueError for a folder that `begin` has not seen.
    """
    path = folder / MACHINE
    if not path.exists():
        raise ValueError(f"{folder} has no {MACHINE}: gpu_lease.sh begins by writing it")
    machine = json.loads(path.read_text(encoding="utf-8"))
    return {"machine": machine, "steps": steps(folder), "cells": cells(folder, machine["versions"])}


def verdict(content: Record) -> tuple[int, str]:
    """The exit status, and one line: the GPU that cells ran on, how many, how many steps failed."""
    by_status = [cell["status"] for cell in content["cells"]]
    counts = {status: by_status.count(status) for status in STATUSES}
    ran = any(cell["status"] != "not run" and cell["device"].startswith("cuda")
              for cell in content["cells"])  # fmt: skip
    gpu = content["machine"]["gpu"] if ran else "NOT RUN on a GPU"
    parts = [f"{count} {status}" for status, count in counts.items()]
    unfinished = sum(step["status"] != "0" for step in content["steps"])
    parts.append(f"{unfinished} of {len(content['steps'])} steps unfinished")
    good = counts["ok"] and not counts["failed"] and not unfinished
    return 0 if good else 1, f"{gpu}; " + ", ".join(parts)


def _written(path: Path, content: Record) -> None:
    write_whole(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Begins, or collects, writes and says where."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the records")
    parser.add_argument("--begin", metavar="DEVICE", help="write down the machine before the steps")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.begin:
            begin(chosen.folder, chosen.begin)
            return 0
        content = collected(chosen.folder)
    except ValueError as error:
        print(f"lease: {error}", file=sys.stderr)
        return 2
    _written(chosen.folder / RESULTS, content)
    status, line = verdict(content)
    print(f"{chosen.folder / RESULTS}: {line}")
    return status


if __name__ == "__main__":
    sys.exit(main())
