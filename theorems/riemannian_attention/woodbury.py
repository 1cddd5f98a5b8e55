"""RA6. Metrics of low rank are inverted in r dimensions."""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer, KroneckerDelta, Sum

from theorems.assumptions.entries import signed
from theorems.checker.determinants import Blocks, Determinant
from theorems.riemannian_attention.steps import metric_counts as count
from theorems.assumptions.low_rank import annihilated, inverse_of
from theorems.rules import Vanishing
from theorems.statement import (
    Bound,
    Clause,
    Definition,
    Mutant,
    Step,
    Theorem,
    array,
    symbols_of,
)

d, r = symbols_of("d r")
a, b, c, e, k = symbols_of("a b c e k")
FEATURE, OTHER, RANK, RANK2 = (a, 1, d), (b, 1, d), (c, 1, r), (e, 1, r)

D, Di, U = array("D", d), array("D^{-1}", d), array("U", d, r)
G, C, K, X = array("G", d, d), array("C", r, r), array("K", r, r), array("X", d, d)
v, x, w, p, q = array("v", d), array("x", d), array("w", r), array("p", d), array("q", r)
y, z = array("y", r), array("z", d)
positive = signed(D, ">0")
reciprocal = Definition(Di[a], Integer(1), over=D[a])
metric = Definition(G[a, b], D[a] * KroneckerDelta(a, b) + Sum(U[a, c] * U[b, c], RANK))
capacitance = Definition(C[c, e], KroneckerDelta(c, e) + Sum(U[a, c] * Di[a] * U[a, e], FEATURE))
inverse = inverse_of(C, K)

GRAM = Sum(U[a, c] * y[c], RANK)
TOTAL_C = Sum(y[c] * C[c, e] * y[e], RANK, RANK2)
REST_C = Sum(Di[a] * GRAM**2, FEATURE)
capacitance_above_identity = Bound(
    id="capacitance_above_identity", small=Sum(y[c] ** 2, RANK), large=TOTAL_C, certificate=REST_C,
    because=r"$y^\top C y = |y|^2 + |D^{-1/2} U y|^2$.", by=(capacitance, reciprocal, positive),
)
no_energy_C = Step(
    id="no_energy_C", lhs=TOTAL_C, rhs=Integer(0), by=(annihilated(C, y),),
    because=r"$C y = 0$ gives $y^\top C y = 0$.",
)
parts_vanish_C = Vanishing(
    id="parts_vanish_C", total=TOTAL_C, part=y[c], over=((c, r),), rest=REST_C, strict=True,
    by=(capacitance, reciprocal, positive), because="A sum of squares is 0 only term by term.",
)
capacitance_invertible = Step(
    id="capacitance_invertible", lhs=y[c], rhs=Integer(0), by=(parts_vanish_C, no_energy_C),
    because="A square matrix with kernel 0 has an inverse: C is always invertible.",
)
TOTAL_G = Sum(z[a] * G[a, b] * z[b], FEATURE, OTHER)
REST_G = Sum(Sum(U[a, c] * z[a], FEATURE) ** 2, RANK)
metric_above_diagonal = Bound(
    id="metric_above_diagonal", small=Sum(D[a] * z[a] ** 2, FEATURE), large=TOTAL_G,
    certificate=REST_G, because=r"$z^\top G z = \sum_a D_a z_a^2 + |U^\top z|^2$.", by=(metric,),
)
no_energy_G = Step(
    id="no_energy_G", lhs=TOTAL_G, rhs=Integer(0), by=(annihilated(G, z),),
    because=r"$G z = 0$ gives $z^\top G z = 0$.",
)
parts_vanish_G = Vanishing(
    id="parts_vanish_G", total=TOTAL_G, part=z[a], weight=D[a], over=((a, d),), rest=REST_G,
    strict=True, by=(metric, positive), because="Again each square vanishes, and D > 0.",
)
metric_invertible = Step(
    id="metric_invertible", lhs=z[a], rhs=Integer(0), by=(parts_vanish_G, no_energy_G),
    because="So G is invertible.",
)

