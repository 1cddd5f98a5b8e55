"""Faults in one side of the stress case of AP8, and in the bounds of its weights and readouts."""

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
import torch

from numerics import blockwise
from numerics.arrays import dtype_name
from numerics.evidence.comparison import Comparison, merged
from numerics.stress import quadric_bounds as bounds
from numerics.stress.cell import Cell
from numerics.stress.rounding import NoBound, precision
from numerics.stress.theorems import geometric_spaces as spaces
from numerics.stress.theorems.geometric_spaces import Points, Readouts

CPU = torch.device("cpu")
QUADRICS = ("sphere", "hyperboloid")
Evaluation = Callable[[Points], Readouts]


def drawn(cell: str, dtype: torch.dtype = torch.float32, n: int = 50, d: int = 12) -> Points:
    return spaces.draw(Cell("AP8", cell, n, d, 1, dtype_name(dtype), "cpu", 3), CPU)[0]


def left(cell: str) -> Evaluation:
    return lambda points: spaces.left_side(points, Cell("AP8", cell))


def right(cell: str) -> Evaluation:
    return lambda points: spaces.right_side(points, Cell("AP8", cell))


def judge(cell: str, points: Points, one: Evaluation, two: Evaluation) -> Comparison:
    """The comparison of two evaluations, with the bounds of the honest points."""
    with blockwise.exact_products():
        model = precision(points.query.dtype, CPU)
        found = spaces.comparisons(points, Cell("AP8", cell), one(points), two(points), model)
        return merged(found)[0]


