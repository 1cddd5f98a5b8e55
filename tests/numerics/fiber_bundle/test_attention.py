"""Geodesic attention against explicit differences, in both forms, within rounding bounds."""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from numerics.fiber_bundle import attention, tiles
from numerics.fiber_bundle.attention import geodesic_attention
from numerics.fiber_bundle.connection import quarter_turn
from numerics.fiber_bundle.metric_field import MetricField
from numerics.fiber_bundle.products import NoDigits, Products
from numerics.fiber_bundle.rounding import attention_error, score_error

SHAPES = [(2, 3, 13, 4, 2, 6), (1, 1, 1, 2, 1, 2), (2, 1, 9, 5, 3, 4), (1, 2, 17, 3, 1, 2)]
KINDS = ("query", "symmetrised")


@pytest.fixture(params=[20, 40], ids=["one head", "two heads"])
def small_tiles(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of which the smallest lengths have several, ragged ones too, of one head or two."""
    for name, size in (("QUERIES", 4), ("KEYS", 5), ("CPU_TILE", request.param)):
        monkeypatch.setattr(tiles, name, size)


def masks(n: int, batch: int, heads: int) -> dict[str, torch.Tensor | None]:
    """None, and masks with blind rows, with the diagonal, and one for each head."""
    g = torch.Generator().manual_seed(n)
    some = torch.rand(n, n, generator=g) < 0.4
    some[0] = False
    each = torch.rand(batch, heads, n, n, generator=g) < 0.5
    own = some | torch.eye(n, dtype=torch.bool)
    return {"none": None, "some": some, "diagonal": own, "heads": each, "batch": each[:, :1]}


def forms(t: Any, **chosen: Any) -> dict[str, torch.Tensor]:
    """The tiled form, and the differentiable one."""
    with torch.no_grad():
        found = {"tiled": geodesic_attention(t.points, t.metric, t.values, **chosen)}
    points = t.points.clone().requires_grad_()
    found["differentiable"] = geodesic_attention(points, t.metric, t.values, **chosen).detach()
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_both_forms_are_the_softmax_of_explicit_differences(
    draw: Callable[..., Any], shape: tuple[int, ...], dtype: torch.dtype, kind: str
) -> None:
    t = draw(*shape).to(dtype)
    scale = shape[3] ** -0.5
    cases = itertools.product(masks(t.n, *shape[:2]).values(), (False, True))
    for allowed, causal in cases:
        seen = t.visible(allowed, causal)
        bound = attention_error(t.points, t.metric, t.values, t.scores(kind), scale, kind, seen)
        exact = t.attention(kind, allowed, causal) @ t.values.double()
        for found in forms(t, kind=kind, allowed=allowed, causal=causal).values():
            assert found.dtype == dtype
            assert bool(((found.double() - exact).abs() <= bound).all())
            assert not found[~seen.any(-1)].any()


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_tells_wrong_scores_from_right_ones(draw: Callable[..., Any], kind: str) -> None:
    """No key norms (RA14's first false twin), the keys' metric, and no factor 1/2."""
    t = draw(1, 1, 12, 4, 2)
    bound = attention_error(t.points, t.metric, t.values, t.scores(kind), 0.5, kind)
    (tiled,) = (found for name, found in forms(t, kind=kind).items() if name == "tiled")
    x = t.points
    wrong = {
        "no key norms": x @ x.mT / 2,
        "the keys' metric": t.scores("query").mT + (0 if kind == "query" else t.scores()),
        "no factor": 2 * t.scores(kind),
        "a scale wrong in the ninth digit": (1 + 1e-9) * t.scores(kind),
    }
    for scores in wrong.values():
        assert bool(((torch.softmax(scores, -1) @ t.values - tiled).abs() > bound).any())


@pytest.mark.slow
@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("kind", KINDS)
def test_phases_turn_what_is_summed(draw: Callable[..., Any], kind: str) -> None:
    t = draw(2, 2, 11, 3, 2, 6)
    for allowed, causal in itertools.product(masks(11, 2, 2).values(), (False, True)):
        weights, angle = t.attention(kind, allowed, causal), t.phases.left @ t.phases.right.mT
        exact = (weights * angle.cos()) @ t.values + (weights * angle.sin()) @ quarter_turn(
            t.values
        )
        seen = t.visible(allowed, causal)
        bound = attention_error(t.points, t.metric, t.values, t.scores(kind), 3**-0.5, kind, seen)
        # cos and sin of angles of size a carry (a + 2) u; the turned values are summed as well.
        turned = quarter_turn(t.values).abs()
        other = attention_error(t.points, t.metric, turned, t.scores(kind), 3**-0.5, kind, seen)
        sizes = weights @ (t.values.abs() + turned) * (float(angle.abs().max()) * 8 + 8) * 2.0**-53
        for found in forms(t, kind=kind, allowed=allowed, causal=causal, phases=t.phases).values():
            assert bool(((found - exact).abs() <= bound + other + sizes).all())
            assert bool(((found - weights @ t.values).abs() > bound + other + sizes).any())


@pytest.mark.slow
@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["tiled", "differentiable"])
def test_causal_attention_of_a_prefix_is_the_prefix(
    draw: Callable[..., Any], kind: str, form: str
) -> None:
    t = draw(1, 2, 14, 4, 2)
    whole = forms(t, kind=kind, causal=True)[form]
    seen = t.visible(None, True)
    bound = attention_error(t.points, t.metric, t.values, t.scores(kind), 0.5, kind, seen)
    for n in (1, 3, 5, 13):
        part = type(t)(
            t.points[:, :, :n], MetricField(t.metric.D[:, :, :n], t.metric.U[:, :, :n]),
            t.values[:, :, :n], t.phases,
        )  # fmt: skip
        gap = (forms(part, kind=kind, causal=True)[form] - whole[:, :, :n]).abs()
        assert bool((gap <= 2 * bound[:, :, :n]).all())
        free = (forms(part, kind=kind)[form] - forms(t, kind=kind)[form][:, :, :n]).abs()
        assert bool((free > 2 * bound[:, :, :n]).any()), "without the mask prefixes differ"


def test_nan_that_nobody_needs_leaks_nowhere(draw: Callable[..., Any]) -> None:
    t = draw(1, 2, 6, 4, 2)
    allowed = torch.ones(6, 6, dtype=torch.bool)
    allowed[4], allowed[:, 4] = False, False
    for kind in KINDS:
        sound = forms(t, kind=kind, allowed=allowed)
        points, values = t.points.clone(), t.values.clone()
        points[:, :, 4], values[:, :, 4] = torch.nan, torch.inf
        spoiled = type(t)(points, t.metric, values, t.phases)
        for name, found in forms(spoiled, kind=kind, allowed=allowed).items():
            assert torch.equal(found, sound[name])
        leaf = points.clone().requires_grad_()
        geodesic_attention(leaf, t.metric, values, kind=kind, allowed=allowed).sum().backward()
        assert leaf.grad is not None
        assert bool(leaf.grad.isfinite().all())
        assert bool(leaf.grad[:, :, :4].any())


def test_nan_that_only_a_causal_mask_hides_is_not_needed(draw: Callable[..., Any]) -> None:
    t = draw(1, 1, 5, 4, 2)
    allowed = torch.ones(5, 5, dtype=torch.bool)
    allowed[3], allowed[3:, 3] = False, False
    points, values = t.points.clone(), t.values.clone()
    points[:, :, 3], values[:, :, 3] = torch.nan, torch.nan
    spoiled = type(t)(points, t.metric, values, t.phases)
    for name, found in forms(spoiled, allowed=allowed, causal=True).items():
        assert torch.equal(found, forms(t, allowed=allowed, causal=True)[name])
    with pytest.raises(ValueError, match="points must be finite where some query needs them"):
        forms(spoiled, allowed=allowed)


def attend(chosen: dict[str, Any], x: Any, D: Any, U: Any, v: Any) -> torch.Tensor:
    """Attention as a function of four tensors."""
    return geodesic_attention(x, MetricField(D, U), v, **chosen)


@pytest.mark.slow
def test_gradients_are_those_of_differences(
    draw: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where each block of queries is evaluated again on the way back."""
    t = draw(1, 2, 5, 2, 2, 2)
    inputs = [t.points, t.metric.D, t.metric.U, t.values]
    allowed = masks(5, 1, 2)["some"]
    for block, kind, causal, mask, phases in (
        (2**20, "query", True, None, None),
        (20, "query", False, allowed, t.phases),
        (2**20, "symmetrised", False, allowed, None),
        (20, "symmetrised", True, None, t.phases),
    ):
        monkeypatch.setattr(attention, "BLOCK", block)

        leaves = [tensor.clone().requires_grad_() for tensor in inputs]
        chosen = {"kind": kind, "causal": causal, "allowed": mask, "phases": phases}
        assert torch.autograd.gradcheck(partial(attend, chosen), leaves)


def test_a_wrong_gradient_fails_the_gradient_check(
    draw: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    t, rows = draw(1, 1, 4, 2, 1), Products.rows

    def without_squares(self: Products, chosen: slice, kind: str) -> torch.Tensor:
        found = rows(self, chosen, kind)
        y = self.right[..., : self.width]
        loose = (self.columns.transpose(1, 2)[:, :, chosen] @ y.mT[:, None]).square().sum(1)
        return found + (loose - loose.detach()) / 10

    monkeypatch.setattr(Products, "rows", without_squares)
    leaf = t.points.clone().requires_grad_()
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(lambda x: geodesic_attention(x, t.metric, t.values), [leaf])


def test_scores_without_digits_are_an_error_in_both_forms(draw: Callable[..., Any]) -> None:
    """Points of norm 1e4 apart by 1e-3: float32 products hold none of their distances."""
    t = draw(1, 1, 8, 4, 2)
    far = torch.cat([t.points / 1e3, t.points / 1e3 + 1e4], -2).float()
    metric = MetricField(t.metric.D.tile(2, 1).float(), t.metric.U.tile(2, 1, 1).float())
    values = t.values.tile(2, 1).float()
    for leaf in (far, far.clone().requires_grad_()):
        with pytest.raises(NoDigits, match=r"points must be nearer to each other: torch\.float32"):
            geodesic_attention(leaf, metric, values)
    wide = MetricField(metric.D.double(), metric.U.double())
    assert bool(geodesic_attention(far.double(), wide, values.double()).isfinite().all())
    large = MetricField(metric.D * 1e30, metric.U)
    with pytest.raises(NoDigits, match="points must be nearer"):
        geodesic_attention(t.points.tile(2, 1).float() * 1e10, large, values)


def test_the_error_of_near_points_is_absolute(draw: Callable[..., Any]) -> None:
    """RA7: scores from products err by a rounding of osc^2, as the bound says, not of s."""
    t = draw(1, 1, 6, 4, 2)
    spread = t.points.clone()
    spread[..., 3:, :] = spread[..., :3, :] + 1e-7 * spread[..., 3:, :]
    near = type(t)(spread + 0, t.metric, t.values, t.phases)
    parts = (spread - spread[..., :1, :], near.metric.D, near.metric.U)
    y, D, U = (tensor.flatten(0, 1) for tensor in parts)
    products = Products.of(y, D, U, 0.5)
    gap = (products.rows(slice(0, 6), "query") - near.scores()[0]).abs()
    assert bool((gap <= score_error(near.points, near.metric, 0.5)[0]).all())
    pair = gap[0, 1, 4] / near.scores()[0, 0, 1, 4].abs()
    assert float(pair) > 2.0**-40, "relative accuracy would be the claim of explicit differences"


class Largest(TorchDispatchMode):
    """The most entries that one tensor has."""

    entries = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):  # type: ignore[override]
        found = function(*args, **(kwargs or {}))
        if isinstance(found, torch.Tensor):
            self.entries = max(self.entries, found.untyped_storage().nbytes() // 8)
        return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_linear_in_the_length(draw: Callable[..., Any], kind: str) -> None:
    d, r, found = 8, 2, []
    for n in (600, 1200, 2400):
        t = draw(1, 1, n, d, r)
        with torch.no_grad(), Largest() as largest:
            geodesic_attention(t.points, t.metric, t.values, kind=kind)
        found.append(largest.entries)
        assert largest.entries <= max(tiles.CPU_TILE, 2 * n * d * max(r, 2))
    t = draw(1, 1, 600, d, r)
    with Largest() as largest:
        t.attention(kind)
    assert largest.entries >= 600 * 600 > found[0], "explicit differences would be seen"


def test_a_known_largest_score_saves_the_running_maximum_and_changes_nothing() -> None:
    values = torch.tensor([[[1.0], [2.0], [4.0]]], dtype=torch.float64)
    scores = torch.tensor([[[0.0, -0.5, -2000.0], [-1.0, 0.0, -torch.inf]]], dtype=torch.float64)
    known, running = (tiles.Rows.empty(values, 2, oneself) for oneself in (True, False))
    for part in (slice(0, 1), slice(1, 3)):
        for sums in (known, running):
            sums.add(scores[..., part].clone(), values[:, part], None)
    exact = torch.softmax(scores, -1) @ values
    # Three exponentials of a few ulps each, three sums and a quotient of numbers up to 4.
    for sums in (known, running):
        assert float((sums.mean() - exact).abs().max()) <= 32 * 2.0**-53 * 4


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("kind", KINDS)
def test_a_query_that_sees_only_far_tokens_still_attends(
    draw: Callable[..., Any], kind: str
) -> None:
    """Scores below -10^4 have no exponential in any dtype; only their differences do."""
    t = draw(1, 2, 9, 4, 2)
    far = type(t)(t.points * 200, t.metric, t.values, t.phases)
    allowed = ~torch.eye(9, dtype=torch.bool)
    scores = far.scores(kind)
    assert float(scores.masked_fill(~allowed, -torch.inf).amax(-1).max()) < -1e4
    seen = far.visible(allowed, False)
    bound = attention_error(far.points, far.metric, far.values, scores, 0.5, kind, seen)
    exact = far.attention(kind, allowed) @ far.values
    for found in forms(far, kind=kind, allowed=allowed).values():
        assert bool(((found - exact).abs() <= bound).all())
        assert bool((found.abs() > bound).any())