gram_right = Step(
    id="gram_right", lhs=Sum(U[a, c] * Di[a] * U[a, k] * K[k, e], FEATURE, (k, 1, r)),
    rhs=Sum(C[c, k] * K[k, e], (k, 1, r)) - K[c, e], by=(capacitance, reciprocal, positive),
    because=r"$U^\top D^{-1} U = C - I$.",
)
gram_left = Step(
    id="gram_left", lhs=Sum(K[c, k] * U[a, k] * Di[a] * U[a, e], FEATURE, (k, 1, r)),
    rhs=Sum(K[c, k] * C[k, e], (k, 1, r)) - K[c, e], by=(capacitance, reciprocal, positive),
    because="The same from the left.",
)
WOODBURY = Di[a] * KroneckerDelta(a, b) - Sum(
    Di[a] * U[a, c] * K[c, e] * U[b, e] * Di[b], RANK, RANK2
)
woodbury = Definition(X[a, b], WOODBURY)
INVERTED = (woodbury, metric, reciprocal, positive)
right_inverse = Step(
    id="right_inverse", lhs=Sum(G[a, k] * X[k, b], (k, 1, d)), rhs=KroneckerDelta(a, b),
    by=(*INVERTED, gram_right, inverse),
    because=r"$U U^\top D^{-1} - U K U^\top D^{-1} - U (C - I) K U^\top D^{-1} = 0$ as $C K = "
    r"I$.",
)
left_inverse = Step(
    id="left_inverse", lhs=Sum(X[a, k] * G[k, b], (k, 1, d)), rhs=KroneckerDelta(a, b),
    by=(*INVERTED, gram_left, inverse), because="The same from the left, as $K C = I$.",
)

(a_0, a_1, a_2), (c_0, c_1, c_2) = symbols_of("a_0 a_1 a_2"), symbols_of("c_0 c_1 c_2")
FIRST, MIDDLE, LAST = (((x_k, d), (w_k, r)) for x_k, w_k in ((a_0, c_0), (a_1, c_1), (a_2, c_2)))
ZERO, delta = Integer(0), KroneckerDelta
bordered = Blocks(FIRST, LAST, (
    (D[a_0] * delta(a_0, a_2), -U[a_0, c_2]), (U[a_2, c_0], delta(c_0, c_2))))
by_capacitance = Determinant(
    id="by_capacitance", matrix=bordered, value=Integer(1),
    factors=(
        Blocks(FIRST, MIDDLE, ((delta(a_0, a_1), ZERO), (U[a_1, c_0] * Di[a_1], delta(c_0, c_1)))),
        Blocks(MIDDLE, LAST, ((D[a_1] * delta(a_1, a_2), -U[a_1, c_2]), (ZERO, C[c_1, c_2]))),
    ),
    parts=(Blocks(MIDDLE[:1], LAST[:1], ((D[a_1] * delta(a_1, a_2),),)),
           Blocks(MIDDLE[1:], LAST[1:], ((C[c_1, c_2],),))),
    by=(capacitance, reciprocal, positive),
    because=r"The first rows eliminate $U^\top$: what is left of $I$ is C.",
)
by_metric = Determinant(
    id="by_metric", matrix=bordered, value=Integer(1),
    factors=(
        Blocks(FIRST, MIDDLE, ((delta(a_0, a_1), -U[a_0, c_1]), (ZERO, delta(c_0, c_1)))),
        Blocks(MIDDLE, LAST, ((G[a_1, a_2], ZERO), (U[a_2, c_1], delta(c_1, c_2)))),
    ),
    parts=(Blocks(MIDDLE[:1], LAST[:1], ((G[a_1, a_2],),)),), by=(metric,),
    because="The last rows eliminate $-U$: what is left of D is G.",
)

