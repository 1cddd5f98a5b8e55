"""Refused inputs of continuum limits and of their rates: a public name without rows fails."""

import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
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

NAN = float("nan")
ANGLES = circle_tokens(5)
POINTS, FRAMES = sphere_tokens(5)
POLES = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
EPSILONS = (0.4, 0.2, 0.1, 0.05)
RATE = Rate("planted", 2.0, EPSILONS, tuple(2 + eps for eps in EPSILONS))
F32 = np.float32

Row = tuple[Callable[[], Any], type[Exception], str]


def bandwidth(call: Callable[[Any], Any]) -> list[Row]:
    """Rows that every function of a bandwidth has."""
    return [
        (lambda: call(0.0), ValueError, "eps must be positive and finite, got 0.0"),
        (lambda: call(-0.1), ValueError, "eps must be positive and finite, got -0.1"),
        (lambda: call(NAN), ValueError, "eps must be positive and finite, got nan"),
        (lambda: call(math.inf), ValueError, "eps must be positive and finite, got inf"),
        (lambda: call("1"), TypeError, "eps must be a real number, got str"),
        (lambda: call(True), TypeError, "eps must be a real number, got bool"),
        (lambda: call(5e-324), ValueError, r"eps must be at least 2\^-1000, got 5e-324"),
        (lambda: call(10**400), ValueError, "eps must be positive and finite, got 1000"),
    ]


def tilted(call: Callable[[Any], Any]) -> list[Row]:
    """Rows that every function of a density has."""
    return [
        (lambda: call(1.0), ValueError, r"tilt must lie in \(-1, 1\), got 1.0"),
        (lambda: call(-1.5), ValueError, r"tilt must lie in \(-1, 1\), got -1.5"),
        (lambda: call(NAN), ValueError, "tilt must be finite, got nan"),
        (lambda: call("a"), TypeError, "tilt must be a real number, got str"),
    ]


def odd(call: Callable[[Any], Any]) -> list[Row]:
    """Rows that every function of a number of tokens on the circle has."""
    return [
        (lambda: call(1), ValueError, "n must be at least 3, got 1"),
        (lambda: call(8), ValueError, "n must be odd, got 8"),
        (lambda: call(9.0), TypeError, "n must be an integer, got float"),
        (lambda: call(True), TypeError, "n must be an integer, got bool"),
    ]


def angle(call: Callable[[Any], Any]) -> list[Row]:
    """Rows that every function of a holonomy angle has."""
    return [
        (lambda: call(NAN), ValueError, "theta must be finite, got nan"),
        (lambda: call(math.inf), ValueError, "theta must be finite, got inf"),
        (lambda: call(1j), TypeError, "theta must be a real number, got complex"),
    ]


def walked(rows: Any) -> Any:
    return circle_walk(ANGLES, 0.1, 0.0, np.asarray(rows))


