"""Transports between frames: low-rank metrics, known surfaces, curvature and torsion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from numerics import blockwise
from numerics.arrays import dtype_name
from numerics.evidence.comparison import Comparison, merged
from numerics.metrics import LowRankMetric, connections
from numerics.properties.frame_connections import (
    TRIANGLE,
    A,
    B,
    bent_frame,
    corner,
    frame_transport,
    normal_gap,
    proxies,
)
from numerics.properties.strategies import rotation
from numerics.stress.cell import Cell
from numerics.stress.rounding import precision
from numerics.stress.theorems import frame_connections as frame_transports
from numerics.stress.theorems.frame_connections import Around, Triangles

U = 2.0**-53
POLAR, INSIDE = np.array([1.2, 0.3]), np.array([0.2, 0.1])
POINTS = (
    (np.array([0.3, -0.2]), np.array([0.5, 0.4])),
    (INSIDE, np.array([-0.4, 0.3])),
    (POLAR / 2, POLAR / 3),
)
CPU = torch.device("cpu")


def solved(error: float = 2.0**-36) -> float:
    """Error of a transport from its equation: many local errors of 1e-13, amplified a little."""
    return error


# Frames of low-rank metrics


def batch(n: int, d: int, r: int, seed: int) -> tuple[LowRankMetric, np.ndarray]:
    rng = np.random.default_rng(seed)
    metric = LowRankMetric(rng.uniform(0.5, 2.0, (n, d)), rng.normal(size=(n, d, r)))
    turns = np.array([[rotation(rng, d) for _ in range(n)] for _ in range(n)])
    return metric, turns


def dense(metric: LowRankMetric) -> np.ndarray:
    columns = metric.D[:, :, None] * np.eye(metric.D.shape[1])
    return columns + metric.U @ np.swapaxes(metric.U, 1, 2)


def allowance(metric: LowRankMetric) -> float:
    """Roundings of a few products of matrices of the frames' norms, and of the QR behind them."""
    _, d, r = metric.U.shape
    G = dense(metric)
    size = float(np.linalg.norm(G, axis=(1, 2)).max() * np.linalg.cond(G).max())
    return 16 * (d + r) * (r + 4) * U * size


@pytest.mark.parametrize(("n", "d", "r"), [(1, 1, 1), (3, 4, 2), (2, 6, 3), (3, 2, 4)])
def test_transports_between_frames_of_low_rank_are_isometries(n: int, d: int, r: int) -> None:
    metric, turns = batch(n, d, r, seed=d)
    frames, coframes = connections.low_rank_frames(metric)
    G, allowed = dense(metric), allowance(metric)
    assert np.abs(np.swapaxes(frames, 1, 2) @ frames - G).max() <= allowed
    T = connections.frame_transports(frames, coframes, turns)
    carried = np.swapaxes(T, -1, -2) @ G[:, None] @ T
    assert np.abs(carried - G[None]).max() <= allowed
    wrong = np.swapaxes(T, -1, -2) @ G[None] @ T
    assert n == 1 or np.abs(wrong - G[:, None]).max() > allowed


def test_the_transports_come_back_iff_the_turns_do() -> None:
    metric, turns = batch(3, 4, 2, seed=1)
    frames, coframes = connections.low_rank_frames(metric)
    T, allowed = connections.frame_transports(frames, coframes, turns), allowance(metric)
    back = T @ np.swapaxes(T, 0, 1)
    assert np.abs(back - np.eye(4)).max() > allowed
    opposite = np.where(
        np.arange(3)[:, None, None, None] < np.arange(3)[:, None, None],
        turns, np.swapaxes(np.swapaxes(turns, 0, 1), -1, -2),
    )  # fmt: skip
    opposite[np.arange(3), np.arange(3)] = np.eye(4)
    T = connections.frame_transports(frames, coframes, opposite)
    assert np.abs(T @ np.swapaxes(T, 0, 1) - np.eye(4)).max() <= allowed


def test_a_coboundary_is_flat_and_one_turned_edge_is_not() -> None:
    metric, turns = batch(4, 3, 2, seed=2)
    frames, coframes = connections.low_rank_frames(metric)
    own = turns[0]
    flat = own[:, None] @ np.swapaxes(own, 1, 2)[None]
    triangles = np.array([(i, j, k) for i in range(4) for j in range(4) for k in range(4)])
    T = connections.frame_transports(frames, coframes, flat)
    assert np.abs(connections.curvature_proxy(T, triangles)).max() <= allowance(metric)
    flat[0, 1], flat[1, 0] = -flat[0, 1], -flat[1, 0]
    T = connections.frame_transports(frames, coframes, flat)
    curved = np.abs(connections.curvature_proxy(T, triangles)).max((1, 2)) > allowance(metric)
    odd = [sum({p, q} == {0, 1} for p, q in ((i, j), (j, k), (k, i))) % 2 for i, j, k in triangles]
    assert curved.tolist() == [bool(value) for value in odd]


