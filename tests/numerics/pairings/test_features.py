"""Features of exp(q . k): exact cases, expectations, variances and errors."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
import torch

from numerics.evidence.comparison import Residual
from numerics.pairings import features
from numerics.pairings.features import (
    antithetic_features,
    estimate_variance,
    frequencies,
    positive_features,
    taylor_dimension,
    taylor_error_bound,
    taylor_features,
    trigonometric_features,
)
from numerics.rounding.roundoff import gamma

Q, K = np.array([[0.5, -0.25]]), np.array([[0.25, 0.5]])
MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "positive": positive_features,
    "antithetic": antithetic_features,
    "trigonometric": trigonometric_features,
}
DRAWS = 40_000
U = 2.0**-53


@pytest.mark.slow
def test_gaussian_integrals_give_the_expectations_that_the_theorem_starts_from() -> None:
    """In one coordinate; the law of omega and both kinds of exponent are products over them."""
    w, y = sympy.symbols("w y", real=True)
    density = sympy.exp(-(w**2) / 2) / sympy.sqrt(2 * sympy.pi)

    def mean(value: Any) -> Any:
        return sympy.simplify(sympy.integrate(density * value, (w, -sympy.oo, sympy.oo)))

    assert mean(sympy.exp(w * y)) == sympy.exp(y**2 / 2)
    assert mean(sympy.cos(w * y)) == sympy.exp(-(y**2) / 2)


def estimates(kind: str, q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """One estimate for each of many frequencies, as m = 1 features would give it."""
    omega = frequencies(DRAWS, q.shape[1], 7, q)
    one, other = (MAKERS[kind](x, omega)[0] * math.sqrt(DRAWS) for x in (q, k))
    products = one * other
    return products if kind == "positive" else products[:DRAWS] + products[DRAWS:]


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize(("q", "k"), [(Q, K), (Q, -Q), (Q, Q), (2 * Q, K)])
def test_estimates_have_the_mean_and_the_variance_that_the_theorem_gives(
    kind: str, q: np.ndarray, k: np.ndarray
) -> None:
    found = estimates(kind, q, k)
    variance = float(estimate_variance(kind, q, k, 1)[0, 0])
    # Six standard errors of the mean and, with the fourth moment found, of the variance.
    centred = found - math.exp(float((q @ k.T)[0, 0]))
    rounding = 2.0**-40 * float(np.abs(found).max())
    assert abs(centred.mean()) <= 6 * math.sqrt(variance / DRAWS) + rounding
    error = 6 * float(np.std(centred**2)) / math.sqrt(DRAWS) + rounding
    assert abs(float((centred**2).mean()) - variance) <= error


def test_the_interval_of_the_variance_tells_a_false_formula() -> None:
    found = (estimates("positive", Q, K) - math.exp(float((Q @ K.T)[0, 0]))) ** 2
    error = 6 * float(np.std(found)) / math.sqrt(DRAWS)
    second_moment = math.exp(2 * float((Q @ K.T)[0, 0]) + float(((Q + K) ** 2).sum()))
    assert abs(float(found.mean()) - second_moment) > error
    halved = float(estimate_variance("positive", Q, K, 2)[0, 0])
    assert abs(float(found.mean()) - halved) > error


def test_positive_estimates_of_antipodes_are_exact() -> None:
    assert estimate_variance("positive", Q, -Q, 3).tolist() == [[0.0]]
    assert estimate_variance("antithetic", Q, -Q, 3).tolist() == [[0.0]]
    assert estimate_variance("trigonometric", Q, Q, 3).tolist() == [[0.0]]
    assert float(estimate_variance("trigonometric", Q, -Q, 3)[0, 0]) > 0


def test_antithetic_pairs_save_more_than_half() -> None:
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    plus = ((q[:, None, :] + k[None, :, :]) ** 2).sum(axis=2)
    ratio = estimate_variance("antithetic", q, k, 1) / estimate_variance("positive", q, k, 1)
    stated = -np.expm1(-plus) / 2
    # Exponents are sums of d products, of size at most twice |q|^2 + |k|^2.
    squares = (q**2).sum(axis=1)[:, None] + (k**2).sum(axis=1)[None, :]
    relative = np.expm1(8 * gamma(q.shape[1] + 4, U) * squares) + gamma(64, U)
    assert Residual("antithetic", ratio, stated, relative * stated, 3).ratio() <= 1
    assert (ratio < 0.5).all()


def test_trigonometric_estimates_may_be_negative_and_positive_ones_may_not() -> None:
    one, omega = np.array([[2.0]]), np.array([[1.0]])
    zero = np.zeros((1, 1))
    assert (
        float((trigonometric_features(one, omega) @ trigonometric_features(zero, omega).T)[0, 0])
        < 0
    )
    assert (positive_features(one, omega) > 0).all()


@pytest.mark.parametrize("d", range(1, 6))
def test_there_are_as_many_taylor_features_as_monomials(d: int) -> None:
    for degree in range(6):
        count = taylor_features(np.ones((2, d)), degree).shape[1]
        assert count == taylor_dimension(d, degree) == math.comb(d + degree, degree)
        if d > 1 and degree > 0:
            assert count == taylor_dimension(d - 1, degree) + taylor_dimension(d, degree - 1)


def polynomial(s: Fraction, degree: int) -> Fraction:
    return sum((s**r / math.factorial(r) for r in range(degree + 1)), start=Fraction(0))


@pytest.mark.parametrize("degree", range(8))
def test_taylor_polynomials_are_positive_everywhere_iff_the_degree_is_even(degree: int) -> None:
    values = [polynomial(Fraction(s, 4), degree) for s in range(-80, 40)]
    assert all(value > 0 for value in values) == (degree % 2 == 0)
    assert (polynomial(Fraction(-degree - 1), degree) < 0) == (degree % 2 == 1)


@pytest.mark.parametrize("degree", range(6))
def test_relative_errors_stay_below_their_bounds(degree: int) -> None:
    for s in (-6.0, -2.0, -0.25, 0.25, 1.0, 5.0):
        error = abs(math.exp(s) - float(polynomial(Fraction(s), degree))) / math.exp(s)
        assert error <= taylor_error_bound(s, degree)
    assert taylor_error_bound(0.0, degree) == 0.0
    assert taylor_error_bound(-1e6, degree) == math.inf


def test_without_its_exponential_the_bound_is_false_for_negative_scores() -> None:
    # s = -2, p = 1: T_1 = -1, and the relative error 1 + e^2 exceeds 2.
    assert 2 < 1 + math.exp(2) <= taylor_error_bound(-2.0, 1) < 2.001 * math.exp(2)


@pytest.mark.parametrize("kind", MAKERS)
def test_torch_has_the_features_of_numpy(kind: str) -> None:
    x = torch.tensor([[0.5, -0.25], [1.0, 2.0]], dtype=torch.float64)
    omega = frequencies(3, 2, 5, x)
    assert isinstance(omega, torch.Tensor)
    plain = frequencies(3, 2, 5, x.numpy())
    assert (omega.numpy() == plain).all()
    found, expected = MAKERS[kind](x, omega).numpy(), MAKERS[kind](x.numpy(), plain)
    # Exponents and angles are sums of d products, cos and sin of size 1 times e^{|x|^2 / 2}.
    half = (x.numpy() ** 2).sum(axis=1, keepdims=True) / 2
    size = float((np.abs(x.numpy()) @ np.abs(plain).T).max() + half.max())
    relative = math.expm1(4 * gamma(x.shape[1] + 4, U) * size) + gamma(16, U)
    bound = relative * (np.abs(expected) + np.exp(half))
    assert Residual("torch", found, expected, bound, 2).ratio() <= 1
    assert (taylor_features(x, 3).numpy() == taylor_features(x.numpy(), 3)).all()


def test_frequencies_come_from_their_seed_in_every_dtype() -> None:
    wide, narrow = (frequencies(4, 2, 11, np.ones(1, dtype)) for dtype in (np.float64, np.float32))
    assert (wide.astype(np.float32) == narrow).all()
    assert (wide != frequencies(4, 2, 12, np.ones(1))).any()


def test_a_planted_weight_is_seen_by_the_dimension_and_the_product(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(features, "_monomial", lambda x, word: np.prod(x[:, list(word)], axis=1))
    product = (taylor_features(Q, 2) @ taylor_features(Q, 2).T)[0, 0]
    assert product > float(polynomial(Fraction(5, 16), 2)) + 0.01
