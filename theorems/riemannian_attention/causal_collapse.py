"""RA17. Causal stacks collapse, at rate 1/k where x_k is the first token unlike x_1."""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer

from theorems.assumptions.entries import signed
from theorems.riemannian_attention.steps import causal_tokens as on
from theorems.riemannian_attention.steps import merging_tokens as to
from theorems.statement import Cited, Clause, Definition, Mutant, Theorem, array, symbols_of

i, j, e = symbols_of("i j e")

linear_recursion = Cited(
    id="linear-recursion",
    statement="If x_{l+1} = a_l x_l + b_l with a_l -> a, |a| < 1 and b_l -> b, then "
    "x_l -> b / (1 - a).",
    source="S. Elaydi, An Introduction to Difference Equations, Springer, third edition 2005, "
    "sections 1.2 and 4.2",
    because="It turns limits of the weights into limits of the tokens.",
)

THEOREM = Theorem(
    id="RA17",
    title="Causal stacks collapse, at rate 1/k where x_k is the first token unlike x_1",
    clauses=(
        Clause("contraction", r"For $A \ge 0$, $A_{i1} = 1 - \sum_{j \ge 2} A_{ij} \ge w_0$ and "
               r"$y_i = x_i - x_1$ with $|y_j| \le r$ for every token: $|\sum_{j \ge 2} A_{ij} "
               r"y_j|^2 \le (1 - w_0)^2 r^2$ and $|y_i - y_j|^2 \le 4 r^2$.",
               (on.products, on.apart, on.shrinks, on.contraction)),
        Clause("row_weights", r"If token $i$ sees $i$ tokens with weights $A_{ij} = E_j / \sum_p "
               r"E_p$, $E > 0$ and $E_j \le D E_p$ for all of them, that is, if the scores of the "
               r"row differ by at most $\log D$: $\sum_j A_{ij} = 1$, $i A_{ij} \le D$ and $1 \le "
               r"(1 + (i - 1) D) A_{ij}$. So $A_{i1} \ge 1/(1 + (i - 1) e^B)$ and $A_{22} \ge "
               r"e^{-B}/(1 + e^{-B})$ where they differ by at most $B$, and $A_{ij} \to 1/i$ as $D "
               r"\to 1$.", (to.normalised, to.upper, to.lower)),
        Clause("token_k", r"Let the rows of a causal $A$ sum to 1, $W = I$ and $x_1 = \ldots = "
               r"x_{k-1} = u$. These tokens stay $u$, $x_k' - u = A_{kk} (x_k - u)$, and $x_i' - u "
               r"= A_{ik} (x_k - u) + \sum_{j > k} A_{ij} (x_j - u)$ for $i > k$.",
               (on.copies, on.token_k, on.later_tokens)),
        Clause("depth", r"So after $L$ layers, whatever the tokens after $k$: $x_k^L - u = "
               r"\prod_{l \le L} A^l_{kk} (x_k^0 - u)$ for every $L$. With scores that differ by "
               r"at most $B$ in row $k$ every factor is by the bound above at least $1/(1 + (k - "
               r"1) e^B)$: exponential, never doubly exponential.",
               (on.first_layer, on.next_layer, on.depth)),
        Clause("normalised", r"With $N_k = |y_k| > 0$, $A_{kk} > 0$ and $z_i = y_i / N_k$: "
               r"$|y_k'|^2 = (A_{kk} N_k)^2$, $z_k' = z_k$ and $z_i' = (A_{ik} z_k + \sum_{j > k} "
               r"A_{ij} z_j) / A_{kk}$. If $A_{ij} = 0$ for $j > i$, it is $\alpha_i z_i + "
               r"\beta_i$ with $\alpha_i = A_{ii} / A_{kk}$ and $\beta_i = (A_{ik} z_k + \sum_{k < "
               r"j < i} A_{ij} z_j) / A_{kk}$.",
               (on.length_next, on.direction, on.normalised_update, on.linear)),
        Clause("quotients", r"With such weights for token $i$ and, with the same $D$, for token "
               r"$k$: $i A_{ij} \le k D^2 A_{kk}$ and $k A_{kk} \le i D^2 A_{ij}$. So $A_{ij} / "
               r"A_{kk} \to k/i$ as $D \to 1$, and $k/i < 1$ for $i > k$.",
               (to.own_upper, to.own_lower, to.row_lower, to.positive_D, to.quotient_above,
                to.quotient_below)),
        Clause("fixed_point", r"Let $c_k = 1$ and, for $t > k$, let $c_t$ be the limit of $c' = "
               r"\frac{k}{t} c + \frac{k}{t} S_{t-1}$, $S_{t-1} = c_k + \ldots + c_{t-1}$: $t c_t "
               r"= k (c_t + S_{t-1})$. Then $S_t = \binom{t}{k}$ and $t c_t = k \binom{t}{k}$, "
               r"that is, $c_t = \binom{t-1}{k-1}$, by $(t - k) \binom{t}{k} = t \binom{t-1}{k}$ "
               r"and $\binom{k}{k} = 1$.",
               (to.first_binomial, to.stationary, to.later_binomial, to.hockey_stick,
                to.limit_value)),
        Clause("limit", r"Let $x_k \ne x_1$ be the first token unlike $x_1$, $W = I$, and let the "
               r"scores of a row differ by at most $B$ in every layer, and by a bound that tends "
               r"to 0 with $r = \max_i |x_i - x_1|$, the same in all layers: so it is for $s_{ij} "
               r"= f_l(x_i, x_j)$ with $f_l$ equicontinuous on the hull of the tokens and no "
               r"positional term, and for squared distances in metrics of norm at most $g$, other "
               r"ones for each token and layer, where by $|y_i - y_j|^2 \le 4 r^2$ it is $2 g "
               r"r^2$. Then $r \to 0$ by contraction and the recursion with factor $1 - w_0$ "
               r"(cited), so $D \to 1$, and token after token $z_i \to \binom{i-1}{k-1} z_k$ "
               r"(cited). With $r = |y_k| \rho$, $\rho = \max_i |z_i|$: $r' \rho = A_{kk} r "
               r"\rho'$, and $\rho$ tends to $\binom{n-1}{k-1}$: $r'/r \to 1/k$.",
               (linear_recursion, on.ratio)),
        Clause("uniform", r"At equal weights $k y_k' = y_k$, and $y_k'' y_k = (y_k')^2$ in each "
               r"coordinate: the factor is $1/k$ in every layer, $1/2$ for two tokens and $1/3$ "
               r"for the tokens $0, 0, 1$.", (on.kth_part, on.constant_ratio)),
        Clause("positions", r"With weights $g_p E_p / \sum_q g_q E_q$, fixed positional factors $g "
               r"> 0$ and $E$ as above, the weight $L_q$ of token $q$ obeys $(D g_q + \sum_{p \ne "
               r"q} g_p) L_q \le D g_q$ and $g_q \le (g_q + D \sum_{p \ne q} g_p) L_q$: it tends "
               r"to $g_q / \sum_p g_p$ as $D \to 1$. ALiBi of slope $m$ has $g_p = \lambda^{k-p}$ "
               r"in row $k$, $\lambda = e^{-m}$: $A_{kk} \to 1/\Lambda_k$ with $\Lambda_k = 1 + "
               r"\lambda + \ldots + \lambda^{k-1}$, $\Lambda_{k+1} = 1 + \lambda \Lambda_k = "
               r"\Lambda_k + \lambda^k$ and $\lambda^k = 1 - (1 - \lambda) \Lambda_k$. So for "
               r"$\lambda > 0$ $A_{ij} / A_{kk} \to \lambda^{i-j} \Lambda_k / \Lambda_i$, and "
               r"$\Lambda_k / \Lambda_i < 1$ for $i > k$: as before, token after token $z_i$ tends "
               r"to a positive multiple of $z_k$ (cited), and $r'/r \to 1/\Lambda_k$.",
               (to.placed_upper, to.placed_lower, to.first_sum, to.next_sum, to.geometric,
                to.growing)),
    ),
    mutants=(
        Mutant("always_half", replace(on.kth_part, lhs=2 * on.y_1[e]),
               "the factor is 1/2 where x_2 = x_1 too"),
        Mutant("cubic", replace(
            on.constant_ratio, lhs=on.y_2[e] * on.y_0[e] ** 3, rhs=on.y_1[e] ** 4),
            "each quotient of r is the cube of the one before"),
        Mutant("always_uniform", replace(to.upper, large=Integer(1)),
               "A_ij is at most 1/i whatever the scores"),
        Mutant("two_tokens_for_all", replace(to.lower, large=(1 + to.D) * to.row.A[j]),
               "A_ij is at least 1/(1 + D) whatever i"),
        Mutant("signed_attention", on.contraction, "weights of any sign",
               drop=(on.nonnegative_A,)),
        Mutant("largest_first_weight", on.contraction, "w_0 need not bound every A_i1",
               drop=(on.at_least,), add=(signed(on.w, ">=0"), signed(array("w_0"), ">=0"))),
        Mutant("rows_of_any_sum", on.token_k, "rows need not sum to 1", drop=(on.row_k,)),
        Mutant("unmasked", on.linear, "without the causal mask",
               redefine=(Definition(on.A_x[i, j], on.B[i, j]),)),
        Mutant("not_normalised", replace(
            on.normalised_update, rhs=on.unscaled, by=(*on.normalised_update.by, on.order)),
               "z_i' is the mean of the z_j, without 1/A_kk"),
        Mutant("binomial_of_k", replace(to.limit_value, lhs=to.limits["l+1"],
                                        rhs=to.binomials["l+1"]), "the limits are C(i, k)"),
        Mutant("quotient_exact", replace(to.quotient_above, large=to.k * to.own.A[to.q]),
               "A_ij / A_kk is at most k/i whatever the scores"),
        Mutant("positions_do_not_count", replace(
            to.placed_lower, small=Integer(1), large=(1 + (to.k - 1) * to.D) * to.placed.A[to.q]),
            "positional factors leave the bounds as they are"),
        Mutant("one_power_more", to.first_sum, "the sum starts with 1 + lambda",
               redefine=(Definition(to.series["1"], 1 + to.lam),)),
        Mutant("never_longer", replace(to.growing, rhs=to.series["l"]),
               "the sum does not grow with k",
               add=(signed(array("lambda"), ">0"), signed(array("P_{l}"), ">0"),
                    signed(array(r"\Lambda_{l}"), ">0"))),
    ),
    sources=(
        "Riemannian Attention Mechanisms for Transformers: A Theoretical Framework and "
        "Architecture Design",
        "X. Wu, A. Ajorlou, Y. Wang, S. Jegelka, A. Jadbabaie, On the role of attention masks and "
        "LayerNorm in transformers, NeurIPS 2024",
        "O. Press, N. A. Smith, M. Lewis, Train short, test long: attention with linear biases "
        "enables input length extrapolation, ICLR 2022",
    ),
)
