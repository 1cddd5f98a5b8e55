"""Euclidean operations on spaces of matrices break laws: the law suite sees each of them."""

from types import ModuleType
from typing import Any

import pytest

from numerics.spaces.grassmann import Grassmann
from numerics.spaces.lengths import dot
from numerics.spaces.rotations import Rotations
from numerics.spaces.spd import AffineInvariantSPD
from numerics.spaces.spectral import exp_difference, log_difference, spectral


class IdentityBaseSPD(AffineInvariantSPD):
    """Tangent vectors read at the identity, whatever the query."""

    def _log(self, xp: Any, x: Any, y: Any) -> Any:
        return spectral(y, xp.log, log_difference)


class EigenvectorSPD(AffineInvariantSPD):
    """The distance through eigenvectors, which have no gradient at y = x."""

    def _distance2(self, xp: Any, x: Any, y: Any) -> Any:
        values, basis = xp.linalg.eigh(xp.linalg.inv(x) @ y)
        logs = (basis * xp.log(values)[..., None, :]) @ basis.mT
        return dot(xp, logs, logs, 2)


class LogMeanSPD(AffineInvariantSPD):
    """The log-Euclidean mean: orthogonal congruences commute with it, the others do not."""

    def _ambient(self, xp: Any, v: Any, w: Any) -> Any:
        logs = xp.reshape(spectral(v, xp.log, log_difference), (v.shape[0], -1))
        means = xp.reshape(w @ logs, (w.shape[0], *self.point_shape))
        return spectral(means, xp.exp, exp_difference)


class ChordRotations(Rotations):
    """The Euclidean distance, which rotations keep: it is not the length of a geodesic."""

    def _distance2(self, xp: Any, x: Any, y: Any) -> Any:
        return dot(xp, x - y, x - y, 2) / 2


class UntransposedRotations(Rotations):
    """tr(QK) for tr(Q^T K)."""

    def _similarity(self, xp: Any, x: Any, y: Any) -> Any:
        return dot(xp, x.swapaxes(-1, -2), y, 2)


class MeanRotations(Rotations):
    """The arithmetic mean, which is no rotation."""

    def _ambient(self, xp: Any, v: Any, w: Any) -> Any:
        return xp.reshape(w @ xp.reshape(v, (-1, 9)), (-1, 3, 3))


class UnturnedRotations(Rotations):
    """Tangent vectors left where they are by isometries."""

    def _push(self, xp: Any, g: Any, x: Any, v: Any) -> Any:
        return v


class ProjectionGrassmann(Grassmann):
    """The distance of projectors: a sum of squared sines for one of squared angles."""

    def _distance2(self, xp: Any, x: Any, y: Any) -> Any:
        return dot(xp, x - y, x - y, 2) / 2


class MeanGrassmann(Grassmann):
    """The arithmetic mean, which is no projector."""

    def _ambient(self, xp: Any, v: Any, w: Any) -> Any:
        return xp.reshape(w @ xp.reshape(v, (v.shape[0], -1)), (-1, *self.point_shape))


class FlatGrassmann(Grassmann):
    """Differences for logarithms."""

    def _log(self, xp: Any, x: Any, y: Any) -> Any:
        return y - x


ISOMETRIES = "test_isometries_keep_distances_geodesics_and_products"
LENGTH = "test_length_of_log_is_the_distance"
READOUTS = "test_readouts_are_equivariant"
FALSE = [
    (IdentityBaseSPD(3), LENGTH, r"\|log_x y\| = d"),
    (EigenvectorSPD(3), "test_gradient_at_identical_points_is_zero", "the gradient"),
    (LogMeanSPD(3), READOUTS, "the ambient readout commutes"),
    (ChordRotations(), LENGTH, r"\|log_x y\| = d"),
    (UntransposedRotations(), "test_product_weights_are_invariant", "is invariant"),
    (UnturnedRotations(), ISOMETRIES, None),
    (MeanRotations(), READOUTS, None),
    (ProjectionGrassmann(4, 2), LENGTH, r"\|log_x y\| = d"),
    (MeanGrassmann(4, 2), READOUTS, None),
    (FlatGrassmann(4, 2), "test_exp_and_log_are_inverse", None),
]
"""Spaces that are none, the law that each breaks, and how; None: by a point off the space."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("space", "law", "says"), FALSE, ids=[f"{type(s).__name__}-{law[5:]}" for s, law, _ in FALSE]
)
def test_a_euclidean_operation_in_disguise_breaks_a_law(
    laws: ModuleType, space: Any, law: str, says: str | None
) -> None:
    gradient = law == "test_gradient_at_identical_points_is_zero"
    arguments = (space, "float64" if gradient else "numpy-float64")
    if says is None:
        with pytest.raises(
            ValueError, match=r"must be (a rotation|a projector|tangent to|tangent a)"
        ):
            getattr(laws, law)(*arguments)
    else:
        with pytest.raises(AssertionError, match=says):
            getattr(laws, law)(*arguments)


@pytest.mark.slow
def test_the_spaces_themselves_keep_these_laws(laws: ModuleType) -> None:
    for space, law, _ in FALSE:
        true = next(s for s in laws.SPACES.values() if type(s) is type(space).__mro__[1])
        gradient = law == "test_gradient_at_identical_points_is_zero"
        getattr(laws, law)(true, "float64" if gradient else "numpy-float64")
