"""Attention on the circle and on the sphere, whose generator tends to a connection Laplacian.

Row-softmax of -|x - y|^2 / (2 eps) with |x - y| the distance in space, transports parallel along
minimising geodesics. n -> infinity comes first: on the circle a row is a trapezoid sum of a smooth
periodic function, whose error falls faster than any power of 1/n, and `circle_size` makes it
smaller than rounding; on the sphere the limit of the sums is known in closed form. Source: CW14.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse.linalg import eigsh
from scipy.special import gammainc

from numerics.arrays import finite, refuse, shape
from numerics.evidence.rates import Rate
from numerics.inputs import bandwidth, doubles, integer, number, places
from numerics.rounding import roundoff
from numerics.walks.walk import Walk, softmax_walk

_U = 2.0**-53
_ANGLE = 64 * math.pi * _U  # error of an arc between two tokens, for |tilt| up to about 3/4
HOLONOMY = 2 * math.pi / 5
TILT = 0.5
SPHERE_TOKENS = 900
LARGEST_MODE = 10**6
LARGEST_DEGREE = 100
"""Above it powers of eps may underflow whose terms count."""
SECTION = {-1: 0.5, 0: 1.0, 2: 0.25}
"""Fourier coefficients of the section on which the generator with a density is measured."""


def _tilt(tilt: object) -> float:
    """tilt as a float; ValueError unless the density 1 + tilt cos stays positive."""
    value = number("tilt", tilt)
    if not abs(value) < 1:
        raise ValueError(f"tilt must lie in (-1, 1), got {tilt}")
    return value


def circle_size(eps: float, tilt: float = 0.0) -> int:
    """Least odd n at which the trapezoid error of a row is below e^-60, thus below rounding.

    In the variable F(phi) of the tokens a row is nearly a Gaussian, least wide where tokens are
    rarest: its Fourier coefficient n is e^(-n^2 eps (1 - |tilt|)^2 / 2).
    Raises TypeError, ValueError for eps <= 0, |tilt| >= 1 or n above 2^53.
    """
    least = math.sqrt(120 / bandwidth(eps)) / (1 - abs(_tilt(tilt)))
    if least > 2**53:
        raise ValueError(f"eps must need at most 2^53 tokens, got {eps} at tilt {tilt}")
    return 2 * math.ceil(least / 2) + 1


def circle_tokens(n: int, tilt: float = 0.0) -> np.ndarray:
    """Angles (n,) with F(phi_j) = j/n, |j| <= (n-1)/2: quantiles of (1 + tilt cos phi)/(2 pi).

    n is odd, so that 0 is a token and evenly spaced tokens have no antipodes, between which two
    geodesics are shortest. Raises TypeError, ValueError for even n, n < 3 or |tilt| >= 1.
    """
    tilt, n = _tilt(tilt), integer("n", n, 3)
    if n % 2 == 0:
        raise ValueError(f"n must be odd, got {n}")
    mass = 2 * math.pi * np.arange(-(n // 2), n // 2 + 1) / n
    low, high = np.full(n, -math.pi), np.full(n, math.pi)
    for _ in range(60):
        middle = (low + high) / 2
        below = middle + tilt * np.sin(middle) < mass
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def circle_walk(
    angles: np.ndarray, eps: float, theta: float = 0.0, rows: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, float]:
    """Weights and transports (m, n) in float64 of tokens `rows` (m,), all by default, over all n.

    T_ij = e^{i theta arc/2pi}, arc = phi_j - phi_i in [-pi, pi): parallel transport of the
    connection d/dphi + i theta/2pi, and once around with falling phi is the rotation by theta.
    Third comes a bound on the rounding error of P_ij T_ij, summed over a row.
    Raises TypeError, also unless angles are float64 and rows integers, and ValueError for
    eps <= 0, numbers that are not finite or rows out of range.
    """
    eps, theta = bandwidth(eps), number("theta", theta)
    doubles(angles=angles)
    shape({}, "angles", angles, "n")
    finite(angles=angles)
    chosen = angles if rows is None else angles[places(rows, len(angles))]
    arc = np.remainder(angles[None, :] - chosen[:, None] + math.pi, 2 * math.pi) - math.pi
    logits = -2 * np.sin(arc / 2) ** 2 / eps
    weights = softmax_walk(logits)
    error = 8 * _U * np.abs(logits) + _ANGLE * (np.abs(np.sin(arc)) + _ANGLE) / eps
    rounded = roundoff.softmax(logits, error).error + weights * (_ANGLE * (1 + abs(theta)))
    return weights, np.exp(1j * theta / (2 * math.pi) * arc), float(np.max(np.sum(rounded, axis=1)))


def circle_eigenvalue(
    k: int, theta: float, eps: float, n: int | None = None
) -> tuple[float, float]:
    """2 (1 - lambda)/eps for the eigenvalue of e^{ik phi} on n even tokens, and its rounding bound.

    Its limit is (k + theta/2pi)^2; untwisted, lambda is I_k(1/eps)/I_0(1/eps). The block matrix is
    circulant: one row gives the eigenvalue.
    Raises TypeError, ValueError like circle_tokens, and for |k| above LARGEST_MODE.
    """
    k, n = integer("k", k, -LARGEST_MODE, LARGEST_MODE), circle_size(eps) if n is None else n
    angles = circle_tokens(n)
    weights, transports, rounded = circle_walk(angles, eps, theta, np.array([n // 2]))
    value = np.real(weights[0] * transports[0] @ np.exp(1j * k * angles))
    error = rounded + roundoff.gamma(n + 8, _U) + (1 + abs(k)) * _ANGLE
    return float(2 * (1 - value) / eps), 2 * error / eps


def circle_coefficients(
    eps: float, theta: float = HOLONOMY, tilt: float = TILT, n: int | None = None
) -> tuple[float, float, float, float]:
    """Coefficients of D^2 u and (log rho)' D u that fit (W - I) u/eps best over about 64 tokens.

    D = d/dphi + i theta/2pi, u has the Fourier coefficients SECTION; the limits are 1/2 and 1.
    Third the largest distance at a token from the limit, over the limit's largest value; fourth a
    bound on the rounding error of the three.
    Raises TypeError, ValueError like circle_tokens, and for tilt = 0, which has no drift.
    """
    if tilt == 0:
        raise ValueError("tilt must not be 0, got 0: without a density there is no drift")
    n = circle_size(eps, tilt) if n is None else n
    angles = circle_tokens(n, tilt)
    rows = np.arange(0, n, max(1, n // 64))
    weights, transports, rounded = circle_walk(angles, eps, theta, rows)
    modes, size = np.array(list(SECTION)), np.array(list(SECTION.values()))
    section = np.exp(1j * angles[:, None] * modes) @ size
    # A derivative acts on each mode as i (k + theta/2pi).
    derivative = 1j * (modes + theta / (2 * math.pi))
    waves = np.exp(1j * angles[rows, None] * modes)
    drift = -tilt * np.sin(angles[rows]) / (1 + tilt * np.cos(angles[rows]))
    terms = np.stack(
        [waves @ (size * derivative**2), drift * (waves @ (size * derivative))], axis=1
    )
    measured = ((weights * transports) @ section - section[rows]) / eps
    inverse = np.linalg.pinv(np.concatenate([terms.real, terms.imag]))
    fitted = inverse @ np.concatenate([measured.real, measured.imag])
    limit = terms @ np.array([0.5, 1.0])
    apart = float(np.max(np.abs(measured - limit)) / np.max(np.abs(limit)))
    largest = float(np.sum(np.abs(size)))
    error = largest * (rounded + roundoff.gamma(n + 8, _U) + 4 * _ANGLE) / eps
    gain = max(float(np.max(np.sum(np.abs(inverse), axis=1))), 1 / float(np.max(np.abs(limit))))
    return float(fitted[0]), float(fitted[1]), apart, 2 * gain * error


def sphere_eigenvalue(l: int, eps: float, spin: int = 1) -> tuple[float, float]:
    """2 (1 - lambda)/eps in the limit of infinitely many tokens, and a bound on its rounding error.

    W commutes with rotations: on the l-th harmonics of spin s, vector fields for s = 1, it is the
    mean of d^l_ss = (1 - z)^s P_{l-s}^(0,2s)(1 - 2z), z = sin^2(beta/2), under e^{-2z/eps}; the
    limit is l(l+1) - s^2, 2(2l+1) times.
    Raises TypeError, ValueError for s < 0, l < s, l above LARGEST_DEGREE, eps <= 0, or eps so
    large that the moments over- or underflow.
    """
    eps, spin = bandwidth(eps), integer("spin", spin, 0)
    l = integer("l", l, spin, LARGEST_DEGREE)
    degree = l - spin
    largest = 2 * math.exp((700 - math.lgamma(l + 2)) / (l + 1))  # (l+1)! (eps/2)^(l+1) < e^700
    if eps > largest:
        raise ValueError(f"eps must be at most {largest:.3g} at l = {l}, got {eps}")
    jacobi = [
        (-1) ** m * math.comb(degree, m) * math.comb(degree + 2 * spin + m, m)
        for m in range(degree + 1)
    ]
    vanishing = [(-1) ** m * math.comb(spin, m) for m in range(spin + 1)]
    powers = np.arange(1, l + 1)
    moments = gammainc(powers + 1, 2 / eps) / gammainc(1, 2 / eps)
    moments = moments * [math.factorial(m) * (eps / 2) ** (m - 1) for m in range(1, l + 1)]
    terms = -np.convolve(jacobi, vanishing)[1:] * moments
    # 32 units for the two incomplete gamma functions and the products.
    return float(np.sum(terms)), float((32 + 4 * l) * _U * np.sum(np.abs(terms)))


def sphere_tokens(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) of the Fibonacci lattice and orthonormal tangent frames (n, 3, 2).

    Raises TypeError, ValueError for n < 2.
    """
    index = np.arange(integer("n", n, 2)) + 0.5
    height = 1 - 2 * index / n
    azimuth = math.pi * (3 - math.sqrt(5)) * index
    radius = np.sqrt(1 - height**2)
    points = np.stack([radius * np.cos(azimuth), radius * np.sin(azimuth), height], axis=1)
    east = np.stack([-np.sin(azimuth), np.cos(azimuth), np.zeros(n)], axis=1)
    return points, np.stack([east, np.cross(points, east)], axis=2)


