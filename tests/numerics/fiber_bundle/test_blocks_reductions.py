"""What a Fiber Bundle block is when its metrics are trivial, and under changes of basis (RA14)."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional

from numerics.fiber_bundle.attention import geodesic_attention
from numerics.fiber_bundle.blocks import FiberBundleBlock, StandardBlock
from numerics.fiber_bundle.connection import Connection
from numerics.fiber_bundle.layers import GeodesicAttention, split_heads
from numerics.fiber_bundle.metric_field import MetricField
from numerics.fiber_bundle.rounding import attention_error
from numerics.laplacians.reversibility import reversibility_defect
from numerics.rounding.units import gamma

U64 = 2.0**-53
WIDTH, HEADS, HIDDEN = 12, 3, 20


def flat_block(**chosen: Any) -> FiberBundleBlock:
    """A block whose metrics are all I, its other weights seeded."""
    torch.manual_seed(0)
    block = FiberBundleBlock(WIDTH, HEADS, HIDDEN, **chosen).double()
    for layer in (block.metric.diagonal, block.metric.columns):
        torch.nn.init.zeros_(layer.weight)
    return block


def twin(block: FiberBundleBlock, key_norms: bool = True, sign: float = -1.0) -> StandardBlock:
    """The standard block with tied queries and keys and the same weights; -f instead of f."""
    found = StandardBlock(WIDTH, HEADS, HIDDEN, tied=True, key_norms=key_norms).double()
    pairs = {
        found.keys: block.attention.points, found.values: block.attention.values,
        found.output: block.attention.output, found.inner: block.feed_forward.inner,
        found.outer: block.feed_forward.outer, found.attention_norm: block.attention_norm,
        found.feed_forward_norm: block.feed_forward_norm,
    }  # fmt: skip
    for theirs, ours in pairs.items():
        theirs.load_state_dict(ours.state_dict())
    with torch.no_grad():
        found.outer.weight.mul_(sign)
        found.outer.bias.mul_(sign)
    return found


def block_bound(block: FiberBundleBlock, x: torch.Tensor, causal: bool) -> torch.Tensor:
    """Bound (B, n, 1) on the norm of the difference of two blocks of equal weights.

    Both attentions err by at most `attention_error` (torch's from dot products of the same size);
    W_O carries that on; RMSNorm, W_1, gelu and W_2 multiply it by their Lipschitz constants
    sqrt(width) / |x|, |W_1|, 1.13 and |W_2|, and add roundings of their own.
    """
    y = block.attention_norm(x)
    metric = block.metric(y)
    points, values = (
        split_heads(layer(y), HEADS) for layer in (block.attention.points, block.attention.values)
    )
    scale = points.shape[-1] ** -0.5
    steps = points[..., None, :, :] - points[..., :, None, :]
    scores = steps.square().sum(-1) * (-scale / 2)
    seen = torch.ones_like(scores, dtype=torch.bool)
    seen = seen.tril() if causal else seen
    error = attention_error(points, metric, values, scores, scale, "query", seen)
    norm = torch.linalg.matrix_norm
    first = 2 * error.square().sum((1, 3)).sqrt()[..., None] * norm(block.attention.output.weight)
    first = first + gamma(8 * WIDTH, U64) * (x.abs().sum(-1, keepdim=True) + values.abs().sum())
    middle = x + block.attention(y, metric, None, causal)
    lipschitz = WIDTH**0.5 / middle.norm(dim=-1, keepdim=True)
    inner, outer = block.feed_forward.inner, block.feed_forward.outer
    through = 1.13 * norm(inner.weight) * norm(outer.weight)
    sizes = (WIDTH**0.5 + inner.bias.norm()) * through + outer.bias.norm()
    return 2 * first * (1 + lipschitz * through) + gamma(16 * (WIDTH + HIDDEN), U64) * sizes


@pytest.fixture
def x() -> torch.Tensor:
    g = torch.Generator().manual_seed(7)
    return torch.randn(2, 11, WIDTH, generator=g, dtype=torch.float64)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["query", "symmetrised"])
@pytest.mark.parametrize("transport", ["plain", "frames"])
@pytest.mark.parametrize("causal", [False, True])
@torch.no_grad()
def test_trivial_metrics_give_a_block_with_tied_keys_and_key_norms(
    x: torch.Tensor, kind: str, transport: str, causal: bool
) -> None:
    block = flat_block(kind=kind, transport=transport)
    bound = block_bound(block, x, causal)
    ours, theirs = block(x, causal=causal), twin(block)(x, causal=causal)
    assert bool(((ours - theirs).norm(dim=-1, keepdim=True) <= bound).all())
    # A standard block without the key norms, or with +f, is another one (RA14's first false twin).
    for other in (twin(block, key_norms=False), twin(block, sign=1.0)):
        gap = (ours - other(x, causal=causal)).norm(dim=-1, keepdim=True)
        assert bool((gap > bound).any())


@torch.no_grad()
def test_the_reduction_is_torch_attention_with_a_column_bias(draw: Callable[..., Any]) -> None:
    t = draw(2, 3, 13, 4, 2)
    one = MetricField(torch.ones_like(t.metric.D), torch.zeros_like(t.metric.U))
    flat = type(t)(t.points, one, t.values, t.phases)
    for allowed in (None, torch.ones(13, 13, dtype=torch.bool).tril(2)):
        bias = t.points.square().sum(-1)[..., None, :] * -0.25
        hidden = torch.zeros(13, 13, dtype=torch.float64)
        if allowed is not None:
            hidden = hidden.masked_fill(~allowed, -torch.inf)
        found = functional.scaled_dot_product_attention(
            t.points, t.points, t.values, attn_mask=bias + hidden
        )
        seen = flat.visible(allowed, False)
        bound = attention_error(t.points, one, t.values, flat.scores(), 0.5, "query", seen)
        ours = geodesic_attention(t.points, one, t.values, allowed=allowed)
        assert bool(((ours - found).abs() <= 2 * bound).all())
        untied = functional.scaled_dot_product_attention(
            t.points, t.points.flip(-1), t.values, attn_mask=bias + hidden
        )
        assert bool(((ours - untied).abs() > 2 * bound).any())


@torch.no_grad()
def test_the_reduction_is_reversible_and_heterogeneous_queries_are_not(
    draw: Callable[..., Any],
) -> None:
    """CW8: tied keys with any column term. The flow of n states has n^2 roundings of size pi P."""
    t = draw(1, 1, 9, 4, 2)
    n, one = 9, MetricField(torch.ones_like(t.metric.D), torch.zeros_like(t.metric.U))
    eye = torch.eye(n, dtype=torch.float64)[None, None]
    weights = geodesic_attention(t.points, one, eye)[0, 0]
    flat = type(t)(t.points, one, t.values, t.phases)
    error = float(attention_error(t.points, one, eye, flat.scores(), 0.5).max())
    # An entry of P wrong by e moves the stationary law by at most n e / min P (Cho and Meyer).
    bound = 2 * n * n * error / float(weights.min())
    assert reversibility_defect(weights).defect <= bound
    assert reversibility_defect(geodesic_attention(t.points, t.metric, eye)[0, 0]).defect > bound
    same = geodesic_attention(t.points, t.metric, eye, kind="symmetrised")[0, 0]
    assert reversibility_defect(same).defect <= 4 * bound, "RA15: symmetrised scores are too"


@torch.no_grad()
def test_a_flat_block_has_neither_curvature_nor_torsion(x: torch.Tensor) -> None:
    """E = I exactly, so both are exactly 0; a bias makes the metric constant, not I."""
    triples = torch.tensor([[0, 1, 2], [5, 3, 9], [10, 4, 0]])
    block = flat_block()
    points, connection = block.geometry(x)
    v = points[:, :, :3]
    assert not connection.curvature(triples, v).any()
    # a + b - b - a has at most four roundings of the size of a and b.
    size = 4 * U64 * 4 * float(points.abs().max())
    assert float(connection.torsion(points, triples).abs().max()) <= size
    for layer in (block.metric.diagonal, block.metric.columns):
        torch.nn.init.normal_(layer.bias, generator=torch.Generator().manual_seed(1))
    points, connection = block.geometry(x)
    # Metrics of norm and inverse norm at most 10: frames err by 10^2 times some (d + r^2) u.
    bound = gamma(64 * 4 * 100, U64) * float(points.abs().max())
    assert float(connection.curvature(triples, v).abs().max()) <= bound
    assert float(connection.torsion(points, triples).abs().max()) <= bound
    torch.nn.init.normal_(block.metric.diagonal.weight, generator=torch.Generator().manual_seed(2))
    points, connection = block.geometry(x)
    assert float(connection.torsion(points, triples).abs().max()) > 1e3 * bound


def signed_permutation(d: int) -> torch.Tensor:
    g = torch.Generator().manual_seed(d)
    signs = torch.randint(0, 2, (d,), generator=g, dtype=torch.float64) * 2 - 1
    return torch.eye(d, dtype=torch.float64)[torch.randperm(d, generator=g)] * signs


def rotation(d: int) -> torch.Tensor:
    g = torch.Generator().manual_seed(d)
    return torch.linalg.qr(torch.randn(d, d, generator=g, dtype=torch.float64))[0]


def turned(t: Any, Q: torch.Tensor) -> Any:
    """Points, values and columns by Q; D as if Q were a permutation up to signs."""
    metric = MetricField(t.metric.D @ Q.square().mT, Q @ t.metric.U)
    return type(t)(t.points @ Q.mT, metric, t.values @ Q.mT, t.phases)


def transported(t: Any, kind: str) -> torch.Tensor:
    """Attention with transports E_i^-1 E_j."""
    framed = t.metric.frame(t.values)
    return t.metric.unframe(geodesic_attention(t.points, t.metric, framed, kind=kind))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["query", "symmetrised"])
@pytest.mark.parametrize("case", ["signed permutation", "rotation of a scalar core", "rotation"])
@torch.no_grad()
def test_a_change_of_basis_goes_through_where_the_family_is_closed_under_it(
    draw: Callable[..., Any], kind: str, case: str
) -> None:
    """diag + low rank is closed under signed permutations, and under all rotations if D = delta I;
    for a general D the rotation is RA14's second false twin."""
    t = draw(1, 2, 8, 4, 2)
    if case == "rotation of a scalar core":
        delta = t.metric.D[..., :1].expand_as(t.metric.D)
        t = type(t)(t.points, MetricField(delta, t.metric.U), t.values, t.phases)
    Q = signed_permutation(4) if case == "signed permutation" else rotation(4)
    u = turned(t, Q)
    scale, framed = 0.5, t.metric.frame(t.values)
    error = attention_error(t.points, t.metric, framed, t.scores(kind), scale, kind).max()
    error = error + attention_error(u.points, u.metric, framed, u.scores(kind), scale, kind).max()
    # Frames of norm at most |G|^1/2 and back, each wrong by some (d + r^2) u (1 + |V|^2)^2.
    growth = 1 + float((t.metric.U / t.metric.D.sqrt()[..., None]).square().sum((-2, -1)).max())
    spread = float(t.metric.D.min()) ** -0.5
    size = float(t.values.abs().max()) * growth**3 * float(t.metric.D.max()) ** 0.5
    bound = 4 * spread * (2 * float(error) + gamma(64 * (4 + 32), U64) * size)
    gap = (transported(t, kind) @ Q.mT - transported(u, kind)).abs().max()
    assert (float(gap) <= bound) == (case != "rotation")


@torch.no_grad()
def test_a_layer_in_another_basis_of_its_heads_is_the_same_layer(x: torch.Tensor) -> None:
    """Signed permutations pass through the metric head's tanh: D follows |Q|, U follows Q."""
    torch.manual_seed(1)
    block = FiberBundleBlock(WIDTH, HEADS, HIDDEN)
    block, other = block.double(), FiberBundleBlock(WIDTH, HEADS, HIDDEN).double()
    other.load_state_dict(block.state_dict())
    d = WIDTH // HEADS
    for case, Q in (("signed permutation", signed_permutation(d)), ("rotation", rotation(d))):
        heads = torch.block_diag(*[Q] * HEADS)
        turn_columns = torch.block_diag(*[Q] * (HEADS * block.metric.rank))
        pairs = (
            (other.attention.points, block.attention.points, heads),
            (other.attention.values, block.attention.values, heads),
            (other.metric.diagonal, block.metric.diagonal, heads.abs()),
            (other.metric.columns, block.metric.columns, turn_columns),
        )
        for theirs, ours, turn in pairs:
            theirs.weight.copy_(turn @ ours.weight)
        other.attention.output.weight.copy_(block.attention.output.weight @ heads.mT)
        layers = [m.attention(x, m.metric(x)) for m in (block, other)]
        assert isinstance(block.attention, GeodesicAttention)
        size = float(x.abs().max()) * float(block.attention.output.weight.abs().sum(-1).max())
        # About (width + d + r^2) roundings a layer, at metrics of condition e^3 (1 + spread^2).
        bound = gamma(64 * (WIDTH + 40) * 100, U64) * size
        assert (float((layers[0] - layers[1]).abs().max()) <= bound) == (case != "rotation")


def test_a_connection_knows_its_tokens(draw: Callable[..., Any]) -> None:
    t = draw(1, 1, 4, 3, 1)
    with pytest.raises(ValueError, match="phases need an even head width, got 3"):
        Connection(t.metric, t.phases)
