"""Refused inputs of transports between frames and of charts of known transport."""

import numpy as np

from numerics.metrics import LowRankMetric, connections
from tests.numerics.refusals.faults import Call, Floats, Real, Refused

F32 = np.float32
I2 = np.eye(2)
FRAMES, TURNS = np.stack([I2] * 3), np.broadcast_to(I2, (3, 3, 2, 2)).copy()
TRIANGLE = np.array([[0, 1, 2]])
X = np.ones((3, 2))
P, Q, NORTH = np.array([0.5, 0.25]), np.array([0.25, 0.5]), np.array([0.0, 0.0, 1.0])
NAN = np.array([np.nan, 1.0])
ONE = LowRankMetric(np.ones(2), np.ones((2, 1)))

POINT, POLE = Floats(P, "~2", float64=True), Floats(NORTH, "3", float64=True)


def plane(x: np.ndarray) -> np.ndarray:
    return np.zeros((2, 2, 2))


BAD: Refused = {
    "metrics.connections.low_rank_frames": [
        (lambda: connections.low_rank_frames(ONE), ValueError, r"metric.D.*\(n, d\).*\(2,\)"),
        (lambda: connections.low_rank_frames(X), TypeError, "LowRankMetric, got ndarray"),  # type: ignore
    ],
    "metrics.connections.frame_transports": [
        Call(connections.frame_transports, frames=Floats(FRAMES, "n d d"),
             coframes=Floats(FRAMES, "n d d"), turns=Floats(TURNS, "n n d d")),
        (lambda: connections.frame_transports(FRAMES, 2 * FRAMES), ValueError,
         r"coframes must be such that E_i\^-1 E_i = I, up to rounding, got 1.0 at \(0,\)"),
        (lambda: connections.frame_transports(FRAMES, FRAMES, 2 * TURNS), ValueError,
         r"turns must be such that R_ij\^T R_ij = I, up to rounding, got 3.0 at \(0, 0\)"),
    ],
    "metrics.connections.curvature_proxy": [
        Call(connections.curvature_proxy, transports=Floats(TURNS, "n n d d"), triangles=TRIANGLE),
        (lambda: connections.curvature_proxy(TURNS, X), TypeError, "integers, got float64"),
        (lambda: connections.curvature_proxy(TURNS, [[0, 1, 2]]), TypeError, "got list"),  # type: ignore
        (lambda: connections.curvature_proxy(TURNS, TRIANGLE[0]), ValueError, r"\(m, 3\).*\(3,\)"),
        (lambda: connections.curvature_proxy(TURNS, TRIANGLE + 1), ValueError, r"in \[0, 3\), got"),
        (lambda: connections.curvature_proxy(TURNS, TRIANGLE - 1), ValueError, r"got -1.0 at"),
        (lambda: connections.curvature_proxy(TURNS, TRIANGLE[:0]), ValueError, r"got \(0, 3\)"),
    ],
    "metrics.connections.torsion_gap": [
        Call(connections.torsion_gap, transports=Floats(TURNS, "n n d d"), x=Floats(X, "n d"),
             triangles=TRIANGLE),
        (lambda: connections.torsion_gap(TURNS, X, TRIANGLE + 2), ValueError, r"triangles must be"),
    ],
    "metrics.connections.segment_transport": [
        Call(connections.segment_transport, christoffel=plane, start=Floats(P, "d"),
             end=Floats(Q, "d")),
        Call(lambda christoffel: connections.segment_transport(lambda x: christoffel, P, Q),
             christoffel=Floats(plane(P), "d=2 d d", float64=True)),
    ],
    "metrics.connections.pairwise": [
        Call(connections.pairwise, transport=lambda p, q: I2, x=Floats(X, "n d", float64=True)),
    ],
    "metrics.connections.polar_christoffel": [
        Call(connections.polar_christoffel, x=POINT),
        (lambda: connections.polar_christoffel(-P), ValueError, "x must have a radius above 0"),
    ],
    "metrics.connections.polar_transport": [
        Call(connections.polar_transport, start=POINT, end=POINT),
        (lambda: connections.polar_transport(P, 0 * P), ValueError, "end must have a radius"),
    ],
    "metrics.connections.conformal_christoffel": [
        Call(connections.conformal_christoffel, curvature=Real(1.0), x=POINT),
        (lambda: connections.conformal_christoffel(-1.0, 4 * P), ValueError, r"x must have 1 \+"),
    ],
    "metrics.connections.conformal_transport": [
        Call(connections.conformal_transport, curvature=Real(1.0), start=POINT, end=POINT),
        (lambda: connections.conformal_transport(-1.0, P, 4 * P), ValueError, r"end must have 1"),
    ],
    "metrics.connections.normal_transport": [
        Call(connections.normal_transport, curvature=Real(1.0), end=POINT),
        (lambda: connections.normal_transport(1.0, 8 * P), ValueError, "end must lie within pi"),
    ],
    "metrics.connections.geodesic_transport": [
        Call(connections.geodesic_transport, curvature=1, start=POLE, end=POLE),
        (lambda: connections.geodesic_transport(1, NORTH, -NORTH), ValueError, "end.*antipodal"),
        (lambda: connections.geodesic_transport(1, NORTH, 2 * NORTH), ValueError, r"end.*got 4.0"),
        (lambda: connections.geodesic_transport(0, NORTH, NORTH), ValueError, "curvature.*got 0"),
    ],
    "metrics.connections.triangle_area": [
        Call(connections.triangle_area, curvature=1, x=POLE, y=POLE, z=POLE),
        (lambda: connections.triangle_area(-1, NORTH, NORTH, 2 * NORTH), ValueError, "z must have"),
        (lambda: connections.triangle_area(True, NORTH, NORTH, NORTH), ValueError, "got True"),
    ],
}  # fmt: skip
