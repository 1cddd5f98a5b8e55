"""RA15. Reversibility of geodesic attention."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Expr, Integer, KroneckerDelta, Rational, Sum

from theorems.assumptions.entries import exponential, signed
from theorems.connection_walks.reversibility import (
    B, E, P, S, Z, antisymmetric, cycles_of_B, logarithms, positive_E, softmax, total,
    weights_to_softmax,
)
from theorems.connection_walks.steps.token_logits import cycle
from theorems.checker.exact import Draw, SmallIntegers
from theorems.rules import Logarithm
from theorems.statement import (
    Bound, Clause, Definition, Iff, Local, Mutant, Step, Theorem, Witness, array, symbols_of,
)

n, d = symbols_of("n d")
i, j, k, a, b = symbols_of("i j k a b")
half, three = Rational(1, 2), Integer(3)

x, G, H = array("x", n, d), array("G", n, d, d), array("H", n, n, d, d)
C, q, D = array("C", n, n, d, d), array("q", n, n), array("D", n, n)


def difference(one: Expr, other: Expr, entry: Expr) -> Expr:
    """Entry of x_one - x_other."""
    return x[one, entry] - x[other, entry]


def square(metric: Expr, one: Expr, other: Expr) -> Expr:
    """(x_one - x_other)^T M (x_one - x_other), the metric given by its entry (a, b)."""
    term = difference(one, other, a) * metric * difference(one, other, b)
    return Sum(term, (a, 1, d), (b, 1, d))


edge_scores = Definition(S[i, j], -half * square(H[i, j, a, b], i, j))
both = Definition(H[i, j, a, b], C[i, j, a, b] + C[j, i, a, b])
both_ways = Step(
    id="both_ways", lhs=S[i, j], rhs=S[j, i], by=(edge_scores, both),
    because="x_i - x_j enters twice, so its sign does not matter. Every family with H_ij = H_ji is "
    "C_ij + C_ji with C = H/2.",
)
averaged = Step(
    id="averaged", lhs=S[i, j], rhs=half * (-half * square(G[i, a, b], i, j)
                                            - half * square(G[j, a, b], j, i)),
    by=(edge_scores, both, Definition(C[i, j, a, b], half * half * (G[i, a, b] + G[j, a, b]))),
    because="The average of query-side and key-side scores is the score of the average metric.",
)


def square_root() -> Local:
    """D_ij^2 = q_ij + q_ji; searches meet both roots, and the signs assumed choose."""

    def impose(draw: Draw) -> None:
        for row, column in draw.cells(D):
            if row > column:
                continue
            root = draw.source.fresh(draw.signs.get(str(D)))
            flip = type(draw.source) is SmallIntegers and draw.source.rng.randrange(4) == 0
            draw.put(D, (row, column), root)
            if row < column:
                draw.put(D, (column, row), -root if flip else root)
                draw.put(q, (row, column), root**2 - draw.get(str(q), (column, row)))
            else:
                draw.put(q, (row, column), fmpq(1, 2) * root**2)

    text = "$D_{ij}^2 = q_{ij} + q_{ji}$"
    return Local("D^2 is symmetric", text, ((D[i, j] ** 2, q[i, j] + q[j, i]),), impose)


root, nonnegative_D = square_root(), signed(D, ">=0")
unsquared = Bound(
    id="unsquared", small=D[i, j], large=D[j, i], certificate=Integer(0), power=2,
    by=(root, nonnegative_D),
    because="The squared distances agree both ways, so their nonnegative roots do: D_ij <= D_ji "
    "for all pairs.",
)

law_is_Z = Iff(
    id="law_is_Z", left=(Z[i] * P[i, j], Z[j] * P[j, i]), right=(E[i, j], E[j, i]),
    by=(softmax, total, positive_E), because="Z_i P_ij = E_ij.",
)
law_logarithm = Logarithm(
    id="law_logarithm", left=law_is_Z.right, logs=((E, S),), by=(exponential(E, S),),
    because="E = exp S.",
)

m, f, M, W = array("m", n, n), array("f", n, n), array("M", n, n), array("W", n, n)
Z_m, P_m = array("Z_M", n), array("P_M", n, n)
mask, same_weights = Definition(M[i, j], m[i, j] + m[j, i]), Definition(W[i, j], f[i, j] + f[j, i])
visible = Definition(Z_m[i], Sum(M[i, k] * W[i, k], (k, 1, n)))
nonnegative = (signed(m, ">=0"), signed(f, ">=0"))
share = Bound(
    id="share", small=M[i, j] * W[i, j], large=Z_m[i],
    by=(visible, mask, same_weights, *nonnegative),
    certificate=Sum((1 - KroneckerDelta(j, k)) * M[i, k] * W[i, k], (k, 1, n)),
    because="A total of nonnegative weights contains each of them.",
)
masked_walk = Definition(P_m[i, j], M[i, j] * W[i, j], over=Z_m[i], support=share)
masked_balance = Step(
    id="masked_balance", lhs=Z_m[i] * P_m[i, j], rhs=Z_m[j] * P_m[j, i],
    by=(masked_walk, mask, same_weights),
    because="Z_i P_ij = M_ij E_ij is symmetric; in rows without a visible token both are 0.",
)
masked_law = Step(
    id="masked_law", lhs=Sum(Z_m[i] * P_m[i, j], (i, 1, n)), rhs=Z_m[j],
    by=(masked_walk, visible, mask, same_weights),
    because="Summed over the tokens, detailed balance is stationarity.",
)

query = Definition(S[i, j], -half * square(G[i, a, b], i, j))
over_metrics = (
    square(G[i, a, b], i, j) - square(G[i, a, b], i, k) + square(G[j, a, b], j, k)
    - square(G[j, a, b], i, j) + square(G[k, a, b], i, k) - square(G[k, a, b], j, k)
)
query_cycle = Iff(
    id="query_cycle", left=(cycle(B), Integer(0)), right=(Integer(0), over_metrics),
    factor=half**2, by=(antisymmetric, query),
    because="-4 B_ij is the squared distance in the metric of i less that in the metric of j.",
)
lam, d2 = array("lambda", n), array("d2", n, n)
scaled = Definition(G[i, a, b], lam[i] * KroneckerDelta(a, b))
distances = Definition(d2[i, j], Sum(difference(i, j, a) ** 2, (a, 1, d)))
conformal_sum = (
    lam[i] * (d2[i, j] - d2[i, k]) + lam[j] * (d2[j, k] - d2[i, j]) + lam[k] * (d2[i, k] - d2[j, k])
)
conformal = Iff(
    id="conformal", left=(cycle(B), Integer(0)), right=(Integer(0), conformal_sum),
    factor=half**2, by=(antisymmetric, query, scaled, distances),
    because="A conformal metric takes its factor out of the squared distance.",
)

y, l_3, S_3 = array("x_3", three), array("lambda_3", three), array("S_3", three, three)
S_cycle = (cycle(S_3), S_3[i, k] + S_3[k, j] + S_3[j, i])
line_scores = Definition(S_3[i, j], -half * l_3[i] * (y[i] - y[j]) ** 2)
apart = array("g_3", three, three)
three_tokens = (
    line_scores, signed(l_3, ">0"), signed(apart, ">0"),
    Definition(apart[i, j], (y[i] - y[j]) ** 2 + KroneckerDelta(i, j)),
)
not_reversible = Witness(
    id="not_reversible", values={y: [0, 1, 3], l_3: [1, 2, 3]}, by=(line_scores,), fails=(S_cycle,),
    because="The two ways around the triangle differ by 13/2.",
)
reversible = Witness(
    id="reversible", values={y: [0, 1, 3], l_3: [1, fmpq(1, 3), fmpq(7, 5)]}, by=(line_scores,),
    holds=(S_cycle,), fails=((l_3[i], l_3[j]), (S_3[i, j], S_3[j, i])),
    because="4 lambda_1 = (3/2) lambda_2 + (5/2) lambda_3 balances both ways, without equal "
    "factors or symmetric scores.",
)

THEOREM = Theorem(
    id="RA15",
    title="Reversibility of geodesic attention",
    clauses=(
        Clause("symmetric_scores", r"$S_{ij} = -\frac12 (x_i - x_j)^\top H_{ij} (x_i - x_j)$ with "
               r"metrics of edges $H_{ij} = H_{ji}$ is symmetric: the average of the metrics of "
               r"two tokens (symmetrised scores, whatever the metrics), that of their midpoint, or "
               r"one metric for all.", (both_ways, averaged)),
        Clause("unsquared", r"Distances $D_{ij} \ge 0$ whose squares agree both ways, $D_{ij}^2 = "
               r"q_{ij} + q_{ji}$, agree both ways: $D_{ij} \le D_{ji}$ for all pairs.",
               (unsquared,)),
        Clause("law", r"Without mask, $P = \mathrm{softmax}(S)$, $E = \exp S$, $Z_i = \sum_j "
               r"E_{ij}$: $Z_i P_{ij} = Z_j P_{ji}$ iff $S_{ij} = S_{ji}$. So symmetric scores are "
               r"reversible with $\pi_i \propto Z_i$.", (law_is_Z, law_logarithm)),
        Clause("masked", r"With a symmetric mask $M \ge 0$ and symmetric weights $\exp S \ge 0$: "
               r"$Z_i = \sum_j M_{ij} E_{ij}$ is in detailed balance with $P_{ij} = M_{ij} E_{ij} "
               r"/ Z_i$, and stationary; a row without a visible token has $Z_i = 0$, whatever "
               r"stands in it.",
               (share, masked_balance, masked_law)),
        Clause("query_side", r"For query-side scores and $B = (S - S^\top)/2$: $B_{ij} + B_{jk} + "
               r"B_{ki} = 0$ iff $|x_i - x_j|^2_{G_i} - |x_i - x_k|^2_{G_i} + |x_j - x_k|^2_{G_j} "
               r"- |x_i - x_j|^2_{G_j} + |x_i - x_k|^2_{G_k} - |x_j - x_k|^2_{G_k} = 0$. Without "
               r"mask, $E = \exp S$, the products of $P = \mathrm{softmax}(S)$ around a triangle "
               r"agree iff the cycle sum vanishes: reversible iff it does on all triangles (CW8).",
               (query_cycle, weights_to_softmax, logarithms, cycles_of_B)),
        Clause("conformal", r"For $G_i = \lambda_i I$ and $d_{ij} = |x_i - x_j|^2$ the condition "
               r"is $\lambda_i (d_{ij} - d_{ik}) + \lambda_j (d_{jk} - d_{ij}) + \lambda_k (d_{ik} "
               r"- d_{jk}) = 0$.", (conformal,)),
        Clause("witnesses", r"The tokens $0, 1, 3$ are not reversible for $\lambda = (1, 2, 3)$ "
               r"and are for $\lambda = (1, \frac13, \frac75)$.", (not_reversible, reversible)),
    ),
    mutants=(
        Mutant("query_side_always", Step(
            id="query_cycle", lhs=cycle(B), rhs=Integer(0), by=query_cycle.by, because="claimed"),
            "query-side scores are always reversible"),
        Mutant("factors_must_agree", replace(
            conformal, left=S_cycle, right=(l_3[i], l_3[j]), factor=Integer(1), by=three_tokens),
            "three distinct tokens are reversible only if the conformal factors agree"),
        Mutant("sign_in_the_cycle", replace(conformal, right=(
            Integer(0), conformal_sum - 2 * lam[j] * (d2[j, k] - d2[i, j]))),
            "the second token with the other sign"),
        Mutant("any_mask", masked_balance, "a mask that is not symmetric",
               redefine=(Definition(M[i, j], m[i, j]),)),
        Mutant("uniform_law", replace(masked_balance, lhs=P_m[i, j], rhs=P_m[j, i]),
               "symmetric scores give a symmetric walk, with uniform law"),
        Mutant("either_root", unsquared, "roots of either sign", drop=(nonnegative_D,)),
        Mutant("metric_of_the_query", both_ways, "metrics of edges that differ both ways",
               redefine=(Definition(H[i, j, a, b], C[i, j, a, b]),)),
        Mutant("law_always_Z", Step(
            id="law_is_Z", lhs=Z[i] * P[i, j], rhs=Z[j] * P[j, i], because="claimed",
            by=(softmax, total, positive_E)), "pi_i = Z_i for all scores"),
        Mutant("sum_for_average", replace(
            averaged, rhs=-half * square(G[i, a, b], i, j) - half * square(G[j, a, b], j, i)),
            "symmetrised means the sum of the two scores"),
    ),
    uses=("CW8",),
    sources=(
        "Riemannian Attention Mechanisms for Transformers: A Theoretical Framework and "
        "Architecture Design",
        "F. P. Kelly, Reversibility and stochastic networks, Wiley 1979, section 1.5",
    ),
)
