"""Features of the exponential pairing: phi(q) . phi(k) is exp(q . k), in expectation or nearly.

Rows of x (n, d) are queries or keys, rows of omega (m, d) frequencies of the standard normal law,
the same for both. No scale is applied: divide x by d^(1/4) for exp(q . k / sqrt d).
"""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any

import array_api_compat
import numpy as np

from numerics.arrays import Array, finite, namespace, refuse, shape
from numerics.inputs import integer, number

LARGEST_DIMENSION = 10**6
"""Most Taylor features that are made."""


def frequencies(m: int, d: int, seed: int, like: Array) -> Array:
    """m independent standard normal frequencies (m, d), of the kind, dtype and device of `like`.

    Drawn in float64 by NumPy from the seed, then rounded: all kinds get the same ones.
    Raises TypeError, ValueError for sizes below 1 or a negative seed. Source: AP7.
    """
    xp = namespace(like=like)
    count, width = integer("m", m, 1), integer("d", d, 1)
    drawn = np.random.default_rng(integer("seed", seed, 0)).standard_normal((count, width))
    if isinstance(like, np.ndarray):
        return drawn.astype(like.dtype)
    return xp.asarray(drawn, dtype=like.dtype, device=array_api_compat.device(like))


def positive_features(x: Array, omega: Array) -> Array:
    """exp(omega_r . x_i - |x_i|^2 / 2) / sqrt m (n, m): positive and unbiased.

    Raises TypeError, ValueError for shapes, kinds, entries or features that are not finite.
    Source: AP7.
    """
    xp, projected, half = _exponents(x, omega)
    features = _exp(xp, projected - half) / math.sqrt(omega.shape[0])
    return _finite_features(xp, features)


def antithetic_features(x: Array, omega: Array) -> Array:
    """Positive features (n, 2 m) at omega and at -omega, over sqrt(2 m); raises the same.

    The variance is (1 - e^{-|q + k|^2})/2 times that of m positive features. Source: AP7.
    """
    xp, projected, half = _exponents(x, omega)
    both = xp.concat((projected - half, -projected - half), axis=1)
    return _finite_features(xp, _exp(xp, both) / math.sqrt(2 * omega.shape[0]))


