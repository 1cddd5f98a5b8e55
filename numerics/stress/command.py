"""The `stress` command: a grid of cells, evaluated one by one, resumable, ending in a table."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console

from numerics.blockwise import DTYPES
from numerics.runs import ranks, terminal
from numerics.runs.files import unwritable
from numerics.runs.journal import Journal, Record
from numerics.stress.cases import cases, checked_cell
from numerics.stress.cell import Cell
from numerics.stress.evaluation import FAILED, NOT_RUN, OK, evaluate

COLUMNS = (
    "theorem",
    "cell",
    "n",
    "d",
    "heads",
    "dtype",
    "device",
    "status",
    "residual",
    "bound",
    "ratio",
    "tight",
    "left s",
    "right s",
    "bound s",
    "left rate",
    "right rate",
    "peak MiB",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `stress` to a parser; options with several values span a grid."""
    known = ", ".join(f"{case.theorem} ({', '.join(case.cells)})" for case in cases().values())
    parser.add_argument("theorem", help=f"theorem id or all; with cells: {known}")
    parser.add_argument("--cell", nargs="+", help="cells (default: the theorem's first)")
    parser.add_argument("--n", nargs="+", type=int, default=[1024], help="tokens (default 1024)")
    parser.add_argument(
        "--d", nargs="+", type=int, help="width (default 256; RA2: every width from 1 to 64)"
    )
    parser.add_argument("--heads", nargs="+", type=int, help="heads (default: the theorem's)")
    parser.add_argument(
        "--dtype", nargs="+", default=["float32"], help=f"{', '.join(DTYPES)} (default float32)"
    )
    parser.add_argument(
        "--device", nargs="+", default=["cpu"], help="cpu, cuda, cuda:K or mps (default cpu)"
    )
    parser.add_argument("--seed", nargs="+", type=int, default=[0], help="seeds (default 0)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("build/stress"),
        help="folder of the JSON lines, one file a theorem (default build/stress)",
    )
    parser.add_argument(
        "--patience", type=float, default=1800,
        help="seconds that a rank of torchrun waits for another (default 1800)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Runs the grid and returns the exit status.

    0 when every evaluated cell is within its bound (cells whose device is absent are NOT RUN), 1
    when one is not, 2 for arguments or a records file that cannot be used. Started by torchrun it
    is one of the ranks that share every cell, and 3 says that another rank has ended.
    """
    try:
        with ranks.joined("stress", args.patience):
            return _run(args)
    except ranks.NotJoined as error:
        print(f"stress: {error}", file=sys.stderr)
        return 2


def _run(args: argparse.Namespace) -> int:
    first = ranks.current().first
    try:
        cells = grid(args)
        unusable = ranks.from_first_rank(lambda: _unusable(args.out, cells))
        if unusable:
            raise ValueError(unusable)
    except ValueError as error:
        if first:
            print(f"stress: {error}", file=sys.stderr)
        return 2
    results = _results(cells, args.out)
    failed = any(record["status"] == FAILED for record in results)
    if first:
        _report(cells, results, args.out)
    return 1 if failed else 0


def _unusable(out: Path, cells: list[Cell]) -> str | None:
    """Why the journals cannot be used; opening one repairs its torn last line."""
    if reason := unwritable(out):
        return f"{out}: cannot be written ({reason})"
    try:
        for theorem in {cell.id for cell in cells}:
            Journal(out / f"{theorem}.jsonl")
    except (ValueError, OSError) as error:
        return str(error)
    return None


def _report(cells: list[Cell], results: list[Record], out: Path) -> None:
    """The table, the plots of what has several lengths, and what failed."""
    print_table(results, Console())
    failed = [
        (cell, record)
        for cell, record in zip(cells, results, strict=True)
        if record["status"] == FAILED
    ]
    for cell, record in failed:
        print(f"stress: FAILED {cell.label}: {record['reason']}", file=sys.stderr)
    if len({cell.n for cell in cells}) > 1:
        from numerics.stress import plots  # matplotlib is slow to import

        for path in plots.write(out, results):
            print(f"stress: residual and bound against n: {path}", file=sys.stderr)


def grid(args: argparse.Namespace) -> list[Cell]:
    """The cells that the arguments span, each once, in the order of the arguments.

    Raises ValueError as `checked_cell`.
    """
    theorems = list(cases()) if args.theorem == "all" else [args.theorem]
    cells = [
        checked_cell(theorem, name, n, d, heads, dtype, device, seed)
        for theorem, name in itertools.product(theorems, args.cell or [None])
        for n, d, heads in itertools.product(
            args.n, args.d or _widths(theorem), args.heads or [None]
        )
        for dtype, device in itertools.product(args.dtype, args.device)
        for seed in args.seed
    ]
    return list(dict.fromkeys(cells))


def _widths(theorem: str) -> Sequence[int]:
    case = cases().get(theorem)
    return case.widths if case else (1,)


def _results(cells: list[Cell], out: Path) -> list[Record]:
    """The record of every cell, in order; only those not yet finished are evaluated."""
    console, first = Console(stderr=True), ranks.current().first
    journals = {cell.id: Journal(out / f"{cell.id}.jsonl") for cell in cells} if first else {}
    results = []
    with terminal.progress(console, len(cells), first) as steps:
        for cell in cells:
            steps.begins(cell.label)
            record = ranks.from_first_rank(
                lambda cell=cell: finished(journals[cell.id].records, cell)
            )
            note = " (finished earlier)" if record else ""
            if record is None:
                record = evaluate(cases()[cell.id], cell, rate=True)
                # One that says again "not run" says nothing new.
                if first and record not in journals[cell.id].records:
                    journals[cell.id].append(record)
            results.append(record)
            steps.done(f"{cell.label}: {_status(record)}{note}")
    return results


def finished(records: Iterable[Record], cell: Cell) -> Record | None:
    """The last record of an evaluated cell, passed or failed; None if it has yet to run."""
    wanted, found = cell.record(), None
    for record in records:
        same = all(record.get(name) == value for name, value in wanted.items())
        if same and record.get("status") in (OK, FAILED):
            found = record
    return found


def _status(record: Record) -> str:
    """The status as printed, a missing device with its reason."""
    if record["status"] == NOT_RUN:
        return f"NOT RUN: {record['reason']}"
    return "FAILED" if record["status"] == FAILED else record["status"]


NARROW = ("cell", "n x d x H", "dtype", "device", "status", "residual", "ratio", "s", "rate", "MiB")


def print_table(results: list[Record], console: Console) -> None:
    """Prints the records as a table that fits a terminal, as tab-separated lines elsewhere."""
    if not console.is_terminal:
        terminal.print_table(console, COLUMNS, map(_cells, results))
        return
    terminal.print_table(console, NARROW, map(_narrow_cells, results))
    notes = sorted({_status(record) for record in results if record["status"] == NOT_RUN})
    if any(record["status"] == OK and not record["tight"] for record in results):
        notes.insert(0, "loose: within the bound, but by a ratio below 0.1 / k")
    if any(record.get("matrix_rate") for record in results):
        notes.insert(0, "rate: left and right side in percent of the matrix-product rate")
    for note in notes:
        terminal.print_line(console, note)


def _narrow_cells(record: Record) -> tuple[str, ...]:
    theorem, cell, n, d, heads, dtype, device, status, residual, _, ratio, tight, *_, peak = _cells(
        record
    )
    total = sum(record.get("seconds", {}).values())
    status = "loose" if (status, tight) == ("ok", "no") else status.partition(":")[0]
    seconds = f"{total:.1f}" if total < 100 else f"{total:.0f}"
    size = f"{n}x{d}x{heads}"
    shown = (dtype, device, status, residual, ratio, seconds, _rates(record), peak)
    return (f"{theorem} {cell}", size, *shown)


def _rates(record: Record) -> str:
    """Both sides' shares of the matrix-product rate in whole percent."""
    rate = record.get("matrix_rate")
    return f"{rate['left']:.0%}/{rate['right']:.0%}".replace("%", "") if rate else "-"


def _cells(record: Record) -> tuple[str, ...]:
    seconds, peak = record.get("seconds", {}), record.get("peak_memory_bytes")
    numbers = [record.get(name) for name in ("residual", "bound", "ratio")]
    times = [seconds.get(name) for name in ("left", "right", "bound")]
    tight, rate = record.get("tight"), record.get("matrix_rate") or {}
    shares = [rate.get(side) for side in ("left", "right")]
    return (
        *(str(record[name]) for name in ("id", "cell", "n", "d", "heads", "dtype", "device")),
        _status(record),
        *("-" if number is None else f"{number:.1e}" for number in numbers),
        "-" if tight is None else "yes" if tight else "no",
        *("-" if second is None else f"{second:.2f}" for second in times),
        *("-" if share is None else f"{share:.1%}" for share in shares),
        "-" if peak is None else f"{peak / 2**20:.0f}",
    )
