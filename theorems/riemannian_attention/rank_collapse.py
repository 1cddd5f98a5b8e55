"""RA11. Rank collapse: pure attention contracts the diameter of its tokens, whatever the score."""

from __future__ import annotations

from dataclasses import replace

from sympy import Rational, Symbol

from theorems.checker.exact import Draw
from theorems.riemannian_attention.steps import extremal_rows as rows
from theorems.riemannian_attention.steps import layer_oscillation as layers
from theorems.riemannian_attention.steps import majorants as rates
from theorems.riemannian_attention.steps import score_spreads as spreads
from theorems.riemannian_attention.steps import tanh_series as series
from theorems.riemannian_attention.steps import total_variation as tv
from theorems.statement import Clause, Definition, Local, Mutant, Theorem, array

h, i, j = layers.h, spreads.i, spreads.j
largest, other = Symbol("kappa", real=True), array("o'", layers.H)
is_largest = Definition(other[h], largest - layers.omega[h] * layers.tau[h])


def _largest(draw: Draw) -> None:
    sizes = [draw.get(layers.omega.name, cell) * draw.get(layers.tau.name, cell)
             for cell in draw.cells(layers.tau)]
    draw.put(array(largest.name), (), max(sizes))


tower = rates.tower

THEOREM = Theorem(
    id="RA11",
    title="Rank collapse: pure attention contracts the diameter of its tokens, whatever the score",
    clauses=(
        Clause("dobrushin", r"Rows $p$, $q$ of sum 1 and $I_j \in \{0, 1\}$ with $I_j (p_j - q_j) "
               r"\ge 0 \ge (1 - I_j)(p_j - q_j)$: $T = \sum_j I_j (p_j - q_j)$ is $\frac12 \sum_j "
               r"|p_j - q_j|$, the total variation, and $|\sum_j (p_j - q_j) x_j| \le T |D|$ for "
               r"tokens $|x_j - x_l| \le |D|$, whatever the signs of the weights: "
               r"$\mathrm{osc}(A X) \le \tau(A) \, \mathrm{osc}(X)$ with $\tau(A)$ the largest $T$ "
               r"of two rows. For $p, q \ge 0$: $T \le 1$.",
               (tv.absolute, tv.half_distance, tv.dobrushin, tv.at_most_one)),
        Clause("tanh", r"Rows $p$, $q$ of sum 1 with $p_j q_l \le e^\Delta q_j p_l$ for all keys: "
               r"$\sum_j I_j (p_j - q_j) \le \theta$ for every indicator $I$, so $T \le \theta$, "
               r"with $\theta (t + 1) = t - 1$, $t = e^{\Delta/2}$: $\theta = \tanh "
               r"\frac{\Delta}{4} \ge 0$. For $p = \mathrm{softmax}(s)$, $q = "
               r"\mathrm{softmax}(s')$ and $R = e^\sigma$: $p_j q_l R_{jl} = e^\Delta q_j p_l$ iff "
               r"$s_j + s'_l + \sigma_{jl} = \Delta + s'_j + s_l$. As exp increases, the condition "
               r"is that the spread of $s - s'$ is at most $\Delta$.",
               (tv.nonnegative_theta, tv.tanh_quotient, tv.tanh_bound, tv.softmax_odds,
                tv.score_odds)),
        Clause("sharp", r"With $t = 1 + s^2$, and $\alpha, \beta \ge 0$ of sum 1 on two groups of "
               r"keys, $p = (t \alpha, \beta)/(t + 1)$ and $q = (\alpha, t \beta)/(t + 1)$ sum to "
               r"1. For $j$ in the first group and $l$ in the other $p_j q_l = t^2 q_j p_l$ and "
               r"$p_l q_j \le t^2 q_l p_j$; inside a group $p_j q_l = q_j p_l$. Half of $\sum_j "
               r"|p_j - q_j|$ is $(t - 1)/(t + 1)$: the bound is attained for every number of keys "
               r"$m \ge 2$.",
               (rows.row_p, rows.row_q, rows.attained, rows.larger_first, rows.larger_second,
                rows.across, rows.other_way, rows.inside_first, rows.inside_second)),
        Clause("row_spreads", r"If $s_{ij} - s_{il} \le B$ for all $i$, $j$, $l$, then $s_{ij} - "
               r"s_{kj} - s_{il} + s_{kl} \le 2 B$: $\Delta \le 2 B$ for $\Delta$ the largest "
               r"spread of $s_i - s_k$.", (spreads.from_rows,)),
        Clause("dot_products", r"$s_{ij} = \kappa x_i^\top M x_j + r_i + c_j$, $\kappa, \mu \ge "
               r"0$, $\lVert M \rVert \le \mu$, tokens $|x_i - x_j| \le |D|$: $s_{ij} - s_{kj} - "
               r"s_{il} + s_{kl} \le \kappa \mu D^2$, so $\Delta \le \lVert M \rVert "
               r"\mathrm{osc}^2 / \sqrt{d_k}$ at $\kappa = 1/\sqrt{d_k}$.",
               (spreads.dot_products,)),
        Clause("geodesic", r"$q_{ij} = (x_i - x_j)^\top G_i (x_i - x_j)$ with any metrics $G_i = "
               r"F_i^\top F_i$, $\lVert F_i \rVert^2 \le g = \rho^2$, tokens $|x_i - x_j| \le "
               r"|D|$: $q_{ij} \le g |x_i - x_j|^2$, and $s_{ij} - s_{kj} - s_{il} + s_{kl} \le g "
               r"D^2$ for the query-side score $s_{ij} = -\frac12 q_{ij}$ and for the symmetrised "
               r"$-\frac14 (q_{ij} + q_{ji})$, the average of both sides: $\Delta \le g \, "
               r"\mathrm{osc}^2$.",
               (spreads.metric_distance, spreads.query_side, spreads.symmetrised)),
        Clause("unsquared", r"$s_{ij} = -\delta_{ij}$ with distances $\delta_{ij} \ge 0$, "
               r"$\delta_{ij}^2 \le g |x_i - x_j|^2$, $g = \rho^2$, $\rho, D \ge 0$ and tokens "
               r"$|x_i - x_j| \le D$: $\delta_{ij} \le \rho D$ and $s_{ij} - s_{kj} - s_{il} + "
               r"s_{kl} \le 2 \rho D$, so $\Delta \le 2 \sqrt{g} \, \mathrm{osc}$.",
               (spreads.at_most, spreads.unsquared)),
        Clause("layer", r"Two tokens $x' = \beta + \sum_{h,j} p^h_j W^h x_j$ and $x'' = \beta + "
               r"\sum_{h,j} q^h_j W^h x_j$, rows of sum 1, $T_h \le \tau_h$ for their total "
               r"variations as above ($U_j = I_j (p_j - q_j)$ and $V_j = (I_j - 1) (p_j - q_j)$ "
               r"have $U_j V_j = 0$), $\lVert W^h \rVert \le \omega_h$, $\omega_h \ge 0$, tokens "
               r"$|x_j - x_l| \le |D|$: $|x' - x''| \le \sum_h \omega_h \tau_h |D|$. If $p^h_j "
               r"q^h_l \le e^{\Delta_h} q^h_j p^h_l$ for all keys, as for softmax of scores whose "
               r"difference has spread at most $\Delta_h$, then $|x' - x''| \le \sum_h \omega_h "
               r"\theta_h |D|$ with $\theta_h = \tanh \frac14 \Delta_h$: over all pairs of rows, "
               r"$\mathrm{osc}(X') \le \sum_h \lVert W^h \rVert \tanh \frac{\Delta_h}{4} \, "
               r"\mathrm{osc}(X)$.",
               (tv.disjoint, layers.nonnegative_tau, layers.one_head, layers.layer,
                layers.softmax_layer)),
        Clause("ball", r"If $|x_j| \le |\rho|$ for all tokens, $p^h \ge 0$ are rows of sum 1, "
               r"$\lVert W^h \rVert \le \omega_h$, $\omega_h \ge 0$ and $\sum_h \omega_h \le 1$, "
               r"then $|\sum_{h,j} p^h_j W^h x_j| \le |\rho|$: without bias the tokens of all "
               r"layers lie in the first ball, so metric fields bounded on it have one $g$.",
               (layers.average, layers.ball)),
        Clause("tanh_series", r"For $u \ge 0$ and every $L \ge 1$ the partial sum $e_L = \sum_{k "
               r"\le L} (2 u)^k / k!$ satisfies $(1 - u) e_L \le 1 + u$: with $n = L!$, $p = (2 "
               r"u)^L \ge 0$ and $f = n e_L$, which start as $1$, $2 u$, $1 + 2 u$ and go on as "
               r"$(L + 1) n$, $2 u p$, $(L + 1) f + 2 u p$, there is a real $Q$ with $(1 - u) f + "
               r"u p + Q^2 = (1 + u) n$. Its limit, $(1 - u) e^{2u} \le 1 + u$, is $\tanh u \le "
               r"u$.",
               series.steps),
        Clause("cubic", r"If $\omega_h, \tau_h, g_h \ge 0$, $\tau_h \le \frac14 \Delta_h$ (as "
               r"$\tanh u \le u$) and $\Delta_h \le g_h D^2$, then $\kappa = \sum_h \omega_h "
               r"\tau_h$ is at most $c D^2$, $c = \frac14 \sum_h \omega_h g_h$, and if $z' \le "
               r"\kappa^2 D^2$ then $c z' \le (c D^2)^3$. By the clause on layers it is so for $z' "
               r"= \mathrm{osc}'^2$ and $D = \mathrm{osc}$: $\mathrm{osc}' \le c \, "
               r"\mathrm{osc}^3$ for dot products and squared distances.",
               (rates.factor, rates.cubic)),
        Clause("quadratic", r"If $\omega_h, \tau_h, \rho_h \ge 0$, $\tau_h \le \frac14 \Delta_h$ "
               r"and $\Delta_h \le 2 \rho_h D$, then $\kappa \le c_1 D$, $c_1 = \frac12 \sum_h "
               r"\omega_h \rho_h$, and if $D' \le \kappa D$ then $c_1 D' \le (c_1 D)^2$: "
               r"$\mathrm{osc}' \le c_1 \, \mathrm{osc}^2$ for unsquared distances.",
               (rates.factor_1, rates.quadratic)),
        Clause("depth", r"If $z_{l+1} \le z_l^3$ at every layer, as for $z = c \, \mathrm{osc}^2$ "
               r"by the clause on cubes with one $c$ for all layers, then $z_L \le w_L$ with $w_1 "
               r"= z_1$ and $w_{l+1} = w_l^3$, that is $w_L = z_1^{3^{L-1}}$: doubly exponential "
               r"decay from $c \, \mathrm{osc}^2 < 1$. By induction on a real root $q_l$ of the "
               r"gap $w_l - z_l$.",
               (tower.first, tower.root, tower.following, tower.below, tower.everywhere)),
        Clause("collapse", r"If $\omega_h \ge 0$, $\sum_h \omega_h \le 1$ and $\tau_h \le \theta = "
               r"(t - 1)/(t + 1)$ with $t = 1 + s^2$, then $\kappa = \sum_h \omega_h \tau_h \le "
               r"\theta < 1$, and if $\tau_h \ge 0$ and $z' \le \kappa^2 D^2$, as for $z' = "
               r"\mathrm{osc}'^2$ and $D = \mathrm{osc}$, then $z' \le \theta^2 D^2$. If "
               r"$z_{l+1} \le \lambda^2 z_l$ at every layer, as then for $z = \mathrm{osc}^2$ "
               r"and $\lambda = \theta$, then $z_L$ is at most $w_L = \lambda^{2(L-1)} z_1$: "
               r"stacks with $\Delta \le 2 \log t$ in all layers collapse. In metrics of norm at "
               r"most $g$ one $t$ serves for all layers, since osc does not grow.",
               (rates.contracts, rates.below_one, rates.contracted,
                *vars(rates.geometric).values())),
        Clause("clusters", r"$2 n$ tokens $o \pm w$, half of them with each sign, in one metric $g "
               r"I$: scores are 0 inside a cluster and $-\frac12 g \, \mathrm{osc}^2$ across, so "
               r"with $t = \exp(\frac12 g \, \mathrm{osc}^2)$ softmax weighs $t$ to 1, and $y_i - "
               r"y_k = \frac{t - 1}{t + 1} (x_i - x_k)$: $\mathrm{osc}' = \tanh(\frac14 g \, "
               r"\mathrm{osc}^2) \, \mathrm{osc}$, and the bounds on spreads and layers are "
               r"attained.",
               (rows.cluster_scores, rows.cluster_weights, rows.cluster_rows, rows.cluster_layer)),
        Clause("frozen", r"$W = 2$ and weights in the ratio 3 to 1 map $x = (1, -1)$ to itself, "
               r"and so do two heads with $W^h = 1$: osc is constant for ever.", (rows.frozen,)),
    ),
    mutants=(
        Mutant("eighth_of_the_spread", tv.tanh_bound, r"variation at most $\tanh(\Delta/8)$",
               redefine=(Definition(tv.O[h, tv.j, tv.l], tv.t[h] ** 4 * tv.Q[h, tv.j]
                                    * tv.P[h, tv.l] - tv.P[h, tv.j] * tv.Q[h, tv.l]),)),
        Mutant("spread_of_one_row", replace(
            spreads.from_rows, large=spreads.B, certificate=spreads.below[i, j, spreads.l]),
            r"$\Delta \le B$"),
        Mutant("signed_rows", tv.at_most_one, "rows of sum 1 and any sign",
               drop=tv.nonnegative),
        Mutant("rows_of_any_sum", tv.dobrushin, "rows of any sum", drop=tv.rows),
        Mutant("any_set_of_keys", tv.dobrushin, "the variation over any set of keys",
               drop=(tv.marks,)),
        Mutant("rows_always_differ_less", replace(
            tv.tanh_bound, strict=True, by=(*tv.tanh_bound.by, *tv.apart_odds)),
            r"the bound is never attained for $\Delta > 0$"),
        Mutant("largest_head", replace(
            layers.layer, large=largest**2 * layers.D**2,
            by=(*tv.nonnegative, *layers.layer.by, is_largest, Local(
                "kappa bounds all heads", r"$\omega_h \tau_h \le \kappa$", (), _largest,
                ((other, ">=0"),)))),
            "the largest head in place of the sum"),
        Mutant("any_norm", rates.contracts, r"contraction for any $\lVert W \rVert$",
               drop=(layers.total_norm,)),
        Mutant("ball_for_any_norm", layers.ball, r"the ball is kept for any $\lVert W \rVert$",
               drop=(layers.total_norm,)),
        Mutant("ball_for_signed_rows", layers.average, "averages with weights of any sign stay in "
               "the ball", drop=(tv.nonnegative[0],)),
        Mutant("sum_for_average", spreads.symmetrised, "symmetrised means the sum of both sides",
               redefine=(Definition(spreads.S[i, j], -spreads.half * (
                   spreads.q[i, j] + spreads.q[j, i])),)),
        Mutant("metrics_of_any_norm", spreads.query_side, "metrics of any norm",
               drop=(spreads.metrics,)),
        Mutant("unsquared_once", replace(spreads.unsquared, large=spreads.rho * spreads.D),
               r"$\Delta \le \sqrt{g} \, \mathrm{osc}$"),
        Mutant("dot_products_of_any_form", spreads.dot_products, "a bilinear form of any norm",
               drop=(spreads.bounded_M,)),
        Mutant("tanh_below_half", replace(
            series.below, small=(2 - series.u) * series.f["l+1"],
            large=(2 + series.u) * series.n["l+1"], by=(series.start, *series.below.by)),
            r"$\tanh u \le u/2$"),
        Mutant("eighth_in_the_cube", rates.factor, r"$c = \frac18 \sum_h \omega_h g_h$",
               redefine=(Definition(rates.c, Rational(1, 2) * rates.factor.by[1].value),)),
        Mutant("fifth_powers", replace(
            tower.below, by=(rates.half_start, *tower.below.by)), "a tower of fifth powers",
               redefine=(Definition(tower.following.by[0].entry, rates.number("w", "l") ** 5),)),
    ),
    sources=(
        "Y. Dong, J.-B. Cordonnier, A. Loukas, Attention is not all you need: pure attention loses "
        "rank doubly exponentially with depth, ICML 2021",
        "E. Seneta, Non-negative Matrices and Markov Chains, Springer 1981",
        "S. N. Cohen, E. Fausti, Hyperbolic contractivity and the Hilbert metric on probability "
        "measures, 2023",
        "X. Wu, A. Ajorlou, Z. Wu, A. Jadbabaie, Demystifying oversmoothing in attention-based "
        "graph neural networks, NeurIPS 2023",
        "X. Wu, A. Ajorlou, Y. Wang, S. Jegelka, A. Jadbabaie, On the role of attention masks and "
        "LayerNorm in transformers, NeurIPS 2024",
        "J. Alman, Z. Song, Only large weights (and not skip connections) can prevent the perils "
        "of rank collapse, arXiv:2505.16284, 2025",
    ),
)