def test_one_dimensional_frames_1_2_3_are_flat_with_a_gap_of_a_third() -> None:
    frames = np.array([1.0, 2.0, 3.0]).reshape(3, 1, 1)
    T = connections.frame_transports(frames, 1 / frames)
    assert abs(float(connections.curvature_proxy(T, TRIANGLE)[0, 0, 0])) <= 4 * U
    gap = connections.torsion_gap(T, np.array([[0.0], [1.0], [2.0]]), TRIANGLE)
    assert abs(float(gap[0, 0]) + 1 / 3) <= 8 * U


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_torch_gives_what_numpy_gives(dtype: Any) -> None:
    metric, turns = batch(3, 4, 2, seed=3)
    few = 64 * torch.finfo(dtype).eps * float(np.linalg.cond(dense(metric)).max())
    tensors = LowRankMetric(*(torch.tensor(part, dtype=dtype) for part in (metric.D, metric.U)))
    found = connections.frame_transports(
        *connections.low_rank_frames(tensors), torch.tensor(turns, dtype=dtype)
    )
    T = connections.frame_transports(*connections.low_rank_frames(metric), turns)
    x = np.arange(12.0).reshape(3, 4)
    pairs = (
        (found, T),
        (connections.curvature_proxy(found, TRIANGLE), connections.curvature_proxy(T, TRIANGLE)),
        (connections.torsion_gap(found, torch.tensor(x, dtype=dtype), TRIANGLE),
         connections.torsion_gap(T, x, TRIANGLE)),
    )  # fmt: skip
    for tensor, array in pairs:
        assert tensor.dtype == dtype
        assert float(np.abs(tensor.numpy() - array).max()) <= few * float(np.abs(array).max() + 1)


# Charts of known transport against the equation of parallel transport


@pytest.mark.slow
@pytest.mark.parametrize("pair", range(len(POINTS)))
@pytest.mark.parametrize("curvature", [1.0, -1.0, 0.25, -0.5, 0.0])
def test_conformal_transports_solve_the_equation(curvature: float, pair: int) -> None:
    symbols = partial(connections.conformal_christoffel, curvature)
    start, end = POINTS[pair]
    found = connections.conformal_transport(curvature, start, end)
    assert np.abs(found - connections.segment_transport(symbols, start, end)).max() <= solved()
    if curvature:
        turned = connections.conformal_transport(-curvature, start, end)
        assert np.abs(turned - found).max() > solved()


def test_polar_transports_solve_the_equation() -> None:
    start, end = np.array([1.3, -0.2]), np.array([1.5, 0.4])
    found = connections.polar_transport(start, end)
    exact = connections.segment_transport(connections.polar_christoffel, start, end)
    assert np.abs(found - exact).max() <= solved()
    assert np.abs(found.T - exact).max() > solved()


def bent_christoffel(x: np.ndarray) -> np.ndarray:
    """E^-1 d E of `bent_frame`, with torsion: Gamma_abc = (E^-1 d_b E)_ac."""
    slopes = [[[0.0, x[1]], [0.5, 1.0]], [[1.0, x[0]], [0.0, 0.0]]]
    return np.stack([np.linalg.solve(bent_frame(x), np.array(slope)) for slope in slopes], axis=1)


def test_the_teleparallel_transport_is_that_of_its_christoffel_symbols() -> None:
    start, end = POINTS[0]
    found = connections.segment_transport(bent_christoffel, start, end)
    assert np.abs(found - frame_transport(start, end)).max() <= solved()
    other = connections.segment_transport(
        lambda x: np.swapaxes(bent_christoffel(x), 1, 2), start, end
    )
    assert np.abs(found - other).max() > solved()


@pytest.mark.slow
def test_an_equation_without_a_solution_is_an_error() -> None:
    def pole(x: np.ndarray) -> np.ndarray:
        return np.full((1, 1, 1), 1 / (x[0] - 0.5))

    with pytest.raises(ArithmeticError, match=r"no transport from \[0.\] to \[1.\]: "):
        connections.segment_transport(pole, np.array([0.0]), np.array([1.0]))


# What may be called curvature and torsion


@pytest.mark.parametrize("h", [0.5, 2.0**-5, 2.0**-20])
def test_the_plane_in_polar_coordinates_has_no_curvature(h: float) -> None:
    curved, _ = proxies(connections.polar_transport, POLAR, h)
    # Nine terms of three factors below 2, each with a few roundings.
    assert np.abs(curved).max() <= 9 * 8 * 16 * U
    bent, _ = proxies(partial(connections.conformal_transport, 1.0), INSIDE, h)
    assert np.abs(bent).max() > 0.1 * h * h


