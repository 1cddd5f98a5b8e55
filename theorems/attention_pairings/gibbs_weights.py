"""AP1. Gibbs: softmax weights are the unique maximiser of score plus entropy."""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer, Sum

from theorems.assumptions.entries import exponential, signed, sums_to_one
from theorems.attention_pairings.steps import exponential_bounds as exp
from theorems.attention_pairings.steps import temperatures as at
from theorems.attention_pairings.steps.free_energy import (
    L, at_temperature, free_energy, i, j, lam, m, n, positive_tau, q, s, tau,
)
from theorems.rules import Logarithm, Vanishing
from theorems.statement import Bound, Clause, Definition, Mutant, Step, Theorem, array

x, ell, p, omega, phi = (array(name, n, m) for name in ("x", r"\ell", "p", r"\omega", "phi"))
rows = Step(
    id="rows", lhs=Sum(q[i, j], (j, 1, m)), rhs=Integer(1), by=at.softmax,
    because="Divided by their sum.",
)
of_normaliser = Step(
    id="of_normaliser", lhs=q[i, j] * at.Z[i], rhs=at.E[i, j], by=at.softmax,
    because="$q_{ij}$ is the share of $E_{ij}$ in $Z_i$.",
)
E_is, Z_is, q_is, p_is = (exponential(at.E, x), exponential(at.Z, L), exponential(q, lam),
                          exponential(p, ell))
log_weights = Logarithm(
    id="log_weights", left=(q[i, j] * at.Z[i], at.E[i, j]), logs=((q, lam), (at.Z, L), (at.E, x)),
    by=(q_is, Z_is, E_is), because="Take logarithms.",
)
log_root = Logarithm(
    id="log_root", left=(omega[i, j] ** 2 * p[i, j], q[i, j]),
    logs=((omega, phi), (p, ell), (q, lam)), by=(exponential(omega, phi), p_is, q_is),
    because=r"The logarithm of $\omega_{ij} = \sqrt{q_{ij} / p_{ij}}$.",
)

a, b, d, c = (array(name, n, m) for name in "abdc")
squares = Definition(p[i, j], a[i, j] ** 2)
tangent = exp.logarithm_tangent(a[i, j], b[i, j], ell[i, j], lam[i, j], d[i, j], root=True)
units, nonnegative = (exp.roots_of_weights(a), exp.roots_of_weights(b)), signed(a, ">=0")
energy = (squares, at_temperature, *units, tangent)
distance = Sum((a[i, j] - b[i, j]) ** 2, (j, 1, m))
divergence = Step(
    id="divergence", lhs=tau * L[i] - free_energy(p[i, j], ell[i, j]),
    rhs=tau * Sum(p[i, j] * (ell[i, j] - lam[i, j]), (j, 1, m)),
    by=(squares, at_temperature, units[0]),
    because=r"$\mathrm{KL}(p | q) = \sum_j p_j (\log p_j - \log q_j)$.",
)
gibbs = Bound(
    id="gibbs", small=free_energy(p[i, j], ell[i, j]) + tau * distance, large=tau * L[i],
    certificate=2 * tau * Sum(a[i, j] * d[i, j], (j, 1, m)),
    by=(*energy, nonnegative, positive_tau),
    because=r"$\exp t \ge 1 + t$ at half of $\log q_{ij} - \log p_{ij}$, times $2 p_{ij}$, summed.",
)
attained = Step(
    id="attained", lhs=free_energy(q[i, j], lam[i, j]), rhs=tau * L[i],
    by=(at_temperature, at.q_sums), because="At $p = q$ every term is $\\tau L_i q_{ij}$.",
)
apart = Definition(c[i, j], a[i, j] - b[i, j])
unique = Vanishing(
    id="unique", total=tau * L[i] - free_energy(p[i, j], ell[i, j]), part=c[i, j], weight=tau,
    over=((j, m),), rest=2 * tau * Sum(a[i, j] * d[i, j], (j, 1, m)), strict=True,
    by=(apart, *energy, nonnegative, positive_tau),
    because="If the value is reached, then $|\\sqrt p - \\sqrt q|^2 = 0$.",
)
no_distance = Step(
    id="no_distance", lhs=a[i, j] ** 2 - b[i, j] ** 2, rhs=c[i, j] * (a[i, j] + b[i, j]),
    by=(apart,), because="So $p = q$.",
)

