"""A stress case, and one cell of it: a theorem at one size, dtype, device and seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any, Literal

import torch

from numerics import blockwise

EXACT = "exact"
"""What stands for the dtype of a cell in integers."""


@dataclass(frozen=True)
class Cell:
    """A cell of a theorem's case, by name, and what identifies it: a finished one that is equal is
    not evaluated again.

    n tokens of width d, in so many heads, drawn by a seed. `version` is that of the code that a
    record rests on. A cell that several ranks share is another check than that of a single process.
    """

    id: str
    name: str
    n: int = 1024
    d: int = 256
    heads: int = 1
    dtype: str = "float32"
    device: str = "cpu"
    seed: int = 0
    version: str = ""
    ranks: int = 1

    @property
    def stored(self) -> torch.dtype:
        """The dtype that inputs are stored in, float64 for a cell in integers."""
        return torch.float64 if self.dtype == EXACT else blockwise.DTYPES[self.dtype]

    @property
    def label(self) -> str:
        """The cell in messages."""
        size = f"n={self.n} d={self.d} heads={self.heads}"
        ranks = "" if self.ranks == 1 else f" ranks={self.ranks}"
        return f"{self.id} {self.name} {size} {self.dtype} {self.device} seed={self.seed}{ranks}"

    def record(self) -> dict[str, Any]:
        """What identifies the cell, as its record begins."""
        return {"cell" if name == "name" else name: part for name, part in asdict(self).items()}


@dataclass(frozen=True)
class Case:
    """A theorem's stress case: its cells (the first is the default), its default number of heads.

    `module` holds CELLS, and functions of a Cell: draw(cell, device) returns the inputs and the
    tokens of its rows, None where it has one for each; left_side, right_side, longest_sum and
    operations take the inputs and the cell, comparisons also both sides and the rounding model.
    Both sides have a `result`. An exact case compares integers on the CPU: its module has the
    number of tokens, `tokens`, and a `certificate` for the record, and no operations. A run that
    names no widths takes `widths`, `verify` takes `small`. `products` says in which dtype most
    products are formed.
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
