"""Refused inputs of continuum limits and of their rates: a public name without rows fails."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from numerics import inputs
from numerics.evidence.rates import Rate
from numerics.laplacians import continuum
from numerics.laplacians.continuum import (
    circle_coefficients,
    circle_eigenvalue,
    circle_tokens,
    circle_walk,
    sphere_eigenvalue,
    sphere_spectrum,
    sphere_tokens,
    sphere_transports,
)
from tests.numerics.refusals.faults import Call, Floats, Integer, Real, Refused, Row

NAN = float("nan")
ANGLES = circle_tokens(5)
POINTS, FRAMES = sphere_tokens(5)
POLES = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
EPSILONS = (0.4, 0.2, 0.1, 0.05)
RATE = Rate("planted", 2.0, EPSILONS, tuple(2 + eps for eps in EPSILONS))
F32 = np.float32


EPS = Real(
    0.1,
    "positive and finite",
    (
        (0.0, "be positive and finite"),
        (-0.1, "be positive and finite"),
        (5e-324, r"be at least 2\^-1000"),
        (10**400, "be positive and finite"),
    ),
)
TILT = Real(0.5, out=((1.0, r"lie in \(-1, 1\)"), (-1.5, r"lie in \(-1, 1\)")))
THETA = Real(0.25)
ODD = Integer(9, 3)


def odd(call: Callable[[Any], Any]) -> Row:
    """The circle has an odd number of tokens."""
    return (lambda: call(8), ValueError, "n must be odd, got 8")


def walked(rows: Any) -> Any:
    return circle_walk(ANGLES, 0.1, 0.0, np.asarray(rows))


BAD: Refused = {
    "inputs.number": [
        (lambda: inputs.number("a", "1"), TypeError, "^a must be a real number, got str"),
        (lambda: inputs.number("a", NAN), ValueError, "^a must be finite, got nan"),
        (lambda: inputs.number("a", -(10**400)), ValueError, "^a must be finite, got -1000"),
    ],
    "inputs.real": [
        (lambda: inputs.real("a", 1j), TypeError, "^a must be a real number, got complex"),
        (lambda: inputs.real("a", True), TypeError, "^a must be a real number, got bool"),
    ],
    "inputs.integer": [
        (lambda: inputs.integer("a", 1.0, 0), TypeError, "^a must be an integer, got float"),
        (lambda: inputs.integer("a", np.True_, 0), TypeError, "^a must be an integer, got bool"),
        (lambda: inputs.integer("a", 1, 2), ValueError, "^a must be at least 2, got 1"),
        (lambda: inputs.integer("a", 4, 2, 3), ValueError, "^a must be at most 3, got 4"),
    ],
    "inputs.bandwidth": [Call(inputs.bandwidth, eps=EPS)],
    "inputs.doubles": [
        (lambda: inputs.doubles(a=[1.0]), TypeError, "^a must be a NumPy.*got list"),  # type: ignore
        (lambda: inputs.doubles(a=ANGLES.astype(F32)), TypeError, "^a must be a float64.*float32"),
    ],
    "inputs.places": [
        (lambda: inputs.places(np.array([5]), 5), ValueError, "^rows must be at least 0 and below"),
        (lambda: inputs.places(np.array([True]), 5), TypeError, "^rows must.*integers, got bool"),
    ],
    "inputs.odd_prime": [
        (lambda: inputs.odd_prime("a", 9), ValueError, "^a must be an odd prime.*got 9"),
        (lambda: inputs.odd_prime("a", 2**29 + 11), ValueError, "^a must be an odd prime below 2"),
        (lambda: inputs.odd_prime("a", 7.0), TypeError, "^a must be an integer, got float"),
    ],
    "laplacians.continuum.circle_size": [
        Call(continuum.circle_size, eps=EPS, tilt=TILT),
        (lambda: continuum.circle_size(1e-300), ValueError, r"^eps must need at most 2\^53 tokens"),
    ],
    "laplacians.continuum.circle_tokens": [
        Call(circle_tokens, n=ODD, tilt=TILT), odd(circle_tokens),
    ],
    "laplacians.continuum.circle_walk": [
        Call(circle_walk, angles=Floats(ANGLES, "n", float64=True), eps=EPS, theta=THETA),
        *((lambda kind=kind: circle_walk(ANGLES.astype(kind), 0.1), TypeError,
           f"^angles must be a float64 NumPy array, got ndarray, {kind}")
          for kind in ("float32", "float16")),
        (lambda: circle_walk(torch.zeros(3), 0.1), TypeError, "^angles must.*got Tensor"),  # type: ignore
        (lambda: walked([[0]]), ValueError, r"^rows must have shape \(m\).*got \(1, 1\)"),
        (lambda: walked([5]), ValueError, "^rows must be at least 0 and below n = 5, got 5"),
        (lambda: walked([0, -1]), ValueError, "^rows must be at least 0.*got -1.0 at .1,"),
        (lambda: walked([0.0]), TypeError, "^rows must be a NumPy array of integers, got float64"),
        (lambda: walked([True] * 5), TypeError, "^rows must be.*integers, got bool"),
        (lambda: walked(np.zeros(0, int)), ValueError, r"^rows must have.*got \(0,\)"),
        (lambda: circle_walk(ANGLES, 0.1, 0.0, [0]), TypeError, "^rows must.*got list"),  # type: ignore
    ],
    "laplacians.continuum.circle_eigenvalue": [
        Call(circle_eigenvalue, k=Integer(1, -(10**6), 10**6), theta=THETA, eps=EPS, n=ODD),
        odd(lambda n: circle_eigenvalue(1, 0.0, 0.1, n)),
    ],
    "laplacians.continuum.circle_coefficients": [
        Call(circle_coefficients, eps=EPS, theta=THETA, tilt=TILT, n=ODD),
        odd(lambda n: circle_coefficients(0.1, 0.0, 0.5, n)),
        (lambda: circle_coefficients(0.1, 0.0, 0.0), ValueError, "tilt must not be 0, got 0"),
    ],
    "laplacians.continuum.sphere_eigenvalue": [
        Call(sphere_eigenvalue, l=Integer(1, 1, 100), eps=EPS, spin=Integer(1, 0)),
        (lambda: sphere_eigenvalue(100, 1e3), ValueError, "^eps must be at most.*100, got 1000"),
        (lambda: sphere_eigenvalue(2, 1e300), ValueError, "^eps must be at most.*at l = 2, got 1e"),
    ],
    "laplacians.continuum.sphere_tokens": [Call(sphere_tokens, n=Integer(5, 2))],
    "laplacians.continuum.sphere_transports": [
        Call(sphere_transports, points=Floats(POINTS, "n 3"), frames=Floats(FRAMES, "n 3 2")),
        (lambda: sphere_transports(2 * POINTS, FRAMES), ValueError, "points.*squared length 1"),
        (lambda: sphere_transports(POINTS, 3 * FRAMES), ValueError, "^frames must be orthonormal"),
        (lambda: sphere_transports(POINTS, FRAMES[::-1]), ValueError, "^frames.*tangent"),
        (lambda: sphere_transports(POINTS, FRAMES[..., [0, 0]]), ValueError, "^frames must be o"),
        (lambda: sphere_transports(torch.tensor(POINTS), torch.tensor(FRAMES)), TypeError,  # type: ignore
         "^points must be a float64 NumPy array, got Tensor"),
        (lambda: sphere_transports(POINTS.astype(F32), FRAMES.astype(F32)), TypeError,
         "^points must be a float64 NumPy array, got ndarray, float32"),
        (lambda: sphere_transports(np.array(1.0), FRAMES), ValueError, r"^points must have shape"),
        (lambda: sphere_transports(POLES, FRAMES[:2]), ValueError, "points must not be antipodal"),
    ],
    "laplacians.continuum.sphere_spectrum": [
        Call(sphere_spectrum, n=Integer(50, 16), eps=EPS, count=Integer(30, 1)),
    ],
    "laplacians.continuum.halvings": [
        Call(lambda eps, count: continuum.halvings(eps, count), eps=EPS, count=Integer(3, 1)),
        (lambda: continuum.halvings(1.0, 1002), ValueError, "^count must keep 1.0/2.*got 1002"),
        (lambda: continuum.halvings(1.0, 10**30), ValueError, "^count must keep 1.0/2"),
    ],
    "evidence.rates.Rate": [
        *((lambda name=name: replace(RATE, **{name: "1"}), TypeError,
           f"^planted: {name} must be a real number, got str")
          for name in ("target", "expected", "rounding")),
        (lambda: replace(RATE, values=("1",) * 4), TypeError, "values must be a real.*str"),  # type: ignore
        (lambda: replace(RATE, epsilons=tuple("dcba")), TypeError, "epsilons must be a real.*str"),  # type: ignore
        (lambda: replace(RATE, values="1234"), TypeError, "values must be a tuple.*got str"),  # type: ignore
        (lambda: replace(RATE, epsilons=None), TypeError, "epsilons must be a tuple.*got NoneType"),  # type: ignore
        (lambda: replace(RATE, values=(1.0,) * 3), ValueError, "values must be four.*got 3 for 4"),
        (lambda: Rate("short", 1.0, EPSILONS[:3], (1.0,) * 3), ValueError, "short: values must be"),
        (lambda: replace(RATE, epsilons=EPSILONS[::-1]), ValueError, "epsilons must be falling"),
        (lambda: replace(RATE, epsilons=(3.0, 2.0, 1.0, 0.0)), ValueError, "falling and positive"),
        (lambda: replace(RATE, epsilons=(math.inf, *EPSILONS[1:])), ValueError,
         "epsilons must be finite"),
        (lambda: replace(RATE, values=(NAN,) * 4), ValueError, "planted: values must be finite"),
        (lambda: replace(RATE, target=math.inf), ValueError, "target must be finite, got inf"),
        (lambda: replace(RATE, expected=NAN), ValueError, "expected must be finite, got nan"),
        (lambda: replace(RATE, rounding=NAN), ValueError, "rounding must be finite, got nan"),
        (lambda: replace(RATE, rounding=-1e-9), ValueError, "rounding must lie between 0 and"),
        (lambda: replace(RATE, rounding=1e-4), ValueError, "rounding must lie.*got 0.0001"),
    ],
}  # fmt: skip
PLAIN = {  # functions without arguments
    "laplacians.continuum.circle_rates", "laplacians.continuum.sphere_rates",
    "laplacians.continuum.rates",
}  # fmt: skip
