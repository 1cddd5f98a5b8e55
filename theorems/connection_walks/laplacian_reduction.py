"""CW5. When attention is a random walk on a connection Laplacian."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.connection_walks.steps import self_adjointness as adj
from theorems.assumptions.eigenvectors import complex_eigenvector, normalised
from theorems.assumptions.metric_walk import (
    POSITIVE, WALK, F, F_inv, G, P, T, Z, a, adjoint, b, balance, c, d, e, gap, generator, gram, i,
    imbalance, inner, invertible, isometry, j, k, l, law, n, nonnegative, pairs, pi, positive, rows,
    skew, u, w,
)
from theorems.assumptions.metrics import applied, harmonic, parallel
from theorems.rules import Vanishing
from theorems.statement import (
    Bound, Clause, Definition, Iff, Mutant, Step, Theorem, Witness, array,
)

half = Rational(1, 2)
gradient = Sum(F[i, c, a] * (u[i, a] - Sum(T[i, j, a, b] * u[j, b], (b, 1, d))), (a, 1, d))
dirichlet = Sum(pi[i] * P[i, j] * gradient**2, (i, 1, n), (j, 1, n), (c, 1, d))


def spread(u: IndexedBase, name: str) -> tuple[Definition, Expr]:
    """F_i (T_ij u_j - T_ik u_k), and sum_i pi_i sum_jk P_ij P_ik times its square norm."""
    apart = array(name, n, n, n, d)
    first, second = (Sum(T[i, m, a, b] * u[m, b], (b, 1, d)) for m in (j, k))
    entry = Definition(apart[i, j, k, c], Sum(F[i, c, a] * (first - second), (a, 1, d)))
    limits = ((i, 1, n), (j, 1, n), (k, 1, n), (c, 1, d))
    return entry, Sum(pi[i] * P[i, j] * P[i, k] * apart[i, j, k, c] ** 2, *limits)


weights = Definition(w[i, j], pi[i] * P[i, j])
unit_rows = Iff(
    id="unit_rows", left=(Sum(w[i, j], (j, 1, n)), pi[i]), factor=pi[i],
    right=(Sum(P[i, j], (j, 1, n)), Integer(1)), by=(weights, positive),
    because="P = D^{-1} w forces w_ij = D_i P_ij. With pi = D: D_i = sum_j w_ij iff (a).",
)
symmetric_weights = Iff(
    id="symmetric_weights", left=(w[i, j], w[j, i]), right=(gap[i, j], Integer(0)),
    by=(weights, imbalance), because="w is symmetric iff (b).",
)
X, Y = array("X", n, n, d, d), array("Y", n, n, d, d)
same_edges = Iff(
    id="same_edges", left=(w[i, j] * X[i, j, a, b], w[i, j] * Y[i, j, a, b]), factor=pi[i],
    right=(P[i, j] * X[i, j, a, b], P[i, j] * Y[i, j, a, b]), by=(weights, positive),
    because="w_ij and P_ij have the same edges, so (c) and (d) are the same for both: X_ij is "
    r"$T_{ij}^\top G_i T_{ij}$ or $T_{ij} T_{ji}$, and Y_ij is G_j or I.",
)
weights_nonnegative = Bound(
    id="weights_nonnegative", small=Integer(0), large=w[i, j], certificate=pi[i] * P[i, j],
    by=(weights, nonnegative, positive), because="w_ij = pi_i P_ij >= 0.",
)
blocks = Step(
    id="blocks", by=(weights,),
    lhs=pi[i] * (KroneckerDelta(i, j) * KroneckerDelta(a, b) - P[i, j] * T[i, j, a, b]),
    rhs=pi[i] * KroneckerDelta(i, j) * KroneckerDelta(a, b) - w[i, j] * T[i, j, a, b],
    because="D L = D - S block by block, with S_ij = w_ij T_ij.",
)

energy = Step(
    id="energy", lhs=2 * inner(u, generator(u)), rhs=dirichlet, by=WALK,
    because=r"Expand the square: $|u_i|_{G_i}^2$ by the row sums, $|T_{ij} u_j|_{G_i}^2 = "
    r"|u_j|_{G_j}^2$ on edges and then by pi P = pi; each gives $\lVert u \rVert^2$, and the "
    r"cross terms give $-2 \langle u, W u \rangle$.",
)
apart, variance = spread(u, "V")
contraction = Bound(
    id="contraction", small=Sum(pi[i] * G[i, a, b] * applied(P, T, u) * Sum(
        P[i, k] * T[i, k, b, e] * u[k, e], (k, 1, n), (e, 1, d)), (i, 1, n), (a, 1, d), (b, 1, d)),
    large=inner(u, u[i, b]), certificate=half * variance, by=(*WALK, *POSITIVE, apart),
    because="The variance of the transported tokens along each row is nonnegative.",
)

p, q = array("p", n, d), array("q", n, d)
alpha, beta = Symbol("alpha", real=True), Symbol("beta", real=True)
eigen = complex_eigenvector(pi, P, T, F, p, q, alpha, beta)
unit = normalised(pi, p, q, F)
apart_p, variance_p = spread(p, "V_p")
apart_q, variance_q = spread(q, "V_q")
disc = Bound(
    id="disc", small=alpha**2 + beta**2, large=Integer(1),
    certificate=half * variance_p + half * variance_q,
    by=(eigen, unit, *WALK, *POSITIVE, apart_p, apart_q),
    because=r"An eigenvector p + iq of W, scaled to norm 1, gives $\alpha^2 + \beta^2 \le 1$.",
)

D = array("D", n, n, d)
edge_part = Definition(D[i, j, c], gradient)
kernel_tokens, parallel_tokens = harmonic(P, T, u, F), parallel(P, T, u, F)
no_energy = Step(
    id="no_energy", lhs=2 * inner(u, generator(u)), rhs=Integer(0), by=(kernel_tokens,),
    because="L u = 0.",
)
parts_vanish = Vanishing(
    id="parts_vanish", total=2 * inner(u, generator(u)), part=D[i, j, c], weight=pi[i] * P[i, j],
    over=((i, n), (j, n), (c, d)), by=(edge_part, *WALK, *POSITIVE),
    because="A sum of nonnegatives is zero iff each of them is.",
)
edges_vanish = Step(
    id="edges_vanish", lhs=pi[i] * P[i, j] * Sum(F_inv[i, a, c] * D[i, j, c], (c, 1, d)),
    rhs=Integer(0), by=(no_energy, parts_vanish), because="So if L u = 0, each of them is zero:",
)
kernel = Iff(
    id="kernel", left=(edges_vanish.lhs, Integer(0)), by=(edge_part, invertible, positive),
    right=(P[i, j] * u[i, a], P[i, j] * Sum(T[i, j, a, b] * u[j, b], (b, 1, d))), factor=pi[i],
    because="F_i is invertible and pi_i > 0, so u_i = T_ij u_j where P_ij > 0.",
)
kernel_back = Step(
    id="kernel_back", lhs=applied(P, T, u), rhs=u[i, a], by=(parallel_tokens, rows),
    because="Conversely a parallel u is its own average.",
)

value_above = Bound(
    id="value_above", small=-alpha, large=Integer(1), certificate=beta**2 + disc.certificate,
    power=2, by=disc.by, because="So alpha >= -1, and alpha <= 1 likewise.",
)
eigen_skew = Step(
    id="eigen_skew", lhs=beta, by=(eigen, unit, skew, gram),
    rhs=Sum(p[i, a] * Z[i, j, a, b] * q[j, b], (i, 1, n), (j, 1, n), (a, 1, d), (b, 1, d)),
    because=r"$\langle p, W q \rangle - \langle W p, q \rangle = \beta (\lVert p \rVert^2 + "
    r"\lVert q \rVert^2) = \beta$ for an eigenvector of norm 1.",
)
real = Step(
    id="real", lhs=beta, rhs=Integer(0), by=(eigen_skew, adjoint),
    because="Self-adjointness makes the left side 0.",
)


def numbers(weights: list, transports: list, measure: list) -> dict:
    """A walk of numbers T_ij with G_i = 1, and u = 1."""
    ones = len(weights) * [[1]]
    return {P: weights, T: [[[[t]] for t in row] for row in transports], pi: measure, u: ones,
            F: [[one] for one in ones]}


part, negative = fmpq(1, 2), -u[i, b] * Rational(1, 4)
row_total = (Sum(P[i, j], (j, 1, n)), Integer(1))
not_adjoint = (Z[i, j, a, b], Integer(0))
no_rows = Witness(
    id="no_rows", values=numbers([[2]], [[1]], [1]), holds=((generator(u), -u[i, b]),),
    fails=(row_total,), by=(gram, imbalance, balance, isometry, pairs),
    because="Without (a): P = 2 on one node has L = -1, which is not nonnegative.",
)
no_balance = Witness(
    id="no_balance", values=numbers([[0, 1, 0], [0, 0, 1], [1, 0, 0]], 3 * [3 * [1]], 3 * [1]),
    by=(gram, skew, imbalance, rows, law, isometry, pairs),
    fails=((gap[i, j], Integer(0)), not_adjoint),
    holds=((Sum(P[i, j] * P[j, k] * P[k, l], (j, 1, n), (k, 1, n)), KroneckerDelta(i, l)),),
    because="Without (b): the directed 3-cycle, W^3 = I, is not self-adjoint.",
)
no_isometry = Witness(
    id="no_isometry", by=(gram, imbalance, rows, law, balance, pairs),
    values=numbers([[0, part, part], [part, 0, part], [part, part, 0]],
                   [[1, 2, part], [part, 1, 2], [2, part, 1]], [1, 1, 1]),
    holds=((generator(u), negative),), fails=(isometry.rules[0],),
    because="Without (c): holonomy 8 around a triangle, and -1/4 is an eigenvalue of L.",
)
no_inverse = Witness(
    id="no_inverse", by=(gram, skew, imbalance, rows, law, balance, isometry),
    values={P: [[1]], T: [[[[0, -1], [1, 0]]]], pi: [1], F: [[[1, 0], [0, 1]]]},
    holds=((Sum(T[i, j, a, c] * T[i, j, c, b], (c, 1, d)), -KroneckerDelta(a, b)),),
    fails=(pairs.rules[0], not_adjoint),
    because="Without (d): a quarter turn on one node, W^2 = -I, is not self-adjoint.",
)
self_loops = Witness(
    id="self_loops", values=numbers([[1]], [[-1]], [1]),
    by=(gram, skew, imbalance, rows, law, balance, isometry, pairs),
    holds=((generator(u), 2 * u[i, b]), not_adjoint),
    fails=((T[i, i, a, b], KroneckerDelta(a, b)),),
    because="T_11 = -1 satisfies (a) to (d), and L = 2: the bound 2 is attained.",
)

THEOREM = Theorem(
    id="CW5",
    title="When attention is a random walk on a connection Laplacian",
    clauses=(
        Clause("reduction", r"A random-walk connection Laplacian is $I - D^{-1} S$ with "
               r"$w_{ij} = w_{ji} \ge 0$, $D_i = \sum_j w_{ij} > 0$, $S_{ij} = w_{ij} T_{ij}$, "
               r"$T_{ij}^\top G_i T_{ij} = G_j$ and $T_{ij} T_{ji} = I$ where $w_{ij} > 0$. For "
               r"$D = \pi > 0$ and $P \ge 0$, $\pi_i (I - W)_{ij} = (D - S)_{ij}$ with $w_{ij} = "
               r"\pi_i P_{ij} \ge 0$; $D_i = \sum_j w_{ij}$ iff $P 1 = 1$; $w$ is symmetric iff "
               r"$\pi_i P_{ij} = \pi_j P_{ji}$; and an equation $X_{ij} = Y_{ij}$, such as the "
               r"two on $T$, holds where $w_{ij} \ne 0$ iff it holds where $P_{ij} \ne 0$.",
               (unit_rows, symmetric_weights, weights_nonnegative, blocks, same_edges)),
        Clause("energy", r"For $G_i = F_i^\top F_i$: if $P 1 = 1$, $\pi P = \pi$ and "
               r"$T_{ij}^\top G_i T_{ij} = G_j$ where $P_{ij} \ne 0$, then $2 \langle u, L u "
               r"\rangle_{\pi, G} = \sum_{ij} \pi_i P_{ij} \lVert u_i - T_{ij} u_j "
               r"\rVert^2_{G_i}$, without $\pi_i P_{ij} = \pi_j P_{ji}$ or $T_{ij} T_{ji} = I$.",
               (energy,)),
        Clause("contraction", r"If moreover $P \ge 0$ and $\pi > 0$: $\lVert W u \rVert_{\pi, G} "
               r"\le \lVert u \rVert_{\pi, G}$; an eigenvalue $\alpha + i \beta$ of $W$ with an "
               r"eigenvector of norm 1 has $\alpha^2 + \beta^2 \le 1$, so $\mathrm{spec}\, L$ lies "
               r"in $|z - 1| \le 1$; for invertible $F_i$, $L u = 0$ iff $u_i = T_{ij} u_j$ where "
               r"$P_{ij} > 0$.",
               (contraction, disc, value_above, no_energy, parts_vanish, edges_vanish, kernel,
                kernel_back)),
        Clause("self_adjoint", r"Let $P \ge 0$, $\pi > 0$, $G_i = F_i^\top F_i$ with $F_i$ "
               r"invertible and $T_{ij}^\top G_i T_{ij} = G_j$ where $P_{ij} > 0$. $W$ is "
               r"self-adjoint for $\langle u, v \rangle_{\pi, G}$ iff "
               r"$\pi_i P_{ij} = \pi_j P_{ji}$ and $T_{ij} T_{ji} = I$ where $P_{ij} > 0$; row "
               r"sums and stationarity play no part.",
               (adj.bilinear, adj.entries, adj.skew_in_frames, adj.no_skew, adj.turns,
                adj.balance_needed, adj.reversible, adj.transposes, adj.leave_turns, adj.inverses,
                adj.no_return_gap, adj.return_parts, adj.no_edge_gap, adj.pairs_needed,
                adj.round_trip, adj.transposed, adj.skew_split, adj.skew_of_flow,
                adj.adjoint_back)),
        Clause("spectrum", r"If $W$ is self-adjoint for $\langle u, v \rangle_{\pi, G}$, an "
               r"eigenvalue $\alpha + i \beta$ with an eigenvector of norm 1 has $\beta = 0$: with "
               r"the hypotheses of the clause on contraction also $\alpha^2 \le 1$, so "
               r"$\mathrm{spec}\, L$ lies in $[0, 2]$.",
               (eigen_skew, real)),
        Clause("each_is_needed", r"Short of one of $P 1 = 1$, $\pi_i P_{ij} = \pi_j P_{ji}$, "
               r"$T_{ij}^\top G_i T_{ij} = G_j$ and $T_{ji} = T_{ij}^{-1}$, with the other three: "
               r"walks for which $L$ has the eigenvalue $-1$, is not self-adjoint, has the "
               r"eigenvalue $-1/4$, is not self-adjoint.",
               (no_rows, no_balance, no_isometry, no_inverse)),
        Clause("self_loops", r"$T_{ii} = -I$ is allowed: then $L = 2$ on one node, the end of "
               r"$[0, 2]$.", (self_loops,)),
    ),
    mutants=(
        Mutant("free_degrees", Step(
            id="unit_rows", lhs=Sum(P[i, j], (j, 1, n)), rhs=Integer(1), because="claimed",
            by=(Definition(P[i, j], w[i, j], over=pi[i]), positive, signed(w, ">=0"))),
            "P = D^{-1} w is row-stochastic for any D > 0"),
        Mutant("energy_of_killed_walks", energy, "the energy identity without (a)", drop=(rows,)),
        Mutant("energy_for_any_law", energy, "for any weights pi", drop=(law,)),
        Mutant("energy_without_isometry", energy, "for any transports", drop=(isometry,)),
        Mutant("missing_half", replace(energy, lhs=inner(u, generator(u))),
               "without the factor 1/2"),
        Mutant("contraction_for_any_law", contraction, "|Wu| <= |u| for any pi", drop=(law,)),
        Mutant("kernel_off_edges", Step(
            id="kernel", lhs=u[i, a], rhs=Sum(T[i, j, a, b] * u[j, b], (b, 1, d)),
            by=(kernel_tokens, *WALK, *POSITIVE), because="claimed"),
            "u_i = T_ij u_j for all i and j"),
        Mutant("reversible_is_enough", adj.adjoint_back, "self-adjoint without (d)", drop=(pairs,)),
        Mutant("inverse_is_enough", adj.adjoint_back, "self-adjoint without (b)", drop=(balance,)),
        Mutant("signed_weights", adj.reversible, "self-adjoint gives (b) for P of any sign",
               drop=(nonnegative,)),
        Mutant("always_real", real, "real eigenvalues without self-adjointness", drop=(adjoint,)),
        Mutant("two_is_not_reached", replace(value_above, strict=True), "spec L in [0, 2)"),
        Mutant("disc_without_isometry", disc, "|z - 1| <= 1 for any transports", drop=(isometry,)),
        Mutant("trivial_self_loops", Step(
            id="self_loops", lhs=P[i, i] * T[i, i, a, b], rhs=P[i, i] * KroneckerDelta(a, b),
            by=(pairs, isometry), because="claimed"), "(d) says T_ii = I"),
    ),
    sources=(
        "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
        "A. Singer and H.-T. Wu, Vector diffusion maps and the connection Laplacian, CPAM 2012",
    ),
)
