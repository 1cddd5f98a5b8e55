"""Readable LaTeX of determinants of block matrices, given how an expression is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sympy import Expr

from theorems.checker.determinants import Blocks, Determinant

LINE = 66  # visible characters that fit on a printed line
WHOLE, FACTOR = "Q", "T"


def determinant_formulas(
    rule: Determinant, latex: Callable[[Expr], str], width: Callable[[str], int]
) -> list[str]:
    """The determinant of Q, Q itself or, where it is too wide, all its blocks that are not 0,
    numbered by row and column, its factors, and the sizes of the blocks."""

    def printed(matrix: Blocks) -> list[list[str]]:
        return [[latex(entry) for entry in row] for row in matrix.entries]

    cells = printed(rule.matrix)
    fits = sum(max(map(width, column)) for column in zip(*cells, strict=True)) <= LINE
    parts = [rf"\det {_matrix(printed(part))}" for part in rule.parts]
    value = " ".join([latex(rule.value)] * (rule.value != 1 or not parts) + parts)
    names = [f"{FACTOR}_{{{place}}}" for place in range(1, len(rule.factors) + 1)]
    sizes = r",\; ".join(latex(size) for _, size in rule.matrix.rows)
    return [
        rf"\det {WHOLE} = {value}",
        *([f"{WHOLE} = {_matrix(cells)}"] if fits else _listed(cells, width)),
        f"{WHOLE} = {' '.join(names)}",
        *(f"{name} = {_matrix(printed(part))}"
          for name, part in zip(names, rule.factors, strict=True)),
        rf"\text{{blocks of sizes }} {sizes}",
    ]  # fmt: skip


def _matrix(cells: list[list[str]]) -> str:
    rows = r" \\ ".join(" & ".join(row) for row in cells)
    return rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}"


def _listed(cells: list[list[str]], width: Callable[[str], int]) -> Iterator[str]:
    """The blocks that are not 0, as many on a line as fit."""
    line = ""
    for p, row in enumerate(cells, start=1):
        for q, cell in enumerate(row, start=1):
            if cell == "0":
                continue
            block = f"{WHOLE}_{{{p}{q}}} = {cell}"
            if line and width(line) + width(block) > LINE:
                yield line
                line = ""
            line += rf", \quad {block}" if line else block
    yield line
