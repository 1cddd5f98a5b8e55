"""Steps of RA14 on G_i = I and G_i = G: distances are dot products of tied queries and keys.

The weights w = exp S of geodesic attention and w' = exp L of the standard block differ by a factor
of the row, so both have one softmax. Masks are m_ij + 1_{i = j}, so that a token sees itself.
"""

from __future__ import annotations

from sympy import Expr, Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.entries import exponential, signed
from theorems.riemannian_attention.steps.flat_transports import T, trivial
from theorems.rules import Logarithm
from theorems.statement import Definition, Iff, Step, array, symbols_of

n, d, r = symbols_of("n d r")
i, j, k, a, b, c, e = symbols_of("i j k a b c e")
half, t = Rational(1, 2), Symbol("t", real=True)
delta = KroneckerDelta

x, D, U, G = array("x", n, d), array("D", n, d), array("U", n, d, r), array("G", n, d, d)
S, L, u, X = array("S", n, n), array("L", n, n), array("u", n), array("X", n, n)


def square(metric: Expr) -> Expr:
    """(x_i - x_j)^T M (x_i - x_j), M given by its entry (a, b)."""
    return Sum((x[i, a] - x[j, a]) * metric * (x[i, b] - x[j, b]), (a, 1, d), (b, 1, d))


def dot(one, other) -> Expr:
    """x_i . x_j."""
    return Sum(x[one, a] * x[other, a], (a, 1, d))


low_rank = Definition(G[i, a, b], D[i, a] * delta(a, b) + Sum(U[i, a, c] * U[i, b, c], (c, 1, r)))
identity_metric = (
    low_rank, Definition(D[i, a], Integer(1)), Definition(U[i, a, c], Integer(0)),
)
scores = Definition(S[i, j], -half * t * square(G[i, a, b]))
standard = Definition(L[i, j], t * dot(i, j) - half * t * dot(j, j))
row_term = Definition(u[i], -half * t * dot(i, i))
tied_scores = Step(
    id="tied_scores", lhs=S[i, j], rhs=t * dot(i, j) - half * t * dot(j, j) - half * t * dot(i, i),
    by=(scores, *identity_metric),
    because=r"$|x_i - x_j|^2 = |x_i|^2 - 2\, x_i \cdot x_j + |x_j|^2$.",
)
row_and_logits = Step(
    id="row_and_logits", lhs=S[i, j], rhs=L[i, j] + u[i], by=(tied_scores, standard, row_term),
    because="The last term is that of the row.",
)

w, w2, g = array("w", n, n), array("w'", n, n), array("g", n)
h, H = array("h", n, n), array("H", n, n)
m, Z, Z2 = array("m", n, n), array("Z", n), array("Z'", n)
P, P2 = array("P", n, n), array("P'", n, n)
row_factor = Logarithm(
    id="row_factor", left=(w[i, j], g[i] * w2[i, j]), logs=((w, S), (w2, L), (g, u)),
    by=(exponential(w, S), exponential(w2, L), exponential(g, u)),
    because="A term of the row is a factor of its weights.",
)
M = m[i, j] + delta(i, j)
visible = Definition(Z[i], Sum(m[i, k] * w[i, k], (k, 1, n)) + w[i, i])
visible2 = Definition(Z2[i], Sum(m[i, k] * w2[i, k], (k, 1, n)) + w2[i, i])
geodesic = Definition(P[i, j], M * w[i, j], over=Z[i])
dot_product = Definition(P2[i, j], M * w2[i, j], over=Z2[i])
mask, positive, positive2 = signed(m, ">=0"), signed(w, ">0"), signed(w2, ">0")
same_weights = Iff(
    id="same_weights", left=(M * w[i, j] * Z2[i], M * w2[i, j] * Z[i]), right=(P[i, j], P2[i, j]),
    factor=Z[i] * Z2[i], by=(geodesic, dot_product, visible, visible2, mask, positive, positive2),
    because="A token sees itself, so both totals are positive.",
)
factored = Definition(w[i, j], g[i] * w2[i, j])
crossed = Step(
    id="crossed", lhs=M * w[i, j] * Z2[i], rhs=M * w2[i, j] * Z[i],
    by=(factored, visible, visible2), because="The factor of the row is one of its total too.",
)
v, y = array("v", n, d), array("y", n, d)
output = Definition(y[i, a], Sum(P[i, j] * T[i, j, a, b] * v[j, b], (j, 1, n), (b, 1, d)))
same_output = Step(
    id="same_output", lhs=y[i, a], rhs=Sum(P2[i, j] * v[j, a], (j, 1, n)),
    by=(output, trivial, same_weights, crossed),
    because="The weights agree, and every transport is I.",
)

