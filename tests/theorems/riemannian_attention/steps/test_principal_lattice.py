"""The block matrices of RA2 at explicit sizes are the scores of the tokens that it names."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

import numpy as np
import pytest
from sympy import IndexedBase

from numerics.scores.principal_lattice import PrincipalLattice, direction_scores
from theorems.checker.determinants import Determinant
from theorems.checker.exact import Draw, SmallIntegers, determinant, evaluate
from theorems.checker.instances import assembled
from theorems.riemannian_attention import exact_rank as ra2
from theorems.riemannian_attention.steps import principal_lattice as lattice


def at(sizes: dict[str, int], pairs: IndexedBase | None = None) -> Draw:
    """An instance of these sizes, with the pairs a < b in order as edges, and u = e_1."""
    draw = Draw(SmallIntegers(Random(0)), [], sizes)
    for (place,) in draw.cells(lattice.u) if "m" in sizes else ():
        draw.put(lattice.u, (place,), int(place == 1))
    if pairs is not None:
        count, vertices = draw.shape(pairs)
        ordered = [*combinations(range(1, vertices + 1), 2)][:count]
        for (row, pair), vertex in product(enumerate(ordered, 1), range(1, vertices + 1)):
            draw.put(pairs, (row, vertex), int(vertex in pair))
    return draw


def scores(rule: Determinant, draw: Draw) -> np.ndarray:
    return np.array([[int(entry) for entry in row] for row in assembled(rule.matrix, draw)])


@pytest.mark.parametrize("d", range(1, 6))
def test_the_whole_lattice_in_blocks_has_its_scores_and_its_determinant(d: int) -> None:
    pairs = d * (d - 1) // 2
    draw = at({"d": d, "F": pairs}, lattice.e if pairs else None)
    rule = ra2.certificate if pairs else ra2.without_pairs
    expected = PrincipalLattice.whole(d)
    assert scores(rule, draw).tolist() == expected.scores().tolist()
    assert evaluate(rule.value, draw, {}) == expected.determinant()
    bare = PrincipalLattice(d, d, 0)
    assert scores(ra2.without_pairs, draw).tolist() == bare.scores().tolist()
    assert evaluate(ra2.without_pairs.value, draw, {}) == bare.determinant()


@pytest.mark.parametrize(("r", "m", "f"), [(3, 2, 2), (2, 1, 1), (1, 2, 0), (4, 1, 6), (0, 3, 0)])
def test_a_part_in_blocks_has_its_scores_and_its_determinant(r: int, m: int, f: int) -> None:
    draw = at({"r": r, "m": m, "F": f}, lattice.e_r if f else None)
    rule = ra2.part_with_pairs if f else ra2.part_without_pairs if r else ra2.no_doubles
    expected = PrincipalLattice(r + m, r, f)
    place = {tuple(token): k for k, token in enumerate(expected.tokens().tolist())}
    unit = np.eye(r + m, dtype=int)
    tokens = [0 * unit[0], 2 * unit[r], *unit[r:], *unit[:r], *2 * unit[:r]]
    order = [place[tuple(token.tolist())] for token in tokens]
    order += range(expected.size - f, expected.size)
    ordered = expected.scores()[np.ix_(order, order)]
    assert scores(rule, draw).tolist() == ordered.tolist()
    assert evaluate(rule.value, draw, {}) == expected.determinant()


def test_few_tokens_in_blocks_are_those_of_a_frame() -> None:
    draw = at({"r": 2, "d": 3})
    for row, column in draw.cells(ra2.frame):
        draw.put(ra2.frame, (row, column), int(row == column))
    x = np.eye(3, dtype=np.int64)[[2, 0, 1]] * [[0], [1], [1]]
    assert scores(ra2.few_tokens, draw).tolist() == direction_scores(x, 0 * x).tolist()


def test_the_false_twins_have_other_determinants() -> None:
    draw = at({"d": 3, "F": 3, "m": 2}, lattice.e)
    halved = lattice.whole_scores("oab", double=1)
    moved = lattice.part_scores("oph", special=1)
    shared = lattice.whole_scores("oabf", shared=ra2.w)
    assert determinant(assembled(halved, draw)) == 0
    assert determinant(assembled(moved, draw)) == 0
    assert determinant(assembled(shared, draw)) == 0
