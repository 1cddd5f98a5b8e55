"""Operations that a stress case counts by formula are those that torch counts while a side runs."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from numerics import blockwise, stress
from numerics.runs.ranks import Ranks, over
from numerics.stress import sharding
from numerics.stress.cell import Cell

CPU = torch.device("cpu")
APPROXIMATE = [case for case in stress.cases().values() if not case.exact]
CELLS = [(case.theorem, cell) for case in APPROXIMATE for cell in case.cells]
SHARED = [(theorem, cell) for theorem, cell in CELLS if theorem in sharding.SHARDED]


def fused(query: Any, key: Any, value: Any, *rest: Any, **named: Any) -> int:
    """torch's formula for its other fused kernels: scores and values, two operations a product."""
    return sdpa_flop_count(query, key, value)


def matrix_by_vector(matrix: Any, vector: Any, **named: Any) -> int:
    return 2 * matrix[0] * matrix[1]


def outer(total: Any, column: Any, row: Any, **named: Any) -> int:
    """A product of inner size 1, added: as torch counts addmm."""
    return 2 * column[0] * row[0]


UNKNOWN = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: fused,
    torch.ops.aten.mv: matrix_by_vector,
    torch.ops.aten.addr_: outer,
}
"""What the counter does not know of by itself: the fused kernel of CPUs, products by vectors."""


def counted(side: Callable[[Any, Cell], Any], inputs: Any, cell: Cell) -> int:
    with blockwise.exact_products(), FlopCounterMode(display=False, custom_mapping=UNKNOWN) as mode:
        side(inputs, cell)
    return mode.get_total_flops()


def heads_of(theorem: str) -> int:
    return 1 if stress.cases()[theorem].single_head else 3


def drawn(theorem: str, name: str, n: int, d: int, dtype: str = "float32") -> Any:
    """The module of a cell, its inputs and the cell."""
    module = stress.cases()[theorem].module
    cell = Cell(theorem, name, n, d, heads_of(theorem), dtype, "cpu", 1)
    return module, module.draw(cell, CPU)[0], cell


@pytest.fixture(autouse=True)
def known_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rounding model probes the device with products that belong to no side."""
    monkeypatch.setattr("numerics.rounding.units._flushes", lambda *arguments: False)


def both(module: Any, inputs: Any, cell: Cell) -> tuple[int, int]:
    return counted(module.left_side, inputs, cell), counted(module.right_side, inputs, cell)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), [(5, 6), (131, 24)])
@pytest.mark.parametrize(("theorem", "name"), CELLS)
def test_the_formula_is_what_the_sides_do(theorem: str, name: str, n: int, d: int) -> None:
    for dtype in ("float64", "bfloat16"):
        module, inputs, cell = drawn(theorem, name, n, d, dtype)
        assert module.operations(inputs, cell) == both(module, inputs, cell), cell.label


@pytest.mark.slow
def test_blocks_of_a_row_do_no_more_than_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blockwise, "CPU_BLOCK", 2**6)
    for theorem, name in CELLS:
        module, inputs, cell = drawn(theorem, name, 21, 6)
        assert module.operations(inputs, cell) == both(module, inputs, cell), cell.label


@pytest.mark.slow
@pytest.mark.parametrize(("theorem", "name"), SHARED)
def test_ranks_count_their_own_rows(
    theorem: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is exchanged: what other ranks would find changes no operation of this one."""
    monkeypatch.setattr(sharding, "completed", lambda array, dim=0: array)
    monkeypatch.setattr(sharding, "received", lambda state: state)
    monkeypatch.setattr(sharding, "hand_over", lambda state: None)
    module, inputs, cell = drawn(theorem, name, 131, 6)
    counts = set()
    for rank in range(3):
        with over(Ranks(rank, 3)):
            own = module.operations(inputs, cell)
            assert own == both(module, inputs, cell)
        counts.add(own[0])
    # 131 rows are shards of 43 and 44.
    assert len(counts) == 2
    assert max(counts) < module.operations(inputs, cell)[0]


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(("theorem", "name"), CELLS)
def test_another_product_in_a_side_is_another_count(theorem: str, name: str, place: int) -> None:
    module, inputs, cell = drawn(theorem, name, 5, 6)
    side = (module.left_side, module.right_side)[place]

    def longer(inputs: Any, cell: Cell) -> Any:
        torch.mm(torch.ones(1, 1), torch.ones(1, 1))
        return side(inputs, cell)

    assert counted(longer, inputs, cell) == module.operations(inputs, cell)[place] + 2


@pytest.mark.parametrize(
    ("theorem", "name", "left", "right"),
    [
        # Values and their output, scores and means; transports, carried tokens, scores, the walk.
        ("CW1", "kronecker", 2 * 5 * 36 + 25 * 12, 6**3 + 5 * 36 + 36 + 25 * 12),
        ("CW2", "gates", 2 * 5 * 36 + 25 * 12, 6 * 36 + 3 * 5 * 36 + 25 * 6 + 3 * 25 * 6),
        ("CW7", "contraction", 3 * 25 * 6, 0),
        ("RA7", "query-side", 10 * 25 * 6, 8 * 25 * 6),
        ("AP5", "decay", 2 * 25 * 6 + 2 * 5 * 36, 2 * 5 * 36),
        ("RA10", "torsion", 0, 0),
    ],
)
def test_operations_are_two_for_each_multiplication_of_the_products(
    theorem: str, name: str, left: int, right: int
) -> None:
    module, inputs, cell = drawn(theorem, name, 5, 6)
    assert module.operations(inputs, cell) == (2 * left, 2 * right)
