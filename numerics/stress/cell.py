"""One cell of a stress run: a theorem at one size, dtype, device and seed, as a JSON record."""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch

import numerics
from numerics import blockwise
from numerics.evidence.comparison import PLANTED, Comparison, compare, merged
from numerics.runs import ranks
from numerics.stress import sharding
from numerics.stress.cases import cases
from numerics.stress.measurement import matrix_rate, peak_memory, timed
from numerics.stress.rounding import float64, precision

OK, FAILED, NOT_RUN = "ok", "failed", "not run"
EXACT = "exact"
"""What stands for the dtype of a cell in integers."""

CODE = (
    "blockwise", "scores/exact_rank", "pairings/features", "metrics/low_rank",
    "scores/principal_lattice", "pairings/recurrences", "rounding/roundoff", "rows",
    "rounding/units",
)  # fmt: skip
"""Modules beside the stress cases that a record depends on."""


@dataclass(frozen=True)
class Key:
    """What identifies a cell: a finished one with the same key is not evaluated again.

    A cell that several ranks share is another check than that of a single process.
    """

    id: str
    cell: str
    n: int
    d: int
    heads: int
    dtype: str
    device: str
    seed: int
    version: str
    ranks: int = 1

    @property
    def label(self) -> str:
        """The cell's name in messages."""
        size = f"n={self.n} d={self.d} heads={self.heads}"
        ranks = "" if self.ranks == 1 else f" ranks={self.ranks}"
        return f"{self.id} {self.cell} {size} {self.dtype} {self.device} seed={self.seed}{ranks}"


def cell_key(
    theorem_id: str,
    cell: str | None,
    n: int,
    d: int,
    heads: int | None,
    dtype: str,
    device: str,
    seed: int,
) -> Key:
    """The key of a cell; None takes the theorem's default cell or number of heads. An exact case
    has its own n, dtype and device.

    Raises ValueError for an unknown theorem, cell, dtype or device name, sizes that are not
    positive, heads that do not divide d, several heads for a single-head theorem, float64 on MPS,
    what ranks cannot share.
    """
    known = cases()
    if theorem_id not in known:
        raise ValueError(f"unknown id {theorem_id!r}: stress cases exist for {', '.join(known)}")
    case = known[theorem_id]
    cell, heads = cell or case.cells[0], case.heads if heads is None else heads
    if cell not in case.cells:
        raise ValueError(f"{theorem_id} has cells {', '.join(case.cells)}, not {cell!r}")
    if dtype not in blockwise.DTYPES and not (case.exact and dtype == EXACT):
        raise ValueError(f"dtype must be one of {', '.join(blockwise.DTYPES)}, got {dtype!r}")
    if min(n, d, heads) < 1:
        raise ValueError(f"n, d and heads must be positive, got {n}, {d} and {heads}")
    if case.single_head and heads != 1:
        raise ValueError(f"{theorem_id} is about a single head, got heads = {heads}")
    if d % heads:
        raise ValueError(f"heads must divide d, got heads = {heads} and d = {d}")
    if device == "mps" and dtype == "float64":
        raise ValueError("MPS has no float64: choose another dtype or device")
    blockwise.check_device_name(device)
    if case.exact:
        n, dtype, device = case.module.tokens(cell, d), EXACT, "cpu"
    sharding.check(theorem_id, device, n)
    return Key(
        theorem_id, cell, n, d, heads, dtype, device, seed, code_version(), ranks.current().count
    )


def run_cell(
    theorem_id: str,
    cell: str | None,
    n: int,
    d: int,
    heads: int | None,
    dtype: str,
    device: str,
    seed: int,
    rate: bool = False,
) -> dict[str, Any]:
    """Evaluates a cell and returns its record: key, status, reason, residual, bound, ratio, times.

    With `rate` the record has the device's matrix-product rate and the share of it that each side
    reached, else null: a rate takes longer to measure than a small cell. A device that this machine
    lacks gives status "not run" with the reason, never "ok". Raises ValueError as `cell_key`.
    """
    key = cell_key(theorem_id, cell, n, d, heads, dtype, device, seed)
    try:
        place = blockwise.open_device(sharding.own_device(key.device))
    except blockwise.AbsentDevice as absent:
        return {**asdict(key), "status": NOT_RUN, "reason": str(absent), "matrix_rate": None}
    with blockwise.exact_products():
        part = _evaluated(key, place, rate)
    return {**asdict(key), **_joined(ranks.from_every_rank(part))}


@dataclass
class Part:
    """What one rank finds of a cell: its comparisons, or why it has no bound; times and memory; the
    operations of its share of both sides, and the matrix-product rate of its device."""

    found: list[Comparison]
    extra: dict[str, Any]
    seconds: dict[str, float]
    refusal: str | None
    peak: int = 0
    operations: tuple[int, int] | None = None
    rate: float | None = None


