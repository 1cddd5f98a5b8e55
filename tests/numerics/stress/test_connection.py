"""Stress of CW5 and CW9: what the connection walk satisfies, and faults in one of its sides."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from numerics import blockwise
from numerics.arrays import dtype_name
from numerics.evidence.comparison import Comparison, compare, merged
from numerics.rounding.roundoff import gamma, units
from numerics.stress import connection, kernel_walk
from numerics.stress.cell import Cell
from numerics.stress.connection import Connection
from numerics.stress.frames import Frames
from numerics.stress.kernel_bound import kernel_bound
from numerics.stress.kernel_walk import KernelWalk
from numerics.stress.rounding import NoBound, precision
from numerics.stress.theorems import laplacian_reduction as energy
from numerics.stress.theorems import reversibility_defects as defects
from numerics.stress.theorems.reversibility_defects import Defects, Sampled

CPU = torch.device("cpu")
Spoil = Callable[[Any], Any]


def connected(cell: str = "energy", dtype: torch.dtype = torch.float32, n: int = 40, d: int = 12):
    return connection.draw(Cell("CW5", cell, n, d, 1, dtype_name(dtype), "cpu", 3), CPU)[0]


def judge(
    module: Any, inputs: Any, name: str, left: Spoil = lambda x: x, right: Spoil = lambda x: x
) -> dict[str, Comparison]:
    """The cell's comparisons with each side on inputs of its own, the bound on the honest ones."""
    cell = Cell("", name)  # the theorem is that of the module
    with blockwise.exact_products():
        sides = module.left_side(left(inputs), cell), module.right_side(right(inputs), cell)
        c = inputs.connection if module is defects else inputs
        blocks = module.comparisons(inputs, cell, *sides, precision(c.field.dtype, CPU))
        return {item.name: item for item in merged(blocks)}


def dyadic(cell: str) -> Connection:
    """A connection whose frames hold powers of 2 and shears 0 or 1: float64 arithmetic is exact."""
    c = connected(cell, torch.float64, n=4, d=5)
    stretch = 2.0 ** (torch.arange(20).reshape(4, 5) % 3)
    shear = torch.where(c.frames.shear > 0, 1.0, 0.0).double()
    return replace(c, frames=replace(c.frames, stretch=stretch.double(), shear=shear))


EDGES = torch.cartesian_prod(torch.arange(4), torch.arange(4)).mT


@pytest.mark.parametrize("cell", energy.CELLS)
def test_transports_are_isometries_of_the_metrics_exactly(cell: str) -> None:
    c, (i, j) = dyadic(cell), EDGES
    transport = defects.transport_matrices(c, i, j)
    (at_i, inverse), (at_j, _) = defects.metrics(c, i), defects.metrics(c, j)
    assert torch.equal(transport.mT @ at_i @ transport, at_j)
    assert torch.equal(at_i @ inverse, torch.eye(5, dtype=torch.float64).expand(16, 5, 5))
    assert bool((at_i.diagonal(dim1=1, dim2=2).amax(1) > 1).all())
    assert bool(at_i.tril(-1).any())


@pytest.mark.parametrize(("cell", "inverse"), [("laplacian", True), ("energy", False)])
def test_transports_invert_each_other_in_the_laplacian_only(cell: str, inverse: bool) -> None:
    c, (i, j), eye = dyadic(cell), EDGES, torch.eye(5, dtype=torch.float64).expand(16, 5, 5)
    there, back = defects.transport_matrices(c, i, j), defects.transport_matrices(c, j, i)
    assert torch.equal(there @ back, eye) is inverse
    assert not torch.equal(there, eye)


