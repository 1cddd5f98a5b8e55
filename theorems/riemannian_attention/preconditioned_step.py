"""RA9. The metric-preconditioned step: a covariant direction, a step for affine maps only."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.constructions import unit_vector
from theorems.checker.exact import Draw
from theorems.riemannian_attention.steps import coordinates as charts
from theorems.riemannian_attention.steps import metric_counts as count
from theorems.riemannian_attention.steps.coordinates import (
    F, G, H, a, b, c, d, e, eta, frame, i, inverse, inverse_F, inverse_J, inverse_y, metric, p, p_y,
    r,
)
from theorems.rules import Vanishing
from theorems.statement import Bound, Clause, Definition, Local, Mutant, Step, Theorem, array

HALF = Rational(1, 2)
v, w, seen, dual = array("v", d), array("w", d), array("v_F", d), array("p_F", d)
minor, gap = array("m", d, d), array("w'", d)
sigma, inverse_sigma = Symbol("sigma", real=True), Symbol("r_sigma", real=True)
IN_G = Definition(seen[c], Sum(F[c, a] * v[a], (a, 1, d)))
IN_DUAL = Definition(dual[c], Sum(inverse_F[a, c] * p[a], (a, 1, d)))
PAIRING = Sum(p[a] * v[a], (a, 1, d))
SLOPE_2, LENGTH_2 = Sum(dual[c] ** 2, (c, 1, d)), Sum(seen[c] ** 2, (c, 1, d))
"""|p|^2 in G^-1 and |v|^2 in G: with G = F^T F they are |F^-T p|^2 and |F v|^2."""
LENGTHS = (frame, IN_G, IN_DUAL)


def norm(array_: Expr) -> Expr:
    """|v|^2 in G of a vector with the index b."""
    return Sum(Sum(F[c, b] * array_, (b, 1, d)) ** 2, (c, 1, d))


length = Step(
    id="length", lhs=Sum(G[a, b] * v[a] * v[b], (a, 1, d), (b, 1, d)), rhs=LENGTH_2,
    by=(metric, IN_G), because=r"$G = F^\top F$.",
)
dual_length = Step(
    id="dual_length", lhs=Sum(H[a, b] * p[a] * p[b], (a, 1, d), (b, 1, d)), rhs=SLOPE_2,
    by=(inverse, IN_DUAL), because=r"$G^{-1} = F^{-1} F^{-\top}$.",
)
cauchy_schwarz = Bound(
    id="cauchy_schwarz", small=PAIRING**2, large=SLOPE_2 * LENGTH_2, by=LENGTHS,
    certificate=HALF * Sum((seen[c] * dual[e] - seen[e] * dual[c]) ** 2, (c, 1, d), (e, 1, d)),
    because=r"$p \cdot v = F^{-\top} p \cdot F v$, and Lagrange's identity.",
)
minors = Definition(minor[c, e], seen[c] * dual[e] - seen[e] * dual[c])
equality = Vanishing(
    id="equality", total=SLOPE_2 * LENGTH_2 - PAIRING**2, part=minor[c, e], weight=HALF,
    over=((c, d), (e, d)), by=(minors, *LENGTHS), because="The squares of the minors are left.",
)
multiple = Step(
    id="multiple", lhs=SLOPE_2 * v[a] - PAIRING * Sum(H[a, b] * p[b], (b, 1, d)),
    rhs=Sum(inverse_F[a, c] * minor[c, e] * dual[e], (c, 1, d), (e, 1, d)),
    by=(minors, inverse, *LENGTHS),
    because=r"Without minors $|p|^2 v = (p \cdot v)\, G^{-1} p$.",
)


def _slope(draw: Draw) -> None:
    size = draw.size(d)
    unit_in_metric = [draw.get("sigma", ()) * value for value in unit_vector(draw, size)]
    for feature in range(1, size + 1):
        rows = zip(range(1, size + 1), unit_in_metric, strict=True)
        draw.put(p, (feature,), sum(draw.get("F", (row, feature)) * value for row, value in rows))


def _unit(draw: Draw) -> None:
    size = draw.size(d)
    unit_in_metric = unit_vector(draw, size)
    for feature in range(1, size + 1):
        rows = zip(range(1, size + 1), unit_in_metric, strict=True)
        draw.put(v, (feature,), sum(draw.get("F'", (feature, row)) * value for row, value in rows))


slope = Local("sigma is the slope", r"$\sigma = |p|_{G^{-1}}$", ((SLOPE_2, sigma**2),), _slope)
unit_in_metric = Local("v is a unit vector", "$|v|_G = 1$", ((LENGTH_2, Integer(1)),), _unit)
rising = signed(array("sigma"), ">0")
reciprocal = Definition(inverse_sigma, Integer(1), over=sigma)
steepest = Definition(w[a], -inverse_sigma * Sum(H[a, b] * p[b], (b, 1, d)))
lagging = Definition(gap[c], seen[c] + inverse_sigma * dual[c])
IN_F = Step(
    id="in_F", lhs=Sum(F[c, a] * w[a], (a, 1, d)), rhs=-inverse_sigma * dual[c],
    by=(steepest, inverse, IN_DUAL, frame), because=r"$F G^{-1} p = F^{-\top} p$.",
)
steepest_unit = Step(
    id="steepest_unit", lhs=norm(w[b]), rhs=Integer(1),
    by=(IN_F, slope, reciprocal, rising), because=r"$|G^{-1} p|_G = \sigma$.",
)
steepest_slope = Step(
    id="steepest_slope", lhs=Sum(p[a] * w[a], (a, 1, d)), rhs=-sigma,
    by=(frame, steepest, dual_length, slope, reciprocal, rising),
    because=r"$p \cdot G^{-1} p = \sigma^2$.",
)
no_steeper = Bound(
    id="no_steeper", small=-sigma, large=PAIRING,
    certificate=HALF * sigma * Sum((seen[c] + inverse_sigma * dual[c]) ** 2, (c, 1, d)),
    by=(frame, reciprocal, slope, unit_in_metric, IN_G, IN_DUAL, rising),
    because=r"$|v - w|_G^2 = 2 + 2 p \cdot v / \sigma$ for unit vectors.",
)
unique = Vanishing(
    id="unique", total=PAIRING + sigma, part=gap[c], weight=HALF * sigma, over=((c, d),),
    strict=True, by=(frame, reciprocal, slope, unit_in_metric, lagging, IN_G, IN_DUAL, rising),
    because="Only where the square vanishes.",
)
same = Step(
    id="same", lhs=Sum(inverse_F[a, c] * gap[c], (c, 1, d)), rhs=v[a] - w[a],
    by=(lagging, steepest, inverse, *LENGTHS), because="The square is that of $F (v - w)$.",
)
model = Bound(
    id="model", small=-eta**2 * SLOPE_2, large=2 * eta * PAIRING + LENGTH_2,
    certificate=norm(v[b] + eta * Sum(H[b, e] * p[e], (e, 1, d))),
    by=(inverse, *LENGTHS), because="Complete the square.",
)
short = array("v'", d)
missed = Definition(short[c], seen[c] + eta * dual[c])
least = Vanishing(
    id="least", total=2 * eta * PAIRING + LENGTH_2 + eta**2 * SLOPE_2, part=short[c],
    over=((c, d),), strict=True, by=(missed, *LENGTHS), because="Only where the square vanishes.",
)
step_there = Step(
    id="step_there", lhs=Sum(inverse_F[a, c] * short[c], (c, 1, d)),
    rhs=v[a] + eta * Sum(H[a, b] * p[b], (b, 1, d)), by=(missed, inverse, *LENGTHS),
    because=r"The square is that of $F (v + \eta G^{-1} p)$.",
)

APPLIED = 2 * d * r + r**2 + r + 2 * d
step_count = Step(
    id="step_count", lhs=2 * Sum(1, count.FEATURE) + 2 * Sum(1, count.FEATURE, count.RANK)
    + 2 * count.solve + Sum(1, count.FEATURE), rhs=APPLIED + d,
    by=(Definition(count.solve, count.triangle(r)),),
    because=r"An application of $G^{-1}$, and $\eta$ times each entry.",
)
linear = Bound(
    id="linear", small=2 * count.delta * count.rho + count.rho**2 + count.rho + 3 * count.delta,
    large=5 * count.delta * count.rho + 2 * count.rho**2,
    by=(count.ranks, count.widths, *count.whole),
    certificate=3 * count.p * (1 + count.s) + count.p * (1 + count.p),
    because=r"$r \le r^2$ and $d \le d r$.",
)

positive_D = signed(charts.D, ">0")


def of_a_metric(step: Step, **sides: Expr) -> Step:
    """A false step about inverse metrics alone."""
    return replace(step, by=(*step.by, inverse, frame), **sides)


THEOREM = Theorem(
    id="RA9",
    title="The metric-preconditioned step: a covariant direction, a step for affine maps only",
    clauses=(
        Clause("lengths", r"$G = F^\top F$ with invertible $F$ has the inverse $G^{-1} = F^{-1} "
               r"F^{-\top}$; $|v|_G^2 = |F v|^2$ and $|p|_{G^{-1}}^2 = |F^{-\top} p|^2$.",
               (charts.inverse_metric, length, dual_length)),
        Clause("cauchy_schwarz", r"$(p \cdot v)^2 \le |p|_{G^{-1}}^2 |v|_G^2$. Equality holds iff "
               r"all minors of $F v$ and $F^{-\top} p$ vanish, and then $|p|_{G^{-1}}^2 v = "
               r"(p \cdot v)\, G^{-1} p$.", (cauchy_schwarz, equality, multiple)),
        Clause("steepest", r"For a gradient $p$ with $\sigma = |p|_{G^{-1}} > 0$, $w = -G^{-1} p / "
               r"\sigma$ has $|w|_G = 1$ and the slope $p \cdot w = -\sigma$. Every $v$ with "
               r"$|v|_G = 1$ has $p \cdot v \ge -\sigma$, with equality iff $F (v - w) = 0$, and "
               r"then $v = w$.",
               (IN_F, steepest_unit, steepest_slope, no_steeper, unique, same)),
        Clause("model", r"$2 \eta\, p \cdot v + |v|_G^2 = |v + \eta G^{-1} p|_G^2 - \eta^2 "
               r"|p|_{G^{-1}}^2 \ge -\eta^2 |p|_{G^{-1}}^2$, with equality iff $F (v + \eta G^{-1} "
               r"p) = 0$, and then $v = -\eta G^{-1} p$: for $\eta > 0$ the step is the one least "
               r"point of $p \cdot v + |v|_G^2 / (2 \eta)$.", (model, least, step_there)),
        Clause("direction", r"In coordinates $y = \phi(x)$ with invertible Jacobian $J$ the "
               r"gradient is $J^{-\top} p$, the metric $J^{-\top} G J^{-1}$, its inverse $J G^{-1} "
               r"J^\top$; $|J x|$ there is $|x|_G$, and the direction is $J G^{-1} p$.",
               (charts.inverse_metric_y, charts.lengths, charts.direction)),
        Clause("affine", r"For $y = J x + s$ the step in $y$ is the image of the step in $x$. "
               r"Conversely, for $\eta > 0$, one point $x$ and the gradient $p = -G u / \eta$, "
               r"whose step is $x + u$: the image $\phi(x + u)$ is the step in $y$ iff it is "
               r"$\phi(x) + J u$. So a map for which this holds for all $u$ is affine.",
               (charts.affine_step, charts.own_step, charts.only_affine)),
        Clause("defect", r"For a map of degree two, $\phi(x + u) = y + J u + \frac12 Q(u, u)$, the "
               r"image of the step exceeds the step in $y$ by $\frac12 \eta^2 Q(G^{-1} p, G^{-1} "
               r"p)$. For $f = x$, $G = 1$, $y = x^2$, $x = 1$, $\eta = \frac12$ they are "
               r"$\frac14$ and 0.", (charts.defect, charts.square_root)),
        Clause("low_rank", r"$G = D + U U^\top$ becomes $J^{-\top} D J^{-1} + U' U'^\top$ with $U' "
               r"= J^{-\top} U$. The first part is diagonal if each row of $J^{-1}$ has at "
               r"most one nonzero entry, and for all $D > 0$ only then: its values at "
               r"$D = I$ and $D = I + e_g e_g^\top$ differ by products of two entries of row $g$.",
               (charts.transformed, charts.stays_diagonal, charts.must_be_monomial)),
        Clause("not_of_the_form", r"Nor need another $D$ and one column $u$ give the new metric: "
               r"$O = u u^\top$ has $O_{ab} O_{ac} = u_a^2 O_{bc}$, but $D = I$, $U = 0$ and "
               r"$J^{-1}$ with the rows $e_1$, $e_1 + e_2$, $e_1 + e_3$ give a metric whose "
               r"entries 12 and 13 have the product 1 while entry 23 is 0.",
               (charts.triples, charts.not_of_the_form)),
        Clause("counts", r"With $G = D + U U^\top$ factored as in RA6 a step takes $2 d r + r^2 + "
               r"r + 3 d$ multiplications and divisions, at most $5 d r + 2 r^2$ for real "
               r"$d, r \ge 1$.", (step_count, linear)),
    ),
    mutants=(
        Mutant("gradient_as_vector", of_a_metric(charts.direction),
               r"the gradient becomes $J^\top p$",
               redefine=(Definition(p_y[i], Sum(charts.J[a, i] * p[a], (a, 1, d))),)),
        Mutant("euclidean_step", replace(
            charts.direction, lhs=p_y[i], rhs=charts.moved(p[a])),
            "the Euclidean gradient is a vector"),
        Mutant("inverse_as_metric", of_a_metric(charts.direction),
               r"$G^{-1}$ becomes $J^{-\top} G^{-1} J^{-1}$",
               redefine=(replace(inverse_y, value=Sum(
                   inverse_J[a, i] * H[a, b] * inverse_J[b, charts.j], (a, 1, d), (b, 1, d))),)),
        Mutant("every_map", of_a_metric(charts.defect, rhs=Integer(0)),
               "the finite step commutes with every change of coordinates"),
        Mutant("defect_of_first_order", of_a_metric(charts.defect, rhs=HALF * eta * Sum(
            charts.bend[i, a, b] * charts.descent(H, p, a) * Sum(
                H[b, charts.g] * p[charts.g], (charts.g, 1, d)), (a, 1, d), (b, 1, d))),
            r"a defect of order $\eta$"),
        Mutant("euclidean_direction", replace(
            steepest_slope, lhs=Sum(p[a] ** 2, (a, 1, d)) ** 2, rhs=SLOPE_2 * norm(p[b]),
            by=LENGTHS), "the gradient itself is steepest: Cauchy-Schwarz is sharp at $v = p$"),
        Mutant("any_length", no_steeper, r"vectors of any length", drop=(unit_in_metric,)),
        Mutant("half_slope", replace(no_steeper, small=-HALF * sigma),
               r"no slope below $-\sigma / 2$"),
        Mutant("euclidean_schwarz", replace(
            cauchy_schwarz, large=Sum(p[a] ** 2, (a, 1, d)) * LENGTH_2),
            r"$(p \cdot v)^2 \le |p|^2 |v|_G^2$"),
        Mutant("form_kept", replace(
            charts.stays_diagonal, rhs=KroneckerDelta(i, charts.j) * Sum(
                charts.D[a] * inverse_J[a, i] ** 2, (a, 1, d)), by=(charts.jacobian, positive_D)),
            "the diagonal part stays diagonal in all coordinates", drop=(charts.monomial,)),
        Mutant("columns_as_vectors", replace(
            charts.transformed, by=(*charts.transformed.by, charts.jacobian, positive_D)),
            r"$U$ becomes $J U$",
               redefine=(replace(charts.columns, value=Sum(
                   charts.J[i, a] * charts.U[a, c], (a, 1, d))),)),
        Mutant("linear_in_rank", replace(
            linear, large=5 * count.delta * count.rho, certificate=linear.certificate
            - 2 * count.rho**2), r"$5 d r$ operations, whatever the rank"),
    ),
    sources=("Riemannian Attention and the Fiber Bundle Transformer",),
    uses=("RA6",),
)
