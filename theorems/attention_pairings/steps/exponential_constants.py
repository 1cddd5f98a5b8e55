"""AP10, the constants of the exponential pairing kappa(q, k) = exp(q^T M k) on bounded keys.

Of exp only e^u >= 1 + u and e^h e^{-h} = 1 are used: E_j = exp(S_j) lies above its tangents,
E'_l >= E_j (1 + S'_l - S_j). With x = M^T q the scores are S_j = <x, k_j>, and |x| <= ell.
"""

from __future__ import annotations

from flint import fmpq
from sympy import Expr, Integer, Rational, Sum

from theorems.attention_pairings.steps.couplings import (
    j, l, least_root, m, m2, named, put, real, spare, squared,
)
from theorems.attention_pairings.steps.readout_stability import C, D, ell, mirrored, ra, s
from theorems.checker.exact import Draw, SmallIntegers, Value
from theorems.statement import Bound, Definition, Local, Step, array, symbols_of

d_k = symbols_of("d_k")[0]
e, f = symbols_of("e f")
KEYS = (e, 1, d_k)
half = Rational(1, 2)
x, k, k2 = array("x", d_k), array("k", m, d_k), array("k'", m2, d_k)
S, S2, E, E2 = array("S", m), array("S'", m2), array("E", m), array("E'", m2)
h, radius, H, G, c0 = (real(name) for name in ("h", "t", "E_h", "E_{-h}", "c_0"))

norm_gap, key_gap, key_gap2 = real("pi"), array("phi", m), array("phi'", m2)
step_gap = array("psi", m, m2)
slope = Definition(norm_gap, ell**2 - Sum(x[e] ** 2, KEYS))
key_slack = Definition(key_gap[j], radius**2 - Sum(k[j, e] ** 2, KEYS))
key_slack2 = Definition(key_gap2[l], radius**2 - Sum(k2[l, e] ** 2, KEYS))
step_slack = Definition(step_gap[j, l], s[j, l] ** 2 - Sum((k[j, e] - k2[l, e]) ** 2, KEYS))


def _slope(draw: Draw) -> None:
    square = sum(draw.get(x.name, cell) ** 2 for cell in draw.cells(x))
    put(draw, ell, least_root(square) + spare(draw))


def _radius(draw: Draw) -> None:
    lengths = (squared(draw, keys, row) for keys in (k, k2) for row, in draw.cells(keys, 1))
    put(draw, radius, least_root(max(lengths)) + spare(draw))


def _distances(draw: Draw) -> None:
    for row, other in draw.cells(s):
        draw.put(s, (row, other), least_root(squared(draw, k, row, k2, other)) + spare(draw))


short = named("x is at most l", r"$|M^\top q| \le \ell$", (array(norm_gap.name), ">=0"),
              (array(ell.name), ">=0"), choose=_slope)
ball = named("keys within t", "$|k_j| \\le t$, $|k'_l| \\le t$", (key_gap, ">=0"),
             (key_gap2, ">=0"), (array(radius.name), ">=0"), choose=_radius)
metric = named("s bounds the distances of keys", r"$s_{jl} \ge |k_j - k'_l|$", (s, ">=0"),
               (step_gap, ">=0"), choose=_distances)
score = Definition(S[j], Sum(x[e] * k[j, e], KEYS))
score2 = Definition(S2[l], Sum(x[e] * k2[l, e], KEYS))
reach = Definition(h, ell * radius)


def area(vector: Expr, other: Expr) -> Expr:
    """|x|^2 |y|^2 - <x, y>^2, for the entries y_e and y_f."""
    return half * Sum((x[e] * other - x[f] * vector) ** 2, KEYS, (f, 1, d_k))


def scores(suffix: str, entry: Expr, key: tuple[Expr, Expr], gap: Expr, given: tuple, sign: int
           ) -> Bound:
    """The score of a key of length at most t is at most ell t."""
    return Bound(
        id=f"score{suffix}{mirrored(sign)}", small=sign * entry, large=h, power=2,
        certificate=norm_gap * radius**2 + Sum(x[e] ** 2, KEYS) * gap + area(*key),
        by=(reach, slope, short, ball, *given), because=r"Cauchy-Schwarz: $|x| |k| \le \ell t$.")


first_scores = {sign: scores("", S[j], (k[j, e], k[j, f]), key_gap[j], (score, key_slack), sign)
                for sign in (1, -1)}
other_scores = {sign: scores("_other", S2[l], (k2[l, e], k2[l, f]), key_gap2[l],
                             (score2, key_slack2), sign) for sign in (1, -1)}
steps = {
    sign: Bound(
        id=f"score_step{mirrored(sign)}", small=sign * (S[j] - S2[l]), large=ell * s[j, l], power=2,
        certificate=norm_gap * s[j, l] ** 2 + Sum(x[e] ** 2, KEYS) * step_gap[j, l]
        + area(k[j, e] - k2[l, e], k[j, f] - k2[l, f]),
        by=(score, score2, slope, step_slack, short, metric),
        because=r"$S_j - S'_l = \langle x, k_j - k'_l \rangle$.")
    for sign in (1, -1)
}

names = ("theta_1", "theta_2", "theta_3", "theta_4", "theta_5", "theta_6")
shapes = ((m, m2), (m, m2), (m,), (m,), (m2,), (m2,))
fall, rise, top, floor, top2, floor2 = (
    array(name, *shape) for name, shape in zip(names, shapes, strict=True))