@pytest.mark.parametrize(("cell", "reversible"), [("laplacian", True), ("energy", False)])
def test_the_walk_is_reversible_in_the_laplacian_only(cell: str, reversible: bool) -> None:
    walk, rows = connected(cell, torch.float64).walk, slice(0, 40)
    flow = kernel_walk.flow_rows(walk, kernel_walk.total_flow(walk), rows)
    bound = kernel_bound(walk, precision(torch.float64, CPU)).flow(walk, rows).error
    apart = compare("flow", flow, flow.mT, bound + bound.mT, 40)
    assert apart.ok is reversible
    into, out = flow.sum(0), flow.sum(1)
    law = kernel_walk.walk_law(walk).stationary
    lost = bound.sum(0) + bound.sum(1) + gamma(45, units(flow.dtype).acc) * (into + out)
    assert compare("stationary", into, out, lost, 40).ok
    law_error = kernel_bound(walk, precision(torch.float64, CPU)).stationary.error
    assert compare("law", law, out, law_error + lost, 40).ok


def test_frames_solve_what_they_apply() -> None:
    """With stretch 2 and shear 1 every operation is exact."""
    c = connected(n=3, d=5)
    frames = Frames(
        torch.full((3, 5), 2.0), torch.tensor([0.0, 0, 0, 1, 1]).expand(3, 5), c.frames.partner
    )
    x = torch.arange(15.0).reshape(3, 5)
    assert frames.apply(x)[0].tolist() == [0, 2, 4, 6, 10]
    assert torch.equal(frames.solve(frames.apply(x)), x)


def rolled(c: Connection) -> Connection:
    return replace(c, walk=replace(c.walk, points=c.walk.points.roll(1, 0)))