image = Definition(v[a], Sum(G[a, b] * x[b], OTHER))
part = Definition(w[c], Sum(U[a, c] * x[a], FEATURE))
pair = Step(
    id="pair", lhs=v[a], rhs=D[a] * x[a] + Sum(U[a, c] * w[c], RANK), by=(image, part, metric),
    because=r"So $G x = v$ iff $D x + U w = v$ with $w = U^\top x$.",
)
energy = Step(
    id="energy", lhs=Sum(v[a] * x[a], FEATURE),
    rhs=Sum(D[a] * x[a] ** 2, FEATURE) + Sum(w[c] ** 2, RANK), by=(image, part, metric),
    because=r"That is $v^\top G^{-1} v$ for $x = G^{-1} v$: a sum of squares, never negative.",
)
first_residual = Definition(p[a], D[a] * z[a] + Sum(U[a, c] * y[c], RANK))
second_residual = Definition(q[c], y[c] - Sum(U[a, c] * z[a], FEATURE))
residuals = Bound(
    id="residuals", small=Sum(D[a] * z[a] ** 2, FEATURE) + Sum(y[c] ** 2, RANK),
    large=Sum(Di[a] * p[a] ** 2, FEATURE) + Sum(q[c] ** 2, RANK), certificate=REST_C + REST_G,
    by=(first_residual, second_residual, reciprocal, positive),
    because=r"In $\sum_a p_a^2 / D_a + |q|^2$ the cross terms $2 z^\top U y$ cancel.",
)