def _evaluated(key: Key, device: torch.device, rate: bool) -> Part:
    part = Part([], {}, {}, None)
    try:
        with peak_memory(device) as peak:
            try:
                _evaluate(key, device, part)
            finally:
                part.peak = peak()
        if rate and part.operations:
            dtype = cases()[key.id].product_dtype(blockwise.DTYPES[key.dtype], device)
            part.rate = matrix_rate(dtype, device)
    except ArithmeticError as unbounded:
        part.refusal = str(unbounded)
    return part


def _joined(parts: list[Part]) -> dict[str, Any]:
    """A record from the parts of all ranks: the worst comparisons, the longest times."""
    refusals = [part.refusal for part in parts if part.refusal]
    if refusals:
        return {"status": FAILED, "reason": refusals[0], "matrix_rate": None}
    found = merged(item for part in parts for item in part.found)
    seconds = {name: max(part.seconds[name] for part in parts) for name in parts[0].seconds}
    peak = max(part.peak for part in parts)
    record = {**_verdict(found), **parts[0].extra, "seconds": seconds}
    return {**record, "matrix_rate": _shares(parts, seconds), "peak_memory_bytes": peak}


def _shares(parts: list[Part], seconds: dict[str, float]) -> dict[str, float] | None:
    """The matrix-product rate of all ranks together, and the share of it that each side reached:
    the operations of all ranks over the slowest one's time."""
    rates = [part.rate for part in parts if part.rate]
    counts = [part.operations for part in parts if part.operations]
    if len(rates) < len(parts):
        return None
    rate = sum(rates)
    shares = {
        side: sum(count) / seconds[side] / rate
        for side, count in zip(("left", "right"), zip(*counts, strict=True), strict=True)
    }
    return {"flops_per_second": rate, **shares}


def _evaluate(key: Key, device: torch.device, part: Part) -> None:
    """Adds to a part the cell's comparisons, each over all blocks; times of both sides and of the
    bound; the certificate of an exact case, else operations."""
    case, seconds = cases()[key.id], part.seconds
    module, dtype = case.module, blockwise.DTYPES.get(key.dtype, torch.float64)
    inputs, rows = module.draw(key.cell, key.n, key.d, key.heads, dtype, device, key.seed)
    with timed("left", seconds, device):
        left = module.left_side(inputs, key.cell)
    with timed("right", seconds, device):
        right = module.right_side(inputs, key.cell)
    if case.exact:
        part.extra = {"certificate": module.certificate(left)}
    else:
        part.operations = module.operations(inputs, key.cell)
    if not bool((torch.isfinite(left.result) & torch.isfinite(right.result)).all()):
        nothing = torch.zeros_like(float64(right.result))
        k = module.longest_sum(inputs, key.cell)
        part.found = [_at(compare("result", left.result, right.result, nothing, k), rows)]
        return
    with timed("bound", seconds, device):
        model = precision(dtype, device)
        found = merged(module.comparisons(inputs, key.cell, left, right, model))
    part.found = [_at(item, rows) for item in found]


def _at(item: Comparison, rows: torch.Tensor | None) -> Comparison:
    """The comparison with its row named by the token it belongs to."""
    if rows is None:
        return item
    row, *rest = item.entry
    return replace(item, entry=(int(rows[row]), *rest))


def _verdict(found: list[Comparison]) -> dict[str, Any]:
    """Status, the reason of a failure, the first comparison's numbers, and every comparison."""
    failures = [_failure(item) for item in found if not item.ok]
    first = _record(found[0])
    return {
        "status": FAILED if failures else OK,
        "reason": "; ".join(failures) or None,
        **{name: first[name] for name in ("residual", "bound", "ratio", "k", "tight", "entry")},
        "comparisons": [_record(item) for item in found],
    }


def _failure(item: Comparison) -> str:
    if not item.finite:
        return f"{item.name}: entry {item.entry} is not finite"
    if item.ratio > 1:
        return f"{item.name}: residual is {item.ratio:.3g} bounds at entry {item.entry}"
    if not item.planted_rejected:
        return f"{item.name}: a planted error of {PLANTED:g} bounds would pass"
    return f"{item.name}: {item.entries - item.bounded} entries have a bound of 0"


def _record(item: Comparison) -> dict[str, Any]:
    """A comparison as JSON; null stands for infinity and NaN, which JSON has not."""
    numbers = {"residual": item.residual, "bound": item.bound, "ratio": item.ratio}
    return {
        "name": item.name,
        "k": item.k,
        **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
        "entry": list(item.entry),
        "finite": item.finite,
        "planted_rejected": item.planted_rejected,
        "exact": item.exact,
        "ok": item.ok,
        "tight": item.tight,
    }


@cache
def code_version() -> str:
    """Twelve hexadecimal digits over torch's version and the code that a record depends on."""
    (package,) = numerics.__path__
    files = [Path(package) / f"{name}.py" for name in CODE]
    digest = hashlib.sha256(torch.__version__.encode())
    for file in [*files, *sorted((Path(package) / "stress").rglob("*.py"))]:
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:12]