def test_a_connection_of_the_plane_without_known_transports_is_flat_too() -> None:
    equation = partial(connections.segment_transport, connections.polar_christoffel)
    x = corner(POLAR, 0.25)
    T = connections.pairwise(equation, x)
    assert np.abs(connections.curvature_proxy(T, TRIANGLE)).max() <= 8 * solved()
    assert np.abs(connections.torsion_gap(T, x, TRIANGLE)).max() > 0.25**3 / 10


def test_the_orthonormal_frame_of_polar_coordinates_is_flat_and_has_torsion() -> None:
    """Frames diag(1, r) with R = I: the gap is -(a_r b_theta - a_theta b_r) / r along theta."""
    h, step = 2.0**-20, lambda start, end: np.diag([1.0, start[0] / end[0]])
    curved, gap = proxies(step, POLAR, h)
    assert np.abs(curved).max() <= 8 * U
    torsion = h * h * (A[0] * B[1] - A[1] * B[0]) / POLAR[0]
    assert np.ravel(gap)[0] == 0
    # To second order: what is left is h times as large, and 8 u of the sides is far below.
    assert abs(np.ravel(gap)[1] + torsion) <= 4 * h * abs(torsion) + 8 * U * h
    assert abs(torsion) > 64 * h * h * h


@pytest.mark.parametrize("curvature", [1.0, -1.0])
def test_the_gap_in_a_normal_chart_is_minus_a_sixth_of_the_curvature(curvature: float) -> None:
    h = 2.0**-8
    expected = -curvature * (A * (B @ (A + B)) - B * (A @ (A + B))) / 6
    found = normal_gap(curvature, h) / h**3
    # The next order is h^2 on a chart that is even; rounding is 2^-44 / h^2.
    assert np.abs(found - expected).max() <= 0.02 * h * np.abs(expected).max()
    assert np.abs(found + expected).max() > np.abs(expected).max()


def geodesic_points(curvature: int, seed: int) -> list[np.ndarray]:
    points = np.random.default_rng(seed).normal(size=(3, 2))
    if curvature == 1:
        high = [np.array([*p, 1.0]) for p in points]
        return [p / np.linalg.norm(p) for p in high]
    return [np.array([*p, np.sqrt(1 + p @ p)]) for p in points]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("curvature", [1, -1])
def test_a_geodesic_triangle_rotates_by_its_area(curvature: int, seed: int) -> None:
    x, y, z = geodesic_points(curvature, seed)
    form = np.array([1.0, 1.0, curvature])
    carry = partial(connections.geodesic_transport, curvature)
    around = carry(y, x) @ carry(z, y) @ carry(x, z)
    e = y - x - curvature * float((y - x) * form @ x) * x
    e = e / np.sqrt(float(e * form @ e))
    f = form * np.cross(x, e)
    moved, size = form * (around @ e), 256 * U * max(float(p @ p) for p in (x, y, z)) ** 3
    area = connections.triangle_area(curvature, x, y, z)
    # From i by k and j back to i: against the sense of (i, j, k).
    assert abs(float(moved @ e) - np.cos(area)) <= size
    assert abs(float(moved @ f) + curvature * np.sin(area)) <= size
    assert abs(np.sin(area)) > size
    assert abs(connections.triangle_area(curvature, x, z, y) + area) <= size


# Stress


def judge(t: Triangles, cell: str, left: Callable[[Any], Any] = lambda t: t) -> Comparison:
    """The cell's comparison with side one on inputs of its own, the bound on the honest ones."""
    with blockwise.exact_products():
        one: Around = frame_transports.left_side(left(t), Cell("RA10", cell))
        two: Around = frame_transports.right_side(t, Cell("RA10", cell))
        model = precision(t.x.dtype, CPU)
        (found,) = merged(frame_transports.comparisons(t, Cell("RA10", cell), one, two, model))
        return found


FAULTS: dict[str, Callable[[Triangles], Triangles]] = {
    "triangles run backwards": lambda t: replace(t, second=t.third, third=t.second),
    "frames of other tokens": lambda t: replace(t, frames=t.frames.rows(t.second)),
    "tokens scaled by 1.01": lambda t: replace(t, x=t.x * 1.01),
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("cell", frame_transports.CELLS)
def test_triangles_hold_their_bound_tightly_and_see_faults(cell: str, dtype: Any) -> None:
    t, _ = frame_transports.draw(Cell("RA10", cell, 60, 33, 1, dtype_name(dtype), "cpu", 5), CPU)
    honest = judge(t, cell)
    assert honest.ok
    assert honest.tight
    for name, fault in FAULTS.items():
        assert not judge(t, cell, fault).ok, name
    if cell == "curvature":
        assert not judge(t, cell, lambda t: replace(t, signs=t.signs.roll(1, 0))).ok


def test_blocks_of_triangles_give_the_same_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    t, _ = frame_transports.draw(Cell("RA10", "torsion", 60, 33, 1, "float64", "cpu", 5), CPU)
    whole = judge(t, "torsion")
    monkeypatch.setattr(blockwise, "CPU_BLOCK", 2**10)
    assert judge(t, "torsion") == whole