THEOREM = Theorem(
    id="RA6",
    title="Metrics of low rank are inverted in r dimensions",
    clauses=(
        Clause("capacitance", r"For $D > 0$: $C = I + U^\top D^{-1} U \ge I$ and "
               r"$G = D + U U^\top \ge D$, and $C y = 0$ or $G z = 0$ only for $y = 0$, $z = 0$.",
               (capacitance_above_identity, no_energy_C, parts_vanish_C, capacitance_invertible,
                metric_above_diagonal, no_energy_G, parts_vanish_G, metric_invertible)),
        Clause("inverse", r"For $D > 0$ and $K$ the inverse of $C$, $D^{-1} - D^{-1} U K U^\top "
               r"D^{-1}$ is the inverse of $G$ from both sides.",
               (gram_right, right_inverse, gram_left, left_inverse)),
        Clause("determinant", r"For $D > 0$ the matrix $\begin{pmatrix} D & -U \\ U^\top & I "
               r"\end{pmatrix}$, eliminated in two orders, has determinant $\det D \det C$ and "
               r"also $\det G$: so $\det G = \det D \det C$.", (by_capacitance, by_metric)),
        Clause("pair", r"With $w = U^\top x$, $G x = D x + U w$, and $v = G x$ has $v^\top x = "
               r"\sum_a D_a x_a^2 + |w|^2$.", (pair, energy)),
        Clause("residuals", r"For $D > 0$: if $x$, $w$ are off by $z$, $y$ and leave the residuals "
               r"$p = D z + U y$, $q = y - U^\top z$, then $\sum_a D_a z_a^2 + |y|^2 \le \sum_a "
               r"p_a^2 / D_a + |q|^2$.", (residuals,)),
        Clause("counts", r"Multiplications and divisions: the capacitance $d r (r + 1) / 2$, its "
               r"Cholesky factor $r (r - 1)(r + 4) / 6$, with $D^{-1}$ and $D^{-1} U$ in all $d + "
               r"d r + d r (r + 1) / 2 + r (r - 1)(r + 4) / 6$; an application $2 d r + r^2 + r + "
               r"2 d$; the entries of $G^{-1}$ $r d (d + 1) / 2$ more.",
               (count.first_gram, count.next_gram, count.gram_count, count.first_factor,
                count.next_factor, count.factor_count, count.preparation, count.application,
                count.explicit)),
        Clause("order", r"For real $r \ge 1$ and $d \ge 1$ the count before the first application "
               r"is at most $4 d r^2$ if $d \ge r$, and always at least $r^3 / 6$. If $r \le k d$, "
               r"with one application it is at most $(8 + k) d r^2$; if $r \ge 6 k d$, it alone is "
               r"more than $k d r^2$. So both counts are $O(d r^2)$ iff $r = O(d)$.",
               (count.quadratic, count.cubic, count.any_ratio, count.beyond)),
    ),
    mutants=(
        Mutant("diagonal_missing", by_capacitance, r"$\det G = \det D \det(I + U^\top U)$",
               redefine=(replace(capacitance, value=KroneckerDelta(c, e) + Sum(
                   U[a, c] * U[a, e], FEATURE)),)),
        Mutant("plus", right_inverse, "the correction is added",
               redefine=(replace(woodbury, value=2 * Di[a] * KroneckerDelta(a, b) - WOODBURY),)),
        Mutant("one_sided", left_inverse, r"$D^{-1}$ on one side of $U K U^\top$ alone",
               redefine=(replace(woodbury, value=Di[a] * KroneckerDelta(a, b) - Sum(
                   Di[a] * U[a, c] * K[c, e] * U[b, e], RANK, RANK2)),)),
        Mutant("difference", metric_invertible, r"$D - U U^\top$ is always invertible",
               redefine=(replace(metric, value=D[a] * KroneckerDelta(a, b) - Sum(
                   U[a, c] * U[b, c], RANK)),)),
        Mutant("difference_determinant", by_metric, r"$\det(D - U U^\top) = \det D \det C$",
               add=(positive,), redefine=(replace(metric, value=D[a] * KroneckerDelta(a, b) - Sum(
                   U[a, c] * U[b, c], RANK)),)),
        Mutant("no_identity", capacitance_above_identity, r"$U^\top D^{-1} U \ge I$",
               redefine=(replace(capacitance, value=Sum(U[a, c] * Di[a] * U[a, e], FEATURE)),)),
        Mutant("any_diagonal", capacitance_above_identity, r"$C \ge I$ for every $D$",
               drop=(positive,)),
        Mutant("singular_capacitance", capacitance_invertible, r"C is invertible for every $D \ne "
               "0$", drop=(positive,), add=(signed(D, "!=0"),)),
        Mutant("first_residual_alone", replace(
            residuals, large=Sum(Di[a] * p[a] ** 2, FEATURE), certificate=REST_C + REST_G
            - Sum(q[c] ** 2, RANK)), "w may be anything"),
        Mutant("energy_of_x", replace(energy, rhs=Sum(D[a] * x[a] ** 2, FEATURE)),
               r"$v^\top G^{-1} v = \sum_a D_a x_a^2$", add=(positive,)),
        Mutant("full_square", count.next_gram, "half of the capacitance counted as all",
               add=(count.some_rank,), redefine=(replace(
                   count.next_gram_count,
                   value=count.gram["l"] + 2 * count.m["l"] * Sum(1, count.FEATURE)),)),
        Mutant("no_squares", count.next_factor, "the diagonal of the factor is free",
               add=(count.some_rank,), redefine=(replace(
                   count.next_factor_count,
                   value=count.factor["l"] + count.triangle(count.m["l"])),)),
        Mutant("one_product", replace(count.application, rhs=count.application.rhs - d * r),
               "U is met once"),
        Mutant("any_rank", replace(count.quadratic, large=4 * count.wide * count.rho),
               "linear in the rank"),
        Mutant("any_width", count.any_ratio, r"$(8 + k) d r^2$ for every $r$",
               drop=(count.less_rank,)),
        Mutant("never_enough", count.beyond, r"$k d r^2$ never suffices", drop=(count.more_rank,)),
    ),
    sources=(
        "Riemannian Attention and the Fiber Bundle Transformer",
        "Woodbury, Inverting modified matrices, 1950",
        "Yip, A note on the stability of solving a rank-p modification of a linear system, 1986",
    ),
)
