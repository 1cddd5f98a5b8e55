"""RA4. The width that softmax needs is the rank of the centred scores."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Expr, Integer, KroneckerDelta, Rational, Sum, Symbol

from theorems.assumptions.entries import exponential, right_inverse, signed
from theorems.riemannian_attention.steps.ones import beside_ones, coordinates_of_ones
from theorems.assumptions.widths import claimed_width, side_by_side, total_width
from theorems.rules import Logarithm
from theorems.statement import (
    Clause, Definition, Iff, Mutant, RankBound, Step, Theorem, Witness, array, symbols_of,
)

n, m, v, w, d = symbols_of("n m v w d")
i, j, k, l, a, p, q = symbols_of("i j k l a p q")
half = Rational(1, 2)

S, u, mu = array("S", n, m), array("u", n), array("mu", n)
r = Symbol("r", real=True)
reciprocal = Definition(r, Integer(1), over=m)


def C(row: Expr, column: Expr) -> Expr:
    """Entry of the centring matrix C = I - 11^T/m."""
    return KroneckerDelta(row, column) - r


def centring(matrix: Expr) -> Expr:
    """Entry (i, l) of M C, M given by its entry (i, j)."""
    return Sum(matrix * C(j, l), (j, 1, m))


SC, row_mean = array("S_C", n, m), Definition(mu[i], r * Sum(S[i, j], (j, 1, m)))
centred = Definition(SC[i, l], centring(S[i, j]))
shifts = RankBound(
    id="shifts", small=(SC[i, l], (i, n), (l, m)), large=(S[i, j] + u[i], (i, n), (j, m)),
    after=(C(j, l), (j, m), (l, m)), by=(centred, reciprocal),
    because="1^T C = 0, so centring removes every u 1^T.",
)
attained = Step(
    id="attained", lhs=S[i, l] - mu[i], rhs=SC[i, l], by=(centred, row_mean),
    because="At u = minus the row means the shifted matrix is the centred one.",
)

Q, K, N, NC = array("Q", n, w), array("K", m, w), array("N", n, m), array("N_C", n, m)
logits = Definition(N[i, j], Sum(Q[i, q] * K[j, q], (q, 1, w)) - u[i])
centred_logits = Definition(NC[i, l], centring(N[i, j]))
width = RankBound(
    id="width", small=(NC[i, l], (i, n), (l, m)), large=(Q[i, q], (i, n), (q, w)),
    after=(Sum(K[j, q] * C(j, l), (j, 1, m)), (q, w), (l, m)),
    by=(centred_logits, logits, reciprocal),
    because="S = Q K^T - u 1^T gives S C = Q (C K)^T.",
)

phi, Phi, Psi = array("phi_0", n), array("Phi'", n, v), array("Psi'", m, v)
L, R = array("L", v, n), array("R", v, m)
F, FC = array("F", n, m), array("F_C", n, m)
featured = Definition(F[i, j], phi[i] + Sum(Phi[i, p] * Psi[j, p], (p, 1, v)))
centred_features = Definition(FC[i, l], centring(F[i, j]))
query_independent, key_independent = right_inverse(L, Phi), beside_ones(Psi, R)
at_most = RankBound(
    id="at_most", small=(FC[i, l], (i, n), (l, m)), large=(Phi[i, p], (i, n), (p, v)),
    after=(Sum(Psi[j, p] * C(j, l), (j, 1, m)), (p, v), (l, m)),
    by=(centred_features, featured, reciprocal),
    because="The row term phi_0 goes, and Phi' (C Psi')^T is left.",
)
at_least = RankBound(
    id="at_least", small=(KroneckerDelta(p, q), (p, v), (q, v)), large=(FC[i, l], (i, n), (l, m)),
    before=(L[p, i], (p, v), (i, n)), after=(R[q, l], (l, m), (q, v)),
    by=(centred_features, featured, reciprocal, key_independent, query_independent),
    because="With L Phi' = I, R Psi' = I and R 1 = 0: L (S C) R^T = I.",
)

T, T_inv, TC = array("T", m, m), array("T^{-1}", m, m), array("T_C", m, m)
e, Y, Z = array("e", m), array("Y", m, v), array("Z", v, m)
ones_basis, ones_complete = coordinates_of_ones(e, Y, Z)
centred_T = Definition(TC[i, l], centring(T[i, j]))
invertible = right_inverse(T, T_inv)
from_inverse = RankBound(
    id="from_inverse", small=(KroneckerDelta(p, q), (p, v), (q, v)),
    large=(TC[i, l], (i, m), (l, m)),
    before=(Sum(Z[p, k] * T_inv[k, i], (k, 1, m)), (p, v), (i, m)), after=(Y[l, q], (l, m), (q, v)),
    by=(centred_T, reciprocal, ones_basis, invertible),
    because="Z T^{-1} (T C) Y = Z C Y = I, as Z Y = I and Z 1 = 0.",
)
lost = RankBound(
    id="lost", small=(TC[i, l], (i, m), (l, m)),
    large=(Sum(TC[i, k] * Y[k, p], (k, 1, m)), (i, m), (p, v)), after=(Z[p, l], (p, v), (l, m)),
    by=(centred_T, reciprocal, ones_complete),
    because="T C = T C (1 e^T + Y Z) = (T C Y) Z.",
)
traces = Sum(e[k], (k, 1, m)) + Sum(Y[k, p] * Z[p, k], (k, 1, m), (p, 1, v))
all_coordinates = Step(id="all_coordinates", lhs=traces, rhs=m, by=(ones_complete,),
                       because="The trace of 1 e^T + Y Z = I.")
one_lost = Step(id="one_lost", lhs=traces, rhs=1 + v, by=(ones_basis,),
                because="e^T 1 = 1 and Z Y = I: m = 1 + v.")

w_1 = symbols_of("w_1")[0]
c, J, J_1 = array("c", m), array("J", w_1, w), array("J_1", w_1)
B, BC, Q_1, K_1 = (array("B", n, m), array("B_C", n, m), array("Q_1", n, w_1), array("K_1", m, w_1))
with_column = Definition(B[i, j], Sum(Q[i, q] * K[j, q], (q, 1, w)) + c[j] - u[i])
centred_B = Definition(BC[i, l], centring(B[i, j]))
wider = (
    Definition(Q_1[i, p], J_1[p] + Sum(J[p, q] * Q[i, q], (q, 1, w))),
    Definition(K_1[j, p], J_1[p] * c[j] + Sum(J[p, q] * K[j, q], (q, 1, w))),
    side_by_side(J_1, J),
)
column_term = RankBound(
    id="column_term", small=(BC[i, l], (i, n), (l, m)), large=(Q_1[i, p], (i, n), (p, w_1)),
    after=(Sum(K_1[j, p] * C(j, l), (j, 1, m)), (p, w_1), (l, m)),
    by=(centred_B, with_column, *wider, reciprocal),
    because="A column term is one more product, of inner width 1: S C has rank at most the width "
    "plus 1.",
)
whole, parted = total_width("column", J_1, J)
slope, position, other = Symbol("s", real=True), array("t", n), array("t'", m)
alibi = Definition(B[i, j], Sum(Q[i, q] * K[j, q], (q, 1, w)) - slope * (position[i] - other[j]))
causal_alibi = Step(
    id="causal_alibi", lhs=B[i, j],
    rhs=Sum(Q[i, q] * K[j, q], (q, 1, w)) - slope * position[i] + slope * other[j],
    by=(alibi,), because="-s (i - j) is a row term and a column term.",
)
four = Integer(4)
t_4, A_4, I_4 = array("t_4", four), array("A_4", four, four), array("A_4^{-1}", four, four)
distances = [[abs(row - column) for column in range(4)] for row in range(4)]
bidirectional = Witness(
    id="bidirectional",
    values={t_4: [0, 1, 2, 3], A_4: distances, I_4: [
        [fmpq(-1, 3), fmpq(1, 2), 0, fmpq(1, 6)], [fmpq(1, 2), -1, fmpq(1, 2), 0],
        [0, fmpq(1, 2), -1, fmpq(1, 2)], [fmpq(1, 6), 0, fmpq(1, 2), fmpq(-1, 3)],
    ]},
    holds=((A_4[i, j] ** 2, (t_4[i] - t_4[j]) ** 2),
           (Sum(I_4[i, k] * A_4[k, j], (k, 1, four)), KroneckerDelta(i, j))),
    because="|i - j| on four tokens has an inverse.",
)

E, E2, P, P2 = array("E", n, m), array("E'", n, m), array("P", n, m), array("P'", n, m)
Z_1, Z_2, V, g = array("Z_1", n), array("Z_2", n), array("V", n, m), array("g", n)
S2 = array("S'", n, m)
r_1, r_2 = array("r_1", n), array("r_2", n)
walks = (
    Definition(P[i, j], V[i, j] * E[i, j] * r_1[i]), Definition(r_1[i], Integer(1), over=Z_1[i]),
    Definition(P2[i, j], V[i, j] * E2[i, j] * r_2[i]), Definition(r_2[i], Integer(1), over=Z_2[i]),
)
seen, totals = signed(V, ">0"), (signed(Z_1, ">0"), signed(Z_2, ">0"))
same_walk = Iff(
    id="same_walk", left=(P[i, j], P2[i, j]), right=(E[i, j] * Z_2[i], E2[i, j] * Z_1[i]),
    factor=V[i, j] * r_1[i] * r_2[i], by=(*walks, seen, *totals),
    because="Where a row sees a column V > 0 drops out, and the total of the whole row, columns "
    "outside the block included, is a factor of the row.",
)
row_factor = Logarithm(
    id="row_factor", left=(E2[i, j], g[i] * E[i, j]), logs=((E, S), (E2, S2), (g, u)),
    by=(exponential(E, S), exponential(E2, S2), exponential(g, u)),
    because="A factor of a row is a row term of the logits: S' = S + u 1^T on the block.",
)

x, X, XC = array("x", n, d), array("X", n, n), array("X_C", n, n)
r_n = Symbol("r_n", real=True)
token_scores = Definition(X[i, j], -half * Sum((x[i, a] - x[j, a]) ** 2, (a, 1, d)))
B_4, BC_4 = array("B_4", four, four), array("C_4", four, four)
b_4, Q_4, K_4, Q_5, K_5 = (array(name, four, Integer(size)) for name, size in (
    ("b_4", 4), ("Q_4", 1), ("K_4", 1), ("Q_5", 2), ("K_5", 2)))
any_bias = (
    Definition(BC_4[i, l], Sum(B_4[i, j] * (KroneckerDelta(j, l) - Rational(1, 4)), (j, 1, four))),
    Definition(B_4[i, j], Sum(Q_4[i, p] * K_4[j, p], (p, 1, Integer(1))) + b_4[i, j]),
)

THEOREM = Theorem(
    id="RA4",
    title="The width that softmax needs is the rank of the centred scores",
    clauses=(
        Clause("centred", r"With $C = I - \frac1m \mathbf{1} \mathbf{1}^\top$: $\mathrm{rank}(S + "
               r"u \mathbf{1}^\top) \ge \mathrm{rank}(S C)$ for every $u$, with equality at minus "
               r"the row means: the minimum over $u$ is $\mathrm{rank}(S C)$.", (shifts, attained)),
        Clause("width", r"If $\mathrm{softmax}(Q K^\top) = \mathrm{softmax}(S)$, that is $Q K^\top "
               r"= S + u \mathbf{1}^\top$ (CW1), then the inner width is at least $\mathrm{rank}(S "
               r"C)$. (By the clause before, $S C$ itself is such a $Q K^\top$.)", (width,)),
        Clause("generic", r"Let $S = \phi_0 \mathbf{1}^\top + \Phi' \Psi'^\top$ with $\Phi'$ of "
               r"width $v$. Then $\mathrm{rank}(S C) \le v$, and $= v$ if the columns of $\Phi'$ "
               r"are independent ($L \Phi' = I$) and so are $\mathbf{1}$ and those of $\Psi'$. For "
               r"query-side scores $v = d + g$, and the columns are independent for positive "
               r"definite metrics with a span of dimension $g$ and $n \ge 1 + d + g$ tokens "
               r"outside a proper algebraic subset (RA1, attained): exactly $d + g$ there.",
               (at_most, at_least)),
        Clause("invertible", r"For an invertible $m \times m$ matrix $T$ with $m = 1 + v \ge 2$: "
               r"$\mathrm{rank}(T C) = v = m - 1$, by a basis of $\mathbf{1}$ and the columns of "
               r"$Y$, dual to $e, Z$. So $N \times N$ scores with an inverse need width $N - 1$.",
               (from_inverse, lost, all_coordinates, one_lost)),
        Clause("column_terms", r"If $Q K^\top + \mathbf{1} c^\top = S + u \mathbf{1}^\top$ with "
               r"inner width $w$, then $\mathrm{rank}(S C) \le w + 1$, the coordinates $J_1$, $J$ "
               r"(orthonormal and complete) side by side: a fixed column term lowers the need by "
               r"at most 1. Causal ALiBi, $-s (i - j)$, is a row term and a column term.",
               (column_term, whole, parted, causal_alibi)),
        Clause("bidirectional", r"A bias $|i - j|$ is no sum of a row and a column term, which "
               r"has rank at most $2$: on four tokens it is invertible. (On any $n \ge 2$ too: it "
               r"holds distances of points of a line, RA5.)", (bidirectional,)),
        Clause("causal", r"Let $P_{ij} = V_{ij} E_{ij} / Z_i$ and $P'_{ij} = V_{ij} E'_{ij} / "
               r"Z'_i$ with positive totals of whole rows, $E = \exp S$, $E' = \exp S'$. On a "
               r"block of rows and columns that see each other, $V > 0$: $P = P'$ iff $Z'_i E_{ij} "
               r"= Z_i E'_{ij}$, and $E'_{ij} = g_i E_{ij}$ with $g = \exp u$ iff $S' = S + u "
               r"\mathbf{1}^\top$. So under a causal mask, $N$ keys first and then $N$ queries, "
               r"$P = P'$ takes at least the width that the $N \times N$ block needs without mask.",
               (same_walk, row_factor)),
    ),
    mutants=(
        Mutant("rank_of_S", replace(shifts, small=(S[i, l], (i, n), (l, m)), after=None,
               large=(SC[i, l], (i, n), (l, m))), "width rank S is needed"),
        Mutant("columns_centred", replace(
            shifts, small=(TC[i, l], (i, m), (l, m)), after=None, by=(centred_T, reciprocal),
            large=(T[i, l] - r * Sum(T[k, l], (k, 1, m)), (i, m), (l, m))),
            "the columns are centred"),
        Mutant("width_d", replace(
            at_most, small=(XC[i, l], (i, n), (l, n)), large=(x[i, a], (i, n), (a, d)),
            after=(x[l, a], (a, d), (l, n)),
            by=(Definition(XC[i, l], X[i, l] - r_n * Sum(X[i, j], (j, 1, n))), token_scores,
                Definition(r_n, Integer(1), over=n))),
            "homogeneous scores need width d only"),
        Mutant("ones_among_the_columns", at_least, r"independent columns of $\Psi'$",
               drop=(key_independent,), add=(right_inverse(R, Psi),)),
        Mutant("nothing_lost", replace(
            from_inverse, small=(KroneckerDelta(k, l), (k, m), (l, m)), after=None,
            before=(T_inv[k, i], (k, m), (i, m))), "an invertible matrix needs width m"),
        Mutant("column_term_free", replace(
            column_term, large=(Q[i, q], (i, n), (q, w)),
            after=(Sum(K[j, q] * C(j, l), (j, 1, m)), (q, w), (l, m))),
            "a column term never lowers the need"),
        Mutant("any_bias", claimed_width(
            "column_term", (BC_4[i, j], (i, four), (j, four)), Q_5, K_5, any_bias),
            "a fixed bias of pairs lowers the need by at most 1: beside width 1 the rank is 2"),
        Mutant("hidden_columns", same_walk, "columns that the row does not see", drop=(seen,),
               add=(signed(V, ">=0"), signed(E, ">0"), signed(E2, ">0"))),
        Mutant("bias_of_distances", replace(
            causal_alibi, rhs=Sum(Q[i, q] * K[j, q], (q, 1, w)) - slope * position[i]),
            "the row term is all of causal ALiBi"),
    ),
    uses=("CW1", "RA1", "RA5"),
    sources=(
        "Riemannian Attention Mechanisms for Transformers: A Theoretical Framework and "
        "Architecture Design",
    ),
)
