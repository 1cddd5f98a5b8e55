"""Weights P'_ij = P_ij s_j / s_i of another gauge of one walk: if P and P' are row-stochastic and P
has a positive stationary law, then s is constant on edges, and P' = P.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer, Sum

from theorems.assumptions.entries import signed, sums_to_one
from theorems.connection_walks.steps import isometric_gauges as gauges
from theorems.connection_walks.steps.isometric_gauges import (
    P, P2, pi, positive_law, positive_norm, s,
)
from theorems.connection_walks.steps.isometric_heads import has, i, j, known, n, searching
from theorems.checker.exact import Draw, Value
from theorems.rules import Vanishing
from theorems.statement import Assumption, Definition, Iff, Local, Step, array

step, energy, gap = array("tau", n, n), array("z", n, n), array("delta", n, n)


def _choose(draw: Draw) -> None:
    """P, P', s and pi; with all hypotheses s is constant, and one missing lets it vary."""
    if known(draw, P):
        return
    size, fresh, inverse = draw.size(n), draw.source.fresh, draw.source.inverse
    norms, law = [fresh(">0") for _ in range(size)], [fresh(">0") for _ in range(size)]
    weights = _flows(draw, law)
    if has(draw, rows, stochastic, flow):
        if not has(draw, stationary, positive_law):
            weights, law = _absorbing(draw, norms, law)
        elif size == 3 and not has(draw, nonnegative):
            weights = _signed(norms, law)
        else:
            norms = size * norms[:1]
    elif has(draw, rows, flow):
        weights = [[x * norms[k] * inverse(norms[m]) for m, x in enumerate(row)]
                   for k, row in enumerate(weights)]
        law = [x * inverse(norm) for x, norm in zip(law, norms, strict=True)]
    flat = has(draw, flow) and not has(draw, positive_norm) and searching(draw, 2)
    if flat or not has(draw, flow):
        sums_to_one(P2).impose(draw)  # pyright: ignore[reportOptionalCall]
    for k, row in enumerate(weights):
        draw.put(s, (k + 1,), 0 if flat else norms[k])
        if has(draw, stationary):
            draw.put(pi, (k + 1,), law[k])
        for m, weight in enumerate(row):
            draw.put(P, (k + 1, m + 1), weight)
            if has(draw, flow) and not flat:
                draw.put(P2, (k + 1, m + 1), weight * norms[m] * inverse(norms[k]))


def _flows(draw: Draw, law: list[Value]) -> list[list[Value]]:
    """Rows of sum 1 with pi P = pi: flows in balance over their row sums, which become pi."""
    size, part = len(law), [[draw.source.fresh(">=0") for _ in law] for _ in law]
    part = [[part[max(k, m)][min(k, m)] + (m == (k + 1) % size) for m in range(size)]
            for k in range(size)]
    law[:] = [sum(row) for row in part]
    return [[x * draw.source.inverse(total) for x in row]
            for row, total in zip(part, law, strict=True)]


def _absorbing(draw: Draw, norms: list[Value], law: list[Value]) -> tuple[list, list]:
    """Nodes that absorb, and a third whose s is a mean of theirs; pi on the first alone, if any."""
    weights = [[int(k == m) for m in range(len(law))] for k in range(len(law))]
    if len(law) == 3:
        share = draw.source.inverse(1 + draw.source.fresh(">0"))
        weights[2], norms[2] = [share, 1 - share, 0], share * norms[0] + (1 - share) * norms[1]
    return weights, [1, *(len(law) - 1) * [0]] if has(draw, stationary) else law


def _signed(norms: list[Value], law: list[Value]) -> list[list[Value]]:
    """I + u w^T with w 1 = w s = 0 and pi u = 0."""
    x, y, z = norms
    column, row = (law[1], -law[0], 0), (y - z, z - x, x - y)
    return [[int(k == m) + u * w for m, w in enumerate(row)] for k, u in enumerate(column)]


def constructed(item: Assumption) -> Assumption:
    """The hypothesis, constructed together with the others."""
    return replace(item, impose=_choose)


rows, stationary = constructed(gauges.rows), constructed(gauges.stationary)
stochastic = constructed(replace(sums_to_one(P), text="rows of $P$ sum to 1"))
flow = constructed(Local(
    "P s = P' s", "$P_{ij} s_j = P'_{ij} s_i$", ((P[i, j] * s[j], P2[i, j] * s[i]),)))
nonnegative = signed(P, ">=0")

harmonic = Step(
    id="harmonic", lhs=Sum(P[i, j] * s[j], (j, 1, n)), rhs=s[i], by=(flow, rows),
    because="P s = s, since rows of P' sum to 1.")
step_of_norm = Definition(step[i, j], s[i] - s[j])
edge_energy = Definition(energy[i, j], P[i, j] * step[i, j] ** 2)
total_energy = Sum(pi[i] * energy[i, j], (i, 1, n), (j, 1, n))
no_energy = Step(
    id="no_energy", lhs=total_energy, rhs=Integer(0),
    by=(edge_energy, step_of_norm, harmonic, stationary, stochastic),
    because="The energy sum_ij pi_i P_ij (s_i - s_j)^2 of a harmonic s is 0.")
energy_parts = Vanishing(
    id="energy_parts", total=total_energy, part=energy[i, j], weight=pi[i], over=((i, n), (j, n)),
    power=1, strict=True, by=(edge_energy, nonnegative, positive_law),
    because="A sum of nonnegatives.")
edge_at_rest = Step(
    id="edge_at_rest", lhs=energy[i, j], rhs=Integer(0), by=(no_energy, energy_parts),
    because="The energy is 0.")
edge_parts = Vanishing(
    id="edge_parts", total=energy[i, j], part=step[i, j], weight=P[i, j],
    by=(edge_energy, nonnegative), because="P_ij (s_i - s_j)^2 = 0.")
shifted = Step(
    id="shifted", lhs=P[i, j] * s[i], rhs=P[i, j] * s[j] + P[i, j] * step[i, j], by=(step_of_norm,),
    because="The definition of the step.")
same_flow = Step(
    id="same_flow", lhs=s[i] * (P[i, j] - P2[i, j]), rhs=Integer(0),
    by=(shifted, edge_at_rest, edge_parts, flow), because="On edges s_i = s_j.")
weight_gap = Definition(gap[i, j], P[i, j] - P2[i, j])
cancelled = Iff(
    id="cancelled", left=(same_flow.lhs, Integer(0)), right=(gap[i, j], Integer(0)), factor=s[i],
    by=(weight_gap, positive_norm), because="s_i > 0.")
parted = Step(
    id="parted", lhs=P[i, j], rhs=P2[i, j] + gap[i, j], by=(weight_gap,),
    because="The definition of the gap.")
one_walk = Step(
    id="one_walk", lhs=P[i, j], rhs=P2[i, j], by=(parted, same_flow, cancelled),
    because="So P' = P.")
of_one_walk = (harmonic, no_energy, energy_parts, edge_at_rest, edge_parts, shifted, same_flow,
               cancelled, parted, one_walk)
