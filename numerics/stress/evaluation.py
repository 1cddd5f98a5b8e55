"""The evaluation of one cell of a stress case, as a JSON record."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch

from numerics import blockwise
from numerics.evidence.comparison import PLANTED, Comparison, compare, merged
from numerics.runs import ranks
from numerics.stress import sharding
from numerics.stress.cell import Case, Cell
from numerics.stress.measurement import matrix_rate, peak_memory, timed
from numerics.stress.rounding import float64, precision

OK, FAILED, NOT_RUN = "ok", "failed", "not run"


def evaluate(case: Case, cell: Cell, rate: bool = False) -> dict[str, Any]:
    """Evaluates a cell and returns its record: cell, status, reason, residual, bound, ratio, times.

    With `rate` the record has the device's matrix-product rate and the share of it that each side
    reached, else null: a rate takes longer to measure than a small cell. A device that this machine
    lacks gives status "not run" with the reason, never "ok".
    """
    try:
        place = blockwise.open_device(sharding.own_device(cell.device))
    except blockwise.AbsentDevice as absent:
        return {**cell.record(), "status": NOT_RUN, "reason": str(absent), "matrix_rate": None}
    with blockwise.exact_products():
        part = _part(case, cell, place, rate)
    return {**cell.record(), **_joined(ranks.from_every_rank(part))}


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


def _part(case: Case, cell: Cell, device: torch.device, rate: bool) -> Part:
    part = Part([], {}, {}, None)
    try:
        with peak_memory(device) as peak:
            try:
                _evaluate(case, cell, device, part)
            finally:
                part.peak = peak()
        if rate and part.operations:
            part.rate = matrix_rate(case.product_dtype(cell.stored, device), device)
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


def _evaluate(case: Case, cell: Cell, device: torch.device, part: Part) -> None:
    """Adds to a part the cell's comparisons, each over all blocks; times of both sides and of the
    bound; the certificate of an exact case, else operations."""
    module, seconds = case.module, part.seconds
    inputs, rows = module.draw(cell, device)
    with timed("left", seconds, device):
        left = module.left_side(inputs, cell)
    with timed("right", seconds, device):
        right = module.right_side(inputs, cell)
    if case.exact:
        part.extra = {"certificate": module.certificate(left)}
    else:
        part.operations = module.operations(inputs, cell)
    if not bool((torch.isfinite(left.result) & torch.isfinite(right.result)).all()):
        nothing = torch.zeros_like(float64(right.result))
        k = module.longest_sum(inputs, cell)
        part.found = [_at(compare("result", left.result, right.result, nothing, k), rows)]
        return
    with timed("bound", seconds, device):
        model = precision(cell.stored, device)
        found = merged(module.comparisons(inputs, cell, left, right, model))
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
