"""AP8's property holds, is tight and can fail; the numbers of its false twins."""

from __future__ import annotations

from typing import Any

import numpy as np

from numerics.properties import geometric_spaces as ap8
from tests.numerics.properties.plant import Plant

SEEDS = (1,)
EXAMPLES = 40
ALONE = True


def euclidean_norm(_: Any, w: np.ndarray, v: np.ndarray, eta: np.ndarray) -> np.ndarray:
    mean = w @ v
    return mean / np.sqrt(mean @ mean)


def log_euclidean_mean(_: Any, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(v)
    logs = (vectors * np.log(np.clip(values, 1e-9, None))[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    values, basis = np.linalg.eigh((w[:, None, None] * logs).sum(axis=0) / w.sum())
    return (basis * np.exp(values)) @ basis.T


def no_column_term(q: np.ndarray, k: np.ndarray, two_tau: np.floating) -> np.ndarray:
    return 2 * (q @ k.T) / two_tau


def flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(len(x), -1)


FALSEHOODS = {
    "Euclidean product": Plant("quadrics", "form", lambda _, x, y, eta: x @ y.T),
    "Euclidean norm": Plant("normalised_mean", "normalised_mean", euclidean_norm),
    "log-Euclidean mean": Plant("arithmetic_mean", "mean_of", log_euclidean_mean),
    "sums of absolute values": Plant("log_euclidean", "squared_distances", lambda _, x, y: (
        np.abs(x[:, None] - y[None]).reshape(len(x), len(y), -1).sum(axis=2))),
    "traces of absolute values": Plant(
        "grassmannian", "traces", lambda _, x, y: np.abs(flat(x)) @ np.abs(flat(y)).T),
    "untransposed": Plant(
        "rotations", "traces", lambda _, x, y: flat(x) @ flat(np.swapaxes(y, 1, 2)).T),
    "no column term": Plant("flat", "tied_scores", lambda _, *given: no_column_term(*given)),
}  # fmt: skip


def reached(seen: list[Any]) -> None:
    assert {sample.q.dtype.name for sample in seen} == {"float64", "float32"}
    assert {len(sample.eta) for sample in seen} == {1, 2, 3, 4, 5}
    assert {1, 4, 5} == {len(sample.k) for sample in seen}
    assert any((sample.w == 0).any() for sample in seen)
    for clause in ("quadrics", "normalised_mean"):
        assert {sample.eta[0] for sample in seen if sample.clause == clause} == {-1.0, 1.0}


def test_reflections_keep_their_form_exactly() -> None:
    rng = np.random.default_rng(8)
    for eta in (np.array([-1.0, 1.0, 1.0, 1.0]), np.ones(5), np.ones(1)):
        for dtype in (np.float64, np.float32):
            turn = ap8.reflection(rng, eta, dtype)
            assert turn.dtype == dtype
            assert (turn.T @ (eta.astype(dtype)[:, None] * turn) == np.diag(eta)).all()


def test_the_mean_of_two_points_leaves_the_hyperboloid() -> None:
    mean = np.array([[1.0, 0.0], [1.25, 0.75]]).mean(axis=0)
    assert mean @ (np.array([-1.0, 1.0]) * mean) == -72 / 64
    on = ap8.normalised_mean(np.ones(2), np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([-1.0, 1.0]))
    assert (on == [1.0, 0.0]).all()


def test_congruence_changes_the_trace_and_inversion_the_arithmetic_mean() -> None:
    g, K = np.array([[1.0, 1.0], [0.0, 1.0]]), np.diag([1.0, 2.0])
    before, after = (
        ap8.traces(np.eye(2)[None], K[None]),
        ap8.traces((g @ g.T)[None], (g @ K @ g.T)[None]),
    )
    assert (before.item(), after.item()) == (3.0, 12.0)
    pair = np.stack([np.eye(1), 3 * np.eye(1)])
    assert ap8.mean_of(np.full(2, 0.5), pair).item() == 2.0
    assert ap8.mean_of(np.full(2, 0.5), 1 / pair).item() == (1 + 1 / 3) / 2


def test_without_its_column_term_the_flat_limit_is_another_attention() -> None:
    q, k = np.ones((1, 1)), np.array([[0.0], [2.0]])
    assert (ap8.softmax(ap8.tied_scores(q, k, np.float64(2.0))) == [[0.5, 0.5]]).all()
    scores = no_column_term(q, k, np.float64(2.0))
    assert (scores == [[0.0, 2.0]]).all()
