"""CW3. Connection walks with one operator: edge and node gauge."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Expr, IndexedBase, Integer, KroneckerDelta, Sum

from theorems.assumptions.entries import right_inverse, signed, sums_to_one
from theorems.connection_walks import gated_mixture as cw2
from theorems.assumptions.blocks import (
    frobenius_norm, isometry, same_blocks, square_of_norm,
)
from theorems.assumptions.matrices import orthogonal
from theorems.statement import (
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

n, m, d, d_o = symbols_of("n m d d_o")
i, j, k, l, a, b, c, e, f = symbols_of("i j k l a b c e f")

x, P, T = array("x", m, d), array("P", n, m), array("T", n, m, d_o, d)
P2, T2 = array("P'", n, m), array("T'", n, m, d_o, d)


def entry(weights: IndexedBase, transports: IndexedBase) -> Expr:
    """Entry (i a, j b) of W: its value at (i, a) on the token that is e_b at j and 0 elsewhere."""
    basis = KroneckerDelta(k, j) * KroneckerDelta(c, b)
    return Sum(weights[i, k] * transports[i, k, a, c] * basis, (k, 1, m), (c, 1, d))


def walk(weights: IndexedBase, transports: IndexedBase) -> Expr:
    """Entry (i, a) of sum_j P_ij T_ij x_j."""
    return Sum(weights[i, j] * transports[i, j, a, b] * x[j, b], (j, 1, m), (b, 1, d))


same_entries = Iff(
    id="same_entries", left=(entry(P, T), entry(P2, T2)),
    right=(P[i, j] * T[i, j, a, b], P2[i, j] * T2[i, j, a, b]),
    because="The entries of W are those of the blocks P_ij T_ij; a zero block means that P_ij = 0 "
    "or T_ij = 0.",
)
same_output = Step(
    id="same_output", lhs=walk(P2, T2), rhs=walk(P, T), by=(same_blocks(P, T, P2, T2),),
    because="Equal blocks send every sequence of tokens to the same output.",
)

B, norm, t, rt, q, tau = (
    array("B", n, m, d_o, d), array("c", n, m), array("t", n), array("r", n), array("r'", n, m),
    array("tau", n),
)
blocks_norm, positive_norm = frobenius_norm(norm, B), signed(norm, ">0")
row_norm = Definition(t[i], Sum(norm[i, j], (j, 1, m)))
row_reciprocal = Definition(rt[i], Integer(1), over=t[i])
canonical = Definition(P[i, j], norm[i, j] * rt[i])
edge_reciprocal = Definition(q[i, j], Integer(1), over=P[i, j])
canonical_transport = Definition(T[i, j, a, b], B[i, j, a, b] * q[i, j])
total_norm = Step(
    id="total_norm", lhs=Sum(norm[i, j], (j, 1, m)), rhs=t[i], by=(row_norm,),
    because="t_i is the total Frobenius norm of row i; j runs over its nonzero blocks.",
)
canonical_rows = Step(
    id="canonical_rows", lhs=Sum(P[i, j], (j, 1, m)), rhs=Integer(1),
    by=(canonical, total_norm, row_reciprocal, row_norm, positive_norm),
    because="Dividing by the total makes the rows sum to 1.",
)
norm_of_weight = Step(
    id="norm_of_weight", lhs=norm[i, j], rhs=P[i, j] * t[i],
    by=(canonical, row_reciprocal, row_norm, positive_norm), because="c_ij = P_ij t_i.",
)
canonical_norms = Step(
    id="canonical_norms", rhs=t[i] ** 2,
    lhs=Sum(T[i, j, a, b] ** 2, (a, 1, d_o), (b, 1, d)),
    by=(canonical_transport, blocks_norm, norm_of_weight, edge_reciprocal),
    because="T_ij = B_ij / P_ij has norm c_ij / P_ij = t_i, the same along the row.",
)

stochastic2, nonnegative2, positive_tau = sums_to_one(P2), signed(P2, ">=0"), signed(tau, ">0")
norm2 = array("c'", n, m)
other_blocks = Definition(B[i, j, a, b], P2[i, j] * T2[i, j, a, b])
positive_norm2 = signed(norm2, ">0")
other_norms = Step(
    id="other_norms", lhs=norm2[i, j] ** 2, rhs=P2[i, j] ** 2 * tau[i] ** 2,
    by=(frobenius_norm(tau, T2), other_blocks, square_of_norm(norm2, B, P2, tau)),
    because="Take any choice (P', T') whose transports have the norm tau_i along row i.",
)
roots = Iff(
    id="roots", left=(norm2[i, j] ** 2, P2[i, j] ** 2 * tau[i] ** 2),
    right=(norm2[i, j], P2[i, j] * tau[i]), factor=norm2[i, j] + P2[i, j] * tau[i],
    by=(positive_norm2, nonnegative2, positive_tau),
    because="A nonnegative square root is unique, so c'_ij = P'_ij tau_i.",
)
unique = Step(
    id="unique", lhs=P2[i, j] * Sum(norm2[i, l], (l, 1, m)), rhs=norm2[i, j],
    by=(stochastic2, other_norms, roots),
    because="Rows of P' sum to 1, so sum_k c'_ik = tau_i and P'_ij is the canonical weight.",
)

p, p2 = array("p", n, n), array("p'", n, n)
s, s2 = array("s", n, n, d, d), array("s'", n, n, d, d)
cycle = (p[i, j] * p[j, k] * p[k, i], p[i, k] * p[k, j] * p[j, i])
cycle2 = (p2[i, j] * p2[j, k] * p2[k, i], p2[i, k] * p2[k, j] * p2[j, i])
square = same_blocks(p, s, p2, s2)
turn = [[fmpq(1, 3), fmpq(1, 2), fmpq(1, 6)][-r:] + [fmpq(1, 3), fmpq(1, 2), fmpq(1, 6)][:-r]
        for r in (3, 1, 2)]
row_total = (Sum(p[i, j], (j, 1, n)), Integer(1))
row_total2 = (Sum(p2[i, j], (j, 1, n)), Integer(1))
gram, gram2 = (Sum(z[i, j, a, b] * z[i, j, a, c], (a, 1, d)) for z in (s, s2))
reversibility = Witness(
    id="reversibility", by=(square,), holds=(cycle, row_total, row_total2), fails=(cycle2,),
    values={p: 3 * [3 * [fmpq(1, 3)]], s: 3 * [3 * [[[1]]]], p2: turn,
            s2: [[[[fmpq(1, 3) / w]] for w in row] for row in turn]},
    because="Both are row-stochastic; only the first satisfies Kolmogorov's criterion.",
)
stochasticity = Witness(
    id="stochasticity", by=(square,), holds=(row_total2, (gram2, KroneckerDelta(b, c))),
    fails=(row_total, (gram, KroneckerDelta(b, c))),
    values={p: [[fmpq(1, 2)]], s: [[[[2]]]], p2: [[1]], s2: [[[[1]]]]},
    because="P = 1/2 with T = 2 is the walk P' = 1 with T' = 1, which alone is stochastic and "
    "isometric.",
)
w2, P_w, g_w = array("w'", cw2.H), array("P_w", n, m), array("g_w", cw2.H, n, m)
h = cw2.h
gates = Witness(
    id="gates", values={cw2.A: [[[1]], [[1]]], cw2.w: 2 * [fmpq(1, 2)],
                        w2: [fmpq(1, 4), fmpq(3, 4)]},
    by=(cw2.gate, cw2.head_mean, Definition(P_w[i, j], Sum(w2[h] * cw2.A[h, i, j], (h, 1, cw2.H))),
        Definition(g_w[h, i, j], w2[h] * cw2.A[h, i, j], over=P_w[i, j])),
    holds=((P_w[i, j], cw2.P[i, j]),), fails=((g_w[h, i, j], cw2.g[h, i, j]),),
    because="Head weights 1/2, 1/2 and 1/4, 3/4 give one P here, and different gates.",
)

hol, hol2 = (
    Sum(z[i, j, a, c] * z[j, k, c, e] * z[k, i, e, b], (c, 1, d), (e, 1, d)) for z in (s, s2)
)
triangle = Step(
    id="triangle", lhs=cycle2[0] * hol2, rhs=cycle[0] * hol, by=(square,),
    because="Holonomies of a triangle agree up to the positive ratio of the weights' products.",
)
pi, pi2 = array("q", n, n), array("q'", n, n)
Pi, Pi2 = array("F", n, n, d, d), array("F'", n, n, d, d)
longer_path = Step(
    id="longer_path", lhs=pi2[i, j] * p2[j, k] * Sum(Pi2[i, j, a, c] * s2[j, k, c, b], (c, 1, d)),
    rhs=pi[i, j] * p[j, k] * Sum(Pi[i, j, a, c] * s[j, k, c, b], (c, 1, d)),
    by=(same_blocks(pi, Pi, pi2, Pi2), square),
    because="Induction along a path from one edge: if products up to j agree after weighting, so "
    "do those up to k.",
)

g, g_inv, moved = array("g", n, d, d), array("g^{-1}", n, d, d), array("s^g", n, n, d, d)
y, G, Gm = array("y", n, d), array("G", n, d, d), array("G^g", n, d, d)
inverse = right_inverse(g, g_inv)
gauge = Definition(
    moved[i, j, a, b], Sum(g[i, a, c] * s[i, j, c, e] * g_inv[j, e, b], (c, 1, d), (e, 1, d))
)
conjugate = Step(
    id="conjugate", by=(gauge, inverse),
    lhs=Sum(p[i, j] * moved[i, j, a, b] * g[j, b, f] * y[j, f], (j, 1, n), (b, 1, d), (f, 1, d)),
    rhs=Sum(g[i, a, c] * p[i, j] * s[i, j, c, e] * y[j, e], (j, 1, n), (c, 1, d), (e, 1, d)),
    because="g_j^{-1} g_j = I at every key: the moved walk on g y is g of the walk on y.",
)
conjugate_path = Step(
    id="conjugate_path", by=(gauge, inverse),
    lhs=Sum(moved[i, j, a, b] * moved[j, k, b, f], (b, 1, d)),
    rhs=Sum(g[i, a, c] * s[i, j, c, e] * s[j, k, e, b] * g_inv[k, b, f],
            (c, 1, d), (e, 1, d), (b, 1, d)),
    because="Along a path the inner gauges cancel: a holonomy at i is conjugated by g_i.",
)
moved_metric = Definition(
    Gm[i, a, c], Sum(g_inv[i, e, a] * G[i, e, f] * g_inv[i, f, c], (e, 1, d), (f, 1, d))
)
moved_isometry = Step(
    id="moved_isometry", by=(gauge, moved_metric, inverse, isometry(s, G)), rhs=Gm[j, b, e],
    lhs=Sum(moved[i, j, a, b] * Gm[i, a, c] * moved[i, j, c, e], (a, 1, d), (c, 1, d)),
    because="Isometry survives if the metrics move along: G_i -> g_i^{-T} G_i g_i^{-1}.",
)

THEOREM = Theorem(
    id="CW3",
    title="Connection walks with one operator: edge and node gauge",
    clauses=(
        Clause("same_operator", r"$(P, T)$ and $(P', T')$ give the same $W$ iff $P_{ij} T_{ij} = "
               r"P'_{ij} T'_{ij}$ on all edges.", (same_entries, same_output)),
        Clause("frobenius", r"$P_{ij} = c_{ij} / \sum_k c_{ik}$ with $c_{ij} = "
               r"\lVert W_{ij} \rVert_F$ is the unique row-stochastic choice whose transports have "
               r"one Frobenius norm along each row; $j, k$ run over the nonzero blocks of the row.",
               (total_norm, canonical_rows, norm_of_weight, canonical_norms, other_norms, roots,
                unique)),
        Clause("what_changes", r"Stochasticity and reversibility of $P$, isometry of $T$ and the "
               r"gates depend on the choice.", (stochasticity, reversibility, gates)),
        Clause("what_stays", r"Holonomies do not depend on it up to positive scalars; what is a "
               r"function of $W$ does not at all.",
               (triangle, longer_path)),
        Clause("node_gauge", r"For invertible $g_i$: $T_{ij} \mapsto g_i T_{ij} g_j^{-1}$ sends "
               r"$W$ to $g W g^{-1}$, holonomies to conjugates, and isometries to isometries for "
               r"the moved metrics.", (conjugate, conjugate_path, moved_isometry)),
    ),
    mutants=(
        Mutant("weights_are_determined", Step(
            id="same_entries", lhs=P2[i, j], rhs=P[i, j], because="claimed",
            by=(same_blocks(P, T, P2, T2), signed(P, ">0"), nonnegative2)), "W determines P"),
        Mutant("reversibility_is_kept", Step(
            id="reversibility", lhs=cycle2[0], rhs=cycle2[1], because="claimed",
            by=(Definition(p[i, j], pi[i, i] * (pi2[i, j] + pi2[j, i])), square,
                signed(pi, ">0"), signed(pi2, ">=0"), signed(p2, ">0"))),
            "an edge gauge keeps reversibility"),
        Mutant("no_inverse", conjugate, "T_ij -> g_i T_ij g_j", redefine=(Definition(
            moved[i, j, a, b],
            Sum(g[i, a, c] * s[i, j, c, e] * g[j, e, b], (c, 1, d), (e, 1, d))),)),
        Mutant("orthogonality_is_kept", Step(
            id="moved_isometry", rhs=KroneckerDelta(b, e), because="claimed",
            lhs=Sum(moved[i, j, a, b] * moved[i, j, a, e], (a, 1, d)),
            by=(gauge, inverse, orthogonal(s))), "a node gauge keeps orthogonal transports"),
        Mutant("holonomy_is_kept", replace(triangle, lhs=hol2, rhs=hol),
               "an edge gauge keeps holonomies, not only up to scalars"),
        Mutant("max_norm_choice", replace(unique, lhs=P2[i, j]),
               "P' = c is the canonical choice, without the row total"),
    ),
    sources=(
        "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
    ),
    uses=("CW2",),
)
