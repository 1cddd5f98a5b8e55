"""RA11, rates: what a factor of contraction gives from layer to layer, and over all layers.

The inductions compare squares of diameters z with a sequence w: w_l = z_l + q_l^2 at every level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Expr, IndexedBase, Integer, Rational, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.levels import STAGES, induction_hypothesis, number
from theorems.checker.exact import Draw, Value, evaluate
from theorems.riemannian_attention.steps.extremal_rows import numbers, r, theta
from theorems.riemannian_attention.steps.layer_oscillation import (
    norm_left, norm_slack, omega, positive_omega, tau, total_norm,
)
from theorems.riemannian_attention.steps.total_variation import mostly
from theorems.rules import Induction
from theorems.statement import (
    Bound, Definition, Equation, Local, Step, array, symbols_of,
)

H, h = symbols_of("H h")
HEADS = (h, 1, H)
g, rho = array("g", H), array("rho", H)
spread, tanh_rest, spread_rest, tau_rest = (array(name, H) for name in ("Delta", "a", "b", "f"))
D, kappa, c, c_1, e, e_1 = (
    Symbol(name, real=True) for name in ("D", "kappa", "c", "c_1", "e", "e_1")
)
half, quarter = Rational(1, 2), Rational(1, 4)
positive_tau = signed(tau, ">=0")
positive_rho = Local("rho_h>=0", r"$\rho_h \ge 0$", signs=((rho, ">=0"),))
tangent = Definition(tanh_rest[h], quarter * spread[h] - tau[h])


def _at_least(base: IndexedBase, least: Callable[[Draw, tuple[int, ...]], Value]
              ) -> Callable[[Draw], None]:
    def impose(draw: Draw) -> None:
        for cell in draw.cells(base):
            if mostly(draw):
                draw.put(base, cell, least(draw, cell) + draw.source.rng.randrange(2))

    return impose


tanh_below = Local(
    "tanh u <= u", r"$\tau_h \le \frac14 \Delta_h$, as $\tau_h \le \tanh \frac14 \Delta_h$ and "
    r"$\tanh u \le u$ for $u \ge 0$", (),
    _at_least(spread, lambda draw, cell: 4 * draw.get(tau.name, cell)), ((tanh_rest, ">=0"),),
)
contraction = Definition(kappa, Sum(omega[h] * tau[h], HEADS))


def spread_at_most(coefficient: IndexedBase, scale: Expr, text: str
                   ) -> tuple[Definition, Local]:
    """What the spreads of the heads leave of coefficient * scale."""
    def least(draw: Draw, cell: tuple[int, ...]) -> Value:
        unit = evaluate(scale, draw, {})
        return draw.get(spread.name, cell) * draw.source.inverse(unit) if unit != 0 else 0

    return Definition(spread_rest[h], coefficient[h] * scale - spread[h]), Local(
        f"spreads within {coefficient}", f"$\\Delta_h \\le {text}$", (),
        _at_least(coefficient, least), ((spread_rest, ">=0"),))


def contracts_by(name: str, weights: Definition, large: Expr, coefficient: IndexedBase,
                 scale: Expr, text: str) -> Bound:
    """The factor of contraction is at most the sum of omega_h bound_h / 4."""
    return Bound(
        id=name, small=kappa, large=large,
        certificate=Sum(omega[h] * (tanh_rest[h] + quarter * spread_rest[h]), HEADS),
        by=(contraction, weights, tangent, tanh_below, *spread_at_most(coefficient, scale, text),
            positive_omega),
        because=r"$\tau_h \le \frac14 \Delta_h$, and $\Delta_h$ is bounded.",
    )


factor = contracts_by("factor", Definition(c, quarter * Sum(omega[h] * g[h], HEADS)), c * D**2,
                      g, D**2, "g_h D^2")
loss, loss_1, excess = (Symbol(name, real=True) for name in ("o", "o_1", "f_0"))
square_after, after = Symbol("z'", real=True), Symbol("D'", real=True)
within_layer = (Definition(square_after, kappa**2 * D**2 - loss), Local(
    "z' within the layer", r"$z' \le \kappa^2 D^2$, as for $z' = \mathrm{osc}'^2$",
    signs=((array(loss.name), ">=0"),)))
layer_1 = (Definition(after, kappa * D - loss_1), Local(
    "D' within the layer", r"$D' \le \kappa D$, as for $D' = \mathrm{osc}'$",
    signs=((array(loss_1.name), ">=0"),)))
cubic = Bound(
    id="cubic", small=c * square_after, large=(c * D**2) ** 3,
    certificate=c * loss + (kappa + e) * e * (e + 2 * kappa),
    by=(within_layer[0], Definition(e, factor.large - factor.small), factor, positive_tau,
        signed(g, ">=0"), within_layer[1]),
    because=r"$z^3 - z \kappa^2$ for $z = c D^2 \ge \kappa \ge 0$.",
)
factor_1 = contracts_by("factor_unsquared", Definition(c_1, half * Sum(omega[h] * rho[h], HEADS)),
                        c_1 * D, rho, 2 * D, r"2 \rho_h D")
quadratic = Bound(
    id="quadratic", small=c_1 * after, large=(c_1 * D) ** 2,
    certificate=c_1 * loss_1 + (kappa + e_1) * e_1,
    by=(layer_1[0], Definition(e_1, factor_1.large - factor_1.small), factor_1, positive_tau,
        positive_rho, layer_1[1]),
    because=r"$z^2 - z \kappa$ for $z = c_1 D \ge \kappa \ge 0$.",
)

largest = Definition(tau_rest[h], theta - tau[h])


def _equal_tau(draw: Draw) -> None:
    for cell in draw.cells(tau):
        if mostly(draw):
            draw.put(tau, cell, draw.get(theta.name, ()))


tau_below = Local("tau within theta", r"$\tau_h \le \theta$", (), _equal_tau,
                  ((tau_rest, ">=0"),))
contracts = Bound(
    id="contracts", small=kappa, large=theta, certificate=Sum(omega[h] * tau_rest[h], HEADS)
    + theta * norm_slack, by=(contraction, largest, norm_left, *numbers, total_norm, tau_below,
                       positive_omega),
    because="A sum of weights $\\omega_h$ of sum at most 1.",
)
contracted = Bound(
    id="contracted", small=square_after, large=theta**2 * D**2,
    certificate=loss + D**2 * excess * (excess + 2 * kappa),
    by=(within_layer[0], Definition(excess, contracts.large - contracts.small), contracts,
        positive_tau, within_layer[1]),
    because=r"$0 \le \kappa \le \theta$.",
)
below_one = Bound(
    id="below_one", small=theta, large=Integer(1), certificate=2 * r, strict=True, by=numbers,
    because=r"$1 - \theta = 2/(t + 1)$.",
)


@dataclass(frozen=True)
class Majorant:
    """The steps that bound z_L, where z_{l+1} <= grow(z_l), by w_1 = z_1, w_{l+1} = grow(w_l)."""

    first: Step
    root: Bound
    following: Step
    below: Bound
    everywhere: Induction


def majorant(name: str, letters: str, grow: Callable[[Expr], Expr], rest: Callable[..., Expr]
             ) -> Majorant:
    """Both sequences and the root q of their gap; rest(z, s) = grow(z + s) - grow(z), visibly
    nonnegative for s >= 0."""
    z, w, q, s = ({stage: number(letter, stage) for stage in STAGES} for letter in letters.split())

    def claim(label: str) -> Equation:
        return number(letters.split()[1], label), (
            number(letters.split()[0], label) + number(letters.split()[2], label) ** 2)

    lost, square = s["l+1"], q["l"] ** 2
    gap = lost + grow(z["l"] + square) - grow(z["l"])

    def impose(draw: Draw) -> None:
        value = draw.source.fresh(None)
        draw.put(array(q["l+1"].name), (), value)
        grown = evaluate(grow(z["l"] + square) - grow(z["l"]), draw, {})
        draw.put(array(lost.name), (), value**2 - grown)

    taken = Local(
        f"root of the {name} gap", f"${q['l+1']}$ is a root of ${w['l+1']} - {z['l+1']}$",
        ((q["l+1"] ** 2, gap),), impose,
    )
    at_l = induction_hypothesis(f"the {name} majorant", claim("l"), w["l"], claim("l")[1])
    first = Step(
        id=f"{name}_first", lhs=claim("1")[0], rhs=claim("1")[1],
        by=(Definition(w["1"], z["1"]), Definition(q["1"], Integer(0))),
        because="They start alike.",
    )
    root = Bound(
        id=f"{name}_root", small=Integer(0), large=gap, certificate=lost + rest(z["l"], square),
        by=(signed(array(lost.name), ">=0"),),
        because="The gap stays nonnegative, as growth is monotone: it has a root $q_{l+1}$.",
    )
    following = Step(
        id=f"{name}_next", lhs=claim("l+1")[0], rhs=claim("l+1")[1],
        by=(Definition(w["l+1"], grow(w["l"])), Definition(z["l+1"], grow(z["l"]) - lost),
            at_l, taken),
        because="The gap of the next level is what is lost and the growth of the gap before.",
    )
    below = Bound(
        id=f"{name}_below", small=z["l+1"], large=w["l+1"], certificate=q["l+1"] ** 2,
        by=(following,), because="The gap is a square.",
    )
    everywhere = Induction(id=f"{name}_everywhere", claim=claim, hypothesis=at_l,
                           by=(first, following), because="So it is at every level.")
    return Majorant(first, root, following, below, everywhere)


ratio = Symbol("lambda", real=True)
half_start = Local(
    "z = 1/2 at level l", "$z_l = \\frac12$", ((number("z", "l"), half),),
    lambda draw: draw.put(array(number("z", "l").name), (), evaluate(half, draw, {})))
tower = majorant("tower", "z w q s", lambda z: z**3,
                 lambda z, s: s * (3 * (z + half * s) ** 2 + quarter * s**2))
geometric = majorant("geometric", "x y p r", lambda z: ratio**2 * z, lambda z, s: ratio**2 * s)
