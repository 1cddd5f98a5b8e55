"""Refused inputs of numerics.spaces: the base class, spaces of vectors, products, readouts."""

import numpy as np
import torch

from numerics.spaces import (
    Euclidean,
    Lorentz,
    Product,
    Sphere,
    Torus,
    ambient_readout,
    boost,
    frechet_readout,
    from_ball,
    heat_weights,
    product_weights,
    tangent_readout,
    to_ball,
)
from numerics.spaces.euclidean import check_motion
from numerics.spaces.groups import check_orthogonal, matrix
from numerics.spaces.lengths import roundoff
from tests.numerics.refusals.faults import Refused

RNG = np.random.default_rng(0)
S, H, T, E = Sphere(3), Lorentz(2), Torus(2), Euclidean(2)
SH, SE = Product(S, H), Product(S, Euclidean(3))
X, V = np.eye(3)[:2], np.eye(3)[1:]  # on the sphere, and tangent
BASE = np.array([[1.0, 0.0, 0.0]])  # of hyperbolic space
W = np.full((2, 2), 0.5)
TURN, SWAP = np.eye(3), np.diag([-1.0, 1.0, 1.0])
MOTION = np.concatenate([np.eye(2), np.ones((1, 2))])
ANGLES = np.zeros((2, 2))


def spoiled(x: np.ndarray, entry: float) -> np.ndarray:
    x = x.copy()
    x[1, 2] = entry
    return x


NAN, OFF = spoiled(X, np.nan), spoiled(X, 0.1)

