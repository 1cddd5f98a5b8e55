"""RA7. What distances in low-rank metrics cost."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, IndexedBase, KroneckerDelta, Rational, Sum

from theorems.assumptions.entries import signed
from theorems.statement import (
    Clause, Definition, Mutant, Step, Theorem, Witness, array, symbols_of,
)

n, m, d, r = symbols_of("n m d r")
i, j, a, b, c = symbols_of("i j a b c")
FEATURE, RANK, QUERIES, KEYS = (a, 1, d), (c, 1, r), (i, 1, n), (j, 1, m)

D, U, G = array("D", n, d), array("U", n, d, r), array("G", n, d, d)
x, y, o = array("x", n, d), array("y", m, d), array("o", d)
q, s, D_y = array("q", n, m), array("s", n, n), array("D_y", m, d)
A, B, P = array("A", n, m), array("B", n, m), array("P", r, n, m)
own, own_P = array("A_o", n), array("P_o", r, n)

metric = Definition(
    G[i, a, b], D[i, a] * KroneckerDelta(a, b) + Sum(U[i, a, c] * U[i, b, c], RANK)
)


def low_rank(query: IndexedBase, key: IndexedBase, at: Expr = j, power: int = 2) -> Expr:
    """|x_i - y_j|^2 in the metric of i, by d (r + 2) + r multiplications."""
    step = query[i, a] - key[at, a]
    along = Sum(U[i, a, c] * step, FEATURE)
    return Sum(D[i, a] * step**2, FEATURE) + Sum(along**power, RANK)


distance = Definition(q[i, j], low_rank(x, y))
low_rank_form = Step(
    id="low_rank_form", rhs=low_rank(x, y), by=(metric,),
    lhs=Sum((x[i, a] - y[j, a]) * G[i, a, b] * (x[i, b] - y[j, b]), FEATURE, (b, 1, d)),
    because=r"$u^\top U U^\top u = |U^\top u|^2$.",
)

first = Definition(A[i, j], Sum(D[i, a] * x[i, a] * y[j, a], FEATURE))
second = Definition(B[i, j], Sum(D[i, a] * y[j, a] ** 2, FEATURE))
further = Definition(P[c, i, j], Sum(U[i, a, c] * y[j, a], FEATURE))
own_first = Definition(own[i], Sum(D[i, a] * x[i, a] ** 2, FEATURE))
own_further = Definition(own_P[c, i], Sum(U[i, a, c] * x[i, a], FEATURE))
ALL = (distance, first, second, further, own_first, own_further)
products = Step(
    id="products", lhs=q[i, j], by=ALL,
    rhs=own[i] - 2 * A[i, j] + B[i, j] + Sum((own_P[c, i] - P[c, i, j]) ** 2, RANK),
    because=r"$(x - y)^2 = x^2 - 2 x y + y^2$, and $U_i^\top x_i$ is found once.",
)

t, t_A, t_B, t_P = array("t", n, n), array("A_x", n, n), array("B_x", n, n), array("P_x", r, n, n)
k = symbols_of("k")[0]


def among_tokens(i: Expr, k: Expr) -> Expr:
    """The distance of token k in the metric of token i, by entries of the products."""
    return t_A[i, i] - 2 * t_A[i, k] + t_B[i, k] + Sum((t_P[c, i, i] - t_P[c, i, k]) ** 2, RANK)


token_distance = Definition(t[i, k], low_rank(x, x, k))
average = Definition(s[i, k], Rational(1, 2) * (t[i, k] + t[k, i]))
TOKENS = (
    token_distance,
    Definition(t_A[i, k], Sum(D[i, a] * x[i, a] * x[k, a], FEATURE)),
    Definition(t_B[i, k], Sum(D[i, a] * x[k, a] ** 2, FEATURE)),
    Definition(t_P[c, i, k], Sum(U[i, a, c] * x[k, a], FEATURE)),
)
own_products = Step(
    id="own_products", lhs=t[i, k], rhs=among_tokens(i, k), by=TOKENS,
    because="Where the keys are the tokens themselves, the terms of one token are the diagonals.",
)
symmetrised = Step(
    id="symmetrised", lhs=s[i, k], by=(average, *TOKENS),
    rhs=Rational(1, 2) * (among_tokens(i, k) + among_tokens(k, i)),
    because="The products in the metrics of k are the transposed entries of the same ones.",
)

moved_x, moved_y = array("x'", n, d), array("y'", m, d)
shifts = (Definition(moved_x[i, a], x[i, a] - o[a]), Definition(moved_y[j, a], y[j, a] - o[a]))
shift = Step(
    id="shift", lhs=low_rank(moved_x, moved_y), rhs=low_rank(x, y), by=shifts,
    because="Only differences occur. The products cancel less the nearer the tokens are to o.",
)

one_pair = Step(
    id="one_pair", lhs=Sum(2 + Sum(1, RANK), FEATURE) + Sum(1, RANK), rhs=d * (r + 2) + r,
    because="Two for each feature, one for each entry of $U_i$, then $r$ squares.",
)
PRODUCT = Sum(1, QUERIES, KEYS, FEATURE)
EXTRA = (
    PRODUCT + Sum(1, QUERIES, KEYS, FEATURE, RANK) + Sum(1, QUERIES, KEYS, RANK)
    + 2 * Sum(1, QUERIES, FEATURE) + Sum(1, KEYS, FEATURE) + Sum(1, QUERIES, FEATURE, RANK)
)
all_pairs = Step(
    id="all_pairs", lhs=PRODUCT + EXTRA,
    rhs=(r + 2) * n * m * d + r * n * m + 2 * n * d + m * d + n * d * r,
    because=r"The products; $r$ squares; $D \circ X$, its product with $X$, $Y \circ Y$; "
    r"$U_i^\top x_i$.",
)
beyond_scores = Step(
    id="beyond_scores", lhs=EXTRA, rhs=(r + 1) * n * m * d + r * n * m + 2 * n * d + m * d
    + n * d * r, because=r"$Q K^\top$ is one of the $r + 2$.",
)
head = Step(
    id="head", lhs=Sum(1 + Sum(1, RANK), FEATURE, (b, 1, d)), rhs=(r + 1) * d**2,
    because="A linear map from $d$ features to the $d + d r$ entries of $D_i$ and $U_i$.",
)

# Width, key/value width, hidden width, matrices of the MLP and published length of a layer.
SHAPES = ((768, 768, 3072, 2, 1024), (4096, 1024, 14336, 3, 8192), (8192, 1024, 28672, 3, 8192))
wide, narrow, hidden, matrices, length = (
    array(name, 3) for name in ("d_0", "d_1", "d_2", "c_0", "n_0")
)
spare, layer = array("s_0", 3), array("m_0", 3)
per_token = Definition(layer[i], 2 * wide[i] ** 2 + 2 * wide[i] * narrow[i]
                       + matrices[i] * wide[i] * hidden[i] + 2 * length[i] * wide[i])
published = Witness(
    id="published", by=(per_token, signed(spare, ">0")),
    values=dict(zip((wide, narrow, hidden, matrices, length), map(list, zip(*SHAPES, strict=True)),
                    strict=True))
    | {spare: [10 * 2 * n_0 * w - 2 * w * w - 2 * w * k_0 - c_0 * w * h_0 - 2 * n_0 * w
               for w, k_0, h_0, c_0, n_0 in SHAPES]},
    holds=((10 * 2 * length[i] * wide[i], layer[i] + spare[i]),),
    because="Rank 1 adds two products of the size of Q K^T, 2 n d a token: more than a tenth of "
    "the layer, whose count is two square and two narrow projections, the MLP and 2 n d.",
)

THEOREM = Theorem(
    id="RA7",
    title="What distances in low-rank metrics cost",
    clauses=(
        Clause("low_rank_form", r"$(x_i - y_j)^\top (D_i + U_i U_i^\top)(x_i - y_j) = \sum_a "
               r"D_{ia} (x_{ia} - y_{ja})^2 + |U_i^\top (x_i - y_j)|^2$.", (low_rank_form,)),
        Clause("products", r"With $A = (D \circ X) Y^\top$, $B = D (Y \circ Y)^\top$ and "
               r"$P^c_{ij} = u_{ic} \cdot y_j$ for column $c$ of $U_i$, it is $\sum_a D_{ia} "
               r"x_{ia}^2 - 2 A_{ij} + B_{ij} + \sum_c (u_{ic} \cdot x_i - P^c_{ij})^2$; for $Y = "
               r"X$ the terms of $x_i$ alone are $A_{ii}$ and $P^c_{ii}$.",
               (products, own_products)),
        Clause("symmetrised", r"For $Y = X$ the average of the distances in $G_i$ and in $G_k$ "
               r"takes the same products.", (symmetrised,)),
        Clause("shift", r"Distances are the same for $x_i - o$, $y_j - o$.", (shift,)),
        Clause("counts", r"Multiplications: $d (r + 2) + r$ a pair; over $n$ queries and $m$ keys "
               r"$(r + 2) n m d + r n m + 2 n d + m d + n d r$, which is $(r + 1) n m d + r n m + "
               r"2 n d + m d + n d r$ beyond $Q K^\top$; $(r + 1) d^2$ a token for a linear map to "
               r"$D_i$, $U_i$.", (one_pair, all_pairs, beyond_scores, head)),
        Clause("overhead", r"In the published shapes of GPT-2 at $n = 1024$ and of Llama-3-8B and "
               r"70B at $n = 8192$, every query with every key, the products beyond $Q K^\top$ add "
               r"at rank 1 more than a tenth to the multiplications of a layer, a metric head "
               r"apart.", (published,)),
    ),
    mutants=(
        Mutant("key_in_its_own_metric", replace(products, rhs=own[i] - 2 * A[i, j]
               + Sum(D_y[j, a] * y[j, a] ** 2, FEATURE)
               + Sum((own_P[c, i] - P[c, i, j]) ** 2, RANK)),
               r"$y_j^\top D_j y_j$ for $y_j^\top D_i y_j$"),
        Mutant("unsquared", replace(low_rank_form, rhs=low_rank(x, y, power=1)),
               r"$|U^\top u|$ unsquared"),
        Mutant("crossed_terms", replace(products, rhs=own[i] - 2 * A[i, j] + B[i, j]
               + Sum(own_P[c, i] ** 2 + P[c, i, j] ** 2, RANK)),
               r"the squares of $u_{ic} \cdot x_i$ and $P^c_{ij}$ apart"),
        Mutant("no_key_norms", replace(products, rhs=products.rhs - B[i, j]),
               "r + 1 products are enough"),
        Mutant("query_side_is_symmetric", replace(symmetrised, rhs=among_tokens(i, k)),
               "the metric of the query alone"),
        Mutant("bilinear_scores_move_along", replace(
            shift, lhs=Sum(D[i, a] * moved_x[i, a] * moved_y[j, a], FEATURE),
            rhs=Sum(D[i, a] * x[i, a] * y[j, a], FEATURE)), "bilinear scores do not change"),
        Mutant("queries_alone_move", shift, "only the queries are shifted",
               redefine=(Definition(moved_y[j, a], y[j, a]),)),
        Mutant("one_more_product", replace(all_pairs, rhs=all_pairs.rhs - n * m * d),
               "r + 1 products"),
        Mutant("cost_of_a_dot_product", replace(one_pair, rhs=d + r),
               "the diagonal as cheap as an inner product"),
        Mutant("diagonal_head", replace(head, rhs=d**2), "the head of D_i alone"),
    ),
    sources=("Riemannian Attention and the Fiber Bundle Transformer",),
)
