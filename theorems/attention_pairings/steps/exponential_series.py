"""AP7, the Taylor polynomial T_p of exp: relative errors and signs, coefficient by coefficient.

The level l of an induction is p + 1. With g_k = t^k / k! for k = 1, ..., N, every N: the
coefficient of g_k in e^t T_p(-t) is sum_{c <= p} (-1)^c C(k, c), and in t^(p+1)/(p+1)! e^t it is
C(k, p + 1).
"""

from __future__ import annotations

from sympy import Integer, Sum, Symbol

from theorems.assumptions.entries import signed
from theorems.assumptions.levels import STAGES, induction_hypothesis, level, number
from theorems.checker.exact import Draw
from theorems.rules import Induction
from theorems.statement import Bound, Definition, Equation, Local, Step, array, symbols_of

N, H = symbols_of("N H")
k, i = symbols_of("k i")
ORDERS, PAIRS = (k, 1, N), (i, 1, H)

partial, below = ({stage: level(name, stage, N) for stage in STAGES} for name in ("A", "B'"))
binomial = level("B", "l+1", N)
sign = {stage: number("epsilon", stage) for stage in STAGES}
g = array("g", N)


def alternating_claim(label: str) -> Equation:
    """sum_{c <= p} (-1)^c C(k, c) = (-1)^p C(k - 1, p)."""
    return level("A", label, N)[k], number("epsilon", label) * level("B'", label, N)[k]


at_l = induction_hypothesis("the alternating sum", alternating_claim("l"), partial["l"],
                            sign["l"] * below["l"][symbols_of("i")[0]])
pascal = Definition(binomial[k], below["l"][k] + below["l+1"][k])
first_alternating = Step(
    id="first_alternating", lhs=alternating_claim("1")[0], rhs=alternating_claim("1")[1],
    by=(Definition(partial["1"][k], Integer(1)), Definition(sign["1"], Integer(1)),
        Definition(below["1"][k], Integer(1))), because="$p = 0$: both sides are $1$.")
next_alternating = Step(
    id="next_alternating", lhs=alternating_claim("l+1")[0], rhs=alternating_claim("l+1")[1],
    by=(Definition(partial["l+1"][k], partial["l"][k] + sign["l+1"] * binomial[k]), pascal,
        Definition(sign["l+1"], -sign["l"]), at_l),
    because="Pascal: $C(k, p + 1) = C(k - 1, p) + C(k - 1, p + 1)$.")
alternating = Induction(
    id="alternating", claim=alternating_claim, hypothesis=at_l,
    by=(first_alternating, next_alternating), because="So it is for every degree.")

powers = signed(g, ">=0")
counts = tuple(signed(below[stage], ">=0") for stage in ("l", "l+1"))
alternating_error = Bound(
    id="alternating_error", small=Sum(below["l"][k] * g[k], ORDERS),
    large=Sum(binomial[k] * g[k], ORDERS), certificate=Sum(below["l+1"][k] * g[k], ORDERS),
    by=(pascal, powers, counts[1]), because="$C(k - 1, p) \\le C(k, p + 1)$.")
even = Definition(sign["l"], Integer(1))
even_positive = Bound(
    id="even_positive", small=Integer(1), large=1 + Sum(partial["l"][k] * g[k], ORDERS),
    certificate=Sum(below["l"][k] * g[k], ORDERS), by=(at_l, even, powers, counts[0]),
    because="For even $p$ no coefficient is negative.")

rising, excess, beside = ({stage: number(name, stage) for stage in STAGES}
                          for name in ("b", "x", "c"))


def tail_claim(label: str) -> Equation:
    """C(p + l, p + 1) = 1 + what is not negative, l the orders from p + 1 on."""
    return number("b", label), 1 + number("x", label)


tail_l = induction_hypothesis("a tail coefficient", tail_claim("l"), rising["l"], 1 + excess["l"])
first_tail = Step(
    id="first_tail", lhs=tail_claim("1")[0], rhs=tail_claim("1")[1],
    by=(Definition(rising["1"], Integer(1)), Definition(excess["1"], Integer(0))),
    because="$C(p + 1, p + 1) = 1$.")
next_excess = Definition(excess["l+1"], excess["l"] + beside["l"])
next_tail = Step(
    id="next_tail", lhs=tail_claim("l+1")[0], rhs=tail_claim("l+1")[1],
    by=(Definition(rising["l+1"], rising["l"] + beside["l"]), next_excess, tail_l),
    because="Pascal: $C(k + 1, p + 1) = C(k, p + 1) + C(k, p)$.")
tail = Induction(id="tail", claim=tail_claim, hypothesis=tail_l, by=(first_tail, next_tail),
                 because="So it is at every order.")
tail_sign = Bound(
    id="tail_sign", small=Integer(0), large=excess["l+1"], certificate=excess["l"] + beside["l"],
    by=(next_excess, *(signed(array(part["l"].name), ">=0") for part in (excess, beside))),
    because="It starts at 0, and binomials are added to it.")
kept, above, whole = array("tau", N), array("x", N), array("b", N)
coefficients = Definition(whole[k], kept[k] + above[k])
tail_error = Bound(
    id="tail_error", small=Sum(kept[k] * g[k], ORDERS), large=Sum(whole[k] * g[k], ORDERS),
    certificate=Sum(above[k] * g[k], ORDERS), by=(coefficients, powers, signed(above, ">=0")),
    because="The tail has the coefficients $\\tau_k = 1$ for $k > p$, and $1 \\le C(k, p + 1)$.")
E_s, E_m, T = (Symbol(name, real=True) for name in ("E_s", "E_{-s}", "T"))


def _reciprocal(draw: Draw) -> None:
    draw.put(array(E_m.name), (), draw.source.inverse(draw.get(E_s.name, ())))


inverse = Local("exp(s) exp(-s) = 1", "$e^s e^{-s} = 1$", ((E_s * E_m, Integer(1)),),
                _reciprocal)
poisson = Step(
    id="poisson", lhs=E_m * (E_s - T), rhs=1 - E_m * T, by=(inverse,),
    because=r"$P(X \le p) = e^{-s} T_p(s)$ for a Poisson variable $X$ of mean $s$.")

t = Symbol("t", real=True)
term, odd, other, share, slack = (array(name, H) for name in ("tau'", "nu", "o", "r", "omega"))
odd_pairs = (Definition(share[i], Integer(1), over=odd[i]),
             Definition(other[i], t * term[i] * share[i]))
beyond = Definition(slack[i], t - odd[i])
past = Local("t is past the factors", r"$t > \nu_i$", signs=((slack, ">0"),))
odd_negative = Bound(
    id="odd_negative", small=Sum(term[i] - other[i], PAIRS), large=Integer(0), strict=True,
    certificate=Sum(term[i] * slack[i] * share[i], PAIRS),
    by=(*odd_pairs, beyond, past, signed(odd, ">0"), signed(term, ">0")),
    because="$t^c / c! < t^{c+1} / (c + 1)!$ once $t > c + 1$: the terms of even $c$ lose.")
