"""RA8, the energy of a path near the segment from x to x + eps h, to fourth order in eps.

The path is x + eps t h + eps^2 y(t), of velocity eps h + eps^2 z(t). Integrals over t are means
with weights q_k at t_k: of the integral only its moments and what fixed ends say are used. The
metric is G = F^T F at x, with derivatives D, D2 and Taylor remainder eps^3 C.
"""

from __future__ import annotations

from itertools import pairwise

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, Rational, Sum, Symbol

from theorems.assumptions.entries import right_inverse, signed
from theorems.checker.exact import Draw, Rejected, SmallIntegers, Value
from theorems.rules import Vanishing
from theorems.statement import Bound, Definition, Local, Step, array, symbols_of

m, d = symbols_of("m d")
k, a, b, c, e = symbols_of("k a b c e")
HALF, THIRD, SIXTH, TWELFTH = (Rational(1, n) for n in (2, 3, 6, 12))
eps = Symbol(r"\varepsilon", real=True)
F, inverse_F = array("F", d, d), array("F'", d, d)
D, D2 = array("D", d, d, d), array("D_2", d, d, d, d)
h, w, K, f = array("h", d), array("w", d), array("K", d), array("f", d)
q, t, y, z = array("q", m), array("t", m), array("y", m, d), array("z", m, d)
u, v, C, M = array("u", m, d), array("v", m, d), array("C", m, d, d), array("M", m, d, d)

frame = right_inverse(F, inverse_F)
weighted = signed(q, ">=0")


def _moments(draw: Draw) -> None:
    """Two nodes, or three, with the moments 1, 1/2 and 1/3; further ones weigh nothing."""
    source = draw.source
    draw.sizes.setdefault(m.name, source.rng.choice((2, 3)))
    size = draw.size(m)
    if size == 1:
        raise Rejected("one node does not have the variance of the segment")
    if size == 2 or type(source) is not SmallIntegers or source.rng.randrange(2):
        p = source.fresh(">0")
        share, width = source.inverse(1 + 3 * p * p), (1 + 3 * p * p) * source.inverse(6 * p)
        weights: list[Value] = [share, 1 - share]
        nodes: list[Value] = [fmpq(1, 2) - weights[1] * width, fmpq(1, 2) + share * width]
    else:
        nodes = [source.fresh(None) for _ in range(3)]
        weights = [_lagrange(draw, nodes[r:] + nodes[:r]) for r in range(3)]
    spare = size - len(nodes)
    for place, (weight, node) in enumerate(
        zip(weights + spare * [0], nodes + spare * [0], strict=True), start=1
    ):
        draw.put(q, (place,), weight)
        draw.put(t, (place,), node)


def _lagrange(draw: Draw, nodes: list[Value]) -> Value:
    """The weight of the first of three nodes: the mean of its Lagrange polynomial."""
    own, one, other = nodes
    top = fmpq(1, 3) - (one + other) * fmpq(1, 2) + one * other
    return top * draw.source.inverse((own - one) * (own - other))


moments_of_segment = Local(
    "moments",
    r"$\sum_k q_k = 1$, $\sum_k q_k t_k = \frac12$, $\sum_k q_k t_k^2 = \frac13$",
    ((Sum(q[k], (k, 1, m)), Integer(1)), (Sum(q[k] * t[k], (k, 1, m)), HALF),
     (Sum(q[k] * t[k] ** 2, (k, 1, m)), THIRD)), _moments,
)


def _vanishing_mean(draw: Draw) -> list[Value]:
    """One number a node, of weighted mean 0: each pair of neighbours exchanges something."""
    size = draw.size(m)
    weights, found = [draw.get(str(q), (place,)) for place in range(1, size + 1)], size * [fmpq(0)]
    for one, other in pairwise(range(size)):
        share = draw.source.fresh(None)
        found[one] = found[one] + weights[other] * share
        found[other] = found[other] - weights[one] * share
    return found


