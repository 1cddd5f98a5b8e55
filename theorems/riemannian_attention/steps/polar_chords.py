"""Steps of RA8 on a line and in polar coordinates, where distances are known in closed form.

On a line Gamma = g'/(2g). The metric I + (phi^2 - 1) w w^T, phi a function of u . x, is
dr^2 + phi(r)^2 dtheta^2 where u and w span the features; for phi = r distances are those of the
plane, by the law of cosines.
"""

from __future__ import annotations

from sympy import Integer, KroneckerDelta, Rational, Sum

from theorems.assumptions.entries import signed
from theorems.riemannian_attention.steps.path_energy import (
    D, D2, FOURTH, HALF, K, NORM, THIRD, TO_THIRD, TWELFTH, F, a, b, c, christoffel, d, e, eps, h,
    inverse_F, seen,
)
from theorems.riemannian_attention.steps.plane_metrics import pair, u, w
from theorems.riemannian_attention.steps.surfaces import (
    f0, f1, g, g1, gamma, inverse_f, numbers, positive_f, reciprocal_f, roots,
)
from theorems.statement import Definition, Iff, Step, array

rate, force = numbers("y'", "y''")
direction = array("s", d)
line_kind = Step(
    id="line_kind", lhs=K[b],
    rhs=HALF * g1 * direction[b] * Sum(direction[a] * h[a], (a, 1, d)) ** 2,
    by=(christoffel, Definition(D[a, b, c], g1 * direction[a] * direction[b] * direction[c])),
    because="All three derivatives are $g'$.",
)
on_line = Definition(gamma, HALF * g1 * inverse_f**2)
LINE = (on_line, *roots[:2], reciprocal_f, positive_f)
line_symbol = Step(
    id="line_symbol", lhs=2 * g * gamma, rhs=g1, by=LINE,
    because=r"$g\, \Gamma = k$, and $\frac{1}{g} = \frac{1}{f^2}$.",
)
line_rate = Step(
    id="line_rate", lhs=f0 * gamma, rhs=f1, by=LINE, because="$g' = 2 f f'$.",
)
line_geodesic = Iff(
    id="line_geodesic", left=(f1 * rate**2 + f0 * force, Integer(0)),
    right=(force + gamma * rate**2, Integer(0)), factor=f0, by=(line_rate, positive_f),
    because=r"$(f y')' = f (y'' + \Gamma y'^2)$.",
)

phi, phi1, phi2, rho = numbers("phi", "phi'", "phi''", "r_phi")
POLAR = (
    Definition(F[c, a], KroneckerDelta(a, c) + (phi - 1) * w[a] * w[c]),
    Definition(inverse_F[b, c], KroneckerDelta(b, c) + (rho - 1) * w[b] * w[c]),
    Definition(rho, Integer(1), over=phi), signed(array("phi"), ">0"), pair,
)
polar_slope = Definition(D[a, b, c], 2 * phi * phi1 * u[a] * w[b] * w[c])
polar_bend = Definition(D2[a, e, b, c], 2 * (phi1**2 + phi * phi2) * u[a] * u[e] * w[b] * w[c])
A, B = numbers("h_r", r"h_\theta")
parts = tuple(
    Definition(number, Sum(axis[a] * h[a], (a, 1, d))) for number, axis in ((A, u), (B, w))
)
polar_norm = Step(
    id="polar_norm", lhs=NORM, rhs=phi1**2 * B**2 * (phi**2 * B**2 + 4 * A**2),
    by=(seen, christoffel, polar_slope, *parts, *POLAR),
    because=r"$\Gamma(h, h) = 2 \frac{\phi'}{\phi} h_r h_\theta u_\theta - \phi \phi' h_\theta^2 "
    "u_r$.",
)
polar_fourth = Step(
    id="polar_fourth", lhs=FOURTH,
    rhs=THIRD * phi * phi2 * A**2 * B**2 - TWELFTH * phi**2 * phi1**2 * B**4,
    by=(polar_norm, polar_bend, *parts),
    because=r"$\frac16 D_{hh}(h, h) = \frac13 (\phi'^2 + \phi \phi'') h_r^2 h_\theta^2$.",
)
cosine, rest = numbers("c_theta", "rho_c")
series = Definition(
    cosine, 1 - HALF * eps**2 * B**2 + Rational(1, 24) * eps**4 * B**4 + eps**6 * rest
)
REST = -TWELFTH * phi * A * B**4 - 2 * eps * phi * rest * (phi + eps * A)
plane = (Definition(phi1, Integer(1)), Definition(phi2, Integer(0)))
FLAT = Sum(h[a] ** 2, (a, 1, d)) - A**2 - B**2
"""What u and w leave of |h|^2: nothing where they span the features, as they do for d = 2."""
law_of_cosines = Step(
    id="law_of_cosines",
    lhs=(phi + eps * A) ** 2 + phi**2 - 2 * phi * (phi + eps * A) * cosine + eps**2 * FLAT,
    rhs=TO_THIRD + eps**4 * FOURTH + eps**5 * REST,
    by=(polar_norm, polar_bend, polar_slope, *plane, series, *parts, *POLAR),
    because=r"$\varepsilon^2 (h_r^2 + r^2 h_\theta^2) + \varepsilon^3 r h_r h_\theta^2 - "
    r"\frac{1}{12} \varepsilon^4 r^2 h_\theta^4$.",
)
