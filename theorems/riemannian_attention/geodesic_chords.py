"""RA8. Chords and geodesic distances: third and fourth order, exact for constant metrics."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, Integer, Rational, Sum

from theorems.riemannian_attention.steps import constant_metrics as chords
from theorems.riemannian_attention.steps import path_energy as paths
from theorems.riemannian_attention.steps import polar_chords as polar
from theorems.riemannian_attention.steps import surfaces
from theorems.riemannian_attention.steps.path_energy import (
    D, D2_hhhh, D_hhh, HALF, K, NORM, TWELFTH, a, b, c, d, eps, h,
)
from theorems.statement import Cited, Clause, Definition, Mutant, Step, Theorem

geodesics = Cited(
    id="geodesics-minimise",
    because=r"With $|\gamma'| = d$ at most a multiple of $\varepsilon$, $\gamma''$ is one of "
    r"$\varepsilon^2$ at most, so $y$ and $z$ of the geodesic stay bounded.",
    statement=r"The squared distance of two points is the infimum of the energy $\int |\gamma'|^2 "
    r"dt$ over the paths $\gamma$ on $[0, 1]$ between them. Each point of a smooth metric has a "
    r"neighbourhood in which any two points are joined by exactly one geodesic, $\gamma'' = "
    r"-\Gamma_\gamma(\gamma', \gamma')$ with constant $|\gamma'|$; it attains the infimum.",
    source="M. do Carmo, Riemannian Geometry, 1992, chapters 3 and 9",
)


def of_a_metric(step: Step, *more: Definition, **sides: Expr) -> Step:
    """A false step about metrics alone: D symmetric, F invertible, f = F Gamma(h, h)."""
    given = (chords.symmetric, paths.seen, paths.christoffel, paths.frame)
    return replace(step, by=(*step.by, *more, *given), **sides)


def off(factor: Rational) -> Expr:
    """A fourth-order multiple of |Gamma(h, h)|^2."""
    return eps**4 * factor * NORM


THEOREM = Theorem(
    id="RA8",
    title="Chords and geodesic distances: third and fourth order, exact for constant metrics",
    clauses=(
        Clause("energy", r"Metric $G = F^\top F$ at $x$, $F$ invertible, with derivatives $D_v$, "
               r"$D_{vv}$ and Taylor remainder $\varepsilon^3 C$; path $x + \varepsilon t h + "
               r"\varepsilon^2 y(t)$ with $y = 0$ at both ends and $z = y'$; $\Gamma = \Gamma(h, "
               r"h)$ the Christoffel symbol at $x$, norms in $G$. The energy $\int |\gamma'|^2 dt$ "
               r"is $\varepsilon^2 G(h, h) + \frac12 \varepsilon^3 D_h(h, h) + \varepsilon^4 "
               r"(\frac16 D_{hh}(h, h) - \frac1{12} |\Gamma|^2 + \int |z - (\frac12 - t) "
               r"\Gamma|^2 dt) + \varepsilon^5 R$, where $R$ is the mean of a polynomial in "
               r"$\varepsilon, t, h, y, z, C$. The mean over $t$ is any weighted one with $\int "
               r"t^p dt = \frac{1}{p + 1}$ for $p \le 2$ and $\int y' = \int (t y)' = 0$. For "
               r"finitely many continuous functions of $t$ the integral is one, with finitely many "
               r"nodes and weights $q \ge 0$ (Carathéodory).",
               (paths.energy,)),
        Clause("trial", r"$y = t (1 - t) w$ vanishes at both ends, and $\int |z - (\frac12 - t) "
               r"\Gamma|^2 dt - \frac1{12} |\Gamma|^2 = \frac13 |w|^2 - \frac13 \langle \Gamma, w "
               r"\rangle \ge -\frac1{12} |\Gamma|^2$, with equality iff $w = \frac12 \Gamma$.",
               (paths.trial_ends, paths.trial_area, paths.trial, paths.minimum, paths.minimiser,
                paths.half_christoffel, paths.inverse_deviation)),
        Clause("distance", r"For weights $q \ge 0$, $\int |z|^2 + 2 t \langle \Gamma, z \rangle\, "
               r"dt = \int |z - (\frac12 - t) \Gamma|^2 dt - \frac1{12} |\Gamma|^2$ is at least "
               r"$-\frac1{12} |\Gamma|^2$. So by the first two clauses and the cited fact "
               r"$\varepsilon^2 G(h, h) + \frac12 \varepsilon^3 D_h(h, h) + \varepsilon^4 (\frac16 "
               r"D_{hh}(h, h) - \frac1{12} |\Gamma|^2)$ is the squared distance inside the "
               r"chart up to $O(\varepsilon^5)$, as $\varepsilon \to 0$ at fixed $x$ and $h$: the "
               r"geodesic is such a path, with $y$ and $z$ bounded, and it has no more energy than "
               r"$y = \frac12 t (1 - t) \Gamma$, which attains this.",
               (paths.lower, geodesics)),
        Clause("chords", r"With $d^2 = \varepsilon^2 G(h, h) + \frac12 \varepsilon^3 D_h(h, h) + "
               r"\varepsilon^4 (\frac16 D_{hh}(h, h) - \frac1{12} |\Gamma|^2) + \varepsilon^5 "
               r"\rho$, and remainders $\varepsilon^3 C_1$, $\varepsilon^3 C_h$ of the metric at "
               r"$x + \varepsilon h$ and at the midpoint, the squared distance exceeds the chord "
               r"of the query by $\frac12 \varepsilon^3 D_h(h, h) + O(\varepsilon^4)$, the average "
               r"of both ends by $-\frac1{12} \varepsilon^4 (D_{hh}(h, h) + |\Gamma|^2)$, the "
               r"midpoint's by $\varepsilon^4 (\frac1{24} D_{hh}(h, h) - \frac1{12} |\Gamma|^2)$, "
               r"and (average + 2 midpoint)/3 by $-\frac1{12} \varepsilon^4 |\Gamma|^2$: the last "
               r"three up to $\varepsilon^5$ times $\rho$ and values of $C_1$, $C_h$ on $h$.",
               (chords.query_error, chords.symmetrised_error, chords.midpoint_error,
                chords.simpson_error)),
        Clause("line", r"On a line with metric $g = f^2$, $f > 0$, the square of the length "
               r"$\varepsilon f + \frac12 \varepsilon^2 f' + \frac16 \varepsilon^3 f'' + "
               r"\varepsilon^4 \rho$ is $\varepsilon^2 g + \frac12 \varepsilon^3 g' + "
               r"\varepsilon^4 (\frac16 g'' - \frac1{12} (f')^2)$, where $(f')^2 = (g')^2 / (4 "
               r"f^2)$. It exceeds the chord of the average of both ends by $-\varepsilon^4 "
               r"(\frac{1}{12} g'' + \frac{(g')^2}{48 g})$ and that of the midpoint by "
               r"$\varepsilon^4 (\frac{1}{24} g'' - \frac{(g')^2}{48 g})$: all up to "
               r"$\varepsilon^5$ times polynomials in $\varepsilon, f, f', f'', \rho$ and the "
               r"remainders of the metric.",
               (surfaces.line, surfaces.line_christoffel, surfaces.line_symmetrised,
                surfaces.line_midpoint)),
        Clause("example", r"For $g = e^x + x^2 + 1$ at 0, where $g = 2$, $g' = 1$, $g'' = 3$: the "
               r"leading errors are $\frac12$ of the query, $-\frac{25}{96}$ of the average, "
               r"$\frac{11}{96}$ of the midpoint, $-\frac{1}{96}$ of Simpson's chord.",
               (surfaces.example_christoffel, surfaces.example_query,
                surfaces.example_symmetrised, surfaces.example_midpoint,
                surfaces.example_simpson)),
        Clause("geodesics_on_lines", r"A metric $g$ along one unit vector $s$ has $K = \frac12 g' "
               r"(s \cdot h)^2 s$. On a line, with $g = f^2$, $f > 0$ and $\Gamma = \frac12 g' / "
               r"f^2$: $2 g \Gamma = g'$ and $f \Gamma = f'$. So $(f y')' = f' (y')^2 + f y''$ is "
               r"0 iff $y'' + \Gamma (y')^2 = 0$: geodesics are the paths with constant $f y'$.",
               (polar.line_kind, polar.line_symbol, polar.line_rate, polar.line_geodesic)),
        Clause("polar", r"Let $u_r$, $u_\theta$ be orthonormal, $\phi > 0$ a function of $u_r "
               r"\cdot x$ and $G = I + (\phi^2 - 1) u_\theta u_\theta^\top$, which for $d = 2$ is "
               r"$dr^2 + \phi(r)^2 d\theta^2$, with derivatives by the product rule. Then "
               r"$|\Gamma|^2 = (\phi')^2 h_\theta^2 (\phi^2 h_\theta^2 + 4 h_r^2)$ and $\frac16 "
               r"D_{hh}(h, h) - \frac1{12} |\Gamma|^2 = \frac13 \phi \phi'' h_r^2 h_\theta^2 - "
               r"\frac1{12} (\phi \phi' h_\theta^2)^2$, with $h_r = u_r \cdot h$ and $h_\theta = "
               r"u_\theta \cdot h$. For $\phi = r$ the law of cosines $(r + \varepsilon h_r)^2 + "
               r"r^2 - 2 r (r + \varepsilon h_r) \cos \theta$, with $\cos \theta = 1 - \frac12 "
               r"\theta^2 + \frac{1}{24} \theta^4 + \varepsilon^6 \rho$, $\theta = \varepsilon "
               r"h_\theta$, and with $\varepsilon^2 (|h|^2 - h_r^2 - h_\theta^2)$ of other "
               r"features, is $\varepsilon^2 G(h, h) + \frac12 \varepsilon^3 D_h(h, h) + "
               r"\varepsilon^4 (\frac16 D_{hh}(h, h) - \frac1{12} |\Gamma|^2)$ up to "
               r"$\varepsilon^5$ times a polynomial in $\varepsilon$, $r$, $h_r$, $h_\theta$, "
               r"$\rho$.",
               (polar.polar_norm, polar.polar_fourth, polar.law_of_cosines)),
        Clause("constant_curvature", r"A metric $\lambda I$ whose factor has the gradient $l$ has "
               r"$|K|^2 = \frac14 |h|^4 |l|^2$ for $K = G\, \Gamma(h, h)$, the Christoffel symbol "
               r"of the first kind. In the chart of curvature $\kappa$, with $\lambda = 4 / p^2$, "
               r"$p = 1 + \kappa |x|^2 > 0$ at both ends and derivatives read off the series of "
               r"$\lambda(x + \varepsilon h)$: for the square of half a chord, $s = |\varepsilon "
               r"h|^2 / (p(x)\, p(x + \varepsilon h))$, $4 s + \frac43 \kappa s^2$ is "
               r"$\varepsilon^2 G(h, h) + \frac12 \varepsilon^3 D_h(h, h) + \varepsilon^4 (\frac16 "
               r"D_{hh}(h, h) - \frac1{12} |\Gamma|^2)$ up to $\varepsilon^5$ times a polynomial "
               r"in $\varepsilon$, $\kappa$, $h$, $x$ and the two $1/p$. For $s = \frac14 "
               r"\delta^2 - \frac{1}{48} \kappa \delta^4 + \delta^6 \rho$, the series of "
               r"$\kappa s = \sin^2 (\sqrt \kappa\, \delta / 2)$ at the distance $\delta$, it is "
               r"$\delta^2$ up to $\delta^6$ times a polynomial in $\delta$, $\kappa$, $\rho$.",
               (surfaces.conformal, surfaces.gap, surfaces.rise, surfaces.turn, surfaces.series,
                surfaces.metric_series, surfaces.point, surfaces.curved, surfaces.arc)),
        Clause("only_constant", r"For $\varepsilon > 0$ and the $d^2$ of the chords: the chord of "
               r"the query is $d^2$ iff $\frac12 D_h(h, h) + \varepsilon (\frac16 D_{hh}(h, h) - "
               r"\frac1{12} |\Gamma|^2) + \varepsilon^2 \rho = 0$, the average iff $\frac1{12} "
               r"(D_{hh}(h, h) + |\Gamma|^2) = \varepsilon (\rho - \frac12 C_1(h, h))$. If the "
               r"first holds for all pairs of a convex chart, so does the second, since the key is "
               r"also a query; as $\varepsilon \to 0$, with $\rho$ and $C_1$ bounded, $D_h(h, h)$ "
               r"and both fourth orders vanish, and twice the second minus the first is $\frac14 "
               r"|\Gamma|^2$, zero iff $F \Gamma = 0$. Then $K = F^\top F \Gamma$ vanishes for all "
               r"$h$, so does the derivative of a symmetric $G$, a combination of values of $K$ at "
               r"$e_a$ and $e_a + e_b$: $G$ is constant.",
               (chords.query_equal, chords.symmetrised_equal, chords.straight, chords.first_kind,
                chords.from_rays)),
        Clause("constant", r"Where the metric is the same all along a path with $q \ge 0$ and "
               r"$\int z = 0$, of velocity $h + z$, its energy is at least $G(h, h)$, that of the "
               r"segment: in a convex chart of a constant metric, which holds the segments, the "
               r"squared distance, the infimum of the energies, is the chord.",
               (chords.no_shortcut,)),
        Clause("detour", r"A metric constant along the chord does not suffice: with the factor 1 "
               r"at most, 1 on $y = 0$ and $\frac1{100}$ for $y \ge \frac1{10}$, points of $y = 0$ "
               r"10 apart have a chord of length 10 and a detour of length $\frac65$ at most.",
               (chords.detour,)),
    ),
    mutants=(
        Mutant("query_fourth", of_a_metric(
            chords.query_error, rhs=chords.query_error.rhs - HALF * eps**3 * D_hhh),
            "the query-side chord is exact to third order"),
        Mutant("linear_exact", of_a_metric(
            chords.symmetrised_error, chords.linear,
            rhs=chords.symmetrised_error.rhs + off(TWELFTH)),
            "the average of both ends is exact to fourth order for linear metrics"),
        Mutant("simpson_exact", of_a_metric(
            chords.simpson_error, rhs=chords.simpson_error.rhs + off(TWELFTH)),
            "Simpson's chord is exact to fourth order"),
        Mutant("rules_swapped", of_a_metric(
            chords.midpoint_error,
            rhs=chords.midpoint_error.rhs - eps**4 * Rational(1, 8) * D2_hhhh),
            "the midpoint has the error of the trapezoid rule"),
        Mutant("constant_on_chord", replace(
            chords.no_shortcut, by=(paths.moments_of_segment, paths.fixed_ends, *chords.own,
                                    paths.weighted)),
            "a metric constant along the chord suffices", drop=(chords.constant,)),
        Mutant("sign_of_example", replace(surfaces.example_symmetrised, rhs=Rational(25, 96)),
               r"$+\frac{25}{96}$ for $-\frac{25}{96}$"),
        Mutant("half_coefficient", replace(
            paths.energy, rhs=paths.energy.rhs + off(Rational(1, 24))),
            r"$-\frac1{24} |\Gamma|^2$ for $-\frac1{12} |\Gamma|^2$"),
        Mutant("moving_ends", paths.energy, "the ends of the path may move",
               drop=(paths.fixed_ends,)),
        Mutant("signed_weights", paths.lower, "weights of any sign", drop=(paths.weighted,)),
        Mutant("sign_of_christoffel", paths.energy, r"$\Gamma$ with $+ d_b G_{ac}$",
               redefine=(Definition(K[b], HALF * Sum(
                   (D[a, b, c] + D[c, a, b] + D[b, a, c]) * h[a] * h[c], (a, 1, d), (c, 1, d))),)),
        Mutant("segment_least", replace(
            paths.minimum, small=Integer(0), certificate=paths.minimum.certificate
            - TWELFTH * NORM), "no path has less energy than the segment to fourth order"),
        Mutant("half_line_tail", replace(
            surfaces.line_midpoint, rhs=surfaces.line_midpoint.rhs
            + HALF * eps**4 * surfaces.TAIL), r"$\frac{(g')^2}{96 g}$ for $\frac{(g')^2}{48 g}$"),
        Mutant("doubled_symbol", polar.line_symbol, r"$\Gamma = g' / g$ on a line",
               redefine=(replace(polar.on_line, value=2 * polar.on_line.value),)),
        Mutant("unseen_bend", replace(polar.polar_fourth, rhs=polar.polar_fourth.rhs
                                      - polar.THIRD * polar.phi * polar.phi2
                                      * polar.A**2 * polar.B**2),
               r"the fourth order does not see $\phi''$"),
        Mutant("short_cosine", polar.law_of_cosines, r"$\cos \theta = 1 - \frac12 \theta^2$",
               redefine=(replace(polar.series, value=1 - HALF * eps**2 * polar.B**2
                                 + eps**6 * polar.rest),)),
        Mutant("other_curvature", replace(
            surfaces.curved, lhs=4 * surfaces.s - Rational(4, 3) * surfaces.curvature
            * surfaces.s**2), "the sphere with the sign of the hyperbolic plane"),
        Mutant("axes_alone", replace(chords.from_rays, rhs=chords.polarised(c, a, b)),
               r"$d_a G_{bc} = \langle \Gamma(e_a, e_b), e_c \rangle$"),
    ),
    sources=(
        "Riemannian Attention and the Fiber Bundle Transformer",
        "M. do Carmo, Riemannian Geometry, 1992",
    ),
)
