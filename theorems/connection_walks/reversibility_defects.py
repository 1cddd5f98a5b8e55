"""CW9. What to measure when a walk is not reversible."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Rational, Sum, latex

from theorems.assumptions.entries import signed
from theorems.connection_walks.steps import defect_bounds as edges
from theorems.connection_walks.steps import time_reversal as on
from theorems.assumptions.stationarity import laws_of_classes, stationary_chain
from theorems.checker.exact import Draw, Generators
from theorems.rules import Vanishing
from theorems.statement import (
    Bound, Clause, Definition, Iff, Local, Mutant, Step, Theorem, array, symbols_of,
)

n, m, d, C = symbols_of("n m d C")
i, j, a, b, c, k, p, q = symbols_of("i j a b c k p q")
half = Rational(1, 2)


def same_absolute_value(size: IndexedBase, value: IndexedBase) -> Local:
    """size^2 = value^2 entry by entry: size = |value| where size >= 0."""
    cell = (i, j)[: len(size.shape)]

    def impose(draw: Draw) -> None:
        for place in draw.cells(size):
            entry = draw.get(str(value), place)
            negative = not isinstance(draw.source, Generators) and entry < 0
            draw.put(size, place, -entry if negative else entry)

    text = f"$|{latex(size.label)}| = |{latex(value.label)}|$"
    rule = (size[cell] ** 2, value[cell] ** 2)
    return Local(f"|{size}| = |{value}|", text, (rule,), impose)


R, rho, excess, gap, scale = (
    array("R", n, m), array("rho", n), array("e", n), array("s", n), array("y", n),
)
D, slack = array("D", n), array("g", n)
nonnegative_R = signed(R, ">=0")
row_sum = Definition(rho[i], Sum(R[i, j], (j, 1, m)))
deviation = Definition(excess[i], rho[i] - 1)
total = Definition(scale[i], rho[i] + 1)
ratio = Definition(D[i], gap[i], over=scale[i])
positive_total = (total, row_sum, nonnegative_R)
row_gap = Bound(
    id="row_gap", small=gap[i], large=rho[i] + 1, certificate=4 * rho[i], power=2,
    by=(same_absolute_value(gap, excess), deviation, row_sum, nonnegative_R),
    because="(rho + 1)^2 - (rho - 1)^2 = 4 rho >= 0.",
)
row_ratio = Bound(
    id="row_ratio", small=scale[i] * D[i], large=rho[i] + 1, certificate=slack[i],
    by=(ratio, Definition(slack[i], rho[i] + 1 - gap[i]), row_gap, *positive_total),
    because="D_i = |rho_i - 1| / (rho_i + 1).",
)
row_zero = Vanishing(
    id="row_zero", total=excess[i] ** 2, part=D[i], weight=scale[i] ** 2, strict=True,
    by=(ratio, same_absolute_value(gap, excess), *positive_total), because="D_i = 0 iff rho_i = 1.",
)

Q, pi, flow, skew, size, spare = (
    on.P, on.pi, array("F", n, n), array("e", n, n), array("m", n, n), array("g", n, n),
)
nonnegative_Q, nonnegative_pi = on.nonnegative_P, signed(pi, ">=0")
nonnegative_size = signed(size, ">=0")
edge_flow = Definition(flow[i, j], pi[i] * Q[i, j])
asymmetry = Definition(skew[i, j], flow[i, j] - flow[j, i])
law = stationary_chain(Q, pi, unit=True)
both = ((i, 1, n), (j, 1, n))
flow_gap = Bound(
    id="flow_gap", small=size[i, j], large=flow[i, j] + flow[j, i], power=2,
    certificate=4 * flow[i, j] * flow[j, i],
    by=(same_absolute_value(size, skew), asymmetry, edge_flow, nonnegative_Q, nonnegative_pi),
    because="The difference of two nonnegative flows is at most their sum.",
)
flow_bounded = Bound(
    id="flow_bounded", small=half * Sum(size[i, j], *both), large=Integer(1),
    certificate=half * Sum(spare[i, j], *both),
    by=(Definition(spare[i, j], flow[i, j] + flow[j, i] - size[i, j]), edge_flow, law, flow_gap),
    because="All flows sum to 1.",
)
flow_zero = Vanishing(
    id="flow_zero", total=half * Sum(size[i, j], *both), part=size[i, j], weight=half, power=1,
    over=((i, n), (j, n)), by=(nonnegative_size,),
    because="It vanishes iff each |F_ij - F_ji| does,",
)
edge_zero = Vanishing(
    id="edge_zero", total=skew[i, j] ** 2, part=size[i, j], strict=True,
    by=(same_absolute_value(size, skew),), because="that is, iff F_ij = F_ji.",
)
w, laws, mixed = array("w", C), array("pi^c", C, n), array("mu", n)
average = Step(
    id="average", lhs=Sum(mixed[i] * Q[i, j], (i, 1, n)), rhs=mixed[j],
    by=(Definition(mixed[i], Sum(w[c] * laws[c, i], (c, 1, C))), laws_of_classes(Q, pi, laws)),
    because="A mean of the laws of the closed classes is stationary.",
)


def plain(blocks: IndexedBase, sign: int) -> Expr:
    """sum_ij |W_ij + sign W*_ij|_F^2, without the weights of pi and G."""
    entry = on.P[i, j] * on.T[i, j, a, b] + sign * blocks[i, j, a, b]
    return Sum(entry**2, *edges.whole)


identity_metric = tuple(
    Definition(g[i, a, b], KroneckerDelta(a, b)) for g in (on.G, on.Gi)
)
weighted = Sum(pi[i] * edges.P[i, j] * edges.D[i, j], *both)
M, T2 = array("M_T", n, n, d, d), array("T", n, n, d, d)

THEOREM = Theorem(
    id="CW9",
    title="What to measure when a walk is not reversible",
    clauses=(
        Clause("time_reversal", r"Cited, from Perron and Frobenius: an irreducible "
               r"row-stochastic $P \ge 0$ has one stationary law, and it is positive. Derived: for "
               r"$\pi > 0$ stationary for a row-stochastic $P \ge 0$: "
               r"$P^*_{ij} = \pi_j P_{ji} / \pi_i$ is a walk matrix with rows of sum 1 and the "
               r"law $\pi$, $P^{**} = P$, and $P^* = P$ iff $P$ is in detailed balance with "
               r"$\pi$.",
               (on.perron, on.reversed_rows, on.reversed_law, on.reversed_weights,
                on.reversed_twice, on.same_walk)),
        Clause("reversibilisations", r"For $\pi > 0$ stationary for a row-stochastic $P$: $A = "
               r"(P + P^*)/2$ is in detailed balance with $\pi$, is stationary for it and has "
               r"the quadratic form of $P$, hence its Dirichlet form $\sum_i \pi_i x_i^2 - "
               r"\langle x, P x \rangle = \frac{1}{2} \sum_{ij} \pi_i P_{ij} (x_i - x_j)^2$, but "
               r"not its bilinear form; $P P^*$ is in detailed balance with $\pi$ and may be "
               r"reducible though $P$ is not.",
               (on.additive_flow, on.additive_law, on.quadratic, on.dirichlet,
                on.multiplicative_flow, on.other_form, on.falls_apart)),
        Clause("chung", r"For $\pi_i = t_i^2$, $t > 0$: $\Pi^{-1/2} C \, \Pi^{1/2} = I - (P + "
               r"P^*)/2$ for Chung's directed Laplacian $C = I - (\Pi^{1/2} P \, \Pi^{-1/2} + "
               r"\Pi^{-1/2} P^\top \Pi^{1/2})/2$.", (on.chung,)),
        Clause("adjoint", r"For $\pi > 0$ and $G_i = F_i^\top F_i$ with invertible $F_i$: the "
               r"adjoint of $W$ for $\sum_i \pi_i u_i^\top G_i v_i$ has blocks $(\pi_j / \pi_i) "
               r"P_{ji} G_i^{-1} T_{ji}^\top G_j$; $(W + W^*)/2$ is self-adjoint with the "
               r"quadratic form of $W$, but its transports need not be isometries though those "
               r"of $W$ are.", (on.adjoint, on.mean_adjoint, on.mean_form, on.mean_contracts)),
        Clause("stochasticity", r"For $R \ge 0$ with row sums $\rho$: $|\rho_i - 1| / (\rho_i + "
               r"1) \le 1$, and it is $0$ iff $\rho_i = 1$.", (row_gap, row_ratio, row_zero)),
        Clause("flow", r"For a row-stochastic $P \ge 0$, $\pi \ge 0$ stationary with sum 1 and "
               r"$F_{ij} = \pi_i P_{ij}$: $|F_{ij} - F_{ji}| \le F_{ij} + F_{ji}$, so "
               r"$\frac{1}{2} \sum_{ij} |F_{ij} - F_{ji}| \le 1$, and it is $0$ iff $F_{ij} = "
               r"F_{ji}$ throughout. Means of stationary laws are stationary.",
               (flow_gap, flow_bounded, flow_zero, edge_zero, average)),
        Clause("ratios", r"For matrices with Frobenius norms $x = |X| \ge 0$, $h = |J| > 0$ and "
               r"$z = |X - J| \ge 0$: $z / (x + h) \le 1$, and it is $0$ iff $X = J$; $J = I$ "
               r"has $h = \sqrt{d}$.",
               (edges.cauchy, edges.triangle, edges.unit_norm, edges.what_is_left, edges.to_one,
                edges.ratio_zero)),
        Clause("metric", r"For a row-stochastic $P \ge 0$ and $D_{ij} = |B^\top B - I| / "
               r"(|B^\top B| + \sqrt{d})$, the ratio above of $X = B^\top B$ and $J = I$ with $B = "
               r"F_i T_{ij} F_j^{-1}$, $F_i$ invertible and $G_i = F_i^\top F_i$: "
               r"$\frac{1}{n} \sum_{ij} P_{ij} D_{ij} \le 1$, and it is $0$ "
               r"iff $T_{ij}^\top G_i T_{ij} = G_j$ on all edges.",
               (edges.metric_bounded, edges.metric_zero, edges.isometric, edges.not_isometric)),
        Clause("inverse", r"For a row-stochastic $P \ge 0$, $s_{ij} \in \{0, 1\}$ with "
               r"$P_{ji} = s_{ij} v_{ij}$, $v_{ij} > 0$, so that $s_{ij} = 0$ iff $P_{ji} = 0$, "
               r"$D_{ij}$ the ratio above of $X = F_i T_{ij} T_{ji} F_i^{-1}$ and $J = I$, $F_i$ "
               r"invertible, and $D'_{ij} = s_{ij} D_{ij} + 1 - s_{ij}$: $\frac{1}{n} "
               r"\sum_{ij} P_{ij} D'_{ij} \le 1$, and it is $0$ iff every edge is two-way and "
               r"$T_{ij} T_{ji} = I$.",
               (edges.two_way_edge, edges.two_way_sign, edges.one_way_sign, edges.inverse_bounded,
                edges.inverse_zero, edges.no_one_way, edges.no_two_way_gap, edges.inverses,
                edges.not_inverses)),
        Clause("operator", r"For $\pi_i = t_i^2$, $t > 0$, and invertible $F_i$, let $A_{ij} = "
               r"t_i F_i P_{ij} T_{ij} F_j^{-1} / t_j$, whose Frobenius norm is the norm of $W$: "
               r"$W^*$ goes to $A^\top$, $|A - A^\top|^2 \le 4 |A|^2$, and $A = A^\top$ iff $W = "
               r"W^*$.", (edges.image, edges.operator_bounded, edges.operator_zero, edges.back)),
    ),
    mutants=(
        Mutant("same_bilinear_form", replace(
            on.quadratic, lhs=on.bilinear(on.A, on.x, on.y), rhs=on.bilinear(on.P, on.x, on.y)),
            "(P + P*)/2 has the bilinear form of P"),
        Mutant("symmetric_weights", replace(on.same_walk, right=(Q[i, j], Q[j, i])),
               "reversible iff P = P^T"),
        Mutant("law_that_vanishes", on.same_walk, "pi >= 0 suffices: causal walks are reversible",
               drop=(on.positive_pi,), add=(nonnegative_pi, nonnegative_Q)),
        Mutant("transpose_is_reversal", on.reversed_rows, "P* = P^T",
               redefine=(Definition(on.Pr[i, j], Q[j, i]),)),
        Mutant("untransposed_blocks", on.adjoint,
               "$W^*_{ij} = (\\pi_j / \\pi_i) P_{ji} G_i^{-1} T_{ji} G_j$",
               redefine=(on.starred(on.r[i] * pi[j], on.T[j, i, p, q]),)),
        Mutant("adjoint_without_law", on.adjoint, "$W^*_{ij} = P_{ji} G_i^{-1} T_{ji}^\\top G_j$",
               redefine=(on.starred(Integer(1), on.T[j, i, q, p]),)),
        Mutant("divided_by_row_sum", replace(row_gap, large=rho[i], certificate=2 * rho[i] - 1),
               "|rho - 1| <= rho"),
        Mutant("half_the_flow", replace(flow_gap, large=flow[i, j], certificate=flow[i, j] ** 2),
               "|F_ij - F_ji| <= F_ij"),
        Mutant("weighted_by_law", replace(
            edges.metric_zero, total=weighted, weight=edges.P[i, j],
            by=(*edges.metric_zero.by, nonnegative_pi)),
            "weights pi_i P_ij: zero iff D = 0 on all edges, transient states included"),
        Mutant("one_way_edges_uncounted", edges.no_one_way, "D' = s D",
               redefine=(Definition(edges.D2[i, j], edges.two_way[i, j] * edges.D[i, j]),)),
        Mutant("gram_of_round_trip", Iff(
            id="inverses", because="claimed", by=(Definition(M[i, j, a, b], Sum(
                T2[i, j, a, k] * T2[j, i, k, b], (k, 1, d))),),
            left=(Sum(M[i, j, k, a] * M[i, j, k, b], (k, 1, d)), KroneckerDelta(a, b)),
            right=(M[i, j, a, b], KroneckerDelta(a, b))),
            "B^T B = I for B = T_ij T_ji says that T_ij T_ji = I"),
        Mutant("operator_without_factor", replace(
            edges.operator_bounded, large=2 * Sum(edges.S[i, j, a, b] ** 2, *edges.whole),
            certificate=2 * Sum(edges.S[i, j, a, b] * edges.S[j, i, b, a], *edges.whole)),
            "$\\lVert A - A^\\top \\rVert^2 \\le 2 \\lVert A \\rVert^2$"),
        Mutant("plain_norm", Bound(
            id="operator_bounded", small=plain(on.Wr, -1), because="claimed",
            large=4 * Sum((on.P[i, j] * on.T[i, j, a, b]) ** 2, *edges.whole),
            certificate=plain(on.Wr, 1), by=(on.star, on.moved, on.reciprocal, on.stationary,
                                             on.positive_pi, nonnegative_Q, *identity_metric)),
            "the plain norm of W - W* is at most twice that of W, G = I"),
    ),
    sources=(
        "E. Seneta, Non-negative Matrices and Markov Chains, 2nd ed., Springer 2006",
        "F. Chung, Laplacians and the Cheeger inequality for directed graphs, Ann. Comb. 2005",
    ),
)