def trigonometric_features(x: Array, omega: Array) -> Array:
    """e^{|x_i|^2 / 2} (cos, sin)(omega_r . x_i) / sqrt m (n, 2 m): unbiased, not positive.

    Raises like positive_features. Source: AP7.
    """
    xp, projected, half = _exponents(x, omega)
    waves = xp.concat((xp.cos(projected), xp.sin(projected)), axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        features = _exp(xp, half) * waves / math.sqrt(omega.shape[0])
    return _finite_features(xp, features)


def taylor_dimension(d: int, degree: int) -> int:
    """C(d + p, p), the number of monomials of degree at most p in d variables.

    Raises TypeError, ValueError for d < 1 or degree < 0. Source: AP7.
    """
    return math.comb(integer("d", d, 1) + integer("degree", degree, 0), degree)


def taylor_features(x: Array, degree: int) -> Array:
    """Monomials x^alpha / sqrt(alpha!) of degree at most p (n, C(d + p, p)), lowest degree first.

    Their inner products are T_p(q . k), the Taylor polynomial of exp. Raises TypeError, ValueError
    for shapes, entries or features that are not finite, degree < 0, or more than 10^6 features.
    Source: AP7.
    """
    xp = namespace(x=x)
    shape({}, "x", x, "n", "d")
    finite(x=x)
    d, p = x.shape[1], integer("degree", degree, 0)
    if taylor_dimension(d, p) > LARGEST_DIMENSION:
        raise ValueError(
            f"degree must give at most {LARGEST_DIMENSION} features, got {p} for d = {d}"
        )
    columns = [xp.ones_like(x[:, 0])]
    with np.errstate(over="ignore", invalid="ignore"):
        for length in range(1, p + 1):
            columns += [
                _monomial(x, word) for word in combinations_with_replacement(range(d), length)
            ]
    return _finite_features(xp, xp.stack(columns, axis=1))


def _monomial(x: Array, word: tuple[int, ...]) -> Array:
    """The product of the coordinates of a word over the root of its alpha!, least numbers first."""
    value, times = None, 1
    for place, axis in enumerate(word):
        times = times + 1 if place and word[place - 1] == axis else 1
        factor = x[:, axis] / math.sqrt(times)
        value = factor if value is None else value * factor
    return value


def taylor_error_bound(s: float, degree: int) -> float:
    """Bound on |e^s - T_p(s)| / e^s: |s|^{p+1} / (p+1)!, times e^{|s|} where s < 0.

    inf where it overflows. Raises TypeError, ValueError for s not finite or degree < 0.
    Source: AP7.
    """
    size, p = number("s", s), integer("degree", degree, 0)
    if size == 0:
        return 0.0
    log = (p + 1) * math.log(abs(size)) - math.lgamma(p + 2) + max(-size, 0.0)
    # lgamma and log are within a few units; the products with p + 1 carry them.
    slack = 2.0**-48 * (1 + abs((p + 1) * math.log(abs(size))) + math.lgamma(p + 2) + abs(size))
    return math.exp(log + slack) * (1 + 2.0**-50) if log + slack < 709 else math.inf


def estimate_variance(kind: str, q: Array, k: Array, m: int) -> Array:
    """Variance (n, n2) of the estimate of exp(q_i . k_j) from m frequencies, q (n, d), k (n2, d).

    kind is "positive", "antithetic" (2 m features) or "trigonometric". Raises TypeError, ValueError
    for another kind, shapes, entries or variances that are not finite, or m < 1. Source: AP7.
    """
    xp = namespace(q=q, k=k)
    sizes: dict[str, int] = {}
    shape(sizes, "q", q, "n", "d")
    shape(sizes, "k", k, "n2", "d")
    finite(q=q, k=k)
    if kind not in VARIANCES:
        raise ValueError(f"kind must be one of {', '.join(VARIANCES)}, got {kind!r}")
    count = integer("m", m, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        plus = xp.sum((q[:, None, :] + k[None, :, :]) ** 2, axis=2)
        minus = xp.sum((q[:, None, :] - k[None, :, :]) ** 2, axis=2)
        squares = xp.sum(q**2, axis=1)[:, None] + xp.sum(k**2, axis=1)[None, :]
        cross = q @ xp.permute_dims(k, (1, 0))
        value = VARIANCES[kind](xp, plus, minus, squares, cross) / count
    refuse("q", value, ~xp.isfinite(value), "of finite variances")
    return value


def _positive(xp: Any, plus: Array, minus: Array, squares: Array, cross: Array) -> Array:
    return xp.exp(2 * cross) * xp.expm1(plus)


def _antithetic(xp: Any, plus: Array, minus: Array, squares: Array, cross: Array) -> Array:
    return xp.exp(-squares) * xp.expm1(plus) ** 2 / 2


def _trigonometric(xp: Any, plus: Array, minus: Array, squares: Array, cross: Array) -> Array:
    return xp.exp(squares) * xp.expm1(-minus) ** 2 / 2


VARIANCES = {
    "positive": _positive, "antithetic": _antithetic, "trigonometric": _trigonometric,
}  # fmt: skip


def _exponents(x: Array, omega: Array) -> tuple[Any, Array, Array]:
    """The namespace, omega_r . x_i (n, m), and |x_i|^2 / 2 (n, 1)."""
    xp = namespace(x=x, omega=omega)
    sizes: dict[str, int] = {}
    shape(sizes, "x", x, "n", "d")
    shape(sizes, "omega", omega, "m", "d")
    finite(x=x, omega=omega)
    with np.errstate(over="ignore", invalid="ignore"):
        projected = x @ xp.permute_dims(omega, (1, 0))
        half = xp.sum(x * x, axis=1, keepdims=True) / 2
    refuse("x", projected, ~xp.isfinite(projected), "of finite products with omega")
    return xp, projected, half


def _exp(xp: Any, exponents: Array) -> Array:
    with np.errstate(over="ignore", under="ignore"):
        return xp.exp(exponents)


def _finite_features(xp: Any, features: Array) -> Array:
    refuse("x", features, ~xp.isfinite(features), "of finite features")
    return features
