"""The stress cases: which theorem's sides are evaluated by which module, and at which sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

import torch

from numerics import blockwise
from numerics.stress.theorems import (
    constant_transport,
    depth,
    gated_mixture,
    geometric_spaces,
    gibbs_weights,
    linear_attention,
    rank_collapse,
    recurrences,
    tensor_attention,
)
from numerics.stress.theorems import distance_cost as pair_distances
from numerics.stress.theorems import exact_rank as lattice_rank
from numerics.stress.theorems import feature_maps as taylor_pairing
from numerics.stress.theorems import frame_connections as frame_transports
from numerics.stress.theorems import laplacian_reduction as energy
from numerics.stress.theorems import rank_spectrum as score_factors
from numerics.stress.theorems import reversibility_defects as defects
from numerics.stress.theorems import rigidity as rigid_mixture
from numerics.stress.theorems import woodbury as low_rank_metric


@dataclass(frozen=True)
class Case:
    """A theorem's stress case: its cells (the first is the default), its default number of heads.

    `module` holds CELLS, draw, left_side, right_side, longest_sum, operations and comparisons. Both
    sides have a `result`; draw returns the inputs and the tokens of its rows, None where it has one
    for each. An exact case compares integers on the CPU: its module has the number of tokens,
    `tokens`, and a `certificate` for the record, and no operations. A run that names no widths
    takes `widths`, `verify` takes `small`. `products` says in which dtype most products are formed.
    """

    theorem: str
    title: str
    module: ModuleType
    heads: int
    single_head: bool = False
    exact: bool = False
    widths: Sequence[int] = (256,)
    small: Sequence[int] = (64,)
    products: Literal["stored", "accumulated", "float64"] = "accumulated"

    @property
    def cells(self) -> tuple[str, ...]:
        """Names of the cells."""
        return self.module.CELLS

    def product_dtype(self, dtype: torch.dtype, device: torch.device) -> torch.dtype:
        """The dtype whose matrix-product rate the sides are measured by, for a stored dtype.

        Most cases widen half precisions before they multiply. Those that multiply what is stored do
        so on an accelerator, their scores apart; on a CPU the walk's products are widened too.
        """
        if self.products == "float64":
            return torch.float32 if device.type == "mps" else torch.float64
        if self.products == "stored" and device.type != "cpu":
            return dtype
        return blockwise.accumulation_dtype(dtype)


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
        "CW5": Case("CW5", "generator = Dirichlet energy", energy, 1, True, products="stored"),
        "CW7": Case("CW7", "multi-head is rigid", rigid_mixture, 8),
        "CW9": Case("CW9", "what to measure when it is not reversible", defects, 1, True),
        "CW11": Case(
            "CW11", "depth = sum over head words and node paths", depth, 4,
            products="stored",
        ),
        "RA2": Case(
            "RA2", "the exact rank for every width", lattice_rank, 1, single_head=True, exact=True,
            widths=range(1, 65), small=range(1, 13),
        ),
        "RA3": Case("RA3", "scores by factors of their rank", score_factors, 1, True),
        "RA6": Case(
            "RA6", "metrics of low rank inverted in r dimensions", low_rank_metric, 1, True,
            products="float64",
        ),
        "RA7": Case("RA7", "distances in low-rank metrics by products", pair_distances, 1, True),
        "RA10": Case(
            "RA10", "triangles of transports between frames", frame_transports, 1, True
        ),
        "RA11": Case(
            "RA11", "rank collapse of two clusters", rank_collapse, 1, True,
            products="stored",
        ),
        "AP1": Case("AP1", "softmax = maximiser of the free energy", gibbs_weights, 1, True),
        "AP4": Case("AP4", "linear attention from its moments", linear_attention, 1, True),
        "AP5": Case("AP5", "chunked = recurrent linear attention", recurrences, 1, True),
        "AP6": Case("AP6", "tensor attention over pairs of keys", tensor_attention, 1, True),
        "AP7": Case("AP7", "exp by the features of its polynomial", taylor_pairing, 1, True),
        "AP8": Case("AP8", "attention on geometric spaces", geometric_spaces, 1, True),
    }  # fmt: skip
