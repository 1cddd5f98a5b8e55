"""CW8. When softmax attention is reversible."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, Rational, Sum

from theorems.assumptions.entries import exponential, signed, sums_to_one
from theorems.connection_walks.steps import causal_walks as causal
from theorems.assumptions import stationarity as on
from theorems.connection_walks.steps import token_logits as on_tokens
from theorems.connection_walks.steps.token_logits import cycle
from theorems.rules import Logarithm, Vanishing
from theorems.statement import (
    Bound, Clause, Definition, Iff, Mutant, Step, Theorem, Witness, array, symbols_of,
)

n, m, d = symbols_of("n m d")
i, j, k, l, o, a, b, e = symbols_of("i j k l o a b e")
half = Rational(1, 2)


def products(X: IndexedBase) -> tuple[Expr, Expr]:
    """Both ways around a triangle."""
    return X[i, j] * X[j, k] * X[k, i], X[i, k] * X[k, j] * X[j, i]


def minor(x: IndexedBase) -> Expr:
    """Minor (a, b) of the differences x_j - x_i and x_k - x_i, zero throughout iff collinear."""
    y, z = ([x[t, q] - x[i, q] for q in (a, b)] for t in (j, k))
    return y[0] * z[1] - y[1] * z[0]


P, pi, flow, ratio = array("P", n, n), array("pi", n), array("f", n, n), array("q", n, n)
E, S, Z, B = array("E", n, n), array("S", n, n), array("Z", n), array("B", n, n)
balance = on.detailed_balance(P, pi, flow)
positive_P, positive_pi, positive_E = signed(P, ">0"), signed(pi, ">0"), signed(E, ">0")
total = Definition(Z[i], Sum(E[i, j], (j, 1, n)))
softmax = Definition(P[i, j], E[i, j], over=Z[i])
antisymmetric = Definition(B[i, j], half * (S[i, j] - S[j, i]))
F = array("F", n, n)
edge_flow = Definition(F[i, j], pi[i] * P[i, j])
seen_from = Definition(ratio[o, i], P[o, i], over=P[i, o])

balanced_triangle = Step(
    id="balanced_triangle", lhs=products(F)[0], rhs=products(F)[1], by=(edge_flow, balance),
    because="Each factor pi_i P_ij is the flow of an edge, which is the same both ways.",
)
balanced_cycle = Step(
    id="balanced_cycle", lhs=F[i, j] * F[j, k] * F[k, l] * F[l, i],
    rhs=F[i, l] * F[l, k] * F[k, j] * F[j, i], by=(edge_flow, balance),
    because="The same around four tokens.",
)
cancel = Iff(
    id="cancel", left=products(F), right=products(P), factor=pi[i] * pi[j] * pi[k],
    by=(edge_flow, positive_pi), because="pi > 0 cancels.",
)
cancel_four = Iff(
    id="cancel_four", left=(balanced_cycle.lhs, balanced_cycle.rhs),
    right=(P[i, j] * P[j, k] * P[k, l] * P[l, i], P[i, l] * P[l, k] * P[k, j] * P[j, i]),
    factor=pi[i] * pi[j] * pi[k] * pi[l], by=(edge_flow, positive_pi),
    because="pi > 0 cancels here too.",
)
from_one_token = Iff(
    id="from_one_token", factor=P[i, o] * P[j, o],
    left=(P[o, i] * P[i, j] * P[j, o], P[o, j] * P[j, i] * P[i, o]),
    right=(ratio[o, i] * P[i, j], ratio[o, j] * P[j, i]), by=(seen_from, positive_P),
    because="Fix a token o: pi_i = P_oi / P_io is in detailed balance iff the triangles through "
    "o agree.",
)
positive_ratio = Bound(
    id="positive_ratio", small=Integer(0), large=P[i, o] * ratio[o, i], certificate=P[o, i],
    strict=True, by=(seen_from, positive_P), because="With full support this pi is positive.",
)
weights_to_softmax = Iff(
    id="weights_to_softmax", left=products(E), right=products(P), factor=Z[i] * Z[j] * Z[k],
    by=(softmax, total, positive_E), because="The row totals Z_i Z_j Z_k are common to both ways.",
)
logarithms = Logarithm(
    id="logarithms", left=products(E), logs=((E, S),), by=(exponential(E, S),),
    because="E = exp S, so products of E are sums of S.",
)
cycles_of_B = Iff(
    id="cycles_of_B", left=logarithms.right, right=(cycle(B), Integer(0)), factor=Integer(2),
    by=(antisymmetric,), because="The two sums of S differ by twice the cycle sum of B.",
)

u, p, Bp = array("u", n), array("p", n), array("B^p", n, n)
mean = Definition(u[i], Sum(B[i, j], (j, 1, n)), over=n)
gradient = Definition(Bp[i, j], p[i] - p[j])
potential = Step(
    id="potential", lhs=n * B[i, j], rhs=n * u[i] - n * u[j] + Sum(cycle(B), (k, 1, n)),
    by=(mean, antisymmetric),
    because="Sum the cycle sums over k: where they vanish, B_ij = u_i - u_j.",
)
gradient_closes = Step(
    id="gradient_closes", lhs=cycle(Bp), rhs=Integer(0), by=(gradient,),
    because="Conversely differences of a potential sum to 0 around a triangle.",
)
gradient_mean = Step(
    id="gradient_mean", lhs=Sum(Bp[i, j], (j, 1, n)), rhs=n * p[i] - Sum(p[j], (j, 1, n)),
    by=(gradient,), because="Every potential is the row mean of B up to a constant.",
)

Q, t, h, D = array("Q", n), array("t", n), array("h", n), array("D", n, n)
law = Definition(pi[i], Z[i] * Q[i])
law_balances = Iff(
    id="law_balances", left=(pi[i] * P[i, j], pi[j] * P[j, i]),
    right=(E[i, j] * Q[i], E[j, i] * Q[j]), by=(softmax, law, total, positive_E),
    because="Z_i cancels between pi_i = Z_i Q_i and P_ij = E_ij / Z_i.",
)
law_logarithm = Logarithm(
    id="law_logarithm", left=law_balances.right, logs=((E, S), (Q, t)),
    by=(exponential(E, S), exponential(Q, t)), because="E = exp S and Q = exp t with t = -2u.",
)
law_potential = Iff(
    id="law_potential", left=law_logarithm.right, right=(B[i, j], u[i] - u[j]), factor=Integer(2),
    by=(antisymmetric, Definition(t[i], -2 * u[i])),
    because="S_ij - 2 u_i = S_ji - 2 u_j says that B_ij = u_i - u_j.",
)
only_law = Vanishing(
    id="only_law", total=Sum(pi[i] * P[i, j] * (h[i] - h[j]) ** 2, (i, 1, n), (j, 1, n)),
    part=D[i, j], weight=pi[i] * P[i, j], over=((i, n), (j, n)), strict=True,
    by=(Definition(D[i, j], h[i] - h[j]), positive_P, positive_pi),
    because="The energy is a sum of squares with positive weights, so it vanishes only for "
    "constant h.",
)
no_energy = Step(
    id="no_energy", lhs=only_law.total, rhs=Integer(0),
    by=(on.two_laws(P, pi, h),),
    because="If pi and h pi are stationary, the three terms of the square give 1 - 2 + 1 = 0.",
)

Er, Pr, Sr, Br = (array(name, n, n) for name in ("E'", "P'", "S'", "B'"))
Zr, g, x_r, col = (array(name, n) for name in ("Z'", "g", "r", "c"))
out, back = array("P_1", n, m), array("P_2", m, n)
row_factor = Definition(Er[i, j], g[i] * E[i, j])
row_total = Definition(Zr[i], Sum(Er[i, j], (j, 1, n)))
row_softmax = Definition(Pr[i, j], Er[i, j], over=Zr[i])
row_logarithm = Logarithm(
    id="row_logarithm", left=(Er[i, j], g[i] * E[i, j]), logs=((E, S), (Er, Sr), (g, x_r)),
    by=(exponential(E, S), exponential(Er, Sr), exponential(g, x_r)),
    because="A row term r_i of the logits is a factor g_i = exp r_i of row i.",
)
row_terms = Step(
    id="row_terms", lhs=Z[i] * Er[i, j], rhs=Zr[i] * E[i, j],
    by=(row_factor, row_total, total), because="The factor of a row is a factor of its total.",
)
same_softmax = Iff(
    id="same_softmax", left=(row_terms.lhs, row_terms.rhs), right=(Pr[i, j], P[i, j]),
    factor=Z[i] * Zr[i], by=(row_softmax, softmax, row_total, total, positive_E, signed(Er, ">0")),
    because="So it cancels in the softmax.",
)
with_terms = Definition(Sr[i, j], S[i, j] + x_r[i] + col[j])
tilted = Definition(Br[i, j], half * (Sr[i, j] - Sr[j, i]))
column_terms = Step(
    id="column_terms", lhs=Sum(Br[i, j], (j, 1, n)), by=(tilted, with_terms, antisymmetric),
    rhs=Sum(B[i, j], (j, 1, n)) + half * n * (x_r[i] - col[i])
    - half * Sum(x_r[j] - col[j], (j, 1, n)),
    because="Terms r_i + c_j add (r_i - c_i)/2 to the row mean of B, and a constant.",
)
same_cycles = Step(
    id="same_cycles", lhs=cycle(Br), rhs=cycle(B), by=(tilted, with_terms, antisymmetric),
    because="Around a triangle these differences of a potential cancel.",
)

C4 = array("P_4", Integer(4), Integer(4))
cycle_of_four = Witness(
    id="cycle_of_four", values={C4: [[fmpq(2 * (col == (row + 1) % 4) + (row == (col + 1) % 4), 3)
                                      for col in range(4)] for row in range(4)]},
    holds=(products(C4), (Sum(C4[i, j], (j, 1, 4)), Integer(1))),
    fails=((C4[i, j] * C4[j, k] * C4[k, l] * C4[l, i], C4[i, l] * C4[l, k] * C4[k, j] * C4[j, i]),),
    because="A walk on four tokens in a circle, 2/3 one way and 1/3 back, has no triangle and a "
    "cycle with products 16/81 and 1/81.",
)

THEOREM = Theorem(
    id="CW8",
    title="When softmax attention is reversible",
    clauses=(
        Clause("kolmogorov", r"For $P > 0$: $\pi_i P_{ij} = \pi_j P_{ji}$ with some $\pi > 0$ iff "
               r"$P_{ij} P_{jk} P_{ki} = P_{ik} P_{kj} P_{ji}$ on all triangles, and then "
               r"$\pi_i = P_{oi} / P_{io}$ serves for every token $o$. For "
               r"$P = \mathrm{softmax}(S)$ with $E = \exp S$: iff "
               r"$B_{ij} + B_{jk} + B_{ki} = 0$ on all triangles, $B = (S - S^\top)/2$.",
               (balanced_triangle, cancel, from_one_token, positive_ratio, weights_to_softmax,
                logarithms, cycles_of_B)),
        Clause("potential", r"With $u_i = \frac{1}{n} \sum_j B_{ij}$: $n B_{ij} = n (u_i - u_j) + "
               r"\sum_k (B_{ij} + B_{jk} + B_{ki})$, so the cycle sums vanish iff "
               r"$B_{ij} = u_i - u_j$; every $p$ with $B_{ij} = p_i - p_j$ is $u$ up to a "
               r"constant.",
               (potential, gradient_closes, gradient_mean)),
        Clause("law", r"For $E = \exp S$, $Z_i = \sum_j E_{ij}$ and $\pi_i = Z_i \exp(-2 u_i)$: "
               r"$P = \mathrm{softmax}(S)$ is in detailed balance with $\pi$ iff "
               r"$B_{ij} = u_i - u_j$.", (law_balances, law_logarithm, law_potential)),
        Clause("only_law", r"If $\pi > 0$ and $h_i \pi_i$ are stationary for a row-stochastic "
               r"$P > 0$, then $h$ is constant: there is no other law.", (no_energy, only_law)),
        Clause("row_and_column", r"With $E = \exp S$: a row term $r_i = \log g_i$ leaves "
               r"$P = \mathrm{softmax}(S)$ unchanged; terms $r_i + c_j$ change $u_i = "
               r"\frac{1}{n} \sum_j B_{ij}$ by $(r_i - c_i)/2$ up to a constant, and no cycle sum: "
               r"column terms change $u$ by $-c/2$ up to a constant.",
               (row_logarithm, row_terms, same_softmax, column_terms, same_cycles)),
        Clause("tokens", r"For $S_{ij} = x_i^\top M x_j + r_i + c_j$ and $K = (M - M^\top)/2$: "
               r"$B_{ij} + B_{jk} + B_{ki} = K(x_j - x_i, x_k - x_i)$; it vanishes on all "
               r"triangles iff $K$ vanishes on the span of the $x_j - x_o$; $\sum_j B_{ij} = "
               r"\sum_j (x_i^\top K x_j + (r_i - c_i)/2 - (r_j - c_j)/2)$.",
               (on_tokens.token_cycle, on_tokens.one_base, on_tokens.spanned,
                on_tokens.token_potential)),
        Clause("lines", r"Collinear tokens have cycle sums $0$ for every $M$, two tokens for every "
               r"$S$.", (on_tokens.line, on_tokens.two_tokens)),
        Clause("all_tokens", r"The tokens $0, e_k, e_l$ have cycle sum $K(e_k, e_l) = "
               r"K_{kl}$: for $n \ge 3$ and $d \ge 2$, all configurations have cycle sums $0$ iff "
               r"$M = M^\top$.",
               (on_tokens.probe, on_tokens.no_skew_part)),
        Clause("dimension", r"Let $N L + C L' = I$ with $L N = I_v$, $L' C = I_w$, $1 \le v < d$, "
               r"so $d = v + w$. If $N^\top K N = 0$ on the span of the $v$ columns of $N$, then "
               r"$K = (C L')^\top K + (N L)^\top K C L'$ has rank at most $2 w = 2 (d - v)$, rank "
               r"being the least inner width: an affine hull of dimension $v > d - "
               r"\mathrm{rank}(K)/2$ is never totally isotropic.",
               (on_tokens.whole, on_tokens.widths, on_tokens.isotropic_part, on_tokens.split)),
        Clause("masks", r"Detailed balance with $\pi > 0$ makes the products around four tokens "
               r"agree; without full support they may differ though all triangles agree.",
               (balanced_cycle, cancel_four, cycle_of_four)),
        Clause("closed_sets", r"For a stationary $\pi \ge 0$ of a row-stochastic $P \ge 0$ and a "
               r"closed set: $\pi_i P_{ij} = 0$ for every edge into it from outside. If $\{1, "
               r"\dots, j\}$ is closed, as in a causal walk, an edge $i \to j$ with $i > j$ "
               r"excludes $\pi > 0$.",
               (causal.inside, causal.outside, causal.no_entry, causal.no_edge)),
        Clause("absorbing_laws", r"For a stationary $\pi \ge 0$ of a causal row-stochastic $P \ge "
               r"0$: $\pi_k (1 - P_{kk}) = 0$ for every $k$; and $P_{kk} = 1$, as for $k = 1$, iff "
               r"row $k$ is $e_k^\top$ iff $\delta_k$ is stationary. So $\delta_1$ is the only "
               r"stationary law iff $P_{ii} < 1$ for all $i \ge 2$; at an absorbing state detailed "
               r"balance holds vacuously.",
               (causal.no_descent, causal.may_leave, causal.from_k, causal.at_rest, causal.stays,
                causal.own_law, causal.vacuous, causal.mass_at_one)),
    ),
    mutants=(
        Mutant("only_symmetric_logits", replace(cycles_of_B, right=(S[i, j], S[j, i])),
               "reversible iff S = S^T"),
        Mutant("without_factor_two", replace(
            on_tokens.token_cycle, lhs=cycle(S) - S[i, k] - S[k, j] - S[j, i],
            by=(on_tokens.logits, on_tokens.skew)),
            "the cycle sum of S, not of B, is K(x_j - x_i, x_k - x_i)"),
        Mutant("linear_span", Iff(
            id="token_cycle", left=(cycle(B), Integer(0)), by=on_tokens.token_cycle.by,
            right=(on_tokens.form(on_tokens.x[j, a], on_tokens.x[k, b]), Integer(0)),
            because="claimed"), "K must vanish on the linear span of the tokens"),
        Mutant("only_lines", Iff(
            id="line", left=(cycle(B), Integer(0)), because="claimed",
            right=(minor(on_tokens.x), Integer(0)), by=on_tokens.token_cycle.by),
            "reversible iff the tokens are collinear"),
        Mutant("law_is_row_total", law_balances, "pi_i = Z_i",
               redefine=(Definition(pi[i], Z[i]),)),
        Mutant("triangles_suffice", Step(
            id="balanced_cycle", because="claimed",
            lhs=out[i, a] * back[a, j] * out[j, b] * back[b, i],
            rhs=out[i, b] * back[b, j] * out[j, a] * back[a, i],
            by=(signed(out, ">=0"), signed(back, ">=0"), sums_to_one(out), sums_to_one(back))),
            "a walk without triangles, between two sets of tokens, is reversible"),
        Mutant("nonnegative_law", cancel, "pi >= 0 suffices",
               drop=(positive_pi,), add=(causal.nonnegative_pi,)),
        Mutant("two_symmetric_tokens", Iff(
            id="two_tokens", left=(cycle(B, i, j, j), Integer(0)), because="claimed",
            right=(on_tokens.M[a, b], on_tokens.M[b, a]), by=on_tokens.token_cycle.by),
            "n = 2: M must be symmetric"),
        Mutant("potential_without_mean", potential, "u_i = sum_j B_ij",
               redefine=(Definition(u[i], Sum(B[i, j], (j, 1, n))),)),
        Mutant("column_terms_invisible", row_terms, "a column term leaves P unchanged",
               redefine=(Definition(Er[i, j], E[i, j] * g[j]),)),
        Mutant("rank_at_most_w", replace(
            on_tokens.split, right=(on_tokens.K[a, b], on_tokens.into_C)),
            "K = (C L')^T K, of rank at most d - v"),
        Mutant("zeros_allowed", from_one_token, "P_oi / P_io without full support",
               drop=(positive_P,), add=(causal.nonnegative_P,)),
        Mutant("transient_states_too", replace(causal.no_edge, weight=causal.z[i] * causal.s[j]),
               "pi >= 0 with an edge into a closed set does not exist"),
    ),
    sources=(
        "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
        "F. P. Kelly, Reversibility and stochastic networks, Wiley 1979, section 1.5",
    ),
)
