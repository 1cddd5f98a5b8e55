"""Scores of Riemannian attention: against rationals, across kinds, blocks, libraries, bad input."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from numerics.properties import score_rank as ra1
from numerics.rounding import roundoff
from numerics.scores import KINDS, geodesic_scores, midpoint_scores, sphere_tokens
from numerics.scores import geodesic as scores

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def tokens_and_metrics(seed: int, n: int = 5, d: int = 3, r: int = 2) -> Arrays:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.uniform(0.5, 2, size=(n, d)), rng.normal(size=(n, d, r))


def exact_distances(x: np.ndarray, D: np.ndarray, U: np.ndarray) -> np.ndarray:
    """|x_i - x_j|^2 in the metric of i as fractions, from dense metrics."""
    n, d = x.shape
    tokens = [[Fraction(v) for v in row] for row in x.tolist()]
    found = np.empty((n, n), dtype=object)
    for i in range(n):
        columns = [[Fraction(v) for v in row] for row in U[i].tolist()]
        metric = [
            [
                sum(p * q for p, q in zip(columns[a], columns[b], strict=True))
                + (Fraction(D[i, a].item()) if a == b else 0)
                for b in range(d)
            ]
            for a in range(d)
        ]
        for j in range(n):
            step = [p - q for p, q in zip(tokens[i], tokens[j], strict=True)]
            found[i, j] = sum(step[a] * metric[a][b] * step[b] for a in range(d) for b in range(d))
    return found


def within(actual: np.ndarray, exact: np.ndarray, bound: np.ndarray) -> bool:
    assert np.isfinite(actual).all()
    return bool((np.abs(actual - exact.astype(np.float64)) <= bound + 2.0**-52 * abs(actual)).all())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_query_scores_are_minus_half_the_exact_squared_distance(seed: int, dtype: Any) -> None:
    x, D, U = (part.astype(dtype) for part in tokens_and_metrics(seed))
    exact = exact_distances(x, D, U) * Fraction(-1, 2)
    bound = ra1.scores_error(x, D, U)
    assert within(geodesic_scores(x, D, U), exact, bound)
    assert not within(geodesic_scores(x, D, U), -exact, bound)
    assert not within(geodesic_scores(x, D, -U[::-1].copy()), exact, bound)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("squared", [True, False])
def test_key_scores_transpose_query_scores_and_symmetrised_ones_average(
    seed: int, squared: bool
) -> None:
    x, D, U = tokens_and_metrics(seed)
    query, key, average = (geodesic_scores(x, D, U, kind, squared=squared) for kind in KINDS)
    assert (key == query.T).all()
    assert (average == average.T).all()
    assert (query != query.T).any()
    squares = [s if squared else -(s * s) for s in (query, key, average)]
    # A square root, a square and an average: four roundings of each entry.
    np.testing.assert_allclose(squares[2], (squares[0] + squares[1]) / 2, rtol=8 * 2.0**-53, atol=0)


def test_a_token_has_score_zero_with_itself_and_near_tokens_keep_their_digits() -> None:
    x = np.array([[-1e4 / 7, 1.0], [1e4 / 3, 0.0], [1e4 / 3 + 1e-3, 0.0]])
    D = np.ones((3, 2))
    S, lost = geodesic_scores(x, D), geodesic_scores(x, D, products=True)
    assert (np.diag(S) == 0).all()
    exact = float(exact_distances(x, D, np.zeros((3, 2, 1)))[1, 2]) / -2
    # One subtraction, which is exact, one square, one sum with zero and one conversion.
    np.testing.assert_allclose(S[1, 2], exact, rtol=4 * 2.0**-53, atol=0)
    assert abs(lost[1, 2] / exact - 1) > 2.0**20 * 2.0**-53, "products keep absolute digits only"


@pytest.mark.parametrize("seed", range(3))
def test_products_agree_up_to_the_squared_diameter(seed: int) -> None:
    x, D, U = tokens_and_metrics(seed, n=7, d=4, r=3)
    one, other = geodesic_scores(x, D, U), geodesic_scores(x, D, U, products=True)
    size = np.abs(x - x[:1]).max() ** 2 * (D.max() + (U * U).sum(axis=(1, 2)).max()) * x.shape[1]
    bound = 8 * roundoff.gamma(16, 2.0**-53) * size
    assert (one != other).any()
    np.testing.assert_allclose(other, one, rtol=0, atol=bound)
    far = x + 2.0**20
    distances = geodesic_scores(far, D, U), geodesic_scores(far, D, U, products=True)
    np.testing.assert_allclose(*distances, rtol=0, atol=bound)


def test_blocks_of_queries_do_not_change_the_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    x, D, U = tokens_and_metrics(0, n=7)
    whole = geodesic_scores(x, D, U)
    for entries in (1, 45, 10**9):
        monkeypatch.setattr(scores, "_BLOCK", entries)
        np.testing.assert_allclose(
            geodesic_scores(x, D, U), whole, rtol=0, atol=ra1.scores_error(x, D, U).max()
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("products", [True, False])
def test_torch_and_numpy_agree(kind: str, products: bool) -> None:
    arrays = tokens_and_metrics(3)
    ours = geodesic_scores(*arrays, kind, products=products)
    x, D, U = map(torch.tensor, arrays)
    theirs = geodesic_scores(x, D, U, kind, products=products)
    assert isinstance(theirs, torch.Tensor)
    bound = (
        4 * ra1.scores_error(*arrays).max()
        + ra1.features_error(
            arrays[0], np.eye(3) * arrays[1][:, :, None] + arrays[2] @ arrays[2].transpose(0, 2, 1)
        ).max()
    )
    np.testing.assert_allclose(theirs.numpy(), ours, rtol=0, atol=bound)


def test_gradients_reach_tokens_and_metrics() -> None:
    x, D, U = (torch.tensor(part, requires_grad=True) for part in tokens_and_metrics(1))
    geodesic_scores(x, D, U, "symmetrised").sum().backward()
    for part in (x, D, U):
        assert part.grad is not None
        assert bool(torch.isfinite(part.grad).all())
        assert bool((part.grad != 0).any())


def test_midpoint_scores_of_a_constant_field_are_query_scores_and_of_any_field_symmetric() -> None:
    x, D, U = tokens_and_metrics(2)
    one = np.repeat(D[:1], 5, axis=0), np.repeat(U[:1], 5, axis=0)
    constant = midpoint_scores(x, lambda points: one)
    np.testing.assert_allclose(
        constant, geodesic_scores(x, *one), rtol=0, atol=2 * ra1.scores_error(x, *one).max()
    )
    varying = midpoint_scores(x, lambda points: (1 + points * points, None), squared=False)
    assert (varying == varying.T).all()
    middle = (x[0] + x[1]) / 2
    step = x[0] - x[1]
    expected = -np.sqrt((step * step * (1 + middle * middle)).sum())
    np.testing.assert_allclose(varying[0, 1], expected, rtol=roundoff.gamma(12, 2.0**-53), atol=0)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_sphere_tokens_lie_on_the_sphere_at_every_scale(scale: float) -> None:
    x, _, _ = tokens_and_metrics(5, n=6, d=4)
    unit = sphere_tokens(scale * x)
    np.testing.assert_allclose(
        (unit * unit).sum(axis=1), np.full(6, 4.0), rtol=roundoff.gamma(16, 2.0**-53), atol=0
    )
    gain = np.array([1.0, 2.0, 0.5, 4.0])
    assert (sphere_tokens(scale * x, gain) == unit * gain).all()


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "kind": (lambda x, D, U: geodesic_scores(x, D, U, "both"), ValueError, "kind must be one of"),
    "list": (lambda x, D, U: geodesic_scores(x.tolist(), D, U), TypeError, "x must be a NumPy"),
    "mixed": (lambda x, D, U: geodesic_scores(x, D.astype("f4"), U), TypeError, "D must have the"),
    "shape of D": (lambda x, D, U: geodesic_scores(x, D[0], U), ValueError, "D must have shape"),
    "shape of U": (lambda x, D, U: geodesic_scores(x, D, U[0]), ValueError, "U must have shape"),
    "tokens": (lambda x, D, U: geodesic_scores(x[0], D, U), ValueError, "x must have shape"),
    "zero D": (lambda x, D, U: geodesic_scores(x, 0 * D, U), ValueError, "D must be positive"),
    "NaN": (lambda x, D, U: geodesic_scores(x * np.nan, D, U), ValueError, "x must be finite"),
    "NaN in U": (lambda x, D, U: geodesic_scores(x, D, U * np.nan), ValueError, "U must be finite"),
    "midpoint": (lambda x, D, U: midpoint_scores(x, lambda p: (D[:1], None)), ValueError, "D must"),
    "zero token": (lambda x, D, U: sphere_tokens(0 * x), ValueError, "x must be nonzero in every"),
    "gain": (lambda x, D, U: sphere_tokens(x, D), ValueError, "gain must have shape"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_by_name(case: str) -> None:
    call, error, message = BAD[case]
    with pytest.raises(error, match=message):
        call(*tokens_and_metrics(0))


def test_scores_that_overflow_are_refused() -> None:
    x, D, _ = tokens_and_metrics(0)
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="scores must be finite"):
        geodesic_scores(1e200 * x, D)
