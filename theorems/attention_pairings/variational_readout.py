"""AP10. The readout is variational, and stable in the world."""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, Integer, Sum

from theorems.assumptions.entries import absolute_value, signed
from theorems.attention_pairings.steps import exponential_constants as exponential
from theorems.attention_pairings.steps.couplings import (
    FEATURES, FIRST, R, R2, Z, at_least, d, e, inverse, j, kappa, m, mu, n, normaliser, normaliser2,
    p, positive_mu, positive_nu, probability, r, readout, real, unit_direction, v, weight,
)
from theorems.attention_pairings.steps.readout_stability import (
    chords, constant_sign, cost, high, inside, lipschitz, moved, positive_kernel, projected, ra,
    rho, separation, stability, total, weights_total, within,
)
from theorems.checker.exact import Draw
from theorems.rules import Vanishing
from theorems.statement import Bound, Clause, Definition, Iff, Local, Mutant, Step, Theorem, array

t, u, w, N = array("t", d), array("u", d), array("w", d), real("nu_0")
tau, F = real("tau"), real("F")
positive_Z = signed(array(Z.name), ">0")
total_mass = Definition(Z, Sum(mu[j] * kappa[j], FIRST))
whole = Step(id="whole", lhs=Sum(mu[j] * kappa[j], FIRST), rhs=Z, by=(total_mass,),
             because="The definition of the normaliser.")
means = (readout, weight, whole, inverse, positive_Z)


def energy(point: Expr) -> Expr:
    """sum_j mu_j kappa_j |c - v_j|^2 at the point with the entry c_e."""
    return Sum(mu[j] * kappa[j] * Sum((point - v[j, e]) ** 2, FEATURES), FIRST)


away = Sum((t[e] - R[e]) ** 2, FEATURES)
split = Step(
    id="split", lhs=energy(t[e]), rhs=Z * away + energy(R[e]), by=means,
    because="Complete the square: the cross term has the factor $Z R - Z R = 0$.")
least = Bound(
    id="least", small=energy(R[e]), large=energy(t[e]), certificate=Z * away, by=means,
    because="$Z > 0$, though kappa itself may change sign.")
excess_energy = Definition(F, energy(t[e]) - energy(R[e]))
unique = Vanishing(
    id="unique", total=F, part=u[e], weight=Z, over=((e, d),), strict=True,
    by=(excess_energy, Definition(u[e], t[e] - R[e]), *means),
    because="$Z |t - R|^2 = 0$ only at $t = R$.")
slope = Sum(mu[j] * kappa[j] * (t[e] - v[j, e]), FIRST)
expansion = Step(
    id="expansion", lhs=energy(t[e] + tau * w[e]), by=(whole,),
    rhs=energy(t[e]) + 2 * tau * Sum(w[e] * slope, FEATURES)
    + tau**2 * Z * Sum(w[e] ** 2, FEATURES),
    because="A polynomial of degree 2: its linear term is the derivative.")
stationary = Iff(
    id="stationary", left=(slope, Integer(0)), right=(t[e], R[e]), factor=Z, by=means,
    because="The derivative is $2 Z (t - R)$.")


def _apart(draw: Draw) -> None:
    for cell in draw.cells(R):
        draw.put(R, cell, draw.get(R2.name, cell) + draw.get(N.name, ()) * draw.get(n.name, cell))


direction = Local("n points from R' to R", r"$R - R' = \nu_0 n$",
                  ((R[e], R2[e] + N * n[e]),), _apart)
length = Step(
    id="length", lhs=rho, rhs=N, by=(separation, unit_direction, direction),
    because="$|n| = 1$: the component along the difference itself is its length.")

one = Integer(1)
v1, centre, point, near, far = (
    array("v_1", m), real("R_1"), real("t_1"), array("s_R", m), array("s_t", m))
centre_is = Definition(centre, Sum(mu[j] * kappa[j] * v1[j], FIRST), over=Z)


absolutes = tuple(
    replace(absolute_value(size[j], value, ""), id=f"distances to the {what}",
            text=f"${size}_j$ is the absolute value")
    for size, what, value in ((near, "mean", centre - v1[j]), (far, "point", point - v1[j])))

