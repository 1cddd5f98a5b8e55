"""RA10. Transports between frames: isometries, curvature and torsion."""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer

from theorems.riemannian_attention.steps import connection_jets as jets
from theorems.riemannian_attention.steps import curvature_proxy as curved
from theorems.riemannian_attention.steps import isometric_transports as turned
from theorems.riemannian_attention.steps import levi_civita as levi
from theorems.riemannian_attention.steps import low_rank_frames as low
from theorems.riemannian_attention.steps import plane_metrics as planes
from theorems.riemannian_attention.steps import teleparallel as frame
from theorems.riemannian_attention.steps import torsion_proxy as twisted
from theorems.assumptions import turned_frames as tokens
from theorems.assumptions.turned_frames import Q, a, b, c, e, f, i, j, k
from theorems.statement import Clause, Mutant, Step, Theorem

on_edges = replace(tokens.triangles, value=Q[i, j] * Q[j, k] * Q[k, i])
on_distinct = replace(turned.opened, by=(*turned.opened.by, tokens.triangles))
within_root = replace(low.frame_right, by=(low.semidefinite, low.root_of_gram, *low.frame_right.by))
CYCLE = Q[i, j] * Q[j, k] * Q[k, turned.l] * Q[turned.l, i]

THEOREM = Theorem(
    id="RA10",
    title="Transports between frames: isometries, curvature and torsion",
    clauses=(
        Clause("root", r"For $M = H^\top H$ both $N = I + M$ and $S = I + M + V^\top V$ are at "
               r"least $I$: $N y = 0$ or $S y = 0$ only for $y = 0$.",
               (*low.shift_kernel, *low.capacitance_kernel)),
        Clause("frames", r"Let $q > 0$ be diagonal, $D = q^2$, $U = q V$, $G = D + U U^\top$, $M = "
               r"H^\top H$, $M^2 = I + V^\top V$, $K = (I + M)^{-1}$ and $L = (I + M + V^\top "
               r"V)^{-1}$. Then $F = (I + V K V^\top) q$ has $F^\top F = G$, and its inverse "
               r"is $q^{-1} (I - V L V^\top)$.",
               (low.root_times_K, low.known_product, low.squared_product, low.frame_metric,
                low.gram, low.frame_right, low.N_transposed, low.S_transposed, low.frame_left)),
        Clause("isometries", r"Let $E_i$ be invertible and $G_i = E_i^\top E_i$. If $R_{ij}^\top "
               r"R_{ij} = I$, then $T_{ij} = E_i^{-1} R_{ij} E_j$ has $T_{ij}^\top G_i T_{ij} = "
               r"G_j$; every $T_{ij}$ with $T_{ij}^\top G_i T_{ij} = G_j$ is of this form, with "
               r"$R_{ij} = E_i T_{ij} E_j^{-1}$.",
               (turned.isometry, turned.turn_orthogonal, turned.isometry_form)),
        Clause("inverses", r"For invertible $E_i$ and $R_{ij}^\top R_{ij} = I$: $T_{ij} T_{ji} = "
               r"I$ for all $i, j$ iff $R_{ji} = R_{ij}^\top$ for all $i, j$.",
               (turned.turns_back, turned.transports_back, turned.turns_seen,
                turned.gap_from_product, turned.turns_transposed)),
        Clause("flatness", r"For invertible $E_i$: $T_{ij} T_{jk} T_{ki} = E_i^{-1} R_{ij} R_{jk} "
               r"R_{ki} E_i$ and $R_{ij} R_{jk} R_{ki} = E_i T_{ij} T_{jk} T_{ki} E_i^{-1}$: one "
               r"product is $I$ iff the other is.",
               (turned.curvature_seen, turned.curvature_back)),
        Clause("coboundary", r"Let $R_{ij}^\top R_{ij} = I$ for all pairs of nodes of a complete "
               r"graph. If $R_{ii} = I$, $R_{ji} = R_{ij}^\top$ and $R_{ij} R_{jk} R_{ki} = I$ for "
               r"distinct $i, j, k$, then $R_{ij} = R_{ik} R_{kj}$ for all $i, j, k$, that is "
               r"$R_{ij} = g_i g_j^{-1}$ with $g_i = R_{i1}$ and $g_i^{-1} = R_{1i}$, and closed "
               r"walks of four edges are flat too. Conversely $R_{ij} = g_i g_j^{-1}$ with "
               r"invertible $g_i$ gives $R_{ii} = I$, $R_{ji} = R_{ij}^\top$ and $R_{ij} R_{jk} "
               r"R_{ki} = I$ for all $i, j, k$.",
               (turned.inverse_turns, turned.closed_up, turned.opened, turned.all_cases,
                turned.no_case, turned.coboundary, turned.four_turns, turned.flat_back,
                turned.unit_back, turned.transposed_back)),
        Clause("segments", r"Along $p + s v$ let $A(s) = A_0 + s A_1 + s^2 A_2$ be $\Gamma(v, "
               r"\cdot)$. With $C_1 = -A_0$ and $C_2 = \frac12 (A_0^2 - A_1)$ every $Y = I + s C_1 "
               r"+ s^2 C_2 + s^3 Z_s$ has $Y' + A Y = s^2 (\dots)$, polynomial in $s$ and the "
               r"rest. At $p = x + \varepsilon u$ and $s = \varepsilon$ it is $I - \varepsilon "
               r"\Gamma(v) + \varepsilon^2 (\frac12 \Gamma(v)^2 - \partial_{u + v/2} \Gamma(v)) + "
               r"\varepsilon^3 (\dots)$, with $\Gamma(v) = \Gamma(v, \cdot)$ and $\partial \Gamma$ "
               r"at $x$.",
               (jets.solves, jets.segment)),
        Clause("metric_connections", r"If $G' = A^\top G + G A$, then $Y' = -A Y$ and $Z' = -A Z$ "
               r"have $(Y^\top G Z)' = 0$: transports of a metric connection are isometries.",
               (frame.preserved,)),
        Clause("curvature", r"For tokens $x$, $x + \varepsilon a$, $x + \varepsilon b$ of any "
               r"smooth connection and transports as in segments, $T_{ij} T_{jk} T_{ki} = I "
               r"+ \frac12 \varepsilon^2 R(a, b) + \varepsilon^3 S$ with $S$ polynomial in "
               r"$\varepsilon$, the jet and the third-order rests of the transports, where $R(a, "
               r"b) = \partial_a \Gamma(b) - \partial_b \Gamma(a) + \Gamma(a) \Gamma(b) - "
               r"\Gamma(b) \Gamma(a)$ is $\nabla_a \nabla_b - \nabla_b \nabla_a$ for constant "
               r"$a$, $b$.",
               (curved.expansion, *curved.edges, curved.curvature_proxy,
                curved.derivatives_commute)),
        Clause("torsion", r"There the gap $\varepsilon (a + T_{ji} b - b - T_{ki} a)$ is "
               r"$-\varepsilon^2 \tau + \varepsilon^3 t + \varepsilon^4 (Z_{ji} b - Z_{ki} a)$ "
               r"with $\tau = \Gamma(a, b) - \Gamma(b, a)$ and $t = -\frac12 [\partial_a \Gamma(a, "
               r"b) - \Gamma(a, \Gamma(a, b))] + \frac12 [\partial_b \Gamma(b, a) - \Gamma(b, "
               r"\Gamma(b, a))]$; if $\tau = 0$ it is $\varepsilon^3 t + \varepsilon^4 (\dots)$.",
               (twisted.gap_expansion, twisted.torsion_free_gap)),
        Clause("normal_charts", r"If $\Gamma = 0$ at $x$, $\partial \Gamma$ is symmetric in its "
               r"lower indices there (no torsion) and $\partial_h \Gamma(h, h) = 0$ for $h = a, b, "
               r"a - b$ (lines through $x$ are geodesics), the gap is $-\frac16 \varepsilon^3 R(a, "
               r"b)(a + b) + \varepsilon^4 (\dots)$.",
               (twisted.normal_third, twisted.normal_gap)),
        Clause("teleparallel", r"For invertible $E_i$ and $R_{ij} = I$: $T_{ij} T_{jk} T_{ki} = "
               r"I$ for all $i, j, k$, and the gap of tokens $x_i, x_j, x_k$ is $E_k^{-1} (E_k - "
               r"E_i) a - E_j^{-1} (E_j - E_i) b$, $a = x_j - x_i$, $b = x_k - x_i$.",
               (frame.flat, frame.frame_gap)),
        Clause("frame_fields", r"For a smooth field of invertible $F$ these are the transports of "
               r"$\Gamma = F^{-1} \partial F$: $(F y)' = F (y' + \Gamma(v, y))$. Then $\tau = "
               r"F^{-1} (\partial_a F\, b - \partial_b F\, a)$ and $R(a, b) = 0$; if $F$ is the "
               r"Jacobian matrix of a map, as for polar coordinates of the plane, $\tau = 0$.",
               (frame.constant, frame.constant_back, frame.frame_torsion, frame.product_rule,
                frame.no_curvature, frame.flat_chart)),
        Clause("levi_civita", r"Let $G = F^\top F$ with invertible $F$ have the symmetric "
               r"derivatives $\partial_k G$, and let $\Gamma = G^{-1} k$ with $k_m(u, v) = "
               r"\frac12 (\partial_u G_{mv} + \partial_v G_{um} - \partial_m G_{uv})$. Then $G\, "
               r"\Gamma = k$, $\Gamma(a, b) = \Gamma(b, a)$ (no torsion), $\partial_v G = G\, "
               r"\Gamma(v) + (G\, \Gamma(v))^\top$ (a metric connection), and every $C$ with "
               r"$C(a, b) = C(b, a)$ and $\partial_v G = G\, C(v) + (G\, C(v))^\top$ is this "
               r"$\Gamma$.",
               (levi.symbols_lowered, levi.no_torsion, levi.kinds, levi.parallel_metric,
                levi.koszul, levi.only_one)),
        Clause("riemann", r"If moreover $\partial_l \partial_k G = \partial_k \partial_l G$ and "
               r"$G\, \partial \Gamma + \partial G\, \Gamma = \partial k$, then $\langle e, R(a, "
               r"b) c \rangle = \frac12 B + \langle \Gamma(b, e), \Gamma(a, c) \rangle - \langle "
               r"\Gamma(a, e), \Gamma(b, c) \rangle$ with $B = \partial_a \partial_c G(b, e) - "
               r"\partial_a \partial_e G(b, c) - \partial_b \partial_c G(a, e) + \partial_b "
               r"\partial_e G(a, c)$; it changes its sign when $c$ and $e$ are exchanged.",
               (levi.slope_lowered, levi.riemann, levi.skew)),
        Clause("lines", r"If $b = s a$, then $R(a, b) = 0$ and $\tau = 0$ for every connection: "
               r"so it is on a line.",
               (levi.line_curvature, levi.line_torsion)),
        Clause("polar", r"Let $u_r$, $u_\theta$ be orthonormal, $\phi > 0$ a function of $u_r "
               r"\cdot x$ and $G = I + (\phi^2 - 1) u_\theta u_\theta^\top$, which for $d = 2$ is "
               r"$dr^2 + \phi(r)^2 d\theta^2$, with derivatives by the product rule. Then $F = I "
               r"+ (\phi - 1) u_\theta u_\theta^\top$ is a frame with inverse $I + (\frac1\phi - "
               r"1) u_\theta u_\theta^\top$, and for $G$ and its derivatives the formulas above "
               r"give, with $a_r = u_r \cdot a$ and $a_\theta = u_\theta \cdot a$, $\Gamma(a, b) "
               r"= \frac{\phi'}{\phi} (a_r b_\theta + a_\theta b_r) u_\theta - \phi \phi' "
               r"a_\theta b_\theta u_r$ and $R(a, b) = (a_r b_\theta - a_\theta b_r) \phi'' "
               r"(\frac1\phi u_\theta u_r^\top - \phi\, u_r u_\theta^\top)$. So $R = 0$ for "
               r"$\phi'' = 0$, as of the plane in polar coordinates, $\phi = r$, and $u_r^\top "
               r"R(u_r, u_\theta) u_\theta = 0$ iff $\phi'' = 0$. For $\phi'' = -\kappa \phi$ it "
               r"is $R(a, b) = \kappa (a_r b_\theta - a_\theta b_r) (\phi^2 u_r u_\theta^\top - "
               r"u_\theta u_r^\top)$: $\kappa = 1$ for $\sin r$ of the sphere, $\kappa = -1$ for "
               r"$\sinh r$ of the hyperbolic plane.",
               (planes.polar_metric, planes.polar_frame, planes.polar_symbols, planes.polar_slopes,
                planes.revolution, planes.flat_iff, planes.one_curvature)),
        Clause("polar_transports", r"If there $\phi' = 1$, the matrix $J = n u_r^\top + \phi\, t "
               r"u_\theta^\top$ with $\partial_r n = \partial_r t = 0$, $\partial_\theta n = t$ "
               r"and $\partial_\theta t = -n$, which for $\phi = r$ is the Jacobian matrix of $r "
               r"n$, has $(J y)' = J (y' + \Gamma(v, y))$ along $v$: parallel fields have "
               r"constant $J y$. The connection $F^{-1} \partial F$ of the frame $F$ has for any "
               r"$\phi$ the torsion $\frac{\phi'}{\phi} (a_r b_\theta - a_\theta b_r) u_\theta$.",
               (planes.straight_plane, planes.polar_torsion)),
        Clause("constant_curvature", r"Let $G = \lambda I$ with $\lambda = 4 / p^2$, $p = 1 + "
               r"\kappa |x|^2 > 0$, and with the derivatives of $\lambda$ for which those of "
               r"$\lambda p^2$ vanish. The same formulas give $\Gamma(a, b) = -\frac{2 \kappa}{p} "
               r"((x \cdot a) b + (x \cdot b) a - (a \cdot b) x)$ and $R(a, b) c = \kappa "
               r"(\langle b, c \rangle a - \langle a, c \rangle b)$, for all $d$: flat space, "
               r"spheres ($\kappa = 1$), hyperbolic spaces ($\kappa = -1$).",
               (planes.factor_slope, planes.factor_bend, planes.chart_symbols, planes.chart_slopes,
                planes.point, planes.chart_curvature)),
    ),
    mutants=(
        Mutant("stretched_last", low.frame_metric, "the diagonal on the other side of V K V^T",
               redefine=(replace(low.frame, value=low.q[a] * low.TURN),)),
        Mutant("whole_root", low.frame_metric, r"$F = (I + V M^{-1} V^\top) q$, with $N = M$",
               redefine=(replace(low.shifted, value=low.M[c, e]),)),
        Mutant("no_root", low.frame_metric, "any symmetric M >= 0 will do",
               drop=(low.root_of_gram,)),
        Mutant("capacitance_of_K", within_root, r"$F^{-1} = q^{-1} (I - V K V^\top)$",
               redefine=(replace(low.woodbury, value=low.inverse_q[a] * (
                   2 * turned.delta(a, b) - low.TURN)),)),
        Mutant("any_stretch", within_root, "q may vanish", drop=(low.positive,)),
        Mutant("wrong_direction", replace(
            turned.isometry, lhs=turned.total(
                turned.T[i, j, a, b] * turned.G[j, a, c] * turned.T[i, j, c, turned.f], a, c),
            rhs=turned.G[i, b, turned.f]), r"$T_{ij}$ is an isometry from $G_i$ to $G_j$"),
        Mutant("any_turn", turned.isometry, "R need not be orthogonal",
               drop=(tokens.turns_orthogonal,)),
        Mutant("one_way", turned.transports_back, r"$R_{ij}^\top R_{ij} = I$ is enough for "
               "inverse transports", drop=(tokens.transposed_back,)),
        Mutant("not_transposed_back", on_distinct, r"flat triangles are enough without "
               r"$R_{ji} = R_{ij}^\top$", drop=(tokens.transposed_back,)),
        Mutant("turned_nodes", turned.coboundary, r"flat triangles are enough without $R_{ii} = "
               "I$", drop=(tokens.unit_turn,)),
        Mutant("any_graph", replace(
            turned.four_turns, lhs=CYCLE * turned.four_turns.lhs,
            rhs=CYCLE * turned.four_turns.rhs),
            "flat triangles on the edges Q of a graph make its 4-cycles flat",
            redefine=(on_edges,), add=(tokens.graph,)),
        Mutant("whole_curvature", replace(
            curved.curvature_proxy, rhs=curved.delta(curved.e, curved.f)
            + curved.eps**2 * curved.R_ab[curved.e, curved.f]
            + curved.eps**3 * curved.rest[curved.e, curved.f]),
            "the proxy is the curvature, not half of it"),
        Mutant("other_sign", replace(
            curved.curvature_proxy, rhs=curved.delta(curved.e, curved.f)
            - curved.HALF * curved.eps**2 * curved.R_ab[curved.e, curved.f]
            + curved.eps**3 * curved.rest[curved.e, curved.f]),
            r"the proxy is $-\frac12 R(a, b)$"),
        Mutant("end_of_segment", replace(jets.segment, rhs=jets.FIRST + jets.REST + jets.eps**2 * (
            jets.quadratic(jets.of(jets.u), jets.of(jets.v)) + jets.HALF * jets.derivative(
                jets.of(jets.v), jets.of(jets.v), jets.e, jets.f))),
               r"$\Gamma$ at the start of the segment is enough for the second order"),
        Mutant("gap_sign", replace(
            twisted.gap_expansion, rhs=twisted.gap_expansion.rhs
            + 2 * twisted.eps**2 * twisted.torsion[twisted.e]), r"the gap is $+\tau$"),
        Mutant("gap_closes", replace(twisted.torsion_free_gap, rhs=twisted.REMAINDER),
               "without torsion the gap is of fourth order"),
        Mutant("normal_gap_closes", replace(twisted.normal_gap, rhs=twisted.REMAINDER),
               "in a normal chart the gap is of fourth order"),
        Mutant("any_chart", twisted.normal_gap, "the normal form holds without a normal chart",
               drop=(twisted.straight,)),
        Mutant("connection_at_x", twisted.normal_gap, r"$\Gamma$ may be anything at $x$",
               drop=(twisted.vanishing,)),
        Mutant("no_torsion", replace(frame.frame_gap, rhs=Integer(0)),
               r"$R_{ij} = I$ has no torsion"),
        Mutant("flat_without_torsion", Step(
            id="frame_torsion", lhs=frame.frame_torsion.lhs, rhs=Integer(0),
            by=(*frame.frame_torsion.by, frame.no_curvature), because="claimed"),
            "a flat connection has no torsion"),
        Mutant("any_derivatives", frame.no_curvature, r"$\partial_a \partial_b F$ may depend on "
               "the order",
               redefine=(replace(frame.second, value=frame.half[
                   frame.k, frame.l, frame.e, frame.f]),)),
        Mutant("koszul_signs", levi.parallel_metric, r"$k$ with $+ \partial_m G_{uv}$",
               redefine=(replace(levi.first_kind, value=levi.HALF * (
                   levi.dG[k, levi.m, f] + levi.dG[f, k, levi.m] + levi.dG[levi.m, k, f])),)),
        Mutant("lopsided_metric", levi.no_torsion, r"$\partial_k G$ need not be symmetric",
               redefine=(replace(levi.symmetric, value=levi.half_dG[k, e, f]),)),
        Mutant("every_metric_connection", levi.only_one, "$C$ may have torsion",
               redefine=(replace(levi.untwisted, value=levi.half_C[e, k, f]),)),
        Mutant("second_derivatives_alone", levi.riemann, r"$R$ without the products of $\Gamma$",
               redefine=(replace(levi.covariant, value=levi.SECOND),)),
        Mutant("two_directions", replace(levi.line_curvature, by=levi.line_curvature.by[:-1]),
               "no connection is curved, whatever $a$ and $b$ are"),
        Mutant("saddle_for_sphere", replace(planes.one_curvature, rhs=-planes.one_curvature.rhs),
               r"$\phi'' = -\kappa \phi$ has the curvature $-\kappa$", add=(planes.pair,)),
        Mutant("flat_for_all", replace(planes.revolution, rhs=Integer(0)),
               r"metrics $dr^2 + \phi(r)^2 d\theta^2$ are flat"),
        Mutant("cone", replace(planes.straight_plane, by=tuple(
            part for part in planes.straight_plane.by if part != planes.unit_slope)),
            r"$\partial J = J\, \Gamma$ for any $\phi'$"),
        Mutant("polar_frame_untwisted", replace(
            planes.polar_torsion, rhs=Integer(0),
            by=(planes.unit_slope, *planes.polar_torsion.by)),
               "the frame of polar coordinates has no torsion"),
        Mutant("halved_curvature", replace(
            planes.chart_curvature, rhs=planes.chart_curvature.rhs * planes.HALF),
            r"$\lambda = 4 / p^2$ has the curvature $\frac12 \kappa$"),
    ),
    sources=(
        "Riemannian Attention and the Fiber Bundle Transformer",
        "S. Kobayashi, K. Nomizu, Foundations of Differential Geometry, volume I, 1963",
        "A. Singer, H.-T. Wu, Vector diffusion maps and the connection Laplacian, 2012",
    ),
)
