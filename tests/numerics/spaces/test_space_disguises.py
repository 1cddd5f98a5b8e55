"""Euclidean operations on curved spaces break laws: the law suite sees each of them."""

import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from numerics.spaces import (
    AffineInvariantSPD,
    AfterInversion,
    LogEuclideanSPD,
    Lorentz,
    Sphere,
    Torus,
)
from numerics.spaces.lengths import dot, norm


class ChordSphere(Sphere):
    """The Euclidean distance, which rotations keep: it is not the length of a geodesic."""

    def _distance2(self, xp: Any, x: Any, y: Any) -> Any:
        return dot(xp, x - y, x - y)


class FlatSphere(Sphere):
    """Sums and differences for exp and log."""

    def _exp(self, xp: Any, x: Any, v: Any) -> Any:
        return x + v

    def _log(self, xp: Any, x: Any, y: Any) -> Any:
        return y - x


class MeanSphere(Sphere):
    """The arithmetic mean, inside the ball."""

    def _ambient(self, xp: Any, v: Any, w: Any) -> Any:
        return w @ v


class EuclideanLorentz(Lorentz):
    """The Euclidean distance of Lorentz coordinates, which boosts change."""

    def _distance2(self, xp: Any, x: Any, y: Any) -> Any:
        return dot(xp, x - y, x - y)


class DotLorentz(Lorentz):
    """Dot-product attention with Lorentz coordinates."""

    def _similarity(self, xp: Any, x: Any, y: Any) -> Any:
        return dot(xp, x, y)


class FlatLorentz(Lorentz):
    """Dot products of tangent vectors."""

    def _inner(self, xp: Any, x: Any, u: Any, v: Any) -> Any:
        return dot(xp, u, v)


class MeanLorentz(Lorentz):
    """The mean of the space coordinates, put on the sheet: rotations commute, boosts do not."""

    def _ambient(self, xp: Any, v: Any, w: Any) -> Any:
        space = w @ v[:, 1:]
        return xp.concat([xp.sqrt(1 + dot(xp, space, space))[:, None], space], axis=-1)


class FixedBaseLorentz(Lorentz):
    """Tangent vectors read at the base point of the chart, whatever the query."""

    def _log(self, xp: Any, x: Any, y: Any) -> Any:
        base = x * 0
        base[..., 0] = 1
        return super()._log(xp, base, y)


class RootLorentz(Lorentz):
    """The root of the distance: a metric, of which no square is convex."""

    def _distance2(self, xp: Any, x: Any, y: Any) -> Any:
        return norm(xp, super()._distance2(xp, x, y))


class PowerLorentz(Lorentz):
    """The fourth power of the distance: on a line it breaks the triangle inequality."""

    def _distance2(self, xp: Any, x: Any, y: Any) -> Any:
        return super()._distance2(xp, x, y) ** 4


class WideSphere(Sphere):
    """Means in balls wider than a hemisphere."""

    convex_radius = 0.6 * math.pi


class UnwrappedTorus(Torus):
    """Differences of angles that are not taken modulo a turn."""

    def _distance2(self, xp: Any, x: Any, y: Any) -> Any:
        return dot(xp, x - y, x - y)


class NoGradientLorentz(Lorentz):
    """The distance through arcosh, whose derivative at 1 is infinite."""

    def _distance2(self, xp: Any, x: Any, y: Any) -> Any:
        product = x[..., 0] * y[..., 0] - dot(xp, x[..., 1:], y[..., 1:])
        return xp.acosh(xp.where(product > 1, product, xp.ones_like(product))) ** 2


class EuclideanSPD(AffineInvariantSPD):
    """The Euclidean distance of matrices, which congruence changes."""

    def _distance2(self, xp: Any, x: Any, y: Any) -> Any:
        return dot(xp, x - y, x - y, 2)


class TraceSPD(AffineInvariantSPD):
    """exp(tr(AB) / tau), which congruence changes."""

    def _similarity(self, xp: Any, x: Any, y: Any) -> Any:
        return dot(xp, x, y, 2)


class ArithmeticSPD(AffineInvariantSPD):
    """The arithmetic mean under inversion: of I and 3 I it gives I / 2 against 2 I / 3."""

    def _random_isometry(self, generator: np.random.Generator) -> Any:
        return AfterInversion(super()._random_isometry(generator))


