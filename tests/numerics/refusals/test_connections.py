"""Refused inputs of transports between frames and of charts of known transport."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from numerics.metrics import LowRankMetric, connections

F32 = np.float32
I2 = np.eye(2)
FRAMES, TURNS = np.stack([I2] * 3), np.broadcast_to(I2, (3, 3, 2, 2)).copy()
TRIANGLE = np.array([[0, 1, 2]])
X = np.ones((3, 2))
P, Q, NORTH = np.array([0.5, 0.25]), np.array([0.25, 0.5]), np.array([0.0, 0.0, 1.0])
NAN = np.array([np.nan, 1.0])
ONE = LowRankMetric(np.ones(2), np.ones((2, 1)))


def plane(x: np.ndarray) -> np.ndarray:
    return np.zeros((2, 2, 2))


Row = tuple[Callable[[], Any], type[Exception], str]
BAD: dict[str, list[Row]] = {
    "metrics.connections.low_rank_frames": [
        (lambda: connections.low_rank_frames(ONE), ValueError, r"metric.D.*\(n, d\).*\(2,\)"),
        (lambda: connections.low_rank_frames(X), TypeError, "LowRankMetric, got ndarray"),  # type: ignore
    ],
    "metrics.connections.frame_transports": [
        (lambda: connections.frame_transports(I2, I2), ValueError, r"frames must have.*\(2, 2\)"),
        (lambda: connections.frame_transports(FRAMES, FRAMES[:2]), ValueError, "coframes.*n = 3"),
        (lambda: connections.frame_transports(FRAMES, 2 * FRAMES), ValueError,
         r"coframes must be such that E_i\^-1 E_i = I, up to rounding, got 1.0 at \(0,\)"),
        (lambda: connections.frame_transports(FRAMES, FRAMES, TURNS[:2]), ValueError, "turns must"),
        (lambda: connections.frame_transports(FRAMES, FRAMES, 2 * TURNS), ValueError,
         r"turns must be such that R_ij\^T R_ij = I, up to rounding, got 3.0 at \(0, 0\)"),
        (lambda: connections.frame_transports(FRAMES, FRAMES * np.nan), ValueError, "must be fin"),
        (lambda: connections.frame_transports(FRAMES, FRAMES.astype(F32)), TypeError, "coframes"),
        (lambda: connections.frame_transports(FRAMES, torch.ones(3, 2, 2)), TypeError, "Tensor"),
    ],
    "metrics.connections.curvature_proxy": [
        (lambda: connections.curvature_proxy(FRAMES, TRIANGLE), ValueError, "transports must have"),
        (lambda: connections.curvature_proxy(TURNS * np.nan, TRIANGLE), ValueError, "finite"),
        (lambda: connections.curvature_proxy(TURNS, X), TypeError, "integers, got float64"),
        (lambda: connections.curvature_proxy(TURNS, [[0, 1, 2]]), TypeError, "got list"),  # type: ignore
        (lambda: connections.curvature_proxy(TURNS, TRIANGLE[0]), ValueError, r"\(m, 3\).*\(3,\)"),
        (lambda: connections.curvature_proxy(TURNS, TRIANGLE + 1), ValueError, r"in \[0, 3\), got"),
        (lambda: connections.curvature_proxy(TURNS, TRIANGLE - 1), ValueError, r"got -1.0 at"),
        (lambda: connections.curvature_proxy(TURNS, TRIANGLE[:0]), ValueError, r"got \(0, 3\)"),
    ],
    "metrics.connections.torsion_gap": [
        (lambda: connections.torsion_gap(TURNS, X[:2], TRIANGLE), ValueError, "x must.*n = 3"),
        (lambda: connections.torsion_gap(TURNS, X.astype(F32), TRIANGLE), TypeError, "x must have"),
        (lambda: connections.torsion_gap(TURNS, X * np.inf, TRIANGLE), ValueError, "x must be fin"),
        (lambda: connections.torsion_gap(TURNS, X, TRIANGLE + 2), ValueError, r"triangles must be"),
    ],
    "metrics.connections.segment_transport": [
        (lambda: connections.segment_transport(plane, P, X[0].astype(F32)), TypeError, "end must"),
        (lambda: connections.segment_transport(plane, P, NORTH), ValueError, "end must.*d = 2"),
        (lambda: connections.segment_transport(plane, NAN, P), ValueError, "start must be finite"),
        (lambda: connections.segment_transport(lambda x: I2, P, Q), ValueError, "christoffel must"),
        (lambda: connections.segment_transport(lambda x: plane(x) * np.nan, P, Q), ValueError,
         "christoffel must be finite"),
    ],
    "metrics.connections.pairwise": [
        (lambda: connections.pairwise(lambda p, q: I2, P), ValueError, r"x must.*\(n, d\)"),
        (lambda: connections.pairwise(lambda p, q: I2, X * np.nan), ValueError, "x must be finite"),
        (lambda: connections.pairwise(lambda p, q: I2, X.astype(F32)), TypeError, "float64"),
    ],
    "metrics.connections.polar_christoffel": [
        (lambda: connections.polar_christoffel(-P), ValueError, "x must have a radius above 0"),
        (lambda: connections.polar_christoffel(NORTH), ValueError, r"x must have shape \(2,\)"),
    ],
    "metrics.connections.polar_transport": [
        (lambda: connections.polar_transport(P, 0 * P), ValueError, "end must have a radius"),
        (lambda: connections.polar_transport(NAN, P), ValueError, "start must be finite"),
    ],
    "metrics.connections.conformal_christoffel": [
        (lambda: connections.conformal_christoffel(-1.0, 4 * P), ValueError, r"x must have 1 \+"),
        (lambda: connections.conformal_christoffel(np.nan, P), ValueError, "curvature must be fin"),
        (lambda: connections.conformal_christoffel("1", P), TypeError, "curvature.*str"),  # type: ignore
    ],
    "metrics.connections.conformal_transport": [
        (lambda: connections.conformal_transport(-1.0, P, 4 * P), ValueError, r"end must have 1"),
        (lambda: connections.conformal_transport(1.0, P, NORTH), ValueError, "end must have shape"),
    ],
    "metrics.connections.normal_transport": [
        (lambda: connections.normal_transport(1.0, 8 * P), ValueError, "end must lie within pi"),
        (lambda: connections.normal_transport(1.0, NAN), ValueError, "end must be finite"),
    ],
    "metrics.connections.geodesic_transport": [
        (lambda: connections.geodesic_transport(1, NORTH, -NORTH), ValueError, "end.*antipodal"),
        (lambda: connections.geodesic_transport(1, NORTH, 2 * NORTH), ValueError, r"end.*got 4.0"),
        (lambda: connections.geodesic_transport(0, NORTH, NORTH), ValueError, "curvature.*got 0"),
        (lambda: connections.geodesic_transport(1, P, NORTH), ValueError, "start must have shape"),
    ],
    "metrics.connections.triangle_area": [
        (lambda: connections.triangle_area(-1, NORTH, NORTH, 2 * NORTH), ValueError, "z must have"),
        (lambda: connections.triangle_area(True, NORTH, NORTH, NORTH), ValueError, "got True"),
    ],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        pytest.param(*row, id=f"{name}-{k}")
        for name, rows in BAD.items()
        for k, row in enumerate(rows)
    ],
)
def test_bad_input_is_refused_by_name(
    call: Callable[[], Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        call()


def test_good_input_of_the_same_shapes_is_taken() -> None:
    T = connections.frame_transports(FRAMES, FRAMES, TURNS)
    assert not connections.curvature_proxy(T, TRIANGLE).any()
    assert not connections.torsion_gap(T, X, TRIANGLE).any()
    assert (connections.segment_transport(plane, P, Q) == I2).all()
