"""RA1. The rank of geodesic scores is at most 1 + d + g, and generically equal to it."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Expr, Integer, KroneckerDelta, Rational, Sum

from theorems.assumptions.entries import right_inverse, signed
from theorems.riemannian_attention.steps import feature_points as points
from theorems.assumptions.widths import (
    all_independent, claimed_width, complete, side_by_side, total_width,
)
from theorems.statement import (
    Cited, Clause, Definition, Mutant, RankBound, Step, Theorem, Witness, array, symbols_of,
)

n, d, g, w, w_2, v = symbols_of("n d g w w_2 v")
i, j, k, a, b, c, e, h, p, q = symbols_of("i j k a b c e h p q")
half = Rational(1, 2)

x, G, gamma, B = array("x", n, d), array("G", n, d, d), array("gamma", n, g), array("B", g, d, d)
S, alpha, beta, y = array("S", n, n), array("alpha", n), array("beta", n, d), array("y", n, g)
metrics = Definition(G[i, a, b], Sum(gamma[i, q] * B[q, a, b], (q, 1, g)))


def squared(row: Expr = i, column: Expr = j) -> Expr:
    """|x_row - x_column|^2 in the metric of the row."""
    first, second = x[row, a] - x[column, a], x[row, b] - x[column, b]
    return Sum(first * G[row, a, b] * second, (a, 1, d), (b, 1, d))


scores = Definition(S[i, j], -half * squared())
norm = Definition(alpha[i], Sum(x[i, a] * G[i, a, b] * x[i, b], (a, 1, d), (b, 1, d)))
lowered = Definition(beta[i, a], half * Sum((G[i, a, b] + G[i, b, a]) * x[i, b], (b, 1, d)))
quadratic = Definition(y[i, q], Sum(x[i, a] * B[q, a, b] * x[i, b], (a, 1, d), (b, 1, d)))
row_free = Sum(beta[i, a] * x[j, a], (a, 1, d)) - half * Sum(gamma[i, q] * y[j, q], (q, 1, g))

features = Step(
    id="features", lhs=S[i, j], rhs=-half * alpha[i] + row_free,
    by=(scores, norm, lowered, quadratic, metrics),
    because="Expand the square: a row term, d terms linear in the key, g terms quadratic in it.",
)

J_1, J_d, J_g = array("J_1", w), array("J_d", w, d), array("J_g", w, g)
Phi, Psi = array("Phi", n, w), array("Psi", n, w)
basis = side_by_side(J_1, J_d, J_g)
query_side = Definition(
    Phi[i, p],
    Sum(J_d[p, a] * beta[i, a], (a, 1, d))
    - half * (J_1[p] * alpha[i] + Sum(J_g[p, q] * gamma[i, q], (q, 1, g))),
)
key_side = Definition(
    Psi[j, p],
    J_1[p] + Sum(J_d[p, a] * x[j, a], (a, 1, d)) + Sum(J_g[p, q] * y[j, q], (q, 1, g)),
)
all_features = (query_side, key_side, scores, norm, lowered, quadratic, metrics, basis)
stacked = RankBound(
    id="stacked", small=(S[i, j], (i, n), (j, n)), large=(Phi[i, p], (i, n), (p, w)),
    after=(Psi[j, p], (p, w), (j, n)), by=all_features,
    because=r"Side by side the three pairs of factors are $\Phi$ and $\Psi$: "
    r"$S = \Phi \Psi^\top$.",
)
whole, parted = total_width("score", J_1, J_d, J_g)

v_d, v_g = array("K_d", v, d), array("K_g", v, g)
Q, K_f = array("Q", n, v), array("K", n, v)
S_u = array("S_u", n, n)
two_parts = side_by_side(v_d, v_g)
no_row_term = RankBound(
    id="no_row_term", small=(S_u[i, j], (i, n), (j, n)), large=(Q[i, p], (i, n), (p, v)),
    after=(K_f[j, p], (p, v), (j, n)),
    by=(
        Definition(S_u[i, j], S[i, j] + half * alpha[i]),
        Definition(Q[i, p], Sum(v_d[p, a] * beta[i, a], (a, 1, d))
                   - half * Sum(v_g[p, q] * gamma[i, q], (q, 1, g))),
        Definition(K_f[j, p], Sum(v_d[p, a] * x[j, a], (a, 1, d))
                   + Sum(v_g[p, q] * y[j, q], (q, 1, g))),
        scores, norm, lowered, quadratic, metrics, two_parts,
    ),
    because="Softmax does not see a row term; with it the first pair of factors goes.",
)
whole_2, parted_2 = total_width("softmax", v_d, v_g)

F, H, T, M = array("F", n, w), array("H", n, w), array("T", n, n), array("S_s", n, n)
J, J_t = array("J", w_2, w), array("J'", w_2, w)
doubled = side_by_side(J, J_t)
product_form = Definition(T[i, j], Sum(F[i, p] * H[j, p], (p, 1, w)))
average = Definition(M[i, j], half * (T[i, j] + T[j, i]))
E_1, E_2 = array("E_1", n, w_2), array("E_2", n, w_2)
symmetrised = RankBound(
    id="symmetrised", small=(M[i, j], (i, n), (j, n)), large=(E_1[i, q], (i, n), (q, w_2)),
    after=(half * E_2[j, q], (q, w_2), (j, n)),
    by=(
        average, product_form,
        Definition(E_1[i, q], Sum(J[q, p] * F[i, p] + J_t[q, p] * H[i, p], (p, 1, w))),
        Definition(E_2[i, q], Sum(J[q, p] * H[i, p] + J_t[q, p] * F[i, p], (p, 1, w))),
        doubled,
    ),
    because=r"$S + S^\top = \Phi \Psi^\top + \Psi \Phi^\top$, two products of inner width w side "
    "by side.",
)
whole_3, parted_3 = total_width("symmetrised", J, J_t)
F_inv, H_inv = array("F^+", w, n), array("H^+", w, n)
together = all_independent(F, H, F_inv, H_inv)
symmetrised_full = RankBound(
    id="symmetrised_full", small=(KroneckerDelta(p, q), (p, w_2), (q, w_2)),
    large=(M[i, j], (i, n), (j, n)),
    before=(Sum(J[p, a] * F_inv[a, i] + J_t[p, a] * H_inv[a, i], (a, 1, w)), (p, w_2), (i, n)),
    after=(2 * Sum(J[q, a] * H_inv[a, j] + J_t[q, a] * F_inv[a, j], (a, 1, w)), (j, n), (q, w_2)),
    by=(average, product_form, together, complete(J, J_t)),
    because="On independent columns the two products exchange the two parts.",
)

A, D = array("A", w, n), array("D", w, n)
A_inv, D_inv, R = array("A^+", n, w), array("D^+", n, w), array("R", n, n)
key_independent = right_inverse(D, D_inv)
full = RankBound(
    id="full", small=(KroneckerDelta(p, q), (p, w), (q, w)), large=(R[i, j], (i, n), (j, n)),
    before=(A_inv[i, p], (p, w), (i, n)), after=(D_inv[j, q], (j, n), (q, w)),
    by=(Definition(R[i, j], Sum(A[p, i] * D[p, j], (p, 1, w))), right_inverse(A, A_inv),
        key_independent),
    because="If the columns of both features are independent, S restricts to the identity.",
)
generic = Cited(
    id="generic-nonvanishing",
    statement="A product of finitely many nonzero real polynomials is a nonzero polynomial, and "
    "the zeros of a nonzero real polynomial are a proper algebraic subset of Lebesgue measure 0.",
    source="D. Cox, J. Little, D. O'Shea, Ideals, Varieties, and Algorithms, Springer, chapter 1, "
    "section 1, proposition 5; R. Caron, T. Traynor, The zero set of a polynomial, WSMR report "
    "05-02, 2005",
    because="Minors of size w of the query and of the key features are polynomials in the tokens; "
    "each is nonzero somewhere, so their product is.",
)

X_3, S_3, L_3 = (array(name, Integer(3), Integer(size))
                 for name, size in (("x_3", 1), ("S_3", 3), ("L_3", 3)))
line_scores = Definition(S_3[i, j], -half * Sum((X_3[i, a] - X_3[j, a]) ** 2, (a, 1, Integer(1))))
three = Witness(
    id="three", by=(line_scores,),
    values={X_3: [[0], [1], [3]], L_3: [
        [fmpq(4, 9), -1, fmpq(-1, 9)], [-1, fmpq(9, 4), fmpq(-1, 4)],
        [fmpq(-1, 9), fmpq(-1, 4), fmpq(1, 36)],
    ]},
    holds=((Sum(L_3[i, k] * S_3[k, j], (k, 1, Integer(3))), KroneckerDelta(i, j)),),
    because="d = g = 1: the three scores of the tokens 0, 1, 3 have an inverse.",
)

u, v_1, B_1 = array("K_1", v), array("K'_d", v, d), array("B_1", d, d)
flat_1, flat_2 = array("U", n, v), array("W", n, v)
homogeneous = (
    Definition(flat_1[i, p], Sum(v_1[p, a] * beta[i, a], (a, 1, d)) - half * u[p] * alpha[i]),
    Definition(flat_2[j, p], u[p] + Sum(v_1[p, a] * x[j, a], (a, 1, d))),
    scores, norm, lowered, Definition(G[i, a, b], B_1[a, b]), side_by_side(u, v_1),
)
four, three_axes = Integer(4), [array(f"K_{axis}^3", Integer(3)) for axis in range(3)]
x_4, l_4, S_4 = array("x_4", four), array("lambda_4", four), array("S_4", four, four)
f_4, h_4 = array("f_4", four, Integer(3)), array("h_4", four, Integer(3))
powers = [x_4[i] ** 2, x_4[i], Integer(1)]
conformal_line = (
    Definition(S_4[i, j], -half**2 * (l_4[i] + l_4[j]) * (x_4[i] - x_4[j]) ** 2),
    Definition(f_4[i, p], sum(l_4[i] * e[p] * f for e, f in zip(three_axes, powers, strict=True))),
    Definition(h_4[i, p], sum(e[p] * f for e, f in zip(three_axes, powers[::-1], strict=True))),
    side_by_side(*three_axes), signed(l_4, ">0"),
)

THEOREM = Theorem(
    id="RA1",
    title="The rank of geodesic scores is at most 1 + d + g, and generically equal to it",
    clauses=(
        Clause("features", r"For metrics $G_i = \sum_q \gamma_{iq} B_q$ spanned by $g$ matrices "
               r"the scores $S_{ij} = -\frac12 (x_i - x_j)^\top G_i (x_i - x_j)$ are $-\frac12 "
               r"\alpha_i + \beta_i^\top x_j - \frac12 \sum_q \gamma_{iq}\, x_j^\top B_q x_j$ with "
               r"$\alpha_i = x_i^\top G_i x_i$ and $\beta_i = \frac12 (G_i + G_i^\top) x_i$: "
               r"quadratic features of the tokens.", (features,)),
        Clause("upper_bound", r"$S = \Phi \Psi^\top$ with inner width $w = 1 + d + g$, the "
               r"coordinates of the three parts ($J_1$, $J_d$, $J_g$, orthonormal and complete) "
               r"side by side: $\mathrm{rank}\, S \le 1 + d + g$, and every such $S$ is some $Q "
               r"K^\top$. Only 2 is divided by, so this holds in every characteristic but 2. Here "
               r"and below the rank is the least inner width.", (stacked, whole, parted)),
        Clause("after_softmax", r"$S + u \mathbf{1}^\top$ with $u_i = \frac12 x_i^\top G_i x_i$ "
               r"has inner width $v = d + g$, the coordinates $K_d$, $K_g$ (orthonormal and "
               r"complete) side by side.", (no_row_term, whole_2, parted_2)),
        Clause("symmetrised", r"If $S = \Phi \Psi^\top$ has inner width $w$, the average $\frac12 "
               r"(S + S^\top)$ has inner width $2 w$, two copies $J$, $J'$ of the coordinates "
               r"(orthonormal and complete) side by side: symmetrised scores have rank at most $2 "
               r"(1 + d + g)$.", (symmetrised, whole_3, parted_3)),
        Clause("query_features", r"For symmetric $G_a$ with inverses, $z$ with $z^\top G_0 z > 0$ "
               r"and $g$ metrics with independent coordinates $\gamma$: the $1 + d + g$ tokens "
               r"$x_0 = s z$, $x_a = G_a^{-1} e_a$ and $g$ times $0$, with $s\, z^\top G_0 z = 1 + "
               r"t + t^2$ and $t = \sum_a (G_0 z)_a (G_a^{-1})_{aa}$, determine $c_0$, $l$ and "
               r"$\kappa$ from the values of $c_0 x^\top G x + l^\top G x + \kappa^\top \gamma$: "
               r"the query features are independent there.",
               (points.read_gamma, points.read_linear, points.read_square, points.determined)),
        Clause("key_features", r"The values at $0$, $e_a$, $e_a + e_b$ determine $c_0$, $l$ and "
               r"$\kappa$ in $c_0 + l^\top y + \sum_q \kappa_q y^\top C_q y$ if the symmetric "
               r"parts of the matrices $C_q$ are independent: the key features are independent "
               r"functions.", (points.key_constant, points.key_quadratic, points.key_linear)),
        Clause("attained", r"If the columns of $\Phi$ and of $\Psi$ are independent, "
               r"$\mathrm{rank}\, \Phi \Psi^\top \ge w$. By the two clauses before, minors of size "
               r"$w$ of $\Phi$ and of $\Psi$ are nonzero polynomials in the tokens, and with the "
               r"upper bound, for any positive definite $G_1, \dots, G_n$ with a span of dimension "
               r"$g$ and $n \ge 1 + d + g$: $\mathrm{rank}\, S = 1 + d + g$ for all tokens outside "
               r"a proper algebraic subset.", (full, generic)),
        Clause("symmetrised_attained", r"If the columns of $\Phi$ and $\Psi$ (inner width $w$) are "
               r"independent, all together, the average $\frac12 (S + S^\top)$ has rank at least "
               r"$2 w$. The values of a combination of both at $G$ and $2 G$ determine its query "
               r"part and its key part, so by the clauses before they are independent functions of "
               r"token and metric, and some $2 w$ values of them form an invertible matrix: for "
               r"metrics of a linear space of dimension $g$ with a positive definite member, and "
               r"$n \ge 2 (1 + d + g)$, symmetrised scores have rank $2 (1 + d + g)$ for all "
               r"tokens and metrics outside a proper algebraic subset.",
               (symmetrised_full, points.query_apart, points.key_apart)),
        Clause("witness", r"For $d = g = 1$ the tokens $0, 1, 3$ have scores of rank $3$.",
               (three,)),
    ),
    mutants=(
        Mutant("rank_d_plus_g", claimed_width(
            "stacked", stacked.small, Q, K_f, no_row_term.by[1:]), "rank S <= d + g"),
        Mutant("affine_dimension", claimed_width(
            "stacked", stacked.small, flat_1, flat_2, homogeneous),
            "g is the affine dimension: 0 for homogeneous metrics"),
        Mutant("symmetrised_alike", claimed_width(
            "symmetrised", (S_4[i, j], (i, four), (j, four)), f_4, h_4, conformal_line),
            "symmetrised conformal scores on a line have rank at most 3"),
        Mutant("metric_transposed", features, "beta_i = G_i x_i for any matrix G_i",
               redefine=(Definition(beta[i, a], Sum(G[i, a, b] * x[i, b], (b, 1, d))),)),
        Mutant("metric_of_the_key", replace(
            features, rhs=-half * alpha[j] + Sum(beta[j, a] * x[i, a], (a, 1, d))
            - half * Sum(gamma[j, q] * y[i, q], (q, 1, g))), "the metric of the key"),
        Mutant("column_term_for_row_term", claimed_width(
            "no_row_term", no_row_term.small, Q, K_f, no_row_term.by),
            "the norm of the key may be added instead of that of the query",
            redefine=(Definition(S_u[i, j], S[i, j] + half * alpha[j]),)),
        Mutant("degenerate_metric", points.determined, "z^T G_0 z = 0 will do",
               drop=(points.positive_V,)),
        Mutant("singular_metrics", points.read_linear, "metrics without inverse",
               drop=(points.inverses,)),
        Mutant("dependent_coordinates", points.read_gamma, "fewer than g directions of metrics",
               drop=(points.span_rows,)),
        Mutant("skew_matrices_count", points.key_quadratic, "any g matrices",
               drop=(points.symmetric,)),
        Mutant("each_independent", symmetrised_full, "the columns of each are independent",
               drop=(together,), add=(right_inverse(F_inv, F), right_inverse(H_inv, H))),
        Mutant("one_side_suffices", full, "independent query features suffice",
               drop=(key_independent,)),
    ),
    sources=(
        "Riemannian Attention Mechanisms for Transformers: A Theoretical Framework and "
        "Architecture Design",
        "R. Nicolaides, On a class of finite elements generated by Lagrange interpolation, SIAM "
        "J. Numer. Anal. 9, 1972",
    ),
)