THEOREM = Theorem(
    id="AP10",
    title="The readout is variational, and stable in the world",
    clauses=(
        Clause("least", r"Let a world have masses $\mu_j$ on $(k_j, v_j)$, $\kappa_j = \kappa(q, "
               r"k_j)$, $Z = \sum_j \mu_j \kappa_j > 0$ and $R = Z^{-1} \sum_j \mu_j \kappa_j "
               r"v_j$. Then $\sum_j \mu_j \kappa_j |t - v_j|^2 = Z |t - R|^2 + \sum_j \mu_j "
               r"\kappa_j |R - v_j|^2$: least at $t = R$, and there alone. Neither $\mu$ nor "
               r"$\kappa$ need be nonnegative.", (split, least, unique)),
        Clause("stationary", r"Its derivative at $t$ along $w$ is $2 \langle w, \sum_j \mu_j "
               r"\kappa_j (t - v_j) \rangle$, its second order term $Z |w|^2$; if $Z > 0$ the "
               r"derivative vanishes, $\sum_j \mu_j \kappa_j (t - v_j) = 0$, iff $t = R$.",
               (expansion, stationary)),
        Clause("stability", r"Let $\gamma \ge 0$ couple the probability measures $\mu$ on $(k_j, "
               r"v_j)$ and $\nu$ on $(k'_l, v'_l)$, with $0 < a \le \kappa_j$, $a \le \kappa'_l$, "
               r"$\kappa_j \le b$, $|\kappa_j - \kappa'_l| \le \ell s_{jl}$, $s_{jl} \ge 0$ the "
               r"distance of the keys in any metric, $w_{jl} \ge |v_j - v'_l|$, $|v'_l - v'_g| \le "
               r"D$, $c \ge b$ and $c \ge \ell D$. Then $\langle n, R_\mu - R_\nu \rangle \le "
               r"\frac{c}{a} \sum_{jl} \gamma_{jl} (s_{jl} + w_{jl})$ for every unit vector $n$; "
               r"if $R_\mu - R_\nu = \nu_0 n$ the left side is $\nu_0$, so $|R_\mu - R_\nu|$ obeys "
               r"it. With $c = \max(b, \ell D)$ and the least cost over all $\gamma$: $|R_\mu - "
               r"R_\nu| \le \frac{c}{a} W_1(\mu, \nu)$.",
               (positive_mu, positive_nu, normaliser, normaliser2, weights_total, projected,
                *chords.values(), *inside.values(), moved, total, positive_kernel, constant_sign,
                stability, length)),
        Clause("exponential", r"For $\kappa(q, k) = \exp(q^\top M k)$ with $|M^\top q| \le \ell$ "
               r"and all $|k_j|, |k'_l| \le t$, put $h = \ell t$. By $e^u \ge 1 + u$ and $e^h "
               r"e^{-h} = 1$ with $e^{-h} > 0$, and no more: $e^{-h} \le \kappa_j \le e^h$, the "
               r"same for $\kappa'_l$, and $|\kappa_j - \kappa'_l| \le e^h \ell s_{jl}$ for "
               r"$s_{jl} \ge |k_j - k'_l|$. So $a = e^{-h}$, $b = e^h$, and $c = e^h c_0$ with "
               r"$c_0 \ge 1$, $c_0 \ge \ell D$ has $c \ge b$ and $c \ge e^h \ell D$, and $c / a "
               r"= e^{2h} c_0$: $|R_\mu - R_\nu| \le e^{2h} \max(1, \ell D) W_1$.",
               exponential.RULES),
    ),
    mutants=(
        Mutant("absolute_values", replace(
            least, small=Sum(mu[j] * kappa[j] * near[j], FIRST),
            large=Sum(mu[j] * kappa[j] * far[j], FIRST), certificate=Z * (point - centre) ** 2,
            by=(centre_is, total_mass, positive_Z, *absolutes, signed(mu, ">=0"),
                signed(kappa, ">=0"))),
            "the readout minimises the mean distance, not squared"),
        Mutant("unnormalised", least, "the sum without its normaliser",
               redefine=(Definition(R[e], Sum(mu[j] * kappa[j] * v[j, e], FIRST)),)),
        Mutant("normaliser_of_any_sign", least, "a negative normaliser", drop=(positive_Z,)),
        Mutant("masses_ignored", stationary, "the mean of the values by kappa alone",
               redefine=(Definition(p[j], kappa[j] * r),)),
        Mutant("any_masses", weights_total, "measures of any mass", drop=(probability,)),
        Mutant("no_diameter", replace(stability, large=high * ra * cost),
               "the constant $b / a$, whatever the diameter"),
        Mutant("divided_by_b", replace(total, small=high), r"$Z \ge b$"),
        Mutant("any_slope", stability, "a pairing of any slope", drop=(lipschitz,)),
        Mutant("far_values", inside[1], "values of any diameter", drop=(within,)),
        Mutant("unbounded_below", stability, "a pairing that may fall below $a$",
               drop=(at_least,), add=(positive_Z, signed(kappa, ">0"))),
        Mutant("one_exponential", replace(
            exponential.constant, rhs=exponential.G * (exponential.H * exponential.c0)),
            "$c / a = e^h c_0$"),
        Mutant("slope_without_the_top", replace(
            exponential.lipschitz[0], large=exponential.ell * exponential.s[j, exponential.l]),
            "exp has the slope of its scores"),
    ),
    sources=(
        "Knowledge worlds and attention pairings",
    ),
)
