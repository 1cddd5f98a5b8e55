"""RA8, chords against distances: their errors, and why only constant metrics have none.

A chord is |eps h|^2 in a metric of the segment: that of the query x, of the key x + eps h, of the
midpoint, or a mean of these. eps^3 C_1 and eps^3 C_h are the Taylor remainders at key and midpoint.
"""

from __future__ import annotations

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Mul, Rational, Sum, Symbol

from theorems.assumptions.entries import right_inverse, signed
from theorems.checker.exact import Draw, evaluate
from theorems.riemannian_attention.steps.path_energy import (
    D, D2_hhhh, D_hhh, F, FOURTH, G_hh, HALF, K, M, NORM, THIRD, TO_THIRD, TWELFTH, a, b, c,
    christoffel, d, D2, e, eps, f, fixed_ends, frame, h, k, m, mean, moments_of_segment, seen,
    weighted, z,
)
from theorems.rules import Vanishing
from theorems.statement import Bound, Definition, Iff, Local, Step, Witness, array, symbols_of

C_1, C_h = array("C_1", d, d), array("C_h", d, d)
distance, rho = Symbol("d^2", real=True), Symbol("rho", real=True)
query, key, mid, symmetrised, simpson = (
    Symbol(name, real=True) for name in ("c_q", "c_k", "c_m", "c_s", "c_S")
)
advancing = signed(array(r"\varepsilon"), ">0")


def chord(at: Rational | int, remainder: Expr = Integer(0)) -> Expr:
    """|eps h|^2 in the metric of the point x + at eps h."""
    return eps**2 * (G_hh + at * eps * D_hhh + HALF * at**2 * eps**2 * D2_hhhh + eps**3 * remainder)


def on_chord(remainder: IndexedBase) -> Expr:
    """The remainder of the metric on h."""
    return Sum(remainder[b, c] * h[b] * h[c], (b, 1, d), (c, 1, d))


far, halfway = on_chord(C_1), on_chord(C_h)
exact = Definition(distance, TO_THIRD + eps**4 * FOURTH + eps**5 * rho)
at_query = Definition(query, chord(0))
ends = (at_query, Definition(key, chord(1, far)))
at_middle = Definition(mid, chord(HALF, halfway))
average = Definition(symmetrised, HALF * (query + key))
weighted_mean = Definition(simpson, THIRD * (symmetrised + 2 * mid))
TAIL = TWELFTH * NORM

query_error = Step(
    id="query_error", lhs=distance - query, by=(exact, at_query),
    rhs=HALF * eps**3 * D_hhh + eps**4 * FOURTH + eps**5 * rho,
    because=r"The mean of the metric along the chord is $G + \frac12 D_h + \frac16 D_{hh}$.",
)
symmetrised_error = Step(
    id="symmetrised_error", lhs=distance - symmetrised, by=(exact, average, *ends),
    rhs=-eps**4 * (TWELFTH * D2_hhhh + TAIL) + eps**5 * (rho - HALF * far),
    because=r"The trapezoid rule: $\frac16 - \frac14 = -\frac1{12}$.",
)
midpoint_error = Step(
    id="midpoint_error", lhs=distance - mid, by=(exact, at_middle),
    rhs=eps**4 * (Rational(1, 24) * D2_hhhh - TAIL) + eps**5 * (rho - halfway),
    because=r"The midpoint rule: $\frac16 - \frac18 = \frac1{24}$.",
)
simpson_error = Step(
    id="simpson_error", lhs=distance - simpson,
    by=(exact, weighted_mean, average, *ends, at_middle),
    rhs=-eps**4 * TAIL + eps**5 * (rho - Rational(1, 6) * far - Rational(2, 3) * halfway),
    because="Simpson's rule is exact for quadratic metrics; only the bend of the geodesic is left.",
)

