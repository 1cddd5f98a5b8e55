"""Attention on the circle against Bessel functions, and what wrong walks would give instead."""

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import ive

from numerics.evidence.rates import Rate
from numerics.laplacians import continuum
from numerics.laplacians.continuum import (
    HOLONOMY,
    TILT,
    circle_coefficients,
    circle_eigenvalue,
    circle_rates,
    circle_size,
    circle_tokens,
    circle_walk,
    halvings,
    rates,
    sphere_eigenvalue,
    sphere_spectrum,
    sphere_tokens,
    sphere_transports,
)
from numerics.rounding.roundoff import gamma
from numerics.walks import Walk

U = 2.0**-53
ALPHA = HOLONOMY / (2 * math.pi)
TWISTED = [f"circle, holonomy angle 2 pi/5, eigenvalue of mode {k}" for k in (-1, 0, 1)]
DENSITY = "circle, density 1 + cos/2, holonomy angle 2 pi/5: "
LAPLACIAN, DRIFT, POINTWISE = (DENSITY + text for text in (
    "coefficient of the connection Laplacian", "coefficient of the drift",
    "largest error at a token over largest value"))  # fmt: skip


@pytest.mark.slow
def test_every_rate_has_the_predicted_limit_and_order() -> None:
    found = rates()
    assert len({rate.name for rate in found}) == len(found) == 11
    assert [rate.explain() for rate in found if not rate.ok] == []
    targets = [(k + ALPHA) ** 2 for k in (-1, 0, 1)] + [1, 0.5, 1, 0, 1, 5, 11, 5]
    assert [rate.target for rate in found] == targets
    assert [rate.name for rate in found if rate.slope is None] == [
        "sphere, tangent bundle, eigenvalue of degree 1"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("eps", halvings(0.04, 6))
@pytest.mark.parametrize("k", [0, 1, -2, 5])
def test_untwisted_eigenvalues_are_ratios_of_bessel_functions(k: int, eps: float) -> None:
    value, bound = circle_eigenvalue(k, 0.0, eps)
    bessel = 2 * (1 - ive(abs(k), 1 / eps) / ive(0, 1 / eps)) / eps
    assert abs(value - bessel) <= bound + 2 * 32 * U / eps  # ive to 16 units


def test_the_trapezoid_error_is_aliasing_and_falls_faster_than_any_power() -> None:
    k, eps, sizes = 1, 0.02, range(11, 41, 4)
    orders = np.arange(-8, 9)
    errors = []
    for n in sizes:
        value, bound = circle_eigenvalue(k, 0.0, eps, n)
        aliased = np.sum(ive(np.abs(k + n * orders), 1 / eps))
        aliased = 2 * (1 - aliased / np.sum(ive(np.abs(n * orders), 1 / eps))) / eps
        assert abs(value - aliased) <= bound + 2 * 32 * U / eps
        errors.append(abs(value - circle_eigenvalue(k, 0.0, eps)[0]))
    slopes = -np.diff(np.log(errors)) / np.diff(np.log(sizes))
    assert np.all(np.diff(slopes) > 0), f"orders {slopes}"
    assert slopes[-1] > 20


@pytest.mark.slow
@pytest.mark.parametrize("eps", halvings(0.04, 6))
def test_twice_as_many_tokens_change_nothing_beyond_rounding(eps: float) -> None:
    for k in (-1, 0, 1):
        few, bound = circle_eigenvalue(k, HOLONOMY, eps)
        many, other = circle_eigenvalue(k, HOLONOMY, eps, 2 * circle_size(eps) + 1)
        assert abs(few - many) <= bound + other
    # Rows at the same tokens, else the fits differ: every token of n is one of 3 n.
    angles, finer = (circle_tokens(m * circle_size(eps, TILT), TILT) for m in (1, 3))
    applied = []
    for tokens, rows in ((angles, np.arange(angles.size)), (finer, np.arange(1, finer.size, 3))):
        weights, transports, bound = circle_walk(tokens, eps, HOLONOMY, rows)
        applied.append((weights * transports) @ np.exp(1j * tokens))
        bound += gamma(finer.size + 8, U)
        applied[-1] = (applied[-1], bound)
    (few, first), (many, second) = applied
    assert np.max(np.abs(few - many)) <= first + second + 4 * continuum._ANGLE


def test_tokens_are_quantiles_of_the_density() -> None:
    angles = circle_tokens(101, 0.5)
    mass = (angles + 0.5 * np.sin(angles)) / (2 * math.pi)
    assert np.max(np.abs(mass - np.arange(-50, 51) / 101)) <= 4 * U
    even = circle_tokens(101)
    assert np.max(np.abs(even - 2 * math.pi * np.arange(-50, 51) / 101)) <= 16 * U
    assert np.all(np.diff(angles) > 0)


def test_a_row_gives_the_eigenvalues_of_the_walk_with_rotations_of_the_plane() -> None:
    n, eps = 61, 0.04
    weights, transports, _ = circle_walk(circle_tokens(n), eps, HOLONOMY)
    cos, sin = np.real(transports), np.imag(transports)
    turn = np.stack([cos, -sin, sin, cos], axis=-1)
    block = Walk(weights, turn.reshape(n, n, 2, 2)).block_matrix()
    assert np.max(np.abs(block - block.T)) <= 64 * U / eps
    spectrum = 2 * (1 - np.linalg.eigvalsh(block)) / eps
    modes = [circle_eigenvalue(k, HOLONOMY, eps, n) for k in range(-(n // 2), n // 2 + 1)]
    expected = np.repeat(sorted((value for value, _ in modes), reverse=True), 2)
    bound = max(bound for _, bound in modes) + 2 / eps * (64 * U / eps + 64 * 2 * n * U)
    assert np.max(np.abs(spectrum - expected)) <= bound


def test_once_around_the_circle_is_the_rotation_by_theta() -> None:
    n = 31
    transports = circle_walk(circle_tokens(n, TILT), 0.1, HOLONOMY)[1]
    around = np.prod([transports[i, (i + 1) % n] for i in range(n)])
    assert abs(around - np.exp(1j * HOLONOMY)) <= 2 * n * continuum._ANGLE
    # A full turn is no turn: the modes only change their names.
    (full, first), (none, second) = circle_eigenvalue(1, 2 * math.pi, 0.02), circle_eigenvalue(
        2, 0.0, 0.02)  # fmt: skip
    assert abs(full - none) <= first + second


def planted(change: Callable[..., Any]) -> Callable[..., Any]:
    """circle_walk with its result or its arguments changed."""

    def walk(angles: np.ndarray, eps: float, theta: float = 0.0, rows: Any = None) -> Any:
        return change(circle_walk, angles, eps, theta, rows)

    return walk


def quadratic(real: Any, angles: Any, eps: Any, theta: Any, rows: Any) -> Any:
    weights, transports, bound = real(angles, eps, theta, rows)
    arc = angles[None, :] - angles[rows, None]
    return weights, transports * (1 + np.sin(arc) ** 2 / 4), bound


def half_the_density(real: Any, angles: Any, eps: Any, theta: Any, rows: Any) -> Any:
    weights, transports, bound = real(angles, eps, theta, rows)
    weights = weights / np.sqrt(1 + TILT * np.cos(angles))
    return weights / np.sum(weights, axis=1, keepdims=True), transports, bound


def unnormalised(real: Any, angles: Any, eps: Any, theta: Any, rows: Any) -> Any:
    weights, transports, bound = real(angles, eps, theta, rows)
    return weights * (1 + eps / 10), transports, bound


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "lost"),
    [
        (lambda f, a, e, t, r: f(a, e, -t, r), {TWISTED[0], TWISTED[2], LAPLACIAN, POINTWISE}),
        (lambda f, a, e, t, r: f(a, e, 0.0, r), {*TWISTED, LAPLACIAN, DRIFT, POINTWISE}),
        (lambda f, a, e, t, r: f(a, e, t / 2, r), {*TWISTED, LAPLACIAN, DRIFT, POINTWISE}),
        (lambda f, a, e, t, r: f(a, e / 2, t, r), {*TWISTED, LAPLACIAN, DRIFT, POINTWISE}),
        (quadratic, {*TWISTED, LAPLACIAN, POINTWISE}),
        (unnormalised, {*TWISTED, LAPLACIAN, POINTWISE}),
        (half_the_density, {DRIFT, POINTWISE}),
    ],
    ids=["opposite rotation", "no transport", "half the angle", "half the bandwidth",
         "second-order transport", "rows not normalised", "half the density"],
)  # fmt: skip
def test_a_wrong_walk_has_another_limit(
    change: Callable[..., Any], lost: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(continuum, "circle_walk", planted(change))
    failed = {rate.name for rate in circle_rates() if not rate.ok}
    assert lost <= failed, f"passed: {lost - failed}"


def drift(target: float) -> Rate:
    """The measured coefficient of the drift against a target."""
    epsilons = halvings(0.04, 6)
    fits = [circle_coefficients(eps) for eps in epsilons]
    return Rate("drift", target, epsilons, tuple(fit[1] for fit in fits), rounding=fits[-1][3])


@pytest.mark.slow
def test_the_drift_has_coefficient_one_and_no_other() -> None:
    assert drift(1.0).ok
    for wrong in (0.0, 0.5, 0.9, 1.1, 2.0):
        found = drift(wrong)
        assert not found.ok, found.explain()
        assert found.high is not None
        assert found.high < 0.1, f"the error does not fall: {found.explain()}"


def test_even_tokens_have_no_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(continuum, "circle_tokens", lambda n, tilt=0.0: circle_tokens(n))
    assert not drift(1.0).ok
    laplacian, coefficient, apart, _ = circle_coefficients(0.00125)
    assert abs(coefficient) < 0.01 < abs(laplacian - 0.5) + apart


NAN, NEAR = float("nan"), np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
POINTS, FRAMES = sphere_tokens(5)
BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: circle_size(0.0), ValueError, "eps must be positive and finite, got 0.0"),
    (lambda: circle_size(-0.1), ValueError, "eps must be positive and finite, got -0.1"),
    (lambda: circle_size(NAN), ValueError, "eps must be positive and finite, got nan"),
    (lambda: circle_size("1"), TypeError, "eps must be a real number, got str"),  # pyright: ignore
    (lambda: circle_size(True), TypeError, "eps must be a real number, got bool"),
    (lambda: circle_size(0.1, 1.0), ValueError, r"tilt must lie in \(-1, 1\), got 1.0"),
    (lambda: circle_tokens(1), ValueError, "n must be at least 3, got 1"),
    (lambda: circle_tokens(8), ValueError, "n must be odd, got 8"),
    (lambda: circle_tokens(9.0), TypeError, "n must be an integer, got float"),  # pyright: ignore
    (lambda: circle_tokens(9, -1.5), ValueError, r"tilt must lie in \(-1, 1\), got -1.5"),
    (lambda: circle_tokens(9, NAN), ValueError, "tilt must be finite, got nan"),
    (lambda: circle_walk(np.zeros((2, 2)), 0.1), ValueError, r"angles must have shape \(n\)"),
    (lambda: circle_walk(np.array([NAN]), 0.1), ValueError, "angles must be finite, got nan"),
    (lambda: circle_walk([0.0], 0.1), TypeError, "angles must be a NumPy"),  # pyright: ignore
    (lambda: circle_walk(np.zeros(3), 0.0), ValueError, "eps must be positive and finite"),
    (lambda: circle_walk(np.zeros(3), 0.1, math.inf), ValueError, "theta must be finite, got inf"),
    (lambda: circle_eigenvalue(1, NAN, 0.1), ValueError, "theta must be finite, got nan"),
    (lambda: circle_eigenvalue(1, 0.0, 0.1, 2), ValueError, "n must be at least 3, got 2"),
    (lambda: circle_eigenvalue(0.5, 0.0, 0.1), TypeError, "k must be an int"),  # pyright: ignore
    (lambda: circle_coefficients(-1.0), ValueError, "eps must be positive and finite, got -1.0"),
    (lambda: circle_coefficients(0.1, NAN), ValueError, "theta must be finite, got nan"),
    (lambda: circle_coefficients(0.1, 0.0, 0.0), ValueError, "tilt must not be 0, got 0"),
    (lambda: sphere_eigenvalue(0, 0.1), ValueError, "l must be at least 1, got 0"),
    (lambda: sphere_eigenvalue(1, 0.1, -1), ValueError, "spin must be at least 0, got -1"),
    (lambda: sphere_eigenvalue(1, 0.0), ValueError, "eps must be positive and finite, got 0.0"),
    (lambda: sphere_tokens(1), ValueError, "n must be at least 2, got 1"),
    (lambda: sphere_transports(POINTS, FRAMES[:4]), ValueError, r"frames must have .* n = 5"),
    (lambda: sphere_transports(POINTS * NAN, FRAMES), ValueError, "points must be finite"),
    (lambda: sphere_transports(2 * POINTS, FRAMES), ValueError, "points must be of squared len"),
    (lambda: sphere_transports(NEAR, FRAMES[:2]), ValueError, "points must not be antipodal"),
    (lambda: sphere_spectrum(15, 0.1), ValueError, "n must be at least 16, got 15"),
    (lambda: sphere_spectrum(50, -0.1), ValueError, "eps must be positive and finite, got -0.1"),
    (lambda: sphere_spectrum(50, 0.1, 0), ValueError, "count must be at least 1, got 0"),
    (lambda: halvings(0.0, 3), ValueError, "eps must be positive and finite, got 0.0"),
    (lambda: halvings(1.0, 0), ValueError, "count must be at least 1, got 0"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("call", "kind", "message"), BAD, ids=map(str, range(len(BAD))))
def test_bad_input_is_named(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("name", ["circle_rates", "sphere_rates", "rates"])
def test_rates_take_no_argument(name: str) -> None:
    assert not inspect.signature(getattr(continuum, name)).parameters