class LogEuclideanUnderGL(LogEuclideanSPD):
    """The log-Euclidean metric with all of GL(n) for isometries."""

    def _check_isometry(self, g: Any, x: Any) -> None:
        assert g.shape == self.point_shape

    def _random_isometry(self, generator: np.random.Generator) -> Any:
        return AffineInvariantSPD(self.n).random_isometry(generator)


MINIMISES = "test_frechet_mean_minimises_and_does_not_depend_on_the_order"
UNIQUE = "test_means_are_unique_in_half_the_injectivity_radius"
CONVEX = "test_where_means_are_always_unique_squared_distance_is_convex"
FALSE = [
    (ChordSphere(3), "test_length_of_log_is_the_distance", r"\|log_x y\| = d"),
    (ChordSphere(3), "test_gradient_of_half_the_squared_distance_is_minus_log", "d/dt"),
    (FlatSphere(3), "test_exp_and_log_are_inverse", None),
    (FlatSphere(3), "test_length_of_log_is_the_distance", None),
    (MeanSphere(3), "test_readouts_are_equivariant", None),
    (EuclideanLorentz(2), "test_isometries_keep_distances_geodesics_and_products", r"d\(gx, gy\)"),
    (EuclideanLorentz(2), "test_heat_weights_are_invariant", "is invariant"),
    (EuclideanLorentz(2), "test_flat_limit_is_attention_by_squared_distance", "weights: "),
    (DotLorentz(2), "test_product_weights_are_invariant", "is invariant"),
    (FlatLorentz(2), "test_isometries_keep_distances_geodesics_and_products", "<gu, gv>"),
    (FlatLorentz(2), "test_length_of_log_is_the_distance", r"\|log_x y\| = d"),
    (MeanLorentz(2), "test_readouts_are_equivariant", "the ambient readout commutes"),
    (FixedBaseLorentz(2), "test_exp_and_log_are_inverse", None),
    (EuclideanLorentz(2), MINIMISES, "the mean minimises"),
    (PowerLorentz(1), "test_distance_is_a_metric", r"d\(x, z\) <= d\(x, y\)"),
    (RootLorentz(2), CONVEX, r"d\^2\(middle, z\)"),
    (WideSphere(3), UNIQUE, "the radius of uniqueness"),
    (UnwrappedTorus(3), "test_isometries_keep_distances_geodesics_and_products", r"d\(gx, gy\)"),
    (UnwrappedTorus(3), "test_heat_weights_are_invariant", "is invariant"),
    (EuclideanSPD(3), "test_isometries_keep_distances_geodesics_and_products", r"d\(gx, gy\)"),
    (EuclideanSPD(3), "test_heat_weights_are_invariant", "is invariant"),
    (TraceSPD(3), "test_product_weights_are_invariant", "is invariant"),
    (ArithmeticSPD(3), "test_readouts_are_equivariant", "the ambient readout commutes"),
    (LogEuclideanUnderGL(3), "test_isometries_keep_distances_geodesics_and_products", "d.gx, gy"),
    (LogEuclideanUnderGL(3), "test_heat_weights_are_invariant", "is invariant"),
    (LogEuclideanUnderGL(3), "test_readouts_are_equivariant", "the .* readout commutes"),
    (NoGradientLorentz(2), "test_gradient_at_identical_points_is_zero", "gradient"),
]
"""Spaces that are none, the law that each breaks, and how; None: by a point off the space."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("space", "law", "says"), FALSE, ids=[f"{type(s).__name__}-{law[5:]}" for s, law, _ in FALSE]
)
def test_a_euclidean_operation_in_disguise_breaks_a_law(
    laws: ModuleType, space: Any, law: str, says: str | None
) -> None:
    arguments = {
        "test_flat_limit_is_attention_by_squared_distance": (space,),
        UNIQUE: (space,),
        "test_gradient_at_identical_points_is_zero": (space, "float64"),
        "test_gradient_of_half_the_squared_distance_is_minus_log": (space, "float64"),
    }.get(law, (space, "numpy-float64"))
    if says is None:
        with pytest.raises(ValueError, match=r"must be (on|tangent to)"):
            getattr(laws, law)(*arguments)
    else:
        with pytest.raises(AssertionError, match=says):
            getattr(laws, law)(*arguments)


def test_every_law_of_a_disguise_holds_for_the_space_itself(laws: ModuleType) -> None:
    true = {type(space).__mro__[0].__name__ for space in laws.SPACES.values()}
    assert {type(space).__mro__[1].__name__ for space, _, _ in FALSE} <= true