# Only constant metrics: the errors vanish at both ends of every chord.
CUBE = Mul(eps**2, eps, evaluate=False)  # visibly positive, which eps**3 is not
query_equal = Iff(
    id="query_equal", left=(distance, query), factor=CUBE, by=(exact, at_query, advancing),
    right=(HALF * D_hhh + eps * FOURTH + eps**2 * rho, Integer(0)),
    because=r"Divide by $\varepsilon^3$.",
)
symmetrised_equal = Iff(
    id="symmetrised_equal", left=(distance, symmetrised), factor=eps**4,
    right=(eps * (rho - HALF * far), TWELFTH * D2_hhhh + TAIL),
    by=(exact, average, *ends, advancing), because=r"Divide by $\varepsilon^4$.",
)
ORDERS = -4 * (FOURTH - 2 * (TWELFTH * D2_hhhh + TAIL))
straight = Vanishing(
    id="straight", total=ORDERS, part=f[c], over=((c, d),), by=(seen, christoffel),
    because=r"The second derivative cancels and $|\Gamma(h, h)|^2$ is left.",
)
first_kind = Step(
    id="first_kind", lhs=K[b], rhs=Sum(F[c, b] * f[c], (c, 1, d)), by=(seen, frame),
    because=r"$f = F \Gamma(h, h)$, so $F^\top f = G\, \Gamma(h, h) = K$.",
)
B, ray, axis = array("B", d, d, d), array("K'", d, d, d), array("K''", d, d)
i, j = symbols_of("i j")
linear = Definition(D2[a, e, b, c], Integer(0))
symmetric = Definition(D[a, b, c], B[a, b, c] + B[a, c, b])


def lowered(bottom: Symbol, left: Symbol, right: Symbol) -> Expr:
    """The Christoffel symbol of the first kind."""
    return HALF * (D[left, bottom, right] + D[right, left, bottom] - D[bottom, left, right])


pairs = Definition(ray[b, i, j], Sum(
    lowered(b, a, c) * (KroneckerDelta(a, i) + KroneckerDelta(a, j))
    * (KroneckerDelta(c, i) + KroneckerDelta(c, j)), (a, 1, d), (c, 1, d)))
alone = Definition(axis[b, i], lowered(b, i, i))


def polarised(bottom: Symbol, left: Symbol, right: Symbol) -> Expr:
    """K(e_left, e_right), from K(h, h) at three h."""
    return HALF * (ray[bottom, left, right] - axis[bottom, left] - axis[bottom, right])


from_rays = Step(
    id="from_rays", lhs=D[a, b, c], rhs=polarised(c, a, b) + polarised(b, a, c),
    by=(pairs, alone, symmetric),
    because=r"$d_a G_{bc} = \langle \Gamma(e_a, e_b), e_c \rangle + \langle \Gamma(e_a, e_c), e_b "
    r"\rangle$, and $2 K(e_a, e_b) = K(e_a + e_b) - K(e_a) - K(e_b)$.",
)


def _same(draw: Draw) -> None:
    value = Sum(F[e, b] * F[e, c], (e, 1, d))
    for node, row, column in draw.cells(M):
        draw.put(M, (node, row, column), evaluate(value, draw, {b: row, c: column}))


constant = Local(
    "constant metric", "the metric is the same all along the path",
    ((M[k, b, c], Sum(F[e, b] * F[e, c], (e, 1, d))),), _same,
)
E, inverse_E = array("E", m, d, d), array("E'", m, d, d)
own = (Definition(M[k, b, c], Sum(E[k, e, b] * E[k, e, c], (e, 1, d))), right_inverse(E, inverse_E))
"""Instead a metric of its own at every node, for a mutant."""
no_shortcut = Bound(
    id="no_shortcut", small=G_hh,
    large=mean(Sum(M[k, b, c] * (h[b] + z[k, b]) * (h[c] + z[k, c]), (b, 1, d), (c, 1, d))),
    certificate=mean(Sum(Sum(F[c, a] * z[k, a], (a, 1, d)) ** 2, (c, 1, d))),
    by=(moments_of_segment, fixed_ends, constant, weighted),
    because="What the velocity adds to $h$ has mean 0, so its square only adds.",
)
leg, length, root, factor, chord_h = (
    array("g_l", 3, 2), array("l", 3), array("sigma", 3), array("lambda", 3), array("h_l", 2)
)
TENTH = fmpq(1, 10)
detour = Witness(
    id="detour",
    values={leg: [[0, TENTH], [10, 0], [0, -TENTH]], length: [TENTH, 10, TENTH],
            root: [1, TENTH, 1], factor: [1, TENTH**2, 1], chord_h: [10, 0]},
    holds=((Sum(leg[k, a], (k, 1, 3)), chord_h[a]),
           (length[k] ** 2, Sum(leg[k, a] ** 2, (a, 1, 2))), (root[k] ** 2, factor[k]),
           (Sum(chord_h[a] ** 2, (a, 1, 2)), Integer(100)),
           (Sum(root[k] * length[k], (k, 1, 3)), Rational(6, 5))),
    fails=((Sum(root[k] * length[k], (k, 1, 3)), Integer(10)),),
    because=r"Lengths are $\sqrt \lambda$ times Euclidean ones: up, along $y = \frac1{10}$, down.",
)
