"""Faults in one side of the stress case of AP8, and in the bounds of its weights and readouts."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import pytest
import torch

from numerics import blockwise
from numerics.stress import quadric_bounds as bounds
from numerics.stress.rounding import NoBound
from numerics.stress.theorems import geometric_spaces as spaces
from numerics.stress.theorems.geometric_spaces import Points, Readouts
from tests.numerics.stress.theorems.sides import Faults, drawn

QUADRICS = ("sphere", "hyperboloid")
Evaluation = Callable[[Points], Readouts]
points = partial(drawn, "AP8", n=50, d=12, seed=3)
SPOILS: dict[str, Callable[[Points], Points]] = {
    "values of other tokens": lambda p: replace(p, value=p.value.roll(1, 0)),
    "keys of other tokens": lambda p: replace(p, key=p.key.roll(1, 0)),
    "one key moved away": lambda p: replace(p, key=torch.cat([p.key[:-1], -p.key[-1:]])),
    "queries and keys swapped": lambda p: replace(p, query=p.key, key=p.query),
    "another temperature": lambda p: replace(p, scale=p.scale * 1.01),
    "one value longer by 1.1": lambda p: replace(
        p, value=torch.cat([p.value[:-1], p.value[-1:] * 1.1])
    ),
}  # fmt: skip


def by_formula(
    score: Callable[[Points], torch.Tensor],
    size: Callable[[Points, torch.Tensor], torch.Tensor],
    turn: Callable[[Points], torch.Tensor],
) -> Evaluation:
    """Readouts in float64 from all scores at once, means divided by `size` and turned."""

    def evaluated(points: Points) -> Readouts:
        p = points.changed(lambda part: part.to(torch.float64))
        means = torch.softmax(p.scale * score(p), 1) @ p.value
        read = means / size(p, means)[:, None] @ turn(p).mT
        dtype = blockwise.accumulation_dtype(points.query.dtype)
        squares = (means * means * p.signs).sum(1) * p.signs[0]
        return Readouts(means.to(dtype), squares.to(dtype), read.to(dtype))

    return evaluated


def distances(p: Points) -> torch.Tensor:
    return (p.query[:, None] - p.key).square().sum(2)


def form(p: Points) -> torch.Tensor:
    return torch.einsum("ia,a,ja->ij", p.query, p.signs, p.key)


def unchanged(p: Points, means: torch.Tensor) -> torch.Tensor:
    return means.new_ones(len(means))


def root(p: Points, means: torch.Tensor) -> torch.Tensor:
    return (means.square() * p.signs).sum(1).abs().sqrt()


def identity(p: Points) -> torch.Tensor:
    return torch.eye(len(p.signs), dtype=p.signs.dtype)


def isometry(p: Points) -> torch.Tensor:
    return p.isometry


FLAT = {
    "no column term": by_formula(lambda p: p.query @ p.key.mT, unchanged, identity),
    "a column term not halved": by_formula(
        lambda p: p.query @ p.key.mT - p.key.square().sum(1), unchanged, identity
    ),
    "a column term of the wrong sign": by_formula(
        lambda p: p.query @ p.key.mT + p.key.square().sum(1) / 2, unchanged, identity
    ),
    "a row term": by_formula(
        lambda p: p.query @ p.key.mT - p.query.square().sum(1, keepdim=True) / 2,
        unchanged,
        identity,
    ),
    "a distance not squared": by_formula(lambda p: -distances(p).sqrt() / 2, unchanged, identity),
    "a distance not halved": by_formula(lambda p: -distances(p), unchanged, identity),
}
QUADRIC = {
    "a mean not divided": by_formula(form, unchanged, isometry),
    "a mean divided by its square": by_formula(form, lambda p, m: root(p, m) ** 2, isometry),
    "a readout not moved": by_formula(form, root, identity),
    "a readout moved back": by_formula(form, root, lambda p: p.isometry.inverse()),
}
LORENTZ = {
    "distances of the ambient space": by_formula(lambda p: -distances(p) / 2, root, isometry),
    "the Euclidean product": by_formula(lambda p: p.query @ p.key.mT, root, isometry),
    "the Euclidean norm": by_formula(form, lambda p, m: m.norm(dim=1), isometry),
}
CONTROLS = {
    "flat": by_formula(lambda p: -distances(p) / 2, unchanged, identity),
    **dict.fromkeys(QUADRICS, by_formula(form, root, isometry)),
}  # fmt: skip
HALF = ["float32", "bfloat16", "float16"]
FORMULAS = [(partial(points, n=n), HALF, CONTROLS) for n in (1, 50, 300)]
FAULTS = [
    Faults(points, SPOILS),
    Faults(points, FLAT, ("flat",), "float32", results=True),
    Faults(points, QUADRIC, QUADRICS, "float32", results=True),
    Faults(points, LORENTZ, ("hyperboloid",), "float32", results=True),
]


@pytest.mark.parametrize("cell", QUADRICS)
def test_a_map_that_is_no_isometry_is_rejected(cell: str) -> None:
    sides = points(cell, dtype="float64")
    shear = sides.inputs.isometry.clone()
    shear[:, 0] *= 1.001
    assert not sides.on(replace(sides.inputs, isometry=shear)).agree()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", list(blockwise.DTYPES))
@pytest.mark.parametrize("d", [1, 2, 3, 7, 12, 65])
@pytest.mark.parametrize("cell", QUADRICS)
def test_the_isometry_is_exact_as_stored(cell: str, d: int, dtype: str) -> None:
    p = points(cell, n=1, d=d, dtype=dtype).inputs
    turn, signs = p.isometry.to(torch.float64), p.signs.to(torch.float64)
    # Entries have few binary digits: float64 forms their products without rounding.
    assert torch.equal(turn.mT @ (signs[:, None] * turn), signs.diag())
    assert torch.equal(turn, points(cell, n=1, d=d, dtype="float64").inputs.isometry)
    assert float(signs[0]) == (-1 if cell == "hyperboloid" else 1)
    assert bool((turn.abs().sum(1) > 1).any()) == (d > (1 if cell == "hyperboloid" else 3))


@pytest.mark.parametrize("cell", QUADRICS)
def test_points_lie_on_their_quadric_up_to_rounding(cell: str) -> None:
    sides = points(cell, dtype="float64")
    p = sides.inputs
    for x in (p.query, p.key, p.value, sides.left().result):
        square = (x * x * p.signs).sum(1)
        # 12 squares of size below 8, each rounded about 50 + 12 times.
        assert float((square - p.signs[0]).abs().max()) < 12 * 8 * 64 * 2.0**-53
    assert cell == "sphere" or bool((p.value[:, 0] >= 1).all())


def test_a_mean_far_from_the_apex_may_be_null() -> None:
    sides = points("hyperboloid")
    far = sides.inputs.value[:1] * 2.0**12
    far[:, 0] = (1 + far[:, 1:].square().sum()).sqrt()
    sides = sides.on(replace(sides.inputs, value=far.expand(50, -1)))
    with pytest.raises(NoBound, match="a mean may be null in this dtype"):
        sides.compared(sides.left(), sides.left())


@pytest.mark.parametrize(("cell", "bits"), [("flat", 16), ("sphere", 20), ("hyperboloid", 18)])
def test_scores_too_large_for_their_dtype_have_no_bound(cell: str, bits: int) -> None:
    sides = points(cell)
    for scale, reason in (
        (2.0**bits, "no rounding bound on softmax"),
        (2.0**40, "too large for a bound in float64"),
    ):
        with pytest.raises(NoBound, match=reason):
            sides.on(replace(sides.inputs, scale=scale)).judged()


@pytest.mark.parametrize("cell", spaces.CELLS)
def test_bounds_are_those_of_what_the_sides_form(
    cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: dict[str, list[Any]] = {}

    def record(module: ModuleType, name: str) -> None:
        honest, calls[name] = getattr(module, name), []

        def recorded(*arguments: Any, **options: Any) -> Any:
            calls[name].append((arguments, honest(*arguments, **options)))
            return calls[name][-1][1]

        monkeypatch.setattr(module, name, recorded)

    sides = points(cell, dtype="float64")
    p = sides.inputs
    for name in ("pairings", "product_error", "mean", "normalised"):
        record(bounds, name)
    record(spaces, "compare")
    assert sides.agree()
    ((_, found),) = calls["pairings"]
    score = form if cell != "flat" else lambda p: -distances(p) / 2
    exact = torch.softmax(p.scale * score(p), 1)
    assert bool(((exact <= found.weights) & (found.weights <= exact * (1 + 2.0**-19))).all())
    moved = p.isometry if cell != "flat" else identity(p)
    scored, means = calls["product_error"][-1][0], [values for (_, values, *_), _ in calls["mean"]]
    for rounded, x in zip((*scored[:2], means[1]), (p.query, p.key, p.value), strict=True):
        assert bool((rounded.magnitude[:, :12] >= (x @ moved.mT).abs()).all())
    assert torch.equal(means[0].magnitude, p.value.abs())
    if cell != "flat":
        one, two = (result.error for _, result in calls["normalised"])
        assert bool((calls["compare"][0][0][3] >= one @ moved.abs().mT + two).all())


def test_the_longest_sum_is_that_of_tokens_or_of_coordinates() -> None:
    for cell, few in (("flat", 13), ("sphere", 12), ("hyperboloid", 12)):
        for n, k in ((50, 50), (5, few)):
            sides = points(cell, n=n)
            assert spaces.longest_sum(sides.inputs, sides.cell) == k