def _fixed_ends(draw: Draw) -> None:
    for feature in range(1, draw.size(d) + 1):
        speeds, places = _vanishing_mean(draw), _vanishing_mean(draw)
        for node, (speed, place) in enumerate(zip(speeds, places, strict=True), start=1):
            draw.put(z, (node, feature), speed)
            draw.put(y, (node, feature), place - draw.get(str(t), (node,)) * speed)


fixed_ends = Local(
    "fixed ends",
    r"$y$ vanishes at both ends: $\sum_k q_k z_k = 0$ and $\sum_k q_k (y_k + t_k z_k) = 0$, the "
    r"means of $y'$ and $(t y)'$",
    ((Sum(q[k] * z[k, a], (k, 1, m)), Integer(0)),
     (Sum(q[k] * y[k, a], (k, 1, m)), -Sum(q[k] * t[k] * z[k, a], (k, 1, m)))), _fixed_ends,
)

place = Definition(u[k, a], t[k] * h[a] + eps * y[k, a])
velocity = Definition(v[k, a], h[a] + eps * z[k, a])
along = Definition(
    M[k, b, c],
    Sum(F[e, b] * F[e, c], (e, 1, d)) + eps * Sum(D[a, b, c] * u[k, a], (a, 1, d))
    + HALF * eps**2 * Sum(D2[a, e, b, c] * u[k, a] * u[k, e], (a, 1, d), (e, 1, d))
    + eps**3 * C[k, b, c],
)
christoffel = Definition(
    K[b], HALF * Sum((D[a, b, c] + D[c, a, b] - D[b, a, c]) * h[a] * h[c], (a, 1, d), (c, 1, d))
)
seen = Definition(f[c], Sum(inverse_F[b, c] * K[b], (b, 1, d)))


def form(left: Expr, right: Expr) -> Expr:
    """|F v|^2 = G(v, v'), for vectors with the index a."""
    return Sum(Sum(F[c, a] * left, (a, 1, d)) * Sum(F[c, a] * right, (a, 1, d)), (c, 1, d))


def first(direction: Expr, left: Expr, right: Expr) -> Expr:
    """D[direction](left, right), for vectors with the indices a, b, c."""
    return Sum(D[a, b, c] * direction * left * right, (a, 1, d), (b, 1, d), (c, 1, d))


def second(one: Expr, other: Expr, left: Expr, right: Expr) -> Expr:
    """D2[one, other](left, right), for vectors with the indices a, e, b, c."""
    return Sum(D2[a, e, b, c] * one * other * left * right,
               (a, 1, d), (e, 1, d), (b, 1, d), (c, 1, d))


def mean(term: Expr) -> Expr:
    """The mean over t."""
    return Sum(q[k] * term, (k, 1, m))


def pairing(metric: IndexedBase) -> Expr:
    """The metric at node k on the velocity."""
    return Sum(metric[k, b, c] * v[k, b] * v[k, c], (b, 1, d), (c, 1, d))


G_hh = form(h[a], h[a])
D_hhh = first(h[a], h[b], h[c])
D2_hhhh = second(h[a], h[e], h[b], h[c])
NORM = Sum(f[c] ** 2, (c, 1, d))
"""|Gamma(h, h)|^2 in the metric at x: f = F Gamma."""
TO_THIRD = eps**2 * G_hh + HALF * eps**3 * D_hhh
FOURTH = SIXTH * D2_hhhh - TWELFTH * NORM
BENT = mean(Sum((Sum(F[c, a] * z[k, a], (a, 1, d)) - (HALF - t[k]) * f[c]) ** 2, (c, 1, d)))
"""The mean of |y' - (1/2 - t) Gamma(h, h)|^2."""
REST = mean(
    t[k] * first(h[a], z[k, b], z[k, c]) + first(y[k, a], h[b], z[k, c])
    + first(y[k, a], z[k, b], v[k, c])
    + HALF * (second(y[k, a], u[k, e], v[k, b], v[k, c])
              + t[k] * second(h[a], y[k, e], v[k, b], v[k, c])
              + t[k] ** 2 * second(h[a], h[e], z[k, b], v[k, c])
              + t[k] ** 2 * second(h[a], h[e], h[b], z[k, c]))
    + pairing(C)
)

