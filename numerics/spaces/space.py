"""A Riemannian space with its isometries: what each file of this package defines.

Points, tangent vectors: trailing shape `point_shape`, leading axes a batch, equal in all arguments.
A public method checks its input and calls the hook of the same name with an underscore; hooks
broadcast over leading axes and check nothing.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from types import ModuleType
from typing import Any

import numpy as np

from numerics.arrays import Array, finite, namespace, refuse
from numerics.inputs import integer
from numerics.spaces.lengths import norm, roundoff


class Space(ABC):
    """A space: points, geodesics, distance and isometries, float32 or float64, NumPy or torch.

    Every method raises TypeError for other kinds or dtypes and for mixtures, ValueError for wrong
    shapes, entries that are not finite, points off the space, vectors that are not tangent and
    points beyond `radius`, each by name. Source: AP8.
    """

    name: str
    """Name in messages."""
    point_shape: tuple[int, ...]
    """Trailing shape of a point and of a tangent vector."""
    injectivity: float = math.inf
    """Distance below which a shortest geodesic is unique."""
    convex_radius: float = math.inf
    """Radius of the open balls in which a Frechet mean is unique (Afsari 2011; Cartan)."""
    lowest_curvature: float = 0.0
    """Lower bound, at most 0, of the sectional curvatures."""
    without_similarity: str = "no inner product of points is invariant under its isometries"
    """Why there is no `similarity`, where there is none."""

    # What a space defines.

    @abstractmethod
    def _check(self, xp: ModuleType, x: Array, name: str) -> None:
        """ValueError, naming x by name, unless all points lie on the space within `slack`."""

    def _check_tangent(self, xp: ModuleType, x: Array, v: Array, name: str) -> None:  # noqa: B027
        """ValueError unless v is tangent at x up to `resolution`; by default every array is."""

    @abstractmethod
    def _check_isometry(self, g: Any, x: Array) -> None:
        """TypeError or ValueError unless g is an isometry of the kind and dtype of x."""

    @abstractmethod
    def _inner(self, xp: ModuleType, x: Array, u: Array, v: Array) -> Array: ...

    @abstractmethod
    def _distance2(self, xp: ModuleType, x: Array, y: Array) -> Array: ...

    @abstractmethod
    def _exp(self, xp: ModuleType, x: Array, v: Array) -> Array: ...

    @abstractmethod
    def _log(self, xp: ModuleType, x: Array, y: Array) -> Array:
        """Finite also at the cut locus, where it means nothing; exactly 0 at y = x."""

    def _cut(self, xp: ModuleType, x: Array, y: Array) -> Array | None:
        """Where y is in the cut locus of x within rounding; None: nowhere."""
        return None

    def _outside(self, xp: ModuleType, x: Array, y: Array) -> Array:
        """Where y, within rounding, is not in the open ball of `convex_radius` about x."""
        limit = self.convex_radius - self.resolution(xp, y)
        return ~(norm(xp, self._distance2(xp, x, y)) < limit)

    def _similarity(self, xp: ModuleType, x: Array, y: Array) -> Array:
        raise TypeError(f"{self.name} has no similarity: {self.without_similarity}")

    def _ambient(self, xp: ModuleType, v: Array, w: Array) -> Array:
        """Readouts (n, ...) of points v (m, ...) with weights w (n, m), computed in the ambient
        space; ValueError where undefined."""
        raise TypeError(f"{self.name} has no ambient readout")

    @abstractmethod
    def _act(self, xp: ModuleType, g: Any, x: Array) -> Array: ...

    @abstractmethod
    def _push(self, xp: ModuleType, g: Any, x: Array, v: Array) -> Array: ...

    @abstractmethod
    def _random_points(self, generator: np.random.Generator, count: int) -> np.ndarray: ...

    @abstractmethod
    def _random_isometry(self, generator: np.random.Generator) -> Any: ...

    def _depth(self, xp: ModuleType, x: Array) -> Array | None:
        """Distance of points from the base point that `radius` limits; None: it limits none."""
        return None

    def _stretch(self, xp: ModuleType, x: Array) -> Array | None:
        """Distance by which a point moves at most if its entries change by a relative 1; None: 1.

        Spaces whose metric enlarges rounding far out say by how much.
        """
        return None

    def radius(self, dtype: Any) -> float:
        """Largest distance for which methods keep half of the digits; refused beyond.

        Points have at most this distance from the base point, and in exp(x, v) so has |v| plus the
        distance of x from it. A space without far points has its diameter, or inf.
        """
        roundoff(dtype)
        return math.inf

    # What follows for every space.

    @property
    def size(self) -> int:
        """Number of entries of a point."""
        return math.prod(self.point_shape)

    def slack(self, dtype: Any) -> float:
        """Relative departure from the space that a stored point may have: 32 size roundoffs."""
        return 32 * self.size * roundoff(dtype)

    def resolution(self, xp: ModuleType, x: Array) -> Array:
        """Distance within which points (..., *point_shape) are known: 8 size roundoffs, stretched.

        It has the shape of the batch. A step of a computation moves a point by no more.
        """
        stretch = self._stretch(xp, x)
        if stretch is None:
            stretch = xp.ones_like(xp.sum(x, axis=self._axes))
        return 8 * self.size * roundoff(x.dtype) * stretch

    def check(self, x: Array, name: str = "x") -> None:
        """ValueError or TypeError, naming the argument, unless x is a stack of points."""
        xp = self._shaped(**{name: x})
        x = detached(x)
        self._check(xp, x, name)
        self._refuse_far(xp, x, name)

    def inner(self, x: Array, u: Array, v: Array) -> Array:
        """Riemannian inner products (...) of tangent vectors u, v at x, all (..., *point_shape)."""
        xp = self._tangents(x, u=u, v=v)
        return self._inner(xp, x, u, v)

    def distance2(self, x: Array, y: Array) -> Array:
        """Squared distances (...) of points x, y (..., *point_shape), with gradient 0 at y = x."""
        xp = self._points(x=x, y=y)
        return self._distance2(xp, x, y)

    def distance(self, x: Array, y: Array) -> Array:
        """Distances (...) of points x, y (..., *point_shape)."""
        xp = self._points(x=x, y=y)
        return norm(xp, self._distance2(xp, x, y))

    def similarity(self, x: Array, y: Array) -> Array:
        """Isometry-invariant products (...) of points; TypeError, with the reason, without one."""
        xp = self._points(x=x, y=y)
        return self._similarity(xp, x, y)

    def exp(self, x: Array, v: Array) -> Array:
        """Points at the ends of the geodesics from x with velocities v, all (..., *point_shape).

        ValueError where |v| plus the distance of x from the base point exceeds `radius`.
        """
        xp = self._tangents(x, v=v)
        self._refuse_reach(xp, detached(x), detached(v))
        return self._exp(xp, x, v)

    def log(self, x: Array, y: Array) -> Array:
        """Velocities v at x with exp(x, v) = y on the shortest geodesic; all (..., *point_shape).

        ValueError where y lies in the cut locus of x within rounding: no geodesic is shortest.
        """
        xp = self._points(x=x, y=y)
        self._refuse_cut(xp, x, y, f"y must not lie in the cut locus of x in {self.name}")
        return self._log(xp, x, y)

    def act(self, g: Any, x: Array) -> Array:
        """Images of points x (..., *point_shape) under one isometry g, as random_isometry draws."""
        xp = self._points(x=x)
        self._check_isometry(g, x)
        return self._act(xp, g, x)

    def push(self, g: Any, x: Array, v: Array) -> Array:
        """Images at act(g, x) of tangent vectors v at x under the differential of g."""
        xp = self._tangents(x, v=v)
        self._check_isometry(g, x)
        return self._push(xp, g, x, v)

    def random_points(self, generator: np.random.Generator, count: int) -> np.ndarray:
        """Float64 points (count, *point_shape), well inside `radius`."""
        _generator(generator)
        return self._random_points(generator, integer("count", count, 1))

    def random_isometry(self, generator: np.random.Generator) -> Any:
        """A float64 isometry, of a form that act and push of this space read."""
        _generator(generator)
        return self._random_isometry(generator)

    # The boundary.

    @property
    def _axes(self) -> tuple[int, ...]:
        return tuple(range(-len(self.point_shape), 0))

    def _shaped(self, **arrays: Array) -> ModuleType:
        """Namespace of finite arrays whose trailing shape is that of a point."""
        xp = namespace(**arrays)
        count = len(self.point_shape)
        for name, array in arrays.items():
            if roundoff(array.dtype) and tuple(array.shape[-count:]) != self.point_shape:
                raise ValueError(
                    f"{name} must have trailing shape {self.point_shape} in {self.name}, got "
                    f"{tuple(array.shape)}"
                )
        finite(**arrays)
        return xp

    def _points(self, **points: Array) -> ModuleType:
        """Namespace of stacks of points of one shape, all checked."""
        xp = namespace(**points)
        for name, array in points.items():
            self.check(array, name)
        self._equal(**points)
        return xp

    def _equal(self, **arrays: Array) -> None:
        (first, reference), *others = arrays.items()
        for name, array in others:
            if array.shape != reference.shape:
                raise ValueError(
                    f"{name} must have the shape of {first}, {tuple(reference.shape)}, got "
                    f"{tuple(array.shape)}"
                )

    def _tangents(self, x: Array, **vectors: Array) -> ModuleType:
        """Namespace of points x and tangent vectors at them, all checked."""
        xp = namespace(x=x, **vectors)
        self.check(x)
        self._shaped(**vectors)
        self._equal(x=x, **vectors)
        for name, v in vectors.items():
            self._check_tangent(xp, detached(x), detached(v), name)
        return xp

    def _refuse_reach(self, xp: ModuleType, x: Array, v: Array, name: str = "v") -> None:
        with np.errstate(over="ignore"):
            length = norm(xp, self._inner(xp, x, v, v))
        depth = self._depth(xp, x)
        reach = length if depth is None else length + depth
        limit = self.radius(x.dtype)
        message = f"of length, with x's distance from the base point, at most {limit:.6g}"
        bad = ~(reach <= limit * (1 + self.slack(x.dtype)))
        refuse(name, reach, bad, f"{message} in {self.name}")

    def _refuse_far(self, xp: ModuleType, x: Array, name: str) -> None:
        with np.errstate(over="ignore"):
            depth = self._depth(xp, x)
        if depth is not None:
            limit = self.radius(x.dtype)
            message = f"within radius({x.dtype}) = {limit:.6g} of the base point of {self.name}"
            refuse(name, depth, ~(depth <= limit * (1 + self.slack(x.dtype))), message)

    def _refuse_cut(self, xp: ModuleType, x: Array, y: Array, message: str) -> None:
        cut = self._cut(xp, detached(x), detached(y))
        if cut is not None:
            refuse_pairs(cut, message)


def refuse_pairs(bad: Array, message: str) -> None:
    """ValueError with the message and the place of the first pair at which bad holds, if any."""
    places = np.argwhere(np.asarray(bad.tolist()))
    if len(places):
        raise ValueError(f"{message}, got another pair at {tuple(int(i) for i in places[0])}")


def detached(x: Array) -> Array:
    """x without its gradient: a check is not differentiated."""
    return x.detach() if hasattr(x, "detach") else x


def _generator(generator: object) -> None:
    if not isinstance(generator, np.random.Generator):
        kind = type(generator).__name__
        raise TypeError(f"generator must be a numpy.random.Generator, got {kind}")
