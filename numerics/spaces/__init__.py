"""Geometric spaces on which attention is equivariant: pairings, geodesics and readouts.

A new space is one file with a subclass of Space, and one row in the law suite's list
(tests/numerics/spaces/test_space_laws.py). Source: AP8.
"""

from numerics.spaces.euclidean import Euclidean
from numerics.spaces.grassmann import Grassmann
from numerics.spaces.hyperbolic import Lorentz, boost, from_ball, to_ball
from numerics.spaces.inversion import AfterInversion
from numerics.spaces.product import Product
from numerics.spaces.readouts import (
    ambient_readout,
    frechet_readout,
    heat_weights,
    product_weights,
    tangent_readout,
)
from numerics.spaces.rotations import Rotations
from numerics.spaces.space import Space
from numerics.spaces.spd import AffineInvariantSPD, LogEuclideanSPD
from numerics.spaces.sphere import Sphere
from numerics.spaces.torus import Torus

__all__ = [
    "AffineInvariantSPD",
    "AfterInversion",
    "Euclidean",
    "Grassmann",
    "LogEuclideanSPD",
    "Lorentz",
    "Product",
    "Rotations",
    "Space",
    "Sphere",
    "Torus",
    "ambient_readout",
    "boost",
    "frechet_readout",
    "from_ball",
    "heat_weights",
    "product_weights",
    "tangent_readout",
    "to_ball",
]