FAULTS: dict[str, Callable[[Points], Points]] = {
    "values of other tokens": lambda p: replace(p, value=p.value.roll(1, 0)),
    "keys of other tokens": lambda p: replace(p, key=p.key.roll(1, 0)),
    "one key moved away": lambda p: replace(p, key=torch.cat([p.key[:-1], -p.key[-1:]])),
    "queries and keys swapped": lambda p: replace(p, query=p.key, key=p.query),
    "another temperature": lambda p: replace(p, scale=p.scale * 1.01),
    "one value longer by 1.1": lambda p: replace(
        p, value=torch.cat([p.value[:-1], p.value[-1:] * 1.1])
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("cell", spaces.CELLS)
def test_a_fault_in_one_side_is_rejected(cell: str, fault: str, dtype: torch.dtype) -> None:
    points, spoil = drawn(cell, dtype), FAULTS[fault]
    one, two = left(cell), right(cell)
    assert judge(cell, points, one, two).ok
    assert not judge(cell, points, lambda p: one(spoil(p)), two).ok
    assert not judge(cell, points, one, lambda p: two(spoil(p))).ok


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


FLAT: dict[str, Callable[[Points], torch.Tensor]] = {
    "no column term": lambda p: p.query @ p.key.mT,
    "a column term not halved": lambda p: p.query @ p.key.mT - p.key.square().sum(1),
    "a column term of the wrong sign": lambda p: p.query @ p.key.mT + p.key.square().sum(1) / 2,
    "a row term": lambda p: p.query @ p.key.mT - p.query.square().sum(1, keepdim=True) / 2,
    "a distance not squared": lambda p: -distances(p).sqrt() / 2,
    "a distance not halved": lambda p: -distances(p),
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


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("n", [1, 50, 300])
@pytest.mark.parametrize("cell", spaces.CELLS)
def test_both_sides_are_what_float64_finds_by_the_formula(
    cell: str, n: int, dtype: torch.dtype
) -> None:
    points = drawn(cell, dtype, n)
    assert judge(cell, points, left(cell), CONTROLS[cell]).ok
    assert judge(cell, points, CONTROLS[cell], right(cell)).ok


@pytest.mark.parametrize("wrong", FLAT)
def test_another_formula_in_flat_space_is_rejected(wrong: str) -> None:
    spoilt = by_formula(FLAT[wrong], unchanged, identity)
    assert not judge("flat", drawn("flat"), left("flat"), spoilt).ok
    assert not judge("flat", drawn("flat"), spoilt, right("flat")).ok


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "wrong"),
    [(cell, name) for cell in QUADRICS for name in QUADRIC]
    + [("hyperboloid", name) for name in LORENTZ],
)
def test_another_formula_on_a_quadric_is_rejected(cell: str, wrong: str) -> None:
    points, spoilt = drawn(cell), {**QUADRIC, **LORENTZ}[wrong]
    assert not judge(cell, points, left(cell), spoilt).ok
    assert not judge(cell, points, spoilt, right(cell)).ok


@pytest.mark.parametrize("cell", QUADRICS)
def test_a_map_that_is_no_isometry_is_rejected(cell: str) -> None:
    points = drawn(cell, torch.float64)
    shear = points.isometry.clone()
    shear[:, 0] *= 1.001
    assert not judge(cell, replace(points, isometry=shear), left(cell), right(cell)).ok


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("d", [1, 2, 3, 7, 12, 65])
@pytest.mark.parametrize("cell", QUADRICS)
def test_the_isometry_is_exact_as_stored(cell: str, d: int, dtype: torch.dtype) -> None:
    points = drawn(cell, dtype, 1, d)
    turn, signs = points.isometry.to(torch.float64), points.signs.to(torch.float64)
    # Entries have few binary digits: float64 forms their products without rounding.
    assert torch.equal(turn.mT @ (signs[:, None] * turn), signs.diag())
    assert torch.equal(turn, drawn(cell, torch.float64, 1, d).isometry)
    assert float(signs[0]) == (-1 if cell == "hyperboloid" else 1)
    assert bool((turn.abs().sum(1) > 1).any()) == (d > (1 if cell == "hyperboloid" else 3))


@pytest.mark.parametrize("cell", QUADRICS)
def test_points_lie_on_their_quadric_up_to_rounding(cell: str) -> None:
    points = drawn(cell, torch.float64)
    for x in (
        points.query,
        points.key,
        points.value,
        spaces.left_side(points, Cell("AP8", cell)).result,
    ):
        square = (x * x * points.signs).sum(1)
        # 12 squares of size below 8, each rounded about 50 + 12 times.
        assert float((square - points.signs[0]).abs().max()) < 12 * 8 * 64 * 2.0**-53
    assert cell == "sphere" or bool((points.value[:, 0] >= 1).all())


def test_a_mean_far_from_the_apex_may_be_null() -> None:
    points, far = drawn("hyperboloid"), drawn("hyperboloid").value[:1] * 2.0**12
    far[:, 0] = (1 + far[:, 1:].square().sum()).sqrt()
    values, honest = far.expand(50, -1), left("hyperboloid")
    with pytest.raises(NoBound, match="a mean may be null in this dtype"):
        judge("hyperboloid", replace(points, value=values), honest, honest)


@pytest.mark.parametrize(("cell", "bits"), [("flat", 16), ("sphere", 20), ("hyperboloid", 18)])
def test_scores_too_large_for_their_dtype_have_no_bound(cell: str, bits: int) -> None:
    for scale, reason in (
        (2.0**bits, "no rounding bound on softmax"),
        (2.0**40, "too large for a bound in float64"),
    ):
        with pytest.raises(NoBound, match=reason):
            judge(cell, replace(drawn(cell), scale=scale), left(cell), right(cell))


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

    points = drawn(cell, torch.float64)
    for name in ("pairings", "product_error", "mean", "normalised"):
        record(bounds, name)
    record(spaces, "compare")
    assert judge(cell, points, left(cell), right(cell)).ok
    ((_, found),) = calls["pairings"]
    score = form if cell != "flat" else lambda p: -distances(p) / 2
    exact = torch.softmax(points.scale * score(points), 1)
    assert bool(((exact <= found.weights) & (found.weights <= exact * (1 + 2.0**-19))).all())
    moved = points.isometry if cell != "flat" else identity(points)
    scored, means = calls["product_error"][-1][0], [values for (_, values, *_), _ in calls["mean"]]
    for rounded, x in zip(
        (*scored[:2], means[1]), (points.query, points.key, points.value), strict=True
    ):
        assert bool((rounded.magnitude[:, :12] >= (x @ moved.mT).abs()).all())
    assert torch.equal(means[0].magnitude, points.value.abs())
    if cell != "flat":
        one, two = (result.error for _, result in calls["normalised"])
        assert bool((calls["compare"][0][0][3] >= one @ moved.abs().mT + two).all())


def test_the_longest_sum_is_that_of_tokens_or_of_coordinates() -> None:
    for cell, few in (("flat", 13), ("sphere", 12), ("hyperboloid", 12)):
        assert spaces.longest_sum(drawn(cell), Cell("AP8", cell)) == 50
        assert spaces.longest_sum(drawn(cell, n=5), Cell("AP8", cell)) == few
