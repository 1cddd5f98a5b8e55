"""RA14 numerically: falsehoods planted in the attention and the change of basis, corner cases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from numerics.fiber_bundle import MetricField
from numerics.properties import fiber_bundle_block
from tests.numerics.properties.plant import Plant

CLAUSES = fiber_bundle_block.CLAUSES
EXAMPLES = 40
ALONE = True
LOOSE = 100


def dot_products_alone(_: Any, points: Any, metric: Any, values: Any, **kw: Any) -> Any:
    """x_i . x_j in place of the distance, where G = I."""
    scores = kw["scale"] * points @ points.mT
    if kw["causal"]:
        scores = scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -torch.inf)
    return torch.softmax(scores, -1) @ values


def metric_of_the_first(sound: Any, points: Any, metric: Any, values: Any, **kw: Any) -> Any:
    first = MetricField(metric.D[..., :1, :].expand_as(metric.D), 0 * metric.U)
    return sound(points, first, values, **kw)


ATTENTION = "geodesic_attention"
FALSEHOODS = {
    "dot products alone": Plant("reduction", ATTENTION, dot_products_alone),
    "metric of the first": Plant(
        "homogeneous signed_permutations causal", ATTENTION, metric_of_the_first),
    "later tokens seen": Plant("causal", ATTENTION, lambda sound, *given, **kw: (
        sound(*given, **{**kw, "causal": False}))),
    "scale forgotten": Plant(" ".join(CLAUSES), ATTENTION, lambda sound, *given, **kw: (
        sound(*given, **{**kw, "scale": 1.001 * kw["scale"]}))),
    "columns unsigned": Plant(
        "homogeneous signed_permutations causal", ATTENTION,
        lambda sound, points, metric, values, **kw: (
            sound(points, MetricField(metric.D, metric.U.abs()), values, **kw))),
    "values stay": Plant(
        "signed_permutations", "moved", lambda sound, given: (*sound(given)[:3], given.v)),
    "diagonal stays": Plant("signed_permutations", "moved", lambda sound, given: (
        sound(given)[0], given.D, *sound(given)[2:])),
    "columns stay": Plant("signed_permutations", "moved", lambda sound, given: (
        *sound(given)[:2], given.U, sound(given)[3])),
}  # fmt: skip


def sample(clause: str, n: int = 5, d: int = 3, **changed: Any) -> fiber_bundle_block.Sample:
    rng, eye = np.random.default_rng(n + d), clause == "reduction"
    D, U = np.exp(rng.normal(size=(n, d))), rng.normal(size=(n, d, 2))
    if clause == "homogeneous":
        D, U = np.repeat(D[:1], n, axis=0), np.repeat(U[:1], n, axis=0)
    found = fiber_bundle_block.Sample(
        clause, rng.normal(size=(n, d)), np.ones((n, d)) if eye else D, 0 * U if eye else U,
        rng.normal(size=(n, d)), None, np.roll(np.arange(d), 1), (-1.0) ** np.arange(d), "query",
        1.0, False,
    )  # fmt: skip
    return replace(found, **changed)


def ratio(clause: str, **changed: Any) -> float:
    return fiber_bundle_block.residual(sample(clause, **changed)).ratio()


CORNERS = {
    f"{clause}, {kind}, n = {n}, d = {d}{', gradients' * gradients}": sample(
        clause, n=n, d=d, kind=kind, gradients=gradients)
    for clause in CLAUSES for kind in fiber_bundle_block.KINDS for gradients in (False, True)
    for n, d in ((1, 1), (5, 3), (2, 6), (9, 1))
}  # fmt: skip
for clause in CLAUSES:
    equal = np.repeat(sample(clause).x[:1], 5, axis=0)
    CORNERS[f"{clause}, equal tokens"] = sample(clause, x=equal)
    CORNERS[f"{clause}, zero tokens"] = sample(clause, x=0 * equal)


@pytest.mark.parametrize("clause", ["reduction", "homogeneous", "signed_permutations"])
def test_a_row_that_sees_nothing_is_exactly_zero(clause: str) -> None:
    allowed = np.ones((5, 5), bool)
    allowed[2] = False
    found = fiber_bundle_block.residual(sample(clause, allowed=allowed))
    assert found.ratio() <= 1
    assert np.asarray(found.lhs)[2].tolist() == np.asarray(found.rhs)[2].tolist() == [0, 0, 0]


@pytest.mark.parametrize("clause", ["reduction", "homogeneous", "signed_permutations"])
def test_a_hidden_first_token_leaves_another_common_one(clause: str) -> None:
    """The token that the products subtract is then not the first, which is far away."""
    x = sample(clause).x
    x[0] = 50.0
    allowed = np.ones((5, 5), bool)
    allowed[0], allowed[:, 0] = False, False
    assert ratio(clause, x=x, allowed=allowed) <= 1


def test_the_key_norms_are_needed() -> None:
    """x = 0, 1, 3: the first row has logits 0, -1/2, -9/2, not 0, 0, 0."""
    x = np.array([[0.0], [1.0], [3.0]])
    given = sample("reduction", 3, 1, x=x, v=np.eye(3)[:, :1])
    score = fiber_bundle_block._dot_products(given)
    assert [str(score(0, j)) for j in range(3)] == ["0", "-1/2", "-9/2"]
