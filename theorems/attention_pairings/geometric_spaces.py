"""AP8. New geometric spaces: invariant pairings, equivariant readouts."""

from __future__ import annotations

from dataclasses import replace

from sympy import Integer, KroneckerDelta

from theorems.assumptions.entries import signed, sums_to_one
from theorems.attention_pairings.steps import definite_matrices as spd
from theorems.attention_pairings.steps import flat_pairings as flat
from theorems.attention_pairings.steps import hyperboloid as sheet
from theorems.attention_pairings.steps import log_euclidean as logs
from theorems.attention_pairings.steps import projectors as planes
from theorems.attention_pairings.steps import quadrics, rotations
from theorems.statement import Cited, Clause, Definition, Mutant, Step, Theorem, array

cartan = Cited(
    id="Cartan",
    statement=r"On a complete simply connected Riemannian manifold of sectional curvature $\le 0$, "
    r"$c \mapsto \sum_j w_j d^2(c, v_j)$ with $w \ge 0$ and $\sum_j w_j = 1$ has exactly one "
    r"minimiser. Hyperbolic spaces and the positive definite matrices with the affine-invariant "
    r"metric are such manifolds, and so are products of them.",
    source="É. Cartan, Leçons sur la géométrie des espaces de Riemann, 1928; H. Karcher, "
    "Riemannian center of mass and mollifier smoothing, Comm. Pure Appl. Math. 30, 1977; "
    "R. Bhatia, Positive Definite Matrices, 2007, chapter 6",
    because=r"$d^2(\cdot, v)$ is strictly convex along geodesics.",
)
afsari = Cited(
    id="Afsari",
    statement=r"On a complete Riemannian manifold of sectional curvature at most $K$ and "
    r"injectivity radius $\iota$ let all $v_j$ lie in one open ball of radius $r \le \frac12 "
    r"\min(\iota, \pi / \sqrt K)$, where $\pi / \sqrt K$ is infinite for $K \le 0$. Then, for $w "
    r"\ge 0$ with $\sum_j w_j = 1$, $c \mapsto \sum_j w_j d^2(c, v_j)$ has exactly one minimiser "
    r"on the manifold, and it lies in the ball.",
    source="B. Afsari, Riemannian $L^p$ center of mass: existence, uniqueness, and convexity, "
    "Proc. Amer. Math. Soc. 139, 2011, Theorem 2.1",
    because=r"All minimisers lie in the ball, and there $\sum_j w_j d^2(\cdot, v_j)$, which need "
    r"not be convex, has no critical point but a nondegenerate minimum.",
)

