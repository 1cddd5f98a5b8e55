"""AP1 as the temperature tends to 0 and to infinity: two-sided bounds, exact at every tau > 0."""

from __future__ import annotations

from sympy import Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import exponential, signed, sums_to_one
from theorems.attention_pairings.steps.exponential_bounds import logarithm_tangent
from theorems.attention_pairings.steps.free_energy import (
    L, at_temperature, free_energy, i, j, k, lam, m, n, positive_tau, q, s, tau,
)
from theorems.checker.exact import Draw, SmallIntegers
from theorems.rules import Logarithm
from theorems.statement import Bound, Definition, Local, Step, Witness, array, symbols_of

m_1, m_2 = symbols_of("m_1 m_2")
l, h = symbols_of("l h")
q_sums, nonnegative_q = sums_to_one(q), signed(q, ">=0")
mean = Sum(q[i, j] * s[i, j], (j, 1, m))

vertex, t, p_k = array("v", n, m, m), array("t", n, m), array("o", m, m)
at_key = Definition(p_k[k, j], KroneckerDelta(j, k))
log_one = Definition(vertex[i, k, j], (1 - KroneckerDelta(j, k)) * t[i, j])
one_key = Step(
    id="one_key", lhs=free_energy(p_k[k, j], vertex[i, k, j]), rhs=s[i, k], by=(at_key, log_one),
    because="All weight on key $k$ has no entropy: $\\log 1 = 0$ and $0 \\log 0 = 0$.",
)

nu, r_m, M = Symbol("nu", real=True), Symbol("r_m", real=True), array("M", n)
slack, largest_slack = array("h", n, m), array("g", n, m)
uniform_part = Definition(r_m, Integer(1), over=m)
below_uniform = logarithm_tangent(q[i, j], r_m, lam[i, j], -nu, slack[i, j])
entropy = Bound(
    id="entropy", small=-Sum(q[i, j] * lam[i, j], (j, 1, m)), large=nu,
    certificate=Sum(slack[i, j], (j, 1, m)), by=(q_sums, uniform_part, below_uniform),
    because="The tangent at $\\log \\frac1m - \\log q_{ij}$, summed over the keys.",
)


def _largest(draw: Draw) -> None:
    if type(draw.source) is not SmallIntegers:
        return
    for (row,) in draw.cells(M):
        scores = (draw.get(str(s), (row, key)) for key in range(1, draw.size(m) + 1))
        draw.put(M, (row,), max(scores) + draw.source.fresh(">=0"))


leaves = Definition(largest_slack[i, j], M[i] - s[i, j])
at_most_M = Local("scores are at most M", "$s_{ij} \\le M_i$", (), _largest,
                  ((largest_slack, ">=0"),))
mean_at_most = Bound(
    id="mean_at_most", small=mean, large=M[i], by=(leaves, q_sums, nonnegative_q, at_most_M),
    certificate=Sum(q[i, j] * largest_slack[i, j], (j, 1, m)),
    because="A mean of the scores is at most the largest.",
)
mean_above = Bound(
    id="mean_above", small=tau * L[i], large=mean + tau * nu,
    certificate=tau * Sum(slack[i, j], (j, 1, m)),
    by=(at_temperature, q_sums, uniform_part, below_uniform, positive_tau),
    because="The value is $\\langle q, s \\rangle + \\tau H(q)$, and $H(q) \\le \\log m$.",
)
first_gap, second_gap = array("g_1", n), array("g_2", n)
value_above = Bound(
    id="value_above", small=tau * L[i], large=M[i] + tau * nu,
    certificate=first_gap[i] + second_gap[i],
    by=(Definition(first_gap[i], mean + tau * nu - tau * L[i]),
        Definition(second_gap[i], M[i] - mean), mean_above, mean_at_most),
    because="Neither the mean nor the entropy exceeds its largest value.",
)
uniform, log_uniform = array("o", m), array("t", m)
mean_below = Step(
    id="mean_below", lhs=free_energy(uniform[j], log_uniform[j]),
    rhs=r_m * Sum(s[i, j], (j, 1, m)) + tau * nu,
    by=(Definition(uniform[j], r_m), Definition(log_uniform[j], -nu), uniform_part),
    because="Uniform weights give the mean score and the entropy $\\log m$.",
)

G, rho, F, alpha, beta = (array("G", n), array(r"\rho", n, m_2), array("F", n, m_2),
                          array("alpha", n, m_1), array("beta", n, m_2))
