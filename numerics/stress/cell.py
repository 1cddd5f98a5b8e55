"""One cell of a stress run: a theorem at one size, dtype, device and seed, as a JSON record."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

import numerics
from numerics import blockwise
from numerics.stress import (
    constant_transport,
    defects,
    depth,
    distributed,
    energy,
    frame_transports,
    gated_mixture,
    lattice_rank,
    linear_attention,
    low_rank_metric,
    pair_distances,
    rank_collapse,
    recurrences,
    rigid_mixture,
    score_factors,
    sharding,
    taylor_pairing,
)
from numerics.stress.comparison import Comparison, compare, merged
from numerics.stress.measurement import peak_memory, timed
from numerics.stress.rounding import float64, precision

OK, FAILED, NOT_RUN = "ok", "failed", "not run"
EXACT = "exact"
"""What stands for the dtype of a cell in integers."""

CODE = (
    "blockwise", "exact_rank", "features", "metrics", "principal_lattice", "recurrences",
    "roundoff", "rows", "units",
)  # fmt: skip
"""Modules beside the stress cases that a record depends on."""


@dataclass(frozen=True)
class Case:
    """A theorem's stress case: its cells (the first is the default), its default number of heads.

    `module` holds CELLS, draw, left_side, right_side, longest_sum and comparisons. Both sides have
    a `result`; draw returns the inputs and the tokens of its rows, None where it has one for each.
    An exact case compares integers on the CPU: its module has the number of tokens, `tokens`, and
    a `certificate` for the record. A run that names no widths takes `widths`, `verify` takes
    `small`.
    """

    theorem: str
    title: str
    module: ModuleType
    heads: int
    single_head: bool = False
    exact: bool = False
    widths: Sequence[int] = (256,)
    small: Sequence[int] = (64,)

    @property
    def cells(self) -> tuple[str, ...]:
        """Names of the cells."""
        return self.module.CELLS


def cases() -> dict[str, Case]:
    """The stress cases by theorem id."""
    return {
        "CW1": Case("CW1", "single head = constant transport", constant_transport, 1, True),
        "CW2": Case("CW2", "multi-head = one edge-dependent walk", gated_mixture, 8),
        "CW5": Case("CW5", "generator = Dirichlet energy", energy, 1, True),
        "CW7": Case("CW7", "multi-head is rigid", rigid_mixture, 8),
        "CW9": Case("CW9", "what to measure when it is not reversible", defects, 1, True),
        "CW11": Case("CW11", "depth = sum over head words and node paths", depth, 4),
        "RA2": Case(
            "RA2", "the exact rank for every width", lattice_rank, 1, single_head=True, exact=True,
            widths=range(1, 65), small=range(1, 13),
        ),
        "RA3": Case("RA3", "scores by factors of their rank", score_factors, 1, True),
        "RA6": Case(
            "RA6", "metrics of low rank inverted in r dimensions", low_rank_metric, 1, True
        ),
        "RA7": Case("RA7", "distances in low-rank metrics by products", pair_distances, 1, True),
        "RA10": Case(
            "RA10", "triangles of transports between frames", frame_transports, 1, True
        ),
        "RA11": Case("RA11", "rank collapse of two clusters", rank_collapse, 1, True),
        "AP4": Case("AP4", "linear attention from its moments", linear_attention, 1, True),
        "AP5": Case("AP5", "chunked = recurrent linear attention", recurrences, 1, True),
        "AP7": Case("AP7", "exp by the features of its polynomial", taylor_pairing, 1, True),
    }  # fmt: skip


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
    distributed.check(theorem_id, device, n)
    ranks = sharding.current().count
    return Key(theorem_id, cell, n, d, heads, dtype, device, seed, code_version(), ranks)


def run_cell(
    theorem_id: str,
    cell: str | None,
    n: int,
    d: int,
    heads: int | None,
    dtype: str,
    device: str,
    seed: int,
) -> dict[str, Any]:
    """Evaluates a cell and returns its record: key, status, reason, residual, bound, ratio, times.

    A device that this machine lacks gives status "not run" with the reason, never "ok".
    Raises ValueError as `cell_key`.
    """
    key = cell_key(theorem_id, cell, n, d, heads, dtype, device, seed)
    try:
        place = blockwise.open_device(distributed.own_device(key.device))
    except blockwise.AbsentDevice as absent:
        return {**asdict(key), "status": NOT_RUN, "reason": str(absent)}
    part = Part([], {}, {}, None)
    with blockwise.exact_products(), peak_memory(place) as peak:
        try:
            part.found, part.extra = _evaluate(key, place, part.seconds)
        except ArithmeticError as unbounded:
            part.refusal = str(unbounded)
        part.peak = peak()
    return {**asdict(key), **_joined(sharding.from_every_rank(part))}


@dataclass
class Part:
    """What one rank finds of a cell: its comparisons, or why it has no bound; times and memory."""

    found: list[Comparison]
    extra: dict[str, Any]
    seconds: dict[str, float]
    refusal: str | None
    peak: int = 0


def _joined(parts: list[Part]) -> dict[str, Any]:
    """A record from the parts of all ranks: the worst comparisons, the longest times."""
    refusals = [part.refusal for part in parts if part.refusal]
    if refusals:
        return {"status": FAILED, "reason": refusals[0]}
    found = merged(item for part in parts for item in part.found)
    seconds = {name: max(part.seconds[name] for part in parts) for name in parts[0].seconds}
    peak = max(part.peak for part in parts)
    record = {**_verdict(found), **parts[0].extra}
    return {**record, "seconds": seconds, "peak_memory_bytes": peak}


def _evaluate(
    key: Key, device: torch.device, seconds: dict[str, float]
) -> tuple[list[Comparison], dict[str, Any]]:
    """The cell's comparisons, each over all blocks; times of both sides and the bound; the
    certificate of an exact case."""
    case = cases()[key.id]
    module, dtype = case.module, blockwise.DTYPES.get(key.dtype, torch.float64)
    inputs, rows = module.draw(key.cell, key.n, key.d, key.heads, dtype, device, key.seed)
    with timed("left", seconds, device):
        left = module.left_side(inputs, key.cell)
    with timed("right", seconds, device):
        right = module.right_side(inputs, key.cell)
    extra = {"certificate": module.certificate(left)} if case.exact else {}
    if not bool((torch.isfinite(left.result) & torch.isfinite(right.result)).all()):
        nothing = torch.zeros_like(float64(right.result))
        k = module.longest_sum(inputs, key.cell)
        return [_at(compare("result", left.result, right.result, nothing, k), rows)], extra
    with timed("bound", seconds, device):
        model = precision(dtype, device)
        found = merged(module.comparisons(inputs, key.cell, left, right, model))
    return [_at(item, rows) for item in found], extra


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
    return f"{item.name}: a planted error of 8 bounds would pass"


def _record(item: Comparison) -> dict[str, Any]:
    """A comparison as JSON; null stands for infinity and NaN, which JSON has not."""
    record = {**asdict(item), "entry": list(item.entry), "ok": item.ok, "tight": item.tight}
    if not item.finite:
        record.update(residual=None, bound=None, ratio=None)
    elif item.ratio == float("inf"):
        record["ratio"] = None
    return record


@cache
def code_version() -> str:
    """Twelve hexadecimal digits over torch's version and the code that a record depends on."""
    (package,) = numerics.__path__
    files = [Path(package) / f"{name}.py" for name in CODE]
    digest = hashlib.sha256(torch.__version__.encode())
    for file in [*files, *sorted((Path(package) / "stress").glob("*.py"))]:
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:12]
