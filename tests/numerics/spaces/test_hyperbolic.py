"""Hyperbolic space: distances near and far, the stated radius, boosts and the Poincare ball."""

import math
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
import torch

from numerics.spaces import (
    Lorentz,
    ambient_readout,
    boost,
    frechet_readout,
    from_ball,
    heat_weights,
    product_weights,
    tangent_readout,
    to_ball,
)
from numerics.spaces.lengths import roundoff

H2 = Lorentz(2)
DTYPES = ("float64", "float32")
BASE = np.array([[1.0, 0.0, 0.0]])


def lifted(space: Any, dtype: str) -> np.ndarray:
    """The point over stored space coordinates."""
    space = np.asarray(space, dtype)
    height = np.sqrt(1 + (space.astype("float64") ** 2).sum(-1, keepdims=True)).astype(dtype)
    return np.concatenate([height, space], axis=-1)


def polar(r: float, angle: float, dtype: str = "float64") -> np.ndarray:
    return lifted([[math.sinh(r) * math.cos(angle), math.sinh(r) * math.sin(angle)]], dtype)


def exact_distance(x: np.ndarray, y: np.ndarray) -> mpmath.mpf:
    """Distance of the points over the stored space coordinates, to 80 digits."""
    with mpmath.workdps(80):
        (a, b), (c, d) = ([mpmath.mpf(float(t)) for t in p[0, 1:]] for p in (x, y))
        height = [mpmath.sqrt(1 + p**2 + q**2) for p, q in ((a, b), (c, d))]
        chord = (a - c) ** 2 + (b - d) ** 2 - (height[0] - height[1]) ** 2
        return 2 * mpmath.asinh(mpmath.sqrt(chord) / 2)


Gap = tuple[float, float]
PLACES = [0.0, 1e-8, 0.5, 3.0, 8.0]
GAPS = [(1e-7, 0.0), (0.0, 1e-7), (1e-3, 1e-3), (0.7, 0.2), (0.5, 3.0), (6.0, 1e-4), (9.0, 2.0)]


EVERY = list(product([*PLACES, 12.0, 18.3], GAPS, DTYPES))
FAR = [(r, gap, dtype) for r, gap, dtype in EVERY if r + gap[0] > H2.radius(dtype)]


@pytest.mark.parametrize(("r", "gap", "dtype"), FAR)
def test_points_beyond_the_radius_are_refused(r: float, gap: Gap, dtype: str) -> None:
    with pytest.raises(ValueError, match=r"^y must be within radius\(float(32|64)\) = "):
        H2.distance(BASE.astype(dtype), polar(r + gap[0], 0.4, dtype))


@pytest.mark.slow
@pytest.mark.parametrize(("r", "gap", "dtype"), [case for case in EVERY if case not in FAR])
def test_distance_is_that_of_the_stored_points(r: float, gap: Gap, dtype: str) -> None:
    radial, turn = gap
    x, y = polar(r, 0.3, dtype), polar(r + radial, 0.3 + turn, dtype)
    # Differences of stored numbers are relatively exact; a radial one is short by 1 / cosh r.
    bound = 8 * roundoff(dtype) * math.cosh(r) * float(exact_distance(x, y))
    for a, b in ((x, y), (y, x)):
        assert abs(float(H2.distance(a, b)[0]) - exact_distance(x, y)) <= bound


def test_distance_by_arcosh_would_lose_what_is_near_and_far() -> None:
    for x, y in ((polar(0.5, 0.0), polar(0.5 + 1e-9, 0.0)), (polar(18.0, 0.0), polar(18.5, 0.0))):
        product = x[0, 0] * y[0, 0] - x[0, 1:] @ y[0, 1:]
        exact = float(exact_distance(x, y))
        assert abs(math.acosh(max(1.0, product)) - exact) > 0.05 * exact
        assert abs(float(H2.distance(x, y)[0]) - exact) < 1e-6 * exact


