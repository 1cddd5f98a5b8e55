"""Steps of CW8 on logits S_ij = x_i^T M x_j + r_i + c_j of tokens x_i, with K = (M - M^T) / 2."""

from __future__ import annotations

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Rational, Sum

from theorems.assumptions.entries import right_inverse
from theorems.assumptions.stationarity import isotropic_subspace, spanning
from theorems.statement import Definition, Iff, Step, array, symbols_of

n, d, v, w = symbols_of("n d v w")
i, j, k, l, o, a, b, e, f, g = symbols_of("i j k l o a b e f g")
half = Rational(1, 2)

S, B, x = array("S", n, n), array("B", n, n), array("x", n, d)
M, K, r, c = array("M", d, d), array("K", d, d), array("r", n), array("c", n)
logits = Definition(S[i, j], Sum(x[i, a] * M[a, b] * x[j, b], (a, 1, d), (b, 1, d)) + r[i] + c[j])
antisymmetric = Definition(B[i, j], half * (S[i, j] - S[j, i]))
skew = Definition(K[a, b], half * (M[a, b] - M[b, a]))


def cycle(X: IndexedBase, start: Expr = i, middle: Expr = j, end: Expr = k) -> Expr:
    """X_ij + X_jk + X_ki."""
    return X[start, middle] + X[middle, end] + X[end, start]


def form(left: Expr, right: Expr) -> Expr:
    """K(left, right) of two vectors, given by their entries a and b."""
    return Sum(left * K[a, b] * right, (a, 1, d), (b, 1, d))


token_cycle = Step(
    id="token_cycle", lhs=cycle(B), rhs=form(x[j, a] - x[i, a], x[k, b] - x[i, b]),
    by=(antisymmetric, logits, skew),
    because="Row and column terms cancel around a triangle, and K(x_i, x_i) = 0.",
)
one_base = Step(
    id="one_base", lhs=cycle(B), rhs=cycle(B, o, i, j) + cycle(B, o, j, k) + cycle(B, o, k, i),
    by=(antisymmetric,), because="Every triangle is a sum of triangles through one token o.",
)
alpha, beta, y, z = array("alpha", n), array("beta", n), array("y", n, d), array("z", n, d)
spanned = Step(
    id="spanned", lhs=form(y[o, a], z[o, b]),
    rhs=Sum(alpha[j] * beta[k] * cycle(B, o), (j, 1, n), (k, 1, n)),
    by=(Definition(y[o, a], Sum(alpha[j] * (x[j, a] - x[o, a]), (j, 1, n))),
        Definition(z[o, a], Sum(beta[j] * (x[j, a] - x[o, a]), (j, 1, n))),
        antisymmetric, logits, skew),
    because="K is bilinear: on vectors of the span of the x_j - x_o it is a combination of cycle "
    "sums, and the cycle sums are its values on the generators.",
)
token_potential = Step(
    id="token_potential", lhs=Sum(B[i, j], (j, 1, n)), by=(antisymmetric, logits, skew),
    rhs=form(x[i, a], Sum(x[j, b], (j, 1, n))) + half * n * (r[i] - c[i])
    - half * Sum(r[j] - c[j], (j, 1, n)),
    because="The row sum of B_ij = K(x_i, x_j) + (r_i - c_i)/2 - (r_j - c_j)/2.",
)

s, p, q = array("s", n), array("p", d), array("q", d)
on_a_line = Definition(x[i, a], p[a] + s[i] * q[a])
line = Step(
    id="line", lhs=cycle(B), rhs=Integer(0), by=(antisymmetric, logits, on_a_line),
    because="All differences are multiples of one vector q, and K(q, q) = 0.",
)
two_tokens = Step(
    id="two_tokens", lhs=cycle(B, i, j, j), rhs=Integer(0), by=(antisymmetric,),
    because="Three of two tokens repeat one, and then the cycle sum is B_ij + B_ji + B_jj = 0.",
)
probe = Step(
    id="probe", lhs=form(KroneckerDelta(a, k), KroneckerDelta(b, l)), rhs=K[k, l],
    because="For the tokens 0, e_k, e_l the cycle sum K(x_j - x_i, x_k - x_i) is K(e_k, e_l).",
)
no_skew_part = Iff(
    id="no_skew_part", left=(K[a, b], Integer(0)), right=(M[a, b], M[b, a]), factor=half,
    by=(skew,), because="K = 0 iff M = M^T.",
)

N, C, L, L2 = array("N", d, v), array("C", d, w), array("L", v, d), array("L'", w, d)
basis, vanishes = spanning(N, C, L, L2), isotropic_subspace(N, K)
F, G = array("F", d, d), array("G", d, d)
onto = (Definition(F[a, b], Sum(N[a, k] * L[k, b], (k, 1, v))),
        Definition(G[a, b], Sum(C[a, g] * L2[g, b], (g, 1, w))))
into_C = Sum(G[e, a] * K[e, b], (e, 1, d))
into_N = Sum(F[e, a] * K[e, f] * G[f, b], (e, 1, d), (f, 1, d))
on_V = Sum(F[e, a] * K[e, f] * F[f, b], (e, 1, d), (f, 1, d))
split = Iff(
    id="split", left=(on_V, Integer(0)), right=(K[a, b], into_C + into_N), by=(*onto, basis),
    because="With I = F + G, F = N L and G = C L': K = G^T K + F^T K G + F^T K F, and the "
    "first two are products of inner width w.",
)
isotropic_part = Step(
    id="isotropic_part", lhs=on_V, rhs=Integer(0), by=(onto[0], vanishes),
    because="N^T K N = 0 on a totally isotropic space.",
)
traces = Sum(L[k, a] * N[a, k], (k, 1, v), (a, 1, d)) + Sum(
    L2[g, a] * C[a, g], (g, 1, w), (a, 1, d)
)
whole = Step(id="whole", lhs=traces, rhs=d, by=(basis,), because="The trace of N L + C L' = I.")
widths = Step(id="widths", lhs=traces, rhs=v + w, by=(right_inverse(L, N), right_inverse(L2, C)),
              because="The traces of L N = I and L' C = I: d = v + w.")
