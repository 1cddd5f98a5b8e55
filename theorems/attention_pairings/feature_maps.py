"""AP7. Random and Taylor features of the exponential pairing."""

from __future__ import annotations

from dataclasses import replace

from sympy import Sum

from theorems.assumptions.entries import signed
from theorems.attention_pairings.steps.exponential_series import (
    ORDERS, alternating, alternating_error, below, even_positive, first_alternating, first_tail,
    g, k, next_alternating, next_tail, odd_negative, past, poisson, sign, tail, tail_error,
    tail_sign,
)
from theorems.attention_pairings.steps.gaussian_moments import (
    C, D, K, M, alternating_moments, antithetic_mean, antithetic_variance, generating, gk, gq,
    half, shifted_densities, o, positive_mean, positive_variance, saving, shifted_density,
    square_completed, total, trig_mean, trig_variance,
)
from theorems.attention_pairings.steps.monomial_features import (
    WORDS, collected, count, dimension, divisible, first_power, first_share, first_words, h,
    next_power, next_words, of, pascal, powers, second_share, w, weighted, without,
)
from theorems.attention_pairings.steps.random_estimates import (
    average_mean, average_variance, cosine, cosine2, independent_samples, negative_cosine,
    on_circles, positive_estimate, positive_expectation, positive_exponent, product_features,
    repeated, sigma, sine, sine2, trig_estimate, trig_expectation, trig_exponent, trig_features,
    trig_product,
)
from theorems.statement import Clause, Definition, Mutant, Theorem, array