THEOREM = Theorem(
    id="AP8",
    title="New geometric spaces: invariant pairings, equivariant readouts",
    clauses=(
        Clause("pairing", r"For $E = \exp S$ and $E' = \exp S'$: $E' = E$ iff $S' = S$. So a map "
               r"keeps the pairing iff it keeps the scores, such as $\langle q, k \rangle / \tau$ "
               r"or $-d^2(q, k) / (2 \tau)$; and with it the weights, which are functions of its "
               r"rows.", (flat.pairing,)),
        Clause("minimisers", r"Let candidates $i, b$ and values $j$ have the distances "
               r"$\sqrt{D_{ij}}$, and their images the same: $D' = D$. Then $\sum_j w_j (D'_{ij} - "
               r"D'_{bj}) = \sum_j w_j D_{ij} - \sum_j w_j D_{bj}$: a bijective isometry takes "
               r"the set of Fréchet means, the minimisers of $\sum_j w_j d^2(c, v_j)$, to that of "
               r"the images. Neither uniqueness nor the sign of $w$ is used.",
               (flat.objective,)),
        Clause("quadrics", r"Let $\langle x, y \rangle = \sum_a \eta_a x_a y_a$ and $O^\top "
               r"\mathrm{diag}(\eta) O = \mathrm{diag}(\eta)$. Then $\langle O q, O k \rangle = "
               r"\langle q, k \rangle$, and $\langle q, q \rangle = \epsilon$ gives $\langle O q, "
               r"O q \rangle = \epsilon$. With $\eta = 1$, $\epsilon = 1$ these are spheres, with "
               r"one $\eta_a = -1$, the others $1$, and $\epsilon = -1$ hyperboloids, of which "
               r"hyperbolic space is one sheet and its isometries the $O$ that keep this sheet; "
               r"the distance is a function of $\langle q, k \rangle$.",
               (quadrics.pairing_form, quadrics.stays)),
        Clause("products", r"If $\Omega_h^\top \mathrm{diag}(\eta_h) \Omega_h = "
               r"\mathrm{diag}(\eta_h)$ in each factor of a product of $H$ quadrics, the sum of "
               r"the $\langle q_h, k_h \rangle$ is invariant; tori are products of circles. For "
               r"$E = \exp S$, $E_1 = \exp S_1$, $E_2 = \exp S_2$: $E = E_1 E_2$ iff $S = S_1 + "
               r"S_2$, the pairing of a product whose similarities or squared distances add up.",
               (flat.product_form, flat.product_pairing)),
        Clause("geodesics", r"Let $\epsilon^2 = 1$, $\langle q, q \rangle = \epsilon$, $\langle q, "
               r"u \rangle = 0$, $\langle u, u \rangle = 1$, $c^2 + \epsilon s^2 = 1$ (cosine and "
               r"sine of $\theta$, hyperbolic for $\epsilon = -1$). Then $y = c q + s u$ has "
               r"$\langle y, y \rangle = \epsilon$ and $\epsilon \langle q, y \rangle = c$; if $s "
               r"> 0$, $\frac{\theta}{s} (y - \epsilon \langle q, y \rangle q) = \theta u$: the "
               r"logarithm of $y = \mathrm{Exp}_q(\theta u)$, not antipodal, is $y - c q$ times a "
               r"function of $c$.",
               (quadrics.geodesic_stays, quadrics.geodesic_cosine, quadrics.logarithm)),
        Clause("tangent_readout", r"With $c_j = \epsilon \langle q, v_j \rangle$ let $g = \sum_j "
               r"w_j \alpha_j (v_j - c_j q)$ and $R = C q + S g$; the same for the images $q' = O "
               r"q$, $v'_j = O v_j$ under $O^\top \mathrm{diag}(\eta) O = \mathrm{diag}(\eta)$, "
               r"with the same $w, \alpha, C, S$. Then $c' = c$, $g' = O g$, so that $\langle g', "
               r"g' \rangle = \langle g, g \rangle$ as for points, and $R' = O R$. In "
               r"$\mathrm{Exp}_q(\sum_j w_j \mathrm{Log}_q v_j)$ the $\alpha_j$ are functions of "
               r"$c_j$, and $C, S$ of $\langle g, g \rangle$: it is equivariant.",
               (quadrics.same_cosines, quadrics.moved_direction, quadrics.tangent_readout)),
        Clause("normalised_mean", r"Let $M = \sum_j w_j v_j$, $M' = \sum_j w_j O v_j$ with $O^\top "
               r"\mathrm{diag}(\eta) O = \mathrm{diag}(\eta)$, $\epsilon^2 = 1$, and let $\rho^2 = "
               r"\epsilon \langle M, M \rangle$, ${\rho'}^2 = \epsilon \langle M', M' \rangle$ "
               r"with $\rho, \rho' > 0$. Then $\rho' = \rho$, and $N = M / \rho$, $N' = M' / "
               r"\rho'$ have $\langle N, N \rangle = \epsilon$ and $N' = O N$.",
               (quadrics.moved_mean, quadrics.mean_square, quadrics.same_square,
                quadrics.same_norm, quadrics.on_the_quadric, quadrics.scaled_image,
                quadrics.mean_readout)),
        Clause("chordal_mean", r"For $x$, $v_j$ and $N$ on $\langle x, x \rangle = \epsilon$, $M = "
               r"\sum_j w_j v_j = \rho N$ and $W = \sum_j w_j$: $\sum_j w_j \langle x - v_j, x - "
               r"v_j \rangle = 2 \epsilon W - 2 \langle M, x \rangle$ and $\rho \langle x - N, x - "
               r"N \rangle = 2 \epsilon \rho - 2 \langle M, x \rangle$: they differ by a constant. "
               r"If $\rho > 0$ and $\eta > 0$, the second vanishes only at $x = N$, and the "
               r"normalised mean is the one point of the sphere of least mean squared chord.",
               (quadrics.chords, quadrics.chord_to_mean, quadrics.only_mean)),
        Clause("hyperboloid", r"Let $z_j \ge 0$ and $z_j^2 = 1 + |X_j|^2$. Then $1 + X_j \cdot X_l "
               r"\le z_j z_l$, and equality of the squares gives $X_j = X_l$. If $w \ge 0$: "
               r"$(\sum_j w_j)^2 \le M_0^2 - |M|^2$ for $M_0 = \sum_j w_j z_j$, $M = \sum_j w_j "
               r"X_j$: the normalised mean is defined unless all weights are $0$, and is the one "
               r"point of least mean squared chord, as $\langle x - N, x - N \rangle = -2 - 2 "
               r"\langle x, N \rangle = 2 (z z' - X \cdot X' - 1)$ for two points of the sheet.",
               (sheet.reverse, sheet.timelike, sheet.coincide)),
        Clause("congruences", r"Let $Q = B^\top B$ and $K = B^\top \mathrm{diag}(\lambda) B$ with "
               r"one invertible $B$, as two positive definite matrices are, and $V = B^{-1}$: $K V "
               r"= Q V \mathrm{diag}(\lambda)$. For invertible $g$, $g K g^\top V' = g Q g^\top V' "
               r"\mathrm{diag}(\lambda)$ with $V' = g^{-\top} V$. If $\lambda > 0$ and $\mu_c = 1 "
               r"/ \lambda_c$: $Q^{-1} = V V^\top$, $K^{-1} = V \mathrm{diag}(\mu) V^\top$, "
               r"$K^{-1} B^\top = Q^{-1} B^\top \mathrm{diag}(\mu)$; and $\lambda_c \mu_c = 1$ iff "
               r"$\log \lambda_c + \log \mu_c = 0$. So congruence and inversion keep the squared "
               r"affine-invariant distance $\sum_c (\log \lambda_c)^2$.",
               (spd.eigenvalues, spd.congruence, spd.inverse_of_Q, spd.inverse_of_K,
                spd.inversion, spd.log_inverse)),
        Clause("arithmetic_mean", r"$\sum_j w_j g Y_j g^\top = g M g^\top$ for $M = \sum_j w_j "
               r"Y_j$ and every $g$. If $Y_j = F_j^\top F_j$ and $w > 0$, then $x^\top M x = 0$ "
               r"iff all $F_j x = 0$; if $F_j$ has the inverse $G_j$, $x = G_j F_j x$: the mean is "
               r"positive definite.",
               (spd.arithmetic, spd.definite, spd.no_kernel)),
        Clause("definite_tangent", r"For invertible $g$ and $Q = B^\top B$, $V = B^{-1}$ the image "
               r"$g Q g^\top$ is ${B'}^\top B'$ for $B' = B g^\top$, whose inverse is $V' = "
               r"g^{-\top} V$; ${V'}^\top g Y_j g^\top V' = V^\top Y_j V$, and ${B'}^\top T B' "
               r"= g (B^\top T B) g^\top$ for every $T$. With $T = \exp \sum_j w_j \log(V^\top "
               r"Y_j V)$ this is the tangent readout $\mathrm{Exp}_Q(\sum_j w_j \mathrm{Log}_Q "
               r"Y_j)$ of the affine-invariant metric: it is equivariant under congruence.",
               (spd.root_of_image, spd.inverse_of_image, spd.whitened, spd.coloured)),
        Clause("logarithms", r"For $X = U \mathrm{diag}(x) U^\top$ with orthogonal $U$ put $\log "
               r"X = U \mathrm{diag}(\log x) U^\top$. If $O$ is orthogonal, $O U$ is, $O X O^\top "
               r"= O U \mathrm{diag}(x) (O U)^\top$ and $\log O X O^\top = O (\log X) O^\top$; "
               r"$\gamma x = y$ iff $\log \gamma + \log x = \log y$, and $U \mathrm{diag}(\log x + "
               r"g) U^\top = \log X + g I$; $x y = 1$ iff $\log x + \log y = 0$. With the "
               r"divided differences $f_{ab}$ of $\log$ at $x$ the derivative of $\log$ along $H$ "
               r"has, by the formula of Daleckii and Krein, the entries $f_{ab} (U^\top H U)_{ab}$ "
               r"in the basis $U$, and for any $f$ these are the same for $O U$ and $O H O^\top$.",
               (logs.turned_basis, logs.turned_point, logs.turned_log, logs.scaled,
                logs.scaled_log, logs.inverted, logs.log_metric)),
        Clause("log_euclidean", r"For $\sigma^2 = 1$ and orthogonal $O$ the map $A \mapsto \sigma "
               r"O A O^\top + g I$ of logarithms (rotation, scaling, inversion) keeps $|A - B|^2$; "
               r"if $\sum_j w_j = 1$ it passes through the mean $M = \sum_j w_j L_j$ of "
               r"logarithms, and $\sum_j w_j |C - L_j|^2 - \sum_j w_j |M - L_j|^2$ is $|C - M|^2$, "
               r"zero iff $C = M$: the log-Euclidean Fréchet mean is $\exp M$, equivariant and "
               r"unique.", (logs.log_distance, logs.log_mean, logs.log_unique)),
        Clause("grassmannian", r"If $O$ is orthogonal: $\mathrm{tr}(O P O^\top O Q O^\top) = "
               r"\mathrm{tr}(P Q)$ for all matrices $P, Q$. For $P = Y Y^\top$, $Q = Z Z^\top$ "
               r"with $k$ orthonormal columns each, $O Y$ has orthonormal columns, $O Y (O "
               r"Y)^\top = O P O^\top$, and $(O Y)^\top O Z = Y^\top Z$, whose singular values are "
               r"the cosines of the principal angles; $|P - Q|^2 = 2 k - 2\, \mathrm{tr}(P Q)$.",
               (planes.projector_pairing, planes.frame_stays, planes.moved_projector,
                planes.angles, planes.chordal)),
        Clause("eigenprojector", r"Let $M = \sum_j w_j P_j$; then $\sum_j w_j O P_j O^\top = O M "
               r"O^\top$. Let a symmetric $M$ have orthonormal eigenvectors, the columns of $U$ "
               r"and $V$, with eigenvalues $\alpha + s_g$ and $\alpha - \gamma - r_h$, $s, r \ge "
               r"0$, $\Pi = U U^\top$ of rank $k$. Every $\Pi' = Y Y^\top$ with $k$ orthonormal "
               r"columns has $\mathrm{tr}(M \Pi') + \frac12 \gamma |\Pi - \Pi'|^2 \le "
               r"\mathrm{tr}(M \Pi)$; so if $\gamma > 0$ and $\mathrm{tr}(M \Pi') = \mathrm{tr}(M "
               r"\Pi)$, then $\Pi' = \Pi$. As $\mathrm{tr}$ of products is invariant, $O \Pi "
               r"O^\top$ is then the one maximiser for $O M O^\top$: the readout is equivariant. "
               r"Whatever $\gamma$: the exchange of $u_p$ for $v_q$ changes $\mathrm{tr}(M \Pi)$ "
               r"by the difference of their eigenvalues. So where $\gamma = 0 = s_p = r_q$, that "
               r"is, without an eigengap, there are two maximisers.",
               (planes.moved_moment, planes.leading, planes.only_top, planes.swap_value)),
        Clause("rotations", r"If $A$ and $B$ are orthogonal: $\mathrm{tr}((A Q B)^\top A K B) = "
               r"\mathrm{tr}(Q^\top K)$, $(A Q B)^\top A K B = B^\top Q^\top K B$, for orthogonal "
               r"$Q$ so is $A Q B$, and always $\det(A Q B) = \det A \det Q \det B$. The distance "
               r"is a function of the eigenvalues of $Q^\top K$.",
               (rotations.rotation_pairing, rotations.rotation_stays, rotations.relative,
                rotations.orientation)),
        Clause("polar_factor", r"Let $M = \sum_j w_j V_j$; then $\sum_j w_j A V_j B = A M B$. If "
               r"$M = R H$ with $H = F^\top F$ and $B$ is orthogonal, then $A M B = (A R B) ((F "
               r"B)^\top F B)$, and $F B$ has the inverse $B^\top F_i$ where $F$ has $F_i$. If $F$ "
               r"is invertible, $R, S$ are orthogonal and $M = R F^\top F = S E^\top E$, then "
               r"$F^\top F = E^\top E$, and $R = M F_i F_i^\top$ is the product of $M$ and the "
               r"inverse of that: the polar factor of an invertible mean is unique, and so, with "
               r"orthogonal $A$, it is $A R B$ for $A M B$.",
               (rotations.moved_sum, rotations.moved_polar, rotations.invertible_root,
                rotations.root_first, rotations.root_second, rotations.no_area,
                rotations.same_root, rotations.unseen, rotations.unique,
                rotations.turn_of_root)),
        Clause("frechet", r"Fréchet means are unique on hyperbolic spaces, on positive definite "
               r"matrices with the affine-invariant metric and on products of them; on spheres, "
               r"rotations and Grassmannians where all values lie in one ball of the cited radius.",
               (cartan, afsari)),
        Clause("antipodal", r"Two antipodal points of a sphere at the distance $2 \delta$, of "
               r"weight $\frac12$ each, are at $\theta$ and $2 \delta - \theta$ from a point: "
               r"$\frac12 \theta^2 + \frac12 (2 \delta - \theta)^2 = \delta^2$ iff $\theta = "
               r"\delta$, and more elsewhere. So the whole equator is the set of Fréchet means.",
               (sheet.antipodal,)),
        Clause("flat", r"Let $\tau > 0$, $S_{ij} = -|q_i - k_j|^2 / (2 \tau)$, $T_{ij} = (q_i "
               r"\cdot k_j) / \tau - |k_j|^2 / (2 \tau)$, $u_i = |q_i|^2 / (2 \tau)$. Then $S_{ij} "
               r"+ u_i = T_{ij}$ and $2 \tau (S_{ij} + u_i) = 2 q_i \cdot k_j - |k_j|^2$. For $E = "
               r"\exp S$, $X = \exp u$, $F = \exp T$: $E_{ij} X_i = F_{ij}$ iff $S_{ij} + u_i = "
               r"T_{ij}$. With $E, X > 0$ and $F_{ij} = E_{ij} X_i$ the weights $p_{ij} = E_{ij} / "
               r"\sum_l E_{il}$ and $p'_{ij} = F_{ij} / \sum_l F_{il}$ agree: attention by "
               r"squared distances is dot-product attention with tied queries and keys and the "
               r"column term $-|k_j|^2 / (2 \tau)$.",
               (flat.flat_scores, flat.tied_scores, flat.flat_pairing, flat.scaled_total,
                flat.scaled_weights, flat.flat_weights)),
        Clause("zero_curvature", r"Let $4 P P' s = |x - y|^2$ with $P = 1 + \frac14 \kappa |x|^2 > "
               r"0$, $P' = 1 + \frac14 \kappa |y|^2 > 0$: $s$ is the square of half the chord in "
               r"the stereographic chart of curvature $\kappa$. Then $4 P P' s = 4 s + \kappa s "
               r"(|x|^2 + |y|^2 + \frac14 \kappa |x|^2 |y|^2)$. For $s = \frac14 \delta^2 - "
               r"\frac1{48} \kappa \delta^4 + \kappa^2 \rho$, the series of $\kappa s = "
               r"\sin^2(\sqrt \kappa\, \delta / 2)$: $\delta^2 - 4 s = \kappa (\frac1{12} \delta^4 "
               r"- 4 \kappa \rho)$. So with $s, \delta, \rho$ bounded $\delta^2 = |x - y|^2 + "
               r"O(\kappa)$ as $\kappa \to 0$, from either side: the pairing tends to that of the "
               r"clause before.",
               (flat.chart_product, flat.opened, flat.distance)),
    ),
    mutants=(
        Mutant("mean_on_hyperboloid", Step(
            id="timelike", lhs=sheet.square, rhs=Integer(1), because="claimed",
            by=(*sheet.means, sums_to_one(sheet.w), sheet.nonnegative, sheet.sheet, sheet.upper)),
            "the mean itself lies on the hyperboloid"),
        Mutant("antipodal_mean", sheet.antipodal, "the Fréchet mean of antipodal points is unique: "
               "at one signed angle", redefine=(
                   Definition(sheet.gap, sheet.phi - sheet.right),),
               add=(sheet.distance, signed(array("delta"), ">0"))),
        Mutant("any_congruence", logs.any_congruence,
               "congruences are log-Euclidean isometries"),
        Mutant("no_column_term", flat.tied_scores, "the flat limit is $\\exp(q \\cdot k / \\tau)$",
               redefine=(Definition(flat.T[flat.i, flat.j], flat.r_tau * flat.total(
                   flat.query[flat.i, flat.a] * flat.key[flat.j, flat.a])),)),
        Mutant("trace_of_definite", Step(
            id="projector_pairing", because="claimed",
            lhs=spd.total(spd.Q2[spd.a, spd.b] * spd.K2[spd.b, spd.a], spd.a, spd.b),
            rhs=spd.total(spd.Q[spd.a, spd.b] * spd.K[spd.b, spd.a], spd.a, spd.b),
            by=(*spd.moved_pair, *spd.pair, spd.group, spd.frame, spd.positive)),
            "$\\mathrm{tr}(Q K)$ is invariant under congruences of positive definite matrices"),
        Mutant("mean_of_inverses", Step(
            id="arithmetic", lhs=spd.total(spd.M[spd.a, spd.b] * spd.mean_of_inverses, spd.b),
            rhs=KroneckerDelta(spd.a, spd.f), because="claimed",
            by=(spd.mean_is, spd.values_are, spd.inverse_values, spd.invertible_values,
                spd.positive_w, sums_to_one(spd.w))),
            "inverting passes through the arithmetic mean"),
        Mutant("fixed_base", replace(quadrics.tangent_readout, by=(
            quadrics.sign, quadrics.on_quadric(quadrics.q), quadrics.on_quadric(quadrics.v),
            *quadrics.tangent_readout.by)), "a tangent readout at a fixed base point is "
            "equivariant", redefine=(Definition(quadrics.q2[quadrics.a], quadrics.q[quadrics.a]),),
            add=(quadrics.positive_form,)),
        Mutant("no_eigengap", planes.only_top, "no eigengap is needed",
               drop=(planes.positive_gap,), add=(signed(planes.positive_gap.signs[0][0], ">=0"),)),
        Mutant("any_map", quadrics.pairing_form, "every linear map keeps $\\langle q, k \\rangle$",
               drop=(quadrics.isometry,), add=(quadrics.positive_form,)),
        Mutant("signed_norm", quadrics.same_norm, "a norm of any sign",
               drop=(quadrics.positive_norms[0],)),
        Mutant("vanishing_mean", quadrics.mean_readout, "the mean may have the norm 0",
               drop=(quadrics.positive_norms[0],),
               add=(signed(quadrics.positive_norms[0].signs[0][0], ">=0"),)),
        Mutant("no_normaliser", replace(quadrics.only_mean, by=quadrics.only_mean.by[::2]),
               "the chordal mean is unique where the mean vanishes",
               add=(signed(quadrics.positive_norms[0].signs[0][0], ">=0"),)),
        Mutant("both_sheets", sheet.reverse, "points of both sheets", drop=(sheet.upper,)),
        Mutant("signed_weights", sheet.timelike, "weights of any sign",
               drop=(sheet.nonnegative,)),
        Mutant("untransposed", replace(
            rotations.rotation_pairing, lhs=rotations.total(
                rotations.Q2[rotations.a, rotations.b] * rotations.K2[rotations.b, rotations.a],
                rotations.a, rotations.b), rhs=rotations.total(
                rotations.Q[rotations.a, rotations.b] * rotations.K[rotations.b, rotations.a],
                rotations.a, rotations.b)), "$\\mathrm{tr}(Q K)$ under $Q \\mapsto A Q B$"),
        Mutant("any_factor", rotations.moved_polar, "polar factors under $M \\mapsto A M B$ for "
               "every $B$", drop=(rotations.turns[1],)),
        Mutant("any_total", logs.log_mean, "scaling passes through sums of any total weight",
               drop=(logs.unit,)),
    ),
    sources=(
        "Knowledge worlds and attention pairings",
    ),
)
