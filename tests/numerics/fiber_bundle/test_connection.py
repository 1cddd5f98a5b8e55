"""Transports, curvature and torsion of RA10, and which connections have none."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from numerics.fiber_bundle.connection import Connection, Phases, quarter_turn
from numerics.fiber_bundle.layers import GeodesicAttention, MetricHead, merge_heads, split_heads
from numerics.fiber_bundle.metric_field import MetricField
from numerics.rounding.units import gamma

TRIPLES = torch.tensor([[0, 1, 2], [2, 4, 1], [5, 0, 3], [3, 3, 1], [4, 4, 4]])
I, J, K = TRIPLES.unbind(1)


def allowance(metric: MetricField, size: torch.Tensor) -> float:
    """Bound on the error of three transports of vectors of the given sizes, one number for all.

    A frame or its inverse errs by a few (d + r^2) u, times (1 + |V|^2)^2 by cancellation, and
    multiplies what came before by at most the root of the condition of a metric.
    """
    d, r = metric.U.shape[-2:]
    growth = 1 + float((metric.U / metric.D.sqrt()[..., None]).square().sum((-2, -1)).max())
    spread = float(metric.D.max() / metric.D.min()) * growth
    few = gamma(64 * (d + 8 * r * r + 8), 2.0**-53)
    return few * growth**2 * spread**1.5 * float(size.abs().max()) * d


def connections(t: Any) -> dict[str, Connection]:
    return {"R = I": Connection(t.metric), "phases": Connection(t.metric, t.phases)}


def constant(t: Any) -> MetricField:
    """The metric of the first token everywhere."""
    D, U = t.metric.D[..., :1, :], t.metric.U[..., :1, :, :]
    return MetricField(D.expand_as(t.metric.D), U.expand_as(t.metric.U))


def test_transports_are_isometries_and_inverse_to_each_other(draw: Callable[..., Any]) -> None:
    t = draw(2, 2, 6, 4, 2)
    v = t.values[:, :, :5]
    bound = allowance(t.metric, v)
    for connection in connections(t).values():
        moved = connection.transport(I, J, v)
        gap = t.metric.at(I).norm2(moved).sqrt() - t.metric.at(J).norm2(v).sqrt()
        assert float(gap.abs().max()) <= bound
        assert float((connection.transport(J, I, moved) - v).abs().max()) <= bound
        # The wrong direction is no isometry (RA10's third false twin).
        wrong = t.metric.at(J).norm2(moved).sqrt() - t.metric.at(I).norm2(v).sqrt()
        assert float(wrong.abs().max()) > bound


def test_the_curvature_turns_by_the_sum_of_the_phases(draw: Callable[..., Any]) -> None:
    """E_i (T_ij T_jk T_ki - I) E_i^-1 = exp(angle J) - I, whatever the metrics are."""
    t = draw(2, 2, 6, 4, 2)
    v = t.values[:, :, :5]
    connection, here = Connection(t.metric, t.phases), t.metric.at(I)
    angle = connection.holonomy_angle(TRIPLES)[..., None]
    framed = here.frame(v)
    expected = here.unframe(angle.cos() * framed + angle.sin() * quarter_turn(framed)) - v
    curved = connection.curvature(TRIPLES, v)
    bound = allowance(t.metric, v) * (2 + float(t.phases.between(I, J).abs().max()))
    assert float((curved - expected).abs().max()) <= bound
    length = here.norm2(curved).sqrt() - 2 * (angle[..., 0] / 2).sin().abs() * here.norm2(v).sqrt()
    assert float(length.abs().max()) <= bound * growth_of(here)
    assert float(curved[:, :, :3].abs().max()) > 1e3 * bound, "three places have curvature"
    assert float(curved[:, :, 3:].abs().max()) <= bound, "i = j encloses nothing"


def growth_of(metric: MetricField) -> float:
    """Root of the largest |G|."""
    return float((metric.D.amax() + metric.U.square().sum((-2, -1)).max()).sqrt())


def test_identical_rotations_are_flat_for_all_metrics_but_have_torsion(
    draw: Callable[..., Any],
) -> None:
    """R_ij = I is the teleparallel connection."""
    t = draw(2, 2, 6, 4, 2)
    v, connection = t.values[:, :, :5], Connection(t.metric)
    bound = allowance(t.metric, v)
    assert float(connection.curvature(TRIPLES, v).abs().max()) <= bound
    assert not connection.holonomy_angle(TRIPLES).any()
    assert float(connection.torsion(t.points, TRIPLES)[:, :, :3].abs().max()) > 1e3 * bound


def test_a_constant_metric_without_rotation_has_neither(draw: Callable[..., Any]) -> None:
    t = draw(2, 2, 6, 4, 2)
    v, metric = t.values[:, :, :5], constant(t)
    bound = 4 * allowance(metric, torch.cat([v, t.points], -2))
    flat, turned = Connection(metric), Connection(metric, t.phases)
    assert float(flat.curvature(TRIPLES, v).abs().max()) <= bound
    assert float(flat.torsion(t.points, TRIPLES).abs().max()) <= bound
    # RA14's third false twin: the metric alone decides neither.
    assert float(turned.curvature(TRIPLES, v).abs().max()) > 1e3 * bound
    assert float(turned.torsion(t.points, TRIPLES).abs().max()) > 1e3 * bound


def test_rotations_that_undo_the_frames_leave_nothing(draw: Callable[..., Any]) -> None:
    """R_ij = E_i E_j^-1 with E_i = q_i E makes T_ij = I; here q_i turns by the angle c_i.

    Phases of such an R are c_i - c_j: a = (c, 0), b = (1, 0) to first factor.
    """
    t = draw(1, 1, 6, 4, 2)
    c = t.phases.a[..., :1]
    phases = Phases(c, torch.ones_like(c))
    connection, v = Connection(constant(t), phases), t.values[:, :, :5]
    bound = 4 * allowance(constant(t), v) * (1 + float(c.abs().max()))
    assert float((phases.between(I, J) - (c[..., I, 0] - c[..., J, 0])).abs().max()) <= bound
    assert float(connection.curvature(TRIPLES, v).abs().max()) <= bound, "R is a coboundary"

    def turn(w: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
        return by.cos() * w + by.sin() * quarter_turn(w)

    # In the gauge of the turned frames q_i E the transport is the identity.
    metric = constant(t)
    moved = turn(metric.at(I).frame(connection.transport(I, J, v)), -c[..., I, :])
    assert float((moved - turn(metric.at(J).frame(v), -c[..., J, :])).abs().max()) <= bound


def test_the_line_has_torsion_without_curvature() -> None:
    """x = 0, 1, 2 with E = 1, 2, 3: the gap is -1/3, exactly (RA10)."""
    x = torch.tensor([[0.0], [1.0], [2.0]], dtype=torch.float64)
    E = torch.tensor([[1.0], [2.0], [3.0]], dtype=torch.float64)
    connection = Connection(MetricField(E * E, torch.zeros(3, 1, 1, dtype=torch.float64)))
    triple = torch.tensor([[0, 1, 2]])
    # a + T_ji b - b - T_ki a = 1 + 2 / 2 - 2 - 1 / 3, with roundings of numbers of size 2.
    gap = float(connection.torsion(x, triple)) + 1 / 3
    assert abs(gap) <= gamma(16, 2.0**-53) * 2
    one = torch.ones(1, 1, dtype=torch.float64)
    assert abs(float(connection.curvature(triple, one))) <= gamma(16, 2.0**-53)


def test_no_array_has_the_square_of_the_width(draw: Callable[..., Any]) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Largest(TorchDispatchMode):
        entries = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):  # type: ignore[override]
            found = function(*args, **(kwargs or {}))
            if isinstance(found, torch.Tensor):
                self.entries = max(self.entries, found.numel())
            return found

    n, d, r = 3, 300, 2
    t = draw(1, 1, n, d, r)
    triples, v = torch.tensor([[0, 1, 2]]), t.values[:, :, :1]
    connection = Connection(t.metric, t.phases)
    with Largest() as largest:
        connection.curvature(triples, v)
        connection.torsion(t.points, triples)
        t.metric.solve(t.values)
    assert largest.entries == n * d * r
    with Largest() as largest:
        dense = torch.diag_embed(t.metric.D) + t.metric.U @ t.metric.U.mT
    assert dense.shape[-2:] == (d, d)
    assert largest.entries >= d * d


@pytest.mark.slow
@pytest.mark.parametrize("name", ["curvature", "torsion"])
def test_curvature_and_torsion_have_gradients(draw: Callable[..., Any], name: str) -> None:
    t = draw(1, 1, 3, 2, 1)
    triples = torch.tensor([[0, 1, 2], [2, 0, 1]])

    def outputs(D: torch.Tensor, U: torch.Tensor, a: torch.Tensor, x: torch.Tensor) -> Any:
        connection = Connection(MetricField(D, U), Phases(a, t.phases.b))
        if name == "curvature":
            return connection.curvature(triples, x[..., :2, :])
        return connection.torsion(x, triples)

    leaves = [tensor.clone().requires_grad_() for tensor in
              (t.metric.D, t.metric.U, t.phases.a, t.points)]  # fmt: skip
    assert torch.autograd.gradcheck(outputs, leaves)


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["plain", "frames", "phases"])
@pytest.mark.parametrize("kind", ["query", "symmetrised"])
@torch.no_grad()
def test_a_layer_sums_what_its_transports_carry(
    draw: Callable[..., Any], transport: str, kind: str
) -> None:
    """sum_h W_O^h sum_j A^h_ij T^h_ij v^h_j, every T_ij applied on its own."""
    torch.manual_seed(1)
    layer = GeodesicAttention(12, 3, kind, transport).double()
    head = MetricHead(12, 3, 2).double()
    x = torch.randn(2, 6, 12, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    metric = head(x)
    points, connection = layer.geometry(x, metric)
    values = split_heads(layer.values(x), 3)
    weights = type(draw(1, 1, 1, 2, 1))(points, metric, values, connection).attention(kind)
    i, j = (axis.flatten() for axis in torch.meshgrid(*[torch.arange(6)] * 2, indexing="ij"))
    carried = values[:, :, j]
    if transport != "plain":
        carried = connection.transport(i, j, carried)
    summed = (weights[..., None] * carried.unflatten(2, (6, 6))).sum(3)
    exact = layer.output(merge_heads(summed))
    norm = float(layer.output.weight.abs().sum(-1).max())
    bound = allowance(metric, values) * norm
    assert float((layer(x, metric) - exact).abs().max()) <= bound
    for other in {"plain", "frames", "phases"} - {transport}:
        wrong = GeodesicAttention(12, 3, kind, other).double()
        wrong.load_state_dict(layer.state_dict(), strict=False)
        assert float((wrong(x, metric) - exact).abs().max()) > 1e3 * bound
