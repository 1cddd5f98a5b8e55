"""Stress of CW5 and CW9: what the connection walk satisfies, and faults in one of its sides."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from numerics import blockwise
from numerics.evidence.comparison import compare
from numerics.rounding.roundoff import gamma, units
from numerics.stress import kernel_walk
from numerics.stress.connection import Connection
from numerics.stress.frames import Frames
from numerics.stress.kernel_bound import kernel_bound
from numerics.stress.rounding import NoBound, precision
from numerics.stress.theorems import laplacian_reduction as energy
from numerics.stress.theorems import reversibility_defects as defects
from numerics.stress.theorems.reversibility_defects import Defects, Sampled
from tests.numerics.properties.plant import Plant
from tests.numerics.stress.theorems.sides import CPU, Faults, drawn

connected = partial(drawn, "CW5", n=40, d=12, seed=3)
sampled = partial(drawn, "CW9", n=40, d=12, seed=3)


def dyadic(cell: str) -> Connection:
    """A connection whose frames hold powers of 2 and shears 0 or 1: float64 arithmetic is exact."""
    c = connected(cell, n=4, d=5, dtype="float64").inputs
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
    walk, rows = connected(cell, dtype="float64").inputs.walk, slice(0, 40)
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
    c = connected("energy", n=3, d=5).inputs
    frames = Frames(
        torch.full((3, 5), 2.0), torch.tensor([0.0, 0, 0, 1, 1]).expand(3, 5), c.frames.partner
    )
    x = torch.arange(15.0).reshape(3, 5)
    assert frames.apply(x)[0].tolist() == [0, 2, 4, 6, 10]
    assert torch.equal(frames.solve(frames.apply(x)), x)


def rolled(c: Connection) -> Connection:
    return replace(c, walk=replace(c.walk, points=c.walk.points.roll(1, 0)))


SPOILS: dict[str, Callable[[Connection], Connection]] = {
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
GROSS = ("transports with the wrong sign", "metrics left out", "drift left out")


def in_connection(names: tuple[str, ...]) -> dict[str, Callable[[Sampled], Sampled]]:
    return {
        name: lambda drawn, spoil=SPOILS[name]: replace(drawn, connection=spoil(drawn.connection))
        for name in names
    }


def uniform(sound: Any, walk: Any) -> kernel_walk.Law:
    law = sound(walk)
    return replace(law, stationary=torch.full_like(law.stationary, 1 / walk.tokens))


BOTH = "energy, each token"
ENERGY = {
    "a missing half": Plant(BOTH, "flow_rows", lambda sound, *given: 2 * sound(*given)),
    "a law that is not stationary": Plant("energy", "walk_law", uniform),
}
ADJOINT = {
    "of the wrong direction": Plant(
        "operator", "transport_matrices", lambda sound, c, i, j: sound(c, j, i)
    ),
    # W* = (pi_j / pi_i) P_ji T_ji^T holds for the Euclidean metric only.
    "without the metrics": Plant(
        "operator", "metrics", lambda sound, c, i: [torch.eye(12) for _ in sound(c, i)]
    ),
}
FAULTS = [
    Faults(connected, SPOILS, ("energy",), blames=BOTH),
    Faults(
        connected, {name: SPOILS[name] for name in GROSS}, ("energy",), "bfloat16 float16",
        "right", blames="each token",
    ),
    Faults(connected, ENERGY, dtypes="float32"),
    Faults(
        sampled, in_connection(("scores of other tokens", "drift left out")), sides="right",
        # The kernel is symmetric: only the drift is irreversible, whatever the scores.
        holds=frozenset({("reversibility", "scores of other tokens")}),
    ),
    Faults(sampled, in_connection(("turns of the wrong token",)), ("operator",), "float32", "left"),
    Faults(sampled, ADJOINT, ("operator",), "float32"),
]  # fmt: skip


@pytest.mark.parametrize("cell", energy.CELLS)
def test_the_energy_identity_needs_isometries(cell: str) -> None:
    """Transports 1 percent too long on both sides: hypothesis (c) is gone, and so is equality."""

    def longer(c: Connection) -> Connection:
        return replace(c, turns=c.turns * 1.01)

    found = connected(cell, dtype="float64").judged(longer, longer)
    assert not found["energy"].ok
    assert not found["each token"].ok


def test_scores_that_could_underflow_have_no_bound() -> None:
    sides = connected("energy")
    c = sides.inputs
    far = replace(c, walk=replace(c.walk, points=8 * c.walk.points))
    with pytest.raises(NoBound, match="a weight could underflow"):
        sides.on(far).judged()


def test_the_drift_is_the_defect_at_every_token() -> None:
    """The kernel is reversible and the cycle is not: every token's share of the defect is e / n."""
    sides = sampled("reversibility", dtype="float64")
    left = sides.left()
    share = Defects(torch.full_like(left.result, kernel_walk.DRIFT / 40))
    assert sides.equal(left, share)
    assert not sides.equal(Defects(2 * left.result), share)


def test_flows_and_their_reversals_exchanged_leave_the_defect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The smaller of both flows is symmetric in them; the larger is not the overlap."""
    honest, sides = torch.minimum, sampled("reversibility")
    monkeypatch.setattr(torch, "minimum", lambda out, back: honest(back, out))
    assert sides.agree()
    monkeypatch.setattr(torch, "minimum", torch.maximum)
    assert not sides.agree()


@pytest.mark.parametrize("k", [1, 2, 3, 7, 8, 13, 100])
def test_the_pairwise_sum_loses_no_term(k: int) -> None:
    terms = torch.arange(3 * k, dtype=torch.float32).reshape(3, k) ** 2
    assert torch.equal(blockwise.pairwise_sum(terms), terms.double().sum(-1).float())
