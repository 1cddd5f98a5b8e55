"""The stress cases: which theorem's sides are evaluated by which module, and at which sizes.

A cell is checked here, once: what takes a Cell relies on it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import torch

from numerics import blockwise
from numerics.runs import imports, ranks
from numerics.stress import sharding
from numerics.stress.cell import EXACT, Case, Cell
from numerics.stress.evaluation import evaluate
from numerics.stress.theorems import (
    constant_transport,
    depth,
    distance_cost,
    exact_rank,
    feature_maps,
    frame_connections,
    gated_mixture,
    geometric_spaces,
    gibbs_weights,
    laplacian_reduction,
    linear_attention,
    rank_collapse,
    rank_spectrum,
    recurrences,
    reversibility_defects,
    rigidity,
    tensor_attention,
    woodbury,
)


def cases() -> dict[str, Case]:
    """The stress cases by theorem id."""
    return {
        "CW1": Case(
            "CW1", "single head = constant transport", constant_transport, 1, True,
            products="stored",
        ),
        "CW2": Case(
            "CW2", "multi-head = one edge-dependent walk", gated_mixture, 8,
            products="stored",
        ),
        "CW5": Case(
            "CW5", "generator = Dirichlet energy", laplacian_reduction, 1, True,
            products="stored",
        ),
        "CW7": Case("CW7", "multi-head is rigid", rigidity, 8),
        "CW9": Case(
            "CW9", "what to measure when it is not reversible", reversibility_defects, 1, True
        ),
        "CW11": Case(
            "CW11", "depth = sum over head words and node paths", depth, 4,
            products="stored",
        ),
        "RA2": Case(
            "RA2", "the exact rank for every width", exact_rank, 1, single_head=True, exact=True,
            widths=range(1, 65), small=range(1, 13),
        ),
        "RA3": Case("RA3", "scores by factors of their rank", rank_spectrum, 1, True),
        "RA6": Case(
            "RA6", "metrics of low rank inverted in r dimensions", woodbury, 1, True,
            products="float64",
        ),
        "RA7": Case("RA7", "distances in low-rank metrics by products", distance_cost, 1, True),
        "RA10": Case(
            "RA10", "triangles of transports between frames", frame_connections, 1, True
        ),
        "RA11": Case(
            "RA11", "rank collapse of two clusters", rank_collapse, 1, True,
            products="stored",
        ),
        "AP1": Case("AP1", "softmax = maximiser of the free energy", gibbs_weights, 1, True),
        "AP4": Case("AP4", "linear attention from its moments", linear_attention, 1, True),
        "AP5": Case("AP5", "chunked = recurrent linear attention", recurrences, 1, True),
        "AP6": Case("AP6", "tensor attention over pairs of keys", tensor_attention, 1, True),
        "AP7": Case("AP7", "exp by the features of its polynomial", feature_maps, 1, True),
        "AP8": Case("AP8", "attention on geometric spaces", geometric_spaces, 1, True),
    }  # fmt: skip


def checked_cell(
    theorem_id: str,
    name: str | None,
    n: int,
    d: int,
    heads: int | None,
    dtype: str,
    device: str,
    seed: int,
) -> Cell:
    """The cell; None takes the theorem's default name or number of heads. An exact case has its own
    n, dtype and device.

    Raises ValueError for an unknown theorem, cell, dtype or device name, sizes that are not
    positive, heads that do not divide d, several heads for a single-head theorem, float64 on MPS,
    what ranks cannot share.
    """
    known = cases()
    if theorem_id not in known:
        raise ValueError(f"unknown id {theorem_id!r}: stress cases exist for {', '.join(known)}")
    case = known[theorem_id]
    name, heads = name or case.cells[0], case.heads if heads is None else heads
    if name not in case.cells:
        raise ValueError(f"{theorem_id} has cells {', '.join(case.cells)}, not {name!r}")
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
        n, dtype, device = case.module.tokens(name, d), EXACT, "cpu"
    sharding.check(theorem_id, device, n)
    version, count = code_version(theorem_id), ranks.current().count
    return Cell(theorem_id, name, n, d, heads, dtype, device, seed, version, count)


def run_cell(
    theorem_id: str,
    name: str | None,
    n: int,
    d: int,
    heads: int | None,
    dtype: str,
    device: str,
    seed: int,
    rate: bool = False,
) -> dict[str, Any]:
    """Checks a cell, evaluates it and returns its record, as `evaluate` describes it.

    Raises ValueError as `checked_cell`.
    """
    cell = checked_cell(theorem_id, name, n, d, heads, dtype, device, seed)
    return evaluate(cases()[cell.id], cell, rate)


@cache
def code_version(theorem_id: str) -> str:
    """Twelve hexadecimal digits over torch's version, the theorem's case, and all of this project's
    code that its module and the evaluation import: a record with another version is stale.
    """
    case = cases()[theorem_id]
    code = imports.digest(case.module.__name__, evaluate.__module__)
    rests_on = f"{torch.__version__} {case.exact} {case.products} {code}"
    return hashlib.sha256(rests_on.encode()).hexdigest()[:12]
