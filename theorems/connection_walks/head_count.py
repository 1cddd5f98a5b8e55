"""CW4. How many heads an operator needs."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Integer, KroneckerDelta, Sum

from theorems.assumptions.entries import right_inverse, signed, sums_to_one
from theorems.connection_walks.steps.positive_heads import (
    A_r, B, J, M, T_r, above, bounded, eps, eps_inv, gap, heads, low, nonzero, one_more, positive_B,
    positive_N, positive_eps, positive_heads, r_heads, rescaled, slack, slack_is, small_eps,
    stochastic_heads, t, total_B, unweighted, weighted,
)
from theorems.connection_walks.steps.realignment import (
    annihilates, constant_block_rows, independent_matrices, supported,
)
from theorems.rules import Vanishing
from theorems.statement import (
    Bound,
    Clause,
    Definition,
    Mutant,
    RankBound,
    Step,
    Theorem,
    Witness,
    array,
    symbols_of,
)

n, m, d, d_o, H, r, m_1 = symbols_of("n m d d_o H r m_1")
i, j, k, l, a, b, c, e, h, g, p, q = symbols_of("i j k l a b c e h g p q")
ROWS, COLUMNS = ((i, n), (j, m)), ((a, d_o), (b, d))  # of a realignment

A, T, W = array("A", H, n, m), array("T", H, d_o, d), array("W", n, m, d_o, d)
A_inv, T_inv = array("A^+", n, m, H), array("T^+", d_o, d, H)
positive_A, stochastic_A = signed(A, ">0"), sums_to_one(A)
layer = Definition(W[i, j, a, b], Sum(A[h, i, j] * T[h, a, b], (h, 1, H)))

realigned = Step(
    id="realigned", rhs=W[i, j, a, b], by=(layer,),
    lhs=Sum(A[h, i, k] * T[h, a, b] * KroneckerDelta(k, j), (h, 1, H), (k, 1, m)),
    because="Block (i, j) of the layer is sum_h A^h_ij T^h: row (i, j) of R(W) is a combination "
    "of the H rows vec(T^h)^T.",
)
head_bound = RankBound(
    id="head_bound", small=(W[i, j, a, b], ROWS, COLUMNS), large=(A[h, i, j], ROWS, (h, H)),
    after=(T[h, a, b], (h, H), COLUMNS), by=(layer,),
    because="R(W) is a product of inner width H, and of rank at most that of its factor of the "
    "vec(A^h).",
)
generic = RankBound(
    id="generic", small=(KroneckerDelta(h, g), (h, H), (g, H)),
    large=(W[i, j, a, b], ROWS, COLUMNS), before=(A_inv[i, j, h], (h, H), ROWS),
    after=(T_inv[a, b, g], COLUMNS, (g, H)),
    by=(layer, independent_matrices(A, A_inv), independent_matrices(T, T_inv)),
    because="With both families independent R(W) restricts to the identity of size H.",
)
block_rows = Step(
    id="block_rows", lhs=Sum(W[i, j, a, b], (j, 1, m)), rhs=Sum(T[h, a, b], (h, 1, H)),
    by=(layer, stochastic_A), because="Every head's rows sum to 1, so i drops out.",
)

V, Z, M_V = array("V", n, m, d_o, d), array("Z", d_o, d), array("M_V", n, m)
total_V = array("V_+", d_o, d)
constant_V = constant_block_rows(V, total_V)
element = Definition(M_V[i, j], Sum(V[i, j, a, b] * Z[a, b], (a, 1, d_o), (b, 1, d)))
column_space = Step(
    id="column_space", lhs=Sum(M_V[i, j], (j, 1, m)), by=(element, constant_V),
    rhs=Sum(total_V[a, b] * Z[a, b], (a, 1, d_o), (b, 1, d)),
    because="An element of C pairs every block with one Z, so its row sums pair the block row sum.",
)

A_0, T_0, w = array("A_0", r, n, m), array("T_0", r, d_o, d), array("w", r)
A_1 = array("A_1", n, m)
merged = Step(
    id="merged", rhs=Sum((A_0[p, i, j] + w[p] * A_1[i, j]) * T_0[p, a, b], (p, 1, r)),
    lhs=Sum(A_0[p, i, j] * T_0[p, a, b], (p, 1, r))
    + A_1[i, j] * Sum(w[p] * T_0[p, a, b], (p, 1, r)),
    because="A transport that depends on r others is absorbed by them: with rank R(W) heads the "
    "T^h are independent.",
)
heads_in_C = Step(
    id="heads_in_C", lhs=Sum(W[i, j, a, b] * T_inv[a, b, h], (a, 1, d_o), (b, 1, d)),
    rhs=A[h, i, j], by=(layer, independent_matrices(T, T_inv)),
    because="Independent transports have a dual family, so A^h lies in C.",
)
positive_in_C = Bound(
    id="positive_in_C", small=Integer(0), large=heads_in_C.lhs, certificate=A[h, i, j],
    strict=True, by=(layer, independent_matrices(T, T_inv), positive_A),
    because="If the heads are softmax heads of full support, C contains a positive matrix.",
)

V_0, V_1 = array("V_0", n, d_o, d), array("V_1", n, m_1, d_o, d)
u_0, u_1 = array("u_0", n), array("u_1", n, m_1)
last_column = Definition(V_0[i, a, b], total_V[a, b] - Sum(V_1[i, q, a, b], (q, 1, m_1)))
coordinates = Step(
    id="coordinates", by=(last_column,),
    lhs=Sum(u_1[i, q] * V_1[i, q, a, b], (i, 1, n), (q, 1, m_1))
    + Sum(u_0[i] * V_0[i, a, b], (i, 1, n)),
    rhs=Sum((u_1[i, q] - u_0[i]) * V_1[i, q, a, b], (i, 1, n), (q, 1, m_1))
    + Sum(u_0[i], (i, 1, n)) * total_V[a, b],
    because="The last block of each row is the sum less the others: every combination of the rows "
    "of R(W) is one of n(m-1) + 1 of them.",
)
V_2, l_2, S_2 = array("V_2", n, m, d_o, d), array("l", m), array("S", m, m_1)
listed = Definition(V_2[i, j, a, b], l_2[j] * V_0[i, a, b]
                    + Sum(S_2[j, q] * V_1[i, q, a, b], (q, 1, m_1)))
height = RankBound(
    id="height", small=(V_2[i, j, a, b] - l_2[j] * total_V[a, b], ROWS, COLUMNS),
    before=(KroneckerDelta(i, k) * (S_2[j, q] - l_2[j]), ROWS, ((k, n), (q, m_1))),
    large=(V_1[k, q, a, b], ((k, n), (q, m_1)), COLUMNS), by=(listed, last_column),
    because="Where S and l list the columns q and the last one, R(W) less the product of l_j and "
    "the block row sum has inner width n(m-1).",
)
X_r, X_inv, y = array("X_r", r, r), array("X_r^{-1}", r, r), array("y", r)
spans = Step(
    id="spans", by=(right_inverse(X_r, X_inv),), rhs=y[q],
    lhs=Sum(y[g] * X_inv[g, p] * X_r[p, q], (g, 1, r), (p, 1, r)),
    because="As many independent elements as coordinates span the space, a positive J included.",
)
width = RankBound(
    id="width", small=(V[i, j, a, b], ROWS, COLUMNS),
    before=(V[i, j, c, e], ROWS, ((c, d_o), (e, d))),
    large=(KroneckerDelta(a, c) * KroneckerDelta(b, e), ((c, d_o), (e, d)), COLUMNS),
    because="R(W) has d_o d columns, so r + 1 is at most d_o d + 1; and r + 1 > n(m-1) + 1 only "
    "where C contains a positive J, and r heads do.",
)

Y = array("Y", n, m)
positive_M, nonnegative_Y = signed(M_V, ">0"), signed(Y, ">=0")
pairing = Sum(Y[i, j] * M_V[i, j], (i, 1, n), (j, 1, m))
orthogonal_Y = Step(
    id="orthogonal_Y", lhs=pairing, rhs=Integer(0), by=(element, annihilates(Y, V, positive_M)),
    because="Y is orthogonal to every element of C.",
)
vanishing_Y = Vanishing(
    id="vanishing_Y", total=pairing, part=Y[i, j], weight=M_V[i, j], over=((i, n), (j, m)),
    power=1, strict=True, by=(positive_M, nonnegative_Y),
    because="Nonnegative terms with sum 0 vanish.",
)
no_positive = Step(
    id="no_positive", lhs=Y[i, j], rhs=Integer(0), by=(vanishing_Y, orthogonal_Y),
    because="A positive element of C leaves only Y = 0.",
)

W_2, A_2, T_2 = array("W_2", 2, 2, 1, 1), array("A_2", 2, 2, 2), array("T_2", 2, 1, 1)
Y_2 = array("Y_2", 2, 2)
two_heads = Witness(
    id="two_heads", by=(signed(A_2, ">0"), sums_to_one(A_2), signed(Y_2, ">=0")),
    values={W_2: [[[[2]], [[-1]]], [[[1]], [[0]]]], Y_2: [[1, 2], [0, 0]], T_2: [[[3]], [[-2]]],
            A_2: [[[fmpq(5, 6), fmpq(1, 6)], [fmpq(2, 3), fmpq(1, 3)]],
                  [[fmpq(1, 4), fmpq(3, 4)], [fmpq(1, 2), fmpq(1, 2)]]]},
    holds=((Sum(W_2[i, j, a, b], (j, 1, 2)), Integer(1)),
           (W_2[i, j, a, b], Sum(A_2[h, i, j] * T_2[h, a, b], (h, 1, 2))),
           (Sum(Y_2[i, j] * W_2[i, j, a, b], (i, 1, 2), (j, 1, 2)), Integer(0))),
    fails=((W_2[i, j, a, b], Integer(0)), (Y_2[i, j], Integer(0))),
    because="W_11 + 2 W_12 = 0 leaves no positive element in the span of W: one head is too few.",
)

E = array("E", n, m)
masked_C = Step(
    id="masked_C", lhs=E[i, j] * M_V[i, j], rhs=M_V[i, j], by=(element, supported(V, E)),
    because="An element of C pairs each block with Z, and E_ij V_ij = V_ij: it vanishes off the "
    "mask with V.",
)
masked_B = Bound(
    id="masked_B", small=E[i, j] * slack, large=E[i, j] * (J[i, j] + eps * M[p, i, j]),
    certificate=E[i, j] * (gap[i, j] + eps * low[p, i, j]),
    by=(*above, *bounded, slack_is, positive_eps, signed(E, ">=0")),
    because="Where the mask is 1 the shifted heads are at least a_0 - eps k_0, positive for small "
    "eps; off the mask J and M^h count for nothing.",
)

X, X_2 = array("X", n, d_o, n, m), array("X'", d_o, d, m, d)
BLOCK = ((k, n), (l, m)), ((c, d_o), (e, d))

THEOREM = Theorem(
    id="CW4",
    title="How many heads an operator needs",
    clauses=(
        Clause("realignment", r"$R(W) = \sum_h \mathrm{vec}(A^h) \mathrm{vec}(T^h)^\top$ for "
               r"$W = \sum_h A^h \otimes T^h$, so $\mathrm{rank}\, R(W) \le H$, with equality if "
               r"the matrices $A^h$ are independent and so are the $T^h$.",
               (realigned, head_bound, generic)),
        Clause("block_row_sums", r"For row-stochastic $A^h$: $\sum_j W_{ij} = \sum_h T^h$, "
               r"whatever $i$.", (block_rows,)),
        Clause("column_space", r"If $\sum_j V_{ij} = V_+$ for every $i$, every $M = \sum_{ab} "
               r"V_{ij,ab} Z_{ab}$ in the column space $C$ of $R(V)$ has constant row sums.",
               (column_space,)),
        Clause("lower_bound", r"$H \ge r = \mathrm{rank}\, R(W)$; if $H = r$ the $T^h$ are "
               r"independent, every $A^h$ lies in $C$, and $A^h > 0$ puts a positive matrix into "
               r"$C$.", (merged, heads_in_C, positive_in_C)),
        Clause("positive_heads", r"Let $J$ be row-stochastic, $J \ge a_0$, $M^h \ge -k_0$ with row "
               r"sums $\mu_h$, $\varepsilon > 0$ and $\varepsilon k_0 < a_0$: $N_h = 1 + "
               r"\varepsilon \mu_h > 0$, and $A^h = (J + \varepsilon M^h) / N_h$ is positive and "
               r"row-stochastic.",
               (positive_B, total_B, positive_N, positive_heads, stochastic_heads)),
        Clause("r_heads", r"If moreover $J = \sum_h \alpha_h M^h$ and $\varepsilon + \sum_h "
               r"\alpha_h \ne 0$, these $r$ heads, with transports $N_h T^h$, realise $W = "
               r"\sum_{h \le r} M^h \otimes t^h$: $\sum_h A^h \otimes N_h T^h = \sum_h (J + "
               r"\varepsilon M^h) \otimes T^h = W$.",
               (rescaled, weighted, unweighted, r_heads)),
        Clause("one_more", r"With any such $J > 0$, in $C$ or not, they and $J$ itself, $r + 1$ "
               r"heads, realise $W$.", (one_more,)),
        Clause("count", r"If $m \ge 2$ and block row sums do not depend on $i$, $R(W)$ less a "
               r"product of two vectors has rank at most $n(m-1)$: $r \le n(m-1) + 1$, where "
               r"equality puts every matrix with constant row sums into $C$; and $r \le d_o d$. So "
               r"$\min(n(m-1) + 1, d_o d + 1)$ heads suffice.",
               (coordinates, height, spans, width)),
        Clause("no_positive", r"If $M > 0$ lies in $C$, and $Y \ge 0$ satisfies $\sum_{ij} Y_{ij} "
               r"V_{ij} = 0$, then $Y = 0$.", (orthogonal_Y, vanishing_Y, no_positive)),
        Clause("witness", r"$W = \begin{pmatrix} 2 & -1 \\ 1 & 0 \end{pmatrix}$ has $r = 1$, "
               r"$W_{11} + 2 W_{12} = 0$, and two positive row-stochastic heads.", (two_heads,)),
        Clause("masked", r"If $V$ vanishes off a mask $E_{ij} \in \{0, 1\}$, that is, $E_{ij} "
               r"V_{ij} = V_{ij}$, so does every $M$ in $C$; and $E_{ij} (J + \varepsilon "
               r"M^h)_{ij} \ge E_{ij} (a_0 - \varepsilon k_0)$ for $J \ge a_0$, $M^h \ge -k_0$ and "
               r"$\varepsilon > 0$.", (masked_C, masked_B)),
    ),
    mutants=(
        Mutant("rank_of_the_block_matrix", RankBound(
            id="head_bound", small=(W[i, j, a, b], ((i, n), (a, d_o)), ((j, m), (b, d))),
            before=(X[i, a, k, l], ((i, n), (a, d_o)), BLOCK[0]), large=(W[k, l, c, e], *BLOCK),
            after=(X_2[c, e, j, b], BLOCK[1], ((j, m), (b, d))), by=(layer,), because="claimed"),
            "rank W of the block matrix is at most rank R(W)"),
        Mutant("every_operator", Step(
            id="block_rows", lhs=Sum(V[i, j, a, b], (j, 1, m)), rhs=Sum(V[k, j, a, b], (j, 1, m)),
            because="claimed"), "every W has the block row sums of a layer"),
        Mutant("independent_weights_suffice", generic, "rank R(W) = H for independent A^h",
               drop=(independent_matrices(T, T_inv),)),
        Mutant("independent_transports_are_not_needed", heads_in_C, "A^h lies in C for any T^h",
               drop=(independent_matrices(T, T_inv),)),
        Mutant("any_step", positive_B, "J + eps M^h > 0 for every eps", drop=(small_eps,),
               add=(signed(array("a_0"), ">0"),)),
        Mutant("signed_base", positive_B, "J need not be positive", drop=(above[0],)),
        Mutant("not_normalised", stochastic_heads, "J + eps M^h is row-stochastic",
               redefine=(Definition(A_r[p, i, j], B[p, i, j]),)),
        Mutant("singular_step", r_heads, "eps + sum alpha = 0 is allowed", drop=(nonzero,)),
        Mutant("no_correction", r_heads, "T^h = t^h / eps", redefine=(Definition(
            T_r[p, a, b], eps_inv * t[p, a, b]),)),
        Mutant("not_rescaled", replace(
            rescaled, lhs=Sum(A_r[p, i, j] * T_r[p, a, b], (p, 1, r))),
               "the transports are not scaled back"),
        Mutant("r_heads_of_any_base", replace(one_more, lhs=heads(eps_inv * t[p, a, b])),
               "the head J is not needed"),
        Mutant("nonnegative_element", vanishing_Y, "a nonnegative element of C suffices",
               drop=(positive_M,), add=(signed(M_V, ">=0"),)),
    ),
    sources=(
        "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
        "C. F. Van Loan, N. Pitsianis, Approximation with Kronecker products, 1993",
    ),
    uses=("CW1",),
)
