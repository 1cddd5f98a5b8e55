"""Metrics of tokens: the same as LowRankMetric's, with gradients where eigenvalues meet."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from numerics.fiber_bundle import capacitance
from numerics.fiber_bundle.metric_field import MetricField
from numerics.metrics import LowRankMetric
from numerics.rounding.units import gamma

OPERATIONS = ("apply", "solve", "frame", "unframe")


def growth(metric: MetricField) -> torch.Tensor:
    """1 + |V|^2 (..., n), V = D^-1/2 U: what cancellation may multiply an error by."""
    return 1 + (metric.U / metric.D.sqrt()[..., None]).square().sum((-2, -1))


def allowance(metric: MetricField, v: torch.Tensor) -> torch.Tensor:
    """Bound (..., n) on |error| for vectors, all in the norm |.|_D or its dual.

    V^T V has an error gamma_d |V|^2, its eigenvectors one of a few r u; the cores have norm 1 and
    divided differences at most 1, so an error e in S moves V core V^T by at most |V|^2 e.
    """
    d, r = metric.U.shape[-2:]
    few = gamma(4 * d + 32 * r * r + 32, 2.0**-53)
    return few * growth(metric) ** 2 * v.abs().amax(-1) * d


@pytest.mark.parametrize(("d", "r"), [(1, 1), (5, 2), (8, 4), (3, 3)])
def test_metrics_solve_and_frame_like_low_rank_metrics(
    draw: Callable[..., Any], d: int, r: int
) -> None:
    t = draw(1, 1, 7, d, r)
    D, U, v = t.metric.D[0, 0], t.metric.U[0, 0], t.values[0, 0]
    ours, theirs = MetricField(D, U), LowRankMetric(D, U)
    peer = {"apply": theirs.apply, "solve": theirs.solve, "frame": theirs.frame().apply,
            "unframe": theirs.frame().solve}  # fmt: skip
    size = allowance(ours, v) * torch.maximum(1 / D, D).amax(-1)
    for name in OPERATIONS:
        gap = (getattr(ours, name)(v) - peer[name](v)).norm(dim=-1)
        assert bool((gap <= size).all()), name
        wrong = MetricField(D, U * (1 + 1e-6))
        assert bool(((getattr(wrong, name)(v) - peer[name](v)).norm(dim=-1) > size).any()), name


def test_a_frame_is_an_isometry_and_a_solve_an_inverse(draw: Callable[..., Any]) -> None:
    t = draw(2, 3, 9, 6, 2)
    m, v = t.metric, t.values
    size = allowance(m, v) * torch.maximum(1 / m.D, m.D).amax(-1)
    assert bool(((m.unframe(m.frame(v)) - v).norm(dim=-1) <= size * growth(m)).all())
    assert bool(((m.solve(m.apply(v)) - v).norm(dim=-1) <= size * growth(m)).all())
    length = m.frame(v).square().sum(-1)
    assert bool(((length - m.norm2(v)).abs() <= 4 * size * length.sqrt()).all())
    assert bool(((length - v.square().sum(-1)).abs() > 4 * size * length.sqrt()).all())
    assert bool(((m.apply(v) * v).sum(-1) > 0).all())


def test_metrics_of_some_tokens_are_theirs(draw: Callable[..., Any]) -> None:
    t, places = draw(2, 1, 5, 4, 2), torch.tensor([3, 3, 0])
    assert torch.equal(t.metric.at(places).D, t.metric.D[:, :, places])
    some = t.metric.at(places).solve(t.values[:, :, places])
    assert torch.equal(some, t.metric.solve(t.values)[:, :, places])


@pytest.mark.slow
@pytest.mark.parametrize("case", ["generic", "no columns", "equal columns", "orthonormal columns"])
def test_gradients_exist_where_eigenvalues_meet(draw: Callable[..., Any], case: str) -> None:
    t = draw(1, 1, 3, 4, 2)
    D, U, v = t.metric.D[0, 0].clone(), t.metric.U[0, 0].clone(), t.values[0, 0].clone()
    if case == "no columns":
        U = torch.zeros_like(U)
    elif case == "equal columns":
        U[..., 1] = U[..., 0]
    elif case == "orthonormal columns":
        U = torch.eye(4, 2, dtype=U.dtype).expand(3, 4, 2).clone()
        D = torch.ones_like(D)
    leaves = [tensor.requires_grad_() for tensor in (D, U, v)]
    for name in OPERATIONS:
        assert torch.autograd.gradcheck(
            lambda D, U, v, name=name: getattr(MetricField(D, U), name)(v), leaves
        )


def test_the_gradient_of_eigenvectors_would_not_do() -> None:
    """What the closed divided differences are for: torch's own has none at V = 0."""
    V = torch.zeros(4, 2, dtype=torch.float64, requires_grad=True)
    values, basis = torch.linalg.eigh(V.mT @ V)
    core = (basis / (1 + torch.sqrt(1 + values))) @ basis.mT
    weights = torch.tensor([[1.0, 2.0], [2.0, 5.0]], dtype=torch.float64)
    (found,) = torch.autograd.grad((core * weights).sum() + (V * V).sum(), V)
    assert not found.isfinite().all()
    (ours,) = torch.autograd.grad((capacitance.cores(V).frame * weights).sum(), V)
    assert torch.equal(ours, torch.zeros_like(V))


@pytest.mark.slow
@pytest.mark.parametrize("core", [0, 1, 2], ids=["frame", "unframe", "solve"])
def test_a_wrong_divided_difference_fails_the_gradient_check(
    core: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    backward = capacitance._Cores.backward

    def spoiled(ctx: Any, *upstream: torch.Tensor) -> torch.Tensor:
        heavier = [g * (1.01 if k == core else 1) for k, g in enumerate(upstream)]
        return backward(ctx, *heavier)

    g = torch.Generator().manual_seed(0)
    V = torch.randn(4, 2, generator=g, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda V: capacitance.cores(V)[core], [V])
    monkeypatch.setattr(capacitance._Cores, "backward", staticmethod(spoiled))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(lambda V: capacitance.cores(V)[core], [V])
