"""Expansions of block triangular matrices along rows of blocks: their blocks and their sign."""

from __future__ import annotations

from itertools import accumulate, pairwise
from random import Random
from typing import Any

from flint import fmpq
from sympy import Integer, Symbol, sympify

from theorems.checker.determinants import Blocks, expansion
from theorems.checker.exact import determinant
from theorems.statement import array, symbols_of

n, i, j, o, q, a, b = symbols_of("n i j o q a b")
x = array("x", n)


def blocks(rows: Any, columns: Any, *entries: Any) -> Blocks:
    return Blocks(rows, columns, tuple(tuple(map(sympify, row)) for row in entries))


def shuffled(rng: Random) -> tuple[Blocks, list[list[int]]]:
    """A block triangular matrix of random sizes with its rows and columns of blocks shuffled, one
    integer entry for each pair of indices."""
    sizes = [rng.randint(1, 3) for _ in range(rng.randint(1, 4))]
    count = len(sizes)
    orders = [rng.sample(range(count), count) for _ in range(2)]
    kept = [[s <= r and (r == s or rng.random() < 0.6) for s in orders[1]] for r in orders[0]]
    axes = tuple(
        tuple((Symbol(f"{name}_{place}"), Integer(sizes[r])) for place, r in enumerate(order))
        for name, order in zip("rs", orders, strict=True)
    )
    entries = [[Integer(int(keep)) for keep in row] for row in kept]
    numbers = [
        [rng.randint(-3, 3) * kept[r][s] for s, at in enumerate(orders[1])
         for _ in range(sizes[at])]
        for r, place in enumerate(orders[0]) for _ in range(sizes[place])
    ]  # fmt: skip
    return blocks(*axes, *entries), numbers


def test_an_expansion_has_the_blocks_and_the_sign_of_the_determinant() -> None:
    rng, signs = Random(3), set()
    for _ in range(300):
        matrix, numbers = shuffled(rng)
        found = expansion(matrix)
        assert found is not None
        places = [
            dict(zip(
                [index for index, _ in axis],
                pairwise(accumulate([int(size) for _, size in axis], initial=0)), strict=True))
            for axis in matrix[:2]
        ]  # fmt: skip
        expected = fmpq(-1) ** int(found[1])
        signs.add(int(found[1]) % 2)
        for block in found[0]:
            (first, last), (left, right) = (
                at[axis[0][0]] for at, axis in zip(places, block[:2], strict=True)
            )
            expected *= determinant([row[left:right] for row in numbers[first:last]])
        assert determinant(numbers) == expected
    assert signs == {0, 1}


def test_a_matrix_with_a_cycle_of_blocks_is_not_triangular() -> None:
    rows, columns = (tuple((at, Integer(1)) for at in axis) for axis in ((i, a, o), (j, b, q)))
    assert expansion(blocks(rows, columns, [1, 1, 0], [0, 1, 1], [1, 0, 1])) is None
    wide = blocks(((i, Integer(1)), (a, n)), ((j, Integer(1)), (b, n)), [0, x[b]], [x[a], 0])
    assert expansion(wide) is None, "blocks of one row and of one column are not square"
