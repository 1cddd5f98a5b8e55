"""CW7. Multi-head attention with isometric heads is rigid."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Integer, KroneckerDelta, Rational, Sum

from theorems.assumptions.entries import signed
from theorems.connection_walks import gated_mixture as cw2
from theorems.connection_walks.steps import harmonic_gauges as harmonic
from theorems.connection_walks.steps import isometric_gauges as gauges
from theorems.connection_walks.steps.isometric_gauges import P, pi, share
from theorems.connection_walks.steps.isometric_heads import (
    F, F_inv, G, H, O, O_0, O_1, O_2, Q, Q_inv, T, a, adjoints, angle_of_heads, b, c, cosine, d,
    difference, e, edge, g, gates_between, h, i, inv_1, inv_2, inverse, heads_isometric,
    isometric_edge, isometric_one, isometric_pair, j, k, kernel, n, nonnegative,
    one_head_where_used, opposite_on_v, own_isometry, p, pair_gap, q, total, v,
)
from theorems.rules import Vanishing
from theorems.statement import (
    Bound, Clause, Definition, Mutant, Step, Theorem, Witness, array,
)

half = Rational(1, 2)
image = array("D", H, H, d, d)
metric = Definition(G[a, b], Sum(F[e, a] * F[e, b], (e, 1, d)))
mixture = Definition(T[a, b], Sum(g[h] * O[h, a, b], (h, 1, H)))
seen_gap = Definition(image[h, k, a, b], Sum(F[a, c] * difference[h, k, c, b], (c, 1, d)))
of_heads = (mixture, pair_gap, metric, total, heads_isometric)

scaled_head, edges = array("O", H, cw2.d_o, cw2.d), cw2.M
on_edges = Step(
    id="on_edges", lhs=Sum(cw2.A[h, i, j] * cw2.T[h, a, b], (h, 1, H)),
    rhs=cw2.Pu[i, j] * edges[i, j, a, b],
    by=(Definition(edges[i, j, a, b], Sum(cw2.gu[h, i, j] * scaled_head[h, a, b], (h, 1, H))),
        Definition(scaled_head[h, a, b], H * cw2.T[h, a, b]), cw2.uniform_gate, cw2.uniform),
    because="On an edge P_ij > 0, T_ij is the mixture of the O_h = H T^h with CW2's gates.",
)

pulled = Sum(T[a, b] * G[a, c] * T[c, e], (a, 1, d), (c, 1, d))
pair_pulled = Sum(difference[h, k, a, b] * G[a, c] * difference[h, k, c, e], (a, 1, d), (c, 1, d))
identity = Step(
    id="identity", lhs=pulled, by=of_heads,
    rhs=G[b, e] - half * Sum(g[h] * g[k] * pair_pulled, (h, 1, H), (k, 1, H)),
    because="Expand: the gates sum to 1, O_h^T G O_h = G, and the mixed terms are T^T G T.",
)

trace_gap = 2 * Sum(G[b, b] - Sum(T[a, b] * G[a, c] * T[c, b], (a, 1, d), (c, 1, d)), (b, 1, d))
no_gap = Step(
    id="no_gap", lhs=trace_gap, rhs=Integer(0), by=(isometric_edge, metric),
    because="If T^T G T = G, every $|e_b|_G^2 - |T e_b|_G^2$ is 0.",
)
pair_gaps = Vanishing(
    id="pair_gaps", total=trace_gap, part=image[h, k, a, b], weight=g[h] * g[k],
    over=((h, H), (k, H), (a, d), (b, d)), by=(seen_gap, *of_heads, nonnegative),
    because=r"$\sum_b |e_b|_G^2 - |T e_b|_G^2 = \frac12 \sum_{h,k} g_h g_k "
    r"\lVert F (O_h - O_k) \rVert_F^2$.",
)
frame_removed = Step(
    id="frame_removed", lhs=difference[h, k, a, b], by=(seen_gap, inverse),
    rhs=Sum(F_inv[a, c] * image[h, k, c, b], (c, 1, d)), because="F is invertible.",
)
coincide = Step(
    id="coincide", lhs=g[h] * g[k] * difference[h, k, a, b], rhs=Integer(0),
    by=(frame_removed, no_gap, pair_gaps),
    because="A sum of nonnegatives that is 0: where g_h g_k > 0, O_h = O_k.",
)
one_transport = Step(
    id="one_transport", lhs=T[a, b], rhs=O_0[a, b], by=(mixture, total, one_head_where_used),
    because="If all active heads are O_0, so is their mixture.",
)
converse = Step(
    id="converse", lhs=pulled, rhs=G[b, e], by=(one_transport, metric, isometric_one),
    because="O_0 is an isometry.",
)

contraction = Bound(
    id="contraction",
    small=Sum(Sum(F[a, b] * T[b, c] * v[c], (b, 1, d), (c, 1, d)) ** 2, (a, 1, d)),
    large=Sum(Sum(F[a, b] * v[b], (b, 1, d)) ** 2, (a, 1, d)),
    certificate=half * Sum(g[h] * g[k] * Sum(image[h, k, a, b] * v[b], (b, 1, d)) ** 2,
                           (h, 1, H), (k, 1, H), (a, 1, d)),
    by=(seen_gap, *of_heads, nonnegative), because="The identity, applied to v twice.",
)

other = Definition(q[i], 1 - p[i])
two = Definition(edge[i, a, b], p[i] * O_1[a, b] + q[i] * O_2[a, b])
relative = Definition(Q[a, b], Sum(inv_1[a, c] * O_2[c, b], (c, 1, d)))
relative_inverse = Definition(Q_inv[a, b], Sum(inv_2[a, c] * O_1[c, b], (c, 1, d)))
inverse_of_Q = Step(
    id="inverse_of_Q", lhs=Sum(Q[a, b] * Q_inv[b, c], (b, 1, d)), rhs=KroneckerDelta(a, c),
    by=(relative, relative_inverse, *adjoints, metric),
    because="$Q = O_1^* O_2$ has the inverse $O_2^* O_1$.",
)
edge_pulled = Sum(edge[i, a, b] * G[a, c] * edge[i, c, e], (a, 1, d), (c, 1, d))
two_heads = Step(
    id="two_heads", lhs=edge_pulled, by=(two, *adjoints, metric, relative, relative_inverse),
    rhs=Sum(G[b, c] * ((p[i] ** 2 + q[i] ** 2) * KroneckerDelta(c, e)
                       + p[i] * q[i] * (Q[c, e] + Q_inv[c, e])), (c, 1, d)),
    because="For p = g and q = 1 - g: $T^* T = (g^2 + (1 - g)^2) I + g (1 - g) (Q + Q^{-1})$.",
)
angle_real = Step(
    id="angle_real", by=(two_heads, angle_of_heads),
    lhs=Sum(v[b] * edge_pulled * v[e], (b, 1, d), (e, 1, d)),
    rhs=(p[i] ** 2 + q[i] ** 2 + 2 * p[i] * q[i] * cosine)
    * Sum(v[b] * G[b, e] * v[e], (b, 1, d), (e, 1, d)),
    because=r"For p = 1 and $q = \pm 1$: $0 \le |O_1 v \pm O_2 v|_G^2 = 2 (1 \pm c_\theta) "
    r"|v|_G^2$, so $|c_\theta| \le 1$ is the cosine of an angle.",
)
singular_value = Step(
    id="singular_value", lhs=Sum(edge_pulled * v[e], (e, 1, d)),
    rhs=(1 - 2 * p[i] * q[i] * (1 - cosine)) * Sum(G[b, e] * v[e], (e, 1, d)),
    by=(two_heads, angle_of_heads, other),
    because="On v, Q + Q^{-1} is 2 cos(theta), and g^2 + (1 - g)^2 = 1 - 2 g (1 - g).",
)
square = Step(
    id="square", lhs=1 - 2 * p[i] * q[i] * (1 - cosine), by=(other,),
    rhs=(p[i] - q[i]) ** 2 + 2 * p[i] * q[i] * (1 + cosine),
    because="So sigma = 0 iff g = 1 - g and cos(theta) = -1.",
)

seen, heads_sum, balance = array("u", d), array("S", d, d), array("delta", n)
seen_vector = Definition(seen[a], Sum(F[a, b] * v[b], (b, 1, d)))
both = Definition(heads_sum[a, b], O_1[a, b] + O_2[a, b])
excess = Definition(balance[i], p[i] - q[i])
image_of_v = Sum(edge[i, a, b] * v[b], (b, 1, d))
other_image = Sum((p[i] * O_1[a, b] - q[i] * O_2[a, b]) * v[b], (b, 1, d))
gate_energy = Step(
    id="gate_energy", lhs=balance[i] * Sum(seen[a] ** 2, (a, 1, d)),
    rhs=Sum(Sum(F[e, a] * other_image, (a, 1, d)) * Sum(F[e, a] * image_of_v, (a, 1, d)),
            (e, 1, d)),
    by=(seen_vector, excess, two, other, isometric_pair),
    because=r"$\langle g O_1 v - (1 - g) O_2 v, T v \rangle_G = (g^2 - (1 - g)^2) |v|_G^2 = "
    r"(2 g - 1) |v|_G^2$.")
half_gate = Step(
    id="half_gate", lhs=gate_energy.lhs, rhs=Integer(0), by=(gate_energy, kernel, two, other),
    because="T v = 0; so v = 0 or g = 1/2.")
vector_back = Step(
    id="vector_back", lhs=v[a], rhs=Sum(F_inv[a, b] * seen[b], (b, 1, d)),
    by=(seen_vector, inverse), because="F is invertible: F v = 0 only for v = 0.")
halves = Step(
    id="halves", lhs=2 * image_of_v, by=(two, other, excess, both),
    rhs=Sum((heads_sum[a, b] + balance[i] * (O_1[a, b] - O_2[a, b])) * v[b], (b, 1, d)),
    because="At g = 1/2, 2 T = O_1 + O_2.")
minus_one = Step(
    id="minus_one", lhs=Sum(O_1[a, b] * (v[b] + Sum(Q[b, c] * v[c], (c, 1, d))), (b, 1, d)),
    rhs=Sum(heads_sum[a, b] * v[b], (b, 1, d)), by=(both, relative, adjoints[0], metric),
    because="O_1 is invertible, so O_2 v = -O_1 v iff Q v = -v.")
singular = Step(
    id="singular", lhs=image_of_v, rhs=balance[i] * Sum(O_1[a, b] * v[b], (b, 1, d)),
    by=(two, opposite_on_v, excess), because="If O_2 v = -O_1 v, T v = 0 at g = 1/2.")

own = array("G'", H, d, d)
own_metric = Definition(
    own[h, a, b], KroneckerDelta(a, b) + Sum(O[h, c, a] * O[h, c, b], (c, 1, d)))
one_metric = Witness(
    id="one_metric", by=(mixture, gauges.total_share, own_metric, total, nonnegative),
    values={O: [[[1, 1], [0, -1]], [[1, -1], [0, -1]]], g: 2 * [fmpq(1, 2)],
            share: 2 * [2 * [2 * [fmpq(1, 4)]]]},
    holds=((Sum(O[h, a, b] * own[h, a, c] * O[h, c, e], (a, 1, d), (c, 1, d)), own[h, b, e]),
           (Sum(T[a, b] * T[a, c], (a, 1, d)), KroneckerDelta(b, c)),
           (Sum(T[a, b] * T[b, c], (b, 1, d)), KroneckerDelta(a, c)),
           (Sum(P[i, j], (j, 1, n)), Integer(1)), (P[i, j], P[j, i])),
    fails=((O[h, a, b], O[k, a, b]),),
    because="Each head is isometric for its own I + O_h^T O_h; their mean is diag(1, -1).",
)

unlike = array("x", n)
distinct = Definition(unlike[i], Sum((O_1[a, b] - O_2[a, b]) ** 2, (a, 1, d), (b, 1, d)))
THEOREM = Theorem(
    id="CW7",
    title="Multi-head attention with isometric heads is rigid",
    clauses=(
        Clause("gates", r"Where $P_{ij} > 0$, for $A^h \ge 0$ with head mean $P$: $\sum_h A^h_{ij} "
               r"T^h = P_{ij} T_{ij}$, and $T = T_{ij}$ is the mixture $\sum_h g_h O_h$ of "
               r"$O_h = H T^h$ with CW2's gates.", (on_edges,)),
        Clause("identity", r"If $\sum_h g_h = 1$ and $O_h^\top G O_h = G$ for every $h$ and one "
               r"$G = F^\top F$: $G - T^\top G T = \frac12 \sum_{h,k} g_h g_k (O_h - O_k)^\top G "
               r"(O_h - O_k)$, for every $H$; the sum over $h < k$ is half that over all pairs.",
               (identity,)),
        Clause("isometry", r"With $g \ge 0$ also and invertible $F$, $T^\top G T = G$ iff all "
               r"$O_h$ with $g_h > 0$ coincide.",
               (no_gap, pair_gaps, frame_removed, coincide, one_transport, converse)),
        Clause("contraction", r"With $g \ge 0$ also: $|T v|_G \le |v|_G$, and by the clause on "
               r"isometry $\sum_b |e_b|_G^2 - |T e_b|_G^2$ is not 0 if an active pair differs: "
               r"then $T$ is strict on some $e_b$.", (contraction,)),
        Clause("two_heads", r"For $H = 2$, $T_{ij} = g O_1 + (1 - g) O_2$, $O_h$ with $O_h^* = "
               r"O_h^{-1}$ and $Q = O_1^* O_2$: $T^* T = (g^2 + (1-g)^2) I + g (1-g) (Q + "
               r"Q^{-1})$, so where $(Q + Q^{-1}) v = 2 \cos\theta\, v$: $T^* T v = \sigma^2 v$, "
               r"$\sigma^2 = 1 - 2 g (1-g) (1 - \cos\theta) = (2 g - 1)^2 + 2 g (1-g) (1 + "
               r"\cos\theta)$; there $|\cos\theta| \le 1$ if $|v|_G > 0$.",
               (inverse_of_Q, two_heads, angle_real, singular_value, square)),
        Clause("singular", r"For $H = 2$, isometric $O_1$ and $O_2$, invertible $F$ and $v \ne 0$: "
               r"$T_{ij} v = 0$ iff $g = \frac12$ and $O_2 v = -O_1 v$, that is $Q v = -v$.",
               (gate_energy, half_gate, vector_back, halves, minus_one, singular)),
        Clause("gauge_energy", r"Let $W_{ij} = \sum_h p^h_{ij} O_h$, $P = \sum_h p^h$, $p^h = "
               r"A^h / H$, with isometric $O_h$. For $P'_{ij} T'_{ij} = W_{ij}$ with (c) "
               r"$T'_{ij} M_j T'^\top_{ij} = M_i$ where $P'_{ij} \ne 0$, $M_i = G'^{-1}_i = K_i "
               r"K_i^\top$, and $s_i^2 = \lVert F K_i \rVert_F^2$: $P_{ij}^2 s_j^2 - P'^2_{ij} "
               r"s_i^2 = \frac12 \sum_{h,k} p^h_{ij} p^k_{ij} \lVert F (O_h - O_k) K_j "
               r"\rVert_F^2$.", (gauges.frame_moved, gauges.metric_moved, gauges.gauge_energy)),
        Clause("any_gauge", r"So if moreover $p^h \ge 0$, $F$ and $K_i$ are invertible, $s > 0$, "
               r"$\pi P = \pi$ with $\pi > 0$ and (a) rows of $P'$ sum to 1, then $O_h = O_k$ "
               r"wherever $p^h_{ij} p^k_{ij} > 0$, and $P_{ij} s_j = P'_{ij} s_i$.",
               gauges.of_any_gauge),
        Clause("one_walk", r"Then $P' = P$, if rows of $P$ sum to 1 too: for $P \ge 0$, $\pi P = "
               r"\pi$, $\pi > 0$, rows of $P$ and $P'$ that sum to 1, and "
               r"$P_{ij} s_j = P'_{ij} s_i$ with $s > 0$.", harmonic.of_one_walk),
        Clause("laplacian", r"So with all $p^h_{ij} > 0$ all $O_h$ are one $O$ and $P' = P$, and "
               r"$P'_{ij} T'_{ij} = W_{ij}$ gives $W_{ij} = P_{ij} O$, $T'_{ij} = O$, and $T'_{ij} "
               r"T'_{ji} = I$ iff $O^2 = I$. With $\pi$ and heads as in the clause on any gauge "
               r"and rows of $P$ that sum to 1, $I - W$ is thus a random-walk connection Laplacian "
               r"(CW5) in some gauge and metrics iff all $O_h$ are one $O$, $P$ is reversible and "
               r"$O^2 = I$: then $(P, O)$ with $G$ is one.", gauges.of_laplacian),
        Clause("one_metric", r"One common $G$ is needed: heads that differ, isometric each for its "
               r"own metric, with uniform $A^1 = A^2$, whose mean satisfies CW5 (a) to (d) for "
               r"$G = I$.", (one_metric,)),
    ),
    mutants=(
        Mutant("heads_not_scaled", on_edges, "T_ij is the mixture of the T^h, not of H T^h",
               redefine=(Definition(scaled_head[h, a, b], cw2.T[h, a, b]),)),
        Mutant("missing_factor_2", replace(singular_value, rhs=(1 - p[i] * q[i] * (1 - cosine))
               * Sum(G[b, e] * v[e], (e, 1, d))), "g (1 - g) for 2 g (1 - g)"),
        Mutant("missing_half", replace(identity, rhs=G[b, e] - Sum(
            g[h] * g[k] * pair_pulled, (h, 1, H), (k, 1, H))), "each pair counted twice"),
        Mutant("mixture_is_isometric", replace(identity, rhs=G[b, e]),
               "a mixture of isometries is an isometry"),
        Mutant("own_metrics", identity, "every head isometric for a metric of its own",
               drop=(heads_isometric,), add=(own_isometry,)),
        Mutant("every_vector", Bound(
            id="contraction", small=Sum(Sum(F[e, a] * image_of_v, (a, 1, d)) ** 2, (e, 1, d)),
            large=Sum(seen[a] ** 2, (a, 1, d)), certificate=p[i] * q[i] * Sum(
                Sum(F[e, a] * (O_1[a, b] - O_2[a, b]) * v[b], (a, 1, d), (b, 1, d)) ** 2,
                (e, 1, d)),
            strict=True, because="claimed",
            by=(seen_vector, two, other, distinct, isometric_pair, gates_between(">0"),
                signed(v, "!=0"), signed(unlike, ">0"), inverse)),
            "a mixture of distinct isometries contracts every vector"),
        Mutant("singular_at_one_half", Step(
            id="singular", lhs=image_of_v, rhs=Integer(0),
            by=(two, Definition(p[i], half), Definition(q[i], half), isometric_pair),
            because="claimed"), "T is singular wherever g = 1/2"),
        Mutant("rows_of_any_sum", gauges.any_gauge, "P' need not be stochastic",
               drop=(gauges.rows,)),
        Mutant("any_transports", gauges.gauge_energy, "T' need not be isometric",
               drop=(gauges.transported,)),
        Mutant("reducible", gauges.any_gauge, "pi may vanish, as on transient states",
               drop=(gauges.positive_law,), add=(gauges.law_total, signed(pi, ">=0"))),
        Mutant("one_isometry_suffices", Step(
            id="involution", lhs=gauges.squared_head, rhs=KroneckerDelta(a, b), because="claimed",
            by=(isometric_one, metric)), "equal isometric heads suffice, without O^2 = I"),
        Mutant("any_row_sums", harmonic.one_walk, "P' = P where rows of P need not sum to 1",
               drop=(harmonic.stochastic,)),
    ),
    sources=(
        "From Self-Attention to Connection Laplacian: A Unified Operator View of Transformers",
    ),
    uses=("CW2", "CW5"),
)
