"""Functions of matrices: divided differences without cancellation, gradients, symmetry."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import torch

from numerics.spaces.spectral import (
    exp_difference,
    log_difference,
    sinc,
    singular,
    spectral,
    symmetric,
)

DOUBLE = torch.float64
GAPS = [0.0, 1e-15, 1e-9, 1e-7, 1e-3, 0.3, 1.0, 9.0]
U = 2.0**-53


def exact(of: Callable[[Any], Any], slope: Callable[[Any], Any], a: float, b: float) -> float:
    with mpmath.workdps(60):
        x, y = mpmath.mpf(a), mpmath.mpf(b)
        return float(slope(x) if x == y else (of(x) - of(y)) / (x - y))


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("base", [1e-6, 0.7, 20.0])
def test_divided_differences_keep_their_digits_however_near(base: float, gap: float) -> None:
    a, b = base, base * (1 + gap)
    pairs = [
        (log_difference, mpmath.log, lambda t: 1 / t),
        (exp_difference, mpmath.exp, mpmath.exp),
    ]
    for difference, of, slope in pairs:
        expected = exact(of, slope, a, b)
        for found in (difference(np.array(a), np.array(b)), difference(np.array(b), np.array(a))):
            assert np.isfinite(found)
            # Quotients of a few roundings; exp carries those of its argument, at most 200 here.
            assert abs(float(found) - expected) <= 64 * (1 + b) * U * abs(expected)


def test_logarithms_far_apart_keep_their_digits() -> None:
    for a, b in ((1e-12, 1e4), (1e-300, 1.0), (3.0, 9.0)):
        expected = exact(mpmath.log, lambda t: 1 / t, a, b)
        assert abs(float(log_difference(np.array(a), np.array(b))) / expected - 1) <= 16 * U


def test_plain_quotients_would_lose_them() -> None:
    a, b = np.array(0.7), 0.7 * (1 + 1e-12 * np.arange(1, 50))
    plain = (np.log(a) - np.log(b)) / (a - b)
    # 1 / a to first order in the gap, of which 50e-12 / 2 is the next.
    assert abs(plain * a - 1).max() > 1e-6 > 3e-11 > abs(log_difference(a, b) * a - 1).max()


@pytest.mark.parametrize("x", [0.0, 1e-200, 1e-9, 9e-5, 1.1e-4, 0.5, -0.5, 3.0, -40.0])
def test_sinc_and_its_derivative_have_their_digits(x: float) -> None:
    at = torch.tensor(x, dtype=DOUBLE, requires_grad=True)
    value = sinc(at)
    (slope,) = torch.autograd.grad(value, at)
    with mpmath.workdps(60):
        t = mpmath.mpf(x)
        even = mpmath.sin(t) / t if x else mpmath.mpf(1)
        odd = (mpmath.cos(t) - even) / t if x else mpmath.mpf(0)
    assert abs(float(value.detach()) - float(even)) <= 8 * U
    # Next to the series' end, where x^2 is the root of a roundoff, the quotient loses half.
    assert abs(float(slope) - float(odd)) <= 8 * U**0.5 * abs(x) + 8 * U


def turned(*values: float) -> torch.Tensor:
    draw = torch.from_numpy(np.random.default_rng(0).normal(size=(len(values),) * 2))
    basis = torch.linalg.qr(draw)[0]
    return symmetric("a", (basis * torch.tensor(values, dtype=DOUBLE)) @ basis.mT)


@pytest.mark.slow
@pytest.mark.parametrize(
    "values", [(1.0, 1.0, 2.0, 3.0), (2.0, 2.0, 2.0, 2.0), (0.1, 0.2, 4.0, 9.0)]
)
def test_gradients_of_functions_of_matrices_agree_with_differences(values: Any) -> None:
    a = turned(*values).requires_grad_(True)
    for value, difference in ((torch.log, log_difference), (torch.exp, exp_difference)):
        # gradcheck pulls back one entry at a time: gradients that are not symmetric.
        assert torch.autograd.gradcheck(
            lambda m, f=value, d=difference: spectral((m + m.mT) / 2, f, d), (a,)
        )


def test_gradient_follows_a_wrong_divided_difference_and_gradcheck_sees_it() -> None:
    a = turned(1.0, 1.0, 2.0, 3.0).requires_grad_(True)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(
            lambda m: spectral((m + m.mT) / 2, torch.log, exp_difference), (a,)
        )


def ones(a: Any, b: Any) -> Any:
    return 0 * (a + b)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_gradient_of_the_oriented_polar_factor_agrees_with_differences(sign: float) -> None:
    m = sign * torch.from_numpy(np.random.default_rng(1).normal(size=(3, 3)))
    m = m.requires_grad_(True)
    factor = singular(m, torch.ones_like, ones, oriented=True)
    assert abs(float(torch.linalg.det(factor.detach())) - 1) <= 64 * U
    assert torch.autograd.gradcheck(lambda x: singular(x, torch.ones_like, ones, True), (m,))
    plain = singular(m.detach(), torch.ones_like, ones)
    assert torch.sign(torch.linalg.det(plain)) == torch.sign(torch.linalg.det(m.detach()))


def test_a_factor_gives_small_eigenvalues_twice_the_digits() -> None:
    factor = np.diag([1.0, 1e-12])[None] @ np.linalg.qr([[1.0, 2.0], [3.0, 4.0]])[0]
    a = symmetric("a", factor @ factor.swapaxes(-1, -2))
    with np.errstate(invalid="ignore", divide="ignore"):
        log = spectral(a, np.log, log_difference, factor)
    assert abs(log[0, 1, 1] / np.log(1e-24) - 1) <= 1e-3


def test_symmetry_is_asked_for_up_to_rounding() -> None:
    a = np.random.default_rng(2).normal(size=(4, 5, 5))
    a = a + a.swapaxes(-1, -2)
    a[2, 0, 1] = np.nextafter(a[2, 1, 0], 9.0)
    even = symmetric("a", a)
    assert (even == even.swapaxes(-1, -2)).all()
    assert float(abs(even - a).max()) <= U * float(abs(a).max())
    huge = np.full((1, 2, 2), np.finfo(float).max)
    assert (symmetric("a", huge) == huge).all()
    for wrong in (1.0, 1e-9):
        a[2, 0, 1] = a[2, 1, 0] + wrong
        with pytest.raises(ValueError, match=r"^a must be symmetric, got .* at \(2, 0, 1\)"):
            spectral(a, np.exp, exp_difference)
