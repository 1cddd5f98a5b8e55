"""RA3. The rank spectrum of score families.

The first term, a row term, goes under softmax. Of averages with fixed lambda, of bilinear scores
and of tokens on a sphere only upper bounds stand here; numerics.scores.families recomputes all
ranks modulo a prime.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.riemannian_attention.steps import squared_families as of
from theorems.riemannian_attention.steps.families import on_sphere
from theorems.riemannian_attention.steps.squared_families import (
    C, D, G, P, S, U, identity, kappa, lam, mu, over, projected, query, through_diagonal, turned, x,
)
from theorems.assumptions.widths import side_by_side, total_width
from theorems.statement import (
    Cited, Clause, Definition, Mutant, RankBound, Step, Theorem, array, symbols_of,
)

n, d, r, h, s, t, v, w, w_1 = symbols_of("n d r h s t v w w_1")
i, j, a, b, c, e, p, q = symbols_of("i j a b c e p q")
half = Rational(1, 2)

A, B, A_2, B_2 = array("A", n, w), array("B", n, w), array("A'", n, w_1), array("B'", n, w_1)
J, J_2, R = array("J", v, w), array("J'", v, w_1), array("R", n, n)
F, H = array("F", n, v), array("H", n, v)
widths_add = RankBound(
    id="widths_add", small=(R[i, j], (i, n), (j, n)), large=(F[i, p], (i, n), (p, v)),
    after=(H[j, p], (p, v), (j, n)),
    by=(
        Definition(R[i, j], over(A[i, p], B[j, p], (p, w)) + over(A_2[i, p], B_2[j, p], (p, w_1))),
        Definition(F[i, p], over(J[p, q], A[i, q], (q, w)) + over(J_2[p, q], A_2[i, q], (q, w_1))),
        Definition(H[i, p], over(J[p, q], B[i, q], (q, w)) + over(J_2[p, q], B_2[i, q], (q, w_1))),
        side_by_side(J, J_2),
    ),
    because="The factors side by side: [A, A'] times the transpose of [B, B'].",
)
whole, parted = total_width("sum", J, J_2)

bilinear = RankBound(
    id="bilinear", small=(S[i, j], (i, n), (j, n)),
    large=(over(x[i, a], G[i, a, b], (a, d)), (i, n), (b, d)), after=(x[j, b], (b, d), (j, n)),
    by=(Definition(S[i, j], Sum(x[i, a] * G[i, a, b] * x[j, b], (a, 1, d), (b, 1, d))),),
    because="The metric of the query acts on the query.",
)
pairing = Definition(S[i, j], half * Sum(
    x[i, a] * (G[i, a, b] + G[j, a, b]) * x[j, b], (a, 1, d), (b, 1, d)))
bilinear_symmetrised = Step(
    id="bilinear_symmetrised", lhs=S[i, j], by=(pairing,),
    rhs=over(half * over(x[i, a], G[i, a, b], (a, d)), x[j, b], (b, d))
    + over(x[i, a], half * over(G[j, a, b], x[j, b], (b, d)), (a, d)),
    because="Two products of inner width d.",
)
one_metric = array("G_o", d, d)
bilinear_homogeneous = RankBound(
    id="bilinear_homogeneous", small=(S[i, j], (i, n), (j, n)),
    large=(x[i, a], (i, n), (a, d)),
    after=(over(one_metric[a, b], x[j, b], (b, d)), (a, d), (j, n)),
    by=(pairing, Definition(G[i, a, b], one_metric[a, b])), because="One metric for all tokens.",
)
fixed_core = Definition(G[i, a, b], mu * identity + Sum(
    U[a, c] * (C[i, c, e] + C[i, e, c]) * U[b, e], (c, 1, r), (e, 1, r)))
bilinear_core = Step(
    id="bilinear_core", lhs=S[i, j], by=(turned, pairing, fixed_core, projected),
    rhs=over(x[i, a], mu * x[j, a] + over(U[a, c], kappa[j, c], (c, r)), (a, d))
    + over(kappa[i, c], P[j, c], (c, r)),
    because="The functions x and C_i U^T x: widths d and r.",
)

rho = Symbol("rho", real=True)
K, gamma, f = array("K", h, d, d), array("gamma", n, h), array("f", n, h)
sphere_x = on_sphere(x, rho)
spanned = Sum(gamma[i, q] * K[q, a, b], (q, 1, h))
at_tokens = Definition(f[i, q], Sum(x[i, a] * K[q, a, b] * x[i, b], (a, 1, d), (b, 1, d)))
lowered = half * Sum((G[i, a, b] + G[i, b, a]) * x[i, b], (b, 1, d))


def without_norm(*more: object) -> dict:
    """Scores of which the row term takes in what all keys share: widths 1, d and h."""
    return {
        "lhs": S[i, j],
        "rhs": -half * (2 * lam[i] * rho**2 + over(gamma[i, q], f[i, q], (q, h)))
        + over(lowered, x[j, a], (a, d)) + over(gamma[i, q], -half * f[j, q], (q, h)),
        "by": (query, *more, at_tokens),
    }


sphere = Step(
    id="sphere", **without_norm(Definition(G[i, a, b], lam[i] * identity + spanned), sphere_x),
    because="x_j^T (lambda_i I) x_j = lambda_i rho^2 is a row term: widths 1, d and h, one less "
    "than 1 + d + (1 + h).",
)
gain, inverse_gain, unit = array("gamma_0", d), array("r_0", d), array("u", n, d)
positive_gain = signed(gain, ">0")
sphere_u = on_sphere(unit, rho)
sphere_with_gain = Step(
    id="sphere_with_gain",
    **without_norm(
        Definition(G[i, a, b], lam[i] * inverse_gain[a] ** 2 * identity + spanned),
        Definition(x[i, a], gain[a] * unit[i, a]),
        Definition(inverse_gain[a], Integer(1), over=gain[a]), positive_gain, sphere_u,
    ),
    because="After RMSNorm with gain gamma the matrix diag(gamma)^{-2} takes the place of I.",
)
v_0, W, G_W = array("z", n, w), array("W", d, w), array("G_W", n, w, w)
inside = Definition(x[i, a], Sum(W[a, p] * v_0[i, p], (p, 1, w)))
restricted = Definition(G_W[i, p, q], Sum(W[a, p] * G[i, a, b] * W[b, q], (a, 1, d), (b, 1, d)))
subspace = Step(
    id="subspace", lhs=S[i, j], by=(query, inside, restricted),
    rhs=-half * Sum((v_0[i, p] - v_0[j, p]) * G_W[i, p, q] * (v_0[i, q] - v_0[j, q]),
                    (p, 1, w), (q, 1, w)),
    because="Tokens of a subspace see the metrics restricted to it.",
)
micchelli = Cited(
    id="Micchelli",
    statement="For n >= 2 distinct points x_1, ..., x_n of R^d the matrix of the distances "
    "|x_i - x_j| is nonsingular.",
    source="C. Micchelli, Interpolation of scattered data: distance matrices and conditionally "
    "positive definite functions, Constr. Approx. 2, 1986",
    because="So unsquared scores of distinct tokens have rank n.",
)

four = Integer(4)
x_4, l_4, k_4, S_4 = (array("x_4", four), array("l_4", four), array("k_4", four),
                      array("S_4", four, four))
F_4, K_4, gaps, differ = (array(name, four, four) for name in ("F_4", "K_4", "g_4", "h_4"))
line = (
    Definition(S_4[i, j], -half * l_4[i] * (x_4[i] - x_4[j]) ** 2),
    Definition(l_4[i], 1 + k_4[i] ** 2),
    Definition(gaps[i, j], (x_4[i] - x_4[j]) ** 2 + KroneckerDelta(i, j)), signed(gaps, ">0"),
    Definition(differ[i, j], (l_4[i] - l_4[j]) ** 2 + KroneckerDelta(i, j)), signed(differ, ">0"),
)

THEOREM = Theorem(
    id="RA3",
    title="The rank spectrum of score families",
    clauses=(
        Clause("widths", r"$A B^\top + A' B'^\top$ with inner widths $w$ and $w_1$ is a product of "
               r"inner width $v = w + w_1$, the coordinates $J$, $J'$ side by side: inner widths "
               r"of summands add, and bound the rank.", (widths_add, whole, parted)),
        Clause("bilinear", r"$x_i^\top G_i x_j$ has inner width $d$, whatever the $G_i$. "
               r"Symmetrised, $\frac12 x_i^\top (G_i + G_j) x_j$, it has $d + d$; one metric $d$; "
               r"metrics $\lambda_0 I + U (C_i + C_i^\top) U^\top$ with $r$ columns $d + r$.",
               (bilinear, bilinear_symmetrised, bilinear_homogeneous, bilinear_core)),
        Clause("conformal", r"Squared query-side scores, $G_i = \lambda_i I$: inner widths $1 + d "
               r"+ 1$; the same for one symmetric metric. Here and below the first width is that "
               r"of a row term $a_i \cdot 1$, which softmax does not see.",
               (of.conformal, of.homogeneous)),
        Clause("diagonal", r"$G_i = \mathrm{diag}(D_i)$: inner widths $1 + d + d$.",
               (of.diagonal,)),
        Clause("shared_diagonal", r"$G_i = \lambda_i I + U\, \mathrm{diag}(\sigma_i)\, U^\top$ "
               r"with $r$ columns: inner widths $1 + d + 1 + r$.", (of.shared_diagonal,)),
        Clause("shared_core", r"$G_i = \lambda_i I + U C_i U^\top$ with $C_i$ in the span of a "
               r"basis $E_p$ of the symmetric $r \times r$ matrices, of $s = r(r+1)/2$ elements "
               r"that reach every symmetric matrix: inner widths $1 + d + 1 + s$.",
               (of.shared_core, of.pairs, of.count, of.reached)),
        Clause("full", r"$G_i$ in the span of $t$ matrices: inner widths $1 + d + t$; a basis of "
               r"the symmetric matrices has $t = d(d+1)/2$, and $1 + d + t = (d+1)(d+2)/2 = "
               r"\binom{d+2}{2}$.", (of.full, of.all_symmetric, of.all_counted)),
        Clause("spans", r"If $W U = I_r$, $U^\top v = 0$ and $v \ne 0$ (independent columns, $r < "
               r"d$), then $N = l_0 I + U M_0 U^\top$ determines $l_0$ by $v^\top N v = l_0 |v|^2$ "
               r"and $M_0 = W N W^\top - l_0 W W^\top$: $I$ and the $U E_p U^\top$ of independent "
               r"$E_p$ are independent. So positive definite metrics of the five families before "
               r"can span $1$, $d$, $1 + r$, $1 + r(r+1)/2$ and $d(d+1)/2$ dimensions; where they "
               r"do, with at least as many tokens as the sum of the widths, this sum is the rank "
               r"for all tokens outside a proper algebraic subset (RA1, attained).",
               (of.read_share, of.read_core)),
        Clause("symmetrised_diagonal", r"Averages of both sides, $G_i = \lambda_0 I + U\, "
               r"\mathrm{diag}(\sigma_i)\, U^\top$ with fixed $\lambda_0$: inner widths $1 + 1 + d "
               r"+ 3 r$. (Where $\lambda_i$ varies, and in the other families before, twice the "
               r"query-side width and for generic tokens and metrics no less: RA1, symmetrised "
               r"and symmetrised attained.)", (of.symmetrised_diagonal,)),
        Clause("symmetrised_core", r"Averages of both sides, $G_i = \lambda_0 I + U C_i U^\top$ "
               r"with fixed $\lambda_0$, $C_i$ in the span of a basis of the symmetric matrices: "
               r"inner widths $1 + 1 + d + r + 2 s = d + 1 + (r + 1)^2$.",
               (of.symmetrised_core, of.core_width)),
        Clause("sphere", r"Tokens with $|x_i|^2 = \rho^2$ and $G_i = \lambda_i I + \sum_{q \le h} "
               r"\gamma_{iq} K_q$: inner widths $1 + d + h$, one less than $1 + d + (1 + h)$. "
               r"Tokens $x_i = \mathrm{diag}(\gamma_0) u_i$, $\gamma_0 > 0$, with $u_i$ on a "
               r"sphere: the same with $\mathrm{diag}(\gamma_0)^{-2}$ for $I$.",
               (sphere, sphere_with_gain)),
        Clause("subspace", r"Tokens $x_i = W z_i$ of a subspace of dimension $w$ have the scores "
               r"of $z_i$ with the metrics $W^\top G_i W$. (LayerNorm without gain, bias and "
               r"epsilon leaves tokens in a hyperplane, $w = d - 1$, and on a sphere.)",
               (subspace,)),
        Clause("unsquared", r"For $n \ge 2$ distinct tokens the distances $|x_i - x_j|$ have rank "
               r"$n$: unsquared scores factor through no fixed width even for $G = I$.",
               (micchelli,)),
    ),
    mutants=(
        Mutant("heterogeneous_is_more", RankBound(
            id="conformal", small=(KroneckerDelta(p, q), (p, four), (q, four)), by=line,
            large=(S_4[i, j], (i, four), (j, four)), before=(F_4[p, i], (p, four), (i, four)),
            after=(K_4[j, q], (j, four), (q, four)), because="claimed"),
            "conformal metrics, all different, give rank d + 3 for distinct tokens"),
        Mutant("bilinear_symmetrised_d", replace(
            bilinear_homogeneous, by=(pairing,)), "symmetrised bilinear scores have rank d"),
        Mutant("diagonal_is_conformal", of.diagonal, "metrics D_i D_i^T need no more",
               redefine=(Definition(G[i, a, b], D[i, a] * D[i, b]),)),
        Mutant("diagonal_of_the_core", replace(
            of.shared_core, by=of.shared[:-1],
            rhs=of.shared_diagonal.rhs + over(of.core[i, p], -half * of.y[j, p], (p, s))),
            "a full core on top of a diagonal one"),
        Mutant("any_vector", of.read_share, "a vector that meets the columns",
               drop=(of.independent,)),
        Mutant("r_squared_pairs", replace(of.pairs, rhs=2 * r**2), "a core has r^2 coordinates"),
        Mutant("lambda_varies", of.symmetrised_diagonal, "d + 2 + 3 r with varying lambda",
               redefine=(Definition(G[i, a, b], lam[i] * identity + through_diagonal),)),
        Mutant("symmetrised_alike", replace(
            of.symmetrised_core,
            rhs=of.symmetrised_core.rhs - over(of.y[i, p], of.core[j, p], (p, s))),
            "symmetrising adds one set of quadratic features only"),
        Mutant("off_the_sphere", sphere, "one width goes off the sphere too", drop=(sphere_x,)),
        Mutant("any_metric_on_a_sphere", sphere, "one metric other than I loses a width",
               redefine=(Definition(G[i, a, b], lam[i] * one_metric[a, b] + spanned),)),
        Mutant("euclidean_on_a_subspace", subspace, "the metrics do not matter on a subspace",
               redefine=(Definition(G_W[i, p, q], Sum(W[a, p] * W[a, q], (a, 1, d))),)),
        Mutant("gain_without_square", sphere_with_gain,
               r"$\operatorname{diag}(\gamma)^{-1}$ takes the place of I",
               redefine=(Definition(G[i, a, b], lam[i] * inverse_gain[a] * identity + spanned),)),
        Mutant("unit_gain", sphere_with_gain, "I stays, whatever the gain",
               redefine=(Definition(G[i, a, b], lam[i] * identity + spanned),)),
    ),
    uses=("RA1",),
    sources=(
        "Riemannian Attention Mechanisms for Transformers: A Theoretical Framework and "
        "Architecture Design",
        "C. Micchelli, Interpolation of scattered data, Constr. Approx. 1986",
    ),
)
