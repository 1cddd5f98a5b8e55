"""Pure stacks of geodesic attention collapse as RA11 and RA12 say, trained weights or not."""

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
import torch

from numerics.collapse import collapse_bound, contraction, osc, spectral_norm
from numerics.fiber_bundle.attention import geodesic_attention
from numerics.fiber_bundle.blocks import FiberBundleBlock
from numerics.fiber_bundle.grammar import ALPHABET
from numerics.fiber_bundle.layers import GeodesicAttention, MetricHead, split_heads
from numerics.fiber_bundle.metric_field import MetricField
from numerics.fiber_bundle.model import Shape
from numerics.fiber_bundle.training import Run, Settings
from numerics.rounding.units import gamma

U64 = 2.0**-53
WIDTH, HEADS, RANK = 16, 2, 2
KINDS = ("query", "symmetrised")
Layer = tuple[GeodesicAttention, MetricHead]


def random_layers(kind: str, transport: str = "plain", depth: int = 3) -> list[Layer]:
    """Layers with sum_h |W_V^h W_O^h| = 1, points and metrics as large as the head allows."""
    torch.manual_seed(3)
    found = []
    for _ in range(depth):
        head = MetricHead(WIDTH, HEADS, RANK).double()
        torch.nn.init.normal_(head.columns.weight)
        layer = GeodesicAttention(WIDTH, HEADS, kind, transport).double()
        with torch.no_grad():
            layer.output.weight.div_(float(value_norms(layer).sum()))
        found.append((layer, head))
    return found


@cache
def trained_layers(kind: str) -> tuple[list[Layer], torch.Tensor]:
    """The layers of a model after some training, and the tokens of a text."""
    shape = Shape("fiber-bundle", len(ALPHABET), length=16, width=WIDTH, heads=HEADS, hidden=16,
                  rank=RANK, scores=kind, transport="plain")  # fmt: skip
    run = Run(Settings(shape, steps=60, every=60, batch=8, training_letters=4000,
                       validation_letters=400))  # fmt: skip
    start, end = (loss for _, loss in run.train())
    assert end < start - 0.5, "training has moved the weights"
    model = run.model.double()
    layers = [(b.attention, b.metric) for b in model.blocks if isinstance(b, FiberBundleBlock)]
    return layers, model.embed(run.held_out()[:1]).detach()


def value_norms(layer: GeodesicAttention) -> torch.Tensor:
    """|W_V^h W_O^h| (H,)."""
    values = layer.values.weight.unflatten(0, (HEADS, -1))
    output = layer.output.weight.unflatten(1, (HEADS, -1)).transpose(0, 1)
    return spectral_norm((output @ values).detach())


def spreads(layer: GeodesicAttention, head: MetricHead, x: torch.Tensor) -> torch.Tensor:
    """Upper bounds (H,) on Delta_h: the head's bound on |G| times osc of the points, squared."""
    points = split_heads(layer.points(x), HEADS)[0]
    scale = points.shape[-1] ** -0.5
    return head.bound * scale * osc(points).square() * (1 + gamma(8 * WIDTH, U64))


def rounding(layer: GeodesicAttention, x: torch.Tensor) -> float:
    """Bound on what rounding adds to osc: averages and two products of numbers of size |x|."""
    sizes = [layer.values.weight.norm(), layer.output.weight.norm(), x.norm(dim=-1).max()]
    steps = gamma(16 * (WIDTH + x.shape[1]) + 64, U64)
    return 2 * steps * math.prod(float(size.detach()) for size in sizes)


@torch.no_grad()
def through(layers: list[Layer], x: torch.Tensor) -> Iterator[tuple[float, float]]:
    """osc after each layer, and RA11's bound from what came in, with the rounding."""
    for layer, head in layers:
        after = layer(x, head(x))
        factor = float(contraction(value_norms(layer), spreads(layer, head, x)))
        yield float(osc(after[0])), factor * float(osc(x[0])) + rounding(layer, x)
        x = after


def tokens(size: float, n: int = 12) -> torch.Tensor:
    g = torch.Generator().manual_seed(n)
    return size * torch.randn(1, n, WIDTH, generator=g, dtype=torch.float64)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e-3, 0.1, 1.0, 5.0])