tangents = {
    fall: Definition(fall[j, l], E2[l] - E[j] * (1 + S2[l] - S[j])),
    rise: Definition(rise[j, l], E[j] - E2[l] * (1 + S[j] - S2[l])),
    top: Definition(top[j], H - E[j] * (1 + h - S[j])),
    floor: Definition(floor[j], E[j] - G * (1 + S[j] + h)),
    top2: Definition(top2[l], H - E2[l] * (1 + h - S2[l])),
    floor2: Definition(floor2[l], E2[l] - G * (1 + S2[l] + h)),
}


def _powers(draw: Draw) -> None:
    """Searches take powers of 2, which lie above the same tangents at whole numbers."""
    if type(draw.source) is SmallIntegers and draw.signs.get(G.name):
        for powers, logs in ((E, S), (E2, S2), (array(H.name), array(h.name))):
            for cell in draw.cells(powers):
                draw.put(powers, cell, power_of_two(draw.get(str(logs.label), cell)))
    put(draw, G, draw.source.inverse(draw.get(H.name, ())))


def power_of_two(exponent: Value) -> Value:
    """2 to a whole power; 1 to another, where no tangent is promised."""
    exact = fmpq(exponent)
    return fmpq(2) ** int(exact.p) if exact.q == 1 else fmpq(1)


exponentials = Local(
    "exp lies above its tangents", r"$E = e^S$, $E' = e^{S'}$, $E_h = e^h$, $E_{-h} = e^{-h}$ with "
    r"$e^u \ge 1 + u$ between any two of them, and $e^h e^{-h} = 1$", ((G * H, Integer(1)),),
    _powers, tuple((gap, ">=0") for gap in tangents))
positive = named("an exponential is positive", "$e^{-h} > 0$", (array(G.name), ">0"))


def between(suffix: str, powers: Expr, logs: Expr, bounds: dict[int, Bound], over: Expr,
            under: Expr) -> tuple[Bound, ...]:
    """exp of a score in [-h, h] is positive, and lies in [e^{-h}, e^h]."""
    size = powers.base.shape  # type: ignore[attr-defined]
    gaps = {sign: array(f"omega{suffix}{mirrored(sign)}", *size)[powers.indices]  # type: ignore[attr-defined]
            for sign in bounds}
    slacks = {sign: Definition(gaps[sign], h - sign * logs) for sign in bounds}
    given = (exponentials, positive)
    above_0 = Bound(
        id=f"positive{suffix}", small=Integer(0), large=powers, strict=True,
        certificate=under + G * (1 + gaps[-1]), because="The tangent at $-h$.",
        by=(slacks[-1], bounds[-1], tangents[under.base], *given))  # type: ignore[attr-defined]
    least = Bound(
        id=f"at_least{suffix}", small=G, large=powers, certificate=under + G * gaps[-1],
        by=above_0.by, because="The tangent at $-h$.")
    most = Bound(
        id=f"at_most{suffix}", small=powers, large=H, certificate=over + powers * gaps[1],
        by=(slacks[1], bounds[1], tangents[over.base], above_0, exponentials),  # type: ignore[attr-defined]
        because="A tangent at the score.")
    return above_0, least, most


above_0, least, most = between("", E[j], S[j], first_scores, top[j], floor[j])
above_02, least2, most2 = between("_other", E2[l], S2[l], other_scores, top2[l], floor2[l])
head, head2 = array("chi", m), array("chi'", m2)
tilt = {sign: array(f"upsilon{mirrored(sign)}", m, m2) for sign in (1, -1)}
tilts = {sign: Definition(tilt[sign][j, l], ell * s[j, l] - sign * (S[j] - S2[l]))
         for sign in (1, -1)}
lipschitz = tuple(
    Bound(
        id=f"exponential_step{mirrored(sign)}", small=sign * (E[j] - E2[l]),
        large=H * ell * s[j, l], certificate=gap * ell * s[j, l]
        + entry * tilt[sign][j, l] + tangent[j, l],
        by=(Definition(gap, H - entry), bound, tilts[sign], steps[sign], tangents[tangent],
            exponentials, short, metric),
        because=r"$E_j - E'_l \le E_j (S_j - S'_l)$, and $E_j \le e^h$.")
    for sign, entry, gap, bound, tangent in (
        (1, E[j], head[j], most, fall), (-1, E2[l], head2[l], most2, rise))
)
one_gap, steep_gap = real("rho_1"), real("rho_2")
at_least_both = named("c_0 is at least 1 and l D", r"$c_0 \ge 1$ and $c_0 \ge \ell D$",
                      (array(one_gap.name), ">=0"), (array(steep_gap.name), ">=0"))
chosen = Definition(C, H * c0)
above_H = Bound(
    id="positive_top", small=Integer(0), large=H, certificate=G * H**2, by=(exponentials, positive),
    because="$e^h = e^{-h} (e^h)^2$.")
constants = tuple(
    Bound(id=name, small=small, large=C, certificate=H * gap,
          by=(chosen, Definition(gap, c0 - part), at_least_both, above_H),
          because="Times $e^h$.")
    for name, small, gap, part in (("over_b", H, one_gap, Integer(1)),
                                   ("over_slope", H * ell * D, steep_gap, ell * D))
)
constant = Step(
    id="constant", lhs=G * (C * ra), rhs=G * (H**2 * c0),
    by=(chosen, Definition(ra, Integer(1), over=G), exponentials, positive),
    because=r"With $a = e^{-h}$, $b = e^h$: $c / a = e^{2 h} c_0$.")
RULES = (*first_scores.values(), *other_scores.values(), above_0, least, most, above_02, least2,
         most2, *steps.values(), *lipschitz, above_H, *constants, constant)
