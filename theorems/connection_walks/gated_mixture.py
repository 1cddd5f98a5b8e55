"""CW2. Multi-head attention is one edge-dependent connection walk."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import signed, sums_to_one
from theorems.statement import (
    Bound,
    Clause,
    Definition,
    Iff,
    Mutant,
    Step,
    Theorem,
    Witness,
    array,
    symbols_of,
)

n, m, d, d_v, d_o, H, H_kv = symbols_of("n m d d_v d_o H H_kv")
i, j, k, l, a, b, c, h, e, f = symbols_of("i j k l a b c h e f")

A, T, w, x = array("A", H, n, m), array("T", H, d_o, d), array("w", H), array("x", m, d)
P, g, r, M = array("P", n, m), array("g", H, n, m), array("r", H), array("M", n, m, d_o, d)
nonnegative_A, positive_w = signed(A, ">=0"), signed(w, ">0")
stochastic_A, total_w = sums_to_one(A), sums_to_one(w)


def heads(transports: IndexedBase = T) -> Expr:
    """Entry (i, a) of sum_h A^h X (T^h)^T, as the module computes it."""
    return Sum(A[h, i, j] * transports[h, a, b] * x[j, b], (h, 1, H), (j, 1, m), (b, 1, d))


def walk(weights: IndexedBase, transports: Expr) -> Expr:
    """Entry (i, a) of sum_j P_ij T_ij x_j, with T_ij given by its entry (a, b)."""
    return Sum(weights[i, j] * transports * x[j, b], (j, 1, m), (b, 1, d))


head_mean = Definition(P[i, j], Sum(w[h] * A[h, i, j], (h, 1, H)))
share = Bound(
    id="share", small=w[h] * A[h, i, j], large=P[i, j],
    certificate=Sum((1 - KroneckerDelta(h, e)) * w[e] * A[e, i, j], (e, 1, H)),
    because="The other heads' shares are nonnegative; so P_ij = 0 forces every A^h_ij = 0.",
    by=(head_mean, nonnegative_A, positive_w),
)
gate = Definition(g[h, i, j], w[h] * A[h, i, j], over=P[i, j], support=share)
reciprocal = Definition(r[h], Integer(1), over=w[h], support=positive_w)
mixture = Definition(M[i, j, a, b], Sum(g[h, i, j] * r[h] * T[h, a, b], (h, 1, H)))

one_walk = Step(
    id="one_walk", lhs=heads(), rhs=walk(P, M[i, j, a, b]),
    by=(mixture, gate, reciprocal, head_mean),
    because="P_ij g^h_ij / w_h = A^h_ij on every edge, and both sides vanish off the edges.",
)
gates_nonnegative = Bound(
    id="gates_nonnegative", small=Integer(0), large=P[i, j] * g[h, i, j],
    certificate=w[h] * A[h, i, j], by=(gate, nonnegative_A, positive_w),
    because="On an edge P_ij > 0, and P_ij g^h_ij = w_h A^h_ij >= 0.",
)
gates_total = Step(
    id="gates_total", lhs=P[i, j] * Sum(g[h, i, j], (h, 1, H)), rhs=P[i, j], by=(gate, head_mean),
    because="Summed over heads the shares give back P_ij; divide by P_ij > 0.",
)
row_sums = Iff(
    id="row_sums", left=(Sum(P[i, j], (j, 1, m)), Integer(1)),
    right=(Sum(w[h], (h, 1, H)), Integer(1)), by=(head_mean, stochastic_A),
    because="Every head's rows sum to 1, so row i of P sums to sum_h w_h.",
)

u, Pu, gu = Symbol("u", real=True), array("P_u", n, m), array("g_u", H, n, m)
uniform = Definition(u, Integer(1), over=H)
uniform_mean = Definition(Pu[i, j], Sum(u * A[h, i, j], (h, 1, H)))
uniform_share = Bound(
    id="uniform_share", small=u * A[h, i, j], large=Pu[i, j], because="As before, with w_h = 1/H.",
    certificate=Sum((1 - KroneckerDelta(h, e)) * u * A[e, i, j], (e, 1, H)),
    by=(uniform_mean, uniform, nonnegative_A),
)
uniform_gate = Definition(gu[h, i, j], u * A[h, i, j], over=Pu[i, j], support=uniform_share)
convex = Step(
    id="convex", lhs=heads(), by=(uniform_gate, uniform),
    rhs=walk(Pu, Sum(gu[h, i, j] * H * T[h, a, b], (h, 1, H))),
    because="With w_h = 1/H the transports T^h / w_h are H T^h.",
)
uniform_nonnegative = Bound(
    id="uniform_nonnegative", small=Integer(0), large=Pu[i, j] * gu[h, i, j],
    certificate=u * A[h, i, j], by=(uniform_gate, uniform, nonnegative_A),
    because="On an edge the gates of the head mean are nonnegative.",
)
factor_H = Step(
    id="factor_H", lhs=H * walk(Pu, Sum(gu[h, i, j] * T[h, a, b], (h, 1, H))), rhs=heads(),
    by=(uniform_gate, uniform), because="The mixture of the T^h themselves is short by exactly H.",
)
convex_total = Step(
    id="convex_total", lhs=Pu[i, j] * Sum(gu[h, i, j], (h, 1, H)), rhs=Pu[i, j],
    by=(uniform_gate, uniform_mean), because="The gates of the head mean sum to 1 on edges.",
)

constant = Iff(
    id="constant", left=(M[i, j, a, b], M[k, l, a, b]),
    right=(Sum((g[h, i, j] - g[h, k, l]) * r[h] * T[h, a, b], (h, 1, H)), Integer(0)),
    by=(mixture,), because="T_ij is linear in the gates; over a set of edges, take all its pairs.",
)
s1, s2, P12, p = array("s_1", n, m), array("s_2", n, m), array("P_12", n, m), array("p", n, m)
U, V, M2 = array("U", d_o, d), array("V", d_o, d), array("M_2", n, m, d_o, d)
pair_mean = Definition(P12[i, j], s1[i, j] + s2[i, j])
pair_share = Bound(
    id="pair_share", small=s1[i, j], large=P12[i, j], certificate=s2[i, j],
    by=(pair_mean, signed(s1, ">=0"), signed(s2, ">=0")),
    because="s_h = w_h A^h are the shares of the two heads.",
)
pair_gate = Definition(p[i, j], s1[i, j], over=P12[i, j], support=pair_share)
two_gates = Step(
    id="two_gates", lhs=P12[i, j] * (1 - p[i, j]), rhs=s2[i, j], by=(pair_gate, pair_mean),
    because="If p is the gate of the first head, that of the second is 1 - p.",
)
two = Definition(M2[i, j, a, b], p[i, j] * U[a, b] + (1 - p[i, j]) * V[a, b])
two_heads = Iff(
    id="two_heads", left=(M2[i, j, a, b], M2[k, l, a, b]), by=(two,),
    right=((p[i, j] - p[k, l]) * (U[a, b] - V[a, b]), Integer(0)),
    because="With U = T^1/w_1 and V = T^2/w_2. A product of real numbers that vanishes for "
    "all pairs of edges and all entries has a factor that does.",
)
three_heads = Witness(
    id="three_heads", by=(mixture, gate, reciprocal, head_mean, nonnegative_A, positive_w),
    values={
        A: [[[fmpq(1, 4), fmpq(3, 4)], [fmpq(1, 2), fmpq(1, 2)]], *2 * [2 * [2 * [fmpq(1, 2)]]]],
        w: 3 * [fmpq(1, 3)], T: [[[fmpq(2, 3)]], [[fmpq(1, 3)]], [[1]]],
    },
    holds=((M[i, j, a, b], M[k, l, a, b]),),
    fails=((g[h, i, j], g[h, k, l]), (r[h] * T[h, a, b], r[e] * T[e, a, b])),
    because="Heads 2 and 3 share their weights and T^1/w_1 is the mean of T^2/w_2 and T^3/w_3.",
)

W_V, W_O, Tg = array("W_V", H_kv, d, d_v), array("W_O", H, d_v, d_o), array("T_g", H, d_o, d)
kv, kv2 = array("K", H, H_kv), array("K'", H, H_kv)
shared_values = Sum(kv[h, f] * Sum(x[j, b] * W_V[f, b, c], (b, 1, d)), (f, 1, H_kv))


def shared_transport(selection: IndexedBase) -> Definition:
    """T^h = (W_V^{kv(h)} W_O^h)^T, with kv(h) selected by row h of a 0/1 matrix."""
    return Definition(
        Tg[h, a, b],
        Sum(selection[h, f] * W_V[f, b, c] * W_O[h, c, a], (f, 1, H_kv), (c, 1, d_v)),
    )


grouped_query = Step(
    id="grouped_query", rhs=heads(Tg), by=(shared_transport(kv),),
    lhs=Sum(A[h, i, j] * shared_values * W_O[h, c, a], (h, 1, H), (j, 1, m), (c, 1, d_v)),
    because="Row h of the 0/1 matrix K selects kv(h), the value head that query head h reads.",
)

G, V3, T_S = array("G", n, m, H), array("V_3", H, d_o, d), array("T_S", H, d, d)


def gate_combination(row: Expr, column: Expr) -> Expr:
    """Entry (a, b) of the transport on edge (row, column), for any number of heads."""
    return Sum(G[row, column, h] * V3[h, a, b], (h, 1, H))


THEOREM = Theorem(
    id="CW2",
    title="Multi-head attention is one edge-dependent connection walk",
    clauses=(
        Clause("gates", r"For $A^h \ge 0$ and head weights $w_h > 0$: "
               r"$\sum_h \sum_j A^h_{ij} T^h x_j = \sum_j P_{ij} T_{ij} x_j$ with "
               r"$P = \sum_h w_h A^h$, $P_{ij} g^h_{ij} = w_h A^h_{ij}$ and "
               r"$T_{ij} = \sum_h g^h_{ij} T^h / w_h$.", (one_walk,)),
        Clause("gates_are_weights", r"On edges $g^h_{ij} \ge 0$ and $\sum_h g^h_{ij} = 1$.",
               (gates_nonnegative, gates_total)),
        Clause("off_support", r"$0 \le w_h A^h_{ij} \le P_{ij}$: where $P_{ij} = 0$ every "
               r"$A^h_{ij} = 0$ and $T_{ij}$ is free.", (share,)),
        Clause("row_sums", r"For row-stochastic $A^h$: $P$ is row-stochastic iff $\sum_h w_h = 1$.",
               (row_sums,)),
        Clause("convex_mixture", r"With $w_h = 1/H$: $T_{ij} = \sum_h g^h_{ij} (H T^h)$, a convex "
               r"mixture of $H T^h$; that of $T^h$ itself is off by exactly $H$.",
               (convex, factor_H, convex_total, uniform_nonnegative, uniform_share)),
        Clause("constancy", r"$T_{ij} = T_{kl}$ iff $(g_{ij} - g_{kl}) V = 0$, where row $h$ of "
               r"$V$ is $\mathrm{vec}(T^h / w_h)$.", (constant,)),
        Clause("two_heads", r"For $H = 2$: $T_{ij}$ is constant iff the gates are or "
               r"$T^1 / w_1 = T^2 / w_2$.", (pair_share, two_gates, two_heads)),
        Clause("three_heads", r"For $H = 3$ there are heads with constant $T_{ij}$, gates that "
               r"are not constant and distinct $T^h / w_h$.", (three_heads,)),
        Clause("grouped_query", r"With shared value heads $T^h = (W_V^{kv(h)} W_O^h)^\top$ for "
               r"every head $h$.", (grouped_query,)),
    ),
    mutants=(
        Mutant("three_heads_as_two", Iff(
            id="two_heads", left=(gate_combination(i, j), gate_combination(k, l)),
            right=((G[i, j, h] - G[k, l, h]) * (V3[e, a, b] - V3[f, a, b]), Integer(0)),
            by=(signed(G, ">=0"), sums_to_one(G)), because="claimed for every number of heads"),
            "constant iff the gates are constant or all T^h/w_h coincide, for H >= 3"),
        Mutant("negative_weights", one_walk, "head weights of any sign but 0",
               drop=(positive_w,), add=(signed(w, "!=0"),)),
        Mutant("missing_H", replace(convex, rhs=walk(Pu, Sum(gu[h, i, j] * T[h, a, b], (h, 1, H)))),
               "a convex mixture of T^h itself"),
        Mutant("unit_weights_stochastic", Step(
            id="row_sums", lhs=Sum(P[i, j], (j, 1, m)), rhs=Integer(1), because="claimed",
            by=(head_mean, stochastic_A, nonnegative_A, Definition(w[h], Integer(1)))),
            "w_h = 1 is row-stochastic"),
        Mutant("unnormalised_gates", one_walk, "gates w_h A^h_ij",
               redefine=(Definition(g[h, i, j], w[h] * A[h, i, j]),), add=(nonnegative_A,)),
        Mutant("transposed_transport", replace(
            one_walk, lhs=heads(T_S),
            rhs=walk(P, Sum(g[h, i, j] * r[h] * T_S[h, b, a], (h, 1, H)))),
            "T_ij transposed"),
        Mutant("wrong_kv_map", replace(grouped_query, by=(shared_transport(kv2),)),
               "another map from query heads to value heads"),
        Mutant("signed_heads", share, "a share of a sum with signs", drop=(nonnegative_A,)),
    ),
    sources=(
        "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
        "J. Ainslie et al., GQA: training generalized multi-query transformer models, EMNLP 2023",
    ),
)
