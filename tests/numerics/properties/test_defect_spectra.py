"""CW13's property: it holds, is tight, and sees falsehoods planted in flows and transports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from numerics.walks import walk as walks
from tests.numerics.properties.plant import Plant

SEEDS = (0, 1)


def without_the_transports(_: Any, flow: Any, turns: Any) -> Fraction:
    """Only the defect of reversibility."""
    d = turns.shape[-1]
    return sum((d * Fraction(float(x)) ** 2 for x in (flow - flow.T).ravel()), Fraction(0))


def without_the_width(sound: Any, flow: Any, turns: Any) -> Fraction:
    d, gap = turns.shape[-1], (flow - flow.T).astype(np.float64)
    return sound(flow, turns) - (d - 1) * Fraction(float((gap * gap).sum()))


FALSEHOODS = {
    "transports of the other edge, also where the flow goes one way only": Plant(
        "defects", "Walk", lambda Walk, flow, turns: Walk(flow, turns[:, ::-1].copy())),
    "symmetric flow": Plant(
        "defects", "Walk", lambda Walk, flow, turns: Walk((flow + flow.T) / 2, turns)),
    "without the transports": Plant("defects", "edge_defects", without_the_transports),
    "without the width": Plant("defects", "edge_defects", without_the_width),
    "transports of whole entries that are not orthogonal": Plant(
        "defects", "signed_permutations",
        lambda sound, rng, n, d, symmetric=False: 2 * sound(rng, n, d, symmetric)),
    "pairing of another walk": Plant(
        "imaginary", "block_matrix", lambda sound, walk: sound(
            replace(walk, transports=np.swapaxes(walk.transports, 2, 3).copy())), walks.Walk),
}  # fmt: skip


CORNERS: dict[str, Callable[[Any], bool]] = {
    "one token": lambda s: len(s.p) == 1,
    "width one": lambda s: s.p.shape[1] == 1,
    "float32": lambda s: s.p.dtype == np.float32,
    "one-way edge": lambda s: bool(((s.flow > 0) & (s.flow.T == 0)).any()),
    "symmetric transports": lambda s: (
        s.clause == "defects"
        and s.p.shape[1] > 1
        and bool((s.turns == np.transpose(s.turns, (1, 0, 3, 2))).all())
    ),
    "zero tokens": lambda s: bool((s.p == 0).all(axis=1).any()),
}


def test_bound_on_imaginary_parts_is_attained_by_the_directed_three_cycle() -> None:
    """On C with C^3 = I the eigenvalues beside 1 have sum tr C - 1 and product 1."""
    cycle = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    assert (cycle @ cycle @ cycle == np.eye(3)).all()
    imaginary_squared = Fraction(4 - int(cycle.trace() - 1) ** 2, 4)
    gram = (cycle - cycle.T).T @ (cycle - cycle.T)
    kappa_squared = int(gram.trace()) // 2
    assert (gram @ gram == kappa_squared * gram).all()
    assert 4 * imaginary_squared == kappa_squared
    assert 16 * imaginary_squared > kappa_squared
