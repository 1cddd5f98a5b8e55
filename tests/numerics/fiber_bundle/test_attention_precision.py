"""Float32 and bfloat16 against float64, and modules that keep the dtype and device they have."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from numerics.blockwise import accumulation_dtype
from numerics.fiber_bundle.blocks import FiberBundleBlock, StandardBlock
from numerics.fiber_bundle.layers import PreconditionedFeedForward
from numerics.fiber_bundle.metric_field import MetricField
from numerics.fiber_bundle.model import LanguageModel, Shape
from numerics.rounding.units import gamma, units

FIBER = Shape("fiber-bundle", 11, length=12, width=16, heads=2, hidden=24, rank=2)
SHAPES = {
    "query": FIBER,
    "symmetrised": replace(FIBER, scores="symmetrised", transport="frames"),
    "standard": FIBER.standard_of_equal_size(),
}
DTYPES = (torch.float64, torch.float32, torch.bfloat16)


def model_of(shape: Shape, dtype: torch.dtype) -> LanguageModel:
    torch.manual_seed(5)
    return LanguageModel(shape).to(dtype)


def symbols() -> torch.Tensor:
    return torch.randint(0, 11, (2, 12), generator=torch.Generator().manual_seed(6))


def chosen(logits: torch.Tensor) -> torch.Tensor:
    """Sixteen logits, the same ones always."""
    places = torch.randperm(logits.numel(), generator=torch.Generator().manual_seed(8))[:16]
    return logits.flatten()[places.to(logits.device)]


def local_error(module: nn.Module, inputs: Any, out: torch.Tensor, dtype: torch.dtype) -> Any:
    """Rounding of one module's output in a dtype, from exact inputs."""
    model, size = units(dtype), out.detach().abs()
    if isinstance(module, nn.Linear):
        terms = inputs[0].detach().abs() @ module.weight.detach().abs().mT
        return model.store * size + gamma(module.in_features + 2, model.acc) * terms
    if isinstance(module, nn.RMSNorm):
        width = out.shape[-1]
        return (3 * model.store + gamma(width + 8, model.acc)) * size
    return 2 * model.store * size


def first_order_bound(model: LanguageModel, dtype: torch.dtype) -> tuple[Any, Any]:
    """Chosen logits (float64) and bounds on their errors, computed in a dtype.

    Every array that a module takes or makes is rounded once or a few times: each such error times
    the derivative of the logit by that entry, added up. Twice that covers what is of higher order,
    and the geometry inside attention, whose float32 roundings are smaller.
    """
    wide = copy.deepcopy(model).double()
    captured: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def keep(module: nn.Module, inputs: tuple[Any, ...], out: Any) -> None:
        for tensor in inputs:
            if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
                once = units(dtype).store * tensor.detach().abs()
                captured.setdefault(id(tensor), (tensor, once))
        if isinstance(out, torch.Tensor) and out.requires_grad:
            captured[id(out)] = (out, local_error(module, inputs, out, dtype))

    hooks = [m.register_forward_hook(keep) for m in wide.modules() if m is not wide]
    logits = chosen(wide(symbols()))
    for hook in hooks:
        hook.remove()
    tensors, errors = zip(*captured.values(), strict=True)
    bounds = []
    for logit in logits:
        found = torch.autograd.grad(logit, tensors, retain_graph=True, allow_unused=True)
        pairs = zip(found, errors, strict=True)
        bounds.append(2 * sum(float((g.abs() * e).sum()) for g, e in pairs if g is not None))
    return logits.detach(), torch.tensor(bounds, dtype=torch.float64)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_forward_pass_is_that_of_float64_within_the_rounding_of_its_dtype(
    name: str, dtype: torch.dtype
) -> None:
    model = model_of(SHAPES[name], dtype)
    exact, bound = first_order_bound(model, dtype)
    with torch.no_grad():
        found = model(symbols())
    assert found.dtype == dtype
    assert bool(found.isfinite().all())
    gaps = (chosen(found).double() - exact).abs()
    assert bool((gaps <= bound).all())
    # The bound is not idle: that of a finer dtype is exceeded, and so is this one by other weights.
    finer = torch.float64 if dtype == torch.float32 else torch.float32
    assert bool((gaps > first_order_bound(model, finer)[1]).any())
    with torch.no_grad():
        model.blocks[0].attention_norm.weight[0] *= 64  # type: ignore[union-attr]
        spoiled = chosen(model(symbols())).double()
    assert bool(((spoiled - exact).abs() > bound).any())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("make", [FiberBundleBlock, StandardBlock])
def test_blocks_keep_dtype_and_shape(make: Callable[..., Any], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    block = make(12, 3, 20).to(dtype)
    x = torch.randn(2, 7, 12, generator=torch.Generator().manual_seed(1)).to(dtype)
    x.requires_grad_()
    found = block(x, causal=True)
    assert (found.dtype, found.shape, found.device) == (dtype, x.shape, x.device)
    found.float().square().sum().backward()
    assert all(p.grad is not None and bool(p.grad.isfinite().all()) for p in block.parameters())
    assert all(p.grad.dtype == dtype for p in block.parameters())


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_gpu_finds_what_the_processor_finds(dtype: torch.dtype) -> None:
    model = model_of(FIBER, dtype)
    exact, bound = first_order_bound(model, dtype)
    with torch.no_grad():
        found = model.to("cuda")(symbols().to("cuda"))
    assert found.device.type == "cuda"
    assert bool(((chosen(found).cpu().double() - exact).abs() <= bound).all())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["query", "symmetrised"])
