"""RA14. The exact reductions of the Fiber Bundle block."""

from __future__ import annotations

from dataclasses import replace

from flint import fmpq
from sympy import Expr, Integer, KroneckerDelta, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.frames import put_number
from theorems.riemannian_attention.steps import dot_product_limit as dots
from theorems.riemannian_attention.steps import flat_transports as flat
from theorems.riemannian_attention.steps import moved_bases as moved
from theorems.statement import (
    Clause, Definition, Iff, Local, Mutant, Step, Theorem, array, symbols_of,
)

n, m, d, r = symbols_of("n m d r")
i, j, k, l, a, b, c, e = symbols_of("i j k l a b c e")
delta = KroneckerDelta

# A prefix of n tokens, and m later ones: weights w and f^2, masks M = o + I and N.
o, w, N, f = array("o", n, n), array("w", n, n), array("N", n, m), array("f", n, m)
T, v = array("T", n, n, d, d), array("v", n, d)
T_later, v_later = array("T''", n, m, d, d), array("v''", m, d)
Z, Z_long, y, y_long = array("Z", n), array("Z'", n), array("y", n, d), array("y'", n, d)
later = N[i, l] * f[i, l] ** 2


def prefix_sum() -> Expr:
    """Entry a of sum_j M_ij w_ij T_ij v_j over the prefix."""
    return Sum((o[i, j] + delta(i, j)) * w[i, j] * T[i, j, a, b] * v[j, b], (j, 1, n), (b, 1, d))


mask, positive = signed(o, ">=0"), signed(w, ">0")
hidden = Definition(N[i, l], Integer(0))
prefix_total = Definition(Z[i], Sum(o[i, j] * w[i, j], (j, 1, n)) + w[i, i])
long_total = Definition(Z_long[i], Z[i] + Sum(later, (l, 1, m)))
prefix_output = Definition(y[i, a], prefix_sum(), over=Z[i])
long_output = Definition(
    y_long[i, a],
    prefix_sum() + Sum(later * T_later[i, l, a, b] * v_later[l, b], (l, 1, m), (b, 1, d)),
    over=Z_long[i],
)
VISIBLE = (prefix_total, mask, positive)
scaled = Step(
    id="scaled", lhs=Z[i] * y_long[i, a], rhs=Z_long[i] * y_long[i, a], by=(long_total, hidden),
    because="Hidden tokens add nothing to the total.",
)
unscaled = Step(
    id="unscaled", lhs=Z[i] * y_long[i, a], rhs=prefix_sum(),
    by=(scaled, long_output, hidden, long_total, *VISIBLE),
    because="Nor to the sum of transported values.",
)
divided = Iff(
    id="divided", left=(Z[i] * y_long[i, a], prefix_sum()), right=(y_long[i, a], y[i, a]),
    factor=Z[i], by=(prefix_output, *VISIBLE),
    because="A token sees itself, so the total of the prefix is positive.",
)
prefix = Step(
    id="prefix", lhs=y_long[i, a], rhs=y[i, a], by=(divided, unscaled),
    because="The output of a token of the prefix is that of the prefix alone.",
)

D, U, G = array("D_1", d), array("U_1", d, r), array("G_1", d, d)
x, g, s = array("x_1", d), array("f_1", d), array("s_1", d)
metric = Definition(G[a, b], D[a] * delta(a, b) + Sum(U[a, c] * U[b, c], (c, 1, r)))
unit, columnless = Definition(D[a], Integer(1)), Definition(U[a, c], Integer(0))
solved = Definition(g[a], Sum(G[a, b] * s[b], (b, 1, d)))
plain_step = Step(
    id="plain_step", lhs=x[a] - s[a], rhs=x[a] - g[a], by=(solved, metric, unit, columnless),
    because="$G s = f$ with $G = I$ is $s = f$.",
)

