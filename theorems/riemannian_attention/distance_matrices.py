"""RA5. Matrices of unsquared distances have full rank."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum

from theorems.assumptions.entries import right_inverse, signed
from theorems.assumptions.matrices import orthogonal
from theorems.assumptions.spectra import bits, nested_bits, orthonormal_eigenvectors, sum_zero
from theorems.statement import (
    Bound, Cited, Clause, Definition, Mutant, Step, Theorem, Witness, array, symbols_of,
)

n, d, t, m = symbols_of("n d t m")
i, j, k, l, a, b, p = symbols_of("i j k l a b p")

schoenberg = Cited(
    id="Schoenberg",
    statement="For distinct points x_1, ..., x_n of R^d and real c_1, ..., c_n that sum to 0 and "
    "are not all 0: sum_ij c_i c_j |x_i - x_j| < 0.",
    source="I. J. Schoenberg, Metric spaces and positive definite functions, Trans. Amer. Math. "
    "Soc. 44, 1938; C. Micchelli, Interpolation of scattered data: distance matrices and "
    "conditionally positive definite functions, Constr. Approx. 2, 1986",
    because="The Gaussian kernel is strictly positive definite on distinct points, and |x| is an "
    r"integral of $1 - \exp(-s |x|^2)$ over s with a positive weight.",
)

D, V, mu, s = array("D", n, n), array("V", n, t), array("mu", t), array("s", t)
c = array("c", t, t, n)


def form(matrix: IndexedBase, one: Expr, other: Expr) -> Expr:
    """Sum over i and j of the product of a matrix with two vectors, given by their entries."""
    return Sum(one * matrix[i, j] * other, (i, 1, n), (j, 1, n))


eigen, nonnegative = orthonormal_eigenvectors(D, V, mu), signed(mu, ">=0")
column_sum = Definition(s[k], Sum(V[i, k], (i, 1, n)))
crossed = Definition(c[k, l, i], s[l] * V[i, k] - s[k] * V[i, l])
distinct = 1 - KroneckerDelta(k, l)
no_sum = Step(
    id="no_sum", lhs=Sum(c[k, l, i], (i, 1, n)), rhs=Integer(0), by=(crossed, column_sum),
    because="c = s_l v_k - s_k v_l, with s the sums of the eigenvectors.",
)
not_negative = Bound(
    id="not_negative", small=Integer(0), large=distinct * form(D, c[k, l, i], c[k, l, j]),
    certificate=distinct * (s[l] ** 2 * mu[k] + s[k] ** 2 * mu[l]),
    by=(crossed, eigen, nonnegative),
    because="The eigenvectors are orthogonal for D too.",
)
its_length = Step(
    id="its_length", lhs=distinct * Sum(c[k, l, i] ** 2, (i, 1, n)),
    rhs=distinct * (s[k] ** 2 + s[l] ** 2), by=(crossed, eigen),
    because="c vanishes only if both sums do; then v_k itself has sum 0.",
)
own_value = Step(
    id="own_value", lhs=form(D, V[i, k], V[j, k]), rhs=mu[k], by=(eigen,),
    because="v_k^T D v_k = mu_k >= 0.",
)

X, Q, nu = array("X", n, n), array("Q", n, n), array("nu", n)
rotation = orthogonal(Q)
trace = Step(
    id="trace", lhs=Sum(nu[p], (p, 1, n)), rhs=Sum(X[i, i], (i, 1, n)),
    by=(Definition(X[i, j], Sum(Q[i, p] * nu[p] * Q[j, p], (p, 1, n))), rotation),
    because="Distances vanish on the diagonal, so the eigenvalues sum to 0.",
)

x, F, G, y = array("x", n, d), array("F", d, d), array("G", d, d), array("y", n, d)
frame = Definition(G[a, b], Sum(F[p, a] * F[p, b], (p, 1, d)))
moved = Definition(y[i, a], Sum(F[a, b] * x[i, b], (b, 1, d)))
one_metric = Step(
    id="one_metric", lhs=Sum((y[i, a] - y[j, a]) ** 2, (a, 1, d)),
    rhs=Sum((x[i, a] - x[j, a]) * G[a, b] * (x[i, b] - x[j, b]), (a, 1, d), (b, 1, d)),
    by=(frame, moved), because="G = F^T F.",
)
F_inv = array("F^{-1}", d, d)
kept_apart = Step(
    id="kept_apart", lhs=Sum(F_inv[b, a] * (y[i, a] - y[j, a]), (a, 1, d)), rhs=x[i, b] - x[j, b],
    by=(moved, right_inverse(F, F_inv)), because="F^{-1} F = I: distinct tokens stay distinct.",
)

L, theta, gap = array("L", n, n), array("theta", n, m), array("g", m)
e = array("e", n)
balanced, positive_gap = sum_zero(e), signed(gap, ">=0")
cut = Definition(L[i, j], Sum(gap[p] * (theta[i, p] - theta[j, p]) ** 2, (p, 1, m)))
partial = Sum(gap[p] * Sum(e[i] * theta[i, p], (i, 1, n)) ** 2, (p, 1, m))
cuts = Bound(
    id="cuts", small=form(L, e[i], e[j]), large=Integer(0), certificate=2 * partial,
    by=(cut, balanced, positive_gap),
    because="The squares theta_ip^2 meet the sum of c; the products remain.",
)
near, far = array("zeta", m), array("xi", m)
line = Step(
    id="line", lhs=Sum(gap[p] * (near[p] - far[p]) ** 2, (p, 1, m)),
    rhs=Sum(gap[p] * far[p], (p, 1, m)) - Sum(gap[p] * near[p], (p, 1, m)),
    by=(nested_bits(near, far),),
    because="A token of a line is the sum of the gaps before it. The bits of one that comes before "
    "another are among those of the other, so the square of their difference is the difference.",
)
Q2 = array("D_2", n, n)
squares = Definition(Q2[i, j], Sum((x[i, a] - x[j, a]) ** 2, (a, 1, d)))
squared = Bound(
    id="squared", small=form(Q2, e[i], e[j]), large=Integer(0), by=(squares, balanced),
    certificate=2 * Sum(Sum(e[i] * x[i, a], (i, 1, n)) ** 2, (a, 1, d)),
    because="The square of sum c_i x_i, which d + 2 points have zero for some c.",
)

four, two = Integer(4), Integer(2)
# Mutants: tokens that are all distinct, and no entry of c that is 0.
no_zero, apart, apart_4 = signed(e, "!=0"), array("g_2", n, n), array("g_4", four, four)
e_4, theta_4, L_4 = array("e_4", four), array("theta_4", four, two), array("L_4", four, four)
gap_2 = array("g'", two)
corners = (
    Definition(L_4[i, j], Sum(gap_2[p] * (theta_4[i, p] - theta_4[j, p]) ** 2, (p, 1, two))),
    bits(theta_4), sum_zero(e_4), signed(gap_2, ">0"), signed(e_4, "!=0"),
    Definition(apart_4[i, j], L_4[i, j] + KroneckerDelta(i, j)), signed(apart_4, ">0"),
)
P, D_4, H, values = (array("x_4", four, two), array("D_4", four, four), array("H", four, four),
                     array("mu_4", four))
rectangle = Witness(
    id="rectangle",
    values={P: [[0, 0], [3, 0], [3, 4], [0, 4]], values: [12, -2, -6, -4],
            D_4: [[0, 3, 5, 4], [3, 0, 4, 5], [5, 4, 0, 3], [4, 5, 3, 0]],
            H: [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]},
    holds=(
        (D_4[i, j] ** 2, Sum((P[i, a] - P[j, a]) ** 2, (a, 1, two))),
        (Sum(D_4[i, j] * H[j, p], (j, 1, four)), values[p] * H[i, p]),
        (Sum(H[i, k] * H[i, l], (i, 1, four)), 4 * KroneckerDelta(k, l)),
    ),
    because="Four orthogonal eigenvectors, one positive eigenvalue.",
)

THEOREM = Theorem(
    id="RA5",
    title="Matrices of unsquared distances have full rank",
    clauses=(
        Clause("signs", r"Let $D_{ij} = |x_i - x_j|$ for $n \ge 2$ distinct points. Orthonormal "
               r"eigenvectors $v_k$ with eigenvalues $\mu_k \ge 0$: for two of them $c = s_l v_k - "
               r"s_k v_l$, $s_k = \sum_i v_{ik}$, sums to $0$, has $c^\top D c \ge 0$ and $|c|^2 = "
               r"s_k^2 + s_l^2$, and where $c = 0$ the vector $v_k$ itself sums to $0$ with "
               r"$v_k^\top D v_k = \mu_k$. Both contradict Schoenberg: at most one eigenvalue is "
               r"$\ge 0$.", (schoenberg, no_sum, not_negative, its_length, own_value)),
        Clause("trace", r"A symmetric $D$ is $Q\, \mathrm{diag}(\nu)\, Q^\top$ with orthogonal $Q$ "
               r"(spectral theorem), and the $\nu$ sum to its trace, which is $0$ for distances. "
               r"With the clause before, for $n \ge 2$: one eigenvalue is positive, $n - 1$ are "
               r"negative, and their product is $\det D$: $(-1)^{n-1} \det D > 0$.", (trace,)),
        Clause("metric", r"For $G = F^\top F$ and $y_i = F x_i$: $|y_i - y_j|^2 = (x_i - x_j)^\top "
               r"G (x_i - x_j)$, and $x_i - x_j = F^{-1} (y_i - y_j)$ for invertible $F$: the two "
               r"clauses before hold for distances in one positive definite metric. (Query-side "
               r"distances with several metrics are not symmetric: not covered.)",
               (one_metric, kept_apart)),
        Clause("cuts", r"For $L_{ij} = \sum_p g_p (\theta_{ip} - \theta_{jp})^2$ with $g \ge 0$ "
               r"and $\sum_i c_i = 0$: $c^\top L c = -2 \sum_p g_p (\sum_i c_i \theta_{ip})^2 \le "
               r"0$. If $\theta$ is $0$ or $1$ and $\theta_{ip} \theta_{jp} = \theta_{ip}$, then "
               r"$L_{ij} = \sum_p g_p \theta_{jp} - \sum_p g_p \theta_{ip}$: with $\theta_{ip} = "
               r"1$ beyond the gap $p$ these are distances of a line, and $\ell_1$ distances are "
               r"sums of such $L$.", (cuts, line)),
        Clause("squared", r"For squared distances and $\sum_i c_i = 0$: $c^\top D c = -2 |\sum_i "
               r"c_i x_i|^2 \le 0$.", (squared,)),
        Clause("rectangle", r"The corners of a rectangle with sides $3$ and $4$: eigenvalues $12, "
               r"-2, -6, -4$.", (rectangle,)),
    ),
    mutants=(
        Mutant("squared_distances", replace(squared, strict=True, by=(
            *squared.by, no_zero, Definition(apart[i, j], Q2[i, j] + KroneckerDelta(i, j)),
            signed(apart, ">0"))),
            "squared distances of distinct points are strictly negative too"),
        Mutant("cuts_are_strict", Bound(
            id="cuts", small=Sum(e_4[i] * L_4[i, j] * e_4[j], (i, 1, four), (j, 1, four)),
            large=Integer(0), strict=True, by=corners, because="claimed",
            certificate=2 * Sum(gap_2[p] * Sum(e_4[i] * theta_4[i, p], (i, 1, four)) ** 2,
                                (p, 1, two))),
            "l_1 distances of distinct points are strictly so"),
        Mutant("bits_of_any_tokens", line, "the bits of two tokens in any order",
               drop=(nested_bits(near, far),), add=(bits(near), bits(far))),
        Mutant("any_sum", cuts, "c need not sum to 0", drop=(balanced,)),
        Mutant("negative_gaps", cuts, "gaps of either sign", drop=(positive_gap,)),
        Mutant("one_eigenvector", replace(
            its_length, lhs=Sum(c[k, l, i] ** 2, (i, 1, n)), rhs=s[k] ** 2 + s[l] ** 2),
            "one eigenvector twice"),
        Mutant("eigenvalues_of_any_sign", not_negative, "eigenvalues of either sign",
               drop=(nonnegative,)),
        Mutant("any_basis", trace, "the columns of Q need not be orthonormal", drop=(rotation,)),
        Mutant("total_for_trace", replace(trace, rhs=Sum(X[i, j], (i, 1, n), (j, 1, n))),
               "the eigenvalues sum to the sum of all entries"),
        Mutant("frame_transposed", one_metric, "y_i = F^T x_i",
               redefine=(Definition(y[i, a], Sum(F[b, a] * x[i, b], (b, 1, d))),)),
    ),
    sources=(
        "Riemannian Attention Mechanisms for Transformers: A Theoretical Framework and "
        "Architecture Design",
    ),
)