Y, r_Y = array("Y", n), array("r_Y", n)
g, log_rho, log_F = array("g'", n), array("h'", n, m_2), array("f'", n, m_2)
lower = Definition(F[i, l], G[i] * rho[i, l])
both_groups = Definition(Y[i], m_1 * G[i] + Sum(F[i, l], (l, 1, m_2)))
positive_G, positive_rho = signed(G, ">0"), signed(rho, ">0")
cold = (Definition(alpha[i, h], G[i] * r_Y[i]), Definition(beta[i, l], F[i, l] * r_Y[i]),
        Definition(r_Y[i], Integer(1), over=Y[i]))
largest_part = Step(
    id="largest_part", lhs=m_1 * G[i], rhs=Y[i] - Sum(F[i, l], (l, 1, m_2)), by=(both_groups,),
    because="The $m_1$ keys of the largest score have one term each of the normaliser.",
)
on_argmax = Step(
    id="on_argmax", lhs=m_1 * alpha[i, h], rhs=1 - Sum(beta[i, l], (l, 1, m_2)),
    by=(*cold, largest_part, both_groups, lower, positive_G, positive_rho),
    because="They share equally what the other keys leave.",
)
off_argmax = Bound(
    id="off_argmax", small=m_1 * beta[i, l], large=rho[i, l],
    certificate=rho[i, l] * Sum(beta[i, k], (k, 1, m_2)),
    by=(*cold, lower, largest_part, both_groups, positive_G, positive_rho),
    because="The normaliser is at least $m_1 G_i$.",
)
log_ratio = Logarithm(
    id="log_ratio", left=(G[i] * rho[i, l], F[i, l]), logs=((G, g), (rho, log_rho), (F, log_F)),
    by=(exponential(G, g), exponential(rho, log_rho), exponential(F, log_F)),
    because=r"$\log \rho_{il}$ is the difference of the scores over $\tau$.",
)

E, Z, r_Z, D = array("E", n, m), array("Z", n), array("r_Z", n), array("D", n)
spread_slack = array("e", n, m, m)


def _spread(draw: Draw) -> None:
    if type(draw.source) is not SmallIntegers:
        return
    for (row,) in draw.cells(D):
        values = [draw.get(str(E), (row, key)) for key in range(1, draw.size(m) + 1)]
        ratio = max(values) * draw.source.inverse(min(values))
        draw.put(D, (row,), ratio + draw.source.rng.choice((0, 0, 1)))


exponentials_within = (
    Definition(spread_slack[i, j, k], D[i] * E[i, k] - E[i, j]),
    Local("exponentials within a factor D", r"$E_{ij} \le D_i E_{ik}$ for all keys $j, k$",
          (), _spread, ((spread_slack, ">=0"),)),
)
normaliser = Definition(Z[i], Sum(E[i, j], (j, 1, m)))
reciprocal, positive_E = Definition(r_Z[i], Integer(1), over=Z[i]), signed(E, ">0")
weight = Definition(q[i, j], E[i, j] * r_Z[i])
total = Step(id="total", lhs=Sum(E[i, j], (j, 1, m)), rhs=Z[i], by=(normaliser,),
             because="The definition of $Z_i$.")
softmax = (weight, total, reciprocal, normaliser, positive_E)
hot_above = Bound(
    id="hot_above", small=m * q[i, j], large=D[i],
    by=(exponentials_within[0], *softmax, exponentials_within[1]),
    certificate=Sum(spread_slack[i, j, k] * r_Z[i], (k, 1, m)),
    because=r"$m E_{ij} \le D_i \sum_k E_{ik}$.",
)
hot_below = Bound(
    id="hot_below", small=Integer(1), large=m * D[i] * q[i, j],
    by=(exponentials_within[0], *softmax, exponentials_within[1]),
    certificate=Sum(spread_slack[i, k, j] * r_Z[i], (k, 1, m)),
    because=r"$\sum_k E_{ik} \le m D_i E_{ij}$.",
)

s_3, p_3, o_3 = (array(name, Integer(3)) for name in ("s_3", "p_3", "o_3"))
ties = Witness(
    id="ties", values={s_3: [1, 1, 0], p_3: [1, 0, 0], o_3: [0, 1, 0]},
    by=(sums_to_one(p_3), sums_to_one(o_3), signed(p_3, ">=0"), signed(o_3, ">=0")),
    holds=tuple((Sum(x[j] * s_3[j], (j, 1, Integer(3))), Integer(1)) for x in (p_3, o_3)),
    fails=((p_3[j], o_3[j]),),
    because="At $\\tau = 0$ both have the largest value of $\\langle p, s \\rangle$, which is 1.",
)