@pytest.mark.parametrize(("dtype", "radius"), [("float64", 19.06), ("float32", 9.01)])
def test_radius_is_where_rounding_moves_a_point_by_the_root_of_a_roundoff(
    dtype: str, radius: float
) -> None:
    R = H2.radius(dtype)
    assert f"{R:.2f}" == str(radius)
    u = roundoff(dtype)
    assert abs(math.sinh(R) - u**-0.5) <= 8 * R * roundoff("float64") * u**-0.5
    H2.check(polar(R, 1.0, dtype))
    with pytest.raises(ValueError, match=rf"^x must be within radius\({dtype}\) = {radius}"):
        H2.check(polar(R + 0.01, 1.0, dtype))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("part", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("turn", [0.0, 2.0, math.pi])
def test_exp_and_log_keep_half_of_the_digits_up_to_the_radius(
    part: float, turn: float, dtype: str
) -> None:
    R = 0.999 * H2.radius(dtype)
    x = polar(part * R, 0.4, dtype)
    # Of length R - d(base, x), at an angle to the outward direction: out, askew, and back in.
    r, length = part * R, (1 - part) * R
    out = np.array([[math.sinh(r), math.cosh(r) * math.cos(0.4), math.cosh(r) * math.sin(0.4)]])
    side = np.array([[0.0, -math.sin(0.4), math.cos(0.4)]])
    v = (length * (math.cos(turn) * out + math.sin(turn) * side)).astype(dtype)
    y = H2.exp(x, v)
    bound = 8 * roundoff(dtype) ** 0.5
    assert abs(exact_distance(x, y) - length) <= bound * max(1, length)
    assert float(H2.distance(H2.exp(x, H2.log(x, y) * 0.999), y)[0]) <= 0.001 * length + bound


@pytest.mark.parametrize("r", [0.0, 3.0, 8.9])
def test_rounding_to_float32_moves_a_point_within_its_resolution_and_far_out_beyond_roundoffs(
    r: float,
) -> None:
    x = np.concatenate([polar(r, 0.1 * k) for k in range(20)])
    coarse = x.astype("float32")
    moved = H2.distance(x, lifted(coarse[:, 1:], "float64")).max()
    assert moved <= H2.resolution(np, coarse).min() / 8
    assert (moved > 8 * H2.size * roundoff("float32")) == (r == 8.9)


def test_far_values_close_together_have_a_frechet_mean_between_them() -> None:
    for r in (10.0, 18.0):
        v = np.concatenate([polar(r, 0.3), polar(r + 0.5, 0.3), polar(r, 0.3 + math.exp(-r))])
        c = frechet_readout(H2, v, np.array([[0.3, 0.3, 0.4]]))
        inside = float(H2.resolution(np, v).max())
        apart = [float(H2.distance(c, v[j : j + 1])[0]) for j in range(3)]
        diameter = max(float(H2.distance(v[i : i + 1], v[:1])[0]) for i in (1, 2))
        assert max(apart) <= 2 * diameter + inside


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", [20.0, 1e3, 1e30])
def test_a_vector_beyond_the_radius_is_refused_and_not_shortened(dtype: str, length: float) -> None:
    v = np.array([[0.0, length, 0.0]], dtype)
    with pytest.raises(ValueError, match=r"^v must be of length, with x's distance .* at most"):
        H2.exp(BASE.astype(dtype), v)


def test_the_length_of_a_vector_counts_from_where_it_starts() -> None:
    x, v = polar(10.0, math.pi / 2), np.array([[0.0, 1.0, 0.0]])  # across the radius
    assert abs(float(H2.distance(x, H2.exp(x, 9.0 * v))[0]) - 9.0) <= 8 * roundoff("float64") ** 0.5
    with pytest.raises(ValueError, match=r"^v must be of length, .* at most 19.06.*got 19.5"):
        H2.exp(x, 9.5 * v)


def test_the_boundary_of_the_ball_is_refused() -> None:
    # exp of length 1e3 has norm tanh(500), which is 1.0 in float64.
    assert math.tanh(500.0) == 1.0
    for radius in (1.0, 1 - 1e-9, 1.5):
        with pytest.raises(ValueError, match=r"^b must be within the ball of radius 0.99999998"):
            from_ball(np.array([[radius, 0.0]]))
    with pytest.raises(ValueError, match=r"^b must be within the ball of radius 0.9997"):
        from_ball(torch.tensor([[0.0, 0.9999]]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_ball_and_the_sheet_are_one_space(dtype: str) -> None:
    x = Lorentz(4).random_points(np.random.default_rng(2), 9).astype(dtype)
    b = to_ball(x)
    lengths = np.linalg.norm(b, axis=1)
    # cosh d = 1 + 2 |b - c|^2 / ((1 - |b|^2)(1 - |c|^2)), with c = 0.
    found = 2 * np.arctanh(lengths)
    bound = 8 * float(Lorentz(4).resolution(np, x).max())
    base = np.eye(5, dtype=dtype)[:1].repeat(9, 0)
    assert abs(found - Lorentz(4).distance(base, x)).max() <= bound
    assert Lorentz(4).distance(from_ball(b), x).max() <= bound


@pytest.mark.parametrize("weigh", [heat_weights, product_weights])
@pytest.mark.parametrize("far", [1.0, 4.0])
def test_a_boost_of_all_inputs_commutes_with_hyperbolic_attention(weigh: Any, far: float) -> None:
    q, k = (H2.random_points(np.random.default_rng(s), 6) / 1 for s in (1, 2))
    g = boost(polar(far, 0.7)[0])
    Q, K = H2.act(g, q), H2.act(g, k)
    w, W = weigh(H2, q, k, 2.0), weigh(H2, Q, K, 2.0)
    rho = float(H2.resolution(np, np.concatenate([Q, K])).max())
    scores = 1 + float(abs(H2.similarity(q, k)).max()) + float(H2.distance2(q, k).max())
    assert abs(W - w).max() <= math.expm1(8 * rho * scores)
    moved = tangent_readout(H2, Q, K, W)
    bound = 32 * rho * math.cosh(float(H2.distance(q, k).max()))
    assert H2.distance(H2.act(g, tangent_readout(H2, q, k, w)), moved).max() <= bound


def test_the_mean_of_two_points_leaves_the_hyperboloid_and_is_put_back() -> None:
    H1 = Lorentz(1)
    v, w = np.array([[1.0, 0.0], [1.25, 0.75]]), np.array([[0.5, 0.5]])
    z = (w @ v)[0]
    assert z[1] ** 2 - z[0] ** 2 == -72 / 64
    with pytest.raises(ValueError, match=r"^x must be on hyperbolic space"):
        H1.check(z[None])
    # The middle of 0 and artanh(3/5) = log 2.
    middle = ambient_readout(H1, v, w)
    assert abs(math.asinh(middle[0, 1]) - math.log(2) / 2) <= 4 * roundoff("float64")
