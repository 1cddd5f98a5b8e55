"""Transports between the frames of tokens, and what their triangles measure (RA10).

T_ij = E_i^-1 R_ij E_j carries vectors at token j to token i: T (n, n, d, d). A triangle (i, j, k)
has the curvature proxy T_ij T_jk T_ki - I and, with a = x_j - x_i and b = x_k - x_i, the torsion
gap a + T_ji b - b - T_ki a. For transports along the chart segments of a smooth connection they are
half the curvature R(a, b) and minus the torsion, to second order; without torsion the gap is of
third order, and not 0.

A connection is its Christoffel symbols at a point, Gamma (d, d, d) with Gamma(h, y)_a =
sum_bc Gamma_abc h_b y_c. Charts of known transport: polar coordinates of the plane, conformal ones
of constant curvature K with the metric 4 / (1 + K |x|^2)^2, and their normal ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count

import array_api_compat
import numpy as np
from scipy.integrate import solve_ivp

from numerics.arrays import Array, finite, namespace, refuse, shape
from numerics.inputs import doubles, number
from numerics.metrics.low_rank import LowRankMetric
from numerics.rounding.roundoff import units

Christoffel = Callable[[np.ndarray], np.ndarray]
RELATIVE, ABSOLUTE = 1e-13, 1e-15
"""Local error that the equation of parallel transport is solved with."""
EVALUATIONS = 10_000
"""Values of the Christoffel symbols along a segment, after which it is given up."""


def low_rank_frames(metric: LowRankMetric) -> tuple[Array, Array]:
    """Frames E (n, d, d), E_i^T E_i = G_i, and their inverses, of a batch of n metrics.

    Raises ValueError for a single metric, TypeError for what is none. Source: RA10.
    """
    if not isinstance(metric, LowRankMetric):
        raise TypeError(f"metric must be a LowRankMetric, got {type(metric).__name__}")
    sizes: dict[str, int] = {}
    shape(sizes, "metric.D", metric.D, "n", "d")
    xp = array_api_compat.array_namespace(metric.D)
    device = array_api_compat.device(metric.D)
    eye = xp.eye(sizes["d"], dtype=metric.D.dtype, device=device)
    columns = eye[None] + xp.zeros_like(metric.D)[:, :, None]
    frame = metric.frame()
    return xp.matrix_transpose(frame.apply(columns)), xp.matrix_transpose(frame.solve(columns))


def frame_transports(frames: Array, coframes: Array, turns: Array | None = None) -> Array:
    """T_ij = E_i^-1 R_ij E_j (n, n, d, d); R_ij = I by default.

    frames E (n, d, d), coframes E^-1 (n, d, d), turns R (n, n, d, d) orthogonal. Raises ValueError,
    TypeError by name, ValueError unless frames and coframes are inverse and turns orthogonal up to
    rounding. Source: RA10.
    """
    xp = namespace(frames=frames, coframes=coframes, turns=turns)
    sizes: dict[str, int] = {}
    shape(sizes, "frames", frames, "n", "d", "d")
    shape(sizes, "coframes", coframes, "n", "d", "d")
    finite(frames=frames, coframes=coframes, turns=turns)
    size = xp.sum(frames * frames, axis=(1, 2)) * xp.sum(coframes * coframes, axis=(1, 2))
    _identity("coframes", "E_i^-1 E_i = I", coframes @ frames, xp.sqrt(size))
    if turns is None:
        return coframes[:, None] @ frames[None]
    shape(sizes, "turns", turns, "n", "n", "d", "d")
    gram = xp.matrix_transpose(turns) @ turns
    _identity("turns", "R_ij^T R_ij = I", gram, xp.ones_like(turns[..., 0, 0]))
    return coframes[:, None] @ turns @ frames[None]


def _identity(name: str, equation: str, found: Array, size: Array) -> None:
    """ValueError unless found (..., d, d) is I up to 16 d^2 u size, size (...)."""
    xp, d = array_api_compat.array_namespace(found), found.shape[-1]
    device = array_api_compat.device(found)
    gap = xp.max(xp.abs(found - xp.eye(d, dtype=found.dtype, device=device)), axis=(-2, -1))
    u = units(found.dtype, device).store
    refuse(name, gap, ~(gap <= 16 * d * d * u * size), f"such that {equation}, up to rounding")


def _triangles(triangles: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if not isinstance(triangles, np.ndarray) or not np.issubdtype(triangles.dtype, np.integer):
        kind = getattr(triangles, "dtype", type(triangles).__name__)
        raise TypeError(f"triangles must be a NumPy array of integers, got {kind}")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or len(triangles) == 0:
        raise ValueError(f"triangles must have shape (m, 3), got {triangles.shape}")
    refuse("triangles", triangles, (triangles < 0) | (triangles >= n), f"in [0, {n})")
    i, j, k = triangles.T
    return i, j, k


def curvature_proxy(transports: Array, triangles: np.ndarray) -> Array:
    """T_ij T_jk T_ki - I (m, d, d) at triangles (i, j, k), integers (m, 3).

    transports (n, n, d, d). Raises ValueError, TypeError by name. Source: RA10.
    """
    xp = namespace(transports=transports)
    sizes: dict[str, int] = {}
    shape(sizes, "transports", transports, "n", "n", "d", "d")
    finite(transports=transports)
    i, j, k = _triangles(triangles, sizes["n"])
    eye = xp.eye(
        sizes["d"], dtype=transports.dtype, device=array_api_compat.device(transports)
    )  # fmt: skip
    return transports[i, j] @ transports[j, k] @ transports[k, i] - eye


def torsion_gap(transports: Array, x: Array, triangles: np.ndarray) -> Array:
    """a + T_ji b - b - T_ki a (m, d), a = x_j - x_i, b = x_k - x_i, at triangles (i, j, k) (m, 3).

    transports (n, n, d, d), x (n, d). Raises ValueError, TypeError by name. Source: RA10.
    """
    namespace(transports=transports, x=x)
    sizes: dict[str, int] = {}
    shape(sizes, "transports", transports, "n", "n", "d", "d")
    shape(sizes, "x", x, "n", "d")
    finite(transports=transports, x=x)
    i, j, k = _triangles(triangles, sizes["n"])
    a, b = x[j] - x[i], x[k] - x[i]
    moved_a = (transports[k, i] @ a[:, :, None])[:, :, 0]
    moved_b = (transports[j, i] @ b[:, :, None])[:, :, 0]
    return (a - b) + (moved_b - moved_a)


def segment_transport(christoffel: Christoffel, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Parallel transport (d, d) from start to end along the segment of the chart between them.

    start, end (d,), float64. Raises ValueError, TypeError by name, ArithmeticError where the
    equation y' = -Gamma(end - start, y) could not be solved. Source: RA10.
    """
    doubles(start=start, end=end)
    sizes: dict[str, int] = {}
    shape(sizes, "start", start, "d")
    shape(sizes, "end", end, "d")
    finite(start=start, end=end)
    d, h, calls = sizes["d"], end - start, count(1)

    def velocity(t: float, y: np.ndarray) -> np.ndarray:
        if next(calls) > EVALUATIONS:
            raise ArithmeticError(f"no transport from {start} to {end}: {EVALUATIONS} evaluations")
        symbols = christoffel(start + t * h)
        doubles(christoffel=symbols)
        shape({"d": d}, "christoffel", symbols, "d", "d", "d")
        finite(christoffel=symbols)
        return -(np.einsum("abc,b->ac", symbols, h) @ y.reshape(d, d)).ravel()

    solved = solve_ivp(
        velocity, (0.0, 1.0), np.eye(d).ravel(), method="DOP853", rtol=RELATIVE, atol=ABSOLUTE
    )
    if not solved.success:
        raise ArithmeticError(f"no transport from {start} to {end}: {solved.message}")
    return solved.y[:, -1].reshape(d, d)


