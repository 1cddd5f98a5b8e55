"""Flat spaces: tied dot-product attention, and differences of angles."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from numerics.spaces import Euclidean, Torus, ambient_readout, frechet_readout, heat_weights
from numerics.spaces.lengths import roundoff


def softmax(scores: np.ndarray) -> np.ndarray:
    masses = np.exp(scores - scores.max(1, keepdims=True))
    return masses / masses.sum(1, keepdims=True)


def test_flat_heat_weights_are_tied_dot_product_attention_with_a_column_term() -> None:
    rng, tau = np.random.default_rng(0), 0.7
    q, k = rng.normal(size=(5, 4)), rng.normal(size=(6, 4))
    tied = (q @ k.T - (k * k).sum(1) / 2) / tau
    scores = (1 + (q * q).sum(1).max() + (k * k).sum(1).max()) / tau
    bound = math.expm1(32 * roundoff("float64") * scores)
    assert abs(heat_weights(Euclidean(4), q, k, tau) - softmax(tied)).max() <= bound


def test_without_the_column_term_it_would_be_another_attention() -> None:
    q, k = np.array([[1.0]]), np.array([[0.0], [2.0]])
    assert heat_weights(Euclidean(1), q, k, 1.0).tolist() == [[0.5, 0.5]]
    untied = softmax(q @ k.T)[0]
    ratio = untied[1] / untied[0]
    assert math.isclose(ratio, math.exp(2), rel_tol=16 * roundoff("float64"), abs_tol=0)


@pytest.mark.parametrize("kind", [np.asarray, torch.tensor])
def test_distance_passes_the_seam_of_the_circle(kind: Any) -> None:
    x, y = kind([[3.0, 0.0]]), kind([[-3.0, 0.0]])
    bound = 8 * math.pi * (2.0**-53 if kind is np.asarray else 2.0**-24)
    assert abs(float(Torus(2).distance(x, y)[0]) - (2 * math.pi - 6)) <= bound
    assert abs(float(Torus(2).log(x, y)[0, 0]) - (2 * math.pi - 6)) <= bound
    assert abs(float(Torus(2).exp(x, Torus(2).log(x, y))[0, 0]) + 3) <= bound


def test_half_a_turn_in_any_angle_has_no_logarithm_and_almost_half_has() -> None:
    T = Torus(2)
    x, y = np.array([[0.5, 1.0]]), np.array([[0.6, 1.0 - math.pi]])
    with pytest.raises(ValueError, match=r"^y must not lie in the cut locus of x .*at \(0,\)"):
        T.log(x, y)
    near = y + np.array([[0.0, 1e-9]])
    bound = 16 * math.pi * roundoff("float64")
    assert abs(T.log(x, near) - np.array([[0.1, 1e-9 - math.pi]])).max() <= bound


def test_circular_and_frechet_means_pass_the_seam() -> None:
    T, v = Torus(1), np.array([[3.0], [-3.0]])
    bound = 4 * 2 * float(T.resolution(np, v)[0])
    for readout in (ambient_readout, frechet_readout):
        mean = readout(T, v, np.array([[0.5, 0.5]]))
        assert abs(abs(mean[0, 0]) - math.pi) <= bound


def test_means_of_opposite_angles_are_refused() -> None:
    T, v, w = Torus(1), np.array([[0.5], [0.5 - math.pi]]), np.array([[0.5, 0.5]])
    with pytest.raises(ValueError, match=r"^v must be of circular means other than 0"):
        ambient_readout(T, v, w)
    with pytest.raises(ValueError, match=r"^v must lie in a ball of .* Frechet mean is unique"):
        frechet_readout(T, v, w)


def test_angles_count_one_by_one_for_a_unique_mean() -> None:
    # Each angle stays within 1.5 of its mean, the point does not.
    T, v = Torus(3), 1.5 * np.array([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]])
    assert np.linalg.norm(v[0]) > T.convex_radius
    mean = frechet_readout(T, v, np.array([[0.5, 0.5]]))
    assert abs(mean).max() <= 8 * float(T.resolution(np, v)[0])
    wide = np.concatenate([v, 0 * v[:1]]) * np.array([1.0, 1.0, 1.1])
    with pytest.raises(ValueError, match=r"^v must lie in a ball of .* Frechet mean is unique"):
        frechet_readout(T, wide, np.array([[0.3, 0.3, 0.4]]))


@pytest.mark.parametrize(("dtype", "radius"), [("float64", 1e150), ("float32", 1e18)])
def test_squares_do_not_overflow_within_the_radius_of_flat_space(dtype: str, radius: float) -> None:
    x = np.array([[radius, 0.0]], dtype)
    assert np.isfinite(Euclidean(2).distance2(x, -x)).all()
    with pytest.raises(ValueError, match=rf"^x must be within radius\({dtype}\) = 1e\+1"):
        Euclidean(2).check(x * 3)
