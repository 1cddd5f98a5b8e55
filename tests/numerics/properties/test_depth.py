"""CW11 numerically: paths listed one by one, their counts, and falsehoods planted in the sums."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb, prod
from typing import Any

import numpy as np
import pytest

from numerics.properties import depth
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)
EITHER = " ".join(depth.CLAUSES)


def one_head_throughout(sound: Any, transports: Any) -> Any:
    words = sound(transports)
    if not isinstance(words, np.ndarray):
        return words
    heads = len(transports[0])
    step = sum(heads**s for s in range(len(transports)))
    return words * np.isin(np.arange(len(words)), step * np.arange(heads))[:, None, None]


def one_node_throughout(sound: Any, attention: Any) -> Any:
    weights = sound(attention)
    return weights[:, :, :1] if isinstance(weights, np.ndarray) else weights


FALSEHOODS = {
    "first layer leftmost": Plant(EITHER, "reversed", lambda _, factors: [*factors]),
    "edges in reverse": Plant(EITHER, "path_weights", lambda sound, A: sound([*A][::-1])),
    "one head throughout": Plant(EITHER, "word_transports", one_head_throughout),
    "one node throughout": Plant(EITHER, "path_weights", one_node_throughout),
    "residual layers only add": Plant(
        "residual_paths", "combinations", lambda sound, layers, s: sound(layers, s)
        if s == 1 else ()),
}  # fmt: skip


def sample(clause: str, attention: np.ndarray, transports: np.ndarray) -> depth.Sample:
    n, d = attention.shape[-1], transports.shape[-1]
    return depth.Sample(clause, attention, transports, np.ones((n, d)))


Path = tuple[tuple[int, ...], tuple[int, ...]]


def paths(layers: int, heads: int, n: int, i: int, j: int) -> Iterator[Path]:
    """Words h_L ... h_1 and nodes i = i_L, ..., i_0 = j of a block."""
    for word in product(range(heads), repeat=layers):
        for between in product(range(n), repeat=layers - 1):
            yield word, (i, *between, j)


def residual_paths(layers: int, heads: int, n: int, i: int, j: int) -> Iterator[Path]:
    """The paths through every choice of layers, the empty one from a node to itself."""
    if i == j:
        yield (), (i,)
    for s in range(1, layers + 1):
        for _ in combinations(range(layers), s):
            yield from paths(s, heads, n, i, j)


SIZES = list(product((1, 2, 3), (1, 2, 3), (1, 2, 3)))


@pytest.mark.parametrize(("layers", "heads", "n"), SIZES)
def test_blocks_have_as_many_terms_as_the_counts_say(layers: int, heads: int, n: int) -> None:
    total = 0
    for i, j in product(range(n), repeat=2):
        assert len(set(paths(layers, heads, n, i, j))) == heads**layers * n ** (layers - 1)
        terms = len(list(residual_paths(layers, heads, n, i, j)))
        assert terms == ((1 + n * heads) ** layers - 1) // n + (i == j)
        total += terms
    assert total == n * (1 + n * heads) ** layers


@pytest.mark.parametrize(("layers", "n"), list(product((1, 2, 3, 4), repeat=2)))
def test_causal_node_paths_are_counted_by_binomials(layers: int, n: int) -> None:
    mask = np.tril(np.ones((n, n), dtype=int))
    counted = np.linalg.matrix_power(mask, layers)
    for i, j in product(range(n), repeat=2):
        causal = [
            nodes
            for _, nodes in paths(layers, 1, n, i, j)
            if all(later >= earlier for later, earlier in pairwise(nodes))
        ]
        expected = comb(i - j + layers - 1, layers - 1) if i >= j else 0
        assert len(causal) == counted[i, j] == expected


def integer_stack(rng: np.random.Generator, layers: int, heads: int, n: int, d: int) -> Any:
    attention = rng.integers(0, 4, size=(layers, heads, n, n))
    transports = rng.integers(-3, 4, size=(layers, heads, d, d))
    return attention, transports


def term(attention: Any, transports: Any, path: Path, x: Any) -> Any:
    """prod_l A^{l,h_l}_{i_l i_{l-1}} T^{L,h_L} ... T^{1,h_1} x_j of one path, exactly."""
    word, nodes = path
    layers = len(word)
    weight = prod(
        int(attention[layers - 1 - place, head, nodes[place], nodes[place + 1]])
        for place, head in enumerate(word)
    )
    moved = x[nodes[-1]]
    for layer in range(layers):
        moved = transports[layer, word[layers - 1 - layer]] @ moved
    return weight * moved


@pytest.mark.parametrize(("layers", "heads", "n", "d"), [(1, 2, 3, 2), (2, 2, 3, 2), (3, 2, 2, 3)])
def test_layers_in_turn_are_the_paths_listed_one_by_one(
    layers: int, heads: int, n: int, d: int
) -> None:
    rng = np.random.default_rng(3)
    attention, transports = integer_stack(rng, layers, heads, n, d)
    x = rng.integers(-3, 4, size=(n, d))
    listed = np.array(
        [
            sum(
                term(attention, transports, path, x)
                for j in range(n)
                for path in paths(layers, heads, n, i, j)
            )
            for i in range(n)
        ]
    )
    assert (depth.layers_in_turn(attention, transports, x, skip=False) == listed).all()
    assert (depth.path_sum(attention, transports, x) == listed).all()


def test_reversed_transports_are_another_operator() -> None:
    nilpotent = np.array([[0, 1], [0, 0]])
    transports = np.stack([nilpotent, nilpotent.T])[:, None]
    attention, x = np.ones((2, 1, 1, 1), dtype=int), np.array([[1, 0], [0, 1]])[:1]
    forward = depth.layers_in_turn(attention, transports, x, skip=False)
    backward = depth.layers_in_turn(attention, transports[::-1], x, skip=False)
    assert (forward.tolist(), backward.tolist()) == ([[0, 0]], [[1, 0]])


def test_two_residual_layers_of_weight_one_quadruple_a_token() -> None:
    ones = np.ones((2, 1, 1, 1), dtype=int)
    x = np.array([[Fraction(1)]])
    assert depth.layers_in_turn(ones, ones, x, skip=True)[0, 0] == 4
    assert depth.residual_path_sum(ones, ones, x)[0, 0] == 4


CORNERS = {
    "one node": sample("paths", np.ones((3, 1, 1, 1)), np.ones((3, 1, 1, 1))),
    "zero layer": sample("residual_paths", np.ones((2, 2, 2, 2)), np.zeros((2, 2, 3, 3))),
    "no key": sample("paths", np.zeros((2, 2, 3, 3)), np.ones((2, 2, 2, 2))),
}
