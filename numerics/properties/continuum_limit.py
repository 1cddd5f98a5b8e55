"""CW14, continuum limit.

affine_density: one token among offsets of a symmetric stencil, weights proportional to an affine
density, a section given by its jet: W u - u = eps ((1/2) Lap u + grad log rho . grad u), exactly
at every eps. Stencils are the axes, +-s e_a with eps = s^2 / d, or the corners of a cube, s times
all signs with eps = s^2. The frames at the neighbours are turned, and the transports turn them
back. `rates` measures the limit on curved spaces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from hypothesis import strategies as st

from numerics.laplacians import continuum
from numerics.properties import Residual, strategies
from numerics.properties.hypotheses import Held
from numerics.rounding import roundoff
from numerics.walks.walk import Walk

CLAUSE = "affine_density"
rates = continuum.rates


@dataclass(frozen=True)
class Sample:
    """Step s (a power of two), stencil, density rho and slope (d), jet u (F), U (d, F),
    V (d, d, F), frames (m, F, F) that are signed permutations."""

    step: float
    corners: bool
    rho: np.ndarray
    slope: np.ndarray
    u: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray
    frames: np.ndarray

    def offsets(self) -> np.ndarray:
        """Offsets (m, d) of the stencil."""
        return stencil(self.slope.shape[0], self.corners).astype(self.u.dtype) * self.step


def stencil(d: int, corners: bool) -> np.ndarray:
    """The 2^d corners of a cube, or the 2 d unit vectors and their negatives, (m, d)."""
    if corners:
        return np.array(list(product((1.0, -1.0), repeat=d)))
    return np.concatenate([np.eye(d), -np.eye(d)])


@st.composite
def samples(draw: strategies.Draw) -> Sample:
    """Jets of every token kind on both stencils, densities that nearly vanish at an offset."""
    d, fibre = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    dtype, rng = draw(strategies.dtypes()), draw(strategies.generators())
    step = 2.0 ** draw(st.integers(-6, 1))
    corners = draw(st.booleans())
    m = len(stencil(d, corners))
    rho = np.array(10.0 ** draw(st.integers(-3, 3)), dtype)
    steep = draw(st.sampled_from((0.0, 0.5, 0.96875)))
    slope = rng.uniform(-1.0, 1.0, size=d) / (d if corners else 1)
    hessian = strategies.tokens(draw, rng, d * d, fibre, dtype).reshape(d, d, fibre)
    turns = np.stack([np.eye(fibre)[rng.permutation(fibre)] for _ in range(m)])
    return Sample(
        step=step,
        corners=corners,
        rho=rho,
        slope=(slope * steep * float(rho) / step).astype(dtype),
        u=strategies.tokens(draw, rng, 1, fibre, dtype)[0],
        gradient=strategies.tokens(draw, rng, d, fibre, dtype),
        hessian=hessian,
        frames=(turns * rng.choice([-1.0, 1.0], size=(m, 1, fibre))).astype(dtype),
    )


def neighbourhood(sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Density (m,) and section (m, F) at the offsets."""
    offsets = sample.offsets()
    m, d = offsets.shape
    density = sample.rho + offsets @ sample.slope
    pairs = (offsets[:, :, None] * offsets[:, None, :]).reshape(m, d * d)
    bent = pairs @ sample.hessian.reshape(d * d, -1)
    return density, (sample.u + offsets @ sample.gradient) + bent / 2


def limit(sample: Sample) -> np.ndarray:
    """eps ((1/2) Lap u + grad log rho . grad u), (F,)."""
    d = sample.slope.shape[0]
    laplacian = np.trace(sample.hessian) / 2
    drift = (sample.slope / sample.rho) @ sample.gradient
    square = sample.u.dtype.type(sample.step) ** 2
    return (square if sample.corners else square / d) * (laplacian + drift)


def hypotheses(sample: Sample) -> Iterator[Held]:
    """The density is positive at the offsets, which are isotropic under equal weights."""
    density, _ = neighbourhood(sample)
    yield Held("rho>0", {"rho": density})
    offsets = sample.offsets()
    m, d = offsets.shape
    step = sample.step if sample.corners else sample.step / np.sqrt(d)
    equal, sigma = np.full(m, 1 / m, offsets.dtype), np.asarray(step, offsets.dtype)
    yield Held("offsets are isotropic", {"w": equal, "y": offsets, "sigma": sigma})


def residual(sample: Sample) -> Residual:
    """The walk's change of u at one token against the generator's jet formula."""
    density, section = neighbourhood(sample)
    weights = (density / density.sum())[None, :]
    turned = (sample.frames @ section[:, :, None])[:, :, 0]
    walk = Walk(weights, np.swapaxes(sample.frames, 1, 2)[None])
    lhs = walk.apply(turned)[0] - sample.u
    bound = _walk_error(sample, density) + _limit_error(sample)
    return Residual(CLAUSE, lhs, limit(sample), bound, max(len(density), len(sample.slope) ** 2))


def _walk_error(sample: Sample, density: np.ndarray) -> np.ndarray:
    """Error of W u - u; signed permutations move entries without rounding."""
    offsets = sample.offsets()
    m, d = offsets.shape
    fibre = sample.u.shape[0]
    step, rho, slope, u, gradient, hessian = (
        roundoff.exact(part)
        for part in (
            offsets,
            sample.rho.reshape(1, 1),
            sample.slope[:, None],
            sample.u[None, :],
            sample.gradient,
            sample.hessian.reshape(d * d, fibre),
        )
    )
    rise = (rho + step @ slope).seen(density[:, None])
    half = roundoff.exact(np.array([[2.0]], sample.u.dtype))
    pairs = (step.reshape(m, d, 1) * step.reshape(m, 1, d)).reshape(m, d * d)
    near = (u + step @ gradient) + (pairs @ hessian) / half
    shares = rise.divide(rise.sum(axis=0).reshape(1, 1), density.sum(keepdims=True))
    return ((shares * near).sum(axis=0).reshape(1, fibre) + u).error[0]


def _limit_error(sample: Sample) -> np.ndarray:
    """Error of the formula, in the order of `limit`."""
    d, fibre = sample.gradient.shape
    dtype = sample.u.dtype
    rho, slope, gradient, hessian, two, count = (
        roundoff.exact(part)
        for part in (
            sample.rho.reshape(1, 1),
            sample.slope[None, :],
            sample.gradient,
            sample.hessian[np.arange(d), np.arange(d)],
            np.array([[2.0]], dtype),
            np.array([[1.0 if sample.corners else d]], dtype),
        )
    )
    total = hessian.sum(axis=0).reshape(1, fibre) / two + (slope / rho) @ gradient
    step = roundoff.exact(np.array([[sample.step]], dtype))
    return ((step * step) / count * total).error[0]