BAD: dict[str, list[Row]] = {
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
    "inputs.bandwidth": bandwidth(inputs.bandwidth),
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
        *bandwidth(continuum.circle_size),
        *tilted(lambda tilt: continuum.circle_size(0.1, tilt)),
        (lambda: continuum.circle_size(1e-300), ValueError, r"^eps must need at most 2\^53 tokens"),
    ],
    "laplacians.continuum.circle_tokens": odd(circle_tokens)
    + tilted(lambda tilt: circle_tokens(9, tilt)),
    "laplacians.continuum.circle_walk": [
        *bandwidth(lambda eps: circle_walk(ANGLES, eps)),
        *angle(lambda theta: circle_walk(ANGLES, 0.1, theta)),
        (lambda: circle_walk([0.0], 0.1), TypeError, "angles must be a NumPy.*got list"),  # type: ignore
        (lambda: circle_walk(np.zeros(3, int), 0.1), TypeError, "angles must be real.*int64"),
        (lambda: circle_walk(np.eye(2), 0.1), ValueError, r"angles must have shape \(n\).*2, 2"),
        (lambda: circle_walk(np.array([NAN]), 0.1), ValueError, "angles must be finite, got nan"),
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
        *bandwidth(lambda eps: circle_eigenvalue(1, 0.0, eps)),
        *angle(lambda theta: circle_eigenvalue(1, theta, 0.1)),
        *odd(lambda n: circle_eigenvalue(1, 0.0, 0.1, n)),
        (lambda: circle_eigenvalue(0.5, 0.0, 0.1), TypeError, "k must be an integer, got float"),  # type: ignore
        (lambda: circle_eigenvalue(-(10**7), 0.0, 0.1), ValueError, "k must be at least -1000000"),
        (lambda: circle_eigenvalue(10**7, 0.0, 0.1), ValueError, "k must be at most 1000000, got"),
    ],
    "laplacians.continuum.circle_coefficients": [
        *bandwidth(circle_coefficients),
        *angle(lambda theta: circle_coefficients(0.1, theta)),
        *tilted(lambda tilt: circle_coefficients(0.1, 0.0, tilt)),
        *odd(lambda n: circle_coefficients(0.1, 0.0, 0.5, n)),
        (lambda: circle_coefficients(0.1, 0.0, 0.0), ValueError, "tilt must not be 0, got 0"),
    ],
    "laplacians.continuum.sphere_eigenvalue": [
        *bandwidth(lambda eps: sphere_eigenvalue(1, eps)),
        (lambda: sphere_eigenvalue(0, 0.1), ValueError, "l must be at least 1, got 0"),
        (lambda: sphere_eigenvalue(1, 0.1, 2), ValueError, "l must be at least 2, got 1"),
        (lambda: sphere_eigenvalue(1.0, 0.1), TypeError, "l must be an integer, got float"),  # type: ignore
        (lambda: sphere_eigenvalue(1, 0.1, -1), ValueError, "spin must be at least 0, got -1"),
        (lambda: sphere_eigenvalue(1, 0.1, 0.5), TypeError, "spin must be an integer"),  # type: ignore
        (lambda: sphere_eigenvalue(101, 0.1), ValueError, "^l must be at most 100, got 101"),
        (lambda: sphere_eigenvalue(100, 1e3), ValueError, "^eps must be at most.*100, got 1000"),
        (lambda: sphere_eigenvalue(2, 1e300), ValueError, "^eps must be at most.*at l = 2, got 1e"),
    ],
    "laplacians.continuum.sphere_tokens": [
        (lambda: sphere_tokens(1), ValueError, "n must be at least 2, got 1"),
        (lambda: sphere_tokens(2.0), TypeError, "n must be an integer, got float"),  # type: ignore
    ],
    "laplacians.continuum.sphere_transports": [
        (lambda: sphere_transports([1.0], FRAMES), TypeError, "points must be a NumPy.*got list"),  # type: ignore
        (lambda: sphere_transports(POINTS, FRAMES.astype(F32)), TypeError, "frames.*got float32"),
        (lambda: sphere_transports(POINTS, torch.ones(5, 3, 2)), TypeError, "frames.*got Tensor"),  # type: ignore
        (lambda: sphere_transports(POINTS[:, :2], FRAMES), ValueError, r"points.*got \(5, 2\)"),
        (lambda: sphere_transports(POINTS, FRAMES[:4]), ValueError, "frames must have.* n = 5"),
        (lambda: sphere_transports(POINTS * NAN, FRAMES), ValueError, "points must be finite"),
        (lambda: sphere_transports(POINTS, FRAMES * NAN), ValueError, "frames must be finite"),
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
        *bandwidth(lambda eps: sphere_spectrum(50, eps)),
        (lambda: sphere_spectrum(15, 0.1), ValueError, "n must be at least 16, got 15"),
        (lambda: sphere_spectrum(50.0, 0.1), TypeError, "n must be an integer, got float"),  # type: ignore
        (lambda: sphere_spectrum(50, 0.1, 0), ValueError, "count must be at least 1, got 0"),
        (lambda: sphere_spectrum(50, 0.1, 2.0), TypeError, "count must be an integer"),  # type: ignore
    ],
    "laplacians.continuum.halvings": [
        *bandwidth(lambda first: continuum.halvings(first, 3)),
        (lambda: continuum.halvings(1.0, 0), ValueError, "count must be at least 1, got 0"),
        (lambda: continuum.halvings(1.0, 1002), ValueError, "^count must keep 1.0/2.*got 1002"),
        (lambda: continuum.halvings(1.0, 10**30), ValueError, "^count must keep 1.0/2"),
        (lambda: continuum.halvings(1.0, 2.0), TypeError, "count must be an integer, got float"),  # type: ignore
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
ROWS = [(name, row) for name, rows in BAD.items() for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{n}-{r[2]}" for n, r in ROWS])
def test_bad_input_is_refused_by_name(name: str, row: Row) -> None:
    call, error, message = row
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_plain_names_take_no_argument(name: str) -> None:
    assert not inspect.signature(getattr(continuum, name.rpartition(".")[2])).parameters