kernel = Definition(X[i, j], t * dot(i, j))
split_logits = Step(
    id="split_logits", lhs=L[i, j], rhs=X[i, j] + u[j], by=(standard, kernel, row_term),
    because="The key-norm term of a column is the row term of that token.",
)
tied = Step(
    id="tied", lhs=X[i, j], rhs=X[j, i], by=(kernel,),
    because="Queries are keys, so the dot product is symmetric.",
)
split_weights = Logarithm(
    id="split_weights", left=(w2[i, j], h[i, j] * g[j]), logs=((w2, L), (h, X), (g, u)),
    by=(exponential(w2, L), exponential(h, X), exponential(g, u)),
    because=r"$w' = \exp L$, $h = \exp(t\, x_i \cdot x_j)$ and $g = \exp u$.",
)
symmetric_kernel = Logarithm(
    id="symmetric_kernel", left=(h[i, j], h[j, i]), logs=((h, X),), by=(exponential(h, X),),
    because="$h = \\exp X$ entry by entry.",
)
l = array("l", n, n)
BALANCED = (
    dot_product, visible2, Definition(w2[i, j], h[i, j] * g[j]),
    Definition(h[i, j], H[i, j] + H[j, i]), Definition(m[i, j], l[i, j] + l[j, i]),
    signed(l, ">=0"), signed(H, ">0"), signed(g, ">0"),
)
balance = Step(
    id="balance", lhs=g[i] * Z2[i] * P2[i, j], rhs=g[j] * Z2[j] * P2[j, i],
    by=BALANCED,
    because=r"$g_i Z'_i P'_{ij} = M_{ij} g_i g_j h_{ij}$, which is symmetric.",
)
stationary = Step(
    id="stationary", lhs=Sum(g[i] * Z2[i] * P2[i, j], (i, 1, n)), rhs=g[j] * Z2[j],
    by=BALANCED, because="Detailed balance, summed over the tokens.",
)

C, F, A = array("C", d, d), array("F", d, d), array("M", d, d)
one_metric = Definition(G[i, a, b], A[a, b])
symmetric_metric = Definition(A[a, b], C[a, b] + C[b, a])


def form(one, other) -> Expr:
    """x_one^T M x_other."""
    return Sum(x[one, a] * A[a, b] * x[other, b], (a, 1, d), (b, 1, d))


homogeneous_scores = Step(
    id="homogeneous_scores", lhs=S[i, j], by=(scores, one_metric, symmetric_metric),
    rhs=t * form(i, j) - half * t * form(j, j) - half * t * form(i, i),
    because="$M$ is symmetric, so the two mixed terms are one; every symmetric matrix is $C + "
    r"C^\top$ with $C = M/2$.",
)
z = array("z", n, d)
tied_points = Step(
    id="tied_points", lhs=S[i, j], rhs=-half * t * Sum((z[i, e] - z[j, e]) ** 2, (e, 1, d)),
    by=(scores, one_metric, Definition(A[a, b], Sum(F[e, a] * F[e, b], (e, 1, d))),
        Definition(z[i, e], Sum(F[e, a] * x[i, a], (a, 1, d)))),
    because=r"$(x_i - x_j)^\top F^\top F (x_i - x_j) = |F x_i - F x_j|^2$.",
)
