"""The two sides of a stress cell, each on inputs of its own, and the faults planted in one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from types import ModuleType
from typing import Any

import torch

from numerics import blockwise, stress
from numerics.evidence.comparison import Comparison, merged
from numerics.stress.cell import Cell
from numerics.stress.rounding import precision

CPU = torch.device("cpu")
Spoil = Callable[[Any], Any]


def honest(inputs: Any) -> Any:
    """The inputs themselves."""
    return inputs


@dataclass(frozen=True)
class Sides:
    """A cell and the inputs that its bound is for."""

    cell: Cell
    inputs: Any

    @property
    def module(self) -> ModuleType:
        """The theorem's case."""
        return stress.cases()[self.cell.id].module

    def left(self, spoil: Spoil = honest) -> Any:
        """Side one, on spoilt inputs."""
        with blockwise.exact_products():
            return self.module.left_side(spoil(self.inputs), self.cell)

    def right(self, spoil: Spoil = honest) -> Any:
        """Side two, on spoilt inputs."""
        with blockwise.exact_products():
            return self.module.right_side(spoil(self.inputs), self.cell)

    def compared(self, left: Any, right: Any) -> dict[str, Comparison]:
        """The comparisons of two sides by name, the first that of the results."""
        model = precision(self.cell.stored, CPU)
        with blockwise.exact_products():
            blocks = self.module.comparisons(self.inputs, self.cell, left, right, model)
            return {item.name: item for item in merged(blocks)}

    def judged(self, left: Spoil = honest, right: Spoil = honest) -> dict[str, Comparison]:
        """The comparisons with each side on spoilt inputs."""
        return self.compared(self.left(left), self.right(right))

    def agree(self, left: Spoil = honest, right: Spoil = honest) -> bool:
        """Whether all comparisons hold."""
        return all(item.ok for item in self.judged(left, right).values())

    def equal(self, left: Any, right: Any) -> bool:
        """Whether two sides are within all bounds."""
        return all(item.ok for item in self.compared(left, right).values())

    def on(self, inputs: Any) -> Sides:
        """The cell on other inputs, with the bound for those."""
        return replace(self, inputs=inputs)


def drawn(
    theorem: str, name: str, n: int, d: int, heads: int = 1, dtype: str = "float32", seed: int = 5
) -> Sides:
    """The cell of a theorem on the CPU, with the inputs that it draws."""
    cell = Cell(theorem, name, n, d, heads, dtype, "cpu", seed)
    return Sides(cell, stress.cases()[theorem].module.draw(cell, CPU)[0])


@dataclass(frozen=True)
class Faults:
    """Faults of one kind in the sides of a theorem's cells, by name.

    `of` maps a name to what spoils the inputs of a side, to what makes a whole false side of the
    inputs where they are `results`, or to a Plant in the code, which names the comparisons that
    reject it. `blames` names those of the others, the first unless given; both as "one, another".
    Where they are `alone`, all other comparisons hold. Whatever `holds`, as (cell, name), changes
    nothing.
    """

    draw: partial[Sides]
    of: Mapping[str, Any]
    cells: tuple[str, ...] = ()
    dtypes: str = "float64 float32"
    sides: str = "left right"
    results: bool = False
    blames: str = ""
    alone: bool = False
    holds: frozenset[tuple[str, str]] = frozenset()

    def cases(self) -> Iterator[tuple[str, str, str]]:
        """Cell, fault and dtype, of all cells unless some are given."""
        cells = self.cells or stress.cases()[self.draw.args[0]].cells
        return product(cells, self.of, self.dtypes.split())

    def judged(self, sides: Sides, side: str, spoil: Spoil) -> dict[str, Comparison]:
        """The comparisons, one side spoilt."""
        if not self.results:
            return sides.judged(**{side: spoil})
        false = spoil(sides.inputs)
        two = (false, sides.right()) if side == "left" else (sides.left(), false)
        return sides.compared(*two)
