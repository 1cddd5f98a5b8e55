"""Products of spaces, and what the readouts refuse."""

import math
from types import ModuleType

import numpy as np
import pytest
import torch

from numerics.spaces import (
    Euclidean,
    Grassmann,
    Lorentz,
    Product,
    Rotations,
    Sphere,
    ambient_readout,
    frechet_readout,
    heat_weights,
    product_weights,
    readouts,
    tangent_readout,
)

S, H = Sphere(3), Lorentz(2)
SH = Product(S, H)
RNG_SEED = 8
KINDS = ("numpy-float64", "numpy-float32", "torch-float64", "torch-float32")


def factors(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(RNG_SEED)
    return S.random_points(rng, count), H.random_points(rng, count)


def test_squared_distances_and_products_of_a_product_add() -> None:
    (a, b), (c, d) = (factors(8)[i].reshape(2, 4, 3) for i in (0, 1))
    x, y = SH.join(a, c), SH.join(b, d)
    assert (SH.distance2(x, y) == S.distance2(a, b) + H.distance2(c, d)).all()
    assert (SH.similarity(x, y) == S.similarity(a, b) + H.similarity(c, d)).all()


def test_split_undoes_join() -> None:
    a, c = (torch.from_numpy(part) for part in factors(4))
    parts = SH.split(SH.join(a, c))
    assert bool((parts[0] == a).all())
    assert bool((parts[1] == c).all())


def test_heat_weights_of_a_product_are_products_of_heat_weights() -> None:
    a, c = factors(6)
    x = SH.join(a, c)
    product = heat_weights(S, a, a, 0.5) * heat_weights(H, c, c, 0.5)
    product /= product.sum(1, keepdims=True)
    d = float(SH.distance2(x[:, None].repeat(6, 1), x[None].repeat(6, 0)).max())
    bound = math.expm1(16 * float(SH.resolution(np, x).max()) * (1 + d))
    assert abs(heat_weights(SH, x, x, 0.5) - product).max() <= bound


@pytest.mark.slow
def test_each_factor_has_its_own_condition_for_a_unique_mean() -> None:
    # 6 apart in the hyperbolic factor, where every mean is unique; 1 apart on the sphere.
    a = np.array([[1.0, 0.0, 0.0], [math.cos(1.0), math.sin(1.0), 0.0]])
    c = np.array([[math.cosh(3.0), s * math.sinh(3.0), 0.0] for s in (1, -1)])
    w = np.array([[0.5, 0.5]])
    mean = frechet_readout(SH, SH.join(a, c), w)
    middle = SH.join(np.array([[math.cos(0.5), math.sin(0.5), 0.0]]), np.array([[1.0, 0.0, 0.0]]))
    bound = 16 * float(SH.resolution(np, SH.join(a, c)).max())
    assert SH.distance(mean, middle)[0] <= bound
    wide = SH.join(np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]), c)
    with pytest.raises(ValueError, match=r"^v must lie in a ball of .* Frechet mean is unique"):
        frechet_readout(SH, wide, w)


def test_spaces_without_an_invariant_product_say_why(laws: ModuleType) -> None:
    for name in laws.WITHOUT_PRODUCT:
        x = laws.SPACES[name].random_points(np.random.default_rng(0), 2)
        with pytest.raises(TypeError, match=r" has no similarity: .* changes under "):
            product_weights(laws.SPACES[name], x, x, 1.0)


def test_a_product_with_a_flat_factor_has_no_invariant_product() -> None:
    space = Product(S, Euclidean(2))
    x = space.random_points(np.random.default_rng(0), 3)
    with pytest.raises(TypeError, match=r"^R\^2 has no similarity: .* changes under translations"):
        product_weights(space, x, x, 1.0)


def test_far_values_have_a_frechet_mean_that_balances_them() -> None:
    v = np.array([[math.cosh(8.0), s * math.sinh(8.0), 0.0] for s in (1, -1)])
    v = np.concatenate([v, H.random_points(np.random.default_rng(1), 1)])
    w = np.array([[0.5, 0.3, 0.2]])
    c = frechet_readout(H, v, w)
    pull = (w[0][:, None] * H.log(c.repeat(3, 0), v)).sum(0)[None]
    rho = 4 * float(H.resolution(np, np.concatenate([c, v])).max())
    assert H.inner(c, pull, pull)[0] ** 0.5 <= 2 * rho


def test_an_iteration_that_does_not_arrive_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    v = H.random_points(np.random.default_rng(1), 4)
    monkeypatch.setattr(readouts, "LARGEST_COUNT", 2)
    with pytest.raises(ArithmeticError, match="must be reached in 2 steps, last step"):
        frechet_readout(H, v, np.full((1, 4), 0.25))


def test_one_value_is_read_back_by_every_readout() -> None:
    for space in (S, H, SH):
        v = space.random_points(np.random.default_rng(2), 3)
        w, bound = np.eye(3), 8 * float(space.resolution(np, v).max())
        assert space.distance(frechet_readout(space, v, w), v).max() <= bound
        assert space.distance(ambient_readout(space, v, w), v).max() <= bound
        assert space.distance(tangent_readout(space, v, v, w), v).max() <= bound


def test_a_frechet_mean_is_differentiable_and_moves_with_its_values() -> None:
    v = torch.from_numpy(H.random_points(np.random.default_rng(3), 3)).requires_grad_(True)
    w = torch.full((1, 3), 1 / 3, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(frechet_readout(H, v, w)[0, 1], v)
    assert bool(torch.isfinite(gradient).all())
    assert float(gradient.abs().max()) > 0.01


def test_values_that_lie_evenly_around_a_query_are_read_as_the_query(laws: ModuleType) -> None:
    """Their tangent vectors cancel down to rounding, which is no tangent vector."""
    for space in laws.SPACES.values():
        q, y = (space.random_points(np.random.default_rng(s), 1) for s in (1, 2))
        half = space.log(q, y) / 4
        v = np.concatenate([space.exp(q, half), space.exp(q, -half)])
        found = tangent_readout(space, q, v, np.array([[0.5, 0.5]]))
        assert space.distance(found, q)[0] <= 4 * laws.known(space, q, v), space.name


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_sum_of_tangent_vectors_that_cancels_is_still_tangent(dtype: str) -> None:
    for space in (S, H, SH, Grassmann(5, 2), Rotations()):
        q, y = (space.random_points(np.random.default_rng(s), 6).astype(dtype) for s in (1, 2))
        half = space.log(q, y) / 4
        there, back = space.exp(q, half), space.exp(q, -half)
        left = space.log(q, there) + space.log(q, back)
        bound = 4 * float(space.resolution(np, np.concatenate([q, there, back])).max())
        assert space.distance(space.exp(q, left), q).max() <= bound


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_a_temperature_so_low_that_scores_overflow_are_those_of_the_limit(
    laws: ModuleType, kind: str
) -> None:
    q, k = (laws.cast(kind, x) for x in (np.zeros((1, 2)), np.array([[3.0, 0.0], [0.0, 2.0]])))
    tiny = float(np.finfo(kind[-7:]).smallest_normal)
    w = heat_weights(Euclidean(2), q, k, tiny)
    assert w.tolist() == [[0.0, 1.0]]
    x = laws.cast(kind, np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    assert product_weights(S, x[1:2], x, tiny).tolist() == [[0.0, 1.0, 0.0]]
    for weigh in (heat_weights, product_weights):
        for tau in (tiny / 2, float(np.finfo(kind[-7:]).max) * 0.75):
            with pytest.raises(ValueError, match=r"^tau must be a normal number of float"):
                weigh(S, x, x, tau)
