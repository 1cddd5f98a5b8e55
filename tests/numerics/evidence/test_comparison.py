"""Two sides against a bound: the same for NumPy and torch, by blocks, and never vacuous."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from numerics.evidence.comparison import (
    PLANTED,
    Comparison,
    Residual,
    compare,
    compare_integers,
    merged,
)

KINDS = {"numpy": np.asarray, "torch": torch.as_tensor}


def drawn(dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sides (6, 5) of a dtype within their bounds, the largest ratio far from the ends."""
    rng = np.random.default_rng(0)
    left = rng.normal(size=(6, 5)).astype(dtype)
    bound = rng.uniform(1e-3, 2e-3, (6, 5))
    return left, (left + rng.uniform(-1, 1, (6, 5)) * bound).astype(dtype), bound


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_numpy_and_torch_agree(dtype: type) -> None:
    sides = drawn(dtype)
    found = compare("x", *sides, k=3)
    assert found == compare("x", *map(torch.as_tensor, sides), k=3)
    # Kinds may be mixed: a bound is often formed on the host.
    assert found == compare("x", torch.as_tensor(sides[0]), *sides[1:], k=3)
    wide = sides[0].astype(np.result_type(dtype, np.float64))
    ratios = abs(wide - sides[1]) / sides[2]
    assert found.ratio == ratios.max() == ratios[found.entry]
    assert (found.ok, found.tight) == (True, True)
    assert (found.entries, found.bounded, found.rejected) == (30, 30, 30)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_are_merged_into_the_whole(kind: str) -> None:
    sides = [KINDS[kind](side) for side in drawn()]
    blocks = [compare("x", *(side[i : i + 2] for side in sides), k=3, first_row=i)
              for i in (0, 2, 4)]  # fmt: skip
    other = compare("y", *sides, k=3)
    assert merged([blocks[0], other, *blocks[1:]]) == [compare("x", *sides, k=3), other]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wrong", [math.nan, math.inf])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_not_finite_is_never_close(kind: str, wrong: float, place: int) -> None:
    sides = [KINDS[kind](side.copy()) for side in drawn()]
    sides[place][3, 2] = sides[place][4, 0] = wrong
    found = compare("x", *sides, k=3, first_row=10)
    assert (found.finite, found.entry, found.ratio) == (False, (13, 2), math.inf)
    assert (found.ok, found.tight, found.planted_rejected) == (False, False, False)
    name = ("lhs", "rhs", "bound")[place]
    with pytest.raises(ValueError, match=rf"^x: {name} must be finite, got {wrong} at \(3, 2\)$"):
        Residual("x", sides[0], sides[1], sides[2], 3).ratio()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("bound", "residual"), [(0.0, 1e-300), (-1.0, 0.0), (-1.0, 1.0)])
def test_a_bound_that_is_not_positive_bounds_nothing(
    kind: str, bound: float, residual: float
) -> None:
    left, right, bounds = (KINDS[kind](side.copy()) for side in drawn())
    right[1, 4], left[1, 4], bounds[1, 4] = 0.0, residual, bound
    found = compare("x", left, right, bounds, k=3)
    assert (found.ratio, found.entry, found.ok) == (math.inf, (1, 4), False)
    with pytest.raises(ValueError, match="x: bound must be positive where the residual is, got"):
        Residual("x", left, right, bounds, 3).ratio()


@pytest.mark.parametrize("kind", KINDS)
def test_equal_entries_with_a_bound_of_zero_show_nothing_of_a_planted_error(kind: str) -> None:
    left, right, bounds = (KINDS[kind](side.copy()) for side in drawn())
    left[1], right[1], bounds[1] = 0, 0, 0
    found = compare("x", left, right, bounds, k=3)
    assert Residual("x", left, right, bounds, 3).compared() == found
    assert (found.entries, found.bounded, found.rejected) == (30, 25, 25)
    assert (found.planted_rejected, found.ratio <= 1, found.ok) == (True, True, False)
    nothing = compare("x", left[1], right[1], bounds[1], k=3)
    assert (nothing.planted_rejected, nothing.ok) == (False, False)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_of_8_bounds_is_rejected_at_every_entry_that_resolves_it(kind: str) -> None:
    left, right, bounds = (KINDS[kind](side.copy()) for side in drawn())
    for entry in np.ndindex(6, 5):
        planted = left.clone() if kind == "torch" else left.copy()
        planted[entry] += PLANTED * bounds[entry]
        found = compare("x", planted, right, bounds, k=3)
        assert (found.entry, found.ok) == (entry, False)
        assert PLANTED - 1 <= found.ratio <= PLANTED + 1
    left[2, 2] = right[2, 2] = 2.0**60
    found = compare("x", left, right, bounds, k=3)
    assert (found.bounded - found.rejected, found.ok, found.ratio <= 1) == (1, False, True)


def test_integers_must_be_equal() -> None:
    ones = torch.ones(3)
    assert compare_integers("x", ones, ones, 1).ok
    assert compare_integers("x", ones, ones, 1).tight
    assert not compare_integers("x", ones, ones + 1, 1).ok


def test_single_numbers_and_what_overflows() -> None:
    found = compare("x", np.float64(1.0), np.float64(1.5), np.float64(1.0), k=1)
    assert (found.entry, found.ratio) == ((), 0.5)
    far = compare("x", np.array([1e308]), np.array([-1e308]), np.array([1e-308]), k=1)
    assert (far.residual, far.ratio, far.ok) == (math.inf, math.inf, False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rhs": np.ones((6, 4))}, "lhs, rhs and bound must have one shape, got"),
        ({"bound": np.ones((6, 1))}, "lhs, rhs and bound must have one shape, got"),
        (dict.fromkeys(("lhs", "rhs", "bound"), np.ones((0, 5))), "nothing compared, got shape"),
        ({"k": 0}, "k must be at least 1, got 0"),
    ],
)
def test_what_compares_nothing_is_refused(changes: dict[str, Any], message: str) -> None:
    sound = Residual("x", *drawn(), 3)
    assert isinstance(sound.compared(), Comparison)
    with pytest.raises(ValueError, match=f"^x: {message}"):
        replace(sound, **changes).compared()


def test_the_worst_entry_is_explained() -> None:
    sides = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5]), torch.tensor([1.0, 1.0])
    assert Residual("x", *sides, 7).explain() == (
        "x: residual / bound = 0.5 at (1,): lhs 2.0, rhs 2.5, bound 1.0, k = 7"
    )
