"""CW4, the heads that realise an operator: J + eps M^h for a positive J and a small eps > 0.

W = sum_h M^h (x) t^h is a rank factorisation, M^h has row sums mu_h and J is row-stochastic.
"""

from __future__ import annotations

from sympy import Expr, Integer, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.connection_walks.steps.realignment import (
    combination, constant_rows, inverts, small_step, unit_rows,
)
from theorems.statement import Bound, Definition, Step, array, symbols_of

n, m, d, d_o, r = symbols_of("n m d d_o r")
i, j, a, b, p = symbols_of("i j a b p")

M, t, W_r = array("M", r, n, m), array("t", r, d_o, d), array("W_r", n, m, d_o, d)
J, B, N, N_inv = array("J", n, m), array("B", r, n, m), array("N", r), array("N^{-1}", r)
A_r, T_r, tau = array("A_r", r, n, m), array("T_r", r, d_o, d), array("tau", d_o, d)
al, mu = array("alpha", r), array("mu", r)
eps, eps_inv, sigma, sigma_inv, least, size, slack = (
    Symbol(name, real=True)
    for name in (
        r"\varepsilon", r"\varepsilon^{-1}", "sigma", r"\sigma^{-1}", "a_0", "k_0", "s_0"
    )
)
gap, low = array("J_0", n, m), array("M_0", r, n, m)
rank_factors = Definition(W_r[i, j, a, b], Sum(M[p, i, j] * t[p, a, b], (p, 1, r)))
stochastic_J, rows_M = unit_rows(J), constant_rows(M, mu)
shifted = Definition(B[p, i, j], J[i, j] + eps * M[p, i, j])
row_total = Definition(N[p], 1 + eps * mu[p])
slack_is = Definition(slack, least - eps * size)
above = signed(gap, ">=0"), Definition(gap[i, j], J[i, j] - least)
bounded = signed(low, ">=0"), Definition(low[p, i, j], size + M[p, i, j])
small_eps = small_step(array("s_0"), J, M, ("a_0", "k_0", str(eps)))
positive_eps = signed(array(str(eps)), ">0")
positive_B = Bound(
    id="positive_B", small=Integer(0), large=B[p, i, j], strict=True,
    certificate=gap[i, j] + eps * low[p, i, j] + slack,
    by=(shifted, above[1], bounded[1], slack_is, above[0], bounded[0], small_eps, positive_eps),
    because="J >= a_0 > 0 and M^h >= -k_0 entrywise: every eps > 0 with eps k_0 < a_0 will do.",
)
total_B = Step(
    id="total_B", lhs=Sum(B[p, i, j], (j, 1, m)), rhs=N[p],
    by=(stochastic_J, shifted, rows_M, row_total), because="Row sums of J are 1, of M^h mu_h.",
)
positive_N = Bound(
    id="positive_N", small=Integer(0), large=N[p], certificate=Sum(B[p, i, j], (j, 1, m)),
    strict=True, by=(total_B, positive_B), because="A sum of positive entries is positive.",
)
N_reciprocal = Definition(N_inv[p], Integer(1), over=N[p])
normalised = Definition(A_r[p, i, j], N_inv[p] * B[p, i, j])
positive_heads = Bound(
    id="positive_heads", small=Integer(0), large=A_r[p, i, j], certificate=N_inv[p] * B[p, i, j],
    strict=True, by=(normalised, N_reciprocal, positive_N, positive_B),
    because="A positive matrix divided by a positive number is positive.",
)
stochastic_heads = Step(
    id="stochastic_heads", lhs=Sum(A_r[p, i, j], (j, 1, m)), rhs=Integer(1),
    by=(normalised, total_B, N_reciprocal, positive_N),
    because="Divide by the row sum: positive row-stochastic heads, which CW1 writes as softmax.",
)

eps_reciprocal = Definition(eps_inv, Integer(1), over=eps)
sum_t = Definition(tau[a, b], Sum(t[p, a, b], (p, 1, r)))
sum_al = Definition(sigma, eps + Sum(al[p], (p, 1, r)))
nonzero = inverts(sigma_inv, sigma, r"$\varepsilon + \sum_h \alpha_h \ne 0$")
in_C = combination(J, al, M)
corrected = Definition(T_r[p, a, b], eps_inv * (t[p, a, b] - al[p] * sigma_inv * tau[a, b]))
weighted = Step(
    id="weighted", lhs=Sum(al[p] * B[p, i, j], (p, 1, r)), rhs=sigma * J[i, j],
    by=(in_C, shifted, sum_al), because="sum_h alpha_h (J + eps M^h) = (sum_h alpha_h + eps) J.",
)
unweighted = Step(
    id="unweighted", lhs=Sum(B[p, i, j] * t[p, a, b], (p, 1, r)),
    rhs=J[i, j] * tau[a, b] + eps * W_r[i, j, a, b], by=(shifted, sum_t, rank_factors),
    because="The shifts add J (x) tau.",
)


def heads(transport: Expr) -> Expr:
    """Block entry of sum_h B^h (x) the transports with this entry."""
    return Sum(B[p, i, j] * transport, (p, 1, r))


rescaled = Step(
    id="rescaled", lhs=Sum(A_r[p, i, j] * N[p] * T_r[p, a, b], (p, 1, r)),
    rhs=heads(T_r[p, a, b]), by=(normalised, N_reciprocal, signed(N, ">0")),
    because="The heads A_r^h with the transports N_h T^h make the layer of B^h (x) T^h, whatever "
    "the T^h are.",
)
r_heads = Step(
    id="r_heads", lhs=heads(T_r[p, a, b]), rhs=W_r[i, j, a, b],
    by=(corrected, weighted, unweighted, eps_reciprocal, positive_eps, nonzero),
    because="alpha_h tau / (eps + sum alpha) takes J (x) tau away within the same r heads, whose "
    "layer is W; all but one of the small eps are allowed.",
)
one_more = Step(
    id="one_more", lhs=heads(eps_inv * t[p, a, b]) - J[i, j] * eps_inv * tau[a, b],
    rhs=W_r[i, j, a, b], by=(unweighted, eps_reciprocal, positive_eps),
    because="A head J of transport -tau/eps takes J (x) tau away whatever J is.",
)
