"""Attention on a space: weights from distances or products, and three readouts.

Queries q (n, *p), keys k and values v (m, *p) are points with p = space.point_shape, weights w
(n, m). All commute with isometries that act on every argument. Source: AP8.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from numerics.arrays import Array, dtype_name, namespace, nonnegative, refuse, shape
from numerics.inputs import number
from numerics.spaces.lengths import norm, roundoff
from numerics.spaces.space import Space, detached, refuse_pairs

LARGEST_COUNT = 2000
"""Steps of the Frechet mean, before it is refused."""


def heat_weights(space: Space, q: Array, k: Array, tau: float) -> Array:
    """Rows softmax_j(-d^2(q_i, k_j) / (2 tau)) (n, m).

    Raises like the methods of Space, ValueError unless tau is positive and, as 2 tau, a normal
    number of the dtype. Source: AP8.
    """
    xp = _stacks(space, q=q, k=k)
    tau = _temperature(xp, tau, q)
    return _softmax(xp, -space._distance2(xp, q[:, None], k[None]), 2 * tau)


def product_weights(space: Space, q: Array, k: Array, tau: float) -> Array:
    """Rows softmax_j(<q_i, k_j> / tau) (n, m) of the space's isometry-invariant product.

    Raises like heat_weights, TypeError with the reason where no product is invariant. Source: AP8.
    """
    xp = _stacks(space, q=q, k=k)
    tau = _temperature(xp, tau, q)
    return _softmax(xp, space._similarity(xp, q[:, None], k[None]), tau)


def tangent_readout(space: Space, q: Array, v: Array, w: Array) -> Array:
    """Readouts Exp_q(sum_j w_ij Log_q v_j) (n, *p).

    Raises like the methods of Space, ValueError unless the rows of w are weights with sum 1, where
    a value of positive weight lies in the cut locus of its query, or where exp is out of the
    radius. Source: AP8.
    """
    xp = _stacks(space, q=q, v=v)
    _weights(w, q.shape[0], v)
    values = _support(xp, space, q, v, w)
    message = f"v must not lie in the cut locus of q in {space.name}"
    space._refuse_cut(xp, q[:, None], values, message)
    # Not through the check of exp: where vectors cancel, what is left of them need not be tangent.
    mean = _mean(xp, space, w, space._log(xp, q[:, None], values))
    space._refuse_reach(xp, detached(q), detached(mean), "sum_j w_ij Log_q v_j")
    return space._exp(xp, q, mean)


def frechet_readout(space: Space, v: Array, w: Array) -> Array:
    """Frechet means (n, *p): the points c_i that minimise sum_j w_ij d^2(c, v_j).

    Karcher's iteration c <- Exp_c(t sum_j w_ij Log_c v_j) from the heaviest value, t = tanh(s)/s
    for s = sqrt(-lowest curvature) max_j d(c, v_j), until the step of each row is at most four
    times `space.resolution` of c plus that of the farthest known value.
    Raises ValueError where a value of positive weight is not within space.convex_radius of the
    result (in each factor of a product), outside of which a mean need not be unique, and
    ArithmeticError after LARGEST_COUNT steps. Source: AP8.
    """
    xp = _stacks(space, v=v)
    _weights(w, None, v)
    c = v[xp.argmax(w, axis=1)]
    message = f"v must lie in a ball of {space.name} in which a Frechet mean is unique"
    known = xp.max(space.resolution(xp, detached(v)))
    for _ in range(LARGEST_COUNT):
        values = _support(xp, space, c, v, w)
        step = _mean(xp, space, w, space._log(xp, c[:, None], values))
        size = norm(xp, space._inner(xp, c, step, step))
        if bool(xp.all(detached(size) <= 4 * (space.resolution(xp, detached(c)) + known))):
            refuse_pairs(space._outside(xp, detached(c)[:, None], detached(values)), message)
            return c
        rate = _rate(xp, space, c, values)
        c = space._exp(xp, c, xp.reshape(rate, (-1,) + (1,) * len(space.point_shape)) * step)
    raise ArithmeticError(
        f"the Frechet mean in {space.name} must be reached in {LARGEST_COUNT} steps, last step "
        f"{float(xp.max(detached(size)))}"
    )


def ambient_readout(space: Space, v: Array, w: Array) -> Array:
    """Readouts (n, *p) of the ambient space, put back on the space where that is equivariant.

    Raises ValueError where it is undefined (a mean that is 0, no eigengap), TypeError for a space
    without one. Source: AP8.
    """
    xp = _stacks(space, v=v)
    _weights(w, None, v)
    return space._ambient(xp, v, w)


def _stacks(space: Space, **points: Array) -> ModuleType:
    """Namespace of points with one batch axis."""
    if not isinstance(space, Space):
        raise TypeError(f"space must be a Space, got {type(space).__name__}")
    xp = namespace(**points)
    for name, x in points.items():
        space.check(x, name)
        if x.ndim != 1 + len(space.point_shape) or not x.shape[0]:
            sizes = ", ".join(map(str, space.point_shape))
            raise ValueError(f"{name} must have shape (n, {sizes}), n > 0, got {tuple(x.shape)}")
    return xp


def _temperature(xp: ModuleType, tau: float, q: Array) -> float:
    found, limits = number("tau", tau), xp.finfo(q.dtype)
    if not found > 0:
        raise ValueError(f"tau must be positive, got {tau}")
    if not float(limits.smallest_normal) <= found <= float(limits.max) / 2:
        raise ValueError(f"tau must be a normal number of {dtype_name(q.dtype)}, got {tau}")
    return found


def _weights(w: Array, n: int | None, v: Array) -> None:
    """ValueError unless w (n, m) is nonnegative with row sums 1 up to rounding."""
    xp = namespace(v=v, w=w)
    sizes = {"m": v.shape[0]} | ({} if n is None else {"n": n})
    shape(sizes, "w", w, "n", "m")
    nonnegative(w=w)
    excess = abs(xp.sum(detached(w), axis=1) - 1)
    refuse(
        "w", excess, excess > 8 * w.shape[1] * roundoff(w.dtype), "of row sums 1, up to rounding"
    )


def _softmax(xp: ModuleType, scores: Array, tau: float) -> Array:
    """softmax(scores / tau), also where a quotient overflows: differences from the largest do not
    lose it."""
    below = scores - xp.max(detached(scores), axis=-1, keepdims=True)
    with np.errstate(over="ignore"):
        masses = xp.exp(below / tau)
    return masses / xp.sum(masses, axis=-1, keepdims=True)


def _over_points(xp: ModuleType, space: Space, w: Array) -> Array:
    """w (n, m) with an axis of size 1 for each axis of a point."""
    return xp.reshape(w, tuple(w.shape) + (1,) * len(space.point_shape))


def _support(xp: ModuleType, space: Space, c: Array, v: Array, w: Array) -> Array:
    """Values (n, m, *p), with c in place of those of weight 0: they count nowhere."""
    return xp.where(_over_points(xp, space, w) > 0, v[None], c[:, None])


def _mean(xp: ModuleType, space: Space, w: Array, vectors: Array) -> Array:
    """Weighted means (n, *p) of vectors (n, m, *p)."""
    return xp.sum(_over_points(xp, space, w) * vectors, axis=1)


def _distances(xp: ModuleType, space: Space, c: Array, values: Array) -> Array:
    """Distances (n,) of the farthest values."""
    return xp.max(norm(xp, space._distance2(xp, detached(c)[:, None], detached(values))), axis=1)


def _rate(xp: ModuleType, space: Space, c: Array, values: Array) -> Array:
    """Steps of Newton's length in the worst direction: the Hessian of d^2/2 is at most s coth s."""
    s = (-space.lowest_curvature) ** 0.5 * _distances(xp, space, c, values)
    near = s <= roundoff(s.dtype) ** 0.5
    safe = xp.where(near, xp.ones_like(s), s)
    return xp.where(near, xp.ones_like(s), xp.tanh(safe) / safe)