S, t, half, column = dots.S, dots.t, dots.half, array("U_2", d, r)
key, rho = array("k", n, d), Symbol("rho", real=True)
unit_turns = (
    Definition(flat.R[i, j, a, b], (delta(i, j) + (1 - delta(i, j)) * rho) * delta(a, b)),
    Local("rho is a sign", r"$\rho^2 = 1$", ((rho**2, Integer(1)),),
          lambda draw: put_number(draw, rho, fmpq(draw.source.rng.choice((-1, 1))))),
)


def form(metric, one, other) -> Expr:
    """x_one^T G_metric x_other."""
    return Sum(dots.x[one, a] * dots.G[metric, a, b] * dots.x[other, b], (a, 1, d), (b, 1, d))


THEOREM = Theorem(
    id="RA14",
    title="The exact reductions of the Fiber Bundle block",
    clauses=(
        Clause("reduction", r"Let $D_i = 1$, $U_i = 0$, so $G_i = I$. Then $-\frac{t}{2} |x_i - "
               r"x_j|^2_{G_i} = L_{ij} + u_i$ with $L_{ij} = t\, x_i \cdot x_j - \frac{t}{2} "
               r"|x_j|^2$ and $u_i = -\frac{t}{2} |x_i|^2$: dot products of tied queries and keys "
               r"with a key-norm term, and a term of the row. For $w = \exp S$, $w' = \exp L$, $g "
               r"= \exp u$: $w_{ij} = g_i w'_{ij}$ iff $S_{ij} = u_i + L_{ij}$; and weights $w = "
               r"g_i w' > 0$ have the same softmax as $w' > 0$ under any mask $m_{ij} + "
               r"\delta_{ij}$ with $m \ge 0$. If moreover all frames are one invertible matrix "
               r"and $R_{ij} = I$, then $\sum_j P_{ij} T_{ij} v_j = \sum_j P'_{ij} v_j$, the "
               r"output of that block.",
               (dots.tied_scores, dots.row_and_logits, dots.row_factor, dots.same_weights,
                dots.crossed, dots.same_output)),
        Clause("reversible", r"Let $X_{ij} = t\, x_i \cdot x_j$, $h = \exp X$, $w' = \exp L$, $g = "
               r"\exp u$. Then $L_{ij} = X_{ij} + u_j$ and $X = X^\top$, which say that $w'_{ij} = "
               r"h_{ij} g_j$ and $h = h^\top$. With such $g, h > 0$ and a symmetric mask $m_{ij} + "
               r"\delta_{ij}$, $m \ge 0$, the standard block's $P'$ is in detailed balance with "
               r"$\pi_i = g_i Z'_i$, and $\pi$ is stationary.",
               (dots.split_logits, dots.tied, dots.split_weights, dots.symmetric_kernel,
                dots.balance, dots.stationary)),
        Clause("homogeneous", r"If $G_i = M = M^\top$ for all tokens, the scores are $t\, x_i^\top "
               r"M x_j - \frac{t}{2} x_j^\top M x_j$ and a term of the row; with $M = F^\top F$ "
               r"they are those of the points $F x_i$ for $G = I$.",
               (dots.homogeneous_scores, dots.tied_points)),
        Clause("flat", r"If all frames are one invertible $E$ and $R_{ij} = I$, then $T_{ij} = I$; "
               r"so it is for invertible frames $E_i$ and $R_{ij} = E_i E_j^{-1}$. Then $T_{ij} "
               r"T_{jk} T_{ki} = I$ and $a + T_{ji} b - b - T_{ki} a = 0$ for all triples, $a = "
               r"x_j - x_i$, $b = x_k - x_i$. For $G_i = E_i^\top E_i$ and $R_{ij} = E_i E_j^{-1}$ "
               r"the defects $R_{ij}^\top R_{ij} - I$ and $G_i - G_j$ are one another's images "
               r"under $E_j$, so such an $R_{ij}$ is orthogonal iff $G_i = G_j$.",
               (flat.trivial, flat.closed, flat.no_gap, flat.trivial_by_turns,
                flat.closed_by_turns, flat.no_gap_by_turns, flat.turn_defect, flat.metric_gap)),
        Clause("orthogonal", r"Let $Q^\top Q = Q Q^\top = I$, $x'_i = Q x_i$, $G'_i = Q G_i "
               r"Q^\top$. The scores stay. If $G_i = E_i^\top E_i$ with invertible $E_i$, then "
               r"$E'_i = Q E_i Q^\top$ is a frame of $G'_i$ with inverse $Q E_i^{-1} Q^\top$; with "
               r"$R'_{ij} = Q R_{ij} Q^\top$ the transports are $Q T_{ij} Q^\top$, and values $Q "
               r"v_j$ with the same weights have the outputs $Q y_i$.",
               (moved.same_scores, moved.frame_of_moved, moved.inverse_of_moved,
                moved.moved_transport, moved.moved_output)),
        Clause("signed_permutations", r"A signed permutation $Q_{ab} = s_a B_{ab}$, $s_a^2 = 1$, "
               r"$B$ a permutation matrix, is orthogonal, and $Q (\mathrm{diag}(D) + U U^\top) "
               r"Q^\top = \mathrm{diag}(D') + U' U'^\top$ with $D'_a = \sum_b Q_{ab}^2 D_b$, which "
               r"is $D_b$ where $Q_{ab} \ne 0$, and $U' = Q U$. For $D = q^2$, $q'_a = \sum_b "
               r"Q_{ab}^2 q_b$, $V' = Q V$, any $K$: $q'^2 = D'$, and $(I + V K V^\top) D^{1/2}$ "
               r"goes to $Q (I + V K V^\top) D^{1/2} Q^\top = (I + V' K V'^\top) D'^{1/2}$.",
               (moved.columns_of_Q, moved.rows_of_Q, moved.keeps_form, moved.permuted,
                moved.same_root, moved.moved_frame)),
        Clause("rotations", r"For $D = \delta I$ every orthogonal $Q$ keeps the form: $Q (\delta I "
               r"+ U U^\top) Q^\top = \delta I + (Q U)(Q U)^\top$; and with $V' = Q V$, $V'^\top "
               r"V' = V^\top V$ (so a function $K$ of it stays) and $\kappa (I + V' K V'^\top) = Q "
               r"\kappa (I + V K V^\top) Q^\top$.",
               (moved.rotated_form, moved.same_gram, moved.rotated_frame)),
        Clause("causal", r"Let $n$ tokens with weights $w > 0$ and a mask $o_{ij} + \delta_{ij}$, "
               r"$o \ge 0$, be followed by $m$ tokens with weights $f^2$ that the mask $N = 0$ "
               r"hides from them. Then the outputs $\sum_j P_{ij} T_{ij} v_j$ of the $n$ tokens "
               r"are those without the others, whatever the others are.",
               (scaled, unscaled, divided, prefix)),
        Clause("plain_step", r"For $D = 1$, $U = 0$, the solution $s$ of $G s = f$, $G = "
               r"\mathrm{diag}(D) + U U^\top$, gives $x - s = x - f$, the plain residual step.",
               (plain_step,)),
    ),
    mutants=(
        Mutant("no_key_norms", replace(
            dots.tied_scores, lhs=S[i, j] - S[i, k], rhs=t * dots.dot(i, j) - t * dots.dot(i, k)),
            "up to a term of the row the scores are dot products, without key norms"),
        Mutant("diagonal_only", dots.tied_scores, "$D = 1$ is enough, whatever $U$ is",
               redefine=(Definition(dots.U[i, a, c], column[a, c]),)),
        Mutant("factor_of_the_column", dots.crossed, "a term of the column leaves the weights too",
               redefine=(Definition(w[i, j], dots.g[j] * dots.w2[i, j]),),
               add=(dots.mask, dots.positive2, signed(dots.g, ">0"))),
        Mutant("turned_values", replace(dots.same_output, by=(
            dots.output, flat.turned, *unit_turns, *flat.one_frame, dots.same_weights,
            dots.crossed)), "with one frame the turns drop out of the values"),
        Mutant("untied", dots.tied, "queries and keys need not be tied",
               redefine=(Definition(dots.X[i, j], Sum(dots.x[i, a] * key[j, a], (a, 1, d))),)),
        Mutant("law_of_the_totals", replace(
            dots.balance, lhs=dots.Z2[i] * dots.P2[i, j], rhs=dots.Z2[j] * dots.P2[j, i]),
            r"$\pi = Z'$, without the factor $g$"),
        Mutant("any_mask", dots.balance, "a mask that is not symmetric, such as a causal one",
               redefine=(Definition(dots.m[i, j], dots.l[i, j]),)),
        Mutant("a_metric_each", replace(
            dots.homogeneous_scores, by=(dots.scores, flat.metrics),
            rhs=t * form(i, i, j) - half * t * (form(j, j, j) + form(i, i, i))),
            "for any metrics the column term is that of the column's own metric"),
        Mutant("one_sided_metric", dots.homogeneous_scores, "$M$ need not be symmetric",
               redefine=(Definition(dots.A[a, b], dots.C[a, b]),)),
        Mutant("constant_metric_is_flat", replace(
            flat.closed, by=(flat.turned, *flat.one_frame, *unit_turns)),
            r"one frame, so one metric, has no curvature: $R_{ij} = \rho I$ for $i \ne j$"),
        Mutant("no_turn_no_torsion", replace(flat.no_gap, by=(
            flat.gap_defined, flat.turned, flat.unturned, flat.framed)),
            "$R_{ij} = I$ has no torsion, whatever the frames are"),
        Mutant("always_orthogonal", replace(flat.turn_defect, rhs=Integer(0)),
               r"$E_i E_j^{-1}$ is orthogonal for any metrics"),
        Mutant("linear_maps", replace(moved.same_scores, by=(
            *moved.same_scores.by[:-1], moved.metrics, flat.framed_by(moved.Q, moved.Q_inverse))),
            r"every invertible $Q$ keeps the scores if $G'_i = Q G_i Q^\top$"),
        Mutant("frames_stay", moved.moved_transport, "transports move while the frames stay",
               redefine=(Definition(moved.E2[i, a, b], moved.E[i, a, b]),
                         Definition(moved.coframe2[i, a, b], moved.coframe[i, a, b])),
               add=(flat.framed,)),
        Mutant("values_stay", moved.moved_output, "the values need not move",
               redefine=(Definition(moved.v2[j, a], moved.v[j, a]),)),
        Mutant("rotations_keep_the_form", replace(moved.keeps_form, by=(
            *moved.keeps_form.by[:-3], moved.turning)),
            r"every orthogonal $Q$ keeps diag($D$) $+ U U^\top$ with $D'_a = \sum_b Q_{ab}^2 "
            "D_b$", add=(signed(moved.D, ">0"),)),
        Mutant("columns_stay", moved.keeps_form, "the columns $U$ need not move",
               redefine=(Definition(moved.U2[i, a, e], moved.U[i, a, e]),)),
        Mutant("roots_with_signs", moved.moved_frame, "the roots move by $Q$, signs included",
               redefine=(Definition(moved.q2[a], Sum(moved.Q[a, b] * moved.q[b], (b, 1, d))),),
               add=(signed(moved.q, ">0"),)),
        Mutant("bidirectional", prefix, "later tokens are seen",
               redefine=(Definition(N[i, l], Integer(1)),)),
        Mutant("hidden_after_softmax", prefix, "later tokens are hidden from the values alone",
               redefine=(Definition(Z_long[i], Z[i] + Sum(f[i, l] ** 2, (l, 1, m))),)),
        Mutant("unit_diagonal_is_plain", plain_step, "$D = 1$ is enough, whatever $U$ is",
               redefine=(Definition(U[a, c], column[a, c]),)),
    ),
    sources=(
        "Riemannian Attention Mechanisms for Transformers: A Theoretical Framework and "
        "Architecture Design",
    ),
)
