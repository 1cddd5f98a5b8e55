"""Squared scores of RA3 as sums of products of features: query-side, and averages of both sides."""

from __future__ import annotations

from sympy import Expr, KroneckerDelta, Rational, Sum, Symbol

from theorems.riemannian_attention.steps.families import short_of_all, symmetric_basis
from theorems.statement import Definition, Step, array, symbols_of

n, d, r, s, t = symbols_of("n d r s t")
i, j, a, b, c, e, p = symbols_of("i j a b c e p")
half = Rational(1, 2)

x, G, S = array("x", n, d), array("G", n, d, d), array("S", n, n)
lam, mu = array("lambda", n), Symbol("lambda_0", real=True)
D, sigma, U, P = array("D", n, d), array("sigma", n, r), array("U", d, r), array("P", n, r)
core, C, kappa = array("omega", n, s), array("C", n, r, r), array("kappa", n, r)
E, E_dual, y = array("E", s, r, r), array("E'", s, r, r), array("y", n, s)
identity = KroneckerDelta(a, b)


def over(one: Expr, other: Expr, *axes: tuple) -> Expr:
    """The sum of a product of two features."""
    return Sum(one * other, *((axis, 1, size) for axis, size in axes))


def square(metric: Expr) -> Expr:
    """(x_i - x_j)^T M (x_i - x_j) for a metric given by its entry (a, b)."""
    return Sum((x[i, a] - x[j, a]) * metric * (x[i, b] - x[j, b]), (a, 1, d), (b, 1, d))


def norm(token: Expr) -> Expr:
    """|x|^2 of a token."""
    return Sum(x[token, a] ** 2, (a, 1, d))


query = Definition(S[i, j], -half * square(G[i, a, b]))
average = Definition(S[i, j], -half * half * (square(G[i, a, b]) + square(G[j, a, b])))
projected = Definition(P[i, c], over(U[a, c], x[i, a], (a, d)))
cored = Definition(C[i, c, e], Sum(core[i, p] * E[p, c, e], (p, 1, s)))
turned = Definition(kappa[i, c], half * Sum((C[i, c, e] + C[i, e, c]) * P[i, e], (e, 1, r)))
quadratic = Definition(y[i, p], Sum(P[i, c] * E[p, c, e] * P[i, e], (c, 1, r), (e, 1, r)))
through_U = Sum(U[a, c] * C[i, c, e] * U[b, e], (c, 1, r), (e, 1, r))
through_diagonal = Sum(U[a, c] * sigma[i, c] * U[b, c], (c, 1, r))

conformal = Step(
    id="conformal", lhs=S[i, j], by=(query, Definition(G[i, a, b], lam[i] * identity)),
    rhs=-half * lam[i] * norm(i) + over(lam[i] * x[i, a], x[j, a], (a, d))
    + lam[i] * (-half * norm(j)),
    because="Widths 1, d and 1.",
)
G_1 = array("G_1", d, d)
homogeneous = Step(
    id="homogeneous", lhs=S[i, j],
    by=(query, Definition(G[i, a, b], G_1[a, b] + G_1[b, a])),
    rhs=-Sum(x[i, a] * G_1[a, b] * x[i, b], (a, 1, d), (b, 1, d))
    + over(x[i, a], Sum((G_1[a, b] + G_1[b, a]) * x[j, b], (b, 1, d)), (a, d))
    - Sum(x[j, a] * G_1[a, b] * x[j, b], (a, 1, d), (b, 1, d)),
    because="The same with one symmetric metric, here G_1 + G_1^T; S is symmetric.",
)
diagonal = Step(
    id="diagonal", lhs=S[i, j], by=(query, Definition(G[i, a, b], D[i, a] * identity)),
    rhs=-half * Sum(D[i, a] * x[i, a] ** 2, (a, 1, d)) + over(D[i, a] * x[i, a], x[j, a], (a, d))
    + over(D[i, a], -half * x[j, a] ** 2, (a, d)),
    because="Widths 1, d and d.",
)
shared_diagonal = Step(
    id="shared_diagonal", lhs=S[i, j],
    by=(query, Definition(G[i, a, b], lam[i] * identity + through_diagonal), projected),
    rhs=-half * (lam[i] * norm(i) + Sum(sigma[i, c] * P[i, c] ** 2, (c, 1, r)))
    + over(lam[i] * x[i, a] + over(U[a, c], sigma[i, c] * P[i, c], (c, r)), x[j, a], (a, d))
    + lam[i] * (-half * norm(j)) + over(sigma[i, c], -half * P[j, c] ** 2, (c, r)),
    because="Widths 1, d, 1 and r.",
)
core_metric = Definition(G[i, a, b], lam[i] * identity + through_U)
shared = (turned, query, core_metric, quadratic, projected, cored)
shared_core = Step(
    id="shared_core", lhs=S[i, j], by=shared,
    rhs=-half * (lam[i] * norm(i) + over(core[i, p], y[i, p], (p, s)))
    + over(lam[i] * x[i, a] + over(U[a, c], kappa[i, c], (c, r)), x[j, a], (a, d))
    + lam[i] * (-half * norm(j)) + over(core[i, p], -half * y[j, p], (p, s)),
    because="Widths 1, d, 1 and s, the coordinates of C_i in the symmetric matrices.",
)
dual, complete = symmetric_basis(E, E_dual)
trace = Sum(E[p, c, e] * E_dual[p, c, e], (p, 1, s), (c, 1, r), (e, 1, r))
pairs = Step(id="pairs", lhs=2 * trace, rhs=r**2 + r, by=(complete,),
             because="The trace of the symmetriser is r(r+1)/2.")