gamma, log_gamma, G = array("G_c", n), array("c'", n), array("E", n, m)
stationary = Logarithm(
    id="stationary", left=(p[i, j] * gamma[i], at.E[i, j]),
    logs=((p, ell), (gamma, log_gamma), (at.E, x)), by=(p_is, exponential(gamma, log_gamma), E_is),
    because="$\\log p_{ij} + c'_i = s_{ij} / \\tau$.",
)
multiplier = Step(
    id="multiplier", lhs=at.Z[i], rhs=gamma[i],
    by=(at.normaliser, Definition(G[i, j], p[i, j] * gamma[i]), sums_to_one(p)),
    because="Sum over the keys.",
)
y, y2, log_y, log_y2, e, e2 = (array(name, n) for name in ("y", "y'", "w", "w'", "e", "e'"))
tangents = (
    Definition(e[i], y2[i] - y[i] * (1 + log_y2[i] - log_y[i])),
    Definition(e2[i], y[i] - y2[i] * (1 + log_y[i] - log_y2[i])),
)
above_first, above_second = signed(e, ">=0"), signed(e2, ">=0")
change = y2[i] * log_y2[i] - y[i] * log_y[i]
slope_below = Bound(
    id="slope_below", small=(y2[i] - y[i]) * (log_y[i] + 1), large=change, certificate=e2[i],
    by=(tangents[1], above_second), because="The tangent of exp from $y'$ to $y$.",
)
slope_above = Bound(
    id="slope_above", small=change, large=(y2[i] - y[i]) * (log_y2[i] + 1), certificate=e[i],
    by=(tangents[0], above_first), because="The tangent of exp from $y$ to $y'$.",
)