THEOREM = Theorem(
    id="AP7",
    title="Random and Taylor features of the exponential pairing",
    clauses=(
        Clause("gaussian", r"An expectation is linear; here it is a sum over outcomes $\omega_o$ "
               r"of the density $f_o = e^{-|\omega_o|^2/2}$ with weights $W_o$ (the integral with "
               r"its constant), and all that is used is that the density shifted by each point "
               r"$x_p$ used has integral $1$: $\sum_o W_o h_{op} = 1$, $h_{op} = e^{-|\omega_o - "
               r"x_p|^2/2}$. Then $f_o e^{\omega_o \cdot x_p} = e^{|x_p|^2/2} h_{op}$, so $E "
               r"e^{\omega \cdot x_p} = e^{|x_p|^2/2}$.",
               (square_completed, shifted_density, generating)),
        Clause("positive", r"With $x = q + k$, $M = e^{|x|^2/2}$ and $K = e^{-|q|^2/2} "
               r"e^{-|k|^2/2} M$ one has $K = e^{q \cdot k}$. For $\phi = e^{\omega \cdot q - "
               r"|q|^2/2}$, $\psi = e^{\omega \cdot k - |k|^2/2}$ the estimate $\phi \psi$ is "
               r"positive, and with the expectations at $x$ and $2 x$ its mean is $K$ and its "
               r"variance $K^2 (M^2 - 1) = e^{2 q \cdot k} (e^{|q + k|^2} - 1)$.",
               (positive_exponent, positive_expectation, product_features, positive_estimate,
                positive_mean, positive_variance)),
        Clause("antithetic", r"The mean of the estimates at $\omega$ and $-\omega$, with the "
               r"expectations at $\pm x$ and $\pm 2 x$, has the mean $K$ and the variance $V' = "
               r"\frac12 e^{-|q|^2 - |k|^2} (M^2 - 1)^2$, and $2 M^2 V' = (M^2 - 1) V$ with $V = "
               r"K^2 (M^2 - 1)$: $V' = \frac12 (1 - e^{-|q + k|^2}) V$.",
               (antithetic_mean, antithetic_variance, saving)),
        Clause("trigonometric", r"With $y = q - k$ and $D = e^{-|y|^2/2}$ the product of "
               r"$e^{|q|^2/2}$, $e^{|k|^2/2}$ and $D$ is $e^{q \cdot k}$. For the features "
               r"$e^{|q|^2/2} (\cos \omega \cdot q, \sin \omega \cdot q)$ and those of $k$, by "
               r"the addition formula and the double angle, and if $E \cos(\omega \cdot y) = D$ "
               r"and $E \cos(2 \omega \cdot y) = D^4$ (below): the mean is $e^{q \cdot k}$ and "
               r"the variance $\frac12 e^{|q|^2 + |k|^2} (1 - e^{-|q - k|^2})^2$. An estimate "
               r"may be negative: two points of the circle have the inner product $-\frac35$. If "
               r"$E (\omega \cdot y)^{2c} / (2c)! = g_c$, such as $g_c = (|y|^2/2)^c / c!$, the "
               r"coefficients of $E e^{\lambda \omega \cdot y}$ at $\lambda^{2c}$, the same "
               r"holds for sums over $c$ with any signs $\epsilon_c$; $\epsilon_c = (-1)^c$ "
               r"makes the partial sums of $E \cos(\omega \cdot y)$ those of $D$.",
               (alternating_moments, trig_exponent, trig_expectation, trig_product, trig_mean,
                total, trig_variance,
                negative_cosine)),
        Clause("samples", r"Estimates $Y_1, \ldots, Y_m$ with $E Y_r = \kappa$, $E Y_r Y_{r'} = "
               r"\kappa^2$ for $r \ne r'$ and $E Y_r^2 = \kappa^2 + v$, as independent ones have: "
               r"their average has the mean $\kappa$ and the variance $v / m$.",
               (average_mean, average_variance)),
        Clause("taylor", r"$(q \cdot k)^r$ is the inner product of the products of coordinates of "
               r"$q$ and of $k$ over all words of $r$ coordinates, $d$ of length $1$ and $d$ times "
               r"as many of each next length, if each word has its own number (and, for the "
               r"count, each number a word). Over words $w$ of any lengths with weights $\rho_w$, "
               r"such as $1/r!$ for all lengths $r \le p$, which make $T_p(q \cdot k) = \sum_{r "
               r"\le p} (q \cdot k)^r / r!$: collect the words of each monomial $h$, of weight "
               r"$c_h = \sum_w z_{wh} \rho_w$. The features $\sqrt{c_h} x_h$, $\sqrt{c_h} y_h$ "
               r"have the same inner product.",
               (first_power, next_power, powers, first_words, next_words, collected, weighted)),
        Clause("dimension", r"If each monomial of degree at most $p + 1$ in $d + 1$ variables "
               r"has its own number, and each number a monomial, there are as many as those "
               r"without the last variable and those of degree at most $p$ in $d + 1$ variables "
               r"together. Binomial coefficients obey the same rule: if $b_1 (p+1)! d! = b_2 p! "
               r"(d+1)! = (d + p + 1)!$ then $(b_1 + b_2) (p+1)! (d+1)! = (d + p + 2) (d + p + "
               r"1)!$. Both are $1$ for $d = 0$ or $p = 0$, and the rule gives all others: there "
               r"are $\binom{d + p}{p}$ monomials of degree at most $p$ in $d$ variables.",
               (dimension, first_share, second_share, pascal)),
        Clause("error_right", r"Let $s \ge 0$ and $g_k = s^k / k!$, $1 \le k \le N$, for every "
               r"$N$. $e^s - T_p(s)$ has the coefficients $\tau_k = 1$ for $k > p$ and $0$ "
               r"otherwise, $e^s s^{p+1} / (p+1)!$ has $\binom{k}{p+1}$. By Pascal's rule "
               r"$\binom{p + u}{p + 1} = 1 + x_u$ with $x_u \ge 0$ for $u = 1, 2, \ldots$, and "
               r"where $\binom{k}{p+1} = \tau_k + x$ with $x \ge 0$ the partial sums of the first "
               r"are at most those of the second: in the limit the relative error $e^{-s} (e^s - "
               r"T_p(s)) = 1 - e^{-s} T_p(s)$, the chance that a Poisson variable of mean $s$ "
               r"exceeds $p$, is at most $s^{p+1} / (p+1)!$.",
               (first_tail, next_tail, tail, tail_sign, tail_error, poisson)),
        Clause("error_left", r"Let $s = -t < 0$, $g_k = t^k / k!$. The coefficient of $g_k$ in "
               r"$e^t T_p(-t)$ is $\sum_{c \le p} (-1)^c \binom{k}{c} = (-1)^p \binom{k-1}{p}$, "
               r"$k \ge 1$, by Pascal's rule at every $p$. So the relative error $|1 - e^t "
               r"T_p(-t)|$ is the sum of $\binom{k-1}{p} g_k$, and its partial sums are at most "
               r"those of $\binom{k}{p+1} g_k$, whose limit is $e^t t^{p+1} / (p+1)!$.",
               (first_alternating, next_alternating, alternating, alternating_error)),
        Clause("parity", r"If $p$ is even, the coefficients of $e^t T_p(-t)$ beyond the first "
               r"are nonnegative (by the clause before, with the sign $1$): its partial sums are "
               r"at least $1$, so $T_p(-t) \ge e^{-t} > 0$, and $T_p(s) \ge 1$ for $s \ge 0$. If "
               r"$p = 2 H - 1$ is odd, $T_p(-t)$ is a sum over $i \le H$ of $\tau'_i - o_i$ with "
               r"$\nu_i = 2 i - 1$, $\tau'_i = t^{2i-2} / (2i-2)!$ and $\nu_i o_i = t \tau'_i$; "
               r"for $\tau', \nu > 0$ and $t > \nu_i$ throughout it is negative, as at $t = p + "
               r"1$. So $T_p$ is positive everywhere iff $p$ is even.",
               (even_positive, odd_negative)),
    ),
    mutants=(
        Mutant("density_not_normalised", generating, "shifted densities of any integral",
               drop=(shifted_densities,)),
        Mutant("biased", positive_mean, "features without their Gaussian factors",
               redefine=(Definition(K, M),)),
        Mutant("variance_without_1", replace(positive_variance, rhs=K**2 * M**2),
               "the second moment for the variance"),
        Mutant("trigonometric_is_positive", replace(
            positive_estimate, large=trig_estimate,
            certificate=gq * gk * (cosine[o] * cosine2[o] + sine[o] * sine2[o]),
            by=trig_features), "trigonometric estimates are positive",
            add=(on_circles, *(signed(array(part.name), ">0") for part in (gq, gk)))),
        Mutant("half_the_variance", replace(
            antithetic_variance, rhs=half * K**2 * (M**2 - 1)),
            "antithetic pairs halve the variance"),
        Mutant("saving_at_q", replace(saving, lhs=2 * saving.lhs), "a quarter for a half"),
        Mutant("angles_added", trig_product, "the cosine of the sum of the angles",
               redefine=(Definition(
                   C[o], cosine[o] * cosine2[o] - sine[o] * sine2[o]),)),
        Mutant("one_cosine", replace(
            trig_variance, rhs=gq**2 * gk**2 * (1 - D**2) ** 2), "twice the variance"),
        Mutant("samples_do_not_help", replace(average_variance, rhs=sigma),
               "the variance of one sample"),
        Mutant("one_sample", average_variance, "one sample repeated has $1/m$ of the variance",
               drop=(independent_samples,), add=(repeated,)),
        Mutant("unweighted", collected, "every monomial counts once",
               redefine=(Definition(count[h], Sum(of[w, h], WORDS)),)),
        Mutant("monomials_multiply", replace(dimension, rhs=without * divisible),
               "the product of the numbers"),
        Mutant("one_degree_more", replace(
            alternating_error, large=Sum(below["l+1"][k] * g[k], ORDERS)),
            r"the coefficients $\binom{k-1}{p+1}$ bound it"),
        Mutant("odd_degrees", even_positive, "odd degrees are positive too",
               redefine=(Definition(sign["l"], -sign["1"] ** 2),)),
        Mutant("short_of_the_factors", odd_negative, "negative at every $t$", drop=(past,)),
    ),
    sources=(
        "Knowledge worlds and attention pairings",
        "K. Choromanski et al., Rethinking attention with Performers, ICLR 2021",
        "A. Katharopoulos et al., Transformers are RNNs, ICML 2020",
    ),
)