ENERGY = eps**2 * mean(pairing(M))
BOUNDED = TO_THIRD + eps**4 * FOURTH + eps**5 * REST
path = (along, place, velocity, seen, christoffel, frame, moments_of_segment, fixed_ends)
energy = Step(
    id="energy", lhs=ENERGY, rhs=BOUNDED + eps**4 * BENT, by=path,
    because=r"By parts the terms linear in $y$ are $-2 \langle \Gamma(h, h), y \rangle$; complete "
    "the square of the velocity.",
)
lower = Bound(
    id="lower", small=-TWELFTH * NORM, certificate=BENT,
    large=mean(form(z[k, a], z[k, a])) + 2 * mean(t[k] * Sum(K[a] * z[k, a], (a, 1, d))),
    by=(seen, frame, moments_of_segment, fixed_ends, weighted),
    because="The square of the velocity is not negative.",
)

speed = (1 - 2 * t[k]) * w[a]
SLOPE = Sum(K[a] * w[a], (a, 1, d))
SQUARE = Sum(Sum(F[c, a] * w[a], (a, 1, d)) ** 2, (c, 1, d))
trial_ends = Step(
    id="trial_ends", lhs=mean(speed), rhs=Integer(0), by=(moments_of_segment,),
    because=r"$y = t (1 - t) w$ vanishes at both ends: the mean of $y' = (1 - 2 t) w$.",
)
trial_area = Step(
    id="trial_area", lhs=mean(t[k] * (1 - t[k]) * w[a] + t[k] * speed), rhs=Integer(0),
    by=(moments_of_segment,), because="And the mean of $(t y)'$.",
)
trial = Step(
    id="trial", rhs=THIRD * SQUARE - THIRD * SLOPE + TWELFTH * NORM,
    by=(seen, frame, moments_of_segment),
    lhs=mean(Sum((Sum(F[c, a] * speed, (a, 1, d)) - (HALF - t[k]) * f[c]) ** 2, (c, 1, d))),
    because=r"The mean of $(1 - 2 t)^2$ is $\frac13$.",
)
off = array("w'", d)
deviation = Definition(off[c], Sum(F[c, a] * w[a], (a, 1, d)) - HALF * f[c])
minimum = Bound(
    id="minimum", small=-TWELFTH * NORM, large=THIRD * SQUARE - THIRD * SLOPE, by=(seen, frame),
    certificate=THIRD * Sum((Sum(F[c, a] * w[a], (a, 1, d)) - HALF * f[c]) ** 2, (c, 1, d)),
    because="Complete the square.",
)
minimiser = Vanishing(
    id="minimiser", total=THIRD * SQUARE - THIRD * SLOPE + TWELFTH * NORM, part=off[c],
    weight=THIRD, over=((c, d),), by=(deviation, seen, frame),
    because="It is attained where the square vanishes.",
)
half_christoffel = Step(
    id="half_christoffel", lhs=Sum(inverse_F[a, c] * off[c], (c, 1, d)),
    rhs=w[a] - HALF * Sum(inverse_F[a, c] * f[c], (c, 1, d)), by=(deviation, frame),
    because=r"The square is that of $F (w - \frac12 \Gamma)$, and F is invertible.",
)
inverse_deviation = Step(
    id="inverse_deviation", lhs=off[c], by=(deviation, frame),
    rhs=Sum(F[c, a] * (w[a] - HALF * Sum(inverse_F[a, e] * f[e], (e, 1, d))), (a, 1, d)),
    because="And the other way round.",
)