@pytest.mark.parametrize("transport", ["plain", "frames", "phases"])
def test_the_gradient_of_a_block_is_that_of_its_differences(kind: str, transport: str) -> None:
    torch.manual_seed(2)
    block = FiberBundleBlock(4, 1, 3, rank=2, kind=kind, transport=transport).double()
    x = torch.randn(1, 4, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: block(x, causal=True), [x.requires_grad_()])


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
@torch.no_grad()
def test_a_causal_model_of_a_prefix_is_the_prefix(name: str) -> None:
    """Sums of another length round otherwise: chosen logits are within two float64 bounds."""
    model, s = model_of(SHAPES[name], torch.float64), symbols()
    with torch.enable_grad():
        exact, bound = first_order_bound(model, torch.float64)
    for n in (1, 5, 11):
        part = torch.full((2, 12, 11), torch.nan, dtype=torch.float64)
        part[:, :n] = model(s[:, :n])
        gaps = (chosen(part) - exact).abs()
        assert bool((gaps.isnan() | (gaps <= 2 * bound)).all())
        assert not bool(gaps.isnan().all()) or n == 1
    x = model.embed(s)
    for block in model.blocks:
        gap = (block(x[:, :5]) - block(x)[:, :5]).abs().max()
        assert float(gap) > float(bound.max()), "without the mask"


def test_the_feed_forward_step_is_steepest_descent_in_the_metric(draw: Callable[..., Any]) -> None:
    """RA9: with tied weights f is the gradient of sum log cosh(w . x + b), and the step -G^-1 f."""
    t = draw(2, 3, 5, 4, 2)
    torch.manual_seed(4)
    layer = PreconditionedFeedForward(12, 3, 9, torch.tanh).double()
    with torch.no_grad():
        layer.outer.weight.copy_(layer.inner.weight.mT)
        layer.outer.bias.zero_()
    x = t.points.transpose(1, 2).flatten(-2).requires_grad_()
    potential = torch.log(torch.cosh(layer.inner(x))).sum()
    (gradient,) = torch.autograd.grad(potential, x)
    step = layer(x, t.metric).detach().unflatten(-1, (3, 4)).transpose(1, 2)
    covector = gradient.unflatten(-1, (3, 4)).transpose(1, 2)
    growth = 1 + float((t.metric.U / t.metric.D.sqrt()[..., None]).square().sum((-2, -1)).max())
    condition = float(t.metric.D.max() / t.metric.D.min()) * growth
    bound = gamma(64 * 40, 2.0**-53) * growth * condition * float(covector.abs().max())
    back = t.metric.apply(step) + covector
    assert float(back.abs().max()) <= bound
    # Steepest: of all vectors as long, none goes down faster than -|f| in the dual norm.
    along = (covector * step).sum(-1) + (t.metric.norm2(step) * t.metric.norm2(step)).sqrt()
    assert float(along.abs().max()) <= bound * float(step.abs().max()) * 16
    other = MetricField(t.metric.D * 1.001, t.metric.U)
    assert float((other.apply(step) + covector).abs().max()) > bound


def test_half_precision_is_computed_wide() -> None:
    block = FiberBundleBlock(8, 2, 4).to(torch.bfloat16)
    x = torch.randn(1, 3, 8, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    metric = block.metric(x)
    assert metric.D.dtype == metric.U.dtype == accumulation_dtype(torch.bfloat16) == torch.float32
    points, connection = block.geometry(x)
    assert points.dtype == connection.metric.D.dtype == torch.float32


@pytest.mark.slow
@pytest.mark.parametrize("make", [FiberBundleBlock, StandardBlock])
@pytest.mark.parametrize("causal", [False, True])
@torch.no_grad()
def test_padding_changes_nothing_and_may_hold_anything(
    make: Callable[..., Any], causal: bool
) -> None:
    """Left padding, one mask a sequence: the second has two absent tokens in front."""
    torch.manual_seed(0)
    block = make(12, 3, 20).double()
    x = torch.randn(2, 7, 12, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    there = torch.ones(2, 7, dtype=torch.bool)
    there[1, :2] = False
    allowed = (there[:, :, None] & there[:, None, :])[:, None]
    spoiled = x.masked_fill(~there[..., None], torch.nan)
    found = block(spoiled, allowed, causal)
    assert torch.equal(found, block(x.masked_fill(~there[..., None], 7.0), allowed, causal))
    assert bool(found.isfinite().all())
    # The same five tokens alone: sums of another length, in any order, at numbers of size |x|.
    bound = gamma(64 * (7 + 12 + 20), 2.0**-53) * 100 * float(x.abs().max())
    alone = block(x[1:, 2:], causal=causal)
    assert float((found[1:, 2:] - alone).abs().max()) <= bound
    unmasked = block(x, causal=causal)
    assert float((unmasked[1:, 2:] - alone).abs().max()) > 1e3 * bound
    each = allowed.expand(2, 3, 7, 7).clone()
    assert torch.equal(block(spoiled, each, causal), found)
    each[1, 2, 5, 3] = False
    assert not torch.equal(block(spoiled, each, causal)[1, 5], found[1, 5])
    # What sees nothing gets nothing from attention.
    last = block.output if isinstance(block, StandardBlock) else block.attention.output
    last.weight.zero_()
    assert torch.equal(block(spoiled, allowed, causal)[1, :2], found[1, :2])
