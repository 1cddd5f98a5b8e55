"""One file of the results of `gpu_lease.sh`: the machine, its matrix rates, every step and cell.

Run `python -m benchmarks.lease FOLDER`; the script does. A cell's own operations over its time and
over the rate measured here say how much of the device it used; NOT RUN is never counted as ok. The
exit status is 1 unless at least one cell ran and all that did are ok.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from numerics import blockwise
from numerics.stress.gated_mixture import CELLS

RESULTS = "results.json"
GATES = CELLS[0]


def matrix_rate(dtype: torch.dtype, device: torch.device, size: int, repeats: int = 5) -> float:
    """Operations a second of a product of two square matrices, the best of several."""
    a = torch.ones(size, size, dtype=dtype, device=device)
    seconds = []
    for lap in range(repeats + 1):
        start = time.perf_counter()
        product = a @ a
        # Reading an entry waits for the device.
        if float(product[0, 0]) != size:
            raise ArithmeticError(f"the product of ones must be {size}, got {product[0, 0]}")
        if lap:
            seconds.append(time.perf_counter() - start)
    return 2 * size**3 / min(seconds)


def operations(cell: dict[str, Any]) -> int | None:
    """Operations of the walk of CW2 by gates; None for other cells, whose time is their memory's.

    Transports, carried tokens, scores and the regrouped walk.
    """
    if (cell["id"], cell["cell"]) != ("CW2", GATES):
        return None
    n, d, heads = cell["n"], cell["d"], cell["heads"]
    width = d // heads
    return 2 * heads * (d * width * d + n * d * d + n * n * width + n * n * d)


def with_rate(cell: dict[str, Any], rates: dict[str, float]) -> dict[str, Any]:
    """The record of a cell with the share of the matrix rate that its walk reached."""
    count, seconds = operations(cell), cell.get("seconds", {}).get("right")
    rate = rates.get(cell["dtype"])
    share = count / seconds / rate if count and seconds and rate else None
    return {**cell, "share_of_matrix_rate": share}


def cells(folder: Path) -> list[dict[str, Any]]:
    """The records of all cells in a folder."""
    files = sorted(folder.glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def steps(folder: Path) -> list[dict[str, Any]]:
    """The steps as the script wrote them down."""
    lines = (folder / "steps.tsv").read_text().splitlines()
    names = ("name", "status", "seconds", "arguments")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines]


def collected(folder: Path, size: int) -> dict[str, Any]:
    """Everything that goes into the file."""
    found = cells(folder)
    cuda = torch.cuda.is_available()
    device = torch.device("cuda" if cuda else "cpu")
    dtypes = sorted({cell["dtype"] for cell in found} & set(blockwise.DTYPES))
    with blockwise.exact_products():
        rates = {name: matrix_rate(blockwise.DTYPES[name], device, size) for name in dtypes}
    return {
        "machine": {
            "system": platform.platform(),
            "gpu": torch.cuda.get_device_name() if cuda else None,
            "torch": torch.__version__,
            "matrix_rates": rates,
        },
        "steps": steps(folder),
        "cells": [with_rate(cell, rates) for cell in found],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Collects, writes and says where."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="what gpu_lease.sh left")
    parser.add_argument("--size", type=int, help="of the products that measure the rate")
    chosen = parser.parse_args(arguments)
    size = chosen.size or (8192 if torch.cuda.is_available() else 128)
    content = collected(chosen.folder, size)
    path = chosen.folder / RESULTS
    path.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    by_status = [cell["status"] for cell in content["cells"]]
    counts = {status: by_status.count(status) for status in ("ok", "failed", "not run")}
    gpu = content["machine"]["gpu"] or "NOT RUN on a GPU"
    print(f"{path}: {gpu}; " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    return 0 if counts["ok"] and not counts["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
