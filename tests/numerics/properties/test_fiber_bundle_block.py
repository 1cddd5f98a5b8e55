"""RA14 numerically: falsehoods planted in the attention and the change of basis, corner cases."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from numerics.fiber_bundle import MetricField
from numerics.properties import Residual, fiber_bundle_block, run_property

SOUND = fiber_bundle_block.geodesic_attention
CLAUSES = fiber_bundle_block.CLAUSES


@pytest.mark.slow
def test_reductions_hold_within_their_rounding() -> None:
    result = run_property("RA14", fiber_bundle_block)
    assert result.ok, result.failures
    assert result.examples == 200
    assert result.nonzero >= 50
    assert 0 < result.max_ratio <= 1
    assert result.tightness >= 0.1
    assert result.planted_rejected
    assert not result.exhausted
    assert result.clauses == tuple(sorted(CLAUSES))


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


@pytest.mark.slow
@pytest.mark.parametrize("clause", CLAUSES)
@pytest.mark.parametrize("kind", fiber_bundle_block.KINDS)
@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (5, 3), (2, 6), (9, 1)])
def test_shapes_and_paths_are_compared(
    clause: str, kind: str, gradients: bool, n: int, d: int
) -> None:
    assert ratio(clause, n=n, d=d, kind=kind, gradients=gradients) <= 1


@pytest.mark.parametrize("clause", CLAUSES)
def test_equal_and_zero_tokens_are_compared(clause: str) -> None:
    equal = np.repeat(sample(clause).x[:1], 5, axis=0)
    assert ratio(clause, x=equal) <= 1
    assert ratio(clause, x=0 * equal) <= 1


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


def dot_products_alone(points: Any, metric: Any, values: Any, **kw: Any) -> Any:
    """x_i . x_j in place of the distance, where G = I."""
    scores = kw["scale"] * points @ points.mT
    if kw["causal"]:
        scores = scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -torch.inf)
    return torch.softmax(scores, -1) @ values


def metric_of_the_first(points: Any, metric: Any, values: Any, **kw: Any) -> Any:
    first = MetricField(metric.D[..., :1, :].expand_as(metric.D), 0 * metric.U)
    return SOUND(points, first, values, **kw)


def later_tokens_seen(points: Any, metric: Any, values: Any, **kw: Any) -> Any:
    return SOUND(points, metric, values, **{**kw, "causal": False})


def scale_forgotten(points: Any, metric: Any, values: Any, **kw: Any) -> Any:
    return SOUND(points, metric, values, **{**kw, "scale": 1.001 * kw["scale"]})


def columns_unsigned(points: Any, metric: Any, values: Any, **kw: Any) -> Any:
    return SOUND(points, MetricField(metric.D, metric.U.abs()), values, **kw)


FALSEHOODS = {
    dot_products_alone: ("reduction",),
    metric_of_the_first: ("homogeneous", "signed_permutations", "causal"),
    later_tokens_seen: ("causal",),
    scale_forgotten: CLAUSES,
    columns_unsigned: ("homogeneous", "signed_permutations", "causal"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "clause"),
    [(wrong, clause) for wrong, clauses in FALSEHOODS.items() for clause in clauses],
    ids=lambda part: getattr(part, "__name__", part),
)
def test_falsehood_in_the_attention_is_caught(
    wrong: Any, clause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ratio(clause) <= 1
    monkeypatch.setattr(fiber_bundle_block, "geodesic_attention", wrong)
    assert ratio(clause) > 100


@pytest.mark.slow
def test_the_run_names_the_clause_of_a_falsehood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fiber_bundle_block, "geodesic_attention", later_tokens_seen)
    (failure,) = run_property("RA14", fiber_bundle_block, max_examples=40).failures
    assert failure.startswith("RA14 causal: residual / bound = ")
    assert "counterexample: Sample(" in failure


def test_the_key_norms_are_needed() -> None:
    """x = 0, 1, 3: the first row has logits 0, -1/2, -9/2, not 0, 0, 0."""
    x = np.array([[0.0], [1.0], [3.0]])
    given = sample("reduction", 3, 1, x=x, v=np.eye(3)[:, :1])
    score = fiber_bundle_block._dot_products(given)
    assert [str(score(0, j)) for j in range(3)] == ["0", "-1/2", "-9/2"]


def values_stay(given: fiber_bundle_block.Sample) -> tuple[np.ndarray, ...]:
    return *MOVED(given)[:3], given.v


def diagonal_stays(given: fiber_bundle_block.Sample) -> tuple[np.ndarray, ...]:
    x, _, U, v = MOVED(given)
    return x, given.D, U, v


def columns_stay(given: fiber_bundle_block.Sample) -> tuple[np.ndarray, ...]:
    x, D, _, v = MOVED(given)
    return x, D, given.U, v


MOVED = fiber_bundle_block.moved


@pytest.mark.parametrize(
    "wrong", [values_stay, diagonal_stays, columns_stay], ids=lambda wrong: wrong.__name__
)
def test_falsehood_in_the_change_of_basis_is_caught(
    wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fiber_bundle_block, "moved", wrong)
    assert ratio("signed_permutations") > 100
    assert ratio("signed_permutations", places=np.arange(3), signs=np.ones(3)) <= 1


@pytest.mark.slow
def test_bound_a_hundred_times_too_loose_is_caught() -> None:
    def loose(given: fiber_bundle_block.Sample) -> Residual:
        residual = fiber_bundle_block.residual(given)
        return replace(residual, bound=100 * residual.bound)

    module: Any = SimpleNamespace(samples=fiber_bundle_block.samples, residual=loose)
    failures = run_property("RA14", module, max_examples=80).failures
    for clause in CLAUSES:
        assert any(f"{clause}: bound too loose" in failure for failure in failures)
