"""Bounds of attention on geometric spaces cover errors that are as bad as they may be."""

import math
from collections.abc import Callable

import pytest
import torch

from numerics.rounding.roundoff import Rounded
from numerics.stress import quadric_bounds as bounds
from numerics.stress.rounding import precision

MODEL = precision(torch.float32, torch.device("cpu"))


def positive(*shape: int) -> torch.Tensor:
    source = torch.Generator().manual_seed(sum(shape))
    return 0.5 + torch.rand(*shape, generator=source, dtype=torch.float64)


def off_by(values: torch.Tensor, error: float) -> Rounded:
    return Rounded(values.abs(), torch.full_like(values, error), MODEL.wide)


def test_scores_inherit_the_errors_of_queries_and_keys() -> None:
    query, key, off = positive(4, 6), positive(9, 6), 2.0**-10
    exact = 3 * query @ key.mT
    worst = 3 * (query + off) @ (key + off).mT - exact
    found = bounds.product_error(off_by(query, off), off_by(key, off), 3.0, MODEL)
    assert bool((worst <= found).all())
    assert bool((found <= 1.01 * worst).all())
    rounding = bounds.product_error(off_by(query, 0.0), off_by(key, 0.0), 3.0, MODEL)
    assert bool((rounding >= 6 * MODEL.wide.acc * exact).all())


def test_distances_inherit_a_rounding_of_every_step() -> None:
    query, key = positive(4, 6), positive(9, 6) + 100
    column = (key * key).sum(1, keepdim=True) / -2
    ones = torch.ones(4, 1, dtype=torch.float64)
    found = bounds.pairings(torch.cat([query, ones], 1), torch.cat([key, column], 1), 2.0)
    error = bounds.distance_error(found, query, key, 2.0, MODEL)
    square = (query[:, None] - key).square().sum(2)
    assert bool((error >= 8 * MODEL.wide.acc * square).all())
    assert bool((error <= 10 * MODEL.wide.acc * square).all())


@pytest.mark.parametrize("homogeneous", [False, True])
@pytest.mark.parametrize("bound", [bounds.walk_weights, bounds.fused_weights])
def test_weights_inherit_the_errors_of_scores(
    bound: Callable[..., bounds.WeightError], homogeneous: bool
) -> None:
    query, key, off = positive(4, 6), positive(9, 6), 2.0**-8
    found = bounds.pairings(query, key, 1.0)
    error = torch.full_like(found.scores, off)
    weight = bound(found, error, MODEL, homogeneous=homogeneous)
    exact = torch.softmax(found.scores, 1)
    for j in range(9):
        shifts = torch.full((9,), -off, dtype=torch.float64)
        shifts[j] = off
        # Where a row's common factor does not count, a weight moves by its own score alone.
        moved = exact * shifts.exp() if homogeneous else torch.softmax(found.scores + shifts, 1)
        assert bool(((moved - exact).abs() <= weight.error).all())
    assert bool((weight.error <= (1.1 if homogeneous else 2.2) * off * exact).all())
    assert bool((weight.weights >= exact * math.exp(off)).all())


@pytest.mark.parametrize("bound", [bounds.walk_weights, bounds.fused_weights])
def test_weights_inherit_a_rounding_for_every_key(bound: Callable[..., bounds.WeightError]) -> None:
    found = bounds.pairings(positive(2, 3), positive(4000, 3), 1.0)
    nothing = torch.zeros_like(found.scores)
    for homogeneous, roundings in ((True, 4000), (False, 8000)):
        weight = bound(found, nothing, MODEL, homogeneous=homogeneous)
        assert bool((weight.error >= roundings * MODEL.wide.acc * found.weights).all())


def test_weights_inherit_the_rounding_of_exponents_and_of_exp() -> None:
    query, key = torch.ones(1, 1, dtype=torch.float64), torch.tensor([[0.0], [-60.0]]).double()
    found = bounds.pairings(query, key, 1.0)
    nothing = torch.zeros_like(found.scores)
    weight = bounds.walk_weights(found, nothing, MODEL, homogeneous=True)
    near, far = (weight.error / found.weights)[0] / MODEL.wide.acc
    # exp is within 6 units; two sums, a product and a quotient follow; exponents are 0 and -60.
    assert 10 <= float(near) <= 11
    assert 70 <= float(far) <= 131


def test_means_inherit_the_errors_of_weights_and_of_values() -> None:
    weights, value, off = positive(3, 7) / 7, positive(7, 5), 2.0**-9
    weight = bounds.WeightError(weights, off * weights, 0.0)
    worst = (weights * (1 + off)) @ (value + off) - weights @ value
    found = bounds.mean(weight, off_by(value, off), weights @ value, MODEL).error
    assert bool((worst <= found).all())
    assert bool((found <= 1.01 * worst).all())


@pytest.mark.parametrize("signs", [(1, 1, 1), (-1, 1, 1)])
def test_readouts_inherit_the_errors_of_means(signs: tuple[int, ...]) -> None:
    means, off = torch.tensor([[1.5, 0.25, -0.5]], dtype=torch.float64), 2.0**-12
    eta = torch.tensor(signs, dtype=torch.float64)

    def read(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        squares = (x * x * eta * eta[0]).sum(1)
        return squares, x / squares.sqrt()

    errors = []
    for a in range(8):
        moved = means + off * torch.tensor([(-1) ** (a >> c) for c in range(3)])
        squares, found = read(moved)
        bound = bounds.normalised(off_by(moved, off), off_by(eta, 0.0), squares).error
        errors.append(((found - read(means)[1]).abs() / bound).max())
        assert float(errors[-1]) <= 1
    assert float(max(errors)) > 0.5