THEOREM = Theorem(
    id="AP1",
    title="Gibbs: softmax weights are the unique maximiser of score plus entropy",
    clauses=(
        Clause("softmax", r"With $E > 0$, $Z_i = \sum_j E_{ij}$ and $q_{ij} = E_{ij} / Z_i$: "
               r"$\sum_j q_{ij} = 1$ and $q_{ij} Z_i = E_{ij}$. For $E = \exp x$, $q = \exp "
               r"\lambda$, $Z = \exp L$ and $p = \exp \ell$ that is $\lambda_{ij} + L_i = x_{ij}$; "
               r"and $\omega_{ij}^2 p_{ij} = q_{ij}$ iff $2 \log \omega_{ij} + \ell_{ij} = "
               r"\lambda_{ij}$.", (at.total, rows, of_normaliser, log_weights, log_root)),
        Clause("elementary", r"For every real $u$ and $L = 1, 2, \ldots$: $(1 + u)^{2^L} = 1 + 2^L "
               r"u + c_L$ with $c_1 = u^2$ and $c_{L+1} = 2 c_L + (2^L u + c_L)^2$, both $\ge 0$. "
               r"So with $u = t / 2^L$ the limit $\exp t$ is at least $1 + t$.", exp.steps),
        Clause("gibbs", r"Let $p_{ij} = a_{ij}^2$ with $a \ge 0$ and $q_{ij} = b_{ij}^2$ sum to 1 "
               r"in each row, $s_{ij} = \tau (\lambda_{ij} + L_i)$, that is, $q = "
               r"\mathrm{softmax}(s / \tau)$ and $L = \log Z$ where $\lambda = \log q$. Whatever "
               r"$\ell$: $\tau L_i - (\langle p_i, s_i \rangle - \tau \sum_j p_{ij} \ell_{ij}) = "
               r"\tau \sum_j p_{ij} (\ell_{ij} - \lambda_{ij})$. If $\tau > 0$ and $\ell_{ij} = "
               r"\log p_{ij}$ where $p_{ij} > 0$ (any number elsewhere, $0 \log 0 = 0$), so that "
               r"$b_{ij} \ge a_{ij} (1 + \frac12 (\lambda_{ij} - \ell_{ij}))$ by $\exp t \ge 1 + "
               r"t$: $\langle p_i, s_i \rangle + \tau H(p_i) + \tau \sum_j (a_{ij} - b_{ij})^2 \le "
               r"\tau L_i$.", (divergence, gibbs)),
        Clause("unique", r"If $\sum_j q_{ij} = 1$, the value $\tau L_i$ is reached at $p = q$. "
               r"Under the hypotheses of the clause before, only there: if $\langle p_i, s_i "
               r"\rangle + \tau H(p_i) = \tau L_i$, then $a_{ij} - b_{ij} = 0$, and $p_{ij} - "
               r"q_{ij} = (a_{ij} - b_{ij}) (a_{ij} + b_{ij})$.", (attained, unique, no_distance)),
        Clause("lagrange", r"For $y, y'$ with logarithms $w, w'$, $y' \ge y (1 + w' - w)$ and $y "
               r"\ge y' (1 + w - w')$ ($\exp t \ge 1 + t$): $(y' - y)(w + 1) \le y' w' - y w \le "
               r"(y' - y)(w' + 1)$, so, as $\log$ is continuous, the derivative of $y \log y$ is "
               r"$\log y + 1$, and those of $\langle p, s \rangle + \tau H(p) - \mu \sum_j p_j$ "
               r"are $s_j - \tau (\log p_j + 1) - \mu$. They vanish iff $\log p_{ij} + c'_i = "
               r"s_{ij} / \tau$ with $\tau c' = \mu + \tau$, that is, $p_{ij} \exp c'_i = "
               r"E_{ij}$, $E = \exp(s / \tau)$; and if $\sum_j p_{ij} = 1$ too, then $Z_i = \exp "
               r"c'_i$: the stationary weights are $E_{ij} / Z_i$.",
               (slope_below, slope_above, stationary, multiplier)),
        Clause("cold", r"All weight on key $k$ gives the value $s_{ik}$, so by the clause gibbs "
               r"$\max_k s_{ik} \le \tau L_i$. If $q$ sums to 1 and $\frac1m \ge q_{ij} (1 - \nu - "
               r"\lambda_{ij})$ ($\exp t \ge 1 + t$, $\nu = \log m$), then $-\sum_j q_{ij} "
               r"\lambda_{ij} \le \nu$, and for $\tau > 0$ $\tau L_i \le \langle q_i, s_i \rangle "
               r"+ \tau \nu$. If $q \ge 0$ and $s_{ij} \le M_i$ too, $\langle q_i, s_i \rangle \le "
               r"M_i$ and $\tau L_i \le M_i + \tau \nu$: the value tends to $\max_k s_{ik}$ as "
               r"$\tau \to 0$. Let $m_1$ keys have $E = G_i > 0$ and $m_2$ others $G_i \rho_{il}$, "
               r"$\rho > 0$: of the weights $\alpha$ and $\beta$ of the two groups $m_1 "
               r"\alpha_{ih} = 1 - \sum_l \beta_{il}$ and $m_1 \beta_{il} \le \rho_{il}$. With "
               r"$\log \rho_{il} = (s_{il} - \max s_i) / \tau < 0$ they tend to $1/m_1$ and $0$. "
               r"At $\tau = 0$ the maximiser is not unique: $s = (1, 1, 0)$.",
               (at.one_key, at.entropy, at.mean_above, at.mean_at_most, at.value_above,
                at.largest_part, at.on_argmax, at.off_argmax, at.log_ratio, at.ties)),
        Clause("hot", r"If $E > 0$ and $E_{ij} \le D_i E_{ik}$ for all keys: $m q_{ij} \le D_i$ "
               r"and $1 \le m D_i q_{ij}$; for scores within $\delta$ of one another $D_i = "
               r"\exp(\delta / \tau)$, so $q_{ij} \to 1/m$ as $\tau \to \infty$. Uniform weights "
               r"have the value $\frac1m \sum_j s_{ij} + \tau \nu$, which is at most $\tau L_i$ by "
               r"the clause gibbs, and $\tau L_i \le \langle q_i, s_i \rangle + \tau \nu$ by the "
               r"clause before: so $\tau L_i - \tau \log m$ tends to the mean score.",
               (at.hot_above, at.hot_below, at.mean_below)),
    ),
    mutants=(
        Mutant("value_without_tau", replace(attained, rhs=L[i]), "the value is log Z"),
        Mutant("minus_entropy", replace(
            gibbs, small=2 * Sum(p[i, j] * s[i, j], (j, 1, m)) - free_energy(p[i, j], ell[i, j])
            + tau * distance), "entropy counts as a cost"),
        Mutant("any_temperature", gibbs, "tau of any sign", drop=(positive_tau,)),
        Mutant("any_mass", gibbs, "weights of any sum", drop=(units[0],)),
        Mutant("any_log", divergence, "q of any temperature", redefine=(
            Definition(s[i, j], lam[i, j] + L[i]),)),
        Mutant("twice_the_distance", replace(
            gibbs, small=free_energy(p[i, j], ell[i, j]) + 3 * tau * distance),
            "KL is at least three times the distance"),
        Mutant("zero_temperature", unique, "tau = 0 has one maximiser too", drop=(positive_tau,),
               add=(signed(array("tau"), ">=0"),)),
        Mutant("one_winner", replace(at.on_argmax, lhs=at.alpha[i, at.h]),
               "one of the keys of the largest score takes all"),
        Mutant("half_for_the_others", replace(
            at.off_argmax, small=2 * at.m_1 * at.beta[i, at.l]), "other keys have half of it"),
        Mutant("value_is_largest", replace(
            at.value_above, large=at.M[i]), "the value is the largest score"),
        Mutant("uniform_at_once", replace(at.hot_above, large=Integer(1)),
               "weights are uniform at every temperature"),
        Mutant("mass_of_the_multiplier", multiplier, "stationary weights need not sum to 1",
               drop=(sums_to_one(p),)),
        Mutant("slope_without_one", replace(slope_below, small=(y2[i] - y[i]) * log_y[i]),
               "the derivative of y log y is log y"),
    ),
    sources=(
        "Knowledge worlds and attention pairings",
    ),
)