def sphere_transports(points: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Parallel transports (n, n, 2, 2) along minimising geodesics, from x_j to x_i, in the frames.

    The rotation that takes y to x takes a vector v at y to v - <x, v> (x + y)/(1 + <x, y>).
    Raises TypeError unless both are float64, ValueError for frames that are not orthonormal and
    tangent, and for antipodal points, between which no geodesic is shortest.
    """
    doubles(points=points, frames=frames)
    sizes = {"3": 3, "2": 2}
    shape(sizes, "points", points, "n", "3")
    shape(sizes, "frames", frames, "n", "3", "2")
    finite(points=points, frames=frames)
    lengths = np.sum(points**2, axis=1)
    refuse("points", lengths, np.abs(lengths - 1) > 16 * _U, "of squared length 1")
    cosines = points @ points.T
    if np.min(cosines) <= -1 + 4 * _U:
        raise ValueError(f"points must not be antipodal, got cosine {np.min(cosines)}")
    products = np.swapaxes(frames, 1, 2) @ np.concatenate([frames, points[:, :, None]], axis=2)
    apart = np.abs(products - np.eye(2, 3)) > 16 * _U
    refuse("frames", products, apart, "orthonormal and tangent, by inner products 1 and 0")
    seen = np.einsum("iap,ja->ijp", frames, points)  # y in the frame at x
    turned = np.einsum("iap,jaq->ijpq", frames, frames, optimize=True)
    back = np.swapaxes(seen, 0, 1)[:, :, None, :]
    return turned - seen[:, :, :, None] * back / (1 + cosines)[:, :, None, None]


def sphere_spectrum(n: int, eps: float, count: int = 30) -> np.ndarray:
    """The `count` least 2 (1 - lambda)/eps of the walk on vector fields at n tokens, rising.

    6, 10 and 14 of them lie near 1, 5 and 11.
    Raises TypeError, ValueError for n <= count/2, eps <= 0.
    """
    eps, count = bandwidth(eps), integer("count", count, 1)
    points, frames = sphere_tokens(integer("n", n, count // 2 + 1))
    weights = softmax_walk((points @ points.T - 1) / eps)
    # Weights are symmetric over row sums, and a token's weight for itself is 1 over its row sum.
    root = np.sqrt(np.diag(weights))
    symmetric = weights * root[None, :] / root[:, None]
    block = Walk((symmetric + symmetric.T) / 2, sphere_transports(points, frames)).block_matrix()
    start = np.random.default_rng(0).standard_normal(2 * n)
    largest = eigsh(block, k=count, which="LA", v0=start, return_eigenvectors=False)
    return np.sort(2 * (1 - largest) / eps)


def halvings(first: float, count: int) -> tuple[float, ...]:
    """first, first/2, first/4, ..., count numbers.

    Raises TypeError, ValueError for first <= 0 or where the last is below 2^-1000.
    """
    first, count = bandwidth(first), integer("count", count, 1)
    if math.ldexp(first, 1 - count) < 2.0**-1000:
        raise ValueError(f"count must keep {first}/2^(count - 1) at least 2^-1000, got {count}")
    return tuple(first / 2**k for k in range(count))


def _rate(
    name: str, target: float, epsilons: tuple[float, ...], measured: list[tuple[float, float]]
) -> Rate:
    """A rate from (value, rounding bound) at each eps."""
    values, rounding = zip(*measured, strict=True)
    return Rate(name, target, epsilons, values, rounding=max(rounding))


def circle_rates() -> list[Rate]:
    """Modes of a twisted and an untwisted circle, then the terms of the limit with a density."""
    found, epsilons = [], halvings(0.04, 6)
    for theta, twist, k in ((HOLONOMY, "2 pi/5", -1), (HOLONOMY, "2 pi/5", 0),
                            (HOLONOMY, "2 pi/5", 1), (0.0, "0", 1)):  # fmt: skip
        values = [circle_eigenvalue(k, theta, eps) for eps in epsilons]
        name = f"circle, holonomy angle {twist}, eigenvalue of mode {k}"
        found.append(_rate(name, (k + theta / (2 * math.pi)) ** 2, epsilons, values))
    fits = [circle_coefficients(eps) for eps in epsilons]
    terms = ("coefficient of the connection Laplacian", 0.5), ("coefficient of the drift", 1.0), (
        "largest error at a token over largest value", 0.0)  # fmt: skip
    for place, (term, target) in enumerate(terms):
        values = [(fit[place], fit[3]) for fit in fits]
        name = f"circle, density 1 + cos/2, holonomy angle 2 pi/5: {term}"
        found.append(_rate(name, target, epsilons, values))
    return found


def sphere_rates() -> list[Rate]:
    """Vector fields on the sphere: infinitely many tokens, then a cluster at SPHERE_TOKENS."""
    found, epsilons = [], halvings(0.08, 7)
    for l in (1, 2, 3):
        values = [sphere_eigenvalue(l, eps) for eps in epsilons]
        name = f"sphere, tangent bundle, eigenvalue of degree {l}"
        found.append(_rate(name, l * (l + 1) - 1, epsilons, values))
    # Below eps = 0.02 so many tokens split the cluster by more than its error falls.
    epsilons = halvings(0.16, 4)
    clusters = [sphere_spectrum(SPHERE_TOKENS, eps)[6:16] for eps in epsilons]
    farthest = tuple(float(max(part, key=lambda value: abs(value - 5))) for part in clusters)
    name = f"sphere, {SPHERE_TOKENS} tokens, the farthest of eigenvalues 7 to 16"
    return [*found, Rate(name, 5.0, epsilons, farthest)]


def rates() -> list[Rate]:
    """All measured rates of the continuum limit. Source: CW14."""
    return circle_rates() + sphere_rates()