FAULTS: dict[str, Callable[[Connection], Connection]] = {
    "transports with the wrong sign": lambda c: replace(c, signs=-c.signs),
    "orthogonal part transposed": lambda c: replace(
        c, order=c.order.argsort(), signs=c.signs[c.order.argsort()]
    ),
    "turns of the wrong token": lambda c: replace(c, turns=c.turns.roll(1, 0)),
    "metrics of the wrong token": lambda c: replace(
        c, frames=replace(c.frames, stretch=c.frames.stretch.roll(1, 0))
    ),
    "metrics left out": lambda c: replace(
        c, frames=replace(c.frames, stretch=torch.ones_like(c.frames.stretch))
    ),
    "shear with the wrong sign": lambda c: replace(
        c, frames=replace(c.frames, shear=-c.frames.shear)
    ),
    "scores of other tokens": rolled,
    "drift left out": lambda c: replace(c, walk=replace(c.walk, drift=0.0)),
    "field scaled by 1.01": lambda c: replace(c, field=c.field * 1.01),
    "field with the wrong signs": lambda c: replace(c, flips=c.flips.roll(1, 1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_one_side_of_the_energy_is_rejected(fault: str, dtype: torch.dtype) -> None:
    c = connected("energy", dtype)
    assert all(item.ok for item in judge(energy, c, "energy").values())
    for sides in ({"left": FAULTS[fault]}, {"right": FAULTS[fault]}):
        found = judge(energy, c, "energy", **sides)
        assert found["energy"].finite
        assert not found["energy"].ok, found
        assert not found["each token"].ok, found


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_gross_faults_in_the_energy_are_rejected_in_half_precision(dtype: torch.dtype) -> None:
    for fault in ("transports with the wrong sign", "metrics left out", "drift left out"):
        found = judge(energy, connected("energy", dtype), "energy", right=FAULTS[fault])
        assert not found["each token"].ok, fault


@pytest.mark.parametrize("cell", energy.CELLS)
def test_a_missing_half_is_rejected(cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = kernel_walk.flow_rows
    monkeypatch.setattr(energy, "flow_rows", lambda *args: 2 * honest(*args))
    found = judge(energy, connected(cell), cell)
    assert not found["energy"].ok
    assert not found["each token"].ok


@pytest.mark.parametrize("cell", energy.CELLS)
def test_a_law_that_is_not_stationary_is_rejected(
    cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def uniform(walk: KernelWalk) -> kernel_walk.Law:
        law = kernel_walk.walk_law(walk)
        return replace(law, stationary=torch.full_like(law.stationary, 1 / walk.tokens))

    monkeypatch.setattr(energy, "walk_law", uniform)
    assert not judge(energy, connected(cell), cell)["energy"].ok


@pytest.mark.parametrize("cell", energy.CELLS)
def test_the_energy_identity_needs_isometries(cell: str) -> None:
    """Transports 1 percent too long on both sides: hypothesis (c) is gone, and so is equality."""
    c = connected(cell, torch.float64)
    longer = replace(c, turns=c.turns * 1.01)
    found = judge(energy, c, cell, left=lambda _: longer, right=lambda _: longer)
    assert not found["energy"].ok
    assert not found["each token"].ok


def test_scores_that_could_underflow_have_no_bound() -> None:
    c = connected()
    far = replace(c, walk=replace(c.walk, points=8 * c.walk.points))
    with pytest.raises(NoBound, match="a weight could underflow"):
        judge(energy, far, "energy")


def sampled(dtype: torch.dtype = torch.float32) -> Sampled:
    return defects.draw(Cell("CW9", "operator", 40, 12, 1, dtype_name(dtype), "cpu", 3), CPU)[0]


def spoilt(fault: str) -> Spoil:
    return lambda drawn: replace(drawn, connection=FAULTS[fault](drawn.connection))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("fault", ["scores of other tokens", "drift left out"])
@pytest.mark.parametrize("cell", defects.CELLS)
def test_a_fault_in_the_walk_of_one_side_is_rejected(
    cell: str, fault: str, dtype: torch.dtype
) -> None:
    drawn = sampled(dtype)
    assert judge(defects, drawn, cell)[cell].ok
    found = judge(defects, drawn, cell, right=spoilt(fault))[cell]
    if (cell, fault) == ("reversibility", "scores of other tokens"):
        # The kernel is symmetric: only the drift is irreversible, whatever the scores.
        assert found.ok
    else:
        assert not found.ok


def test_turns_of_the_wrong_token_are_rejected_in_the_operator() -> None:
    wrong = spoilt("turns of the wrong token")
    assert not judge(defects, sampled(), "operator", left=wrong)["operator"].ok


def test_the_drift_is_the_defect_at_every_token() -> None:
    """The kernel is reversible and the cycle is not: every token's share of the defect is e / n."""
    drawn = sampled(torch.float64)
    model = precision(torch.float64, CPU)
    with blockwise.exact_products():
        left = defects.left_side(drawn, Cell("CW9", "reversibility"))
        share = Defects(torch.full_like(left.result, kernel_walk.DRIFT / 40))
        (found,) = merged(
            defects.comparisons(drawn, Cell("CW9", "reversibility"), left, share, model)
        )
        twice = Defects(2 * left.result)
        (doubled,) = merged(
            defects.comparisons(drawn, Cell("CW9", "reversibility"), twice, share, model)
        )
    assert found.ok
    assert not doubled.ok


def test_flows_and_their_reversals_exchanged_leave_the_defect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The smaller of both flows is symmetric in them; the larger is not the overlap."""
    honest = torch.minimum
    monkeypatch.setattr(torch, "minimum", lambda out, back: honest(back, out))
    assert judge(defects, sampled(), "reversibility")["reversibility"].ok
    monkeypatch.setattr(torch, "minimum", torch.maximum)
    assert not judge(defects, sampled(), "reversibility")["reversibility"].ok


def test_an_adjoint_of_the_wrong_direction_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = defects.transport_matrices
    monkeypatch.setattr(defects, "transport_matrices", lambda c, i, j: honest(c, j, i))
    assert not judge(defects, sampled(), "operator")["operator"].ok


def test_an_adjoint_without_the_metrics_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """W* = (pi_j / pi_i) P_ji T_ji^T holds for the Euclidean metric only."""
    honest = defects.metrics
    monkeypatch.setattr(defects, "metrics", lambda c, i: [torch.eye(12) for _ in honest(c, i)])
    assert not judge(defects, sampled(), "operator")["operator"].ok


@pytest.mark.parametrize("k", [1, 2, 3, 7, 8, 13, 100])
def test_the_pairwise_sum_loses_no_term(k: int) -> None:
    terms = torch.arange(3 * k, dtype=torch.float32).reshape(3, k) ** 2
    assert torch.equal(blockwise.pairwise_sum(terms), terms.double().sum(-1).float())