def pairwise(
    transport: Callable[[np.ndarray, np.ndarray], np.ndarray], x: np.ndarray
) -> np.ndarray:
    """T (n, n, d, d) of tokens x (n, d), T_ij = transport(x_j, x_i); raises like transport."""
    doubles(x=x)
    shape({}, "x", x, "n", "d")
    finite(x=x)
    return np.array([[transport(there, here) for there in x] for here in x])


def _plane(**points: np.ndarray) -> None:
    doubles(**points)
    for name, point in points.items():
        if point.shape != (2,):
            raise ValueError(f"{name} must have shape (2,), got {point.shape}")
    finite(**points)


def _polar(**points: np.ndarray) -> None:
    _plane(**points)
    for name, point in points.items():
        if point[0] <= 0:
            raise ValueError(f"{name} must have a radius above 0, got {point[0]}")


def polar_christoffel(x: np.ndarray) -> np.ndarray:
    """Gamma (2, 2, 2) of the plane at x = (radius, angle); raises ValueError, TypeError by name."""
    _polar(x=x)
    symbols = np.zeros((2, 2, 2))
    symbols[0, 1, 1] = -x[0]
    symbols[1, 0, 1] = symbols[1, 1, 0] = 1 / x[0]
    return symbols


def polar_transport(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """J(end)^-1 J(start) (2, 2), J the Jacobian matrix of (r cos, r sin): the same on every path.

    Raises ValueError, TypeError by name. Source: RA10.
    """
    _polar(start=start, end=end)
    (r, angle), (s, other) = start, end
    c, w = math.cos(other - angle), math.sin(other - angle)
    return np.array([[c, r * w], [-w / s, r / s * c]])


def _conformal(curvature: float, **points: np.ndarray) -> float:
    value = number("curvature", curvature)
    _plane(**points)
    for name, point in points.items():
        if 1 + value * float(point @ point) <= 0:
            raise ValueError(f"{name} must have 1 + curvature |x|^2 > 0, got {point}")
    return value


def conformal_christoffel(curvature: float, x: np.ndarray) -> np.ndarray:
    """Gamma (2, 2, 2) at x (2,) of the metric 4 / (1 + curvature |x|^2)^2.

    Raises ValueError, TypeError by name. Source: RA10.
    """
    value = _conformal(curvature, x=x)
    slope, eye = -2 * value / (1 + value * (x @ x)) * x, np.eye(2)
    return (
        eye[:, None, :] * slope[None, :, None]
        + eye[:, :, None] * slope[None, None, :]
        - slope[:, None, None] * eye[None]
    )


def conformal_transport(curvature: float, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Parallel transport (2, 2) along the segment of that chart, in closed form.

    Gamma(h, .) is (log lambda)' I plus a multiple of the quarter turn, 2 K (start x end) over
    1 + K |x|^2, whose integral is an arc tangent. Raises ValueError, TypeError by name.
    Source: RA10.
    """
    value = _conformal(curvature, start=start, end=end)
    h, cross = end - start, float(start[0] * end[1] - start[1] * end[0])
    middle = 1 + value * float(start @ end)
    square = value * float(h @ h) + value**2 * cross**2
    root = math.sqrt(abs(square))
    angle = math.atan2(root, middle) if square > 0 else math.atanh(root / middle)
    angle = 2 * value * cross * (angle / root if root else 1 / middle)
    c, w = math.cos(angle), math.sin(angle)
    scale = (1 + value * float(end @ end)) / (1 + value * float(start @ start))
    return scale * np.array([[c, -w], [w, c]])


def normal_transport(curvature: float, end: np.ndarray) -> np.ndarray:
    """Parallel transport (2, 2) from the origin of a normal chart to end, along their geodesic.

    The direction of the line is kept, what is across it grows by r / s(r), s = sin or sinh. Raises
    ValueError, TypeError by name, ValueError beyond the conjugate point. Source: RA10.
    """
    value = number("curvature", curvature)
    _plane(end=end)
    length = math.sqrt(float(end @ end))
    arc = length * math.sqrt(abs(value))
    if value > 0 and arc >= math.pi:
        raise ValueError(f"end must lie within pi / sqrt(curvature) of the origin, got {length}")
    if arc == 0:
        return np.eye(2)
    across = arc / (math.sin(arc) if value > 0 else math.sinh(arc))
    line = np.outer(end, end) / length**2
    return line + across * (np.eye(2) - line)


def _embedded(curvature: int, **points: np.ndarray) -> np.ndarray:
    if isinstance(curvature, bool) or curvature not in (1, -1):
        raise ValueError(f"curvature must be 1 or -1, got {curvature!r}")
    doubles(**points)
    form = np.array([1.0, 1.0, curvature])
    for name, point in points.items():
        shape({"3": 3}, name, point, "3")
        finite(**{name: point})
        square = float(point * form @ point)
        if abs(square - curvature) > 2.0**-48 * float(point @ point):
            raise ValueError(f"{name} must have <x, x> = {curvature}, got {square}")
    return form


def geodesic_transport(curvature: int, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Parallel transport (3, 3) of tangent vectors along the geodesic from start to end.

    Points (3,) of the unit sphere, or of the hyperboloid x_1^2 + x_2^2 - x_3^2 = -1 for curvature
    -1. Raises ValueError, TypeError by name, ValueError for antipodal points. Source: RA10.
    """
    form = _embedded(curvature, start=start, end=end)
    near = curvature + float(start * form @ end)
    if abs(near) < 2.0**-40:
        raise ValueError("end must not be antipodal to start: no geodesic is the shortest")
    return np.eye(3) - np.outer(start + end, form * end) / near


def triangle_area(curvature: int, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> float:
    """Signed area of a geodesic triangle of those points, by van Oosterom and Strackee.

    Raises ValueError, TypeError by name. Source: RA10.
    """
    form = _embedded(curvature, x=x, y=y, z=z)
    pairs = sum(float(p * form @ q) for p, q in ((x, y), (y, z), (z, x)))
    volume = float(x @ np.cross(y, z))
    return 2 * math.atan2(volume, 1 + curvature * pairs)