BAD: Refused = {
    "spaces.space.Space": [
        (lambda: S.distance2([[1.0, 0, 0]], X), TypeError, "^x must be a NumPy array or a torch"),
        (lambda: S.distance2(X, torch.eye(3)[:2]), TypeError, "^y must be of the kind of x"),
        (lambda: S.distance2(X, X.astype("float32")), TypeError, "^y must have the dtype of x"),
        (lambda: S.distance2(*2 * [X.astype("float16")]), TypeError, "^dtype must be float32 or"),
        (lambda: S.distance2(X, X[:1]), ValueError, r"^y must have the shape of x, \(2, 3\), got"),
        (lambda: S.distance2(X[:, :2], X), ValueError, r"^x must have trailing shape \(3,\) in"),
        (lambda: S.distance(X, NAN), ValueError, r"^y must be finite, got nan at \(1, 2\)"),
        (lambda: S.check(OFF, "q"), ValueError, r"^q must be on the sphere in R\^3: \|x\|\^2 = 1"),
        (lambda: S.inner(X, V, X), ValueError, "^v must be tangent to the sphere in"),
        (lambda: S.inner(X, V[:1], V), ValueError, "^u must have the shape of x"),
        (lambda: S.exp(X, NAN), ValueError, "^v must be finite, got nan"),
        (lambda: S.exp(X, 4 * V), ValueError, "^v must be of length, with x's distance from the"),
        (lambda: S.log(X, -X), ValueError, "^y must not lie in the cut locus of x in the sphere"),
        (lambda: S.similarity(X, OFF), ValueError, "^y must be on the sphere"),
        (lambda: E.similarity(X[:, :2], X[:, :2]), TypeError, r"^R\^2 has no similarity: the pr"),
        (lambda: S.act(3, X), TypeError, r"^g must be an array of shape \(3, 3\), got int"),
        (lambda: S.push(TURN, X, X), ValueError, "^v must be tangent"),
        (lambda: S.random_points(0, 3), TypeError, "^generator must be a numpy.random.Generator"),  # type: ignore
        (lambda: S.random_points(RNG, 0), ValueError, "^count must be at least 1, got 0"),
        (lambda: S.random_isometry(0), TypeError, "^generator must be a numpy.*, got int"),  # type: ignore
        (lambda: S.radius("int64"), TypeError, "^dtype must be float32 or float64, got int64"),
    ],
    "spaces.sphere.Sphere": [
        (lambda: Sphere(1), ValueError, "^d must be at least 2, got 1"),
        (lambda: Sphere(2.0), TypeError, "^d must be an integer, got float"),  # type: ignore
        (lambda: S.act(2 * TURN, X), ValueError, r"^g must be orthogonal: \|g g\^T - 1\|"),
        (lambda: S.act(TURN[:2], X), ValueError, r"^g must have shape \(3, 3\), got \(2, 3\)"),
    ],
    "spaces.hyperbolic.Lorentz": [
        (lambda: Lorentz(0), ValueError, "^d must be at least 1, got 0"),
        (lambda: H.check(X), ValueError, r"^x must be on hyperbolic space of dimension 2: x_0 ="),
        (lambda: H.check(-BASE), ValueError, "^x must be on hyperbolic space .*got -1.0 at"),
        (lambda: H.check(1e200 + 0 * BASE), ValueError, r"^x must be within radius\(float64\) ="),
        (lambda: H.exp(BASE, BASE), ValueError, "^v must be tangent to hyperbolic space"),
        (lambda: H.exp(BASE, 20 * V[:1]), ValueError, "^v must be of length.* at most 19.06"),
        (lambda: H.act(2 * TURN, BASE), ValueError, "^g must be a Lorentz matrix: "),
        (lambda: H.act(SWAP, BASE), ValueError, "^g must be a Lorentz matrix that keeps x_0 > 0"),
    ],
    "spaces.hyperbolic.boost": [
        (lambda: boost(X), ValueError, r"^x must be one point, of shape \(d \+ 1,\), got \(2, 3\)"),
        (lambda: boost(2 * BASE[0]), ValueError, "^x must be on hyperbolic space of dimension 2"),
        (lambda: boost(BASE[0, :1]), ValueError, r"^x must have trailing shape \(2,\) in hyperb"),
    ],
    "spaces.hyperbolic.to_ball": [
        (lambda: to_ball(X), ValueError, "^x must be on hyperbolic space"),
        (lambda: to_ball(BASE[0, :1]), ValueError, "^x must have a trailing axis of 2 or more"),
    ],
    "spaces.hyperbolic.from_ball": [
        (lambda: from_ball(X), ValueError, r"^b must be within the ball of radius 0.9.*got 1.0 at"),
        (lambda: from_ball(NAN), ValueError, "^b must be finite, got nan"),
        (lambda: from_ball(BASE[0, 0]), TypeError, "^b must be a NumPy array or a torch tensor"),
    ],
    "spaces.torus.Torus": [
        (lambda: Torus(0), ValueError, "^d must be at least 1, got 0"),
        (lambda: T.check(ANGLES + 3.15), ValueError, r"^x must be in \[-pi, pi\] in the torus of"),
        (lambda: T.act(-MOTION, ANGLES + 4), ValueError, r"^x must be in \[-pi, pi\]"),
        (lambda: T.act(T_HALF, ANGLES), ValueError, "^g must be a permutation of angles with sig"),
    ],
    "spaces.euclidean.Euclidean": [
        (lambda: Euclidean(0), ValueError, "^d must be at least 1, got 0"),
        (lambda: E.check(ANGLES + 1e160), ValueError, r"^x must be within radius\(float64\) = 1e"),
        (lambda: E.act(MOTION[:2], ANGLES), ValueError, r"^g must have shape \(3, 2\), got \(2, 2"),
    ],
    "spaces.euclidean.check_motion": [
        (lambda: check_motion(2 * MOTION, ANGLES, 2), ValueError, "^g must be orthogonal"),
    ],
    "spaces.groups.matrix": [
        (lambda: matrix("g", NAN, X, 2, 3), ValueError, "^g must be finite, got nan"),
        (lambda: matrix("g", torch.eye(3), X, 3, 3), TypeError, "^g must be of the kind of x"),
    ],
    "spaces.groups.check_orthogonal": [
        (lambda: check_orthogonal("g", 1e200 * TURN, X, 3), ValueError, "^g must be orthogonal"),
    ],
    "spaces.lengths.roundoff": [
        (lambda: roundoff("bfloat16"), TypeError, "^dtype must be float32 or float64, got bfloat"),
        (lambda: roundoff(3), TypeError, "^dtype must be a NumPy or torch dtype, got 3"),
    ],
    "spaces.product.Product": [
        (lambda: Product(S), ValueError, "^factors must be two or more, got 1"),
        (lambda: Product(S, 3), TypeError, "^factors must be Spaces, got int"),  # type: ignore
        (lambda: SH.join(X), ValueError, "^points must be 2 stacks, got 1"),
        (lambda: SH.join(X, BASE), ValueError, r"^points must have equal batch axes, got \[\(1,\)"),
        (lambda: SH.join(X, X), ValueError, r"^points\[1\] must be on hyperbolic space"),
        (lambda: SH.split(X), ValueError, r"^x must have trailing shape \(6,\) in the sphere in R"),
        (lambda: SH.check(pair(OFF[1:], BASE)), ValueError, r"^x\[0\] must be on the sphere"),
        (lambda: SH.check(pair(BASE, 1e9 * BASE)), ValueError, r"^x\[1\] must be on hyperbolic"),
        (lambda: SE.check(pair(BASE, 1e160 * BASE)), ValueError, r"^x\[1\] must be within radius"),
        (lambda: SH.act(TURN, pair(BASE, BASE)), TypeError, "^g must be a tuple of 2 isometries"),
        (lambda: SH.exp(pair(BASE, BASE), pair(BASE, V[:1])), ValueError, r"^v\[0\] must be tang"),
        (lambda: SH.exp(pair(BASE, BASE), pair(9 * V[:1], V[:1])), ValueError, r"^v\[0\] must be"),
    ],
    "spaces.readouts.heat_weights": [
        (lambda: heat_weights(3, X, X, 1.0), TypeError, "^space must be a Space, got int"),  # type: ignore
        (lambda: heat_weights(S, X, X, 0.0), ValueError, "^tau must be positive, got 0.0"),
        (lambda: heat_weights(S, X, X, np.nan), ValueError, "^tau must be finite, got nan"),
        (lambda: heat_weights(S, X[0], X, 1.0), ValueError, r"^q must have shape \(n, 3\), n > 0"),
        (lambda: heat_weights(S, X, X[:0], 1.0), ValueError, r"^k must have shape \(n, 3\), n > 0"),
        (lambda: heat_weights(S, X, OFF, 1.0), ValueError, "^k must be on the sphere"),
    ],
    "spaces.readouts.product_weights": [
        (lambda: product_weights(E, ANGLES, ANGLES, 1.0), TypeError, "has no similarity: the pro"),
        (lambda: product_weights(S, X, X, -1.0), ValueError, "^tau must be positive, got -1.0"),
    ],
    "spaces.readouts.tangent_readout": [
        (lambda: tangent_readout(S, X, -X, W), ValueError, "^v must not lie in the cut locus of q"),
        (lambda: tangent_readout(S, X, X, W[:1]), ValueError, r"^w must have shape \(n, m\) with"),
        (lambda: tangent_readout(S, X, X, 2 * W), ValueError, "^w must be of row sums 1, up to"),
        (lambda: tangent_readout(S, X, X, (1 + 1e-14) * W), ValueError, "^w must be of row sums"),
        (lambda: tangent_readout(H, *FAR), ValueError, "^sum_j w_ij Log_q v_j must be of length"),
    ],
    "spaces.readouts.frechet_readout": [
        (lambda: frechet_readout(S, X, -W), ValueError, "^w must be nonnegative, got -0.5"),
        (lambda: frechet_readout(S, X, W[:, :1]), ValueError, r"^w must have shape .* m = 2"),
        (lambda: frechet_readout(S, OPPOSITE, W), ValueError, "^v must lie in a ball of the sp"),
    ],
    "spaces.readouts.ambient_readout": [
        (lambda: ambient_readout(S, OPPOSITE, W), ValueError, "^v must be of a mean other than 0"),
        (lambda: ambient_readout(S, X, NAN[:, 1:]), ValueError, "^w must be finite, got nan"),
    ],
}  # fmt: skip
PLAIN = {  # of arrays that were checked before
    "spaces.lengths.dot", "spaces.lengths.norm", "spaces.lengths.per_length",
    "spaces.groups.random_orthogonal",
    "spaces.space.detached", "spaces.space.refuse_pairs",
}  # fmt: skip
OPPOSITE = np.concatenate([BASE, -BASE])
T_HALF = np.concatenate([np.array([[0.6, -0.8], [0.8, 0.6]]), np.zeros((1, 2))])
FAR = (
    np.array([[np.cosh(10.0), np.sinh(10.0), 0.0]]),
    np.array([[np.cosh(10.0), -np.sinh(10.0), 0.0]]),
    np.ones((1, 1)),
)


def pair(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.concatenate([a, b], axis=-1)


SOUND = [
    lambda: (S.distance2(X, X) == 0).all(),
    lambda: (S.act(TURN, X) == X).all(),
    lambda: (S.push(TURN, X, V) == V).all(),
    lambda: (H.act(TURN, BASE) == BASE).all(),
    lambda: (T.act(MOTION, ANGLES) == E.act(MOTION, ANGLES)).all(),
    lambda: SH.check(pair(BASE, BASE)) is None,
    lambda: S.exp(X, 3 * V).shape == S.log(X, V).shape == (2, 3),
    lambda: heat_weights(S, X, X, 1.0).shape == product_weights(S, X, X, 1.0).shape == (2, 2),
    lambda: tangent_readout(S, X, X, W).shape == frechet_readout(S, X, W).shape == (2, 3),
    lambda: ambient_readout(S, X, W).shape == to_ball(from_ball(X / 2)).shape == (2, 3),
    lambda: (boost(BASE[0]) == TURN).all(),
]