count = Step(id="count", lhs=trace, rhs=s, by=(dual,), because="The dual family counts s.")
M = array("M", r, r)
reached = Step(
    id="reached", lhs=Sum(E[p, c, e] * E_dual[p, a, b] * M[a, b], (p, 1, s), (a, 1, r), (b, 1, r)),
    rhs=half * (M[c, e] + M[e, c]), by=(complete,),
    because="Every symmetric matrix has coordinates.",
)
E_d, E_d_dual, z = array("L", t, d, d), array("L'", t, d, d), array("z", n, t)
coordinates = array("g", n, t)
full = Step(
    id="full", lhs=S[i, j],
    by=(query, Definition(z[i, p], Sum(x[i, a] * E_d[p, a, b] * x[i, b], (a, 1, d), (b, 1, d))),
        Definition(G[i, a, b], Sum(coordinates[i, p] * E_d[p, a, b], (p, 1, t)))),
    rhs=-half * over(coordinates[i, p], z[i, p], (p, t))
    + over(half * Sum((G[i, a, b] + G[i, b, a]) * x[i, b], (b, 1, d)), x[j, a], (a, d))
    + over(coordinates[i, p], -half * z[j, p], (p, t)),
    because="Widths 1, d and t; D_i + U_i U_i^T lie in the span of all symmetric matrices.",
)
dual_d, complete_d = symmetric_basis(E_d, E_d_dual)
trace_d = Sum(E_d[p, a, b] * E_d_dual[p, a, b], (p, 1, t), (a, 1, d), (b, 1, d))
all_symmetric = Step(
    id="all_symmetric", lhs=2 * (1 + d + trace_d), rhs=(d + 1) * (d + 2), by=(complete_d,),
    because="The trace of the symmetriser again, of matrices of size d.",
)
all_counted = Step(id="all_counted", lhs=trace_d, rhs=t, by=(dual_d,),
                   because="The dual family counts t.")

fixed_diagonal = Definition(G[i, a, b], mu * identity + through_diagonal)
height = array("eta", n)
height_diagonal = Definition(
    height[i], 2 * mu * norm(i) + Sum(sigma[i, c] * P[i, c] ** 2, (c, 1, r)))
symmetrised_diagonal = Step(
    id="symmetrised_diagonal", lhs=-4 * S[i, j],
    by=(average, fixed_diagonal, height_diagonal, projected),
    rhs=height[i] + height[j]
    - 2 * over(x[i, a], 2 * mu * x[j, a] + over(U[a, c], sigma[j, c] * P[j, c], (c, r)), (a, d))
    + over(sigma[i, c], P[j, c] ** 2, (c, r)) + over(P[i, c] ** 2, sigma[j, c], (c, r))
    - 2 * over(sigma[i, c] * P[i, c], P[j, c], (c, r)),
    because="Widths 1, 1, d, r, r and r.",
)
height_core = Definition(height[i], 2 * mu * norm(i) + over(core[i, p], y[i, p], (p, s)))
symmetrised_core = Step(
    id="symmetrised_core", lhs=-4 * S[i, j],
    by=(turned, average, Definition(G[i, a, b], mu * identity + through_U), height_core, quadratic,
        projected, cored),
    rhs=height[i] + height[j]
    - 2 * over(x[i, a], 2 * mu * x[j, a] + over(U[a, c], kappa[j, c], (c, r)), (a, d))
    + over(core[i, p], y[j, p], (p, s)) + over(y[i, p], core[j, p], (p, s))
    - 2 * over(kappa[i, c], P[j, c], (c, r)),
    because="Widths 1, 1, d, s, s and r.",
)
core_width = Step(
    id="core_width", lhs=1 + 1 + d + r + 2 * trace, rhs=d + 1 + (r + 1) ** 2, by=(complete,),
    because="With s = r(r+1)/2.",
)

# A combination of the matrices that span a family determines its coefficients.
mixture, core_0, W, v = array("N", d, d), array("M_0", r, r), array("W", r, d), array("v", d)
share, independent = Symbol("l_0", real=True), short_of_all(U, W, v)
combined = Definition(mixture[a, b], share * identity + Sum(
    U[a, c] * core_0[c, e] * U[b, e], (c, 1, r), (e, 1, r)))
read_share = Step(
    id="read_share", lhs=Sum(v[a] * mixture[a, b] * v[b], (a, 1, d), (b, 1, d)),
    rhs=share * Sum(v[a] ** 2, (a, 1, d)), by=(combined, independent),
    because="U^T v = 0, so only the multiple of I is left.",
)
read_core = Step(
    id="read_core", by=(combined, independent), rhs=core_0[c, e],
    lhs=Sum(W[c, a] * mixture[a, b] * W[e, b], (a, 1, d), (b, 1, d))
    - share * Sum(W[c, a] * W[e, a], (a, 1, d)),
    because="W U = I, and the multiple of I is known.",
)
