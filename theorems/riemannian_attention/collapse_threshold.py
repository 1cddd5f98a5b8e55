"""RA12. The logarithmic law of rank collapse."""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer

from theorems.assumptions.levels import number
from theorems.riemannian_attention.steps import depth_products as of_depth
from theorems.riemannian_attention.steps import score_growth as scores
from theorems.riemannian_attention.steps import shared_weights as rows
from theorems.riemannian_attention.steps import token_clusters as on
from theorems.riemannian_attention.steps.contractions import infinite_product, iterated
from theorems.statement import Clause, Definition, Mutant, Theorem

layers = iterated(below=False)
product = replace(infinite_product, by=(rows.contracts, layers.every, layers.rest, on.at_most))
first_depth, l = of_depth.depth["1"], of_depth.l

THEOREM = Theorem(
    id="RA12",
    title="The logarithmic law of rank collapse",
    clauses=(
        Clause("two_clusters", r"Let $p$ of $n = p + q$ tokens be $x$, $g_i = 1$, and $q$ be $y$, "
               r"$p, q > 0$; let $W = I$ and scores be 0 inside a cluster and $-B$ across, $E = "
               r"e^B > 0$: $A_{ij}$ is $E$ or 1 over $Z_1 = p E + q$ if $g_i = 1$, over $Z_2 = q "
               r"E + p$ if not. Rows sum to 1, and at every depth tokens are $c_l + h_l g_i v$, $v "
               r"= x - y$, with $h_1 = 1$ and $h_{l+1} = \tau h_l$, $\tau = 1 - q / Z_1 - p / Z_2$ "
               r"of the layer.",
               (on.total, on.share_1, on.share_2, on.row_sum, on.kept, on.first_clusters,
                on.next_clusters, on.clusters)),
        Clause("factor", r"For $p, q, E > 0$: $\tau Z_1 Z_2 = p q (E^2 - 1)$ and $(1 - \tau) Z_1 "
               r"Z_2 = (p^2 + q^2) E + 2 p q$. So $1 - \tau \le (p / q + q / p) / E$, and $1 - "
               r"\tau \ge 1 / E$ if $E \ge 1$. If $p = q$ then $\tau = (E - 1) / (E + 1) = \tanh(B "
               r"/ 2)$.",
               (on.lost, on.left, on.at_least, on.at_most, on.balanced, on.tanh)),
        Clause("contraction", r"Let $A_{ij} = e_{ij} / Z_i$ be softmax weights, $e > 0$, without a "
               r"mask, with $e_{ik} \le E e_{ij}$ in each row, as scores of spread at most $B$ "
               r"have, $E = e^B \ge 1$. Then $A_{ij} \ge 1 / (n E)$. If $\lVert W \rVert \le 1$ "
               r"and $|x_j - x_l| \le D$ for all tokens, $|x'_i - x'_k| \le (1 - 1 / E) D$: "
               r"$\mathrm{osc}' \le (1 - 1 / E) \, \mathrm{osc}$, which is 0 if $B = 0$.",
               (rows.at_least_one, rows.lower, rows.beyond_sum, rows.common_drops_out,
                rows.contracts)),
        Clause("all_layers", r"If $o_{l+1} = f o_l - \epsilon$, $f, \epsilon \ge 0$ of the layer, "
               r"then $o_l = \Pi_l o - R_l$, where $o_1 = o$, $\Pi_l$ is the product of the "
               r"factors $f$, and $R_1 = 0$, $R_{l+1} \ge 0$ if $R_l \ge 0$: bounds of layers "
               r"multiply.",
               layers.steps),
        Clause("causal", r"Under a causal mask let token $i$ give the first token the weight $c_i "
               r"= e_{io} / Z_i$, $e_{io} > 0$, and the $n$ other tokens $A_{ij} = e_{ij} / Z_i$, "
               r"$e \ge 0$, with $e_{ij} \le E e_{io}$, $E \ge 1$. Then $(n + 1) E c_i \ge 1$. If "
               r"$\lVert W \rVert \le 1$ and $|x_j - x_1| \le D$ for all tokens, $|x'_i - x'_1| "
               r"\le (1 - c_i) D$, at most $(1 - 1 / ((n + 1) E)) D$, and $|x_j - x_l| \le 2 D$. A "
               r"second token with scores 0 for itself and $-B$ for the first has $x'_2 - x_1 = (1 "
               r"- 1 / (E + 1)) (x_2 - x_1)$ for $W = I$, and $1 / (E + 1) < 1 / E$.",
               (rows.first_share, rows.first_gets, rows.of_first, rows.nonnegative_A, rows.causal,
                rows.from_first, rows.own_share, rows.second, rows.comparable)),
        Clause("criterion", r"Let $B_l \ge 0$. For each $n \ge 2$: every unmasked stack of $n$ "
               r"tokens with $\lVert W_l \rVert \le 1$ and row spreads at most $B_l$ has "
               r"$\mathrm{osc} \to 0$ iff $\sum e^{-B_l} = \infty$ or some $B_l = 0$. For $a_l = "
               r"e^{-B_l} < 1$ contraction keeps at most the product of $1 - a_l$, and a layer "
               r"with $B_l = 0$ nothing; two clusters $x \ne y$ keep that for $a_l = 1 - \tau_l "
               r"\le (p / q + q / p) e^{-B_l}$, where $\tau_l > 0$ if $B_l > 0$. Every causal one "
               r"has iff $\sum e^{-B_l} = \infty$: causal, with $a_l = e^{-B_l} / n$ and, for a "
               r"second token $x_2 \ne x_1$, $a_l = 1 / (e^{B_l} + 1)$.", (on.some_left, product)),
        Clause("products", r"$B_l = c \log l$ iff $e^{B_l} = l^c$, for $c = 1, 2, 3$. Products "
               r"over $l = 2, \ldots, L$ have products $u, v, w$ of positive numbers in common: "
               r"$\prod (l - 1) = 2 u$ and $\prod (l + 1) = L (L + 1) u$, so two tokens keep $2 / "
               r"(L (L + 1))$ for $c = 1$. $\prod (l^3 - 1) = 2 (L^2 + L + 1) w$ and $\prod (l^3 + "
               r"1) = 3 L (L + 1) w$: for $c = 3$ they keep $2 (L^2 + L + 1) / (3 L (L + 1))$, "
               r"which is $\frac23 + \frac23 / (L (L + 1))$. $\prod (l^2 - 1) = (L + 1) v$ and "
               r"$\prod l^2 = 2 L v$, and each factor for $c = 2$ lies between $(1 - 1 / l^2)^2$ "
               r"and $1 - 1 / l^2$: they keep between $((L + 1) / (2 L))^2$ and $(L + 1) / (2 L)$.",
               (*of_depth.power, *of_depth.less_1.steps, *of_depth.more_1.steps,
                *of_depth.less_2.steps, *of_depth.square_2.steps, *of_depth.less_3.steps,
                *of_depth.more_3.steps, of_depth.square_below, of_depth.above,
                of_depth.two_thirds)),
        Clause("growth", r"Scores $-\frac12 (\alpha |F_i (x_i - x_j)|^2 + \beta |F_j (x_i - "
               r"x_j)|^2)$ of metrics $G_i = F_i^\top F_i$, $\alpha, \beta \ge 0$, $\alpha + \beta "
               r"= 1$ (query-side, symmetrised), with $\lVert F_i \rVert \le \gamma$, so $g = "
               r"\gamma^2$, and $|x_i - x_j| \le D$ have row spread at most $\frac12 g D^2$. If "
               r"$b_l \ge b_*$ for $n$ indices, $\sum b_l \ge n b_*$. $\zeta l = e^B$ iff $\log "
               r"\zeta = B - \log l$. So if $\mathrm{osc}$ does not tend "
               r"to 0 in a stack without a mask, $\lVert W_l \rVert \le 1$, and $g_l$ is "
               r"nondecreasing, $b_l = \exp(-\frac12 g_l \, "
               r"\mathrm{osc}_0^2)$ has a finite sum, so $l b_l \to 0$ as at most twice the sum "
               r"over $[l / 2, l]$, that is $g_l - (2 / \mathrm{osc}_0^2) \log l \to \infty$. This "
               r"is not enough: for $B_l = \log l + \log \log l$ the sum of $e^{-B_l}$ over $2^k "
               r"\le l < 2^{k+1}$, $k \ge 1$, is at least $1 / (2 (k + 1) \log 2)$, and that of $1 "
               r"/ l$ at least $1 / 2$, so $\sum e^{-B_l} = \infty$, although $B_l - \log l \to "
               r"\infty$.",
               (scores.spread, of_depth.block_below, scores.excess)),
        Clause("homogeneous", r"One metric $\lambda I$ with $\lambda |h v|^2 = 2 B$, $h v \ne 0$, "
               r"gives tokens $c + h g_i v$ with $g_i^2 = g_i$ scores 0 inside and $-B$ across. If "
               r"$b_l \le b^*$ for $n$ indices, $\sum b_l \le n b^*$, and $(1 - \rho) (1 + \cdots "
               r"+ \rho^{l-1}) = 1 - \rho^l$: for $2^k \le l < 2^{k+1}$ the sum of $l^{-c}$ is at "
               r"most $2^{(1-c) k}$, so $B_l = c \log(l + 1)$, $c > 1$, with $\lambda_l = 2 B_l / "
               r"\mathrm{osc}_l^2$ and $W = I$ prevents collapse without any heterogeneity.",
               (scores.width, scores.realised, of_depth.block_above, of_depth.first_geometric,
                of_depth.next_geometric, of_depth.geometric)),
        Clause("relative", r"If the columns of $A$ sum to 1, $\sum_i x'_i = \sum_j x_j$ for $W = "
               r"I$. Two tokens $v, -v \ne 0$ with scores 0 and $-B$, $B > 0$, become $\pm (1 - 2 "
               r"/ (E + 1)) v$: their mean stays 0, so the relative residual $|X - \mathbf{1} "
               r"m| / |X|$, $m$ the mean, stays at 1 while $\mathrm{osc}$ may tend to 0.",
               (scores.mean_kept, scores.opposite)),
    ),
    mutants=(
        Mutant("tanh_for_any_clusters", replace(on.balanced, by=(on.contraction, *on.known)),
               r"$\tau = \tanh(B / 2)$ whatever $p$ and $q$"),
        Mutant("no_exchange", replace(on.lost, rhs=(on.p**2 + on.q**2) * on.E),
               r"$1 - \tau$ without $2 p q$"),
        Mutant("sum_of_squares", replace(
            on.at_most, small=on.p * on.q * on.numerator * on.E**2),
            r"$1 - \tau$ of order $e^{-2 B}$: the criterion $\sum e^{-2 B_l}$"),
        Mutant("own_weight_only", replace(on.kept, rhs=on.tau * on.g[on.i]),
               "the second cluster gets nothing"),
        Mutant("no_number_of_tokens", replace(rows.lower, small=rows.inverse),
               r"$A_{ij} \ge 1 / E$"),
        Mutant("any_spread", rows.lower, "no bound on the row spread", drop=(rows.weights_within,),
               add=(on.positive_E,)),
        Mutant("long_W", rows.contracts, r"$W$ of any norm", drop=(rows.short,)),
        Mutant("half_the_factor", replace(
            rows.contracts, large=((1 - 2 * rows.inverse) * rows.D) ** 2),
            r"$\mathrm{osc}' \le (1 - 2 / E) \, \mathrm{osc}$"),
        Mutant("causal_without_n", replace(rows.first_gets, large=rows.E * rows.c_o[rows.i]),
               "the first token gets $1 / E$ of every row"),
        Mutant("second_token_looks_back", replace(
            rows.second, lhs=rows.share * (rows.E * rows.o[rows.a] + rows.y[rows.a])
            - rows.o[rows.a]), "weight $E$ for the first token and 1 for itself"),
        Mutant("one_index_off", replace(
            of_depth.more_1.first, rhs=first_depth * (first_depth - 1) * number("u", "1")),
            "$2 / (L (L - 1))$ for $c = 1$"),
        Mutant("start_at_one", of_depth.less_1.first, "the product starts at $l = 1$",
               redefine=(Definition(first_depth, Integer(1)),)),
        Mutant("two_collapses", replace(
            of_depth.square_below, small=(l**2 - 1) * (l + 1), large=(l - 1) * (l**2 + 1)),
            "for $c = 2$ no factor exceeds that for $c = 1$"),
        Mutant("three_falls_below", replace(
            of_depth.two_thirds, small=l**2 + l + 1, large=l * (l + 1)),
            "for $c = 3$ at most 2/3"),
        Mutant("quarter", replace(scores.spread, large=scores.spread.large / 2),
               r"spread at most $\frac14 g D^2$"),
        Mutant("any_order", of_depth.block_below, "$g_l$ need not be nondecreasing",
               drop=(of_depth.not_less,), add=(of_depth.positive_terms,)),
        Mutant("half_the_metric", scores.realised, r"$\lambda |h v|^2 = B$",
               redefine=(Definition(scores.lam, scores.B, over=scores.o),)),
        Mutant("rows_are_enough", scores.mean_kept, "rows, not columns, sum to 1",
               drop=(scores.columns,), add=(scores.rows,)),
    ),
    sources=(
        "Riemannian Attention Mechanisms for Transformers: A Theoretical Framework and "
        "Architecture Design",
        "Z. Alman, Z. Song, Only large weights (and not skip connections) can prevent the perils "
        "of rank collapse, arXiv 2505.16284",
    ),
)
