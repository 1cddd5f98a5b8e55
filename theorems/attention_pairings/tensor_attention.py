"""AP6. Tensor attention is the readout of the product of two worlds."""

from __future__ import annotations

from dataclasses import replace

from sympy import Sum

from theorems.assumptions.entries import exponential, signed
from theorems.attention_pairings.steps.pair_features import (
    M, M2, RANK, chi, direct, e, e2, equivariant, factored, finite_rank, finite_total, g, new_v,
    next_state, orders, phi, prefix, prefix_total, psi, reordered_inverse, reordered_outputs,
    reordered_scores, reordered_total, t, u, v3, v4,
)
from theorems.attention_pairings.steps.pair_kernels import (
    E, ONE, P, S, TWO, a, b, constant_kernel, constant_mean, constant_scores, d, d_v, deviation,
    factor, first, i, j, k, khatri_rao, l, m, mu, mu2, n, nonnegative, normaliser, p, p2, parted,
    parted_positive, parted_total, product_minors, product_values, q, rank_one, row_sums,
    score_minors, scores, second, trilinear, v, v2, weight_minors, world,
)
from theorems.statement import Clause, Definition, Mutant, Theorem

exponential_E = exponential(E, S)

THEOREM = Theorem(
    id="AP6",
    title="Tensor attention is the readout of the product of two worlds",
    clauses=(
        Clause("product_world", r"Let the query $i$ have masses $\mu_{ij}$ and $\mu'_{il}$ in two "
               r"worlds, and $P_{ijl} = \mu_{ij} \mu'_{il} E_{ijl} / Z_i$ with $Z_i = \sum_{jl} "
               r"\mu_{ij} \mu'_{il} E_{ijl} > 0$. Then $\sum_{jl} P_{ijl} = 1$, $P \ge 0$ if "
               r"$\mu, \mu', E \ge 0$, and $y_i = \sum_{jl} P_{ijl} (v_j * v'_l)$ is the readout "
               r"of the product world: $Z_i y_i = \sum_{jl} \mu_{ij} \mu'_{il} E_{ijl} (v_j * "
               r"v'_l)$. The scores $\sum_a q_{ia} k_{ja} k'_{la}$ and the values are those of the "
               r"pairs' rows in the column-wise Khatri-Rao products of keys and of values.",
               (khatri_rao, product_values, normaliser, row_sums, nonnegative, world)),
        Clause("factor", r"If $E_{ijl} = F_{1,ij} F_{2,il}$ and both one-sided normalisers are "
               r"positive, then $Z_i > 0$ is their product and $y_i = y_{1,i} * y_{2,i}$, the "
               r"product of the two readouts.",
               (first.total, second.total, parted, parted_total, parted_positive, factor)),
        Clause("constant", r"If all second keys are $c$, the score is that of the query $q_i * "
               r"c$ and the key $k_j$, and $\exp$ of it does not depend on $l$: the factors are "
               r"$F_1 = \exp T$ and $F_2 = 1$. If all second values are $w$ and the second "
               r"normaliser is positive, the second readout is $w$. So $c = \mathbf{1}$ and $w = "
               r"\mathbf{1}$ give standard attention.",
               (constant_scores, constant_kernel, constant_mean)),
        Clause("trilinear", r"If $Z > 0$, $P_{ijl}$ is the product of its marginals plus the sum "
               r"of its minors $P_{ijl} P_{ij'l'} - P_{ijl'} P_{ij'l}$, and products have none. "
               r"With $E = \exp S$ and positive masses they vanish iff those of $E$ do, iff "
               r"$S_{ijl} + S_{ij'l'} = S_{ijl'} + S_{ij'l}$; for $S_{ijl} = \sum_a q_{ia} "
               r"k_{ja} k'_{la}$ the difference is $\sum_a q_{ia} (k_{ja} - k_{j'a}) (k'_{la} - "
               r"k'_{l'a})$.", (deviation, product_minors, weight_minors, score_minors, trilinear)),
        Clause("finite_rank", r"If $E_{ijl} = \sum_g \phi_{ig} \psi_{jg} \chi_{lg}$, then "
               r"$\sum_{jl} \mu_{ij} \mu'_{il} E_{ijl} (v_j * v'_l) = \sum_g \phi_{ig} (\sum_j "
               r"\mu_{ij} \psi_{jg} v_j) * (\sum_l \mu'_{il} \chi_{lg} v'_l)$ (which is $Z_i "
               r"y_i$ if $Z_i > 0$), and $Z_i$ is the same without values.",
               (finite_rank, finite_total)),
        Clause("cost", r"Multiplications and divisions, exponentials apart: $m m' ((n + 1)(d + "
               r"d_v) + n)$ directly, so of the order $n^3$ at $m = m' = n$; with $w$ features in "
               r"one world for all queries $w ((m + m' + n + 1) d_v + n + 1) + n d_v$.",
               (direct, factored)),
        Clause("prefix", r"Outputs and normalisers depend on kernel and values only where the "
               r"masses are not zero: with $\mu_{ij} = \mu'_{ij} = 1$ for $j \le i$ and $0$ "
               r"otherwise, on no later token. The one-sided sums of a prefix, masses $u$, grow by "
               r"$\psi_{tg} v_t$ with token $t$: causal tensor attention of finite rank has a "
               r"state.", (prefix, prefix_total, next_state)),
        Clause("equivariance", r"If queries, first and second tokens are reordered, each world "
               r"with its values, scores are the old ones at the old places; and if the kernel is "
               r"too and $\sum_{jl} E_{ijl} > 0$, outputs are the old ones of the same queries.",
               (reordered_scores, reordered_outputs, reordered_total, reordered_inverse,
                equivariant)),
    ),
    mutants=(
        Mutant("second_key_ignored", replace(
            constant_scores, rhs=Sum(q[i, a] * k[j, a], (a, 1, d))),
            "any constant second key gives standard attention"),
        Mutant("trilinear_factors", replace(
            deviation, rhs=p[i, j] * p2[i, l], by=(*deviation.by, scores, exponential_E)),
            "the weights of a trilinear score are products of their marginals"),
        Mutant("sum_of_values", replace(
            world, rhs=Sum(mu[i, j] * mu2[i, l] * E[i, j, l] * (v[j, b] + v2[l, b]), ONE, TWO)),
            "values are added"),
        Mutant("product_for_every_kernel", factor, "every kernel gives a product of readouts",
               drop=(rank_one,)),
        Mutant("half_normalised", replace(
            row_sums, lhs=Sum(P[i, j, l], TWO)), "softmax over the second token alone"),
        Mutant("signed_masses", nonnegative, "masses of any sign", drop=(signed(mu, ">=0"),)),
        Mutant("product_of_sums", replace(
            finite_rank, rhs=Sum(phi[i, g] * M[i, g, b], RANK) * Sum(M2[i, g, b], RANK)),
            "the features are summed in each world"),
        Mutant("one_moment", finite_rank, "the second moment has no values",
               redefine=(Definition(M2[i, g, b], Sum(mu2[i, l] * chi[l, g], TWO)),)),
        Mutant("quadratic_cost", replace(direct, rhs=m * n * (d + d_v)), "the cost of one world"),
        Mutant("one_mask", replace(
            prefix, lhs=Sum(u[j] * e2[j, l] * v3[j, b] * v4[l, b], ONE, TWO),
            rhs=Sum(u[j] * e[j, l] * v[j, b] * v2[l, b], ONE, TWO)),
            "the mask acts on the first token only"),
        Mutant("state_replaced", replace(next_state, rhs=psi[t, g] * v[t, b]),
               "the state is the last token's product"),
        Mutant("values_left_behind", reordered_outputs, "keys are reordered without their values",
               redefine=(Definition(new_v.entry, v[j, b]),)),
        Mutant("any_mixing", equivariant, "any matrix mixes the queries", drop=(orders[0],)),
    ),
    sources=(
        "Knowledge worlds and attention pairings",
        "J. Clift et al., 2-simplicial attention, 2019",
        "J. Alman, Z. Song, How to capture higher-order correlations? Generalizing matrix softmax "
        "attention to Kronecker computation, 2023",
    ),
)