def test_a_random_stack_stays_below_the_bound(kind: str, size: float) -> None:
    x = tokens(size)
    widths = [float(osc(x[0]))]
    for width, bound in through(random_layers(kind), x):
        assert width <= bound
        widths.append(width)
    # Sum of norms 1: no layer spreads its tokens, and near ones meet at least as a cube does.
    slack = rounding(random_layers(kind)[0][0], x)
    assert all(after <= before + slack for before, after in itertools.pairwise(widths))
    if size <= 0.1:
        layer, head = random_layers(kind)[0]
        c = float((value_norms(layer) * head.bound).sum()) * float(
            spectral_norm(layer.points.weight.detach())
        ) ** 2 / (4 * (WIDTH / HEADS) ** 0.5)  # fmt: skip
        assert widths[1] <= c * widths[0] ** 3 + slack


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_trained_stack_stays_below_the_bound(kind: str) -> None:
    layers, x = trained_layers(kind)
    for scale in (1.0, 0.1, 0.01):
        for width, bound in through(layers * 2, x * scale):
            assert width <= bound


@pytest.mark.parametrize("kind", KINDS)
def test_the_whole_stack_stays_below_the_bound_of_its_spreads(kind: str) -> None:
    layers, x = random_layers(kind), tokens(0.5)
    with torch.no_grad():
        norms, deltas, widths, slack = [], [], [float(osc(x[0]))], 0.0
        for layer, head in layers:
            norms.append(value_norms(layer))
            deltas.append(spreads(layer, head, x))
            slack += rounding(layer, x)
            x = layer(x, head(x))
            widths.append(float(osc(x[0])))
    bounds = collapse_bound(widths[0], torch.stack(norms), torch.stack(deltas))
    assert all(w <= float(b) + slack for w, b in zip(widths, bounds, strict=True))
    assert float(bounds[-1]) < widths[0] / 10


def test_metrics_beyond_the_stated_bound_break_it() -> None:
    """The same bound with a tenth of |G|, and of the norms, is exceeded: it is not idle."""
    layers, x = random_layers("query"), tokens(0.03)
    layer, head = layers[0]
    with torch.no_grad():
        width = float(osc(layer(x, head(x))[0]))
        norms, deltas = value_norms(layer), spreads(layer, head, x)
    assert width > float(contraction(norms / 10, deltas / 100)) * float(osc(x[0]))


@torch.no_grad()
def test_transported_values_are_outside_the_theorem() -> None:
    """E_i^-1 differs from token to token, to first order in osc: the cube is exceeded."""
    x = tokens(1e-3) + tokens(1.0, 1)
    found = {}
    for transport in ("plain", "frames"):
        (width, bound), *_ = through(random_layers("query", transport, 1), x)
        found[transport] = width / bound
    assert found["plain"] <= 1
    assert found["frames"] > 100


def two_tokens(law: Callable[[int], float], last: int) -> list[float]:
    """osc after each layer l = 2..last of W = I on two tokens, scores -law(l) across."""
    x = torch.tensor([[0.0, 0.0], [0.6, 0.8]], dtype=torch.float64)[None, None]
    found = [float(osc(x[0, 0]))]
    for layer in range(2, last + 1):
        level = 2 * law(layer) / found[-1] ** 2
        metric = MetricField(torch.full_like(x, level), torch.zeros(1, 1, 2, 2, 1).double())
        x = geodesic_attention(x, metric, x, scale=1.0)
        found.append(float(osc(x[0, 0])))
    return found


@pytest.mark.slow
@torch.no_grad()
def test_the_logarithmic_law_decides_collapse() -> None:
    """RA12 with B_l = c log l: 2 / (L (L + 1)) for c = 1, towards pi / sinh pi for c = 2."""
    last = 40
    # Each factor tanh(B / 2) has some 64 roundings of numbers of size 1 beside a difference
    # of size osc; and a level wrong by d changes B by as much, so tanh by less.
    for c, expected in ((1, 2 / (last * (last + 1))),
                        (3, 2 * (last**2 + last + 1) / (3 * last * (last + 1)))):  # fmt: skip
        widths = two_tokens(lambda layer, c=c: c * math.log(layer), last)
        assert abs(widths[-1] - expected) <= gamma(64 * last, U64) * (1 + math.log(last) * c)
    square = two_tokens(lambda layer: 2 * math.log(layer), last)
    assert square[-1] > math.pi / math.sinh(math.pi) > 0.27 > two_tokens(math.log, last)[-1]


@torch.no_grad()
def test_the_bound_of_the_metric_head_holds_for_extreme_inputs() -> None:
    head = MetricHead(WIDTH, HEADS, RANK).double()
    for size in (0.0, 1.0, 1e6):
        metric: Any = head(tokens(size))
        # |G| <= max D + |U|_F^2, with a few roundings of exp, tanh and sums.
        largest = metric.D.amax(-1) + metric.U.square().sum((-2, -1))
        assert float(largest.max()) <= head.bound * (1 + gamma(4 * WIDTH * RANK, U64))
        assert float(metric.D.min()) >= math.exp(-1.5) * (1 - 16 * U64)
    assert float(largest.max()) > 0.9 * head.bound
